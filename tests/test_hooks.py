"""The hooks: what the host expects to read, at once, and never a reason to fail."""

import json
import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dreaming import glance, home, hooks, layers
from dreaming.cli import dream
from dreaming.cli.hook import within
from house import House

DAY = "2026-03-08"
NOON = f"{DAY}T12:00"
START = {"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}
STOP = {"session_id": "s1", "hook_event_name": "Stop", "stop_hook_active": False}


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", "Asia/Shanghai")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def kiln(house: House) -> House:
    house.write("MEMORY.md", "# Long-Term Memory\n\n- The kiln takes cone six\n")
    house.write("memory/2026-03-02.md", "- The kiln takes cone six\n")
    return house


def call(event: str, said: Mapping[str, object] | bytes, *options: str, now: str = NOON) -> Result:
    raw = said if isinstance(said, bytes) else json.dumps(said).encode()
    arguments = ["hook", event, "--now", now, "--seconds", "60", *options]
    result = CliRunner().invoke(dream, arguments, input=raw, prog_name="dream")
    assert result.exit_code == 0, result.output
    return result


def reply(result: Result) -> Any:
    return json.loads(result.stdout)


def at(house: House) -> tuple[str, str]:
    return "--workspace", str(house.root)


def test_a_session_starts_with_the_context(kiln: House) -> None:
    said = reply(call("session-start", START, *at(kiln)))
    assert said.keys() == {"hookSpecificOutput"}
    assert said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    text = said["hookSpecificOutput"]["additionalContext"]
    shown = CliRunner().invoke(dream, ["context", *at(kiln)])
    assert text == shown.stdout.removesuffix("\n")
    assert "The kiln takes cone six" in text


def test_a_host_is_told_no_more_than_it_shows(kiln: House) -> None:
    kiln.write("MEMORY.md", "one line of some length\n" * 2000)
    kiln.write("config.toml", "[memory]\nbudget_chars = 100000\n")
    text = reply(call("session-start", START, *at(kiln)))["hookSpecificOutput"]["additionalContext"]
    assert 9_900 < len(text) <= hooks.MOST_CHARACTERS


def test_starting_a_session_is_no_vote_and_makes_no_store(kiln: House) -> None:
    call("session-start", START, *at(kiln))
    assert not (kiln.root / "memory/.dreams").exists()


def test_a_stop_is_held_up_once_per_session_and_day(kiln: House) -> None:
    first = reply(call("stop", STOP, *at(kiln)))
    assert first["decision"] == "block"
    assert str(kiln.root.resolve() / f"memory/{DAY}.md") in first["reason"]
    assert reply(call("stop", STOP, *at(kiln))) == {}
    assert reply(call("stop", {**STOP, "session_id": "s2"}, *at(kiln)))["decision"] == "block"
    assert reply(call("stop", STOP, *at(kiln), now="2026-03-09T09:00"))["decision"] == "block"


def test_the_day_is_that_of_the_workspace(kiln: House) -> None:
    said = reply(call("stop", STOP, *at(kiln), now="2026-03-08T20:00+00:00"))
    assert "memory/2026-03-09.md" in said["reason"]


def test_marks_of_other_days_go(kiln: House) -> None:
    call("stop", STOP, *at(kiln), now="2026-03-07T09:00")
    call("stop", STOP, *at(kiln))
    (mark,) = (kiln.root / "memory/.dreams").glob("asked-*")
    assert DAY in mark.name


def test_the_folder_of_the_marks_is_kept_out_of_version_control(kiln: House) -> None:
    call("stop", STOP, *at(kiln))
    assert kiln.read("memory/.dreams/.gitignore") == "*\n"


@pytest.mark.parametrize("active", [True, None, "false", 0, [], "missing"])
def test_a_stop_that_may_not_be_held_up_is_not(kiln: House, active: object) -> None:
    said = {key: value for key, value in {**STOP, "stop_hook_active": active}.items() if value != "missing"}
    assert reply(call("stop", said, *at(kiln))) == {}
    assert not (kiln.root / "memory/.dreams").exists()


@pytest.mark.parametrize("session", ["../../etc/passwd", "/etc/passwd", "a\0b", "\ud800", "x" * 100_000, "会话", "CON"])
def test_a_session_id_never_becomes_a_path(kiln: House, session: str) -> None:
    assert reply(call("stop", {**STOP, "session_id": session}, *at(kiln)))["decision"] == "block"
    assert reply(call("stop", {**STOP, "session_id": session}, *at(kiln))) == {}
    (mark,) = (kiln.root / "memory/.dreams").glob("asked-*")
    assert len(mark.name) == len(f"asked-{DAY}-") + hooks.SESSION_DIGITS


@pytest.mark.parametrize("session", [None, 7, "", ["s1"]])
def test_a_stop_without_a_session_is_not_held_up(kiln: House, session: object) -> None:
    assert reply(call("stop", {**STOP, "session_id": session}, *at(kiln))) == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"garbage",
        b"\xff\xfe\x00",
        b"[1]",
        b"null",
        b'"text"',
        b"[" * 100_000,
        b"9" * 10_000,
        b'{"a": ' * 50_000,
        b'{"session_id": "s1", "stop_hook_active": false, "pad": "' + b"x" * 10_000_000 + b'"}',
    ],
    ids=["empty", "garbage", "bytes", "list", "null", "string", "deep", "long-number", "deep-object", "10-MB"],
)
@pytest.mark.parametrize("event", ["session-start", "stop"])
def test_input_that_is_no_hook_is_answered_with_nothing_and_one_sentence(kiln: House, event: str, raw: bytes) -> None:
    result = call(event, raw, *at(kiln))
    assert result.stdout == "{}\n"
    assert result.stderr.startswith("dream: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("raw", "said"), [(b" ", "nothing came"), (b"garbage", "what came is no JSON"), (b"[1]", "is JSON of another kind")]
)
def test_what_came_in_place_of_a_hook_is_said_in_words(kiln: House, raw: bytes, said: str) -> None:
    sentence = call("stop", raw, *at(kiln)).stderr
    assert said in sentence
    assert "Error" not in sentence


