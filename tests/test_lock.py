"""One night at a time in a workspace, whether its processes run on one machine or on several that share it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from house import House
from workspace.errors import GoneError, HeldError
from workspace.lock import STALE_SECONDS, lock, running

NIGHT = datetime(2026, 6, 18, 3, 1, tzinfo=UTC)
NOTE = "memory/.dreams/night.holder.json"

HOLD = """
import socket, sys
from datetime import UTC, datetime
from pathlib import Path
from workspace.errors import HeldError
import workspace.lock
root, host, file = sys.argv[1:]
if host:
    socket.gethostname = lambda: host
    workspace.lock.LOCK = file  # as if the lock of the system did not reach from host to host
print("ready", flush=True)
sys.stdin.readline()
try:
    with workspace.lock.lock(Path(root), now=datetime(2026, 6, 18, 3, 1, tzinfo=UTC)):
        print("held", flush=True)
        sys.stdin.read()
except HeldError as error:
    print(error, flush=True)
"""

Start = Callable[..., subprocess.Popen[str]]


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().rstrip("\n")


def go(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Let all of them try to get the lock at once, and return what each says of it."""
    for process in processes:
        assert said(process) == "ready"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return [said(process) for process in processes]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start other processes, on other hosts when these are named, that hold the lock until they are killed."""
    with ExitStack() as stack:

        def started(host: str = "") -> subprocess.Popen[str]:
            command = [sys.executable, "-c", HOLD, str(tmp_path), host, f"{host}.lock"]
            process = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            return process

        yield started


@pytest.fixture
def holder(start: Start) -> Callable[[], subprocess.Popen[str]]:
    """Start a process that holds the lock."""

    def held() -> subprocess.Popen[str]:
        process = start()
        assert go([process]) == ["held"]
        return process

    return held


def names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def note_of(root: Path, host: str, *, silent_for: float) -> Path:
    """Write the note of a holder on another host that was last touched so many seconds ago."""
    path = root / NOTE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"pid": 77, "host": host, "since": "2026-06-18 03:00:00+00:00"}), encoding="utf-8")
    touched = path.stat().st_mtime - silent_for
    os.utime(path, (touched, touched))
    return path


def test_others_see_who_runs_a_night_and_what_it_is_doing(tmp_path: Path) -> None:
    assert running(tmp_path) is None
    with lock(tmp_path, now=NIGHT) as tell:
        tell("reading notes", 1_234, 5_000)
        tell("deep sleep", 0, 0)
        tell("reading notes" * 99, 12, 50)
        seen = running(tmp_path)
        assert seen is not None
        assert seen.doing.startswith("reading notes")
        assert (seen.pid, seen.done, seen.total) == (os.getpid(), 12, 50)
    assert running(tmp_path) is None


def test_a_night_that_was_killed_does_not_run(tmp_path: Path, holder: Callable[[], subprocess.Popen[str]]) -> None:
    first = holder()
    seen = running(tmp_path)
    assert seen is not None
    assert seen.pid == first.pid
    first.kill()
    first.wait()
    assert running(tmp_path) is None


@pytest.mark.parametrize(
    "said", ['{"pid": 99999999999999999999}', '{"pid": 1, "done": Infinity}', '{"pid": 0}', "[]", ""]
)
def test_a_note_that_makes_no_sense_is_nobodys(tmp_path: Path, said: str) -> None:
    note = note_of(tmp_path, host=socket.gethostname(), silent_for=0)
    whole = json.loads(note.read_text(encoding="utf-8"))
    note.write_text(said.replace("}", f', "host": "{whole["host"]}", "since": ""}}') if said else "", encoding="utf-8")
    assert running(tmp_path) is None


def test_a_night_on_another_machine_runs_as_long_as_its_note_is_touched(tmp_path: Path) -> None:
    note_of(tmp_path, host="elsewhere", silent_for=5)
    seen = running(tmp_path)
    assert seen is not None
    assert seen.host == "elsewhere"
    note_of(tmp_path, host="elsewhere", silent_for=STALE_SECONDS + 5)
    assert running(tmp_path) is None


# -- on one machine ---------------------------------------------------------------------------------------------------
def test_a_second_night_is_refused_and_told_who_runs_the_first(
    tmp_path: Path, holder: Callable[[], subprocess.Popen[str]]
) -> None:
    first = holder()
    with pytest.raises(HeldError, match=f"process {first.pid} on .* since 2026-06-18 03:01:00") as refusal:
        lock(tmp_path, now=NIGHT).__enter__()
    assert refusal.value.holder.pid == first.pid


def test_a_killed_night_does_not_keep_the_lock(tmp_path: Path, holder: Callable[[], subprocess.Popen[str]]) -> None:
    first = holder()
    first.kill()
    first.wait()
    with lock(tmp_path, now=NIGHT):
        assert (tmp_path / "memory/.dreams/night.lock").exists()


def test_two_nights_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    with lock(tmp_path, now=NIGHT), pytest.raises(HeldError, match=f"process {os.getpid()}"):
        lock(tmp_path, now=NIGHT).__enter__()


def test_the_lock_is_free_after_a_night_that_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock(tmp_path, now=NIGHT):
        raise ZeroDivisionError
    with lock(tmp_path, now=NIGHT):
        pass


def test_a_holder_that_has_not_said_who_it_is_still_holds(tmp_path: Path) -> None:
    with lock(tmp_path, now=NIGHT):
        (tmp_path / "memory/.dreams/night.holder.json").write_text('{"pid": ')
        with pytest.raises(HeldError, match="another night is running here; wait for it to end"):
            lock(tmp_path, now=NIGHT).__enter__()


def test_a_night_runs_where_its_name_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "memory/.dreams/night.holder.json").mkdir(parents=True)
    with lock(tmp_path, now=NIGHT), pytest.raises(HeldError, match="another night is running here; wait for it to end"):
        lock(tmp_path, now=NIGHT).__enter__()


def test_workspaces_do_not_wait_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with lock(tmp_path / "a", now=NIGHT), lock(tmp_path / "b", now=NIGHT):
        assert (tmp_path / "b/memory/.dreams").is_dir()


def test_a_mistyped_workspace_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(GoneError, match="is no folder"):
        lock(tmp_path / "typo", now=NIGHT).__enter__()
    assert names(tmp_path) == set()


def test_a_killed_night_does_not_keep_the_lock_though_its_note_is_fresh(
    tmp_path: Path, holder: Callable[[], subprocess.Popen[str]]
) -> None:
    first = holder()
    first.kill()
    first.wait()
    assert json.loads((tmp_path / NOTE).read_text())["pid"] == first.pid
    with lock(tmp_path, now=NIGHT):
        assert json.loads((tmp_path / NOTE).read_text())["pid"] == os.getpid()


def test_nothing_but_the_lock_is_left_after_a_night(tmp_path: Path) -> None:
    with lock(tmp_path, now=NIGHT):
        pass
    assert names(tmp_path / "memory/.dreams") == {"night.lock"}


def test_readers_do_not_wait_for_a_night(house: House, holder: Callable[[], subprocess.Popen[str]]) -> None:
    house.write("memory/2026-03-02.md", "- Boat is called Kestrel\n")
    holder()
    assert house.search("boat", "2026-03-03T12:00").results


# -- on several that share the folder ---------------------------------------------------------------------------------


def test_a_night_on_another_host_is_respected_though_the_lock_does_not_reach_it(tmp_path: Path) -> None:
    note = note_of(tmp_path, "attic", silent_for=5)
    before = note.read_bytes()
    with pytest.raises(HeldError, match="process 77 on attic since 2026-06-18 03:00:00"):
        lock(tmp_path, now=NIGHT).__enter__()
    assert note.read_bytes() == before
    assert names(note.parent) == {note.name, "night.lock"}


def test_a_refused_night_lets_go_of_its_own_lock(tmp_path: Path) -> None:
    note = note_of(tmp_path, "attic", silent_for=5)
    with pytest.raises(HeldError):
        lock(tmp_path, now=NIGHT).__enter__()
    note.unlink()
    with lock(tmp_path, now=NIGHT):
        pass


def test_a_host_that_has_gone_silent_does_not_keep_the_lock(tmp_path: Path) -> None:
    note = note_of(tmp_path, "attic", silent_for=61)
    with lock(tmp_path, now=NIGHT):
        assert json.loads(note.read_text())["pid"] == os.getpid()
    assert names(note.parent) == {"night.lock"}


@pytest.mark.parametrize("clock", [0.0, 4e9])
def test_the_clock_of_this_host_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: float) -> None:
    monkeypatch.setattr(time, "time", lambda: clock)
    note_of(tmp_path, "attic", silent_for=5)
    with pytest.raises(HeldError):
        lock(tmp_path, now=NIGHT).__enter__()
    note_of(tmp_path, "attic", silent_for=61)
    with lock(tmp_path, now=NIGHT):
        pass


def test_a_holder_goes_on_saying_that_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workspace.lock.BEAT_SECONDS", 0.01)
    with lock(tmp_path, now=NIGHT):
        note = tmp_path / NOTE
        for _ in range(3):
            os.utime(note, (0, 0))
            while note.stat().st_mtime == 0:
                os.sched_yield()


def test_a_holder_is_silent_after_the_night(tmp_path: Path) -> None:
    with lock(tmp_path, now=NIGHT):
        assert "night-holder" in threads()
    assert "night-holder" not in threads()


def test_a_night_that_slept_until_another_host_took_over_leaves_its_note(tmp_path: Path) -> None:
    with lock(tmp_path, now=NIGHT):
        (tmp_path / NOTE).unlink()
        note = note_of(tmp_path, "attic", silent_for=1)
    assert json.loads(note.read_text())["host"] == "attic"


@pytest.mark.parametrize("left", [None, 61.0, 5.0], ids=["no note", "a silent one", "a living one"])
def test_of_hosts_that_begin_at_once_one_gets_the_lock(tmp_path: Path, start: Start, left: float | None) -> None:
    if left is not None:
        note_of(tmp_path, "attic", silent_for=left)
    outcomes = go([start(f"host{n}") for n in range(6)])
    assert outcomes.count("held") == (0 if left == 5.0 else 1)
    assert all(outcome == "held" or "another night is running here" in outcome for outcome in outcomes)
