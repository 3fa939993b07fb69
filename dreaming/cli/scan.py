"""`dream scan`: which files hold secrets, and where."""

import os

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, say


@click.command()
@common_options
@json_option
def scan(common: Common, *, as_json: bool) -> None:
    """List what the diaries, saved memories, MEMORY.md, DREAMS.md and archives hold of secrets: place and kind.

    The secret itself is never printed, and nothing is changed. The exit code is 1 when there is any. With [redact] mask
    in config.toml personal data is listed too.
    """
    from dreaming.home import located
    from dreaming.upkeep.scan import scan as scanned

    root, config = located(common.workspace, config=common.config, environ=os.environ, overrides={})
    found = scanned(root, config)
    complain(found.problems)
    if as_json:
        print_json(documents.scan(found))
    else:
        for one in found.findings:
            say(f"{one.path}:{one.line}  {one.kind}")
        say(_summary(len(found.findings), len({one.path for one in found.findings}), found.files))
    if found.findings:
        raise click.exceptions.Exit(REFUSED)


def _summary(findings: int, bad: int, files: int) -> str:
    if not findings:
        return f"No secrets in {files} files"
    return (
        f"{findings} found in {bad} of {files} files; nothing was changed, so take them out there and change the keys"
    )