def test_the_folder_of_the_session_serves_when_it_has_a_memory(kiln: House) -> None:
    said = reply(call("session-start", {**START, "cwd": str(kiln.root)}))
    assert "The kiln takes cone six" in said["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("cwd", [None, 7, "", "\0", ".", "memory", "/nowhere/at/all", "x" * 300, "EMPTY"])
@pytest.mark.parametrize("event", ["session-start", "stop"])
def test_a_folder_without_a_memory_is_left_alone(tmp_path: Path, event: str, cwd: object) -> None:
    Path("memory").mkdir()  # below the present folder, which the host did not name
    said = {**START, **STOP, "cwd": str(tmp_path) if cwd == "EMPTY" else cwd}
    result = call(event, said)
    assert (result.stdout, result.stderr) == ("{}\n", "")
    assert list(tmp_path.iterdir()) == []
    assert list(Path("memory").iterdir()) == []


def test_the_configured_workspace_wins_over_the_folder_of_the_session(kiln: House, own_settings: Path) -> None:
    other = House(own_settings / "other")
    other.write("memory/2026-03-02.md", "- x\n")
    other.write("MEMORY.md", "elsewhere\n")
    settings = own_settings / ".config/nightly-dreaming/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[workspace]\npath = "{kiln.root}"\n', encoding="utf-8")
    said = reply(call("session-start", {**START, "cwd": str(other.root)}))
    assert "The kiln takes cone six" in said["hookSpecificOutput"]["additionalContext"]
    said = reply(call("session-start", START, "--workspace", str(other.root)))
    assert "elsewhere" in said["hookSpecificOutput"]["additionalContext"]


def test_the_settings_of_a_stranger_name_no_workspace(kiln: House) -> None:
    Path("config.toml").write_text(f'[workspace]\npath = "{kiln.root}"\n', encoding="utf-8")
    assert reply(call("session-start", {**START, "cwd": str(Path.cwd())})) == {}


@pytest.mark.parametrize("link", ["MEMORY.md", "memory.md", "memory", "memory/.dreams"])
def test_a_folder_only_the_host_named_cannot_lead_out_of_itself(tmp_path: Path, link: str) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text("a private line\n", encoding="utf-8")
    inside.mkdir()
    if link != "memory":
        (inside / "memory").mkdir()
    target = outside / ("file" if link.endswith(".md") else "folder")
    (inside / link).symlink_to(target)
    said = {**START, **STOP, "cwd": str(inside)}
    event = "session-start" if link.endswith(".md") else "stop"
    result = call(event, said)
    assert result.stdout == "{}\n"
    assert "leads out" in result.stderr
    assert list((outside / "folder").iterdir()) == []
    if link.endswith(".md"):
        assert reply(call(event, said, "--workspace", str(inside))) != {}


def test_a_mark_writes_through_no_link(kiln: House, tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.mktemp("outside") / "file"
    state = kiln.root / "memory/.dreams"
    state.mkdir()
    (state / ".gitignore").symlink_to(target)
    name = f"asked-{DAY}-{hooks.call_of(json.dumps(STOP).encode()).session}"
    (state / name).symlink_to(target)
    assert reply(call("stop", {**STOP, "cwd": str(kiln.root)})) == {}
    assert not target.exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--bogus",),
        ("--workspace",),
        ("--workspace", "a-file"),
        ("--now", "tonight"),
        ("--seconds", "soon"),
        ("--config", "/nowhere.toml/x"),
    ],
)
def test_a_wrong_option_never_holds_the_host_up(kiln: House, options: tuple[str, ...]) -> None:
    kiln.write("a-file", "")
    options = tuple(str(kiln.root / one) if one == "a-file" else one for one in options)
    result = CliRunner().invoke(dream, ["hook", "stop", *options], input=b"{}", prog_name="dream")
    assert result.exit_code == 0
    assert result.stdout == "{}\n"


