"""What may be remembered stands alone: measured on labelled lines, and rule by rule."""

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from house import House
from memory.quality import OF_SENTENCES, OF_TEXTS, TASK, explained, names_tasks, unfit

DATA = Path(__file__).parent / "data"
NAMES = {rule.name for rule in (*OF_TEXTS, *OF_SENTENCES, TASK)}
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


LISTS = [
    ("- No new mail\n- The kiln takes cone six only\n", "The kiln takes cone six only"),
    ("- The kiln takes cone six only\n- Next steps:\n", "The kiln takes cone six only"),
    ("- Should I call about the kiln?\n- The kiln takes cone six only\n", "The kiln takes cone six only"),
    ("- The kiln takes cone six only\n- Thanks, see you tomorrow!\n", "The kiln takes cone six only"),
    ("- git push origin main --force-with-lease\n- The kiln takes cone six only\n", "The kiln takes cone six only"),
    ("- Status: done\n- The kiln takes cone six only\n- Work in progress\n", "The kiln takes cone six only"),
    ("- 要不要换窑炉?\n- 窑炉只能烧到六号锥\n", "窑炉只能烧到六号锥"),
    (
        "- The kiln takes cone six only\n- The studio closes at nine\n",
        "The kiln takes cone six only; The studio closes at nine",
    ),
    ("The kiln takes cone six only.\nShould I order another one?\n", "The kiln takes cone six only."),
]


@pytest.mark.parametrize(("listed", "drafted"), LISTS)
def test_only_lines_that_stand_alone_are_drafted(house: House, listed: str, drafted: str) -> None:
    house.write("memory/2026-06-15.md", listed)
    found = house.explain("六号锥" if "锥" in listed else "cone six", "2026-06-17T09:00")
    assert found.exam.draft.text == drafted
    assert "stands_alone" not in {gate.name for gate in found.failed}


def test_a_list_of_which_no_line_stands_alone_is_refused(house: House) -> None:
    house.write("memory/2026-06-15.md", "- Should I call about the kiln?\n- Next steps:\n")
    found = house.explain("about the kiln", "2026-06-17T09:00")
    assert "stands_alone" in {gate.name for gate in found.failed}


def promoted(house: House) -> str:
    """What three nights of asking for the kiln make durable."""
    for day in (15, 16, 17):
        for question in ("kiln cone six", "which cone does the kiln take", "kiln"):
            house.search(question, f"2026-06-{day}T12:00")
        house.night(f"2026-06-{day + 1}T03:00")
    return house.read("MEMORY.md")


def test_what_is_written_beside_a_statement_passes_the_same_gate(house: House) -> None:
    house.write(
        "memory/2026-06-14.md",
        "The kiln takes cone six only, never more.\nShould the kiln take cone seven because of the glaze?\n",
    )
    kept = promoted(house)
    assert "cone six only" in kept
    assert "cone seven" not in kept


def test_a_reason_that_leans_on_its_statement_is_written_with_it(house: House) -> None:
    house.write(
        "memory/2026-06-14.md", "The kiln takes cone six only, never more.\nThat is because its door leaks heat.\n"
    )
    assert "door leaks heat" in promoted(house)


def test_what_a_night_left_out_of_a_list_is_not_written_on_the_next(house: House) -> None:
    house.write("memory/2026-06-14.md", "- Should I call about the kiln?\n- The kiln takes cone six only\n")
    kept = promoted(house)
    assert "Should I call" not in kept
    house.search("call about the kiln", "2026-06-19T12:00")
    house.night("2026-06-20T03:00")
    assert house.read("MEMORY.md") == kept


@pytest.mark.parametrize(
    "text",
    [
        "TODO: buy stamps for the letters",
        "TODO buy stamps for the letters",
        "FIXME handle empty lists in the parser",
        "Next steps: write the tests for the parser",
        "待办：给妈妈买邮票",
        "下一步：把解析器的测试写完",
        "Zu erledigen: Briefmarken für die Weihnachtspost kaufen",
        "Pendientes: comprar sellos para las cartas",
        "À faire : acheter des timbres pour les lettres",
        "やること：手紙の切手を買う",
        "할 일: 편지에 붙일 우표 사기",
    ],
)
def test_what_is_marked_as_a_task_is_over_once_it_is_done(text: str) -> None:
    assert unfit(text) == "task"
    assert "task" in explained("task")


@pytest.mark.parametrize(
    "text",
    [
        "Todo está en el armario de la cocina, segunda balda",
        "Anna keeps her to-do list in Obsidian",
        "Never leave a TODO without a name beside it",
        "王姐把待办都写在飞书里",
        "Remember to stop the server before a restore",
    ],
)
def test_what_only_speaks_of_tasks_is_none(text: str) -> None:
    assert unfit(text) == ""


@pytest.mark.parametrize(
    "heading",
    [
        *(
            "How to do a release",
            "What to do when prod is down",
            "Things not to do",
            "Todo app",
            "To-do app architecture",
        ),
        *("Sobre todo", "Todo lo que sé del servidor", "Método de todo el equipo", "下一步棋", "待办应用的架构"),
    ],
)
def test_a_heading_that_only_holds_such_words_names_no_tasks(heading: str) -> None:
    assert not names_tasks(heading)
    assert unfit(f"{heading}: Postgres 16 und niemals MySQL, sagt Anna") == ""


@pytest.mark.parametrize(
    "heading", ["TODO", "To do", "To-do:", "TODOs (week 3)", "Next steps", "待办事项", "Zu erledigen"]
)
def test_a_heading_of_nothing_else_names_tasks(heading: str) -> None:
    assert names_tasks(heading)


def test_what_stands_under_a_heading_of_tasks_is_not_promoted(house: House) -> None:
    house.write("memory/2026-03-02.md", "## TODO\n- Garage panel takes a CR2450 cell\n")
    for day in ("2026-03-03", "2026-03-04", "2026-03-05"):
        for query in ("garage panel", "panel cell", "garage cell"):
            house.search(query, f"{day}T12:00")
    assert not house.night("2026-03-06T03:00").promoted
    assert "over once it is done" in str(house.explain("Garage panel", "2026-03-06T04:00").failed)


@pytest.mark.parametrize("box", ["[ ]", "[x]"])
def test_what_has_a_box_to_tick_is_not_promoted_and_its_neighbours_are(house: House, box: str) -> None:
    task, fact = f"- {box} Order the cells for the garage panel\n", "- Garage panel takes a CR2450 cell\n"
    house.write("memory/2026-03-02.md", task + fact)
    for day in ("2026-03-03", "2026-03-04", "2026-03-05"):
        for query in ("garage panel", "panel cell", "garage cells"):
            house.search(query, f"{day}T12:00")
    assert [one.text for one in house.night("2026-03-06T03:00").promoted] == ["Garage panel takes a CR2450 cell"]
    assert "a box to tick" in str(house.explain("Order the cells", "2026-03-06T04:00").failed[0].missing)
