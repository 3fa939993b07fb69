"""The plain narrator: what a night decided → a short diary entry in prose, without a model.

It decides which sentences are said tonight, about which texts, in what order; the sentences are in `phrases`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
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
from dreaming.narrators.fitness import is_fit
from dreaming.narrators.guard import LATELY
from dreaming.narrators.phrases import Phrase, counts, deck, dice, shuffled
from dreaming.narrators.quoting import Manner, Quotation, Room, inert, quotation, term
from dreaming.narrators.speech import is_in
from dreaming.narrators.themes import recurring, telling

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
"""Of how many the widest is taken that leaves room for the reason; narrower ones cut too much."""
MOST_QUOTED = 0.55
"""Share of an entry that quotes; from 0.6 on the guard takes it for a pile of notes."""
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
    manner=Manner(code="en", inner_marks=("‘", "’")),
    rooms=(
        Room(columns=170, words=28),
        Room(columns=125, words=20),
        Room(columns=88, words=15),
        Room(columns=60, words=10),
    ),
    texts=(2, 3, 3, 3, 4),
    comfortable=150,
)
GERMAN = Tongue(
    code="de",
    joint=" ",
    manner=Manner(code="de", inner_marks=("‚", "‘")),
    rooms=(
        Room(columns=180, words=26),
        Room(columns=135, words=19),
        Room(columns=96, words=14),
        Room(columns=68, words=9),
    ),
    texts=(2, 3, 3, 3, 4),
    comfortable=150,
)
CHINESE = Tongue(
    code="zh",
    joint="",
    manner=Manner(code="zh", inner_marks=("『", "』"), punctuation="，；：？！"),
    rooms=(
        Room(columns=80, words=16),
        Room(columns=62, words=14),
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
    manner=Manner(code="ja", inner_marks=("『", "』"), punctuation="、；：？！"),
    rooms=(
        Room(columns=80, words=16),
        Room(columns=62, words=14),
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
    """One step of the story: where it stands in the entry, from which pool it is said, about what.

    Only of what `recurs` on another day it is said that it does.
    """

    place: int
    pool: str
    slots: dict[str, str] = field(default_factory=dict)
    required: bool = False
    recurs: bool = False


def plain(material: Material) -> str | None:
    """Return tonight's entry, of 80 to 180 words, in CJK scripts characters; None when there is nothing to tell."""
    tongue = TONGUES.get(code_of(material.language), ENGLISH)
    for take in range(TAKES):
        written = (_written(material, tongue, room, take) for room in tongue.rooms)
        drafts = {pen.prose(): pen for pen in written if pen and _is_new(pen, material)}
        telling = [pen for pen in drafts.values() if pen.quoted_share <= MOST_QUOTED] or list(drafts.values())
        if telling:
            return min(telling[:DRAFTS], key=lambda pen: bool(pen.omitted & REASONS)).prose()
    return None


def _is_new(pen: "Pen", material: Material) -> bool:
    return pen.total <= LONGEST and pen.prose() not in material.earlier


