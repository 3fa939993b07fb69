"""Deep sleep: score every recalled fragment, ask every gate, and say what may be promoted (SPEC 8)."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

from dreaming.config import Config
from dreaming.gates import Exam, GateResult, Thresholds, results
from dreaming.phases.night import Night
from dreaming.promotion.draft import Draft, draft, drafted
from dreaming.promotion.known import Claims, Kept, Known, claimed, claims
from dreaming.scoring import Components, normalised, score
from memory.concepts import Lexicon
from memory.corrections import Verdict, agree, judged, may_correct
from memory.events import ended
from memory.model import Basis, Candidate, Style
from memory.writable import writable


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


def deep(night: Night, before: DeepPlan | None = None) -> DeepPlan:
    """Examine every candidate of the night, in the order they would be promoted; the others of a plan stay as there."""
    others = Others.of(night)
    known = {} if before is None else {one.candidate.id: one for one in before.examined}
    anew = {candidate.id: examined(candidate, night, others) for candidate in night.candidates}
    found = sorted((known | anew).values(), key=_rank)
    peers = claims((peer for one in found if not one.failed for peer in _said(one, night).parts), night.lexicon)
    return DeepPlan(examined=tuple(one if one.failed else _judged(one, peers, night) for one in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """What a candidate may contradict: the lines that stand in `MEMORY.md`, and what newer notes correct."""

    lines: Claims
    newer: Claims

    @classmethod
    def of(cls, night: Night) -> "Others":
        """Return those of a night, each line also statement by statement."""
        lines = claims((part for kept in night.kept for part in kept.parts), night.lexicon)
        return cls(lines=lines, newer=claims(night.newer, night.lexicon))

    def over(self, own: Kept, lexicon: Lexicon) -> tuple[Kept, ...]:
        """Return what is newer and takes the place of a statement, or may, but for what was taken back since."""
        near = (*self.lines.near(own.claim), *self.newer.near(own.claim))
        over = [one for one in near if _replaces(one, own, lexicon, unsure=True)]
        back = [one for one in near if agree(one.claim, own.claim, lexicon)] if over else ()
        return tuple(one for one in over if not any(_replaces(two, one, lexicon) for two in back))

    def under(self, own: Kept, lexicon: Lexicon) -> tuple[Kept, ...]:
        """Return the lines whose place a statement takes."""
        return tuple(one for one in self.lines.near(own.claim) if not one.is_part and _replaces(own, one, lexicon))


def stale(candidate: Candidate, night: Night, others: Others) -> tuple[int, ...]:
    """Return the statements that a newer one corrects or that are over, unless that is all that may be written."""
    places = [n for n in writable(candidate.fragment) if candidate.promoted[n] is None]
    old = tuple(n for n in places if _is_over(candidate, n, night) or _is_outdated(candidate, n, night, others))
    return old if len(old) < len(places) else ()


def _is_outdated(candidate: Candidate, position: int, night: Night, others: Others) -> bool:
    return bool(others.over(_claimed(candidate, [position], night), night.lexicon))


def examined(candidate: Candidate, night: Night, others: Others) -> Examined:
    """Score one candidate and ask every gate; explain and apply call this same function."""
    planned = _without_past(draft(candidate), candidate, night)
    done = promoted_on(candidate, planned.positions)
    said = _claimed(candidate, planned.positions, night)
    outdated_by = [newer for part in said.parts for newer in others.over(part, night.lexicon)]
    corrects = [older for part in said.parts for older in others.under(part, night.lexicon)]
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
        tonight=night.date,
        taken_back=_taken_back(planned, candidate, night),
        outdated_by=outdated_by[-1].claim.text if outdated_by else None,
        ended=ended(planned.text, said=said.claim.day),
        corrects=corrects[-1].promotion if corrects and not outdated_by else None,
    )
    return Examined(exam=exam, gates=results(exam))


def _without_past(planned: Draft, candidate: Candidate, night: Night) -> Draft:
    """Return a draft without the lines of a list whose event is over, unless that is all of it."""
    past = [n for n in planned.positions if _is_over(candidate, n, night)]
    left = tuple(n for n in planned.positions if n not in past) or tuple(past[:1])
    return planned if left == planned.positions else drafted(candidate.fragment, left)


def _is_over(candidate: Candidate, position: int, night: Night) -> bool:
    """Tell whether the event of a line of a list is over; sentences of a paragraph speak of one together."""
    fragment, day = candidate.fragment, candidate.place.day if candidate.place else night.date
    if fragment.style is Style.PARAGRAPH:
        return False
    end = ended(fragment.statements[position], said=day)
    return end is not None and end < night.date


def _said(one: Examined, night: Night) -> Kept:
    return _claimed(one.candidate, one.exam.draft.positions, night)


def _claimed(candidate: Candidate, positions: Sequence[int], night: Night) -> Kept:
    return claimed(candidate, positions, day=night.date, place=("", 0))


def _judged(one: Examined, peers: Claims, night: Night) -> Examined:
    """Return a candidate that passed every gate, judged beside the others: one that a newer one corrects is refused."""
    own = _said(one, night).parts
    near = ((peer, part) for part in own for peer in peers.near(part.claim))
    newer = [peer for peer, part in near if _replaces(peer, part, night.lexicon, unsure=True)]
    if not newer:
        return one
    exam = replace(one.exam, outdated_by=newer[-1].claim.text)
    return Examined(exam=exam, gates=results(exam))


def _replaces(new: Kept, old: Kept, lexicon: Lexicon, *, unsure: bool = False) -> bool:
    """Tell whether one line takes the place of another; of two that take each other's the later one is newer.

    An `unsure` one may: what it may correct, but says more of, is not taken out for it, and not promoted beside it.
    """
    if new.claim.day < old.claim.day or not may_correct(new.claim.text):
        return False
    verdict = judged(new.claim, old.claim, lexicon)
    if unsure and verdict is Verdict.UNSURE:
        return (new.claim.day, new.place) > (old.claim.day, old.place)
    if verdict is not Verdict.REPLACES:
        return False
    same_day = new.claim.day == old.claim.day
    return not same_day or new.place > old.place or judged(old.claim, new.claim, lexicon) is not Verdict.REPLACES


def repeated(planned: Draft, candidate: Candidate, known: Known) -> str | None:
    """Return the line of `MEMORY.md` that says all of the draft already, or None."""
    whole = known.repeated(planned.text)
    if whole is not None:
        return whole
    found = [known.repeated(candidate.fragment.statements[n]) for n in planned.positions]
    return found[0] if found and all(found) else None


def _taken_back(planned: Draft, candidate: Candidate, night: Night) -> str | None:
    """Return what the user took back of another fragment that says the same; new votes for one's own count."""
    line = repeated(planned, candidate, night.taken_back.known)
    return None if line is None or candidate.id in night.taken_back.owners[line] else line


def promoted_on(candidate: Candidate, positions: Iterable[int] | None = None) -> date | None:
    """Return the night all statements of the candidate, or those at some positions, had been promoted by, or None."""
    own = candidate.promoted if positions is None else [candidate.promoted[n] for n in positions]
    nights = [night for night in own if night is not None]
    return max(nights) if nights and len(nights) == len(own) else None


def weights(config: Config) -> Components:
    """Return the weights of the six components as configured."""
    return Components(**config.deep.weights.model_dump())


def basis(one: Examined, config: Config) -> Basis:
    """Return what the exam of a candidate rests on: what is shown of it is what the gates used."""
    exam = one.exam
    return Basis(
        at=exam.now,
        evidence=exam.candidate.evidence,
        tags=len(exam.candidate.fragment.tags),
        weights=asdict(normalised(weights(config))),
        half_life_days=config.deep.recency_half_life_days,
        gates=tuple((gate.name, gate.value, gate.threshold) for gate in one.gates),
    )


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
