import errno
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workspace.files
from workspace.errors import (
    ExternallyChangedError,
    NotAFileError,
    NotReadableError,
    NotWritableError,
    Problem,
    WorkspaceError,
)
from workspace.files import DryFiles, Files, digest

NOBODY = 65534


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def written(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def add(files: Files, name: str, text: str) -> bool:
    document = files.read(name)
    return files.write(document, document.text + text)


def names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()}


def test_a_missing_file_reads_as_empty(tmp_path: Path) -> None:
    document = Files(tmp_path).read("MEMORY.md")
    assert (document.text, document.digest, document.mode) == ("", None, None)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    assert add(Files(tmp_path), "MEMORY.md", "- a\n")
    assert (tmp_path / "MEMORY.md").stat().st_mode & 0o777 == 0o600


def test_an_archive_folder_is_made_when_it_is_needed(tmp_path: Path) -> None:
    add(Files(tmp_path), "memory/archive/MEMORY-2026.md", "- a\n")
    assert (tmp_path / "memory/archive/MEMORY-2026.md").read_text() == "- a\n"


def test_the_mode_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    path.chmod(0o640)
    add(Files(tmp_path), "MEMORY.md", "- b\n")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write a file of somebody else")
@pytest.mark.parametrize("name", ["MEMORY.md", "DREAMS.md"])
def test_a_night_run_by_root_leaves_the_files_to_their_user(tmp_path: Path, name: str) -> None:
    os.chown(written(tmp_path, "MEMORY.md", "- a\n"), NOBODY, NOBODY)
    os.chown(tmp_path, NOBODY, NOBODY)
    add(Files(tmp_path), name, "- b\n")
    assert (tmp_path / name).stat().st_uid == NOBODY


def test_the_same_text_touches_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    before = path.stat()
    assert not add(Files(tmp_path), "MEMORY.md", "")
    assert path.stat() == before


def test_no_text_makes_no_file(tmp_path: Path) -> None:
    assert not add(Files(tmp_path), "MEMORY.md", "")
    assert names(tmp_path) == set()


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target = written(tmp_path, "shared/mem.md", "- a\n")
    target.parent.chmod(0o750)
    (tmp_path / "MEMORY.md").symlink_to("shared/mem.md")
    add(Files(tmp_path), "MEMORY.md", "- b\n")
    assert (tmp_path / "MEMORY.md").is_symlink()
    assert target.read_text() == "- a\n- b\n"
    assert target.parent.stat().st_mode & 0o777 == 0o750


