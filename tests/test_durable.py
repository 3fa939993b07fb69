from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workspace.durable import (
    Dropped,
    Evict,
    Line,
    Revision,
    archived,
    promoted,
    revised,
    said,
    unarchived,
    wording,
)
from workspace.lines import split_lines
from workspace.sections import POINTER

MONDAY = date(2026, 6, 15)
TUESDAY, WEDNESDAY, THURSDAY, FRIDAY = (MONDAY + timedelta(days=n) for n in (1, 2, 3, 4))
ROOMY = 10_000

SPEC_SECTION = """\
## Promoted From Short-Term Memory (2026-06-15)

<!-- openclaw-memory-promotion:1f score=0.870 recalls=5 source=memory/2026-06-15.md:5-8 -->
- 测试必须使用真实数据库，不接受 mock。
"""


def line(key: str, text: str = "", *, statements: str = "", source: str = "memory/2026-06-15.md:5-8") -> Line:
    return Line(key=key, text=text or f"fact {key}", score=0.87, recalls=5, source=source, statements=statements)


def marker(key: str) -> str:
    return f"<!-- openclaw-memory-promotion:{key} score=0.870 recalls=5 source=memory/2026-06-15.md:5-8 -->"


def heading(day: date) -> str:
    return f"## Promoted From Short-Term Memory ({day})"


def section(day: date, *keys: str) -> str:
    pairs = "".join(f"{marker(key)}\n- fact {key}\n" for key in keys)
    return f"{heading(day)}\n\n{pairs}"


def add(text: str, day: date, *lines: Line, budget: int = ROOMY, evict: Evict = "oldest") -> Revision:
    return revised(text, day, lines, budget=budget, evict=evict)


def keys(text: str) -> list[str]:
    return [written.key for written in promoted(text)]


def dropped(revision: Revision) -> list[tuple[date, list[str]]]:
    return [(each.day, [written.key for written in each.lines]) for each in revision.dropped]


# What is written


def test_a_new_file_begins_with_its_title() -> None:
    text = add("", MONDAY, line("1f", "测试必须使用真实数据库，不接受 mock。")).text
    assert text == f"# Long-Term Memory\n\n{SPEC_SECTION}"


@pytest.mark.parametrize("blank", ["\ufeff", "\n\n", "  \r\n"])
def test_a_blank_file_is_a_new_one(blank: str) -> None:
    assert add(blank, MONDAY, line("a")).text.startswith(f"{blank}# Long-Term Memory")


@pytest.mark.parametrize(
    ("mine", "gap"), [("- a", "\n\n"), ("- a\n", "\n"), ("- a\n\n", ""), ("- a\n  ", "\n"), ("\ufeff# Me\n", "\n")]
)
def test_a_section_follows_the_users_text_after_a_blank_line(mine: str, gap: str) -> None:
    assert add(mine, MONDAY, line("a")).text == f"{mine}{gap}{section(MONDAY, 'a')}"


def test_our_lines_end_as_the_users_do() -> None:
    text = add("- a\r\n- b", MONDAY, line("a")).text
    assert text == "- a\r\n- b\r\n\r\n" + section(MONDAY, "a").replace("\n", "\r\n")


def test_a_second_run_of_the_day_adds_to_its_heading() -> None:
    once = add("", MONDAY, line("a")).text
    assert add(once, MONDAY, line("b")).text == f"# Long-Term Memory\n\n{section(MONDAY, 'a', 'b')}"


def test_another_day_gets_another_heading() -> None:
    once = add("mine\n", MONDAY, line("a")).text
    assert add(once, TUESDAY, line("b")).text == f"mine\n\n{section(MONDAY, 'a')}\n{section(TUESDAY, 'b')}"


def test_a_second_run_writes_before_what_the_user_put_below() -> None:
    text = f"{section(MONDAY, 'a')}\nmy note\n\n# Mine\n"
    assert add(text, MONDAY, line("b")).text == f"{section(MONDAY, 'a', 'b')}\nmy note\n\n# Mine\n"


