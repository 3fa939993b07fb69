"""Writing to `MEMORY.md`: read the source again, plan, write, settle; a promotion is never half done."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from functools import partial

from dreaming.changes.history import Why, again, write
from dreaming.home import MEMORY, Home, archive_name
from dreaming.phases.deep import Examined, basis, repeated
from dreaming.promotion.known import known
from dreaming.promotion.ledger import edited, line_of, lines_before, made, recover, unwanted
from dreaming.promotion.rereading import standing, written
from memory.changes import Effect
from memory.journal import Refusal
from memory.model import Candidate, FragmentId, Kind, StatementId
from memory.promotions import Key, Promotion, State
from memory.trust import flaws, told
from workspace import durable
from workspace.errors import WorkspaceError
from workspace.files import Document

QUOTING = frozenset({"stands_alone", "not_promoted"})
"""Gates whose words quote the candidate; an order to an agent must not be passed on by the refusal of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the eligible candidates: who was refused after all, and the days whose lines had to make room.

    `failed` tells that `MEMORY.md` could not be written, so that nothing is known of them yet.
    """

    refused: tuple[Refusal, ...] = ()
    dropped_dates: tuple[date, ...] = ()
    failed: bool = False


def promote(home: Home, eligible: Sequence[Examined], *, night: date, now: datetime) -> Outcome:
    """Write the best of the eligible candidates to `MEMORY.md`, as many as the night still may.

    Raise ExternallyChangedError when the file kept changing, NotWritableError and the like when it cannot be
    written; then nothing was promoted.
    """
    work = partial(_promote, home, eligible, night=night, now=now)
    return again(work, between=partial(recover, home, now=now))


def _promote(home: Home, eligible: Sequence[Examined], *, night: date, now: datetime) -> Outcome:
    """Go through the candidates in order, those an earlier run of the night promoted among them."""
    before = {promotion.fragment: promotion for promotion in made(home, night)}
    others = before.keys() - {one.candidate.id for one in eligible}
    desk, limit = _Desk(home, night), home.config.deep.limit
    for fragment in sorted(others):
        desk.meet(before[fragment])
    taken = len(others)
    for one in eligible:
        if one.candidate.id in before:
            taken += 1
            desk.meet(before[one.candidate.id])
        elif taken >= limit:
            desk.refused.append(_too_many(one, limit))
        else:
            new = _promotion(home, one, desk, night=night)
            # What did not fit the first time says so again.
            if before and not isinstance(new, Refusal) and desk.fits(new):
                full = len(before) + len(desk.chosen) >= limit
                new = _too_many(one, limit) if full else _beside(new, one, before.values())
            taken += desk.add(new)
    if home.config.memory.mode == "review":
        with home.store.writing():
            home.promotions.plan(replace(promotion, state=State.PROPOSED) for promotion in desk.chosen)
        return Outcome(refused=tuple(desk.refused))
    if desk.revision.text != desk.document.text:
        _write(home, desk, now=now)
    return Outcome(refused=tuple(desk.refused), dropped_dates=tuple(dropped.day for dropped in desk.revision.dropped))


def accepted(home: Home, proposal: Promotion, *, now: datetime) -> Refusal | None:
    """Write a proposal to `MEMORY.md` under the heading of its night; return why not when it cannot be written.

    Raise ExternallyChangedError, NotWritableError and the like; then it is a proposal still.
    """
    desk = _Desk(home, proposal.night)
    said = known(durable.said(desk.document.text)).repeated(proposal.text)
    if said:
        return Refusal(fragment=proposal.fragment, gate="not_promoted", reason=f"{MEMORY} says it already: “{said}”")
    unfit = flaws(proposal.text, home.redaction)
    if unfit:
        reason = f"it is not fit to be remembered, since it {told(unfit)}; use other words"
        return Refusal(fragment=proposal.fragment, gate="clean", reason=reason)
    if not desk.add(proposal):
        return desk.refused[0]
    _write(home, desk, now=now, reason="accepted in the review")
    return None


class _Desk:
    """The new text of `MEMORY.md` while candidates are added one by one, each only if it fits."""

    def __init__(self, home: Home, night: date) -> None:
        self.document = home.files.read(MEMORY)
        self.night = night
        self.budget = home.config.memory.budget_chars
        self.evict = home.config.memory.evict
        self.worth = home.promotions.last_used() if self.evict == "least-used" else {}
        self.standing = {promotion.id: promotion for promotion in home.promotions.all(State.IN_FORCE)}
        self.edited = edited(home, self.document.text)
        self.lines = list(lines_before(home, self.document.text, night))
        self.spent: set[StatementId] = set()
        self.unwanted = unwanted(home, night)
        self.reviewed = home.config.memory.mode == "review"
        self.proposed: list[Promotion] = []
        self.chosen: list[Promotion] = []
        self.refused: list[Refusal] = []
        self.revision = self._revised([])

    def meet(self, promotion: Promotion) -> None:
        """Go past what an earlier run of the night wrote: later candidates must not repeat it, as in that run."""
        self._remember(promotion)
        if self.reviewed and promotion.state is State.PROPOSED:
            self.proposed.append(promotion)  # it takes its room, though the file has not got it

    def add(self, made: Promotion | Refusal) -> bool:
        """Add a promotion if it has room; keep a refusal. Tell whether a slot was used."""
        if isinstance(made, Refusal):
            self.refused.append(made)
            return False
        attempt = self._with(made)
        if attempt.deferred:
            self.refused.append(_no_room(made, self.budget))
            return False
        self.chosen.append(made)
        self.revision = attempt
        self._remember(made)
        return True

    def _remember(self, promotion: Promotion) -> None:
        self.lines.append(promotion.text)
        self.spent.update(promotion.statements)

    def fits(self, made: Promotion) -> bool:
        """Tell whether a promotion has room beside those that were chosen."""
        return not self._with(made).deferred

    def _with(self, made: Promotion) -> durable.Revision:
        return self._revised([*self.proposed, *self.chosen, made])

    def _revised(self, promotions: Sequence[Promotion]) -> durable.Revision:
        return durable.revised(
            self.document.text,
            self.night,
            [line_of(promotion) for promotion in promotions],
            budget=self.budget,
            evict=self.evict,
            worth=self.worth,
            edited=self.edited,
            replaced=self.replaced(promotions),
        )

    def replaced(self, promotions: Sequence[Promotion]) -> Mapping[Key, Promotion]:
        """Return the lines that others correct, each with its correction; words of the user's are never replaced."""
        pairs = ((self.standing.get(one.replaces or 0), one) for one in promotions)
        return {old.key: one for old, one in pairs if old is not None and old.key not in self.edited}


