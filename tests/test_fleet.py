"""The nights of many workspaces: which they are, what is due, who is in whose way, and how they stand together."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cron.crew import SLOW_PER_PLACE, Crew, Ended, StoppedError
from cron.nights import Ending, Outcome, Turn, take
from cron.standing import Named
from dreaming.cli import dream
from dreaming.fleet import Fleet, fleet, workers
from dreaming.gates import in_words
from dreaming.home import opened
from dreaming.layers import ConfigError, load, load_shared
from house import House

ROOT = Path(__file__).parent.parent
NOW = "2026-06-18T03:00"


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the user's settings; a night's process finds the code of this checkout."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", "Asia/Shanghai")
    monkeypatch.setenv("DREAM_EMBEDDINGS__EMBEDDER", "off")
    settings = home / ".config/nightly-dreaming"
    settings.mkdir(parents=True)
    return settings


def house_at(root: Path, text: str = "- Boat is called Kestrel\n", *, on: bool = True) -> House:
    house = House(root)
    house.write("memory/2026-06-17.md", text)
    if on:
        house.write("config.toml", "[dreaming]\nenabled = true\n")
    return house


def found(*named: Path | str) -> Fleet:
    return fleet([Path(one) for one in named], config=None, environ=os.environ)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(dream, list(map(str, arguments)), prog_name="dream")


def every(*arguments: object, now: str = NOW) -> Result:
    return call("--all", "--now", now, *arguments)


def outcomes(result: Result) -> dict[str, str]:
    return {Path(one["workspace"]).name: one["outcome"] for one in json.loads(result.stdout)["workspaces"]}


# -- which ----------------------------------------------------------------------------------------------------------


def test_a_pattern_names_the_folders_that_hold_a_workspace(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/config.toml").touch()
    (tmp_path / "photos").mkdir()
    (tmp_path / "notes.txt").touch()
    assert found(tmp_path / "*").roots == (tmp_path / "a", tmp_path / "b")


def test_a_folder_that_is_called_like_a_pattern_is_itself(tmp_path: Path) -> None:
    house_at(tmp_path / "[a]")
    house_at(tmp_path / "a")
    assert found(tmp_path / "[a]").roots == (tmp_path / "[a]",)


def test_two_paths_to_one_folder_are_one_workspace(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    named = (tmp_path / "link", tmp_path / "a", tmp_path / "a/../a", f"{tmp_path}/a/", tmp_path / "*")
    assert found(*named).roots == (tmp_path / "a",)


def test_a_folder_that_nobody_may_look_into_takes_no_night_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        house_at(tmp_path / name)
    closed(tmp_path / "b", monkeypatch)
    result = every("-w", tmp_path / "*", "--json")
    assert outcomes(result) == {"a": "done", "b": "failed", "c": "done"}
    assert "config.toml cannot be read (Permission denied)" in result.stderr
    said = call("status", "--all", "-w", tmp_path / "*")
    assert [said.stdout.count(f"{tmp_path / name}\n") for name in "abc"] == [1, 0, 1]


def closed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look into a folder, not even an administrator, in this process."""
    folder.chmod(0)
    stat, read = Path.stat, Path.read_bytes

    def allowed(path: Path) -> Path:
        if folder in path.parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return path

    monkeypatch.setattr(Path, "stat", lambda path, **rest: stat(allowed(path), **rest))
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(allowed(path)))


def test_a_workspace_that_goes_while_it_is_looked_at_takes_no_night_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        house_at(tmp_path / name)
    monkeypatch.setattr("dreaming.fleet.matches", lambda _: iter((tmp_path / "gone", tmp_path / "b")))
    assert found(tmp_path / "*").roots == (tmp_path / "b",)


def test_the_settings_of_the_user_name_the_workspaces(tmp_path: Path, user: Path) -> None:
    house_at(tmp_path / "a")
    (user / "config.toml").write_text(f'[schedule]\nworkspaces = ["{tmp_path}/*"]\n', encoding="utf-8")
    assert found().roots == (tmp_path / "a",)
    assert found(tmp_path / "a").shared is False


def test_a_home_folder_and_the_folder_of_the_settings_are_put_in_place(user: Path) -> None:
    house_at(Path.home() / "agents/a")
    house_at(user / "b")
    (user / "config.toml").write_text('[schedule]\nworkspaces = ["~/agents/*", "b"]\n', encoding="utf-8")
    assert found().roots == (Path.home() / "agents/a", user / "b")