def test_a_second_run_leaves_the_users_remark_with_its_line() -> None:
    text = f"{section(MONDAY, 'a')}  - my remark\n\nmine\n"
    assert (
        add(text, MONDAY, line("b")).text == f"{section(MONDAY, 'a')}  - my remark\n{marker('b')}\n- fact b\n\nmine\n"
    )


def test_a_second_run_does_not_write_into_the_users_fence() -> None:
    text = f"{section(MONDAY, 'a')}```\ncode\n\ncode\n```\n"
    assert add(text, MONDAY, line("b")).text == f"{text}{marker('b')}\n- fact b\n"


def test_a_second_run_ends_the_last_line_first() -> None:
    assert add(section(MONDAY, "a").rstrip("\n"), MONDAY, line("b")).text == section(MONDAY, "a", "b")


def test_of_two_headings_of_the_day_the_last_is_added_to() -> None:
    text = f"{section(MONDAY, 'a')}\n{section(MONDAY, 'b')}"
    assert add(text, MONDAY, line("c")).text == f"{section(MONDAY, 'a')}\n{section(MONDAY, 'b', 'c')}"


def test_a_heading_the_user_emptied_is_used_again() -> None:
    text = f"{heading(MONDAY)}\n\nmy words\n\n# Mine\n"
    assert add(text, MONDAY, line("a")).text == f"{heading(MONDAY)}\n\nmy words\n\n{marker('a')}\n- fact a\n\n# Mine\n"


def test_a_second_run_keeps_apart_from_what_stands_right_below() -> None:
    text = f"{heading(MONDAY)}\n\n# Mine\n"
    assert add(text.replace("\n\n", "\n"), MONDAY, line("a")).text == f"{section(MONDAY, 'a')}\n# Mine\n"


def test_a_line_that_stands_is_not_written_again() -> None:
    once = add("", MONDAY, line("a")).text
    again = add(once, TUESDAY, line("a", "other words"))
    assert (again.text, [written.key for written in again.written], again.deferred) == (once, ["a"], ())


def test_other_statements_of_a_chunk_are_another_line() -> None:
    text = add("", MONDAY, line("a", statements="2")).text
    assert [(w.key, w.statements) for w in promoted(add(text, MONDAY, line("a")).text)] == [("a", "2"), ("a", "")]


def test_one_line_asked_for_twice_is_written_once() -> None:
    assert keys(add("", MONDAY, line("a"), line("a")).text) == ["a"]


def test_a_line_whose_words_the_user_deleted_is_not_written_again() -> None:
    text = f"{heading(MONDAY)}\n\n{marker('a')}\n"
    assert add(text, TUESDAY, line("a")).text == text


def test_nothing_to_write_changes_nothing() -> None:
    assert add("mine", MONDAY) == Revision(text="mine", written=(), deferred=(), dropped=())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- Rent due on the 3rd", "Rent due on the 3rd"),
        ("* - + thrice", "thrice"),
        ("two\nlines", "two lines"),
        ("# no heading", "\\# no heading"),
        ("a <!-- openclaw-memory-promotion:x --> b", "a <! -- openclaw-memory-promotion:x -- > b"),
        ("1. first", "1\\. first"),
        ("-5 degrees", "-5 degrees"),
        (" \n", "…"),
    ],
)
def test_a_line_is_one_bullet_of_plain_words(text: str, words: str) -> None:
    assert wording(text) == words
    assert [written.text for written in promoted(add("", MONDAY, line("a", text)).text)] == [words]


def test_a_path_cannot_end_the_marker() -> None:
    text = add("", MONDAY, line("a", source="memory/2026-06-15-->\n- x.md:1-2", statements="1,3")).text
    assert [(w.key, w.statements, w.text) for w in promoted(text)] == [("a", "1,3", "fact a")]


# What is recognised


def test_a_written_line_knows_its_day_and_place() -> None:
    (written,) = promoted(f"mine\n\n{SPEC_SECTION}")
    assert (written.key, written.day, written.line) == ("1f", MONDAY, 6)
    assert written.text == "测试必须使用真实数据库，不接受 mock。"
    assert written.raw == "\n".join(SPEC_SECTION.split("\n")[2:4])


