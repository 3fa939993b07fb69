"""Folders below a workspace: made where one is missing, but never the workspace itself."""

from pathlib import Path

from workspace.errors import GoneError


def make(folder: Path, *, root: Path) -> bool:
    """Make a folder and those between it and the root, and tell whether it was missing.

    Raise GoneError when the root is no folder: one that was removed must not come back empty. A folder outside, where
    a link of the user's leads, is made as it is.
    """
    if folder.is_dir():
        return False
    if not root.is_dir():
        raise GoneError(root)
    if root not in folder.parents:
        folder.mkdir(parents=True, exist_ok=True)
        return True
    try:
        for part in reversed([folder, *folder.parents][: len(folder.relative_to(root).parts)]):
            part.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise GoneError(root) from None
    return True
