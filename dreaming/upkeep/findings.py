"""What can be wrong with the files of a workspace: each check looks at them and changes nothing."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dreaming.home import DREAMS, MEMORY, STATE, STORE, Home
from dreaming.upkeep.scan import OWN_FILES, found
from memory.chunking import overlong_lines, unclosed_fence
from memory.model import Phase
from memory.promotions import Key
from workspace import diary, dreams
from workspace.errors import Problem, UnreadableError, WorkspaceError
from workspace.mending import lonely, mended
from workspace.readable import readable
from workspace.sections import Layout, Own, layout

BLOCKS = ("diary", *(phase.value for phase in Phase))
OTHERS = 0o077
"""What a mode allows to others than the owner."""
AGAIN = "run dream doctor again"
LEFT_IN = (".", "memory/archive", *(f"memory/dreaming/{phase.value}" for phase in Phase))

_PAGE_PART = re.compile(
    r"\.(?:memory|dreams|(?:memory|dreams)-[0-9]{4}|[0-9-]{10})\.md(?:\.[0-9a-f]{16}-[0-9a-f]{16})?\.part",
    re.IGNORECASE,
)
_STATE_PART = re.compile(r"\.night\.holder\.json\..*\.(?:part|gone)|\..*\.zip\.part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong: its kind, where, what it is and what helps, each in one sentence.

    `fixable` tells that `dream doctor --fix` does what helps; else it is for the user to do.
    """

    kind: str
    place: str
    what: str
    repair: str
    fixable: bool = False


Check = Callable[[Home, datetime], Iterator[Finding]]


# -- MEMORY.md and DREAMS.md -----------------------------------------------------------------------------------


def doubles(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find markers and wordings that stand in `MEMORY.md` more than once."""
    text = home.files.read(MEMORY).text
    page = layout(text)
    first: set[Key] = set()
    same = set(copies(page.own))
    for one in page.own:
        key = one.written.mark
        if one in same or key in first:
            yield Finding(
                kind="double_marker",
                place=f"{MEMORY}:{one.place.start + 1}",
                what=f"the marker of fragment {one.written.key} stands there once more",
                repair="the copy is taken out" if one in same else "the two differ; delete the one you do not want",
                fixable=one in same,
            )
        elif is_bare(one):
            yield Finding(
                kind="bare_marker",
                place=f"{MEMORY}:{one.place.start + 1}",
                what=f"the line under the marker of fragment {one.written.key} was deleted",
                repair="the marker is taken out too; the line stays away",
                fixable=True,
            )
        if one not in same:
            first.add(key)
    yield from _wordings(text, page)


def copies(own: Sequence[Own]) -> Iterator[Own]:
    """Yield the own lines that stand further up already, to the letter, and markers whose line stands elsewhere."""
    first: dict[Key, Own] = {}
    for one in sorted(own, key=is_bare):
        first.setdefault(one.written.mark, one)
    for one in own:
        original = first[one.written.mark]
        same = original.written.raw == one.written.raw and not (original.hangs or one.hangs)
        if original is not one and (same or is_bare(one)):
            yield one


def is_bare(one: Own) -> bool:
    """Tell whether a marker stands alone, without a line under it."""
    return len(one.place) == 1


def _wordings(text: str, page: Layout) -> Iterator[Finding]:
    """Find lines of this program that say what another line says, whoever wrote that."""
    own = {one.written.line: one.written for one in page.own if one.written.text}
    said: dict[str, list[int]] = defaultdict(list)
    for line in readable(text):
        if line.number - 1 not in page.outline.fenced:
            said[_folded(own[line.number].text if line.number in own else line.text)].append(line.number)
    for numbers in said.values():
        marked = {own[n].mark for n in numbers if n in own}
        if marked and len(marked) + sum(n not in own for n in numbers) > 1:
            at = next(n for n in reversed(numbers) if n in own)
            others = ", ".join(str(n) for n in numbers if n != at)
            yield Finding(
                kind="double_wording",
                place=f"{MEMORY}:{at}",
                what=f"the line says what line {others} says",
                repair=f"delete one of them; dream undo {own[at].key} takes this program's out",
            )


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def blocks(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find blocks of `DREAMS.md` whose markers do not pair up."""
    text = home.files.read(DREAMS).text
    for name in BLOCKS:
        for one in lonely(text, name)[:1]:
            begins, missing = one.edge == "start", dreams.marker(name, "end" if one.edge == "start" else "start")
            fixable = mended(text, name, told(home)) is not None
            by_hand = f"write {missing} on a line of its own {'below' if begins else 'above'} what belongs to the block"
            yield Finding(
                kind="damaged_block",
                place=f"{DREAMS}:{one.line}",
                what=f"the {name} block {'begins' if begins else 'ends'} there and has no"
                f" {'end' if begins else 'start'}, so nights leave it alone",
                repair="the marker line is put back" if fixable else f"{by_hand}, or delete line {one.line}",
                fixable=fixable,
            )


def with_markers(home: Home, text: str) -> str:
    """Return `DREAMS.md` with the marker lines put back for which it is certain where they stood."""
    known = told(home)
    for name in BLOCKS:
        text = mended(text, name, known) or text
    return text


def told(home: Home) -> frozenset[dreams.Entry]:
    """Return the entries that nights wrote, as they stand in the file."""
    return frozenset(dreams.entry_of(one.stamp, one.prose) for one in home.narratives.told(limit=-1))


def pages(root: Path) -> Iterator[str]:
    """Yield the names of the files this program writes: the pages, archives and reports."""
    yield from (MEMORY, DREAMS)
    for folder in OWN_FILES:
        yield from sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("*.md"))