def test_lines_of_the_reference_program_are_recognised() -> None:
    text = (
        f"{heading(MONDAY)}\n\n<!-- openclaw-memory-promotion:memory:memory/my notes/2026-06-15.md:2:2 -->\n"
        "- Boiler serviced. [score=0.940 recalls=5 avg=0.670 source=memory/2026-06-15.md:2-2]\n"
    )
    assert [(w.key, w.text) for w in promoted(text)] == [
        ("memory:memory/my notes/2026-06-15.md:2:2", "Boiler serviced.")
    ]


def test_a_formatter_may_set_bullets_apart_and_wrap_them() -> None:
    text = f"{heading(MONDAY)}\n\n{marker('a')}\n\n* fact a\n  goes on\n\n{marker('b')}\n\n* fact b\n"
    assert [(w.key, w.text) for w in promoted(text)] == [("a", "fact a goes on"), ("b", "fact b")]


def test_a_marker_in_a_closed_fence_is_an_example() -> None:
    assert promoted(f"```md\n{SPEC_SECTION}```\n") == ()


def test_a_heading_in_a_closed_fence_dates_nothing() -> None:
    assert [w.day for w in promoted(f"```\n{heading(MONDAY)}\n```\n{marker('a')}\n- fact a\n")] == [None]


def test_a_byte_order_mark_hides_no_fence() -> None:
    assert promoted(f"\ufeff```md\n{SPEC_SECTION}```\n") == ()


def test_a_fence_in_a_list_hides_nothing_behind_it() -> None:
    assert keys(f"- ```\n  code\n  ```\n{section(MONDAY, 'a')}\n```py\nx\n```\n") == ["a"]


def test_a_fence_nobody_closed_hides_nothing() -> None:
    assert keys(f"```\ncode\n\n{section(MONDAY, 'a')}") == ["a"]


def test_a_marker_within_a_line_is_text() -> None:
    assert promoted(f"see {marker('a')}\n- x\n") == ()


@pytest.mark.parametrize("mine", ["# Mine", "   ### Mine ###", "Mine\n===", "Mine\n---"])
def test_a_heading_of_the_user_ends_a_section(mine: str) -> None:
    text = f"{section(MONDAY, 'a')}\n{mine}\n\n{marker('b')}\n- fact b\n"
    assert [(w.key, w.day) for w in promoted(text)] == [("a", MONDAY), ("b", None)]


def unpointed(text: str) -> str:
    """Return a text without the line that says where the dropped lines are."""
    return text.replace(f"{POINTER}\n\n", "")


@pytest.mark.parametrize("day", ["2026-02-30", "2026-6-15", "yesterday"])
def test_a_heading_without_a_day_is_the_users(day: str) -> None:
    text = f"## Promoted From Short-Term Memory ({day})\n\n{marker('a')}\n- fact a\n"
    assert [w.day for w in promoted(text)] == [None]


# What has to go


def test_whole_days_go_from_the_oldest_on() -> None:
    text = "".join((section(TUESDAY, "b"), "\n", section(MONDAY, "a", "aa"), "\n", section(WEDNESDAY, "c")))
    made = add(text, THURSDAY, line("d"), budget=len(text))
    assert dropped(made) == [(MONDAY, ["a", "aa"])]
    assert unpointed(made.text) == f"{section(TUESDAY, 'b')}\n{section(WEDNESDAY, 'c')}\n{section(THURSDAY, 'd')}"


def test_one_line_above_the_promotions_says_where_dropped_ones_are() -> None:
    text = f"# Mine\n\n{section(MONDAY, 'a')}\n{section(TUESDAY, 'b')}"
    once = add(text, WEDNESDAY, line("c"), budget=len(text) + 100).text
    assert once == f"# Mine\n\n{POINTER}\n\n{section(TUESDAY, 'b')}\n{section(WEDNESDAY, 'c')}"
    twice = add(once, THURSDAY, line("d"), budget=len(once) + 20).text
    assert twice == f"# Mine\n\n{POINTER}\n\n{section(WEDNESDAY, 'c')}\n{section(THURSDAY, 'd')}"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_about_the_archive_does_not_go_on_with_a_line_of_the_users(end: str) -> None:
    text = f"# Mine\n\n* my item\n{section(MONDAY, 'a')}\n{section(TUESDAY, 'b')}".replace("\n", end)
    made = add(text, WEDNESDAY, line("c"), budget=len(text) + 100).text
    assert f"* my item{end}{end}{POINTER}{end}{end}## Promoted" in made
    assert "my item" in said(made)
    assert "my item" in said(made.replace(f"{end}{end}{POINTER}", f"{end}{POINTER}"))


