"""`dream schedule`: nights by themselves, by this program or by the system's own scheduler."""

import json
import logging
import signal
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from types import FrameType

import click
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from cron import install as installing
from cron.all import as_document
from cron.crew import Crew
from cron.install import SYSTEMS, Order, Piece, cron_lines, ordered, switches
from cron.nights import Outcome
from cron.placing import UnsayableError
from cron.schedule import in_words, oddities, upcoming
from cron.service import Log, Service
from cron.standing import Named, NothingFoundError, Standing, local, off, present
from dreaming.cli.common import (
    CONFIG,
    REFUSED,
    Common,
    complain,
    fleet_options,
    json_option,
    print_json,
    printable,
    say,
)

SHOWN = 3
"""How many nights `show` names."""
LOOK_SECONDS = 0.5
"""How long a request to stop may go unnoticed."""
RENEW_SECONDS = 60
"""How often settings, zone and clock are looked at, by the time gone by: a clock that is set does not delay it."""


@click.group(invoke_without_command=True)
@fleet_options
@json_option
@click.pass_context
def schedule(ctx: click.Context, common: Common, *, as_json: bool) -> None:
    """Run nights by themselves; without a command, show when they come."""
    ctx.obj = common
    ctx.default_map = {name: {"as_json": as_json} for name in ("show", "run")}
    if ctx.invoked_subcommand is None:
        ctx.invoke(show, as_json=as_json)


@schedule.command()
@fleet_options
@json_option
def show(common: Common, *, as_json: bool) -> None:
    """Show when nights come, and a crontab for it.

    It says in words when the nights of each workspace come, which of them the clocks of its zone move, when the next
    three come, and prints the crontab lines that would do the same.
    """
    order = ordered(named(common), own=True)
    if as_json:
        documents = [_document(common, one) for one in order.standings]
        crontab = {"crontab": _crontab(order)}
        print_json({**documents[0], **crontab} if len(documents) == 1 else {"workspaces": documents, **crontab})
    else:
        for one in order.standings:
            for line in lines(common, order.named, one):
                say(line)
        if crontab_lines := _crontab(order):
            say(f"\n{crontab_lines}")
            say("Put them there with: dream schedule install --cron (or --systemd, --launchd)")
    complain(tuple(map(str, order.wrong)))
    if order.wrong:
        raise click.exceptions.Exit(CONFIG)


def _crontab(order: Order) -> str | None:
    """Return the lines of a crontab; None where they cannot name the workspaces."""
    try:
        return cron_lines(order)
    except UnsayableError:
        return None


@schedule.command()
@fleet_options
@click.option(
    "--health-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file that is written anew each minute and at each event; docs/schedule.md says what it holds.",
)
@json_option
def run(common: Common, *, health_file: Path | None, as_json: bool) -> None:
    """Run the nights of all workspaces when they are due.

    It stays in the foreground until Ctrl-C or SIGTERM, which let a night in progress end; a second one stops it. A
    night that was missed is run at once. Changed settings count within a minute.
    """
    if common.now is not None:
        raise click.UsageError("dream schedule run goes by the clock; for a night at another time: dream --now TIME")
    which = named(common)
    found = which.fleet()
    if not (found.roots or found.missing):
        raise NothingFoundError(found.patterns)
    crew = Crew(found.workers)
    pool = ThreadPoolExecutor(max_workers=crew.threads)
    service = Service(
        named=which,
        scheduler=BackgroundScheduler(timezone=UTC, executors={"default": pool}),
        crew=crew,
        log=logged(as_json=as_json),
        health_file=health_file,
    )
    serve(service, pool)


def serve(service: Service, pool: ThreadPoolExecutor) -> None:
    """Run the service until it is told to stop, then wait for the nights in progress; refuse when all are off."""
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    asked: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        # It raises nothing, which APScheduler would swallow, and waits for no lock, which this thread may hold.
        asked.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    service.look()
    if not service.on():
        raise click.exceptions.Exit(REFUSED)
    service.scheduler.start()
    renew = monotonic() + RENEW_SECONDS
    while not asked:
        sleep(LOOK_SECONDS)
        if monotonic() >= renew:
            renew = monotonic() + RENEW_SECONDS
            service.look()
    service.crew.stop()
    service.scheduler.shutdown(wait=False)  # it would wait with its locks held, which a job may need to end
    ending = Thread(target=pool.shutdown, name="ending")
    ending.start()
    while ending.is_alive():
        ending.join(LOOK_SECONDS)
        if len(asked) > 1:
            service.crew.end()


