"""How a workspace stands: the last night, the store, the head-room of `MEMORY.md`, and what blocks promotion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib import import_module

from dreaming.entries import standing
from dreaming.explain import change, nearest
from dreaming.home import MEMORY, STORE, Home
from dreaming.phases.deep import Examined
from dreaming.promotion.ledger import agreed
from memory.journal import NightRecord
from memory.model import Phase
from memory.promotions import State
from memory.redaction import broken_scanner
from workspace.errors import Holder
from workspace.lock import running

WARN_FROM = 0.9
"""From this share of the budget on, people want to know before something moves to the archive."""
NIGHTS_LOOKED_BACK = 400
SCHEDULE, RECORD = "cron.schedule", "cron.record"
"""Who knows when nights come, and how they ended of late; named only, because cron is above dreaming."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldPhase:
    """How a phase of the last night was told: who was asked, who wrote the entry, why answers were not kept.

    `narrator` is None when there is no entry, `written` tells whether it stands in the diary; tokens are estimates of
    what was sent to a model and came back.
    """

    phase: Phase
    asked: str
    narrator: str | None
    written: bool
    refused: tuple[str, ...]
    prompt_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What `dream status` says; `streak` counts the latest nights of deep without a promotion.

    `blocking` is the gate at which the last night refused most of what had been asked for; `unscanned` says why no text
    can be looked through for secrets, and is therefore hidden. `refused` is of the last night, by gate; `next_night` is
    None when nights are off or never come; `changes` says of each of the nearest what would change the verdict;
    `failures` are those of the scheduled nights in a row, `failure` is the last one; `running` is who runs a night now.
    """

    counts: Mapping[str, int]
    last_night: NightRecord | None
    memory_chars: int
    budget_chars: int
    in_force: int
    dropped: int
    proposed: int
    streak: int
    blocking: str | None
    nearest: tuple[Examined, ...]
    unrecorded: tuple[str, ...] = ()
    told: tuple[ToldPhase, ...] = ()
    unscanned: str | None = None
    refused: Mapping[str, int] = field(default_factory=dict)
    next_night: datetime | None = None
    changes: tuple[str, ...] = ()
    store_bytes: int = 0
    failures: int = 0
    failure: str = ""
    running: Holder | None = None

    @property
    def room_chars(self) -> int:
        """How many characters `MEMORY.md` may still grow by."""
        return max(0, self.budget_chars - self.memory_chars)

    @property
    def nearly_full(self) -> bool:
        """Whether `MEMORY.md` has reached nine tenths of its budget."""
        return self.memory_chars >= WARN_FROM * self.budget_chars


def overview(home: Home, *, now: datetime) -> Overview:
    """Return how the workspace stands, from the same records the nights write."""
    nights = home.journal.nights(limit=NIGHTS_LOOKED_BACK)
    waiting = nearest(home, now=now)
    failures, failure = _failures(home)
    stand = [one.state for one in agreed(home).values()]
    blocked = {gate: count for gate, count in home.journal.last_refused().items() if gate != "recalled"}
    return Overview(
        counts=home.store.counts(),
        last_night=nights[0] if nights else None,
        memory_chars=len(home.files.read(MEMORY).text),
        budget_chars=home.config.memory.budget_chars,
        in_force=stand.count(State.IN_FORCE),
        dropped=stand.count(State.DROPPED),
        proposed=stand.count(State.PROPOSED),
        streak=_streak(nights),
        blocking=next(iter(blocked), None),
        nearest=waiting[:3],
        unrecorded=home.unrecorded(now=now),
        told=told(home, nights[0].date) if nights else (),
        unscanned=broken_scanner(),
        refused=home.journal.refused(nights[0].date) if nights else {},
        next_night=_next(home, now),
        changes=tuple(change(one, home.config) for one in waiting[:3]),
        store_bytes=_size(home),
        failures=failures,
        failure=failure,
        running=running(home.root),
    )


def needs(found: Overview, problems: Sequence[str]) -> Iterator[str]:
    """Return what needs a person, a line each; `problems` are those of reading."""
    if found.last_night is not None and found.last_night.finished_at is None and found.running is None:
        yield f"the night of {found.last_night.date} did not finish: run it again with dream"
    if found.failures:
        yield f"{found.failures} scheduled {_plural(found.failures, 'night')} failed in a row: {found.failure}"
    if found.unrecorded:
        count = len(found.unrecorded)
        yield f"{count} {_plural(count, 'recall')} could not be recorded, the last at {found.unrecorded[-1]}"
    for one in found.told:
        for reason in one.refused:
            yield f"{one.phase} could not be told by {one.asked}: {reason}"
    if found.proposed:
        yield f"{found.proposed} {_plural(found.proposed, 'proposal')} waiting for your word: dream review"
    if unfitting := found.refused.get("budget", 0):  # a full file by itself is none: the oldest lines make room
        yield (
            f"MEMORY.md had no room for {unfitting} of the last night: {found.memory_chars:,} of"
            f" {found.budget_chars:,} characters; shorten your own text there or raise memory.budget_chars"
        )
    yield from problems


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _next(home: Home, now: datetime) -> datetime | None:
    settings = home.config.dreaming
    if not settings.enabled:
        return None
    found: datetime | None = next(import_module(SCHEDULE).upcoming(settings.time, home.zone, after=now), None)
    return found


def _failures(home: Home) -> tuple[int, str]:
    record = import_module(RECORD).read(home.root)
    return (0, "") if record is None else (record.in_a_row, record.failure)


def _size(home: Home) -> int:
    """Return the bytes of the store on the disk, with what is not yet merged into its file."""
    store = home.root / STORE
    return sum(one.stat().st_size for one in (store, store.with_name(f"{store.name}-wal")) if one.exists())


def told(home: Home, night: date) -> tuple[ToldPhase, ...]:
    """Return how the phases of a night were told."""
    written = standing(home, night)
    writers = {entry.phase: entry.narrator for entry in home.narratives.told(night=night)}
    return tuple(
        ToldPhase(
            phase=one.phase,
            asked=one.asked,
            narrator=writers.get(one.phase),
            written=one.phase in written,
            refused=one.refused,
            prompt_tokens=one.prompt_tokens,
            answer_tokens=one.answer_tokens,
        )
        for one in home.narratives.tellings(night)
    )


def _streak(nights: tuple[NightRecord, ...]) -> int:
    streak = 0
    for night in nights:
        deep = night.reports.get(Phase.DEEP)
        if deep is not None and deep["promoted"]:
            break
        streak += deep is not None
    return streak
