"""When nights come, by themselves: once a local date, whatever the clocks, the machine and the settings do."""

import json
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.base import BaseScheduler
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cron.command import Service, crontab
from cron.schedule import NightTrigger, due, latest, upcoming
from dreaming.cli import dream
from dreaming.cli.common import Common
from dreaming.home import opened
from house import House, moment
from workspace.lock import lock

BERLIN = ZoneInfo("Europe/Berlin")
YEARS = {
    "America/Los_Angeles": 2026,
    "Europe/Berlin": 2026,
    "Asia/Kolkata": 2026,
    "Australia/Lord_Howe": 2026,
    "Pacific/Apia": 2011,
    "Asia/Shanghai": 2026,
    "America/Sao_Paulo": 2018,
}
"""A year of each zone: with clock changes of an hour, half an hour, at midnight, of a whole day, and with none."""
SKIPPED = {date(2011, 12, 30)}
"""Dates that do not exist in their zone."""
GARAGE = "- Garage panel takes a CR2450 cell\n"


def berlin(at: str) -> datetime:
    return datetime.fromisoformat(at).astimezone(BERLIN)


def after(time: str, at: str, zone: ZoneInfo = BERLIN) -> str:
    return next(upcoming(time, zone, after=berlin(at))).isoformat(timespec="minutes")


# -- the times ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", YEARS)
@pytest.mark.parametrize("time", ["30 2 * * *", "0 3 * * *", "0 0 * * *"])
def test_every_local_date_of_a_year_has_exactly_one_night(time: str, zone: str) -> None:
    trigger, first = NightTrigger(time=time, zone=ZoneInfo(zone)), date(YEARS[zone], 1, 1)
    at = datetime(first.year, 1, 1, tzinfo=trigger.zone) - timedelta(seconds=1)
    nights = []
    while (coming := trigger.get_next_fire_time(at, at)) and coming.year == first.year:
        at = coming
        nights.append(at.date())
    assert nights == [day for n in range(365) if (day := first + timedelta(days=n)) not in SKIPPED]


def test_a_time_that_clocks_skip_comes_when_they_have_jumped() -> None:
    assert after("30 2 * * *", "2026-03-28T12:00+01:00") == "2026-03-29T03:00+02:00"
    assert after("30 2 * * *", "2026-03-29T03:00+02:00") == "2026-03-30T02:30+02:00"


def test_a_time_that_clocks_repeat_comes_the_first_time_only() -> None:
    assert after("30 2 * * *", "2026-10-24T12:00+02:00") == "2026-10-25T02:30+02:00"
    assert after("30 2 * * *", "2026-10-25T02:30+02:00") == "2026-10-26T02:30+01:00"


def test_in_the_second_pass_of_a_repeated_hour_the_night_is_over() -> None:
    again = berlin("2026-10-25T02:15+01:00")
    assert after("30 2 * * *", "2026-10-25T02:15+01:00") == "2026-10-26T02:30+01:00"
    assert str(latest("30 2 * * *", BERLIN, now=again)) == "2026-10-25 02:30:00+02:00"


@pytest.mark.parametrize("sunday", ["0", "7", "SUN"])
def test_weekdays_are_those_of_cron(sunday: str) -> None:
    assert after(f"0 3 * * {sunday}", "2026-06-17T12:00+02:00") == "2026-06-21T03:00+02:00"


@pytest.mark.parametrize("now", ["2026-06-17T02:59:59+02:00", "2026-06-17T03:00:01+02:00"])
def test_a_clock_put_back_a_little_repeats_no_night(now: str) -> None:
    at = NightTrigger(time="0 3 * * *", zone=BERLIN).get_next_fire_time(berlin("2026-06-17T03:00+02:00"), berlin(now))
    assert str(at) == "2026-06-18 03:00:00+02:00"


def test_nights_that_were_slept_through_are_not_named_one_by_one() -> None:
    slept, now = berlin("2026-06-17T03:00+02:00"), berlin("2026-06-20T09:00+02:00")
    at = NightTrigger(time="0 3 * * *", zone=BERLIN).get_next_fire_time(slept, now)
    assert str(at) == "2026-06-21 03:00:00+02:00"


