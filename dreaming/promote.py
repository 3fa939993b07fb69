"""Writing to `MEMORY.md`: read the source again, plan, write, settle; a promotion is never half done."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from itertools import pairwise

from dreaming.draft import composed, cut, headed, tokens, with_reasons
from dreaming.home import ATTEMPTS, Home
from dreaming.known import known
from dreaming.observe import remembered
from dreaming.phases.deep import Examined, repeated
from memory.chunking import chunks
from memory.journal import Promotion, Refusal, State, numbered
from memory.markdown import joined
from memory.model import Candidate, Chunk, Fragment, Kind, Sighting, Statement, Style
from memory.sentences import ends_sentence
from memory.trust import flaws
from workspace import diary, durable
from workspace.errors import ExternallyChangedError, UnreadableError, WorkspaceError
from workspace.files import Document

MEMORY = "MEMORY.md"


def archive_name(year: int) -> str:
    """Return the name of the file that keeps what had to make room in a year."""
    return f"memory/archive/MEMORY-{year}.md"


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
    """Make the record agree with the file: what an interrupted night had begun, and what the user took out.

    A line whose marker stands in the file is in force; one that does not was never written, was moved to the
    archive, or was removed by the user, who does not want it back.
    """
    journal = home.journal
    written = {(line.key, line.statements) for line in durable.promoted(home.files.read(MEMORY).text)}
    archived = _archived(home, [p.night for p in journal.promotions(state=State.IN_FORCE) if p.key not in written])
    with home.store.writing():
        journal.withdraw(p.key for p in journal.promotions(state=State.PLANNED) if p.key not in written)
        for promotion in journal.promotions():
            state = _state(promotion, written, archived)
            if state is not promotion.state:
                journal.settle([promotion.key], state, now=now)


def _state(promotion: Promotion, written: set[tuple[str, str]], archived: set[tuple[str, str]]) -> State:
    if promotion.key in written:
        return State.IN_FORCE
    if promotion.state is not State.IN_FORCE:
        return promotion.state
    return State.DROPPED if promotion.key in archived else State.REMOVED


def _archived(home: Home, nights: Iterable[date]) -> set[tuple[str, str]]:
    """Return what stands in the archives of the years since the oldest of the nights."""
    first = min(nights, default=None)
    if first is None:
        return set()
    folder = home.root / "memory/archive"
    years = sorted(int(path.stem[-4:]) for path in folder.glob("MEMORY-[0-9][0-9][0-9][0-9].md"))
    texts = [home.files.read(archive_name(year)).text for year in years if year >= first.year]
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
    desk = _Desk(home, night)
    before = {promotion.fragment: promotion for promotion in home.journal.promotions(night=night)}
    taken = len(before.keys() - {one.candidate.id for one in eligible})
    for one in eligible:
        if taken >= home.config.deep.limit:
            break
        promotion = before.get(one.candidate.id)
        if promotion is None:
            taken += desk.add(_promotion(home, one, desk.lines, night=night))
        else:
            taken += 1
            desk.lines.append(promotion.text)
    if desk.revision.text != desk.document.text:
        _write(home, desk, now=now)
    return Outcome(refused=tuple(desk.refused), dropped_dates=tuple(dropped.day for dropped in desk.revision.dropped))


class _Desk:
    """The new text of `MEMORY.md` while candidates are added one by one, each only if it fits."""

    def __init__(self, home: Home, night: date) -> None:
        self.document = home.files.read(MEMORY)
        self.night = night
        self.budget = home.config.memory.budget_chars
        self.evict = home.config.memory.evict
        self.worth = home.journal.last_used() if self.evict == "least-used" else {}
        self.edited = _edited(home, self.document.text)
        self.lines = _lines_before(home, self.document.text, night)
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
        return True

    def _revised(self, promotions: Sequence[Promotion]) -> durable.Revision:
        return durable.revised(
            self.document.text,
            self.night,
            [_line(promotion) for promotion in promotions],
            budget=self.budget,
            evict=self.evict,
            worth=self.worth,
            edited=self.edited,
        )


def _line(promotion: Promotion) -> durable.Line:
    return durable.Line(
        key=promotion.fragment,
        text=promotion.text,
        score=promotion.score,
        recalls=promotion.recalls,
        source=f"{promotion.path}:{promotion.start_line}-{promotion.end_line}",
        statements=numbered(promotion.positions),
    )


def known_before(home: Home, night: date | None) -> list[str]:
    """Return what `MEMORY.md` says without what a night itself wrote; all of it without a night."""
    return _lines_before(home, home.files.read(MEMORY).text, night)


def _lines_before(home: Home, text: str, night: date | None) -> list[str]:
    """Return what the file says, or said before it had to make room or the user took it out.

    What this night itself wrote is not among it: the night goes on, it does not repeat itself.
    """
    promotions = home.journal.promotions()
    own = {durable.wording(promotion.text) for promotion in promotions if promotion.night == night}
    gone = [promotion.text for promotion in promotions if promotion.state in (State.DROPPED, State.REMOVED)]
    return [line for line in (*durable.said(text), *gone) if line not in own]


def _edited(home: Home, text: str) -> frozenset[tuple[str, str]]:
    """Return the lines the user reworded: their words are never dropped."""
    as_written = {p.key: durable.wording(p.text) for p in home.journal.promotions(state=State.IN_FORCE)}
    marks = ((line.key, line.statements, line.text) for line in durable.promoted(text))
    return frozenset((key, part) for key, part, words in marks if as_written.get((key, part), words) != words)


def _write(home: Home, desk: _Desk, *, now: datetime) -> None:
    dropped = [(line.key, line.statements) for section in desk.revision.dropped for line in section.lines]
    with home.store.writing():
        home.journal.plan(desk.chosen)
    undo = _archive(home, desk.revision, now=now)
    try:
        home.files.write(desk.document, desk.revision.text)
    except WorkspaceError:
        # What the archive says was moved stands in the file still.
        if undo is not None:
            home.rewrite(undo.name, lambda _: undo.text)
        raise
    with home.store.writing():
        home.journal.settle((promotion.key for promotion in desk.chosen), State.IN_FORCE, now=now)
        home.journal.settle(dropped, State.DROPPED, now=now)


def _archive(home: Home, revision: durable.Revision, *, now: datetime) -> Document | None:
    """Copy what makes room to the archive, before it leaves the file; return the archive as it was."""
    if not revision.dropped:
        return None
    on = home.local_date(now)
    document = home.files.read(archive_name(on.year))
    reason = f"{MEMORY} may hold {home.config.memory.budget_chars} characters"
    home.files.write(document, durable.archived(document.text, revision.dropped, on=on, reason=reason))
    return document


def _promotion(home: Home, one: Examined, lines: Sequence[str], *, night: date) -> Promotion | Refusal:
    candidate = one.candidate
    again = repeated(one.exam.draft, candidate, known(lines))
    if again is not None:
        said = f"MEMORY.md says or said it already: “{again}”"
        return Refusal(fragment=candidate.id, gate="not_promoted", reason=said)
    standing = _standing(home, candidate)
    if standing is None:
        return Refusal(fragment=candidate.id, gate="source", reason="source gone: the statement was edited or deleted")
    positions = one.exam.draft.positions
    written = [standing.chunk.statements[n] for n in positions]
    whole = len(positions) == len(candidate.fragment.statements)
    return Promotion(
        fragment=candidate.id,
        positions=() if whole else tuple(n + 1 for n in positions),
        statements=tuple(candidate.fragment.statement_ids[n] for n in positions),
        night=night,
        score=one.exam.score.total,
        boost=one.exam.score.boost,
        components=asdict(one.exam.score.components),
        recalls=one.exam.recalls,
        text=_text(home, candidate.fragment, standing, positions),
        path=standing.sighting.path,
        start_line=written[0].start_line,
        end_line=written[-1].end_line,
    )


def _text(home: Home, fragment: Fragment, standing: Standing, positions: Sequence[int]) -> str:
    """Return the line to write: the statements, their reasons, and the heading where they need it."""
    most = home.config.deep.max_snippet_tokens
    body = composed([fragment.statements[n] for n in positions], fragment.style)
    before, after = neighbours(standing, positions)
    while after and after[0].continues and tokens(joined([body, after[0].text])) <= most:
        body, after = joined([body, after[0].text]), after[1:]
    if fragment.style is Style.PARAGRAPH:
        texts = [one.text for one in before], [one.text for one in after]
        told = with_reasons(body, *texts, lexicon=home.lexicon, max_tokens=most)
        body = body if flaws(f"{fragment.heading}: {told}") else told
    return cut(headed(fragment.heading, body), max_tokens=most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A statement next to the written ones; `continues` means that both are pieces of one long sentence."""

    text: str
    continues: bool