def test_the_line_about_the_archive_never_costs_a_memory() -> None:
    text = f"{section(MONDAY, 'a')}\n{section(TUESDAY, 'b')}"
    made = add(text, WEDNESDAY, line("c"), budget=len(text))
    assert (keys(made.text), POINTER in made.text) == (["b", "c"], False)


def test_a_corrected_line_makes_place_for_its_correction() -> None:
    text = f"# Mine\n\n{section(MONDAY, 'a', 'b')}"
    made = revised(text, TUESDAY, [line("c")], budget=10_000, replaced={("a", "")})
    assert made.text == f"# Mine\n\n{section(MONDAY, 'b')}\n{section(TUESDAY, 'c')}"
    assert [(each.day, [w.key for w in each.lines]) for each in made.replaced] == [(MONDAY, ["a"])]
    assert not made.dropped


def test_what_comes_back_stands_among_its_days() -> None:
    text = f"{section(MONDAY, 'a')}\n{section(WEDNESDAY, 'c')}"
    assert (
        add(text, TUESDAY, line("b")).text
        == f"{section(MONDAY, 'a')}\n{section(TUESDAY, 'b')}\n{section(WEDNESDAY, 'c')}"
    )


def test_what_leaves_the_archive_takes_its_note_along() -> None:
    page = archived("", [Dropped(day=MONDAY, lines=promoted(section(MONDAY, "a", "b")))], on=FRIDAY, reason="room")
    assert [w.key for w in promoted(unarchived(page, {("a", "")}))] == ["b"]
    assert unarchived(page, {("a", ""), ("b", "")}) == "# Archived Long-Term Memory\n"


def test_no_more_goes_than_makes_room() -> None:
    text = "\n".join(section(MONDAY + timedelta(days=n), f"k{n}") for n in range(6))
    made = add(text, date(2026, 7, 1), line("n1"), line("n2"), budget=len(text) + 50)
    assert keys(made.text) == ["k2", "k3", "k4", "k5", "n1", "n2"]


def test_a_line_without_room_is_deferred_and_nothing_goes_for_it() -> None:
    text = f"{'mine ' * 20}\n\n{section(MONDAY, 'a')}"
    made = add(text, TUESDAY, line("b", "long " * 100), budget=len(text) + 20)
    assert (made.text, made.written, [d.key for d in made.deferred], made.dropped) == (text, (), ["b"], ())


def test_a_short_line_may_fit_where_a_long_one_did_not() -> None:
    made = add("mine\n", MONDAY, line("long", "word " * 100), line("short"), budget=300)
    assert ([w.key for w in made.written], [d.key for d in made.deferred]) == (["short"], ["long"])


def test_today_is_never_dropped_for_today() -> None:
    text = section(MONDAY, "a")
    made = add(text, MONDAY, line("b"), budget=len(text) + 20)
    assert (made.text, [d.key for d in made.deferred]) == (text, ["b"])


def test_a_line_asked_for_again_is_not_dropped_for_the_next() -> None:
    text = section(MONDAY, "a")
    made = add(text, TUESDAY, line("a"), line("b"), budget=len(text) + 20)
    assert (keys(made.text), [d.key for d in made.deferred]) == (["a"], ["b"])


def test_a_reworded_line_is_never_dropped() -> None:
    text = section(MONDAY, "a", "b")
    made = revised(text, TUESDAY, [line("c")], budget=len(text) + 50, edited=frozenset({("a", "")}))
    assert keys(made.text) == ["a", "c"]
    assert made.text.startswith(section(MONDAY, "a"))


