"""Putting the page where the user wants it: whole or not at all, for nobody else to read, over nothing but a report."""

from dataclasses import replace
from os.path import relpath
from pathlib import Path

from dreaming.home import Home
from dreaming.report.page import MARK
from workspace.errors import WorkspaceError
from workspace.files import PRIVATE, Files
from workspace.folders import make

NAME = "dream-report.html"
FOLDER = Path("memory/dreaming")
"""Where the program's own pages about the nights stand."""


class NotOurReportError(WorkspaceError):
    """The file that is to be written is something else than a report."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is no report of this program and was left alone; name another file")


class NoFolderError(WorkspaceError):
    """The folder of the file that is named is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path.parent} is no folder, so {path.name} cannot be written there; make it first")


def target(home: Home, named: Path | None) -> Path:
    """Return the file the page goes to: the one that was named, in a folder of that name, or the workspace's own.

    Raise NoFolderError, or GoneError when there is no workspace any more.
    """
    if named is None:
        make(home.root / FOLDER, root=home.root)
        return home.root / FOLDER / NAME
    path = (named / NAME if named.is_dir() else named).absolute()
    if not path.parent.is_dir():
        raise NoFolderError(path)
    return path


def way_back(home: Home, path: Path) -> str | None:
    """Return the way from the folder of the page to the workspace; None where there is none."""
    try:
        return Path(relpath(home.root, path.resolve().parent)).as_posix()
    except ValueError:  # another drive
        return None


def publish(path: Path, page: str) -> None:
    """Write the page; raise NotOurReportError over anything else, or a WorkspaceError, and then nothing is written."""
    files = Files(path.parent)
    document = files.read(path.name)
    if document.digest is not None and not document.text.startswith(MARK):
        raise NotOurReportError(path)
    # Whoever let others read it has to say so again: the new page may hold what the old one did not.
    if not files.write(replace(document, mode=None), page):
        document.path.chmod(PRIVATE)
