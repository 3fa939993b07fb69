"""`dream schedule`: nights by themselves, in the foreground or by your crontab."""

import logging
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from threading import Event

import click
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.schedulers.base import BaseScheduler
from jinja2 import Environment, PackageLoader, StrictUndefined

from cron.schedule import NightTrigger, due, upcoming
from dreaming.cli.common import REFUSED, Common, common_options, json_option, print_json, told_apart
from dreaming.cli.night import night
from dreaming.config import FILE_NAME, Config, zone
from dreaming.home import Home, NoWorkspaceError, located
from dreaming.layers import ConfigError

NIGHT = "night"
SHOWN = 3
"""How many nights `show` names."""
LOOK_SECONDS = 0.5
"""How long a request to stop may go unnoticed."""
RENEW_SECONDS = 60
"""How often the settings are looked at; a scheduler that wakes this often also notices that the machine has slept."""


@click.group(invoke_without_command=True)
@common_options
@json_option
@click.pass_context
def schedule(ctx: click.Context, common: Common, *, as_json: bool) -> None:
    """Run nights by themselves; without a command, show when they come."""
    ctx.obj = common
    ctx.default_map = {name: {"as_json": as_json} for name in schedule.commands}
    if ctx.invoked_subcommand is None:
        ctx.invoke(show, as_json=as_json)


@schedule.command()
@common_options
@json_option
def show(common: Common, *, as_json: bool) -> None:
    """Show when nights come, and a crontab for it.

    It says whether nights are on, when the next three come, and prints the crontab lines that would do the same.
    """
    with common.open() as home:
        times = upcoming(home.config.dreaming.time, home.zone, after=common.moment(home))
        nights = tuple(islice(times, SHOWN))
    if as_json:
        print_json(as_document(common, home, nights))
        return
    click.echo("\n".join(lines(common, home, nights)))


@schedule.command()
@common_options
@json_option
def run(common: Common, *, as_json: bool) -> None:
    """Run nights when they are due.

    It stays in the foreground until Ctrl-C or SIGTERM, which let a night in progress end. A night that was missed is
    run at once. Changed settings count within a minute.
    """
    if common.now is not None:
        raise click.UsageError("dream schedule run goes by the clock; for a night at another time: dream --now TIME")
    pool = ThreadPoolExecutor(max_workers=1)
    scheduler = BackgroundScheduler(timezone=UTC, executors={"default": pool})
    service = Service(common=common, scheduler=scheduler, as_json=as_json)
    if not service.on():
        raise click.exceptions.Exit(REFUSED)
    serve(service, pool)


def serve(service: "Service", pool: ThreadPoolExecutor) -> None:
    """Run the service until it is told to stop, then wait for the night in progress."""
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    stopped = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        # It raises nothing: APScheduler swallows what a handler raises while a job is handed over.
        signal.signal(number, lambda *_: stopped.set())
    service.plan()
    service.scheduler.start()
    while not stopped.wait(LOOK_SECONDS):
        pass  # a signal that another thread of the process gets wakes nobody up
    service.scheduler.shutdown(wait=False)  # it would wait with its locks held, which a job may need to end
    pool.shutdown()


def present() -> datetime:
    """Return the time by the clock."""
    return datetime.now(UTC)


