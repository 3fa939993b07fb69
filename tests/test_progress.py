"""Whoever waits for something long sees how far it is; nobody else sees anything of it."""

import json
import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dreaming.home import opened
from dreaming.night import run_night
from dreaming.progress import Count
from house import House, moment
from memory.model import Phase
from workspace.lock import lock, running

NIGHT = "2026-03-08T03:00"


def lay(house: House, days: int) -> None:
    for day in range(1, days + 1):
        house.write(f"memory/2026-02-{day:02}.md", f"- The boat number {day} lies in the harbour\n")


def test_a_night_says_step_by_step_what_it_does(house: House) -> None:
    lay(house, 20)
    seen: list[tuple[str, int, int]] = []

    @contextmanager
    def watcher(what: str, total: int = 0) -> Iterator[Count]:
        holder = running(house.root)
        assert holder is not None
        assert (holder.doing, holder.total) == (what, total)
        done = [0]
        yield lambda more: done.append(done.pop() + more)
        seen.append((what, done[0], total))

    with opened(house.root, environ={}, overrides=house.settings, progress=watcher) as home:
        run_night(home, phases=tuple(Phase), now=moment(NIGHT))
    assert seen == [("reading notes", 20, 20), ("light sleep", 0, 0), ("REM sleep", 0, 0), ("deep sleep", 0, 0)]


def test_the_seconds_of_each_phase_are_kept(house: House) -> None:
    lay(house, 2)
    house.night(NIGHT)
    with house.home() as home:
        [record] = home.journal.nights(limit=1)
    assert list(record.reports) == list(Phase)
    for counts in record.reports.values():
        assert 0 <= counts["seconds"] < 60


@contextmanager
def at_a_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Run `dream` with its error stream on a terminal; yield the process and what the terminal got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "dreaming", *arguments], stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    got: list[str] = []

    def listen() -> None:
        with suppress(OSError):  # how a terminal ends on Linux
            while data := os.read(ours, 4096):
                got.append(data.decode("utf-8", "replace"))

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        yield process, got
    finally:
        process.kill()
        process.wait()
        listener.join(10)
        os.close(ours)


def wait_for(said: str, got: list[str]) -> None:
    until = time.monotonic() + 30
    while said not in "".join(got):
        assert time.monotonic() < until, "".join(got)
        time.sleep(0.02)


def test_a_running_night_can_be_watched_until_it_ends(house: House) -> None:
    lay(house, 1)
    house.night(NIGHT)
    with at_a_terminal("--workspace", str(house.root), "status", "--watch") as (process, got):
        with lock(house.root, now=datetime(2026, 3, 9, 3, tzinfo=UTC)) as tell:
            tell("reading notes", 2, 8)
            wait_for("2/8", got)
            tell("reading notes", 6, 8)
            wait_for("6/8", got)
            tell("reading notes", 30, 50)
            wait_for("30/50", got)
            tell("deep sleep", 0, 0)
            wait_for("deep sleep, ", got)
        told, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert told.startswith(f"Workspace   {house.root}")
    assert "Running" not in told


def test_watching_draws_nothing_where_there_is_no_terminal(house: House) -> None:
    lay(house, 1)
    house.night(NIGHT)
    watching = [sys.executable, "-m", "dreaming", "--workspace", str(house.root), "status", "--watch", "--json"]
    with lock(house.root, now=datetime(2026, 3, 9, 3, tzinfo=UTC)) as tell:
        tell("reading notes", 2, 8)
        process = subprocess.Popen(watching, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=2.5)
    told, said = process.communicate(timeout=30)
    assert "reading notes" not in said
    assert json.loads(told)["running"] is None


def test_a_status_says_what_a_night_is_doing_and_does_not_call_it_unfinished(house: House) -> None:
    lay(house, 1)
    with lock(house.root, now=datetime(2026, 3, 9, 3, tzinfo=UTC)) as tell:
        with house.home() as home, home.store.writing():
            home.journal.begin(moment(NIGHT).date(), now=moment(NIGHT))
        tell("reading notes", 1_200, 3_650)
        told = dream(house.root, "status")
        assert f"Running     a night, by process {os.getpid()}" in told.stdout
        assert "reading notes (1,200 of" in " ".join(told.stdout.split())
        assert "did not finish" not in told.stdout
        assert dream(house.root, "status", "--check").returncode == 0
    assert "(did not finish)" in dream(house.root, "status").stdout
    assert dream(house.root, "status", "--check").returncode == 1


def dream(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dreaming", "--workspace", str(root), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_first_search_of_many_notes_shows_a_bar_on_a_terminal_and_leaves_nothing_of_it(house: House) -> None:
    for n in range(400):
        lines = "".join(f"- The boat {n} of row {line} lies in the harbour of berth {n * line}\n" for line in range(60))
        house.write(f"memory/topics/2026-02-01-{n}.md", lines)
    with at_a_terminal("--workspace", str(house.root), "search", "boat harbour") as (process, got):
        process.communicate(timeout=60)
    drawn = "".join(got)
    assert "reading notes" in drawn
    assert drawn.rstrip("\r\n").endswith("\x1b[K")