def _write(home: Home, desk: _Desk, *, now: datetime, reason: str = "what the night promoted") -> None:
    standing = {promotion.key: promotion for promotion in desk.standing.values()}
    with home.store.writing(lasting=True):
        for promotion in desk.chosen:
            if promotion.id:  # a proposal, in the words in which it was accepted
                home.promotions.reword(promotion.id, promotion.text, replaces=promotion.replaces)
        planned = home.promotions.plan(promotion for promotion in desk.chosen if not promotion.id)
    ends = {State.DROPPED: desk.revision.dropped, State.SUPERSEDED: desk.revision.replaced}
    gone = [
        Effect(promotion=standing[line.mark].id, before=State.IN_FORCE, after=state)
        for state, sections in ends.items()
        for section in sections
        for line in section.lines
        if line.mark in standing
    ]
    known = [(promotion.id, promotion.state) for promotion in desk.chosen if promotion.id]
    begun = [*known, *((key, State.PLANNED) for key in planned)]
    effects = (*(Effect(promotion=key, before=state, after=State.IN_FORCE) for key, state in begun), *gone)
    archived, before = _archive(home, desk, now=now)
    why = Why(kind="promotions", reason=reason, now=now, night=desk.night)
    try:
        write(home, desk.document, desk.revision.text, why, effects)
    except WorkspaceError:
        # What the archive says was moved stands in the file still.
        if before is not None:
            home.files.restore(before)
            with home.store.writing():
                home.changes.forget(archived)
        raise


def _archive(home: Home, desk: _Desk, *, now: datetime) -> tuple[int, Document | None]:
    """Copy what leaves the file to the archive, before it does; return the change and the archive as it was."""
    revision, on = desk.revision, home.local_date(now)
    if not revision.dropped and not revision.replaced:
        return 0, None
    document = home.files.read(archive_name(on.year))
    reason = f"{MEMORY} may hold {home.config.memory.budget_chars} characters"
    text = durable.archived(document.text, revision.dropped, on=on, reason=reason)
    corrections = desk.replaced(desk.chosen)
    for section in revision.replaced:
        for line in section.lines:
            reason = f"corrected by “{corrections[line.mark].text}”"
            alone = durable.Dropped(day=section.day, lines=(line,))
            text = durable.archived(text, [alone], on=on, reason=reason)
    why = Why(kind="archive", reason="what had to make room or was corrected", now=now, night=desk.night)
    return write(home, document, text, why), document


