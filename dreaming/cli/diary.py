"""`dream diary`: the newest entries of the dream diary."""

import click

from dreaming import documents
from dreaming.cli.common import Common, common_options, json_option, print_json, say
from dreaming.home import DREAMS
from dreaming.observing.masking import masked
from workspace.dreams import entries, has_diary
from workspace.lines import printable


@click.command()
@common_options
@json_option
@click.option("--last", type=click.IntRange(min=1), default=1, show_default=True, help="How many entries.")
def diary(common: Common, last: int, *, as_json: bool) -> None:
    """Print the newest entries of the dream diary, oldest first."""
    with common.open_to_read() as home:
        text = printable(home.files.read(DREAMS).text)
        has_diary(text)  # damaged markers are said, they do not look like an empty diary
        shown = entries(masked(text, home.lexicon, home.redaction))[-last:]
    if as_json:
        print_json(documents.diary(shown))
    elif not shown:
        say("Nothing has been told yet; run a night: dream")
    else:
        say("\n\n".join(f"{entry.stamp}\n\n{entry.prose}" for entry in shown))
