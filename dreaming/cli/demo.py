"""`dream demo`: three invented weeks, played into a folder."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from dreaming.cli.common import Common, common_options, json_option, print_json, say
from dreaming.cli.night import as_document
from dreaming.cli.night import lines as night_lines
from dreaming.demo import play
from dreaming.night import NightReport
from memory.promotions import Promotion


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
            say("\n".join(night_lines(report)))

    kept = play(folder, fresh=fresh, show=show)
    if as_json:
        print_json({"nights": [as_document(one) for one in reports], "memory": str(folder / "MEMORY.md")})
        return
    _conclude(folder, kept)


def _conclude(folder: Path, kept: tuple[Promotion, ...]) -> None:
    say(f"\nPromoted in three weeks: {len(kept)}. Why:\n")
    for one in kept:
        say("\n".join(_why(one)))
        say("")
    say(f"Read on: {(folder / 'DREAMS.md').resolve()}")
    say(f"         {(folder / 'MEMORY.md').resolve()}")
    say(f"Ask it:  dream search --workspace {shlex.quote(str(folder))} '测试用什么数据库'")


def _why(one: Promotion) -> Iterator[str]:
    part = f", statement {one.key[1]} of its list" if one.positions else ""
    yield f"* {one.text}"
    place = f"{one.path}:{one.start_line}{part}"
    yield f"    on {one.night.isoformat()} from {place}; recalls {one.recalls}, every gate passed"
    yield f"    score {one.score:.2f} = weighted components + boost {one.boost:.2f}"
    yield "    " + ", ".join(f"{name} {value:.2f}" for name, value in one.components.items())
