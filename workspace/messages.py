"""What was said in a transcript since the last time, with no more than one line of it in memory."""

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, Self

from workspace.copied import Shown
from workspace.dialects import Entry, Host, Record, Speaker, entry, moment, recognised, word
from workspace.errors import Problem, UnreadableError
from workspace.lines import one_line
from workspace.speakers import State, heard
from workspace.transcripts import Transcript, status_of
from workspace.wrappings import ASKED, unwrapped

LONGEST_LINE = 8 * 2**20
"""Bytes of a line that is still read; a longer one is a picture or a dump, and is passed over without being held."""
CHUNK = 2**16
"""Bytes that are read of a line at once."""
SAMPLE = 4096
"""Bytes at the start, and before the cursor, by which a file is known again."""
MOST_PROBLEMS = 20
"""Bad lines that are named in one reading; all are counted."""
MOST_KINDS = 50
"""Unknown kinds of records that are counted apart from each other."""
LONGEST_KIND = 40
FORKING = timedelta(seconds=60)
"""As long after a fork as a message may be one of the session it was forked from."""
DIGITS = 16
"""Hex digits of a digest that tells the messages of an agent apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody said, on which line of the file (1-based), and when (UTC; None when the record does not tell).

    `copied` are its sentences that a tool had shown before, as `workspace.copied` tells them. `id` is what the host
    calls the record; `forked` means that it may be older than its time says.
    """

    speaker: Speaker
    text: str
    line: int
    at: datetime | None
    copied: tuple[str, ...] = ()
    id: str = ""
    forked: bool = False

    @property
    def marks(self) -> frozenset[str]:
        """Digests by which a copy in another file is known: of its text with its record, its time, or by itself.

        One with neither record nor time has only the last.
        """
        timed = {f"at {self.at.isoformat()}"} if self.at else set()
        named = {f"id {self.id}"} if self.id else set()
        return frozenset(self._mark(by) for by in timed | named | {""})

    def is_among(self, marks: Container[str]) -> bool:
        """Tell whether a message is a copy of one whose marks these are; the same words at another time are none."""
        return any(mark in marks for mark in self.marks - (set() if self.forked else {self._mark("")}))

    def _mark(self, by: str) -> str:
        return _digest(f"{by}\n{self.speaker}\n{self.text}".encode("utf-8", "replace"))[:DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a file was read, and all that must be known to read on; `open` when the last line had no end yet.

    `head` and `tail` are digests of the first bytes and of those before the offset; `turns` are the offsets of what
    people said last, from where what tools showed since is read again.
    """

    offset: int
    line: int
    head: str
    tail: str
    open: bool = False
    host: Host | None = None
    state: State = field(default_factory=State)
    turns: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the cursor as JSON can say it."""
        return asdict(self)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self | None:
        """Return a cursor that was stored; None when it is none, and then the file is begun anew."""
        try:
            state = stored["state"]
            host = stored["host"]
            found = cls(
                offset=int(stored["offset"]),
                line=int(stored["line"]),
                head=str(stored["head"]),
                tail=str(stored["tail"]),
                open=bool(stored["open"]),
                host=None if host is None else Host(host),
                state=State(
                    silenced=state["silenced"],
                    turn=state["turn"],
                    begun=bool(state["begun"]),
                    told=tuple(str(one) for one in state["told"]),
                    forked=state["forked"],
                ),
                turns=tuple(int(one) for one in stored["turns"]),
            )
        except (KeyError, TypeError, ValueError):
            return None
        return found if found.offset >= 0 and found.line >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a reading met, each with its count: rules that left something out, unknown kinds of records, bad lines.

    A rule counts messages; one that rules out the session counts its lines.
    """

    lines: int
    messages: int
    left_out: tuple[tuple[str, int], ...]
    unknown: tuple[tuple[str, int], ...]
    wrong: int
    long: int
    problems: tuple[Problem, ...]


def continues(path: Path, cursor: Cursor) -> bool:
    """Tell whether a file begins with all that was read up to a cursor, whatever the file is called now."""
    if status_of(path) is None:
        return False
    try:
        with path.open("rb") as file:
            head, tail = _sampled(file, cursor.offset)
    except OSError:
        return False
    return (_digest(head), _digest(tail)) == (cursor.head, cursor.tail)


def renamed_from(path: Path, gone: Mapping[str, Cursor]) -> str | None:
    """Return which of some files that are gone lives on under a new path: renamed, rotated or archived."""
    return next((name for name, cursor in gone.items() if cursor.offset and continues(path, cursor)), None)


def _digest(sample: bytes) -> str:
    return sha256(sample).hexdigest()[:32]


def read(transcript: Transcript, cursor: Cursor | None = None) -> "Reading":
    """Read a transcript on from a cursor, or anew when the file is not the one it was."""
    known = cursor is not None and continues(transcript.path, cursor)
    return Reading(transcript, cursor if known else None, anew=cursor is not None and not known)


class _Line(NamedTuple):
    """A line of the file: its bytes (None when too many), the first and last of them, and whether it has an end."""

    raw: bytes | None
    size: int
    head: bytes
    tail: bytes
    whole: bool


class Reading:
    """Messages, one as it is asked for; between two of them `cursor` and `account` tell what was read so far.

    `anew` when there was a cursor that did not fit: the file was truncated, rewritten, or another took its place.
    Asking raises UnreadableError, which names the problem, when the file cannot be read.
    """

    def __init__(self, transcript: Transcript, cursor: Cursor | None, *, anew: bool) -> None:
        start = cursor or Cursor(offset=0, line=0, head="", tail="")
        self.anew = anew
        self._path = transcript.path
        self._name = transcript.name
        self._known = cursor
        self._offset, self._number, self._open = start.offset, start.line, start.open
        self._host, self._state = start.host, start.state
        self._shown = Shown(start.turns)
        if transcript.origin and not self._state.silenced:
            self._state = replace(self._state, silenced=transcript.origin)
        self._head = self._tail = b""
        self._lines = self._messages = self._wrong = self._long = 0
        self._left_out: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._problems: list[Problem] = []

    def __iter__(self) -> Iterator[Message]:
        try:
            with self._opened() as file:
                while (line := _line(file)) is not None and self._is_done(line, file):
                    message = self._said(line)
                    self._step(line)
                    if message is not None:
                        self._messages += 1
                        yield message
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
            raise UnreadableError(Problem(path=self._name, line=None, reason=reason)) from error

    @property
    def cursor(self) -> Cursor:
        """Where to read on; what was yielded is not yielded again."""
        if self._known is not None and self._offset == self._known.offset:
            return replace(self._known, state=self._state, turns=self._shown.turns)
        return Cursor(
            offset=self._offset,
            line=self._number,
            head=_digest(self._head),
            tail=_digest(self._tail),
            open=self._open,
            host=self._host,
            state=self._state,
            turns=self._shown.turns,
        )

    @property
    def account(self) -> Account:
        """What was met so far."""
        return Account(
            lines=self._lines,
            messages=self._messages,
            left_out=tuple(sorted(self._left_out.items())),
            unknown=tuple(sorted(self._unknown.items())),
            wrong=self._wrong,
            long=self._long,
            problems=tuple(self._problems),
        )

    def _opened(self) -> BufferedReader:
        if status_of(self._path) is None:
            raise FileNotFoundError(0, "it is gone, or is no regular file")
        cursor = self.cursor
        file = self._path.open("rb")
        self._head, self._tail = _sampled(file, cursor.offset)
        if cursor.offset and (_digest(self._head), _digest(self._tail)) != (cursor.head, cursor.tail):
            file.close()
            raise OSError(0, "it was just rewritten; the next night reads it")
        self._show_again(file)
        return file

    def _show_again(self, file: BufferedReader) -> None:
        """Learn again what tools showed in the turns in which reading was left."""
        at = self._shown.since
        if self._host is None or self._state.silenced or at >= self._offset:
            return
        file.seek(at)
        while at < self._offset and (line := _line(file)) is not None:
            record = _record(_text(line.raw))[0] if line.raw is not None else None
            if record is not None:
                told = entry(self._host, record)
                self._shown.show(told.results, at)
                if at in self._shown.turns:
                    self._shown.ask(unwrapped(told, ASKED), at)
            at += line.size
        file.seek(self._offset)

    def _is_done(self, line: _Line, file: BufferedReader) -> bool:
        """Tell whether a line will not be written on; a last one is done when it holds a whole record."""
        if line.whole and (line.raw is None or self._state.silenced):
            return True
        if line.raw is None or self._state.silenced:
            return False
        text = _text(line.raw)
        if not text or (line.whole and file.peek(1)):
            return line.whole
        record, rest = _record(text)
        return record is not None and (line.whole or not rest)

    def _step(self, line: _Line) -> None:
        self._lines += not self._open
        self._offset += line.size
        self._open = not line.whole
        self._head = (self._head + line.head)[:SAMPLE]
        self._tail = (self._tail + line.tail)[-SAMPLE:]

    def _said(self, line: _Line) -> Message | None:
        """Return what a line says, and keep the account."""
        rest_of_line = self._open
        self._number += not rest_of_line
        if line.raw is None:
            self._long += 1
            self._flawed(f"has more than {LONGEST_LINE >> 20} MiB; it was left out")
            return None
        if self._state.silenced:
            self._left_out[self._state.silenced] += 1
            return None
        text = _text(line.raw)
        if not text:
            return None
        record, rest = (None, text) if rest_of_line else _record(text)
        if record is None or rest:
            self._wrong += 1
            self._flawed("holds more than one record" if record or rest_of_line else "is no JSON object")
        elif "\ufffd" in text and b"\xef\xbf\xbd" not in line.raw:
            self._flawed("has bytes that are not UTF-8; they were replaced")
        return None if record is None else self._heard(record)

    def _heard(self, record: Record) -> Message | None:
        self._host = self._host or recognised(record)
        if self._host is None:
            self._count_unknown(word(record, "type") or word(record, "role"))
            return None
        told = entry(self._host, record)
        if told.unknown:
            self._count_unknown(told.unknown)
        found = heard(told, self._state)
        self._state = found.state
        if found.rule:
            self._left_out[found.rule] += 1
        copied = self._copied(told, found.text)
        if found.text is None or told.speaker is None:
            return None
        return Message(
            speaker=told.speaker,
            text=found.text,
            line=self._number,
            at=told.at,
            copied=copied,
            id=told.id,
            forked=self._is_forked(told.at),
        )

    def _is_forked(self, at: datetime | None) -> bool:
        began = moment(self._state.forked)
        return began is not None and at is not None and at <= began + FORKING

    def _copied(self, told: Entry, said: str | None) -> tuple[str, ...]:
        """Return what an answer copies; note what is shown and asked."""
        self._shown.show(told.results, self._offset)
        if said is None:
            return ()
        if told.speaker is Speaker.ASSISTANT:
            return self._shown.copied(said)
        self._shown.ask(said, self._offset)
        return ()

    def _count_unknown(self, kind: str) -> None:
        name = one_line(kind)[:LONGEST_KIND] or "(no type)"
        self._unknown[name if name in self._unknown or len(self._unknown) < MOST_KINDS else "(others)"] += 1

    def _flawed(self, reason: str) -> None:
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(Problem(path=self._name, line=self._number, reason=reason))


_DECODER = json.JSONDecoder(strict=False)


def _text(raw: bytes) -> str:
    """Return a line as text; NUL bytes, which a crash leaves behind, and byte order marks are not part of it."""
    return raw.replace(b"\0", b"").decode("utf-8", "replace").strip(" \t\r\n\ufeff")


def _record(text: str) -> tuple[Record | None, str]:
    """Return the JSON object a line begins with, if it does, and what comes after it."""
    try:
        found, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None, text
    return (found, text[end:].strip()) if isinstance(found, dict) else (None, text)


def _line(file: BufferedReader) -> _Line | None:
    """Read the next line; of one that is too long only the ends are held."""
    parts: list[bytes] = []
    size, head, tail = 0, b"", b""
    while piece := file.readline(CHUNK):
        size += len(piece)
        head = head or piece[:SAMPLE]
        tail = (tail + piece)[-SAMPLE:]
        if size <= LONGEST_LINE:
            parts.append(piece)
        else:
            parts.clear()
        if piece.endswith(b"\n"):
            break
    if not size:
        return None
    raw = b"".join(parts) if size <= LONGEST_LINE else None
    return _Line(raw=raw, size=size, head=head, tail=tail, whole=tail.endswith(b"\n"))


def _sampled(file: BufferedReader, offset: int) -> tuple[bytes, bytes]:
    """Return the first bytes and the last ones before an offset, where the file is left."""
    file.seek(0)
    head = file.read(min(offset, SAMPLE))
    file.seek(max(0, offset - SAMPLE))
    return head, file.read(min(offset, SAMPLE))
