"""The files this program changes: read whole, written whole or not at all, never over somebody else's change."""

import codecs
import errno
import fcntl
import os
import re
import signal
import stat
import sys
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import cache
from hashlib import sha256
from pathlib import Path

from workspace.errors import (
    ExternallyChangedError,
    HeldError,
    NotAFileError,
    NotReadableError,
    NotWritableError,
    Problem,
    WorkspaceError,
)
from workspace.folders import make
from workspace.lines import line_end, printable, split_lines
from workspace.lock import lock

__all__ = [
    "Document",
    "DryFiles",
    "ExternallyChangedError",
    "Files",
    "HeldError",
    "NotAFileError",
    "NotReadableError",
    "NotWritableError",
    "Problem",
    "WorkspaceError",
    "digest",
    "lock",
]

PRIVATE = 0o600
"""Mode of a new file: what an agent remembers is nobody else's."""

BUSY_SECONDS = 0.5
"""How long a write waits for another program that is just writing to the file."""

_OWN = (
    (".", re.compile(r"(?:memory|dreams)\.md", re.IGNORECASE)),
    ("memory/archive", re.compile(r"(?:MEMORY|DREAMS)-[0-9]{4}\.md")),
    *((f"memory/dreaming/{phase}", re.compile(r"[0-9-]{10}\.md")) for phase in ("light", "rem", "deep")),
)
"""The folders this program writes in, and what its files are called there."""
_LEFT = re.compile(r"\.(?P<name>.+?)(?:\.(?P<old>[0-9a-f]{16})-(?P<new>[0-9a-f]{16}))?\.part")
"""A new file that is not all written yet, or one that changes places with the old: the digests tell them apart."""
_CANNOT_EXCHANGE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EXDEV, errno.EPERM})
"""What a system or file system without the call says; EPERM comes from sandboxes that do not know it."""

_WIDE = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file as it was read; `name` is how the user knows it, `digest` and `mode` are None while it does not exist."""

    name: str
    path: Path
    text: str
    digest: str | None
    newline: str
    mode: int | None
    encoding: str = "utf-8"


def digest(raw: bytes) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    return sha256(raw).hexdigest()


class Files:
    """The Markdown files of one workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._wrote: dict[Path, str] = {}

    def read(self, name: str) -> Document:
        """Read a file by its name below the root, through links and in whatever case it is spelt there."""
        name = _spelt(self.root, name)
        path = Path(os.path.realpath(self.root / name))
        raw, mode = _content(path)
        text, encoding = _decoded(raw or b"")
        known = None if raw is None else digest(raw)
        return Document(
            name=name, path=path, text=text, digest=known, newline=line_end(text), mode=mode, encoding=encoding
        )

    def write(self, document: Document, text: str) -> bool:
        """Replace the file's text; False when the bytes are the same, and then nothing is touched."""
        if text == document.text:
            return False
        raw = _encoded(document, text)
        _replace(document, raw, Path(os.path.realpath(self.root)))
        self._wrote[document.path] = digest(raw)
        return True

    def remove(self, document: Document) -> None:
        """Remove a file that is as it was read; raise ExternallyChangedError when somebody wrote to it since."""
        try:
            _require_writable(document)
            _require_unchanged(document)
            document.path.unlink(missing_ok=True)
            _sync(document.path.parent)
        except OSError as error:
            raise NotWritableError(document.path, error.strerror or str(error)) from error

    def tidy(self) -> None:
        """Finish or undo what a killed process began to write, so that nothing of it is left; call it with the lock."""
        targets = [Path(os.path.realpath(self.root / _spelt(self.root, name))) for name in ("MEMORY.md", "DREAMS.md")]
        homes = [(self.root / folder, own) for folder, own in _OWN]
        homes += [(target.parent, re.compile(re.escape(target.name))) for target in targets]
        for home, own in homes:
            for name in sorted(_named(home)):
                part = _LEFT.fullmatch(name)
                if part and own.fullmatch(part["name"]):
                    _tidied(home / name)

    def restore(self, document: Document) -> None:
        """Bring a file back to what it was when it was read, unless somebody else wrote to it since.

        One that did not exist is removed.
        """
        now = self.read(document.name)
        if now.digest != self._wrote.get(now.path):
            return
        if document.digest is None:
            now.path.unlink(missing_ok=True)
        else:
            self.write(now, document.text)


