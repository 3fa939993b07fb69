"""Which files are diaries or saved memories, and their text: what is wrong with one costs at most that one."""

import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from operator import attrgetter
from pathlib import Path, PurePosixPath

from workspace.decoding import decoded
from workspace.errors import Problem, UnreadableError
from workspace.files import digest

DEFAULT_PATTERN = r"(?<![0-9])(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])"
"""An ISO date anywhere in the name, not part of a longer number."""
OWN_FOLDERS = ("dreaming", ".dreams", "archive")
"""What this program keeps below the diary folder; read again it would feed on itself."""
LARGEST = 64 * 2**20
"""Bytes of a diary that are still read; a larger file is no diary but an accident."""
STATE = "memory/.dreams"
"""What a folder has that is a workspace of its own: what stands in it is not the outer one's."""

_NEARLY = re.compile(
    r"(?<!\d)(?:(?P<year>\d{4})(?P<mark>[-._ ])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<between>[-._])(?P<second>\d{1,2})(?P=between)(?P<last>\d{4})"
    r"|(?P<tight>(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])))(?!\d)"
)
"""What people write when they mean a date: `2026-9-15`, `16.09.2026`, `20260915`, and days that no month has."""
_UNSAYABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diary:
    """A file that is read: path below the root (POSIX, NFC), its day, and (size, mtime_ns, ctime_ns).

    Without a date in its name it is a saved memory, of the day it was last changed.
    """

    path: str
    day: date
    stamp: tuple[int, int, int]
    dated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The files by day and path, what was left out by path, and files whose name nearly is a date."""

    diaries: tuple[Diary, ...]
    problems: tuple[Problem, ...]
    misnamed: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryText:
    """What a diary says, the SHA-256 of its bytes, and what of it was left out."""

    text: str
    digest: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which files are read: names with a day in them (group `date` of the pattern), and saved memories.

    Those are named by what their path ends with, such as `people.md` or `topics/*.md`; `zone` tells their day.
    """

    pattern: re.Pattern[str]
    memories: tuple[str, ...]
    zone: tzinfo

    def day(self, name: str) -> date | None:
        """Return the first valid date of a name."""
        for match in self.pattern.finditer(name):
            try:
                return date.fromisoformat(match["date"] or "")
            except ValueError:
                continue
        return None

    def reads(self, path: str) -> bool:
        """Tell whether a path below the root is that of a file to read."""
        name = path.rpartition("/")[2]
        if name[-3:].lower() != ".md":
            return False
        return self.day(name) is not None or any(PurePosixPath(path).match(ending) for ending in self.memories)

    def changed_on(self, mtime_ns: int) -> date:
        """Return the day a file was last changed; the first one there is for a time no calendar has."""
        try:
            return datetime.fromtimestamp(mtime_ns // 10**9, self.zone).date()
        except (OverflowError, ValueError, OSError):
            return date.min


def diaries(
    root: Path,
    *,
    folder: str = "memory",
    pattern: str = DEFAULT_PATTERN,
    memories: Sequence[str] = (),
    zone: tzinfo = UTC,
) -> Listing:
    """List the diaries and saved memories below a folder; raise ValueError when the pattern has no group `date`."""
    walk = _Walk(root, folder, Wanted(pattern=_compiled(pattern), memories=tuple(memories), zone=zone))
    walk.enter(walk.base, "".join(f"{part}/" for part in PurePosixPath(folder).parts))
    walk.follow_links()
    by_path = sorted(walk.diaries.values(), key=attrgetter("path"))
    return Listing(
        diaries=tuple(sorted(by_path, key=attrgetter("day"))),
        problems=tuple(sorted(walk.problems, key=attrgetter("path", "reason"))),
        # Who names the days in a way of their own means something else by other names.
        misnamed=tuple(sorted(walk.misnamed, key=attrgetter("path"))) if pattern == DEFAULT_PATTERN else (),
    )


def read(root: Path, path: str, *, folder: str = "memory") -> DiaryText:
    """Read one diary by its listed path; raise UnreadableError, which names the problem, when that cannot be."""
    try:
        raw = _bytes(root, path, folder)
    except OSError as error:
        raise UnreadableError(Problem(path=path, line=None, reason=f"cannot be read: {error.strerror}")) from error
    text, flaws = decoded(raw)
    problems = tuple(Problem(path=path, line=line, reason=reason) for line, reason in flaws)
    return DiaryText(text=text, digest=digest(raw), problems=problems)


def misnamed(name: str) -> str | None:
    """Return why a file whose name nearly is a date is not read, and how to name it; None for any other name."""
    nearly = _NEARLY.search(name) if name[-3:].lower() == ".md" else None
    if nearly is None:
        return None
    days = _meant(nearly)
    if len(days) == 1:
        better = f"{name[: nearly.start()]}{days.pop()}{name[nearly.end() :]}"
        return f"is not read, because its name holds no date like 2026-06-15; rename it {better}"
    why = f"{nearly[0]} may be one of two days" if days else f"there is no day {nearly[0]}"
    return f"is not read, because {why}; name it by its day, like 2026-06-15.md"


def _meant(nearly: re.Match[str]) -> set[date]:
    """Return the days somebody may have meant; a full stop means that the day comes before the month."""
    parts = nearly.groupdict(default="")
    tight, year = parts["tight"], parts["year"] or parts["last"]
    readings = [(year, parts["second"], parts["first"])]
    if tight:
        readings = [(tight[:4], tight[4:6], tight[6:])]
    elif parts["month"]:
        readings = [(year, parts["month"], parts["day"])]
    elif parts["between"] != ".":
        readings.append((year, parts["first"], parts["second"]))
    days = set()
    for reading in readings:
        with suppress(ValueError):
            days.add(date(*map(int, reading)))
    return days


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"the diary pattern {pattern!r} is no regular expression ({error}); mend it") from error
    if "date" not in compiled.groupindex:
        raise ValueError(f"the diary pattern {pattern!r} has no group for the date; add (?P<date>…) around it")
    return compiled


