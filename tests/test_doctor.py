"""The doctor: each kind of damage is found and named, nothing changes without --fix, and --fix leaves nothing to do."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlite_utils import Database

from dreaming.cli import dream
from dreaming.home import opened
from dreaming.upkeep.doctor import without_copies
from house import House, moment
from memory import schema
from memory.promotions import State
from workspace.lock import lock

SETTINGS = '[dreaming]\ntimezone = "Asia/Shanghai"\n[deep]\nmin_score = 0.7\n[embeddings]\nembedder = "off"\n'
NOW = "2026-03-06T09:00"
LINE = "Garage panel takes a CR2450 cell"
KEY = "sk-proj-" + "Zx9Qm" * 8


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A workspace whose first night promoted one line."""
    house = House(tmp_path, **{"deep.min_score": 0.7})
    house.write("config.toml", SETTINGS)
    house.write("memory/2026-03-02.md", f"- {LINE}\n")
    for day, query in (("03", "garage panel cell"), ("04", "CR2450"), ("05", "which cell does the garage panel take")):
        house.search(query, f"2026-03-{day}T10:00")
    house.night("2026-03-06T03:00")
    return house


def run(house: House, *args: str) -> Result:
    return CliRunner().invoke(dream, ["--workspace", str(house.root), "--now", NOW, *args])


def kinds(house: House, *args: str) -> list[tuple[str, bool]]:
    result = run(house, "doctor", "--json", *args)
    assert result.exit_code in (0, 1), result.output
    found = json.loads(result.stdout)["findings"]
    assert bool(found) == bool(result.exit_code)
    return [(one["kind"], one["fixable"]) for one in found]


def sql(house: House, *statements: str) -> None:
    with closing(sqlite3.connect(house.root / "memory/.dreams/recall.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def disk(house: House) -> dict[str, tuple[str, int]]:
    """Return bytes and mode of every file, the store's among them."""
    files = sorted(path for path in house.root.rglob("*") if path.is_file())
    return {str(p): (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mode) for p in files}


def twice(house: House) -> None:
    """Write the own line a second time, and a line of the user's behind it."""
    lines = house.read("MEMORY.md").splitlines(keepends=True)
    marker = next(at for at, line in enumerate(lines) if "promotion:" in line)
    house.write("MEMORY.md", "".join([*lines, "\n", *lines[marker : marker + 2], "\nmine\n"]))


def append(house: House, name: str, text: str) -> None:
    house.write(name, house.read(name) + text)


def unmarked(house: House) -> None:
    house.write("MEMORY.md", "# Mine\n")


def unrecorded(house: House) -> None:
    sql(house, "DELETE FROM promotion")


def copied_line(house: House) -> None:
    append(house, "MEMORY.md", f"\n## Mine\n\n- {LINE.upper()}\n")


def marker(name: str, edge: str) -> str:
    return f"<!-- openclaw:dreaming:{name}:{edge} -->\n"


def change_dreams(house: House, old: str, new: str) -> None:
    assert house.read("DREAMS.md").count(old) == 1
    house.write("DREAMS.md", house.read("DREAMS.md").replace(old, new))


def without_end(house: House) -> None:
    change_dreams(house, marker("rem", "end"), "")


def with_words_in_it(house: House) -> None:
    change_dreams(house, marker("rem", "end"), "my own words\n")


def marked_twice(house: House) -> None:
    lines = house.read("MEMORY.md").splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if "promotion:" in line)
    house.write("MEMORY.md", "".join([*lines[:at], lines[at], *lines[at:]]))


def without_line(house: House) -> None:
    lines = house.read("MEMORY.md").splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if "openclaw-memory-promotion" in line)
    house.write("MEMORY.md", "".join([*lines[: at + 1], *lines[at + 2 :]]))


def stray(house: House) -> None:
    house.write(".MEMORY.md.part", "half of a fi")
    house.write("memory/.dreams/.night.holder.json.elsewhere.gone", "{}")


def raw(house: House, name: str, content: bytes) -> None:
    (house.root / name).write_bytes(content)


def planned(house: House) -> None:
    sql(house, "UPDATE promotion SET state = 'planned'")


def gone(house: House) -> None:
    (house.root / "memory/2026-03-02.md").unlink()


def edited(house: House) -> None:
    append(house, "memory/2026-03-02.md", "- Boat is called Kestrel\n")


def mode(house: House, name: str) -> None:
    (house.root / name).chmod(0o644)


