import os
import unicodedata
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspace import diary
from workspace.decoding import decoded
from workspace.errors import UnreadableError

NOBODY = 65534
JUNE_15 = date(2026, 6, 15)


def note(root: Path, name: str, content: str | bytes = "- a fact to keep\n") -> Path:
    path = root / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def link(root: Path, name: str, target: str | Path) -> None:
    path = root / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def paths(root: Path, **options: Any) -> list[str]:
    return [found.path for found in diary.diaries(root, **options).diaries]


def problems(root: Path) -> list[str]:
    return [str(problem) for problem in diary.diaries(root).problems]


@pytest.mark.parametrize(
    "name",
    [
        "2026-06-15.md",
        "2026-06-15-vendor-call.md",
        "2026-06-15-1430.md",
        "audit-2026-06-15.md",
        "daily/2026/2026-06-15.md",
        "2026-06-15.MD",
        "2026-02-30 to 2026-06-15.md",
        "今天 2026-06-15 会议.md",
    ],
)
def test_a_dated_name_is_a_diary_of_that_day(tmp_path: Path, name: str) -> None:
    note(tmp_path, name)
    (found,) = diary.diaries(tmp_path).diaries
    assert (found.path, found.day) == (f"memory/{name}", JUNE_15)


@pytest.mark.parametrize(
    "name",
    [
        "template.md",
        "2026-06-15.txt",
        "2026-06-15",
        "12026-06-15.md",
        "2026-06-151.md",
        "2026-06-15.md~",
        ".2026-06-15.md",
        "._2026-06-15.md",
        "dreaming/light/2026-06-15.md",
        ".dreams/2026-06-15.md",
        "archive/2026-06-15.md",
        ".obsidian/2026-06-15.md",
        "notes/.trash/2026-06-15.md",
        "2026-06-15/notes.md",
    ],
)
def test_other_files_are_no_diaries_and_no_problem(tmp_path: Path, name: str) -> None:
    note(tmp_path, name)
    assert diary.diaries(tmp_path) == diary.Listing(diaries=(), problems=())


def test_folders_named_like_ours_deeper_down_are_the_users(tmp_path: Path) -> None:
    note(tmp_path, "2025/archive/2025-06-15.md")
    assert paths(tmp_path) == ["memory/2025/archive/2025-06-15.md"]


def test_diaries_come_by_day_and_path(tmp_path: Path) -> None:
    names = ["b-2026-06-15.md", "2026-06-16.md", "2026-06-15.md", "a/2026-06-16.md"]
    for name in names:
        note(tmp_path, name)
    assert paths(tmp_path) == [f"memory/{names[at]}" for at in (2, 0, 1, 3)]


def test_a_workspace_without_diaries_is_no_problem(tmp_path: Path) -> None:
    assert diary.diaries(tmp_path) == diary.Listing(diaries=(), problems=())


def test_a_stamp_changes_with_the_file(tmp_path: Path) -> None:
    path = note(tmp_path, "2026-06-15.md")
    status = path.stat()
    (found,) = diary.diaries(tmp_path).diaries
    assert found.stamp == (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def test_another_folder_may_hold_the_diaries(tmp_path: Path) -> None:
    (tmp_path / "notes/daily").mkdir(parents=True)
    (tmp_path / "notes/daily/2026-06-15.md").touch()
    assert paths(tmp_path, folder="notes/daily") == ["notes/daily/2026-06-15.md"]


def test_the_workspace_itself_may_hold_the_diaries(tmp_path: Path) -> None:
    (tmp_path / "2026-06-15.md").touch()
    assert paths(tmp_path, folder=".") == ["2026-06-15.md"]


def test_another_pattern_may_name_the_days(tmp_path: Path) -> None:
    note(tmp_path, "20260615.md")
    note(tmp_path, "log 20260616.md")
    note(tmp_path, "20260617.json")
    assert paths(tmp_path, pattern=r"^(?P<date>\d{8})\.") == ["memory/20260615.md"]


def test_a_pattern_that_matches_nothing_at_times_is_no_date(tmp_path: Path) -> None:
    note(tmp_path, "2026-06-15.md")
    assert paths(tmp_path, pattern=r"(?P<date>x?)") == []


@pytest.mark.parametrize("pattern", [r"\d{4}", "(?P<day>x)", "(", "(?P<date>"])
def test_a_pattern_without_a_date_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ValueError, match="the diary pattern"):
        diary.diaries(tmp_path, pattern=pattern)


def test_a_folder_named_like_a_diary_is_reported_and_walked_through(tmp_path: Path) -> None:
    note(tmp_path, "2026-06-15.md/2026-06-16.md")
    assert paths(tmp_path) == ["memory/2026-06-15.md/2026-06-16.md"]
    assert problems(tmp_path) == ["memory/2026-06-15.md: is a folder, not a diary"]


