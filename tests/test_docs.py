"""The pages under docs/: what they name is there, and what a program prints on them is what it prints now."""

import re
from pathlib import Path

import pytest
from cogapp import Cog  # type: ignore[import-untyped]  # cogapp ships no types

from dreaming.cli import COMMANDS
from dreaming.config import FIELDS, Config

ROOT = Path(__file__).parent.parent
PRINTED = ("concepts", "formulas", "tuning", "reference")
PAGES = sorted((ROOT / "docs").glob("*.md"))
KEYS = frozenset(".".join(key) for key in FIELDS)


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PRINTED)
def test_a_page_says_what_the_program_prints(page: str) -> None:
    assert Cog().main(["cog", "--check", str(ROOT / f"docs/{page}.md")]) == 0


@pytest.mark.parametrize("page", PRINTED)
def test_every_key_named_on_a_page_is_one(page: str) -> None:
    sections = "|".join(Config.model_fields)
    named = re.findall(rf"`((?:{sections})\.[a-z_.]+)(?= =|`)", read(ROOT / f"docs/{page}.md"))

    assert {key for key in named if not key.endswith(".md")} <= KEYS


def test_the_reference_has_every_key_and_command() -> None:
    text = read(ROOT / "docs/reference.md")
    leaves = [key for key in KEYS if not any(other.startswith(f"{key}.") for other in KEYS)]

    assert [key for key in leaves if f"| `{key}` |" not in text] == []
    assert [name for name in COMMANDS if f"### `dream {name}`\n" not in text] == []


def test_a_number_in_brackets_behind_a_key_is_its_default() -> None:
    text = read(ROOT / "docs/tuning.md")
    named = dict(re.findall(r"`([a-z]+\.[a-z_.]+)` \(`?([\d][^)`]*)`?\)", text))

    assert named
    assert {key: told.replace(",", "") for key, told in named.items()} == {
        key: str(FIELDS[tuple(key.split("."))].default).removesuffix(".0") for key in named
    }


def test_every_command_on_the_page_of_symptoms_is_one() -> None:
    text = read(ROOT / "docs/tuning.md")
    lines = re.findall(r"`dream .*?`|^dream .*$", text, re.MULTILINE)

    assert {name for line in lines for name in re.findall(r"\bdream ([a-z]+)", line)} <= set(COMMANDS)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    for name, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", read(page)):
        target = page.parent / name if name else page
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"
