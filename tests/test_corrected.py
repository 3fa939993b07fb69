"""What was corrected or is over: the newer statement takes the place of the older one, with its history kept."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from dreaming.changes.undo import undo
from dreaming.cli import dream
from dreaming.home import opened
from house import House, moment
from memory.promotions import State


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, **{"deep.min_score": 0.6})


def asked(house: House, first: int, *queries: str) -> None:
    for number, query in enumerate(queries):
        house.search(query, f"2026-03-{first + number:02}T10:00")


def club(house: House) -> None:
    house.write("memory/2026-03-02.md", "- The chess club meets on Tuesday at the library\n")
    asked(house, 3, "when does the chess club meet", "chess club day", "club library")
    house.night("2026-03-06T03:00")
    assert "meets on Tuesday" in house.read("MEMORY.md")


def correction(house: House, day: str = "2026-03-07") -> None:
    house.write(f"memory/{day}.md", "- Correction: the chess club meets on Thursday at the library\n")
    asked(house, 8, "when does the chess club meet", "chess club day", "club library Thursday")


def states(house: House) -> list[tuple[str, State]]:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return [(promotion.text, promotion.state) for promotion in home.promotions.all()]


def test_a_correction_takes_the_place_of_the_older_line_and_the_archive_keeps_both(house: House) -> None:
    club(house)
    correction(house)
    (promotion,) = house.night("2026-03-11T03:00").promoted
    memory, archive = house.read("MEMORY.md"), house.read("memory/archive/MEMORY-2026.md")
    assert "Thursday" in memory
    assert "Tuesday" not in memory
    assert "- The chess club meets on Tuesday at the library" in archive
    assert f"*Moved here on 2026-03-11: corrected by “{promotion.text}”*" in archive
    assert [state for _, state in states(house)] == [State.SUPERSEDED, State.IN_FORCE]


@pytest.mark.parametrize(
    ("old", "queries", "new"),
    [
        (
            "The chess club meets on Tuesday",
            ("chess club day", "club meets", "chess club"),
            "Correction: the chess club meets on Thursday",
        ),
        ("每周五下午不部署", ("下午 部署", "周五 部署", "不部署 下午"), "更正：每周四下午不部署"),
    ],
)
def test_a_correction_holds_back_what_it_corrects_before_anybody_asks_for_it(
    house: House, old: str, queries: tuple[str, ...], new: str
) -> None:
    house.write("memory/2026-03-02.md", f"- {old}\n")
    asked(house, 3, *queries)
    assert not house.explain(old, "2026-03-06T02:00").failed
    house.write("memory/2026-03-05.md", f"- {new}\n")
    assert [gate.name for gate in house.explain(old, "2026-03-06T02:00").failed] == ["current"]
    house.night("2026-03-06T03:00")
    assert old not in house.read("MEMORY.md")
    assert f"a newer statement says otherwise: “{new}”" in house.read("DREAMS.md")
    asked(house, 6, *queries)
    house.night("2026-03-10T03:00")
    assert new in house.read("MEMORY.md")


def test_of_a_list_only_the_corrected_line_is_held_back(house: House) -> None:
    both = "- Tests run on PostgreSQL 15 because of JSONB\n- Deploys go out on Tuesdays only\n"
    house.write("memory/2026-03-02.md", both)
    for day in (3, 4, 5):
        asked(house, day, f"tests PostgreSQL JSONB {day}")
        asked(house, day, f"deploys go out {day}")
    assert house.explain("PostgreSQL", "2026-03-06T02:00").exam.draft.positions == (0, 1)
    house.write("memory/2026-03-05.md", "## Team\n- Correction: deploys go out on Mondays only\n")
    (promotion,) = house.night("2026-03-06T03:00").promoted
    assert promotion.text == "Tests run on PostgreSQL 15 because of JSONB"
    before = house.digests()
    house.night("2026-03-06T03:00")
    assert house.digests() == before


def test_votes_for_a_corrected_line_carry_no_other_line_of_its_list(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Tests run on PostgreSQL 15\n- Deploys go out on Tuesdays only\n")
    asked(house, 3, "deploys go out", "when do deploys go out", "deploys Tuesdays")
    asked(house, 4, "tests PostgreSQL", "tests run on PostgreSQL")
    house.write("memory/2026-03-05.md", "- Correction: deploys go out on Mondays only\n")
    one = house.explain("PostgreSQL", "2026-03-06T02:00")
    assert (one.exam.draft.text, one.exam.recalls) == ("Tests run on PostgreSQL 15", 2)
    assert not house.night("2026-03-06T03:00").promoted


def test_of_several_corrections_the_last_one_counts(house: House) -> None:
    house.write("memory/2026-03-02.md", "- The chess club meets on Tuesday\n")
    asked(house, 3, "chess club day", "club meets", "chess club")
    house.write("memory/2026-03-04.md", "- Correction: the chess club meets on Thursday\n")
    house.write("memory/2026-03-05.md", "- Correction: the chess club meets on Tuesday\n")
    assert not house.explain("The chess club meets on Tuesday", "2026-03-06T03:00").failed


def test_a_correction_the_user_took_back_holds_nothing_back(house: House) -> None:
    club(house)
    correction(house)
    house.night("2026-03-11T03:00")
    with opened(house.root, environ={}, overrides=house.settings) as home:
        undo(home, "2026-03-11", now=moment("2026-03-11T09:00"))
        undo(home, "2026-03-06", now=moment("2026-03-11T09:01"))
    asked(house, 11, "Tuesday chess club", "chess club Tuesday library", "does the club meet on Tuesday")
    assert "current" not in [gate.name for gate in house.explain("meets on Tuesday", "2026-03-14T03:00").failed]


def test_the_same_night_again_changes_nothing_after_a_correction(house: House) -> None:
    club(house)
    correction(house)
    house.night("2026-03-11T03:00")
    before = house.digests()
    house.night("2026-03-11T03:00")
    assert house.digests() == before


def test_explain_shows_the_corrected_line_with_its_dates(house: House) -> None:
    club(house)
    correction(house)
    house.night("2026-03-11T03:00")
    house.write("config.toml", '[dreaming]\ntimezone = "Asia/Shanghai"\n[deep]\nmin_score = 0.6\n')
    options = ["-w", str(house.root), "--now", "2026-03-11T09:00", "explain", "meets on Tuesday"]
    output = CliRunner().invoke(dream, options).output
    assert "promoted on 2026-03-06, in the archive since a newer statement corrects it (2026-03-11)" in output


def test_an_older_statement_does_not_come_back_over_its_correction(house: House) -> None:
    club(house)
    correction(house)
    house.night("2026-03-11T03:00")
    asked(
        house, 12, "Tuesday chess club", "chess club Tuesday library", "does the club meet on Tuesday", "Tuesday club"
    )
    house.night("2026-03-17T03:00")
    assert "Tuesday" not in house.read("MEMORY.md")
    failed = house.explain("meets on Tuesday", "2026-03-17T09:00").failed
    assert "current" in {gate.name for gate in failed}


def test_a_line_the_user_reworded_is_never_replaced(house: House) -> None:
    club(house)
    house.write("MEMORY.md", house.read("MEMORY.md").replace("on Tuesday at", "on Tuesday evening at"))
    correction(house)
    house.night("2026-03-11T03:00")
    assert "on Tuesday evening at" in house.read("MEMORY.md")
    assert "Thursday" in house.read("MEMORY.md")


def test_another_subject_is_left_alone(house: House) -> None:
    club(house)
    house.write("memory/2026-03-07.md", "- Correction: the book club meets on Thursday at the library\n")
    asked(house, 8, "when does the book club meet", "book club day", "book club Thursday")
    house.night("2026-03-11T03:00")
    assert "chess club meets on Tuesday" in house.read("MEMORY.md")


def test_what_is_over_is_not_promoted_and_says_so(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Trip to Kyoto with Mika 6–9 March\n")
    asked(house, 3, "trip to Kyoto", "Kyoto with Mika", "when is the Kyoto trip")
    assert "not_over" not in {gate.name for gate in house.explain("Kyoto", "2026-03-06T03:00").failed}
    house.night("2026-03-10T03:00")
    assert "Kyoto" not in house.read("MEMORY.md")
    (gate,) = [gate for gate in house.explain("Kyoto", "2026-03-10T09:00").failed if gate.name == "not_over"]
    assert gate.missing == "what it is about ended on 2026-03-09"


def test_of_two_statements_of_one_night_the_newer_one_is_promoted(house: House) -> None:
    house.write("memory/2026-03-02.md", "- The chess club meets on Tuesday at the library\n")
    house.write("memory/2026-03-03.md", "- Correction: the chess club meets on Thursday at the library\n")
    asked(house, 4, "when does the chess club meet", "chess club day", "club library")
    house.night("2026-03-07T03:00")
    assert "Thursday" in house.read("MEMORY.md")
    assert "Tuesday" not in house.read("MEMORY.md")


def test_of_a_list_the_lines_that_are_over_stay_behind(house: House) -> None:
    house.write(
        "memory/2026-03-02.md", "- Trip to Kyoto with Mika 6–9 March\n- The Kyoto guide book stands on the hall shelf\n"
    )
    asked(house, 3, "Kyoto", "Kyoto guide book and trip with Mika", "Kyoto shelf trip")
    house.night("2026-03-10T03:00")
    assert "Trip to Kyoto" not in house.read("MEMORY.md")


@pytest.mark.parametrize(
    ("old", "new", "questions"),
    [
        (
            "The club meets on Tuesday at 7 in the library",
            "Correction: the club meets on Thursday",
            ("when does the club meet", "club meets day", "which day club meets"),
        ),
        (
            "Müllabfuhr kommt jeden Dienstag, Tonnen bis 6 Uhr rausstellen",
            "Korrektur: Müllabfuhr ist jetzt donnerstags",
            ("Müllabfuhr", "wann kommt die Müllabfuhr", "Müllabfuhr Tag"),
        ),
    ],
)
def test_what_a_newer_correction_may_be_about_is_not_promoted_beside_it(
    house: House, old: str, new: str, questions: tuple[str, ...]
) -> None:
    """The older line says more than the correction: promoted before it stays, and is not promoted after it."""
    house.write("memory/2026-03-02.md", f"- {old}\n")
    house.write("memory/2026-03-03.md", f"- {new}\n")
    asked(house, 4, *questions)
    assert [one.text for one in house.night("2026-03-07T03:00").promoted] == [new]
    assert not house.night("2026-03-08T03:00").promoted
    assert house.explain(old[:20], "2026-03-08T04:00").failed[0].name == "current"


def test_what_says_more_than_its_correction_stays_where_it_was_promoted_before(house: House) -> None:
    house.write("memory/2026-03-02.md", "- The club meets on Tuesday at 7 in the library\n")
    asked(house, 3, "when does the club meet", "club meets day", "which day club meets")
    house.night("2026-03-06T03:00")
    house.write("memory/2026-03-07.md", "- Correction: the club meets on Thursday\n")
    asked(house, 8, "when does the club meet", "club meets day", "which day club meets")
    house.night("2026-03-11T03:00")
    assert [state for _, state in states(house)] == [State.IN_FORCE, State.IN_FORCE]


def test_a_further_correction_does_not_bring_back_the_first_statement(house: House) -> None:
    house.write("memory/2026-03-02.md", "- The standup is at 9:00 in room Oak\n")
    asked(house, 3, "standup room Oak", "when is the standup", "standup Oak 9:00")
    house.write("memory/2026-03-04.md", "- The standup moved from 9:00 to 10:00 in room Oak\n")
    house.write("memory/2026-03-05.md", "- The standup moved from 10:00 to 11:00 in room Oak\n")
    assert [gate.name for gate in house.explain("standup is at 9:00", "2026-03-06T02:00").failed] == ["current"]


def test_a_corrected_line_with_most_votes_does_not_hold_back_the_rest_of_its_list(house: House) -> None:
    house.write(
        "memory/2026-03-02.md",
        "- The chess club meets on Tuesday\n- Staging is called Otter since March\n- The chess club meets on Tuesday\n",
    )
    for day in (3, 4, 5):
        asked(house, day, f"chess club {day}", f"chess club meets {day}", f"club meets {day}")
        asked(house, day, f"staging called Otter {day}")
    house.write("memory/2026-03-05.md", "- Correction: the chess club meets on Thursday\n")
    (promotion,) = house.night("2026-03-09T03:00").promoted
    assert promotion.text == "Staging is called Otter since March"


def test_a_correction_is_found_beside_many_notes_on_the_same(house: House) -> None:
    house.write("memory/2026-03-02.md", "- The chess club meets on Tuesday\n")
    asked(house, 3, "chess club day", "club meets", "chess club")
    house.write("memory/2026-03-04.md", "- Correction: the chess club meets on Thursday\n")
    notes = "".join(f"- The chess club meets at the library, {n} players came\n\n" for n in range(30))
    house.write("memory/2026-03-05.md", notes)
    assert [gate.name for gate in house.explain("meets on Tuesday", "2026-03-06T02:00").failed] == ["current"]
