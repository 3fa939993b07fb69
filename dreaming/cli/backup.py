"""`dream backup` and `dream restore`: the store and the files in one archive, and back."""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, say
from dreaming.config import zone
from dreaming.home import located
from dreaming.upkeep.backup import backup as made
from dreaming.upkeep.restore import Move, Restored, rehearsed
from dreaming.upkeep.restore import restore as brought_back

FILE = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@click.command()
@common_options
@json_option
@FILE
def backup(common: Common, file: Path, *, as_json: bool) -> None:
    """Copy the store, MEMORY.md, DREAMS.md, diaries, archives, reports and settings into one new FILE (.zip).

    It may run while a night does. The file holds all your agent remembers, so only you can read it.
    """
    root, config = located(common.workspace, config=common.config, environ=os.environ, overrides={})
    done = made(root, config, file, now=common.at(zone(config)))
    complain(done.problems)
    if as_json:
        print_json(documents.backup(done))
    else:
        say(f"{file}: {len(done.manifest.members)} files; bring it back with: dream restore {file}")
    if done.problems:
        raise click.exceptions.Exit(REFUSED)


@click.command()
@common_options
@json_option
@click.option("--dry-run", is_flag=True, help="List what would happen to each file; change nothing.")
@FILE
def restore(common: Common, file: Path, *, dry_run: bool, as_json: bool) -> None:
    """Bring the store and the files back from a FILE that dream backup made.

    Diaries and config.toml that are there stay as they are. What is replaced is saved first, beside the store, so that
    a restore can be taken back by another one.
    """
    root, config = located(common.workspace, config=common.config, environ=os.environ, overrides={})

    def tell(saved: Path) -> None:
        if not as_json:
            say(f"What stands there is saved; take this back with: dream restore {saved}")

    now = common.at(zone(config))
    done = rehearsed(root, config, file) if dry_run else brought_back(root, config, file, now=now, tell=tell)
    complain(done.problems)
    if as_json:
        print_json(documents.restore(done, dry_run=dry_run))
    else:
        for line in _lines(done):
            say(line)


def _lines(done: Restored) -> Iterator[str]:
    same = sum(step.move is Move.SAME for step in done.steps)
    for step in done.steps:
        if step.move is not Move.SAME:
            kept = "  (is another one by now and stays)" if step.move is Move.KEEP else ""
            yield f"  {step.move.value:<8} {step.path}{kept}"
    if same:
        yield f"  {same} files are the same"
