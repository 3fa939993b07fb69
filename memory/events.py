"""The last day of the dated event a statement is about: a trip, an appointment, a deadline."""

import re
from datetime import date
from functools import cache
from unicodedata import normalize

from memory.days import SPOKEN, Day, alternatives, day_names, named_days, range_length
from memory.language import HAN, KANA
from memory.words import entries, vocabulary

SAID_BESIDES = 2
"""So many telling words in a clause of their own are something to keep."""
SAID_OF_IT = 3
"""An event takes no more telling words than these, besides its kind and its date: who, where, what for."""
KINDS = ("once", "often", "stay", "lasting")
"""What tells that there is an event, and nothing more of it."""
STATES = ("state", "then", "up")
"""What tells that something holds until a day, and what comes behind the day without a word to keep."""
LONGEST_STAY_DAYS = 31
"""Who stays or what is closed for longer than a month is likely to be worth knowing: a term, a season, a lease."""
SAID_OF_AN_HOUR = 2
"""With a day and a time of day, so few words are an appointment, whatever for: "eye test on 18 June at 8:15"."""
SAID_OF_A_STATE = 3
"""With what is frozen, closed or down until a day, so many telling words say who and where, and nothing to keep."""
LONGEST_STATE_DAYS = 366
"""What holds for longer than a year is worth knowing: a contract, a degree, a loan."""
SAID_UNTIL = 2
"""So few words and a day they reach to are no more than that: "tax return by 30 September"."""
SAID_OF_A_WEEKDAY = 1
"""With a weekday and nothing else for a date, more words are likely a rule: "a visit takes an hour on Saturday"."""
CHARACTERS_A_WORD = 2
"""Characters that count as one word where no spaces stand."""

_CJK = f"{HAN}{KANA}"
_BESIDES = re.compile(r"[:;,.!](?=\s|$)|[;,、。]|(?<=\s)[–—-](?=\s)")
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_STOP = re.compile(r"[:;,.!](?=\s)|[;,、。:]")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dt\d")
_OWNED = re.compile("(?:まで|为止)?[的の]")
_SENTENCE = re.compile(r"[.!;](?=\s|$)|。")
_BLANK = re.compile(r"(?<=\d) (?=[年月日号號点點時时分])|(?<=[年月到至从]) (?=\d)|(?<=[日号號]) (?=[到至])")
"""A blank within a date of a script without spaces: `10 月 2 日`."""
_UNSPACED = re.compile(f"[{_CJK}]")
_KATAKANA = re.compile("[ァ-ヺー]")
_WORD = re.compile(rf"[^\W{_CJK}]+|[ァ-ヺー]+|[{HAN}]+")
_CLOCK = re.compile(
    r"\b\d{1,2}[:h]\d\d\b(?:\s*uhr\b)?|\b\d{1,2}\s*(?:uhr|[ap]m)\b"
    r"|(?:上午|下午|早上|晚上|中午|午前|午後)?[\d一二三四五六七八九十两]{1,3}[点點時](?:\d{1,2}分|半)?"
)


def ended(text: str, *, said: date) -> date | None:
    """Return the last day of the event a statement of the day `said` is about, None when it is to be kept.

    A year that is not named is the one that brings the date nearest to `said`. What is past by then is a record.
    """
    plain = _BLANK.sub("", " ".join(normalize("NFKC", text).lower().split()))
    if _says("keep", plain) or _habit().search(plain):
        return None
    days = tuple(named_days(plain, said))
    last = max((day.day for day in days), default=date.min)
    if not days or last < said or (_says("lasting", plain) and not _is_short(plain, days)):
        return None
    told = _is_event(plain, days) and not _says_more(plain, days)
    passes = told or (last > said and _is_plan(plain, days)) or _holds_until(plain, days, said)
    return last if passes else None


def _is_event(plain: str, days: tuple[Day, ...]) -> bool:
    if _says("once", plain):
        return True
    if _says("often", plain) and not _says("turn", plain) and not all(day.bare for day in days):
        return True
    return _is_short(plain, days) and _is_stay(plain, days)


def _is_short(plain: str, days: tuple[Day, ...]) -> bool:
    """Tell whether the days are the first and the last one of something that is over within a month."""
    length = range_length(plain, days)
    return length is not None and length <= LONGEST_STAY_DAYS


