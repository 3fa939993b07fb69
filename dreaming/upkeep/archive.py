"""Reading a backup: nothing of it is believed before all that it says of itself turned out to be true."""

import json
import stat
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from dreaming.home import DREAMS, MEMORY, STORE
from dreaming.upkeep.backup import CHUNK, FORMAT, MANIFEST, UNSAYABLE, Manifest, Member, Part, folded
from memory.integrity import health
from memory.store import BrokenStoreError, NewerStoreError, Store
from workspace.errors import NotReadableError
from workspace.files import digest

LARGEST_MANIFEST = 64 * 2**20
"""Bytes; a hundred thousand files have less."""
FORBIDDEN = ("", ".", "..")
RESERVED = frozenset(map(folded, (MEMORY, DREAMS)))
"""Files of this program at the top, in whatever case."""


class BadBackupError(Exception):
    """A file is no backup, or not the one that was made; nothing was changed."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} cannot be brought back ({reason}); nothing was changed, so name another backup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """An archive that has been verified, and a copy of its store that this program can work with."""

    path: Path
    members: ZipFile
    manifest: Manifest
    digests: Mapping[str, str]
    store: Path | None

    def text(self, path: str) -> str:
        """Return a file, bytes as they are; raise BadBackupError when they changed since they were verified."""
        raw = self.members.read(path)
        if digest(raw) != self.digests[path]:
            raise BadBackupError(self.path, f"{path} changed while it was read")
        return raw.decode("utf-8", "surrogateescape")


@contextmanager
def verified(source: Path) -> Iterator[Archive]:
    """Open an archive when all that it says of itself is true."""
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(ZipFile(source))
            manifest = _manifest(archive, source)
            for member in manifest.members:
                _require_true(archive, member, source)
        except OSError as error:
            raise NotReadableError(source, error.strerror or str(error)) from error
        except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise BadBackupError(source, str(error)) from error
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="dream-")))
        store = _store(archive, manifest, source, folder / STORE.name)
        digests = {member.path: member.digest for member in manifest.members}
        yield Archive(path=source, members=archive, manifest=manifest, digests=digests, store=store)


def _manifest(archive: ZipFile, source: Path) -> Manifest:
    listed = archive.infolist()
    names = [one.filename for one in listed]
    if MANIFEST not in names or archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
        raise BadBackupError(source, f"it has no {MANIFEST}")
    try:
        manifest = _read(json.loads(archive.read(MANIFEST)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadBackupError(source, f"its {MANIFEST} is not one that this version writes: {error!r}") from error
    said = [*(member.path for member in manifest.members), MANIFEST]
    if sorted(names) != sorted(said):
        other = sorted({*names} ^ {*said}) or sorted(
            (Counter(names) - Counter(said)) + (Counter(said) - Counter(names))
        )
        raise BadBackupError(source, f"{other[0]!r} is not what its {MANIFEST} says")
    for one in listed:
        if reason := _refused(one):
            raise BadBackupError(source, f"{one.orig_filename!r} {reason}")
    for path in manifest.made:
        if reason := _refused(ZipInfo(path)):
            raise BadBackupError(source, f"{path!r} {reason}")
    counts = Counter(map(folded, names))
    if twin := next((name for name in names if counts[folded(name)] > 1), None):
        raise BadBackupError(source, f"{twin!r} has a twin that differs only in case")
    return manifest


def _read(said: Any) -> Manifest:
    if said["format"] != FORMAT:
        raise ValueError(f"format {said['format']}")
    members = [Member(path=str(one["path"]), size=int(one["size"]), digest=str(one["sha256"])) for one in said["files"]]
    made = {str(path): str(key) for path, key in said["made"].items()}
    return Manifest(workspace=str(said["workspace"]), at=str(said["at"]), members=tuple(members), made=made)


def _refused(one: ZipInfo) -> str | None:
    """Return what is wrong with a name in the archive."""
    name = one.orig_filename
    if name == MANIFEST:
        return None
    if name != one.filename or UNSAYABLE.search(name):
        return "is no name of a file"
    if any(part in FORBIDDEN for part in name.split("/")):
        return "leads out of the workspace"
    if stat.S_IFMT(one.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is no regular file"
    part = Member(path=name, size=0, digest="").part
    if part is None:
        return "is no part of a backup"
    same = Member(path=folded(name), size=0, digest="").part
    if part is Part.DIARY and (same is not Part.DIARY or folded(name) in RESERVED):
        return "differs only in case from a file of this program"
    return None


def _require_true(archive: ZipFile, member: Member, source: Path) -> None:
    if archive.getinfo(member.path).file_size != member.size:
        raise BadBackupError(source, f"{member.path} has not the size that its {MANIFEST} says")
    found = sha256()
    with archive.open(member.path) as stream:
        for piece in _pieces(stream):
            found.update(piece)
    if found.hexdigest() != member.digest:
        raise BadBackupError(source, f"{member.path} is damaged: it is not what its {MANIFEST} says")


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(CHUNK):
        yield piece


def _store(archive: ZipFile, manifest: Manifest, source: Path, copy: Path) -> Path | None:
    """Unpack the store and bring it up to date; it must be whole, and none of a newer version."""
    if not any(member.part is Part.STORE for member in manifest.members):
        return None
    with archive.open(STORE.as_posix()) as stream, copy.open("wb") as into:
        for piece in _pieces(stream):
            into.write(piece)
    damage = health(copy).damage
    if damage:
        raise BadBackupError(source, f"its store is damaged: {damage[0]}")
    try:
        Store.open(copy).close()
    except NewerStoreError as error:
        raise NewerStoreError(source, error.version) from error
    except BrokenStoreError as error:
        raise BadBackupError(source, f"its store is damaged: {error.reason}") from error
    return copy
