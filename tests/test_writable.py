"""When a line is written with its heading in front."""

import pytest

from memory.writable import headed

AMOUNTS = (
    ("Pancakes", "200 g flour and two eggs for four people"),
    ("Pancakes", "1/2 tsp salt and a pinch of sugar"),
    ("Pfannkuchen", "200 g Mehl und zwei Eier, dazu Salz"),
    ("Brot", "2–3 Stunden gehen lassen und dann backen"),
    ("Server room", "20 % of the racks stay empty for guests"),
    ("薄煎饼", "200克面粉和两个鸡蛋"),
    ("薄煎饼", "3 个鸡蛋加一杯牛奶"),
)
ALONE = (
    ("Pancakes", "The batter rests for an hour before baking"),
    ("Pancakes", "250 g flour make enough pancakes for four"),
    ("Notes", "200 people still use the old login page"),
    ("决定", "3 个服务共用一个数据库实例"),
    ("Printer", "3D prints need the door to be closed"),
    ("Printer", "2FA is required for every login"),
    ("House", "2026-03-02 is when the boiler was replaced"),
    ("House", "14:05 is when the last bus leaves"),
    ("房子", "2026年3月换了新的锅炉和水管"),
    ("房子", "3月5日换了新的锅炉和水管"),
    ("Haus", "3. März ist der Tag der neuen Heizung"),
    ("House", "1.2.3 of the firmware breaks the router"),
)


@pytest.mark.parametrize(("heading", "line"), AMOUNTS)
def test_an_amount_is_written_with_the_heading_that_says_what_for(heading: str, line: str) -> None:
    assert headed(heading, line) == f"{heading}: {line}"


@pytest.mark.parametrize(("heading", "line"), ALONE)
def test_a_line_that_reads_alone_is_written_without_its_heading(heading: str, line: str) -> None:
    assert headed(heading, line) == line