def test_an_expression_that_never_comes_true_has_no_night() -> None:
    fifth_monday_on_the_first, now = "0 3 */31 * MON#5", berlin("2026-06-17T12:00+02:00")
    assert NightTrigger(time=fifth_monday_on_the_first, zone=BERLIN).get_next_fire_time(None, now) is None
    assert not due(fifth_monday_on_the_first, BERLIN, now=now, last_night=None)


times = st.sampled_from(["30 2 * * *", "0 3 * * *", "0 0 * * *", "0 3 * * 1,4", "0 3 L * *", "15 */6 * * *"])
zones = st.sampled_from(sorted(YEARS)).map(ZoneInfo)
moments = st.datetimes(datetime(2008, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(time=times, zone=zones, now=moments)
def test_no_night_lies_between_the_latest_and_the_next(time: str, zone: ZoneInfo, now: datetime) -> None:
    before, coming = latest(time, zone, now=now), next(upcoming(time, zone, after=now))
    assert before
    assert before.astimezone(UTC) <= now < coming.astimezone(UTC)
    assert next(upcoming(time, zone, after=before)) == coming


# -- a missed night -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "last_night", "missed"),
    [
        ("2026-06-18T02:59+02:00", date(2026, 6, 17), False),
        ("2026-06-18T03:00+02:00", date(2026, 6, 17), True),
        ("2026-06-18T03:00+02:00", date(2026, 6, 18), False),
        ("2026-06-18T02:59+02:00", date(2026, 6, 16), True),
        ("2026-06-18T09:00+02:00", date(2026, 6, 14), True),
        ("2026-06-18T09:00+02:00", None, True),
    ],
)
def test_a_night_is_due_when_the_last_one_that_should_have_come_has_not_begun(
    now: str, last_night: date | None, missed: bool
) -> None:
    assert due("0 3 * * *", BERLIN, now=berlin(now), last_night=last_night) is missed


@given(time=times, zone=zones, now=moments)
def test_a_night_that_was_run_is_not_due(time: str, zone: ZoneInfo, now: datetime) -> None:
    assert not due(time, zone, now=now, last_night=now.astimezone(zone).date())


# -- the service ----------------------------------------------------------------------------------------------------


class Stepped(BaseScheduler):  # type: ignore[misc]  # APScheduler has no types
    """A scheduler that wakes when the test says so."""

    def wakeup(self) -> None:
        pass

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)

    def step(self) -> None:
        self._process_jobs()