@contextmanager
def going_on() -> Iterator[None]:
    """Tell what is known to go wrong in one sentence, without leaving the service."""
    with suppress(SystemExit), told_apart():
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The nights of one workspace on a scheduler; each opens the workspace anew, and nothing stays open in between."""

    common: Common
    scheduler: BaseScheduler
    clock: Callable[[], datetime] = present
    as_json: bool = False

    def on(self) -> bool:
        """Return whether the settings let nights run; say how to let them when they do not."""
        root, config = settings(self.common)
        if not config.dreaming.enabled:
            self.say(off(self.common, root))
        return config.dreaming.enabled

    def plan(self) -> None:
        """Put the nights and the look at the settings on the scheduler; a missed night comes at once."""
        now = self.clock()
        with self.common.open() as home:
            trigger = trigger_of(home.config)
            missed = due(trigger.time, trigger.zone, now=now, last_night=last_night(home, now=now))
        if not missed:
            self.tell_next(trigger)
        first = now if missed else trigger.get_next_fire_time(None, now)
        self._every(trigger, self.fire, id=NIGHT, args=(trigger,), next_run_time=first)
        self._every("interval", self.renew, id="renew", seconds=RENEW_SECONDS)

    def _every(self, trigger: object, job: Callable[..., None], **options: object) -> None:
        self.scheduler.add_job(
            job, trigger, coalesce=True, max_instances=1, misfire_grace_time=None, replace_existing=True, **options
        )

    def fire(self, trigger: NightTrigger) -> None:
        """Run the night of the present date if nights are on; whatever is refused, the next one comes."""
        with going_on():
            if self.on():
                night(replace(self.common, now=self.clock()), (), dry_run=False, as_json=self.as_json)
        self.tell_next(trigger)

    def renew(self) -> None:
        """Plan anew when the time or the zone was changed; what is wrong with the settings is told at night."""
        try:
            trigger = trigger_of(settings(self.common)[1])
        except (ConfigError, NoWorkspaceError):
            return
        job = self.scheduler.get_job(NIGHT)
        if job and job.trigger != trigger:
            with going_on():
                self.plan()

    def tell_next(self, trigger: NightTrigger) -> None:
        """Say when the next night comes."""
        at = trigger.get_next_fire_time(None, self.clock())
        self.say(f"Next night: {local(at)}" if at else f"No night will come at {trigger.time!r}")

    def say(self, sentence: str) -> None:
        """Print a sentence, beside the JSON of the nights if that is asked for."""
        click.echo(sentence, err=self.as_json)


def settings(common: Common) -> tuple[Path, Config]:
    """Return the folder of the workspace and its settings as they are now, opening nothing else."""
    return located(common.workspace, config=common.config, environ=os.environ, overrides={})


def trigger_of(config: Config) -> NightTrigger:
    """Return when the settings want nights."""
    return NightTrigger(time=config.dreaming.time, zone=zone(config))


def last_night(home: Home, *, now: datetime) -> date | None:
    """Return the last night begun; one of a later date, tried out by hand, is none yet."""
    began = home.journal.began_before(home.local_date(now) + timedelta(days=1))
    return began and home.local_date(began)


def off(common: Common, root: Path) -> str:
    """Return the sentence for a workspace whose nights are off."""
    file = common.config or root / FILE_NAME
    return f"Nights are off in {root}; set enabled = true under [dreaming] in {file}, or run one by hand with: dream"


def local(at: datetime) -> str:
    """Return a local time with its offset and zone."""
    return f"{at.isoformat(sep=' ', timespec='minutes')} ({at.tzinfo})"


def lines(common: Common, home: Home, nights: Sequence[datetime]) -> Iterator[str]:
    """Return the schedule for people."""
    on = home.config.dreaming.enabled
    yield f"Workspace   {home.root}"
    yield f"Schedule    {'on' if on else 'off'} ({home.config.dreaming.time}, {home.zone})"
    for label, at in zip(("Nights", *[""] * SHOWN), nights, strict=False):
        yield f"{label:<12}{local(at)}"
    yield "Run them with: dream schedule run" if on else off(common, home.root)
    yield f"\n{crontab(common, home)}"


def as_document(common: Common, home: Home, nights: Sequence[datetime]) -> dict[str, object]:
    """Return the schedule as the JSON says it."""
    return {
        "workspace": str(home.root),
        "enabled": home.config.dreaming.enabled,
        "time": home.config.dreaming.time,
        "timezone": str(home.zone),
        "nights": [{"night": at.date().isoformat(), "at": at.astimezone(UTC).isoformat()} for at in nights],
        "crontab": crontab(common, home),
    }


def crontab(common: Common, home: Home) -> str:
    """Return the lines for a crontab, with the zone when it is not the machine's, which cron goes by."""
    environment = Environment(loader=PackageLoader("cron", ""), undefined=StrictUndefined, autoescape=False)
    foreign = str(home.zone) != str(zone(Config()))
    words = [*program(), "--workspace", str(home.root)]
    if common.config:
        words += ["--config", str(common.config.absolute())]
    return environment.get_template("dream.cron").render(
        zone=str(home.zone) if foreign else None,
        time=home.config.dreaming.time,
        command=shlex.join(words).replace("%", r"\%"),  # cron would begin a new line there
    )


def program() -> tuple[str, ...]:
    """Return how to start this very installation from anywhere."""
    found = shutil.which("dream", path=str(Path(sys.executable).parent)) or shutil.which("dream")
    return (str(Path(found).absolute()),) if found else (sys.executable, "-m", "dreaming")