def test_an_unknown_event_is_answered_with_nothing() -> None:
    result = CliRunner().invoke(dream, ["hook", "lunch"], prog_name="dream")
    assert (result.exit_code, result.stdout) == (0, "{}\n")
    assert "lunch" in result.stderr


def test_trouble_with_the_files_is_one_sentence(kiln: House) -> None:
    (kiln.root / "MEMORY.md").unlink()
    (kiln.root / "MEMORY.md").mkdir()
    kiln.write("memory/.dreams", "a file where the folder should be")
    for event, said in (("session-start", START), ("stop", STOP)):
        result = call(event, said, *at(kiln))
        assert result.stdout == "{}\n"
        assert result.stderr.count("\n") == 1


def test_a_workspace_that_is_not_there_is_said(tmp_path: Path) -> None:
    result = call("session-start", START, "--workspace", str(tmp_path / "nowhere"))
    assert result.stdout == "{}\n"
    assert "dream init" in result.stderr


def test_settings_that_cannot_be_read_are_said(kiln: House) -> None:
    kiln.write("config.toml", "[memory\n")
    result = call("session-start", START, *at(kiln))
    assert result.stdout == "{}\n"
    assert "config.toml" in result.stderr


def test_work_that_is_not_done_in_time_is_not_waited_for() -> None:
    done = threading.Event()
    assert within(0.01, lambda: {"done": done.wait(60)}) is None
    done.set()