class DryFiles(Files):
    """Files that only pretend to be written: later reads see the new text, the disk does not."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._pending: dict[Path, tuple[Document, str]] = {}

    def read(self, name: str) -> Document:
        """Read a file as it would be after all that was written so far."""
        document = super().read(name)
        if document.path not in self._pending:
            return document
        _, text = self._pending[document.path]
        return replace(document, text=text, digest=digest(_encoded(document, text)), newline=line_end(text))

    def write(self, document: Document, text: str) -> bool:
        """Keep the new text in memory; False when it is the same."""
        if text == document.text:
            return False
        original, _ = self._pending.get(document.path, (document, ""))
        self._pending[document.path] = (original, text)
        self._wrote[document.path] = digest(_encoded(document, text))
        return True

    def remove(self, document: Document) -> None:
        """Keep in memory that the file is gone."""
        self.write(document, "")

    def tidy(self) -> None:
        """Leave the disk as it is."""

    def diffs(self) -> tuple[str, ...]:
        """Return a unified diff for each file that would change, in the order of the writes."""
        return tuple(_diff(document, text) for document, text in self._pending.values() if text != document.text)


def _spelt(root: Path, name: str) -> str:
    """Return the name as the folder has it: the same, else the same in another case or composition."""
    wanted = Path(name)
    try:
        present = sorted(entry.name for entry in (root / wanted).parent.iterdir())
    except OSError:
        return name
    if wanted.name in present:
        return name
    same = (entry for entry in present if _folded(entry) == _folded(wanted.name))
    return wanted.with_name(next(same, wanted.name)).as_posix()


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _content(path: Path) -> tuple[bytes | None, int | None]:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise NotAFileError(path)
        return path.read_bytes(), stat.S_IMODE(mode)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        raise NotReadableError(path, error.strerror or str(error)) from error


def _decoded(raw: bytes) -> tuple[str, str]:
    """Decode so that encoding gives the same bytes, whatever they are; a byte order mark stays in the text."""
    for mark, encoding in _WIDE:
        if raw.startswith(mark):
            with suppress(UnicodeDecodeError):
                return raw.decode(encoding, "surrogatepass"), encoding
    return raw.decode("utf-8", "surrogateescape"), "utf-8"


def _encoded(document: Document, text: str) -> bytes:
    return text.encode(document.encoding, "surrogateescape" if document.encoding == "utf-8" else "surrogatepass")


def _replace(document: Document, raw: bytes, root: Path) -> None:
    """Put new bytes in the place of the file, and the user's back when they turn out to be newer than what was read."""
    path = document.path
    part = path.with_name(f".{path.name}.part")
    try:
        _require_writable(document)
        if make(path.parent, root=root):
            _sync(path.parent.parent)
        try:
            _fill(part, document, raw)
            _require_unchanged(document)
            if document.digest is None:
                _move_in(part, path)
            else:
                _swap(part, path, old=document.digest, new=digest(raw))
        finally:
            _removed(part)
        _sync(path.parent)
    except OSError as error:
        raise NotWritableError(path, error.strerror or str(error)) from error


def _require_writable(document: Document) -> None:
    """Respect a file the user made read-only; replacing it would only need the folder's permission."""
    checks_user = os.access in os.supports_effective_ids
    if document.path.exists() and not os.access(document.path, os.W_OK, effective_ids=checks_user):
        raise NotWritableError(document.path, "it is read-only")


def _fill(part: Path, document: Document, raw: bytes) -> None:
    """Write a whole file that belongs to whom the old one does, and wait until the disk has it."""
    part.unlink(missing_ok=True)
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE)
    try:
        _keep_owner(file, document.path)
        os.fchmod(file, PRIVATE if document.mode is None else document.mode)
        rest = memoryview(raw)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    finally:
        os.close(file)


def _keep_owner(file: int, path: Path) -> None:
    """Leave the file to whom it, or else its folder, belongs: a night may be run by root."""
    owner = (path if path.exists() else path.parent).stat()
    mine = os.fstat(file)
    if (owner.st_uid, owner.st_gid) != (mine.st_uid, mine.st_gid):
        with suppress(PermissionError):
            os.fchown(file, owner.st_uid, owner.st_gid)


def _move_in(part: Path, path: Path) -> None:
    """Give a new file its name, unless somebody made one of that name meanwhile."""
    try:
        if renamed(part, path, exchange=False):
            return
        with suppress(PermissionError):  # a file system without links says so
            os.link(part, path)
            return
    except FileExistsError:
        raise ExternallyChangedError(path) from None
    except OSError as error:
        if error.errno not in _CANNOT_EXCHANGE:
            raise
    part.replace(path)


def _swap(part: Path, path: Path, *, old: str, new: str) -> None:
    """Exchange the new file and the old, then look what came out: the user may have saved until that moment."""
    kept = path.with_name(f".{path.name}.{old[:16]}-{new[:16]}.part")
    part.rename(kept)
    try:
        if not renamed(kept, path, exchange=True):
            kept.rename(part)
            _overwrite(part, path, kept, old)
    except FileNotFoundError:
        _removed(kept)
        raise ExternallyChangedError(path) from None
    except BaseException:
        with suppress(OSError):
            _settle(kept)
        raise
    if not _settle(kept):
        raise ExternallyChangedError(path)