def _written(material: Material, tongue: Tongue, room: Room, take: int) -> "Pen | None":
    """Say the beats that must be said, then those that fit comfortably, then enough asides to be long enough."""
    pen = Pen(material, tongue, take)
    weaver = Weaver(material, tongue, room, pen.chance)
    beats = weaver.choice() if material.phase == "deep" else weaver.day()
    if not beats:
        return None
    recurs = any(beat.recurs for beat in beats)
    frame = (
        Beat(place=OPENING, pool=f"{material.phase}-opening", recurs=recurs),
        Beat(place=CLOSING, pool=f"{material.phase}-closing", recurs=recurs),
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
        self._quoted = 0
        self.omitted: set[str] = set()
        self.chance = dice(f"{material.night.isoformat()} {material.phase} {take}")
        self.total = 0

    def say(self, beat: Beat, *, limit: int = sys.maxsize) -> None:
        """Say the beat, unless the entry would grow over the limit."""
        phrase = self._phrase(beat.pool, recurs=beat.recurs)
        sentence = phrase.said_of(beat.slots)
        size = length(sentence, self._tongue.code)
        if self.total + size > limit:
            self.omitted.add(beat.pool)
            return
        self._said.append((beat.place, sentence))
        self._phrases.append(phrase)
        self._images |= phrase.images
        self.total += size
        self._quoted += sum(len(beat.slots.get(name, "")) for name in ("text", "reason"))

    @property
    def quoted_share(self) -> float:
        """How much of the entry stands in quotation marks; what only quotes the notes tells nothing."""
        return self._quoted / max(1, len(self.prose()))

    def prose(self) -> str:
        """Return what was said, in order."""
        return self._tongue.joint.join(sentence for _, sentence in sorted(self._said, key=itemgetter(0)))

    def emptiest(self, places: Sequence[int]) -> int:
        """Return the first of the places where least is said."""
        return min(places, key=lambda place: sum(place == said for said, _ in self._said))

    def _phrase(self, pool: str, *, recurs: bool) -> Phrase:
        every = [phrase for phrase in deck(self._tongue.code, pool, self._turn(pool)) if phrase not in self._phrases]
        true = [phrase for phrase in every if recurs or not phrase.claims]
        if pool.endswith("-opening"):  # the guard wants another one for so many entries
            unsaid = [phrase for phrase in true if phrase.age(self._earlier) >= min(LATELY, len(self._earlier))]
            true = unsaid or every
        return max(true, key=lambda phrase: (phrase.age(self._earlier), -len(phrase.images & self._images)))

    def _turn(self, pool: str) -> int:
        """Count the nights; in a pool that all phases share, the entries."""
        nights = self._night + self._take
        return nights if pool.startswith(self._phase) else nights * len(PHASES) + PHASES.index(self._phase)


class Weaver:
    """Chooses what a night tells: the texts, and how one leads to the next."""

    def __init__(self, material: Material, tongue: Tongue, room: Room, chance: Random) -> None:
        self._material, self._tongue, self._room, self._chance = material, tongue, room, chance
        self._earlier = _unspaced(material.earlier)
        self._headings = dict(zip(material.texts, material.headings, strict=False))
        dated = zip(material.texts, material.days, strict=False)
        self._days = {inert(part).casefold(): days for text, days in dated for part in self._parts(text)}
        themes = (term(theme, room.for_a_name, tongue.manner) for theme in _themes(material, tongue.code))
        self._themes = tuple(dict.fromkeys(theme for theme in themes if theme))[:MAX_THEMES]

    def day(self) -> tuple[Beat, ...]:
        """Light and REM: one text, why it was written, what others have to do with it, and a theme."""
        number = self._chance.choice(self._tongue.texts)
        woven = _one_reason(self._woven(self._quotations(self._material.texts))[:number], among=2)
        if not woven:
            return ()
        recurs = self._recurs(woven[0].source)
        pool = f"{self._material.phase}-lead"
        lead = Beat(place=LEAD, pool=pool, slots=_text(woven[0]), required=True, recurs=recurs)
        links = [self._link(n, woven[n], woven[n + 1]) for n in range(len(woven) - 1)]
        rest = shuffled([*links[1:2], *self._aside(), *self._theme(links, woven)], self._chance)
        return (lead, *links[:1], *_reasons(woven, (REASON, PARTNER_REASON)), *rest, *links[2:])

    def choice(self) -> tuple[Beat, ...]:
        """Deep: who was kept and on what evidence, or that nobody was, and who still waits."""
        graduates = self._material.graduates[:MAX_GRADUATES]
        every = [(said, g) for g in graduates if (said := self._quotation(g.text, ""))]
        quoted = sorted(every, key=lambda one: one[0].foreign)
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
        """Quote each statement once, the fresh ones first; those in another language only where there are no others."""
        lists = [
            [self._quotation(part, self._heading(text)) for part in self._parts(text)] for text in texts[:MAX_TEXTS]
        ]
        quoted = {one.claim: one for one in chain(*zip_longest(*lists)) if one}
        own = [one for one in quoted.values() if not one.foreign]
        return sorted(own or quoted.values(), key=self._freshness, reverse=True)

    def _parts(self, text: str) -> list[str]:
        """Return the statements of a text that stand alone, each under its heading; else the text."""
        heading = self._heading(text)
        if heading is None:
            return [text]
        prefix = f"{heading}: " if heading and text.startswith(f"{heading}: ") else ""
        parts = [part for part in text.removeprefix(prefix).split("; ") if is_fit(part)]
        return [f"{prefix}{part}" for part in parts] or [text]

    def _heading(self, text: str) -> str | None:
        """Return what a text stands under, None when that is not known."""
        return self._headings.get(text, None if text in self._material.texts else "")

    def _quotation(self, text: str, heading: str | None) -> Quotation | None:
        """Quote a text under its heading; one in another language whole."""
        said = quotation(text, self._room, self._tongue.manner, heading)
        return said.undivided if said and said.foreign else said

    def _recurs(self, *sources: str) -> bool:
        """Tell whether texts were written or asked for on more than one day, as far as that is known."""
        return len({day for source in sources for day in self._days.get(source, ())}) > 1

    def _freshness(self, said: Quotation) -> tuple[bool, int, bool]:
        """Rank what leaves no word out above what must, what was told long ago, and at last what is whole."""
        claim, whole = (told.rstrip("…") for told in _unspaced([said.claim, said.whole]))
        ago = (ago for ago, entry in enumerate(self._earlier) if claim in entry or whole in entry)
        return not said.elided, next(ago, len(self._earlier)), not said.cut

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

    def _theme(self, links: Sequence[Beat], woven: Sequence[Quotation]) -> list[Beat]:
        """Name a theme that no link and no heading names, before the first text or after those that belong together."""
        named = {beat.slots.get("theme", "") for beat in links} | {said.heading for said in woven}
        fresh = [theme for theme in self._themes if theme.casefold() not in {name.casefold() for name in named}]
        if not fresh:
            return []
        place = BEFORE_LEAD if self._material.phase == "rem" and self._chance.random() < 0.5 else THEME
        theme = self._chance.choice(fresh)
        recurs = self._recurs(*(source for source in self._days if theme.casefold() in source))
        return [Beat(place=place, pool=f"{self._material.phase}-theme", slots={"theme": theme}, recurs=recurs)]

    def _aside(self) -> list[Beat]:
        place = self._chance.choice((BEFORE_LEAD, ASIDE, ASIDE))
        return [Beat(place=place, pool="musing")] if self._chance.random() < ASIDES else []


def _themes(material: Material, code: str) -> tuple[str, ...]:
    """Return the words that recur, tell something and belong to the language; REM has counted them in more texts."""
    headed = zip_longest(material.texts, material.headings, fillvalue="")
    bodies = [text.removeprefix(f"{heading}: ") for text, heading in headed]
    own = [text for text in material.texts if is_in(text, code)] or material.texts
    found = material.themes if material.phase == "rem" else recurring(material.themes, bodies)
    spoken = [theme for theme in found if is_in(theme, code) or any(theme.casefold() in one.casefold() for one in own)]
    return telling(spoken, own, code)


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
