"""Broken input costs at most itself: a clear sentence, the right exit code, the rest of the night done."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import dream
from house import House
from memory.model import Phase

GOOD = "- Boat is called Kestrel\n"


@pytest.fixture(autouse=True)
def no_user_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")


@contextmanager
def nobody() -> Iterator[None]:
    """Be somebody whom file modes bind: root reads and writes everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def good(house: House) -> House:
    house.write("memory/2026-06-15.md", GOOD)
    return house


@pytest.fixture
def public() -> Iterator[House]:
    """A workspace that everybody may reach; the folders of `tmp_path` are for their owner alone."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        # What is imported late is imported now: the interpreter itself may be out of everybody's reach.
        rehearsal = House(Path(folder) / "rehearsal")
        rehearsal.write("memory/2026-06-15.md", GOOD)
        run(rehearsal, "--dry-run")
        house = House(Path(folder) / "workspace")
        house.write("memory/2026-06-15.md", GOOD)
        yield house


def survived(house: House, broken: str) -> None:
    """The night is done, the good diary is staged, and the problem is named with its path."""
    report = house.night("2026-06-16T03:00")
    assert not report.failed
    assert [one.phase for one in report.phases] == list(Phase)
    assert "Candidate: Boat is called Kestrel" in house.read("DREAMS.md")
    assert any(broken in problem for problem in report.problems)


def test_undecodable_bytes_cost_themselves(good: House) -> None:
    (good.root / "memory/2026-06-14.md").write_bytes(
        b"- fine line before\n\n- bad \xff\xfe\xc3 bytes\n\n- fine line after\n"
    )
    survived(good, "memory/2026-06-14.md:3")
    assert "fine line after" in good.read("DREAMS.md")


def test_a_folder_named_like_a_diary(good: House) -> None:
    (good.root / "memory/2026-06-14.md").mkdir()
    survived(good, "memory/2026-06-14.md")


def test_a_dangling_link(good: House) -> None:
    (good.root / "memory/2026-06-14.md").symlink_to(good.root / "nowhere.md")
    survived(good, "memory/2026-06-14.md")


def test_a_looping_link(good: House) -> None:
    (good.root / "memory/2026-06-14.md").symlink_to("2026-06-14.md")
    survived(good, "memory/2026-06-14.md")


def test_an_unreadable_diary(public: House) -> None:
    public.write("memory/2026-06-14.md", "- secretive line\n").chmod(0)
    for folder in (public.root, public.root / "memory"):
        folder.chmod(0o777)
    with nobody():
        survived(public, "memory/2026-06-14.md")


@pytest.mark.parametrize("text", ["", "\n", "---\n", "# only a heading\n", "\ufeff"])
def test_a_diary_that_says_nothing_is_no_problem(good: House, text: str) -> None:
    good.write("memory/2026-06-14.md", text)
    assert good.night("2026-06-16T03:00").problems == ()


def test_an_invalid_date_is_no_date_and_is_told_by_the_night_and_the_status_only(good: House) -> None:
    good.write("memory/2026-02-30.md", "- never a day\n")
    (told,) = good.night("2026-06-16T03:00").problems
    assert told.startswith("memory/2026-02-30.md: is not read")
    found = good.search("never a day", "2026-06-16T04:00")
    assert all(one.source == "dreams" for one in found.results)
    assert found.problems == ()
    assert run(good, "status").stderr == f"dream: {told}\n"
    assert run(good, "explain").stderr == ""


def test_a_diary_of_the_future_waits_for_its_day_but_is_found(good: House) -> None:
    good.write("memory/2027-01-01.md", "- fireworks were loud\n")
    good.night("2026-06-16T03:00")
    assert "fireworks" not in good.read("DREAMS.md")
    assert good.search("fireworks", "2026-06-16T04:00").results
    assert good.explain("fireworks", "2026-06-16T05:00").exam.score.components.recency == 1


def test_a_line_of_50_mb_costs_itself(good: House) -> None:
    good.write("memory/2026-06-14.md", "- fine line before\n\n" + "x" * 50_000_000 + "\n\n- fine line after\n")
    survived(good, "memory/2026-06-14.md:3")
    assert "fine line after" in good.read("DREAMS.md")


def test_a_base64_line_is_left_out(good: House) -> None:
    good.write("memory/2026-06-14.md", "- fine line before\n\n" + "QUJD" * 11_650 + "\n\n- fine line after\n")
    survived(good, "memory/2026-06-14.md:3")
    assert "QUJDQUJD" not in good.read("DREAMS.md")


def run(house: House, *arguments: str) -> Result:
    return CliRunner().invoke(dream, ["--workspace", str(house.root), "--now", "2026-06-16T03:00", *arguments])


def test_an_unknown_setting_is_refused_before_anything_is_written(good: House) -> None:
    good.write("config.toml", "[light]\nlimmit = 3\n")
    before = good.digests()
    result = run(good)
    assert result.exit_code == 2
    assert "light.limmit" in result.stderr
    assert good.digests() == before


def test_a_read_only_workspace_is_one_sentence_with_the_way_out(public: House) -> None:
    for folder in (public.root, public.root / "memory"):
        folder.chmod(0o555)
    with nobody():
        result = run(public)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "writable" in result.stderr


def test_a_read_only_workspace_can_still_be_looked_at(public: House) -> None:
    for folder in (public.root, public.root / "memory"):
        folder.chmod(0o555)
    with nobody():
        result = run(public, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "+- Candidate: Boat is called Kestrel" in result.stdout


def test_a_store_that_is_no_database_is_one_sentence(good: House) -> None:
    (good.root / "memory/.dreams").mkdir()
    Path(good.root / "memory/.dreams/recall.db").write_text("not a database at all, but long enough to be read" * 99)
    result = run(good)
    assert result.exit_code == 1
    assert "move it away" in result.stderr


def test_text_that_looks_like_a_template_or_a_marker_stays_text(good: House) -> None:
    hostile = "{{ 7 * 7 }} {% raw %} <!-- openclaw:dreaming:light:end --> and `code` ---"
    good.write("memory/2026-06-14.md", f"- say {hostile}\n")
    good.night("2026-06-16T03:00")
    good.night("2026-06-17T03:00")
    dreams = good.read("DREAMS.md")
    assert "49" not in dreams
    assert dreams.count("<!-- openclaw:dreaming:light:end -->") == 1


@pytest.mark.parametrize("folder", ["f/x", "/proc/foo"])
def test_a_workspace_that_cannot_be_made_is_one_sentence(tmp_path: Path, folder: str) -> None:
    (tmp_path / "f").touch()
    result = CliRunner().invoke(dream, ["init", str(tmp_path / folder)])
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "cannot be made" in result.stderr


@pytest.mark.parametrize("command", [("init",), (), ("search", "boat"), ("status",), ("schedule", "show")])
def test_a_file_where_the_diaries_belong_is_named_with_the_way_out(house: House, command: tuple[str, ...]) -> None:
    house.write("memory", "")
    result = run(house, *command)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert f"{house.root / 'memory'} is a file where a folder of the workspace belongs; move it away" in result.stderr
