"""What had to make room is in the archive, is still found, and comes back when it is asked for enough."""

from pathlib import Path

import pytest

from house import House
from workspace.sections import POINTER

CELL = "Garage panel takes a CR2450 cell"
ARCHIVE = "memory/archive/MEMORY-2026.md"


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A workspace in which a second promotion had to take the place of the first."""
    house = House(tmp_path, **{"deep.min_score": 0.6, "memory.budget_chars": 300})
    house.write("memory/2026-03-02.md", f"- {CELL}\n")
    asked(house, 3, "garage panel cell", "CR2450", "which cell does the garage panel take")
    house.night("2026-03-06T03:00")
    house.write("memory/2026-03-08.md", "- Boat is called Kestrel\n")
    asked(house, 8, "boat name", "kestrel boat", "what is the boat called")
    house.night("2026-03-11T03:00")
    assert CELL in house.read(ARCHIVE)
    assert CELL not in house.read("MEMORY.md")
    return house


def asked(house: House, first: int, *queries: str) -> None:
    for number, query in enumerate(queries):
        house.search(query, f"2026-03-{first + number:02}T10:00")


def test_what_is_in_the_archive_is_found_by_a_search_also_without_its_diary(house: House) -> None:
    (house.root / "memory/2026-03-02.md").unlink()
    (result,) = [one for one in house.search("garage panel cell", "2026-03-12T10:00").results if one.source == "memory"]
    assert (result.path, result.source, result.recorded) == (ARCHIVE, "memory", True)
    assert house.get(f"{ARCHIVE}:{result.start_line}", "2026-03-12T11:00").text == f"- {CELL}"


def test_what_is_asked_for_enough_comes_back_from_the_archive(house: House) -> None:
    house.settings["memory.budget_chars"] = 1000
    assert not house.night("2026-03-12T03:00").promoted
    asked(house, 12, "garage panel cell", "CR2450", "which cell does the garage panel take")
    (promotion,) = house.night("2026-03-15T03:00").promoted
    assert promotion.text == CELL
    assert house.read("MEMORY.md").count(CELL) == 1


def test_a_search_names_a_line_once_that_stands_in_memory_and_in_the_archive(house: House) -> None:
    house.settings["memory.budget_chars"] = 1000
    asked(house, 12, "garage panel cell", "CR2450", "which cell does the garage panel take")
    house.night("2026-03-15T03:00")
    (house.root / "memory/2026-03-02.md").unlink()
    (result,) = [one for one in house.search("garage panel cell", "2026-03-16T10:00").results if one.source == "memory"]
    assert (result.path, result.recorded) == ("MEMORY.md", False)


def test_one_line_of_memory_says_where_the_archive_is(house: House) -> None:
    house.settings["memory.budget_chars"] = 400
    house.write("memory/2026-03-12.md", "- Cabin key hangs behind the stove\n")
    asked(house, 12, "cabin key", "where is the key of the cabin", "key behind the stove")
    house.night("2026-03-15T03:00")
    assert house.read("MEMORY.md").count(POINTER) <= 1
    house.search("older memories archive", "2026-03-16T10:00")
    assert not [one for one in house.search("older memories", "2026-03-16T10:00").results if "archive/" in one.text]


def test_a_line_with_a_word_that_is_hidden_by_now_makes_room_like_any_other(house: House) -> None:
    house.settings["redact.patterns"] = ["Kestrel"]
    house.write("memory/2026-03-12.md", "- Cabin key hangs behind the stove\n")
    asked(house, 12, "cabin key", "where is the key of the cabin", "key behind the stove")
    (promotion,) = house.night("2026-03-15T03:00").promoted
    assert "Cabin key" in promotion.text
    assert "Kestrel" not in house.read("MEMORY.md")
