"""Adding to today's diary: always behind what stands there, under a heading, and nowhere else."""

import codecs
import fcntl
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from workspace.errors import NotWritableError, Problem, WorkspaceError
from workspace.files import PRIVATE
from workspace.folders import make
from workspace.lines import BOM, line_end, one_line, outline, printable, split_lines, with_block
from workspace.unclosed import Unclosed, unclosed

MOST = 8_000
"""Characters of one text; what is longer is a dump, not a note."""
MOST_A_LINE = 4_000
"""Characters of one line; the nights leave a longer one out."""
LONGEST_HEADING = 120

_OWN = re.compile(r"openclaw:dreaming:|openclaw-memory-promotion:", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HEADING = re.compile(r" {0,3}##[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*[\r\n]*")
_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class NothingToAppendError(WorkspaceError):
    """The text, or the heading it belongs under, is empty."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"the {what} is empty; nothing was written, so send one that says something")


class TooLongError(WorkspaceError):
    """The text is too long for a note."""

    def __init__(self, what: str, count: int, most: int) -> None:
        self.count = count
        super().__init__(
            f"the {what} has {count:,} characters of at most {most:,}; nothing was written, so shorten or split it"
        )


class OwnMarkerError(WorkspaceError):
    """The text holds a marker of this program's blocks; in a diary it would hide what stands around it."""

    def __init__(self) -> None:
        super().__init__("the text quotes a marker of this program; nothing was written, so leave that line out")


class LinkedDiaryError(WorkspaceError):
    """The diary of the day is a link; what it leads to may be no diary."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} is a link, so nothing was written; put a file there in its place")


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """Where the text stands now: path below the root, first and last line, 1-based and inclusive; what was mended."""

    path: str
    start_line: int
    end_line: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What goes behind a diary: its last lines are the note, so many; what stood open, in the diary or in the note."""

    text: str
    note: int
    mended: tuple[Unclosed, ...]


def append(root: Path, day: date, text: str, *, heading: str, folder: str = "memory") -> Appended:
    """Append a text to the diary of a day, under a heading; not one byte that stands there changes.

    Raise NothingToAppendError, TooLongError, OwnMarkerError, LinkedDiaryError or NotWritableError.
    """
    title, lines = title_of(heading), lines_of(text)
    shown = f"{folder}/{day.isoformat()}.md"
    path = root / shown
    try:
        make(path.parent, root=root)
        if path.is_symlink():
            raise LinkedDiaryError(shown)
        before, added = _grown(path, title, lines)
    except UnicodeDecodeError as error:
        raise NotWritableError(path, f"it is not the {error.encoding.upper()} it says it is") from error
    except OSError as error:
        raise NotWritableError(path, error.strerror or str(error)) from error
    last = len(split_lines(before + added.text))
    return Appended(
        path=shown,
        start_line=last - added.note + 1,
        end_line=last,
        problems=tuple(str(_problem(shown, left)) for left in added.mended),
    )


def _problem(path: str, left: Unclosed) -> Problem:
    reason = f"{left.what} was never closed; it was mended so that it hides no later note"
    return Problem(path=path, line=left.line + 1, reason=reason)


def _grown(path: Path, title: str, lines: tuple[str, ...]) -> tuple[str, Addition]:
    """Add the lines at the end of a file, one writer of this program at a time; return what stood there, and they."""
    with open(path, "ab+", opener=_opened) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        raw = file.read()
        encoding = next((name for mark, name in _ENCODINGS if raw.startswith(mark)), "utf-8")
        before = raw.decode(encoding, "replace" if encoding == "utf-8" else "strict")
        added = addition(before, title, lines)
        file.write(added.text.encode(encoding))
        file.flush()
        os.fsync(file.fileno())
    return before, added


def _opened(path: str, flags: int) -> int:
    """Open without following a link that was put there meanwhile, without waiting for a pipe, for the owner only."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, PRIVATE)


def addition(before: str, title: str, lines: Sequence[str]) -> Addition:
    """Return what to add behind a text, in its line ends; the heading it ends under is not repeated.

    What the text leaves open is closed first, what the lines leave open is mended: neither hides what is added later.
    """
    end = line_end(before)
    open_before = unclosed(before)
    above = before if open_before is None else _with_line(before, f"{open_before.end}{end}")
    head = () if last_title(above) == title else (f"## {title}", "")
    start = with_block(above, _joined(head, end))
    note, open_after = _mended(start, lines, end)
    return Addition(
        text=(start + _joined(note, end))[len(before) :],
        note=len(note),
        mended=(*((open_before,) if open_before else ()), *open_after),
    )


def _mended(start: str, lines: Sequence[str], end: str) -> tuple[Sequence[str], Sequence[Unclosed]]:
    """Close a code fence behind the lines and escape what begins other HTML, until nothing is open; say what was."""
    note, found, first = list(lines), list[Unclosed](), len(split_lines(start))
    while left := unclosed(start + _joined(note, end)):
        found.append(left)
        if left.is_fence:
            note.append(left.end)
        else:
            begin = re.compile(rf" {{0,3}}{re.escape(left.begin)}", re.IGNORECASE)
            at = left.line - first
            note[at:] = [line.replace("<", "\\<", 1) if begin.match(line) else line for line in note[at:]]
    return note, found


def _with_line(text: str, line: str) -> str:
    return text + line if text.endswith(("\n", "\r")) else f"{text}{line_end(text)}{line}"


def _joined(lines: Sequence[str], end: str) -> str:
    return "".join(f"{line}{end}" for line in lines)


def last_title(text: str) -> str | None:
    """Return what the last heading of a text says; None when there is none, or when it is not of the second level."""
    lines = split_lines(text.removeprefix(BOM))
    headings = outline(lines).headings
    match = _HEADING.fullmatch(lines[max(headings)]) if headings else None
    return match[1] if match else None


def title_of(heading: str) -> str:
    """Return a heading as one line without its marks, or refuse it."""
    title = one_line(heading).strip("# ")
    if not title:
        raise NothingToAppendError("heading")
    if len(title) > LONGEST_HEADING:
        raise TooLongError("heading", len(title), LONGEST_HEADING)
    if _OWN.search(title):
        raise OwnMarkerError
    return title


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a text without blank ones around it and without control characters, or refuse it."""
    if len(text) > MOST:
        raise TooLongError("text", len(text), MOST)
    lines = [_CONTROL.sub("", line).rstrip() for line in split_lines(printable(text.removeprefix(BOM)))]
    if not any(lines):
        raise NothingToAppendError("text")
    if any(_OWN.search(line) for line in lines):
        raise OwnMarkerError
    longest = max(map(len, lines))
    if longest > MOST_A_LINE:
        raise TooLongError("longest line of the text", longest, MOST_A_LINE)
    said = [n for n, line in enumerate(lines) if line]
    return tuple(lines[said[0] : said[-1] + 1])
