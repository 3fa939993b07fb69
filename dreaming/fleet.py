"""Which workspaces have their nights together: those that are named, else those of the settings; each folder once."""

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dreaming.config import FILE_NAME, Config, expanded, zone
from dreaming.home import STATE, located
from dreaming.layers import default_user_config, load_shared
from memory.store import BrokenStoreError, BusyStoreError, NewerStoreError
from workspace import diary, transcripts
from workspace.errors import HeldError, WorkspaceError
from workspace.files import Document, Files
from workspace.lock import running

DIARIES = "memory"
TROUBLE = (WorkspaceError, NewerStoreError, BrokenStoreError, BusyStoreError, OSError)
"""What may be wrong with a workspace beside its settings; anything else is a bug and shows as one."""
_MAGIC = re.compile(r"[*?\[]")


class OverlapError(WorkspaceError):
    """A workspace would read what belongs to another one."""

    def __init__(self, root: Path, other: Path) -> None:
        self.root = root
        self.other = other
        super().__init__(
            f"{root} would read what belongs to the workspace {other}, so no night was run there; "
            "move one of the two out of the other, or let [workspace] diaries and [sessions] paths name its own only"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The workspaces, resolved; what was named and is none; how many nights run at once.

    `patterns` are the names they were found by; `shared` says that there may be more than one.
    """

    roots: tuple[Path, ...]
    missing: tuple[Path, ...]
    workers: int
    patterns: tuple[Path, ...]
    shared: bool


def fleet(named: Sequence[Path], *, config: Path | None, environ: Mapping[str, str]) -> Fleet:
    """Return the workspaces of the flag, else of the settings, else the one that a command goes for.

    Raise ConfigError, or NoWorkspaceError when there is not even that one.
    """
    settings = load_shared(config=config, environ=environ, user_config=default_user_config())
    patterns = tuple(named) or tuple(Path(one) for one in settings.schedule.workspaces)
    if not patterns:
        patterns = (located(None, config=config, environ=environ, overrides={})[0],)
    places = tuple(Path(os.path.abspath(expanded(one))) for one in patterns)  # noqa: PTH100  no link is followed yet
    found = [folder for place in places for folder in matches(place)]
    missing = tuple(place for place in places if not has_magic(place) and not _is_folder(place))
    return Fleet(
        roots=tuple(_each_once(found)),
        missing=missing,
        workers=workers(settings),
        patterns=places,
        shared=len(places) > 1 or any(map(has_magic, places)),
    )


def held(root: Path) -> str:
    """Return in a sentence who runs a night in a workspace now; empty when nobody does."""
    holder = running(root)
    return "" if holder is None else str(HeldError(holder))


def workers(settings: Config) -> int:
    """Return how many nights run at once."""
    return settings.schedule.workers or max(1, (os.cpu_count() or 1) - 1)


def has_magic(place: Path) -> bool:
    """Tell whether a path is a pattern: a folder that is called so is none."""
    return bool(_MAGIC.search(str(place))) and not os.path.exists(place)  # noqa: PTH110  raises nothing


def fixed_part(place: Path) -> Path:
    """Return the folder below which all matches of a pattern lie."""
    while has_magic(place):
        place = place.parent
    return place


def matches(place: Path) -> Iterator[Path]:
    """Return the folder itself when it is named; of a pattern, the folders that hold a workspace."""
    if not has_magic(place):
        if _is_folder(place):
            yield place
        return
    for match in sorted(glob.glob(str(place), recursive=True)):  # noqa: PTH207  an absolute pattern
        if holds_workspace(Path(match)):
            yield Path(match)


def holds_workspace(folder: Path) -> bool:
    """Tell whether a folder has diaries or settings of its own; one that nobody may look into may, and says so."""
    try:
        return (folder / DIARIES).is_dir() or (folder / FILE_NAME).is_file()
    except PermissionError:
        return True


def _is_folder(place: Path) -> bool:
    return os.path.isdir(place)  # noqa: PTH112  what cannot be looked at is none, and raises nothing


def settings_file(path: Path) -> Document:
    """Read a file of settings whole, to be written again with `rewrite`."""
    return Files(path.parent).read(path.name)


def rewrite(document: Document, text: str) -> None:
    """Replace the text of a file as it was read, or raise WorkspaceError and leave it."""
    Files(document.path.parent).write(document, text)


def _each_once(folders: Iterable[Path]) -> Iterator[Path]:
    """Leave out a folder that was reached before by another path: a link, or other case where case says nothing."""
    seen: set[tuple[int, int]] = set()
    for folder in folders:
        try:
            status = folder.stat()
        except OSError:  # it went while it was looked at
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            yield folder.resolve()


def keep_apart(root: Path, config: Config, roots: Iterable[Path] = ()) -> None:
    """Raise OverlapError when a night would read a file of another workspace.

    A file belongs to the innermost workspace around it: one of `roots`, or a folder with a store of its own.
    """
    owned = _owner(root, {*roots, root})
    for folder in _diary_folders(root, config):
        other = owned(folder)
        if other is not None and other != root and (other not in root.parents or _below(folder, other / DIARIES)):
            raise OverlapError(root, other)
    for folder in _transcript_folders(root, config):
        other = owned(folder)
        if other is not None and other != root and other not in root.parents:
            raise OverlapError(root, other)


def keep_stores_apart(root: Path, roots: Iterable[Path]) -> None:
    """Raise OverlapError when a link makes the store of another of these workspaces this one's too."""
    other = (root / DIARIES).resolve().parent
    if other != root and other in roots:
        raise OverlapError(root, other)


def _owner(root: Path, roots: set[Path]) -> Callable[[Path], Path | None]:
    known: dict[Path, Path | None] = {}

    def is_workspace(folder: Path) -> bool:
        if folder in roots:
            return True
        state = folder / STATE
        # The diaries of a workspace may be a link to elsewhere; then its own store is found there too.
        return state.is_dir() and not ((root / STATE).is_dir() and state.samefile(root / STATE))

    def owner(folder: Path) -> Path | None:
        if folder not in known:
            known[folder] = next((one for one in (folder, *folder.parents) if is_workspace(one)), None)
        return known[folder]

    return owner


def _below(folder: Path, other: Path) -> bool:
    return folder == other or other in folder.parents


def _diary_folders(root: Path, config: Config) -> set[Path]:
    wanted = config.workspace
    listing = diary.diaries(
        root, folder=wanted.diaries, pattern=wanted.pattern, memories=wanted.memories, zone=zone(config)
    )
    return _real_folders(root / one.path for one in listing.diaries)


def _transcript_folders(root: Path, config: Config) -> set[Path]:
    wanted = config.sessions
    if not wanted.enabled:
        return set()
    found = transcripts.transcripts(root, wanted.paths)
    return _real_folders(one.path for one in found if not wanted.agents or one.agent in wanted.agents)


def _real_folders(paths: Iterable[Path]) -> set[Path]:
    """Return in which folders files are; only links are followed one by one, of the others their folder once."""
    found = {path if path.is_symlink() else path.parent / "any" for path in paths}
    return {Path(os.path.realpath(path)).parent for path in found}