def secrets(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find secrets in the pages and archives: where and of which kind."""
    for name in pages(home.root):
        try:
            text = home.files.read(name).text
        except WorkspaceError as error:
            yield Finding(kind="unreadable", place=name, what=error.instead(AGAIN), repair="make it readable")
            continue
        for one in found(name, text, home.lexicon, home.redaction):
            yield Finding(
                kind="secret",
                place=f"{one.path}:{one.line}",
                what=f"something of the kind {one.kind} stands there in clear",
                repair="take it out of the file, and change it where it is used",
            )


DIARY_REPAIRS = (
    ("4,000 characters", "overlong_line", "break it into shorter lines"),
    ("more than 1,000,000", "overlong_line", "break it into shorter lines, or move it to another file"),
    ("bytes that are not", "undecodable", "save the file as UTF-8"),
    ("NUL bytes", "undecodable", "save the file without them"),
    ("code fence", "open_fence", "close it with the same marks on a line of their own"),
)
"""What the reader says of a diary, the kind of that, and what helps."""


def diaries(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find what the reader leaves out of diaries and saved memories."""
    listing = listed(home)
    for problem in listing.problems:
        yield _of_diary(problem)
    for one in listing.diaries:
        try:
            text = diary.read(home.root, one.path, folder=home.config.workspace.diaries)
        except UnreadableError as error:
            yield _of_diary(error.problem)
            continue
        for problem in (*text.problems, *_left_out(one.path, text.text)):
            yield _of_diary(problem)


def _left_out(path: str, text: str) -> Iterator[Problem]:
    for line in overlong_lines(text):
        yield Problem(path=path, line=line, reason="a line of over 4,000 characters is left out")
    if (fence := unclosed_fence(text)) is not None:
        yield Problem(path=path, line=fence, reason="a code fence that is never closed hides what stands below it")


def _of_diary(problem: Problem) -> Finding:
    kind, repair = next(
        ((kind, repair) for part, kind, repair in DIARY_REPAIRS if part in problem.reason),
        ("unreadable", "mend, rename or move it; the other files are read without it"),
    )
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return Finding(kind=kind, place=place, what=problem.reason, repair=repair)


def listed(home: Home) -> diary.Listing:
    """Return the diaries and saved memories of a workspace, by its settings."""
    wanted = home.config.workspace
    return diary.diaries(
        home.root, folder=wanted.diaries, pattern=wanted.pattern, memories=wanted.memories, zone=home.zone
    )


# -- the disk ---------------------------------------------------------------------------------------------------


def left_over(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find files that a killed process had begun to write."""
    for path in parts(home.root):
        yield Finding(
            kind="left_over",
            place=path.relative_to(home.root).as_posix(),
            what="a file that was not written to its end was left over",
            repair="it is removed, or put back where it holds what you saved",
            fixable=True,
        )


def parts(root: Path) -> Iterator[Path]:
    """Yield the files that a killed process had begun to write."""
    for folder, name in (*((folder, _PAGE_PART) for folder in LEFT_IN), (str(STATE), _STATE_PART)):
        yield from sorted(path for path in (root / folder).glob(".*") if name.fullmatch(path.name))


def permissions(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find files of this program that others may read or write; the modes of the pages are the user's."""
    for path in private(home.root):
        if path.exists() and path.stat().st_mode & OTHERS:
            yield Finding(
                kind="permissions",
                place=path.relative_to(home.root).as_posix(),
                what=f"others may use it (mode {path.stat().st_mode & 0o777:04o})",
                repair="its mode becomes 0600",
                fixable=True,
            )


def private(root: Path) -> Iterator[Path]:
    """Yield the files that are nobody else's: the store, what was saved before a restore, the archives."""
    yield from (root / f"{STORE}{end}" for end in ("", "-wal", "-shm"))
    yield from sorted((root / STATE).glob("*.zip"))
    yield from sorted((root / "memory/archive").glob("*.md"))


OF_FILES: tuple[Check, ...] = (doubles, blocks, secrets, diaries, left_over, permissions)
