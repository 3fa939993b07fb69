"""`dream undo` and `dream redo`: take back what a night did, and do it again."""

from collections.abc import Iterator, Sequence

import click

from dreaming import documents
from dreaming.changes.undo import ConflictError, TakenBack
from dreaming.changes.undo import redo as done_again
from dreaming.changes.undo import undo as taken_back
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, printable, say

ANEW = "What was taken back comes back only by new votes: when it is asked for anew."


@click.command()
@common_options
@json_option
@click.argument("what", required=False, metavar="[NIGHT | ID | LINE]")
def undo(common: Common, what: str | None, *, as_json: bool) -> None:
    """Take back a NIGHT (2026-06-18), or one promotion by its ID or its LINE (MEMORY.md:12); else the last night.

    What it wrote leaves MEMORY.md and DREAMS.md, what it moved to the archive comes back, your own text stays. It is
    not promoted again by what was asked for before. If you changed what should be taken back, nothing is done.
    """
    with common.open_to_read() as home:
        try:
            done = taken_back(home, None if what is None else printable(what), now=common.moment(home))
        except ConflictError as error:
            for one in error.conflicts:
                say(f"{one.file}:{one.line}")
                say(f"  written  {one.written}")
                say(f"  found    {one.found}")
            raise
    _show(done, as_json=as_json, after=(ANEW,) if done.out else ())


@click.command()
@common_options
@json_option
def redo(common: Common, *, as_json: bool) -> None:
    """Do again what dream undo took back last."""
    with common.open_to_read() as home:
        done = done_again(home, now=common.moment(home))
    _show(done, as_json=as_json)


def _show(done: TakenBack, *, as_json: bool, after: Sequence[str] = ()) -> None:
    if as_json:
        print_json(documents.undo(done))
    else:
        for line in (*_lines(done), *after):
            say(line)
    complain(done.left)
    if done.left:
        raise click.exceptions.Exit(REFUSED)


def _lines(done: TakenBack) -> Iterator[str]:
    for promotion in done.out:
        yield f"  - {promotion.text} (promoted on {promotion.night.isoformat()})"
    for promotion in done.back:
        yield f"  + {promotion.text} (promoted on {promotion.night.isoformat()})"
    yield f"Changed: {', '.join(done.files)}" if done.files else "No file had to be changed."
