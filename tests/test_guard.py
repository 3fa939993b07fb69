"""What is kept of an answer, and why others are not, whoever wrote them."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from dreaming.narrators.entry import Graduate, Material
from dreaming.narrators.guard import judged
from dreaming.narrators.plain import TONGUES, plain
from dreaming.narrators.prompts import instructions, request
from model_server import ENGLISH

CHINESE = (
    "夜里我又想起那条关于测试的规矩。上个季度，一次迁移悄悄坏掉了，没有人看见，因为替身总是点头称是。后来大家决定让测试面对真正的数据库，"
    "我才明白，诚实有时候需要一点重量。窑温要到六号锥，新泥才不会塌，这两件事竟然像是同一个道理。明天我想再去看看那张旧记录，看看它还有没有话要说。"
)
GERMAN = (
    "Heute blieb mir ein Satz im Ohr, den jemand beinahe nebenbei notiert hat: Der Ofen braucht Kegel sechs, weil der"
    " neue Ton schon bei acht schmilzt. Ich habe ihn hin und her gewendet wie einen warmen Stein. Er gehört zu einer"
    " älteren Bemerkung über eine Glasur, die im Frühling vom Regal lief, und plötzlich ergeben beide zusammen einen"
    " Sinn. Hitze ist geduldig, bis sie es nicht mehr ist. Die Lehre hat ein Regal und zwei Schalen gekostet, und ich"
    " finde, das ist ein gerechter Preis für eine Zahl, die nun niemand mehr vergisst. Morgen sehe ich nach dem Regal."
)
JAPANESE = (
    "昼のあいだに書きとめられた一行が、まだ手のなかに残っている。新しい粘土は八番で溶けてしまうから、窯は六番でいい。ただそれだけのことなのに、"
    "春に棚を流れ落ちた釉薬のことまで思い出した。熱はいつも辛抱づよく待っていて、あるときふいに待つのをやめる。器を二つ失って覚えた数字は、もう誰も忘れないだろう。"
)
NOTES = {
    "en": ("The kiln takes cone six, because the new clay melts at eight", "The glaze ran down a shelf in spring"),
    "zh": ("测试必须使用真实数据库，不接受 mock", "窑温到六号锥，新泥在八号会塌"),
    "de": (
        "Der Ofen braucht Kegel sechs, weil der neue Ton bei acht schmilzt",
        "Die Glasur lief im Frühling vom Regal",
    ),
    "ja": ("窯は六番、新しい粘土は八番で溶ける", "春に釉薬が棚を流れ落ちた"),
}
GOOD = {"en": ENGLISH, "zh": CHINESE, "de": GERMAN, "ja": JAPANESE}


def material(code: str = "en", *more: str) -> Material:
    return Material(phase="light", night=date(2026, 6, 18), language=code, texts=(*NOTES[code], *more), themes=())


def kept(answer: str, code: str = "en", recent: tuple[str, ...] = ()) -> str:
    verdict = judged(answer, material(code), prompts=instructions(), recent=recent)
    assert verdict.reason == ""
    return verdict.prose


def reason(answer: str, code: str = "en", recent: tuple[str, ...] = ()) -> str:
    verdict = judged(answer, material(code), prompts=instructions(), recent=recent)
    assert verdict.prose == ""
    return verdict.reason


@pytest.mark.parametrize("code", GOOD)
def test_a_good_entry_is_kept_as_it_is(code: str) -> None:
    assert kept(GOOD[code], code) == GOOD[code]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<think>A plan.</think>\n\n", ""),
        ("A plan without a beginning.</think>", ""),
        ("# Tonight\n\n", ""),
        ("**June 18, 2026**\n\n", ""),
        ("2026年6月18日\n\n", ""),
        ("Sure! Here is the diary entry:\n\n", ""),
        ("Dear Diary,\n\n", ""),
        ("日记：\n", ""),
        ("```markdown\n", "\n```"),
        ("", "\n\nGood night."),
        ("", "\n\n— the agent"),
        ("", "\n\n晚安。"),
        ("", "\n\n---\n"),
        ("", "\n\n<!-- openclaw:dreaming:diary:end -->"),
        ("“", "”"),
        ("> ", ""),
    ],
)
def test_what_stands_around_an_entry_is_taken_away(before: str, after: str) -> None:
    assert kept(f"{before}{ENGLISH}{after}") == ENGLISH


def test_emphasis_and_wrapped_lines_are_prose() -> None:
    marked = ENGLISH.replace("cone six", "**cone six**").replace("warm stone", "*warm stone*").replace(". ", ".\n")
    assert kept(marked) == ENGLISH


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "it says nothing"),
        ("<think>I should write about the kiln", "it says nothing"),
        ("Dear Diary,", "it says nothing"),
        ("- The kiln takes cone six\n- The glaze ran down a shelf\n- More", "it is a list; write prose"),
        ("1. The kiln\n2. The glaze", "it is a list; write prose"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "it is a list; write prose"),
        ('{"entry": "The kiln takes cone six"}', "it is JSON; write prose"),
        ("I'm sorry, but I can't write that.", "it is a refusal"),
        (f"As an AI language model I cannot feel. {ENGLISH}", "it talks about models, prompts, notes or dreaming"),
        (f"These fragments are lovely. {ENGLISH}", "it talks about models, prompts, notes or dreaming"),
        (f"Last night I dreamt of heat. {ENGLISH}", "it talks about models, prompts, notes or dreaming"),
        (ENGLISH.replace("The kitchen light", "[insert place] light"), "it holds a placeholder"),
        (
            f"You keep a private diary. It is night, the work of the day is done. {ENGLISH}",
            "it repeats the instructions",
        ),
        (f"{ENGLISH} The key is {'ghp' + '_' + 'a1B2' * 9}.", "it holds a secret"),
        (CHINESE, "it is not in English"),
        ("; ".join(NOTES["en"] * 9), "it only quotes the notes; tell what they mean"),
        ("The kiln was warm again this evening. " * 15, "it says the same sentence twice"),
        ("The kiln was warm.", "it has 4 words; write 80 to 180 words"),
    ],
)
def test_what_is_no_entry_is_refused_with_the_reason(answer: str, why: str) -> None:
    assert reason(answer) == why


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ENGLISH, "it is not in Chinese"),
        (f"作为一个AI，我没有感觉。{CHINESE}", "it talks about models, prompts, notes or dreaming"),
        ("窑今天一直很暖和，真好。", "it has 12 characters; write 80 to 180 characters"),
        ("测试必须使用真实数据库，不接受 mock。" * 9, "it only quotes the notes; tell what they mean"),
    ],
)
def test_what_is_no_chinese_entry_is_refused_with_the_reason(answer: str, why: str) -> None:
    assert reason(answer, "zh") == why


def test_an_entry_that_was_told_before_is_refused() -> None:
    assert reason(ENGLISH.replace("patient", "calm"), recent=(ENGLISH,)) == "it is nearly the same as an earlier entry"
    first = ENGLISH.split(". ")[0]
    other = " ".join(f"Word{n} follows something quite different tonight." for n in range(20))
    assert reason(f"{first}. {other}", recent=(ENGLISH,)) == "it begins like an earlier entry"


def test_an_entry_that_is_too_long_ends_with_its_last_sentence_that_fits() -> None:
    long = " ".join(f"On shelf {n} there stands a bowl that nobody wanted to fire a second time." for n in range(30))
    prose = kept(long)
    assert 150 <= len(prose.split()) <= 180
    assert prose.endswith("time.")


def test_what_the_material_itself_says_is_no_talk_about_oneself() -> None:
    told = material("en", "Anna trains a language model on bird songs")
    answer = f"Anna hums while her language model learns birds. {ENGLISH}"
    assert judged(answer, told, recent=()).reason == ""


def test_a_reason_quotes_nothing() -> None:
    for answer in ("- Anna's number\n- Anna's street", f"Anna's password is {'ghp' + '_' + 'a1B2' * 9}. {ENGLISH}"):
        assert "Anna" not in reason(answer)


@pytest.mark.parametrize("phase", ["light", "rem", "deep"])
@pytest.mark.parametrize("code", TONGUES)
def test_the_plain_entry_passes_the_guard_every_night(code: str, phase: str) -> None:
    told: list[str] = []
    for n in range(40):
        texts = (f"{NOTES[code][n % 2]} {n}", *NOTES[code], f"Router {n}: 10.0.0.{n}")
        graduates = (Graduate(text=texts[0], recalls=5, days=3, queries=4, score=0.9),) if phase == "deep" else ()
        tonight = Material(
            phase=phase, night=date(2026, 1, 1) + timedelta(n), language=code, texts=texts, themes=(),
            graduates=graduates, earlier=tuple(told[:30]),
        )  # fmt: skip
        prose = plain(tonight)
        assert prose is not None
        assert judged(prose, tonight, recent=told[:30]).reason == ""
        told.insert(0, prose)


def test_prompts_can_be_told_from_the_material_they_hold() -> None:
    asked = request(replace(material(), texts=("Write one entry of that diary, in the first person, said Anna",)))
    assert "said Anna" in asked.asked