class _Walk:
    """One walk through the folders: real files first, then links, so that a file reached twice keeps its own name."""

    def __init__(self, root: Path, folder: str, wanted: Wanted) -> None:
        self.base = os.path.realpath(root / folder)
        self.diaries: dict[str, Diary] = {}
        self.problems: list[Problem] = []
        self.misnamed: list[Problem] = []
        self._wanted = wanted
        self._inside = _prefixes(root, self.base)
        self._own = {f"{self.base}{os.sep}{name}" for name in OWN_FOLDERS}
        self._links: list[tuple[str, str]] = []
        self._entered: set[str] = set()
        self._taken: set[str] = set()

    def enter(self, folder: str, shown: str) -> None:
        """Walk through a real folder whose path the user sees as `shown`, and all below it."""
        waiting = [(folder, shown)]
        while waiting:
            folder, shown = waiting.pop()
            if folder in self._entered:
                continue
            self._entered.add(folder)
            try:
                with os.scandir(folder) as entries:
                    waiting.extend(
                        [(entry.path, f"{shown}{entry.name}/") for entry in entries if self._visit(entry, shown)]
                    )
            except FileNotFoundError:
                continue
            except OSError as error:
                self._leave_out(shown, f"cannot be listed: {error.strerror}")

    def follow_links(self) -> None:
        """Take in what links lead to, unless it is read already, is not the user's, or lies outside."""
        while self._links:
            self._links.sort(reverse=True)
            self._follow(*self._links.pop())

    def _visit(self, entry: os.DirEntry[str], shown: str) -> bool:
        """Take a file that is wanted, remember a link; True for a folder to walk through."""
        name = entry.name
        if name[0] == ".":
            return False
        if entry.is_symlink():
            self._links.append((shown + name, entry.path))
            return False
        wanted = self._wanted.reads(shown + name)
        if not entry.is_dir():
            if wanted:
                self._take(shown + name, entry.path, entry)
            elif reason := misnamed(name):
                self.misnamed.append(Problem(path=_UNSAYABLE.sub("\ufffd", shown + name), line=None, reason=reason))
            return False
        if wanted:
            self._leave_out(shown + name, "is a folder, not a diary")
        return entry.path not in self._own and not os.path.isdir(f"{entry.path}{os.sep}{STATE}")  # noqa: PTH112

    def _follow(self, shown: str, link: str) -> None:
        wanted = self._wanted.reads(shown)
        real = Path(os.path.realpath(link))
        try:
            is_folder = stat.S_ISDIR(real.stat().st_mode)
        except OSError:
            return self._leave_out(shown, "is a link that leads nowhere") if wanted else None
        if not (wanted or is_folder):
            return None
        if not str(real).startswith(self._inside):
            return self._leave_out(shown, "is a link that leads out of the workspace")
        if not self._own.isdisjoint({str(real), *map(str, real.parents)}):
            return self._leave_out(shown, "is a link to what this program wrote")
        if any((folder / STATE).is_dir() for folder in (real, *real.parents) if self._is_inside(folder)):
            return self._leave_out(shown, "is a link into another workspace")
        if is_folder:
            return self.enter(str(real), f"{shown}/")
        return self._take(shown, str(real), real) if wanted else None

    def _is_inside(self, folder: Path) -> bool:
        return f"{folder}{os.sep}" not in self._inside and str(folder).startswith(self._inside)

    def _take(self, shown: str, real: str, entry: os.DirEntry[str] | Path) -> None:
        try:
            status = entry.stat()
        except FileNotFoundError:
            return
        if real in self._taken:
            return
        self._taken.add(real)
        if not stat.S_ISREG(status.st_mode):
            self._leave_out(shown, "is not a regular file")
        elif not shown.isprintable() and _UNSAYABLE.search(shown):
            self._leave_out(_UNSAYABLE.sub("\ufffd", shown), "has a name that cannot be printed; rename it")
        else:
            stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            day = self._wanted.day(shown.rpartition("/")[2])
            found = Diary(
                path=unicodedata.normalize("NFC", shown),
                day=day or self._wanted.changed_on(status.st_mtime_ns),
                stamp=stamp,
                dated=day is not None,
            )
            self._keep(shown, found)

    def _keep(self, shown: str, diary: Diary) -> None:
        """Keep a diary; of two names that differ only in how accents are composed, the composed one is read."""
        if diary.path in self.diaries:
            self._leave_out(diary.path, "has a twin whose name differs only in how accents are composed; rename it")
            if shown != diary.path:
                return
        self.diaries[diary.path] = diary

    def _leave_out(self, path: str, reason: str) -> None:
        self.problems.append(Problem(path=path, line=None, reason=reason))


def _prefixes(root: Path, base: str) -> tuple[str, ...]:
    """Return what the real path of a diary may begin with; the diary folder itself may be a link to elsewhere."""
    return tuple(os.path.realpath(folder).rstrip(os.sep) + os.sep for folder in (root, base))


def _bytes(root: Path, path: str, folder: str) -> bytes:
    real = Path(os.path.realpath(_located(root, path)))
    if not str(real).startswith(_prefixes(root, os.path.realpath(root / folder))):
        raise PermissionError(0, "it lies outside the workspace")
    status = real.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a regular file")
    if status.st_size > LARGEST:
        raise OSError(0, f"it is larger than {LARGEST >> 20} MiB")
    return real.read_bytes()


def _located(root: Path, path: str) -> Path:
    """Find the file of a composed path; some disks hold names with their accents apart."""
    found = root
    for part in Path(path).parts:
        found = _child(found, part)
    return found


def _child(folder: Path, name: str) -> Path:
    if name.isascii() or os.path.lexists(folder / name) or not folder.is_dir():
        return folder / name
    entries = sorted(folder.iterdir())
    return next((entry for entry in entries if unicodedata.normalize("NFC", entry.name) == name), folder / name)
