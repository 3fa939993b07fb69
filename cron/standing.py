"""How a workspace stands with its nights: whether they are on, when they come, which was done last."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from cron.schedule import NightTrigger, due
from dreaming.cli.common import CONFIG
from dreaming.config import FILE_NAME, Config, zone
from dreaming.fleet import Fleet, fleet
from dreaming.home import STORE, located, opened


class NothingFoundError(click.ClickException):
    """No pattern matches a workspace."""

    exit_code = CONFIG

    def __init__(self, patterns: Sequence[Path]) -> None:
        self.patterns = tuple(patterns)
        super().__init__(
            f"no workspace matches {', '.join(map(str, patterns))}; "
            "one is a folder with a folder memory/ or a config.toml, make it with: dream init FOLDER"
        )


NIGHTS_LOOKED_BACK = 400
"""More than a clock that ran ahead leaves behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the command line named: workspaces or patterns, and a file of settings instead of each workspace's own."""

    workspaces: tuple[Path, ...] = ()
    config: Path | None = None

    def fleet(self, environ: Mapping[str, str] = os.environ) -> Fleet:
        """Return the workspaces as they are now."""
        return fleet(self.workspaces, config=self.config, environ=environ)

    def settings(self, root: Path) -> Config:
        """Return the settings of a workspace as they are now."""
        return located(root, config=self.config, environ=os.environ, overrides={})[1]

    def file(self, root: Path) -> Path:
        """Return the file with the settings of a workspace."""
        return self.config or root / FILE_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The settings of a workspace that say when its nights come."""

    root: Path
    config: Config
    zone: ZoneInfo

    @property
    def on(self) -> bool:
        """Whether its nights come by themselves."""
        return self.config.dreaming.enabled

    @property
    def trigger(self) -> NightTrigger:
        """When its nights come."""
        return NightTrigger(time=self.config.dreaming.time, zone=self.zone)

    def local_date(self, now: datetime) -> date:
        """Return the date there: the name of the night."""
        return now.astimezone(self.zone).date()

    def next(self, now: datetime) -> datetime | None:
        """Return when the next night comes, in local time."""
        return self.trigger.get_next_fire_time(None, now)

    def due(self, now: datetime, last: date | None) -> bool:
        """Return whether a night should have come that is not done."""
        return due(self.config.dreaming.time, self.zone, now=now, last_night=last)


def standing(named: Named, root: Path) -> Standing:
    """Return how a workspace stands; raise ConfigError or NoWorkspaceError."""
    config = named.settings(root)
    return Standing(root=root, config=config, zone=zone(config))


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A night that reached its end: its date, and when its last run began."""

    date: date
    at: datetime


def last_done(named: Named, one: Standing, *, now: datetime) -> Done | None:
    """Return the last night that reached its end; one of a later date, tried out or of a clock ahead, is none yet.

    Nor is that of today when only some phases were run, by hand. Raise what opening a store may raise.
    """
    if not (one.root / STORE).exists():
        return None
    today = one.local_date(now)
    with opened(one.root, config=named.config, environ=os.environ) as home:
        nights = home.journal.nights(limit=NIGHTS_LOOKED_BACK)
        ended = ((night, night.finished_at) for night in nights if night.date <= today)
        done = (Done(date=night.date, at=at) for night, at in ended if at and (night.date < today or home.whole(night)))
        return next(done, None)


def last_date(named: Named, one: Standing, *, now: datetime) -> date | None:
    """Return the date of the last night that reached its end, as `last_done`."""
    done = last_done(named, one, now=now)
    return None if done is None else done.date


def present() -> datetime:
    """Return the time by the clock, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


Clock = Callable[[], datetime]


def local(at: datetime) -> str:
    """Return a local time with its offset and zone."""
    return f"{at.isoformat(sep=' ', timespec='minutes')} ({at.tzinfo})"


def next_sentence(one: Standing, now: datetime) -> str:
    """Say when the next night comes."""
    at = one.next(now)
    return f"next night: {local(at)}" if at else f"no night will come at {one.config.dreaming.time!r}"


def off(named: Named, root: Path) -> str:
    """Return the sentence for a workspace whose nights are off."""
    return (
        f"nights are off; set enabled = true under [dreaming] in {named.file(root)}, "
        f"or run one by hand with: dream --workspace {root}"
    )
