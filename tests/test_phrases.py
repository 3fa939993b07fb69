import re
from importlib.resources import files

import pytest

from dreaming.narrators.phrases import FOLDER, counts, deck
from dreaming.narrators.words import entries

LANGUAGES = ("en", "de", "zh", "ja")
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
FIRST_PERSON = {
    "en": re.compile(r"\b(I|me|my|mine)\b"),
    "de": re.compile(r"(?i)\b(ich|mich|mir|mein\w*)\b"),
    "zh": re.compile("我"),
    "ja": re.compile("私"),
}
MARKS = {"en": ("“", "”"), "de": ("„", "“"), "zh": ("「", "」"), "ja": ("「", "」")}
UNSPOKEN = re.compile(
    r"(?i)dream|\b(ai|agents?|models?|llms?)\b|tr[aä]um|modell|\bki\b|[梦夢]|人工|智能体|模型|モデル|エージェント"
)


def sentences(language: str, pool: str) -> list[str]:
    text = (files("dreaming") / FOLDER / language / f"{pool}.txt").read_text(encoding="utf-8")
    return text.splitlines()


def slots(sentence: str) -> set[str]:
    return set(re.findall(r"\{\{ (\w+) \}\}", sentence)) - {"heading", "times", "days", "questions"}


def test_all_languages_have_the_same_pools() -> None:
    pools = [{pool for code, pool in POOLS if code == language} for language in LANGUAGES]

    assert all(of_one == pools[0] for of_one in pools)


@pytest.mark.parametrize(("language", "pool"), POOLS)
def test_a_pool_is_large_enough_to_vary(language: str, pool: str) -> None:
    assert len(set(sentences(language, pool))) >= 12


@pytest.mark.parametrize(("language", "pool"), [(code, pool) for code, pool in POOLS if code in ("de", "ja")])
def test_a_pool_is_as_large_as_the_english_one(language: str, pool: str) -> None:
    assert len(set(sentences(language, pool))) >= len(sentences("en", pool))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_image_occurs_in_a_sentence(language: str) -> None:
    lines = [line for code, pool in POOLS if code == language for line in sentences(code, pool)]

    assert [image for image in sentences(language, "images") if not any(image in line for line in lines)] == []


@pytest.mark.parametrize(("language", "pool"), POOLS)
def test_whatever_is_quoted_stands_between_the_marks_of_its_language(language: str, pool: str) -> None:
    opening, closing = MARKS[language]
    quoted = re.compile(rf"{opening}\{{\{{ (?:text|heading|theme|reason) \}}\}}{closing}")
    bare = [quoted.sub("", line) for line in sentences(language, pool)]

    assert [line for line in bare if re.search(r"[“”„‚‘«»「」『』\"]|\{\{ (?:text|heading|theme|reason)", line)] == []


@pytest.mark.parametrize(("language", "pool"), POOLS)
def test_a_sentence_never_speaks_of_dreams_or_models(language: str, pool: str) -> None:
    assert [line for line in sentences(language, pool) if UNSPOKEN.search(line)] == []


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
    ends = {"en": ".", "de": ".", "zh": "。？", "ja": "。"}[language]

    assert all(line[-1] in ends for line in sentences(language, pool))


@pytest.mark.parametrize(("language", "pool"), [(code, pool) for code, pool in POOLS if code in ("zh", "ja")])
def test_chinese_and_japanese_sentences_have_full_width_punctuation(language: str, pool: str) -> None:
    prose = [re.sub(r"\{[{%].*?[}%]\}", "", line) for line in sentences(language, pool)]

    assert [line for line in prose if re.search(r"[,.;:?!()\"'“”\s]", line)] == []


@pytest.mark.parametrize("pool", [pool for code, pool in POOLS if code == "ja"])
def test_japanese_sentences_have_japanese_commas(pool: str) -> None:
    assert [line for line in sentences("ja", pool) if "，" in line] == []


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
        ("de", 1, ("einmal", "einem Tag", "eine Frage")),
        ("de", 2, ("zweimal", "zwei Tagen", "zwei verschiedene Fragen")),
        ("de", 7, ("sieben Mal", "sieben Tagen", "sieben verschiedene Fragen")),
        ("de", 16, ("sechzehn Mal", "sechzehn Tagen", "sechzehn verschiedene Fragen")),
        ("de", 21, ("einundzwanzig Mal", "einundzwanzig Tagen", "einundzwanzig verschiedene Fragen")),
        ("de", 30, ("dreißig Mal", "dreißig Tagen", "dreißig verschiedene Fragen")),
        ("de", 77, ("siebenundsiebzig Mal", "siebenundsiebzig Tagen", "siebenundsiebzig verschiedene Fragen")),
        ("de", 120, ("hundert und mehr Mal", "hundert und mehr Tagen", "hundert und mehr verschiedene Fragen")),
        ("ja", 1, ("一度", "一日のうちに", "一つの問い")),
        ("ja", 2, ("二度", "二日にわたって", "二つの違う問い")),
        ("ja", 9, ("九度", "九日にわたって", "九つの違う問い")),
        ("ja", 10, ("十回", "十日にわたって", "十の違う問い")),
        ("ja", 42, ("四十二回", "四十二日にわたって", "四十二の違う問い")),
        ("ja", 120, ("百回以上", "百日以上にわたって", "百を超える問い")),
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


def test_every_piece_that_claims_a_repetition_stands_in_a_sentence() -> None:
    lines = [line for code, pool in POOLS for line in sentences(code, pool)]

    assert [piece for piece in entries("recurring") if sum(piece in line for line in lines) != 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("pool", ["rem-lead", "rem-theme", "light-lead", "light-theme"])
def test_enough_sentences_claim_no_repetition(language: str, pool: str) -> None:
    assert len([phrase for phrase in deck(language, pool, 0) if not phrase.claims]) >= 5
