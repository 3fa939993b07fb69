"""What holds for the chunks of any diary."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import accumulate

from hypothesis import example, given
from hypothesis import strategies as st
from icu4py.breakers import CharacterBreaker

from memory.chunking import MAX_CHARACTERS, MAX_LINES, MIN_CJK_CHARACTERS, chunks, overlong_lines, source_lines
from memory.headings import MAX_PREFIX, prefix
from memory.markdown import document, joined
from memory.model import Chunk, Style
from memory.sentences import cut

MARKS = (
    r"# ,## ,- ,  - ,    ,1. ,> ,```,~~~,|,---,===,***,**,*,_,__,`,``,~~,[,](,),![,<,>,<!--,-->,<br>,<b>,&amp;,\,//,x:y"
)
LINES = (
    "\n,\n\n,\r\n,\r,\t,| a | b |\n| --- | --- |\n,- [ ] ,**Deploy**\n,<details>\n,[x]: y\n,"
    "<!-- openclaw:dreaming:light:start -->\n,<!-- openclaw:dreaming:light:end -->\n,https://example.org/a_b,"
    "<!-- openclaw-memory-promotion:x -->\n"
)
WORDS = "word,2026-06-15,14:05 ,Deploy the router. ,测试必须。,백업 ,👨‍👩‍👧,e\u0301,\x00,\ud83d,\u2028,\ufeff,\v"
scraps = st.sampled_from(",".join((MARKS, LINES, WORDS)).split(","))
diaries = st.lists(scraps | st.text(max_size=8), max_size=60).map("".join)

words = st.text("abcdefghij", min_size=4, max_size=9)
phrases = st.lists(words, min_size=2, max_size=40).map(" ".join)
items = st.lists(st.tuples(st.sampled_from(["- ", "* ", "  - ", "3. ", "- [x] "]), phrases).map("".join), min_size=1)
quotes = st.lists(phrases.map("> {}.".format), min_size=1, max_size=6)
paragraphs = st.lists(phrases | phrases.map("{}.".format) | phrases.map("**{}** on".format), min_size=1, max_size=9)
blocks = st.one_of(items, quotes, paragraphs).map("\n".join)
sections = st.lists(blocks, max_size=5).map("\n\n".join)


def spoken(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in re.findall(r"[a-j]{4,}", text)]


def statements(found: Iterable[Chunk]) -> list[str]:
    return [statement.text for chunk in found for statement in chunk.statements]


def moved(found: Iterable[Chunk], lines: int) -> list[tuple[str, int, int]]:
    return [(chunk.text, chunk.start_line + lines, chunk.end_line + lines) for chunk in found]


@given(diaries)
def test_no_chunk_is_too_long_or_too_short(diary: str) -> None:
    for chunk in chunks(diary):
        assert len(chunk.text) <= MAX_CHARACTERS
        assert chunk.end_line - chunk.start_line < MAX_LINES
        assert len(chunk.text.removeprefix(f"{chunk.heading}: ")) >= MIN_CJK_CHARACTERS


@given(diaries)
def test_lines_ascend_inside_the_diary(diary: str) -> None:
    places = [(s.start_line, s.end_line) for chunk in chunks(diary) for s in chunk.statements]
    assert places == sorted(places)
    assert all(1 <= start <= end <= len(source_lines(diary)) for start, end in places)


@given(diaries)
def test_the_statements_of_a_chunk_are_its_text(diary: str) -> None:
    for chunk in chunks(diary):
        texts = [statement.text for statement in chunk.statements]
        body = joined(texts) if chunk.style is Style.PARAGRAPH else "; ".join(texts)
        assert chunk.text == (f"{chunk.heading}: {body}" if chunk.heading else body)


@given(diaries)
def test_a_chunk_is_clean_text(diary: str) -> None:
    for chunk in chunks(diary):
        assert chunk.text == " ".join(chunk.text.split()) == unicodedata.normalize("NFC", chunk.text)
        assert chunk.text.encode("utf-8")


@given(diaries)
def test_the_ends_of_lines_do_not_matter(diary: str) -> None:
    plain = "\n".join(source_lines(diary))
    assert chunks(plain.replace("\n", "\r\n")) == chunks(plain)


@given(sections)
def test_every_word_is_in_a_statement_once_and_in_order(diary: str) -> None:
    assert spoken(statements(chunks(diary))) == spoken([diary])


@given(sections)
def test_a_statement_stands_on_its_lines(diary: str) -> None:
    lines = source_lines(diary)
    for chunk in chunks(diary):
        for s in chunk.statements:
            assert set(spoken([s.text])) <= set(spoken(lines[s.start_line - 1 : s.end_line]))


@given(sections, words, sections)
def test_a_section_does_not_change_with_what_stands_before_it(above: str, heading: str, below: str) -> None:
    below = f"## {heading}\n{below}"
    offset = len(source_lines(above)) + 1
    assert moved(chunks(f"{above}\n\n{below}"), 0) == moved(chunks(above), 0) + moved(chunks(below), offset)


@given(st.lists(blocks, max_size=4), st.lists(blocks, max_size=4), phrases)
def test_a_paragraph_added_between_blocks_changes_no_other_chunk(
    above: list[str], below: list[str], added: str
) -> None:
    before = statements(chunks("\n\n".join([*above, *below])))
    after = statements(chunks("\n\n".join([*above, f"Added: {added}.", *below])))
    assert [text for text in after if text in before] == before


@example("` a `")
@example("` `")
@given(st.text("ab `_\\", max_size=30))
def test_code_is_read_the_same_with_and_without_other_marks(line: str) -> None:
    doc = document("")
    assert doc.visible(f"x{line}x &amp;") == f"{doc.visible(f'x{line}x')} &"


@given(st.lists(st.text("[]`*ab\n(<", max_size=9), max_size=40).map("".join))
def test_every_line_of_a_paragraph_is_answered(content: str) -> None:
    assert len(document("").visible_lines(content)) == content.count("\n") + 1


@given(
    st.lists(st.sampled_from(["👨‍👩‍👧", "👍🏽", "🇩🇪", "e\u0301", "กำ", "ab", "汉字", " ", "。"]), min_size=9),
    st.integers(8, 40),
)
def test_text_is_cut_between_characters(clusters: list[str], limit: int) -> None:
    text = "".join(clusters)
    place = cut(text, limit)
    assert 0 < place <= limit
    assert place >= len(text) or place in accumulate(map(len, CharacterBreaker(text, "und")))


@given(st.text(max_size=200) | diaries)
def test_a_heading_says_part_of_itself_in_at_most_eighty_characters(heading: str) -> None:
    assert len(prefix(heading)) <= MAX_PREFIX
    assert prefix(heading) in heading


@given(st.lists(st.integers(3_999, 4_002), max_size=6))
def test_only_lines_over_the_limit_are_reported(lengths: list[int]) -> None:
    diary = "\r\n".join("x" * length for length in lengths)
    assert overlong_lines(diary) == tuple(n for n, length in enumerate(lengths, 1) if length > 4_000)
