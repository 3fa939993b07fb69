"""A backup: the store and the files of a workspace in one archive, with a manifest that says what is in it."""

import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from dreaming.config import Config, zone
from dreaming.glance import FILE_NAME
from dreaming.home import DREAMS, MEMORY, STORE
from memory.integrity import snapshot
from workspace import diary
from workspace.errors import NotReadableError, NotWritableError
from workspace.files import Files, renamed

FORMAT = 1
MANIFEST = "manifest.json"
PRIVATE = 0o600
LONGEST_AGO = (1980, 1, 1, 0, 0, 0)
"""When all members of the archive say they were changed: the earliest time the format has."""
UNIX = 3
"""The system that a member says it comes from, so that its mode means something."""
CHUNK = 2**20
FOLDERS = ("memory/archive", "memory/dreaming")


class Part(StrEnum):
    """What a file of a backup is; the order is that in which they are brought back."""

    DIARY = "diary"
    CONFIG = "config"
    ARCHIVE = "archive"
    REPORT = "report"
    PAGE = "page"
    STORE = "store"


KINDS = (
    (re.compile(re.escape(STORE.as_posix())), Part.STORE),
    (re.compile(f"{re.escape(MEMORY)}|{re.escape(DREAMS)}"), Part.PAGE),
    (re.compile(re.escape(FILE_NAME)), Part.CONFIG),
    (re.compile(r"memory/archive/.+\.md"), Part.ARCHIVE),
    (re.compile(r"memory/dreaming/.+\.md"), Part.REPORT),
    (re.compile(r".+\.md", re.IGNORECASE), Part.DIARY),
)
"""What a path says of a file; all others are no part of a backup."""
UNSAYABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What stands in no name that is backed up."""


class BackupThereError(Exception):
    """A file of the name that the backup should get is there already."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is there already and is not overwritten; name another file")