class Days:
    """A workspace with its service; time goes where the test moves it."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.now = moment("2026-03-01T00:00")
        self.scheduler = Stepped()

    def start(self, at: str, *, as_json: bool = False) -> None:
        """Start the service, as after the machine was down."""
        self.now = moment(at)
        self.scheduler = Stepped(timezone=UTC, executors={"default": DebugExecutor()})
        common = Common(workspace=self.house.root, config=None, now=None)
        Service(common=common, scheduler=self.scheduler, clock=lambda: self.now, as_json=as_json).plan()
        self.scheduler.start()
        self.scheduler.step()

    def wake(self, at: str) -> None:
        """Let the service look at the clock."""
        self.now = moment(at)
        self.scheduler.step()

    def nights(self) -> list[str]:
        with opened(self.house.root, environ={}) as home:
            return sorted(night.date.isoformat() for night in home.journal.nights(limit=100))

    def configure(self, text: str) -> None:
        self.house.write("config.toml", f"[dreaming]\n{text}\n")


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", "Asia/Shanghai")


@pytest.fixture
def days(house: House, monkeypatch: pytest.MonkeyPatch) -> Days:
    """A workspace whose nights are on, and where the scheduler's clock is the test's."""
    days = Days(house)
    days.configure("enabled = true")

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return days.now.astimezone(UTC)

    for module in ("schedulers.base", "triggers.interval"):
        monkeypatch.setattr(f"apscheduler.{module}.datetime", Clock)
    return days


def said(capsys: pytest.CaptureFixture[str], word: str) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith(word)]


def test_after_three_nights_of_downtime_exactly_one_is_made_up_for(days: Days) -> None:
    days.house.night("2026-03-05T03:00")
    days.start("2026-03-08T09:00")
    days.wake("2026-03-08T09:01")
    assert days.nights() == ["2026-03-05", "2026-03-08"]


def test_after_three_nights_asleep_exactly_one_is_run(days: Days, capsys: pytest.CaptureFixture[str]) -> None:
    days.start("2026-03-05T09:00")
    days.wake("2026-03-08T09:00")
    days.wake("2026-03-08T09:01")
    assert said(capsys, "Night of") == ["Night of 2026-03-05", "Night of 2026-03-08"]


def test_five_restarts_in_a_minute_make_one_night(days: Days, capsys: pytest.CaptureFixture[str]) -> None:
    for second in range(5):
        days.start(f"2026-03-05T03:00:0{second}")
    assert said(capsys, "Night of") == ["Night of 2026-03-05"]


def test_a_week_of_waiting_runs_every_night_once(days: Days, capsys: pytest.CaptureFixture[str]) -> None:
    days.start("2026-03-05T09:00")
    for hour in range(7 * 24):
        days.wake((moment("2026-03-05T10:00") + timedelta(hours=hour)).replace(tzinfo=None).isoformat())
    assert said(capsys, "Night of") == [f"Night of 2026-03-{day:02}" for day in range(5, 13)]


def test_a_night_tried_out_at_a_later_date_does_not_hide_a_missed_one(days: Days) -> None:
    days.house.night("2027-01-01T03:00")
    days.start("2026-03-08T09:00")
    assert days.nights() == ["2026-03-08", "2027-01-01"]


def test_every_night_ends_with_the_time_of_the_next(days: Days, capsys: pytest.CaptureFixture[str]) -> None:
    days.start("2026-03-05T09:00")
    days.wake("2026-03-06T03:00")
    assert said(capsys, "Next night") == [
        "Next night: 2026-03-06 03:00+08:00 (Asia/Shanghai)",
        "Next night: 2026-03-07 03:00+08:00 (Asia/Shanghai)",
    ]


def test_a_night_prints_what_a_night_by_hand_prints(
    days: Days, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand = House(tmp_path_factory.mktemp("by-hand"))
    for house in (days.house, by_hand):
        house.write("memory/2026-03-02.md", GARAGE)
        house.search("garage battery", "2026-03-03T12:00")
    days.start("2026-03-05T03:00")
    printed = capsys.readouterr().out.splitlines()
    expected = CliRunner().invoke(dream, ["--workspace", str(by_hand.root), "--now", "2026-03-05T03:00+08:00"])
    assert printed[:-1] == expected.stdout.splitlines()


def test_with_json_nothing_but_the_nights_is_on_the_output(days: Days, capsys: pytest.CaptureFixture[str]) -> None:
    days.start("2026-03-05T09:00", as_json=True)
    printed = capsys.readouterr()
    assert json.loads(printed.out)["night"] == "2026-03-05"
    assert "Next night" in printed.err


def test_nights_that_are_switched_off_meanwhile_do_not_come_until_they_are_on_again(
    days: Days, capsys: pytest.CaptureFixture[str]
) -> None:
    days.start("2026-03-05T09:00")
    days.configure("enabled = false")
    days.wake("2026-03-06T03:00")
    assert len(said(capsys, "Nights are off")) == 1
    days.configure("enabled = true")
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-07"]


def test_a_changed_time_counts_without_a_restart(days: Days, capsys: pytest.CaptureFixture[str]) -> None:
    days.start("2026-03-05T09:00")
    days.configure('enabled = true\ntime = "0 5 * * *"')
    days.wake("2026-03-05T09:01")
    assert said(capsys, "Next night")[-1] == "Next night: 2026-03-06 05:00+08:00 (Asia/Shanghai)"
    days.wake("2026-03-06T03:00")
    assert days.nights() == ["2026-03-05"]
    days.wake("2026-03-06T05:00")
    assert days.nights() == ["2026-03-05", "2026-03-06"]


def test_wrong_settings_are_told_at_night_and_the_next_night_comes(
    days: Days, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    days.start("2026-03-05T09:00")
    days.configure("enabled = maybe")
    days.wake("2026-03-05T09:01")
    assert (capsys.readouterr().err, caplog.text) == ("", "")
    days.wake("2026-03-06T03:00")
    assert "config.toml" in capsys.readouterr().err
    days.configure("enabled = true")
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-07"]


def test_a_night_that_runs_elsewhere_is_told_and_the_next_one_comes(
    days: Days, capsys: pytest.CaptureFixture[str]
) -> None:
    days.start("2026-03-05T09:00")
    with lock(days.house.root, now=days.now):
        days.wake("2026-03-06T03:00")
    printed = capsys.readouterr()
    assert printed.err.startswith("dream: another night is running here")
    assert printed.out.splitlines()[-1].startswith("Next night: 2026-03-07")
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-07"]


def test_a_bug_shows_and_the_next_night_comes(
    days: Days, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    days.start("2026-03-05T09:00")
    with monkeypatch.context() as patch:
        patch.setattr("cron.command.night", lambda *_, **__: 1 / 0)
        days.wake("2026-03-06T03:00")
    assert "ZeroDivisionError" in caplog.text
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-07"]


def test_no_store_is_held_open_between_nights(days: Days) -> None:
    days.start("2026-03-05T09:00")
    shutil.rmtree(days.house.root / "memory/.dreams")
    days.wake("2026-03-06T03:00")
    assert days.nights() == ["2026-03-06"]


# -- the commands ---------------------------------------------------------------------------------------------------


def call(house: House, *arguments: str) -> Result:
    return CliRunner().invoke(dream, ["--workspace", str(house.root), "schedule", *arguments], prog_name="dream")


def test_to_run_nights_that_are_off_is_refused_and_nothing_happens(house: House) -> None:
    house.write("memory/2026-03-02.md", GARAGE)
    result = call(house, "run")
    (sentence,) = result.stdout.splitlines()
    assert result.exit_code == 1
    assert "enabled = true" in sentence
    assert sorted(path.name for path in house.root.rglob("*")) == ["2026-03-02.md", "2026-06-15.md", "memory"]


def test_the_service_goes_by_the_clock_only(house: House) -> None:
    result = call(house, "run", "--now", "2026-03-05T03:00")
    assert result.exit_code == 2
    assert "dream --now" in result.stderr


def test_the_schedule_names_the_next_three_nights_with_their_zone(house: House) -> None:
    house.write("config.toml", "[dreaming]\nenabled = true\n")
    result = call(house, "show", "--now", "2026-03-05T09:00")
    assert "Schedule    on (0 3 * * *, Asia/Shanghai)" in result.stdout
    for day in ("06", "07", "08"):
        assert f" 2026-03-{day} 03:00+08:00 (Asia/Shanghai)\n" in result.stdout


def test_the_schedule_says_how_to_switch_nights_on(house: House) -> None:
    said = call(house, "show").stdout
    assert "Schedule    off" in said
    assert f"set enabled = true under [dreaming] in {house.root / 'config.toml'}" in said


@pytest.mark.parametrize("arguments", [("show", "--json"), ("--json", "show"), ("--json",)])
def test_the_schedule_keeps_its_json_contract(house: House, arguments: tuple[str, ...]) -> None:
    found = json.loads(call(house, "--now", "2026-03-05T09:00", *arguments).stdout)
    assert found["workspace"] == str(house.root)
    assert found["enabled"] is False
    assert (found["time"], found["timezone"]) == ("0 3 * * *", "Asia/Shanghai")
    assert found["nights"][0] == {"night": "2026-03-06", "at": "2026-03-05T19:00:00+00:00"}
    assert len(found["nights"]) == 3
    assert found["crontab"].splitlines()[-1].startswith("0 3 * * *  /")


def lines_of(root: Path, *, zone: str = "", config: Path | None = None) -> list[str]:
    with opened(root, config=config, environ={}, overrides={"dreaming.timezone": zone}) as home:
        return crontab(Common(workspace=root, config=config, now=None), home).splitlines()


def test_the_line_for_cron_runs_a_night_from_anywhere(tmp_path: Path) -> None:
    root = tmp_path / "my agent's 100%"
    root.mkdir()
    command = lines_of(root)[-1].removeprefix("0 3 * * *  ").replace(r"\%", "%")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(command, shell=True, cwd="/", env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Night of"), done.stderr
    assert (root / "memory/.dreams/recall.db").is_file()


def test_a_percent_sign_does_not_end_the_line_for_cron(tmp_path: Path) -> None:
    root = tmp_path / "100%"
    root.mkdir()
    assert lines_of(root)[-1].endswith(r"/100\%")


def test_the_line_for_cron_names_the_settings_that_were_named(tmp_path: Path) -> None:
    settings = tmp_path / "other.toml"
    settings.write_text('[dreaming]\ntime = "0 5 * * *"\n', encoding="utf-8")
    line = lines_of(tmp_path, config=settings)[-1]
    assert line.startswith("0 5 * * *  ")
    assert shlex.split(line)[-2:] == ["--config", str(settings)]


def test_the_lines_for_cron_name_a_zone_that_is_not_the_machine_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dreaming.config.get_localzone", lambda: BERLIN)
    assert "CRON_TZ=Asia/Kolkata" in lines_of(tmp_path, zone="Asia/Kolkata")
    assert not any("CRON_TZ" in line for line in lines_of(tmp_path, zone="Europe/Berlin"))
    assert not any("CRON_TZ" in line for line in lines_of(tmp_path))


# -- the process ----------------------------------------------------------------------------------------------------

HELD = """
import logging
import cron.command as command
from dreaming.cli import dream