def test_a_link_to_a_file_that_is_not_there_yet_makes_it_there(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").symlink_to("shared/mem.md")
    add(Files(tmp_path), "MEMORY.md", "- a\n")
    assert (tmp_path / "shared/mem.md").read_text() == "- a\n"


@pytest.mark.parametrize("spelt", ["dreams.md", "Dreams.MD"])
def test_a_file_spelt_in_another_case_is_used(tmp_path: Path, spelt: str) -> None:
    written(tmp_path, spelt, "mine\n")
    add(Files(tmp_path), "DREAMS.md", "ours\n")
    assert names(tmp_path) == {spelt}


def test_the_exact_name_is_preferred(tmp_path: Path) -> None:
    written(tmp_path, "DREAMS.md", "upper")
    written(tmp_path, "dreams.md", "lower")
    assert Files(tmp_path).read("DREAMS.md").text == (tmp_path / "DREAMS.md").read_text()


def test_a_change_between_reading_and_writing_wins(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    files = Files(tmp_path)
    document = files.read("MEMORY.md")
    path.write_text("- the user's\n")
    with pytest.raises(ExternallyChangedError):
        files.write(document, "- ours\n")
    assert path.read_text() == "- the user's\n"
    assert names(tmp_path) == {"MEMORY.md"}


def test_a_file_made_between_reading_and_writing_wins(tmp_path: Path) -> None:
    files = Files(tmp_path)
    document = files.read("MEMORY.md")
    path = written(tmp_path, "MEMORY.md", "- the user's\n")
    with pytest.raises(ExternallyChangedError):
        files.write(document, "- ours\n")
    assert path.read_text() == "- the user's\n"


def test_a_file_deleted_between_reading_and_writing_stays_deleted(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    files = Files(tmp_path)
    document = files.read("MEMORY.md")
    path.unlink()
    with pytest.raises(ExternallyChangedError):
        files.write(document, "- ours\n")
    assert names(tmp_path) == set()


def test_a_leftover_of_a_crash_does_not_stop_the_next_night(tmp_path: Path) -> None:
    written(tmp_path, ".MEMORY.md.part", "half a li")
    add(Files(tmp_path), "MEMORY.md", "- a\n")
    assert names(tmp_path) == {"MEMORY.md"}


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    with largest_file(1000), pytest.raises(NotWritableError):
        add(Files(tmp_path), "MEMORY.md", "long " * 1000)
    assert path.read_text() == "- a\n"
    assert names(tmp_path) == {"MEMORY.md"}


def test_a_full_disk_is_noticed_for_a_small_text_too(tmp_path: Path) -> None:
    with largest_file(3), pytest.raises(NotWritableError):
        add(Files(tmp_path), "MEMORY.md", "- a\n")
    assert names(tmp_path) == set()


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").mkdir()
    with pytest.raises(NotAFileError, match="is not a regular file"):
        Files(tmp_path).read("MEMORY.md")


def test_a_pipe_in_the_place_of_a_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "MEMORY.md")
    with pytest.raises(NotAFileError):
        Files(tmp_path).read("MEMORY.md")


def test_links_in_a_circle_are_named(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").symlink_to("MEMORY.md")
    with pytest.raises(NotReadableError, match="Too many levels"):
        Files(tmp_path).read("MEMORY.md")


def test_an_unreadable_file_is_named(plain_user: Path) -> None:
    written(plain_user, "MEMORY.md", "- a\n").chmod(0)
    with pytest.raises(NotReadableError, match="Permission denied"):
        Files(plain_user).read("MEMORY.md")


def test_a_file_the_user_made_read_only_is_respected(plain_user: Path) -> None:
    path = written(plain_user, "MEMORY.md", "- a\n")
    path.chmod(0o444)
    with pytest.raises(NotWritableError, match="read-only"):
        add(Files(plain_user), "MEMORY.md", "- b\n")
    assert path.read_text() == "- a\n"


def test_a_read_only_folder_leaves_the_file_as_it_was(plain_user: Path) -> None:
    path = written(plain_user, "MEMORY.md", "- a\n")
    plain_user.chmod(0o555)
    with pytest.raises(NotWritableError, match="Permission denied"):
        add(Files(plain_user), "MEMORY.md", "- b\n")
    plain_user.chmod(0o755)
    assert path.read_text() == "- a\n"


def test_every_error_is_one_sentence_with_a_way_out(tmp_path: Path) -> None:
    errors: list[WorkspaceError] = [NotWritableError(tmp_path, "no space"), NotReadableError(tmp_path, "no right")]
    assert all(str(error).count("\n") == 0 and "run the night again" in str(error) for error in errors)


@pytest.mark.parametrize(
    ("text", "newline"), [("", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\r\nb\n", "\n"), ("a\rb", "\r")]
)
def test_the_line_end_is_that_of_most_lines(tmp_path: Path, text: str, newline: str) -> None:
    written(tmp_path, "MEMORY.md", text)
    assert Files(tmp_path).read("MEMORY.md").newline == newline


@given(raw=st.binary() | st.text().map(lambda text: text.encode("utf-16")))
def test_any_bytes_survive(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / "MEMORY.md"
        path.write_bytes(raw)
        assert add(Files(Path(root)), "MEMORY.md", "- ours\n")
        assert path.read_bytes().startswith(raw)


def test_a_file_in_utf_16_is_continued_in_utf_16(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_bytes("- 记忆\r\n".encode("utf-16"))
    add(Files(tmp_path), "MEMORY.md", "- ours\r\n")
    assert (tmp_path / "MEMORY.md").read_bytes().decode("utf-16") == "- 记忆\r\n- ours\r\n"


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    written(tmp_path, "MEMORY.md", "\ufeff- a\n")
    add(Files(tmp_path), "MEMORY.md", "- b\n")
    assert (tmp_path / "MEMORY.md").read_bytes() == b"\xef\xbb\xbf- a\n- b\n"


def test_a_dry_run_writes_nothing_and_reads_what_it_wrote(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    files = DryFiles(tmp_path)
    assert add(files, "MEMORY.md", "- b\n")
    assert add(files, "MEMORY.md", "- c\n")
    assert files.read("MEMORY.md").text == "- a\n- b\n- c\n"
    assert path.read_text() == "- a\n"


def test_a_dry_run_shows_all_its_writes_of_a_file_as_one_diff(tmp_path: Path) -> None:
    written(tmp_path, "dreams.md", "one\n")
    files = DryFiles(tmp_path)
    add(files, "DREAMS.md", "two\n")
    add(files, "DREAMS.md", "three\n")
    assert files.diffs() == ("--- a/dreams.md\n+++ b/dreams.md\n@@ -1 +1,3 @@\n one\n+two\n+three\n",)


def test_a_diff_says_where_the_last_line_does_not_end(tmp_path: Path) -> None:
    written(tmp_path, "MEMORY.md", "one")
    files = DryFiles(tmp_path)
    add(files, "MEMORY.md", "\n")
    assert files.diffs()[0].endswith("-one\n\\ No newline at end of file\n+one\n")


def test_a_diff_can_be_printed_whatever_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_bytes(b"caf\xe9\n")
    files = DryFiles(tmp_path)
    add(files, "MEMORY.md", "- a\n")
    assert " caf\ufffd\n+- a\n" in files.diffs()[0].encode().decode()


def test_what_is_written_back_is_no_difference(tmp_path: Path) -> None:
    written(tmp_path, "MEMORY.md", "one\n")
    files = DryFiles(tmp_path)
    add(files, "MEMORY.md", "two\n")
    files.write(files.read("MEMORY.md"), "one\n")
    assert files.diffs() == ()


def test_a_dry_run_makes_no_file(tmp_path: Path) -> None:
    files = DryFiles(tmp_path)
    assert add(files, "memory/archive/MEMORY-2026.md", "- a\n")
    assert files.read("memory/archive/MEMORY-2026.md").text == "- a\n"
    assert names(tmp_path) == set()


def test_a_problem_reads_like_a_compiler_message() -> None:
    assert str(Problem(path="memory/a.md", line=3, reason="is odd")) == "memory/a.md:3: is odd"
    assert str(Problem(path="memory/a.md", line=None, reason="is odd")) == "memory/a.md: is odd"


# -- the moment between looking and writing ---------------------------------------------------------------------------

MINE = "- the user's\n"
OURS = "- ours\n"


def in_place(path: Path, text: str = MINE) -> None:
    path.write_text(text)


def by_rename(path: Path, text: str = MINE) -> None:
    editors = path.with_name("editor")
    editors.write_text(text)
    editors.rename(path)


SAVES = pytest.mark.parametrize("save", [in_place, by_rename])


def let(monkeypatch: pytest.MonkeyPatch, *saves: Callable[[], object]) -> None:
    """Let things happen right before the first, second ... exchange of a file."""
    renamed, left = workspace.files.renamed, list(saves)

    def late(source: Path, target: Path, *, exchange: bool) -> bool:
        if left:
            left.pop(0)()
        return renamed(source, target, exchange=exchange)

    monkeypatch.setattr(workspace.files, "renamed", late)


def without_exchange(monkeypatch: pytest.MonkeyPatch, number: int = errno.EINVAL) -> None:
    monkeypatch.setattr(workspace.files, "_rename", lambda: lambda _source, _target, _exchange: number)


@SAVES
def test_a_save_in_the_last_moment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], None]
) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    let(monkeypatch, lambda: save(path))
    with pytest.raises(ExternallyChangedError):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert path.read_text() == MINE
    assert names(tmp_path) == {"MEMORY.md"}


@SAVES
def test_a_save_while_the_last_one_is_put_back_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path, str], None]
) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    let(monkeypatch, lambda: save(path, "- one\n"), lambda: save(path, "- two\n"), lambda: save(path, "- three\n"))
    with pytest.raises(ExternallyChangedError):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert path.read_text() == "- three\n"
    assert names(tmp_path) == {"MEMORY.md"}


def test_a_file_made_in_the_last_moment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "MEMORY.md"
    let(monkeypatch, lambda: in_place(path))
    with pytest.raises(ExternallyChangedError):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert path.read_text() == MINE


def test_a_file_deleted_in_the_last_moment_stays_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    let(monkeypatch, path.unlink)
    with pytest.raises(ExternallyChangedError):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert names(tmp_path) == set()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
def test_a_program_that_had_the_file_open_writes_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    with ExitStack() as stack:
        kept = list[TextIO]()
        let(monkeypatch, lambda: kept.append(stack.enter_context(path.open("a"))))
        with pytest.raises(ExternallyChangedError):
            add(Files(tmp_path), "MEMORY.md", OURS)
        kept[0].write(MINE)
    assert path.read_text() == "- a\n" + MINE
    assert names(tmp_path) == {"MEMORY.md"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
def test_a_file_that_another_program_goes_on_writing_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace.files, "BUSY_SECONDS", 0.0)
    path = written(tmp_path, "MEMORY.md", "- a\n")
    with path.open("a"), pytest.raises(NotWritableError, match="open for writing"):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert path.read_text() == "- a\n"


def test_a_program_that_only_reads_the_file_is_no_hindrance(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- a\n")
    with path.open():
        assert add(Files(tmp_path), "MEMORY.md", OURS)


# -- without an exchange ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP])
def test_a_file_is_written_where_names_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    without_exchange(monkeypatch, number)
    for text in ("- a\n", "- b\n"):
        add(Files(tmp_path), "MEMORY.md", text)
    assert (tmp_path / "MEMORY.md").read_text() == "- a\n- b\n"
    assert names(tmp_path) == {"MEMORY.md"}


@SAVES
def test_a_save_before_the_last_look_wins_where_names_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], None]
) -> None:
    without_exchange(monkeypatch)
    path = written(tmp_path, "MEMORY.md", "- a\n")
    let(monkeypatch, lambda: save(path))
    with pytest.raises(ExternallyChangedError):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert path.read_text() == MINE
    assert names(tmp_path) == {"MEMORY.md"}


