"""Light sleep: pick the fragments that are alive now, fresh ones first (SPEC 6)."""

from dataclasses import dataclass
from datetime import UTC, datetime

from dreaming.phases.night import Night
from memory.model import Candidate
from memory.similarity import groups

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LightPlan:
    """What light stages, in order, `fresh` being those that are new since the last night."""

    staged: tuple[Candidate, ...]
    fresh: tuple[Candidate, ...]
    examined: int
    merged: int


def light(night: Night) -> LightPlan:
    """Order the pool, merge near-duplicates, then cut: old and told fragments take no slot from new ones."""
    pool = sorted((c for c in night.candidates if not c.flaws), key=lively)
    kept = groups([c.fragment.text for c in pool], night.config.light.dedupe_similarity)
    distinct = [c for n, c in enumerate(pool) if kept[n] == n]
    distinct.sort(key=lambda c: (_unchanged(c, night), c.id in night.told))
    staged = tuple(distinct[: night.config.light.limit])
    return LightPlan(
        staged=staged,
        fresh=tuple(c for c in staged if not _unchanged(c, night) and c.id not in night.told),
        examined=len(pool),
        merged=len(pool) - len(distinct),
    )


def lively(candidate: Candidate) -> tuple[float, int, str]:
    """Return the order of light: last used first, then most recalled, then by id."""
    last = candidate.evidence.last_at or _NEVER
    return (-last.timestamp(), -candidate.evidence.recalls, candidate.id)


def _unchanged(candidate: Candidate, night: Night) -> bool:
    return night.staged_before.get(candidate.id) == candidate.evidence.signal_count