def night(*_, **__):
    print("begun", flush=True)
    input()
    logging.getLogger("apscheduler.scheduler").warning("this is the scheduler's own business")
    print("finished", flush=True)

command.night = night
dream(prog_name="dream")
"""
"""The command line with a night that lasts until a line is written to it."""
STOPPED = """
import os, signal
import cron.command as command
from dreaming.cli import dream

class Pool(command.ThreadPoolExecutor):
    def submit_job(self, *job):
        os.kill(os.getpid(), signal.SIGTERM)
        super().submit_job(*job)

command.ThreadPoolExecutor = Pool
dream(prog_name="dream")
"""
"""The command line, told to stop at the moment a night is handed over."""


@pytest.fixture(autouse=True)
def a_diary(house: House) -> None:
    house.write("memory/2026-06-15.md", "- Boat is called Kestrel\n")


@pytest.fixture
def nights_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAM_DREAMING__ENABLED", "true")
    monkeypatch.setenv("DREAM_DREAMING__TIME", "0 3 1 1 *")  # no night of its own comes while the test runs


@contextmanager
def started(house: House, *program: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, *(program or ("-m", "dreaming")), "schedule", "run", "--workspace", str(house.root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], word: str) -> Iterator[str]:
    assert process.stdout
    for line in process.stdout:
        yield line
        if line.startswith(word):
            return


@pytest.mark.usefixtures("nights_on")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_service_cleanly_and_a_restart_repeats_nothing(house: House, stop: signal.Signals) -> None:
    for expected in ("Night of", "Next night"):
        with started(house) as process:
            (first, *_) = until(process, "Next night")
            process.send_signal(stop)
            assert (process.communicate(timeout=60), process.returncode) == (("", ""), 0)
        assert first.startswith(expected)


@pytest.mark.usefixtures("nights_on")
def test_a_signal_lets_the_night_in_progress_finish(house: House) -> None:
    with started(house, "-c", HELD) as process:
        list(until(process, "begun"))
        process.send_signal(signal.SIGTERM)
        said, complained = process.communicate("\n", timeout=60)
    assert said.startswith("finished\n")
    assert (complained, process.returncode) == ("", 0)


@pytest.mark.usefixtures("nights_on")
def test_a_signal_at_the_moment_a_night_begins_is_not_lost(house: House) -> None:
    with started(house, "-c", STOPPED) as process:
        said, complained = process.communicate(timeout=30)
    assert said.startswith("Night of")
    assert (complained, process.returncode) == ("", 0)
