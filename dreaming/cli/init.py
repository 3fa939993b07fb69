"""`dream init`: set up a workspace."""

from pathlib import Path

import click

from dreaming.cli.common import Common, NotAFolderError, common_options, json_option, print_json
from dreaming.config import FILE_NAME, rendered
from workspace.errors import WorkspaceError
from workspace.files import Files

DIARIES = "memory"


class NotMadeError(WorkspaceError):
    """A folder cannot be made."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be made ({reason}); name a folder you may write to: dream init FOLDER")


@click.command()
@common_options
@json_option
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
def init(common: Common, folder: Path | None, *, as_json: bool) -> None:
    """Set up FOLDER (default: the workspace, else here) with a documented config.toml and a diary folder.

    What is there already is left as it is.
    """
    root = (folder or common.workspace or Path()).expanduser()
    made = set_up(root)
    if as_json:
        print_json({"workspace": str(root.resolve()), "created": made})
        return
    click.echo(
        f"Workspace {root.resolve()}: " + (f"made {', '.join(made)}" if made else "everything was there already")
    )
    click.echo("Let your agent write memory/YYYY-MM-DD.md; run a night by hand with: dream")


def set_up(root: Path) -> list[str]:
    """Make what is missing of a workspace and return its names."""
    made = []
    diaries = root / DIARIES
    if diaries.is_file():
        raise NotAFolderError(diaries)
    if not diaries.is_dir():
        _make(diaries)
        made.append(f"{DIARIES}/")
    files = Files(root)
    document = files.read(FILE_NAME)
    if document.digest is None:
        files.write(document, rendered())
        made.append(FILE_NAME)
    return made


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise NotMadeError(folder, error.strerror or str(error)) from error
