import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from workspace.dreams import (
    Entry,
    archive,
    entries,
    harmless,
    with_entry,
    with_other_prose,
    with_section,
    without_oldest,
)
from workspace.errors import DamagedBlockError
from workspace.lines import split_lines

STAMP = "June 15, 2026, 3:01 AM PDT"
LATER = "June 16, 2026, 3:01 AM PDT"
BODY = "- Candidate: the garage panel takes a CR2450 cell\n  - confidence: 0.64"

FIRST_NIGHT = """\
# Dream Diary

<!-- openclaw:dreaming:diary:start -->

---

*June 15, 2026, 3:01 AM PDT*

Some lessons are bought with outages.

<!-- openclaw:dreaming:diary:end -->
"""
LIGHT = """\
## Light Sleep
<!-- openclaw:dreaming:light:start -->
- Candidate: the garage panel takes a CR2450 cell
  - confidence: 0.64
<!-- openclaw:dreaming:light:end -->
"""

USER_LINES = st.lists(
    st.sampled_from(
        ["my own words", "# mine", "- a point", "mine\n---", "---", "*a stamp*", "```", "", "<div>", "# Dream Diary"]
    )
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12)
).map("\n".join)
ANY_TEXT = (
    USER_LINES
    | USER_LINES.map(lambda text: text.replace("\n", "\r\n"))
    | USER_LINES.map(lambda text: f"\ufeff{text}\n")
)


def night(text: str, stamp: str = STAMP, prose: str = "Some lessons are bought with outages.") -> str:
    return with_entry(text, stamp, prose)


def is_within(part: str, whole: str) -> bool:
    """Tell whether the lines of one text stand in another, in order."""
    rest = iter([line.rstrip("\r\n") for line in split_lines(whole.removeprefix("\ufeff"))])
    return all(line.rstrip("\r\n") in rest for line in split_lines(part.removeprefix("\ufeff")))


def test_the_first_entry_makes_the_diary() -> None:
    assert night("") == FIRST_NIGHT


def test_a_section_is_appended_with_its_heading() -> None:
    assert with_section(FIRST_NIGHT, "light", BODY) == f"{FIRST_NIGHT}\n{LIGHT}"


@pytest.mark.parametrize(("name", "heading"), [("light", "Light Sleep"), ("rem", "REM Sleep"), ("deep", "Deep Sleep")])
def test_every_phase_has_its_heading(name: str, heading: str) -> None:
    assert with_section("", name, "- x").startswith(f"## {heading}\n<!-- openclaw:dreaming:{name}:start -->\n- x\n")


def test_a_section_shows_the_newest_night_only() -> None:
    text = f"# Mine\n\n{LIGHT}\nafter\n"
    assert with_section(text, "light", "- Candidate: new") == text.replace(BODY, "- Candidate: new")


def test_a_heading_the_user_translated_stays() -> None:
    text = LIGHT.replace("## Light Sleep", "## 浅睡")
    assert with_section(text, "light", BODY) == text


def test_an_empty_section_keeps_its_markers() -> None:
    assert with_section(with_section(LIGHT, "light", ""), "light", BODY) == LIGHT


def test_copies_of_a_block_are_removed_and_the_text_between_stays() -> None:
    text = f"{LIGHT}\nbetween\n\n{LIGHT}\nafter\n"
    assert with_section(text, "light", "- new") == f"{LIGHT}\nbetween\n\n\nafter\n".replace(BODY, "- new")


@pytest.mark.parametrize("edge", ["start", "end"])
def test_a_block_that_lost_a_marker_is_left_alone(edge: str) -> None:
    text = LIGHT.replace(f"<!-- openclaw:dreaming:light:{edge} -->\n", "")
    with pytest.raises(DamagedBlockError, match="light"):
        with_section(text, "light", BODY)


def test_a_block_that_swallowed_another_is_left_alone() -> None:
    text = LIGHT.replace(BODY, "<!-- openclaw:dreaming:rem:start -->\n- x\n<!-- openclaw:dreaming:rem:end -->")
    with pytest.raises(DamagedBlockError):
        with_section(text, "light", BODY)
    assert "- new" in with_section(text, "rem", "- new")


def test_a_damaged_block_does_not_stop_the_others() -> None:
    text = "<!-- openclaw:dreaming:light:start -->\n"
    assert with_section(text, "rem", "- x").startswith(text)


def test_an_example_in_a_fence_is_the_users() -> None:
    text = f"how it looks:\n\n```md\n{LIGHT}```\n"
    assert with_section(text, "light", BODY) == f"{text}\n{LIGHT}"


def test_a_fence_nobody_closed_does_not_hide_the_block() -> None:
    text = with_section("```\nforgotten\n", "light", BODY)
    assert with_section(text, "light", BODY) == text


