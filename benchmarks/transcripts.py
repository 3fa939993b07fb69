"""`python -m benchmarks.transcripts`: a first night over many conversations, and the quiet one after it."""

import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import click

from benchmarks import diaries
from benchmarks.__main__ import peak, row, seconds
from dreaming.home import Home, opened
from dreaming.observing.hearing import hear

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
NIGHT = datetime(2026, 6, 1, 3, tzinfo=UTC)


@click.command()
@click.option("--files", default=12_000, show_default=True, help="Transcripts to invent, of four kinds.")
@click.option("--turns", default=8, show_default=True, help="Messages of people in each.")
def main(files: int, turns: int) -> None:
    """Measure the first hearing, the quiet one after it, and one after a single line was added."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        written = sum(write(root, number, turns) for number in range(files))
        settings = {"dreaming.timezone": "UTC", "sessions.enabled": True, "sessions.paths": ["sessions/*/*.jsonl"]}
        row("transcripts", f"{files:,} ({written / 1e6:.1f} MB)")
        with opened(root, environ={}, overrides=settings, personal=False) as home:
            row("first hearing", f"{seconds(lambda: hear(home, now=NIGHT)):.1f} s")
            row("fragments", f"{home.store.counts()['fragments']:,}")
            row("memory at its height", f"{peak():.0f} MB")
            row("quiet hearing", f"{seconds(lambda: hear(home, now=NIGHT)):.2f} s")
            _add(home)
            row("after one more line", f"{seconds(lambda: hear(home, now=NIGHT)):.2f} s")


def write(root: Path, number: int, turns: int) -> int:
    kind = list(KINDS)[number % len(KINDS)]
    path = root / "sessions" / kind / f"{number:05}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in KINDS[kind](Random(number), number, turns))
    return path.write_bytes("".join(lines).encode("utf-8"))


def _said(dice: Random, number: int, turns: int) -> Iterator[tuple[str, str, str]]:
    for turn in range(turns):
        word = diaries.english if dice.random() < 0.5 else diaries.chinese
        text = " ".join(word(diaries.rank(dice)) for _ in range(dice.randrange(6, 20)))
        at = (START + timedelta(minutes=number * 7 + turn)).isoformat().replace("+00:00", "Z")
        yield ("user", "assistant")[turn % 2], f"The {text} takes {dice.randrange(2, 1000)}.", at


def _plain(dice: Random, number: int, turns: int) -> Iterator[dict[str, object]]:
    for speaker, text, at in _said(dice, number, turns):
        yield {"role": speaker, "content": text, "timestamp": at}
        yield {"role": "tool", "content": "x" * 400, "timestamp": at}


def _openclaw(dice: Random, number: int, turns: int) -> Iterator[dict[str, object]]:
    yield {"type": "session", "version": 3, "id": f"{number:05}", "timestamp": START.isoformat(), "cwd": "/home/me"}
    for speaker, text, at in _said(dice, number, turns):
        message = {"role": speaker, "content": [{"type": "text", "text": text}]}
        yield {"type": "message", "id": at, "parentId": None, "timestamp": at, "message": message}


def _claude(dice: Random, number: int, turns: int) -> Iterator[dict[str, object]]:
    for speaker, text, at in _said(dice, number, turns):
        content = text if speaker == "user" else [{"type": "text", "text": text}]
        message = {"role": speaker, "content": content}
        yield {
            "type": speaker, "uuid": at, "sessionId": f"{number:05}", "timestamp": at, "isSidechain": False,
            "userType": "external", "cwd": "/home/me", "version": "2.1", "message": message,
        }  # fmt: skip


def _codex(dice: Random, number: int, turns: int) -> Iterator[dict[str, object]]:
    yield {
        "timestamp": START.isoformat(),
        "type": "session_meta",
        "payload": {"id": f"{number:05}", "cwd": "/home/me", "originator": "codex_cli_rs", "source": "cli"},
    }
    for speaker, text, at in _said(dice, number, turns):
        kind = "input_text" if speaker == "user" else "output_text"
        payload = {"type": "message", "role": speaker, "content": [{"type": kind, "text": text}]}
        yield {"timestamp": at, "type": "response_item", "payload": payload}


KINDS = {"plain": _plain, "openclaw": _openclaw, "claude": _claude, "codex": _codex}


def _add(home: Home) -> None:
    path = next((home.root / "sessions" / "plain").iterdir())
    with path.open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"role": "user", "content": "One more line about the kiln", "timestamp": "2026-05-01"}) + "\n"
        )


if __name__ == "__main__":
    main()