def _promotion(home: Home, one: Examined, desk: _Desk, *, night: date) -> Promotion | Refusal:
    candidate, positions = one.candidate, one.exam.draft.positions
    said = known(desk.lines)
    twin = repeated(one.exam.draft, candidate, said) or _spent(candidate, positions, desk)
    there = None if twin else standing(home, candidate)
    if twin is None and there is None:
        return _refused(candidate, "source", "source gone: the statement was edited or deleted")
    barred = desk.unwanted | {candidate.fragment.statement_ids[n] for n in candidate.withheld}
    made = None if there is None else written(home, candidate.fragment, there, positions, unwanted=barred)
    twin = twin or (said.repeated(made.text) if made else None)
    if twin or there is None or made is None:
        return _said_already(candidate.id, twin)
    unfit = flaws(f"{candidate.fragment.heading}: {made.text}", home.redaction)
    if unfit:
        return _refused(candidate, "clean", f"not fit to be remembered: it {told(unfit)}")
    whole = len(positions) == len(candidate.fragment.statements)
    in_file = there.sighting.kind is not Kind.SESSION  # a message is counted in its own lines, not its file's
    return Promotion(
        fragment=candidate.id,
        positions=() if whole else tuple(n + 1 for n in positions),
        statements=(*(candidate.fragment.statement_ids[n] for n in positions), *made.beside),
        night=night,
        score=one.exam.score.total,
        boost=one.exam.score.boost,
        components=asdict(one.exam.score.components),
        recalls=one.exam.recalls,
        text=made.text,
        path=there.sighting.path,
        start_line=made.start_line if in_file else there.sighting.start_line,
        end_line=made.end_line if in_file else there.sighting.end_line,
        replaces=one.exam.corrects,
        basis=basis(one, home.config),
    )


def _beside(new: Promotion, one: Examined, before: Collection[Promotion]) -> Promotion | Refusal:
    """Return a promotion if it repeats nothing that earlier runs of the night wrote: it may rank above that."""
    spent = {statement: promotion.text for promotion in before for statement in promotion.statements}
    drafted = (one.candidate.fragment.statement_ids[n] for n in one.exam.draft.positions)
    twin = next((spent[key] for key in drafted if key in spent), None)
    twin = twin or known(promotion.text for promotion in before).repeated(new.text)
    return new if twin is None else _said_already(new.fragment, twin)


def _spent(candidate: Candidate, positions: Sequence[int], desk: _Desk) -> str | None:
    """Return a drafted statement that this night wrote already, as part of another fragment."""
    ids, texts = candidate.fragment.statement_ids, candidate.fragment.statements
    return next((texts[n] for n in positions if ids[n] in desk.spent), None)


def _said_already(fragment: FragmentId, twin: str | None) -> Refusal:
    reason = f"{MEMORY} says or said it already: “{twin}”"
    return Refusal(fragment=fragment, gate="not_promoted", reason=reason)


def _refused(candidate: Candidate, gate: str, reason: str) -> Refusal:
    return Refusal(fragment=candidate.id, gate=gate, reason=reason)


def _too_many(one: Examined, limit: int) -> Refusal:
    return _refused(
        one.candidate, "limit", f"the night's limit of {limit} was reached; the next night comes back to it"
    )


def unwritten(eligible: Iterable[Examined]) -> tuple[Refusal, ...]:
    """Return the refusals of a night that could not write `MEMORY.md`."""
    reason = f"{MEMORY} could not be written; the next night comes back to it"
    return tuple(_refused(one.candidate, "unwritten", reason) for one in eligible)


def _no_room(made: Promotion, budget: int) -> Refusal:
    return Refusal(
        fragment=made.fragment,
        gate="budget",
        reason=f"{MEMORY} has no room for it within {budget} characters; shorten your own text there or raise"
        " memory.budget_chars",
    )


def refusals_of(examined: Iterable[Examined]) -> tuple[Refusal, ...]:
    """Return every gate every refused candidate fails, in words that quote no text unfit to be remembered."""
    return tuple(
        Refusal(fragment=one.candidate.id, gate=gate.name, reason=gate.missing)
        for one in examined
        for gate in one.failed
        if not one.candidate.flaws or gate.name not in QUOTING
    )
