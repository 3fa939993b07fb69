"""The settings: defaults, bounds, precedence, and that nothing illegal is ever replaced in silence."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from dreaming import config as config_module
from dreaming.config import FIELDS, Config, rendered, toml, zone
from dreaming.layers import ConfigError, ConfigProblem, default_user_config, load
from workspace.diary import DEFAULT_PATTERN

ROOT_FILE = Path(__file__).parents[1] / "config.toml"

DEFAULTS: dict[str, object] = {
    "dreaming.enabled": False,
    "dreaming.time": "0 3 * * *",
    "dreaming.timezone": "",
    "dreaming.language": "auto",
    "dreaming.reports": False,
    "dreaming.limit_minutes": 60,
    "schedule.workspaces": (),
    "schedule.workers": 0,
    "hooks.command": (),
    "hooks.url": "",
    "hooks.timeout_seconds": 10,
    "workspace.path": Path(),
    "workspace.diaries": "memory",
    "workspace.pattern": DEFAULT_PATTERN,
    "workspace.memories": (),
    "sessions.enabled": False,
    "sessions.paths": ("sessions/*.jsonl",),
    "sessions.agents": (),
    "light.enabled": True,
    "light.lookback_days": 2,
    "light.limit": 100,
    "light.dedupe_similarity": 0.9,
    "light.show": 30,
    "rem.enabled": True,
    "rem.lookback_days": 7,
    "rem.limit": 10,
    "rem.min_pattern_strength": 0.75,
    "rem.dedupe_similarity": 0.88,
    "rem.min_confidence": 0.45,
    "rem.max_truths": 3,
    "deep.enabled": True,
    "deep.limit": 10,
    "deep.min_score": 0.8,
    "deep.min_recall_count": 3,
    "deep.min_unique_queries": 3,
    "deep.max_age_days": None,
    "deep.recency_half_life_days": 14.0,
    "deep.max_snippet_tokens": 160,
    "deep.weights.frequency": 0.24,
    "deep.weights.relevance": 0.30,
    "deep.weights.diversity": 0.15,
    "deep.weights.recency": 0.15,
    "deep.weights.consolidation": 0.10,
    "deep.weights.conceptual": 0.06,
    "memory.budget_chars": 10_000,
    "memory.evict": "oldest",
    "memory.mode": "apply",
    "memory.retention_days": 90,
    "narrative.narrator": "plain",
    "narrative.model": "",
    "narrative.base_url": "",
    "narrative.api_key_env": "",
    "narrative.api_key_command": (),
    "narrative.api_key": "",
    "narrative.command": (),
    "narrative.timeout_seconds": 60.0,
    "narrative.language": "auto",
    "narrative.style": "",
    "narrative.diary_entries": 200,
    "redact.patterns": (),
    "redact.mask": (),
    "concepts.stop_words": (),
    "concepts.glossary": (),
    "embeddings.embedder": "auto",
    "embeddings.model": "",
    "embeddings.base_url": "",
    "embeddings.api_key_env": "",
    "embeddings.timeout_seconds": 20,
}

ILLEGAL: list[tuple[str, object]] = [
    ("redact.patterns", "acme-[0-9]{8}"),
    ("redact.patterns", ["acme-["]),
    ("redact.patterns", ["(a+)+$"]),
    ("redact.patterns", ["x" * 501]),
    ("redact.patterns", ["x*"]),
    ("redact.patterns", ["x"] * 101),
    ("redact.mask", "email"),
    ("dreaming.enabled", "yes"),
    ("dreaming.enabled", 1),
    ("dreaming.time", "at night"),
    ("dreaming.time", "61 3 * * *"),
    ("dreaming.time", "0 0 3 * * *"),
    ("dreaming.timezone", "Mars/Olympus"),
    ("dreaming.timezone", "../etc/passwd"),
    ("dreaming.timezone", "Europe"),
    ("dreaming.language", "klingon"),
    ("workspace.path", 3),
    ("workspace.diaries", ""),
    ("workspace.diaries", "."),
    ("workspace.diaries", "../elsewhere"),
    ("workspace.diaries", "/diaries"),
    ("workspace.pattern", "(?P<date>"),
    ("workspace.pattern", r"\d{4}-\d{2}-\d{2}\.md"),
    ("workspace.memories", "people.md"),
    ("workspace.memories", [""]),
    ("workspace.memories", ["topics/"]),
    ("workspace.memories", ["/etc/motd.md"]),
    ("sessions.paths", "sessions/*.jsonl"),
    ("light.lookback_days", 0),
    ("light.lookback_days", 36_501),
    ("light.limit", -1),
    ("light.limit", 10_001),
    ("light.limit", "5"),
    ("light.limit", 5.0),
    ("light.limit", True),
    ("light.dedupe_similarity", 0),
    ("light.dedupe_similarity", 1.01),
    ("light.show", -1),
    ("rem.lookback_days", 0),
    ("rem.limit", -1),
    ("rem.min_pattern_strength", -0.1),
    ("rem.min_pattern_strength", 1.1),
    ("rem.dedupe_similarity", 0),
    ("rem.min_confidence", 1.1),
    ("rem.max_truths", -1),
    ("deep.limit", -1),
    ("deep.min_score", 1.5),
    ("deep.min_score", -0.1),
    ("deep.min_score", float("nan")),
    ("deep.min_score", True),
    ("deep.min_recall_count", 0),
    ("deep.min_unique_queries", 0),
    ("deep.max_age_days", 0),
    ("deep.recency_half_life_days", 0),
    ("deep.recency_half_life_days", float("inf")),
    ("deep.max_snippet_tokens", 9),
    ("deep.weights", 1),
    ("deep.weights.frequency", -0.01),
    ("deep.weights.recency", float("inf")),
    ("memory.budget_chars", 99),
    ("memory.evict", "newest"),
    ("memory.mode", "report"),
    ("memory.retention_days", 0),
    ("narrative.narrator", "poet"),
    ("narrative.command", "agent --print"),
    ("narrative.timeout_seconds", 0),
    ("narrative.timeout_seconds", 3601),
    ("narrative.language", "English"),
    ("narrative.diary_entries", 0),
    ("concepts.glossary", "router"),
    ("embeddings.embedder", "cloud"),
    ("embeddings.timeout_seconds", 0),
]

LEGAL_EDGES: list[tuple[str, object]] = [
    ("dreaming.time", "30 2 * * 0"),
    ("dreaming.timezone", "Asia/Shanghai"),
    ("dreaming.language", "zh"),
    ("workspace.diaries", "notes/daily"),
    ("workspace.pattern", "^log-(?P<date>.+)$"),
    ("light.limit", 0),
    ("light.dedupe_similarity", 1),
    ("deep.min_score", 0),
    ("deep.min_score", 1),
    ("deep.min_recall_count", 1),
    ("deep.max_age_days", 1),
    ("deep.weights.conceptual", 0),
    ("memory.budget_chars", 100),
    ("memory.evict", "least-used"),
    ("narrative.timeout_seconds", 1),
]

Reader = Callable[..., Config]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Load a `config.toml` text, with nothing from the machine but what the test gives."""
    monkeypatch.chdir(tmp_path)

    def reader(text: str | bytes = "", **given: Any) -> Config:
        content = text.encode() if isinstance(text, str) else text
        (tmp_path / "config.toml").write_bytes(content)
        return load(**{"workspace": None, "environ": {}, "user_config": None, **given})

    return reader


