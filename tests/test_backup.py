"""Backup and restore: one archive holds all, comes back whole or not at all, and no diary is ever overwritten."""

import hashlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import dream
from dreaming.home import opened
from house import House, moment
from memory import schema
from memory.store import Store
from workspace.lock import lock

SETTINGS = (
    '[dreaming]\ntimezone = "Asia/Shanghai"\nreports = true\n[deep]\nmin_score = 0.7\n[embeddings]\nembedder = "off"\n'
)
NOW = "2026-03-06T09:00"
STORE = "memory/.dreams/recall.db"
FILES = {
    STORE,
    "MEMORY.md",
    "DREAMS.md",
    "config.toml",
    "memory/2026-03-02.md",
    "memory/旅行/2026-03-01.md",
    "memory/dreaming/deep/2026-03-06.md",
    "memory/dreaming/light/2026-03-06.md",
    "memory/dreaming/rem/2026-03-06.md",
    "memory/archive/MEMORY-2025.md",
}


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A workspace after a night that promoted one line."""
    (tmp_path / "home").mkdir()
    house = House(tmp_path / "home", **{"deep.min_score": 0.7, "dreaming.reports": True})
    house.write("config.toml", SETTINGS)
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n")
    house.write("memory/旅行/2026-03-01.md", "- 火车票要提前两周买\r\n")
    house.write("memory/archive/MEMORY-2025.md", "# Archived Long-Term Memory\n")
    for day, query in (("03", "garage panel cell"), ("04", "CR2450"), ("05", "which cell does the garage panel take")):
        house.search(query, f"2026-03-{day}T10:00")
    house.night("2026-03-06T03:00")
    return house


def run(house: House, *args: str | Path, now: str = NOW) -> Result:
    return CliRunner().invoke(dream, ["--workspace", str(house.root), "--now", now, *map(str, args)])


@pytest.fixture
def archive(house: House) -> Path:
    path = house.root.parent / "backup.zip"
    result = run(house, "backup", path)
    assert result.exit_code == 0, result.output
    return path


def empty(archive: Path, name: str = "new") -> House:
    root = archive.parent / name
    root.mkdir()
    return House(root)


def rows(house: House) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of the store."""
    with Store.open(house.root / STORE) as store:
        tables = [row[0] for row in store.db.conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: store.db.conn.execute(f"SELECT * FROM [{table}]").fetchall() for table in sorted(tables)}


