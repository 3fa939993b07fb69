"""What may be remembered stands alone: measured on labelled lines, and rule by rule."""

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from house import House
from memory.quality import OF_SENTENCES, OF_TEXTS, explained, unfit

DATA = Path(__file__).parent / "data"
NAMES = {rule.name for rule in (*OF_TEXTS, *OF_SENTENCES)}
LEAST_LINES = 70
"""Of each of the five languages of the labelled lines."""
Labelled = tuple[str, str, str]
"""Language, `fit` or the rule that is broken, text."""


def labelled(name: str) -> list[Labelled]:
    rows: list[Labelled] = []
    language = label = ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            language, label = line.removeprefix("## ").split(": ")
        elif line.startswith("- "):
            rows.append((language, label, line.removeprefix("- ")))
    return rows


def accuracy(rows: list[Labelled]) -> tuple[float, float]:
    """Return precision and recall of what is called fit."""
    counts = Counter((label == "fit", not unfit(text)) for _, label, text in rows)
    right = counts[True, True]
    return right / (right + counts[False, True]), right / (right + counts[True, False])


def language_of(row: Labelled) -> str:
    return row[0]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture(params=["quality.md", "quality_held_out.md"])
def rows(request: pytest.FixtureRequest) -> list[Labelled]:
    return labelled(request.param)


def test_nearly_all_that_is_called_fit_is_fit_and_little_is_lost(rows: list[Labelled]) -> None:
    precision, recall = accuracy(rows)
    assert precision >= 0.95
    assert recall >= 0.9


def test_no_language_is_left_behind(rows: list[Labelled]) -> None:
    for _, lines in groupby(sorted(rows, key=language_of), key=language_of):
        precision, recall = accuracy(list(lines))
        assert precision >= 0.9
        assert recall >= 0.85


def test_a_refusal_names_the_rule_the_line_was_labelled_with(rows: list[Labelled]) -> None:
    named = [unfit(text) == label for _, label, text in rows if label != "fit" and unfit(text)]
    assert sum(named) >= 0.9 * len(named)


def test_there_are_enough_labelled_lines_of_each_language() -> None:
    both = labelled("quality.md") + labelled("quality_held_out.md")
    counts = Counter(language for language, _, _ in both)
    assert all(counts[language] >= LEAST_LINES for language in ("zh", "en", "de", "ja", "es"))
    assert {label for _, label, _ in both} <= NAMES | {"fit"}


@pytest.mark.parametrize(
    "text",
    [
        "先测试再提交",
        "Run tests before push",
        "Erst testen, dann mergen",
        "コミットの前にテスト",
        "これからは英語で返信",
        "继续使用旧版接口",
        "我来自成都",
        "Voy a Madrid el lunes",
        "I'll be in Lisbon in May",
        "git rebase is forbidden on main",
        "find a plumber before winter",
        "WARNING: never unplug the blue cable",
        "Allergies: none",
        "Docs: https://docs.kessler.example/api",
        "Build command: npm run build",
        "Nothing with nuts for Anna",
        "It takes six weeks to renew the passport",
    ],
)
def test_words_of_reports_do_not_condemn_a_rule_or_a_fact(text: str) -> None:
    assert unfit(text) == ""


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Done. All tests pass now.", "progress"),
        ("VPN: It works now", "anaphor"),
        ("Kiln: Status: done", "label"),
        ("Anna: Should I call her?", "question"),
        ("Thanks Joanna! See you tomorrow.", "greeting"),
        ("„Soll ich das löschen?“", "question"),
        ("", "number"),
    ],
)
def test_labels_names_and_full_stops_do_not_make_a_statement(text: str, rule: str) -> None:
    assert unfit(text) == rule


@pytest.mark.parametrize("text", ["Done. Anna is allergic to nuts.", "一切正常。小李对花生过敏。"])
def test_one_statement_makes_a_text_fit(text: str) -> None:
    assert unfit(text) == ""


@pytest.mark.parametrize("around", [str.upper, "  {}  ".format, "- [ ] {}".format, "**{}**".format, "🚧 {}".format])
def test_marks_and_emoji_around_a_line_change_nothing(around: Callable[[str], str]) -> None:
    assert unfit(around("still running")) == "progress"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_rule_explains_itself(name: str) -> None:
    assert len(explained(name)) > len(name)


def test_explain_says_in_words_which_rule_is_broken(house: House) -> None:
    house.write("memory/2026-06-15.md", "# Kiln\n\nStill working on the glaze, more tomorrow.\n")
    failed = house.explain("glaze", "2026-06-16T09:00").failed
    gate = next(gate for gate in failed if gate.name == "stands_alone")
    assert gate.value == "progress"
    assert gate.missing.endswith("reports progress, and nothing that lasts")


def test_one_fit_line_of_a_list_passes_and_a_lead_in_at_its_end_does_not(house: House) -> None:
    house.write("memory/2026-06-15.md", "- No new mail\n- The kiln takes cone six only\n")
    house.write("memory/2026-06-16.md", "- The studio closes at nine\n- Next steps:\n")
    kept, refused = (house.explain(text, "2026-06-17T09:00").failed for text in ("cone six", "studio closes"))
    assert "stands_alone" not in {gate.name for gate in kept}
    assert "stands_alone" in {gate.name for gate in refused}
