"""Hearing what was said: session transcripts into the store, each from where it was left."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from boltons.iterutils import chunked_iter  # type: ignore[import-untyped]  # boltons ships no types

from dreaming.home import Home
from dreaming.observe import remembered, whole, with_vectors
from memory.chunking import chunks
from memory.hiding import legible
from memory.model import ORIGIN_SCORES, Chunk, Fragment, Kind, Sighting
from memory.redaction import Redaction
from memory.sources import SourceFile
from workspace import transcripts
from workspace.errors import UnreadableError
from workspace.messages import Cursor, Message, Reading, read
from workspace.transcripts import Transcript

BATCH = 200
"""Messages stored in one transaction: searches get their turn in between, a kill loses little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What was heard: transcripts that had something new, messages of people in them, and what went wrong."""

    read: int = 0
    messages: int = 0
    gone: int = 0
    problems: tuple[str, ...] = ()


def hear(home: Home, *, now: datetime) -> Hearing:
    """Read what was said since the last time; what a host deleted is forgotten at once, if nobody else said it."""
    if not home.config.sessions.enabled:
        return Hearing()
    listed = {one.name: one for one in listing(home)}
    known, cursors = home.sources.known(Kind.SESSION), home.sources.cursors(Kind.SESSION)
    gone = sorted(known.keys() - listed.keys())
    _withdraw(home, gone, now=now)
    changed = [one for one in listed.values() if _stamp(one) != known.get(one.name, ("",))[1:]]
    problems: list[str] = []
    messages = 0
    for one in changed:
        cursor = cursors.get(one.name)
        count, trouble = _heard(home, one, Cursor.of(cursor) if cursor else None, now=now)
        messages += count
        problems += trouble
    if changed:
        problems += with_vectors(home, at_most=-1)
    return Hearing(read=len(changed), messages=messages, gone=len(gone), problems=tuple(problems))


def listing(home: Home) -> tuple[Transcript, ...]:
    """Return the transcripts that belong to this workspace."""
    wanted = home.config.sessions
    found = transcripts.transcripts(home.root, wanted.paths)
    return tuple(one for one in found if not wanted.agents or one.agent in wanted.agents)


def said_at(home: Home, name: str, line: int | None = None) -> tuple[Message, ...]:
    """Return what was said in a transcript, or on one of its lines; nothing when it is not read here any more."""
    one = next((one for one in listing(home) if one.name == name), None) if home.config.sessions.enabled else None
    if one is None:
        return ()
    try:
        return tuple(message for message in read(one) if line is None or message.line == line)
    except UnreadableError:
        return ()


def said_chunks(message: Message, rules: Redaction) -> tuple[Chunk, ...]:
    """Return what a message says, in pieces as they are remembered: its Markdown without code, cut at sentences."""
    return chunks(legible(message.text, rules))


def _stamp(one: Transcript) -> tuple[int, int, int]:
    return one.size, one.mtime_ns, one.ctime_ns


def _withdraw(home: Home, gone: Sequence[str], *, now: datetime) -> None:
    deleted = {f"sessions/{agent}/{session}.jsonl" for agent, session in _deleted(home)} if gone else set()
    with home.store.writing():
        for name in gone:
            if name in deleted:
                home.sources.withdraw(name, now=now)
            else:
                home.sources.forget(name, now=now)


def _deleted(home: Home) -> frozenset[tuple[str, str]]:
    return transcripts.deleted(home.root, home.config.sessions.paths)


def _heard(home: Home, one: Transcript, cursor: Cursor | None, *, now: datetime) -> tuple[int, tuple[str, ...]]:
    """Read one transcript on; return how many messages there were, and what went wrong."""
    reading = read(one, cursor)
    if reading.anew:
        with home.store.writing():
            home.sources.forget(one.name, now=now)
    done = False
    try:
        for batch in chunked_iter(reading, BATCH):
            done = len(batch) < BATCH  # then nothing comes behind it
            _keep(home, one, reading, batch, now=now, whole_file=done)
        if not done:
            _keep(home, one, reading, (), now=now, whole_file=True)
    except UnreadableError as error:
        return reading.account.messages, (str(error.problem),)
    return reading.account.messages, tuple(map(str, reading.account.problems))


def _keep(
    home: Home, one: Transcript, reading: Reading, batch: Sequence[Message], *, now: datetime, whole_file: bool = False
) -> None:
    source = SourceFile(
        path=one.name,
        kind=Kind.SESSION,
        day=home.local_date(_moment(one)),
        stamp=_stamp(one) if whole_file else (-1, 0, 0),
        digest="",
        cursor=reading.cursor.as_dict(),
    )
    seen = [pair for message in batch for pair in _seen(home, one, message, now=now)]
    texts = {fragment.id: fragment.statements[0] for fragment, _ in seen if len(fragment.statements) == 1}
    repeated = home.sources.saying(tuple(texts.values()))
    with home.store.writing():
        if reading.cursor.state.silenced:  # it turned out to be no conversation of a person's
            home.sources.withdraw(one.name, now=now)
            seen, repeated = [], {}
        home.sources.add(source, [pair for pair in seen if texts.get(pair[0].id) not in repeated])
        home.sources.also(
            [(repeated[texts[fragment.id]], at) for fragment, at in seen if texts.get(fragment.id) in repeated]
        )


def _seen(home: Home, one: Transcript, message: Message, *, now: datetime) -> Iterator[tuple[Fragment, Sighting]]:
    """Return what a message says and where it stands; one without a time was said when its file was last changed."""
    day = min(home.local_date(message.at or _moment(one)), home.local_date(now))
    for chunk in whole(said_chunks(message, home.redaction), home.redaction):
        yield (
            remembered(chunk, Kind.SESSION, home.lexicon, home.redaction),
            Sighting(
                path=one.name,
                start_line=message.line,
                end_line=message.line,
                day=day,
                kind=Kind.SESSION,
                score=ORIGIN_SCORES[Kind.SESSION],
                at=home.end_of_day(day),
                quoted=chunk.quoted,
            ),
        )


def _moment(one: Transcript) -> datetime:
    return datetime.fromtimestamp(one.mtime_ns / 1e9, UTC)
