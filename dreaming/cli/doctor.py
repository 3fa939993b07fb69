"""`dream doctor`: check the store and the files, and repair what can be repaired."""

from collections.abc import Iterator

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, say
from dreaming.config import zone
from dreaming.upkeep.doctor import Checkup, examine, repaired, running
from dreaming.upkeep.findings import Finding


@click.command()
@common_options
@json_option
@click.option("--fix", is_flag=True, help="Repair what can be repaired without touching your words.")
def doctor(common: Common, *, fix: bool, as_json: bool) -> None:
    """Check the store and the files of a workspace; without --fix nothing is changed.

    The exit code is 1 when something is wrong, or is left after --fix. A changed file can be had back with dream undo.
    """
    root, config = common.to_read()
    now = common.at(zone(config))
    if fix:
        found = repaired(root, config, common.open, now=now)
    else:
        complain(running(root))
        found = examine(root, config, now=now)
    if as_json:
        print_json(documents.doctor(found))
    else:
        for line in _lines(found):
            say(line)
    if found.findings:
        raise click.exceptions.Exit(REFUSED)


def _lines(found: Checkup) -> Iterator[str]:
    for one in found.repaired:
        yield f"Repaired  {one.place}: {one.what}"
    for one in found.findings:
        yield from _shown(one)
    fixable = sum(one.fixable for one in found.findings)
    if found.findings:
        yield f"{len(found.findings)} found" + (f"; dream doctor --fix repairs {fixable} of them" if fixable else "")
    elif found.repaired:
        yield f"{len(found.repaired)} repaired, nothing is left"
    else:
        yield "Nothing is wrong"


def _shown(one: Finding) -> Iterator[str]:
    yield f"{one.place}: {one.what}"
    yield f"  {'--fix: ' if one.fixable else ''}{one.repair}"
