"""`dream history` and `dream show`: what changed the user's files, and how MEMORY.md stood."""

import sys
import textwrap
from collections.abc import Iterator
from datetime import datetime

import click

from dreaming import documents
from dreaming.changes.timeline import Event, difference, events, stood
from dreaming.cli.common import Common, common_options, complain, json_option, print_json, printable, say
from dreaming.home import Home
from memory.promotions import State

SHOWN = 30


@click.command()
@common_options
@json_option
@click.option("--limit", type=click.IntRange(min=1), default=SHOWN, show_default=True, help="Changes shown, at most.")
@click.argument("what", required=False, metavar="[NUMBER | NIGHT | ID]")
def history(common: Common, what: str | None, limit: int, *, as_json: bool) -> None:
    """List what changed your files, newest last: of a NIGHT, of a promotion by its ID, or a NUMBER with its diff."""
    with common.open_to_read() as home:
        found = events(home, None if what is None else printable(what))
        if as_json:
            print_json(documents.history(home, found[-limit:]))
            return
        for event in found[-limit:]:
            for line in _lines(home, event):
                say(line)
        if len(found) > limit:
            complain((f"{len(found) - limit} older changes are not shown; --limit {len(found)} shows all",))
        if what and what.isdecimal() and found:
            say(difference(home, found[-1].change))


def _lines(home: Home, event: Event) -> Iterator[str]:
    change = event.change
    at = change.at.astimezone(home.zone)
    night = f", night of {change.night}" if change.night else ""
    said = f"{change.id:>5}  {at:%Y-%m-%d %H:%M}  {change.file}: {change.reason}{night}"
    yield from textwrap.wrap(said, 80, subsequent_indent=" " * 9)
    for promotion, state in event.promotions:
        since = " then, not marked any more" if state == State.IN_FORCE and promotion.state is State.REMOVED else ""
        since = ", so no night writes it again" if state == State.REMOVED else since
        yield f"         {promotion.name}  {state}{since}: {promotion.text}"


@click.command()
@common_options
@json_option
@click.option(
    "--as-of",
    "as_of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The end of a day, as 2026-06-18; default: as it stands.",
)
def show(common: Common, as_of: datetime | None, *, as_json: bool) -> None:
    """Print MEMORY.md as it stands, or stood at the end of a day."""
    with common.open_to_read() as home:
        found = stood(home, None if as_of is None else as_of.date(), now=common.moment(home))
    if as_json:
        print_json(documents.show(found))
    else:
        # Into a file it goes as it is; only a terminal could obey what stands in it.
        say(found.text.removesuffix("\n")) if sys.stdout.isatty() else click.echo(found.text, nl=False)
    complain(found.problems)
