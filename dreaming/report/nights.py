"""The nights of the report, and the tags that REM met in them over time."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from dreaming.gates import GATES
from dreaming.home import Home
from dreaming.narrators.themes import is_faint
from dreaming.report.facts import Night, NightState, ThemeRow, Themes
from dreaming.report.shown import Shown
from dreaming.scoring import MEMORIES_OF_A_THEME, NOT_THEMES
from memory.journal import NightRecord
from memory.model import Phase
from memory.tallies import LookedAt, Tallies

NIGHTS = 400
"""A year and a month: the same season can be compared."""
MOST_THEMES = 12
BY_NIGHT, BY_WEEK = 31, 31 * 7
"""Days that are shown night by night, and week by week; longer times are shown in months of four weeks."""
UNWRITTEN = "unwritten"
COUNTED = (
    *("examined", "merged", "staged", "fresh", "considered", "themes", "truths"),
    *("ranked", "promoted", "proposed", "refused"),
)
"""The counts of the phases, in the order in which they come about."""
_ORDER = {gate.name: place for place, gate in enumerate(GATES)}


def nights(home: Home, *, today: date) -> tuple[Night, ...]:
    """Return the nights of the last 400 days up to a day, oldest first."""
    since = today - timedelta(days=NIGHTS - 1)
    records = [one for one in home.journal.nights(limit=NIGHTS) if since <= one.date <= today]
    if not records:
        return ()
    refused = Tallies(home.store).refused(since=records[-1].date, until=today)
    return tuple(night(record, refused.get(record.date, {})) for record in reversed(records))


def night(record: NightRecord, refused: Mapping[str, int]) -> Night:
    """Return what a night came to, by its record and what it refused at each gate."""
    deep = record.reports.get(Phase.DEEP, {})
    made = Night(
        date=record.date,
        state=NightState.QUIET,
        counts=tuple(_counts(record.reports)),
        promoted=int(deep.get("promoted", 0)),
        proposed=int(deep.get("proposed", 0)),
        refused=int(deep.get("refused", 0)),
        funnel=tuple(sorted(refused.items(), key=lambda pair: (_ORDER.get(pair[0], len(_ORDER)), pair[0]))),
    )
    return _with_state(made, finished=record.finished_at is not None)


def _with_state(one: Night, *, finished: bool) -> Night:
    if not finished or UNWRITTEN in dict(one.funnel):
        return replace(one, state=NightState.FAILED)
    if one.promoted or one.proposed:
        return replace(one, state=NightState.PROMOTED)
    return replace(one, state=NightState.REFUSED if one.refused else NightState.QUIET)


def _counts(reports: Mapping[Phase, Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [
        (f"{phase}_{name}", count)
        for phase, counts in reports.items()
        for name, count in sorted(counts.items(), key=lambda pair: _place(pair[0]))
        if isinstance(count, int)
    ]


def _place(name: str) -> tuple[int, str]:
    return (COUNTED.index(name) if name in COUNTED else len(COUNTED), name)


def themes(found: Sequence[LookedAt], shown: Shown) -> Themes:
    """Return the tags that most fragments carried which REM considered, those that it takes for themes."""
    if not found:
        return Themes(step="night", columns=(), rows=())
    days = sorted({one.night for one in found})
    step, width = _step((days[-1] - days[0]).days)
    carrying: dict[str, dict[date, set[str]]] = defaultdict(lambda: defaultdict(set))
    telling = {tag for one in found for tag in one.tags if tag.lower() not in NOT_THEMES}
    telling = {tag for tag in telling if not is_faint(tag)}
    for one in found:
        column = _column(one.night, width)
        for tag in one.tags:
            if tag in telling:
                carrying[tag][column].add(one.fragment)
    columns = _columns(days, width)
    strongest = sorted(
        (tag for tag, by_column in carrying.items() if _recurs(by_column)),
        key=lambda tag: (-sum(map(len, carrying[tag].values())), tag),
    )
    return Themes(
        step=step,
        columns=columns,
        rows=tuple(
            ThemeRow(tag=shown(tag), counts=tuple(len(carrying[tag].get(column, ())) for column in columns))
            for tag in strongest[:MOST_THEMES]
        ),
    )


def _recurs(by_column: Mapping[date, set[str]]) -> bool:
    return any(len(fragments) >= MEMORIES_OF_A_THEME for fragments in by_column.values())


def _step(days: int) -> tuple[str, int]:
    if days <= BY_NIGHT:
        return "night", 1
    return ("week", 7) if days <= BY_WEEK else ("month", 28)


def _column(day: date, width: int) -> date:
    """Return the first day of the column of a day; weeks begin on Monday."""
    return day - timedelta(days=(day.toordinal() - 1) % width) if width > 1 else day


def _columns(days: Sequence[date], width: int) -> tuple[date, ...]:
    first, last = _column(days[0], width), _column(days[-1], width)
    return tuple(first + timedelta(days=n) for n in range(0, (last - first).days + 1, width))