DAMAGE: dict[str, tuple[Callable[[House], object], str, bool]] = {
    "no marker": (unmarked, "missing_marker", True),
    "no row": (unrecorded, "unknown_marker", False),
    "ended": (lambda h: sql(h, "UPDATE promotion SET state = 'undone'"), "ended_marker", True),
    "planned promotion": (planned, "planned_promotion", True),
    "planned change": (lambda h: sql(h, "UPDATE change SET state = 'planned' WHERE id = 1"), "planned_change", True),
    "night": (lambda h: sql(h, "UPDATE night SET finished_at = NULL"), "unfinished_night", False),
    "marker twice": (twice, "double_marker", True),
    "wording twice": (copied_line, "double_wording", False),
    "marker above itself": (marked_twice, "double_marker", True),
    "marker without its line": (without_line, "bare_marker", True),
    "block": (without_end, "damaged_block", True),
    "block with words": (with_words_in_it, "damaged_block", False),
    "long line": (lambda h: h.write("memory/2026-03-03.md", "x" * 5000), "overlong_line", False),
    "bytes": (lambda h: raw(h, "memory/2026-03-03.md", b"- caf\xe9 au lait\n"), "undecodable", False),
    "fence": (lambda h: h.write("memory/2026-03-03.md", "```\nls\n"), "open_fence", False),
    "gone": (gone, "gone_source", True),
    "stale": (edited, "stale_source", True),
    "no statement": (lambda h: sql(h, "DELETE FROM statement"), "empty_fragment", True),
    "no place": (lambda h: sql(h, "UPDATE fragment SET gone_at = '2026-03-03'"), "misplaced_fragment", True),
    "image": (
        lambda h: sql(h, "INSERT INTO image SELECT 'ab', NULL, 0, 0, 0, content FROM image LIMIT 1"),
        "orphan_image",
        True,
    ),
    "dangling": (lambda h: sql(h, "INSERT INTO statement VALUES (99, 0, 'x', 'y')"), "dangling_rows", True),
    "dangling night": (
        lambda h: sql(h, "INSERT INTO refusal VALUES ('2020-01-01', 'a', 'b', 'c')"),
        "dangling_rows",
        False,
    ),
    "index": (lambda h: sql(h, "INSERT INTO fragment_fts (fragment_fts) VALUES ('delete-all')"), "word_index", True),
    "secret": (lambda h: append(h, "MEMORY.md", f"\nmy key: {KEY}\n"), "secret", False),
    "future night": (
        lambda h: sql(
            h, "INSERT INTO night VALUES ('2027-01-01', '2026-12-31T19:00:00+00:00', '2026-12-31T19:00:00+00:00')"
        ),
        "clock",
        False,
    ),
    "order": (
        lambda h: sql(
            h, "INSERT INTO night VALUES ('2026-03-01', '2026-03-05T20:00:00+00:00', '2026-03-05T20:00:00+00:00')"
        ),
        "clock",
        False,
    ),
    "future vote": (lambda h: sql(h, "UPDATE signal SET at = '2027-01-01T00:00:00+00:00'"), "clock", False),
    "part": (stray, "left_over", True),
    "store's mode": (lambda h: mode(h, "memory/.dreams/recall.db"), "permissions", True),
    "newer": (lambda h: sql(h, f"PRAGMA user_version = {schema.VERSION + 1}"), "newer_store", False),
    "damaged": (lambda h: raw(h, "memory/.dreams/recall.db", b"no store at all, " * 99), "damaged_store", False),
}


def test_a_workspace_in_order_has_nothing_wrong(house: House) -> None:
    result = run(house, "doctor")
    assert (result.exit_code, result.output) == (0, "Nothing is wrong\n")


def test_an_empty_workspace_has_nothing_wrong_and_gets_nothing_from_being_looked_at(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    assert kinds(House(tmp_path)) == []
    assert list(tmp_path.rglob("*")) == [tmp_path / "memory"]


@pytest.mark.parametrize("option", ["--json", "--fix"])
def test_of_a_folder_that_is_no_workspace_it_is_said_how_to_begin(tmp_path: Path, option: str) -> None:
    result = run(House(tmp_path), "doctor", option)
    assert result.exit_code == 2
    assert "is no workspace yet: make it one with dream init" in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["MEMORY.md", "DREAMS.md"])
