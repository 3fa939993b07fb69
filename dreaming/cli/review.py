"""`dream review`: what waits to be promoted, and your word on it."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, printable, say
from dreaming.home import Home
from dreaming.promotion.ledger import replaced
from dreaming.promotion.review import NotAcceptedError, Proposal, UnknownProposalError, accept, proposals, reject
from memory.promotions import Promotion

ASKED = "[a]ccept, [r]eject, [e]dit, [s]kip, [q]uit? "
ALL = "all"
ENDED = ("", "\x03", "\x04")
"""What is read when nobody can press a key any more."""


@click.command()
@common_options
@json_option
@click.option("--accept", "accepted", multiple=True, metavar="ID", help=f"Accept a proposal, or “{ALL}”.")
@click.option("--reject", "rejected", multiple=True, metavar="ID", help=f"Reject a proposal, or “{ALL}”.")
@click.option("--edit", "edited", multiple=True, nargs=2, metavar="ID TEXT", help="Accept a proposal in other words.")
@click.option("--replacing", metavar="ID", help="Let what is accepted take the place of this line of MEMORY.md.")
@click.option("--list", "only_list", is_flag=True, help="Only list, also on a terminal.")
def review(
    common: Common,
    accepted: tuple[str, ...],
    rejected: tuple[str, ...],
    edited: tuple[tuple[str, str], ...],
    replacing: str | None,
    *,
    only_list: bool,
    as_json: bool,
) -> None:
    """Review what the nights propose for MEMORY.md; with memory.mode = "review" nothing else gets there.

    On a terminal each proposal is shown and one key decides. In a script name the IDs with --accept, --reject, --edit.
    """
    if replacing and len(accepted) + len(edited) != 1:
        raise click.UsageError("--replacing belongs to one proposal; accept or edit exactly one with it")
    with common.open_to_read() as home:
        now = common.moment(home)
        if accepted or rejected or edited:
            words = dict(edited)
            chosen = [*_named(home, accepted, now), *words]
            failed = _decide(home, chosen, _named(home, rejected, now), words, replacing, now)
        else:
            failed = () if only_list or as_json or not _is_terminal() else _ask(home, now)
        left = proposals(home, now=now)
    if as_json:
        print_json(documents.review(left))
    else:
        for line in _lines(left):
            say(line)
    complain(failed)
    if failed:
        raise click.exceptions.Exit(REFUSED)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _named(home: Home, ids: Sequence[str], now: datetime) -> list[str]:
    if ALL in ids:
        return [one.promotion.name for one in proposals(home, now=now)]
    return [printable(one) for one in ids]


def _decide(
    home: Home,
    chosen: Sequence[str],
    rejected: Sequence[str],
    words: dict[str, str],
    replacing: str | None,
    now: datetime,
) -> tuple[str, ...]:
    failed = []
    for what in chosen:
        try:
            made = accept(home, what, now=now, text=words.get(what), replacing=replacing)
            for line in _made(home, made):
                say(line)
        except (NotAcceptedError, UnknownProposalError) as error:
            failed.append(str(error))
    for what in rejected:
        try:
            say(f"  - {reject(home, what, now=now).text}")
        except UnknownProposalError as error:
            failed.append(str(error))
    return tuple(failed)


def _ask(home: Home, now: datetime) -> tuple[str, ...]:
    """Show each proposal and let one key decide."""
    failed = []
    for one in proposals(home, now=now):
        for line in _shown(one):
            say(line)
        key = _key(ASKED, "aresq")
        if key == "q":
            break
        with suppress(KeyError):
            try:
                for line in {"a": _accept, "e": _edit, "r": _reject}[key](home, one, now):
                    say(line)
            except NotAcceptedError as error:
                failed.append(str(error))
    return tuple(failed)


def _key(question: str, known: str) -> str:
    """Ask until one of the known keys is pressed, in whatever case."""
    while True:
        click.echo(question, nl=False)
        key = click.getchar().lower()
        click.echo(key if key.isprintable() else "")
        if key in known and key:
            return key
        if key in ENDED:
            raise click.Abort


def _accept(home: Home, one: Proposal, now: datetime) -> Sequence[str]:
    replacing = None
    if one.doubts and one.corrects is None:
        key = _key("in place of the line it may correct? [y/n] ", "yn")
        replacing = one.doubts[-1].name if key == "y" else None
    return _made(home, accept(home, one.promotion.name, now=now, replacing=replacing))


def _edit(home: Home, one: Proposal, now: datetime) -> Sequence[str]:
    text = click.prompt("in your words", default=one.promotion.text)
    return _made(home, accept(home, one.promotion.name, now=now, text=text))


def _reject(home: Home, one: Proposal, now: datetime) -> Sequence[str]:
    return (f"  - {reject(home, one.promotion.name, now=now).text}",)


def _made(home: Home, accepted: Promotion) -> Sequence[str]:
    """Return what was accepted, and what it took the place of."""
    older = replaced(home, (accepted,)).values()
    return (f"  + {accepted.text}", *(f"    in place of: {text}" for text in older))


def _lines(left: Sequence[Proposal]) -> Iterator[str]:
    for one in left:
        yield from _shown(one)
    yield f"{len(left)} waiting" if left else "Nothing waits for a review."


def _shown(one: Proposal) -> Iterator[str]:
    promotion = one.promotion
    yield f"{promotion.name}  {promotion.text}"
    yield f"  night of {promotion.night}, score {promotion.score:.2f}, recalls {promotion.recalls}, {promotion.path}"
    if one.corrects:
        yield f"  in place of: {one.corrects.text}"
    for doubt in one.doubts:
        yield f"  may correct: {doubt.text} (accept it with --replacing {doubt.name} if it does)"
