"""How a workspace stands: the last night, the store, the head-room of `MEMORY.md`, and what blocks promotion."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from dreaming.explain import nearest
from dreaming.home import MEMORY, Home
from dreaming.phases.deep import Examined
from memory.journal import NightRecord
from memory.model import Phase
from memory.promotions import State
from memory.redaction import broken_scanner

WARN_FROM = 0.9
"""From this share of the budget on, people want to know before something moves to the archive."""
NIGHTS_LOOKED_BACK = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldPhase:
    """How a phase of the last night was told: who was asked, who wrote the entry, why answers were not kept.

    `narrator` is None when there is no entry; tokens are estimates of what was sent to a model and came back.
    """

    phase: Phase
    asked: str
    narrator: str | None
    refused: tuple[str, ...]
    prompt_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What `dream status` says; `streak` counts the latest nights of deep without a promotion.

    `blocking` is the gate at which the last night refused most of what had been asked for; `unscanned` says why no text
    can be looked through for secrets, and is therefore hidden.
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

    @property
    def nearly_full(self) -> bool:
        """Whether `MEMORY.md` has reached nine tenths of its budget."""
        return self.memory_chars >= WARN_FROM * self.budget_chars


def overview(home: Home, *, now: datetime) -> Overview:
    """Return how the workspace stands, from the same records the nights write."""
    nights = home.journal.nights(limit=NIGHTS_LOOKED_BACK)
    waiting = nearest(home, now=now)
    blocked = {gate: count for gate, count in home.journal.last_refused().items() if gate != "recalled"}
    return Overview(
        counts=home.store.counts(),
        last_night=nights[0] if nights else None,
        memory_chars=len(home.files.read(MEMORY).text),
        budget_chars=home.config.memory.budget_chars,
        in_force=len(home.promotions.all(State.IN_FORCE)),
        dropped=len(home.promotions.all(State.DROPPED)),
        proposed=len(home.promotions.all(State.PROPOSED)),
        streak=_streak(nights),
        blocking=next(iter(blocked), None),
        nearest=waiting[:3],
        unrecorded=home.unrecorded(),
        told=told(home, nights[0].date) if nights else (),
        unscanned=broken_scanner(),
    )


def told(home: Home, night: date) -> tuple[ToldPhase, ...]:
    """Return how the phases of a night were told."""
    writers = {entry.phase: entry.narrator for entry in home.narratives.told(night=night)}
    return tuple(
        ToldPhase(
            phase=one.phase,
            asked=one.asked,
            narrator=writers.get(one.phase),
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
