"""The plain narrator: what a night decided → a short diary entry in prose, without a model.

It decides which sentences are said tonight, about which texts, in what order; the sentences are in `phrases`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from random import Random
from types import MappingProxyType

from dreaming.narrators.entry import (
    LONGEST,
    MAX_GRADUATES,
    MAX_TEXTS,
    PHASES,
    SHORTEST,
    Graduate,
    Material,
    code_of,
    length,
)
from dreaming.narrators.phrases import Phrase, counts, deck, dice, shuffled
from dreaming.narrators.quoting import Manner, Quotation, Room, quotation, term

MAX_THEMES = 3
"""The strongest themes; behind them come words that merely occur."""
LEADS = 4
"""The entry begins with one of the first fresh texts; of these, one that says why is preferred."""
PARTNERS = 7
"""How far down the list the second text is sought, so that it has something to do with the first."""
ASIDES = 0.6
"""Share of the entries that take time for an aside when their length does not ask for one."""
TAKES = 12
"""Other choices tried when an entry would equal an earlier one."""
DRAFTS = 2
"""Rooms in which an entry is written when the widest leaves no room for the reason; narrower ones cut too much."""
REASONS = frozenset({"reason", "story"})
"""Pools that say why a text was written."""

OPENING, BEFORE_LEAD, LEAD, REASON, PARTNER, PARTNER_REASON, THIRD, THEME, ASIDE, APART, APART_REASON, LAST, CLOSING = (
    range(13)
)
"""Places in an entry, in reading order. What says "it" stands right behind the text it speaks of: an aside or a theme
comes only between texts that are told apart."""
ASIDE_PLACES = (BEFORE_LEAD, ASIDE, LAST)


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
GERMAN = Tongue(
    code="de",
    joint=" ",
    manner=Manner(inner_marks=("‚", "‘")),
    rooms=(Room(columns=96, words=14), Room(columns=68, words=9)),
    texts=(2, 3, 3, 3, 4),
    comfortable=150,
)
CHINESE = Tongue(
    code="zh",
    joint="",
    manner=Manner(inner_marks=("『", "』"), punctuation="，；：？！"),
    rooms=(
        Room(columns=48, words=12),
        Room(columns=38, words=12),
        Room(columns=28, words=12),
        Room(columns=20, words=12),
    ),
    texts=(2, 2, 3, 3),
    comfortable=168,
)
JAPANESE = Tongue(
    code="ja",
    joint="",
    manner=Manner(inner_marks=("『", "』"), punctuation="、；：？！"),
    rooms=(
        Room(columns=46, words=12),
        Room(columns=38, words=12),
        Room(columns=28, words=12),
        Room(columns=20, words=12),
    ),
    texts=(2, 2, 3, 3),
    comfortable=176,
)
TONGUES = MappingProxyType({tongue.code: tongue for tongue in (ENGLISH, GERMAN, CHINESE, JAPANESE)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One step of the story: where it stands in the entry, from which pool it is said, about what."""

    place: int
    pool: str
    slots: dict[str, str] = field(default_factory=dict)
    required: bool = False


def plain(material: Material) -> str | None:
    """Return tonight's entry, of 80 to 180 words, in CJK scripts characters; None when there is nothing to tell."""
    tongue = TONGUES.get(code_of(material.language), ENGLISH)
    for take in range(TAKES):
        written = (_written(material, tongue, room, take) for room in tongue.rooms)
        fitting = (pen for pen in written if pen and pen.total <= LONGEST and pen.prose() not in material.earlier)
        drafts = islice(fitting, DRAFTS)
        widest = next(drafts, None)
        if widest:
            return next((pen for pen in chain([widest], drafts) if not pen.omitted & REASONS), widest).prose()
    return None


def _written(material: Material, tongue: Tongue, room: Room, take: int) -> "Pen | None":
    """Say the beats that must be said, then those that fit comfortably, then enough asides to be long enough."""
    pen = Pen(material, tongue, take)
    weaver = Weaver(material, tongue, room, pen.chance)
    beats = weaver.choice() if material.phase == "deep" else weaver.day()
    if not beats:
        return None
    frame = (
        Beat(place=OPENING, pool=f"{material.phase}-opening"),
        Beat(place=CLOSING, pool=f"{material.phase}-closing"),
    )
    for beat in (*frame, *(beat for beat in beats if beat.required)):
        pen.say(beat)
    for beat in (beat for beat in beats if not beat.required):
        pen.say(beat, limit=LONGEST if beat.pool in REASONS else tongue.comfortable)
    while pen.total < SHORTEST:
        pen.say(Beat(place=pen.emptiest(ASIDE_PLACES), pool="musing"))
    return pen


