"""`python -m benchmarks.fleet`: the nights of many workspaces, then the same killed at half and taken up again."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import click

from benchmarks import diaries, transcripts
from benchmarks.__main__ import row
from dreaming.home import opened

LINES = 28
NIGHT = date(2026, 6, 1)
SETTINGS = """\
[dreaming]
enabled = true
timezone = "UTC"
[sessions]
enabled = true
paths = ["sessions/*/*.jsonl"]
[embeddings]
embedder = "off"
"""


@click.command()
@click.option("--workspaces", default=4, show_default=True, help="Workspaces to invent; the goal is set for 26.")
@click.option("--fragments", default=500, show_default=True, help="Fragments of diaries in each; 5,000.")
@click.option("--files", default=50, show_default=True, help="Transcripts in each; 500.")
@click.option("--turns", default=4, show_default=True, help="Messages of people in each transcript.")
@click.option("--workers", default=0, show_default=True, help="Nights at once; 0 is one less than cores.")
@click.option("--kill/--no-kill", default=True, show_default=True, help="Also kill a run at half, and go on.")
def main(workspaces: int, fragments: int, files: int, turns: int, workers: int, *, kill: bool) -> None:
    """Measure the first nights of all, a call with nothing due, the quiet nights after, and a killed run."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its code compiled
        own = {"HOME": folder, "XDG_CONFIG_HOME": folder, "PYTHONPATH": str(Path(__file__).parent.parent)}
        environ = {**os.environ, **own, "DREAM_SCHEDULE__WORKERS": str(workers)}
        made = [_workspace(root / f"all/{n:02}", fragments, files, turns) for n in range(workspaces)]
        row("workspaces", f"{workspaces}, each {fragments:,} fragments and {files} transcripts")
        row("first nights", _timed(root / "all", "2026-06-01T03:00", environ))
        row("largest process", f"{_largest():.0f} MB")
        row("processor time", f"{_busy():.0f} s")
        row("nothing due", _timed(root / "all", "2026-06-01T04:00", environ))
        row("quiet nights", _timed(root / "all", "2026-06-02T03:00", environ))
        row("stored", _stored(made))
        if kill:
            again = [_workspace(root / f"killed/{n:02}", fragments, files, turns) for n in range(workspaces)]
            row("killed at half", _killed(root / "killed", workspaces // 2, environ))
            row("taken up", _timed(root / "killed", "2026-06-01T03:10", environ))
            _timed(root / "killed", "2026-06-02T03:00", environ)
            row("stored", _stored(again))


def _workspace(root: Path, fragments: int, files: int, turns: int) -> Path:
    days = -(-fragments // LINES)
    diaries.write(root, days=days, lines=LINES, start=NIGHT - timedelta(days=days))
    for number in range(files):
        transcripts.write(root, number, turns)
    (root / "config.toml").write_text(SETTINGS, encoding="utf-8")
    return root


def _command(root: Path, now: str) -> list[str]:
    return [sys.executable, "-m", "dreaming", "--all", "--json", "--now", now, "--workspace", str(root / "*")]


def _timed(root: Path, now: str, environ: dict[str, str]) -> str:
    """Return how long a call took, and what came of the workspaces."""
    before = time.perf_counter()
    done = subprocess.run(_command(root, now), env=environ, capture_output=True, text=True, check=False)
    took = time.perf_counter() - before
    endings = [one["outcome"] for one in json.loads(done.stdout)["workspaces"]]
    counts = ", ".join(f"{endings.count(one)} {one}" for one in dict.fromkeys(endings))
    return f"{took:.1f} s ({counts})"


def _killed(root: Path, half: int, environ: dict[str, str]) -> str:
    """Kill a run with all its nights as soon as half of the workspaces are done."""
    before = time.perf_counter()
    with subprocess.Popen(_command(root, "2026-06-01T03:00"), env=environ, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and len(list(root.glob("*/DREAMS.md"))) < half:
            time.sleep(0.05)
        nights = Path(f"/proc/{process.pid}/task").glob("*/children")
        children = [int(pid) for file in nights for pid in file.read_text(encoding="ascii").split()]
        process.kill()
        for pid in children:
            os.killpg(pid, signal.SIGKILL)
    return f"{time.perf_counter() - before:.1f} s ({len(children)} nights killed)"


def _stored(roots: list[Path]) -> str:
    """Return what all stores hold together: the same, whether a run was killed or not."""
    fragments = nights = 0
    for root in roots:
        with opened(root, environ={}, personal=False) as home:
            fragments += home.store.counts()["fragments"]
            nights += len(home.journal.nights(limit=10))
    told = sum((root / "DREAMS.md").read_text(encoding="utf-8").count("\n---\n") for root in roots)
    return f"{fragments:,} fragments, {nights} nights, {told} entries"


def _busy() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _largest() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return usage / (1024 if sys.platform != "darwin" else 1024 * 1024)


if __name__ == "__main__":
    main()