def test_the_settings_of_a_workspace_name_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = house_at(tmp_path / "a")
    house.write("config.toml", '[schedule]\nworkspaces = ["/etc/*"]\n')
    monkeypatch.chdir(house.root)
    assert found().roots == (house.root,)


def test_without_names_and_settings_it_is_the_one_workspace_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house_at(tmp_path / "a")
    monkeypatch.chdir(tmp_path / "a")
    assert found().roots == (tmp_path / "a",)


def test_workers_are_one_less_than_cores_and_at_least_one(user: Path) -> None:
    settings = load_shared(config=None, environ={}, user_config=None)
    assert workers(settings) == max(1, (os.cpu_count() or 1) - 1)
    assert workers(load_shared(config=None, environ={"DREAM_SCHEDULE__WORKERS": "5"}, user_config=None)) == 5


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("SCHEDULE__WORKSPACES", "3"),
        ("SCHEDULE__WORKERS", "65"),
        ("SCHEDULE__WORKERS", "-1"),
        ("DREAMING__LIMIT_MINUTES", "0"),
        ("DREAMING__LIMIT_MINUTES", "1441"),
        ("HOOKS__COMMAND", "told"),
        ("HOOKS__URL", "ftp://example.org/"),
        ("HOOKS__URL", "hc-ping.com/uuid"),
        ("HOOKS__TIMEOUT_SECONDS", "0.5"),
    ],
)
def test_settings_of_nights_that_are_not_legal_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key.lower().replace("__", ".")):
        load(workspace=None, environ={f"DREAM_{key}": value}, user_config=None)


@pytest.mark.parametrize("command", [("search", "boat"), ("explain",), (), ("status",)])
def test_what_goes_for_one_workspace_refuses_several(tmp_path: Path, command: Sequence[str]) -> None:
    result = call("-w", tmp_path, "-w", tmp_path / "b", *command)
    assert result.exit_code == 2
    assert "one workspace" in result.stderr


# -- what is due ----------------------------------------------------------------------------------------------------


def test_all_runs_what_is_due_and_says_a_line_each(tmp_path: Path) -> None:
    for name in "abc":
        house_at(tmp_path / name, on=name != "c")
    first = every("-w", tmp_path / "*")
    assert first.exit_code == 0
    assert [line.partition("  ")[2].partition(":")[0] for line in first.stdout.splitlines()] == [
        "the night of 2026-06-18",
        "the night of 2026-06-18",
        f"nights are off; set enabled = true under [dreaming] in {tmp_path}/c/config.toml, or run one by hand with",
    ]
    again = every("-w", tmp_path / "*", "--json")
    assert outcomes(again) == {"a": "not due", "b": "not due", "c": "off"}
    assert not (tmp_path / "c/memory/.dreams").exists()


