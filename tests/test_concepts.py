"""Concept tags, the words of a query that count, and the shipped word lists."""

import re
from collections.abc import Callable
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.concepts import MAX_TAG_CHARACTERS, Lexicon, fingerprint, informative, lexicon, tags, words
from memory.words import LANGUAGES, SHARED, vocabulary

SHIPPED = lexicon()
WHEN_OR_HOW_MUCH = re.compile(
    r"[\d\W_]+|[〇零一二三四五六七八九十百千万]+|(\d{4}-)?w\d+|q\d-\d{4}|v\d[\d.]*(-rc\.?\d+)?|\d+(am|pm)"
)


def test_golden_tags_are_those_of_the_reference_but_for_the_rules_that_differ(golden: Callable[[str], Any]) -> None:
    overlaps = [_overlap(case) for case in golden("concept_tags")["cases"]]
    mean = sum(overlaps) / len(overlaps)
    print(f"mean overlap of {len(overlaps)} cases: {mean:.4f}")  # noqa: T201 - shown by `pytest -s`
    assert mean >= 0.95


def _overlap(case: Any) -> float:
    """Share of common tags; taken out are tags of the file name, stop words, numbers, dates, times, versions.

    Where the reference stopped at its limit, ours took later words in place of those, so only as many are compared.
    """
    text = normalize("NFKC", case["text"]).lower().replace("_", "-")
    theirs = [tag for tag in case["tags"] if tag in text and tag not in SHIPPED.stop_words]
    theirs = [tag for tag in theirs if not WHEN_OR_HOW_MUCH.fullmatch(tag)]
    ours = tags(case["text"], SHIPPED, limit=case["limit"])
    if len(case["tags"]) >= case["limit"]:
        ours = ours[: len(theirs)]
    either = {*ours, *theirs}
    return len(set(ours) & set(theirs)) / len(either) if either else 1.0


def test_glossary_terms_come_first_then_compounds_then_words() -> None:
    assert tags("renamed the router_table in infra/net.yaml", SHIPPED) == (
        "router",
        "router-table",
        "infra/net.yaml",
        "renamed",
        "infra",
        "net.yaml",
    )


def test_chinese_words_are_told_apart_and_generic_ones_left_out() -> None:
    text = "PR 评审: 规范：今后所有测试必须使用真实数据库，不接受 mock。"
    assert tags(text, SHIPPED) == ("评审", "规范", "测试", "使用", "真实", "数据", "接受", "mock")


def test_japanese_words_are_told_apart() -> None:
    assert tags("ルーターの障害対応は夜間に行う", SHIPPED)[:4] == ("ルーター", "障害対応", "障害", "対応")


@pytest.mark.parametrize(
    "text",
    [
        "12345 3.14 28-31 1,000 二十 ①",
        "2026-06-15 2026/06/15 2026-06-15.md 2026-W15 Q2-2026",
        "03:10 9:30am 14h30 2026-06-15T09:30:00Z",
        "v3 v2.1 3.2.1-rc.4 1.2.x v22",
        "a to kv s3 网 か です",
        "x" * (MAX_TAG_CHARACTERS + 1),
        "... !!! 🚀 ---",
        "",
        "\0",
    ],
)
def test_numbers_times_versions_and_scraps_are_no_tags(text: str) -> None:
    assert tags(text, SHIPPED) == ()


def test_a_cited_place_is_no_theme() -> None:
    assert tags("see memory/2026-03-02.md:28-31", SHIPPED) == ("see",)


def test_at_most_eight_and_never_more_than_asked() -> None:
    text = "alpha bravo charlie delta foxtrot golf hotel juliet kilo"
    assert len(tags(text, SHIPPED)) == 8
    assert tags(text, SHIPPED, limit=2) == ("alpha", "bravo")
    assert tags(text, SHIPPED, limit=0) == tags(text, SHIPPED, limit=-1) == ()


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ("The NAS is at war with the son", {"nas", "war", "son"}, set()),
        ("Der Router war bis gestern im Flur und man hat ihn bewegt", {"flur"}, {"war", "man", "hat"}),
        ("MIT license for the repo", {"mit"}, set()),
        ("Das Team arbeitet mit dem Router und der Sicherung", {"team"}, {"mit"}),
    ],
)
def test_a_word_is_left_out_only_where_it_is_a_function_word(text: str, kept: set[str], dropped: set[str]) -> None:
    found = set(tags(text, SHIPPED))
    assert kept <= found
    assert not dropped & found


def test_a_short_glossary_term_must_stand_as_a_word() -> None:
    own = lexicon(glossary=["CI"])
    assert "ci" in tags("the CI is green", own)
    assert "ci" in tags("用CI部署", own)
    assert "ci" not in tags("the city is green", own)


