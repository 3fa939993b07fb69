"""Three invented weeks, played day by day: the diary is written, the agent searches, the night comes."""

import shutil
import tomllib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import as_file, files
from pathlib import Path

from dreaming.home import Home, opened
from dreaming.night import NightReport, run_night
from dreaming.reading import search
from memory.promotions import Promotion, State
from workspace.diary import diaries

NIGHT_AT = time(3)
MARK = ".dream-demo"
"""A file that says the folder was made by the demo and may be made again."""


class NotEmptyError(Exception):
    """The folder for the demo holds something else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(f"{folder} is not empty; name a new folder, or add --fresh to replace an earlier demo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A search an agent makes; local time."""

    at: datetime
    query: str


def play(folder: Path, *, fresh: bool, show: Callable[[NightReport], None]) -> tuple[Promotion, ...]:
    """Play the sample into a folder and return what was promoted; `show` is called after each night.

    Raise NotEmptyError when the folder holds anything but an earlier demo.
    """
    _prepared(folder, fresh=fresh)
    with ExitStack() as stack:
        sample = stack.enter_context(as_file(files("dreaming") / "sample"))
        _laid(sample, folder, "MEMORY.md", "config.toml")
        home = stack.enter_context(opened(folder, environ={}, personal=False))
        questions = _questions(sample)
        listed = diaries(sample).diaries
        for day in sorted({diary.day for diary in listed}):
            _laid(sample, folder, *(diary.path for diary in listed if diary.day == day))
            show(_day(home, day, [question for question in questions if question.at.date() == day]))
        return home.promotions.all(State.IN_FORCE)


def _day(home: Home, day: date, questions: Sequence[Question]) -> NightReport:
    for question in questions:
        search(home, question.query, now=_moment(home, question.at), surface="demo")
    night = datetime.combine(day + timedelta(days=1), NIGHT_AT)
    return run_night(home, phases=home.phases(), now=_moment(home, night))


def _moment(home: Home, local: datetime) -> datetime:
    return local.replace(tzinfo=home.zone).astimezone(UTC)


def _questions(sample: Path) -> tuple[Question, ...]:
    rows = tomllib.loads((sample / "searches.toml").read_text(encoding="utf-8"))["search"]
    found = (
        Question(at=datetime.combine(row["day"], time.fromisoformat(row["time"])), query=row["query"]) for row in rows
    )
    return tuple(sorted(found, key=lambda question: question.at))


def _prepared(folder: Path, *, fresh: bool) -> None:
    if fresh and (folder / MARK).is_file():
        shutil.rmtree(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NotEmptyError(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text("Made by `dream demo`; `dream demo --fresh` replaces this folder.\n", encoding="utf-8")


def _laid(sample: Path, folder: Path, *names: str) -> None:
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((sample / name).read_bytes())
