"""Appending to today's diary: only today's, only at its end, byte for byte."""

import os
import stat
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.chunking import chunks
from workspace.append import (
    MOST,
    MOST_A_LINE,
    LinkedDiaryError,
    NothingToAppendError,
    OwnMarkerError,
    TooLongError,
    addition,
    append,
    lines_of,
)
from workspace.errors import GoneError, NotWritableError, WorkspaceError

DAY = date(2026, 6, 18)
NAME = "memory/2026-06-18.md"


def after(root: Path, before: bytes, text: str = "- a line", heading: str = "Deploy") -> bytes:
    (root / "memory").mkdir(exist_ok=True)
    (root / NAME).write_bytes(before)
    append(root, DAY, text, heading=heading)
    return (root / NAME).read_bytes()


def test_a_new_diary_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    placed = append(tmp_path, DAY, "- a line\n", heading="Deploy")
    assert (placed.path, placed.start_line, placed.end_line) == (NAME, 3, 3)
    assert (tmp_path / NAME).read_bytes() == b"## Deploy\n\n- a line\n"
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_a_missing_final_line_end_is_added_first(tmp_path: Path) -> None:
    assert after(tmp_path, b"- before") == b"- before\n\n## Deploy\n\n- a line\n"


def test_the_heading_a_diary_ends_under_is_not_repeated(tmp_path: Path) -> None:
    first = b"## Deploy\n\n- before\n"
    assert after(tmp_path, first) == first + b"\n- a line\n"


@pytest.mark.parametrize(
    "before", ["## Deploy\n\n## Other\n", "# Deploy\n", "## Deploy\n\n### Part\n", "```\n## Deploy\n```\n"]
)
def test_a_heading_further_up_or_of_another_level_does_not_count(before: str) -> None:
    assert addition(before, "Deploy", ("- a line",)).text.endswith("\n## Deploy\n\n- a line\n")


def test_line_ends_of_the_file_are_kept(tmp_path: Path) -> None:
    assert after(tmp_path, b"a\r\nb\r\n", "- c\n- d") == b"a\r\nb\r\n\r\n## Deploy\r\n\r\n- c\r\n- d\r\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_and_its_encoding_are_kept(tmp_path: Path, encoding: str) -> None:
    found = after(tmp_path, "- 早\n".encode(encoding), "- 晚")
    assert found == "- 早\n\n## Deploy\n\n- 晚\n".encode(encoding)


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path: Path) -> None:
    assert after(tmp_path, b"\xff\xfe\xfa\x80"[2:] + b"\n").startswith(b"\xfa\x80\n\n## Deploy")


@given(before=st.binary(max_size=60), text=st.text(max_size=40), heading=st.text(max_size=20))
def test_what_stands_there_is_the_beginning_of_what_stands_there_afterwards(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, text: str, heading: str
) -> None:
    root = tmp_path_factory.mktemp("root")
    path = root / NAME
    path.parent.mkdir()
    path.write_bytes(before)
    try:
        append(root, DAY, text, heading=heading)
    except WorkspaceError:
        assert path.read_bytes() == before
    else:
        assert path.read_bytes().startswith(before)
        assert len(path.read_bytes()) > len(before)


@pytest.mark.parametrize(
    ("text", "heading", "error"),
    [
        ("", "Deploy", NothingToAppendError),
        (" \n\t\n\x00", "Deploy", NothingToAppendError),
        ("- a line", " ## ", NothingToAppendError),
        ("x\n" * MOST, "Deploy", TooLongError),
        ("x" * (MOST_A_LINE + 1), "Deploy", TooLongError),
        ("- a line", "x" * 121, TooLongError),
        ("<!-- openclaw:dreaming:diary:end -->", "Deploy", OwnMarkerError),
        ("<!-- OpenClaw-memory-promotion:1 -->", "Deploy", OwnMarkerError),
        ("open\x01claw:dreaming:diary:end", "Deploy", OwnMarkerError),
        ("- a line", "openclaw:dreaming:light:start", OwnMarkerError),
    ],
)
def test_a_refused_text_makes_no_file(tmp_path: Path, text: str, heading: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        append(tmp_path, DAY, text, heading=heading)
    assert list(tmp_path.iterdir()) == []


def test_a_heading_cannot_smuggle_in_lines(tmp_path: Path) -> None:
    append(tmp_path, DAY, "- a line", heading="Deploy\n\n# Other\n")
    assert (tmp_path / NAME).read_text(encoding="utf-8").startswith("## Deploy # Other\n\n- a line")


def test_control_characters_and_blank_lines_around_are_left_out() -> None:
    assert lines_of("\n\n- a\x1b[31m\x00  \r\n\r\n  - b\n\n") == ("- a[31m", "", "  - b")


@pytest.mark.parametrize("target", ["../../outside.md", "../MEMORY.md", "2026-06-17.md", "nowhere.md"])
def test_a_diary_that_is_a_link_is_refused(tmp_path: Path, target: str) -> None:
    root = tmp_path / "root"
    (root / "memory").mkdir(parents=True)
    link = root / NAME
    link.symlink_to(target)
    there = Path(os.path.normpath(link.parent / target))
    if target != "nowhere.md":
        there.write_bytes(b"untouched\n")
    with pytest.raises(LinkedDiaryError):
        append(root, DAY, "- a line", heading="Deploy")
    assert not there.exists() or there.read_bytes() == b"untouched\n"


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, make: object) -> None:
    (tmp_path / "memory").mkdir()
    make(tmp_path / NAME)  # type: ignore[operator]  # one of the two above
    with pytest.raises(NotWritableError):
        append(tmp_path, DAY, "- a line", heading="Deploy")