def test_a_file_in_the_place_of_the_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "memory").touch()
    assert problems(tmp_path) == ["memory/: cannot be listed: Not a directory"]


def test_a_pipe_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    note(tmp_path, "2026-06-16.md")
    os.mkfifo(tmp_path / "memory/2026-06-15.md")
    assert paths(tmp_path) == ["memory/2026-06-16.md"]
    assert problems(tmp_path) == ["memory/2026-06-15.md: is not a regular file"]


@pytest.mark.parametrize("target", ["nowhere.md", "2026-06-15.md"])
def test_a_link_to_nowhere_or_itself_is_reported(tmp_path: Path, target: str) -> None:
    link(tmp_path, "2026-06-15.md", target)
    assert problems(tmp_path) == ["memory/2026-06-15.md: is a link that leads nowhere"]


def test_an_editors_lock_is_no_problem(tmp_path: Path) -> None:
    link(tmp_path, ".#2026-06-15.md", "user@host.123")
    assert problems(tmp_path) == []


@pytest.mark.parametrize("name", ["2026-06-15.md", "shared"])
def test_a_link_out_of_the_workspace_is_reported(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "workspace"
    link(root, name, outside)
    assert diary.diaries(root).diaries == ()
    assert problems(root) == [f"memory/{name}: is a link that leads out of the workspace"]


def test_a_sibling_folder_with_a_longer_name_is_outside(tmp_path: Path) -> None:
    secret = tmp_path / "work-secret/note.md"
    secret.parent.mkdir()
    secret.touch()
    link(tmp_path / "work", "2026-06-15.md", secret)
    assert problems(tmp_path / "work") == ["memory/2026-06-15.md: is a link that leads out of the workspace"]


def test_the_diary_folder_itself_may_lie_elsewhere(tmp_path: Path) -> None:
    note(tmp_path / "cloud", "2026-06-15.md", "from the cloud")
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "memory").symlink_to(tmp_path / "cloud/memory")
    assert paths(root) == ["memory/2026-06-15.md"]
    assert diary.read(root, "memory/2026-06-15.md").text == "from the cloud"


def test_a_link_within_the_workspace_is_a_diary(tmp_path: Path) -> None:
    (tmp_path / "inbox.md").write_text("a fact")
    link(tmp_path, "2026-06-15.md", "../inbox.md")
    assert paths(tmp_path) == ["memory/2026-06-15.md"]
    assert diary.read(tmp_path, "memory/2026-06-15.md").text == "a fact"


