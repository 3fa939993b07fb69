"""When nights come, by themselves: once a local date, whatever the clocks, the machine and the settings do."""

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cron.schedule import NightTrigger, daily, due, latest, oddities, upcoming
from dreaming.cli import dream
from house import House

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


# -- what clocks do, in words ----------------------------------------------------------------------------------------


def odd(time: str, zone: str, at: str = "2026-01-01T00:00+00:00") -> list[tuple[str, bool]]:
    found = oddities(time, ZoneInfo(zone), after=datetime.fromisoformat(at))
    return [(one.at.isoformat(timespec="minutes"), one.skipped) for one in found]


def test_nights_whose_time_clocks_skip_or_repeat_are_known_beforehand() -> None:
    assert odd("30 2 * * *", "Europe/Berlin") == [("2026-03-29T03:00+02:00", True), ("2026-10-25T02:30+02:00", False)]
    assert (
        odd("0 0 * * *", "America/Sao_Paulo", "2018-01-01T00:00+00:00")
        == [
            ("2018-02-18T00:00-03:00", False),
            ("2018-11-04T01:00-02:00", True),
        ][1:]
    )


def test_most_nights_are_moved_by_no_clock() -> None:
    assert odd("0 4 * * *", "Europe/Berlin") == odd("0 3 * * *", "Asia/Kolkata") == []


@pytest.mark.parametrize(
    ("time", "at"),
    [("0 3 * * *", (3, 0)), ("5 23 * * *", (23, 5)), ("0 3 * * 1", None), ("*/5 3 * * *", None), ("0 3,4 * * *", None)],
)
def test_a_time_of_every_day_is_told_from_all_others(time: str, at: tuple[int, int] | None) -> None:
    assert daily(time) == at


# -- the commands ---------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", "Asia/Shanghai")
    monkeypatch.setenv("DREAM_EMBEDDINGS__EMBEDDER", "off")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))


def call(house: House, *arguments: str) -> Result:
    return CliRunner().invoke(dream, ["--workspace", str(house.root), "schedule", *arguments], prog_name="dream")


def test_to_run_nights_that_are_off_is_refused_and_nothing_happens(house: House) -> None:
    house.write("memory/2026-03-02.md", GARAGE)
    with started(house) as process:
        said, complained = process.communicate(timeout=60)
    assert (process.returncode, complained) == (1, "")
    (sentence,) = said.splitlines()
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
    assert "At 03:00 every day, by the clocks of Asia/Shanghai" in result.stdout
    for day in ("06", "07", "08"):
        assert f" 2026-03-{day} 03:00+08:00 (Asia/Shanghai)\n" in result.stdout


def test_the_schedule_says_which_nights_the_clocks_move(house: House) -> None:
    house.write("config.toml", '[dreaming]\ntime = "30 2 * * *"\n')
    found = CliRunner(env={"DREAM_DREAMING__TIMEZONE": "Europe/Berlin"})
    said = found.invoke(dream, ["-w", str(house.root), "schedule", "--now", "2026-01-05T09:00"]).stdout
    assert "2026-03-29: clocks skip that time: it comes at 03:00+02:00" in said
    assert "2026-10-25: clocks repeat that time: it comes once, at 02:30+02:00" in said


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
    assert "--all" in found["crontab"].splitlines()[-1]


def test_the_schedule_of_several_workspaces_is_a_list(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name / "memory").mkdir(parents=True)
    arguments = ["-w", str(tmp_path / "a"), "-w", str(tmp_path / "b"), "schedule", "--json"]
    found = json.loads(CliRunner().invoke(dream, arguments).stdout)
    assert [one["workspace"] for one in found["workspaces"]] == [str(tmp_path / "a"), str(tmp_path / "b")]


# -- the process ----------------------------------------------------------------------------------------------------

WAITING = ["sh", "-c", "echo begun >&2; while [ ! -e go ]; do sleep 0.05; done; echo The boat lies still."]
"""A narrator that lets a night last until there is a file `go` in the workspace."""
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
        if word in line:
            return


@pytest.mark.usefixtures("nights_on")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_service_cleanly_and_a_restart_repeats_nothing(house: House, stop: signal.Signals) -> None:
    for expected in ("begins", "next night"):
        with started(house) as process:
            (first, *_) = until(process, "next night")
            process.send_signal(stop)
            assert (process.communicate(timeout=60), process.returncode) == (("", ""), 0)
        assert expected in first


def slow_night(house: House) -> None:
    """Let the entry of a night wait for a file; something is told of what was written today."""
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date()
    house.write(f"memory/{today}.md", "- Boat is called Kestrel\n- Mooring is number four\n")
    command = json.dumps([*WAITING[:2], f"cd {shlex.quote(str(house.root))}; touch begun; {WAITING[2]}"])
    house.write("config.toml", f'[narrative]\nnarrator = "command"\ncommand = {command}\ntimeout_seconds = 60\n')


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        Event().wait(0.1)
    raise AssertionError(path)


def stands(house: House, *command: str) -> dict[str, Any]:
    said = CliRunner().invoke(dream, [*(command or ("status", "--all")), "-w", str(house.root), "--json"]).stdout
    found: dict[str, Any] = json.loads(said)
    return found if command else found["workspaces"][0]


@pytest.mark.usefixtures("nights_on")
def test_a_signal_lets_the_night_in_progress_finish(house: House) -> None:
    slow_night(house)
    with started(house) as process:
        wait_for(house.root / "begun")
        process.send_signal(signal.SIGTERM)
        house.write("go", "")
        said, complained = process.communicate(timeout=60)
    assert (complained, process.returncode) == ("", 0)
    assert "deep promoted 0" in said
    assert stands(house)["finished"]


@pytest.mark.usefixtures("nights_on")
def test_a_second_signal_ends_the_night_and_the_next_start_goes_on(house: House) -> None:
    slow_night(house)
    with started(house) as process:
        wait_for(house.root / "begun")
        process.send_signal(signal.SIGTERM)
        list(until(process, "begins"))
        Event().wait(1)
        process.send_signal(signal.SIGTERM)
        said, complained = process.communicate(timeout=60)
    assert (complained, process.returncode) == ("", 0)
    assert "stopped; what was decided is kept" in said
    house.write("go", "")
    with started(house) as process:
        list(until(process, "next night"))
    assert stands(house)["finished"]
    told = stands(house, "status")["told"]
    assert house.read("DREAMS.md").count("\n---\n") == len([one for one in told if one["narrator"]]) > 0


@pytest.mark.usefixtures("nights_on")
def test_a_signal_at_the_moment_a_night_begins_is_not_lost(house: House) -> None:
    with started(house, "-c", STOPPED) as process:
        said, complained = process.communicate(timeout=60)
    assert (complained, process.returncode) == ("", 0)
    assert said.count("next night") <= 1


@pytest.mark.usefixtures("nights_on")
def test_with_json_every_event_is_a_document_on_a_line(house: House) -> None:
    with started(house, "-m", "dreaming", "--json") as process:
        lines = [json.loads(line) for line in until(process, "next night")]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert [one.get("outcome") for one in lines] == ["running", "done", None]
    assert lines[1]["report"]["problems"] == []
    assert {one["workspace"] for one in lines} == {str(house.root)}