def _is_stay(plain: str, days: tuple[Day, ...]) -> bool:
    """Tell who stays for the days from whose days they are: "the receipts from 5 to 7 November are in the box"."""
    first, last = min(day.start for day in days), max(day.end for day in days)
    if _OWNED.match(plain, last) or any(int(year) < days[0].day.year for year in _YEAR.findall(plain)):
        return False
    stays = _patterns("stay").finditer(plain)
    return any(_opens(plain, first) or stay.start() < first or _UNSPACED.match(stay[0]) for stay in stays)


def _opens(plain: str, start: int) -> bool:
    """Tell whether nothing telling stands in front of a place, in its clause."""
    return not _news(_STOP.split(plain[:start])[-1])


def _is_plan(plain: str, days: tuple[Day, ...]) -> bool:
    """Tell a plan of any kind by its form: little beside a day and a time of day, or behind the days that open it."""
    news = _news(_without(plain, days))
    if _says("turn", plain) or _STAMP.search(plain) or not news:
        return False
    if _CLOCK.search(plain) and not any(day.bare for day in days):
        return news <= SAID_OF_AN_HOUR
    first, last = min(day.start for day in days), max(day.end for day in days)
    opens = _opens(plain, first) and not _OWNED.match(plain, last) and not _says("being", plain)
    return opens and news <= SAID_OF_IT and _is_short(plain, days)


def _holds_until(plain: str, days: tuple[Day, ...], said: date) -> bool:
    """Tell what holds until a day, or is due by it, and is over then: "deploys are frozen until 10 June"."""
    day, ahead = days[0], (days[0].day - said).days
    before, behind = plain[: day.start], plain[day.end :]
    until = _patterns("until").search(before) or _patterns("up").match(behind)
    about = _without(plain, days, *STATES)
    if len(days) > 1 or not until or _patterns("outlasts").search(about):
        return False
    news, rest = _news(about), _news(_without(behind, (), *STATES))
    if _says("state", plain):
        beside = SAID_BESIDES <= rest < news or _says_beside(before, behind)
        return not beside and news <= SAID_OF_A_STATE and ahead <= LONGEST_STATE_DAYS
    return not day.bare and not rest and 0 < news <= SAID_UNTIL and ahead <= LONGEST_STAY_DAYS


def _says_beside(before: str, behind: str) -> bool:
    """Tell whether a sentence in front or behind says something of its own."""
    *others, _ = _SENTENCE.split(before)
    return any(_news(one) >= SAID_BESIDES for one in others) or any(map(_news, _SENTENCE.split(behind)[1:]))


def _says_more(plain: str, days: tuple[Day, ...]) -> bool:
    """Tell whether a text says more than that there is an event: in many words, or in a clause behind or before it."""
    first, last = min(day.start for day in days), max(day.end for day in days)
    before = [stop.start() for stop in _BESIDES.finditer(plain, 0, first) if stop[0] != ":"]
    start = before[-1] if before else 0
    end = next((stop.end() for stop in _BESIDES.finditer(plain, last)), len(plain))
    rests = ((plain[:start], " " * start + plain[start:]), (plain[end:], plain[:end]))
    besides = any(_news(piece) >= SAID_BESIDES and _is_event(rest, days) for piece, rest in rests)
    most = SAID_OF_A_WEEKDAY if all(day.bare for day in days) else SAID_OF_IT
    return besides or _news(_without(plain, days)) > most


def _without(plain: str, days: tuple[Day, ...], *kinds: str) -> str:
    kept = list(plain)
    for day in days:
        kept[day.start : day.end] = " " * (day.end - day.start)
    said = "".join(kept)
    for kind in (*KINDS, *kinds):
        said = _patterns(kind).sub(" ", said)
    return said


def _news(piece: str) -> float:
    """Return how many words say something; a character of a script without spaces is half a word."""
    words = _WORD.findall(_CLOCK.sub(" ", piece))
    spaced = sum(word not in _stop_words() and not word.isdecimal() for word in words if not _UNSPACED.match(word))
    return (
        spaced
        + sum(len(word) / CHARACTERS_A_WORD for word in words if re.match(f"[{HAN}]", word))
        + sum(1 for word in words if _KATAKANA.match(word))
    )


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(word.removeprefix("?") for code in SPOKEN for word in vocabulary("stop", code))


@cache
def _patterns(kind: str) -> re.Pattern[str]:
    found = (entry.partition("\t") for code in SPOKEN for entry in entries("events", code))
    return re.compile("|".join(f"(?:{pattern})" for name, _, pattern in found if name == kind))


@cache
def _habit() -> re.Pattern[str]:
    return re.compile(alternatives(day_names("habit")))


def _says(kind: str, plain: str) -> bool:
    return _patterns(kind).search(plain) is not None