def test_a_mode_that_the_user_gave_a_page_is_the_users(house: House, name: str) -> None:
    mode(house, name)
    assert kinds(house) == []
    assert kinds(house, "--fix") == []
    assert (house.root / name).stat().st_mode & 0o777 == 0o644


DAMAGED_MARKERS: dict[str, tuple[str, str]] = {
    "end of a section": (marker("light", "end"), ""),
    "end of the last section": (marker("deep", "end"), ""),
    "end of the diary": (marker("diary", "end"), ""),
    "start of a section": (marker("rem", "start"), ""),
    "start of the diary": (marker("diary", "start"), ""),
    "half an end": (marker("rem", "end"), "<!-- openclaw:dreaming:rem:en\n"),
    "a misspelt start": (marker("deep", "start"), "<!-- openclaw:dreaming:deep:strat -->\n"),
    "an end twice": (marker("light", "end"), marker("light", "end") * 2),
    "a start twice": (marker("diary", "start"), marker("diary", "start") * 2),
}


@pytest.mark.parametrize("name", DAMAGED_MARKERS)
def test_a_marker_of_the_dream_diary_is_put_back_where_it_stood(house: House, name: str) -> None:
    before = house.read("DREAMS.md")
    change_dreams(house, *DAMAGED_MARKERS[name])
    assert kinds(house) == [("damaged_block", True)]
    assert kinds(house, "--fix") == []
    assert house.read("DREAMS.md") == before


def test_several_markers_are_put_back_at_once_and_the_change_is_on_record(house: House) -> None:
    before = house.read("DREAMS.md")
    for name in ("diary", "light", "rem"):
        change_dreams(house, marker(name, "end"), "")
    assert kinds(house, "--fix") == []
    assert house.read("DREAMS.md") == before
    with house.home() as home:
        assert home.changes.all()[-1].reason == "marker lines that were missing or damaged"


LAST_LINES = ("- my own list\n", "a last word of mine\n", "---\n\nmine\n")


@pytest.mark.parametrize("name", ["diary", "light", "rem", "deep"])
@pytest.mark.parametrize("words", LAST_LINES)
def test_where_the_users_words_may_stand_in_a_block_it_is_said_what_to_do_by_hand(
    house: House, name: str, words: str
) -> None:
    change_dreams(house, marker(name, "end"), words)
    before = house.read("DREAMS.md")
    assert kinds(house, "--fix") == [("damaged_block", False)]
    assert house.read("DREAMS.md") == before
    line = next(n for n, one in enumerate(before.splitlines(), 1) if f"{name}:start" in one)
    (finding,) = json.loads(run(house, "doctor", "--json").stdout)["findings"]
    assert finding["place"] == f"DREAMS.md:{line}"
    assert finding["what"] == f"the {name} block begins there and has no end, so nights leave it alone"
    way = f"write {marker(name, 'end').strip()} on a line of its own below what belongs to the block"
    assert finding["repair"] == f"{way}, or delete line {line}"


def test_an_end_without_a_start_or_heading_is_for_the_user(house: House) -> None:
    change_dreams(house, f"## REM Sleep\n{marker('rem', 'start')}", "")
    (finding,) = json.loads(run(house, "doctor", "--json").stdout)["findings"]
    assert finding["what"] == "the rem block ends there and has no start, so nights leave it alone"
    assert finding["repair"].startswith("write <!-- openclaw:dreaming:rem:start --> on a line of its own above what")


def test_of_a_marker_that_stands_above_itself_one_stays_with_its_line(house: House) -> None:
    before = house.read("MEMORY.md")
    marked_twice(house)
    assert kinds(house, "--fix") == []
    assert house.read("MEMORY.md") == before


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_and_nothing_on_disk_changes(house: House, name: str) -> None:
    damage, kind, fixable = DAMAGE[name]
    damage(house)
    before = disk(house)
    assert (kind, fixable) in kinds(house)
    assert disk(house) == before


@pytest.mark.parametrize("name", DAMAGE)
def test_repairs_leave_only_what_the_user_has_to_do_and_are_made_once(house: House, name: str) -> None:
    damage, kind, fixable = DAMAGE[name]
    damage(house)
    own = {path: house.read(path) for path in ("memory/2026-03-02.md", "config.toml")}
    left = kinds(house, "--fix")
    assert ((kind, fixable) in left) is not fixable
    assert not any(repairable for _, repairable in left)
    before = {path: found for path, found in disk(house).items() if "-wal" not in path and "-shm" not in path}
    second = json.loads(run(house, "doctor", "--fix", "--json").stdout)
    assert second["repaired"] == []
    assert before == {path: found for path, found in disk(house).items() if "-wal" not in path and "-shm" not in path}
    assert own == {path: house.read(path) for path in own}