@pytest.mark.parametrize(
    "line", ["<!-- openclaw:dreaming:light:end -->", "```", "~~~~", "<!-- OPENCLAW:dreaming:rem:START -->"]
)
def test_a_body_cannot_end_or_hide_its_block(line: str) -> None:
    text = with_section("", "light", f"{line}\n- x") + "\n```\nmine\n```\n"
    assert with_section(text, "light", BODY) == f"{LIGHT}\n```\nmine\n```\n"


def test_the_candidates_id_in_a_comment_stays() -> None:
    assert "- x <!-- id:1f -->\n" in with_section("", "light", "- x <!-- id:1f -->")


def test_our_lines_end_as_the_users_do() -> None:
    text = with_section(night("mine\r\nand mine\r\n"), "light", BODY)
    assert text.count("\r\n") == text.count("\n")
    assert [entry.prose for entry in entries(text)] == ["Some lessons are bought with outages."]


def test_entries_stand_oldest_first() -> None:
    text = night(night(FIRST_NIGHT, LATER, "Second."), "June 17", "Third.")
    assert [entry.prose[:6] for entry in entries(text)] == ["Some l", "Second", "Third."]


def test_the_same_entry_is_written_once() -> None:
    assert night(FIRST_NIGHT) == FIRST_NIGHT


def test_a_rule_never_underlines_the_users_last_line() -> None:
    text = FIRST_NIGHT.replace("\n\n<!-- openclaw:dreaming:diary:end", "\nmy note\n<!-- openclaw:dreaming:diary:end")
    assert "my note\n\n---\n" in night(text, LATER)


def test_text_without_a_diary_stays_below_the_new_one() -> None:
    assert night("my own words") == f"{FIRST_NIGHT}\nmy own words"


def test_a_byte_order_mark_stays_first() -> None:
    assert night("\ufeffmine\n") == f"\ufeff{FIRST_NIGHT}\nmine\n"


def test_front_matter_stays_first() -> None:
    front = "---\ntags: [dreams]\n---\n"
    assert night(f"{front}mine\n") == f"{front}\n{FIRST_NIGHT}\nmine\n"


def test_a_fence_between_rules_is_no_front_matter() -> None:
    text = "---\n```\nmine\n---\n```\n"
    assert night(text) == f"{FIRST_NIGHT}\n{text}"


def test_a_title_whose_block_was_deleted_is_not_doubled() -> None:
    assert night("# Dream Diary\n\nmine\n") == f"{FIRST_NIGHT}\nmine\n"


def test_a_title_in_a_fence_is_no_title() -> None:
    text = "```\n# Dream Diary\n```\n"
    assert night(text) == f"{FIRST_NIGHT}\n{text}"


def test_a_diary_emptied_by_the_user_is_filled_again() -> None:
    emptied = "# Dream Diary\n\n<!-- openclaw:dreaming:diary:start -->\n<!-- openclaw:dreaming:diary:end -->\n"
    assert night(emptied) == FIRST_NIGHT


def test_a_damaged_diary_is_left_alone() -> None:
    with pytest.raises(DamagedBlockError):
        night("<!-- openclaw:dreaming:diary:start -->\n")


def test_an_entry_without_a_blank_line_before_its_rule_is_read() -> None:
    text = FIRST_NIGHT.replace("start -->\n\n---", "start -->\n---")
    assert entries(text) == entries(FIRST_NIGHT)


def test_lines_the_user_wrote_into_the_diary_are_no_entries() -> None:
    text = FIRST_NIGHT.replace("start -->\n", "start -->\n\nmy preface\n").replace(
        "<!-- openclaw:dreaming:diary:end", "---\n\nmine\n\n<!-- openclaw:dreaming:diary:end"
    )
    assert entries(text) == entries(FIRST_NIGHT)


def test_a_comment_is_no_prose() -> None:
    text = FIRST_NIGHT.replace("PDT*\n\n", "PDT*\n\n<!-- openclaw:dreaming:backfill-entry day=2026-06-15 -->\n\n")
    assert entries(text) == entries(FIRST_NIGHT)


@pytest.mark.parametrize(
    "line",
    [
        "---",
        "- - -",
        "***",
        "===",
        "# a heading",
        "<!-- openclaw:dreaming:diary:end -->",
        "```",
        "> said",
        "1. first",
        "<script>",
    ],
)
def test_prose_is_prose_whatever_it_says(line: str) -> None:
    text = night("", prose=f"Before.\n{line}\nAfter.")
    kinds = {token.type for token in MarkdownIt().parse(text)}
    assert kinds == {"heading_open", "heading_close", "inline", "html_block", "hr", "paragraph_open", "paragraph_close"}
    assert [entry.prose.split("\n")[-1] for entry in entries(night(text, LATER, "Next."))] == ["After.", "Next."]


def test_a_date_is_not_taken_for_a_list() -> None:
    assert "\n*15. Juni 2026, 03:01 MESZ*\n" in night("", "15. Juni 2026, 03:01 MESZ")


