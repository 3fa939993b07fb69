"""The last day of the dated event a statement is about: a trip, an appointment, a deadline."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from unicodedata import normalize

from memory.language import HAN, KANA, language
from memory.words import entries, vocabulary

SPOKEN = ("en", "de", "es", "zh", "ja")
"""The languages that the lists of dates and events are kept for."""
SAID_BESIDES = 2
"""So many telling words in a clause of their own are something to keep."""
SAID_OF_IT = 3
"""An event takes no more telling words than these, besides its kind and its date: who, where, what for."""
SAID_OF_A_WEEKDAY = 1
"""With a weekday and nothing else for a date, more words are likely a rule: "a visit takes an hour on Saturday"."""
CHARACTERS_A_WORD = 2
"""Characters that count as one word where no spaces stand."""

_CJK = f"{HAN}{KANA}"
_DAY_NUMBER = r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.|º)?"
_TO = r"\s*(?:[-–—~〜/]|to|through|till|until|and|bis|und|al?|y|至|到|から)\s*"
_TAIL = re.compile(rf"{_TO}(?P<d>\d{{1,2}})(?:st|nd|rd|th|日|号|號)?(?![\d:./月年]|\s*[ap]m\b)")
"""The day that ends a range whose month stands in front: `June 6–13`, 6月6日至13日."""
_BESIDES = re.compile(r"[:;,.!](?=\s|$)|[;,、。]|(?<=\s)[–—-](?=\s)")
_UNSPACED = re.compile(f"[{_CJK}]")
_KATAKANA = re.compile("[ァ-ヺー]")
_WORD = re.compile(rf"[^\W{_CJK}]+|[ァ-ヺー]+|[{HAN}]+")
_CLOCK = re.compile(
    r"\b\d{1,2}[:h]\d\d\b(?:\s*uhr\b)?|\b\d{1,2}\s*(?:uhr|[ap]m)\b"
    r"|(?:上午|下午|早上|晚上|中午|午前|午後)?[\d一二三四五六七八九十两]{1,3}[点點時](?:\d{1,2}分|半)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Day:
    """A day that a text names, and where; `named_year` when its year is named, `bare` for a weekday without more."""

    day: date
    start: int
    end: int
    bare: bool = False


def ended(text: str, *, said: date) -> date | None:
    """Return the last day of the event a statement of the day `said` is about, None when it is to be kept.

    A year that is not named is the one that brings the date nearest to `said`. What is past by then is a record.
    """
    plain = " ".join(normalize("NFKC", text).lower().split())
    if _says("keep", plain) or _habit().search(plain):
        return None
    days = tuple(_days(plain, said))
    if not days or not _is_event(plain, days) or _says_more(plain, days):
        return None
    last = max(day.day for day in days)
    return last if last >= said else None


def date_pattern() -> re.Pattern[str]:
    """Return the pattern of a date with its day and month, in any of the languages."""
    return re.compile("|".join(_unnamed(form) for form, _ in _forms()))


@cache
def day_names(*kinds: str) -> dict[str, str]:
    """Return the words that name months, weekdays or days, each with its number; the longest first."""
    listed = [entry.split("\t") for code in SPOKEN for entry in entries("dates", code)]
    named = {
        word.replace("_", " "): number for kind, number, words in listed if kind in kinds for word in words.split()
    }
    return dict(sorted(named.items(), key=lambda item: (-len(item[0]), item[0])))


def alternatives(words: dict[str, str]) -> str:
    """Return a pattern of any of the words, as a whole word where words are set apart by spaces."""
    return "|".join(rf"(?<!\w){re.escape(w)}(?!\w)" if not re.match(f"[{_CJK}]", w) else re.escape(w) for w in words)


def _is_event(plain: str, days: tuple[_Day, ...]) -> bool:
    if _says("once", plain):
        return True
    return _says("often", plain) and not all(day.bare for day in days)


def _says_more(plain: str, days: tuple[_Day, ...]) -> bool:
    """Tell whether a text says more than that there is an event: in many words, or in a clause behind or before it."""
    first, last = min(day.start for day in days), max(day.end for day in days)
    before = [stop.start() for stop in _BESIDES.finditer(plain, 0, first) if stop[0] != ":"]
    start = before[-1] if before else 0
    end = next((stop.end() for stop in _BESIDES.finditer(plain, last)), len(plain))
    rests = ((plain[:start], plain[start:]), (plain[end:], plain[:end]))
    besides = any(_news(piece) >= SAID_BESIDES and _is_event(rest, days) for piece, rest in rests)
    most = SAID_OF_A_WEEKDAY if all(day.bare for day in days) else SAID_OF_IT
    return besides or _news(_without(plain, days)) > most


def _without(plain: str, days: tuple[_Day, ...]) -> str:
    kept = list(plain)
    for day in days:
        kept[day.start : day.end] = " " * (day.end - day.start)
    return _patterns("once").sub(" ", _patterns("often").sub(" ", "".join(kept)))


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


def _days(plain: str, said: date) -> Iterator[_Day]:
    """Yield the days a text names: by day and month, or else as it is spoken of from the day of speaking."""
    dated = tuple(_dated(plain, said))
    yield from dated or _spoken(plain, said)


def _dated(plain: str, said: date) -> Iterator[_Day]:
    for pattern, order in _compiled_forms():
        for match in pattern.finditer(plain):
            day = order(match, plain, said)
            if day:
                yield _Day(day=day, start=match.start(), end=match.end())
                yield from _tail(plain, match.end(), day)


def _tail(plain: str, end: int, first: date) -> Iterator[_Day]:
    tail = _TAIL.match(plain, end)
    last = _date(first.year, first.month, int(tail["d"])) if tail else None
    if tail and last and last > first:
        yield _Day(day=last, start=end, end=tail.end())


Order = Callable[[re.Match[str], str, date], date | None]
"""Reads the day of a match in a text said on a day."""


@cache
def _compiled_forms() -> tuple[tuple[re.Pattern[str], Order], ...]:
    return tuple((re.compile(form), order) for form, order in _forms())


@cache
def _forms() -> tuple[tuple[str, Order], ...]:
    months = alternatives(day_names("month"))
    year = r"(?:,?\s+(?:del?\s+)?(?P<y>\d{4})(?!\d))?"
    return (
        (r"(?<![\w.-])(?P<y>\d{4})[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})(?!\d|[-_.]\w*[^\W\d])", _by_number),
        (r"(?<![\w.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.(?P<y>\d{4})?(?![\d.])", _by_number),
        (r"(?<![\w./])(?P<d>\d{1,2})/(?P<m>\d{1,2})(?:/(?P<y>\d{4}))?(?![\d/])", _by_slash),
        (
            rf"(?<![\w.:]){_DAY_NUMBER}\s+(?:(?:of|del?)\s+)?(?P<m>{months})(?!\s+(?:be|have|not|also)\b)\.?{year}",
            _by_name,
        ),
        (rf"(?P<m>{months})\.?\s+(?:the\s+)?{_DAY_NUMBER}(?![\d:]|\s*[ap]m\b){year}", _by_name),
        (r"(?:(?P<y>\d{4})年)?(?<!\d)(?P<m>\d{1,2})月(?P<d>\d{1,2})(?!\d)[日号號]?", _by_number),
    )


def _unnamed(form: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", form)


def _by_number(match: re.Match[str], _plain: str, said: date) -> date | None:
    return _nearest(match["y"], int(match["m"]), int(match["d"]), said)


def _by_name(match: re.Match[str], _plain: str, said: date) -> date | None:
    return _nearest(match["y"], int(day_names("month")[match["m"]]), int(match["d"]), said)


def _by_slash(match: re.Match[str], plain: str, said: date) -> date | None:
    """Read `6/13`: the month is in front in Chinese and Japanese, behind in German and Spanish, in English anywhere."""
    front, behind = int(match["d"]), int(match["m"])
    spoken = language(plain)
    if (front, behind) == (24, 7) or (spoken == "en" and max(front, behind) <= 12):
        return None
    month_first = spoken in ("zh", "ja") or (spoken == "en" and behind > 12)
    month, day = (front, behind) if month_first else (behind, front)
    return _nearest(match["y"], month, day, said)


def _nearest(year: str | None, month: int, day: int, said: date) -> date | None:
    years = (int(year),) if year else (said.year - 1, said.year, said.year + 1)
    found = [that for that in (_date(year, month, day) for year in years) if that]
    return min(found, key=lambda that: abs(that - said), default=None)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _spoken(plain: str, said: date) -> Iterator[_Day]:
    for match in _spoken_pattern().finditer(plain):
        ahead = _ahead(match, said)
        if (date.min - said).days <= ahead <= (date.max - said).days:
            bare = match["weekday"] is not None and match["next"] is None
            yield _Day(day=said + timedelta(days=ahead), start=match.start(), end=match.end(), bare=bare)


@cache
def _spoken_pattern() -> re.Pattern[str]:
    before = alternatives(day_names("next"))
    not_morning = r"(?<!\bam )(?<!\bla )(?<!\bjeden )(?<!\bguten )(?<!\bgestern )"
    return re.compile(
        rf"(?:(?P<next>{before})\s*)?(?P<weekday>{alternatives(day_names('weekday'))})"
        rf"|(?P<week>{alternatives(day_names('week'))})|{not_morning}(?P<day>{alternatives(day_names('day'))})"
    )


def _ahead(match: re.Match[str], said: date) -> int:
    """Return how many days lie between the day of speaking and the day that is spoken of."""
    if match["day"]:
        return int(day_names("day")[match["day"]])
    if match["week"]:
        return 7 * int(day_names("week")[match["week"]]) + 7 - said.isoweekday()
    days = int(day_names("weekday")[match["weekday"]]) - said.isoweekday()
    weeks = day_names("next")[match["next"]] if match["next"] else "-"
    return (days - 1) % 7 + 1 if weeks == "-" else days + 7 * int(weeks)
