"""Explanations: their numbers are the gates' own, and every line, night and difference has one."""

from dataclasses import asdict
from datetime import date

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import dream
from dreaming.explain import examined, night_explained, nights_compared, origins, questions_missing, written_of
from dreaming.overview import overview
from house import House, moment
from memory.model import Mark

NIGHT = "2026-03-08T04:00"


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", "Asia/Shanghai")


@pytest.fixture
def lived(house: House) -> House:
    """Two nights: the garage is refused on the first and promoted on the second, the boiler refused on both."""
    house.write(
        "memory/2026-03-02.md",
        "- Garage panel takes a CR2450 cell\n\n- Boiler pressure is kept at 1.5 bar\n\n- nobody asked for this line\n",
    )
    house.search("garage battery", "2026-03-03T12:00")
    house.search("panel cell", "2026-03-05T12:00")
    house.search("boiler pressure", "2026-03-05T12:00")
    house.night("2026-03-06T03:00")
    house.search("which coin cell", "2026-03-07T12:00")
    house.search("boiler bar", "2026-03-07T12:00")
    house.night("2026-03-08T03:00")
    return house


def call(house: House, *arguments: str) -> Result:
    command = ["--workspace", str(house.root), "--now", f"{NIGHT}+08:00", *arguments]
    return CliRunner().invoke(dream, command, prog_name="dream")


def test_every_number_is_the_one_the_gates_used(lived: House) -> None:
    with lived.home() as home:
        found = examined(home, home.store.every(), now=moment(NIGHT))
        lives = written_of(home, found)
    assert len(found) == 3
    for one in found:
        life, evidence = lives[one.candidate.id], one.candidate.evidence
        assert sum(day.recalls for day in life.asked) == evidence.recalls
        assert sum(day.grounded for day in life.asked) == evidence.grounded
        assert tuple(day.day for day in life.asked) == evidence.days
        assert len(life.marks[Mark.STAGED]) == one.candidate.history.light_hits
        assert len(life.marks[Mark.CHOSEN]) == one.candidate.history.rem_hits
        assert {part.name: part.value for part in life.parts} == asdict(one.exam.score.components)
        total = sum(part.value * part.weight for part in life.parts) + one.exam.score.boost
        assert min(1.0, total) == pytest.approx(one.exam.score.total)


def test_the_night_and_its_explanation_count_alike(lived: House) -> None:
    with lived.home() as home:
        found = night_explained(home, "2026-03-08")
        status = overview(home, now=moment(NIGHT))
    assert found.refused == status.refused == {"recalled": 1, "recalls": 1}
    refused = [one for one in found.decided if one.verdict == "refused"]
    assert [(one.text, one.reasons[0][0]) for one in refused] == [("Boiler pressure is kept at 1.5 bar", "recalls")]


def test_asking_as_often_as_was_said_is_enough(lived: House) -> None:
    one = lived.explain("Boiler", NIGHT)
    with lived.home() as home:
        assert questions_missing(one, home.config) == 1
    assert "what would change it: one more question on another day" in call(lived, "explain", "Boiler").stdout
    lived.search("how much pressure has the boiler", "2026-03-09T12:00")
    assert not lived.explain("Boiler", "2026-03-09T12:00").failed


def test_a_line_of_memory_tells_where_it_came_from(lived: House) -> None:
    with lived.home() as home:
        (one,) = origins(home, "MEMORY.md:6")
        assert origins(home, "MEMORY.md:5") == origins(home, "MEMORY.md") == (one,)
    assert (one.promotion.night, one.promotion.recalls) == (date(2026, 3, 8), 3)
    assert [event.change.reason for event in one.changes] == ["what the night promoted"]
    assert "from memory/2026-03-02.md:1-1" in call(lived, "explain", "MEMORY.md:6").stdout


def test_a_line_of_the_users_own_was_written_by_no_night(lived: House) -> None:
    result = call(lived, "explain", "MEMORY.md:1")
    assert result.exit_code == 1
    assert "your own" in result.stderr


def test_a_night_is_explained_by_its_date(lived: House) -> None:
    said = call(lived, "explain", "2026-03-08").stdout
    assert "promoted 1\n  Garage panel takes a CR2450 cell" in said
    assert "refused 1 at recalls: asked for too seldom\n  Boiler pressure" in said


def test_two_nights_differ_in_what_changed_its_verdict(lived: House) -> None:
    with lived.home() as home:
        found = nights_compared(home, "2026-03-06", "2026-03-08")
        same = nights_compared(home, "2026-03-08", "2026-03-08")
    assert [(old.verdict, new.verdict) for old, new in found.changed] == [("refused", "promoted")]
    assert (found.new, found.gone) == ((), ())
    assert (same.new, same.gone, same.changed) == ((), (), ())


def test_a_night_that_never_ran_is_compared_with_nothing(lived: House) -> None:
    result = call(lived, "explain", "--diff", "2026-03-06", "2026-03-09")
    assert result.exit_code == 1
    assert "no night ran on 2026-03-09" in result.stderr


@pytest.mark.parametrize("what", [("Boiler",), ("2026-03-08",), ("--diff", "2026-03-06", "2026-03-08"), ("MEMORY.md",)])
def test_explanations_fit_on_80_columns(lived: House, what: tuple[str, ...]) -> None:
    assert max(map(len, call(lived, "explain", *what).stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (
            "memory/2026-03-02.md:99",
            "memory/2026-03-02.md has 5 lines; name lines among them, for example memory/2026-03-02.md:1-5",
        ),
        (
            "memory/2026-03-02.md:2",
            "Nothing that is remembered stands at memory/2026-03-02.md:2; dream get memory/2026-03-02.md:2 prints what"
            " does",
        ),
        ("memory/2026-01-01.md:3", "there is no memory/2026-01-01.md:3 to read here; name a diary"),
        ("memory/2026-01-01.md", "there is no memory/2026-01-01.md to read here; name a diary"),
        ("a battery nobody has", "No fragment contains “a battery nobody has”; try fewer words"),
    ],
)
def test_of_a_place_where_nothing_stands_it_is_said_that_nothing_does(lived: House, place: str, said: str) -> None:
    result = call(lived, "explain", place)
    assert (result.exit_code, result.stdout.startswith(said)) == (1, True), result.output


def test_of_a_line_that_memory_has_not_got_it_is_said_how_many_it_has(lived: House) -> None:
    count = len(lived.read("MEMORY.md").splitlines())
    result = call(lived, "explain", "MEMORY.md:99")
    assert result.exit_code == 1
    assert f"MEMORY.md has {count} lines; name lines among them" in result.stderr