def test_a_finding_names_kind_place_sentence_and_repair(house: House) -> None:
    append(house, "MEMORY.md", f"\nmy key: {KEY}\n")
    result = run(house, "doctor", "--json")
    (finding,) = json.loads(result.stdout)["findings"]
    assert finding["kind"] == "secret"
    assert finding["place"] == "MEMORY.md:8"
    assert "in clear" in finding["what"]
    assert finding["repair"] == "take it out of the file, and change it where it is used"
    assert KEY not in result.output


def test_the_command_says_what_it_found_what_helps_and_what_it_did(house: House) -> None:
    twice(house)
    found = run(house, "doctor")
    assert found.exit_code == 1
    assert "MEMORY.md:8: the marker of fragment" in found.output
    assert found.output.endswith("  --fix: the copy is taken out\n1 found; dream doctor --fix repairs 1 of them\n")
    fixed = run(house, "doctor", "--fix")
    assert fixed.exit_code == 0
    assert fixed.output.startswith("Repaired  MEMORY.md:8: the marker of fragment")
    assert fixed.output.endswith("1 repaired, nothing is left\n")


def test_a_copy_is_taken_out_and_the_users_words_stay(house: House) -> None:
    twice(house)
    before = house.read("MEMORY.md")
    run(house, "doctor", "--fix")
    assert house.read("MEMORY.md").count(LINE) == 1
    assert house.read("MEMORY.md").endswith("\nmine\n")
    with opened(house.root, environ={}, overrides=house.settings) as home:
        assert next(c for c in home.changes.all() if c.kind == "doctor").reason == "a marker twice, or without a line"
    assert run(house, "undo").exit_code == 0
    assert LINE not in house.read("MEMORY.md"), "the night of that date goes with it"
    assert "mine\n" in house.read("MEMORY.md")
    assert before.count(LINE) == 2


def test_what_the_doctor_did_on_a_day_without_a_night_is_taken_back_alone(house: House) -> None:
    twice(house)
    before = house.read("MEMORY.md")
    options = ["--workspace", str(house.root), "--now", "2026-03-07T09:00"]
    assert CliRunner().invoke(dream, [*options, "doctor", "--fix"]).exit_code == 0
    after = house.read("MEMORY.md")
    assert CliRunner().invoke(dream, [*options, "undo"]).exit_code == 0
    assert house.read("MEMORY.md") == before
    assert CliRunner().invoke(dream, [*options, "redo"]).exit_code == 0
    assert house.read("MEMORY.md") == after


def test_copies_that_differ_are_the_users_to_choose_from(house: House) -> None:
    twice(house)
    house.write("MEMORY.md", house.read("MEMORY.md").replace("CR2450 cell\n\nmine", "CR2032 cell\n\nmine"))
    before = house.read("MEMORY.md")
    assert kinds(house, "--fix") == [("double_marker", False)]
    assert house.read("MEMORY.md") == before


def test_a_heading_that_held_only_a_copy_goes_with_it() -> None:
    own = "<!-- openclaw-memory-promotion:abc score=0.9 recalls=3 source=memory/2026-03-02.md:1-1 -->\n- a line\n"
    text = (
        f"# Mine\n\n## Promoted From Short-Term Memory (2026-03-06)\n\n{own}\n"
        f"## Promoted From Short-Term Memory (2026-03-07)\n\n{own}\n## Mine\n"
    )
    assert without_copies(text) == f"# Mine\n\n## Promoted From Short-Term Memory (2026-03-06)\n\n{own}\n## Mine\n"
    assert without_copies(without_copies(text)) == without_copies(text)


def test_a_memory_file_that_is_gone_is_not_taken_for_the_users_wish(house: House) -> None:
    (house.root / "MEMORY.md").unlink()
    assert kinds(house, "--fix") == [("missing_marker", False)]
    with opened(house.root, environ={}, overrides=house.settings) as home:
        assert [promotion.state for promotion in home.promotions.all()] == [State.IN_FORCE]


def test_fragments_that_lost_their_statements_are_read_again_with_their_votes(house: House) -> None:
    recalls = house.explain(LINE, NOW).candidate.evidence.recalls
    sql(house, "DELETE FROM statement")
    assert kinds(house, "--fix") == []
    assert house.explain(LINE, NOW).candidate.evidence.recalls == recalls


