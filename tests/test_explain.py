"""Explanations: their numbers are the gates' own, and every line, night and difference has one."""

from dataclasses import asdict
from datetime import date

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import dream
from dreaming.cli.night import phase_lines
from dreaming.explain import examined, night_explained, nights_compared, origins, questions_missing, written_of
from dreaming.gates import of_ranked
from dreaming.night import PhaseReport
from dreaming.overview import overview
from house import House, moment
from memory.model import Mark, Phase

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
    garage = lived.explain("Garage", NIGHT).candidate.id
    assert "promoted 1\n  Garage panel takes a CR2450 cell" in said
    assert (
        f"    {garage}  from memory/2026-03-02.md:1-1\n    asked for 3 times, by 3 different questions, on 3 days"
        in said
    )
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


@pytest.mark.parametrize(
    "what", [("Boiler",), ("Garage",), ("2026-03-08",), ("--diff", "2026-03-06", "2026-03-08"), ("MEMORY.md",)]
)
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


def test_nothing_but_blanks_is_no_text_to_explain(lived: House) -> None:
    result = call(lived, "explain", " ")
    assert (result.exit_code, "name an id, a piece of text" in result.output) == (2, True)


def test_of_a_line_that_memory_has_not_got_it_is_said_how_many_it_has(lived: House) -> None:
    count = len(lived.read("MEMORY.md").splitlines())
    result = call(lived, "explain", "MEMORY.md:99")
    assert result.exit_code == 1
    assert f"MEMORY.md has {count} lines; name lines among them" in result.stderr


@pytest.fixture
def partly(house: House) -> House:
    """A list of which one line is promoted, and another was asked for once since."""
    house.write("memory/2026-03-02.md", "- Gym is Wave Fitness with coach Kai\n- Coffee beans cost eighteen euros\n")
    house.search("gym coach", "2026-03-03T12:00")
    house.search("wave fitness", "2026-03-05T12:00")
    house.search("who is coach Kai", "2026-03-06T12:00")
    house.night("2026-03-07T03:00")
    house.search("coffee beans", "2026-03-07T12:00")
    return house


def test_of_what_is_promoted_in_part_the_promotion_comes_first_and_the_rest_apart(partly: House) -> None:
    said = call(partly, "explain", "Gym").stdout
    promotion, rest = said.split("\n\n")
    assert "verdict: in MEMORY.md since 2026-03-07" in promotion
    (line,) = (text for text in partly.read("MEMORY.md").splitlines() if "Gym" in text)
    assert f"MEMORY.md:6  {line.removeprefix('- ')}" in promotion
    assert "promoted on 2026-03-07, in MEMORY.md" in promotion
    assert all(
        word in promotion for word in ("score 0.", "recency", "█", "asked for 3 times", "from memory/2026-03-02.md:1-1")
    )
    assert rest.startswith("  what of it was not promoted: “Coffee beans cost")
    assert "verdict on that: refused" in rest


def test_of_what_is_promoted_as_a_whole_nothing_is_left_to_examine(lived: House) -> None:
    said = call(lived, "explain", "Garage").stdout
    assert "verdict: in MEMORY.md since 2026-03-08" in said
    assert "not promoted" not in said
    assert "what would change it" not in said