def test_the_oldest_entries_move_to_the_archive() -> None:
    text, removed = without_oldest(night(FIRST_NIGHT, LATER, "Second."), 1)
    assert [entry.prose for entry in entries(text)] == ["Second."]
    assert archive("", 2026, removed) == (
        "# Dream Diary 2026\n\n---\n\n*June 15, 2026, 3:01 AM PDT*\n\nSome lessons are bought with outages.\n\n"
    )


def test_the_users_lines_do_not_move_with_the_entries() -> None:
    text = FIRST_NIGHT.replace("<!-- openclaw:dreaming:diary:end", "---\n\nmine\n\n<!-- openclaw:dreaming:diary:end")
    left, _ = without_oldest(text, 0)
    assert left == FIRST_NIGHT.replace("*June 15, 2026, 3:01 AM PDT*\n\nSome lessons are bought with outages.", "mine")


@pytest.mark.parametrize("keep", [1, 200])
def test_few_entries_stay(keep: int) -> None:
    assert without_oldest(FIRST_NIGHT, keep) == (FIRST_NIGHT, "")


def test_an_entry_is_archived_once() -> None:
    _, removed = without_oldest(FIRST_NIGHT, 0)
    archived = archive("", 2026, removed)
    assert archive(archived, 2026, removed) == archived


def test_an_archived_entry_is_replaced_where_it_stands() -> None:
    _, removed = without_oldest(night(FIRST_NIGHT, LATER, "Second."), 0)
    archived = archive("My old nights.\n", 2026, removed)
    old, _ = entries(archived, archived=True)
    assert with_other_prose(archived, old, "Told again.", archived=True) == archived.replace(old.prose, "Told again.")
    assert with_other_prose(archived, Entry(stamp=STAMP, prose="Not there."), "x", archived=True) is None


def test_a_later_night_is_archived_behind_the_earlier() -> None:
    _, first = without_oldest(FIRST_NIGHT, 0)
    _, second = without_oldest(night("", LATER, "Second."), 0)
    archived = archive(archive("", 2026, first), 2026, second)
    assert archived.index("June 15") < archived.index("June 16")
    assert archived.count("\n---\n") == 2


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("one\r\ntwo\u2028three", "one two three"),
        ("a <!-- b --> c", "a <! -- b -- > c"),
        ("a <!--> b --!> c", "a <! -- > b --! > c"),
        ("# 1 in the list", "\\# 1 in the list"),
        ("#1 in the list", "#1 in the list"),
        ("- a point", "\\- a point"),
        ("-5 degrees", "-5 degrees"),
        ("--- ", "\\---"),
        ("3. May", "3\\. May"),
        ("3.5 litres", "3.5 litres"),
        ("[x] done", "\\[x] done"),
        ("[a]: b", "\\[a]: b"),
        ("[a](b) c", "[a](b) c"),
        ("<https://example.org>", "<https://example.org>"),
        ("**bold** move", "**bold** move"),
        ("half \ud83d a pair\0", "half \ufffd a pair"),
        ("\x1b[31mred", "[31mred"),
        (" \n ", ""),
    ],
)
def test_a_text_on_our_line_is_only_text(text: str, safe: str) -> None:
    assert harmless(text) == safe


@given(text=st.text() | st.text("#-*+_=<!>`~1.) [x]:\n"))
def test_a_harmless_text_is_one_paragraph_and_stays_as_it_is(text: str) -> None:
    safe = harmless(text)
    assert harmless(safe) == safe
    kinds = [token.type for token in MarkdownIt().parse(f"- {safe}\n<!-- marker -->\n") if token.level == 2]
    assert kinds == (["paragraph_open", "paragraph_close"] if safe else [])


@given(text=ANY_TEXT, body=ANY_TEXT)
def test_a_section_is_replaced_by_itself_and_the_users_text_stays(text: str, body: str) -> None:
    once = with_section(text, "light", body)
    assert once.startswith(text)
    assert with_section(once, "light", body) == once
    assert is_within(text, with_section(once, "light", BODY))


@given(text=ANY_TEXT, prose=ANY_TEXT)
def test_an_entry_is_found_again_and_the_users_text_stays(text: str, prose: str) -> None:
    once = with_entry(text, STAMP, prose)
    twice = with_entry(once, LATER, prose)
    first, second = entries(twice)
    assert (first.stamp, second.stamp, first.prose) == (STAMP, LATER, second.prose)
    assert with_entry(twice, STAMP, prose) == twice
    assert is_within(text, twice)


@given(text=ANY_TEXT, keep=st.integers(0, 4))
def test_every_entry_is_either_kept_or_archived(text: str, keep: int) -> None:
    assume("*a stamp*" not in text)
    for day in range(3):
        text = with_entry(text, f"night {day}", "The same words.")
    left, removed = without_oldest(text, keep)
    stamps = [f"night {day}" for day in range(3)]
    assert [entry.stamp for entry in entries(left)] == stamps[max(0, 3 - keep) :]
    assert all(f"*{stamp}*" in archive("", 2026, removed) for stamp in stamps[: max(0, 3 - keep)])
