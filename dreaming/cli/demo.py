"""`dream demo`: three invented weeks, played into a folder."""

from pathlib import Path

import click

from dreaming.cli.common import Common, common_options, json_option, print_json
from dreaming.cli.explain import lines as explained
from dreaming.cli.night import as_document
from dreaming.cli.night import lines as night_lines
from dreaming.demo import Promoted, play
from dreaming.night import NightReport


@click.command()
@common_options
@json_option
@click.option("--fresh", is_flag=True, help="Replace the folder of an earlier demo.")
@click.argument("folder", required=False, default="dream-demo", type=click.Path(path_type=Path, file_okay=False))
def demo(common: Common, folder: Path, *, fresh: bool, as_json: bool) -> None:  # noqa: ARG001
    """Play a sample workspace into FOLDER (default: dream-demo): diaries, searches and nights of three weeks.

    It ends with what was promoted, why, and where to read on.
    """
    reports: list[NightReport] = []

    def show(report: NightReport) -> None:
        reports.append(report)
        if not as_json:
            click.echo("\n".join(night_lines(report)))

    kept = play(folder, fresh=fresh, show=show)
    if as_json:
        print_json({"nights": [as_document(one) for one in reports], "memory": str(folder / "MEMORY.md")})
        return
    _conclude(folder, kept)


def _conclude(folder: Path, kept: tuple[Promoted, ...]) -> None:
    click.echo(f"\nPromoted in three weeks: {len(kept)}. Why:\n")
    for one in kept:
        click.echo(f"* {one.night.isoformat()}  {one.text}")
        click.echo("\n".join(f"  {line}" for line in list(explained(one.examined))[1:]))
        click.echo()
    click.echo(f"Read on: {(folder / 'DREAMS.md').resolve()}")
    click.echo(f"         {(folder / 'MEMORY.md').resolve()}")
    click.echo(f"Ask it:  dream search --workspace {folder} 'which database do tests use'")
