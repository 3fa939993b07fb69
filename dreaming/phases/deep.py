"""Deep sleep: score every recalled fragment, ask every gate, and say what may be promoted (SPEC 8)."""

from dataclasses import dataclass
from datetime import date

from dreaming.config import Config
from dreaming.draft import Draft, draft
from dreaming.gates import Exam, GateResult, Thresholds, results
from dreaming.known import Known
from dreaming.phases.night import Night
from dreaming.scoring import Components, score
from memory.model import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A candidate with its exam and how it fared at every gate."""

    exam: Exam
    gates: tuple[GateResult, ...]

    @property
    def candidate(self) -> Candidate:
        """The candidate that was examined."""
        return self.exam.candidate

    @property
    def failed(self) -> tuple[GateResult, ...]:
        """The gates it failed, cheapest first."""
        return tuple(gate for gate in self.gates if not gate.passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepPlan:
    """All that was examined, best first; those that passed every gate wait for their source to be read again."""

    examined: tuple[Examined, ...]

    @property
    def eligible(self) -> tuple[Examined, ...]:
        """Those that passed every gate, in score order."""
        return tuple(one for one in self.examined if not one.failed)


def deep(night: Night) -> DeepPlan:
    """Examine every candidate of the night, in the order they would be promoted."""
    found = (examined(c, night) for c in night.candidates)
    return DeepPlan(examined=tuple(sorted(found, key=_rank)))


def examined(candidate: Candidate, night: Night) -> Examined:
    """Score one candidate and ask every gate; explain and apply call this same function."""
    planned = draft(candidate)
    done = promoted_on(candidate)
    exam = Exam(
        candidate=candidate,
        score=score(
            candidate.evidence,
            len(candidate.fragment.tags),
            candidate.history,
            now=night.now,
            weights=weights(night.config),
            half_life_days=night.config.deep.recency_half_life_days,
        ),
        draft=planned,
        repeats=None if done else repeated(planned, candidate, night.known),
        promoted_on=done,
        deferred=night.deferred.get(candidate.id),
        now=night.now,
        thresholds=thresholds(night.config),
    )
    return Examined(exam=exam, gates=results(exam))


def repeated(planned: Draft, candidate: Candidate, known: Known) -> str | None:
    """Return the line of `MEMORY.md` that says all of the draft already, or None."""
    whole = known.repeated(planned.text)
    if whole is not None:
        return whole
    found = [known.repeated(candidate.fragment.statements[n]) for n in planned.positions]
    return found[0] if found and all(found) else None


def promoted_on(candidate: Candidate) -> date | None:
    """Return the night all statements of the candidate had been promoted by; None while one is free."""
    nights = [night for night in candidate.promoted if night is not None]
    return max(nights) if nights and len(nights) == len(candidate.promoted) else None


def weights(config: Config) -> Components:
    """Return the weights of the six components as configured."""
    return Components(**config.deep.weights.model_dump())


def thresholds(config: Config) -> Thresholds:
    """Return what the configuration demands of a candidate."""
    deep = config.deep
    return Thresholds(
        min_recall_count=deep.min_recall_count,
        min_unique_queries=deep.min_unique_queries,
        max_age_days=deep.max_age_days,
        min_score=deep.min_score,
    )


def _rank(one: Examined) -> tuple[float, int, str, int, str]:
    place = one.candidate.place
    return (
        -one.exam.score.total,
        -one.candidate.evidence.recalls,
        place.path if place else "",
        place.start_line if place else 0,
        one.candidate.id,
    )
