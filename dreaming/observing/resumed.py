"""Telling what a resumed or forked session copies from another: a message counts once for an agent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dreaming.home import Home
from memory import elsewhere
from memory.model import Fragment, FragmentId, Sighting
from workspace.errors import UnreadableError
from workspace.messages import Message, read
from workspace.transcripts import Transcript

MOST_RELATIVES = 4
"""Transcripts in which the originals of one are looked for; a phrase stands in more of them by chance."""


class Seen(NamedTuple):
    """What is remembered of a message, and where it stands; `copied` when it is in the words of a tool's result."""

    fragment: Fragment
    sighting: Sighting
    copied: bool


Told = tuple[Message, Sequence[Seen]]


class Relatives:
    """The transcripts of the same agent from which one may have been resumed or forked; `used` are those it was."""

    def __init__(self, home: Home, one: Transcript, listed: Mapping[str, Transcript], used: Sequence[str] = ()) -> None:
        self.used = tuple(name for name in used if name in listed)
        self._home = home
        self._one = one
        self._listed = listed
        self._marks: dict[str, frozenset[str]] = {}

    def without_copies(self, told: Sequence[Told], also: Mapping[str, FragmentId]) -> list[Told]:
        """Return the messages that no relative holds; `also` are the fragments as which statements stand elsewhere."""
        self._meet(told, also)
        return [one for one in told if not self._holds(one[0])]

    def _meet(self, told: Sequence[Told], also: Mapping[str, FragmentId]) -> None:
        seen = {
            (key, None if message.forked else one.sighting.day)
            for message, pieces in told
            for one in pieces
            for key in (one.fragment.id, also.get(one.fragment.statements[0]))
            if key
        }
        for name in elsewhere.relatives(self._home.store, seen, of=self._one.name):
            if name in self._listed and name not in self._marks and len(self._marks) < MOST_RELATIVES:
                self._marks[name] = frozenset(self._marks_of(self._listed[name]))

    def _marks_of(self, relative: Transcript) -> Iterator[str]:
        """Yield the marks of what is remembered of a transcript: what it left out itself, it holds for nobody."""
        standing = elsewhere.lines(self._home.store, relative.name)
        try:
            for message in read(relative):
                if message.line in standing:
                    yield from message.marks
        except UnreadableError:
            return

    def _holds(self, message: Message) -> bool:
        original = next((name for name, marks in self._marks.items() if message.is_among(marks)), None)
        if original is not None and original not in self.used:
            self.used = (*self.used, original)
        return original is not None