def at(config: BaseModel, key: str) -> object:
    value: object = config
    for name in key.split("."):
        value = getattr(value, name)
    return value


def configured(overrides: Mapping[str, object], **environ: str) -> Config:
    return load(workspace=Path("nowhere"), environ=environ, user_config=None, overrides=overrides)


def assigned(key: str, value: object) -> str:
    return f"{key} = {toml(value)}\n"


def problems(read: Reader, text: str | bytes = "", **given: Any) -> tuple[ConfigProblem, ...]:
    with pytest.raises(ConfigError) as caught:
        read(text, **given)
    return caught.value.problems


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_default_is_the_one_of_the_specification(key: str) -> None:
    assert at(Config(), key) == DEFAULTS[key]


def test_there_are_no_other_keys() -> None:
    sections = {"deep.weights", *Config.model_fields}
    assert {".".join(key) for key in FIELDS} == sections | set(DEFAULTS)


def test_an_empty_file_gives_the_defaults(read: Reader) -> None:
    assert read("") == Config()


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    absent = tmp_path / "absent.toml"
    assert load(workspace=tmp_path, environ={}, user_config=absent).deep == Config().deep


def test_the_file_of_the_repository_is_the_rendered_one() -> None:
    assert ROOT_FILE.read_bytes() == rendered().encode()


