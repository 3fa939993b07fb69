"""When and what the system is to call: the times of all workspaces as one, the command, the folders it writes to."""

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from cron.schedule import daily, oddities
from cron.standing import Named, Standing
from dreaming.config import Config, zone
from dreaming.fleet import Fleet, fixed_part

_UNSAYABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""A line break would begin another line of a crontab or a unit; a lone surrogate stands for a byte that is no text."""
QUARTERLY = "*/15 * * * *"
"""What is called so often costs little: it looks whether anything is due."""


class UnsayableError(click.ClickException):
    """A path cannot be named in a crontab, a unit or a property list."""

    def __init__(self, word: str) -> None:
        self.word = word
        super().__init__(f"no line of the system can name {word!r}; rename the folder, or take: dream schedule run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """When the system calls: at the `time` of all workspaces, else every quarter of an hour, and `why`."""

    time: str
    zone: ZoneInfo
    why: str = ""

    @property
    def quarterly(self) -> bool:
        """Whether it only looks what is due."""
        return bool(self.why)


def rhythm(found: Sequence[Standing], *, now: datetime, zones: bool, any_time: bool) -> Rhythm:
    """Return when to call so that every workspace has its nights.

    `zones` says whether the system knows others than the machine's, `any_time` whether it reads any cron expression.
    """
    own = zone(Config())
    times = {(one.config.dreaming.time, str(one.zone)): one for one in found}
    if len(times) != 1:
        return Rhythm(time=QUARTERLY, zone=own, why="the workspaces have their nights at different times")
    (one,) = times.values()
    time = one.config.dreaming.time
    why = ""
    if not zones and str(one.zone) != str(own):
        why = f"the nights go by the time of {one.zone}"
    elif daily(time) is None and not (any_time and re.fullmatch(r"[0-9,*/ -]+", time)):
        why = "the nights do not come at one time of every day"
    elif any(oddities(time, one.zone, after=now, days=2 * 366)):
        why = f"the clocks of {one.zone} skip or repeat the time of a night"
    return Rhythm(time=QUARTERLY if why else time, zone=own if why else one.zone, why=why)


def program() -> tuple[str, ...]:
    """Return how to start this very installation from anywhere."""
    found = shutil.which("dream", path=str(Path(sys.executable).parent)) or shutil.which("dream")
    return (str(Path(found).absolute()),) if found else (sys.executable, "-P", "-m", "dreaming")


def words(named: Named, found: Fleet) -> tuple[str, ...]:
    """Return the command that the system is to call; what the settings name stays with the settings.

    The system has another environment: what only that names is named. Raise UnsayableError.
    """
    said = [*program()]
    if named.workspaces or not found.shared or named.fleet(environ={}).patterns != found.patterns:
        said += [word for place in found.patterns for word in ("--workspace", str(place))]
    if named.config:
        said += ["--config", str(named.config.absolute())]
    for word in said:
        if _UNSAYABLE.search(word):
            raise UnsayableError(word)
    return (*said, "--all")


def for_cron(command: Sequence[str]) -> str:
    """Return a command as a crontab has it: a percent sign would begin a new line there."""
    return shlex.join(command).replace("%", r"\%")


def for_systemd(word: str, *, command: bool = False) -> str:
    """Return a word as a unit has it, quoted, and without what systemd would put something else in place of."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    if command:
        word = word.replace("$", "$$")
    return word if re.fullmatch(r"[\w@%+=:,./~\\$-]+", word) else f'"{word}"'


def calendar(found: Rhythm) -> str:
    """Return the rhythm as systemd says it; by the machine's zone unless it is another."""
    at = daily(found.time)
    if at is None:
        return "*-*-* *:00/15:00"
    foreign = "" if str(found.zone) == str(zone(Config())) else f" {found.zone}"
    return f"*-*-* {at[0]:02}:{at[1]:02}:00{foreign}"


def writable(found: Fleet, standings: Sequence[Standing]) -> tuple[Path, ...]:
    """Return the folders that nights write to: what patterns match later too, and diaries that links lead to."""
    folders = {fixed_part(place) for place in found.patterns} | set(found.roots)
    for one in standings:
        folders |= {(one.root / "memory").resolve(), (one.root / one.config.workspace.diaries).resolve()}
    return tuple(
        sorted(one for one in folders if not any(other in one.parents for other in folders) and one != Path("/"))
    )