class Pen:
    """Says beats: for each it takes the sentence least recently said, and uses no image twice when it can help it."""

    def __init__(self, material: Material, tongue: Tongue, take: int) -> None:
        self._night, self._phase, self._take = material.night.toordinal(), material.phase, take
        self._tongue = tongue
        self._earlier = _unspaced(material.earlier)
        self._said: list[tuple[int, str]] = []
        self._phrases: list[Phrase] = []
        self._images: set[str] = set()
        self.omitted: set[str] = set()
        self.chance = dice(f"{material.night.isoformat()} {material.phase} {take}")
        self.total = 0

    def say(self, beat: Beat, *, limit: int = sys.maxsize) -> None:
        """Say the beat, unless the entry would grow over the limit."""
        phrase = self._phrase(beat.pool)
        sentence = phrase.said_of(beat.slots)
        size = length(sentence, self._tongue.code)
        if self.total + size > limit:
            self.omitted.add(beat.pool)
            return
        self._said.append((beat.place, sentence))
        self._phrases.append(phrase)
        self._images |= phrase.images
        self.total += size

    def prose(self) -> str:
        """Return what was said, in order."""
        return self._tongue.joint.join(sentence for _, sentence in sorted(self._said, key=itemgetter(0)))

    def emptiest(self, places: Sequence[int]) -> int:
        """Return the first of the places where least is said."""
        return min(places, key=lambda place: sum(place == said for said, _ in self._said))

    def _phrase(self, pool: str) -> Phrase:
        cards = [phrase for phrase in deck(self._tongue.code, pool, self._turn(pool)) if phrase not in self._phrases]
        return max(cards, key=lambda phrase: (phrase.age(self._earlier), -len(phrase.images & self._images)))

    def _turn(self, pool: str) -> int:
        """Count the nights; in a pool that all phases share, the entries."""
        nights = self._night + self._take
        return nights if pool.startswith(self._phase) else nights * len(PHASES) + PHASES.index(self._phase)


