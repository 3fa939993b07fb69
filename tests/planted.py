"""A workspace whose diaries try to get out of the page that shows them."""

from datetime import datetime
from pathlib import Path

from dreaming.home import opened
from dreaming.report.facts import Facts
from dreaming.report.gather import facts
from house import House, moment

NOW = "2026-03-09T09:00"
PLANTED = "</script><img src=x onerror=planted()><script>planted()</script>"
KEY = "AKIA" + "Q3EGRZ7XKJ2MNWLP"
DAYS = {
    "2026-03-02": f"""# Kiln
- Decided: the kiln stays below 1240 °C because of {PLANTED} the shelves.
- The template says {{{{ secrets }}}} and {{% for %}} in the <!-- comment of the shop.

# Second kiln
- The second kiln cools nine degrees an hour since the new seal.
""",
    "2026-03-03": """# Booking
- The booking page opens at noon\u2028and closes at six\u2029every day, says Mika.
- The label reads \u202eesrever si siht\u202c and \u200fshalom\u200e in the window.
- The shop's bell rings \x07twice \x1b[31mred\x1b[0m before the gate opens in the evening.
""",
    "2026-03-04": """# 锅炉
- 锅炉压力保持在 1.5 bar；低于 1.0 bar 就从厨房水槽下面的阀门加水。
""",
    "2026-03-05": f"""# Keys
- The deploy key of the shop is {KEY} and it was rotated on Monday.
- "><img src=x onerror=planted()> is what the vendor's form printed on the label.
""",
}
SEARCHES = (
    ("how hot may the kiln get", "2026-03-03T10:00"),
    ("kiln shelves", "2026-03-04T10:00"),
    ("kiln limit decided", "2026-03-05T10:00"),
    ("booking page noon", "2026-03-05T11:00"),
    ("锅炉压力", "2026-03-06T10:00"),
    ("vendor label form", "2026-03-06T11:00"),
    ("template comment of the shop", "2026-03-07T11:00"),
    ("bell gate evening", "2026-03-07T12:00"),
)


def planted(root: Path) -> House:
    """Return a workspace of a week: one promotion, refusals, a night that failed, hostile text everywhere."""
    house = House(root, **{"memory.budget_chars": 20_000})
    house.write("MEMORY.md", f"# Us\n\n- {PLANTED}\n- {'long ' * 2000}\n")
    for day, text in DAYS.items():
        house.write(f"memory/{day}.md", text)
        searched(house, day)
        house.night(f"{day}T23:00")
    for day in ("2026-03-06", "2026-03-07", "2026-03-08"):
        searched(house, day)
        house.night(f"{day}T23:00")
    house.write("MEMORY.md", house.read("MEMORY.md") + f"\n- by hand, with {KEY} and </textarea>\n")
    return house


def searched(house: House, day: str) -> None:
    for query, at in SEARCHES:
        if at.startswith(day):
            house.search(query, at)


def facts_of(house: House, *, language: str | None = None, now: datetime | None = None) -> Facts:
    """Return what the page of a workspace shows."""
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return facts(home, now=now or moment(NOW), language=language, places="../..")