def test_an_unfinished_night_is_closed_once_a_later_one_finished(house: House) -> None:
    sql(house, "INSERT INTO night VALUES ('2026-03-01', '2026-02-28T19:00:00+00:00', NULL)")
    assert kinds(house) == [("unfinished_night", True)]
    assert kinds(house, "--fix") == []


def test_a_diary_of_a_day_to_come_is_named(house: House) -> None:
    house.write("memory/2026-08-01.md", "- Boat is called Kestrel\n")
    house.search("boat", "2026-03-06T08:00")
    assert ("clock", False) in kinds(house)


def test_a_marker_of_another_program_is_not_missed_in_the_store(house: House) -> None:
    append(
        house,
        "MEMORY.md",
        "\n<!-- openclaw-memory-promotion:memory:memory/2026-01-01.md:1:2 score=0.9 recalls=3 source=a.md:1-2 -->\n"
        "- x y\n",
    )
    assert kinds(house) == []


def test_an_older_store_is_named_and_brought_up_to_date(tmp_path: Path) -> None:
    house = House(tmp_path)
    (tmp_path / "memory/.dreams").mkdir(parents=True)
    path = tmp_path / "memory/.dreams/recall.db"
    path.touch(0o600)
    with closing(sqlite3.connect(path)) as connection:
        schema.MIGRATIONS.apply(Database(connection, execute_plugins=False), stop_before="m004_tell_again")
        connection.commit()
    before = disk(house)
    assert kinds(house) == [("older_store", True)]
    assert disk(house) == before
    assert kinds(house, "--fix") == []


def test_what_a_crash_left_in_the_write_ahead_log_is_looked_at_too(house: House) -> None:
    path = house.root / "memory/.dreams/recall.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("UPDATE promotion SET state = 'undone'")
    wal = path.with_name("recall.db-wal").read_bytes()
    connection.close()
    path.with_name("recall.db-wal").write_bytes(wal)
    path.with_name("recall.db-wal").chmod(0o600)
    before = disk(house)
    assert kinds(house) == [("ended_marker", True)]
    assert disk(house) == before


def test_a_store_that_a_killed_process_left_open_is_looked_at_as_it_is(house: House) -> None:
    path = house.root / "memory/.dreams/recall.db"
    script = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA journal_mode = WAL'); c.execute(\"UPDATE promotion SET state = 'undone'\"); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert path.with_name("recall.db-wal").stat().st_size
    before = disk(house)
    assert kinds(house) == [("ended_marker", True)]
    assert {name for name, found in disk(house).items() if found != before[name]} <= {f"{path}-shm"}
    assert kinds(house, "--fix") == []


def test_transcripts_that_grew_or_are_gone_are_named_and_heard_again(house: House) -> None:
    append(house, "config.toml", "[sessions]\nenabled = true\n")
    said = '{"role": "user", "content": "%s", "timestamp": "2026-03-05T10:00:00Z"}\n'
    house.write("sessions/one.jsonl", said % "The boat is called Kestrel")
    house.write("sessions/two.jsonl", said % "The cat is called Momo")
    assert run(house).exit_code == 0
    assert kinds(house) == []
    append(house, "sessions/one.jsonl", said % "The boat lies at the northern pier")
    (house.root / "sessions/two.jsonl").unlink()
    assert sorted(kinds(house)) == [("gone_source", True), ("stale_source", True)]
    assert kinds(house, "--fix") == []


def test_what_no_repair_helps_is_handed_to_the_user(house: House) -> None:
    (house.root / ".MEMORY.md.part").mkdir()
    (house.root / ".MEMORY.md.part/mine").touch()
    assert kinds(house, "--fix") == [("left_over", False)]
    assert "could not be repaired" in run(house, "doctor", "--fix").output


def test_a_repair_waits_for_nobody(house: House) -> None:
    planned(house)
    with lock(house.root, now=moment(NOW)):
        assert run(house, "doctor", "--fix").exit_code == 3
        warned = run(house, "doctor")
    assert (warned.exit_code, "a night is running" in warned.stderr) == (1, True)


def test_a_night_finds_in_order_what_was_repaired(house: House) -> None:
    for damage, _, fixable in DAMAGE.values():
        if fixable and damage not in (gone, unmarked):
            damage(house)
    assert all(not fixable for _, fixable in kinds(house, "--fix"))
    assert not house.night("2026-03-07T03:00").failed