def test_the_rendered_file_loads_to_the_defaults(read: Reader) -> None:
    assert read(rendered()) == Config()


def test_the_rendered_file_shows_every_key() -> None:
    lines = rendered().splitlines()
    shown = [line.removeprefix("# ").split(" = ")[0] for line in lines if " = " in line]
    assert shown == [key.rsplit(".", 1)[-1] for key in DEFAULTS]


def test_a_key_whose_absence_means_something_is_commented_out() -> None:
    tables = tomllib.loads(rendered())
    assert "path" not in tables["workspace"]
    assert "max_age_days" not in tables["deep"]


@pytest.mark.parametrize("example", ["path", "max_age_days"])
def test_a_commented_key_is_legal_once_it_is_uncommented(read: Reader, example: str) -> None:
    assert read(rendered().replace(f"# {example} =", f"{example} =")) != Config()


def test_a_rendered_key_says_its_unit_and_legal_range() -> None:
    assert "lookback_days = 7  # a whole number of days from 1 to 36500\n" in rendered()


def test_every_key_is_described() -> None:
    values = [FIELDS[tuple(key.split("."))] for key in DEFAULTS]
    assert all((field.description or "").endswith(".") for field in values)


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValidationError):
        Config().deep.min_score = 0.1


@pytest.mark.parametrize(("key", "value"), ILLEGAL)
def test_an_illegal_value_is_named_with_its_key(read: Reader, key: str, value: object) -> None:
    assert [problem.key for problem in problems(read, assigned(key, value))] == [key]


@pytest.mark.parametrize(("key", "value"), LEGAL_EDGES)
def test_a_value_on_the_bound_is_kept(read: Reader, key: str, value: object) -> None:
    assert at(read(assigned(key, value)), key) == value


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_date_is_legal_nowhere(read: Reader, key: str) -> None:
    assert [problem.key for problem in problems(read, assigned(key, date(2026, 6, 15)))] == [key]


@given(st.floats())
def test_a_score_outside_its_range_is_refused_and_inside_is_kept(score: float) -> None:
    try:
        found = configured({"deep.min_score": score})
    except ConfigError:
        assert not 0 <= score <= 1
    else:
        assert found.deep.min_score == score


def test_an_item_of_a_list_is_named_by_its_place(read: Reader) -> None:
    assert [problem.key for problem in problems(read, 'sessions.paths = ["a", 1]')] == ["sessions.paths[1]"]


def test_a_section_that_is_no_table_is_refused(read: Reader) -> None:
    assert [problem.key for problem in problems(read, "deep = 3")] == ["deep"]


def test_weights_that_are_all_zero_are_refused(read: Reader) -> None:
    text = "".join(assigned(key, 0) for key in DEFAULTS if key.startswith("deep.weights."))
    assert [problem.key for problem in problems(read, text)] == ["deep.weights"]