def test_a_line_the_user_remarked_on_is_never_dropped() -> None:
    text = f"{section(MONDAY, 'a')}  - because of the flood\n\n{section(TUESDAY, 'b')}"
    assert keys(add(text, WEDNESDAY, line("c"), budget=len(text)).text) == ["a", "c"]


def test_a_line_the_user_moved_under_a_heading_of_theirs_is_never_dropped() -> None:
    text = f"# Keep\n\n{marker('a')}\n- fact a\n"
    assert add(text, MONDAY, line("b"), budget=len(text)).text == text


def test_a_file_that_outgrew_its_budget_is_brought_back_without_news() -> None:
    text = f"mine\n\n{section(MONDAY, 'a')}\n{section(TUESDAY, 'b')}"
    made = add(text, WEDNESDAY, budget=len(text) - 10)
    assert (unpointed(made.text), dropped(made)) == (f"mine\n\n{section(TUESDAY, 'b')}", [(MONDAY, ["a"])])


def test_nothing_goes_when_the_users_own_text_is_over_the_budget() -> None:
    text = f"{'mine ' * 100}\n\n{section(MONDAY, 'a')}"
    made = add(text, TUESDAY, line("b"), budget=300)
    assert (made.text, made.dropped, [d.key for d in made.deferred]) == (text, (), ["b"])


def test_the_least_used_goes_first_when_asked_to() -> None:
    text = f"{section(MONDAY, 'old', 'older')}\n{section(TUESDAY, 'new')}"
    worth = {("old", ""): 9.0, ("older", ""): 3.0, ("new", ""): 1.0}
    made = revised(text, WEDNESDAY, [line("x")], budget=len(text) + 20, evict="least-used", worth=worth)
    assert keys(made.text) == ["old", "older", "x"]
    assert dropped(made) == [(TUESDAY, ["new"])]


def test_a_line_from_the_middle_leaves_no_gap() -> None:
    text = section(MONDAY, "a", "b", "c")
    made = revised(text, TUESDAY, [], budget=len(text) - 1, evict="least-used", worth={("a", ""): 1.0, ("c", ""): 1.0})
    assert unpointed(made.text) == section(MONDAY, "a", "c")


def test_of_equally_used_lines_the_oldest_goes_first() -> None:
    text = f"{section(TUESDAY, 'b')}\n{section(MONDAY, 'a', 'aa')}"
    made = add(text, WEDNESDAY, line("x"), budget=len(text) + 90, evict="least-used")
    assert dropped(made) == [(MONDAY, ["a"])]
    assert made.text == f"{section(TUESDAY, 'b')}\n{section(MONDAY, 'aa')}\n{section(WEDNESDAY, 'x')}"


@pytest.mark.parametrize(
    "mine",
    [
        "# Mine\n- alarm code hint\n",
        "   ## Mine\n- hint\n",
        "My notes\n---\n- alarm code hint\n",
        "plain words\n",
        "- my bullet\n",
        "> said\n",
        "```\ncode\n```\n",
    ],
)
@pytest.mark.parametrize("gap", ["", "\n"])
def test_what_the_user_wrote_under_a_section_survives_it(mine: str, gap: str) -> None:
    text = f"{section(MONDAY, 'a')}{gap}{mine}"
    made = add(text, TUESDAY, line("b"), budget=len(text) + 60)
    assert dropped(made) == [(MONDAY, ["a"])]
    assert mine in made.text


def test_a_heading_goes_only_when_nothing_of_the_users_is_left_under_it() -> None:
    text = f"{section(MONDAY, 'a')}my own words\n\n{section(TUESDAY, 'b')}"
    made = add(text, WEDNESDAY, line("c"), budget=1)
    assert made.text == text
    made = add(text, WEDNESDAY, line("c"), budget=len(text) - 90)
    assert made.text == f"{heading(MONDAY)}\n\nmy own words\n\n{section(WEDNESDAY, 'c')}"


def test_the_users_words_under_a_heading_like_ours_stay() -> None:
    text = f"{heading(MONDAY)}\n- my own words\n\n{section(TUESDAY, 'a')}"
    made = add(text, WEDNESDAY, line("b"), budget=len(text))
    assert made.text == f"{heading(MONDAY)}\n- my own words\n\n{section(WEDNESDAY, 'b')}"