def disk(house: House) -> dict[str, str]:
    files = sorted(path for path in house.root.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def change(archive: Path, edit: Callable[[dict[str, bytes], dict[str, object]], object]) -> Path:
    """Return a copy of an archive whose members and manifest were changed, its digests made to fit."""
    with ZipFile(archive) as source:
        members = {name: source.read(name) for name in source.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    edit(members, manifest)
    manifest["files"] = [
        {"path": name, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()} for name, raw in members.items()
    ]
    return packed(archive.with_name("changed.zip"), members, manifest)


def packed(path: Path, members: Mapping[str, bytes], manifest: object) -> Path:
    with ZipFile(path, "w") as target:
        for name, raw in members.items():
            target.writestr(name, raw)
        target.writestr("manifest.json", json.dumps(manifest))
    return path


def added(archive: Path, about: ZipInfo, raw: bytes, *, said: str) -> Path:
    """Return a copy of an archive with one more member, of which the manifest says that name."""
    with ZipFile(archive) as source:
        members = {name: source.read(name) for name in source.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    manifest["files"].append({"path": said, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()})
    path = packed(archive.with_name("added.zip"), members, manifest)
    with ZipFile(path, "a") as target:
        target.writestr(about, raw)
    return path


# -- backup -----------------------------------------------------------------------------------------------------


def test_a_backup_holds_the_store_and_every_file(archive: Path) -> None:
    with ZipFile(archive) as found:
        assert set(found.namelist()) == FILES | {"manifest.json"}
        manifest = json.loads(found.read("manifest.json"))
        assert (manifest["format"], manifest["workspace"], manifest["at"]) == (1, "home", "2026-03-06T01:00:00+00:00")
        for one in manifest["files"]:
            assert hashlib.sha256(found.read(one["path"])).hexdigest() == one["sha256"]
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_equal_content_at_the_same_time_makes_the_same_bytes(house: House, archive: Path) -> None:
    again = archive.with_name("again.zip")
    with opened(house.root, environ={}, overrides=house.settings):
        assert run(house, "backup", again).exit_code == 0
    assert again.read_bytes() == archive.read_bytes()
    later = archive.with_name("later.zip")
    run(house, "backup", later, now="2026-03-06T10:00")
    assert later.read_bytes() != archive.read_bytes()


def test_a_backup_changes_nothing_in_the_workspace(house: House) -> None:
    before = disk(house)
    run(house, "backup", house.root.parent / "backup.zip")
    assert disk(house) == before


def test_a_file_that_is_there_is_not_overwritten(house: House, archive: Path) -> None:
    before = archive.read_bytes()
    result = run(house, "backup", archive)
    assert (result.exit_code, "is there already" in result.stderr) == (1, True)
    assert archive.read_bytes() == before


@pytest.mark.parametrize("name", ["memory/backup.zip", "memory/.dreams/backup.zip", "link/backup.zip"])
def test_a_backup_does_not_lie_among_the_diaries(house: House, name: str) -> None:
    (house.root / "link").symlink_to(house.root / "memory")
    result = run(house, "backup", house.root / name)
    assert (result.exit_code, "name a file outside of it" in result.stderr) == (1, True)
    assert not (house.root / name).exists()


def test_a_folder_that_is_not_there_is_one_sentence(house: House) -> None:
    result = run(house, "backup", house.root.parent / "nowhere/backup.zip")
    assert result.exit_code == 1
    assert result.stderr.startswith("dream: ")
    assert not list(house.root.parent.glob(".*"))


def test_a_backup_taken_while_somebody_writes_holds_what_was_committed(house: House) -> None:
    with (
        closing(sqlite3.connect(house.root / STORE, isolation_level=None)) as writer,
        lock(house.root, now=moment(NOW)),
    ):
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM promotion")
        assert run(house, "backup", house.root.parent / "backup.zip").exit_code == 0
        writer.execute("ROLLBACK")
    before = rows(house)
    new = empty(house.root.parent / "backup.zip")
    run(new, "restore", house.root.parent / "backup.zip")
    assert rows(new) == before


def test_what_lies_behind_a_link_is_backed_up_unless_it_leads_out(house: House) -> None:
    (house.root / "memory").rename(house.root.parent / "elsewhere")
    (house.root / "memory").symlink_to(house.root.parent / "elsewhere")
    (house.root.parent / "secret.md").write_text("not of the workspace", encoding="utf-8")
    (house.root / "memory/archive/MEMORY-2024.md").symlink_to(house.root.parent / "secret.md")
    archive = house.root.parent / "backup.zip"
    assert run(house, "backup", archive).exit_code == 0
    with ZipFile(archive) as found:
        assert set(found.namelist()) == FILES | {"manifest.json"}
    assert run(house, "restore", archive).output == f"  {len(FILES)} files are the same\n"


def test_a_diary_that_cannot_be_read_is_named_and_the_rest_is_saved(
    plain_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(plain_user))
    house = House(plain_user)
    house.write("memory/2026-03-01.md", "- mine\n")
    house.write("memory/2026-03-02.md", "- mine too\n").chmod(0)
    (plain_user / "out").mkdir()
    result = run(house, "backup", plain_user / "out/backup.zip")
    assert result.exit_code == 1
    assert "2026-03-02.md cannot be read" in result.stderr
    with ZipFile(plain_user / "out/backup.zip") as found:
        assert "memory/2026-03-01.md" in found.namelist()


# -- restore ----------------------------------------------------------------------------------------------------


def test_a_backup_comes_back_in_an_empty_folder_to_the_byte_and_the_row(house: House, archive: Path) -> None:
    new = empty(archive)
    result = run(new, "restore", archive)
    assert result.exit_code == 0, result.output
    assert new.digests() == house.digests()
    assert rows(new) == rows(house)
    assert stat.S_IMODE((new.root / STORE).stat().st_mode) == 0o600
    assert run(new, "doctor").output == "Nothing is wrong\n"
    before = new.digests()
    new.settings = house.settings
    assert not new.night("2026-03-06T03:00").failed
    assert new.digests() == before


def test_bringing_back_what_is_there_changes_nothing(house: House, archive: Path) -> None:
    before = disk(house)
    assert run(house, "restore", archive).output == f"  {len(FILES)} files are the same\n"
    assert disk(house) == before


def later(house: House) -> None:
    """Live on after the backup: another night, edits everywhere."""
    house.write("memory/2026-03-02.md", "- Garage panel takes a CR2450 cell\n- and the boat is called Kestrel\n")
    house.write("MEMORY.md", house.read("MEMORY.md") + "\nmine\n")
    house.write("memory/archive/MEMORY-2025.md", "# Archived Long-Term Memory\n\nmore\n")
    house.write("config.toml", SETTINGS + "[light]\nlimit = 50\n")
    (house.root / "memory/旅行/2026-03-01.md").unlink()
    house.night("2026-03-07T03:00")


def test_diaries_and_settings_that_differ_stay_and_are_named(house: House, archive: Path) -> None:
    before, old = rows(house), house.read("MEMORY.md")
    later(house)
    result = run(house, "restore", archive, now="2026-03-08T09:00")
    assert result.exit_code == 0, result.output
    assert "  keep     memory/2026-03-02.md  (is another one by now and stays)\n" in result.output
    assert "  keep     config.toml" in result.output
    assert "Kestrel" in house.read("memory/2026-03-02.md")
    assert "limit = 50" in house.read("config.toml")
    assert house.read("memory/旅行/2026-03-01.md") == "- 火车票要提前两周买\r\n"
    assert house.read("MEMORY.md") == old
    assert house.read("memory/archive/MEMORY-2025.md") == "# Archived Long-Term Memory\n"
    assert rows(house) == before


def test_a_restore_is_taken_back_by_the_backup_it_made_first(house: House, archive: Path) -> None:
    later(house)
    before, files = rows(house), house.digests()
    result = run(house, "restore", archive, now="2026-03-08T09:00")
    saved = house.root / "memory/.dreams/before-restore-20260308T010000Z.zip"
    assert f"take this back with: dream restore {saved}" in result.output
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert house.digests() != files
    taken_back = run(house, "restore", saved, now="2026-03-08T09:00")
    assert taken_back.exit_code == 0, taken_back.output
    assert "  remove   memory/旅行/2026-03-01.md\n" in taken_back.output
    assert "before-restore-20260308T010000Z-2.zip" in taken_back.output
    assert house.digests() == files
    assert rows(house) == before


def test_what_a_restore_made_and_the_user_changed_stays_when_it_is_taken_back(archive: Path) -> None:
    new = empty(archive)
    run(new, "restore", archive)
    new.write("memory/2026-03-02.md", "- mine by now\n")
    (saved,) = (new.root / "memory/.dreams").glob("*.zip")
    assert run(new, "restore", saved).exit_code == 0
    assert new.read("memory/2026-03-02.md") == "- mine by now\n"
    assert list(new.digests()) == ["memory/2026-03-02.md"]


def test_a_rehearsal_lists_everything_and_changes_nothing(house: House, archive: Path) -> None:
    later(house)
    before = disk(house)
    result = run(house, "restore", "--dry-run", archive)
    assert result.exit_code == 0
    assert {line.split()[1] for line in result.output.splitlines() if line.startswith("  replace")} >= {
        "MEMORY.md",
        "DREAMS.md",
        STORE,
    }
    assert "  write    memory/旅行/2026-03-01.md\n" in result.output
    assert disk(house) == before
    moves = json.loads(run(house, "restore", "--dry-run", "--json", archive).stdout)
    assert moves["dry_run"] is True
    assert {"path": "config.toml", "move": "keep"} in moves["files"]


def test_a_damaged_store_is_set_aside_for_the_one_that_comes_back(house: House, archive: Path) -> None:
    before = rows(house)
    for end in ("-wal", "-shm"):
        (house.root / f"{STORE}{end}").unlink(missing_ok=True)
    house.write(STORE, "no store at all, " * 99)
    result = run(house, "restore", archive)
    assert result.exit_code == 0, result.output
    assert "the store that was there is not in it" in result.stderr
    assert rows(house) == before
    assert house.read("memory/.dreams/recall.db.damaged-20260306T010000Z").startswith("no store")


def test_who_has_the_store_open_sees_what_came_back(house: House, archive: Path) -> None:
    later(house)
    with opened(house.root, environ={}, overrides=house.settings) as home:
        assert len(home.journal.nights(limit=9)) == 2
        assert run(house, "restore", archive).exit_code == 0
        assert len(home.journal.nights(limit=9)) == 1


def test_a_restore_waits_for_nobody(house: House, archive: Path) -> None:
    before = disk(house)
    with lock(house.root, now=moment(NOW)):
        assert run(house, "restore", archive).exit_code == 3
    assert disk(house) == before


def test_a_failure_on_the_way_puts_everything_back(plain_user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(plain_user))
    (plain_user / "home").mkdir()
    house = House(plain_user / "home")
    house.write("memory/archive/MEMORY-2025.md", "# Archived Long-Term Memory\n")
    house.write("MEMORY.md", "# Mine\n")
    house.night("2026-03-06T03:00")
    archive = plain_user / "backup.zip"
    assert run(house, "backup", archive).exit_code == 0
    house.write("memory/archive/MEMORY-2025.md", "another\n")
    house.write("MEMORY.md", "another\n").chmod(0o400)
    before = house.digests()
    result = run(house, "restore", archive)
    assert (result.exit_code, "MEMORY.md cannot be written" in result.stderr) == (1, True)
    assert "What stands there is saved; take this back with: dream restore " in result.stdout
    assert house.digests() == before


def test_a_page_behind_a_link_is_replaced_where_it_is(house: House, archive: Path) -> None:
    elsewhere = house.root.parent / "MEMORY-elsewhere.md"
    elsewhere.write_text("another\n", encoding="utf-8")
    (house.root / "MEMORY.md").unlink()
    (house.root / "MEMORY.md").symlink_to(elsewhere)
    assert run(house, "restore", archive).exit_code == 0
    assert (house.root / "MEMORY.md").is_symlink()
    assert "CR2450" in elsewhere.read_text(encoding="utf-8")


# -- archives that are refused ----------------------------------------------------------------------------------


def refused(house: House, archive: Path, sentence: str) -> None:
    before = disk(house)
    for dry in (("--dry-run",), ()):
        result = run(house, "restore", *dry, archive)
        assert (result.exit_code, sentence in result.stderr) == (1, True), result.output
        assert disk(house) == before


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../evil.md", "leads out of the workspace"),
        ("memory/../../evil.md", "leads out of the workspace"),
        ("/tmp/evil.md", "leads out of the workspace"),
        ("memory//evil.md", "leads out of the workspace"),
        ("./evil.md", "leads out of the workspace"),
        ("memory/evil.md\n.md", "is no name of a file"),
        ("evil.sh", "is no part of a backup"),
        (".git/config", "is no part of a backup"),
        ("memory/.dreams/night.lock", "is no part of a backup"),
        ("memory/.Dreams/Recall.db", "is no part of a backup"),
        ("memory.md", "differs only in case"),
        ("Memory/archive/MEMORY-2024.md", "differs only in case"),
        ("memory/2026-03-02.MD", "differs only in case"),
    ],
)
def test_a_path_that_is_not_one_of_a_backup_is_refused(house: House, archive: Path, name: str, sentence: str) -> None:
    refused(house, change(archive, lambda members, _: members.update({name: b"evil"})), sentence)
    assert not (house.root.parent / "evil.md").exists()


def test_a_name_with_nul_is_refused(house: House, archive: Path) -> None:
    about = ZipInfo("memory/evil.md")
    about.filename = "memory/evil.md\0.sh"
    refused(house, added(archive, about, b"evil", said="memory/evil.md"), "is no name of a file")


def test_a_path_through_a_link_that_leads_out_is_refused(house: House, archive: Path) -> None:
    outside = house.root.parent / "outside"
    outside.mkdir()
    (house.root / "memory/link").symlink_to(outside)
    path = change(archive, lambda members, _: members.update({"memory/link/evil.md": b"evil"}))
    refused(house, path, "leads out of the workspace, by a link")
    assert list(outside.iterdir()) == []


def test_a_link_in_the_archive_is_refused(house: House, archive: Path) -> None:
    about = ZipInfo("memory/2026-01-01.md")
    about.create_system, about.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    refused(house, added(archive, about, b"/etc/passwd", said=about.filename), "is no regular file")


def test_what_the_manifest_would_take_out_is_looked_at_like_a_member(house: House, archive: Path) -> None:
    def edit(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        manifest["made"] = {"../outside.md": hashlib.sha256(b"mine").hexdigest()}

    outside = house.root.parent / "outside.md"
    outside.write_bytes(b"mine")
    refused(house, change(archive, edit), "leads out of the workspace")
    assert outside.read_bytes() == b"mine"


def test_two_names_that_differ_only_in_case_are_refused(house: House, archive: Path) -> None:
    extra = {"memory/2026-01-01-a.md": b"a", "memory/2026-01-01-A.md": b"b"}
    refused(house, change(archive, lambda members, _: members.update(extra)), "has a twin that differs only in case")


@pytest.mark.parametrize("name", ["MEMORY.md", STORE, "memory/2026-03-02.md"])
def test_a_member_that_is_not_what_the_manifest_says_is_refused(house: House, archive: Path, name: str) -> None:
    with ZipFile(archive) as source:
        members = {one: source.read(one) for one in source.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    members[name] = bytes([members[name][0] ^ 1]) + members[name][1:]
    refused(house, packed(archive.with_name("changed.zip"), members, manifest), f"{name} is damaged")


def test_a_member_too_many_or_too_few_is_refused(house: House, archive: Path) -> None:
    with ZipFile(archive) as source:
        members = {one: source.read(one) for one in source.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    more = packed(archive.with_name("more.zip"), {**members, "memory/2026-01-01.md": b"x"}, manifest)
    refused(house, more, "'memory/2026-01-01.md' is not what its manifest.json says")
    members.pop("MEMORY.md")
    refused(house, packed(archive.with_name("less.zip"), members, manifest), "'MEMORY.md' is not what its")


def test_every_cut_and_every_flipped_byte_is_noticed(house: House, archive: Path) -> None:
    raw = archive.read_bytes()
    before = disk(house)
    path = archive.with_name("cut.zip")
    for at in range(0, len(raw), len(raw) // 23):
        path.write_bytes(raw[:at])
        assert run(house, "restore", path).exit_code == 1
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x55]) + raw[at + 1 :])
        result = run(house, "restore", path)
        assert result.exit_code == 1 or result.output.endswith("files are the same\n"), (at, result.output)
        assert disk(house) == before


def test_a_store_of_a_newer_version_is_refused(house: House, archive: Path) -> None:
    def edit(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        path = archive.with_name("newer.db")
        path.write_bytes(members[STORE])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        members[STORE] = path.read_bytes()

    refused(house, change(archive, edit), "install the newest nightly-dreaming")


def test_a_store_that_is_none_is_refused(house: House, archive: Path) -> None:
    refused(house, change(archive, lambda members, _: members.update({STORE: b"none" * 999})), "its store is damaged")


@pytest.mark.parametrize(
    "manifest",
    [{"format": 2}, {}, [], {"format": 1, "files": 3}, {"format": 1, "workspace": "a", "at": "b", "files": []}],
)
def test_a_manifest_of_another_kind_is_refused(house: House, archive: Path, manifest: object) -> None:
    refused(house, packed(archive.with_name("other.zip"), {}, manifest), "is not one that this version writes")


def test_what_is_no_archive_is_refused(house: House) -> None:
    path = house.root.parent / "none.zip"
    refused(house, path, "cannot be read")
    path.write_bytes(b"")
    refused(house, path, "is not a zip file")
    with ZipFile(path, "w") as other:
        other.writestr("MEMORY.md", "# Mine\n")
    refused(house, path, "it has no manifest.json")


def test_a_killed_restore_is_finished_by_running_it_again(house: House, archive: Path) -> None:
    later(house)
    script = (
        "import os, sys; from pathlib import Path; import dreaming.upkeep.restore as r\n"
        "r.replaced = lambda *_: os._exit(9)\n"
        "from dreaming.cli import dream; dream(sys.argv[1:])"
    )
    root = Path(__file__).parent.parent
    args = ["--workspace", str(house.root), "--now", NOW, "restore", str(archive)]
    killed = subprocess.run([sys.executable, "-c", script, *args], cwd=root, env={**os.environ}, check=False)
    assert killed.returncode == 9
    assert run(house, "restore", archive).exit_code == 0
    new = empty(archive)
    run(new, "restore", archive)
    assert rows(house) == rows(new)
    assert house.read("MEMORY.md") == new.read("MEMORY.md")


def test_what_cannot_be_read_for_a_backup_is_told_with_what_to_do_there(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreadable(monkeypatch, "2026-03-02.md")
    result = run(house, "backup", tmp_path / "all.zip")
    assert result.exit_code == 1
    assert "2026-03-02.md cannot be read (Permission denied); make it readable and make another backup" in result.stderr


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_command_that_met_a_folder_for_a_page_is_to_be_run_again_and_no_night(
    house: House, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "all.zip"
    if command == "restore":
        run(house, "backup", file)
    (house.root / "DREAMS.md").unlink()
    (house.root / "DREAMS.md").mkdir()
    result = run(house, command, file)
    assert result.exit_code == 1
    assert result.stderr.endswith(f"DREAMS.md is not a regular file; move it away and run dream {command} again\n")


def unreadable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    read = Path.read_bytes

    def refused(path: Path) -> bytes:
        if path.name == name:
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
