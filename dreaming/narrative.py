"""The plain narrator: what a night decided → a short diary entry in prose, without a model.

The sentences are files under `templates/narrative/<language>/`, one a line, each a small Jinja template. This module
only decides which of them are said tonight, about which texts, and in what order.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from hashlib import sha256
from itertools import product
from random import Random
from types import MappingProxyType
from typing import TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from dreaming.quoting import Manner, Quotation, Room, quotation, term
from memory.markdown import CJK

SHORTEST, LONGEST = 80, 180
"""Bounds of an entry: words, or characters in a language written without spaces (SPEC 11)."""
MAX_TEXTS, MAX_GRADUATES = 12, 5
"""What is looked at of the night's material (SPEC 11)."""
PHASES = ("light", "rem", "deep")
LEADS = 4
"""The entry begins with one of the first fresh texts; of these, one that says why is preferred."""
PARTNERS = 7
"""How far down the list the second text is sought, so that it has something to do with the first."""
TAKES = 12
"""Other choices tried when an entry would equal an earlier one."""
MAX_THEMES = 6
"""The strongest themes; behind them come words that merely occur."""
KEPT_POOLS = ("deep-kept", "deep-kept-also", "deep-kept-also")
THEME_ROOM = Room(columns=26, words=3)
SLOTS = ("text", "heading", "theme", "reason", "times", "days", "questions")
_MARK = "\ufffc"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graduate:
    """A text that was promoted tonight and the evidence it had."""

    text: str
    recalls: int
    days: int
    queries: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a phase has to tell; texts are untrusted, `earlier` entries are whole and newest first."""

    phase: str
    night: date
    language: str
    texts: tuple[str, ...]
    themes: tuple[str, ...]
    graduates: tuple[Graduate, ...] = ()
    waiting: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tongue:
    """How a language is told: its folder, what joins sentences, how it quotes, how long an entry likes to be.

    `rooms` are tried from wide to narrow until what must be said fits; `texts` are the usual numbers of texts woven in.
    """

    code: str
    joint: str
    manner: Manner
    rooms: tuple[Room, ...]
    texts: tuple[int, ...]
    comfortable: int


ENGLISH = Tongue(
    code="en",
    joint=" ",
    manner=Manner(inner_marks=("‘", "’")),
    rooms=(Room(columns=88, words=15), Room(columns=60, words=10)),
    texts=(2, 3, 3, 3, 4),
    comfortable=150,
)
CHINESE = Tongue(
    code="zh",
    joint="",
    manner=Manner(inner_marks=("『", "』"), full_width=True),
    rooms=(Room(columns=48, words=12), Room(columns=38, words=12), Room(columns=26, words=12)),
    texts=(2, 2, 3, 3),
    comfortable=168,
)
TONGUES = MappingProxyType({"en": ENGLISH, "zh": CHINESE})


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence of the narrator; `skeletons` are its fixed parts, with and without a heading."""

    template: Template
    skeletons: tuple[tuple[str, ...], ...]
    images: frozenset[str]

    def age(self, earlier: Sequence[str]) -> int:
        """Return how many entries ago the sentence was said; one more than there are when it was not."""
        return next((ago for ago, entry in enumerate(earlier) if self.stands_in(entry)), len(earlier))

    def stands_in(self, entry: str) -> bool:
        """Tell whether the sentence, about whatever text, stands in an entry without whitespace."""
        return any(_in_order(parts, entry) for parts in self.skeletons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One step of the story: where it stands in the entry, from which pool it is said, about what."""

    place: int
    pool: str
    slots: Mapping[str, str] = field(default_factory=dict)
    required: bool = False


def plain(material: Material) -> str | None:
    """Return tonight's entry, of 80 to 180 words or Chinese characters; None when there is nothing to tell."""
    tongue = _tongue(material.language)
    for take, room in product(range(TAKES), tongue.rooms):
        entry = _entry(material, tongue, room, take)
        if entry is None:
            return None
        if length(entry, tongue.code) <= LONGEST and entry not in material.earlier:
            return entry
    return None


def length(prose: str, language: str) -> int:
    """Return words, or for Chinese and for other prose mostly in Han or kana the characters that are not whitespace."""
    characters = "".join(prose.split())
    code = _code(language)
    by_characters = code == "zh" or (code != "en" and 2 * len(re.findall(f"[{CJK}]", prose)) > len(characters))
    return len(characters) if by_characters else len(prose.split())


def _code(language: str) -> str:
    return re.split(r"[-_]", language.casefold())[0]


def _tongue(language: str) -> Tongue:
    return TONGUES.get(_code(language), ENGLISH)


def _entry(material: Material, tongue: Tongue, room: Room, take: int) -> str | None:
    """Say the beats that must be said, then those that fit comfortably, then enough asides to be long enough."""
    pen = Pen(material, tongue, take)
    story = (
        _choice(material, tongue, room, pen.dice)
        if material.phase == "deep"
        else _day(material, tongue, room, pen.dice)
    )
    if not story:
        return None
    frame = (Beat(place=0, pool=f"{material.phase}-opening"), Beat(place=90, pool=f"{material.phase}-closing"))
    for beat in (*frame, *(beat for beat in story if beat.required)):
        pen.say(beat)
    for beat in (beat for beat in story if not beat.required):
        pen.say_within(tongue.comfortable, beat)
    for place in _shuffled((10, 55, 57, 80, 82), pen.dice):
        if pen.total < SHORTEST:
            pen.say_within(LONGEST, Beat(place=place, pool="musing"))
    return pen.prose()


def _day(material: Material, tongue: Tongue, room: Room, dice: Random) -> tuple[Beat, ...]:
    """Light and REM: one text, why it was written, what it has to do with others, and a theme."""
    themes = _themes(material.themes, tongue)
    woven = _woven(_quotations(material.texts[:MAX_TEXTS], material, tongue, room), themes)[: dice.choice(tongue.texts)]
    if not woven:
        return ()
    lead = Beat(place=20, pool=f"{material.phase}-lead", slots=_text(woven[0]), required=True)
    links = [
        replace(_link(before, after, themes), place=place, required=place == 40)
        for place, before, after in zip((40, 60, 70), woven, woven[1:], strict=False)
    ]
    linked = {beat.slots.get("theme") for beat in links}
    rest = _shuffled([*links[1:2], *_musing(dice), *_theme(material.phase, themes, linked, dice)], dice)
    return (lead, *links[:1], *_reason(woven[:2], links), *rest, *links[2:])


def _choice(material: Material, tongue: Tongue, room: Room, dice: Random) -> tuple[Beat, ...]:
    """Deep: who was kept and on what evidence, or that nobody was, and who still waits."""
    graduates = material.graduates[:MAX_GRADUATES]
    kept = [(said, g) for g in graduates if (said := quotation(g.text, room, tongue.manner))]
    known = {graduate.text for graduate in graduates}
    names = {said.claim for said, _ in kept}
    texts = (material.waiting or tuple(text for text in material.texts if text not in known))[:MAX_TEXTS]
    waiting = [said for said in _quotations(texts, material, tongue, room) if said.claim not in names]
    if not kept and not waiting:
        return ()
    stays = [
        Beat(
            place=place,
            pool=pool if slots else "deep-kept-plain",
            slots={"text": said.claim} | slots,
            required=place == 20,
        )
        for place, pool, (said, graduate) in zip((20, 40, 45), KEPT_POOLS, kept, strict=False)
        for slots in [_evidence(graduate, tongue)]
    ]
    nobody = [] if graduates else [Beat(place=20, pool="deep-nobody", required=True)]
    waits = [
        Beat(place=place, pool="deep-waiting", slots={"text": said.claim}, required=place == 60 or not kept)
        for place, said in zip((60, 70), waiting, strict=False)
    ]
    why = _reason([said for said, _ in kept[:1]], []) if kept else _reason(waiting[:1], [], place=65)
    rest = _shuffled([*stays[1:2], *waits[1:], *_musing(dice)], dice)
    return (*nobody, *stays[:1], *waits[:1], *why, *rest, *stays[2:])


def _quotations(texts: Sequence[str], material: Material, tongue: Tongue, room: Room) -> list[Quotation]:
    """Quote each text once; those that must leave a word out, and those told lately, go behind the others."""
    told = ["".join(entry.split()) for entry in material.earlier]
    quoted = {said.claim: said for text in texts if (said := quotation(text, room, tongue.manner))}
    return sorted(quoted.values(), key=lambda said: (said.elided, _age(said, told)))


def _age(said: Quotation, told: Sequence[str]) -> int:
    claim = "".join(said.claim.split())
    return -next((ago for ago, entry in enumerate(told) if claim in entry), len(told))


def _woven(quotations: Sequence[Quotation], themes: Sequence[str]) -> list[Quotation]:
    """Order the texts: one that says why in front, then the one closest to it, then the rest as they came."""
    if not quotations:
        return []
    lead = next((said for said in quotations[:LEADS] if said.reason), quotations[0])
    rest = [said for said in quotations if said is not lead]
    near = max(rest[:PARTNERS], key=lambda said: _closeness(lead, said, themes), default=None)
    return [lead, *([near] if near else []), *(said for said in rest if said is not near)]


def _closeness(one: Quotation, other: Quotation, themes: Sequence[str]) -> int:
    return 2 * (bool(one.heading) and one.heading == other.heading) + bool(_shared(one, other, themes))


def _shared(one: Quotation, other: Quotation, themes: Sequence[str]) -> str:
    return next((theme for theme in themes if theme.casefold() in one.source and theme.casefold() in other.source), "")


def _link(before: Quotation, after: Quotation, themes: Sequence[str]) -> Beat:
    """Say what joins two texts: a story behind, the same heading, a shared theme, or only that they lie apart."""
    if after.heading and after.heading == before.heading:
        pool = {"reason": after.claim} if after.backstory and not before.reason else {}
        return (
            Beat(place=0, pool="reason", slots=pool) if pool else Beat(place=0, pool="same-heading", slots=_text(after))
        )
    if theme := _shared(before, after, themes):
        return Beat(place=0, pool="same-theme", slots=_text(after) | {"theme": theme})
    return Beat(place=0, pool="elsewhere", slots=_text(after))


def _reason(told: Sequence[Quotation], links: Sequence[Beat], place: int = 30) -> list[Beat]:
    """Say why the first of the texts that gives a reason was written, right behind it."""
    if any(beat.pool == "reason" for beat in links[:1]):
        return []
    reasons = [(place + 15 * after, said.reason) for after, said in enumerate(told) if said.reason]
    return [Beat(place=where, pool="reason", slots={"reason": reason}) for where, reason in reasons[:1]]


def _theme(phase: str, themes: Sequence[str], linked: set[str | None], dice: Random) -> list[Beat]:
    """Name one theme that no link has named, before the first text or after the second."""
    fresh = [theme for theme in themes if theme not in linked]
    if not fresh:
        return []
    return [
        Beat(
            place=10 if phase == "rem" and dice.random() < 0.5 else 50,
            pool=f"{phase}-theme",
            slots={"theme": dice.choice(fresh)},
        )
    ]


def _musing(dice: Random) -> list[Beat]:
    return [Beat(place=dice.choice((10, 55)), pool="musing")] if dice.random() < 0.6 else []


def _text(said: Quotation) -> dict[str, str]:
    return {"text": said.claim, "heading": said.heading}


def _themes(themes: Sequence[str], tongue: Tongue) -> tuple[str, ...]:
    said = (term(theme, THEME_ROOM, tongue.manner) for theme in themes[:MAX_THEMES])
    return tuple(dict.fromkeys(theme for theme in said if theme))


def _evidence(graduate: Graduate, tongue: Tongue) -> dict[str, str]:
    """Return the numbers in words; empty when one is missing, for then they are no reason."""
    if min(graduate.recalls, graduate.days, graduate.queries) < 1:
        return {}
    words = _environment().get_template(f"{tongue.code}/numbers.j2").module
    return {
        "times": str(words.times(graduate.recalls)),
        "days": str(words.days(graduate.days)),
        "questions": str(words.questions(graduate.queries)),
    }


class Pen:
    """Says beats: for each it takes the sentence least recently said, and uses no image twice when it can help it."""

    def __init__(self, material: Material, tongue: Tongue, take: int) -> None:
        self._material, self._tongue, self._take = material, tongue, take
        self._earlier = tuple("".join(entry.split()) for entry in material.earlier)
        self._said: dict[int, str] = {}
        self._phrases: set[Phrase] = set()
        self._images: set[str] = set()
        self.dice = _dice(f"{material.night.isoformat()} {material.phase} {take}")
        self.total = 0

    def say(self, beat: Beat) -> None:
        """Say the beat at its place."""
        self.say_within(sys.maxsize, beat)

    def say_within(self, limit: int, beat: Beat) -> None:
        """Say the beat, unless the entry would grow over the limit or the place is taken."""
        phrase = self._phrase(beat.pool)
        sentence = phrase.template.render(dict.fromkeys(SLOTS, "") | dict(beat.slots))
        size = length(sentence, self._tongue.code)
        if beat.place in self._said or self.total + size > limit:
            return
        self._said[beat.place] = sentence
        self._phrases.add(phrase)
        self._images |= phrase.images
        self.total += size

    def prose(self) -> str:
        """Return what was said, in order."""
        return self._tongue.joint.join(sentence for _, sentence in sorted(self._said.items()))

    def _phrase(self, pool: str) -> Phrase:
        deck = [phrase for phrase in self._deck(pool) if phrase not in self._phrases]
        return max(deck, key=lambda phrase: (phrase.age(self._earlier), -len(phrase.images & self._images)))

    def _deck(self, pool: str) -> list[Phrase]:
        """Shuffle once per round of nights and begin each night one card later: all are heard before one comes back."""
        phrases = _phrases(self._tongue.code, pool)
        turn = self._material.night.toordinal() + self._take
        if not pool.startswith(self._material.phase):
            turn = turn * len(PHASES) + PHASES.index(self._material.phase)
        round_, first = divmod(turn, len(phrases))
        deck = _shuffled(phrases, _dice(f"{pool} {round_}"))
        return deck[first:] + deck[:first]


@cache
def _environment() -> Environment:
    """Text goes in as values only, so nothing in it is ever a template; the entry is Markdown, not HTML."""
    loader = PackageLoader("dreaming", "templates/narrative")
    return Environment(loader=loader, undefined=StrictUndefined, autoescape=False)


@cache
def _phrases(code: str, pool: str) -> tuple[Phrase, ...]:
    images = tuple(_lines(f"{code}/images.txt"))
    return tuple(_phrase(line, images) for line in _lines(f"{code}/{pool}.txt"))


def _phrase(line: str, images: Sequence[str]) -> Phrase:
    template = _environment().from_string(line)
    marks = dict.fromkeys(SLOTS, _MARK)
    renderings = dict.fromkeys(template.render(marks | {"heading": heading}) for heading in ("", _MARK))
    skeletons = tuple(tuple("".join(part.split()) for part in text.split(_MARK)) for text in renderings)
    fixed = " ".join(next(iter(renderings)).split(_MARK))
    return Phrase(template, skeletons, frozenset(i for i in images if re.search(rf"(?<![A-Za-z]){i}", fixed)))


def _lines(name: str) -> list[str]:
    loader = _environment().loader
    source = loader.get_source(_environment(), name)[0] if loader else ""
    return source.splitlines()


def _in_order(parts: Sequence[str], entry: str) -> bool:
    position = 0
    for part in parts:
        position = entry.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return True


def _shuffled(items: Iterable[T], dice: Random) -> list[T]:
    deck = list(items)
    dice.shuffle(deck)
    return deck


def _dice(seed: str) -> Random:
    return Random(int.from_bytes(sha256(seed.encode()).digest()))
