"""How promotions stand: in `MEMORY.md`, in the archives and in the record, and making these agree."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime

from dreaming.changes.history import recover as recover_files
from dreaming.home import MEMORY, Home
from dreaming.promotion.known import Kept, TakenBack, claimed, known_as_taken_back
from dreaming.promotion.rereading import standing
from memory.changes import Effect
from memory.corrections import Claim
from memory.model import Candidate, StatementId
from memory.promotions import HOLDING, TAKEN_BACK, Key, Promotion, State, numbered
from memory.trust import redacted
from workspace import durable


def recover(home: Home, *, now: datetime) -> tuple[Effect, ...]:
    """Make the record agree with the files: what an interrupted night had begun, and what the user took out.

    A line whose marker stands in the file is in force; one that does not was never written, was corrected by one that
    stands there, or was removed by the user, who does not want it back. Return what was removed since.
    """
    home.files.tidy()
    recover_files(home, now=now)
    written = _marked(home)
    promotions = home.promotions
    with home.store.writing():
        promotions.withdraw(p.id for p in promotions.all(State.PLANNED) if p.key not in written)
        states = _differing(home, written)
        for promotion, state in states.items():
            promotions.settle([promotion], state, now=now)
    removed = (key for key, state in states.items() if state is State.REMOVED)
    return tuple(Effect(promotion=key, before=State.IN_FORCE, after=State.REMOVED) for key in removed)


def agreed(home: Home) -> Mapping[int, Promotion]:
    """Return every promotion by its number, in the state that `recover` would record; nothing is recorded."""
    states = _differing(home, _marked(home))
    return {key: replace(one, state=states.get(key, one.state)) for key, one in home.promotions.by_id().items()}


def yours(home: Home, among: Iterable[Promotion]) -> tuple[Promotion, ...]:
    """Return the promotions that count as removed, and whose words stand in `MEMORY.md` on a line without a marker."""
    page = home.files.read(MEMORY).text
    unmarked = set(durable.said(durable.without(page, _marked(home))))
    removed = (one for one in among if one.state is State.REMOVED)
    return tuple(one for one in removed if not unmarked.isdisjoint(durable.said(f"- {durable.wording(one.text)}")))


def _marked(home: Home) -> frozenset[Key]:
    return durable.standing(home.files.read(MEMORY).text)


def _differing(home: Home, written: frozenset[Key]) -> Mapping[int, State]:
    """Return by number how promotions stand by the markers of the file, where the record says otherwise."""
    spoken_of = home.promotions.spoken_of().values()
    corrected = {p.replaces for p in spoken_of if p.key in written and p.replaces is not None}
    states = {promotion.id: (promotion.state, _state(promotion, written, corrected)) for promotion in spoken_of}
    return {key: state for key, (recorded, state) in states.items() if state is not recorded}


def _state(promotion: Promotion, written: frozenset[Key], corrected: set[int]) -> State:
    if promotion.key in written:
        return State.IN_FORCE
    if promotion.state is not State.IN_FORCE:
        return promotion.state
    return State.SUPERSEDED if promotion.id in corrected else State.REMOVED


def made(home: Home, night: date) -> tuple[Promotion, ...]:
    """Return what a night promoted or proposed, without what the user took back."""
    return tuple(one for one in home.promotions.all(night=night) if one.state not in TAKEN_BACK)


def stands(home: Home, promotion: Promotion, *, now: datetime) -> bool:
    """Tell whether a source still says what a promotion was made of."""
    found = home.store.candidates([promotion.fragment], until=home.local_date(now))
    return any(standing(home, candidate) is not None for candidate in found)


def replaced(home: Home, made: Iterable[Promotion]) -> Mapping[int, str]:
    """Return what promotions correct, by the id of the promotion that says it."""
    wanted = {one.replaces for one in made if one.replaces is not None}
    return {key: one.text for key, one in home.promotions.by_id().items() if key in wanted} if wanted else {}


def line_of(promotion: Promotion) -> durable.Line:
    """Return a promotion as it stands in `MEMORY.md`."""
    return durable.Line(
        key=promotion.fragment,
        text=promotion.text,
        score=promotion.score,
        recalls=promotion.recalls,
        source=promotion.place,
        statements=numbered(promotion.positions),
    )


def kept(home: Home, *, now: datetime, tonight: date | None = None) -> tuple[Kept, ...]:
    """Return the promotions that stand in `MEMORY.md`, oldest first, each with what it claims.

    They are those that stood there before `tonight`, so that a second run of a night decides like the first.
    """
    every = home.promotions.all(State.IN_FORCE, State.DROPPED, State.SUPERSEDED)
    standing = [one for one in every if _stood(one, tonight)]
    found = home.store.candidates([promotion.fragment for promotion in standing], until=home.local_date(now))
    by_id = {candidate.id: candidate for candidate in found}
    return tuple(_kept(promotion, by_id.get(promotion.fragment)) for promotion in standing)


def _stood(promotion: Promotion, tonight: date | None) -> bool:
    if promotion.state is State.IN_FORCE:
        return promotion.night != tonight
    return tonight is not None and promotion.ended_on == tonight


def claim_of(home: Home, promotion: Promotion, *, now: datetime) -> Claim:
    """Return what a promotion claims, and since when."""
    found = home.store.candidates([promotion.fragment], until=home.local_date(now))
    return _kept(promotion, next(iter(found), None)).claim


def _kept(promotion: Promotion, candidate: Candidate | None) -> Kept:
    if candidate is None:
        claim = Claim(heading="", text=promotion.text, day=promotion.night)
        place = (promotion.path, promotion.start_line)
        return Kept(promotion=promotion.id, text=promotion.text, claim=claim, place=place)
    whole = range(1, len(candidate.fragment.statements) + 1)
    positions = [n - 1 for n in promotion.positions or whole if n in whole] or [n - 1 for n in whole]
    found = claimed(candidate, positions, day=promotion.night, place=(promotion.path, promotion.start_line))
    return replace(found, promotion=promotion.id, text=promotion.text)


def taken_back(home: Home, *, now: datetime, tonight: date | None = None) -> TakenBack:
    """Return what the user took back or rejected, unless it was promoted again before `tonight` or stands nowhere."""
    spoken_of = home.promotions.spoken_of(but=tonight)
    latest = [one for one in spoken_of.values() if one.state in TAKEN_BACK]
    found = home.store.candidates([one.fragment for one in latest], until=home.local_date(now))
    alive = {candidate.id for candidate in found if candidate.sightings}
    return known_as_taken_back((one.fragment, one.text) for one in latest if one.fragment in alive)


def unwanted(home: Home, night: date) -> frozenset[StatementId]:
    """Return the statements that the user took back, rejected or removed before a night: none is a reason to add."""
    gone = (State.REMOVED, *TAKEN_BACK)
    spoken_of = home.promotions.spoken_of(but=night).values()
    return frozenset(statement for one in spoken_of if one.state in gone for statement in one.statements)


def known_before(home: Home, night: date | None) -> list[str]:
    """Return what `MEMORY.md` says without what a night itself wrote; all of it without a night."""
    return lines_before(home, home.files.read(MEMORY).text, night)


def lines_before(home: Home, text: str, night: date | None) -> list[str]:
    """Return what the file says, or said before the user reworded or took it out, or this night moved it to make room.

    What this night itself wrote is not among it: the night goes on, it does not repeat itself.
    """
    promotions = home.promotions.all()
    own = {durable.wording(promotion.text) for promotion in promotions if promotion.night == night}
    gone = [one.text for one in promotions if one.state in HOLDING or _moved(one, night)]
    return [line for line in (*durable.said(text), *gone) if line not in own]


def _moved(promotion: Promotion, night: date | None) -> bool:
    return promotion.state is State.DROPPED and night is not None and promotion.ended_on == night


def edited(home: Home, text: str) -> frozenset[Key]:
    """Return the lines the user reworded: their words are never dropped."""
    standing = {promotion.key: promotion for promotion in home.promotions.all(State.IN_FORCE)}
    lines = [line for line in durable.promoted(text) if line.mark in standing]
    return frozenset(line.mark for line in lines if is_reworded(home, line.text, standing[line.mark]))


def is_reworded(home: Home, words: str, promotion: Promotion) -> bool:
    """Tell whether a line says something else than was promoted; what is hidden by now makes no difference."""
    written = durable.wording(promotion.text)
    return words != written and redacted(words, home.redaction)[0] != redacted(written, home.redaction)[0]
