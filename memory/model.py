"""The vocabulary of the pipeline as frozen values; this docstring is the glossary.

* **diary** - a dated Markdown file of the user, `memory/2026-06-15.md`. Read, never written.
* **chunk** - up to four neighbouring lines of a diary under one heading, at most 280 characters.
* **statement** - one claim inside a chunk: a list item, a table row, a sentence run over lines.
* **fragment** - a chunk once it is remembered. Its identity is its text, not its place.
* **sighting** - a place where a fragment stands: path, lines, day.
* **recall** - a search or a read that returned a fragment; a vote for the statements that answered.
* **grounded signal** - explicit evidence: the owner said "remember this".
* **evidence** - counts, sums, days of the signals of a fragment; what scoring reads.
* **concept tag** - a word that says what a fragment is about.
* **phase signal** - staged by light, considered by REM, chosen by REM, on one night.
* **candidate** - a fragment with its evidence, phase history and sightings, as the phases see it.
* **component, boost, score** - the six numbers of the deep formula, what the phases add, the sum.
* **gate** - a condition a candidate must meet to be promoted.
* **basis** - what a promotion was decided on: its evidence, the weights, and every gate with what it measured.
* **promotion** - a statement written to `MEMORY.md`, and how that ended.
* **narrative** - the prose about a night in `DREAMS.md`.
* **night** - one run of the pipeline, named by a local date; **plan** - what a phase decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from hashlib import sha256
from typing import NewType

Measured = str | int | float | None
"""What a gate measures or demands."""
FragmentId = NewType("FragmentId", str)
"""Sixteen hex digits over heading and normalised text."""
StatementId = NewType("StatementId", str)
"""Sixteen hex digits over heading and normalised text of one statement."""


class Kind(StrEnum):
    """Where a text stands; the value is what the store and the JSON say."""

    DIARY = "diary"
    SESSION = "session"
    MEMORY = "memory"


ORIGIN_SCORES = {Kind.DIARY: 0.62, Kind.SESSION: 0.58, Kind.MEMORY: 0.62}
"""Score of a sighting: a diary has been through one judgement, a session has not (SPEC 2)."""


QUOTED = "quoted"
"""The flaw of what stands in a quotation, a mail, a page or the output of a tool: it is searched, never promoted."""


class Style(StrEnum):
    """What the lines of a chunk are, which decides how they are joined."""

    LIST = "list"
    PARAGRAPH = "paragraph"
    TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One claim and the 1-based source lines it stands on."""

    text: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Neighbouring statements under one heading; `text` includes the heading and has 8 (CJK 4) to 280 characters.

    `quoted` is what somebody else wrote, `boxed` are items with a box to tick.
    """

    heading: str
    text: str
    style: Style
    statements: tuple[Statement, ...]
    quoted: bool = False
    boxed: bool = False

    @property
    def start_line(self) -> int:
        """First source line, 1-based."""
        return self.statements[0].start_line

    @property
    def end_line(self) -> int:
        """Last source line, 1-based."""
        return self.statements[-1].end_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A remembered chunk; `flaws` name what keeps it from being promoted, `language` is an ISO 639-1 code."""

    heading: str
    text: str
    statements: tuple[str, ...]
    style: Style
    origin: Kind
    language: str
    tags: tuple[str, ...]
    flaws: tuple[str, ...] = ()

    @property
    def id(self) -> FragmentId:
        """The identity: the same heading and text, cut into the same statements, is the same fragment anywhere."""
        return FragmentId(_digest(self.heading, "\n".join((self.text, *self.statements[1:]))))

    @property
    def statement_ids(self) -> tuple[StatementId, ...]:
        """The identity of each statement, in order; votes are given to these."""
        return tuple(statement_id(self.heading, text) for text in self.statements)


def statement_id(heading: str, text: str) -> StatementId:
    """Return the identity of one statement under a heading, whatever its neighbours are."""
    return StatementId(_digest(heading, text))


def _digest(heading: str, text: str) -> str:
    return sha256(f"{heading}\n{text}".encode("utf-8", "replace")).hexdigest()[:16]


def place(path: str, start_line: int, end_line: int) -> str:
    """Return lines of a file as users read and name them: `memory/2026-06-15.md:5-8`, `sessions/main/a1.jsonl#L12`."""
    return f"{path}#L{start_line}" if ".jsonl" in path else f"{path}:{start_line}-{end_line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A place where a fragment stands; it counts once per path and day, at the end of that day.

    `quoted` is what somebody else wrote there.
    """

    path: str
    start_line: int
    end_line: int
    day: date
    kind: Kind
    score: float
    at: datetime
    quoted: bool = False

    @property
    def place(self) -> str:
        """The place as users read it."""
        return place(self.path, self.start_line, self.end_line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the signals of a fragment add up to; `days` are local, ascending, of recalls and grounded signals."""

    recalls: int = 0
    sightings: int = 0
    grounded: int = 0
    total_score: float = 0.0
    unique_queries: int = 0
    days: tuple[date, ...] = ()
    first_at: datetime | None = None
    last_at: datetime | None = None

    @property
    def signal_count(self) -> int:
        """All signals: recalls, sightings and grounded ones."""
        return self.recalls + self.sightings + self.grounded

    @property
    def contexts(self) -> int:
        """Different questions or different days, whichever is more."""
        return max(self.unique_queries, len(self.days))

    @property
    def average(self) -> float:
        """Mean score of all signals, in [0, 1]; 0 without signals."""
        return min(1.0, max(0.0, self.total_score / max(1, self.signal_count)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a promotion was decided on, so that it can be explained when settings and votes have changed.

    `tags` is how many concept tags it had, `weights` are those of the components, normalised, `gates` each gate's name,
    what it measured and what it demanded.
    """

    at: datetime
    evidence: Evidence
    tags: int
    weights: Mapping[str, float]
    half_life_days: float
    gates: tuple[tuple[str, Measured, Measured], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseHistory:
    """How often light staged a fragment and REM chose it, and when last."""

    light_hits: int = 0
    last_light_at: datetime | None = None
    rem_hits: int = 0
    last_rem_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A fragment as the phases see it; `votes` counts recalls per statement, `promoted` says which were written.

    `withheld` are the positions of statements that a newer one corrects or that are over: their votes do not count.
    """

    fragment: Fragment
    evidence: Evidence
    history: PhaseHistory
    sightings: tuple[Sighting, ...]
    votes: tuple[int, ...] = ()
    promoted: tuple[date | None, ...] = ()
    withheld: tuple[int, ...] = ()

    @property
    def id(self) -> FragmentId:
        """The id of the fragment."""
        return self.fragment.id

    @property
    def flaws(self) -> tuple[str, ...]:
        """What keeps it from being promoted: its text's own flaws, and that somebody else wrote it, if only once."""
        quoted = (QUOTED,) if any(sighting.quoted for sighting in self.sightings) else ()
        return (*self.fragment.flaws, *quoted)

    @property
    def place(self) -> Sighting | None:
        """The newest live sighting, ties broken by path and line; None when the source is gone."""
        return max(self.sightings, key=lambda s: (s.day, s.path, -s.start_line), default=None)


class Phase(StrEnum):
    """The three phases of a night, in order."""

    LIGHT = "light"
    REM = "rem"
    DEEP = "deep"


class Mark(StrEnum):
    """What a phase signal says of a fragment."""

    STAGED = "staged"
    CONSIDERED = "considered"
    CHOSEN = "chosen"
