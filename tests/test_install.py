"""What the system is told to call: shown first, written once, taken back, and accepted by the system itself."""

import json
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cron import crontab
from cron.placing import for_systemd
from cron.switching import NotSwitchedError, switched_on
from dreaming.cli import dream
from dreaming.config import rendered
from house import House

ROOT = Path(__file__).parent.parent
CRONTAB = """\
#!/bin/sh
# A crontab in a file, as cron keeps it for its user.
file="$HOME/.crontab"
case "$1" in
  -l) if [ -e "$file" ]; then cat "$file"; else echo "no crontab for me" >&2; exit 1; fi ;;
  -r) rm -f "$file" ;;
  -) cat > "$file.new"; if grep -q REFUSE "$file.new"; then echo "bad minute" >&2; exit 1; fi; mv "$file.new" "$file" ;;
esac
"""
SYSTEM = """\
#!/bin/sh
# A system that remembers what it was told, and can be asked; it writes down what it is told to do.
has="$HOME/$(basename "$0")-has"
case "$*" in *NeedDaemonReload*) if [ -e "$HOME/unread" ]; then echo no; echo; echo yes; else echo no; fi; exit ;; esac
case "$*" in *is-enabled*|*is-active*|print\\ *) [ -e "$has" ]; exit ;; esac
echo "$(basename "$0") $*" >> "$HOME/called"
[ ! -e "$HOME/refuses" ] || exit 1
case "$*" in *enable\\ --now*|bootstrap*) touch "$has" ;; esac
case "$*" in *disable\\ --now*|bootout*) rm -f "$has" ;; esac
"""
CONSOLE = """\
#!{python}
import sys
sys.path.insert(0, {root!r})
from dreaming.__main__ import main
main()
"""
MINE = b"# mine\n\xff\xfe no text\n\n5 4 * * *  /usr/local/bin/backup\t%in\n"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder, with programs of the system that write down how they are called, and a console script."""
    home = tmp_path_factory.mktemp("home")
    programs = home / "bin"
    programs.mkdir()
    console = CONSOLE.format(python=sys.executable, root=str(ROOT))
    for name, text in (("crontab", CRONTAB), ("systemctl", SYSTEM), ("launchctl", SYSTEM), ("dream", console)):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("TZ", "Etc/UTC")
    monkeypatch.delenv("SUDO_USER", raising=False)
    monkeypatch.setattr("cron.placing.program", lambda: (str(programs / "dream"),))
    return home


@pytest.fixture
def on(house: House) -> House:
    house.write("memory/2026-06-17.md", "- Boat is called Kestrel\n")
    house.write("config.toml", "[dreaming]\nenabled = true\n")
    return house


def call(*arguments: object, answer: str = "") -> Result:
    return CliRunner().invoke(dream, ["schedule", *map(str, arguments)], prog_name="dream", input=answer)


def tab(home: Path) -> bytes:
    file = home / ".crontab"
    return file.read_bytes() if file.exists() else b""


def called(home: Path) -> list[str]:
    file = home / "called"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


# -- cron -----------------------------------------------------------------------------------------------------------


def test_the_block_is_put_in_once_and_other_lines_keep_every_byte(home: Path, on: House) -> None:
    (home / ".crontab").write_bytes(MINE)
    for _ in range(2):
        assert call("install", "--cron", "--yes", "-w", on.root).exit_code == 0
    assert tab(home).startswith(MINE)
    assert tab(home).count(crontab.BEGIN) == tab(home).count(b"--all") == 1
    assert call("uninstall", "--cron", "--yes").exit_code == 0
    assert tab(home) == MINE


def test_a_second_install_has_nothing_to_change_and_asks_nothing(home: Path, on: House) -> None:
    call("install", "--cron", "--yes", "-w", on.root)
    assert call("install", "--cron", "-w", on.root).stdout == "It is so already; nothing to change.\n"


def test_switching_off_and_on_leaves_exactly_one_line(home: Path, on: House) -> None:
    for command in ("install", "uninstall", "install", "install"):
        call(command, "--cron", "--yes", "-w", on.root)
    assert tab(home).count(b"--all") == 1


def test_nothing_is_written_before_it_is_shown_and_allowed(home: Path, on: House) -> None:
    shown = call("install", "--cron", "-w", on.root, answer="n\n")
    assert shown.exit_code == 1
    assert "+0 3 * * *" in shown.stdout
    assert tab(home) == b""
    assert call("install", "--cron", "-w", on.root, answer="y\n").exit_code == 0
    assert b"0 3 * * *" in tab(home)


@pytest.mark.parametrize("system", ["cron", "systemd", "launchd"])
def test_print_only_prints(home: Path, on: House, system: str) -> None:
    before = sorted(home.rglob("*")), on.digests()
    result = call("install", f"--{system}", "--user", "--print", "--enable", "-w", on.root)
    assert result.exit_code == 0
    assert f"{home}/bin/dream" in result.stdout
    assert (sorted(home.rglob("*")), on.digests()) == before


def test_an_uninstall_of_nothing_changes_nothing(home: Path) -> None:
    assert "nothing to change" in call("uninstall", "--cron", "--yes").stdout
    assert "nothing to change" in call("uninstall", "--systemd", "--user", "--yes").stdout
    assert called(home) == []


def test_a_block_without_its_end_is_left_to_the_user(home: Path, on: House) -> None:
    broken = MINE + crontab.BEGIN + b"\n"
    (home / ".crontab").write_bytes(broken)
    for command in ("install", "uninstall"):
        result = call(command, "--cron", "--yes", "-w", on.root)
        assert result.exit_code == 1
        assert "crontab -e" in result.stderr
    assert tab(home) == broken


def test_what_cron_refuses_is_said(home: Path, on: House) -> None:
    (home / ".crontab").write_bytes(b"REFUSE\n")
    result = call("install", "--cron", "--yes", "-w", on.root)
    assert result.exit_code == 1
    assert "bad minute" in result.stderr
    assert tab(home) == b"REFUSE\n"


lines = st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line and b"dream" not in line), max_size=6)


@given(before=lines, after=lines, block=st.sampled_from([b"0 3 * * *  dream", b"# a\n5 3 * * *  dream"]))
def test_the_block_goes_in_and_out_of_any_crontab(before: list[bytes], after: list[bytes], block: bytes) -> None:
    text = b"".join(line + b"\n" for line in (*before, *after))
    once = crontab.with_block(text, block)
    assert crontab.with_block(once, block) == once
    assert crontab.without_block(once) == text
    moved = once + b"one more line\n"
    assert crontab.without_block(crontab.with_block(moved, b"other")) == text + b"one more line\n"


def cron_line(home: Path) -> str:
    return next(line for line in tab(home).decode().splitlines() if "--all" in line)


@pytest.mark.parametrize("name", ["agent", "my agent's 100%"])
def test_the_line_for_cron_runs_the_due_night_with_nothing_of_the_user_s_shell(
    home: Path, tmp_path: Path, name: str
) -> None:
    house = House(tmp_path / name)
    house.write("memory/2026-06-17.md", "- Boat is called Kestrel\n")
    house.write("config.toml", "[dreaming]\nenabled = true\n")
    call("install", "--cron", "--yes", "-w", house.root)
    command = cron_line(home).removeprefix("0 3 * * *  ")
    assert "%" not in command.replace(r"\%", "")
    bare = ["env", "-i", "PATH=/usr/bin:/bin", f"HOME={home}", "sh", "-c", command.replace(r"\%", "%")]
    for expected in ("the night of", "nothing is due"):
        done = subprocess.run(bare, cwd="/", capture_output=True, text=True, check=False)
        assert expected in done.stdout, done.stderr
        assert done.returncode == 0


def test_a_pattern_stays_a_pattern_for_workspaces_to_come(home: Path, on: House) -> None:
    on.write("agents/a/config.toml", "[dreaming]\nenabled = true\n")
    call("install", "--cron", "--yes", "-w", on.root / "agents/*")
    assert shlex.split(cron_line(home))[-3:] == ["--workspace", str(on.root / "agents/*"), "--all"]


def test_workspaces_of_the_settings_stay_with_the_settings(home: Path, on: House) -> None:
    settings = home / ".config/nightly-dreaming/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[schedule]\nworkspaces = ["{on.root}/agents/*"]\n', encoding="utf-8")
    on.write("agents/a/config.toml", "[dreaming]\nenabled = true\n")
    call("install", "--cron", "--yes")
    assert cron_line(home) == f"0 3 * * *  {home}/bin/dream --all"


def test_workspaces_of_the_environment_are_named_for_cron_which_has_another_one(
    home: Path, on: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    on.write("agents/a/config.toml", "[dreaming]\nenabled = true\n")
    monkeypatch.setenv("DREAM_SCHEDULE__WORKSPACES", json.dumps([f"{on.root}/agents/*"]))
    call("install", "--cron", "--yes")
    assert shlex.split(cron_line(home))[-3:] == ["--workspace", str(on.root / "agents/*"), "--all"]


@pytest.mark.parametrize("system", ["cron", "systemd", "launchd"])
@pytest.mark.parametrize("name", ["a\n* * * * * touch b", "a\rb", os.fsdecode(b"b\xff")])
def test_a_folder_that_no_line_of_the_system_can_name_is_refused(
    home: Path, tmp_path: Path, system: str, name: str
) -> None:
    house = House(tmp_path / name)
    house.write("config.toml", "[dreaming]\nenabled = true\n")
    result = call("install", f"--{system}", "--user", "--yes", "-w", house.root)
    assert result.exit_code == 1
    assert "rename the folder" in result.stderr
    assert (tab(home), units(home), (home / "Library").exists()) == (b"", {}, False)
    assert call("show", "-w", house.root).exit_code == 0


def test_a_workspace_that_is_not_there_is_not_installed(home: Path, on: House) -> None:
    result = call("install", "--cron", "--yes", "-w", on.root, "-w", on.root / "typo")
    assert result.exit_code == 2
    assert f"{on.root}/typo is no folder" in result.stderr
    assert tab(home) == b""


def test_a_workspace_with_wrong_settings_hides_the_nights_of_no_other(home: Path, tmp_path: Path) -> None:
    House(tmp_path / "a").write("config.toml", "[dreaming]\nenabled = true\n")
    House(tmp_path / "b").write("config.toml", '[dreaming]\ntimezone = "Mars/Base"\n')
    result = call("show", "-w", tmp_path / "*")
    assert result.exit_code == 2
    assert f"Workspace   {tmp_path}/a\n" in result.stdout
    assert 'dreaming.timezone: found "Mars/Base"' in result.stderr


def test_the_line_for_cron_names_the_settings_that_were_named(home: Path, on: House, tmp_path: Path) -> None:
    settings = tmp_path / "other.toml"
    settings.write_text('[dreaming]\ntime = "0 5 * * *"\n', encoding="utf-8")
    call("install", "--cron", "--yes", "-w", on.root, "--config", settings)
    assert cron_line(home).startswith("0 5 * * *  ")
    assert shlex.split(cron_line(home))[-3:] == ["--config", str(settings), "--all"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ('timezone = "Asia/Kolkata"', "the nights go by the time of Asia/Kolkata"),
        ('time = "0 3 L * *"', "the nights do not come at one time of every day"),
    ],
)
def test_where_cron_cannot_say_the_time_it_looks_every_quarter_of_an_hour(
    home: Path, on: House, settings: str, why: str
) -> None:
    on.write("config.toml", f"[dreaming]\nenabled = true\n{settings}\n")
    call("install", "--cron", "--yes", "-w", on.root)
    assert cron_line(home).startswith("*/15 * * * *  ")
    assert cron_line(home).endswith(" --all >/dev/null")
    assert why in tab(home).decode()


def test_a_time_that_clocks_skip_is_looked_for_every_quarter_of_an_hour(
    home: Path, on: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setattr("dreaming.config.get_localzone", lambda: ZoneInfo("Europe/Berlin"))
    on.write("config.toml", '[dreaming]\nenabled = true\ntime = "30 2 * * *"\n')
    call("install", "--cron", "--yes", "-w", on.root)
    assert cron_line(home).startswith("*/15 ")


# -- switching on ---------------------------------------------------------------------------------------------------


def test_nights_stay_off_and_install_says_so(home: Path, house: House) -> None:
    house.write("config.toml", rendered())
    before = house.digests()
    result = call("install", "--cron", "--yes", "-w", house.root)
    assert "nights are off" in result.stdout
    assert "--enable" in result.stdout
    assert house.digests() == before


def test_enable_switches_on_and_changes_one_line(home: Path, house: House) -> None:
    house.write("config.toml", rendered())
    (house.root / "config.toml").chmod(0o600)
    result = call("install", "--cron", "--yes", "--enable", "-w", house.root)
    assert "+enabled = true  # true or false" in result.stdout
    assert house.read("config.toml") == rendered().replace("enabled = false", "enabled = true", 1)
    assert (house.root / "config.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[dreaming]\nenabled = true\n"),
        ("[deep]\nlimit = 3\n", "[dreaming]\nenabled = true\n\n[deep]\nlimit = 3\n"),
        ("[dreaming]\ntime = '0 5 * * *'\n", "[dreaming]\nenabled = true\ntime = '0 5 * * *'\n"),
        ("[dreaming]  # mine\nenabled=false # no\n", "[dreaming]  # mine\nenabled=true # no\n"),
        ("[light]\nenabled = false\n[dreaming]\n", "[light]\nenabled = false\n[dreaming]\nenabled = true\n"),
    ],
)
def test_switching_on_changes_that_alone(before: str, after: str) -> None:
    assert switched_on(before, Path("config.toml")) == after


@pytest.mark.parametrize("text", ["dreaming.enabled = false\n", "dreaming = { enabled = false }\n", '["dreaming"]\n'])
def test_settings_in_a_way_of_their_own_are_left_to_the_user(text: str) -> None:
    with pytest.raises(NotSwitchedError, match="by hand"):
        switched_on(text, Path("config.toml"))


def test_line_ends_of_the_settings_stay(home: Path, house: House) -> None:
    house.write("config.toml", "[dreaming]\r\nenabled = false\r\n[deep]\r\nlimit = 3\r\n")
    call("install", "--cron", "--yes", "--enable", "-w", house.root)
    assert house.read("config.toml") == "[dreaming]\r\nenabled = true\r\n[deep]\r\nlimit = 3\r\n"


# -- systemd --------------------------------------------------------------------------------------------------------


def units(home: Path) -> dict[str, str]:
    folder = home / ".config/systemd/user"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} if folder.is_dir() else {}


def test_the_units_are_written_and_switched_on_and_taken_back(home: Path, on: House) -> None:
    call("install", "--systemd", "--user", "--yes", "-w", on.root)
    assert sorted(units(home)) == ["dream.service", "dream.timer"]
    call("uninstall", "--systemd", "--user", "--yes")
    assert units(home) == {}
    assert called(home) == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now dream.timer",
        "systemctl --user disable --now dream.timer",
        "systemctl --user daemon-reload",
    ]


def test_a_system_that_refuses_is_said(home: Path, on: House) -> None:
    (home / "refuses").touch()
    result = call("install", "--systemd", "--user", "--yes", "-w", on.root)
    assert result.exit_code == 1
    assert "run it by hand" in result.stderr


@pytest.mark.parametrize("system", ["systemd", "launchd"])
def test_what_the_system_refused_is_done_by_the_next_install(home: Path, on: House, system: str) -> None:
    (home / "refuses").touch()
    assert call("install", f"--{system}", "--user", "--yes", "-w", on.root).exit_code == 1
    (home / "refuses").unlink()
    (home / "called").unlink()
    again = call("install", f"--{system}", "--user", "--yes", "-w", on.root)
    assert (again.exit_code, "nothing to change" in again.stdout) == (0, False)
    assert any("enable --now" in line or "bootstrap" in line for line in called(home))
    assert "nothing to change" in call("install", f"--{system}", "--user", "--yes", "-w", on.root).stdout


@pytest.mark.parametrize("system", ["systemd", "launchd"])
def test_what_somebody_switched_off_is_switched_on_by_an_install(home: Path, on: House, system: str) -> None:
    call("install", f"--{system}", "--user", "--yes", "-w", on.root)
    for memory in home.glob("*-has"):
        memory.unlink()
    again = call("install", f"--{system}", "--user", "--yes", "-w", on.root)
    assert "nothing to change" not in again.stdout
    assert list(home.glob("*-has"))


def test_units_that_systemd_has_not_read_are_told_to_it(home: Path, on: House) -> None:
    call("install", "--systemd", "--user", "--yes", "-w", on.root)
    (home / "unread").touch()
    assert "nothing to change" not in call("install", "--systemd", "--user", "--yes", "-w", on.root).stdout
    assert called(home).count("systemctl --user daemon-reload") == 2


@pytest.mark.parametrize("system", ["systemd", "launchd"])
def test_what_the_system_still_has_is_taken_out_of_it_without_its_file(home: Path, on: House, system: str) -> None:
    call("install", f"--{system}", "--user", "--yes", "-w", on.root)
    for file in (*home.rglob("dream.*"), *home.rglob("*.plist")):
        file.unlink()
    assert "nothing to change" not in call("uninstall", f"--{system}", "--user", "--yes").stdout
    assert not list(home.glob("*-has"))
    assert "nothing to change" in call("uninstall", f"--{system}", "--user", "--yes").stdout


def test_where_the_program_of_the_system_is_not_the_files_alone_are_compared(home: Path, on: House) -> None:
    (home / "bin/launchctl").unlink()
    assert "not here" in call("install", "--launchd", "--user", "--yes", "-w", on.root).stdout
    assert "nothing to change" in call("install", "--launchd", "--user", "--yes", "-w", on.root).stdout


def test_a_folder_that_cannot_be_written_to_is_said_with_the_way_out(home: Path, on: House) -> None:
    (home / ".config").write_text("a file where a folder belongs", encoding="utf-8")
    result = call("install", "--systemd", "--user", "--yes", "-w", on.root)
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
    assert called(home) == []


def test_a_missed_night_is_run_at_the_start_and_only_the_workspaces_can_be_written_to(home: Path, on: House) -> None:
    call("install", "--systemd", "--user", "--yes", "-w", on.root)
    assert "\nPersistent=true\n" in units(home)["dream.timer"]
    assert "\nOnCalendar=*-*-* 03:00:00\n" in units(home)["dream.timer"]
    service = units(home)["dream.service"]
    for line in ("ProtectSystem=strict", "NoNewPrivileges=true", "PrivateTmp=true", f"ReadWritePaths=-{on.root}"):
        assert f"\n{line}\n" in service


def test_systemd_goes_by_the_zone_of_the_settings(home: Path, on: House) -> None:
    on.write("config.toml", '[dreaming]\nenabled = true\ntime = "30 4 * * *"\ntimezone = "Europe/Berlin"\n')
    call("install", "--systemd", "--user", "--yes", "-w", on.root)
    assert "\nOnCalendar=*-*-* 04:30:00 Europe/Berlin\n" in units(home)["dream.timer"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("user", [("--user",), ()], ids=["user", "system"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("agent", ""),
        ('my "agent\'s" 100% $HOME \\ ü', 'time = "30 4 * * *"\ntimezone = "Europe/Berlin"'),
        ("quarterly", 'time = "0 3 L * *"'),
    ],
)
def test_systemd_accepts_the_units(home: Path, tmp_path: Path, name: str, settings: str, user: Sequence[str]) -> None:
    house = House(tmp_path / name)
    house.write("config.toml", f"[dreaming]\nenabled = true\n{settings}\n")
    shown = call("install", "--systemd", "--print", *user, "-w", house.root).stdout
    folder = tmp_path / "units"
    folder.mkdir()
    for part in re.split(r"^--- .*\n\+\+\+ .*/(?=dream)", shown, flags=re.MULTILINE)[1:]:
        unit, _, text = part.partition("\n")
        added = [line[1:] for line in text.splitlines() if line.startswith("+")]
        (folder / unit).write_text("\n".join(added) + "\n", encoding="utf-8")
    files = [str(folder / unit) for unit in ("dream.service", "dream.timer")]
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_UNIT_PATH": f"{folder}:"}
    done = subprocess.run(
        ["systemd-analyze", *user, "verify", "--man=no", *files],
        capture_output=True,
        text=True,
        check=False,
        env=environ,
    )
    mine = [line for line in done.stderr.splitlines() if "dream" in line]
    assert (done.returncode, mine) == (0, []), done.stderr
    (calendar,) = (line for line in (folder / "dream.timer").read_text().splitlines() if line.startswith("OnCal"))
    said = ["systemd-analyze", "calendar", calendar.partition("=")[2]]
    assert subprocess.run(said, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("word", "said"),
    [("/a/b", "/a/b"), ("/my agent", '"/my agent"'), ("100%", "100%%"), ('"$x"', '"\\"$$x\\""'), ("a\\b", "a\\\\b")],
)
def test_words_of_a_unit_mean_themselves(word: str, said: str) -> None:
    assert for_systemd(word, command=True) == said


# -- launchd --------------------------------------------------------------------------------------------------------


def plist(home: Path) -> dict[str, object]:
    path = home / "Library/LaunchAgents/local.nightly-dreaming.plist"
    found: dict[str, object] = plistlib.loads(path.read_bytes())
    return found


@pytest.mark.parametrize("name", ["agent", "<my> & 'agent'"])
def test_the_job_of_launchd_is_a_property_list(home: Path, tmp_path: Path, name: str) -> None:
    house = House(tmp_path / name)
    house.write("config.toml", "[dreaming]\nenabled = true\n")
    call("install", "--launchd", "--user", "--yes", "-w", house.root)
    assert plist(home)["ProgramArguments"] == [f"{home}/bin/dream", "--workspace", str(house.root), "--all"]
    assert plist(home)["StartCalendarInterval"] == {"Hour": 3, "Minute": 0}
    assert called(home)[-1].startswith("launchctl bootstrap gui/")


def test_the_job_of_launchd_looks_where_it_cannot_say_the_time(home: Path, on: House) -> None:
    on.write("config.toml", '[dreaming]\nenabled = true\ntimezone = "Asia/Kolkata"\n')
    call("install", "--launchd", "--user", "--yes", "-w", on.root)
    assert plist(home)["StartInterval"] == 900
    assert "StartCalendarInterval" not in plist(home)


def test_the_job_of_launchd_is_taken_back(home: Path, on: House) -> None:
    for command in ("install", "uninstall"):
        call(command, "--launchd", "--user", "--yes", "-w", on.root)
    assert list((home / "Library/LaunchAgents").iterdir()) == []


# -- both -----------------------------------------------------------------------------------------------------------


def test_a_system_has_to_be_named(on: House) -> None:
    assert call("install", "--yes", "-w", on.root).exit_code == 2


def test_wrong_settings_install_nothing(home: Path, on: House) -> None:
    on.write("config.toml", "[dreaming]\ntime = 3\n")
    result = call("install", "--cron", "--yes", "-w", on.root)
    assert result.exit_code == 2
    assert tab(home) == b""