def test_weights_that_two_sources_make_zero_name_both(read: Reader) -> None:
    names = [key for key in DEFAULTS if key.startswith("deep.weights.")]
    text = "".join(assigned(key, 0) for key in names[1:])
    (problem,) = problems(read, text, overrides={names[0]: 0})
    assert (problem.key, problem.source) == ("deep.weights", "config.toml, a flag")


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ('narrative.narrator = "model"', ["narrative.model"]),
        ('narrative.narrator = "command"', ["narrative.command"]),
        ('embeddings.embedder = "endpoint"', ["embeddings.model", "embeddings.base_url"]),
    ],
)
def test_what_a_choice_needs_is_named_with_its_key(read: Reader, text: str, lacking: list[str]) -> None:
    assert [problem.key for problem in problems(read, text)] == lacking


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-06-15.md", "2026-06-15"),
        ("2026-06-15-vendor-call.md", "2026-06-15"),
        ("2026-06-15-1430.md", "2026-06-15"),
        ("audit-2026-06-15.md", "2026-06-15"),
        ("2026-06-15-to-2026-06-17.md", "2026-06-15"),
        ("12026-06-15.md", None),
        ("template.md", None),
    ],
)
def test_the_default_pattern_finds_the_first_date_of_a_diary(name: str, day: str | None) -> None:
    match = re.search(Config().workspace.pattern, name)
    assert (match["date"] if match else None) == day


def test_all_problems_of_all_sources_come_at_once(read: Reader, tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text("[light]\nlimit = -1\n", encoding="utf-8")
    found = problems(
        read,
        '[deep]\nmin_score = 1.5\nlimit = "ten"\n[rem]\nthemes = 3\n',
        user_config=user,
        environ={"DREAM_DEEP__MIN_SCORE": "high", "DREAM_X__Y": "1"},
        overrides={"deep.min_score": 2},
    )
    assert [(problem.key, problem.source) for problem in found] == [
        ("light.limit", str(user)),
        ("rem.themes", "config.toml"),
        ("deep.limit", "config.toml"),
        ("deep.min_score", "config.toml"),
        ("deep.min_score", "environment variable DREAM_DEEP__MIN_SCORE"),
        ("x", "environment variable DREAM_X__Y"),
        ("deep.min_score", "a flag"),
    ]


def test_the_report_has_a_line_for_each_problem_and_ends_with_the_way_out(read: Reader, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read('deep.min_score = 1.5\nlight.enabled = "on"', workspace=tmp_path)
    assert str(caught.value).splitlines() == [
        f'light.enabled: found "on", legal: true or false (from {tmp_path / "config.toml"})',
        f"deep.min_score: found 1.5, legal: a number from 0 to 1 (from {tmp_path / 'config.toml'})",
        "Nothing was done; correct each where it was set, or remove it to take the default.",
    ]


def test_a_long_value_is_shortened_in_the_report(read: Reader) -> None:
    assert len(problems(read, assigned("dreaming.time", "x" * 5000))[0].found) == 80


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("deep.min_scor", "deep.min_score"),
        ("deep.minScore", "deep.min_score"),
        ("light.lookbackDays", "light.lookback_days"),
        ("deep.weights.relevanz", "deep.weights.relevance"),
        ("depe", "deep"),
        ("min_score", "deep.min_score"),
        ("dedupe_similarity", "light.dedupe_similarity or rem.dedupe_similarity"),
    ],
)
def test_an_unknown_key_suggests_the_nearest(read: Reader, key: str, meant: str) -> None:
    (problem,) = problems(read, f"{key} = 1")
    assert (problem.key, problem.found) == (key, f"an unknown key (did you mean {meant}?)")


def test_an_unknown_key_without_a_near_one_lists_what_there_is(read: Reader) -> None:
    (problem,) = problems(read, "concepts.zzz = 1")
    assert (problem.found, problem.legal) == ("an unknown key", "stop_words, glossary")


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (b"[deep]\nmin_score =\n", "line 2"),
        (b"[deep]\n[deep]\n", "line 2"),
        (b"# fine\n# \xff\n", "line 2"),
        (b"[deep", "the file"),
    ],
)
def test_a_file_that_cannot_be_read_names_the_line_where_it_is_known(read: Reader, content: bytes, key: str) -> None:
    assert [problem.key for problem in problems(read, content)] == [key]


def test_a_broken_file_does_not_hide_the_problems_of_other_sources(read: Reader) -> None:
    found = problems(read, "[", overrides={"deep.min_score": 2})
    assert [problem.source for problem in found] == ["config.toml", "a flag"]


