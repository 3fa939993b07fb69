"""Scores taken apart: of candidates as the gates see them now, of promotions as they were on their night."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from datetime import datetime

from dreaming.config import Config
from dreaming.explain import examined, gates_of
from dreaming.gates import GateResult, Thresholds, verdict
from dreaming.home import Home
from dreaming.phases.deep import Examined, promoted_on, thresholds, weights
from dreaming.report.facts import Anatomy, Gate, LeftOut, Source
from dreaming.report.shown import Shown, shorter
from dreaming.scoring import Components, age_days, score
from memory.model import Candidate, FragmentId
from memory.promotions import Promotion

BEST = 160
NEAREST = 60
"""Candidates with the best scores, and those that fail the fewest gates; many are both."""
PROMOTIONS = 120
LONGEST_REASON = 300
"""Characters; a reason may quote a whole line."""
COMPONENTS = tuple(field.name for field in fields(Components))


def anatomies(home: Home, shown: Shown, *, now: datetime) -> tuple[tuple[Anatomy, ...], tuple[LeftOut, ...]]:
    """Return the newest promotions, then the candidates that count most, best first; and what was left out."""
    today = home.local_date(now)
    known = home.store.candidates(home.store.recalled(), until=today)
    waiting = [candidate for candidate in known if promoted_on(candidate) is None]
    chosen = examined(home, most_telling(waiting, home.config, now=now), now=now)
    made = [one for one in home.promotions.all() if one.night <= today]
    latest = made[: -PROMOTIONS - 1 : -1]
    left_out = (
        LeftOut(kind="promotions", shown=len(latest), total=len(made)),
        LeftOut(kind="candidates", shown=len(chosen), total=len(waiting)),
    )
    return (*(of_promotion(one, shown) for one in latest), *(of_candidate(one, shown) for one in chosen)), left_out


def most_telling(waiting: Sequence[Candidate], config: Config, *, now: datetime) -> tuple[FragmentId, ...]:
    """Return the candidates with the best scores, and those that lack least.

    The gates take their time with each candidate; what the most of thousands lack can be told from the evidence alone.
    """
    demanded = thresholds(config)
    scores = {one.id: scored(one, config, now=now) for one in waiting}
    ranked = sorted(waiting, key=lambda one: (-scores[one.id], one.id))
    nearest = sorted(ranked, key=lambda one: _lacking(one, scores[one.id], demanded, now))
    return tuple(dict.fromkeys(one.id for one in (*ranked[:BEST], *nearest[:NEAREST])))


def scored(candidate: Candidate, config: Config, *, now: datetime) -> float:
    """Return the score that the gates will compare."""
    return score(
        candidate.evidence,
        len(candidate.fragment.tags),
        candidate.history,
        now=now,
        weights=weights(config),
        half_life_days=config.deep.recency_half_life_days,
    ).total


def _lacking(candidate: Candidate, total: float, demanded: Thresholds, now: datetime) -> int:
    """Return how many thresholds a candidate is below."""
    evidence = candidate.evidence
    age = age_days(evidence.last_at, now=now) if evidence.last_at else None
    return (
        (evidence.recalls + evidence.grounded < demanded.min_recall_count)
        + (evidence.contexts < demanded.min_unique_queries)
        + (demanded.max_age_days is not None and (age is None or age > demanded.max_age_days))
        + (total < demanded.min_score)
    )


def of_candidate(one: Examined, shown: Shown) -> Anatomy:
    """Return the score of a candidate and how it fares at every gate, with the numbers that the gates compare."""
    candidate, exam = one.candidate, one.exam
    return Anatomy(
        key=candidate.id,
        source=source_of(candidate, shown),
        score=exam.score.total,
        boost=exam.score.boost,
        parts=astuple(exam.score.components),
        verdict=verdict(one.gates),
        recalls=exam.recalls,
        questions=candidate.evidence.unique_queries,
        days=candidate.evidence.days,
        light=candidate.history.light_hits,
        rem=candidate.history.rem_hits,
        gates=tuple(_gate(gate, shown) for gate in one.gates),
    )


def of_promotion(one: Promotion, shown: Shown) -> Anatomy:
    """Return the score that a promotion had on its night, by the weights and thresholds of that night."""
    basis = one.basis
    evidence = basis.evidence if basis else None
    gates = tuple(_gate(gate, shown) for gate in gates_of(one))
    return Anatomy(
        key=f"p{one.id}",
        source=Source(
            id=one.fragment,
            heading="",
            text=shown(one.text),
            path=shown(one.path),
            first=one.start_line,
            last=one.end_line,
        ),
        score=one.score,
        boost=one.boost,
        parts=tuple(float(one.components.get(name, 0.0)) for name in COMPONENTS),
        verdict=one.state.value,
        recalls=one.recalls,
        questions=evidence.unique_queries if evidence else None,
        days=evidence.days if evidence else (),
        gates=gates,
        night=one.night,
        weights=tuple(basis.weights[name] for name in COMPONENTS) if basis else (),
        least=next((gate.threshold for gate in gates if gate.name == "score"), None),
    )


def source_of(candidate: Candidate, shown: Shown) -> Source:
    """Return a fragment and the newest place it stands at."""
    fragment, place = candidate.fragment, candidate.place
    return Source(
        id=candidate.id,
        heading=shown(fragment.heading),
        text=shown(fragment.text),
        path=shown(place.path) if place else "",
        first=place.start_line if place else 0,
        last=place.end_line if place else 0,
        language=fragment.language,
        more_places=max(0, len(candidate.sightings) - 1),
    )


def sources_of(candidates: Iterable[Candidate], shown: Shown) -> dict[str, Source]:
    """Return fragments by their ids."""
    return {candidate.id: source_of(candidate, shown) for candidate in candidates}


def _gate(gate: GateResult, shown: Shown) -> Gate:
    return Gate(
        name=gate.name,
        passed=gate.passed,
        value=_number(gate.value),
        threshold=_number(gate.threshold),
        missing=shorter(shown(gate.missing), LONGEST_REASON) if gate.missing else "",
    )


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
