"""Which days a text names, of the languages that the lists of dates and events are kept for."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import pairwise

from memory.language import HAN, KANA, language
from memory.words import entries

SPOKEN = ("en", "de", "es", "zh", "ja")
"""The languages that the lists of dates and events are kept for."""

_CJK = f"{HAN}{KANA}"
_DAY_NUMBER = r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.|º)?"
_TO = r"\s*(?:[-–—~〜/]|to|through|till|until|and|bis|und|al?|hasta|y|至|到|から)(?:\s+(?:the|zum|el))?\s*"
_FRONT = re.compile(rf"(?<![\w.:/,-]){_DAY_NUMBER}{_TO}$")
"""The day that begins a range whose month stands behind: `6–13 June`, `6. bis 13.6.`, `del 6 al 13 de junio`."""
_JOINED = re.compile(_TO)
_LONGEST_FRONT = 16
"""Characters that a first day and the words up to the last one take at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day that a text names, and where; `bare` for a weekday without more."""

    day: date
    start: int
    end: int
    bare: bool = False


def named_days(plain: str, said: date) -> Iterator[Day]:
    """Yield the days a text names: by day and month, or else as it is spoken of from the day of speaking."""
    dated = tuple(_dated(plain, said))
    yield from dated or _spoken(plain, said)


def range_length(plain: str, days: Iterable[Day]) -> int | None:
    """Return how many days lie between the ends of the first range of days that a text names, None without a range."""
    inorder = sorted(days, key=lambda day: day.start)
    for first, last in pairwise(inorder):
        between = plain[first.end : last.start]
        if (not between or _JOINED.fullmatch(between)) and first.day < last.day:
            return (last.day - first.day).days
    return None


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


def _dated(plain: str, said: date) -> Iterator[Day]:
    for pattern, order in _compiled_forms():
        for match in pattern.finditer(plain):
            day = order(match, plain, said)
            if day:
                yield from _front(plain, match.start(), day)
                yield Day(day=day, start=match.start(), end=match.end())
                yield from _tail(plain, match.end(), day)


def _front(plain: str, start: int, last: date) -> Iterator[Day]:
    at = max(0, start - _LONGEST_FRONT)
    front = _FRONT.search(plain[at:start])
    first = _date(last.year, last.month, int(front["d"])) if front else None
    if front and first and first < last:
        yield Day(day=first, start=at + front.start(), end=start)


def _tail(plain: str, end: int, first: date) -> Iterator[Day]:
    tail = _tail_pattern().match(plain, end)
    last = _date(first.year, first.month, int(tail["d"])) if tail else None
    if tail and last and last > first:
        yield Day(day=last, start=end, end=tail.end())


@cache
def _tail_pattern() -> re.Pattern[str]:
    """Return the pattern of the day that ends a range whose month stands in front: `June 6–13`, 6月6日至13日."""
    month = rf"\.?\s+(?:(?:of|del?)\s+)?(?:{alternatives(day_names('month'))})"
    return re.compile(rf"{_TO}(?P<d>\d{{1,2}})(?:st|nd|rd|th|日|号|號)?(?![\d:./月年]|\s*[ap]m\b|{month})")


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


def _spoken(plain: str, said: date) -> Iterator[Day]:
    for match in _spoken_pattern().finditer(plain):
        ahead = _ahead(match, said)
        if (date.min - said).days <= ahead <= (date.max - said).days:
            bare = match["weekday"] is not None and match["next"] is None
            yield Day(day=said + timedelta(days=ahead), start=match.start(), end=match.end(), bare=bare)


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
