"""What a newer statement does to an older one: measured on labelled pairs, and rule by rule."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.promotion.known import Kept
from dreaming.promotion.known import claims as lines_by_word
from memory.concepts import lexicon
from memory.corrections import Claim, Verdict, judged, may_correct

DATA = Path(__file__).parent / "data"
DAY = date(2026, 6, 1)
LEXICON = lexicon()
DAYS_LATER = {"": 7, "(same day) ": 0, "(earlier) ": -7}
_PAIR = re.compile(r"- (\((?:same day|earlier)\) )?(.+) => (.+)")
_CLAIM = re.compile(r"(?:\[(.+?)\] )?(.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    language: str
    want: Verdict
    old: Claim
    new: Claim

    @property
    def verdict(self) -> Verdict:
        return judged(self.new, self.old, LEXICON)


def claim(text: str, *, days: int = 0) -> Claim:
    match = _CLAIM.fullmatch(text)
    assert match
    return Claim(heading=match[1] or "", text=match[2], day=DAY + timedelta(days=days))


def labelled(name: str) -> Iterable[Labelled]:
    language = want = ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        pair = _PAIR.fullmatch(line)
        if line.startswith("## "):
            language, want = line.removeprefix("## ").split(": ")
        elif pair:
            new = claim(pair[3], days=DAYS_LATER[pair[1] or ""])
            yield Labelled(language=language, want=Verdict(want), old=claim(pair[2]), new=new)


def accuracy(rows: Iterable[Labelled]) -> tuple[float, float]:
    """Return precision and recall of what is replaced."""
    counts = Counter((row.want, row.verdict) for row in rows)
    right = counts[Verdict.REPLACES, Verdict.REPLACES]
    replaced = sum(count for (_, verdict), count in counts.items() if verdict is Verdict.REPLACES)
    return right / replaced, right / sum(count for (want, _), count in counts.items() if want is Verdict.REPLACES)


def test_nothing_is_replaced_wrongly_of_what_was_read_while_the_rules_were_written() -> None:
    precision, recall = accuracy(labelled("corrections.md"))
    assert precision == 1.0
    assert recall >= 0.9


def test_hardly_anything_is_replaced_wrongly_of_the_rest() -> None:
    precision, recall = accuracy(labelled("corrections.held_out.md"))
    assert precision >= 0.98
    assert recall >= 0.8


def test_what_replaces_something_is_looked_for_where_it_stands() -> None:
    rows = [row for name in ("corrections.md", "corrections.held_out.md") for row in labelled(name)]
    replacing = [row for row in rows if row.verdict is Verdict.REPLACES]
    assert replacing
    for row in replacing:
        line = Kept(promotion=1, text=row.old.text, claim=row.old, place=("memory/2026-06-01.md", 1))
        found = lines_by_word([line], LEXICON).near(row.new)
        assert may_correct(row.new.text), row.new.text
        assert [one.promotion for one in found] == [1], (row.old.text, row.new.text)


def test_a_change_that_no_cue_announces_is_unsure() -> None:
    rows = [*labelled("corrections.md"), *labelled("corrections.held_out.md")]
    assert all(row.verdict is Verdict.UNSURE for row in rows if row.want is Verdict.UNSURE)


def test_statements_of_different_pairs_do_not_touch_each_other() -> None:
    rows = [row for row in labelled("corrections.held_out.md") if row.want is Verdict.REPLACES]
    strangers = [(row, other) for row in rows for other in rows if row is not other and row.language == other.language]
    assert {judged(other.new, row.old, LEXICON) for row, other in strangers} == {Verdict.NO}


def test_half_of_the_labelled_pairs_are_traps() -> None:
    rows = [*labelled("corrections.md"), *labelled("corrections.held_out.md")]
    assert len(rows) >= 150
    assert 2 * sum(row.want is Verdict.NO for row in rows) >= len(rows)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("[Staging] Port is 8080", "[Staging] Port is now 8081", Verdict.REPLACES),
        ("[Decisions] Port is 8080", "[Notes] Port is now 8081", Verdict.REPLACES),
        ("[Staging] Port is 8080", "[Production] Port is now 8081", Verdict.UNSURE),
        ("[Staging] Port is 8080", "The staging port is now 8081", Verdict.NO),
        ("[Staging] Port is 8080", "Port is now 8081", Verdict.UNSURE),
        ("[2026-06-01] Port is 8080", "[Tuesday] Port is now 8081", Verdict.REPLACES),
    ],
)
def test_headings_that_name_different_things_leave_it_open(old: str, new: str, verdict: Verdict) -> None:
    assert judged(claim(new, days=1), claim(old), LEXICON) is verdict


@pytest.mark.parametrize(
    ("old", "new", "of"),
    [
        ("Standup is on Tuesday at 9:30 in room Elm.", "Correction: {} is on Thursday now.", ("standup", "retro")),
        ("周会定在每周二上午十点。", "更正：{}现在改到每周四上午十点。", ("周会", "月会")),
        ("Daily standup is on Tuesday at 9:30 in room 4", "Correction: {} is on Thursday", ("standup", "retro")),
        (
            "Das tägliche Standup ist am Dienstag um 9:30",
            "Korrektur: das {} ist am Donnerstag",
            ("Standup", "Quiz"),
        ),
        ("每日站会定在周二上午九点半，在4号会议室", "更正：{}改到周四", ("站会", "例会")),
        ("毎日の朝会は火曜日9時半に4号室", "訂正：{}は木曜日", ("朝会", "研修")),
    ],
)
def test_an_announced_correction_that_says_less_leaves_it_open(old: str, new: str, of: tuple[str, str]) -> None:
    same, other = (claim(new.format(subject), days=7) for subject in of)
    assert judged(same, claim(old), LEXICON) is Verdict.UNSURE
    assert judged(other, claim(old), LEXICON) is Verdict.NO


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The club meets Tuesday at 18:00 in the hall", "Correction: the board meets Thursday"),
        ("Daily standup is on Tuesday at 9:30", "Correction: daily backup is on Thursday"),
        ("每日站会在周二上午九点半", "更正：每日备份在周四"),
        ("会议在周二上午九点半", "更正：会员日在周四"),
    ],
)
def test_an_announced_correction_of_something_else_touches_nothing(old: str, new: str) -> None:
    assert judged(claim(new, days=7), claim(old), LEXICON) is Verdict.NO


def test_two_names_with_one_stem_are_two_people() -> None:
    assert judged(claim("Corrección: Julia prefiere café"), claim("Julio prefiere té"), LEXICON) is Verdict.NO


def test_an_older_statement_replaces_nothing() -> None:
    assert judged(claim("Correction: club meets Thursday", days=-1), claim("Club meets Tuesday"), LEXICON) is Verdict.NO


PIECES = (
    "Correction:",
    "no longer",
    "now",
    "instead of",
    "用",
    "不再",
    "现在",
    "もう",
    "ない",
    "früher",
    "antes",
    "8080",
    "Tuesday",
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=8).map(" ".join)
claims = st.builds(Claim, heading=st.text(max_size=12), text=texts, day=st.dates())


@given(claims)
def test_no_statement_replaces_itself(one: Claim) -> None:
    assert judged(one, one, LEXICON) is Verdict.NO


@given(claims, claims)
def test_no_text_raises(one: Claim, other: Claim) -> None:
    assert judged(one, other, LEXICON) in Verdict


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("暑假打算去青岛,7 月 15 日到 7 月 20 日。", "改主意了:暑假不去青岛了,去大连,因为奶奶的妹妹住在大连。"),
        ("We might go to Kyoto in August", "Change of plans: we don't go to Kyoto any more, we go to Osaka"),
        (
            "Die Heizung wird jedes Jahr im September von Firma Brandt gewartet.",
            "Korrektur: Die Heizung wird im August gewartet, Firma Brandt hat im September keine Termine.",
        ),
        (
            "Mia hat jeden Freitag um 16 Uhr Turnen in der Halle am Park.",
            "Berichtigung: Mia hat Turnen jeden Mittwoch um 16 Uhr, weil die Halle freitags belegt ist.",
        ),
        ("El club se reúne los martes en la biblioteca", "Cambio de planes: el club se reúne los jueves"),
        ("クラブは火曜日に図書館で集まる", "訂正：クラブは木曜日に集まる"),
    ],
)
def test_an_announced_correction_that_says_less_leaves_the_old_statement_in_doubt(old: str, new: str) -> None:
    assert judged(claim(new, days=7), claim(old), LEXICON) is Verdict.UNSURE
    assert judged(claim(new.partition(":")[2] or new, days=7), claim(old), LEXICON) is not Verdict.REPLACES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The API gateway runs on port 8080", "Update: the API gateway handled 5000 requests"),
        ("The backup server keeps 30 days of snapshots", "Update: the backup server was rebooted after 12 minutes"),
        ("Anna has piano lessons on Tuesdays", "Update: Anna got a new piano on Friday"),
        ("Release 2.4 of the app ships on March 14", "Update: the release notes of the app have 3 pages"),
    ],
)
def test_news_of_the_same_subject_correct_nothing(old: str, new: str) -> None:
    assert judged(claim(new, days=7), claim(old), LEXICON) is Verdict.NO
