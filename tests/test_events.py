"""What a statement names as the last day of its event: measured on labelled lines, and rule by rule."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.events import ended

DATA = Path(__file__).parent / "data"
SAID = date(2026, 6, 1)
LEAST_LINES = 20
"""Of each of the five languages of the labelled lines."""
_SAID = re.compile(r"\(said (\S+)\) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    language: str
    text: str
    said: date
    want: date | None


def labelled(name: str) -> Iterable[Labelled]:
    language = ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            language = line.removeprefix("## ")
        elif line.startswith("- "):
            text, _, want = line.removeprefix("- ").rpartition(" => ")
            said = _SAID.match(text)
            yield Labelled(
                language=language,
                text=_SAID.sub("", text),
                said=date.fromisoformat(said[1]) if said else SAID,
                want=None if want == "keep" else date.fromisoformat(want),
            )


def found(rows: Iterable[Labelled]) -> list[tuple[date | None, date | None]]:
    """Return what is wanted and what is found."""
    return [(row.want, ended(row.text, said=row.said)) for row in rows]


def accuracy(pairs: list[tuple[date | None, date | None]]) -> tuple[float, float]:
    """Return precision and recall of the days that are found."""
    right = sum(want == day for want, day in pairs if day)
    return right / sum(day is not None for _, day in pairs), right / sum(want is not None for want, _ in pairs)


def test_no_line_to_be_kept_ends_of_those_read_while_the_rules_were_written() -> None:
    precision, recall = accuracy(found(labelled("events.md")))
    assert precision == 1.0
    assert recall >= 0.95


def test_hardly_a_line_to_be_kept_ends_of_the_others() -> None:
    precision, recall = accuracy(found(labelled("events.held_out.md")))
    assert precision >= 0.98
    assert recall >= 0.85


def test_hardly_a_line_to_be_kept_ends_of_those_with_ranges_of_days() -> None:
    """At first sight: precision 0.98, recall 0.87; the lists before it, now in events.md: 0.94, 0.83 and 1.0, 0.69."""
    precision, recall = accuracy(found(labelled("events.ranges.held_out.md")))
    assert precision >= 0.97
    assert recall >= 0.85


def test_there_are_enough_labelled_lines_of_each_language() -> None:
    rows = [*labelled("events.md"), *labelled("events.held_out.md")]
    assert all(sum(row.language == one for row in rows) >= LEAST_LINES for one in ("en", "zh", "de", "ja", "es"))


def test_hardly_a_line_to_be_kept_ends_of_those_that_say_until_when() -> None:
    """At first sight: precision 0.97, recall 0.87; it was read since."""
    precision, recall = accuracy(found(labelled("events.until.held_out.md")))
    assert precision >= 0.97
    assert recall >= 0.85


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("Trip 6–13 June", date(2026, 6, 10), date(2026, 6, 13)),
        ("Skiing holiday 28 Dec – 3 Jan", date(2027, 1, 2), date(2027, 1, 3)),
        ("Conference 2031-05-01", SAID, date(2031, 5, 1)),
        ("Dentist on 12 June 2027", SAID, date(2027, 6, 12)),
        ("Party on 29 February", date(2028, 2, 1), date(2028, 2, 29)),
    ],
)
def test_the_last_day_is_the_nearest_of_its_name_unless_the_year_is_named(text: str, said: date, day: date) -> None:
    assert ended(text, said=said) == day


@pytest.mark.parametrize(
    ("stay", "for_good"),
    [
        ("Grandma stays with us from 5 to 7 June", "Grandma stays with us from 5 June"),
        ("The fair is from 5 to 7 June", "The fair is in June"),
        ("爸妈住在家里，6月5日至7日", "爸妈住在家里，6月5日搬来"),
        ("Vom 5. bis 7. Juni sind wir in Wien", "Seit 5. Juni sind wir in Wien"),
        ("両親が6月5日から7日まで家に泊まる", "両親が6月5日から家に泊まる"),
        ("Mis suegros se quedan en casa del 5 al 7 de junio", "Mis suegros se quedan en casa desde el 5 de junio"),
    ],
)
def test_a_stay_ends_where_its_first_and_its_last_day_are_named(stay: str, for_good: str) -> None:
    assert ended(stay, said=SAID) == date(2026, 6, 7)
    assert ended(for_good, said=SAID) is None


def test_a_stay_of_more_than_a_month_is_worth_keeping() -> None:
    assert ended("Leo is in Berlin from 5 June to 5 July", said=SAID) == date(2026, 7, 5)
    assert ended("Leo is in Berlin from 5 June to 8 July", said=SAID) is None


@pytest.mark.parametrize(
    "text",
    [
        "Receipts from 5 to 7 June are in the drawer",
        "Die Quittungen vom 5. bis 7. Juni sind in der Kiste",
        "Los recibos del 5 al 7 de junio están en la caja",
        "6月5日到7日的收据在抽屉里",
        "6月5日から7日までのレシートは箱にある",
    ],
)
def test_days_that_something_is_of_are_no_stay(text: str) -> None:
    assert ended(text, said=SAID) is None


def test_the_first_day_of_a_range_is_none_of_another_month() -> None:
    assert ended("The shop is closed from 1 July to 30 June", said=SAID) is None
    assert ended("The fair runs from 28 June to 3 July", said=SAID) == date(2026, 7, 3)


def test_a_day_with_an_hour_is_an_appointment_when_little_else_is_said_and_it_is_ahead() -> None:
    assert ended("Eye test on 18 June at 8:15", said=SAID) == date(2026, 6, 18)
    assert ended("Eye test on 18 June at 8:15", said=date(2026, 6, 18)) is None
    assert ended("Eye test by Doctor Weber in Graz on 18 June at 8:15", said=SAID) is None
    assert ended("Token of 2026-06-18T08:15:00+00:00", said=SAID) is None


SHORTLY_BEFORE = date(2026, 9, 18)


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("Code freeze until 2026-06-10.", SAID, date(2026, 6, 10)),
        ("Deploys are frozen until June 10.", SAID, date(2026, 6, 10)),
        ("The staging cluster is down until June 10.", SAID, date(2026, 6, 10)),
        ("Code freeze until 2026-06-19, then release.", SAID, date(2026, 6, 19)),
        ("Deploys are blocked till Friday", SAID, date(2026, 6, 5)),
        ("Steuererklärung bis 30.09.!!", SHORTLY_BEFORE, date(2026, 9, 30)),
        ("Der Sommertarif läuft bis 30.09.2026", SHORTLY_BEFORE, date(2026, 9, 30)),
        ("Baustelle in der Hauptstraße bis 12. Oktober", SHORTLY_BEFORE, date(2026, 10, 12)),
        ("车险 10 月 8 日到期", SHORTLY_BEFORE, date(2026, 10, 8)),
    ],
)
def test_what_holds_until_a_day_ends_with_it(text: str, said: date, day: date) -> None:
    assert ended(text, said=said) == day


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The lease runs until 28 February 2030", date(2024, 6, 1)),
        ("The garden loan runs until 28 February 2030", date(2024, 6, 1)),
        ("Der Vertrag (Kunde 12) läuft bis 31.12.2026 und verlängert sich um ein Jahr", SHORTLY_BEFORE),
        ("Passport is valid until 2031-05-02", SAID),
        ("Parking is free until 9 am", SAID),
        ("Shop is open until 20:00", SAID),
        ("From June 10 on deploys need two reviews", SAID),
        ("The old API stays supported until we drop v1", SAID),
        ("每年 10 月 8 日到期", SHORTLY_BEFORE),
        ("Rent is due on the 1st of each month", SAID),
        ("Until 2024-06-01 we used Jenkins; now GitHub Actions", SAID),
        ("Priya is on holiday until June 8. Priya prefers small pull requests.", SAID),
        ("Staging is down until June 8. Priya leads operations.", SAID),
        ("Merges are paused until June 10, then squash only", SAID),
        ("The vault is closed until 2026-06-20; the key hangs in room 4", SAID),
        ("The key of the closed wing is in the safe until 12 June", SAID),
    ],
)
def test_what_says_more_than_until_when_is_kept(text: str, said: date) -> None:
    assert ended(text, said=said) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("10 月 2 日到 6 日去成都，住锦江宾馆", date(2026, 10, 6)),
        ("2026-09-21 豆豆家长会", date(2026, 9, 21)),
        ("航班 CA1521，9月20日 08:30 起飞", date(2026, 9, 20)),
        ("报税; 截止: 9月30日", date(2026, 9, 30)),
    ],
)
def test_blanks_around_the_numbers_of_a_chinese_date_change_nothing(text: str, day: date) -> None:
    assert ended(text, said=SHORTLY_BEFORE) == day


def test_what_meets_often_and_changes_is_a_rule() -> None:
    assert ended("Team standup on 9 June at 10:00", said=SAID) == date(2026, 6, 9)
    assert ended("Team standup changes to 10:00 on 9 June", said=SAID) is None


def test_what_is_past_when_it_is_said_is_a_record() -> None:
    assert ended("Trip to Oslo 6–13 June", said=date(2026, 6, 20)) is None


def test_a_day_that_no_calendar_has_is_none() -> None:
    assert ended("Dentist tomorrow", said=date.max) is None
    assert ended("Dentist", said=date.min) is None
    assert ended("Dentist on 31 June", said=SAID) is None


PIECES = (
    "trip",
    "dentist",
    "6–13 June",
    "next Friday",
    "明天",
    "出差",
    "6月31日",
    "frıday",
    "31/12",
    "Zahnarzt",
    "mañana",
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=6).map(" ".join), st.dates())
def test_no_text_raises_and_a_day_without_a_year_is_near(text: str, said: date) -> None:
    day = ended(text, said=said)
    assert day is None or day >= said
    if day and not re.search(r"\d{4}", text):
        assert day - said <= timedelta(days=731)
