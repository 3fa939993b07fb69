"""`dream context`: what a session needs in its system prompt."""

import click

from dreaming.cli.common import Common, common_options, complain, json_option, print_json, printable, say


@click.command()
@common_options
@json_option
@click.option("--query", help="Also show the few memories that answer this question best.")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["markdown", "json", "xml"]),
    default="markdown",
    show_default=True,
    help="How to print it; budgets count the Markdown.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    metavar="CHARS",
    help="Characters of all of it; default: MEMORY.md within [memory] budget_chars, the rest beside it.",
)
def context(common: Common, query: str | None, shape: str, budget: int | None, *, as_json: bool) -> None:
    """Print what a session needs in its system prompt: how to search the memory, and MEMORY.md without its markers.

    Nothing here is a vote. What finds no room is left out in whole lines, and their number is said.
    """
    from dreaming.context import context as told
    from dreaming.context import document, markdown, xml

    with common.open_to_read() as home:
        found = told(home, printable(query) if query else None, now=common.moment(home), budget=budget)
    complain(found.problems)
    if as_json or shape == "json":
        print_json(document(found))
    else:
        say(xml(found) if shape == "xml" else markdown(found))
