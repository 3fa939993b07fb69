"""`dream narrate`: write the entries of a night again, from what is stored of it."""

import sys
from datetime import date, datetime

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, say
from dreaming.narrate import narrate as told_again
from dreaming.tell import Answer, notes
from memory.model import Phase


@click.command()
@common_options
@json_option
@click.option(
    "--night", type=click.DateTime(["%Y-%m-%d"]), help="The night, as 2026-06-18; default: the newest one told."
)
@click.option(
    "--phase",
    "phases",
    multiple=True,
    type=click.Choice([phase.value for phase in Phase]),
    help="Tell only this phase; may be given several times.",
)
def narrate(common: Common, night: datetime | None, phases: tuple[str, ...], *, as_json: bool) -> None:
    """Write the entries of a night again, each in the place of the one in DREAMS.md, with the narrator set now."""
    wanted = tuple(Phase(name) for name in phases) or tuple(Phase)
    day: date | None = night.date() if night else None
    with common.open_to_read() as home:
        answers = told_again(home, night=day, phases=wanted, now=common.moment(home))
    if as_json:
        print_json(documents.narrate(answers))
    else:
        for answer in answers:
            say(f"{answer.telling.night} {answer.telling.phase:<5} {_what(answer)}")
    complain(notes(answers))
    if unwritten := tuple(answer.unwritten for answer in answers if answer.unwritten):
        complain(unwritten)
        sys.exit(REFUSED)


def _what(answer: Answer) -> str:
    if answer.unwritten:
        return "left as it is"
    return f"written by {answer.entry.narrator}" if answer.entry else "nothing to tell"
