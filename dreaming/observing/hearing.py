"""Hearing what was said: session transcripts into the store, each from where it was left."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from boltons.iterutils import chunked_iter  # type: ignore[import-untyped]  # boltons ships no types

from dreaming.home import Home
from dreaming.observing.observe import with_vectors
from dreaming.observing.remembering import pieces, remembered, whole
from dreaming.observing.resumed import Relatives, Seen, Told
from dreaming.progress import steps
from memory import elsewhere
from memory.chunking import composed
from memory.model import ORIGIN_SCORES, Chunk, FragmentId, Kind, Sighting, Statement
from memory.redaction import Redaction
from memory.sources import SourceFile
from workspace import transcripts
from workspace.copied import is_copied, sentences
from workspace.errors import UnreadableError
from workspace.messages import Cursor, Message, Reading, read
from workspace.transcripts import Transcript

BATCH = 200
"""Messages stored in one transaction: searches get their turn in between, a kill loses little."""
COPIES = "copies"
"""Beside the cursor: the transcripts whose messages this one repeats, which therefore count there."""


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
    ear = _Ear(home, listed, cursors, now)
    ear.read_anew(gone)
    _withdraw(home, gone, now=now)
    changed = [one for one in listed.values() if _stamp(one) != known.get(one.name, ("",))[1:]]
    for [one] in steps(home.progress, "hearing conversations", changed):
        if one.name in known and one.name not in cursors:  # the rules of reading changed
            ear.forget(one)
        ear.read_on(one)
    problems = [*ear.problems, *(with_vectors(home, at_most=-1, patient=True) if changed else ())]
    return Hearing(read=len(changed), messages=ear.messages, gone=len(gone), problems=tuple(problems))


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
    return tuple(part for chunk in pieces(message.text, rules) for part in _parted(chunk, message))


def _parted(chunk: Chunk, message: Message) -> Iterator[Chunk]:
    """Set apart, as quoted, each statement in the words of what a tool showed: its neighbours are not to blame."""
    for copied, group in groupby(chunk.statements, key=lambda statement: _is_copied(statement, message)):
        together = tuple(group)
        if not copied and together == chunk.statements:
            yield chunk
            return
        for statements in ((one,) for one in together) if copied else (together,):
            body = composed([one.text for one in statements], chunk.style)
            text = f"{chunk.heading}: {body}" if chunk.heading else body
            yield replace(chunk, statements=statements, text=text, quoted=chunk.quoted or copied)


def _is_copied(statement: Statement, message: Message) -> bool:
    """Tell whether a statement holds a copied sentence, or a piece of one: it may be cut or wrapped otherwise."""
    return bool(message.copied) and any(
        is_copied(said, message.copied) or any(copy in said for copy in message.copied)
        for said in sentences(statement.text)
    )


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


class _Ear:
    """One hearing: reads transcripts on, or anew, and counts what was new."""

    def __init__(
        self, home: Home, listed: Mapping[str, Transcript], cursors: Mapping[str, Mapping[str, Any]], now: datetime
    ) -> None:
        self.messages = 0
        self.problems: list[str] = []
        self._home = home
        self._listed = listed
        self._cursors = dict(cursors)
        self._now = now

    def read_on(self, one: Transcript) -> None:
        """Read a transcript from where it was left; when it is another now, it and those that copied it anew."""
        stored = self._cursors.get(one.name)
        reading = read(one, Cursor.of(stored) if stored else None)
        if stored and (reading.anew or Cursor.of(stored) is None):
            self.forget(one)
            self._read(one, reading)
            self.read_anew([one.name])
        else:
            self._read(one, reading, used=tuple(stored.get(COPIES, ())) if stored else ())

    def read_anew(self, originals: Collection[str]) -> None:
        """Read those again that left something out because others said it, who do not any more."""
        copying = [name for name, stored in self._cursors.items() if not set(originals).isdisjoint(_copies(stored))]
        for name in sorted(self._listed.keys() & copying):
            self.forget(self._listed[name])
            self._read(self._listed[name], read(self._listed[name]))

    def forget(self, one: Transcript) -> None:
        """Drop what was seen in a transcript that is about to be read anew."""
        self._cursors.pop(one.name, None)
        with self._home.store.writing():
            self._home.sources.forget(one.name, now=self._now)

    def _read(self, one: Transcript, reading: Reading, used: Sequence[str] = ()) -> None:
        relatives = Relatives(self._home, one, self._listed, used)
        done = False
        try:
            for batch in chunked_iter(reading, BATCH):
                done = len(batch) < BATCH  # then nothing comes behind it
                self._keep(one, reading, batch, relatives, whole_file=done)
            if not done:
                self._keep(one, reading, (), relatives, whole_file=True)
        except UnreadableError as error:
            self.problems.append(str(error.problem))
        self.problems += map(str, reading.account.problems)

    def _keep(
        self, one: Transcript, reading: Reading, batch: Sequence[Message], relatives: Relatives, *, whole_file: bool
    ) -> None:
        home = self._home
        told: list[Told] = [(message, tuple(_seen(home, one, message, now=self._now))) for message in batch]
        alone = {piece.fragment.statements[0] for _, seen in told for piece in seen if _says_one(piece)}
        repeated = home.sources.saying(tuple(alone))
        told = relatives.without_copies(told, repeated)
        self.messages += len(told)
        seen = _trusted(home, one, [piece for _, pieces in told for piece in pieces], repeated)
        self._cursors[one.name] = cursor = {**reading.cursor.as_dict(), COPIES: relatives.used}
        source = SourceFile(
            path=one.name,
            kind=Kind.SESSION,
            day=home.local_date(_moment(one)),
            stamp=_stamp(one) if whole_file else (-1, 0, 0),
            digest="",
            cursor=cursor,
        )
        with home.store.writing():
            if reading.cursor.state.silenced:  # it turned out to be no conversation of a person's
                home.sources.withdraw(one.name, now=self._now)
                seen = []
            home.sources.add(source, [piece[:2] for piece in seen if not _is_repeated(piece, repeated)])
            home.sources.also(
                (repeated[piece.fragment.statements[0]], piece.sighting)
                for piece in seen
                if _is_repeated(piece, repeated)
            )


def _copies(stored: Mapping[str, Any]) -> Sequence[str]:
    return tuple(stored.get(COPIES, ()))


def _says_one(piece: Seen) -> bool:
    return len(piece.fragment.statements) == 1


def _is_repeated(piece: Seen, repeated: Mapping[str, FragmentId]) -> bool:
    """Tell whether all of it stands in a diary or a saved memory."""
    return _says_one(piece) and piece.fragment.statements[0] in repeated


def _trusted(home: Home, one: Transcript, seen: Sequence[Seen], repeated: Mapping[str, FragmentId]) -> list[Seen]:
    """Let stay the owner's what a tool showed and an assistant copied, but people wrote or said before."""
    own = elsewhere.own(home.store, {piece.fragment.id for piece in seen if piece.copied}, but=one.name)
    return [
        piece._replace(sighting=replace(piece.sighting, quoted=False))
        if piece.copied and (piece.fragment.id in own or _is_repeated(piece, repeated))
        else piece
        for piece in seen
    ]


def _seen(home: Home, one: Transcript, message: Message, *, now: datetime) -> Iterator[Seen]:
    """Return what a message says and where it stands; one without a time was said when its file was last changed."""
    day = min(home.local_date(message.at or _moment(one)), home.local_date(now))
    for chunk in whole(said_chunks(message, home.redaction), home.redaction):
        yield Seen(
            fragment=remembered(chunk, Kind.SESSION, home.lexicon, home.redaction),
            sighting=Sighting(
                path=one.name,
                start_line=message.line,
                end_line=message.line,
                day=day,
                kind=Kind.SESSION,
                score=ORIGIN_SCORES[Kind.SESSION],
                at=home.end_of_day(day),
                quoted=chunk.quoted,
            ),
            copied=any(_is_copied(statement, message) for statement in chunk.statements),
        )


def _moment(one: Transcript) -> datetime:
    return datetime.fromtimestamp(one.mtime_ns / 1e9, UTC)