@schedule.command()
@fleet_options
@click.option("--cron", "system", flag_value="cron", help="Your crontab.")
@click.option("--systemd", "system", flag_value="systemd", help="A service and a timer.")
@click.option("--launchd", "system", flag_value="launchd", help="A job of macOS.")
@click.option("--user", "own", is_flag=True, help="For you alone, without the rights of an administrator.")
@click.option("--print", "only_print", is_flag=True, help="Only print what would change.")
@click.option("--enable", is_flag=True, help="Also switch on the nights that are off, in the settings.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def install(common: Common, *, system: str | None, own: bool, only_print: bool, enable: bool, yes: bool) -> None:
    """Let the system run nights: by cron, systemd or launchd.

    It shows what it would write and run, and asks first. Doing it again changes what has changed since.
    """
    order = ordered(named(common), own=own or system == "cron")
    if order.wrong:
        raise order.wrong[0]
    pieces = (*SYSTEMS[chosen(system)][0](order), *(switches(order) if enable else ()))
    if _done(pieces, only_print=only_print, yes=yes) and not enable:
        _say_off(order)


@schedule.command()
@fleet_options
@click.option("--cron", "system", flag_value="cron", help="Your crontab.")
@click.option("--systemd", "system", flag_value="systemd", help="The service and the timer.")
@click.option("--launchd", "system", flag_value="launchd", help="The job of macOS.")
@click.option("--user", "own", is_flag=True, help="What was installed for you alone.")
@click.option("--print", "only_print", is_flag=True, help="Only print what would change.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def uninstall(common: Common, *, system: str | None, own: bool, only_print: bool, yes: bool) -> None:  # noqa: ARG001
    """Take back what install did; settings and memories stay."""
    _done(SYSTEMS[chosen(system)][1](own=own), only_print=only_print, yes=yes)


def chosen(system: str | None) -> str:
    """Return which scheduler is meant, or refuse to guess."""
    if system is None:
        raise click.UsageError("name one of --cron, --systemd and --launchd")
    return system


def _done(pieces: Sequence[Piece], *, only_print: bool, yes: bool) -> bool:
    """Show the pieces and, when that is wanted, make them, unless everything is so already."""
    shown = [piece.shown() for piece in pieces]
    pairs = zip(pieces, shown, strict=True)
    if all(piece.is_done() if isinstance(piece, installing.Command) else not text for piece, text in pairs):
        click.echo("It is so already; nothing to change.")
        return True
    for text in filter(None, shown):
        say(text.rstrip("\n"))
    if only_print:
        return True
    if not yes:
        click.confirm("Do this?", abort=True)
    for piece in pieces:
        try:
            piece.make()
        except OSError as error:
            raise installing.NotWrittenError(error) from error
    click.echo("Done.")
    return True


def _say_off(order: Order) -> None:
    """Say which workspaces have their nights off: they stay off until somebody wants them."""
    for one in order.standings:
        if not one.on:
            say(f"{one.root}: {off(order.named, one.root)}; or install with --enable")


def named(common: Common) -> Named:
    """Return what the command line named."""
    return Named(workspaces=common.workspaces, config=common.config)


def logged(*, as_json: bool) -> Log:
    """Return how the service tells of an event: one line each."""

    def line(root: Path | None, sentence: str, _: Outcome | None) -> None:
        say(f"{_stamp()}  {f'{root}: ' if root else ''}{sentence}")

    def document(root: Path | None, sentence: str, outcome: Outcome | None) -> None:
        turn = {} if outcome is None else as_document(outcome)
        said = {"at": _stamp(), "workspace": root and str(root), "said": sentence, **turn}
        click.echo(printable(json.dumps(said, ensure_ascii=False)))

    return document if as_json else line


def _stamp() -> str:
    return present().astimezone().isoformat(sep=" ")


def _nights(common: Common, one: Standing) -> tuple[datetime, ...]:
    return tuple(islice(upcoming(one.config.dreaming.time, one.zone, after=common.at(one.zone)), SHOWN))


def lines(common: Common, which: Named, one: Standing) -> Iterator[str]:
    """Return the schedule of a workspace for people."""
    time = one.config.dreaming.time
    yield f"Workspace   {one.root}"
    yield f"Schedule    {'on' if one.on else 'off'} ({time}, {one.zone})"
    yield f"            {in_words(time)}, by the clocks of {one.zone}; a date has one night"
    nights = _nights(common, one)
    for label, at in zip(("Nights", *[""] * SHOWN), nights, strict=False):
        yield f"{label:<12}{local(at)}"
    for odd in oddities(time, one.zone, after=common.at(one.zone)):
        how = "clocks skip that time: it comes at" if odd.skipped else "clocks repeat that time: it comes once, at"
        yield f"{'':<12}{odd.at.date()}: {how} {odd.at.isoformat(sep=' ', timespec='minutes')[11:]}"
    yield "Run them with: dream schedule run" if one.on else off(which, one.root)


def _document(common: Common, one: Standing) -> dict[str, object]:
    """Return the schedule of a workspace as the JSON says it."""
    return {
        "workspace": str(one.root),
        "enabled": one.on,
        "time": one.config.dreaming.time,
        "timezone": str(one.zone),
        "in_words": in_words(one.config.dreaming.time),
        "nights": [
            {"night": at.date().isoformat(), "at": at.astimezone(UTC).isoformat()} for at in _nights(common, one)
        ],
    }
