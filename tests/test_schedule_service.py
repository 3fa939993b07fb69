"""The service with a driven clock: one night a local date, whatever clocks, zones, settings and the machine do."""

import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import tzlocal
from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.base import BaseScheduler
from click.testing import CliRunner
from filelock import FileLock

from cron import record
from cron.crew import Crew, Ended
from cron.nights import LOCK, Ending, Outcome, Turn
from cron.nights import take as real_take
from cron.service import Service
from cron.standing import Named, Standing, standing
from dreaming.cli import dream
from dreaming.home import Home, opened
from house import House, moment
from memory.model import Phase
from workspace.lock import lock

SHANGHAI = ZoneInfo("Asia/Shanghai")
HALF_HOUR = timedelta(minutes=30)


class Stepped(BaseScheduler):  # type: ignore[misc]  # APScheduler has no types
    """A scheduler that wakes when the test says so."""

    woken = 0

    def wakeup(self) -> None:
        self.woken += 1

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)

    def step(self) -> None:
        self._process_jobs()


class Inside(Crew):
    """Nights by the same command line, in this process; `run_for` says for which workspace and moment."""

    def __init__(self) -> None:
        super().__init__(1)
        self.run_for: list[tuple[str, str]] = []

    def run(self, arguments: Sequence[str], *, seconds: float) -> Ended:
        self.run_for.append((arguments[1], arguments[3]))
        done = CliRunner().invoke(dream, list(arguments))
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ended(code=done.exit_code, out=done.stdout, err=done.stderr)


class Failing(Inside):
    """Nights that fail."""

    def run(self, arguments: Sequence[str], *, seconds: float) -> Ended:
        self.run_for.append((arguments[1], arguments[3]))
        return Ended(code=1, out="", err="dream: the disk is full\n")


class Brief(Inside):
    """Nights that only stand in the store, which is held open for years of them."""

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._home = home

    def run(self, arguments: Sequence[str], *, seconds: float) -> Ended:
        now = datetime.fromisoformat(arguments[3])
        self.run_for.append((arguments[1], str(now)))
        self.note(Standing.local_date(standing(Named(), Path(arguments[1])), now), now)
        return Ended(code=0, out="{}", err="")

    def note(self, night: date, now: datetime) -> None:
        with self._home.store.writing():
            self._home.journal.begin(night, now=now)
            for phase in Phase:
                self._home.journal.record_run(night, phase, {}, now=now)
            self._home.journal.finish(night, now=now)


class Clock(datetime):
    """The clock that APScheduler looks at."""

    at: datetime

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        return cls.at.astimezone(UTC)


class Days:
    """A service over workspaces; time goes where the test moves it."""

    def __init__(self, *roots: Path, crew: Inside | None = None) -> None:
        self.roots = roots
        self.crew = crew or Inside()
        self.ticks = 0.0
        self.said: list[tuple[str, str]] = []
        self.health: Path | None = None
        self.set("2026-03-01T00:00")

    @property
    def root(self) -> Path:
        return self.roots[0]

    def set(self, at: str | datetime) -> None:
        if isinstance(at, str):
            at = datetime.fromisoformat(at)
        Clock.at = (at if at.tzinfo else at.replace(tzinfo=SHANGHAI)).astimezone(UTC)

    def start(self, at: str | datetime) -> Service:
        """Start the service, as after the machine was down."""
        self.set(at)
        self.scheduler = Stepped(timezone=UTC, executors={"default": DebugExecutor()})
        self.service = Service(
            named=Named(workspaces=self.roots),
            scheduler=self.scheduler,
            crew=self.crew,
            log=lambda root, sentence, _: self.said.append((str(root), sentence)),
            clock=lambda: Clock.at,
            ticking=lambda: self.ticks,
            health_file=self.health,
        )
        self.service.look()
        self.scheduler.start()
        self.scheduler.step()
        return self.service

    def wake(self, at: str | datetime, *, look: bool = True) -> None:
        """Let time pass, and the service look."""
        before = Clock.at
        self.set(at)
        self.ticks += (Clock.at - before).total_seconds()
        self._look(look=look)

    def jump(self, at: str | datetime, *, look: bool = True) -> None:
        """Let the clock be another while no time passes, as after sleep or when it is set."""
        self.set(at)
        self.ticks += 1
        self._look(look=look)

    def _look(self, *, look: bool) -> None:
        if look:
            self.service.look()
        self.scheduler.step()

    def nights(self, root: Path | None = None) -> list[str]:
        with opened(root or self.root, environ={}) as home:
            return sorted(night.date.isoformat() for night in home.journal.nights(limit=1000))

    def words(self, word: str) -> list[str]:
        return [sentence for _, sentence in self.said if word in sentence]

    def configure(self, text: str, root: Path | None = None) -> None:
        ((root or self.root) / "config.toml").write_text(f"[dreaming]\n{text}\n", encoding="utf-8")


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    monkeypatch.setenv("DREAM_EMBEDDINGS__EMBEDDER", "off")
    for module in ("schedulers.base", "triggers.interval"):
        monkeypatch.setattr(f"apscheduler.{module}.datetime", Clock)
    yield
    monkeypatch.undo()
    tzlocal.reload_localzone()


