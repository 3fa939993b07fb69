"""Writing to `MEMORY.md`: read the source again, plan, write, settle; a promotion is never half done."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from itertools import pairwise, takewhile

from dreaming.draft import composed, cut, headed, stands_beside, tokens, with_reasons
from dreaming.hearing import said_at, said_chunks
from dreaming.history import Why, write
from dreaming.history import recover as recover_files
from dreaming.home import ATTEMPTS, MEMORY, Home
from dreaming.known import Kept, known
from dreaming.observe import remembered
from dreaming.phases.deep import Examined, repeated
from memory.changes import Effect
from memory.chunking import chunks
from memory.corrections import Claim
from memory.hiding import legible
from memory.journal import Refusal
from memory.markdown import joined
from memory.model import Candidate, Chunk, Fragment, FragmentId, Kind, Sighting, Statement, StatementId, Style, place
from memory.promotions import TAKEN_BACK, Key, Promotion, State, numbered
from memory.quality import unfit
from memory.sentences import ends_sentence
from memory.trust import flaws
from workspace import diary, durable
from workspace.errors import ExternallyChangedError, UnreadableError, WorkspaceError
from workspace.files import Document

QUOTING = frozenset({"stands_alone", "not_promoted"})
"""Gates whose words quote the candidate; an order to an agent must not be passed on by the refusal of it."""


def archive_name(year: int) -> str:
    """Return the name of the file that keeps what had to make room in a year."""
    return f"memory/archive/MEMORY-{year}.md"


def archive_names(home: Home) -> tuple[str, ...]:
    """Return the archives there are, oldest year first."""
    found = (home.root / "memory/archive").glob("MEMORY-[0-9][0-9][0-9][0-9].md")
    return tuple(archive_name(year) for year in sorted(int(path.stem[-4:]) for path in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A candidate as it stands in its source now, and all chunks of that file, each as it would be remembered."""

    sighting: Sighting
    chunk: Chunk
    around: tuple[tuple[Fragment, Chunk], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the eligible candidates: who was refused after all, and the days whose lines had to make room."""

    refused: tuple[Refusal, ...] = ()
    dropped_dates: tuple[date, ...] = ()


def recover(home: Home, *, now: datetime) -> None:
    """Make the record agree with the files: what an interrupted night had begun, and what the user took out.

    A line whose marker stands in the file is in force; one that does not was never written, was moved to the
    archive, was corrected by one that stands there, or was removed by the user, who does not want it back.
    """
    home.files.tidy()
    recover_files(home, now=now)
    written = {(line.key, line.statements) for line in durable.promoted(home.files.read(MEMORY).text)}
    promotions = home.promotions
    with home.store.writing():
        promotions.withdraw(p.id for p in promotions.all(State.PLANNED) if p.key not in written)
        latest = promotions.latest()
        archived = _archived(home, [p.night for p in promotions.all(State.IN_FORCE) if p.key not in written])
        corrected = {p.replaces for p in latest.values() if p.key in written and p.replaces is not None}
        for promotion in latest.values():
            state = _state(promotion, written, archived, corrected)
            if state is not promotion.state:
                promotions.settle([promotion.id], state, now=now)


def _state(promotion: Promotion, written: set[Key], archived: set[Key], corrected: set[int]) -> State:
    if promotion.key in written:
        return State.IN_FORCE
    if promotion.state is not State.IN_FORCE:
        return promotion.state
    if promotion.id in corrected:
        return State.SUPERSEDED
    return State.DROPPED if promotion.key in archived else State.REMOVED


def _archived(home: Home, nights: Iterable[date]) -> set[tuple[str, str]]:
    """Return what stands in the archives of the years since the oldest of the nights."""
    first = min(nights, default=None)
    if first is None:
        return set()
    texts = [home.files.read(name).text for name in archive_names(home) if name >= archive_name(first.year)]
    return {(line.key, line.statements) for text in texts for line in durable.promoted(text)}


def promote(home: Home, eligible: Sequence[Examined], *, night: date, now: datetime) -> Outcome:
    """Write the best of the eligible candidates to `MEMORY.md`, as many as the night still may.

    Raise ExternallyChangedError when the file kept changing, NotWritableError and the like when it cannot be
    written; then nothing was promoted.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return _promote(home, eligible, night=night, now=now)
        except ExternallyChangedError:
            recover(home, now=now)
    return _promote(home, eligible, night=night, now=now)


def _promote(home: Home, eligible: Sequence[Examined], *, night: date, now: datetime) -> Outcome:
    """Go through the candidates in order, those an earlier run of the night promoted among them."""
    before = {promotion.fragment: promotion for promotion in made(home, night)}
    desk = _Desk(home, night, tuple(before.values()))
    taken = len(before.keys() - {one.candidate.id for one in eligible})
    for one in eligible:
        if one.candidate.id in before:
            taken += 1
        elif taken >= home.config.deep.limit:
            desk.refused.append(_too_many(one, home.config.deep.limit))
        else:
            taken += desk.add(_promotion(home, one, desk, night=night))
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
    desk = _Desk(home, proposal.night, ())
    if not desk.add(proposal):
        return desk.refused[0]
    _write(home, desk, now=now, reason="accepted in the review")
    return None


def stands(home: Home, promotion: Promotion, *, now: datetime) -> bool:
    """Tell whether a source still says what a promotion was made of."""
    found = home.store.candidates([promotion.fragment], until=home.local_date(now))
    return any(_standing(home, candidate) is not None for candidate in found)


def made(home: Home, night: date) -> tuple[Promotion, ...]:
    """Return what a night promoted or proposed, without what the user took back."""
    return tuple(one for one in home.promotions.all(night=night) if one.state not in TAKEN_BACK)


class _Desk:
    """The new text of `MEMORY.md` while candidates are added one by one, each only if it fits."""

    def __init__(self, home: Home, night: date, before: Sequence[Promotion]) -> None:
        self.document = home.files.read(MEMORY)
        self.night = night
        self.budget = home.config.memory.budget_chars
        self.evict = home.config.memory.evict
        self.worth = home.promotions.last_used() if self.evict == "least-used" else {}
        self.standing = {promotion.id: promotion for promotion in home.promotions.all(State.IN_FORCE)}
        self.edited = edited(home, self.document.text)
        self.lines = [*_lines_before(home, self.document.text, night), *(promotion.text for promotion in before)]
        self.spent = {statement for promotion in before for statement in promotion.statements}
        self.chosen: list[Promotion] = []
        self.refused: list[Refusal] = []
        self.revision = self._revised([])

    def add(self, made: Promotion | Refusal) -> bool:
        """Add a promotion if it has room; keep a refusal. Tell whether a slot was used."""
        if isinstance(made, Refusal):
            self.refused.append(made)
            return False
        attempt = self._revised([*self.chosen, made])
        if attempt.deferred:
            self.refused.append(_no_room(made, self.budget))
            return False
        self.chosen.append(made)
        self.revision = attempt
        self.lines.append(made.text)
        self.spent.update(made.statements)
        return True

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


def line_of(promotion: Promotion) -> durable.Line:
    """Return a promotion as it stands in `MEMORY.md`."""
    return durable.Line(
        key=promotion.fragment,
        text=promotion.text,
        score=promotion.score,
        recalls=promotion.recalls,
        source=place(promotion.path, promotion.start_line, promotion.end_line),
        statements=numbered(promotion.positions),
    )


def kept(home: Home, *, now: datetime) -> tuple[Kept, ...]:
    """Return the promotions that stand in `MEMORY.md`, oldest first, each with what it claims."""
    standing = home.promotions.all(State.IN_FORCE)
    found = home.store.candidates([promotion.fragment for promotion in standing], until=home.local_date(now))
    by_id = {candidate.id: candidate for candidate in found}
    return tuple(_kept(promotion, by_id.get(promotion.fragment)) for promotion in standing)


def claim_of(home: Home, promotion: Promotion, *, now: datetime) -> Claim:
    """Return what a promotion claims, and since when."""
    found = home.store.candidates([promotion.fragment], until=home.local_date(now))
    return _kept(promotion, next(iter(found), None)).claim


def _kept(promotion: Promotion, candidate: Candidate | None) -> Kept:
    claim = Claim(heading="", text=promotion.text, day=promotion.night)
    if candidate is not None:
        fragment = candidate.fragment
        said = [fragment.statements[n - 1] for n in promotion.positions if n <= len(fragment.statements)]
        day = candidate.place.day if candidate.place else promotion.night
        text = composed(said or fragment.statements, fragment.style)
        claim = Claim(heading=fragment.heading, text=text, day=day)
    return Kept(promotion=promotion.id, text=promotion.text, claim=claim)


def taken_back(home: Home) -> Mapping[FragmentId, str]:
    """Return what the user took back or rejected, by fragment, unless it is promoted again."""
    latest = home.promotions.latest().values()
    return {promotion.fragment: promotion.text for promotion in latest if promotion.state in TAKEN_BACK}


def known_before(home: Home, night: date | None) -> list[str]:
    """Return what `MEMORY.md` says without what a night itself wrote; all of it without a night."""
    return _lines_before(home, home.files.read(MEMORY).text, night)


def _lines_before(home: Home, text: str, night: date | None) -> list[str]:
    """Return what the file says, or said before it had to make room or the user took it out.

    What this night itself wrote is not among it: the night goes on, it does not repeat itself.
    """
    promotions = home.promotions.all()
    own = {durable.wording(promotion.text) for promotion in promotions if promotion.night == night}
    gone = [promotion.text for promotion in promotions if promotion.state in (State.PROPOSED, State.REMOVED)]
    return [line for line in (*durable.said(text), *gone) if line not in own]


def edited(home: Home, text: str) -> frozenset[Key]:
    """Return the lines the user reworded: their words are never dropped."""
    as_written = {p.key: durable.wording(p.text) for p in home.promotions.all(State.IN_FORCE)}
    marks = ((line.key, line.statements, line.text) for line in durable.promoted(text))
    return frozenset((key, part) for key, part, words in marks if as_written.get((key, part), words) != words)


def _write(home: Home, desk: _Desk, *, now: datetime, reason: str = "what the night promoted") -> None:
    standing = {promotion.key: promotion for promotion in desk.standing.values()}
    with home.store.writing():
        planned = home.promotions.plan(promotion for promotion in desk.chosen if not promotion.id)
    ends = {State.DROPPED: desk.revision.dropped, State.SUPERSEDED: desk.revision.replaced}
    gone = [
        Effect(promotion=standing[key].id, before=State.IN_FORCE, after=state)
        for state, sections in ends.items()
        for section in sections
        for line in section.lines
        if (key := (line.key, line.statements)) in standing
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
            reason = f"corrected by “{corrections[(line.key, line.statements)].text}”"
            alone = durable.Dropped(day=section.day, lines=(line,))
            text = durable.archived(text, [alone], on=on, reason=reason)
    why = Why(kind="archive", reason="what had to make room or was corrected", now=now, night=desk.night)
    return write(home, document, text, why), document


def _promotion(home: Home, one: Examined, desk: _Desk, *, night: date) -> Promotion | Refusal:
    candidate, positions = one.candidate, one.exam.draft.positions
    said = known(desk.lines)
    again = repeated(one.exam.draft, candidate, said) or _spent(candidate, positions, desk)
    standing = None if again else _standing(home, candidate)
    if again is None and standing is None:
        return _refused(candidate, "source", "source gone: the statement was edited or deleted")
    made = None if standing is None else _text(home, candidate.fragment, standing, positions)
    again = again or (said.repeated(made.text) if made else None)
    if again or standing is None or made is None:
        return _refused(candidate, "not_promoted", f"MEMORY.md says or said it already: “{again}”")
    unfit = flaws(f"{candidate.fragment.heading}: {made.text}", home.redaction)
    if unfit:
        return _refused(candidate, "clean", f"not fit to be remembered: {', '.join(unfit)}")
    whole = len(positions) == len(candidate.fragment.statements)
    in_file = standing.sighting.kind is not Kind.SESSION  # a message is counted in its own lines, not its file's
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
        path=standing.sighting.path,
        start_line=made.start_line if in_file else standing.sighting.start_line,
        end_line=made.end_line if in_file else standing.sighting.end_line,
        replaces=one.exam.corrects,
    )


def _spent(candidate: Candidate, positions: Sequence[int], desk: _Desk) -> str | None:
    """Return a drafted statement that this night wrote already, as part of another fragment."""
    ids, texts = candidate.fragment.statement_ids, candidate.fragment.statements
    return next((texts[n] for n in positions if ids[n] in desk.spent), None)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A line to write, the source lines it comes from, and the statements beside the drafted ones that are in it."""

    text: str
    start_line: int
    end_line: int
    beside: tuple[StatementId, ...]


def _text(home: Home, fragment: Fragment, standing: Standing, positions: Sequence[int]) -> Written:
    """Return the drafted statements with the rest of their sentence, their reasons, and the heading where needed.

    What is added passes the same gate: nothing is, that does not leave a statement that stands alone.
    """
    most = home.config.deep.max_snippet_tokens
    body = composed([fragment.statements[n] for n in positions], fragment.style)
    before, after = neighbours(standing, positions)
    beside: list[Neighbour] = []
    while after and after[0].continues and tokens(joined([body, after[0].text])) <= most:
        if unfit(joined([body, after[0].text])):
            break
        body, beside, after = joined([body, after[0].text]), [*beside, after[0]], after[1:]
    if fragment.style is Style.PARAGRAPH:
        above = list(takewhile(stands_beside, (one.text for one in reversed(before))))
        texts = above[::-1], list(takewhile(stands_beside, (one.text for one in after)))
        told = with_reasons(body, *texts, lexicon=home.lexicon, max_tokens=most)
        if not flaws(f"{fragment.heading}: {told}", home.redaction) and not unfit(told):
            body, beside = told, [*beside, *(one for one in (*before, *after) if one.text in told)]
    whole = headed(fragment.heading, body)
    used = [*(standing.chunk.statements[n] for n in positions), *(one.statement for one in beside)]
    return Written(
        text=cut(body if unfit(whole) and not unfit(body) else whole, max_tokens=most),
        start_line=min(one.start_line for one in used),
        end_line=max(one.end_line for one in used),
        beside=tuple(one.id for one in beside),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A statement next to the written ones; `continues` means that both are pieces of one long sentence."""

    id: StatementId
    text: str
    statement: Statement
    continues: bool


_Place = tuple[str, Statement, StatementId]


def neighbours(standing: Standing, positions: Sequence[int]) -> tuple[tuple[Neighbour, ...], tuple[Neighbour, ...]]:
    """Return the statements around the written ones without a gap of lines, in order.

    A statement of a chunk that is unfit to be remembered ends them, as a gap does.
    """
    run = [
        (text, statement, key)
        for fragment, chunk in standing.around
        for text, statement, key in zip(fragment.statements, chunk.statements, fragment.statement_ids, strict=True)
        if not fragment.flaws and not chunk.quoted and chunk.style is standing.chunk.style
    ]
    places = [n for n, (_, statement, _) in enumerate(run) if statement in standing.chunk.statements]
    first, last = places[positions[0]], places[positions[-1]]
    after = [n for n in range(last + 1, len(run)) if _touch(run, range(last, n + 1))]
    before = [n for n in range(first) if _touch(run, range(n, first + 1))]
    return tuple(_neighbour(run, n, n + 1) for n in before), tuple(_neighbour(run, n, n - 1) for n in after)


def _touch(run: Sequence[_Place], span: range) -> bool:
    pairs = pairwise([run[n][1] for n in span])
    return all(following.start_line - above.end_line <= 1 for above, following in pairs)


def _neighbour(run: Sequence[_Place], n: int, to: int) -> Neighbour:
    above, below = run[min(n, to)], run[max(n, to)]
    same_line = below[1].start_line <= above[1].end_line
    return Neighbour(
        id=run[n][2], text=run[n][0], statement=run[n][1], continues=same_line and not ends_sentence(above[0])
    )


def _standing(home: Home, candidate: Candidate) -> Standing | None:
    """Read the candidate's sources again, newest first, until its whole text is found in one."""
    newest = sorted(candidate.sightings, key=lambda s: (-s.day.toordinal(), s.path, s.start_line))
    for path in dict.fromkeys(sighting.path for sighting in newest):
        sighting = next(s for s in newest if s.path == path)
        around = tuple(
            (remembered(chunk, sighting.kind, home.lexicon, home.redaction), chunk)
            for chunk in _read_again(home, sighting)
        )
        for fragment, chunk in sorted(around, key=lambda pair: abs(pair[1].start_line - sighting.start_line)):
            if fragment.id == candidate.id:
                return Standing(sighting=sighting, chunk=chunk, around=around)
    return None


def _read_again(home: Home, sighting: Sighting) -> tuple[Chunk, ...]:
    if sighting.kind is Kind.SESSION:
        said = said_at(home, sighting.path, sighting.start_line)
        return tuple(chunk for message in said for chunk in said_chunks(message, home.redaction))
    try:
        text = diary.read(home.root, sighting.path, folder=home.config.workspace.diaries).text
    except UnreadableError:
        return ()
    return chunks(legible(text, home.redaction))


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