def test_a_linked_folder_within_the_workspace_is_walked_through(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old/2025-06-15.md").touch()
    link(tmp_path, "past", "../old")
    assert paths(tmp_path) == ["memory/past/2025-06-15.md"]


@pytest.mark.parametrize("name", ["2026-06-01.md", "z/2026-07-01.md"])
def test_a_file_reached_twice_is_read_by_its_own_name(tmp_path: Path, name: str) -> None:
    real = note(tmp_path, "m/2026-06-15.md")
    link(tmp_path, name, real)
    assert paths(tmp_path) == ["memory/m/2026-06-15.md"]


def test_two_links_to_one_file_are_one_diary(tmp_path: Path) -> None:
    (tmp_path / "inbox.md").touch()
    link(tmp_path, "2026-06-16.md", "../inbox.md")
    link(tmp_path, "2026-06-15.md", "../inbox.md")
    assert paths(tmp_path) == ["memory/2026-06-15.md"]


def test_a_file_reached_by_a_link_and_through_a_linked_folder_is_one_diary(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old/2025-06-15.md").touch()
    for name, target in (
        ("a-2025-06-15.md", "../old/2025-06-15.md"),
        ("b", "../old"),
        ("c-2025-06-15.md", "b/2025-06-15.md"),
    ):
        link(tmp_path, name, target)
    assert paths(tmp_path) == ["memory/a-2025-06-15.md"]


def test_folders_linked_in_a_circle_are_walked_through_once(tmp_path: Path) -> None:
    note(tmp_path, "a/2026-06-15.md")
    link(tmp_path, "a/up", "..")
    link(tmp_path, "a/all", "../..")
    assert paths(tmp_path) == ["memory/a/2026-06-15.md"]


@pytest.mark.parametrize("name", ["2026-06-16.md", "reports"])
def test_a_link_to_own_output_is_not_followed(tmp_path: Path, name: str) -> None:
    report = note(tmp_path, "dreaming/light/2026-06-15.md")
    link(tmp_path, name, report if name.endswith(".md") else report.parent)
    assert diary.diaries(tmp_path).diaries == ()
    assert problems(tmp_path) == [f"memory/{name}: is a link to what this program wrote"]


def test_an_unreadable_folder_costs_only_itself(plain_user: Path) -> None:
    note(plain_user, "2026-06-15.md")
    note(plain_user, "locked/2026-06-16.md").parent.chmod(0)
    listing = diary.diaries(plain_user)
    (plain_user / "memory/locked").chmod(0o700)
    assert [found.day for found in listing.diaries] == [JUNE_15]
    assert [str(p) for p in listing.problems] == ["memory/locked/: cannot be listed: Permission denied"]


def test_an_unreadable_file_is_named(plain_user: Path) -> None:
    note(plain_user, "2026-06-15.md").chmod(0)
    with pytest.raises(UnreadableError, match="Permission denied") as refusal:
        diary.read(plain_user, "memory/2026-06-15.md")
    assert refusal.value.problem.path == "memory/2026-06-15.md"


def test_names_taken_apart_are_listed_composed_and_still_found(tmp_path: Path) -> None:
    note(tmp_path, unicodedata.normalize("NFD", "café/2026-06-15-Übersicht.md"), "a fact")
    (found,) = paths(tmp_path)
    assert found == unicodedata.normalize("NFC", "memory/café/2026-06-15-Übersicht.md")
    assert diary.read(tmp_path, found).text == "a fact"


def test_of_two_names_that_look_the_same_the_composed_one_is_read(tmp_path: Path) -> None:
    letters = "éüöñçàîô"
    for letter in letters:
        note(tmp_path, f"2026-06-15-{letter}.md", "composed")
        note(tmp_path, unicodedata.normalize("NFD", f"2026-06-15-{letter}.md"), "apart")
    assert {diary.read(tmp_path, path).text for path in paths(tmp_path)} == {"composed"}
    stamps = {found.path: found.stamp[0] for found in diary.diaries(tmp_path).diaries}
    assert set(stamps.values()) == {len("composed")}
    assert len([problem for problem in problems(tmp_path) if "twin" in problem]) == len(letters)


@pytest.mark.parametrize("name", [b"2026-06-15-\xff.md", b"2026-06-15-\n.md"])
def test_a_name_nobody_can_print_is_reported(tmp_path: Path, name: bytes) -> None:
    note(tmp_path, os.fsdecode(name))
    assert diary.diaries(tmp_path).diaries == ()
    assert problems(tmp_path) == ["memory/2026-06-15-\ufffd.md: has a name that cannot be printed; rename it"]


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    note(tmp_path, "2026-06-15.md", b"\xef\xbb\xbf- a\r\n")
    read = diary.read(tmp_path, "memory/2026-06-15.md")
    assert (read.text, read.digest) == ("- a\r\n", sha256(b"\xef\xbb\xbf- a\r\n").hexdigest())


def test_an_empty_diary_is_no_problem(tmp_path: Path) -> None:
    note(tmp_path, "2026-06-15.md", "")
    assert diary.read(tmp_path, "memory/2026-06-15.md").problems == ()


@pytest.mark.parametrize("path", ["memory/../../secret.md", "memory/gone.md", "memory"])
def test_what_is_no_diary_file_cannot_be_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").touch()
    root = tmp_path / "workspace"
    note(root, "2026-06-15.md")
    with pytest.raises(UnreadableError, match="cannot be read"):
        diary.read(root, path)


def test_a_diary_that_became_a_link_outwards_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.md").touch()
    link(tmp_path / "workspace", "2026-06-15.md", tmp_path / "secret.md")
    with pytest.raises(UnreadableError, match="outside the workspace"):
        diary.read(tmp_path / "workspace", "memory/2026-06-15.md")


def test_a_file_too_large_to_be_a_diary_is_named(tmp_path: Path) -> None:
    os.truncate(note(tmp_path, "2026-06-15.md"), diary.LARGEST + 1)
    with pytest.raises(UnreadableError, match="larger than 64 MiB"):
        diary.read(tmp_path, "memory/2026-06-15.md")


def test_bad_bytes_are_replaced_and_reported_with_their_line(tmp_path: Path) -> None:
    note(tmp_path, "2026-06-15.md", b"\xef\xbb\xbfone\r\ntwo\r\ncaf\xe9\r\nfour \xff\r\n")
    read = diary.read(tmp_path, "memory/2026-06-15.md")
    assert read.text == "one\r\ntwo\r\ncaf\ufffd\r\nfour \ufffd\r\n"
    assert [str(p) for p in read.problems] == [
        "memory/2026-06-15.md:3: has bytes that are not UTF-8; they were replaced"
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_names_the_encoding(encoding: str) -> None:
    assert decoded("- 记忆\r\n".encode(encoding)) == ("- 记忆\r\n", ())


def test_a_byte_order_mark_moves_no_line_number() -> None:
    assert [line for line, _ in decoded(b"\xef\xbb\xbf\n\xe9")[1]] == [2]


def test_half_a_character_in_utf_16_is_reported() -> None:
    read, flaws = decoded("one\ntwo".encode("utf-16") + b"\x00")
    assert (read, [line for line, _ in flaws]) == ("one\ntwo\ufffd", [2])


def test_nul_bytes_are_left_out_and_reported() -> None:
    read, flaws = decoded(b"one\ntwo\0\0\nthree\0\n")
    assert (read, flaws) == ("one\ntwo\nthree\n", ((2, "has NUL bytes; they were left out"),))


def test_an_endless_line_costs_only_itself_and_no_line_number() -> None:
    read, flaws = decoded(b"one\n" + b"x" * 1_000_001 + b"\r\nthree\n")
    assert (read, [line for line, _ in flaws]) == ("one\n\r\nthree\n", [2])


def test_a_long_diary_of_ordinary_lines_is_read_whole() -> None:
    raw = b"- a line of a very long day\n" * 100_000
    assert decoded(raw) == (raw.decode(), ())


@given(raw=st.binary())
def test_any_bytes_are_text_that_can_be_stored(raw: bytes) -> None:
    read, _ = decoded(raw)
    assert "\0" not in read
    assert read.encode().decode() == read


@given(content=st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])))
def test_good_text_is_read_as_it_is(content: str) -> None:
    assert decoded(content.encode()) == (content, ())