def test_a_save_into_the_file_that_is_being_replaced_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_exchange(monkeypatch)
    path = written(tmp_path, "MEMORY.md", "- a\n")
    replace = os.replace

    def late(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        in_place(path)
        replace(source, target)

    monkeypatch.setattr(os, "replace", late)
    with pytest.raises(ExternallyChangedError):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert path.read_text() == MINE
    assert names(tmp_path) == {"MEMORY.md"}


def test_a_file_made_meanwhile_wins_where_names_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_exchange(monkeypatch)
    path = tmp_path / "MEMORY.md"
    let(monkeypatch, lambda: in_place(path))
    with pytest.raises(ExternallyChangedError):
        add(Files(tmp_path), "MEMORY.md", OURS)
    assert path.read_text() == MINE


def test_a_file_is_written_where_there_are_no_links_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "for the test")

    without_exchange(monkeypatch)
    monkeypatch.setattr(os, "link", refused)
    for text in ("- a\n", "- b\n"):
        add(Files(tmp_path), "MEMORY.md", text)
    assert (tmp_path / "MEMORY.md").read_text() == "- a\n- b\n"
    assert names(tmp_path) == {"MEMORY.md"}


# -- what lasts -------------------------------------------------------------------------------------------------------


def test_the_disk_has_the_text_before_the_name_and_the_name_before_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "MEMORY.md", "- a\n")
    fsync, renamed, happened = os.fsync, workspace.files.renamed, list[str]()

    def synced(file: int) -> None:
        happened.append("folder" if os.path.samestat(os.fstat(file), tmp_path.stat()) else "text")
        fsync(file)

    def exchanged(source: Path, target: Path, *, exchange: bool) -> bool:
        happened.append("name")
        return renamed(source, target, exchange=exchange)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(workspace.files, "renamed", exchanged)
    add(Files(tmp_path), "MEMORY.md", "- b\n")
    assert happened == ["text", "name", "folder"]


