"""The files this program changes: read whole, written whole or not at all, never over somebody else's change."""

import codecs
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from workspace.errors import (
    ExternallyChangedError,
    HeldError,
    NotAFileError,
    NotReadableError,
    NotWritableError,
    Problem,
    WorkspaceError,
)
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
        _replace(document, _encoded(document, text))
        return True

    def restore(self, document: Document) -> None:
        """Bring a file back to what it was when it was read; one that did not exist is removed."""
        now = self.read(document.name)
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
        return True

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


def _replace(document: Document, raw: bytes) -> None:
    path = document.path
    try:
        _require_writable(document)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _part(document) as part:
            _keep_owner(part, path)
            part.write(raw)
            part.flush()
            os.fsync(part.fileno())
            _require_unchanged(document)
    except OSError as error:
        raise NotWritableError(path, error.strerror or str(error)) from error


def _require_writable(document: Document) -> None:
    """Respect a file the user made read-only; replacing it would only need the folder's permission."""
    checks_user = os.access in os.supports_effective_ids
    if document.path.exists() and not os.access(document.path, os.W_OK, effective_ids=checks_user):
        raise NotWritableError(document.path, "it is read-only")


@contextmanager
def _part(document: Document) -> Iterator[BinaryIO]:
    """Open a hidden file beside the target that replaces it at the end, and is gone if anything fails."""
    from boltons.fileutils import atomic_save  # type: ignore[import-untyped]  # boltons ships no types

    path = document.path
    mode = PRIVATE if document.mode is None else document.mode
    saver = atomic_save(path, part_file=f".{path.name}.part", overwrite_part=True, file_perms=mode)
    try:
        with saver as part:
            yield part
    except BaseException:
        # A full disk fails the saver's own flush, before it removes what it began.
        if saver.part_file is not None:
            with suppress(OSError):
                saver.part_file.close()
        with suppress(OSError):
            Path(saver.part_path).unlink(missing_ok=True)
        raise


def _keep_owner(part: BinaryIO, path: Path) -> None:
    """Leave the file to whom it, or else its folder, belongs: a night may be run by root."""
    owner = (path if path.exists() else path.parent).stat()
    mine = os.fstat(part.fileno())
    if (owner.st_uid, owner.st_gid) != (mine.st_uid, mine.st_gid):
        with suppress(PermissionError):
            os.fchown(part.fileno(), owner.st_uid, owner.st_gid)


def _require_unchanged(document: Document) -> None:
    raw, _ = _content(document.path)
    if (None if raw is None else digest(raw)) != document.digest:
        raise ExternallyChangedError(document.path)


def _diff(document: Document, text: str) -> str:
    before, after = split_lines(printable(document.text)), split_lines(printable(text))
    lines = unified_diff(before, after, f"a/{document.name}", f"b/{document.name}")
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines)