def _overwrite(part: Path, path: Path, kept: Path, old: str) -> None:
    """Do without an exchange: a second name keeps the old file, where there are links, and so what is saved into it."""
    with suppress(OSError):
        os.link(path, kept)
    if digest(path.read_bytes()) != old:
        _removed(kept)
        raise ExternallyChangedError(path)
    part.replace(path)


def _settle(kept: Path) -> bool:
    """Remove what came out of an exchange when its text is known, else put it back; tell whether it was known."""
    path, old, new = _exchanged(kept)
    busy = _is_being_written(kept)  # asked before it is read: who is done by then has written all of it
    out = _digest(kept)
    if out is None or out.startswith(new) or (out.startswith(old) and not busy):
        _removed(kept)
        return True
    if not (_digest(path) or "").startswith(new):
        if path.exists() and path.samefile(kept):
            _removed(kept)
        return False  # saved again since: where these are two files both are the user's, and both stay
    put, wanted = out, new
    while renamed(kept, path, exchange=True) or _moved(kept, path):
        out = _digest(kept)
        if out is None or out.startswith(wanted):
            break
        put, wanted = out, put  # the user saved once more meanwhile
    _removed(kept)
    return False


def _removed(part: Path) -> None:
    """Remove a file nobody needs; one that stays is no reason to fail, it goes when the next night begins."""
    with suppress(OSError):
        part.unlink(missing_ok=True)


def _exchanged(kept: Path) -> tuple[Path, str, str]:
    """Return which file an exchange was for, and the beginnings of the old and the new digest."""
    match = _LEFT.fullmatch(kept.name)
    assert match, kept
    return kept.with_name(match["name"]), match["old"], match["new"]


def _moved(kept: Path, path: Path) -> bool:
    kept.replace(path)
    return True


def _tidied(part: Path) -> None:
    match = _LEFT.fullmatch(part.name)
    if match and match["old"]:
        with suppress(OSError):
            _settle(part)
    else:
        _removed(part)


def _named(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def _digest(path: Path) -> str | None:
    try:
        return digest(path.read_bytes())
    except FileNotFoundError:
        return None


def _is_being_written(path: Path) -> bool:
    """Tell whether a program has a file open for writing; no where nobody can tell.

    A lease of a file is only given while nobody writes to it.
    """
    if sys.platform != "linux":
        return False
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # who opens it now must not end this process with SIGIO
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(file)
    return False


def _sync(folder: Path) -> None:
    """Wait until the disk has the names in a folder; not every file system can say."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def renamed(source: Path, target: Path, *, exchange: bool) -> bool:
    """Rename a file so that the target's is exchanged, or must not be there; False where the system cannot."""
    call = _rename()
    failed = errno.ENOSYS if call is None else call(os.fsencode(source), os.fsencode(target), exchange)
    if failed and failed not in _CANNOT_EXCHANGE:
        raise OSError(failed, os.strerror(failed), str(source), None, str(target))
    return not failed


@cache
def _rename() -> Callable[[bytes, bytes, bool], int] | None:
    """Return the system's call, which returns an error number; Python has none for it."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)

    def on_linux(source: bytes, target: bytes, exchange: bool) -> int:
        here, flag = -100, ctypes.c_uint(2 if exchange else 1)  # AT_FDCWD, RENAME_EXCHANGE, RENAME_NOREPLACE
        return ctypes.get_errno() if library.renameat2(here, source, here, target, flag) else 0

    def on_mac(source: bytes, target: bytes, exchange: bool) -> int:
        flag = ctypes.c_uint(2 if exchange else 4)  # RENAME_SWAP, RENAME_EXCL
        return ctypes.get_errno() if library.renamex_np(source, target, flag) else 0

    if hasattr(library, "renameat2"):
        return on_linux
    return on_mac if hasattr(library, "renamex_np") else None


def _require_unchanged(document: Document) -> None:
    raw, _ = _content(document.path)
    if (None if raw is None else digest(raw)) != document.digest:
        raise ExternallyChangedError(document.path)
    until = time.monotonic() + BUSY_SECONDS
    while raw is not None and _is_being_written(document.path):
        if time.monotonic() > until:
            raise NotWritableError(document.path, "another program has it open for writing")
        time.sleep(0.01)


def _diff(document: Document, text: str) -> str:
    before, after = split_lines(printable(document.text)), split_lines(printable(text))
    lines = unified_diff(before, after, f"a/{document.name}", f"b/{document.name}")
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines)
