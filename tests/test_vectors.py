"""Vectors: what is embedded and kept, what is near, what nearness is worth, and that the core needs none of it."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database, Migrations

from memory import schema
from memory.concepts import lexicon
from memory.embedders import Embedder, EmbedderError, LocalEmbedder, Vectors, local_embedder, unit
from memory.query import asked
from memory.search import search
from memory.store import Store
from memory.vectors import (
    ANCHORS,
    Scale,
    fused,
    gist,
    keep_vectors,
    measured,
    missing_vectors,
    nearest,
    relevance_by_meaning,
    scale_of,
)
from shelf import NOW, put
from vectors_by_words import WordEmbedder, needs_model, needs_numpy, texts_near

ROOT = Path(__file__).parent.parent
WORDS = lexicon()
LOCAL = LocalEmbedder()


# -- the core without numpy -------------------------------------------------------------------------------------


def test_without_an_embedder_numpy_is_not_needed() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from memory.concepts import lexicon\n"
        "from memory.search import search\n"
        "from memory.store import Store\n"
        "import memory.vectors\n"
        "with Store.in_memory() as store: print(search(store, 'kiln', lexicon(), limit=3))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("()", "")


# -- the tables --------------------------------------------------------------------------------------------------


def of_version_1(path: Path) -> None:
    """Make a store as the first version did, with one diary and one vote."""
    connection = sqlite3.connect(path, isolation_level=None)
    first = Migrations("recall")
    first()(schema.m001_remember)
    first.apply(Database(connection, execute_plugins=False))
    with Store.in_memory() as store:
        (one,) = put(store, "memory/2026-06-15.md", "- tests use a real database")
        for table in ("fragment", "statement", "source_file", "sighting"):
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
            for row in store.db.conn.execute(f"SELECT {columns} FROM {table}"):
                connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(row))})", row)
    connection.execute(
        "INSERT INTO signal VALUES (?, 'recall', 'q', '2026-06-16', 0.9, 'test', ?)",
        (one.statement_ids[0], NOW.isoformat()),
    )
    connection.close()


def rows_of(path: Path) -> dict[str, list[dict[str, object]]]:
    """Return the rows of each table, by column."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')] for name in names}
    connection.close()
    return {name: rows for name, rows in found.items() if "migrations" not in name}


def test_a_store_of_the_first_version_keeps_everything_when_vectors_come(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    of_version_1(path)
    before = rows_of(path)
    with Store.open(path) as store:
        assert store.db.conn.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert search(store, "database", WORDS, limit=3)[0].text == "tests use a real database"
        assert store.counts()["recalls"] == 1
    after = rows_of(path)
    assert sum(map(len, before.values())) > 5
    for name, rows in before.items():
        kept = [{key: row[key] for key in rows[0]} for row in after[name]] if rows else []
        assert [row for row in rows if row not in kept] == []


@needs_numpy
def test_a_vector_goes_with_its_fragment() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "- tests use a real database")
        keep_vectors(store, WordEmbedder())
        store.db.conn.execute("DELETE FROM fragment")
        assert store.db.conn.execute("SELECT count(*) FROM vector").fetchone() == (0,)
        assert texts_near(store, WordEmbedder(), "tests use a real database") == []


# -- what is embedded, and when ------------------------------------------------------------------------------------


@needs_numpy
def test_a_fragment_is_embedded_once() -> None:
    embedder = WordEmbedder()
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "- tests use a real database")
        assert keep_vectors(store, embedder) == 1
        put(store, "memory/2026-06-15.md", "- the boiler wants 1.5 bar\n\n- tests use a real database")
        put(store, "memory/2026-06-16.md", "- tests use a real database", date(2026, 6, 16))
        assert keep_vectors(store, embedder) == 1
        assert keep_vectors(store, embedder) == 0
    assert embedder.embedded == ["tests use a real database", "the boiler wants 1.5 bar"]


@needs_numpy
def test_another_model_makes_every_vector_anew() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "- tests use a real database")
        keep_vectors(store, WordEmbedder())
        assert texts_near(store, WordEmbedder("other"), "real database") == []
        assert keep_vectors(store, WordEmbedder("other")) == 1
        assert store.db.conn.execute("SELECT model, dimension FROM vector").fetchall() == [("other", 64)]


class Wider(WordEmbedder):
    """Another model of the same name."""

    dimension = 128


def remarks(store: Store, count: int) -> None:
    put(store, "memory/2026-06-15.md", "\n\n".join(f"- remark number {n}" for n in range(count)))


@needs_numpy
def test_a_model_that_changed_its_dimension_is_asked_again_for_all_at_once() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "- tests use a real database")
        keep_vectors(store, WordEmbedder())
        put(store, "memory/2026-06-16.md", "- the boiler wants 1.5 bar", date(2026, 6, 16))
        assert [keep_vectors(store, Wider()) for _ in range(2)] == [2, 0]
        assert texts_near(store, Wider(), "a real database") == ["tests use a real database"]


