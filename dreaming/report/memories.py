"""How `MEMORY.md` came about, version by version, and how much of its budget it took."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from dreaming.home import MEMORY, Home
from dreaming.promotion.ledger import agreed
from dreaming.report.facts import LeftOut, Memory, Version
from dreaming.report.shown import clean, clean_lines, lines_of, weight
from dreaming.report.versions import edits
from memory.changes import Change, digest_of
from memory.promotions import State

CHANGES = 400
BYTES = 500_000
"""Of all versions together, as they stand in the page."""
LONGEST_TEXT = 150_000
"""Characters of one version; the budget of the file is a fraction of it."""
CUT = "[…]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    at: datetime
    kind: str
    reason: str
    night: date | None
    lines: tuple[str, ...]
    chars: int
    exact: bool


def memory(home: Home, *, now: datetime) -> tuple[Memory, LeftOut]:
    """Return the file, its versions up to a moment, and how many of them were left out."""
    document = home.files.read(MEMORY)
    states = list(_states(home, document.text, now=now))
    versions = _versions(states)
    stand = [one.state for one in agreed(home).values()]
    total = max(len(states), len(home.changes.all(file=MEMORY)) + 1 if len(states) > CHANGES else 0)
    return (
        Memory(
            chars=len(document.text),
            budget=home.config.memory.budget_chars,
            in_force=stand.count(State.IN_FORCE),
            archived=stand.count(State.DROPPED),
            versions=versions,
        ),
        LeftOut(kind="versions", shown=len(versions), total=total),
    )


def _states(home: Home, present: str, *, now: datetime) -> Iterator[_State]:
    """Yield how the file stood after each change, oldest first, and as it stands when somebody changed it since."""
    applied = [change for change in home.changes.all(file=MEMORY) if change.made]
    until = [change for change in applied if change.day <= home.local_date(now)]
    recent = until[-CHANGES:]
    if recent:
        first = recent[0]
        yield from _pictured(home, first, first.before, kind="first")
    for change in recent:
        yield from _pictured(home, change, change.after, kind=change.kind)
    if len(until) == len(applied) and (not recent or recent[-1].after != digest_of(present)):
        lines = _bounded(lines_of(home, present)) if present else ()
        yield _State(
            at=_local(home, now), kind="present", reason="", night=None, lines=lines, chars=len(present), exact=True
        )


def _pictured(home: Home, change: Change, key: str | None, *, kind: str) -> Iterator[_State]:
    """Yield how the file stood before or after a change; nothing where that is not kept any more."""
    first = kind == "first"
    try:
        image = None if key is None else home.changes.image(key)
    except KeyError:
        return
    yield _State(
        at=_local(home, change.at),
        kind=kind,
        reason="" if first else clean(change.reason),
        night=None if first else change.night,
        lines=() if image is None else _bounded(clean_lines(image.text)),
        chars=0 if image is None else len(image.text),
        exact=image is None or image.whole,
    )


def _local(home: Home, moment: datetime) -> datetime:
    return moment.astimezone(home.zone).replace(tzinfo=None)


def _bounded(lines: Sequence[str]) -> tuple[str, ...]:
    room = LONGEST_TEXT
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return (*kept, CUT)
        kept.append(line)
    return tuple(kept)


def _versions(states: Sequence[_State]) -> tuple[Version, ...]:
    """Return the newest versions there is room for; the oldest of them holds its whole text."""
    found: list[Version] = []
    room = BYTES
    for n in reversed(range(len(states))):
        before = states[n - 1].lines if n else ()
        whole, step = _version(states[n], ()), _version(states[n], before)
        if n and room - _size(step) > 0 and _size(_version(states[n - 1], ())) < room - _size(step):
            room -= _size(step)
            found.append(step)
            continue
        found.append(whole)
        break
    return tuple(reversed(found))


def _version(state: _State, before: Sequence[str]) -> Version:
    return Version(
        at=state.at,
        kind=state.kind,
        reason=state.reason,
        night=state.night,
        chars=state.chars,
        exact=state.exact,
        edits=edits(before, state.lines),
    )


def _size(version: Version) -> int:
    """Return about how many bytes a version takes in the page."""
    return 120 + sum(24 + sum(weight(line) + 4 for line in edit.put) for edit in version.edits)
