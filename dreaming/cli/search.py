"""`dream search`: what the memory says to a question."""

from dataclasses import asdict

import click

from dreaming.cli.common import Common, common_options, complain, json_option, print_json, printable, say


@click.command()
@common_options
@json_option
@click.option("--limit", type=click.IntRange(1, 100), default=6, show_default=True, help="How many results at most.")
@click.argument("query", nargs=-1, required=True)
def search(common: Common, query: tuple[str, ...], *, limit: int, as_json: bool) -> None:
    """Search the diaries for QUERY and show the best answers.

    Each answer with a relevance of 0.3 or more counts as a recall: a vote for keeping it.
    """
    from dreaming.reading import search as found_by

    with common.open() as home:
        found = found_by(home, printable(" ".join(query)), now=common.moment(home), limit=limit)
    complain(found.problems)
    if as_json:
        print_json({"query": found.query, "results": [asdict(result) for result in found.results]})
        return
    for result in found.results:
        say(f"{result.relevance:.2f}  {result.path}:{result.start_line}-{result.end_line}  {result.text}")
    if not found.results:
        say("Nothing was found.")
