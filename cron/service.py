"""The service: the nights of all workspaces on a scheduler, by the settings and the clock as they are each minute."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from threading import Lock
from zoneinfo import ZoneInfoNotFoundError

from apscheduler.schedulers.base import BaseScheduler
from tzlocal import reload_localzone

from cron import health, record
from cron.crew import Crew
from cron.nights import Ending, Outcome, Turn, one_line, take
from cron.standing import Clock, Named, Standing, last_date, next_sentence, off, present, standing
from dreaming.fleet import TROUBLE
from dreaming.home import NoWorkspaceError
from dreaming.layers import ConfigError

JUMP = timedelta(seconds=90)
"""A difference between the clock and the time gone by that is no correction: a sleep, or a clock that was set."""
AGAIN_SECONDS = 300.0
"""After so long a night that somebody else was at is looked at again: they may be gone, and not have ended it."""
Log = Callable[[Path | None, str, Outcome | None], None]
"""Tells of an event: the workspace if it is one's, a sentence, and the outcome of a night that ended."""


@dataclass(slots=True, kw_only=True)
class Place:
    """What the service knows of a workspace; `tried` is the last night it began, well or badly.

    `again` says at which tick to look whether somebody else ended the night.
    """

    standing: Standing | None = None
    last: date | None = None
    outcome: Outcome | None = None
    problem: str = ""
    tried: date | None = None
    again: float | None = None


@dataclass(slots=True, kw_only=True)
class Service:
    """The nights on a scheduler; nothing of a workspace stays open between them.

    `ticking` counts the seconds that have gone by, whatever the clock says. `look` belongs to one thread.
    """

    named: Named
    scheduler: BaseScheduler
    crew: Crew
    log: Log
    clock: Clock = present
    ticking: Callable[[], float] = time.monotonic
    take: Callable[[Turn, Crew], Outcome] = take
    health_file: Path | None = None
    places: dict[Path, Place] = field(default_factory=dict)
    _seen: tuple[datetime, float] | None = None
    _said: set[str] = field(default_factory=set)
    _guard: Lock = field(default_factory=Lock)

    def look(self) -> None:
        """Bring the schedule up to date with settings, zone and clock; what was missed comes at once."""
        with suppress(ZoneInfoNotFoundError, ValueError, OSError):  # a machine between two zones; the last one stays
            reload_localzone()
        now, jumped = self.clock(), self._jumped()
        for root in self._roots():
            place = self.places.setdefault(root, Place())
            before, problem = place.standing, place.problem
            self._renew(root, place)
            again = place.again is not None and self.ticking() >= place.again
            if jumped or again or place.standing != before or (place.problem != problem and not before):
                self._plan(root, place, now)
        if self.scheduler.running:
            self.scheduler.wakeup()  # what it waits for came nearer while the machine slept
        self.write_health()

    def on(self) -> bool:
        """Return whether the nights of any workspace are on."""
        return any(place.standing is not None and place.standing.on for place in self.places.values())

    def _roots(self) -> Sequence[Path]:
        """Return the workspaces as they are now; those that are none any more lose their nights."""
        try:
            found = self.named.fleet()
        except (ConfigError, NoWorkspaceError, OSError) as error:
            self._once(None, str(error))
            return tuple(self.places)
        for place in found.missing:
            self._once(place, str(NoWorkspaceError(place)))
        for root in self.places.keys() - set(found.roots):
            self._drop(root)
            del self.places[root]
            self.log(root, "is no workspace any more", None)
        return found.roots

    def _renew(self, root: Path, place: Place) -> None:
        """Read the settings; while they are wrong the last right ones hold, and the next night says what is wrong."""
        try:
            place.standing, place.problem = standing(self.named, root), ""
        except (ConfigError, NoWorkspaceError, OSError) as error:
            place.problem = one_line(str(error))
            if place.standing is None:
                self._once(root, place.problem)

    def _plan(self, root: Path, place: Place, now: datetime) -> None:
        """Put the nights of a workspace on the scheduler, exactly one job, or none when they are off."""
        one, place.again = place.standing, None
        if one is None:
            return
        if not one.on:
            self._drop(root)
            self.log(root, off(self.named, root), None)
            return
        try:
            place.last = last_date(self.named, one, now=now)
        except TROUBLE as error:
            place.problem = one_line(str(error))  # its turn says so too
        tonight, kept = one.local_date(now), record.read(root)
        missed = one.due(now, place.last) or (kept is not None and kept.failed(tonight))
        missed = missed and place.tried != tonight
        first = now if missed else one.next(now)
        self.scheduler.add_job(
            self.fire,
            one.trigger,
            args=(root,),
            id=str(root),
            next_run_time=first,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
            replace_existing=True,
        )
        if not missed:
            self.log(root, next_sentence(one, now), None)

    def _drop(self, root: Path) -> None:
        if self.scheduler.get_job(str(root)):
            self.scheduler.remove_job(str(root))

    def fire(self, root: Path) -> None:
        """Let a workspace have its turn; whatever comes of it, the next night comes."""
        now, place = self.clock(), self.places.get(root)
        if place is None or place.standing is None:
            return
        place.tried = place.standing.local_date(now)
        turn = Turn(named=self.named, root=root, now=now, roots=tuple(self.places), begun=self._begun)
        before, outcome = place.outcome, self.take(turn, self.crew)
        place.outcome, place.problem = outcome, ""
        if outcome.ending is Ending.DONE:
            place.last = outcome.night
        if outcome.ending in (Ending.RUNNING, Ending.HELD):
            place.tried, place.again = None, self.ticking() + AGAIN_SECONDS
            if before == outcome:
                return
        self.log(root, f"{failed(outcome)}{outcome.sentence}", outcome)
        for sentence in outcome.hooks:
            self.log(root, sentence, None)
        if outcome.ending not in (Ending.OFF, Ending.NOT_DUE, Ending.STOPPED):
            self.log(root, next_sentence(place.standing, self.clock()), None)
        self.write_health()

    def _begun(self, outcome: Outcome) -> None:
        place = self.places.get(outcome.root)
        if place:
            place.outcome = outcome
        self.log(outcome.root, outcome.sentence, outcome)
        self.write_health()

    def _jumped(self) -> bool:
        """Tell whether the clock went otherwise than the time since the last look; at first it did."""
        now, ticks = self.clock(), self.ticking()
        before, self._seen = self._seen, (now, ticks)
        return before is None or abs((now - before[0]) - timedelta(seconds=ticks - before[1])) > JUMP

    def _once(self, root: Path | None, sentence: str) -> None:
        if f"{root} {sentence}" not in self._said:
            self._said.add(f"{root} {sentence}")
            self.log(root, one_line(sentence), None)

    def write_health(self) -> None:
        """Write the health file, if there is to be one; when that fails it grows old, which is what it is for."""
        if self.health_file is None:
            return
        now = self.clock()
        vitals = [
            health.Vital(
                root=root,
                on=place.standing is not None and place.standing.on,
                last=place.last,
                next=place.standing.next(now) if place.standing and place.standing.on else None,
                outcome=place.outcome,
                problem=place.problem,
            )
            for root, place in sorted(self.places.items())
        ]
        try:
            with self._guard:
                health.write(self.health_file, vitals, now=now)
        except OSError as error:
            self._once(None, f"{self.health_file} cannot be written ({error.strerror}); name another --health-file")


def failed(outcome: Outcome) -> str:
    """Return the word before what went wrong; to be told to stop is not wrong, nor is a night of somebody else's."""
    return "FAILED: " if outcome.code and outcome.ending not in (Ending.STOPPED, Ending.HELD) else ""
