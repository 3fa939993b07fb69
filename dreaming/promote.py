"""Writing to `MEMORY.md`: read the source again, plan, write, settle; a promotion is never half done."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime

from dreaming.draft import composed, cut, headed, with_reasons
from dreaming.home import ATTEMPTS, Home
from dreaming.observe import fragment
from dreaming.phases.deep import Examined, repeated
from memory.chunking import chunks
from memory.journal import Promotion, Refusal, State, numbered
from memory.model import Candidate, Chunk, Kind, Sighting, Statement, Style
from memory.trust import flaws
from workspace import diary, durable
from workspace.errors import ExternallyChangedError, UnreadableError
from workspace.files import Document

MEMORY = "MEMORY.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A candidate as it stands in its source now: the chunk, and all chunks of that file around it."""

    sighting: Sighting
    chunk: Chunk
    around: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the eligible candidates: who was refused after all, and the days whose lines had to make room."""

    refused: tuple[Refusal, ...] = ()
    dropped_dates: tuple[date, ...] = ()


def recover(home: Home, *, now: datetime) -> None:
    """Finish or take back what an interrupted night had planned: the markers in the file say which."""
    planned = home.journal.promotions(state=State.PLANNED)
    if not planned:
        return
    written = {(line.key, line.statements) for line in durable.promoted(home.files.read(MEMORY).text)}
    with home.store.writing():
        home.journal.settle((p.key for p in planned if p.key in written), State.IN_FORCE, now=now)
        home.journal.withdraw(p.key for p in planned if p.key not in written)


def promote(home: Home, eligible: Sequence[Examined], *, night: date, now: datetime) -> Outcome:
    """Write the best of the eligible candidates to `MEMORY.md`, as many as the night still may.

    Raise ExternallyChangedError when the file kept changing; then nothing was promoted.
    """
    for attempt in range(ATTEMPTS):
        try:
            return _promote(home, eligible, night=night, now=now)
        except ExternallyChangedError:
            recover(home, now=now)
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _promote(home: Home, eligible: Sequence[Examined], *, night: date, now: datetime) -> Outcome:
    document = home.files.read(MEMORY)
    room = home.config.deep.limit - len(home.journal.promotions(night=night))
    chosen: list[Promotion] = []
    refused: list[Refusal] = []
    claims = list(durable.claims(document.text))
    revision = _revised(home, document.text, night, chosen)
    for one in eligible:
        if len(chosen) >= room:
            break
        made = _promotion(home, one, claims, night=night)
        if isinstance(made, Refusal):
            refused.append(made)
            continue
        attempt = _revised(home, document.text, night, [*chosen, made])
        if attempt.deferred:
            refused.append(_no_room(home, made))
            continue
        chosen, revision = [*chosen, made], attempt
        claims.append(made.text)
    if revision.text != document.text:
        _write(home, document, revision, chosen, now=now)
    return Outcome(refused=tuple(refused), dropped_dates=tuple(dropped.day for dropped in revision.dropped))


def _revised(home: Home, text: str, night: date, promotions: Sequence[Promotion]) -> durable.Revision:
    lines = [
        durable.Line(
            key=p.fragment,
            text=p.text,
            score=p.score,
            recalls=p.recalls,
            source=f"{p.path}:{p.start_line}-{p.end_line}",
            statements=numbered(p.positions),
        )
        for p in promotions
    ]
    return durable.revised(
        text,
        night,
        lines,
        budget=home.config.memory.budget_chars,
        evict=home.config.memory.evict,
        worth=_worth(home) if home.config.memory.evict == "least-used" else {},
        edited=_edited(home, text),
    )


def _edited(home: Home, text: str) -> frozenset[str]:
    """Return the fragments whose line the user reworded: their words are never dropped."""
    as_written = {p.key: durable.wording(p.text) for p in home.journal.promotions(state=State.IN_FORCE)}
    standing = durable.promoted(text)
    return frozenset(w.key for w in standing if as_written.get((w.key, w.statements), w.text) != w.text)


def _worth(home: Home) -> dict[str, float]:
    """Return when each promoted fragment was last asked for, as a number: what was used last is worth most."""
    ids = tuple({p.fragment for p in home.journal.promotions(state=State.IN_FORCE)})
    found = home.store.candidates(sorted(ids), before=date.max)
    return {c.id: c.evidence.last_at.timestamp() if c.evidence.last_at else 0.0 for c in found}


def _write(
    home: Home, document: Document, revision: durable.Revision, chosen: Sequence[Promotion], *, now: datetime
) -> None:
    dropped = [(line.key, line.statements) for section in revision.dropped for line in section.lines]
    with home.store.writing():
        home.journal.plan(chosen)
    _archive(home, revision, now=now)
    home.files.write(document, revision.text)
    with home.store.writing():
        home.journal.settle((p.key for p in chosen), State.IN_FORCE, now=now)
        home.journal.settle(dropped, State.DROPPED, now=now)


def _archive(home: Home, revision: durable.Revision, *, now: datetime) -> None:
    if not revision.dropped:
        return
    on = home.local_date(now)
    document = home.files.read(f"memory/archive/MEMORY-{on.year}.md")
    reason = f"{MEMORY} may hold {home.config.memory.budget_chars} characters"
    home.files.write(document, durable.archived(document.text, revision.dropped, on=on, reason=reason))


def _promotion(home: Home, one: Examined, claims: Sequence[str], *, night: date) -> Promotion | Refusal:
    candidate = one.candidate
    again = repeated(one.exam.draft, candidate, claims)
    if again is not None:
        return Refusal(fragment=candidate.id, gate="not_promoted", reason=f"MEMORY.md says it already: “{again}”")
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
        text=text_of(candidate, standing, positions, max_tokens=home.config.deep.max_snippet_tokens),
        path=standing.sighting.path,
        start_line=written[0].start_line,
        end_line=written[-1].end_line,
    )


def text_of(candidate: Candidate, standing: Standing, positions: Sequence[int], *, max_tokens: int) -> str:
    """Return the line to write: the statements, their reasons, and the heading where they need it."""
    fragment_ = candidate.fragment
    body = composed([fragment_.statements[n] for n in positions], fragment_.style)
    if fragment_.style is Style.PARAGRAPH:
        before, after = neighbours(standing, positions)
        body = with_reasons(body, before, after, max_tokens=max_tokens)
    return cut(headed(fragment_.heading, body), max_tokens=max_tokens)


def neighbours(standing: Standing, positions: Sequence[int]) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """Return the statements of the same paragraph before and after the written ones, in order."""
    paragraph = [s for chunk in standing.around if chunk.style is Style.PARAGRAPH for s in chunk.statements]
    first = standing.chunk.statements[positions[0]]
    last = standing.chunk.statements[positions[-1]]
    before = [s for s in paragraph if s.end_line < first.start_line]
    after = [s for s in paragraph if s.start_line > last.end_line]
    return tuple(_adjoining(before, first)), tuple(reversed(_adjoining(after[::-1], last)))


def _adjoining(run: Sequence[Statement], to: Statement) -> list[Statement]:
    """Return the end of the run that touches a statement without a gap of lines or a text unfit to be kept."""
    kept: list[Statement] = []
    edge = to
    for statement in reversed(run):
        gap = min(abs(statement.end_line - edge.start_line), abs(statement.start_line - edge.end_line))
        if gap > 1 or flaws(statement.text):
            break
        kept.insert(0, statement)
        edge = statement
    return kept


def _standing(home: Home, candidate: Candidate) -> Standing | None:
    """Read the candidate's sources again, newest first, until its whole text is found in one."""
    newest = sorted(candidate.sightings, key=lambda s: (-s.day.toordinal(), s.path, s.start_line))
    for path in dict.fromkeys(sighting.path for sighting in newest):
        sighting = next(s for s in newest if s.path == path)
        around = _read_again(home, path)
        for chunk in sorted(around, key=lambda c: abs(c.start_line - sighting.start_line)):
            if fragment(chunk, Kind.DIARY, home.lexicon).id == candidate.id:
                return Standing(sighting=sighting, chunk=chunk, around=around)
    return None


def _read_again(home: Home, path: str) -> tuple[Chunk, ...]:
    try:
        return chunks(diary.read(home.root, path).text)
    except UnreadableError:
        return ()


def _no_room(home: Home, made: Promotion) -> Refusal:
    return Refusal(
        fragment=made.fragment,
        gate="budget",
        reason=f"{MEMORY} has no room for it within {home.config.memory.budget_chars} characters; shorten your own text"
        " there or raise memory.budget_chars",
    )


def refusals_of(examined: Iterable[Examined]) -> tuple[Refusal, ...]:
    """Return every gate every refused candidate fails, in words."""
    return tuple(
        Refusal(fragment=one.candidate.id, gate=gate.name, reason=gate.missing)
        for one in examined
        for gate in one.failed
    )