@pytest.fixture
def days(house: House) -> Days:
    """A workspace whose nights are on."""
    house.write("memory/2026-02-28.md", "- Boat is called Kestrel\n")
    days = Days(house.root)
    days.configure("enabled = true")
    return days


# -- years ----------------------------------------------------------------------------------------------------------

YEARS = [
    ("America/Los_Angeles", 2026, "30 2 * * *"),  # a time that is missing in spring
    ("America/Los_Angeles", 2027, "30 1 * * *"),  # one that comes twice in autumn
    ("Europe/Berlin", 2026, "30 2 * * *"),  # both
    ("Asia/Kolkata", 2026, "0 3 * * *"),
    ("Australia/Lord_Howe", 2026, "45 1 * * *"),  # clocks move by half an hour
    ("Pacific/Apia", 2011, "0 3 * * *"),  # 30 December does not exist
    ("Asia/Shanghai", 2026, "0 3 * * *"),
    ("America/Sao_Paulo", 2018, "0 0 * * *"),  # midnight is missing
    ("America/Santiago", 2026, "15 0 * * *"),
    ("Pacific/Chatham", 2026, "45 2 * * *"),
    ("Africa/Casablanca", 2026, "30 2 * * *"),  # clocks move with Ramadan
    ("Asia/Kathmandu", 2028, "0 3 * * *"),  # a leap year
    ("Europe/London", 2026, "30 1 * * *"),
]
SKIPPED = {date(2011, 12, 30)}


def dates(year: int) -> list[str]:
    first, last = date(year, 1, 1), date(year, 12, 31)
    every = (first + timedelta(days=n) for n in range((last - first).days + 1))
    return [day.isoformat() for day in every if day not in SKIPPED]


