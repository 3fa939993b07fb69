"""The formulas of REM and deep: evidence in, numbers in [0, 1] out (SPEC 7 and 8)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date, datetime
from math import log1p

from memory.model import Evidence, PhaseHistory

RECENCY_HALF_LIFE_DAYS = 14.0
"""Two weeks is one or two iterations of work: what was not used in them counts half."""
PHASE_HALF_LIFE_DAYS = 14.0
"""An endorsement by light or REM fades like use does."""
SIGNALS_THAT_SATURATE = 10
CONTEXTS_THAT_SATURATE = 5
TAGS_THAT_SATURATE = 6
HITS_THAT_SATURATE = 6
GROUNDED_THAT_SATURATE = 3
LIGHT_BOOST = 0.06
REM_BOOST = 0.09
"""REM chooses three of a night, light a hundred: its word weighs more."""
SINGLE_DAY_CONSOLIDATION = 0.2
REM_DAYS_THAT_SATURATE = 3
MEMORIES_OF_A_THEME = 2
"""What only one memory says does not recur, whatever its share of a quiet day is."""
NOT_THEMES = frozenset({"assistant", "user", "system", "subagent", "the"})
DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The six components of the deep score, each in [0, 1]; also the shape of their weights."""

    frequency: float
    relevance: float
    diversity: float
    recency: float
    consolidation: float
    conceptual: float


WEIGHTS = Components(frequency=0.24, relevance=0.30, diversity=0.15, recency=0.15, consolidation=0.10, conceptual=0.06)
"""The article's weights; they sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A deep score: `total` is the weighted components plus the boost, clamped to [0, 1]."""

    components: Components
    boost: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """A tag that many of the night's fragments share; strength in [0, 1]."""

    tag: str
    count: int
    strength: float


def clamp(value: float) -> float:
    """Return the value brought into [0, 1]."""
    return min(1.0, max(0.0, value))


def normalised(weights: Components) -> Components:
    """Return the weights scaled to sum 1, negatives taken as 0; the default ones when nothing is left."""
    positive = [max(0.0, weight) for weight in astuple(weights)]
    total = sum(positive)
    if total <= 0:
        return WEIGHTS
    names = (field.name for field in fields(Components))
    return Components(**{name: weight / total for name, weight in zip(names, positive, strict=True)})


def components(
    evidence: Evidence, tag_count: int, *, now: datetime, half_life_days: float = RECENCY_HALF_LIFE_DAYS
) -> Components:
    """Return the six components of a candidate at `now`."""
    return Components(
        frequency=clamp(log1p(evidence.signal_count) / log1p(SIGNALS_THAT_SATURATE)),
        relevance=evidence.average,
        diversity=clamp(evidence.contexts / CONTEXTS_THAT_SATURATE),
        recency=fading(evidence.last_at, now=now, half_life_days=half_life_days),
        consolidation=consolidation(evidence),
        conceptual=clamp(tag_count / TAGS_THAT_SATURATE),
    )


def consolidation(evidence: Evidence) -> float:
    """Return how well use is spread over days: how many, and how far apart; grounded signals stand in for it."""
    return max(_spread(evidence.days), clamp(evidence.grounded / GROUNDED_THAT_SATURATE))


def _spread(days: Sequence[date]) -> float:
    if len(days) < 2:
        return SINGLE_DAY_CONSOLIDATION if days else 0.0
    span = (max(days) - min(days)).days
    return 0.55 * min(1.0, log1p(len(days) - 1) / log1p(4)) + 0.45 * min(1.0, span / 7)


def fading(since: datetime | None, *, now: datetime, half_life_days: float) -> float:
    """Return 1 at `since` (or when that is still to come), one half a half-life later, 0 for never."""
    return 0.0 if since is None else float(0.5 ** (age_days(since, now=now) / half_life_days))


def age_days(since: datetime, *, now: datetime) -> float:
    """Return days gone by since then, at least 0."""
    return max(0.0, (now - since).total_seconds() / DAY_SECONDS)


def boost(history: PhaseHistory, *, now: datetime) -> float:
    """Return what light and REM add: often and lately, in [0, 0.15]."""
    light = _hits(history.light_hits) * fading(history.last_light_at, now=now, half_life_days=PHASE_HALF_LIFE_DAYS)
    rem = _hits(history.rem_hits) * fading(history.last_rem_at, now=now, half_life_days=PHASE_HALF_LIFE_DAYS)
    return clamp(LIGHT_BOOST * light + REM_BOOST * rem)


def _hits(count: int) -> float:
    return clamp(log1p(count) / log1p(HITS_THAT_SATURATE))


def score(
    evidence: Evidence,
    tag_count: int,
    history: PhaseHistory,
    *,
    now: datetime,
    weights: Components = WEIGHTS,
    half_life_days: float = RECENCY_HALF_LIFE_DAYS,
) -> Score:
    """Return the deep score; `weights` need not be normalised, the boost is not scaled by them."""
    parts = components(evidence, tag_count, now=now, half_life_days=half_life_days)
    extra = boost(history, now=now)
    weighted = sum(w * p for w, p in zip(astuple(normalised(weights)), astuple(parts), strict=True))
    return Score(components=parts, boost=extra, total=clamp(weighted + extra))


def confidence(evidence: Evidence, tag_count: int) -> float:
    """Return REM's confidence that a fragment is a lasting truth, in [0, 1]."""
    return clamp(
        0.45 * evidence.average
        + 0.25 * min(1.0, log1p(evidence.recalls) / log1p(6))
        + 0.20 * min(1.0, len(evidence.days) / REM_DAYS_THAT_SATURATE)
        + 0.10 * min(1.0, tag_count / TAGS_THAT_SATURATE)
    )


def themes(tags_of_entries: Iterable[Sequence[str]], *, min_strength: float, limit: int) -> tuple[Theme, ...]:
    """Return the strong tags, strongest first; a tag in 37.5 % of the entries is strong at 0.75."""
    entries = list(tags_of_entries)
    counts = Counter(tag for tags in entries for tag in tags if tag and tag.lower() not in NOT_THEMES)
    found = (
        Theme(tag=tag, count=count, strength=min(1.0, 2 * count / max(1, len(entries))))
        for tag, count in counts.items()
    )
    strong = [theme for theme in found if theme.strength >= min_strength]
    return tuple(sorted(strong, key=lambda theme: (-theme.strength, -theme.count, theme.tag))[: max(0, limit)])


def recurring(found: Iterable[Theme]) -> tuple[Theme, ...]:
    """Return the themes that more than one memory has."""
    return tuple(theme for theme in found if theme.count >= MEMORIES_OF_A_THEME)