def test_numbers_name_the_statement_they_belong_to(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n- Boiler pressure is kept at 1.5 bar\n")
    house.search("boiler pressure", "2026-03-05T12:00")
    said = call(house, "explain", "Boiler").stdout
    assert "what follows is about: “Boiler pressure is kept at 1.5 bar”" in said


def test_that_all_that_was_asked_for_is_promoted_is_not_that_nobody_asked(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    house.settings["deep.min_score"] = 0.7
    assert "Nobody has searched for anything yet" in call(house, "explain").stdout
    for day, query in (("03", "garage battery"), ("05", "panel cell"), ("06", "which coin cell")):
        house.search(query, f"2026-03-{day}T12:00")
    house.night("2026-03-07T03:00")
    said = call(house, "explain").stdout
    assert said.startswith("All that was asked for stands in MEMORY.md: 1 promotion; see")


def test_of_what_was_asked_for_and_is_hopeless_it_is_said_that_no_search_helps(house: House) -> None:
    house.write("memory/2026-03-02.md", "- TODO: book the flights to Lisbon for September\n")
    house.search("flights Lisbon", "2026-03-05T12:00")
    assert (
        "MEMORY.md has 0 promotions; questions alone do not bring 1 fragment of what was asked for there"
        in call(house, "explain").stdout
    )


def test_a_night_says_first_what_it_promoted_and_each_text_it_looked_at_once(lived: House) -> None:
    lines = call(lived, "explain", "2026-03-08").stdout.splitlines()
    assert lines[1].startswith("promoted 1")
    looked_at = [line for line in lines if line.startswith("  Garage panel takes a CR2450 cell (staged")]
    assert looked_at == ["  Garage panel takes a CR2450 cell (staged, considered, chosen)"]
    assert any(line.startswith("staged 2, considered 2, chosen") for line in lines)


def test_a_night_says_what_it_took_to_the_archive(house: House) -> None:
    house.settings["memory.budget_chars"] = 330
    for number, (text, query) in enumerate(
        (("Garage panel takes a CR2450 cell", "garage panel"), ("Boiler pressure is kept at 1.5 bar", "boiler"))
    ):
        month = f"2026-0{3 + number}"
        house.write(f"memory/{month}-02.md", f"- {text}\n")
        for day in ("03", "04", "05", "06"):
            house.search(f"{query} {day}", f"{month}-{day}T12:00")
        house.night(f"{month}-06T23:00")
    said = call(house, "explain", "2026-04-06").stdout
    assert "taken to the archive 1\n  Garage panel takes a CR2450 cell (promoted on 2026-03-06)\n" in said


def test_a_date_without_a_night_names_the_nights_around_it(lived: House) -> None:
    result = call(lived, "explain", "2026-03-07")
    assert result.exit_code == 1
    assert result.stdout == (
        "There was no night on 2026-03-07; the last before it is of 2026-03-06, the first after it is of 2026-03-08\n"
    )
    assert "the first after it is of 2026-03-06\n" in call(lived, "explain", "2026-01-01").stdout


def test_of_an_empty_memory_no_line_is_explained(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    result = call(house, "explain", "MEMORY.md:999")
    assert (result.exit_code, result.stderr) == (1, "dream: MEMORY.md has 0 lines; it is empty or not there\n")


def test_what_is_refused_adds_up_in_the_night_its_status_and_its_explanation(partly: House) -> None:
    """The rest of what is promoted was ranked, and nobody asked for it: it counts with what was refused."""
    partly.write("memory/2026-03-04.md", "- nobody ever asked for this line\n")
    partly.write("memory/2026-03-03.md", "- Boiler pressure is kept at 1.5 bar\n")
    partly.search("boiler pressure", "2026-03-07T12:00")
    (partly.root / "config.toml").write_text('[embeddings]\nembedder = "off"\n', encoding="utf-8")
    night = " ".join(call(partly).stdout.split())
    assert "refused 2 (2 asked for too seldom)" in night
    status = " ".join(call(partly, "status").stdout.split())
    assert "Refused 2 asked for too seldom; not ranked: 1 that nobody ever asked for" in status
    said = call(partly, "explain", "2026-03-08").stdout
    assert "ranked 2, refused 2\nrefused 2 at recalls: asked for too seldom\n" in said
    assert said.endswith("\nnot ranked 1: nobody ever asked for them\n")


def test_the_rest_of_a_promotion_that_nobody_asked_for_is_counted_with_the_refused() -> None:
    assert of_ranked({"recalls": 11, "recalled": 15, "clean": 5}, 23) == ({"recalls": 11, "recalled": 7, "clean": 5}, 8)
    assert of_ranked({"recalls": 2, "recalled": 3}, 2) == ({"recalls": 2}, 3)
    assert of_ranked({}, 0) == ({}, 0)


def test_the_line_of_a_night_says_what_was_refused_in_words_within_80_columns() -> None:
    refused = {"recalls": 11, "recalled": 15, "clean": 5, "stands_alone": 1}
    report = PhaseReport(phase=Phase.DEEP, counts={"ranked": 29, "promoted": 4, "refused": 24}, told=True)
    lines = list(phase_lines(report, refused))
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()) == (
        "deep ranked 29, promoted 4, refused 24 (11 asked for too seldom, 7 of which only other lines were asked for,"
        " 5 not fit to be remembered, 1 not clear by itself); told"
    )


def test_a_promoted_line_is_explained_by_the_numbers_that_the_gates_used(partly: House) -> None:
    partly.settings["deep.min_score"] = 0.7
    partly.write("memory/2026-03-02.md", partly.read("memory/2026-03-02.md") + "\n- Boiler is kept at 1.5 bar\n")
    for day, query in (("07", "boiler bar"), ("08", "boiler kept at 1.5 bar"), ("09", "boiler 1.5")):
        partly.search(query, f"2026-03-{day}T12:00")
    before = partly.explain("Boiler", "2026-03-10T03:00")
    assert not before.failed
    (promotion,) = partly.night("2026-03-10T03:00", [Phase.DEEP]).promoted
    partly.search("boiler", "2026-03-10T12:00")
    partly.settings |= {"deep.min_score": 0.95, "deep.min_recall_count": 9, "deep.weights.recency": 0.9}
    with partly.home() as home:
        (one,) = (origin for origin in origins(home, "MEMORY.md") if origin.promotion.text == promotion.text)
    assert one.gates == before.gates
    assert {part.name: part.value for part in one.parts} == asdict(before.exam.score.components)
    assert one.promotion.basis is not None
    assert one.promotion.basis.evidence == before.candidate.evidence
    total = sum(part.value * part.weight for part in one.parts) + one.promotion.boost
    assert total == pytest.approx(one.promotion.score) == pytest.approx(before.exam.score.total)
    said = call(partly, "explain", f"MEMORY.md:{one.line}").stdout
    days = "2026-03-07, 2026-03-08, 2026-03-09"
    assert f"asked for 3 times, by 3 different questions, on 3 days: {days}" in " ".join(said.split())
    assert f"make the score {before.exam.score.total:.3f} (needs 0.70)" in said
    assert said.count("  ok  ") == len(before.gates)
    assert f"to take it out: dream undo {one.promotion.name}, or delete the line" in said


def test_of_what_an_older_version_promoted_it_is_said_that_it_kept_no_more(lived: House) -> None:
    with lived.home() as home:
        home.store.db.execute("UPDATE promotion SET basis = NULL")
    said = call(lived, "explain", "MEMORY.md:6").stdout
    assert "the version that promoted it kept no more of why it did" in said
    assert "recalls 3, boost 0." in said


def test_of_what_no_question_changes_it_is_not_said_that_questions_are_missing(lived: House) -> None:
    lived.write("memory/2026-03-08.md", "## At home\n- Garage panel takes a CR2450 cell\n")
    lived.search("garage panel", "2026-03-08T12:00")
    lived.night("2026-03-09T03:00")
    said = call(lived, "explain", "2026-03-09").stdout
    known, _, others = said.partition("refused 1 at not_promoted")[2].partition("refused 1 at recalls")
    assert "MEMORY.md says or said it already" in " ".join(known.split())
    assert " of 3" not in known
    assert "recalls 2 of 3" in others


def test_a_line_is_explained_as_it_stands_and_that_the_user_reworded_it(lived: House) -> None:
    lived.write("MEMORY.md", lived.read("MEMORY.md").replace("takes a CR2450 cell", "takes a CR2032 cell"))
    said = call(lived, "explain", "MEMORY.md:6").stdout
    assert said.startswith("MEMORY.md:6  Garage panel takes a CR2032 cell\n")
    assert "  reworded by you; promoted as: “Garage panel takes a CR2450 cell”\n" in said


def test_of_what_was_promoted_in_part_a_night_names_the_rest_that_it_refused(partly: House) -> None:
    partly.night("2026-03-08T03:00")
    said = call(partly, "explain", "2026-03-08").stdout
    assert "at recalls: asked for too seldom\n  Coffee beans cost eighteen euros\n" in said
    assert (
        "now the rest refused: recalls 1 of 3" in call(partly, "explain", "--diff", "2026-03-07", "2026-03-08").stdout
    )
