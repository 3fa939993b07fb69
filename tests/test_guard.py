"""What is kept of an answer, and why others are not, whoever wrote them."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.narrators.entry import LONGEST, Graduate, Material, length
from dreaming.narrators.guard import judged
from dreaming.narrators.plain import TONGUES, plain
from dreaming.narrators.prompts import request
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
NAMES = ("Anna", "Berta", "Clara", "Dora", "Emil", "Frida", "Georg", "Hanna", "Ida", "Johann", "Klara", "Lorenz")
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
TALKS = "it talks about models, prompts, notes or dreaming"
GOOD = {"en": ENGLISH, "zh": CHINESE, "de": GERMAN, "ja": JAPANESE}


def material(code: str = "en", *more: str) -> Material:
    return Material(phase="light", night=date(2026, 6, 18), language=code, texts=(*NOTES[code], *more), themes=())


def kept(answer: str, code: str = "en", recent: tuple[str, ...] = ()) -> str:
    verdict = judged(answer, material(code), prompts=request(material(code)).prompts, recent=recent)
    assert verdict.reason == ""
    return verdict.prose


def reason(answer: str, code: str = "en", recent: tuple[str, ...] = ()) -> str:
    verdict = judged(answer, material(code), prompts=request(material(code)).prompts, recent=recent)
    assert verdict.prose == ""
    return verdict.reason


@pytest.mark.parametrize("code", GOOD)
def test_a_good_entry_is_kept_as_it_is(code: str) -> None:
    assert kept(GOOD[code], code) == GOOD[code]


AROUND = (
    ("<think>A plan.</think>\n\n", ""),
    ("<think>\n\n</think>\n\nSure!\n\n", ""),
    ("A plan without a beginning.</think>", ""),
    ("<|im_start|>assistant\n", "<|im_end|>\n<|im_start|>user\nAnother one?"),
    ("", "<|eot_id|>"),
    ("<diary_entry>\n", "\n</diary_entry>"),
    ("<p>", "</p>"),
    ("# Tonight\n\n", ""),
    ("The Patience of Heat\n\n", ""),
    ("### Night of June 18\n---\n", ""),
    ("**June 18, 2026**\n\n", ""),
    ("*June 18, 2026, 3:01 AM PDT*\n", ""),
    ("Date: June 18, 2026\n\n", ""),
    ("Thursday, June 18, 2026\n", ""),
    ("Night, June 18\n", ""),
    ("2026年6月18日\n\n", ""),
    ("Sure! Here is the diary entry:\n\n", ""),
    ("Sure, here's tonight's diary entry in the first person:\n\n---\n\n", "\n\n---"),
    ("Certainly! Here is a revised version of the diary entry:\n\n> ", ""),
    ("Here's the diary entry: ", ""),
    ("**Diary Entry:**\n\n", ""),
    ("Dear Diary,\n\n", ""),
    ("Dear diary, ", ""),
    ("日记：\n", ""),
    ("好的，以下是今晚的日记：\n\n", ""),
    ("以下が今夜の日記です：\n\n", ""),
    ("Hier ist der Tagebucheintrag für heute Nacht:\n\n", ""),
    ("Klar! Hier ist der Eintrag:\n", ""),
    ("```markdown\n", "\n```"),
    ("Here is the entry:\n\n```\n", "\n```\n\nLet me know if you'd like any changes!"),
    ("", " Good night."),
    ("", "\n\nGood night."),
    ("", "\n\n— the agent"),
    ("", "\n\n*— The Night Clerk*"),
    ("", "\n\nYours,\nThe agent"),
    ("", "\n\nWith love, your keeper"),
    ("", "\n\n晚安。"),
    ("", "晚安。"),
    ("", "\n\nBis morgen,"),
    ("", "\n\nおやすみなさい。"),
    ("", "\n\n(103 words)"),
    ("", "\n\nWord count: 103"),
    ("", "\n\n（约150字）"),
    ("", "\n\n[End of entry]"),
    ("", "\n\nI hope this captures the tone you wanted!"),
    ("", "\n\n---\n"),
    ("", "\n\n<!-- openclaw:dreaming:diary:end -->"),
    ("“", "”"),
    ('"', '"'),
    ("> ", ""),
    ("- ", ""),
)


@pytest.mark.parametrize(("before", "after"), AROUND)
def test_what_stands_around_an_entry_is_taken_away(before: str, after: str) -> None:
    assert kept(f"{before}{ENGLISH}{after}") == ENGLISH


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("好的！以下是今晚的日记：\n\n", "\n\n晚安。", "zh"),
        ("**2026年6月18日 星期四 晴**\n\n", "\n\n（全文约150字）", "zh"),
        ("亲爱的日记：\n", "", "zh"),
        ("「", "」", "zh"),
        ("Sure! Here is the entry:\n\n", "晚安，明天见。", "zh"),
        ("Liebes Tagebuch, ", " Gute Nacht.", "de"),
        ("18. Juni 2026\n\n", "\n\nLiebe Grüße,\nDein Ofen", "de"),
        ("はい、以下が日記です。\n\n", "\n\nおやすみなさい。", "ja"),
        ("6月18日（木）\n", "また明日。", "ja"),
    ],
)
def test_other_languages_have_their_greetings_and_farewells(before: str, after: str, code: str) -> None:
    assert kept(f"{before}{GOOD[code]}{after}", code) == GOOD[code]


@pytest.mark.parametrize(
    "marks",
    [
        "The **kitchen** light",
        "The *kitchen* light",
        "The `kitchen` light",
        "The [kitchen](https://example.org/a) light",
        "The <b>kitchen</b> light",
        "The kitchen\u200b light",
        "The kitchen\nlight",
        "The  kitchen \t light",
    ],
)
def test_marks_leave_the_words(marks: str) -> None:
    assert kept(ENGLISH.replace("The kitchen light", marks)) == ENGLISH


@pytest.mark.parametrize(
    "words",
    [
        "I love 3 < 4 and <3",
        "build_all_day and 2 * 3 * 4",
        "the list<‹String›> of it",
        "“one” and “two”",
        "see a/b-c_d.md",
    ],
)
def test_what_only_looks_like_marks_stays(words: str) -> None:
    told = ENGLISH.replace("The kitchen light", words)
    assert words.replace("<‹", "‹").replace("›>", "›")[:8] in kept(told)


def test_paragraphs_are_kept_and_surplus_ones_joined() -> None:
    first, *others = ENGLISH.split(". ")
    assert kept(ENGLISH.replace(". I think", ".\n\nI think")).count("\n\n") == 1
    assert kept(".\n\n".join((first, *others))).count("\n\n") == 2


def test_headings_between_paragraphs_are_taken_away() -> None:
    assert kept(ENGLISH.replace(" I think", "\n\n## Reflection\n\nI think")).replace("\n\n", " ") == ENGLISH
    assert kept(ENGLISH.replace(" I think", "\n\n**What it cost**\n\nI think")).replace("\n\n", " ") == ENGLISH


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
        (f"As an AI language model I cannot feel. {ENGLISH}", f'{TALKS} ("language model")'),
        (f"These fragments are lovely. {ENGLISH}", f'{TALKS} ("these fragments")'),
        (f"Last night I dreamt of heat. {ENGLISH}", f'{TALKS} ("i dreamt")'),
        (f"We need to write an entry of 80 to 180 words. {ENGLISH}", f'{TALKS} ("we need to write")'),
        ('```json\n{"entry": "The kiln"}\n```', "it is JSON; write prose"),
        ("```python\nprint(1)\n```\n\nand\n\n```\nx\n```", "it is code; write prose"),
        ("import os\ndef kiln():\n    return six;\nlet x = 1;", "it is code; write prose"),
        ("Tonight:\n\n* **Kiln**: cone six\n* **Glaze**: ran down", "it is a list; write prose"),
        ("I apologize, but no notes came with it.", "it is a refusal"),
        ("Please provide the notes of the day.", "it is a refusal"),
        ("I'm sorry, I can’t assist with that request.", "it is a refusal"),
        ("Your diary entry goes here.", "it holds a placeholder"),
        (f"{{{{ texts }}}} {ENGLISH}", "it holds a placeholder"),
        (f"TODO: the kiln. {ENGLISH}", "it holds a placeholder"),
        (f"<your thoughts> {ENGLISH}", "it holds a placeholder"),
        ("the kiln and the shelf and " * 40, "it says the same words over and over"),
        (GERMAN, "it is not in English"),
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
        (f"作为一个 AI，我没有感觉。{CHINESE}", f'{TALKS} ("作为一个AI")'),
        (f"这些片段让我想了很久。{CHINESE}", f'{TALKS} ("这些片段")'),
        (f"昨夜我梦见了窑。{CHINESE}", f'{TALKS} ("梦见")'),
        ("抱歉，我无法完成这个请求。", "it is a refusal"),
        ("请提供今天的笔记内容，我才能写。", "it is a refusal"),
        ("1、测试要用真库\n2、窑温六号锥", "it is a list; write prose"),
        ("一、测试要用真库\n二、窑温六号锥", "it is a list; write prose"),
        (f"【此处填写日期】{CHINESE}", "it holds a placeholder"),
        (JAPANESE, "it is not in Chinese"),
        ("窑今天一直很暖和，我坐了很久。" * 9, "it says the same sentence twice"),
        ("窑今天一直很暖和，真好。", "it has 12 characters; write 80 to 180 characters"),
        ("测试必须使用真实数据库，不接受 mock。" * 9, "it only quotes the notes; tell what they mean"),
    ],
)
def test_what_is_no_chinese_entry_is_refused_with_the_reason(answer: str, why: str) -> None:
    assert reason(answer, "zh") == why


def test_an_entry_that_was_told_before_is_refused() -> None:
    assert reason(ENGLISH.replace("patient", "calm"), recent=(ENGLISH,)) == "it is nearly the same as an earlier entry"
    first = ENGLISH.split(". ")[0]
    other = " ".join(f"{name} came by, and {name.lower()[::-1]} stayed where it was." for name in NAMES)
    assert reason(f"{first}. {other}", recent=(ENGLISH,)) == "it begins like an earlier entry"


def test_an_entry_that_is_too_long_ends_with_its_last_sentence_that_fits() -> None:
    prose = kept(" ".join((ENGLISH, *(f"{name} put {name.lower()[::-1]} away, a day at a time." for name in NAMES))))
    assert 170 <= len(prose.split()) <= 180
    assert prose.endswith("time.")


def test_one_sentence_that_is_too_long_is_refused() -> None:
    endless = f"{ENGLISH.replace('. ', ', and ')[:-1]}, and {' '.join(map(' and '.join, product(NAMES, NAMES)))}."
    assert reason(endless).endswith("write 80 to 180 words")


@pytest.mark.parametrize(
    ("code", "rest"), [("en", "And then there is the matter of"), ("zh", "还有一件事，就是那只"), ("de", "Und dann")]
)
def test_an_unfinished_sentence_at_the_end_is_left_out(code: str, rest: str) -> None:
    assert kept(f"{GOOD[code]} {rest}", code) == GOOD[code]


@pytest.mark.parametrize(
    "remark",
    [
        "The model railway needs a longer bridge, and the AI course begins in May.",
        "Anna gave me a prompt answer.",
        "I'm sorry for the bowl that broke, but glad of the lesson.",
        "The candidates for the job came early.",
        "A fragment of the old bowl lies on the sill.",
        "In Spain they say todo for everything.",
    ],
)
def test_ordinary_words_are_no_talk_about_oneself(remark: str) -> None:
    assert kept(f"{ENGLISH} {remark}").endswith(remark)


@pytest.mark.parametrize(
    "remark",
    [
        "这句话来自 Anna 的 Kubernetes 笔记，还有 PostgreSQL 和 staging。",
        "「Verify every release on staging before it goes out」",
    ],
)
def test_latin_names_make_no_other_language(remark: str) -> None:
    assert kept(f"{CHINESE}{remark}"[-150:], "zh")


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


@pytest.mark.parametrize("code", GOOD)
def test_cleaning_again_changes_nothing(code: str) -> None:
    for before, after in AROUND:
        prose = kept(f"{before}{GOOD[code]}{after}", code)
        assert kept(prose, code) == prose


@given(
    st.text() | st.lists(st.sampled_from([part for pair in AROUND for part in pair])).map("".join),
    st.sampled_from(list(GOOD)),
)
def test_any_answer_is_judged_either_way(answer: str, code: str) -> None:
    for told in (answer, f"{answer}{GOOD[code]}{answer}"):
        verdict = judged(told, material(code), prompts=request(material(code)).prompts, recent=())
        assert bool(verdict.prose) != bool(verdict.reason)
        assert length(verdict.prose, code) <= LONGEST
        assert not verdict.prose or judged(verdict.prose, material(code), recent=()) == verdict
