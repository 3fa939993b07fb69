"""The rooms keep their directions, and the package is not confused by a folder of diaries."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {"memory": set(), "workspace": set(), "dreaming": {"memory", "workspace"}, "cron": {"dreaming"}}
HEAVY = ("sqlite_utils", "jinja2", "markdown_it", "pydantic", "icu4py", "apscheduler", "mcp", "numpy")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or ""


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_the_rooms_below_it(room: str) -> None:
    others = set(MAY_IMPORT) - {room} - MAY_IMPORT[room]
    for path in (ROOT / room).rglob("*.py"):
        for name in imported(path):
            assert name.split(".")[0] not in others, f"{path.relative_to(ROOT)} imports {name}"


def test_phases_and_gates_open_nothing() -> None:
    pure = [
        *(ROOT / "dreaming/phases").glob("*.py"),
        *(ROOT / "dreaming" / n for n in ("gates.py", "scoring.py", "promotion/draft.py", "promotion/known.py")),
    ]
    shells = {
        "dreaming.home",
        "memory.store",
        "memory.journal",
        "memory.promotions",
        "sqlite3",
        "os",
        "pathlib",
        "time",
        "random",
        "logging",
    }
    for path in pure:
        assert not shells & set(imported(path)), path


def test_sql_is_written_only_in_the_memory_room() -> None:
    words = ("SELECT ", "INSERT ", "UPDATE ", "DELETE FROM")
    for room in ("dreaming", "workspace", "cron"):
        for path in (ROOT / room).rglob("*.py"):
            assert not any(word in path.read_text(encoding="utf-8") for word in words), path


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("command", [("-m", "dreaming"), ("dream",)], ids=["module", "script"])
def test_a_folder_of_diaries_named_memory_is_not_imported(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2026-01-01.md").write_text("- a diary, no package\n", encoding="utf-8")
    script = Path(sys.executable).parent / "dream"
    start = (str(script),) if command == ("dream",) else (sys.executable, *command)
    assert "Turn the diaries" in run(*start, "--help", cwd=tmp_path).stdout
    found = run(*start, "search", "diary", "--now", "2026-01-02T10:00", "--json", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "memory/2026-01-01.md" in found.stdout


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, contextlib\n"
        "from dreaming.cli import dream\n"
        "with contextlib.suppress(SystemExit): dream(['--help'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = run(sys.executable, "-c", code, cwd=ROOT)
    assert done.stderr.strip() == "[]"
