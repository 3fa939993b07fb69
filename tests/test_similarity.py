"""How alike two texts are, when they claim the same, and which of many are merged."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.similarity import groups, near_duplicate, same_claim, similarity, tokens

LIGHT, REM = 0.9, 0.88
WORDS = ("gateway", "port", "80", "8080", "not", "the", "网关", "不用", "备份", "'a'", "...", "x", "y", "z", "w")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=14)


def test_golden_similarity_where_the_reference_must_agree(golden: Callable[[str], Any]) -> None:
    cases = [case for case in golden("similarity")["cases"] if case["agreement"] == "must"]
    assert cases
    for case in cases:
        assert similarity(case["a"], case["b"]) == pytest.approx(case["jaccard"], abs=1e-12), case["id"]
        assert tokens(case["a"]) == frozenset(case["tokens_a"]), case["id"]
        assert tokens(case["b"]) == frozenset(case["tokens_b"]), case["id"]


def test_golden_texts_the_reference_cannot_read_are_read(golden: Callable[[str], Any]) -> None:
    for case in golden("similarity")["cases"]:
        for text in (case["a"], case["b"]):
            assert bool(tokens(text)) == any(map(str.isalnum, text)), case["id"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Überwachung läuft", {"überwachung", "läuft"}),
        ("ночь pool_size", {"ночь", "pool_size"}),
        ("रात का", {"रात", "का"}),
        ("网关 down", {"网", "关", "网关", "down"}),
        ("人々", {"人", "々", "人々"}),
        ("...", set()),
    ],
)
def test_every_script_gives_tokens(text: str, expected: set[str]) -> None:
    assert tokens(text) == expected


def test_half_width_and_full_width_forms_are_one() -> None:
    assert tokens("ｶﾚﾝﾀﾞｰ Ｐｏｒｔ ８０") == tokens("カレンダー port 80")


def test_texts_without_tokens_are_alike_only_when_equal() -> None:
    assert similarity("🚀", " 🚀 ") == 1.0
    assert similarity("🚀", "🎉") == 0.0


def test_different_plans_for_one_weekend_are_not_alike() -> None:
    assert similarity("周末去爬山带雨衣", "周末在家修水管") < 0.7


def test_a_reworded_line_below_the_threshold_stays_two() -> None:
    a, b = "周四晚上倒垃圾", "每周四晚上要倒垃圾"
    assert similarity(a, b) == pytest.approx(2 / 3)
    assert same_claim(a, b)
    assert groups([a, b], REM) == (0, 1)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("port 80", "port 8080"),
        ("version 1.2.3", "version 1.2.4"),
        ("at 03:10", "at 03:40"),
        ("on 2026-03-01", "on 2026-03-02"),
        ("5 GB and 5 GB", "5 GB"),
        ("wait 840ms", "wait 840s"),
        ("below -5 °C", "below 5 °C"),
        ("保留九十天", "保留六十天"),
        ("二十", "十二"),
        ("周四倒垃圾", "周日倒垃圾"),
        ("십일 분이 걸렸다", "오 분이 걸렸다"),
        ("kept for two hours", "kept for three hours"),
        ("not on Fridays", "not on Mondays"),
        ("im März", "im Mai"),
    ],
)
def test_different_numbers_are_different_claims(a: str, b: str) -> None:
    assert not same_claim(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("uses X", "does not use X"),
        ("用", "不用"),
        ("接受 mock", "不接受 mock"),
        ("we run it", "we don't run it"),
        ("we run it", "we don’t run it"),
        ("with a mock", "without a mock"),
        ("変更する", "変更しない"),
        ("変更します", "変更しません"),
        ("배포한다", "배포하지 않는다"),
        ("먹는다", "안 먹는다"),
        ("mit einem Mock", "mit keinem Mock"),
        ("c'est bon", "ce n'est pas bon"),
        ("hay cambios", "no hay cambios"),
        ("há mudanças", "não há mudanças"),
        ("это так", "это не так"),
        ("feature is enabled", "feature is disabled"),
    ],
)
def test_a_negation_makes_another_claim(a: str, b: str) -> None:
    assert not same_claim(a, b)
    assert not same_claim(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ('deploy "alpha" first', 'deploy "beta" first'),
        ("deploy 'alpha' first", "deploy 'beta' first"),
        ("use `npm ci`", "use `npm i`"),
        ("读《红楼梦》", "读《西游记》"),
        ("「甲」を使う", "「乙」を使う"),
        ("『甲』を使う", "『乙』を使う"),
        ("打开“设置”", "打开“网络”"),
        ("die „alte“ Leitung", "die „neue“ Leitung"),
        ("le « vieux » routeur", "le « neuf » routeur"),
    ],
)
def test_different_quoted_names_are_different_claims(a: str, b: str) -> None:
    assert not same_claim(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("the team's repo, it's Ana's", "it's the repo of the team, Ana's"),
        ("端口８０", "端口80"),
        ("open “settings”", "open «settings»"),
        ("at 5 %", "at 5%"),
    ],
)
def test_a_different_way_of_writing_is_the_same_claim(a: str, b: str) -> None:
    assert same_claim(a, b)


def test_two_uses_of_one_machine_stay_two() -> None:
    assert groups(["用 NAS 备份照片", "用 NAS 放电影"], REM) == (0, 1)


def test_a_changed_number_keeps_long_lines_apart() -> None:
    lines = [f"the nightly backup of the archive server goes to cold storage and is kept {n} days" for n in (60, 90)]
    assert similarity(lines[0], lines[1]) > 0.85
    assert not near_duplicate(lines[0], lines[1], 0.8)
    assert groups(lines, 0.8) == (0, 1)


def test_a_text_joins_the_first_kept_text_it_is_alike() -> None:
    lines = ["a b c d e f g h i j", "zzz", "a b c d e f g h i j k", "ZZZ", "a b c d e f g h i j"]
    assert groups(lines, LIGHT) == (0, 1, 0, 1, 0)


def test_a_text_does_not_join_a_text_that_was_itself_merged() -> None:
    chain = ["a b c d e f g h i", "a b c d e f g h i j", "a b c d e f g h i j k"]
    assert near_duplicate(chain[1], chain[2], LIGHT)
    assert groups(chain, LIGHT) == (0, 0, 2)


@pytest.mark.parametrize(("threshold", "size"), [(0.9, 20), (0.88, 25), (0.9, 30), (0.7, 10)])
def test_a_pair_exactly_at_the_threshold_is_merged(threshold: float, size: int) -> None:
    words = [chr(ord("а") + number) * 3 for number in range(size)]
    whole, part = " ".join(words), " ".join(words[: round(threshold * size)])
    assert groups([whole, part], threshold) == groups([part, whole], threshold) == (0, 0)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.1])
def test_a_threshold_that_means_nothing_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        groups(["a"], threshold)


@given(TEXTS, st.sampled_from((LIGHT, REM, 0.5, 0.3, 1.0)))
def test_groups_are_those_of_comparing_all_pairs(texts: list[str], threshold: float) -> None:
    assert groups(texts, threshold) == _by_all_pairs(texts, threshold)


@given(st.lists(st.text(max_size=12), max_size=8), st.sampled_from((LIGHT, 0.4)))
def test_groups_of_any_text_are_those_of_comparing_all_pairs(texts: list[str], threshold: float) -> None:
    assert groups(texts, threshold) == _by_all_pairs(texts, threshold)


@given(st.text(max_size=40), st.text(max_size=40))
def test_similarity_is_symmetric_bounded_and_one_for_equal_texts(a: str, b: str) -> None:
    assert similarity(a, b) == similarity(b, a)
    assert 0.0 <= similarity(a, b) <= 1.0
    assert similarity(a, a) == 1.0
    assert same_claim(a, a)


def _by_all_pairs(texts: Sequence[str], threshold: float) -> tuple[int, ...]:
    places: list[int] = []
    for index, text in enumerate(texts):
        kept = (other for other in range(index) if places[other] == other)
        places.append(next((other for other in kept if near_duplicate(text, texts[other], threshold)), index))
    return tuple(places)
