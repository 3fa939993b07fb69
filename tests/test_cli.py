"""The command line: its JSON contract, its exit codes, and what it says when something is wrong."""

import json
import os
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import COMMANDS, dream
from house import House, moment
from workspace.lock import lock

NIGHT = "2026-03-08T03:00+08:00"


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", "Asia/Shanghai")


@pytest.fixture
def garage(house: House) -> House:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    house.search("garage battery", "2026-03-03T12:00")
    house.search("panel cell", "2026-03-05T12:00")
    house.search("which coin cell", "2026-03-07T12:00")
    return house


def call(house: House, *arguments: str, now: str = NIGHT) -> Result:
    return CliRunner().invoke(dream, ["--workspace", str(house.root), "--now", now, *arguments], prog_name="dream")


def document(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_night_prints_one_line_a_phase(garage: House) -> None:
    lines = call(garage).stdout.splitlines()
    assert lines[0] == "Night of 2026-03-08"
    assert [line.split()[0] for line in lines[1:4]] == ["light", "rem", "deep"]
    assert "Garage panel takes a CR2450 cell" in lines[4]


def test_a_night_keeps_its_json_contract(garage: House) -> None:
    night = document(call(garage, "--json"))
    assert night["night"] == "2026-03-08"
    assert [phase["name"] for phase in night["phases"]] == ["light", "rem", "deep"]
    ((promoted,),) = [night["promoted"]]
    assert promoted.keys() >= {"id", "text", "score"}
    assert night["refused"] == {}
    assert all(isinstance(phase[count], int) for phase in night["phases"] for count in phase.keys() - {"name", "told"})


def test_only_the_named_phases_run(garage: House) -> None:
    night = document(call(garage, "--phase", "deep", "--phase", "light", "--json"))
    assert [phase["name"] for phase in night["phases"]] == ["light", "deep"]


def test_a_phase_that_is_off_runs_only_when_named(garage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAM_REM__ENABLED", "false")
    assert [p["name"] for p in document(call(garage, "--json"))["phases"]] == ["light", "deep"]
    assert [p["name"] for p in document(call(garage, "--phase", "rem", "--json"))["phases"]] == ["rem"]


def test_a_dry_run_prints_plan_and_diffs_and_makes_nothing(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.write("memory/2026-03-07.md", "- Garage panel takes a CR2450 cell\n")
    shown = document(call(house, "--dry-run", "--json"))
    assert shown["dry_run"] is True
    assert "+- Candidate: Garage panel" in shown["diffs"][0]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["2026-03-07.md", "memory"]


def test_search_keeps_its_json_contract_and_says_what_was_recorded(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n\n- the other panel is blue\n")
    found = document(call(house, "search", "garage", "panel", "--json"))
    assert found["query"] == "garage panel"
    assert found["results"][0] == {
        "id": found["results"][0]["id"],
        "path": "memory/2026-03-02.md",
        "start_line": 1,
        "end_line": 1,
        "text": "Garage panel takes a CR2450 cell",
        "relevance": 1.0,
        "recorded": True,
        "source": "diary",
        "snippet": "**Garage** **panel** takes a CR2450 cell",
    }
    assert all(one["recorded"] == (one["relevance"] >= 0.3) for one in found["results"])


def test_get_reads_lines_and_counts_as_a_recall(house: House) -> None:
    house.write("memory/2026-03-02.md", "# Monday\n\n- Garage panel takes a CR2450 cell\n\n- something else\n")
    read = document(call(house, "get", "memory/2026-03-02.md:3-3", "--json"))
    assert read["text"] == "- Garage panel takes a CR2450 cell"
    assert [(one["text"], one["recorded"]) for one in read["results"]] == [("Garage panel takes a CR2450 cell", True)]
    assert house.explain("Garage", "2026-03-08T04:00").candidate.evidence.recalls == 1
    assert house.explain("something", "2026-03-08T04:00").candidate.evidence.recalls == 0


def test_opening_a_whole_long_diary_is_no_vote(house: House) -> None:
    house.write("memory/2026-03-02.md", "\n\n".join(f"- statement number {n} of the day" for n in range(60)))
    read = document(call(house, "get", "memory/2026-03-02.md", "--json"))
    assert not any(one["recorded"] for one in read["results"])


@pytest.mark.parametrize(
    "place",
    ["../secret.md", "/etc/passwd", "MEMORY.md", "memory/../../x", "memory/2026-03-02.md:99-100", "a" * 16, "\0"],
)
def test_get_reads_nothing_but_diaries_of_the_workspace(house: House, place: str) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    result = call(house, "get", place)
    assert result.exit_code == 1
    assert result.stderr.startswith("dream: ")


def test_explain_all_keeps_its_json_contract(garage: House) -> None:
    garage.write("memory/2026-03-07.md", "- nobody asked for this line\n")
    call(garage)
    rows = document(call(garage, "explain", "--all", "--json"))["candidates"]
    by_text = {row["text"]: row for row in rows}
    kept, silent = by_text["Garage panel takes a CR2450 cell"], by_text["nobody asked for this line"]
    assert kept["verdict"] == "promoted"
    assert silent["verdict"] == "refused"
    assert set(kept["components"]) == {
        *("frequency", "relevance", "diversity"),
        *("recency", "consolidation", "conceptual"),
    }
    assert (
        kept["evidence"].items()
        >= {"recalls": 3, "sightings": 1, "grounded": 0, "unique_queries": 3, "days": 3}.items()
    )
    for row in rows:
        assert [gate["name"] for gate in row["gates"]] == [gate["name"] for gate in kept["gates"]]
        assert all(gate.keys() >= {"name", "passed", "value", "threshold"} for gate in row["gates"])
        assert all(bool(gate["missing"]) != gate["passed"] for gate in row["gates"])


def test_explain_says_eligible_before_the_night_and_promoted_after_it(garage: House) -> None:
    (before,) = document(call(garage, "explain", "Garage", "--json"))["candidates"]
    call(garage)
    (after,) = document(call(garage, "explain", before["id"], "--json"))["candidates"]
    assert (before["verdict"], after["verdict"]) in [("eligible", "promoted"), ("refused", "promoted")]


def test_explain_in_words_names_every_gate_and_what_is_missing(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    call(house, "search", "garage panel")
    said = call(house, "explain").stdout
    assert "recalls 1 of 3" in said
    for name in ("origin", "clean", "not_promoted", "recalled", "recalls", "unique_queries", "age", "score", "source"):
        assert f" {name} " in said


def test_explain_takes_a_place_an_id_a_text_with_a_colon_and_no_blank(house: House) -> None:
    house.write("memory/2026-03-02.md", "- standup is at 09:30\n\n- proxy listens on localhost:8080\n")
    for what in ("memory/2026-03-02.md:1", "at 09:30", "STANDUP"):
        (one,) = document(call(house, "explain", what, "--json"))["candidates"]
        assert one["text"] == "standup is at 09:30"
    assert len(document(call(house, "explain", "memory/2026-03-02.md", "--json"))["candidates"]) == 2
    assert call(house, "explain", " ").exit_code == 2


def test_explain_of_an_unknown_text_is_refused_with_the_way_out(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    result = call(house, "explain", "no such thing")
    assert result.exit_code == 1
    assert "fewer words" in result.stdout


def test_status_prints_the_same_facts_as_its_json(garage: House) -> None:
    assert document(call(garage, "status", "--json"))["last_night"] is None
    assert "never run" in call(garage, "status").stdout
    call(garage)
    facts = document(call(garage, "status", "--json"))
    said = call(garage, "status").stdout
    assert facts["last_night"]["night"] in said
    assert f"{facts['memory']['chars']:,} of {facts['memory']['budget_chars']:,}" in said
    assert "Schedule    off" in said
    assert facts["enabled"] is False
    assert facts["memory"]["in_force"] == 1


def test_status_names_the_streak_and_the_gate_that_blocks_most(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    house.search("garage panel", "2026-03-02T12:00")
    for day in (3, 4, 5):
        house.night(f"2026-03-0{day}T03:00")
    facts = document(call(house, "status", "--json"))
    assert facts["nights_without_promotion"] == 3
    assert facts["blocking_gate"] == "recalls"


def test_status_says_what_would_bring_the_nearest_there_and_who_was_refused_why(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n\n- nobody asked for this\n")
    house.search("garage panel", "2026-03-02T12:00")
    house.search("which cell", "2026-03-04T12:00")
    house.night("2026-03-05T03:00")
    said = " ".join(call(house, "status").stdout.split())
    assert "refused 1" in said
    assert "Refused 1 asked for too seldom; not ranked: 1 that nobody ever asked for" in said
    assert "recalls 2 of 3" in said
    assert "one more question on another day" in said
    facts = document(call(house, "status", "--json"))
    assert facts["refused"] == {"recalled": 1, "recalls": 1}
    assert facts["nearest"][0]["change"] == "one more question on another day"
    assert facts["memory"]["room_chars"] == facts["memory"]["budget_chars"] - facts["memory"]["chars"]
    assert facts["store"]["bytes"] > 0


def test_status_names_the_next_night_only_when_nights_are_on(garage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert document(call(garage, "status", "--json"))["next_night"] is None
    assert "Next night" not in call(garage, "status").stdout
    monkeypatch.setenv("DREAM_DREAMING__ENABLED", "true")
    assert document(call(garage, "status", "--json"))["next_night"] == "2026-03-09T03:00:00+08:00"
    assert "Next night  2026-03-09 03:00" in call(garage, "status").stdout


def test_status_fits_on_80_columns_but_for_paths_and_texts(garage: House) -> None:
    call(garage)
    lines = [
        line for line in call(garage, "status").stdout.splitlines() if not line.startswith(("Workspace", "Nearest"))
    ]
    assert max(map(len, lines)) <= 80


def test_a_check_is_quiet_and_0_when_nothing_needs_a_person(garage: House) -> None:
    call(garage)
    result = call(garage, "status", "--check")
    assert (result.exit_code, result.output) == (0, "")


def test_a_check_says_in_a_line_each_what_needs_a_person(garage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAM_MEMORY__MODE", "review")
    call(garage)
    with garage.home() as home, home.store.writing():
        home.note_unrecorded(now=moment("2026-03-07T12:00"))
        unfinished = moment(NIGHT[:16]).date().replace(day=9)
        home.journal.begin(unfinished, now=moment("2026-03-09T03:00"))
        home.journal.record_deep(unfinished, {"budget": 2}, material="")
    garage.write("memory/2026-3-6.md", "- a name that nearly is a date\n")
    (garage.root / "memory/.dreams/outcome.json").write_text(
        '{"night": "2026-03-10", "at": "2026-03-10T03:00:00+00:00", "failure": "the disk is full", "in_a_row": 2}',
        "utf-8",
    )
    (garage.root / "MEMORY.md").write_text("x" * 9_500, encoding="utf-8")
    result = call(garage, "status", "--check")
    assert result.exit_code == 1
    for said in (
        "the night of 2026-03-09 did not finish",
        "2 scheduled nights failed in a row: the disk is full",
        "1 recall could not be recorded",
        "1 proposal waiting for your word: dream review",
        "MEMORY.md had no room for 2 of the last night: 9,500 of 10,000 characters",
    ):
        assert result.stdout.count(said) == 1
    needs = document_of_failed(call(garage, "status", "--check", "--json"))["needs"]
    assert needs == result.stdout.splitlines()


def document_of_failed(result: Result) -> Any:
    assert result.exit_code == 1, result.output
    return json.loads(result.stdout)


def test_init_writes_the_documented_settings_and_leaves_what_is_there(tmp_path: Path) -> None:
    made = CliRunner().invoke(dream, ["init", str(tmp_path / "ws"), "--json"])
    assert document(made)["created"] == ["memory/", "config.toml"]
    shipped = (Path(__file__).parent.parent / "config.toml").read_bytes()
    assert (tmp_path / "ws/config.toml").read_bytes() == shipped
    (tmp_path / "ws/config.toml").write_text("[deep]\nlimit = 3\n", encoding="utf-8")
    again = CliRunner().invoke(dream, ["init", str(tmp_path / "ws")])
    assert again.exit_code == 0
    assert (tmp_path / "ws/config.toml").read_text(encoding="utf-8") == "[deep]\nlimit = 3\n"


def test_all_bad_settings_are_named_at_once_with_exit_code_2(house: House) -> None:
    house.write("config.toml", "[deep]\nmin_score = 7\nmin_recal_count = 2\n")
    result = call(house)
    assert result.exit_code == 2
    assert "deep.min_score" in result.stderr
    assert "min_recal_count" in result.stderr
    assert "min_recall_count" in result.stderr


def test_a_folder_that_is_not_there_is_exit_code_2(tmp_path: Path) -> None:
    result = CliRunner().invoke(dream, ["--workspace", str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert "dream init" in result.stderr


def test_a_night_that_runs_already_is_exit_code_3_and_names_the_holder(house: House) -> None:
    with lock(house.root, now=moment("2026-03-08T03:00")):
        result = call(house)
    assert result.exit_code == 3
    assert str(os.getpid()) in result.stderr


def test_a_store_of_a_newer_version_is_exit_code_1(garage: House) -> None:
    with closing(sqlite3.connect(garage.root / "memory/.dreams/recall.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    result = call(garage)
    assert result.exit_code == 1
    assert "newer version" in result.stderr


def test_a_time_that_is_none_is_refused_with_an_example() -> None:
    result = CliRunner().invoke(dream, ["--now", "tonight"])
    assert result.exit_code == 2
    assert "2026-06-18T03:00" in result.output


def test_options_may_stand_before_or_after_the_command(garage: House) -> None:
    before = call(garage, "search", "garage", "--json").stdout
    after = CliRunner().invoke(
        dream, ["search", "garage", "--json", "--workspace", str(garage.root), "--now", NIGHT], prog_name="dream"
    )
    assert after.stdout == before


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(command: str) -> None:
    result = CliRunner().invoke(dream, [command, "--help"])
    assert result.exit_code == 0
    for option in ("--workspace", "--config", "--now", "--json"):
        assert option in result.output


def test_the_demo_promotes_the_rule_and_refuses_a_folder_in_use(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    result = CliRunner().invoke(dream, ["demo", str(folder)])
    assert result.exit_code == 0, result.output
    assert "真实数据库" in (folder / "MEMORY.md").read_text(encoding="utf-8")
    assert str(folder / "DREAMS.md") in result.output
    suggested = shlex.split(result.output.splitlines()[-1].removeprefix("Ask it:  dream "))
    assert "memory/2026-06-03.md:5-6" in CliRunner().invoke(dream, suggested).output
    refused = CliRunner().invoke(dream, ["demo", str(folder)])
    assert refused.exit_code == 1
    assert "--fresh" in refused.stderr


READING = (
    ("search", "boat"),
    ("get", "MEMORY.md"),
    ("status",),
    ("explain",),
    ("context",),
    ("transcript", "2026-03-02"),
)


@pytest.mark.parametrize("command", READING, ids=[command[0] for command in READING])
@pytest.mark.parametrize("stranger", [None, "memory/model.py", "README.md"])
def test_a_folder_that_is_no_workspace_is_read_no_further_and_left_as_it_is(
    house: House, command: tuple[str, ...], stranger: str | None
) -> None:
    if stranger:
        house.write(stranger, "x\n")
    before = sorted(house.root.rglob("*"))
    result = call(house, *command)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "is no workspace yet" in result.stderr
    assert "dream init" in result.stderr
    assert "--workspace" in result.stderr
    assert sorted(house.root.rglob("*")) == before


@pytest.mark.parametrize("own", ["memory/2026-03-02.md", "memory/people.md", "MEMORY.md", "dreams.md", "config.toml"])
def test_a_folder_with_anything_of_a_workspace_is_one(house: House, own: str) -> None:
    house.write(own, "")
    assert call(house, "search", "boat").stdout.startswith("Nothing was found: ")


def test_a_new_folder_is_a_workspace_once_a_night_was_run_or_a_diary_folder_made(tmp_path: Path) -> None:
    (tmp_path / "made/memory").mkdir(parents=True)
    (tmp_path / "run").mkdir()
    assert call(House(tmp_path / "run")).exit_code == 0
    for name in ("made", "run"):
        assert call(House(tmp_path / name), "search", "boat").exit_code == 0


@pytest.mark.parametrize("query", [("",), (" ", "\t")])
def test_a_search_for_nothing_is_refused(garage: House, query: tuple[str, ...]) -> None:
    result = call(garage, "search", *query)
    assert result.exit_code == 2
    assert "say what to look for" in result.stderr


def test_explain_shows_ten_fragments_and_says_how_many_more_there_are(house: House) -> None:
    house.write("memory/2026-03-02.md", "\n\n".join(f"- kiln remark number {n}" for n in range(13)))
    said = call(house, "explain", "kiln").stdout
    assert said.count("verdict:") == 10
    assert said.splitlines()[-1].startswith("3 more; ")
    assert "--all" in said.splitlines()[-1]
    assert call(house, "explain", "kiln", "--all").stdout.count("verdict:") == 13
    assert len(document(call(house, "explain", "kiln", "--json"))["candidates"]) == 13


def test_explain_all_of_a_text_is_all_that_contains_it(house: House) -> None:
    house.write("memory/2026-03-02.md", "- kiln remark\n\n- the boat is blue\n")
    assert call(house, "explain", "--all", "kiln").stdout.count("verdict:") == 1
    assert call(house, "explain", "--all").stdout.count("verdict:") == 2


def test_lines_named_backwards_are_refused_with_how_to_name_them(garage: House) -> None:
    result = call(garage, "get", "memory/2026-03-02.md:9-5")
    assert result.exit_code == 1
    assert result.stderr == "dream: the lines 9-5 are backwards; name the first one first: memory/2026-03-02.md:5-9\n"


@pytest.mark.parametrize("place", ["", " "])
def test_a_read_of_nothing_is_refused(garage: House, place: str) -> None:
    result = call(garage, "get", place)
    assert result.exit_code == 2
    assert "say what to read" in result.stderr


def test_settings_that_are_not_there_are_said_so_in_one_sentence(garage: House) -> None:
    result = call(garage, "--config", str(garage.root / "other.toml"))
    assert result.exit_code == 2
    first = result.stderr.splitlines()[0]
    assert (
        first == f"dream: {garage.root / 'other.toml'} cannot be read (No such file or directory); name a readable file"
    )


@pytest.mark.parametrize(
    ("options", "way"),
    [
        ([], "try other or fewer words"),
        (["--since", "2026-03-01"], "try other or fewer words, or leave out --source, --since and --until"),
    ],
)
def test_a_search_that_finds_nothing_says_what_could_be_tried(garage: House, options: list[str], way: str) -> None:
    result = call(garage, "search", "zzz", *options)
    assert (result.exit_code, result.stdout) == (0, f"Nothing was found: {way}.\n")
    assert json.loads(call(garage, "search", "zzz", "--json").stdout)["results"] == []


def test_a_search_before_anything_was_read_points_to_the_status(house: House) -> None:
    house.write("config.toml", "")
    result = call(house, "search", "zzz")
    assert (result.exit_code, result.stdout) == (
        0,
        "Nothing was found: nothing is remembered yet; dream status shows what was read.\n",
    )
