"""The narrator's own sentences: template files, one sentence a line, and what tells whether one was said lately."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from random import Random
from typing import TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from dreaming.narrators.words import entries

FOLDER = "templates/narrative"
SLOTS = ("text", "heading", "theme", "reason", "times", "days", "questions")
"""What a sentence may speak of; a slot that is not given is empty."""
COUNTS = ("times", "days", "questions")
_MARK = "\ufffc"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    """A sentence of the narrator; `skeletons` are its fixed parts, with and without a heading.

    One that `claims` says that something came up on several days.
    """

    template: Template
    skeletons: tuple[tuple[str, ...], ...]
    images: frozenset[str]
    claims: bool

    def said_of(self, slots: dict[str, str]) -> str:
        """Return the sentence about these texts, which go in as values and are never read as a template."""
        return self.template.render(dict.fromkeys(SLOTS, "") | slots)

    def age(self, earlier: Sequence[str]) -> int:
        """Return how many entries ago, newest first, it was said, about whatever text; their number when it was not.

        The entries are given without whitespace, since a file may have wrapped them.
        """
        ages = (ago for ago, entry in enumerate(earlier) if any(_in_order(parts, entry) for parts in self.skeletons))
        return next(ages, len(earlier))


def deck(language: str, pool: str, turn: int) -> list[Phrase]:
    """Return a pool, shuffled for each round and begun a card later each turn: all are heard before one returns."""
    phrases = _pool(language, pool)
    round_, first = divmod(turn, len(phrases))
    cards = shuffled(phrases, dice(f"{pool} {round_}"))
    return cards[first:] + cards[:first]


def counts(language: str, *, recalls: int, days: int, questions: int) -> dict[str, str]:
    """Return the counts in words, each under the name of its slot."""
    template = _environment().get_template(f"{language}/numbers.j2")
    lines = template.render(recalls=recalls, days=days, questions=questions).splitlines()
    return dict(zip(COUNTS, lines, strict=True))


def dice(seed: str) -> Random:
    """Return chance that falls the same on every machine."""
    return Random(int.from_bytes(sha256(seed.encode()).digest(), "big"))


def shuffled(items: Iterable[_T], chance: Random) -> list[_T]:
    """Return the items in a random order."""
    cards = list(items)
    chance.shuffle(cards)
    return cards


@cache
def _environment() -> Environment:
    """Autoescape is off since an entry is Markdown, not HTML; `quoting.inert` has made the values harmless."""
    loader = PackageLoader("dreaming", FOLDER)
    return Environment(loader=loader, undefined=StrictUndefined, autoescape=False)


@cache
def _pool(language: str, pool: str) -> tuple[Phrase, ...]:
    images = _lines(language, "images")
    return tuple(_phrase(line, images) for line in _lines(language, pool))


def _phrase(line: str, images: Sequence[str]) -> Phrase:
    template = _environment().from_string(line)
    marks = dict.fromkeys(SLOTS, _MARK)
    bare, headed = (template.render(marks | {"heading": heading}) for heading in ("", _MARK))
    skeletons = tuple(
        tuple("".join(part.split()) for part in text.split(_MARK)) for text in dict.fromkeys((bare, headed))
    )
    found = frozenset(image for image in images if re.search(rf"(?<![A-Za-z]){image}", bare))
    return Phrase(template, skeletons, found, claims=any(piece in line for piece in entries("recurring")))


def _lines(language: str, name: str) -> list[str]:
    path = files("dreaming") / FOLDER / language / f"{name}.txt"
    return path.read_text(encoding="utf-8").splitlines()


def _in_order(parts: Sequence[str], entry: str) -> bool:
    position = 0
    for part in parts:
        position = entry.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return True