def test_two_texts_of_the_user_do_not_run_into_one() -> None:
    text = f"{heading(MONDAY)}\nfirst\n{marker('a')}\n- fact a\n{marker('b')}\n- fact b\nsecond\n"
    assert unpointed(add(text, TUESDAY, budget=len(text) - 1).text) == f"{heading(MONDAY)}\nfirst\n\nsecond\n"


def test_a_byte_order_mark_outlives_the_first_section() -> None:
    text = f"\ufeff{section(MONDAY, 'a')}\n# Mine\n"
    assert unpointed(add(text, TUESDAY, budget=len(text) - 1).text) == "\ufeff\n# Mine\n"


def test_years_of_nights_leave_no_blank_lines_behind() -> None:
    text = "mine\n"
    for night in range(40):
        text = add(text, MONDAY + timedelta(days=night), line(f"k{night}"), budget=700).text
    assert "\n\n\n" not in text
    assert 500 < len(text) <= 700


def test_the_budget_counts_characters_not_bytes() -> None:
    text = add("", MONDAY, line("a", "记" * 100)).text
    assert add("", MONDAY, line("a", "记" * 100), budget=len(text)).text == text


# The archive


def test_dropped_lines_are_archived_as_they_stood() -> None:
    text = section(MONDAY, "a", "b")
    made = add(text, TUESDAY, line("c"), budget=len(text))
    assert archived("", made.dropped, on=TUESDAY, reason="10,000 characters were full") == (
        f"# Archived Long-Term Memory\n\n{heading(MONDAY)}\n\n"
        "*Moved here on 2026-06-16: 10,000 characters were full*\n\n"
        f"{marker('a')}\n- fact a\n{marker('b')}\n- fact b\n"
    )


def test_an_archive_grows_and_never_repeats() -> None:
    first = Dropped(day=MONDAY, lines=promoted(section(MONDAY, "a")))
    second = Dropped(day=TUESDAY, lines=promoted(section(TUESDAY, "b")))
    text = archived("", [first], on=WEDNESDAY, reason="full")
    both = archived(text, [first, second], on=THURSDAY, reason="full")
    assert both.startswith(text)
    assert keys(both) == ["a", "b"]


# What the file says


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **Boat** is called *Kestrel*\n", ("Boat is called Kestrel",)),
        ("\ufeff# Heading\n\nUnderlined\n===\n", ()),
        ("<!-- a comment -->\n- x <!-- y -->\n", ("x",)),
        ("1. [ ] [call](https://a.example) `Ana`\n", ("call Ana",)),
        ("> quoted\n", ("quoted",)),
        ("a line\nand another\n", ("a line", "and another", "a line and another")),
        ("测试必须\n使用真实数据库\n", ("测试必须", "使用真实数据库", "测试必须使用真实数据库")),
        ("| Host | Port |\n| --- | --- |\n| web-2 | 8080 |\n", ("Host: web-2; Port: 8080",)),
        ("| a |\n|---|\n| 1 |\n\ntext\n\n| b |\n|---|\n| 2 |\n", ("a: 1", "text", "b: 2")),
        ("```sh\nmake deploy\n```\n", ("make deploy",)),
        ("---\n\n***\n\n- !\n", ()),
        ("- x [score=0.940 recalls=5 avg=0.670 source=memory/2026-06-15.md:2-2]\n", ("x",)),
        ("\\# not a heading\n", ("# not a heading",)),
        (SPEC_SECTION, ("测试必须使用真实数据库，不接受 mock。",)),
    ],
)
def test_said_is_what_the_file_says(text: str, expected: tuple[str, ...]) -> None:
    assert said(text) == expected


# Whatever the user wrote, in whatever order things happen

