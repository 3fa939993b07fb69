"""`dream scan`: what stands in the files that should not, by place and kind. Fake secrets are put together here."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import dream
from house import House

PASSWORD = "hun" + "ter2x9"
KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def scan(house: House, *options: str) -> Result:
    return CliRunner().invoke(dream, ["scan", "--workspace", str(house.root), *options])


def test_secrets_are_named_by_place_and_kind_and_never_shown(house: House) -> None:
    house.write("memory/2026-06-15.md", f"# Monday\n\n- the kiln is hot\n- the password is {PASSWORD}\n")
    house.write("MEMORY.md", f"- key {KEY}\n")
    house.write("memory/archive/DREAMS-2025.md", f"I dreamt of {KEY}.\n")
    done = scan(house)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:3] == [
        "memory/2026-06-15.md:4  password",
        "MEMORY.md:1  github_pat_classic",
        "memory/archive/DREAMS-2025.md:1  github_pat_classic",
    ]
    assert PASSWORD not in done.output
    assert KEY not in done.output


def test_a_clean_workspace_says_so(house: House) -> None:
    house.write("memory/2026-06-15.md", "- the kiln is hot\n- the password is [secret:password]\n")
    done = scan(house)
    assert (done.exit_code, done.stdout) == (0, "No secrets in 1 files\n")


def test_nothing_is_written(house: House) -> None:
    house.write("memory/2026-06-15.md", f"- the password is {PASSWORD}\n")
    before = house.digests()
    scan(house)
    assert house.digests() == before
    assert not (house.root / "memory/.dreams").exists()


def test_json_is_what_docs_say(house: House) -> None:
    house.write("memory/2026-06-15.md", f"- the password is {PASSWORD}\n")
    said = json.loads(scan(house, "--json").stdout)
    assert said == {
        "findings": [{"path": "memory/2026-06-15.md", "line": 1, "kind": "password"}],
        "files": 1,
        "problems": [],
    }


def test_a_bad_file_costs_only_itself(house: House) -> None:
    house.write("memory/2026-06-15.md", f"- the password is {PASSWORD}\n")
    (house.root / "memory/2026-06-16.md").write_bytes(b"\xff\xfe\x00\xd8" * 3)
    (house.root / "MEMORY.md").mkdir()
    done = scan(house)
    assert done.exit_code == 1
    assert "memory/2026-06-15.md:1  password" in done.stdout
    assert "MEMORY.md" in done.stderr


def test_a_key_of_many_lines_is_named_once_where_it_begins(house: House) -> None:
    body = "\n".join(["b3BlbnNzaC1rZXktdjEAAAAABG5vbmU" + "AAAAEbm9uZQ"] * 3)
    key = "-----BEGIN OPENSSH " + f"PRIVATE KEY-----\n{body}\n-----END OPENSSH " + "PRIVATE KEY-----"
    house.write("memory/2026-06-15.md", f"- found this\n\n```\n{key}\n```\n")
    lines = [line for line in scan(house).stdout.splitlines() if "2026-06-15" in line]
    assert len(lines) == 1
    assert lines[0].startswith("memory/2026-06-15.md:4 ")


def test_personal_data_is_listed_on_request(house: House) -> None:
    house.write("memory/2026-06-15.md", "- write to ana@example.org\n")
    assert scan(house).exit_code == 0
    house.write("config.toml", '[redact]\nmask = ["email"]\n')
    assert "memory/2026-06-15.md:1  email" in scan(house).stdout


def test_secrets_of_ones_own_are_listed(house: House) -> None:
    house.write("memory/2026-06-15.md", "- badge acme-0042 opens the door\n")
    house.write("config.toml", "[redact]\npatterns = ['acme-\\d{4}']\n")
    assert "memory/2026-06-15.md:1  own" in scan(house).stdout
