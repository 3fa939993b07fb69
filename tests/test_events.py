"""What a statement names as the last day of its event: measured on labelled lines, and rule by rule."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.events import ended

DATA = Path(__file__).parent / "data"
SAID = date(2026, 6, 1)
LEAST_LINES = 20
"""Of each of the five languages of the labelled lines."""
_SAID = re.compile(r"\(said (\S+)\) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    language: str
    text: str
    said: date
    want: date | None


def labelled(name: str) -> Iterable[Labelled]:
    language = ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            language = line.removeprefix("## ")
        elif line.startswith("- "):
            text, _, want = line.removeprefix("- ").rpartition(" => ")
            said = _SAID.match(text)
            yield Labelled(
                language=language,
                text=_SAID.sub("", text),
                said=date.fromisoformat(said[1]) if said else SAID,
                want=None if want == "keep" else date.fromisoformat(want),
            )


def found(rows: Iterable[Labelled]) -> list[tuple[date | None, date | None]]:
    """Return what is wanted and what is found."""
    return [(row.want, ended(row.text, said=row.said)) for row in rows]


def accuracy(pairs: list[tuple[date | None, date | None]]) -> tuple[float, float]:
    """Return precision and recall of the days that are found."""
    right = sum(want == day for want, day in pairs if day)
    return right / sum(day is not None for _, day in pairs), right / sum(want is not None for want, _ in pairs)


def test_no_line_to_be_kept_ends_of_those_read_while_the_rules_were_written() -> None:
    precision, recall = accuracy(found(labelled("events.md")))
    assert precision == 1.0
    assert recall >= 0.95


def test_hardly_a_line_to_be_kept_ends_of_the_others() -> None:
    precision, recall = accuracy(found(labelled("events.held_out.md")))
    assert precision >= 0.98
    assert recall >= 0.85


def test_there_are_enough_labelled_lines_of_each_language() -> None:
    rows = [*labelled("events.md"), *labelled("events.held_out.md")]
    assert all(sum(row.language == one for row in rows) >= LEAST_LINES for one in ("en", "zh", "de", "ja", "es"))


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("Trip 6–13 June", date(2026, 6, 10), date(2026, 6, 13)),
        ("Skiing holiday 28 Dec – 3 Jan", date(2027, 1, 2), date(2027, 1, 3)),
        ("Conference 2031-05-01", SAID, date(2031, 5, 1)),
        ("Dentist on 12 June 2027", SAID, date(2027, 6, 12)),
        ("Party on 29 February", date(2028, 2, 1), date(2028, 2, 29)),
    ],
)
def test_the_last_day_is_the_nearest_of_its_name_unless_the_year_is_named(text: str, said: date, day: date) -> None:
    assert ended(text, said=said) == day


def test_what_is_past_when_it_is_said_is_a_record() -> None:
    assert ended("Trip to Oslo 6–13 June", said=date(2026, 6, 20)) is None


def test_a_day_that_no_calendar_has_is_none() -> None:
    assert ended("Dentist tomorrow", said=date.max) is None
    assert ended("Dentist on 31 June", said=SAID) is None


PIECES = (
    "trip",
    "dentist",
    "6–13 June",
    "next Friday",
    "明天",
    "出差",
    "6月31日",
    "frıday",
    "31/12",
    "Zahnarzt",
    "mañana",
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=6).map(" ".join), st.dates())
def test_no_text_raises_and_a_day_without_a_year_is_near(text: str, said: date) -> None:
    day = ended(text, said=said)
    assert day is None or day >= said
    if day and not re.search(r"\d{4}", text):
        assert day - said <= timedelta(days=731)