PIECES = [
    "my words",
    "- my point",
    "  - a detail",
    "# Mine",
    "Mine\n---",
    "```",
    "~~~",
    f"```\n{SPEC_SECTION}```",
    heading(MONDAY),
    heading(TUESDAY),
    "<div>",
    "<!-- mine -->",
    "",
    "",
    "trailing  ",
]
USER_TEXT = st.builds(
    lambda pieces, end, mark, last: mark + "\n".join(pieces).replace("\n", end) + last,
    st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["", "\n", "\r\n"]),
)
LINES = st.lists(
    st.builds(line, st.sampled_from("abcdefgh"), st.text(max_size=60), statements=st.sampled_from(["", "2"])),
    max_size=4,
)
NIGHTS = st.lists(st.tuples(st.integers(0, 3), LINES), max_size=6).map(
    lambda nights: list(zip(accumulate(step for step, _ in nights), [lines for _, lines in nights], strict=True))
)
RULES = st.sampled_from(["oldest", "least-used"])


def is_within(part: str, whole: str) -> bool:
    """Tell whether the lines of one text that say anything, and not what we say, stand in another, in order."""
    rest = iter([one.rstrip("\r\n") for one in split_lines(whole.removeprefix("\ufeff"))])
    wanted = [one.rstrip("\r\n") for one in split_lines(part.removeprefix("\ufeff"))]
    return all(one in rest for one in wanted if one.strip() and not one.startswith("## Promoted From"))


@given(mine=USER_TEXT, nights=NIGHTS, budget=st.integers(0, 900), evict=RULES)
def test_the_users_text_survives_any_nights_within_the_budget(
    mine: str, nights: Sequence[tuple[int, list[Line]]], budget: int, evict: Evict
) -> None:
    assume(not promoted(mine))
    text = mine
    for step, lines in nights:
        text = add(text, MONDAY + timedelta(days=step), *lines, budget=budget, evict=evict).text
        assert is_within(mine, text)
        assert len(text) <= max(budget, len(mine))


@given(mine=USER_TEXT, nights=NIGHTS, budget=st.integers(0, 900), evict=RULES)
def test_the_same_night_again_changes_nothing(
    mine: str, nights: Sequence[tuple[int, list[Line]]], budget: int, evict: Evict
) -> None:
    text = mine
    for step, lines in nights:
        day = MONDAY + timedelta(days=step)
        made = add(text, day, *lines, budget=budget, evict=evict)
        assert add(made.text, day, *lines, budget=budget, evict=evict) == Revision(
            text=made.text, written=made.written, deferred=made.deferred, dropped=()
        )
        text = made.text


@given(mine=USER_TEXT, nights=NIGHTS, budget=st.integers(0, 900), evict=RULES)
def test_every_line_stands_in_the_file_or_in_the_archive(
    mine: str, nights: Sequence[tuple[int, list[Line]]], budget: int, evict: Evict
) -> None:
    text, archive, written = mine, "", set()
    for step, lines in nights:
        day = MONDAY + timedelta(days=step)
        before = {own.raw for own in promoted(text)}
        made = add(text, day, *lines, budget=budget, evict=evict)
        archive = archived(archive, made.dropped, on=day, reason="full")
        text = made.text
        written |= before
        assert written <= {own.raw for own in (*promoted(text), *promoted(archive))}
        assert {w.key for w in made.written} <= set(keys(text))
        assert len(made.written) + len(made.deferred) == len(lines)


@given(data=st.data(), budget=st.integers(200, 900), evict=RULES)
def test_what_the_user_writes_between_the_nights_survives(data: st.DataObject, budget: int, evict: Evict) -> None:
    text = ""
    mine: list[str] = []
    for night in range(5):
        text = add(
            text, MONDAY + timedelta(days=night), line(f"k{night}"), line(f"m{night}"), budget=budget, evict=evict
        ).text
        here = split_lines(text)
        places = [at for at in range(len(here) + 1) if at == 0 or not here[at - 1].startswith("<!--")]
        at = data.draw(st.sampled_from(places))
        shape = data.draw(st.sampled_from(["{}", "- {}", "  - {}", "# {}", "{}\n---", "\n{}\n", "```\n{}\n```"]))
        here.insert(at, shape.format(f"mine-{night}") + "\n")
        text = "".join(here)
        mine = sorted([*mine, f"mine-{night}"], key=text.index)
    made = add(text, MONDAY + timedelta(days=5), line("last"), budget=budget, evict=evict)
    assert [word for word in sorted(mine, key=made.text.index) if word in made.text] == mine
