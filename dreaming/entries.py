"""The entries of the dream diary: the files they stand in, and which of a night's do."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import date

from dreaming.home import DREAMS, Home
from memory.model import Phase
from workspace import dreams
from workspace.errors import WorkspaceError

ARCHIVES = "memory/archive"


def archive_name(year: int) -> str:
    """Return the name of the file that keeps the entries which had to make room in a year."""
    return f"{ARCHIVES}/DREAMS-{year}.md"


def archives(home: Home) -> tuple[str, ...]:
    """Return the names of the archives of the dream diary, oldest year first."""
    found = (home.root / ARCHIVES).glob("DREAMS-[0-9][0-9][0-9][0-9].md")
    return tuple(f"{ARCHIVES}/{path.name}" for path in sorted(found))


def standing(home: Home, night: date) -> frozenset[Phase]:
    """Return the phases whose entries of a night stand in the diary or its archives, in whatever words."""
    written = [one for one in home.narratives.told(night=night) if one.written and not one.taken_back]
    own = {one.phase: dreams.entry_of(one.stamp, one.prose) for one in written}
    there = set(_standing(home)) if own else set()
    reworded = {entry.stamp for entry in there - set(own.values())}
    return frozenset(phase for phase, entry in own.items() if entry in there or entry.stamp in reworded)


def _standing(home: Home) -> Iterator[dreams.Entry]:
    for name in (DREAMS, *archives(home)):
        with suppress(WorkspaceError):
            yield from dreams.entries(home.files.read(name).text, archived=name != DREAMS)
