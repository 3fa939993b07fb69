"""A night that is killed, that fails or that meets the user ends, run again, as one that was left alone.

`make soak` tries every point; here a few spread ones are tried.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from faults import KINDS, Scenario, Stage, spread
from house import House

SOAK = os.environ.get("DREAM_SOAK", "")
"""The file in which a soak counts its points; empty when only a few are tried."""
POINTS = 2
"""Points of each kind and scenario that are tried when not all are."""
TWICE = 8
"""First and second kills of a scenario that are combined in a soak."""

NOTE = "# Memory of the house\r\n\r\n- The cat is called Minka\r\n- Ana likes her tea strong\r\n"
DIARY = "# My dreams\n\nI write here too.\n"


def asked(house: House, days: tuple[str, ...], *queries: str) -> None:
    for day, query in zip(days, queries, strict=True):
        house.search(query, f"{day}T12:00")


FIRST = ("2026-03-03", "2026-03-04", "2026-03-05")
SECOND = ("2026-03-06", "2026-03-07", "2026-03-08")


def lay_first(house: House) -> None:
    """Two things to promote, one that waits, and no file of this program yet."""
    house.write(
        "memory/2026-03-02.md",
        "## Household\n- boiler wants exactly 1.5 bar pressure\n\n- Garage panel takes a CR2450 cell\n\n"
        "- nobody asks for this one\n",
    )
    asked(house, FIRST, "boiler pressure", "boiler bar", "1.5 bar pressure")
    asked(house, FIRST, "garage panel", "panel cell", "garage cell")


def lay_second(house: House) -> None:
    """What the first night promoted has to make room for what the second promotes, and entries for entries."""
    lay_first(house)
    house.night("2026-03-06T03:00")
    house.write("memory/2026-03-06.md", "- Boat is called Kestrel\n\n- Ladder hangs behind the blue door\n")
    asked(house, SECOND, "boat name", "kestrel boat", "called Kestrel")
    asked(house, SECOND, "ladder behind", "ladder door", "blue door")


def lay_full(house: House) -> None:
    house.write("MEMORY.md", NOTE)
    house.write("DREAMS.md", DIARY)
    lay_second(house)


def lay_linked(house: House) -> None:
    house.write("shared/mem.md", "\ufeff" + NOTE)
    (house.root / "MEMORY.md").symlink_to("shared/mem.md")
    house.write("dreams.md", DIARY)
    lay_second(house)


def lay_again(house: House) -> None:
    """The night was run already, before there was more to promote."""
    house.write("MEMORY.md", NOTE)
    lay_second(house)
    house.night("2026-03-08T23:00")
    house.night("2026-03-09T01:00")
    house.write("memory/2026-03-08.md", "- Spare key hangs behind the clock\n")
    asked(house, SECOND, "spare key", "key clock", "spare clock")


LOW: dict[str, object] = {"deep.min_score": 0.6}
SCENARIOS = (
    Scenario(name="first", lay=lay_first, settings=LOW, tonight="2026-03-06T03:00", tomorrow="2026-03-07T03:00"),
    Scenario(
        name="full",
        lay=lay_full,
        settings={**LOW, "memory.budget_chars": 560, "narrative.diary_entries": 2, "dreaming.reports": True},
        tonight="2026-03-09T03:00",
        tomorrow="2026-03-10T03:00",
        own=(("MEMORY.md", NOTE.encode()), ("DREAMS.md", DIARY.encode())),
    ),
    Scenario(
        name="linked",
        lay=lay_linked,
        settings={**LOW, "memory.budget_chars": 560, "memory.evict": "least-used", "narrative.diary_entries": 3},
        tonight="2026-03-09T03:00",
        tomorrow="2026-03-10T03:00",
        own=(("shared/mem.md", NOTE.encode()), ("dreams.md", DIARY.encode())),
        dreams="dreams.md",
    ),
    Scenario(
        name="again",
        lay=lay_again,
        settings={**LOW, "narrative.diary_entries": 4},
        tonight="2026-03-09T03:00",
        tomorrow="2026-03-10T03:00",
        own=(("MEMORY.md", NOTE.encode()),),
    ),
)

BARE = replace(SCENARIOS[1], name="bare", exchanges=False)
BREAKING = tuple(kind for kind in KINDS if "saved" not in kind)
SAVING = tuple(kind for kind in KINDS if "saved" in kind)
Staged = Callable[[Scenario], Stage]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Staged:
    """Lay out each scenario once."""
    known: dict[str, Stage] = {}

    def stage(scenario: Scenario) -> Stage:
        if scenario.name not in known:
            known[scenario.name] = Stage(scenario, tmp_path_factory.mktemp(scenario.name))
        return known[scenario.name]

    return stage


def tried(stage: Stage, kind: str) -> list[str]:
    """Let a kind of fault happen at all points or at some, and return what was wrong after it."""
    points = stage.points(kind)
    points = points if SOAK else spread(points, POINTS, shift=KINDS.index(kind) * 7)
    problems = noted(problem for point in points for problem in stage.problems(kind, point))
    counted(stage, kind, len(points))
    return problems


def noted(problems: Iterable[str]) -> list[str]:
    """Return the problems; a soak notes each as soon as it is found."""
    new = []
    for problem in problems:
        new.append(problem)
        if SOAK:
            with Path(f"{SOAK}.problems").open("a", encoding="utf-8") as file:
                file.write(f"{problem}\n")
    return new


def counted(stage: Stage, kind: str, count: int) -> None:
    if SOAK:
        with Path(SOAK).open("a", encoding="utf-8") as file:
            file.write(f"{count} {kind}, {stage.scenario.name}\n")


def shown(problems: list[str]) -> str:
    return f"{len(problems)} problems\n" + "\n".join(problems)


@pytest.mark.parametrize("kind", BREAKING)
@pytest.mark.parametrize("scenario", [*SCENARIOS, BARE], ids=lambda scenario: scenario.name)
def test_a_broken_night_that_is_run_again_ends_like_one_left_alone(
    staged: Staged, scenario: Scenario, kind: str
) -> None:
    problems = tried(staged(scenario), kind)
    assert not problems, shown(problems)


@pytest.mark.parametrize("kind", SAVING)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_what_the_user_saves_during_a_night_stands_beside_what_the_night_wrote(
    staged: Staged, scenario: Scenario, kind: str
) -> None:
    problems = tried(staged(scenario), kind)
    assert not problems, shown(problems)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_night_that_is_killed_again_while_it_is_finished_ends_like_one_left_alone(
    staged: Staged, scenario: Scenario
) -> None:
    stage, kind = staged(scenario), "killed before"
    most = TWICE if SOAK else 1
    pairs = [
        (first, second)
        for first in spread(stage.points(kind), most, shift=40)
        for second in spread(stage.points(kind), most, shift=50)
    ]
    problems = noted(problem for pair in pairs for problem in stage.killed_twice(*pair))
    counted(stage, "killed twice", len(pairs))
    assert not problems, shown(problems)


def test_the_nights_that_are_disturbed_promote_make_room_and_tell(staged: Staged) -> None:
    nights = {scenario.name: staged(scenario).undisturbed.tonight for scenario in SCENARIOS}
    assert all("State.IN_FORCE" in str(night.promotions) for night in nights.values())
    for name in ("full", "linked"):
        assert {"memory/archive/MEMORY-2026.md", "memory/archive/DREAMS-2026.md"} <= nights[name].files.keys()
        assert "State.DROPPED" in str(nights[name].promotions)
