"""What the page shows, as frozen values: every text in them is masked and holds no control characters."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class NightState(StrEnum):
    """What a night came to, in one word."""

    PROMOTED = "promoted"
    REFUSED = "refused"
    QUIET = "quiet"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """A night as it was recorded; `funnel` counts each fragment once, at the first gate that refused it, in order."""

    date: date
    state: NightState
    counts: tuple[tuple[str, int], ...]
    promoted: int
    proposed: int
    refused: int
    funnel: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """How a candidate fared at a gate; numbers are those the gate compared, None where it compares none."""

    name: str
    passed: bool
    value: float | None
    threshold: float | None
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A remembered text and the newest place it stands at; `path` is empty when that is gone."""

    id: str
    heading: str
    text: str
    path: str
    first: int
    last: int
    language: str = ""
    more_places: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy:
    """The score of a candidate, taken apart; of a promotion, as it was on its `night`.

    `parts` are the components in the order of the weights; `weights` and `least`, the least score, are empty where they
    are those of today. The rest is empty where it was not recorded.
    """

    key: str
    source: Source
    score: float
    boost: float
    parts: tuple[float, ...]
    verdict: str
    recalls: int
    questions: int | None = None
    days: tuple[date, ...] = ()
    light: int | None = None
    rem: int | None = None
    gates: tuple[Gate, ...] = ()
    night: date | None = None
    weights: tuple[float, ...] = ()
    least: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of an entry, and the number of the source it repeats; None where it repeats none."""

    text: str
    source: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the dream diary: paragraphs of pieces, and what it was woven from, numbered from 1."""

    night: date
    phase: str
    stamp: str
    language: str
    narrator: str
    paragraphs: tuple[tuple[Piece, ...], ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeRow:
    """A tag, and how many fragments that REM considered carried it, column by column."""

    tag: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Themes:
    """The strongest tags over time; `columns` are the first days of nights, weeks or months (`step`)."""

    step: str
    columns: tuple[date, ...]
    rows: tuple[ThemeRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Different questions of a day, and statements that answered them."""

    day: date
    questions: int
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """From line `at` (from 0) of the version before, `cut` lines went and `put` came."""

    at: int
    cut: int
    put: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """`MEMORY.md` after a change, as edits of the version before; `at` is local, `chars` counts what the budget does.

    `kind` is that of the change, or `first` for how it stood before any, or `present` when somebody changed it since.

    `exact` is False where secrets are masked, so that the count is of the masked text.
    """

    at: datetime
    kind: str
    reason: str
    night: date | None
    chars: int
    exact: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What the page has not got: so many of a kind are shown of so many."""

    kind: str
    shown: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The head-room of `MEMORY.md`, and how it came about."""

    chars: int
    budget: int
    in_force: int
    archived: int
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the page shows; `places` is the way from the page's folder to the workspace, None without one."""

    workspace: str
    language: str
    now: datetime
    places: str | None
    counts: tuple[tuple[str, int], ...]
    weights: tuple[tuple[str, float], ...]
    min_score: float
    half_life_days: float
    nights: tuple[Night, ...]
    anatomies: tuple[Anatomy, ...]
    themes: Themes
    asked: tuple[Asked, ...]
    memory: Memory
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
