"""What is kept of the user's files: each change, exactly where nothing in it is secret, and never a secret."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.changes.history import Why, write
from dreaming.cli import dream
from dreaming.home import opened
from house import House, moment
from memory.model import Phase

SECRET = "Kirsch-" + "46!xQ"
LINES = ("# Mine", "## Log", "- a line", "- another one", "", "ß 甲乙丙", f"password: {SECRET}")
WHY = Why(kind="sections", reason="a test", now=moment("2026-03-06T03:00"))


@settings(max_examples=40)
@given(
    versions=st.lists(st.lists(st.sampled_from(LINES), min_size=1, max_size=8), min_size=2, max_size=4),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_kept_of_a_change_is_exact_where_nothing_in_it_is_secret(
    versions: Sequence[Sequence[str]], end: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        house.write("DREAMS.md", end.join(versions[0]) + end)
        with opened(house.root, environ={}, overrides=house.settings) as home:
            for lines in versions[1:]:
                document = home.files.read("DREAMS.md")
                if not (number := write(home, document, end.join(lines) + end, WHY)):
                    continue
                (change,) = [one for one in home.changes.all() if one.id == number]
                image = home.changes.image(str(change.after))
                assert SECRET not in image.text
                assert image.whole == (not any(SECRET in line for line in lines))
                assert len(image.text.splitlines()) == len(lines)


def test_a_run_of_a_night_changes_the_sections_of_the_dream_diary_once_and_says_of_which_phases(house: House) -> None:
    house.write("memory/2026-03-05.md", "- Boat is called Kestrel\n")
    house.night("2026-03-06T03:00")
    house.write("memory/2026-03-06.md", "- Garage panel takes a CR2450 cell\n")
    house.night("2026-03-07T03:00", [Phase.LIGHT])
    with house.home() as home:
        reasons = [change.reason for change in home.changes.all() if change.kind == "sections"]
    assert reasons == ["what light, rem, deep decided", "what light decided"]


def test_a_damaged_section_costs_only_itself_and_is_said(house: House) -> None:
    house.write("memory/2026-03-05.md", "- Boat is called Kestrel\n")
    house.write("DREAMS.md", "<!-- openclaw:dreaming:rem:start -->\n")
    report = house.night("2026-03-06T03:00")
    assert [problem for problem in report.problems if "rem block" in problem]
    assert "## Light Sleep\n" in house.read("DREAMS.md")
    assert "## Deep Sleep\n" in house.read("DREAMS.md")
    assert "## REM Sleep\n" not in house.read("DREAMS.md")


def test_a_run_without_phases_changes_nothing_of_the_users(house: House) -> None:
    house.write("memory/2026-03-05.md", "- Boat is called Kestrel\n")
    house.night("2026-03-06T03:00", [])
    assert not (house.root / "DREAMS.md").exists()
    with house.home() as home:
        assert home.changes.all() == ()


def test_a_line_that_the_user_took_out_is_told_by_the_next_night_and_in_the_history(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    for day, query in (("03", "garage battery"), ("05", "panel cell"), ("06", "which coin cell")):
        house.search(query, f"2026-03-{day}T12:00")
    house.settings["deep.min_score"] = 0.7
    (promotion,) = house.night("2026-03-07T03:00").promoted
    house.write("MEMORY.md", house.read("MEMORY.md").replace("- Garage panel takes a CR2450 cell\n", ""))
    report = house.night("2026-03-08T03:00")
    assert [one.text for one in report.removed] == ["Garage panel takes a CR2450 cell"]
    assert not house.night("2026-03-08T03:00").removed
    command = ["-w", str(house.root), "history"]
    output = CliRunner().invoke(dream, command).output
    assert f"{promotion.name}  removed, so no night writes it again: Garage panel takes a CR2450 cell" in output
