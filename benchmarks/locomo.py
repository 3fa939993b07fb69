"""`python -m benchmarks.locomo FILE`: is the evidence of a LoCoMo question among the first ten results?

FILE is your own copy of the conversations as JSON: sessions with a time and turns, questions with a category and the
ids of the turns that hold the answer. Each session becomes a diary of its day, each turn an item of its list. With the
extra `[embeddings]` installed it is found by meaning too.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from dreaming.home import Home, opened
from dreaming.observing.observe import observe
from memory.search import search

RESULTS = 10
CATEGORIES = {1: "several turns", 2: "time", 3: "world knowledge", 4: "one turn"}
NOW = datetime(2024, 6, 1, tzinfo=UTC)

Places = Mapping[str, tuple[str, int]]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(file: Path) -> None:
    """Print the share of answered questions by category."""
    found: defaultdict[int, list[bool]] = defaultdict(list)
    for conversation in json.loads(file.read_text(encoding="utf-8"))["conversations"]:
        for category, answered in _answers(conversation):
            found[category].append(answered)
    for category, name in CATEGORIES.items():
        click.echo(_row(f"{category} {name}", found[category]))
    click.echo(_row("all", [one for answers in found.values() for one in answers]))


def _answers(conversation: Mapping[str, Any]) -> Iterator[tuple[int, bool]]:
    with tempfile.TemporaryDirectory() as folder:
        places = _written(Path(folder), conversation)
        with opened(Path(folder), environ={}, overrides={"dreaming.timezone": "UTC"}, personal=False) as home:
            observe(home, now=NOW, vectors_at_most=-1)
            for question in conversation["questions"]:
                if question["category"] in CATEGORIES and question.get("evidence"):
                    yield question["category"], _answered(home, question, places)


def _written(root: Path, conversation: Mapping[str, Any]) -> Places:
    places: dict[str, tuple[str, int]] = {}
    days: defaultdict[str, list[str]] = defaultdict(list)
    for session in conversation["sessions"]:
        path = f"memory/{session['at'][:10]}.md"
        for turn in session["turns"]:
            days[path].append(f"- {turn['speaker']}: {' '.join(turn['text'].split())}")
            places[turn["id"]] = (path, len(days[path]))
    for path, lines in days.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return places


def _answered(home: Home, question: Mapping[str, Any], places: Places) -> bool:
    hits = search(home.store, question["question"], home.lexicon, limit=RESULTS, embedder=home.embedder)
    wanted = [places[turn] for turn in question["evidence"] if turn in places]
    return any(hit.path == path and hit.start_line <= line <= hit.end_line for hit in hits for path, line in wanted)


def _row(name: str, answers: list[bool]) -> str:
    return f"{name:<20}{sum(answers) / max(1, len(answers)):.3f} of {len(answers)}"


if __name__ == "__main__":
    main()