def test_a_text_that_the_disk_takes_in_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    add(Files(tmp_path), "MEMORY.md", "- a line\n" * 100)
    assert (tmp_path / "MEMORY.md").read_text() == "- a line\n" * 100


def exchanged(path: Path, *, read: str, ours: str, out: str) -> None:
    """Leave behind what a process that was killed right after the exchange leaves."""
    old, new = (digest(text.encode())[:16] for text in (read, ours))
    path.with_name(f".{path.name}.{old}-{new}.part").write_text(out)


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "dreams.md", "memory/archive/MEMORY-2026.md", "memory/dreaming/rem/2026-06-18.md"]
)
def test_what_a_killed_process_began_to_write_is_removed(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, "- a\n")
    path.with_name(f".{path.name}.part").write_text("half a li")
    exchanged(path, read="- old\n", ours="- a\n", out="- old\n")
    Files(tmp_path).tidy()
    assert names(path.parent) & {f".{path.name}.part", path.name} == {path.name}
    assert not list(path.parent.glob(".*.part"))
    assert path.read_text() == "- a\n"


def test_a_save_that_a_killed_process_took_out_is_put_back(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", OURS)
    exchanged(path, read="- old\n", ours=OURS, out=MINE)
    Files(tmp_path).tidy()
    assert path.read_text() == MINE
    assert names(tmp_path) == {"MEMORY.md"}


def test_of_two_saves_around_a_killed_process_both_stay(tmp_path: Path) -> None:
    path = written(tmp_path, "MEMORY.md", "- the user's second\n")
    exchanged(path, read="- old\n", ours=OURS, out=MINE)
    Files(tmp_path).tidy()
    assert path.read_text() == "- the user's second\n"
    assert [left.read_text() for left in tmp_path.glob(".*.part")] == [MINE]


def test_what_was_left_beside_the_target_of_a_link_is_removed(tmp_path: Path) -> None:
    target = written(tmp_path, "shared/mem.md", "- a\n")
    target.with_name(".mem.md.part").write_text("half a li")
    target.with_name(".other.md.part").write_text("not ours")
    (tmp_path / "MEMORY.md").symlink_to("shared/mem.md")
    Files(tmp_path).tidy()
    assert names(target.parent) == {"mem.md", ".other.md.part"}


def test_files_of_other_programs_are_not_tidied_away(tmp_path: Path) -> None:
    others = {".video.mp4.part", "MEMORY.md.part", ".MEMORY.md.part.bak", ".notes.md.part", ".MEMORY.md.part2"}
    for name in others:
        written(tmp_path, name, "not ours")
        written(tmp_path, f"memory/archive/{name}", "not ours")
    Files(tmp_path).tidy()
    assert names(tmp_path) - {"memory"} == others
    assert names(tmp_path / "memory/archive") == others


def test_tidying_a_workspace_without_folders_makes_none(tmp_path: Path) -> None:
    Files(tmp_path).tidy()
    assert names(tmp_path) == set()


def test_a_dry_run_tidies_nothing(tmp_path: Path) -> None:
    written(tmp_path, ".MEMORY.md.part", "half a li")
    DryFiles(tmp_path).tidy()
    assert names(tmp_path) == {".MEMORY.md.part"}


def test_what_is_brought_back_is_not_brought_back_over_somebody_elses_change(tmp_path: Path) -> None:
    path, files = written(tmp_path, "MEMORY.md", "- a\n"), Files(tmp_path)
    before = files.read("MEMORY.md")
    add(files, "MEMORY.md", OURS)
    path.write_text(MINE)
    files.restore(before)
    assert path.read_text() == MINE


def test_what_was_written_is_brought_back_to_what_it_was(tmp_path: Path) -> None:
    path, files = written(tmp_path, "MEMORY.md", "- a\n"), Files(tmp_path)
    before = files.read("MEMORY.md")
    add(files, "MEMORY.md", OURS)
    files.restore(before)
    assert path.read_text() == "- a\n"