@pytest.mark.parametrize("name", ["people.md", "topics/garden.md", "deep/topics/garden.MD"])
def test_a_file_without_a_date_is_a_saved_memory_only_when_it_is_named(tmp_path: Path, name: str) -> None:
    path = note(tmp_path, name)
    os.utime(path, (0, datetime(2026, 6, 15, 23, 30, tzinfo=UTC).timestamp()))
    assert diary.diaries(tmp_path).diaries == ()
    saved = ("people.md", "topics/*.[mM][dD]")
    (found,) = diary.diaries(tmp_path, memories=saved, zone=ZoneInfo("Asia/Shanghai")).diaries
    assert (found.path, found.day, found.dated) == (f"memory/{name}", date(2026, 6, 16), False)


def test_what_is_no_markdown_is_never_a_saved_memory(tmp_path: Path) -> None:
    note(tmp_path, "people.txt")
    note(tmp_path, "archive/people.md")
    assert paths(tmp_path, memories=("people*",)) == []


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("2026-9-15.md", "2026-09-15.md"),
        ("20260915.md", "2026-09-15.md"),
        ("2026_09_15 call.md", "2026-09-15 call.md"),
        ("diary 16.09.2026.md", "diary 2026-09-16.md"),
        ("09-16-2026.MD", "2026-09-16.MD"),
        ("05-05-2026.md", "2026-05-05.md"),
    ],
)
def test_a_name_that_nearly_is_a_date_is_told_with_the_name_that_is_one(tmp_path: Path, name: str, better: str) -> None:
    note(tmp_path, f"daily/{name}")
    listing = diary.diaries(tmp_path)
    assert (listing.diaries, listing.problems) == ((), ())
    (told,) = map(str, listing.misnamed)
    assert told.startswith(f"memory/daily/{name}: is not read")
    assert told.endswith(f"rename it {better}")
    note(tmp_path, f"daily/{better}")
    assert paths(tmp_path) == [f"memory/daily/{better}"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("2026-09-31.md", "there is no day 2026-09-31"),
        ("2026-13-01.md", "there is no day 2026-13-01"),
        ("20260931.md", "there is no day 20260931"),
        ("05-06-2026.md", "05-06-2026 may be one of two days"),
    ],
)
def test_a_name_that_may_be_no_or_another_day_is_told_without_a_guess(tmp_path: Path, name: str, why: str) -> None:
    note(tmp_path, name)
    (told,) = diary.diaries(tmp_path).misnamed
    assert told.reason == f"is not read, because {why}; name it by its day, like 2026-06-15.md"


@pytest.mark.parametrize(
    "name",
    [
        *("people.md", "2026.md", "2026-06.md", "2026-W24.md", "v1.2.3.md", "12026-06-15.md", "2026-06-151.md"),
        *("20261399.md", "2026-6-5.txt", "2026-6-5.md~", ".2026-6-5.md", "archive/2026-6-5.md", "1718000000.md"),
    ],
)
def test_an_ordinary_name_without_a_date_is_not_told(tmp_path: Path, name: str) -> None:
    note(tmp_path, name)
    assert diary.diaries(tmp_path) == diary.Listing(diaries=(), problems=())


def test_what_is_read_or_named_in_another_way_is_not_told(tmp_path: Path) -> None:
    note(tmp_path, "2026-6-5.md")
    assert diary.diaries(tmp_path, memories=("2026-6-5.md",)).misnamed == ()
    assert diary.diaries(tmp_path, pattern=r"^(?P<date>\d{8})\.").misnamed == ()