def neighbours(standing: Standing, positions: Sequence[int]) -> tuple[tuple[Neighbour, ...], tuple[Neighbour, ...]]:
    """Return the statements around the written ones without a gap of lines, in order.

    A statement of a chunk that is unfit to be remembered ends them, as a gap does.
    """
    run = [
        (text, statement)
        for fragment, chunk in standing.around
        for text, statement in zip(fragment.statements, chunk.statements, strict=True)
        if not fragment.flaws and chunk.style is standing.chunk.style
    ]
    places = [n for n, (_, statement) in enumerate(run) if statement in standing.chunk.statements]
    first, last = places[positions[0]], places[positions[-1]]
    after = [n for n in range(last + 1, len(run)) if _touch(run, range(last, n + 1))]
    before = [n for n in range(first) if _touch(run, range(n, first + 1))]
    return tuple(_neighbour(run, n, n + 1) for n in before), tuple(_neighbour(run, n, n - 1) for n in after)


def _touch(run: Sequence[tuple[str, Statement]], span: range) -> bool:
    pairs = pairwise([run[n][1] for n in span])
    return all(following.start_line - above.end_line <= 1 for above, following in pairs)


def _neighbour(run: Sequence[tuple[str, Statement]], n: int, to: int) -> Neighbour:
    above, below = run[min(n, to)], run[max(n, to)]
    same_line = below[1].start_line <= above[1].end_line
    return Neighbour(text=run[n][0], continues=same_line and not ends_sentence(above[0]))


