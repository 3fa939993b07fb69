import re
from importlib.resources import files

import pytest

from dreaming.narrators.phrases import FOLDER, counts, deck

LANGUAGES = ("en", "zh")
POOLS = tuple(
    (language, path.name.removesuffix(".txt"))
    for language in LANGUAGES
    for path in sorted((files("dreaming") / FOLDER / language).iterdir(), key=lambda path: path.name)
    if path.name.endswith(".txt") and path.name != "images.txt"
)
SLOTS_OF = {
    "opening": set(),
    "closing": set(),
    "musing": set(),
    "nobody": set(),
    "theme": {"theme"},
    "same-theme": {"text", "theme"},
    "reason": {"reason"},
    "story": {"reason"},
}
FIRST_PERSON = {"en": re.compile(r"\b(I|me|my|mine)\b"), "zh": re.compile("我")}


def sentences(language: str, pool: str) -> list[str]:
    text = (files("dreaming") / FOLDER / language / f"{pool}.txt").read_text(encoding="utf-8")
    return text.splitlines()


def slots(sentence: str) -> set[str]:
    return set(re.findall(r"\{\{ (\w+) \}\}", sentence)) - {"heading", "times", "days", "questions"}


def test_both_languages_have_the_same_pools() -> None:
    english, chinese = ({pool for code, pool in POOLS if code == language} for language in LANGUAGES)

    assert english == chinese


@pytest.mark.parametrize(("language", "pool"), POOLS)
def test_a_pool_is_large_enough_to_vary(language: str, pool: str) -> None:
    assert len(set(sentences(language, pool))) >= 12


@pytest.mark.parametrize(("language", "pool"), POOLS)
def test_a_sentence_speaks_of_what_its_pool_is_for(language: str, pool: str) -> None:
    expected = SLOTS_OF.get(pool, SLOTS_OF.get(pool.split("-")[-1], {"text"}))

    assert [line for line in sentences(language, pool) if slots(line) != expected] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_stands_in_two_pools(language: str) -> None:
    lines = [line for code, pool in POOLS if code == language for line in sentences(code, pool)]

    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("language", "phase"), [(code, phase) for code in LANGUAGES for phase in ("light", "rem", "deep")]
)
def test_an_opening_is_in_the_first_person(language: str, phase: str) -> None:
    person = FIRST_PERSON[language]

    assert [line for line in sentences(language, f"{phase}-opening") if not person.search(line)] == []


@pytest.mark.parametrize(("language", "pool"), POOLS)
def test_a_sentence_ends_as_its_language_ends_sentences(language: str, pool: str) -> None:
    ends = {"en": ".", "zh": "。？"}[language]

    assert all(line[-1] in ends for line in sentences(language, pool))


@pytest.mark.parametrize("pool", [pool for code, pool in POOLS if code == "zh"])
def test_chinese_sentences_have_full_width_punctuation(pool: str) -> None:
    prose = [re.sub(r"\{[{%].*?[}%]\}", "", line) for line in sentences("zh", pool)]

    assert [line for line in prose if re.search(r"[,.;:?!()\"'“”\s]", line)] == []


def test_every_sentence_of_a_round_is_heard_before_one_comes_back() -> None:
    size = len(deck("en", "musing", 0))
    first = size * 1000

    heard = [deck("en", "musing", turn)[0] for turn in range(first, first + size)]

    assert len({id(phrase) for phrase in heard}) == size


def test_rounds_are_shuffled_differently() -> None:
    size = len(deck("en", "musing", 0))

    assert deck("en", "musing", 0) != deck("en", "musing", size)


def test_a_sentence_is_recognised_whatever_it_was_said_about() -> None:
    phrase = deck("en", "elsewhere", 0)[0]
    earlier = phrase.said_of({"text": "tests use a real database", "heading": "Review"})

    assert phrase.age(["something else", "".join(earlier.split())]) == 1


def test_a_sentence_never_said_is_older_than_all_entries() -> None:
    assert deck("zh", "musing", 0)[0].age(["", ""]) == 2


@pytest.mark.parametrize(
    ("language", "number", "expected"),
    [
        ("en", 1, ("once", "one day", "one question")),
        ("en", 2, ("twice", "two days", "two different questions")),
        ("en", 19, ("nineteen times", "nineteen days", "nineteen different questions")),
        ("en", 42, ("forty-two times", "forty-two days", "forty-two different questions")),
        ("en", 60, ("sixty times", "sixty days", "sixty different questions")),
        ("en", 120, ("a hundred and more times", "a hundred and more days", "a hundred and more different questions")),
        ("zh", 1, ("一次", "一天", "一个问题")),
        ("zh", 2, ("两次", "两天", "两个不同的问题")),
        ("zh", 10, ("十次", "十天", "十个不同的问题")),
        ("zh", 12, ("十二次", "十二天", "十二个不同的问题")),
        ("zh", 42, ("四十二次", "四十二天", "四十二个不同的问题")),
        ("zh", 120, ("上百次", "上百天", "上百个不同的问题")),
    ],
)
def test_counts_are_told_in_words(language: str, number: int, expected: tuple[str, str, str]) -> None:
    assert tuple(counts(language, recalls=number, days=number, questions=number).values()) == expected
