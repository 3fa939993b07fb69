"""Taking back: a night or a promotion leaves the files and the store, the user's text never does."""

import json
import re
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreaming.changes.timeline import difference, events, stood
from dreaming.changes.undo import (
    ConflictError,
    NoRoomError,
    NothingToRedoError,
    NothingToUndoError,
    NotMarkedError,
    SeveralMeantError,
    TakenBack,
    redo,
    undo,
)
from dreaming.cli import dream
from dreaming.home import opened
from house import House, moment
from memory.promotions import State
from workspace.errors import NotWritableError, WorkspaceError
from workspace.files import Document, Files

GARAGE = "- Garage panel takes a CR2450 cell\n"
LATER = moment("2026-04-01T09:00")
BOAT = "- Boat is called Kestrel\n"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, **{"deep.min_score": 0.7})


def asked(house: House, day: str, *queries: str) -> None:
    for number, query in enumerate(queries):
        house.search(query, f"{day}T{9 + number:02}:00")


def garage(house: House) -> None:
    house.write("memory/2026-03-02.md", GARAGE)
    asked(house, "2026-03-03", "garage panel cell")
    asked(house, "2026-03-04", "CR2450")
    asked(house, "2026-03-05", "which cell does the garage panel take")


def boat(house: House) -> None:
    house.write("memory/2026-03-08.md", BOAT)
    asked(house, "2026-03-08", "boat name")
    asked(house, "2026-03-09", "kestrel boat")
    asked(house, "2026-03-10", "what is the boat called")


def took_back(house: House, what: str | None, at: str) -> TakenBack:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return undo(home, what, now=moment(at))


def did_again(house: House, at: str) -> TakenBack:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return redo(home, now=moment(at))


def states(house: House) -> dict[str, State]:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return {promotion.text: promotion.state for promotion in home.promotions.all()}


def test_a_night_taken_back_leaves_every_file_as_it_was_before(house: House) -> None:
    house.write("MEMORY.md", "# Mine\r\n\r\nno final newline")
    garage(house)
    before = house.digests()
    house.night("2026-03-06T03:00")
    assert house.digests() != before
    done = took_back(house, None, "2026-03-06T09:00")
    assert house.digests() == before
    assert done.night == date(2026, 3, 6)
    assert states(house) == {"Garage panel takes a CR2450 cell": State.UNDONE}


def test_what_was_taken_back_can_be_done_again_to_the_byte(house: House) -> None:
    house.write("MEMORY.md", "# Mine\n")
    garage(house)
    house.night("2026-03-06T03:00")
    after = house.digests()
    took_back(house, "2026-03-06", "2026-03-06T09:00")
    did_again(house, "2026-03-06T10:00")
    assert house.digests() == after
    assert states(house) == {"Garage panel takes a CR2450 cell": State.IN_FORCE}
    with pytest.raises(NothingToRedoError):
        did_again(house, "2026-03-06T11:00")
    took_back(house, "2026-03-06", "2026-03-06T12:00")
    did_again(house, "2026-03-06T13:00")
    assert house.digests() == after