def _standing(home: Home, candidate: Candidate) -> Standing | None:
    """Read the candidate's sources again, newest first, until its whole text is found in one."""
    newest = sorted(candidate.sightings, key=lambda s: (-s.day.toordinal(), s.path, s.start_line))
    for path in dict.fromkeys(sighting.path for sighting in newest):
        sighting = next(s for s in newest if s.path == path)
        around = tuple((remembered(chunk, Kind.DIARY, home.lexicon), chunk) for chunk in _read_again(home, path))
        for fragment, chunk in sorted(around, key=lambda pair: abs(pair[1].start_line - sighting.start_line)):
            if fragment.id == candidate.id:
                return Standing(sighting=sighting, chunk=chunk, around=around)
    return None


def _read_again(home: Home, path: str) -> tuple[Chunk, ...]:
    try:
        return chunks(diary.read(home.root, path, folder=home.config.workspace.diaries).text)
    except UnreadableError:
        return ()


def _no_room(made: Promotion, budget: int) -> Refusal:
    return Refusal(
        fragment=made.fragment,
        gate="budget",
        reason=f"{MEMORY} has no room for it within {budget} characters; shorten your own text there or raise"
        " memory.budget_chars",
    )


def refusals_of(examined: Iterable[Examined]) -> tuple[Refusal, ...]:
    """Return every gate every refused candidate fails, in words."""
    return tuple(
        Refusal(fragment=one.candidate.id, gate=gate.name, reason=gate.missing)
        for one in examined
        for gate in one.failed
    )