@pytest.mark.parametrize(("zone", "year", "time"), YEARS, ids=[f"{zone} {time[:4]}" for zone, _, time in YEARS])
def test_a_year_of_triggers_gives_every_local_date_exactly_one_night(
    zone: str, year: int, time: str, house: House
) -> None:
    house.write("config.toml", f'[dreaming]\nenabled = true\ntime = "{time}"\ntimezone = "{zone}"\n')
    begin, end = (datetime(one, 1, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC) for one in (year, year + 1))
    with opened(house.root, environ={}) as home:
        crew = Brief(home)
        crew.note(date(year - 1, 12, 31), begin - timedelta(hours=20))  # the year before ended well
        days = Days(house.root, crew=crew)
        days.start(begin)
        for n in range(1, (end - begin) // HALF_HOUR):
            days.wake(begin + n * HALF_HOUR, look=n % 24 == 0)
    assert days.nights()[1:] == dates(year)
    assert len(crew.run_for) == len(dates(year))


# -- sleep, restarts, clocks ----------------------------------------------------------------------------------------


def test_after_three_nights_of_downtime_exactly_one_is_made_up_for(days: Days, house: House) -> None:
    house.night("2026-03-05T03:00")
    days.start("2026-03-08T09:00")
    days.wake("2026-03-08T09:01")
    assert days.nights() == ["2026-03-05", "2026-03-08"]


@pytest.mark.parametrize("look", [True, False], ids=["the service sees it first", "the scheduler sees it first"])
def test_after_three_nights_asleep_exactly_one_is_run(days: Days, *, look: bool) -> None:
    days.start("2026-03-05T09:00")
    days.jump("2026-03-08T09:00", look=look)
    days.wake("2026-03-08T09:01")
    assert days.nights() == ["2026-03-05", "2026-03-08"]
    assert len(days.crew.run_for) == 2


def test_every_look_wakes_the_scheduler_whose_waiting_stood_still_while_the_machine_slept(days: Days) -> None:
    days.start("2026-03-05T09:00")
    before = days.scheduler.woken
    days.wake("2026-03-05T09:01")
    assert days.scheduler.woken > before


def test_five_restarts_in_a_minute_make_one_night(days: Days) -> None:
    for second in range(5):
        days.start(f"2026-03-05T03:00:0{second}")
    assert len(days.crew.run_for) == 1


def test_a_time_that_comes_48_times_a_day_makes_one_night(days: Days) -> None:
    days.configure('enabled = true\ntime = "*/30 * * * *"')
    days.start("2026-03-05T00:00")
    for n in range(1, 48):
        days.wake(moment("2026-03-05T00:00") + n * HALF_HOUR)
    assert days.nights() == ["2026-03-05"]
    assert len(days.crew.run_for) == 1


def test_a_clock_that_runs_ahead_for_days_and_is_put_back_gives_every_date_one_night(days: Days) -> None:
    days.start("2026-03-05T04:00")
    days.jump("2026-03-09T04:00")
    days.jump("2026-03-05T05:00")
    for day in range(6, 12):
        days.wake(f"2026-03-{day:02}T03:00")
        days.wake(f"2026-03-{day:02}T12:00")
    assert days.nights() == [f"2026-03-{day:02}" for day in range(5, 12)]
    assert len(days.crew.run_for) == 7  # that of the 9th was run while the clock was ahead


def test_a_clock_that_is_put_back_repeats_no_night(days: Days) -> None:
    days.start("2026-03-05T04:00")
    days.wake("2026-03-06T03:00")
    days.jump("2026-03-05T02:00")
    days.wake("2026-03-05T03:00")
    days.wake("2026-03-06T03:00")
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-06", "2026-03-07"]
    assert len(days.crew.run_for) == 3


def test_a_machine_that_travels_keeps_one_night_a_local_date(days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    days.start("2026-03-05T03:00+08:00")
    monkeypatch.setenv("TZ", "America/Los_Angeles")  # where it is the 4th again
    days.wake("2026-03-04T12:00-08:00")
    for day in (5, 6):
        days.wake(f"2026-03-{day:02}T03:00-08:00")
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    days.wake("2026-03-07T12:00+08:00")
    days.wake("2026-03-08T03:00+08:00")
    assert days.nights() == ["2026-03-04", "2026-03-05", "2026-03-06", "2026-03-07", "2026-03-08"]
    assert len(days.crew.run_for) == 5


def test_the_zone_of_the_settings_wins_over_that_of_the_machine(days: Days) -> None:
    days.configure('enabled = true\ntimezone = "America/Los_Angeles"')
    days.start("2026-03-04T11:30+00:00")
    days.wake("2026-03-05T10:59+00:00")
    assert days.nights() == ["2026-03-04"]
    days.wake("2026-03-05T11:00+00:00")  # 03:00 there
    assert days.nights() == ["2026-03-04", "2026-03-05"]


@pytest.mark.parametrize(("before", "at"), [("2028-02-28", "2028-02-29"), ("2027-12-31", "2028-01-01")])
def test_leap_days_and_new_years_have_their_nights(days: Days, before: str, at: str) -> None:
    days.start(f"{before}T03:00")
    days.wake(f"{at}T03:00")
    assert days.nights() == [before, at]


def test_a_week_of_waiting_runs_every_night_once(days: Days) -> None:
    days.start("2026-03-05T09:00")
    for hour in range(1, 7 * 24):
        days.wake(moment("2026-03-05T09:00") + timedelta(hours=hour))
    assert days.nights() == [f"2026-03-{day:02}" for day in range(5, 13)]
    assert len(days.crew.run_for) == 8


def test_a_night_tried_out_at_a_later_date_does_not_hide_a_missed_one(days: Days, house: House) -> None:
    house.night("2027-01-01T03:00")
    days.start("2026-03-08T09:00")
    assert days.nights() == ["2026-03-08", "2027-01-01"]


def test_a_night_that_did_not_finish_is_taken_up_again(days: Days) -> None:
    with opened(days.root, environ={}) as home, home.store.writing():
        home.journal.begin(date(2026, 3, 5), now=moment("2026-03-05T03:00"))
    days.start("2026-03-05T03:10")
    assert days.words("the night of 2026-03-05: ")


def test_two_schedulers_make_one_night(house: House) -> None:
    first, second = Days(house.root), Days(house.root)
    first.configure("enabled = true")
    first.start("2026-03-04T09:00")
    second.start("2026-03-04T09:00")
    for at in ("2026-03-05T03:00", "2026-03-06T03:00"):
        second.wake(at)
        first.wake(at)
    assert len(first.crew.run_for) + len(second.crew.run_for) == 3
    assert first.nights() == ["2026-03-04", "2026-03-05", "2026-03-06"]


def test_a_scheduler_takes_over_when_the_one_at_work_is_gone(days: Days) -> None:
    (days.root / LOCK).parent.mkdir(parents=True)
    with FileLock(days.root / LOCK):
        days.start("2026-03-05T03:00")
        days.wake("2026-03-05T03:06")
        assert days.nights() == []
    days.wake("2026-03-05T03:12")
    assert days.nights() == ["2026-03-05"]
    assert len(days.words("another scheduler")) == 1


def test_a_scheduler_leaves_a_night_to_the_one_at_work_that_ends_it(days: Days) -> None:
    days.start("2026-03-05T09:00")
    with FileLock(days.root / LOCK):
        days.wake("2026-03-06T03:00")
        House(days.root).night("2026-03-06T03:00")
    days.health = days.service.health_file = days.root / "health.json"
    days.wake("2026-03-06T03:06")
    assert len(days.crew.run_for) == 1
    assert json.loads(days.health.read_text(encoding="utf-8"))["workspaces"][0]["last_night"] == "2026-03-06"


def test_a_night_that_ran_by_hand_and_was_left_undone_is_taken_up_by_the_service(days: Days) -> None:
    days.start("2026-03-05T09:00")
    with lock(days.root, now=moment("2026-03-06T03:00")):
        days.wake("2026-03-06T03:00")
    days.wake("2026-03-06T03:06")
    assert days.nights() == ["2026-03-05", "2026-03-06"]


# -- settings -------------------------------------------------------------------------------------------------------


def jobs(days: Days) -> list[str]:
    return [job.id for job in days.scheduler.get_jobs()]


def test_switching_off_and_on_leaves_exactly_one_job(days: Days) -> None:
    days.start("2026-03-05T09:00")
    for _ in range(3):
        days.configure("enabled = false")
        days.wake("2026-03-05T10:00")
        assert jobs(days) == []
        days.configure("enabled = true")
        days.wake("2026-03-05T11:00")
    assert jobs(days) == [str(days.root)]


def test_nights_that_are_switched_off_do_not_come_and_it_is_said_once(days: Days) -> None:
    days.start("2026-03-05T09:00")
    days.configure("enabled = false")
    for hour in range(24):
        days.wake(moment("2026-03-06T00:00") + timedelta(hours=hour))
    assert len(days.words("nights are off; set enabled = true")) == 1
    assert days.nights() == ["2026-03-05"]


def test_a_changed_time_counts_without_a_restart(days: Days) -> None:
    days.start("2026-03-05T09:00")
    days.configure('enabled = true\ntime = "0 5 * * *"')
    days.wake("2026-03-05T09:01")
    assert days.words("next night")[-1] == "next night: 2026-03-06 05:00+08:00 (Asia/Shanghai)"
    days.wake("2026-03-06T03:00")
    assert days.nights() == ["2026-03-05"]
    days.wake("2026-03-06T05:00")
    assert days.nights() == ["2026-03-05", "2026-03-06"]


def test_wrong_settings_take_no_night_away_and_are_told_at_night(days: Days) -> None:
    days.start("2026-03-05T09:00")
    days.configure("enabled = maybe")
    days.wake("2026-03-05T09:01")
    assert jobs(days) == [str(days.root)]
    assert days.words("config.toml") == []
    days.wake("2026-03-06T03:00")
    assert "FAILED: line 2: found" in days.words("config.toml")[0]
    days.configure("enabled = true")
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-07"]


def test_settings_that_are_wrong_at_first_are_told_once_and_heeded_when_they_are_mended(days: Days) -> None:
    days.configure("enabled = maybe")
    days.start("2026-03-05T09:00")
    days.wake("2026-03-05T09:01")
    assert len(days.words("config.toml")) == 1
    days.configure("enabled = true")
    days.wake("2026-03-05T09:02")
    assert days.nights() == ["2026-03-05"]


def test_workspaces_that_come_and_go_get_and_lose_their_nights(tmp_path: Path) -> None:
    days = Days(tmp_path / "*")
    (tmp_path / "a").mkdir()
    days.configure("enabled = true", tmp_path / "a")
    days.start("2026-03-05T09:00")
    (tmp_path / "b").mkdir()
    days.configure("enabled = true", tmp_path / "b")
    days.wake("2026-03-05T09:01")
    assert jobs(days) == [str(tmp_path / name) for name in "ab"]
    shutil.rmtree(tmp_path / "a")
    days.wake("2026-03-05T09:02")
    assert jobs(days) == [str(tmp_path / "b")]
    assert (str(tmp_path / "a"), "is no workspace any more") in days.said


# -- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_broken_workspace_does_not_delay_the_others(tmp_path: Path) -> None:
    days = Days(*(tmp_path / name for name in "abc"))
    for name in "abc":
        (tmp_path / name / "memory/.dreams").mkdir(parents=True)
        days.configure("enabled = true", tmp_path / name)
    (tmp_path / "b/memory/.dreams/recall.db").write_bytes(b"no store" * 1000)
    days.start("2026-03-05T03:00")
    assert days.nights(tmp_path / "a") == days.nights(tmp_path / "c") == ["2026-03-05"]
    assert [root for root, sentence in days.said if "FAILED" in sentence] == [str(tmp_path / "b")]


def test_a_night_that_runs_elsewhere_is_told_and_the_next_one_comes(days: Days) -> None:
    days.start("2026-03-05T09:00")
    with lock(days.root, now=moment("2026-03-06T03:00")):
        days.wake("2026-03-06T03:00")
    assert not days.words("FAILED")
    assert len(days.words("another night is running here")) == 1
    assert days.words("next night")[-1].startswith("next night: 2026-03-07")
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-07"]


def test_a_bug_shows_and_the_next_night_comes(days: Days, caplog: pytest.LogCaptureFixture) -> None:
    def broken(turn: Turn, crew: Crew) -> Outcome:
        raise ZeroDivisionError

    days.start("2026-03-05T09:00")
    days.service.take = broken
    days.wake("2026-03-06T03:00")
    assert "ZeroDivisionError" in caplog.text
    days.service.take = real_take
    days.wake("2026-03-07T03:00")
    assert days.nights() == ["2026-03-05", "2026-03-07"]


def test_a_night_that_fails_three_times_waits_for_the_next_date(days: Days) -> None:
    days.crew = Failing()
    for second in range(5):
        days.start(f"2026-03-05T03:00:0{second}")
    assert len(days.crew.run_for) == 3
    assert days.words("it failed 3 times tonight and waits for the next night")
    days.wake("2026-03-06T03:00")
    kept = record.read(days.root)
    assert kept
    assert (kept.night, kept.in_a_row, kept.failure) == ("2026-03-06", 4, "the disk is full")


def test_a_night_that_ends_well_begins_the_count_of_failures_anew(days: Days) -> None:
    days.crew = Failing()
    days.start("2026-03-05T03:00")
    days.crew = Inside()
    days.start("2026-03-05T03:01")
    kept = record.read(days.root)
    assert kept
    assert (kept.in_a_row, kept.failure) == (0, "")


def test_no_store_is_held_open_between_nights(days: Days) -> None:
    days.start("2026-03-05T09:00")
    shutil.rmtree(days.root / "memory/.dreams")
    days.wake("2026-03-06T03:00")
    assert days.nights() == ["2026-03-06"]


# -- what is told ---------------------------------------------------------------------------------------------------


def test_every_event_is_one_line(days: Days) -> None:
    days.start("2026-03-05T09:00")
    assert [sentence.partition(" (")[0] for _, sentence in days.said] == [
        "the night of 2026-03-05 begins",
        "the night of 2026-03-05: light staged 0, rem truths 0, deep promoted 0, deep refused 0",
        "next night: 2026-03-06 03:00+08:00",
    ]


def test_the_health_file_says_how_each_workspace_stands(days: Days, tmp_path_factory: pytest.TempPathFactory) -> None:
    days.health = tmp_path_factory.mktemp("health") / "health.json"
    days.start("2026-03-05T09:00")
    days.wake("2026-03-05T09:01")
    found = json.loads(days.health.read_text(encoding="utf-8"))
    assert found["time"] == "2026-03-05T01:01:00+00:00"
    (place,) = found["workspaces"]
    assert place["workspace"] == str(days.root)
    assert (place["last_night"], place["next_night"]) == ("2026-03-05", "2026-03-06T03:00:00+08:00")
    assert (place["outcome"], place["enabled"]) == (Ending.DONE.value, True)
    assert [path.name for path in days.health.parent.iterdir()] == ["health.json"]


def test_a_health_file_that_cannot_be_written_is_told_once_and_nights_go_on(days: Days) -> None:
    days.health = days.root / "nowhere/health.json"
    days.start("2026-03-05T09:00")
    days.wake("2026-03-05T09:01")
    assert len(days.words("cannot be written")) == 1
    assert days.nights() == ["2026-03-05"]
