"""Why a fragment was promoted or not: the same exam the night gives, for any fragment, at any time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta

from dreaming.changes.timeline import Event, events
from dreaming.config import Config
from dreaming.gates import ASKING, GATES, REMEDIES, Exam, GateResult, in_order, verdict
from dreaming.home import MEMORY, Home
from dreaming.phases.deep import Examined, basis, weights
from dreaming.phases.night import Night
from dreaming.places import NoSuchLinesError, UnknownSourceError, named, opened, place_of
from dreaming.promotion.draft import together
from dreaming.promotion.known import known
from dreaming.promotion.ledger import agreed, kept, known_before, made, taken_back
from dreaming.promotion.newer import decided
from dreaming.scoring import (
    CONTEXTS_THAT_SATURATE,
    GROUNDED_THAT_SATURATE,
    SIGNALS_THAT_SATURATE,
    TAGS_THAT_SATURATE,
    Components,
    age_days,
    score,
)
from memory.journal import AskedOn, NightRecord
from memory.model import Basis, Candidate, FragmentId, Kind, Mark
from memory.promotions import LEFT, Promotion, State
from memory.trust import redacted
from workspace import durable
from workspace.sections import layout

HOPELESS = frozenset({"origin", "clean", "stands_alone", "not_promoted", "current", "not_over", "source"})
"""What fails one of these is not near: no further search brings it closer."""
MAX_LINE = 10**9
NEAREST = 10
"""Candidates shown when none is asked for: those closest to promotion."""
MOST_QUESTIONS = 10
"""What takes more questions than this is not told in numbers."""
GONE = "a text that is gone"
_PLACE = re.compile(r"\S+\.(?:md(?::[0-9]+(?:-[0-9]+)?)?|jsonl(?:#L[0-9]+)?)", re.IGNORECASE)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A component of a score: its value and weight as the gate used them, and its formula in words."""

    name: str
    value: float
    weight: float
    formula: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What there is to say of a fragment beside its exam: when it was asked for, and what would change the verdict.

    `promotions` is what was ever written of it, oldest first, `standing` the lines of `MEMORY.md` among them; `marks`
    are the nights that staged, considered and chose it.
    """

    promotions: tuple[Promotion, ...]
    asked: tuple[AskedOn, ...]
    marks: Mapping[Mark, tuple[date, ...]]
    parts: tuple[Part, ...]
    change: str
    standing: tuple["Origin", ...] = ()

    @property
    def ended(self) -> tuple[Promotion, ...]:
        """What was written of it and stands in `MEMORY.md` no more, or not yet."""
        return tuple(one for one in self.promotions if all(one.id != line.promotion.id for line in self.standing))


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a line of `MEMORY.md` came from; `line` is 1-based, `corrected` the promotion whose place it took.

    `words` are what stands there now, without secrets: the user may have changed them.
    """

    line: int
    words: str
    promotion: Promotion
    corrected: Promotion | None
    changes: tuple[Event, ...]

    @property
    def is_reworded(self) -> bool:
        """Tell whether something else stands there than was promoted."""
        return self.words != durable.wording(self.promotion.text)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The components of its score as the night had them; none where it kept no basis."""
        promotion = self.promotion
        return parts(Components(**promotion.components), promotion.basis) if promotion.basis else ()

    @property
    def gates(self) -> tuple[GateResult, ...]:
        """How it passed every gate; none where the night kept no basis."""
        return gates_of(self.promotion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a night decided of a fragment; `reasons` are the gates it failed, the first one first, in words.

    `promotion` is what it wrote or proposed of it.
    """

    fragment: FragmentId
    text: str
    verdict: str
    reasons: tuple[tuple[str, str], ...] = ()
    promotion: Promotion | None = None

    @property
    def outcome(self) -> tuple[str, tuple[str, ...]]:
        """What tells whether two nights decided the same: the verdict and the gates, without their numbers."""
        return self.verdict, tuple(gate for gate, _ in self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class NightExplained:
    """A night as it was recorded: what each phase looked at, and what was decided of each candidate.

    `refused` counts each refused fragment once, at the first gate it failed; `archived` left `MEMORY.md` that night.
    """

    record: NightRecord
    looked_at: Mapping[Mark, tuple[tuple[FragmentId, str], ...]]
    decided: tuple[Decided, ...]
    refused: Mapping[str, int]
    archived: tuple[Promotion, ...] = ()

    @property
    def marks(self) -> Mapping[tuple[FragmentId, str], tuple[Mark, ...]]:
        """The marks that each fragment got, those with most of them first."""
        found: dict[tuple[FragmentId, str], tuple[Mark, ...]] = {}
        for mark, own in self.looked_at.items():
            for one in own:
                found[one] = (*found.get(one, ()), mark)
        return dict(sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0][0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two nights beside each other; `changed` holds what both decided of a fragment when that differs."""

    before: date
    after: date
    new: tuple[Decided, ...]
    gone: tuple[Decided, ...]
    changed: tuple[tuple[Decided, Decided], ...]


class UnknownNightError(Exception):
    """No night has that date."""

    def __init__(self, day: str) -> None:
        self.day = day
        super().__init__(f"no night ran on {day}; dream report shows them all, dream status the last one")


class NotPromotedError(Exception):
    """A line of `MEMORY.md` was written by nobody but the user."""

    def __init__(self, place: str) -> None:
        self.place = place
        super().__init__(f"no night wrote what stands at {place}; lines without a marker are your own")


def examined(home: Home, ids: Sequence[FragmentId], *, now: datetime) -> tuple[Examined, ...]:
    """Return the exams of fragments, best first, as a night at `now` would hold them."""
    night = home.local_date(now)
    asked = Night(
        date=night,
        now=now,
        config=home.config,
        candidates=home.store.candidates(ids, until=night),
        known=known(known_before(home, None)),
        deferred=home.journal.deferred(),
        lexicon=home.lexicon,
        kept=kept(home, now=now),
        taken_back=taken_back(home, now=now),
    )
    return decided(home, asked).examined


def meant(home: Home, what: str) -> tuple[FragmentId, ...]:
    """Return the fragments a person means by an id, the beginning of one, a piece of text, or a place."""
    place = named(what)
    if place.path in home.sources.known(*Kind):
        return home.store.at_lines(place.path, place.start or 1, place.end or MAX_LINE)
    return home.store.containing(what) if what.strip() else ()


def nothing_at(home: Home, what: str, *, now: datetime) -> str | None:
    """Return a sentence on a place where no fragment stands; None when what was named is no place."""
    if named(what).path not in home.sources.known(*Kind) and not _PLACE.fullmatch(what):
        return None
    try:
        opened(home, place_of(home, what, now=now), now=now)
    except (UnknownSourceError, NoSuchLinesError) as error:
        return str(error)
    return f"Nothing that is remembered stands at {what}; dream get {what} prints what does"


def nearest(home: Home, *, now: datetime) -> tuple[Examined, ...]:
    """Return the recalled candidates that are not promoted, those with the fewest gates to pass first."""
    waiting = [one for one in examined(home, home.store.recalled(), now=now) if one.exam.promoted_on is None]
    hopeful = [one for one in waiting if not any(gate.name in HOPELESS for gate in one.failed)]
    return tuple(sorted(hopeful, key=lambda one: len(one.failed)))[:NEAREST]


def nothing_near(home: Home, *, now: datetime) -> str:
    """Return a sentence on why no candidate is near to promotion."""
    found, states = examined(home, home.store.recalled(), now=now), [one.state for one in agreed(home).values()]
    count, waiting = states.count(State.IN_FORCE), states.count(State.PROPOSED)
    promotions = counted(count, "promotion")
    left = sum(one.exam.promoted_on is None for one in found)
    if left:
        rest = f"{counted(left, 'fragment')} of what was asked for"
        return f"{MEMORY} has {promotions}; questions alone do not bring {rest} there, see: dream explain --all"
    if waiting:
        return f"All that was asked for was promoted ({count}) or waits for your review ({waiting}): dream review"
    if found or count:
        return f"All that was asked for stands in {MEMORY}: {promotions}; see each with: dream explain {MEMORY}"
    return "Nobody has searched for anything yet; search with: dream search QUESTION"


# -- the life of a fragment -------------------------------------------------------------------------------------


def written_of(home: Home, found: Sequence[Examined]) -> Mapping[FragmentId, Life]:
    """Return what was ever written of fragments, and the rest of their lives, from the rows that the exams add up."""
    candidates = [one.candidate for one in found]
    ids = [candidate.id for candidate in candidates]
    until = max((one.exam.tonight for one in found), default=date.min)
    asked, marks = home.journal.asked(candidates, until=until), home.journal.marks(ids, until=until)
    written: dict[FragmentId, list[Promotion]] = {one: [] for one in ids}
    for promotion in agreed(home).values():
        if promotion.fragment in written:
            written[promotion.fragment].append(promotion)
    lines = _lines(home) if any(written.values()) else ()
    return {
        one.candidate.id: Life(
            promotions=tuple(written[one.candidate.id]),
            asked=asked[one.candidate.id],
            marks=marks[one.candidate.id],
            parts=parts(one.exam.score.components, basis(one, home.config)),
            change=change(one, home.config),
            standing=tuple(line for line in lines if line.promotion.fragment == one.candidate.id),
        )
        for one in found
    }


def parts(components: Components, rests: Basis) -> tuple[Part, ...]:
    """Return the components of a score, each with its weight and in words how it comes about."""
    words = _formulas(rests)
    return tuple(
        Part(name=name, value=value, weight=rests.weights[name], formula=words[name])
        for name, value in asdict(components).items()
    )


def gates_of(promotion: Promotion) -> tuple[GateResult, ...]:
    """Return how a promotion passed every gate; none where the night kept no basis."""
    return tuple(
        GateResult(name=name, passed=True, value=value, threshold=demanded, missing="")
        for name, value, demanded in (promotion.basis.gates if promotion.basis else ())
    )


def _formulas(rests: Basis) -> Mapping[str, str]:
    evidence = rests.evidence
    days, last, half = evidence.days, evidence.last_at, f"{rests.half_life_days:g}"
    used = "never used" if last is None else f"used {age_days(last, now=rests.at):.1f} days ago, half in {half}"
    span = (max(days) - min(days)).days if days else 0
    signals = f"{counted(evidence.recalls + evidence.grounded, 'vote')} + {counted(evidence.sightings, 'place')}"
    told = f", or {evidence.grounded} of {GROUNDED_THAT_SATURATE} grounded" if evidence.grounded else ""
    return {
        "frequency": f"log of {signals}, of {SIGNALS_THAT_SATURATE}",
        "relevance": f"mean of {signals}",
        "diversity": f"{evidence.contexts} questions or days, full at {CONTEXTS_THAT_SATURATE}",
        "recency": used,
        "consolidation": f"{counted(len(days), 'day')} in a span of {span}{told}",
        "conceptual": f"{rests.tags} tags, full at {TAGS_THAT_SATURATE}",
    }


def counted(count: int, word: str) -> str:
    """Return a count of things in words."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def change(one: Examined, config: Config) -> str:
    """Return in words what would change the verdict."""
    failed = [gate.name for gate in one.failed]
    if not failed:
        return "nothing is missing: the next night promotes it"
    if verdict(one.gates) == "promoted":
        return "nothing: it is promoted"
    remedies = [REMEDIES[name] for name in failed if name in REMEDIES]
    if ASKING.intersection(failed):
        remedies.append(_in_questions(one, config))
    return "; and ".join(remedies)


def _in_questions(one: Examined, config: Config) -> str:
    count = questions_missing(one, config)
    more = " more" if one.exam.recalls else ""
    if count is None:
        return f"questions alone, {MOST_QUESTIONS} of them, do not bring it there"
    return f"one{more} question on another day" if count == 1 else f"{count}{more} questions, each on another day"


def questions_missing(one: Examined, config: Config) -> int | None:
    """Return how many more questions, one a day and each answered in full, open the gates that ask for questions."""
    asking = [gate for gate in GATES if gate.name in ASKING]
    least = one.exam.thresholds.min_recall_count - one.exam.recalls
    for count in range(max(0, least), MOST_QUESTIONS + 1):
        exam = _asked_again(one, count, config)
        if all(gate.passes(exam) for gate in asking):
            return count
    return None


def _asked_again(one: Examined, count: int, config: Config) -> Exam:
    """Return the exam as it would be after so many days with a question each."""
    exam, candidate = one.exam, one.candidate
    if not count:
        return exam
    old, now = candidate.evidence, exam.now + timedelta(days=count)
    evidence = replace(
        old,
        recalls=old.recalls + count,
        unique_queries=old.unique_queries + count,
        total_score=old.total_score + count,
        days=(*old.days, *(exam.tonight + timedelta(days=n + 1) for n in range(count))),
        last_at=now,
    )
    anew = score(
        evidence,
        len(candidate.fragment.tags),
        candidate.history,
        now=now,
        weights=weights(config),
        half_life_days=config.deep.recency_half_life_days,
    )
    return replace(exam, candidate=replace(candidate, evidence=evidence), score=anew, now=now)


# -- lines of MEMORY.md -----------------------------------------------------------------------------------------


def is_memory(what: str) -> bool:
    """Tell whether a person means lines of `MEMORY.md`."""
    return named(what).path == MEMORY


def origins(home: Home, what: str) -> tuple[Origin, ...]:
    """Return where lines of `MEMORY.md` came from, in file order.

    Raise NotPromotedError when no night wrote them, NoSuchLinesError when it has not got them.
    """
    place, count = named(what), len(layout(home.files.read(MEMORY).text).lines)
    first, last = place.start or 1, place.end or MAX_LINE
    if place.start is not None and first > count:
        raise NoSuchLinesError(MEMORY, count)
    found = _lines(home, first, last)
    if not found:
        raise NotPromotedError(what)
    return found


def _lines(home: Home, first: int = 1, last: int = MAX_LINE) -> tuple[Origin, ...]:
    """Return where those of the lines `first` to `last` of `MEMORY.md` came from that nights wrote, in file order."""
    page, spoken_of = layout(home.files.read(MEMORY).text), home.promotions.spoken_of()
    found = [
        (own.written, spoken_of[own.written.mark])
        for own in page.own
        if own.place.start < last and own.place.stop >= first and own.written.mark in spoken_of
    ]
    by_id = home.promotions.by_id()
    every = events(home, None) if found else ()
    return tuple(
        Origin(
            line=written.line,
            words=redacted(written.text, home.redaction)[0],
            promotion=promotion,
            corrected=by_id.get(promotion.replaces or 0),
            changes=tuple(e for e in every if any(p.id == promotion.id for p, _ in e.promotions)),
        )
        for written, promotion in found
    )


# -- nights -----------------------------------------------------------------------------------------------------


def night_meant(home: Home, what: str) -> date | None:
    """Return the date of the night a person means; None when what they say is the date of none."""
    day = _date(what)
    return day if day is not None and home.journal.night(day) is not None else None


def _date(what: str) -> date | None:
    try:
        return date.fromisoformat(what) if _DAY.fullmatch(what) else None
    except ValueError:
        return None


def no_night(home: Home, what: str) -> str | None:
    """Return a sentence on a date without a night, with the nights around it; None when what was named is no date."""
    day = _date(what)
    if day is None:
        return None
    nights = [one.date for one in home.journal.nights(limit=-1)]
    around = [
        f"the {word} is of {night}"
        for word, night in (
            ("last before it", max((one for one in nights if one < day), default=None)),
            ("first after it", min((one for one in nights if one > day), default=None)),
        )
        if night is not None
    ]
    return f"There was no night on {day}; {', '.join(around) or 'none ever ran'}"


def night_explained(home: Home, what: str) -> NightExplained:
    """Return what a night looked at and decided, as it was recorded; raise UnknownNightError."""
    day = night_meant(home, what)
    record = None if day is None else home.journal.night(day)
    if day is None or record is None:
        raise UnknownNightError(what)
    marked = {mark: home.journal.marked(day, mark) for mark in Mark}
    refusals = home.journal.refusals(day)
    wanted = {*(one.fragment for one in refusals), *(one for ids in marked.values() for one in ids)}
    known = home.store.candidates(sorted(wanted), until=day)
    texts, left = {one.id: shown(one) for one in known}, {one.id: left_of(one, day) for one in known}
    reasons: dict[FragmentId, list[tuple[str, str]]] = {}
    for one in sorted(refusals, key=lambda one: (in_order(one.gate), one.fragment)):
        reasons.setdefault(one.fragment, []).append((one.gate, one.reason))
    promoted = tuple(
        Decided(
            fragment=one.fragment,
            text=one.text,
            verdict="proposed" if one.state is State.PROPOSED else "promoted",
            promotion=one,
        )
        for one in made(home, day)
    )
    refused = tuple(
        Decided(fragment=key, text=left.get(key, GONE), verdict="refused", reasons=tuple(own))
        for key, own in reasons.items()
    )
    return NightExplained(
        record=record,
        looked_at={mark: tuple((one, texts.get(one, GONE)) for one in ids) for mark, ids in marked.items()},
        decided=(*promoted, *refused),
        refused=home.journal.refused(day),
        archived=tuple(one for one in home.promotions.all(*LEFT) if one.ended_on == day),
    )


def shown(candidate: Candidate) -> str:
    """Return the text of a candidate, but of one that is unfit to be remembered only where it stands."""
    if not candidate.flaws:
        return candidate.fragment.text
    return GONE if candidate.place is None else f"what stands at {candidate.place.place}"


def left_of(candidate: Candidate, day: date) -> str:
    """Return the text of a candidate without the lines that were promoted up to a night, unless those are all."""
    fragment = candidate.fragment
    places = [n for n, night in enumerate(candidate.promoted) if night is None or night > day]
    if candidate.flaws or not places or len(places) == len(fragment.statements):
        return shown(candidate)
    return together([fragment.statements[n] for n in places], fragment.style)


def nights_compared(home: Home, before: str, after: str) -> Difference:
    """Return what two nights decided differently; raise UnknownNightError."""
    old, new = night_explained(home, before), night_explained(home, after)
    first, second = _by_fragment(old), _by_fragment(new)
    return Difference(
        before=old.record.date,
        after=new.record.date,
        new=tuple(one for key, one in second.items() if key not in first),
        gone=tuple(one for key, one in first.items() if key not in second),
        changed=tuple(
            (first[key], one) for key, one in second.items() if key in first and first[key].outcome != one.outcome
        ),
    )


def _by_fragment(night: NightExplained) -> Mapping[FragmentId, Decided]:
    """Return what was decided of each fragment; what was written of it goes before what was refused of the rest."""
    return {one.fragment: one for one in reversed(night.decided)}
