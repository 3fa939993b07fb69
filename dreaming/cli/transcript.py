"""`dream transcript`: what was said on a day, as it is remembered."""

from datetime import date, datetime

import click

from dreaming import documents
from dreaming.cli.common import Common, common_options, json_option, print_json, say


@click.command()
@common_options
@json_option
@click.argument("day", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]))
def transcript(common: Common, day: datetime, *, as_json: bool) -> None:
    """Print what is remembered of the conversations of a DATE, such as 2026-06-18, in the order it was said."""
    with common.open_to_read() as home:
        wanted: date = day.date()
        said = home.sources.said_on(wanted)
    if as_json:
        print_json(documents.transcript(wanted, said))
    elif not said:
        say(f"Nothing is remembered of conversations on {wanted}; see [sessions] in config.toml")
    else:
        for place, text in said:
            say(f"[{place}] {text}")
