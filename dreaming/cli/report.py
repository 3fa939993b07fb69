"""`dream report`: one page in HTML about what happened, and why."""

import webbrowser
from pathlib import Path

import click

from dreaming.cli.common import Common, common_options, complain, json_option, print_json, say


@click.command()
@common_options
@json_option
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--language",
    type=click.Choice(["en", "zh"]),
    help="Language of the page itself; default: the configured one, else that of the memory.",
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
def report(common: Common, file: Path | None, language: str | None, *, show: bool, as_json: bool) -> None:
    """Write a page about the nights, the scores and the memory, and print where it is.

    FILE is the page, or a folder for it; default: memory/dreaming/dream-report.html in the workspace. The page is one
    file without network; an earlier report is replaced, any other file is left alone.
    """
    from dreaming.observing.observe import observe
    from dreaming.report.gather import facts
    from dreaming.report.page import page
    from dreaming.report.publish import publish, target, way_back

    with common.open_to_read() as home:
        path = target(home, file)
        now = common.moment(home)
        problems = observe(home, now=now).trouble
        complain(problems)
        found = facts(home, now=now, language=language, places=way_back(home, path))
        publish(path, page(found))
    if as_json:
        print_json({"file": str(path), "problems": list(problems)})
    else:
        say(str(path))
    if show and not webbrowser.open(path.as_uri()):
        complain((f"no browser could be opened; open {path} yourself",))