def test_a_night_is_taken_back_after_later_nights_and_edits_of_the_user(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    boat(house)
    house.night("2026-03-11T03:00")
    house.write("MEMORY.md", "# Top of mine\n\n" + house.read("MEMORY.md") + "\nend of mine")
    house.write("DREAMS.md", "mine\n" + house.read("DREAMS.md"))
    took_back(house, "2026-03-06", "2026-03-11T09:00")
    text = house.read("MEMORY.md")
    assert "CR2450" not in text
    assert text.startswith("# Top of mine\n\n# Long-Term Memory\n")
    assert text.endswith("\nend of mine")
    assert "- Boat is called Kestrel\n" in text
    assert house.read("DREAMS.md").startswith("mine\n")
    assert "March 6, 2026" not in house.read("DREAMS.md")
    assert "March 11, 2026" in house.read("DREAMS.md")
    assert states(house)["Boat is called Kestrel"] is State.IN_FORCE


def test_one_promotion_is_taken_back_by_the_beginning_of_its_id(house: House) -> None:
    garage(house)
    boat(house)
    report = house.night("2026-03-11T03:00")
    key = next(p.fragment for p in report.promoted if "Boat" in p.text)
    dreams = house.read("DREAMS.md")
    took_back(house, key[:6], "2026-03-11T09:00")
    assert "Kestrel" not in house.read("MEMORY.md")
    assert "CR2450" in house.read("MEMORY.md")
    assert house.read("DREAMS.md") == dreams


def test_what_the_user_changed_is_a_conflict_that_is_shown_and_nothing_is_done(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    house.write("MEMORY.md", house.read("MEMORY.md").replace("takes a CR2450 cell", "takes a CR2032 cell"))
    before = house.digests()
    with pytest.raises(ConflictError, match=r"MEMORY\.md:6: you changed"):
        took_back(house, "2026-03-06", "2026-03-06T09:00")
    assert house.digests() == before
    assert states(house) == {"Garage panel takes a CR2450 cell": State.IN_FORCE}


def test_what_was_taken_back_needs_new_votes_to_come_back(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    assert not house.night("2026-03-07T03:00").promoted
    assert not house.night("2026-03-08T03:00").promoted
    asked(house, "2026-03-08", "garage panel cell")
    asked(house, "2026-03-09", "CR2450")
    asked(house, "2026-03-10", "which cell does the garage panel take")
    (promotion,) = house.night("2026-03-11T03:00").promoted
    assert promotion.text == "Garage panel takes a CR2450 cell"
    assert house.read("MEMORY.md").count("CR2450") == 1


def test_the_same_night_run_again_does_not_bring_back_what_was_taken_back(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    assert not house.night("2026-03-06T10:00").promoted
    assert "CR2450" not in house.read("MEMORY.md")


def test_what_had_to_make_room_comes_back_with_the_night_that_took_it(house: House) -> None:
    house.settings["memory.budget_chars"] = 300
    garage(house)
    house.night("2026-03-06T03:00")
    before = house.digests()
    boat(house)
    house.night("2026-03-11T03:00")
    assert "CR2450" in house.read("memory/archive/MEMORY-2026.md")
    took_back(house, "2026-03-11", "2026-03-11T09:00")
    after = house.digests()
    after.pop("memory/2026-03-08.md")
    assert after == before
    assert states(house) == {
        "Garage panel takes a CR2450 cell": State.IN_FORCE,
        "Boat is called Kestrel": State.UNDONE,
    }
    did_again(house, "2026-03-11T10:00")
    assert "Kestrel" in house.read("MEMORY.md")
    assert "CR2450" in house.read("memory/archive/MEMORY-2026.md")
    assert states(house)["Garage panel takes a CR2450 cell"] is State.DROPPED


def test_nothing_is_taken_back_twice(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    took_back(house, "2026-03-06", "2026-03-06T09:00")
    with pytest.raises(NothingToUndoError, match="2026-03-06"):
        took_back(house, "2026-03-06", "2026-03-06T10:00")
    with pytest.raises(NothingToUndoError):
        took_back(house, "ffff", "2026-03-06T10:00")


def test_memory_is_shown_as_it_stood_on_a_day(house: House) -> None:
    house.write("MEMORY.md", "# Mine\n")
    garage(house)
    house.night("2026-03-06T03:00")
    first = house.read("MEMORY.md")
    house.write("MEMORY.md", first + "\nmy own line\n")
    boat(house)
    house.night("2026-03-11T03:00")
    with opened(house.root, environ={}, overrides=house.settings) as home:
        assert stood(home, date(2026, 3, 5), now=LATER).text == "# Mine\n"
        assert stood(home, date(2026, 3, 6), now=LATER).text == first
        assert stood(home, date(2026, 3, 11), now=LATER).text == house.read("MEMORY.md")
        assert stood(home, None, now=LATER).text == house.read("MEMORY.md")
        kinds = [event.change.kind for event in events(home, None) if event.change.file == "MEMORY.md"]
    assert kinds == ["promotions", "edit", "promotions"]


def test_history_keeps_no_secret_of_the_users_page(house: House) -> None:
    value = "sk-proj-" + "Zx9Qm" * 8
    house.write("MEMORY.md", f"# Mine\n\nmy key: {value}\n")
    garage(house)
    house.night("2026-03-06T03:00")
    with opened(house.root, environ={}, overrides=house.settings) as home:
        shown = stood(home, date(2026, 3, 6), now=LATER)
    assert value not in shown.text
    assert shown.problems
    with opened(house.root, environ={}, overrides=house.settings) as home:
        drawn = [home.changes.image(key).text for c in home.changes.all() for key in (c.before, c.after) if key]
    assert drawn
    assert not [text for text in drawn if value in text]
    took_back(house, None, "2026-03-06T09:00")
    assert value in house.read("MEMORY.md")
    assert "CR2450" not in house.read("MEMORY.md")


def test_an_undo_killed_before_the_store_is_settled_is_finished_by_the_next_start(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    with monkeypatch.context() as patch:
        patch.setattr("dreaming.changes.history._settle", _killed)
        with pytest.raises(KeyboardInterrupt):
            took_back(house, "2026-03-06", "2026-03-06T09:00")
    assert "CR2450" not in house.read("MEMORY.md")
    house.night("2026-03-07T03:00")
    assert states(house) == {"Garage panel takes a CR2450 cell": State.UNDONE}


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_the_commands_say_what_was_done(house: House) -> None:
    house.write("config.toml", '[dreaming]\ntimezone = "Asia/Shanghai"\n[deep]\nmin_score = 0.7\n')
    garage(house)
    house.night("2026-03-06T03:00")

    def run(*args: str) -> str:
        result = CliRunner().invoke(dream, ["--workspace", str(house.root), "--now", "2026-03-06T09:00", *args])
        assert result.exit_code == 0, result.output
        return result.output

    assert "MEMORY.md: what the night promoted, night of 2026-03-06" in run("history")
    assert "+- Garage panel takes a CR2450 cell" in run("history", "1")
    assert "Garage panel takes a CR2450 cell (promoted on 2026-03-06)" in run("undo")
    again = run("redo")
    assert "Changed: MEMORY.md, DREAMS.md" in again
    assert "new votes" not in again
    assert "CR2450" in run("show", "--as-of", "2026-03-06")
    assert "CR2450" in run("show")


def test_a_promotion_is_taken_back_by_its_line_and_it_is_said_what_brings_it_back(house: House) -> None:
    house.write("config.toml", '[dreaming]\ntimezone = "Asia/Shanghai"\n[deep]\nmin_score = 0.7\n')
    house.write("MEMORY.md", "# Mine\n")
    garage(house)
    house.night("2026-03-06T03:00")
    line = house.read("MEMORY.md").splitlines().index("- Garage panel takes a CR2450 cell") + 1
    options = ["--workspace", str(house.root), "--now", "2026-03-06T09:00", "undo"]
    for place, said in (
        ("MEMORY.md:1", "no night wrote what stands at MEMORY.md:1"),
        ("MEMORY.md:99", "name lines among them"),
        ("MEMORY.md", "no change that stands belongs to “MEMORY.md”"),
    ):
        refused = CliRunner().invoke(dream, [*options, place])
        assert (refused.exit_code, said in refused.stderr) == (1, True), refused.output
    result = CliRunner().invoke(dream, [*options, f"MEMORY.md:{line}"])
    assert (result.exit_code, "- Garage panel takes a CR2450 cell" in result.output) == (0, True), result.output
    assert "comes back only by new votes" in result.output
    assert house.read("MEMORY.md").strip() == "# Mine"


def promoted_anew(house: House, day: int) -> None:
    for number, query in enumerate(("garage panel cell", "CR2450", "which cell does the garage panel take")):
        house.search(query, f"2026-03-{day + number:02}T10:00")
    (promotion,) = house.night(f"2026-03-{day + 3:02}T03:00").promoted
    assert promotion.text == "Garage panel takes a CR2450 cell"


def test_what_was_promoted_anew_since_is_not_done_again(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    promoted_anew(house, 7)
    did_again(house, "2026-03-10T09:00")
    assert house.read("MEMORY.md").count("CR2450") == 1
    house.night("2026-03-11T03:00")


def test_what_was_proposed_anew_since_is_not_done_again(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    house.settings["memory.mode"] = "review"
    asked(house, "2026-03-07", "garage panel cell")
    asked(house, "2026-03-08", "CR2450")
    asked(house, "2026-03-09", "which cell does the garage panel take")
    assert len(house.night("2026-03-10T03:00").proposed) == 1
    did_again(house, "2026-03-10T09:00")
    assert "CR2450" not in house.read("MEMORY.md")
    house.night("2026-03-11T03:00")


def test_what_was_taken_back_twice_is_done_again_one_by_one(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    boat(house)
    house.night("2026-03-11T03:00")
    after = house.digests()
    took_back(house, None, "2026-03-11T09:00")
    took_back(house, None, "2026-03-11T10:00")
    assert "CR2450" not in house.read("MEMORY.md")
    did_again(house, "2026-03-11T11:00")
    did_again(house, "2026-03-11T12:00")
    assert house.digests() == after


def test_what_finds_no_room_any_more_stays_in_the_archive(house: House) -> None:
    house.settings["memory.budget_chars"] = 300
    garage(house)
    house.night("2026-03-06T03:00")
    boat(house)
    house.night("2026-03-11T03:00")
    house.write("MEMORY.md", house.read("MEMORY.md") + "mine " * 40)
    done = took_back(house, "2026-03-11", "2026-03-11T09:00")
    assert done.left == ("“Garage panel takes a CR2450 cell” has no room in MEMORY.md and stays in the archive",)
    assert "CR2450" in house.read("memory/archive/MEMORY-2026.md")


def test_what_finds_no_room_is_not_done_again_and_can_be_later(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    house.settings["memory.budget_chars"] = 300
    house.write("MEMORY.md", "mine " * 50)
    before = house.digests()
    with pytest.raises(NoRoomError):
        did_again(house, "2026-03-06T10:00")
    assert house.digests() == before
    house.settings["memory.budget_chars"] = 1000
    did_again(house, "2026-03-06T11:00")
    assert "CR2450" in house.read("MEMORY.md")


def test_damaged_markers_keep_everything_as_it_is(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    whole = house.read("DREAMS.md")
    house.write("DREAMS.md", whole.replace("<!-- openclaw:dreaming:deep:end -->\n", "") + "mine\n")
    before = house.digests()
    with pytest.raises(WorkspaceError, match="do not pair up"):
        took_back(house, None, "2026-03-06T09:00")
    assert house.digests() == before
    house.write("DREAMS.md", whole)
    took_back(house, None, "2026-03-06T10:00")
    assert not (house.root / "MEMORY.md").exists()


def test_what_failed_on_the_way_is_finished_by_the_next_undo(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    garage(house)
    before = house.digests()
    house.night("2026-03-06T03:00")
    whole = Files.remove

    def refused(files: Files, document: Document) -> None:
        if document.name == "DREAMS.md":
            raise NotWritableError(document.path, "a test")
        whole(files, document)

    with monkeypatch.context() as patch:
        patch.setattr(Files, "remove", refused)
        with pytest.raises(WorkspaceError):
            took_back(house, None, "2026-03-06T09:00")
    took_back(house, None, "2026-03-06T10:00")
    assert house.digests() == before


def test_of_three_that_correct_each_other_the_middle_one_goes_without_bringing_the_first_back(house: House) -> None:
    house.settings["deep.min_score"] = 0.5
    for day, port in ((2, 8080), (7, 8081), (12, 8082)):
        cue = "" if day == 2 else "Correction: "
        house.write(f"memory/2026-03-{day:02}.md", f"- {cue}the staging server listens on port {port}\n")
        queries = ("staging server port", f"port {port}", "which port does the staging server listen on")
        for number, query in enumerate(queries):
            house.search(query, f"2026-03-{day + 1 + number:02}T10:00")
        house.night(f"2026-03-{day + 4:02}T03:00")
    assert [port for port in (8080, 8081, 8082) if str(port) in house.read("MEMORY.md")] == [8082]
    took_back(house, "2026-03-11", "2026-03-16T09:00")
    assert [port for port in (8080, 8081, 8082) if str(port) in house.read("MEMORY.md")] == [8082]
    took_back(house, "2026-03-16", "2026-03-16T10:00")
    assert [port for port in (8080, 8081, 8082) if str(port) in house.read("MEMORY.md")] == [8080]


def test_a_dream_diary_in_lower_case_is_taken_back_and_done_again(house: House) -> None:
    garage(house)
    house.write("dreams.md", "mine\n")
    before = house.digests()
    house.night("2026-03-06T03:00")
    after = house.digests()
    took_back(house, None, "2026-03-06T09:00")
    assert house.digests() == before
    did_again(house, "2026-03-06T10:00")
    assert house.digests() == after


def test_sections_of_a_later_night_stay_when_an_earlier_one_is_taken_back(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    boat(house)
    house.night("2026-03-11T03:00")
    took_back(house, "2026-03-11", "2026-03-11T09:00")
    did_again(house, "2026-03-11T10:00")
    sections = house.read("DREAMS.md").partition("## Light Sleep")[2]
    took_back(house, "2026-03-06", "2026-03-11T11:00")
    assert house.read("DREAMS.md").partition("## Light Sleep")[2] == sections


def test_what_came_back_and_was_deleted_by_the_user_stays_deleted(house: House) -> None:
    house.settings["memory.budget_chars"] = 300
    garage(house)
    house.night("2026-03-06T03:00")
    boat(house)
    house.night("2026-03-11T03:00")
    house.settings["memory.budget_chars"] = 1000
    promoted_anew(house, 12)
    text = house.read("MEMORY.md")
    at = text.index("- Garage panel")
    marker = text.rindex("<!--", 0, at)
    house.write("MEMORY.md", text[:marker] + text[text.index("\n", at) + 1 :])
    for number, query in enumerate(("garage panel cell", "CR2450", "which cell does the garage panel take", "cell")):
        house.search(query, f"2026-03-{16 + number:02}T10:00")
    assert not house.night("2026-03-20T03:00").promoted


def test_new_rules_of_what_is_hidden_make_no_conflict_and_leave_no_picture(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    house.settings["redact.patterns"] = ["CR2450"]
    house.night("2026-03-07T03:00")
    with opened(house.root, environ={}, overrides=house.settings) as home:
        shown = stood(home, date(2026, 3, 6), now=LATER)
        assert "CR2450" not in shown.text
        assert all("CR2450" not in difference(home, change) for change in home.changes.all())
    took_back(house, "2026-03-06", "2026-03-07T09:00")
    assert "CR2450" not in house.read("MEMORY.md")
    assert "March 6, 2026" not in house.read("DREAMS.md")


def test_a_conflict_shows_no_secret(house: House) -> None:
    value = "sk-proj-" + "Zx9Qm" * 8
    garage(house)
    house.night("2026-03-06T03:00")
    house.write("MEMORY.md", house.read("MEMORY.md").replace("CR2450 cell", f"CR2450 cell, key {value}"))
    with pytest.raises(ConflictError) as caught:
        took_back(house, None, "2026-03-06T09:00")
    assert value not in repr(caught.value.conflicts)


def test_proposals_go_with_their_night(house: House) -> None:
    house.settings["memory.mode"] = "review"
    garage(house)
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    assert states(house) == {"Garage panel takes a CR2450 cell": State.UNDONE}
    did_again(house, "2026-03-06T10:00")
    assert states(house) == {"Garage panel takes a CR2450 cell": State.PROPOSED}


def test_entries_that_were_never_written_do_not_appear_after_their_night_was_taken_back(house: House) -> None:
    garage(house)
    house.write("DREAMS.md", "<!-- openclaw:dreaming:diary:start -->\n")
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    house.write("DREAMS.md", "")
    house.night("2026-03-07T03:00")
    assert "March 6, 2026" not in house.read("DREAMS.md")


def test_memory_goes_into_a_file_to_the_byte(house: House) -> None:
    house.write("MEMORY.md", "# Mine\r\n\r\nno final newline")
    result = CliRunner().invoke(dream, ["--workspace", str(house.root), "show"])
    assert result.stdout_bytes == b"# Mine\r\n\r\nno final newline"


def test_a_damaged_dream_diary_is_said_and_not_taken_for_an_empty_one(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    house.write("DREAMS.md", house.read("DREAMS.md").replace("<!-- openclaw:dreaming:diary:end -->\n", ""))
    result = CliRunner().invoke(dream, ["--workspace", str(house.root), "diary"])
    assert (result.exit_code, "do not pair up" in result.stderr) == (1, True)


def unmark(house: House, words: str) -> None:
    """Delete the marker above a line, and leave the line."""
    lines = house.read("MEMORY.md").splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if words in line)
    house.write("MEMORY.md", "".join([*lines[: at - 1], *lines[at:]]))


def said(house: House, *args: str) -> str:
    settings = '[dreaming]\ntimezone = "Asia/Shanghai"\n[deep]\nmin_score = 0.7\n[embeddings]\nembedder = "off"\n'
    house.write("config.toml", settings)
    return CliRunner().invoke(dream, ["--workspace", str(house.root), "--now", "2026-03-11T09:00", *args]).output


def test_a_line_whose_marker_was_deleted_stays_when_its_night_is_taken_back_and_that_is_said(house: House) -> None:
    garage(house)
    boat(house)
    house.night("2026-03-11T03:00")
    unmark(house, "CR2450")
    done = took_back(house, "2026-03-11", "2026-03-11T09:00")
    assert "- Garage panel takes a CR2450 cell\n" in house.read("MEMORY.md")
    assert "Kestrel" not in house.read("MEMORY.md")
    assert done.left == (
        "“Garage panel takes a CR2450 cell” is not marked in MEMORY.md any more, so it is your own line and stays;"
        " delete it there if you do not want it",
    )


def test_a_line_whose_marker_was_deleted_is_not_taken_back_by_its_id_and_that_is_said(house: House) -> None:
    garage(house)
    key = house.night("2026-03-06T03:00").promoted[0].fragment
    unmark(house, "CR2450")
    before = house.digests()
    with pytest.raises(NotMarkedError, match=r"not marked in MEMORY\.md any more, so it is your own line and stays"):
        took_back(house, key, "2026-03-06T09:00")
    assert house.digests() == before


def test_nothing_is_said_of_a_line_that_the_user_deleted_with_its_marker(house: House) -> None:
    garage(house)
    boat(house)
    house.night("2026-03-11T03:00")
    unmark(house, "CR2450")
    house.write("MEMORY.md", house.read("MEMORY.md").replace(GARAGE, ""))
    assert took_back(house, "2026-03-11", "2026-03-11T09:00").left == ()


def test_history_and_status_say_of_a_line_without_its_marker_what_the_record_will_say(house: House) -> None:
    garage(house)
    house.night("2026-03-06T03:00")
    assert "  in force: Garage panel" in said(house, "history")
    unmark(house, "CR2450")
    for _ in range(2):
        assert "  in force then, not marked any more: Garage panel" in said(house, "history")
        now = [
            one["now"]
            for change in json.loads(said(house, "history", "--json"))["changes"]
            for one in change["promotions"]
        ]
        assert set(now) == {"removed"}
        assert json.loads(said(house, "status", "--json"))["memory"]["in_force"] == 0
        said(house, "undo")  # which makes the record agree


def test_what_was_taken_back_before_the_night_ran_anew_is_not_done_again_with_it(house: House) -> None:
    """Even at the very same moment: only the last taking back is done again."""
    garage(house)
    at = "2026-03-06T03:00"
    house.night(at)
    with house.home() as home:
        undo(home, None, now=moment(at))
    house.write("memory/2026-03-05.md", BOAT)
    house.night(at)
    before = house.digests()
    with house.home() as home:
        undo(home, None, now=moment(at))
        redo(home, now=moment(at))
    assert house.digests() == before


FIT_AND_UNFIT = "- still flaky: test_invoice_pdf needs Chrome 126\n- which invoices are done today?\n"
TWO_SENTENCES = "The kiln is fired to cone six.\nIt has to cool for a day because the glaze of the kiln crazes else.\n"


def test_votes_for_what_may_not_be_written_do_not_bring_back_what_was_taken_back(house: House) -> None:
    house.write("memory/2026-03-02.md", FIT_AND_UNFIT)
    for day in ("03", "04", "05"):
        asked(house, f"2026-03-{day}", f"test_invoice_pdf chrome {day}", f"done invoices today {day}")
    house.night("2026-03-06T03:00")
    assert "- still flaky: test_invoice_pdf" in house.read("MEMORY.md")
    took_back(house, None, "2026-03-06T09:00")
    again = house.explain("flaky", "2026-03-07T03:00")
    assert again.exam.recalls == 0
    house.night("2026-03-07T03:00")
    assert "flaky" not in house.read("MEMORY.md")


def test_what_was_taken_back_or_deleted_is_not_written_again_beside_another_line(house: House) -> None:
    house.write("memory/2026-03-02.md", TWO_SENTENCES)
    asked(house, "2026-03-03", "glaze crazes", "cool for a day glaze")
    asked(house, "2026-03-04", "kiln glaze crazes cool")
    house.night("2026-03-05T03:00")
    assert "glaze of the kiln crazes" in house.read("MEMORY.md")
    took_back(house, None, "2026-03-05T09:00")
    asked(house, "2026-03-06", "fired to cone six", "cone six fired kiln")
    asked(house, "2026-03-07", "what is cone six fired to")
    report = house.night("2026-03-08T03:00")
    assert [one.text for one in report.promoted] == ["The kiln is fired to cone six."]


def test_an_id_of_several_promotions_takes_back_none_and_names_them(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n- Boat in the garage is called Kestrel\n")
    asked(house, "2026-03-03", "panel CR2450 cell", "CR2450 panel takes", "which cell CR2450")
    house.night("2026-03-04T03:00")
    asked(house, "2026-03-05", "boat Kestrel called", "Kestrel boat", "what is the boat called Kestrel")
    house.night("2026-03-06T03:00")
    before = house.digests()
    with house.home() as home:
        first, second = home.promotions.all(State.IN_FORCE)
    assert first.fragment == second.fragment
    both = f"{first.name} (“{first.text}”), {second.name} (“{second.text}”)"
    with pytest.raises(SeveralMeantError, match=re.escape(both)):
        took_back(house, first.fragment, "2026-03-06T09:00")
    assert house.digests() == before
    took_back(house, second.name, "2026-03-06T10:00")
    assert "CR2450" in house.read("MEMORY.md")
    assert "Kestrel" not in house.read("MEMORY.md")


def test_the_id_of_what_was_taken_back_means_what_stands_of_it(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n- Boat in the garage is called Kestrel\n")
    for day in ("03", "04", "05"):
        asked(house, f"2026-03-{day}", f"panel CR2450 garage boat Kestrel {day}")
    house.night("2026-03-06T03:00")
    took_back(house, None, "2026-03-06T09:00")
    asked(house, "2026-03-07", "panel CR2450 cell", "CR2450 panel takes", "which cell CR2450")
    (promotion,) = house.night("2026-03-08T03:00").promoted
    assert promotion.positions == (1,)
    took_back(house, promotion.fragment, "2026-03-08T09:00")
    assert "CR2450" not in house.read("MEMORY.md")