def test_force_runs_what_is_done_but_not_what_is_off(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    house_at(tmp_path / "b", on=False)
    every("-w", tmp_path / "a")
    assert outcomes(every("-w", tmp_path / "*", "--force", "--json")) == {"a": "done", "b": "off"}


def test_48_calls_a_day_make_one_night(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    start = datetime(2026, 6, 18)  # noqa: DTZ001  the option is local
    times = [(start + timedelta(minutes=30 * n)).isoformat() for n in range(48)]
    ran = [outcomes(every("-w", tmp_path / "a", "--json", now=at))["a"] for at in times]
    assert ran.count("done") == 1  # that of the 17th was missed, and is made up for at once
    assert set(ran) == {"done", "not due"}


def test_before_its_time_a_night_is_not_due(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    every("-w", tmp_path / "a", now="2026-06-17T03:00")
    assert outcomes(every("-w", tmp_path / "a", "--json", now="2026-06-18T02:59"))["a"] == "not due"
    assert outcomes(every("-w", tmp_path / "a", "--json", now="2026-06-18T03:00"))["a"] == "done"


def test_a_phase_by_hand_after_midnight_is_not_the_night_of_that_date(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    assert call("-w", house.root, "--now", "2026-06-18T00:30", "--phase", "light").exit_code == 0
    assert outcomes(every("-w", house.root, "--json")) == {"a": "done"}
    assert outcomes(every("-w", house.root, "--json")) == {"a": "not due"}


def test_a_whole_night_by_hand_is_the_night_of_that_date(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    assert call("-w", house.root, "--now", "2026-06-18T00:30").exit_code == 0
    assert outcomes(every("-w", house.root, "--json")) == {"a": "not due"}


def test_the_worst_code_is_that_of_all(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    house_at(tmp_path / "b").write("config.toml", "[dreaming]\nenabled = true\ntime = 3\n")
    result = every("-w", tmp_path / "a", "-w", tmp_path / "b", "-w", tmp_path / "nowhere")
    assert result.exit_code == 2
    assert "the night of 2026-06-18" in result.stdout
    assert "dreaming.time" in result.stderr
    assert "nowhere is no folder" in result.stderr


def test_a_pattern_without_a_workspace_says_what_one_is(tmp_path: Path) -> None:
    result = every("-w", tmp_path / "*")
    assert result.exit_code == 2
    assert "dream init" in result.stderr


@pytest.mark.parametrize("wrong", [("--force",), ("--all", "--dry-run"), ("--all", "--phase", "rem")])
def test_flags_that_do_not_go_together_are_refused(tmp_path: Path, wrong: Sequence[str]) -> None:
    assert call("-w", tmp_path, *wrong).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_each_workspace_has_its_own_time_and_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DREAM_DREAMING__TIMEZONE")
    for name, zone, at in (("a", "Asia/Shanghai", "0 3 * * *"), ("b", "Europe/Berlin", "30 4 * * *")):
        settings = f'[dreaming]\nenabled = true\ntime = "{at}"\ntimezone = "{zone}"\n'
        house_at(tmp_path / name).write("config.toml", settings)
        every("-w", tmp_path / name, now="2026-06-17T05:00")
    ran = [
        outcomes(every("-w", tmp_path / "*", "--json", now=at))
        for at in ("2026-06-17T19:00+00:00", "2026-06-18T02:29+00:00", "2026-06-18T02:30+00:00")
    ]
    assert ran == [{"a": "done", "b": "not due"}, {"a": "not due", "b": "not due"}, {"a": "not due", "b": "done"}]


# -- processes ------------------------------------------------------------------------------------------------------


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dreaming", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def test_two_schedulers_at_once_make_one_night(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    processes = [start("--all", "--now", NOW, "-w", tmp_path / "a", "--json") for _ in range(3)]
    said = [process.communicate(timeout=100)[0] for process in processes]
    endings = sorted(json.loads(text)["workspaces"][0]["outcome"] for text in said)
    assert endings.count("done") == 1
    assert set(endings) <= {"done", "running", "not due"}


def run(crew: Crew, *arguments: object, seconds: float) -> Ended:
    with crew.place():
        return crew.run([*map(str, arguments), "--now", f"{NOW}+08:00", "--json"], seconds=seconds)


def begun(folder: Path) -> None:
    """Wait until a night has begun in one of the workspaces."""
    for _ in range(600):
        if list(folder.glob("*/memory/.dreams/night.lock")):
            return
        time.sleep(0.1)
    raise AssertionError(folder)


SLEEPING = """
[narrative]
narrator = "command"
command = ["sh", "-c", "echo $$ > $DREAM_TEST_PIDS/$$; exec sleep 300"]
timeout_seconds = 300
"""


@pytest.fixture(autouse=True)
def pids(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The narrators that were started; none of them outlives its night."""
    folder = tmp_path_factory.mktemp("pids")
    monkeypatch.setenv("DREAM_TEST_PIDS", str(folder))
    yield folder
    for path in folder.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


def test_a_night_beyond_its_limit_is_stopped_with_all_it_started_and_taken_up_again(tmp_path: Path, pids: Path) -> None:
    house = house_at(tmp_path / "a", "- Boat is called Kestrel\n- Mooring is number four\n")
    house.write("config.toml", f"[dreaming]\nenabled = true\n{SLEEPING}")
    crew = Crew(1, grace=20)
    ended = run(crew, "-w", house.root, seconds=8)
    assert (ended.late, list(pids.iterdir()) != []) == (True, True)
    house.write("config.toml", "[dreaming]\nenabled = true\n")
    assert every("-w", house.root, "--force").exit_code == 0
    assert house.read("DREAMS.md").count("## Light Sleep") == 1


def test_a_night_that_is_killed_leaves_no_narrator_behind(tmp_path: Path, pids: Path) -> None:
    house = house_at(tmp_path / "a", "- Boat is called Kestrel\n- Mooring is number four\n")
    house.write("config.toml", f"[dreaming]\nenabled = true\n{SLEEPING}")
    night = start("-w", house.root, "--now", NOW)
    while night.poll() is None and not list(pids.iterdir()):
        time.sleep(0.05)
    night.kill()
    night.communicate(timeout=60)
    (noted,) = pids.iterdir()
    for _ in range(100):
        if not is_alive(int(noted.name)):
            break
        time.sleep(0.1)
    assert not is_alive(int(noted.name))
    noted.unlink()  # nobody may have asked yet how it ended


def is_alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return not state.startswith("Z") and state != ""


def test_a_slow_night_does_not_delay_the_others(tmp_path: Path) -> None:
    slow = house_at(tmp_path / "slow", "- Boat is called Kestrel\n- Mooring is number four\n")
    slow.write("config.toml", f"[dreaming]\nenabled = true\n{SLEEPING}")
    quick = house_at(tmp_path / "quick")
    crew = Crew(1, patience=3)
    first = threading.Thread(target=run, args=(crew, "-w", slow.root), kwargs={"seconds": 100})
    first.start()
    begun(slow.root.parent)
    ended = run(crew, "-w", quick.root, seconds=60)
    assert ended.code == 0
    assert first.is_alive()
    crew.end()
    first.join(timeout=30)
    assert not first.is_alive()


class Hanging(Crew):
    """A crew whose nights hang until they are let go, but for those of workspaces whose name begins with `quick`."""

    def __init__(self, places: int, *, patience: float) -> None:
        super().__init__(places, patience=patience)
        self.let_go = threading.Event()
        self.hanging = threading.Semaphore(0)

    def run(self, arguments: Sequence[str], *, seconds: float) -> Ended:
        if not Path(arguments[1]).name.startswith("quick"):
            self.hanging.release()
            assert self.let_go.wait(60)
        return Ended(code=0, out="{}", err="")


def test_however_many_nights_are_slow_one_place_is_for_the_quick_ones(tmp_path: Path) -> None:
    crew = Hanging(1, patience=0)
    slow = [turn_of(house_at(tmp_path / f"slow{n}")) for n in range(SLOW_PER_PLACE)]
    quick = turn_of(house_at(tmp_path / "quick"))
    with ThreadPoolExecutor(max_workers=crew.threads) as pool:
        waiting = [pool.submit(take, turn, crew) for turn in slow]
        try:
            assert pool.submit(take, quick, crew).result(timeout=30).ending is Ending.DONE
            assert not any(one.done() for one in waiting)
        finally:
            crew.let_go.set()


def test_beside_so_many_slow_nights_no_more_begin_than_there_are_places(tmp_path: Path) -> None:
    crew = Hanging(1, patience=0)
    turns = [turn_of(house_at(tmp_path / f"slow{n}")) for n in range(SLOW_PER_PLACE + 1)]
    quick = turn_of(house_at(tmp_path / "quick"))
    with ThreadPoolExecutor(max_workers=crew.threads) as pool:
        ended = [pool.submit(take, turn, crew) for turn in turns]
        for _ in turns:
            assert crew.hanging.acquire(timeout=30)
        last = pool.submit(take, quick, crew)
        with pytest.raises(TimeoutError):
            last.result(timeout=0.3)
        crew.let_go.set()
        assert {one.result(timeout=30).ending for one in (*ended, last)} == {Ending.DONE}


def test_a_night_that_waits_for_a_place_hears_that_no_more_begin(tmp_path: Path) -> None:
    crew = Hanging(1, patience=60)
    turns = [turn_of(house_at(tmp_path / f"slow{n}")) for n in range(3)]
    with ThreadPoolExecutor(max_workers=crew.threads) as pool:
        ended = [pool.submit(take, turn, crew) for turn in turns]
        assert crew.hanging.acquire(timeout=30)
        crew.stop()
        stopped = [one.result().ending for one in islice(as_completed(ended, timeout=30), 2)]
        crew.let_go.set()
    assert stopped == [Ending.STOPPED, Ending.STOPPED]


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_nights_in_progress_and_begins_no_more(tmp_path: Path, stop: signal.Signals) -> None:
    for name in "ab":
        house = house_at(tmp_path / name, "- Boat is called Kestrel\n- Mooring is number four\n")
        house.write("config.toml", f"[dreaming]\nenabled = true\n{SLEEPING}")
    process = start("--all", "--now", NOW, "-w", tmp_path / "*", "--json")
    begun(tmp_path)
    process.send_signal(stop)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + stop
    assert {one["outcome"] for one in json.loads(said)["workspaces"]} == {"stopped"}


class ToldToStop(Crew):
    """A crew that is told to stop while a night runs, which ends with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(1)
        self.code = code

    def run(self, arguments: Sequence[str], *, seconds: float) -> Ended:
        self.end()
        return Ended(code=self.code, out="", err="dream: stopped\n")


def turn_of(house: House) -> Turn:
    now = datetime.fromisoformat(f"{NOW}+08:00")
    return Turn(named=Named(workspaces=(house.root,)), root=house.root, now=now)


@pytest.mark.parametrize("code", [130, -signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL])
def test_a_night_that_was_told_to_stop_is_stopped_however_its_process_ends(tmp_path: Path, code: int) -> None:
    # Python ends itself by SIGINT where an interrupt met it in exec(), as of a dataclass, though it was heeded since.
    assert take(turn_of(house_at(tmp_path / "a")), ToldToStop(code)).ending is Ending.STOPPED


def test_nights_that_are_stopped_are_no_failures_and_are_taken_up_however_often(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    for _ in range(5):
        assert take(turn_of(house), ToldToStop(130)).ending is Ending.STOPPED
    assert stands("-w", house.root, "--now", NOW)["a"]["failures"] == 0
    assert outcomes(every("-w", house.root, "--json")) == {"a": "done"}


def test_a_night_that_was_stopped_while_it_was_told_is_taken_up_again(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    assert outcomes(every("-w", house.root, "--json")) == {"a": "done"}
    take(replace(turn_of(house), force=True), ToldToStop(130))
    assert outcomes(every("-w", house.root, "--json")) == {"a": "done"}


def test_a_night_that_does_not_heed_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = house_at(tmp_path / "a")
    crew = Crew(1, grace=0.5)
    started = threading.Event()

    def deaf(command: Sequence[str], **rest: object) -> subprocess.Popen[str]:
        program = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
        process: subprocess.Popen[str] = popen([sys.executable, "-c", program], **rest)  # type: ignore[call-overload]
        process.stdout.readline()  # type: ignore[union-attr]
        started.set()
        return process

    popen = subprocess.Popen
    monkeypatch.setattr("cron.crew.subprocess.Popen", deaf)
    outcome: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcome.append(take(turn_of(house), crew)))
    thread.start()
    assert started.wait(30)
    crew.end()
    crew.end()
    thread.join(timeout=20)
    assert [one.ending for one in outcome] == [Ending.STOPPED]


def test_a_crew_that_stops_begins_nothing_more(tmp_path: Path) -> None:
    crew = Crew(1)
    crew.stop()
    with pytest.raises(StoppedError):
        run(crew, "-w", tmp_path, seconds=10)


def test_a_killed_run_over_many_is_taken_up_where_it_was(tmp_path: Path) -> None:
    names = [f"w{n}" for n in range(6)]
    for name in names:
        house_at(tmp_path / name)
    process = start("--all", "--now", NOW, "-w", tmp_path / "*")
    while process.poll() is None and len(list(tmp_path.glob("*/DREAMS.md"))) < 2:  # one has ended
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=60)
    ran = outcomes(every("-w", tmp_path / "*", "--json", now="2026-06-18T03:05"))
    assert "done" in ran.values()
    houses = [House(tmp_path / name) for name in names]
    assert {house.read("DREAMS.md").count("## Light Sleep") for house in houses} <= {1}
    before = [house.digests() for house in houses]
    every("-w", tmp_path / "*", now="2026-06-18T03:10")  # one that ended by itself after the kill is looked at again
    every("-w", tmp_path / "*", now="2026-06-18T03:15")
    assert [house.digests() for house in houses] == before


# -- who is in whose way --------------------------------------------------------------------------------------------


def remembered(house: House) -> str:
    with opened(house.root, environ={}) as home:
        known = home.store.candidates(home.store.every(), until=datetime(2026, 6, 18, tzinfo=UTC).date())
    return " ".join(one.fragment.text for one in known)


@pytest.mark.parametrize("inside", ["agents/b", "b"])
def test_a_workspace_inside_another_one_keeps_its_lines(tmp_path: Path, inside: str) -> None:
    outer = house_at(tmp_path / "a", "- Anchor weighs nine kilos\n")
    inner = house_at(tmp_path / "a" / inside, "- Boat is called Kestrel\n")
    assert every("-w", outer.root, "-w", inner.root).exit_code == 0
    assert "Kestrel" not in remembered(outer)
    assert "Anchor" not in remembered(inner)


def test_a_workspace_among_the_diaries_of_another_one_keeps_its_lines(tmp_path: Path) -> None:
    outer = house_at(tmp_path / "a", "- Anchor weighs nine kilos\n")
    inner = house_at(tmp_path / "a/memory/team", "- Boat is called Kestrel\n")
    first = every("-w", outer.root, "-w", inner.root)
    if first.exit_code:  # before the inner one had a store to know it by
        assert f"{outer.root} would read what belongs to the workspace {inner.root}" in first.stderr
    assert every("-w", outer.root, "-w", inner.root, "--force").exit_code == 0
    assert "Kestrel" in remembered(inner)
    assert "Anchor" not in remembered(inner)
    assert "Kestrel" not in remembered(outer)
    assert "Anchor" in remembered(outer)


def test_a_link_to_the_diaries_of_another_workspace_is_refused(tmp_path: Path) -> None:
    other = house_at(tmp_path / "b", "- Boat is called Kestrel\n")
    linked = House(tmp_path / "a")
    linked.write("config.toml", "[dreaming]\nenabled = true\n")
    (linked.root / "memory").symlink_to(other.root / "memory")
    result = every("-w", linked.root, "-w", other.root, "--json")
    assert outcomes(result) == {"a": "failed", "b": "done"}


def test_diaries_that_a_link_leads_to_outside_of_any_workspace_are_read(tmp_path: Path) -> None:
    (tmp_path / "cloud/memory").mkdir(parents=True)
    (tmp_path / "cloud/memory/2026-06-17.md").write_text("- Boat is called Kestrel\n", encoding="utf-8")
    house = House(tmp_path / "a")
    house.write("config.toml", "[dreaming]\nenabled = true\n")
    (house.root / "memory").symlink_to(tmp_path / "cloud/memory")
    for at in ("2026-06-18T03:00", "2026-06-19T03:00"):
        assert outcomes(every("-w", house.root, "--json", now=at)) == {"a": "done"}
    assert "Kestrel" in remembered(house)


def test_transcripts_of_another_workspace_are_refused(tmp_path: Path) -> None:
    line = json.dumps({"role": "user", "content": "Boat is called Kestrel", "timestamp": "2026-06-17T09:00:00Z"})
    other = house_at(tmp_path / "a/b")
    other.write("sessions/one.jsonl", line)
    outer = house_at(tmp_path / "a")
    outer.write("config.toml", '[dreaming]\nenabled = true\n[sessions]\nenabled = true\npaths = ["**/*.jsonl"]\n')
    assert outcomes(every("-w", outer.root, "-w", other.root, "--json")) == {"a": "failed", "b": "done"}


# -- which date -----------------------------------------------------------------------------------------------------


def test_the_night_at_three_reads_the_diary_of_the_day_before(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    report = json.loads(every("-w", house.root, "--json").stdout)["workspaces"][0]["report"]
    assert report["night"] == "2026-06-18"
    assert report["phases"][0]["staged"] == 1
    assert "Kestrel" in house.read("DREAMS.md")


def test_what_was_written_after_midnight_is_read_by_the_same_night(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    house.write("memory/2026-06-18.md", "- Mooring is number four\n")
    every("-w", house.root)
    assert "Mooring" in house.read("DREAMS.md")


@pytest.mark.parametrize(
    ("zone", "now"), [("Asia/Shanghai", "2026-06-17T12:40+00:00"), ("America/Los_Angeles", "2026-06-18T03:40+00:00")]
)
def test_a_note_of_twenty_to_nine_goes_to_the_local_date(tmp_path: Path, zone: str, now: str) -> None:
    from dreaming.writing import append

    with opened(tmp_path, environ={}, overrides={"dreaming.timezone": zone}) as home:
        appended = append(home, "Boat is called Kestrel", heading="Today", now=datetime.fromisoformat(now))
    assert appended.path == "memory/2026-06-17.md"


# -- how they stand -------------------------------------------------------------------------------------------------


def stands(*arguments: object) -> dict[str, dict[str, object]]:
    said = json.loads(call("status", "--all", "--json", *arguments).stdout)["workspaces"]
    return {Path(one["workspace"]).name: one for one in said}


def test_the_status_of_all_says_how_each_stands(tmp_path: Path) -> None:
    for name in "ab":
        house_at(tmp_path / name)
    house_at(tmp_path / "c", on=False)
    House(tmp_path / "a").search("boat Kestrel", "2026-06-17T09:00")
    for at in ("2026-06-17T03:00", "2026-06-18T03:00"):
        every("-w", tmp_path / "a", now=at)
    said = stands("-w", tmp_path / "*", "--now", "2026-06-18T09:00")
    a, b, c = said["a"], said["b"], said["c"]
    assert (a["last_night"], a["finished"], a["late"]) == ("2026-06-18", True, False)
    assert a["next_night"] == "2026-06-19T03:00:00+08:00"
    assert (a["promoted"], a["nights_without_promotion"]) == (0, 2)
    assert a["refused"] == {a["blocking_gate"]: 1}
    assert (b["last_night"], b["late"]) == (None, True)
    assert (c["enabled"], c["next_night"]) == (False, None)
    text = call("status", "--all", "-w", tmp_path / "*", "--now", "2026-06-18T09:00").stdout
    assert "no night yet, late; next night 2026-06-19 03:00+08:00 (Asia/Shanghai)" in text
    assert f"    refused: 1 {in_words('recalls')}\n" in text
    assert f"2 nights without a promotion; the last refused most as {in_words('recalls')}\n" in text


def test_the_status_of_all_says_what_failed_last_and_how_often(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    every("-w", house.root, now="2026-06-17T03:00")
    (house.root / "memory/.dreams/recall.db").unlink()
    for ending in ("", "-wal", "-shm"):
        (house.root / f"memory/.dreams/recall.db{ending}").unlink(missing_ok=True)
    (house.root / "DREAMS.md").unlink()
    (house.root / "DREAMS.md").mkdir()
    assert every("-w", house.root).exit_code == 1
    said = stands("-w", house.root, "--now", NOW)["a"]
    assert said["failures"] == 1
    assert "DREAMS.md" in str(said["last_failure"])


def test_a_night_mended_by_hand_ends_the_failures_of_its_date(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    (house.root / "DREAMS.md").mkdir()
    for at in ("03:00", "03:15", "03:30"):
        assert outcomes(every("-w", house.root, "--json", now=f"2026-06-18T{at}")) == {"a": "failed"}
    assert outcomes(every("-w", house.root, "--json", now="2026-06-18T03:45")) == {"a": "given up"}
    (house.root / "DREAMS.md").rmdir()
    assert call("-w", house.root, "--now", "2026-06-18T08:00").exit_code == 0
    after = every("-w", house.root, "--json", now="2026-06-18T08:15")
    assert (after.exit_code, outcomes(after)) == (0, {"a": "not due"})
    assert stands("-w", house.root, "--now", "2026-06-18T08:15")["a"]["failures"] == 0


def test_a_workspace_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    house_at(tmp_path / "a")
    house_at(tmp_path / "b").write("config.toml", "[dreaming]\ntime = 3\n")
    result = call("status", "--all", "-w", tmp_path / "*")
    assert result.exit_code == 2
    assert str(tmp_path / "a") in result.stdout
    assert "dreaming.time" in result.stderr


def test_the_status_of_all_makes_nothing(tmp_path: Path) -> None:
    house = house_at(tmp_path / "a")
    before = sorted(house.root.rglob("*"))
    call("status", "--all", "-w", house.root)
    assert sorted(house.root.rglob("*")) == before
