"""Reading is voting: what a search looks through, what counts, and through which door it came."""

import re
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreaming import open_workspace
from dreaming.cli import dream
from dreaming.home import MEMORY, opened
from dreaming.overview import overview
from dreaming.places import Source, UnknownSourceError
from dreaming.reading import Found, Wanted, get, search
from house import ZONE, House, moment
from memory.store import query_hash
from workspace.errors import NotAFileError
from workspace.readable import readable

CELL = "- Garage panel takes a CR2450 cell\n"


def found(house: House, query: str, at: str = "2026-03-03T12:00", **wanted: object) -> Found:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return search(home, query, now=moment(at), wanted=Wanted(**wanted))  # type: ignore[arg-type]


def recalls(house: House) -> int:
    return house.explain("Garage", "2026-03-20T12:00").candidate.evidence.recalls


def test_the_same_question_by_command_line_and_python_on_two_days_is_two_recalls(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", ZONE)
    house.write("memory/2026-03-02.md", CELL)
    options = ["--workspace", str(house.root), "--now", "2026-03-03T12:00"]
    assert CliRunner().invoke(dream, ["search", "garage panel", *options]).exit_code == 0
    with open_workspace(house.root) as memory:
        memory.search("garage panel", now=moment("2026-03-04T12:00"))
        memory.search("garage panel", now=moment("2026-03-04T13:00"))
    evidence = house.explain("Garage", "2026-03-05T12:00").candidate.evidence
    assert (evidence.recalls, len(evidence.days), evidence.unique_queries) == (2, 2, 1)


def test_a_line_of_memory_is_found_and_is_no_vote(house: House) -> None:
    house.write(MEMORY, "# Mine\n\n- The piano is tuned in October\n")
    (result,) = found(house, "piano tuned").results
    assert (result.path, result.start_line, result.source, result.id, result.recorded) == (
        MEMORY,
        3,
        "memory",
        None,
        False,
    )


def test_a_promoted_line_is_not_shown_beside_its_fragment(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    for day in (3, 4, 5):
        house.search("garage panel", f"2026-03-0{day}T12:00")
    house.settings["deep.min_score"] = 0.5
    house.night("2026-03-06T03:00")
    assert [
        one.source for one in found(house, "garage panel", sources=frozenset({Source.DIARY, Source.MEMORY})).results
    ] == ["diary"]


def test_a_candidate_line_of_the_dreams_counts_for_the_fragment_behind_it(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    house.night("2026-03-03T03:00")
    (result,) = (
        one for one in found(house, "garage panel", sources=frozenset({Source.DREAMS})).results if one.id is not None
    )
    assert (result.source, result.recorded) == ("dreams", True)
    assert recalls(house) == 1


def test_prose_of_the_dreams_is_found_without_a_vote(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    house.write("DREAMS.md", "my own note on marzipan\n")
    (result,) = found(house, "marzipan").results
    assert (result.source, result.recorded) == ("dreams", False)


def test_days_limit_a_search(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    house.write("memory/2026-03-05.md", "- Garage door squeaks\n")
    assert [one.path for one in found(house, "garage", since=date(2026, 3, 3)).results] == ["memory/2026-03-05.md"]
    assert [one.path for one in found(house, "garage", until=date(2026, 3, 3)).results] == ["memory/2026-03-02.md"]


def test_a_line_seen_on_several_days_is_shown_where_the_days_allow(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    house.write("memory/2026-03-05.md", CELL)
    assert [one.path for one in found(house, "garage", until=date(2026, 3, 3)).results] == ["memory/2026-03-02.md"]


def test_a_question_without_a_telling_word_is_no_vote(house: House) -> None:
    house.write("memory/2026-03-02.md", "- the boat is called Kestrel\n")
    assert all(not one.recorded and one.relevance < 0.3 for one in found(house, "the").results)


def test_the_words_of_the_query_are_marked(house: House) -> None:
    house.write("memory/2026-03-02.md", "- 测试必须使用真实数据库\n\n- Panels of the garage\n")
    assert found(house, "真实").results[0].snippet == "测试必须使用**真实**数据库"
    assert found(house, "panel").results[0].snippet == "**Panels** of the garage"


def test_readable_lines_have_no_markers_and_know_their_fragment() -> None:
    text = (
        "# Title\n\n"
        "<!-- openclaw-memory-promotion:0123456789abcdef score=0.9 recalls=3 source=a:1-1 -->\n"
        "- kept line\n"
        "- mine\n\n- Candidate: staged <!-- fragment:fedcba9876543210 -->\n  - confidence: 0.62\n"
        "---\n*June 3, 2026, 3:00 AM CST*\nprose\n"
    )
    assert [(line.number, line.text, line.fragment) for line in readable(text)] == [
        (4, "kept line", "0123456789abcdef"),
        (5, "mine", None),
        (7, "staged", "fedcba9876543210"),
        (11, "prose", None),
    ]


def test_the_python_door_reads_and_dreams(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    with open_workspace(house.root, settings={"dreaming.timezone": ZONE}, environ={}) as memory:
        read = memory.get("memory/2026-03-02.md:1", now=moment("2026-03-03T12:00"))
        report = memory.night(now=datetime.fromisoformat("2026-03-04T03:00+08:00"))
    assert read.text == CELL.strip()
    assert report.night == date(2026, 3, 4)


def test_a_recall_that_cannot_be_recorded_spoils_no_search_and_is_shown(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write("memory/2026-03-02.md", CELL)
    house.night("2026-03-03T03:00")
    monkeypatch.setattr("memory.store.BUSY_SECONDS", 0.05)
    with opened(house.root, environ={}, overrides=house.settings) as writer, writer.store.writing():
        result = found(house, "garage panel")
    assert (result.results[0].text, result.results[0].recorded) == (CELL[2:].strip(), False)
    assert any("not recorded" in problem for problem in result.problems)
    with opened(house.root, environ={}, overrides=house.settings) as home:
        assert len(overview(home, now=moment("2026-03-03T13:00")).unrecorded) == 1


def test_twenty_processes_that_search_at_once_lose_no_vote(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    house.night("2026-03-03T03:00")
    code = (
        "import sys; from datetime import datetime; from dreaming import open_workspace\n"
        "with open_workspace(sys.argv[1], settings={'embeddings.embedder': 'off'}, environ={}) as memory:\n"
        "    for n in range(5):\n"
        "        now = datetime.fromisoformat('2026-03-04T12:00:00+08:00')\n"
        "        found = memory.search(f'garage panel {sys.argv[2]}x{n}', now=now)\n"
        "        assert not found.problems, found.problems\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(house.root), str(n)], stderr=subprocess.PIPE, text=True)
        for n in range(20)
    ]
    assert [process.communicate(timeout=110)[1] for process in running] == [""] * 20
    assert recalls(house) == 100


def test_a_hit_in_the_dreams_votes_only_for_the_statement_that_answered(house: House) -> None:
    house.write(
        "memory/2026-03-02.md", "- dentist is Brandt\n- kiln takes cone six\n- router upstairs\n- tea is green\n"
    )
    house.night("2026-03-03T03:00")
    found(house, "kiln cone", sources=frozenset({Source.DREAMS}))
    assert house.explain("kiln", "2026-03-05T12:00").candidate.votes == (0, 1, 0, 0)


@pytest.mark.parametrize("around", [("```", "```"), ("<!--", "-->"), ("keys:", "end")], ids=["code", "comment", "text"])
def test_no_line_of_a_key_can_be_read_and_the_lines_below_it_keep_their_numbers(
    house: House, around: tuple[str, str]
) -> None:
    body = "MIIEowIBAAKCAQEA7bq1\nabcd+/efgh1234567890abcdefghij"
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    house.write("memory/2026-03-02.md", f"- above\n\n{around[0]}\n{key}\n{around[1]}\n\n- below stands more\n")
    whole = house.get("memory/2026-03-02.md", "2026-03-03T12:00").text
    assert "[secret:" in whole
    assert [line for line in body.split("\n") if line in whole] == []
    assert whole.split("\n")[9] == "- below stands more"
    assert house.get("memory/2026-03-02.md:5-6", "2026-03-03T12:00").text.strip() == ""


def test_keys_that_repeat_what_stands_between_them_are_hidden_too(house: House) -> None:
    keys = [f"-----BEGIN RSA PRIVATE KEY-----\n{one}\n-----END RSA PRIVATE KEY-----" for one in ("p", "x", "y")]
    house.write("memory/2026-03-02.md", "```\n{}\na\n{}\np\n{}\n```\n".format(*keys))
    lines = house.get("memory/2026-03-02.md", "2026-03-03T12:00").text.split("\n")
    assert len(lines) == 13
    assert "y" not in lines


@pytest.mark.parametrize("name", ["memory/2026-03-02.md", MEMORY])
@pytest.mark.parametrize(("text", "count"), [("", 1), ("a", 1), ("a\nb\n", 2), ("a\r\nb\r\n", 2), ("a\n\n", 2)])
def test_a_file_has_as_many_lines_as_an_editor_shows(house: House, name: str, text: str, count: int) -> None:
    house.write(name, text)
    assert house.get(name, "2026-03-03T12:00").end_line == count


MARKER = "<!-- openclaw-memory-promotion:0123456789abcdef score=0.900 recalls=5 source=memory/2026-03-02.md:1-1 -->"


@pytest.mark.parametrize(
    ("place", "lines", "text"),
    [
        ("MEMORY.md", (1, 6), "# Mine\n\n\n- kept line\n<!-- my own comment -->\n- the piano is tuned in October"),
        ("MEMORY.md:4", (4, 4), "- kept line"),
        ("./MEMORY.md:3-4", (3, 4), "\n- kept line"),
        ("MEMORY.md:5-99", (5, 6), "<!-- my own comment -->\n- the piano is tuned in October"),
    ],
)
def test_the_long_term_memory_is_read_by_its_lines_without_markers(
    house: House, place: str, lines: tuple[int, int], text: str
) -> None:
    own = "<!-- my own comment -->\n- the piano is tuned in October\n"
    house.write(MEMORY, f"\ufeff# Mine\n\n{MARKER}\n- kept line\n{own}")
    read = house.get(place, "2026-03-03T12:00")
    assert (read.path, read.start_line, read.end_line, read.text) == (MEMORY, *lines, text)


def test_what_a_search_finds_in_a_page_can_be_read_by_its_place(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    house.write(MEMORY, "# Mine\n\n- The piano is tuned in October\n")
    house.write("dreams.md", "# Mine\n\nmy own note on marzipan\n")
    for query in ("piano tuned", "marzipan"):
        (result,) = found(house, query).results
        assert result.text in house.get(f"{result.path}:{result.start_line}", "2026-03-03T12:00").text


def test_the_dreams_are_read_by_the_name_the_folder_has_them_under(house: House) -> None:
    house.write("dreams.md", "a dream\n")
    assert house.get("dreams.md", "2026-03-03T12:00").text == "a dream"
    assert house.get("DREAMS.md", "2026-03-03T12:00").text == "a dream"


@pytest.mark.parametrize("name", ["DREAMS.md", "dreams.md", "Dreams.md"])
def test_a_page_is_read_under_no_other_name(house: House, name: str) -> None:
    house.write("DREAMS.MD", "a dream\n")
    assert house.get("DREAMS.MD", "2026-03-03T12:00").text == "a dream"
    if name != "DREAMS.md":
        with pytest.raises(UnknownSourceError, match=f"no {re.escape(name)} to read here"):
            house.get(name, "2026-03-03T12:00")


def test_a_page_that_is_not_there_is_no_source(house: House) -> None:
    with pytest.raises(UnknownSourceError, match=r"no MEMORY\.md to read here"):
        house.get("MEMORY.md", "2026-03-03T12:00")


def test_a_page_that_is_a_folder_says_so(house: House) -> None:
    (house.root / MEMORY).mkdir()
    with pytest.raises(NotAFileError):
        house.get("MEMORY.md:1", "2026-03-03T12:00")


def test_what_stands_below_a_key_in_a_page_is_found_on_its_line(house: House) -> None:
    body = "MIIEowIBAAKCAQEA7bq1\nabcd+/efgh1234567890abcdefghij"
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    house.write("MEMORY.md", f"## Keys\n{key}\n- The walnut cabinet stands in the attic\n")
    [result] = house.search("walnut cabinet attic", "2026-03-03T12:00").results
    assert (result.path, result.start_line) == ("MEMORY.md", 6)


def test_secrets_in_a_page_are_masked(house: House) -> None:
    house.write(MEMORY, "# Passwords\n\n- the password is Tulpe-4711\n")
    read = house.get(MEMORY, "2026-03-03T12:00")
    assert (read.end_line, "4711" in read.text, "[secret:" in read.text) == (3, False, True)


def candidate_line(house: House) -> int:
    """Stage a fragment and return the line of the dreams that shows it."""
    house.write("memory/2026-03-02.md", CELL)
    house.write("DREAMS.md", "my own note on marzipan\n")
    house.night("2026-03-03T03:00")
    lines = house.read("DREAMS.md").split("\n")
    return next(n for n, line in enumerate(lines, 1) if line.startswith("- Candidate: Garage"))


def test_reading_a_candidate_line_is_a_vote_for_the_fragment_it_shows(house: House) -> None:
    line = candidate_line(house)
    read = house.get(f"DREAMS.md:{line}-{line + 1}", "2026-03-03T12:00")
    (result,) = read.results
    assert read.text == "- Candidate: Garage panel takes a CR2450 cell\n  - confidence: 0.62"
    assert (result.start_line, result.source, result.relevance, result.recorded) == (line, "dreams", 1.0, True)
    assert recalls(house) == 1


def test_a_line_read_in_the_diary_and_in_the_dreams_counts_once_a_day(house: House) -> None:
    line = candidate_line(house)
    house.get(f"DREAMS.md:{line}", "2026-03-03T12:00")
    house.get("memory/2026-03-02.md:1", "2026-03-03T13:00")
    assert recalls(house) == 1


def test_what_shows_no_fragment_is_read_without_a_vote(house: House) -> None:
    line = candidate_line(house)
    house.write(MEMORY, "# Mine\n\n- Garage panel takes a CR2450 cell\n")
    assert house.get("DREAMS.md:1", "2026-03-03T12:00").results == ()
    assert house.get(f"DREAMS.md:{line + 1}-{line + 4}", "2026-03-03T12:00").results == ()
    house.get("MEMORY.md", "2026-03-03T12:00")
    assert recalls(house) == 0


def test_a_promoted_line_of_the_memory_names_its_fragment_without_a_vote(house: House) -> None:
    house.write("memory/2026-03-02.md", CELL)
    for day in (3, 4, 5):
        house.search("garage panel", f"2026-03-0{day}T12:00")
    house.settings["deep.min_score"] = 0.5
    house.night("2026-03-06T03:00")
    (result,) = house.get("MEMORY.md", "2026-03-06T12:00").results
    assert (result.text, result.source, result.recorded) == (CELL[2:].strip(), "memory", False)
    assert recalls(house) == 3


def test_the_more_lines_of_the_dreams_are_read_the_less_it_says_of_each(house: House) -> None:
    line = candidate_line(house)
    house.write("DREAMS.md", house.read("DREAMS.md") + "more\n" * 60)
    (half,) = house.get(f"DREAMS.md:{line}-{line + 23}", "2026-03-03T12:00").results
    (whole,) = house.get("DREAMS.md", "2026-03-04T12:00").results
    assert (half.relevance, half.recorded) == (0.5, True)
    assert (whole.relevance < 0.3, whole.recorded) == (True, False)
    assert recalls(house) == 1


def test_a_line_of_the_dreams_votes_only_for_the_statements_it_shows(house: House) -> None:
    house.write("memory/2026-03-02.md", "- dentist is Brandt\n- kiln takes cone six\n- tea is always green\n")
    house.search("kiln", "2026-03-02T12:00")
    key = house.explain("kiln", "2026-03-02T12:00").candidate.id
    house.write("DREAMS.md", f"- Not yet: kiln takes cone six — recalls 1 of 3 <!-- fragment:{key} -->\n")
    house.get("DREAMS.md:1", "2026-03-03T12:00")
    assert house.explain("kiln", "2026-03-05T12:00").candidate.votes == (0, 2, 0)


def test_a_line_that_shows_an_unknown_fragment_is_no_vote(house: House) -> None:
    house.write("DREAMS.md", f"- Candidate: invented <!-- fragment:{'0' * 16} -->\n")
    assert house.get("DREAMS.md:1", "2026-03-03T12:00").results == ()


def test_saved_memories_are_searched_read_and_voted_for_like_diaries(tmp_path: Path) -> None:
    house = House(tmp_path, **{"workspace.memories": ["people.md"]})
    house.write("memory/people.md", "# People\n\n- Anna only drinks oat milk, because she is allergic to cow's milk\n")
    house.write("memory/template.md", "- oat milk template\n")
    with opened(house.root, environ={}, overrides=house.settings) as home:
        now = moment("2026-03-03T12:00")
        found = search(home, "oat milk Anna", now=now, wanted=Wanted(sources=frozenset({Source.MEMORY})))
        assert [(one.path, one.source, one.recorded) for one in found.results] == [("memory/people.md", "memory", True)]
        assert search(home, "oat milk", now=now, wanted=Wanted(sources=frozenset({Source.DIARY}))).results == ()
        assert get(home, "memory/people.md:3", now=now).results[0].source == "memory"
    assert house.explain("oat milk", "2026-03-03T13:00").candidate.evidence.recalls == 2


def test_a_hit_is_a_vote_only_when_it_is_at_least_half_as_relevant_as_the_best(house: House) -> None:
    house.write(
        "memory/2026-03-02.md",
        "- old roof fan relay above the attic window is a grey G2R\n\n- the old relay race passes a grey barn in May\n",
    )
    best, other = found(house, "old grey relay, roof fan, attic window G2R").results
    assert (best.relevance, best.recorded) == (1.0, True)
    assert (other.relevance, other.recorded) == (0.4635, False)
    assert house.explain("race", "2026-03-05T12:00").candidate.evidence.recalls == 0


def test_a_faint_hit_is_a_vote_when_nothing_answers_better(house: House) -> None:
    house.write("memory/2026-03-02.md", "- the relay race is in May\n")
    (result,) = found(house, "roof fan relay").results
    assert (result.relevance, result.recorded) == (0.3333, True)


def test_a_question_respelt_is_the_same_question_that_day(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage fan relay is a G2R\n")
    for query in (
        "garage fan relay",
        "Garage fan relay?",
        "relay fan garage",
        "fan, relay, garage!",
        "garage-fan relay",
    ):
        found(house, query)
    assert recalls(house) == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("测试用什么数据库", "测试用什么数据库？", True),
        ("connection pool 上限", "上限 Pool，connection", True),
        ("数据库 测试", "测试 数据库", False),
        ("room 5", "Room 5?", True),
        ("version 1.5", "version 5.1", False),
        ("?", "!", False),
    ],
)
def test_what_makes_two_questions_one(one: str, other: str, same: bool) -> None:
    assert (query_hash(one) == query_hash(other)) is same


def test_a_whole_file_is_a_vote_only_when_it_is_no_longer_than_a_chunk(house: House) -> None:
    house.write("memory/2026-03-02.md", f"# Monday\n\n{CELL}\n- the other one\n")
    whole = house.get("memory/2026-03-02.md", "2026-03-03T12:00")
    assert [one.recorded for one in whole.results] == [False, False]
    assert recalls(house) == 0
    assert all(one.recorded for one in house.get("memory/2026-03-02.md:1-5", "2026-03-03T12:00").results)
    house.write("memory/2026-03-02.md", f"# Monday\n\n{CELL}")
    assert all(one.recorded for one in house.get("memory/2026-03-02.md", "2026-03-04T12:00").results)
    assert recalls(house) == 2


PROSE = (
    "The days go by. Somebody asked twice about the invoices. Nobody answered. The kiln was warm. The moon rose late."
)


def test_prose_of_the_dreams_comes_after_every_note_that_answers(house: House) -> None:
    house.write("memory/2026-03-02.md", "- invoices go to Anna\n\n- the invoices are blue\n\n- a go board\n")
    house.write("DREAMS.md", f"{PROSE}\n\n{PROSE}\n\ninvoices go, invoices go\n")
    results = found(house, "where do invoices go").results
    assert [one.source for one in results] == ["diary", "diary", "diary", "dreams"]


def test_prose_of_the_dreams_stands_before_notes_that_hardly_answer(house: House) -> None:
    house.write("memory/2026-03-02.md", "- roof tiles of the shed are red\n")
    house.write("DREAMS.md", "invoices pile up on the kitchen roof beside the stamps\n")
    results = found(house, "invoices kitchen stamps roof").results
    assert [(one.source, one.relevance >= 0.3) for one in results] == [("dreams", True), ("diary", False)]


def test_prose_of_the_dreams_is_cut_to_the_sentences_around_the_match(house: House) -> None:
    house.write("DREAMS.md", f"{PROSE}\n")
    (result,) = found(house, "twice invoices").results
    assert result.text == "The days go by. Somebody asked twice about the invoices. Nobody answered."
    assert "**twice**" in result.snippet


def test_words_far_apart_in_the_prose_of_the_dreams_are_no_answer(house: House) -> None:
    house.write("DREAMS.md", f"{PROSE}\n")
    assert found(house, "invoices moon days").results[0].relevance < 1


def test_candidate_lines_stand_where_their_relevance_puts_them(house: House) -> None:
    house.write("memory/2026-03-02.md", "- garage door squeaks\n")
    house.night("2026-03-03T03:00")
    house.write("memory/2026-03-02.md", "- garage panel was cleaned\n")
    house.write("DREAMS.md", f"{house.read('DREAMS.md')}\ngarage door, garage door\n")
    results = found(house, "garage door").results
    assert [(one.source, one.id is None) for one in results] == [("dreams", False), ("diary", False), ("dreams", True)]


TABLE = "| service | owner | note |\n| --- | --- | --- |\n| db | Anna | password: {} |\n| router | **Ben** | ok |"
LIST = "1. a **bold** thing\n- [x] database password: {}\n- see [the manual](https://db.example.com)\n  of the kiln"


@pytest.mark.parametrize(
    "around", [TABLE, LIST, "login:\n- user: bob\n- password: `{}`\n- host: db", "> - password: {}"]
)
def test_lines_beside_a_secret_come_back_as_they_stand(house: House, around: str) -> None:
    house.write("memory/2026-03-02.md", around.format("Tulpe-4711x"))
    read = house.get("memory/2026-03-02.md", "2026-03-03T12:00").text
    assert read == around.format("[secret:password]")


def test_an_item_that_its_heading_hides_stays_an_item(house: House) -> None:
    house.write("memory/2026-03-02.md", "## Password\n\n- Tulpe-4711x\n")
    assert house.get("memory/2026-03-02.md:3", "2026-03-03T12:00").text == "- [secret:password]"


def test_a_secret_that_markup_takes_apart_is_hidden_all_the_same(house: House) -> None:
    house.write("memory/2026-03-02.md", "- the kiln is hot\n- password: Tulpe-**4711**x\n")
    assert house.get("memory/2026-03-02.md", "2026-03-03T12:00").text.split("\n")[0] == "- the kiln is hot"
    assert "4711" not in house.get("memory/2026-03-02.md", "2026-03-03T12:00").text