def test_the_users_glossary_comes_first_and_beats_the_shipped_stop_words() -> None:
    own = lexicon(glossary=["Deploy", "blue green"])
    assert tags("router: deploy is blue green", own)[:3] == ("deploy", "blue green", "router")


def test_the_users_stop_words_beat_everything() -> None:
    own = lexicon(glossary=["acme"], stop_words=["ACME", "Router", "路由器"])
    assert tags("acme router 路由器 firmware", own) == ("firmware",)


def test_a_lexicon_is_made_once() -> None:
    assert lexicon(glossary=["a"]) is lexicon(glossary=("a",))


def test_the_fingerprint_changes_with_the_lists_only() -> None:
    assert fingerprint(lexicon()) == fingerprint(lexicon(glossary=(), stop_words=()))
    others = {fingerprint(own) for own in (lexicon(), lexicon(glossary=["acme"]), lexicon(stop_words=["acme"]))}
    assert len(others) == 3


def test_the_fingerprint_changes_with_the_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(SHIPPED)
    monkeypatch.setattr("icu4py.icu_version", "0.0")
    assert fingerprint(SHIPPED) != before


def test_words_are_folded_and_all_there() -> None:
    assert words("The Ｒｏｕｔｅｒ, 重启了 3.14 don't 🚀") == ("the", "router", "重", "启", "了", "3.14", "don't")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is our deploy rule for Fridays?", ("deploy", "rule", "fridays")),
        ("tell me about the NAS backup", ("nas", "backup")),
        ("什么是我们的部署规则", ("部署", "规则")),
        ("我们有没有关于测试的规定？", ("测试", "规定")),
        ("怎么备份照片", ("备份", "照片")),
        ("welche Regel haben wir für Deployments", ("regel", "deployments")),
        ("どこにバックアップを保存していますか", ("バックアップ", "保存")),
        ("라우터 비밀번호가 뭐야", ("라우터", "비밀번호가")),
        ("какое у нас правило деплоя", ("правило", "деплоя")),
        ("quelle est notre règle de déploiement", ("règle", "déploiement")),
        ("cuál es la regla de despliegue", ("regla", "despliegue")),
        ("qual é a nossa regra de deploy", ("regra", "deploy")),
    ],
)
def test_a_question_is_reduced_to_what_it_asks_about(query: str, expected: tuple[str, ...]) -> None:
    assert informative(query, SHIPPED) == expected


def test_compounds_of_a_query_are_taken_apart_and_numbers_are_not() -> None:
    assert informative("order-service pool_size node.js 10.0.0.1 8080", SHIPPED) == (
        *("order", "service", "pool", "size", "node", "js", "10.0.0.1", "8080"),
    )


def test_one_han_character_may_be_asked_for_and_one_letter_may_not() -> None:
    assert informative("猫 か 집 x", SHIPPED) == ("猫",)


def test_a_query_of_fillers_alone_keeps_all_its_words() -> None:
    assert informative("what is the", SHIPPED) == ("what", "is", "the")
    assert informative("什么", SHIPPED) == ("什么",)
    assert informative("?!", SHIPPED) == ()


def test_words_of_the_trade_may_be_asked_for_though_they_are_no_tags() -> None:
    assert informative("memory of the build session", SHIPPED) == ("memory", "build", "session")
    assert tags("memory of the build session", SHIPPED) == ()


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("concern", ["stop", "filler"])
def test_every_listed_word_is_one_the_segmentation_can_meet(concern: str, code: str) -> None:
    listed = [word.removeprefix("?") for word in vocabulary(concern, code)]
    assert len(listed) == len(set(listed))
    assert [word for word in listed if words(word) != (word,)] == []


def test_glossary_terms_are_listed_as_they_are_compared() -> None:
    assert set(vocabulary("glossary", SHARED)) == set(SHIPPED.glossary)


@given(st.text(st.characters(), max_size=60))
def test_any_text_has_short_distinct_folded_tags(text: str) -> None:
    found = tags(text, SHIPPED)
    assert len(found) == len(set(found)) <= 8
    assert all(0 < len(tag) <= MAX_TAG_CHARACTERS and tag not in SHIPPED.stop_words for tag in found)


@given(st.text(st.characters(), max_size=60))
def test_a_query_is_never_reduced_to_nothing(query: str) -> None:
    assert bool(informative(query, SHIPPED)) == bool(words(query))


@given(st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_any_lists_of_the_user_make_a_lexicon(glossary: list[str], stop_words: list[str]) -> None:
    own = lexicon(glossary=glossary, stop_words=stop_words)
    assert isinstance(own, Lexicon)
    assert not own.stop_words & set(own.glossary)
