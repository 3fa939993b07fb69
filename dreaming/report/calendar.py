"""The calendar of nights: weeks as columns, days as rows, like a graph of contributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from dreaming.report.facts import Night

FEWEST_WEEKS = 26
"""A shorter calendar looks broken."""
DAYS = 7
NAME_WEEKS = 3
"""So wide is the name of a month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A square; `night` is None where none ran, `outside` what is not shown at all."""

    date: date
    night: Night | None
    outside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Seven rows from Monday to Sunday, and the month above each week in which it changes."""

    rows: tuple[tuple[Day, ...], ...]
    months: tuple[date | None, ...]


def weeks(nights: Sequence[Night], *, today: date) -> Calendar:
    """Return the weeks from the first night to today; at least half a year."""
    by_day = {one.date: one for one in nights}
    first = min([*by_day, today - timedelta(weeks=FEWEST_WEEKS - 1)])
    monday = first - timedelta(days=first.weekday())
    count = (today - monday).days // DAYS + 1
    columns = [monday + timedelta(weeks=n) for n in range(count)]
    return Calendar(
        rows=tuple(tuple(_day(start + timedelta(days=n), by_day, today) for start in columns) for n in range(DAYS)),
        months=tuple(start if _is_labelled(columns, n) else None for n, start in enumerate(columns)),
    )


def _is_labelled(columns: Sequence[date], n: int) -> bool:
    """Tell whether a month is named above a week: its first one, but not so late that the next name would touch it."""
    if n:
        return columns[n].month != columns[n - 1].month
    return len({column.month for column in columns[:NAME_WEEKS]}) == 1


def _day(day: date, by_day: dict[date, Night], today: date) -> Day:
    return Day(date=day, night=by_day.get(day), outside=day > today)