@needs_numpy
def test_a_search_notices_that_a_model_changed_its_dimension_though_nothing_is_new() -> None:
    with Store.in_memory() as store:
        remarks(store, 3)
        assert [keep_vectors(store, WordEmbedder()) for _ in range(2)] == [3, 0]
        with pytest.raises(EmbedderError, match="128 numbers now, and 3 fragments"):
            texts_near(store, Wider(), "remark number 2")
        assert keep_vectors(store, Wider(), at_most=256) == 3
        assert texts_near(store, Wider(), "remark number 2")[0] == "remark number 2"


@needs_numpy
def test_what_is_still_of_another_dimension_is_said_until_it_is_made_anew() -> None:
    with Store.in_memory() as store:
        remarks(store, 5)
        keep_vectors(store, WordEmbedder())
        with pytest.raises(EmbedderError):
            texts_near(store, Wider(), "remark")
        for left in (3, 1):
            with pytest.raises(EmbedderError, match=f"and {left} fragment"):
                keep_vectors(store, Wider(), at_most=2)
        assert keep_vectors(store, Wider(), at_most=2) == 1


@needs_numpy
def test_a_model_of_another_dimension_is_measured_on_its_own_scale() -> None:
    class Blunt(Wider):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return unit(super().embed(texts) + 1)

    with Store.in_memory() as store:
        assert scale_of(store, WordEmbedder(), dimension=64) != scale_of(store, Blunt(), dimension=128)


@needs_numpy
def test_a_store_that_cannot_be_written_to_is_searched_all_the_same() -> None:
    with Store.in_memory() as store:
        remarks(store, 2)
        keep_vectors(store, WordEmbedder())
        store.db.conn.execute("PRAGMA query_only = ON")
        assert texts_near(store, WordEmbedder(), "remark number 1")[0] == "remark number 1"
        with pytest.raises(EmbedderError, match="128 numbers now"):
            texts_near(store, Wider(), "remark number 1")


@needs_numpy
def test_a_look_that_makes_no_vectors_does_not_take_all_for_made() -> None:
    with Store.in_memory() as store:
        remarks(store, 2)
        assert keep_vectors(store, WordEmbedder(), at_most=0) == 0
        assert keep_vectors(store, WordEmbedder()) == 2


@needs_numpy
def test_only_so_many_are_embedded_at_once_the_newest_first() -> None:
    embedder = WordEmbedder()
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "\n\n".join(f"- remark number {n}" for n in range(5)))
        assert keep_vectors(store, embedder, at_most=2) == 2
        assert embedder.embedded == ["remark number 4", "remark number 3"]
        assert len(missing_vectors(store, "words")) == 3


@needs_numpy
def test_an_embedder_that_fails_keeps_what_came_before() -> None:
    class Failing(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if self.embedded:
                raise EmbedderError(self.model_id, "gone")
            return super().embed(texts)

    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "\n\n".join(f"- remark number {n}" for n in range(100)))
        with pytest.raises(EmbedderError, match="gone"):
            keep_vectors(store, Failing())
        assert len(missing_vectors(store, "words")) == 36


# -- what is near --------------------------------------------------------------------------------------------------


@needs_numpy
def test_what_stands_nowhere_any_more_is_not_near() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "- tests use a real database")
        keep_vectors(store, WordEmbedder())
        put(store, "memory/2026-06-15.md", "- something else")
        assert texts_near(store, WordEmbedder(), "tests use a real database") == []


@needs_numpy
def test_only_places_that_count_are_near() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "- kiln alpha", date(2026, 6, 15))
        put(store, "memory/2026-06-17.md", "- kiln alpha beta", date(2026, 6, 17))
        keep_vectors(store, WordEmbedder())
        assert texts_near(store, WordEmbedder(), "kiln alpha") == ["kiln alpha", "kiln alpha beta"]
        assert texts_near(store, WordEmbedder(), "kiln alpha", 1, since="2026-06-16") == ["kiln alpha beta"]
        assert texts_near(store, WordEmbedder(), "kiln alpha", until="2026-06-16") == ["kiln alpha"]
        assert texts_near(store, WordEmbedder(), "kiln alpha", kinds='["session"]') == []


@needs_numpy
def test_what_was_added_since_is_near_in_the_same_store() -> None:
    with Store.in_memory() as store:
        for day, text in ((15, "kiln alpha"), (16, "kiln alpha beta")):
            put(store, f"memory/2026-06-{day}.md", f"- {text}", date(2026, 6, day))
            keep_vectors(store, WordEmbedder())
            assert text in texts_near(store, WordEmbedder(), "kiln alpha")


@needs_numpy
@pytest.mark.parametrize("query", ["", "  ", "\0", "\ud800", "🚀", '"', "word " * 5000])
def test_any_query_is_safe(query: str) -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "- kiln alpha")
        keep_vectors(store, WordEmbedder())
        embedder: Embedder = LOCAL if local_embedder() else WordEmbedder()
        assert all(0 < one.nearest <= 1 for one in nearest(store, embedder, query, limit=3))


