"""The ordered table of gates; ranking, explain and apply all ask this one table (SPEC 8)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from dreaming.promotion.draft import Draft
from dreaming.scoring import Score, age_days
from memory.model import Candidate, Kind, Measured, Style
from memory.quality import LEAD_IN, TASK, explained, names_tasks, unfit
from memory.trust import told
from memory.writable import headed

OWN_ORIGINS = frozenset(Kind)
"""Text of people and their agents; this program's own output never becomes a fragment of another kind."""
EXAMS_AT_ONCE = 64
"""A gate asks the same of an exam three times in a row: for its value, its verdict and its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What the user demands of a candidate; `max_age_days` None means any age."""

    min_recall_count: int
    min_unique_queries: int
    max_age_days: float | None
    min_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """A candidate before the gates: its score, what it would write, and the line of `MEMORY.md` it repeats.

    `taken_back` is what the user took back that says the same, `outdated_by` a newer line that says otherwise, `ended`
    the last day of what it is about, `deferred` why it found no room in the file last time; None where there is none.
    `corrects` is the id of the promotion that it corrects.
    """

    candidate: Candidate
    score: Score
    draft: Draft
    repeats: str | None
    promoted_on: date | None
    deferred: str | None
    now: datetime
    thresholds: Thresholds
    tonight: date
    taken_back: str | None = None
    outdated_by: str | None = None
    ended: date | None = None
    corrects: int | None = None

    @property
    def recalls(self) -> int:
        """Recalls and grounded signals: both are somebody's word that the fragment matters."""
        return self.candidate.evidence.recalls + self.candidate.evidence.grounded

    @property
    def contexts(self) -> int:
        """Different questions or different days, whichever is more."""
        return self.candidate.evidence.contexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A condition: what is measured, what is demanded, and in plain words what is missing."""

    name: str
    value: Callable[[Exam], Measured]
    threshold: Callable[[Exam], Measured]
    passes: Callable[[Exam], bool]
    missing: Callable[[Exam], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """How one candidate fared at one gate; `missing` is empty when it passed."""

    name: str
    passed: bool
    value: Measured
    threshold: Measured
    missing: str


def results(exam: Exam) -> tuple[GateResult, ...]:
    """Return how the candidate fares at every gate, in order, not only at the first it fails."""
    return tuple(_result(gate, exam) for gate in GATES)


def verdict(found: Sequence[GateResult]) -> str:
    """Return the verdict as the JSON says it: `promoted`, `eligible` or `refused`."""
    failed = [result for result in found if not result.passed]
    if any(result.name == "not_promoted" and str(result.value).startswith("promoted") for result in failed):
        return "promoted"
    return "refused" if failed else "eligible"


def _result(gate: Gate, exam: Exam) -> GateResult:
    passed = gate.passes(exam)
    return GateResult(
        name=gate.name,
        passed=passed,
        value=gate.value(exam),
        threshold=gate.threshold(exam),
        missing="" if passed else gate.missing(exam),
    )


def _age(exam: Exam) -> float | None:
    last = exam.candidate.evidence.last_at
    return None if last is None else round(age_days(last, now=exam.now), 3)


def _young_enough(exam: Exam) -> bool:
    limit, age = exam.thresholds.max_age_days, _age(exam)
    return limit is None or (age is not None and age <= limit)


def _novelty(exam: Exam) -> str:
    if exam.promoted_on is not None:
        return f"promoted {exam.promoted_on.isoformat()}"
    if exam.repeats is not None:
        return "in MEMORY.md"
    return "new" if exam.taken_back is None else "taken back"


def _known(exam: Exam) -> str:
    if exam.promoted_on is not None:
        return f"promoted already on {exam.promoted_on.isoformat()}"
    if exam.repeats is None:
        return f"you took back what says the same: “{exam.taken_back}”"
    return f"MEMORY.md says or said it already: “{exam.repeats}”"


def _flaw(exam: Exam) -> str:
    """Return the name of what keeps the draft from standing alone, '' when nothing does."""
    fragment, draft = exam.candidate.fragment, exam.draft
    if fragment.style is Style.PARAGRAPH or len(draft.positions) < 2:
        texts: tuple[str, ...] = (draft.text,)
    else:
        texts = tuple(headed(fragment.heading, fragment.statements[n]) for n in draft.positions)
    return _unfit(texts) or (TASK.name if names_tasks(fragment.heading) else "")


@lru_cache(maxsize=EXAMS_AT_ONCE)
def _unfit(texts: tuple[str, ...]) -> str:
    """Return what makes a list unfit: that no line of it is fit, or that it ends as a lead-in."""
    names = [unfit(text) for text in texts]
    return "" if "" in names and names[-1] != LEAD_IN else next(name for name in reversed(names) if name)


def _more_recalls(exam: Exam) -> str:
    need = exam.thresholds.min_recall_count
    return f"recalls {exam.recalls} of {need}"


def _more_contexts(exam: Exam) -> str:
    need = exam.thresholds.min_unique_queries
    return f"asked for in {exam.contexts} of {need} different ways (questions or days)"


def _below(total: float, least: float) -> str:
    """Return two numbers with as many digits as it takes to see which is smaller."""
    digits = next((n for n in (2, 3, 4, 5) if f"{total:.{n}f}" != f"{least:.{n}f}"), 6)
    return f"{total:.{digits}f} of {least:.{digits}f}"


GATES = (
    Gate(
        name="origin",
        value=lambda e: e.candidate.fragment.origin.value,
        threshold=lambda _: "diary, session or memory",
        passes=lambda e: e.candidate.fragment.origin in OWN_ORIGINS,
        missing=lambda e: f"comes from {e.candidate.fragment.origin.value}, which is nobody's own words",
    ),
    Gate(
        name="clean",
        value=lambda e: ", ".join(e.candidate.flaws) or "clean",
        threshold=lambda _: "clean",
        passes=lambda e: not e.candidate.flaws,
        missing=lambda e: f"not fit to be remembered: it {told(e.candidate.flaws)}",
    ),
    Gate(
        name="stands_alone",
        value=lambda e: _flaw(e) or "a statement",
        threshold=lambda _: "a statement",
        passes=lambda e: not _flaw(e),
        missing=lambda e: f"“{e.draft.text}” {explained(_flaw(e))}",
    ),
    Gate(
        name="not_promoted",
        value=_novelty,
        threshold=lambda _: "new",
        passes=lambda e: e.promoted_on is None and e.repeats is None and e.taken_back is None,
        missing=_known,
    ),
    Gate(
        name="current",
        value=lambda e: "current" if e.outdated_by is None else "outdated",
        threshold=lambda _: "current",
        passes=lambda e: e.outdated_by is None,
        missing=lambda e: f"a newer statement says otherwise: “{e.outdated_by}”",
    ),
    Gate(
        name="not_over",
        value=lambda e: "no end" if e.ended is None else e.ended.isoformat(),
        threshold=lambda e: e.tonight.isoformat(),
        passes=lambda e: e.ended is None or e.ended >= e.tonight,
        missing=lambda e: f"what it is about ended on {e.ended}",
    ),
    Gate(
        name="recalled",
        value=lambda e: e.recalls,
        threshold=lambda _: 1,
        passes=lambda e: e.recalls >= 1,
        missing=lambda _: "nobody has searched for it yet",
    ),
    Gate(
        name="recalls",
        value=lambda e: e.recalls,
        threshold=lambda e: e.thresholds.min_recall_count,
        passes=lambda e: e.recalls >= e.thresholds.min_recall_count,
        missing=_more_recalls,
    ),
    Gate(
        name="unique_queries",
        value=lambda e: e.contexts,
        threshold=lambda e: e.thresholds.min_unique_queries,
        passes=lambda e: e.contexts >= e.thresholds.min_unique_queries,
        missing=_more_contexts,
    ),
    Gate(
        name="age",
        value=_age,
        threshold=lambda e: e.thresholds.max_age_days,
        passes=_young_enough,
        missing=lambda e: f"last used {_age(e)} days ago, limit {e.thresholds.max_age_days}",
    ),
    Gate(
        name="score",
        value=lambda e: round(e.score.total, 6),
        threshold=lambda e: e.thresholds.min_score,
        passes=lambda e: e.score.total >= e.thresholds.min_score,
        missing=lambda e: f"score {_below(e.score.total, e.thresholds.min_score)}",
    ),
    Gate(
        name="source",
        value=lambda e: len(e.candidate.sightings),
        threshold=lambda _: 1,
        passes=lambda e: bool(e.candidate.sightings),
        missing=lambda _: "source gone: the statement stands in no diary any more",
    ),
    Gate(
        name="budget",
        value=lambda e: "room" if e.deferred is None else "no room",
        threshold=lambda _: "room",
        passes=lambda e: e.deferred is None,
        missing=lambda e: e.deferred or "",
    ),
)

IN_WORDS: Mapping[str, str] = {
    "origin": "in nobody's own words",
    "clean": "not fit to be remembered",
    "stands_alone": "not clear by itself",
    "not_promoted": "remembered or taken back already",
    "current": "outdated by a newer statement",
    "not_over": "about what is over",
    "recalled": "never asked for",
    "recalls": "asked for too seldom",
    "unique_queries": "asked for in too few different ways",
    "age": "not used for too long",
    "score": "below the least score",
    "source": "gone from the diaries",
    "budget": "without room in MEMORY.md",
    "limit": "over the limit of a night",
    "unwritten": "not written, as MEMORY.md could not be",
}
"""What is said of the fragments that a gate, or the writing after the gates, refused."""
ASKING = frozenset({"recalled", "recalls", "unique_queries", "age", "score"})
"""The gates that further questions open."""
REMEDIES: Mapping[str, str] = {
    "origin": "write it into a diary in your own words",
    "clean": "write it anew without what makes it unfit",
    "stands_alone": "write it as a sentence that is clear by itself",
    "not_promoted": "nothing: what says the same was remembered or taken back",
    "current": "say in a newer diary that it holds again",
    "not_over": "say it anew, if it comes again",
    "source": "write it into a diary again",
    "budget": "make room in MEMORY.md, or raise memory.budget_chars",
}
"""What opens each of the other gates."""


def in_words(gate: str) -> str:
    """Return what is said of the fragments a gate refused."""
    return IN_WORDS.get(gate, gate)


def ranked_in_words(gate: str) -> str:
    """Return what is said of ranked candidates a gate refused: of those somebody asked for another line."""
    return "of which only other lines were asked for" if gate == "recalled" else in_words(gate)


def of_ranked(refused: Mapping[str, int], count: int) -> tuple[Mapping[str, int], int]:
    """Return what a night refused of what it ranked, by gate, most first, and how many it did not even rank.

    Both fail the gate `recalled`: what nobody ever asked for, and the rest of a fragment of which only that was asked
    for what stands in `MEMORY.md`. `count` is how many were ranked and refused.
    """
    others = {gate: number for gate, number in refused.items() if gate != "recalled"}
    rest = min(max(0, count - sum(others.values())), refused.get("recalled", 0))
    ranked = {**others, "recalled": rest} if rest else others
    ordered = sorted(ranked.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ordered), refused.get("recalled", 0) - rest


def in_order(gate: str) -> int:
    """Return the place of a gate by its name; what is asked only when a line is written comes last."""
    names = [one.name for one in GATES]
    return names.index(gate) if gate in names else len(names)