def test_the_state_is_where_the_store_is() -> None:
    assert hooks.STATE == home.STATE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[memory]\nbudget_chars = 2500\n",
        '[workspace]\ndiaries = "notes"\n[dreaming]\ntimezone = "Europe/Berlin"\n',
        '[workspace]\npath = "."\n',
        '[workspace]\npath = "sub"\n',
    ],
)
@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"DREAM_MEMORY__BUDGET_CHARS": "3_000"},
        {"DREAM_DREAMING__TIMEZONE": "Asia/Tokyo", "DREAM_WORKSPACE__DIARIES": "d/e"},
        {"DREAM_WORKSPACE__PATH": "~/agent"},
    ],
)
def test_a_glance_sees_what_the_full_settings_say(tmp_path: Path, text: str, environ: dict[str, str]) -> None:
    config, user = tmp_path / "config.toml", tmp_path / "user.toml"
    config.write_text(text, encoding="utf-8")
    user.write_text('[memory]\nbudget_chars = 7000\n[workspace]\ndiaries = "u"\n', encoding="utf-8")
    seen = glance.glance(workspace=None, config=config, environ=environ, user_config=user)
    full = layers.load(workspace=None, config=config, environ=environ, user_config=user)
    assert seen.budget_chars == full.memory.budget_chars
    assert seen.diaries == full.workspace.diaries
    assert seen.timezone == full.dreaming.timezone
    assert (seen.workspace or Path()) == full.workspace.path


def test_a_glance_takes_the_default_for_what_is_not_legal(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        '[memory]\nbudget_chars = true\n[workspace]\ndiaries = "../x"\n[dreaming]\ntimezone = 3\n', encoding="utf-8"
    )
    seen = glance.glance(workspace=tmp_path, config=None, environ={}, user_config=tmp_path / "none.toml")
    assert (seen.budget_chars, seen.diaries, seen.timezone) == (10_000, "memory", "")


def test_the_user_settings_are_the_same_file() -> None:
    assert glance.user_settings() == layers.default_user_config()


def run(event: str, raw: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dreaming", "hook", event, *options]
    environ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    return subprocess.run(command, input=raw, capture_output=True, check=False, timeout=60, env=environ)


def test_a_real_host_gets_what_it_expects(kiln: House) -> None:
    kiln.write("MEMORY.md", "测试必须使用真实数据库 🏺\n")
    said = json.dumps({**START, **STOP, "cwd": str(kiln.root)}).encode()
    done = run("session-start", said, "--seconds", "60")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "真实数据库 🏺" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    done = run("stop", said, "--seconds", "60")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["decision"] == "block"


def test_a_host_that_says_nothing_is_not_kept_waiting(kiln: House) -> None:
    command = [sys.executable, "-m", "dreaming", "hook", "stop", "--seconds", "0.2", "--workspace", str(kiln.root)]
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(timeout=60) == 0
        took = time.monotonic() - began
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b"{}\n"
        assert process.stderr.read().count(b"\n") == 1
    assert took < 30


def test_what_is_slow_to_load_is_not_loaded_at_a_stop() -> None:
    code = (
        "import sys\n"
        "import dreaming.cli.hook, dreaming.hooks\n"
        "print([n for n in ('pydantic', 'sqlite_utils', 'markdown_it', 'jinja2', 'numpy') if n in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


GUIDE = (Path(__file__).parent.parent / "docs/agents.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def test_the_settings_in_the_guide_can_be_pasted() -> None:
    documents: list[Any] = [*map(json.loads, blocks("json")), *map(tomllib.loads, blocks("toml"))]
    assert len(documents) >= 5
    for code in blocks("python"):
        compile(code, "docs/agents.md", "exec")


@pytest.mark.parametrize("command", sorted(set(re.findall(r'"(dream hook [^"]+)"', GUIDE))))
def test_the_hooks_in_the_guide_are_commands(kiln: House, command: str) -> None:
    _, _, event, *options = command.replace("/home/me/agent", str(kiln.root)).split()
    said = reply(call(event, {**START, **STOP}, *options))
    assert said.keys() in ({"hookSpecificOutput"}, {"decision", "reason"})
