"""Trust per line: what somebody else wrote is remembered, and never becomes durable by itself."""

from pathlib import Path

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
