"""Reading a source again before a promotion: whether the statement stands there still, and what belongs to it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from dreaming.home import Home
from dreaming.observing.hearing import said_at, said_chunks
from dreaming.observing.remembering import pieces, remembered
from dreaming.promotion.draft import cut, together, tokens, with_reasons
from memory.markdown import joined
from memory.model import Candidate, Chunk, Fragment, Kind, Sighting, Statement, StatementId, Style
from memory.quality import unfit
from memory.sentences import ends_sentence
from memory.trust import flaws
from memory.writable import headed, stands_beside
from workspace import diary
from workspace.errors import UnreadableError


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A candidate as it stands in its source now, and all chunks of that file, each as it would be remembered."""

    sighting: Sighting
    chunk: Chunk
    around: tuple[tuple[Fragment, Chunk], ...]


def standing(home: Home, candidate: Candidate) -> Standing | None:
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
    return pieces(text, home.redaction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A line to write, the source lines it comes from, and the statements beside the drafted ones that are in it."""

    text: str
    start_line: int
    end_line: int
    beside: tuple[StatementId, ...]


def written(
    home: Home,
    fragment: Fragment,
    standing: Standing,
    positions: Sequence[int],
    *,
    unwanted: Collection[StatementId] = (),
) -> Written:
    """Return the drafted statements with the rest of their sentence, their reasons, and the heading where needed.

    What is added passes the same gate: nothing is, that does not leave a statement that stands alone, and no reason is,
    that is `unwanted`.
    """
    most = home.config.deep.max_snippet_tokens
    body = together([fragment.statements[n] for n in positions], fragment.style)
    before, after = neighbours(standing, positions)
    beside: list[Neighbour] = []
    while after and after[0].continues and tokens(joined([body, after[0].text])) <= most:
        if unfit(joined([body, after[0].text])):
            break
        body, beside, after = joined([body, after[0].text]), [*beside, after[0]], after[1:]
    if fragment.style is Style.PARAGRAPH:
        above = list(takewhile(lambda one: _may_stand(one, unwanted), reversed(before)))[::-1]
        below = list(takewhile(lambda one: _may_stand(one, unwanted), after))
        texts = [one.text for one in above], [one.text for one in below]
        told = with_reasons(body, *texts, lexicon=home.lexicon, max_tokens=most)
        if not flaws(f"{fragment.heading}: {told}", home.redaction) and not unfit(told):
            body, beside = told, [*beside, *(one for one in (*above, *below) if one.text in told)]
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


def _may_stand(neighbour: Neighbour, unwanted: Collection[StatementId]) -> bool:
    return stands_beside(neighbour.text) and neighbour.id not in unwanted


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
