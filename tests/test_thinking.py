"""A model's reasoning is no part of its answer, however it is marked and wherever the stream is cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.narrators.thinking import HELD, LONGEST_TAG, MOST_CHARACTERS, Unthinking, spoken

CASES = (
    ("nothing", "", ""),
    ("plain prose", "Only <3 words & [one] more.", "Only <3 words & [one] more."),
    ("a lone bracket", "When a < b, b > a; and <", "When a < b, b > a; and <"),
    ("a block", "<think>Hm.</think>The kiln.", "The kiln."),
    ("an empty block", "<think>\n\n</think>The kiln.", "The kiln."),
    ("upper case and attributes", '<THINK type="x">Hm.</Think >The kiln.', "The kiln."),
    ("other words", "<reasoning>a</reasoning>The <reflection>b</reflection>kiln<thought>c</thought>.", "The kiln."),
    ("a prefix", "<seed:think>Hm.</seed:think>The kiln.", "The kiln."),
    ("brackets", "[THINK]Hm.[/THINK]The kiln.", "The kiln."),
    ("triangles", "◁think▷Hm.◁/think▷The kiln.", "The kiln."),
    ("long words", "<|begin_of_thought|>Hm.<|end_of_thought|>The kiln.", "The kiln."),
    ("nested", "<think>a<think>b</think>c</think>The kiln.", "The kiln."),
    ("nested in another", "<thinking>a<reflection>b</reflection>c</thinking>The kiln.", "The kiln."),
    ("an inner one left open", "<think>A <reflection> maybe?</think>The kiln.", "The kiln."),
    ("closed by another word", "<think>Hm.</thinking>The kiln.", "The kiln."),
    ("in the middle", "The <think>Hm.</think>kiln.", "The kiln."),
    ("never closed", "The kiln.<think>Hm, and so on", "The kiln."),
    ("never opened", "Hm, so I say:</think>The kiln.", "The kiln."),
    ("never opened, with one inside", "Hm.<think>a</think>So:</think>The kiln.", "The kiln."),
    ("closed over and over", "Hm.</think>The bowl.</think>The kiln.", "The kiln."),
    (
        "channels",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>The kiln.<|return|>",
        "The kiln.",
    ),
    (
        "channels with a tool",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.get "
        "<|constrain|>json<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>The kiln.",
        "The kiln.",
    ),
    ("channels without an answer", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|message|>", ""),
    ("channels without marks", "analysisWe need an entry.assistantfinalThe kiln.", "The kiln."),
    ("a channel of one mark", "<|channel>thought\nHm.<channel|>The kiln.", "The kiln."),
    ("an end alone", "The kiln.<|end|>", "The kiln."),
    ("half a tag at the end", "The kiln. <thi", "The kiln. <thi"),
    ("a tag that is none", "The <b>kiln</b>, <channel> and <thinkpad>.", "The <b>kiln</b>, <channel> and <thinkpad>."),
    ("a tag without an end", f"<think {'x' * LONGEST_TAG}> kiln.", f"<think {'x' * LONGEST_TAG}> kiln."),
)
TEXTS = tuple(text for _, text, _ in CASES)


def in_pieces(*chunks: str) -> str:
    said = Unthinking()
    for chunk in chunks:
        said.feed(chunk)
    return said.close()


@pytest.mark.parametrize(("text", "prose"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_reasoning_is_taken_out(text: str, prose: str) -> None:
    assert spoken(text) == prose


@pytest.mark.parametrize("text", TEXTS)
def test_an_answer_heard_letter_by_letter_is_the_same(text: str) -> None:
    assert in_pieces(*text) == spoken(text)


@given(st.lists(st.sampled_from(TEXTS), max_size=30).map("".join), st.lists(st.integers(0, 3000), max_size=20))
def test_where_a_stream_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    assert in_pieces(*(text[a:b] for a, b in pairwise(edges))) == spoken(text)


pieces = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<", "th", "ink>", "[", "a ", "<|", "channel|>", "final", "<|message|>", "hm " * 90]
    ),
    max_size=40,
)


@given(pieces)
def test_any_stream_is_the_same_as_its_text(chunks: list[str]) -> None:
    assert in_pieces(*chunks) == in_pieces(*"".join(chunks)) == spoken("".join(chunks))


@given(st.text(st.characters(exclude_characters="<[◁")), st.text())
def test_what_stands_behind_a_block_is_all_that_is_said(before: str, thought: str) -> None:
    answer = "" if "assistantfinal" in before else before
    assert spoken(f"<think>{'' if '<' in thought else thought}</think>{answer}") == answer


def test_reasoning_is_not_kept_while_it_goes_on() -> None:
    said = Unthinking()
    said.feed("<think>")
    for _ in range(1000):
        said.feed("hm " * 100)
        assert len(said.__dict__["_held"]) <= HELD
    assert said.characters == 0


def test_an_answer_without_an_end_is_kept_up_to_a_limit() -> None:
    assert len(spoken("la " * MOST_CHARACTERS)) == MOST_CHARACTERS


def test_reasoning_longer_than_the_limit_leaves_room_for_the_answer() -> None:
    assert spoken(f"{'hm ' * MOST_CHARACTERS}</think>The kiln.") == "The kiln."
