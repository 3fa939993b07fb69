import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspace.errors import (
    ExternallyChangedError,
    HeldError,
    NotAFileError,
    NotReadableError,
    NotWritableError,
    Problem,
    WorkspaceError,
)
from workspace.files import DryFiles, Files
from workspace.lock import lock

NIGHT = datetime(2026, 6, 18, 3, 1, tzinfo=UTC)
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


HOLD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from workspace.lock import lock
with lock(Path(sys.argv[1]), now=datetime(2026, 6, 18, 3, 1, tzinfo=UTC)):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start other processes that hold the lock of `tmp_path` until they are killed."""
    with ExitStack() as stack:

        def start() -> subprocess.Popen[str]:
            command = [sys.executable, "-c", HOLD, str(tmp_path)]
            process = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            assert process.stdout
            assert process.stdout.readline() == "held\n"
            return process

        yield start


def test_a_second_night_is_refused_and_told_who_runs_the_first(
    tmp_path: Path, holder: Callable[[], subprocess.Popen[str]]
) -> None:
    first = holder()
    with pytest.raises(HeldError, match=f"process {first.pid} on .* since 2026-06-18 03:01:00") as refusal:
        lock(tmp_path, now=NIGHT).__enter__()
    assert refusal.value.holder.pid == first.pid


def test_a_killed_night_does_not_keep_the_lock(tmp_path: Path, holder: Callable[[], subprocess.Popen[str]]) -> None:
    first = holder()
    first.kill()
    first.wait()
    with lock(tmp_path, now=NIGHT):
        assert (tmp_path / "memory/.dreams/night.lock").exists()


def test_two_nights_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    with lock(tmp_path, now=NIGHT), pytest.raises(HeldError, match=f"process {os.getpid()}"):
        lock(tmp_path, now=NIGHT).__enter__()


def test_the_lock_is_free_after_a_night_that_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock(tmp_path, now=NIGHT):
        raise ZeroDivisionError
    with lock(tmp_path, now=NIGHT):
        pass


def test_a_holder_that_has_not_said_who_it_is_still_holds(tmp_path: Path) -> None:
    with lock(tmp_path, now=NIGHT):
        (tmp_path / "memory/.dreams/night.holder.json").write_text('{"pid": ')
        with pytest.raises(HeldError, match="an unknown process"):
            lock(tmp_path, now=NIGHT).__enter__()


def test_a_night_runs_where_its_name_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "memory/.dreams/night.holder.json").mkdir(parents=True)
    with lock(tmp_path, now=NIGHT), pytest.raises(HeldError, match="an unknown process"):
        lock(tmp_path, now=NIGHT).__enter__()


def test_workspaces_do_not_wait_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with lock(tmp_path / "a", now=NIGHT), lock(tmp_path / "b", now=NIGHT):
        assert (tmp_path / "b/memory/.dreams").is_dir()


def test_a_mistyped_workspace_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotWritableError, match="no such folder"):
        lock(tmp_path / "typo", now=NIGHT).__enter__()
    assert names(tmp_path) == set()
