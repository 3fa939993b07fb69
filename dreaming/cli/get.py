"""`dream get`: the lines of a diary, of `MEMORY.md` or of `DREAMS.md`."""

import click

from dreaming import documents
from dreaming.cli.common import Common, common_options, complain, json_option, print_json, printable, say


@click.command()
@common_options
@json_option
@click.argument("place")
def get(common: Common, place: str, *, as_json: bool) -> None:
    """Read PLACE: `memory/2026-06-15.md:5-8`, `MEMORY.md:12`, `DREAMS.md`, a whole diary, or the id of a fragment.

    A read of few named lines counts as a recall of what stands on them, or of what a line of DREAMS.md shows; of a
    whole file of more than 4 lines it does not, nor of MEMORY.md.
    """
    if not place.strip():
        raise click.UsageError(
            "say what to read, as a search prints it, for example: dream get memory/2026-06-15.md:5-8"
        )
    from dreaming.reading import get as read_at

    with common.open_to_read() as home:
        read = read_at(home, printable(place), now=common.moment(home))
    complain(read.problems)
    if as_json:
        print_json(documents.get(read))
        return
    say(read.text)