def test_a_word_that_stands_everywhere_is_not_the_gist() -> None:
    assert gist([("caroline", 0.12), ("support", 0.8), ("group", 0.5)]) == "support group"
    assert gist([]) == ""


# -- what nearness is worth ----------------------------------------------------------------------------------------

shares = st.floats(0, 1)
maps = st.dictionaries(st.integers(1, 30), st.floats(0, 30), max_size=12)
near_maps = st.dictionaries(st.integers(1, 30), shares, max_size=12)


@given(shares, shares)
def test_nearness_never_counts_less_than_what_is_farther_away(one: float, other: float) -> None:
    scale = Scale(unrelated=0.21, related=0.62)
    low, high = sorted((one, other))
    assert 0 <= scale.nearness(low) <= scale.nearness(high) <= 1
    assert 0 <= relevance_by_meaning(low) <= relevance_by_meaning(high) <= 1


@given(st.floats(0.7, 1), shares)
def test_an_answer_that_holds_the_words_is_worth_the_same_with_vectors_and_without(words: float, near: float) -> None:
    assert abs(max(words, relevance_by_meaning(near)) - words) <= 0.1 + 1e-9


@given(maps, near_maps, shares)
def test_every_fragment_found_either_way_is_scored(
    lexical: dict[int, float], near: dict[int, float], share: float
) -> None:
    assert fused(lexical, near, relevance=share).keys() == lexical.keys() | near.keys()


@given(st.lists(st.floats(0.1, 30).map(lambda rank: round(rank, 2)), min_size=1, unique=True), shares)
def test_without_anything_near_the_order_of_the_words_stays(ranks: list[float], share: float) -> None:
    lexical = dict(enumerate(ranks))
    scores = fused(lexical, {}, relevance=share)
    assert sorted(scores, key=lambda key: -scores[key]) == sorted(lexical, key=lambda key: -lexical[key])


def test_meaning_counts_more_where_words_say_little() -> None:
    lexical, near = {1: 8.0}, {2: 0.9}
    weak, strong = fused(lexical, near, relevance=0.1), fused(lexical, near, relevance=1.0)
    assert weak[2] > weak[1]
    assert strong[1] > strong[2]


# -- what the local model finds ------------------------------------------------------------------------------------


@needs_model
def test_the_scale_of_the_local_model_is_the_one_relevance_was_measured_with() -> None:
    scale = measured(LOCAL)
    assert (scale.unrelated, scale.related) == pytest.approx((0.21, 0.615), abs=0.02)


PARAPHRASES = (
    ("who looks after the infants", "Mara takes care of the babies on weekdays"),
    ("is the physician expensive", "Our doctor charges very little money"),
    ("how do I fix the automobile", "To repair the car, call Otto's garage"),
    ("宠物生病了怎么办", "小狗不舒服的时候联系张兽医"),
    ("工资什么时候到账", "每月十号公司发薪水"),
    ("乘坐什么上班", "他每天骑自行车去办公室"),
    ("Wer repariert unser Auto", "Den Wagen bringt Otto wieder in Ordnung"),
    ("Welche Haustiere gibt es", "Eine Katze und zwei Hunde leben bei uns"),
    ("Wann ist Zahltag", "Das Gehalt kommt immer am Zehnten"),
    ("where do we spend our holidays", "每年夏天全家去海边度假"),
    ("他最喜欢喝什么", "Her brother loves black coffee most of all"),
    ("which music does she like", "Sie hört am liebsten Jazz und Klavierkonzerte"),
)


@pytest.fixture(scope="module")
def paraphrased() -> Iterator[Store]:
    with Store.in_memory() as store:
        for number, (_, line) in enumerate(PARAPHRASES):
            put(store, f"memory/2026-05-{number + 1:02}.md", f"- {line}\n", date(2026, 5, number + 1))
        for number, (_, answer) in enumerate(ANCHORS):
            put(store, f"memory/2026-04-{number + 1:02}.md", f"- {answer}\n", date(2026, 4, number + 1))
        if local_embedder():
            keep_vectors(store, LOCAL)
        yield store


@needs_model
@pytest.mark.parametrize(("query", "line"), PARAPHRASES, ids=[query for query, _ in PARAPHRASES])
def test_a_paraphrase_without_a_common_word_is_found(paraphrased: Store, query: str, line: str) -> None:
    assert line in texts_near(paraphrased, LOCAL, query, 3)


@pytest.mark.parametrize(("query", "line"), PARAPHRASES, ids=[query for query, _ in PARAPHRASES])
def test_the_paraphrases_share_no_word_with_their_lines(paraphrased: Store, query: str, line: str) -> None:
    assert asked(query, WORDS)
    assert line not in [hit.text for hit in search(paraphrased, query, WORDS, limit=6)]
