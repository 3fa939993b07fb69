"""`dream search`: what the memory says to a question."""

from datetime import datetime

import click

from dreaming import documents
from dreaming.cli.common import Common, common_options, complain, json_option, print_json, printable, say
from memory.model import place


@click.command()
@common_options
@json_option
@click.option("--limit", type=click.IntRange(1, 100), default=6, show_default=True, help="How many results at most.")
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Choice(["diary", "session", "memory", "dreams"]),
    help="Look only there; may be given several times.",
)
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only diaries from this day on.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Only diaries up to this day.")
@click.argument("query", nargs=-1, required=True)
def search(
    common: Common,
    query: tuple[str, ...],
    *,
    limit: int,
    sources: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    """Search the diaries, MEMORY.md and DREAMS.md for QUERY and show the best answers.

    Each diary text with a relevance of 0.3 or more, and at least half of the best one's, counts as a recall: a vote for
    keeping it.
    """
    if not any(map(str.strip, query)):
        raise click.UsageError("say what to look for, for example: dream search which database do tests use")
    from dreaming.places import Source
    from dreaming.reading import Wanted
    from dreaming.reading import search as found_by

    wanted = Wanted(
        sources=frozenset(map(Source, sources)) or frozenset(Source),
        since=since.date() if since else None,
        until=until.date() if until else None,
    )
    with common.open_to_read() as home:
        found = found_by(home, printable(" ".join(query)), now=common.moment(home), limit=limit, wanted=wanted)
        empty = not (found.results or found.problems or home.store.counts()["standing"])
    complain(found.problems)
    if as_json:
        print_json(documents.search(found))
        return
    for result in found.results:
        where = place(result.path, result.start_line, result.end_line)
        say(f"{result.relevance:.2f}  {where}  {result.snippet}")
    if not found.results:
        say(f"Nothing was found: {_way_out(empty=empty, narrow=bool(sources or since or until))}.")


def _way_out(*, empty: bool, narrow: bool) -> str:
    if empty:
        return "nothing is remembered yet; dream status shows what was read"
    ways = ["try other or fewer words"]
    if narrow:
        ways.append("leave out --source, --since and --until")
    return ", or ".join(ways)
