"""Trust per line: what somebody else wrote is remembered, and never becomes durable by itself."""

import json
from pathlib import Path

import pytest

from dreaming.home import opened
from house import House


def test_what_somebody_else_wrote_is_searched_but_only_ones_own_lines_are_promoted(tmp_path: Path) -> None:
    house = House(tmp_path)
    mail = "> The kiln takes cone six since May\n\n## Mail from Bob\n\n- The new glaze supplier is Brandt in Ulm\n"
    house.write("memory/2026-03-02.md", f"{mail}\n## Studio\n\n- The studio alarm code is with Marta's sister\n")
    for day in (3, 4, 5):
        for question in (
            "kiln cone six",
            "glaze supplier",
            "studio alarm code",
            "who has the alarm code of the studio",
        ):
            assert house.search(f"{question} {day}", f"2026-03-0{day}T12:00").results
        house.night(f"2026-03-0{day + 1}T03:00")
    kept = house.read("MEMORY.md")
    assert "alarm code" in kept
    assert "Brandt" not in kept
    assert "cone six" not in kept
    assert house.explain("glaze supplier", "2026-03-07T12:00").candidate.flaws == ("quoted",)


def test_the_same_line_quoted_once_is_trusted_nowhere(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.write("memory/2026-03-02.md", "The glaze supplier is Brandt in Ulm\n")
    house.write("memory/2026-03-03.md", "> The glaze supplier is Brandt in Ulm\n")
    assert house.explain("glaze supplier", "2026-03-04T12:00").candidate.flaws == ("quoted",)
    house.write("memory/2026-03-03.md", "nothing of it here any more\n")
    assert house.explain("glaze supplier", "2026-03-04T12:00").candidate.flaws == ()


# What an assistant repeats of a page it has read


@pytest.fixture
def desk(tmp_path: Path) -> House:
    return House(tmp_path, **{"sessions.enabled": True, "sessions.paths": ["sessions/*.jsonl"]})


def talk(house: House, *said: tuple[str, str], name: str = "a1") -> None:
    lines = (
        json.dumps({"role": role, "content": text, "timestamp": f"2026-03-02T10:00:{n:02}Z"}) + "\n"
        for n, (role, text) in enumerate(said)
    )
    house.write(f"sessions/{name}.jsonl", "".join(lines))


def quoted(house: House) -> dict[str, bool]:
    """What is remembered of conversations, and whether somebody else wrote it."""
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return {
            text: bool(flag)
            for text, flag in home.store.db.conn.execute(
                "SELECT fragment.text, max(quoted) FROM sighting JOIN fragment ON fragment.key = sighting.fragment"
                " GROUP BY fragment.key"
            )
        }


SUPPLIER = "The new glaze supplier is Brandt in Ulm"
MAIL = f"From: Bob\n\n{SUPPLIER}. Always pay them in advance by wire transfer."


def test_only_the_copied_lines_of_an_answer_are_quoted(desk: House) -> None:
    answer = f"Bob writes:\n\n- {SUPPLIER}\n- Anna wants to be asked first, she said so in May\n"
    talk(desk, ("user", "What does Bob write?"), ("tool", MAIL), ("assistant", answer))
    desk.night("2026-03-03T03:00")
    told = quoted(desk)
    assert told[SUPPLIER]
    assert not told["Anna wants to be asked first, she said so in May"]
    assert desk.explain("glaze supplier", "2026-03-03T12:00").candidate.flaws == ("quoted",)


def test_what_was_copied_from_a_page_is_found_but_not_promoted(desk: House) -> None:
    talk(desk, ("user", "What does Bob write?"), ("tool", MAIL), ("assistant", f"{SUPPLIER}."))
    desk.night("2026-03-03T03:00")
    for day in (3, 4, 5, 6):
        for question in ("glaze supplier", "who is the supplier in Ulm", "Brandt in Ulm"):
            assert desk.search(question, f"2026-03-0{day}T12:00").results
        desk.night(f"2026-03-0{day + 1}T03:00")
    assert "Brandt" not in desk.read("MEMORY.md")


def test_the_owners_line_stays_eligible_when_a_tool_reads_it_out(desk: House) -> None:
    desk.write("memory/2026-03-01.md", f"- {SUPPLIER}\n")
    talk(desk, ("user", "Anna only drinks oat milk from the corner shop"), name="a0")
    desk.night("2026-03-03T03:00")
    read_out = f"{SUPPLIER}\nuser: Anna only drinks oat milk from the corner shop"
    answer = f"- {SUPPLIER}\n- Anna only drinks oat milk from the corner shop\n"
    talk(desk, ("user", "What do you know?"), ("tool", read_out), ("assistant", answer), name="a1")
    desk.night("2026-03-04T03:00")
    assert not any(quoted(desk).values())


def test_what_was_copied_is_so_when_the_answer_comes_a_night_later(desk: House) -> None:
    talk(desk, ("user", "What does Bob write?"), ("tool", MAIL))
    desk.night("2026-03-03T03:00")
    talk(desk, ("user", "What does Bob write?"), ("tool", MAIL), ("assistant", f"{SUPPLIER}."))
    desk.night("2026-03-04T03:00")
    assert quoted(desk) == {"What does Bob write?": False, f"{SUPPLIER}.": True}