class BackupInsideError(Exception):
    """The backup would lie among what it is a backup of."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        super().__init__(f"{path} lies in {folder}, which is backed up; name a file outside of it")


NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file of a backup: path below the workspace (POSIX, NFC), bytes, and their SHA-256."""

    path: str
    size: int
    digest: str

    @property
    def part(self) -> Part | None:
        """What the file is; None for what is no part of a backup."""
        return next((part for pattern, part in KINDS if pattern.fullmatch(self.path)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says of itself; `made` are the files that the restore before which it was taken was to make."""

    workspace: str
    at: str
    members: tuple[Member, ...]
    made: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was made, and what could not be read for it."""

    path: Path
    manifest: Manifest
    problems: tuple[str, ...]


def backup(root: Path, config: Config, target: Path, *, now: datetime) -> Backup:
    """Write a backup to a new file outside of the diaries; it may be made while a night runs.

    Raise BackupThereError, BackupInsideError, BrokenStoreError or a WorkspaceError; then there is none.
    """
    for folder in ("memory", config.workspace.diaries):
        inside = Path(os.path.realpath(root / folder))
        if inside != root and Path(os.path.realpath(target)).is_relative_to(inside):
            raise BackupInsideError(target, root / folder)
    return saved(root, config, target, now=now)


def saved(
    root: Path,
    config: Config,
    target: Path,
    *,
    now: datetime,
    made: Mapping[str, str] = NOTHING,
    with_store: bool = True,
) -> Backup:
    """Write a backup to a new file, wherever that is."""
    if os.path.lexists(target):
        raise BackupThereError(target)
    part = target.with_name(f".{target.name}.part")
    at = now.astimezone(UTC).isoformat(timespec="seconds")
    try:
        try:
            with _private(part) as stream, ZipFile(stream, "w", ZIP_DEFLATED) as archive:
                members, problems = _filled(archive, root, config, with_store=with_store)
                manifest = Manifest(workspace=root.name, at=at, members=members, made=made)
                _add(archive, MANIFEST, BytesIO(_written(manifest)))
            _move(part, target)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    except OSError as error:
        raise NotWritableError(target, error.strerror or str(error)) from error
    return Backup(path=target, manifest=manifest, problems=problems)


@contextmanager
def _private(part: Path) -> Iterator[IO[bytes]]:
    """Open a new file that is nobody else's, and wait at the end until the disk has it."""
    part.unlink(missing_ok=True)
    file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE)
    with os.fdopen(file, "w+b") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def _move(part: Path, target: Path) -> None:
    try:
        if renamed(part, target, exchange=False):
            return
    except FileExistsError:
        raise BackupThereError(target) from None
    if os.path.lexists(target):
        raise BackupThereError(target)
    part.rename(target)


def _filled(
    archive: ZipFile, root: Path, config: Config, *, with_store: bool
) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    """Add the store and all files, in the order of their names behind it; return them, and what could not be read.

    The store goes first: of a line that is written meanwhile it has no row, which mends itself; of a row without its
    line a night would say that the user removed it.
    """
    members = []
    if with_store and (root / STORE).is_file():
        with TemporaryDirectory(prefix="dream-") as folder:
            copy = Path(folder) / STORE.name
            snapshot(root / STORE, copy)
            with copy.open("rb") as stream:
                members.append(_add(archive, STORE.as_posix(), stream))
    found, problems = _files(root, config)
    for name, path in sorted(found.items()):
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            left_out = NotReadableError(path, error.strerror or str(error))
            problems.append(left_out.instead("make another backup"))
            continue
        members.append(_add(archive, name, BytesIO(raw)))
    return tuple(members), tuple(problems)


def _files(root: Path, config: Config) -> tuple[dict[str, Path], list[str]]:
    """Return what is backed up besides the store, by name, and what the listing of the diaries leaves out."""
    files = Files(root)
    found = {name: files.read(name).path for name in (MEMORY, DREAMS)}
    found[FILE_NAME] = root / FILE_NAME
    for folder in FOLDERS:
        for path in (root / folder).rglob("*.md"):
            if path.is_file() and _inside(path, root):
                found[composed(path.relative_to(root).as_posix())] = path
    wanted = config.workspace
    listing = diary.diaries(
        root, folder=wanted.diaries, pattern=wanted.pattern, memories=wanted.memories, zone=zone(config)
    )
    for one in listing.diaries:
        found.setdefault(one.path, standing(root, one.path))
    return {name: path for name, path in found.items() if not UNSAYABLE.search(name)}, [
        str(one) for one in listing.problems
    ]


def standing(root: Path, path: str) -> Path:
    """Return where a file of a composed path stands, or would; some disks hold names with their accents apart."""
    found = root
    for name in path.split("/"):
        there = os.path.lexists(found / name)
        same = () if there else (one for one in alike(found, name) if composed(one.name) == composed(name))
        found = next(iter(same), found / name)
    return found


def alike(folder: Path, name: str) -> Iterator[Path]:
    """Yield what stands in a folder under a name, or one that differs only in case or composition."""
    if folder.is_dir():
        yield from sorted(entry for entry in folder.iterdir() if folded(entry.name) == folded(name))


def composed(name: str) -> str:
    """Return a name with its accents composed, as all names of a backup are."""
    return unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """Return a name without what some disks do not tell apart."""
    return composed(name).casefold()


def _inside(path: Path, root: Path) -> bool:
    """Tell whether a file is the workspace's own; the folder of the diaries may be a link to elsewhere."""
    return any(Path(os.path.realpath(path)).is_relative_to(os.path.realpath(home)) for home in (root, root / "memory"))


def _add(archive: ZipFile, name: str, stream: IO[bytes]) -> Member:
    """Add a file and return what is to be said of it."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    about = ZipInfo(name, LONGEST_AGO)
    about.compress_type, about.create_system, about.file_size = ZIP_DEFLATED, UNIX, size
    about.external_attr = (stat.S_IFREG | PRIVATE) << 16
    digest = sha256()
    with archive.open(about, "w") as into:
        while piece := stream.read(CHUNK):
            digest.update(piece)
            into.write(piece)
    return Member(path=name, size=size, digest=digest.hexdigest())


def _written(manifest: Manifest) -> bytes:
    document = {
        "format": FORMAT,
        "workspace": manifest.workspace,
        "at": manifest.at,
        "files": [{"path": one.path, "size": one.size, "sha256": one.digest} for one in manifest.members],
        "made": dict(manifest.made),
    }
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8", "replace")