class Weaver:
    """Chooses what a night tells: the texts, and how one leads to the next."""

    def __init__(self, material: Material, tongue: Tongue, room: Room, chance: Random) -> None:
        self._material, self._tongue, self._room, self._chance = material, tongue, room, chance
        self._earlier = _unspaced(material.earlier)
        themes = (term(theme, room.for_a_name, tongue.manner) for theme in material.themes)
        self._themes = tuple(dict.fromkeys(theme for theme in themes if theme))[:MAX_THEMES]

    def day(self) -> tuple[Beat, ...]:
        """Light and REM: one text, why it was written, what others have to do with it, and a theme."""
        number = self._chance.choice(self._tongue.texts)
        woven = _one_reason(self._woven(self._quotations(self._material.texts))[:number], among=2)
        if not woven:
            return ()
        lead = Beat(place=LEAD, pool=f"{self._material.phase}-lead", slots=_text(woven[0]), required=True)
        links = [self._link(n, woven[n], woven[n + 1]) for n in range(len(woven) - 1)]
        rest = shuffled([*links[1:2], *self._aside(), *self._theme(links)], self._chance)
        return (lead, *links[:1], *_reasons(woven, (REASON, PARTNER_REASON)), *rest, *links[2:])

    def choice(self) -> tuple[Beat, ...]:
        """Deep: who was kept and on what evidence, or that nobody was, and who still waits."""
        graduates = self._material.graduates[:MAX_GRADUATES]
        quoted = [(said, g) for g in graduates if (said := quotation(g.text, self._room, self._tongue.manner))]
        kept = _one_reason([said for said, _ in quoted], among=1)
        waiting = _one_reason(self._waiting(quoted), among=0 if kept else 1)
        if not kept and not waiting:
            return ()
        pairs = zip((LEAD, PARTNER, THIRD), kept, (graduate for _, graduate in quoted), strict=False)
        stays = [self._stay(place, said, graduate) for place, said, graduate in pairs]
        nobody = [] if graduates else [Beat(place=LEAD, pool="deep-nobody", required=True)]
        waits = [
            Beat(place=place, pool="deep-waiting", slots=_text(said), required=place == APART or not kept)
            for place, said in zip((APART, LAST), waiting, strict=False)
        ]
        optional = shuffled([*stays[1:2], *waits[1:], *self._aside()], self._chance)
        why = [*_reasons(kept, (REASON,)), *_reasons(waiting, (APART_REASON,))]
        return (*nobody, *stays[:1], *waits[:1], *why, *optional, *stays[2:])

    def _waiting(self, kept: Sequence[tuple[Quotation, Graduate]]) -> list[Quotation]:
        known = {graduate.text for graduate in self._material.graduates}
        texts = self._material.waiting or tuple(text for text in self._material.texts if text not in known)
        claims = {said.claim for said, _ in kept}
        return [said for said in self._quotations(texts) if said.claim not in claims]

    def _stay(self, place: int, said: Quotation, graduate: Graduate) -> Beat:
        """Give the numbers as the reason; where one is missing they are none."""
        if min(graduate.recalls, graduate.days, graduate.queries) < 1:
            return Beat(place=place, pool="deep-kept-plain", slots=_text(said), required=place == LEAD)
        words = counts(self._tongue.code, recalls=graduate.recalls, days=graduate.days, questions=graduate.queries)
        pool = "deep-kept" if place == LEAD else "deep-kept-also"
        return Beat(place=place, pool=pool, slots=_text(said) | words, required=place == LEAD)

    def _quotations(self, texts: Sequence[str]) -> list[Quotation]:
        """Quote each text once, the fresh ones first."""
        said = (quotation(text, self._room, self._tongue.manner) for text in texts[:MAX_TEXTS])
        quoted = {one.claim: one for one in said if one}
        return sorted(quoted.values(), key=self._freshness, reverse=True)

    def _freshness(self, said: Quotation) -> tuple[bool, int]:
        """Rank what is quoted whole above what must leave a word out, then by how many entries ago it was told."""
        claim, whole = (told.rstrip("…") for told in _unspaced([said.claim, said.whole]))
        ago = (ago for ago, entry in enumerate(self._earlier) if claim in entry or whole in entry)
        return not said.elided, next(ago, len(self._earlier))

    def _woven(self, quotations: Sequence[Quotation]) -> list[Quotation]:
        """Put one that says why in front, behind it the one closest to it, then the rest; fresh ones always first."""
        if not quotations:
            return []
        freshest = self._freshness(quotations[0])
        front = [said for said in quotations[:LEADS] if self._freshness(said) == freshest]
        lead = next((said for said in front if said.reason), front[0])
        rest = [said for said in quotations if said is not lead]
        near = max(rest[:PARTNERS], key=lambda said: (self._freshness(said), self._closeness(lead, said)), default=None)
        return [lead, *([near] if near else []), *(said for said in rest if said is not near)]

    def _closeness(self, one: Quotation, other: Quotation) -> int:
        return 2 * (bool(one.heading) and one.heading == other.heading) + bool(self._shared(one, other))

    def _shared(self, one: Quotation, other: Quotation) -> str:
        return next((t for t in self._themes if t.casefold() in one.source and t.casefold() in other.source), "")

    def _link(self, number: int, before: Quotation, after: Quotation) -> Beat:
        """Say what joins two texts: a story behind, the same heading, a shared theme, or only that they lie apart."""
        place = (PARTNER, THIRD, LAST)[number]
        pool, slots = "elsewhere", _text(after)
        if after.heading and after.heading == before.heading:
            is_story = number == 0 and after.is_backstory and not before.reason
            pool, slots = ("story", {"reason": after.claim}) if is_story else ("same-heading", slots)
        elif theme := self._shared(before, after):
            pool, slots = "same-theme", slots | {"theme": theme}
        elif number == 1:
            place = APART
        return Beat(place=place, pool=pool, slots=slots, required=number == 0)

    def _theme(self, links: Sequence[Beat]) -> list[Beat]:
        """Name a theme that no link has named, before the first text or after those that belong together."""
        linked = {beat.slots.get("theme") for beat in links}
        fresh = [theme for theme in self._themes if theme not in linked]
        if not fresh:
            return []
        place = BEFORE_LEAD if self._material.phase == "rem" and self._chance.random() < 0.5 else THEME
        return [Beat(place=place, pool=f"{self._material.phase}-theme", slots={"theme": self._chance.choice(fresh)})]

    def _aside(self) -> list[Beat]:
        place = self._chance.choice((BEFORE_LEAD, ASIDE, ASIDE))
        return [Beat(place=place, pool="musing")] if self._chance.random() < ASIDES else []


def _one_reason(told: Sequence[Quotation], *, among: int) -> list[Quotation]:
    """Let the first of some texts that gives a reason give it in a sentence of its own; the others keep theirs."""
    teller = next((said for said in told[:among] if said.reason), None)
    return [said if said is teller else said.undivided for said in told]


def _reasons(told: Sequence[Quotation], places: Sequence[int]) -> list[Beat]:
    """Say right behind a text why it was written."""
    return [
        Beat(place=place, pool="story" if said.reason_is_story else "reason", slots={"reason": said.reason})
        for place, said in zip(places, told, strict=False)
        if said.reason
    ]


def _text(said: Quotation) -> dict[str, str]:
    return {"text": said.claim, "heading": said.heading}


def _unspaced(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple("".join(text.split()) for text in texts)