def test_a_workspace_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(GoneError, match="is no folder"):
        append(tmp_path / "mistyped", DAY, "- a line", heading="Deploy")
    assert list(tmp_path.iterdir()) == []


def test_a_wide_file_that_is_broken_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(NotWritableError):
        after(tmp_path, b"\xff\xfea\x00b")
    assert (tmp_path / NAME).read_bytes() == b"\xff\xfea\x00b"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("- fine\n\n```sh\nls", "- fine\n\n```sh\nls\n```\n"),
        ("  ~~~~\n```\n~~~", "  ~~~~\n```\n~~~\n~~~~\n"),
        ("````\n```", "````\n```\n````\n"),
        ("<!-- to do\n- a line", "\\<!-- to do\n- a line\n"),
        ("<!-- a\n<!-- b\n```\n<!--", "\\<!-- a\n\\<!-- b\n```\n\\<!--\n```\n"),
        ("<pre>\n<?php\n- a line", "\\<pre>\n\\<?php\n- a line\n"),
    ],
)
def test_what_a_text_leaves_open_is_mended(tmp_path: Path, text: str, written: str) -> None:
    placed = append(tmp_path, DAY, text, heading="Deploy")
    assert (tmp_path / NAME).read_text(encoding="utf-8") == f"## Deploy\n\n{written}"
    assert (placed.start_line, placed.end_line) == (3, 2 + written.count("\n"))
    assert placed.problems
    assert all(problem.startswith(f"{NAME}:") for problem in placed.problems)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "```\nls\n```",
            "<!-- done -->\n- a line",
            "use <!-- to open a comment",
            "- ```\n  in a list",
            "    <!-- code",
        ),
        *("> <!-- quoted", "`<!--`", "<br>\n- a line", "<div>\n- a line", "a\n---\nb"),
    ],
)
def test_what_hides_nothing_stays_as_it_is(tmp_path: Path, text: str) -> None:
    placed = append(tmp_path, DAY, text, heading="Deploy")
    assert (tmp_path / NAME).read_text(encoding="utf-8") == f"## Deploy\n\n{text}\n"
    assert placed.problems == ()


@pytest.mark.parametrize(
    ("before", "end", "what"),
    [
        ("- mine\n```sh\nls", "\n```\n", "a code fence"),
        ("- mine\n<!-- to do\n", "-->\n", "an HTML comment"),
        ("- mine\r\n~~~~\r\n", "~~~~\r\n", "a code fence"),
        ("- mine\n<pre>\n", "</pre>\n", "an HTML block"),
        ("- mine\n<![CDATA[\n", "]]>\n", "an HTML block"),
        ("- mine\n<?php\n", "?>\n", "an HTML block"),
        ("- mine\n<!DOCTYPE\n", ">\n", "an HTML block"),
    ],
)
def test_what_the_diary_leaves_open_is_closed_in_front_of_the_note(
    tmp_path: Path, before: str, end: str, what: str
) -> None:
    line = "\r\n" if "\r" in before else "\n"
    (tmp_path / "memory").mkdir()
    (tmp_path / NAME).write_bytes(before.encode())
    placed = append(tmp_path, DAY, "- a line", heading="Deploy")
    assert (tmp_path / NAME).read_bytes().decode() == f"{before}{end}{line}## Deploy{line}{line}- a line{line}"
    assert placed.problems == (f"{NAME}:2: {what} was never closed; it was mended so that it hides no later note",)


def test_a_fence_in_front_matter_is_not_closed(tmp_path: Path) -> None:
    before = b"---\ntitle: a\nnote: |\n  ```\n---\n\n- mine\n"
    assert after(tmp_path, before) == before + b"\n## Deploy\n\n- a line\n"


MARKS = st.sampled_from(
    (
        *(
            "",
            "- item",
            "plain words",
            "1. one",
            "> quoted",
            "# Title",
            "## Today",
            "**Bold**",
            "---",
            "===",
            "title: x",
        ),
        *("```", "````", "``` sh", "~~~", "   ~~~~", "  ```", "    ```", "- ```", "> ~~~", "1. ```", "- - ```"),
        *(
            "<!--",
            "<!-- a -->",
            "<!-- a --> <!-- b",
            " <!-- b",
            "-->",
            "a -->",
            "- <!--",
            "> <!--",
            "    <!--",
            "  <!--->",
        ),
        *(
            "<pre>",
            "</pre>",
            "</PRE> a",
            "<script",
            "<style>",
            "</textarea>",
            "<?",
            "?>",
            "<!X",
            ">",
            "<![CDATA[",
            "]]>",
        ),
        *("<div>", "</div>", "<b>", "<br>", "| a | b |", "| - | - |", "a | b", "[a]: <", "\t```", "\t<!--", "\\<!--"),
    )
)
PAGES = st.builds("".join, st.lists(st.builds("{}{}".format, MARKS, st.sampled_from(("\n", "\n", "\r\n"))), max_size=8))
HEADS = st.sampled_from(("Today", "Other"))


@given(
    before=st.one_of(PAGES, PAGES.map(str.rstrip)),
    text=st.lists(MARKS, min_size=1, max_size=8).map("\n".join),
    heads=st.tuples(HEADS, HEADS),
    later=st.sampled_from(("a later note", "- a later note")),
)
@example(before="", text="<!-- a\n```", heads=("Today", "Today"), later="- a later note")
def test_a_note_can_be_seen_whatever_was_written_before_it(
    before: str, text: str, heads: tuple[str, str], later: str
) -> None:
    try:
        first = before + addition(before, heads[0], lines_of(text)).text
    except WorkspaceError:
        return
    both = first + addition(first, heads[1], lines_of(later)).text
    assert [said.text for chunk in chunks(both) for said in chunk.statements][-1] == "a later note"
    assert addition(first, heads[1], lines_of(later)).mended == ()
