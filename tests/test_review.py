"""Review: in this mode nothing reaches `MEMORY.md` without the user's word."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import dream
from house import House

SETTINGS = '[dreaming]\ntimezone = "Asia/Shanghai"\n[deep]\nmin_score = 0.7\n[memory]\nmode = "review"\n'


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path, **{"deep.min_score": 0.7, "memory.mode": "review"})
    house.write("config.toml", SETTINGS)
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    for day, query in (("03", "garage panel cell"), ("04", "CR2450"), ("05", "which cell does the garage panel take")):
        house.search(query, f"2026-03-{day}T10:00")
    return house


def review(house: House, *args: str, keys: str = "") -> Result:
    options = ["--workspace", str(house.root), "--now", "2026-03-06T09:00", "review", *args]
    return CliRunner().invoke(dream, options, input=keys)


def test_a_night_only_proposes(house: House) -> None:
    report = house.night("2026-03-06T03:00")
    assert (report.promoted, [p.text for p in report.proposed]) == ((), ["Garage panel takes a CR2450 cell"])
    assert not (house.root / "MEMORY.md").exists()
    assert "- Proposed: Garage panel takes a CR2450 cell (score" in house.read("DREAMS.md")
    assert "promoted 0, proposed 1." in house.read("DREAMS.md")


def test_a_proposal_is_made_once(house: House) -> None:
    house.night("2026-03-06T03:00")
    before = house.digests()
    assert len(house.night("2026-03-06T03:00").proposed) == 1
    assert house.digests() == before
    assert not house.night("2026-03-07T03:00").proposed
    assert review(house, "--list").output.count("CR2450") == 1


def test_what_was_proposed_keeps_its_room_when_the_night_goes_on(house: House) -> None:
    """Else what did not fit beside it the first time is proposed the second time."""
    house.write("memory/2026-03-01.md", "- Router lives in the attic\n")
    for day, query in (("03", "where does the router live"), ("04", "router attic"), ("05", "attic router place")):
        house.search(query, f"2026-03-{day}T11:00")
    house.settings["memory.budget_chars"] = 270
    assert len(house.night("2026-03-06T03:00").proposed) == 1
    before = house.digests()
    assert len(house.night("2026-03-06T04:00").proposed) == 1
    assert house.digests() == before


def test_what_is_accepted_stands_in_memory_as_a_night_would_have_written_it(house: House, tmp_path: Path) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    result = review(house, "--accept", proposal.fragment[:8])
    assert (result.exit_code, result.output) == (
        0,
        "  + Garage panel takes a CR2450 cell\nNothing waits for a review.\n",
    )
    assert house.read("MEMORY.md").splitlines()[2] == "## Promoted From Short-Term Memory (2026-03-06)"
    assert house.read("MEMORY.md").endswith("\n- Garage panel takes a CR2450 cell\n")


def test_what_is_rejected_comes_back_by_new_votes_only(house: House) -> None:
    house.night("2026-03-06T03:00")
    assert review(house, "--reject", "all").exit_code == 0
    assert not house.night("2026-03-07T03:00").proposed
    for day, query in (("07", "garage panel cell"), ("08", "CR2450"), ("09", "which cell does the garage panel take")):
        house.search(query, f"2026-03-{day}T10:00")
    assert len(house.night("2026-03-10T03:00").proposed) == 1
    assert not (house.root / "MEMORY.md").exists()


def test_a_proposal_is_accepted_in_the_users_words(house: House) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    assert review(house, "--edit", proposal.fragment, "The garage panel takes a CR2450.").exit_code == 0
    assert house.read("MEMORY.md").endswith("\n- The garage panel takes a CR2450.\n")


def test_a_proposal_whose_source_is_gone_is_not_accepted(house: House) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    house.write("memory/2026-03-02.md", "- something else entirely stands here\n")
    result = review(house, "--accept", proposal.fragment)
    assert result.exit_code == 1
    assert "its source was edited or deleted" in result.stderr
    assert not (house.root / "MEMORY.md").exists()


def test_a_proposal_without_room_waits_and_says_so(house: House) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    house.write("MEMORY.md", "mine " * 2000)
    result = review(house, "--accept", proposal.fragment)
    assert (result.exit_code, "has no room for it" in result.stderr) == (1, True)
    assert house.read("MEMORY.md") == "mine " * 2000


def test_one_key_decides_on_a_terminal(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.night("2026-03-06T03:00")
    monkeypatch.setattr("dreaming.cli.review._is_terminal", lambda: True)
    skipped = review(house, keys="s")
    assert "[a]ccept, [r]eject" in skipped.output
    assert "1 waiting" in skipped.output
    assert "Nothing waits" in review(house, keys="a").output
    assert "CR2450" in house.read("MEMORY.md")


def test_an_unknown_proposal_is_one_sentence(house: House) -> None:
    result = review(house, "--accept", "ffff")
    assert (result.exit_code, result.stderr) == (
        1,
        "dream: no single proposal has the id “ffff”; dream review lists them with their ids\n",
    )


def test_empty_words_are_refused(house: House) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    result = review(house, "--edit", proposal.fragment, "")
    assert (result.exit_code, "the new words are empty" in result.stderr) == (1, True)
    assert not (house.root / "MEMORY.md").exists()


def refused(house: House, *args: str) -> str:
    result = review(house, *args)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    return result.stderr.removeprefix("dream: ").removesuffix("\n")


@pytest.mark.parametrize("option", ["--accept", "--reject"])
def test_what_was_rejected_is_not_decided_on_again_and_the_way_out_is_said(house: House, option: str) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    review(house, "--reject", proposal.fragment)
    assert refused(house, option, proposal.fragment) == (
        "“Garage panel takes a CR2450 cell” was rejected before; it is proposed again once it is asked for anew,"
        " or write it into MEMORY.md yourself"
    )


@pytest.mark.parametrize("option", ["--accept", "--reject"])
def test_what_was_accepted_is_not_decided_on_again_and_the_way_out_is_said(house: House, option: str) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    review(house, "--accept", proposal.fragment)
    assert refused(house, option, proposal.fragment) == (
        f"“Garage panel takes a CR2450 cell” stands in MEMORY.md already; dream undo {proposal.fragment} takes it out"
    )


def test_an_unknown_line_to_replace_is_one_sentence(house: House) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    assert refused(house, "--accept", proposal.fragment, "--replacing", "ffff") == (
        "no single line of MEMORY.md has the id “ffff”; dream history lists them with their ids"
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("<!-- openclaw-memory-promotion:x --> cell", "quotes a marker or report of this program"),
        ("the key of the garage is " + "sk-proj-" + "Zx9Qm" * 8, "holds a secret (openai_api_key)"),
    ],
)
def test_words_that_are_not_fit_are_refused_in_words(house: House, words: str, why: str) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    assert refused(house, "--edit", proposal.fragment, words).endswith(
        f"was not accepted: it is not fit to be remembered, since it {why}; use other words"
    )


def test_an_id_that_waits_is_decided_on_though_the_one_before_it_does_not(house: House) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    assert "“ffff”" in refused(house, "--accept", "ffff", "--accept", proposal.fragment)
    assert "CR2450" in house.read("MEMORY.md")


def test_what_is_accepted_in_the_place_of_a_line_names_that_line(house: House) -> None:
    (first,) = house.night("2026-03-06T03:00").proposed
    review(house, "--accept", first.fragment)
    house.write("memory/2026-03-06.md", "- Boiler pressure is kept at 1.5 bar\n")
    for day, query in (("06", "boiler"), ("07", "boiler pressure"), ("08", "how many bar has the boiler")):
        house.search(query, f"2026-03-{day}T10:00")
    (second,) = house.night("2026-03-09T03:00").proposed
    result = review(house, "--accept", second.fragment, "--replacing", first.fragment)
    assert result.output.startswith(
        "  + Boiler pressure is kept at 1.5 bar\n    in place of: Garage panel takes a CR2450 cell\n"
    )


def test_an_unknown_key_is_asked_for_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.night("2026-03-06T03:00")
    monkeypatch.setattr("dreaming.cli.review._is_terminal", lambda: True)
    result = review(house, keys="x\na")
    assert result.output.count("[a]ccept, [r]eject") == 3
    assert "CR2450" in house.read("MEMORY.md")


def test_a_review_that_nobody_answers_ends(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.night("2026-03-06T03:00")
    monkeypatch.setattr("dreaming.cli.review._is_terminal", lambda: True)
    assert "1 waiting" in review(house, keys="s").output
    assert review(house, keys="x").exit_code != 0


def test_a_rejected_proposal_was_proposed_and_not_promoted(house: House) -> None:
    (proposal,) = house.night("2026-03-06T03:00").proposed
    command = ["--workspace", str(house.root), "--now", "2026-03-06T09:00", "explain", "Garage"]
    waiting = CliRunner().invoke(dream, command).output
    assert "proposed on 2026-03-06, waiting for your review" in waiting
    assert "verdict: proposed" in waiting
    review(house, "--reject", proposal.fragment)
    assert "proposed on 2026-03-06, rejected by you" in CliRunner().invoke(dream, command).output
