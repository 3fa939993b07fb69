"""When nights come: the times a cron expression names in a zone, and whether the last of them was missed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from apscheduler.triggers.base import BaseTrigger
from cronsim import CronSim

REPEAT = timedelta(days=1)
"""Longer than any stretch of local time that happens twice because clocks are put back."""
TICK = timedelta(seconds=1)


def upcoming(time: str, zone: ZoneInfo, *, after: datetime) -> Iterator[datetime]:
    """Return the local times of the nights after a moment, endlessly; none for an expression that never comes true.

    A time that clocks skip comes when they have jumped, a time they repeat comes the first time only.
    """
    # In the second pass of a repeated hour CronSim still offers the first one, which is over.
    times = CronSim(time, after.astimezone(zone))
    return (at for at in times if at.astimezone(UTC) > after and _on_its_date(time, at))


def latest(time: str, zone: ZoneInfo, *, now: datetime) -> datetime | None:
    """Return the local time of the last night up to now, now included."""
    times = CronSim(time, (now + REPEAT).astimezone(zone), reverse=True)
    return next((at for at in times if at.astimezone(UTC) <= now and _on_its_date(time, at)), None)


def due(time: str, zone: ZoneInfo, *, now: datetime, last_night: date | None) -> bool:
    """Say whether the night that should have come last is not done; nights before it are not made up for.

    `last_night` is the date of the last one done. A date has one night, however often its time comes.
    """
    at = latest(time, zone, now=now)
    return at is not None and (last_night is None or last_night < at.date())


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """A night whose time the clocks of its zone skip or repeat; `at` is when it comes."""

    at: datetime
    skipped: bool


def oddities(time: str, zone: ZoneInfo, *, after: datetime, days: int = 366) -> Iterator[Oddity]:
    """Return the nights of so many days whose time comes not at all, or twice."""
    until = after + timedelta(days=days)
    for at in takewhile(lambda one: one.astimezone(UTC) < until, upcoming(time, zone, after=after)):
        wall = at.replace(tzinfo=None)
        if next(CronSim(time, wall - TICK)) != wall:
            yield Oddity(at=at, skipped=True)
        elif at.utcoffset() != at.replace(fold=1).utcoffset():
            yield Oddity(at=at, skipped=False)


def in_words(time: str) -> str:
    """Return what a cron expression says, as a sentence without its full stop."""
    return str(CronSim(time, datetime(2000, 1, 1, tzinfo=UTC)).explain())


def daily(time: str) -> tuple[int, int] | None:
    """Return hour and minute of an expression that comes once every day; None for any other."""
    minute, hour, *rest = time.split()
    return (int(hour), int(minute)) if rest == ["*"] * 3 and minute.isdigit() and hour.isdigit() else None


def _on_its_date(time: str, at: datetime) -> bool:
    """Leave out the night of a date that the calendar skips, as Samoa's 30 December 2011; it would come a day late."""
    wall = at.replace(tzinfo=None)
    return next(CronSim(time, wall + TICK, reverse=True)).date() == at.date()


@dataclass(frozen=True, slots=True, kw_only=True)
class NightTrigger(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """The nights of a cron expression of five fields; however many were slept through, the next is in the future."""

    time: str
    zone: ZoneInfo

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        """Return the first night after both moments: a clock put back a little does not repeat a night."""
        after = max(previous_fire_time or now, now)
        return next(upcoming(self.time, self.zone, after=after), None)