def test_a_named_file_must_exist(read: Reader, tmp_path: Path) -> None:
    (problem,) = problems(read, config=tmp_path / "absent.toml")
    assert problem.source == str(tmp_path / "absent.toml")


def test_a_folder_in_place_of_the_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match="a readable file"):
        load(workspace=tmp_path, environ={}, user_config=None)


def test_a_byte_order_mark_is_no_syntax_error(read: Reader) -> None:
    assert read("\ufeffdeep.limit = 4").deep.limit == 4


SOURCES = ["user", "workspace", "environment", "flag"]


@pytest.mark.parametrize("highest", range(len(SOURCES)))
def test_the_highest_source_that_speaks_wins(read: Reader, tmp_path: Path, highest: int) -> None:
    speaks = SOURCES[: highest + 1]
    user = tmp_path / "user.toml"
    user.write_text("deep.limit = 1", encoding="utf-8")
    found = read(
        "deep.limit = 2" if "workspace" in speaks else "",
        user_config=user,
        environ={"DREAM_DEEP__LIMIT": "3"} if "environment" in speaks else {},
        overrides={"deep.limit": 4} if "flag" in speaks else {},
    )
    assert found.deep.limit == highest + 1


def test_sources_are_joined_key_by_key(read: Reader, tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text("deep.weights.recency = 0.5", encoding="utf-8")
    weights = read("deep.weights.diversity = 0.4", user_config=user).deep.weights
    assert (weights.recency, weights.diversity, weights.relevance) == (0.5, 0.4, 0.3)


def test_a_list_is_replaced_not_joined(read: Reader) -> None:
    found = read('concepts.glossary = ["a"]', overrides={"concepts.glossary": ["b"]})
    assert found.concepts.glossary == ("b",)


def test_a_named_file_is_read_in_place_of_that_of_the_workspace(read: Reader, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("deep.limit = 5", encoding="utf-8")
    found = read("light.limit = 6\ndeep.limit = 7", config=other)
    assert (found.deep.limit, found.light.limit) == (5, 100)


def test_a_flag_that_was_not_given_changes_nothing(read: Reader) -> None:
    assert read("deep.limit = 5", overrides={"deep.limit": None}).deep.limit == 5


def test_an_illegal_value_is_refused_even_where_a_flag_overrides_it(read: Reader) -> None:
    assert [problem.source for problem in problems(read, "deep.limit = -5", overrides={"deep.limit": 1})] == [
        "config.toml"
    ]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A workspace in another folder, with a mark in its own `config.toml`."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "config.toml").write_text("deep.limit = 9", encoding="utf-8")
    return folder


def test_the_workspace_that_is_given_brings_its_file(read: Reader, elsewhere: Path) -> None:
    found = read(workspace=elsewhere)
    assert (found.workspace.path, found.deep.limit) == (elsewhere, 9)


def test_the_workspace_of_the_environment_brings_its_file(read: Reader, elsewhere: Path) -> None:
    found = read(environ={"DREAM_WORKSPACE__PATH": str(elsewhere)})
    assert (found.workspace.path, found.deep.limit) == (elsewhere, 9)


def test_the_workspace_of_the_user_config_brings_its_file(read: Reader, tmp_path: Path, elsewhere: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text('workspace.path = "elsewhere"', encoding="utf-8")
    found = read(user_config=user)
    assert (found.workspace.path, found.deep.limit) == (elsewhere, 9)


def test_a_given_workspace_beats_the_environment(read: Reader, tmp_path: Path, elsewhere: Path) -> None:
    found = read(workspace=elsewhere, environ={"DREAM_WORKSPACE__PATH": str(tmp_path)})
    assert found.workspace.path == elsewhere


def test_a_relative_workspace_is_counted_from_the_file_that_names_it(read: Reader, elsewhere: Path) -> None:
    (elsewhere / "named.toml").write_text('workspace.path = "agent"', encoding="utf-8")
    assert read(config=elsewhere / "named.toml").workspace.path == elsewhere / "agent"


def test_the_home_folder_is_put_in_place_of_the_tilde(
    read: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read('workspace.path = "~/agent"').workspace.path == tmp_path / "agent"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("DREAM_DEEP__MIN_SCORE", "0.7", 0.7),
        ("DREAM_DEEP__LIMIT", " 4 ", 4),
        ("DREAM_MEMORY__BUDGET_CHARS", "20_000", 20_000),
        ("DREAM_DEEP__WEIGHTS__RECENCY", "0.5", 0.5),
        ("DREAM_LIGHT__ENABLED", "false", False),
        ("DREAM_LIGHT__ENABLED", "0", False),
        ("DREAM_DREAMING__ENABLED", "True", True),
        ("DREAM_NARRATIVE__MODEL", "007", "007"),
        ("DREAM_DREAMING__TIMEZONE", "Europe/Berlin", "Europe/Berlin"),
        ("DREAM_MEMORY__EVICT", "least-used", "least-used"),
        ("DREAM_SESSIONS__PATHS", '["a/*.jsonl", "b.jsonl"]', ("a/*.jsonl", "b.jsonl")),
        ("DREAM_CONCEPTS__GLOSSARY", "['路由器', 'vlan',]", ("路由器", "vlan")),
    ],
)
def test_a_variable_is_read_as_what_its_key_holds(read: Reader, name: str, text: str, value: object) -> None:
    key = name.removeprefix("DREAM_").lower().replace("__", ".")
    assert at(read(environ={name: text}), key) == value


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_list_written_as_json_is_read_back(words: list[str]) -> None:
    found = configured({}, DREAM_CONCEPTS__STOP_WORDS=json.dumps(words))
    assert found.concepts.stop_words == tuple(words)


def test_a_variable_can_take_a_limit_away(read: Reader) -> None:
    assert read("deep.max_age_days = 30", environ={"DREAM_DEEP__MAX_AGE_DAYS": "null"}).deep.max_age_days is None


@pytest.mark.parametrize(
    ("name", "text", "key", "found"),
    [
        ("DREAM_DEEP__LIMIT", "ten", "deep.limit", '"ten"'),
        ("DREAM_DEEP__LIMIT", "", "deep.limit", '""'),
        ("DREAM_DEEP__LIMIT", "1\nx = 2", "deep.limit", r'"1\nx = 2"'),
        ("DREAM_DEEP__MIN_SCORE", "NaN", "deep.min_score", "nan"),
        ("DREAM_LIGHT__ENABLED", "maybe", "light.enabled", '"maybe"'),
        ("DREAM_CONCEPTS__GLOSSARY", "a,b", "concepts.glossary", '"a,b"'),
        ("DREAM_DEEP__MIN_SCOR", "1", "deep.min_scor", "an unknown key (did you mean deep.min_score?)"),
        ("DREAM_DEPE__MIN_SCORE", "1", "depe", "an unknown key (did you mean deep?)"),
    ],
)
def test_an_illegal_variable_is_named(read: Reader, name: str, text: str, key: str, found: str) -> None:
    (problem,) = problems(read, environ={name: text})
    assert (problem.key, problem.found, problem.source) == (key, found, f"environment variable {name}")


@pytest.mark.parametrize("name", ["DREAM_HOME", "DEEP__LIMIT", "MY_DREAM_DEEP__LIMIT"])
def test_a_variable_of_somebody_else_is_left_alone(read: Reader, name: str) -> None:
    assert read(environ={name: "x"}) == Config()


def test_the_configured_zone_wins() -> None:
    assert zone(configured({"dreaming.timezone": "Asia/Tokyo"})) == ZoneInfo("Asia/Tokyo")


def test_without_a_zone_the_machine_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_module, "get_localzone", lambda: ZoneInfo("America/Lima"))
    assert zone(Config()) == ZoneInfo("America/Lima")


def test_a_machine_that_does_not_know_its_zone_lives_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> ZoneInfo:
        raise ZoneInfoNotFoundError("no zone")

    monkeypatch.setattr(config_module, "get_localzone", unknown)
    assert zone(Config()) == ZoneInfo("UTC")


def test_the_user_config_is_a_file_of_this_program() -> None:
    assert default_user_config().parts[-2:] == ("nightly-dreaming", "config.toml")
