"""Where running text may be cut: at sentence ends of any script, clauses and words, never inside a character."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from memory.markdown import CJK

MIN_PIECE = 8  # characters; a shorter piece says nothing by itself

_CLOSERS = "\"'”’»)\\]）」』】》"
_SENTENCE_END = re.compile(rf"[.!?…]+[{_CLOSERS}]*(?=\s|$)|[。！？；．]+[{_CLOSERS}]*")
_LINE_ENDS_SENTENCE = re.compile(rf"[.!?…。！？；．][{_CLOSERS}*_~`]*$")
_VISIBLE = re.compile(r"\S")
_CLAUSE_END = re.compile(r"[,;:](?=\s)|[，、：]")
_WORD_END = re.compile(rf"\s+|(?<=[{CJK}])|(?=[{CJK}])")
_ABBREVIATION = re.compile(
    r"(?:(?<!\S)\d\d?|(?<!\w)(?:[^\W\d_]|\w\.\w|abs|approx|art|av|bzw|ca|cf|др|dr|etc|evtl|fig|ggf|inkl|mr|mrs|ms|no|nr|p\.ej|prof|"
    r"руб|см|sr|sra|st|стр|usw|vgl|vol|vs))\.$",
    re.IGNORECASE,
)
_ABBREVIATION_LENGTH = 8  # characters that can hold the longest abbreviation, its full stop and what stands before it
_MAY_NOT_BEGIN = re.compile(rf"[{_CLOSERS}.,;:!?…。！？；：，、．・ー～%％°]")
_MAY_NOT_END = re.compile(r"[(\[“‘«（「『【《]")
_EXTENDS = re.compile(
    "[\u0e33\u0eb3\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_FLAG_LETTERS = re.compile("[\U0001f1e6-\U0001f1ff]+$")


def ends_sentence(line: str) -> bool:
    """Whether the last thing in a line is the end of a sentence, quoted and marked up or not."""
    return _LINE_ENDS_SENTENCE.search(line) is not None


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the offset behind each sentence; decimals, addresses, ordinals and abbreviations end none."""
    for end in _SENTENCE_END.finditer(text):
        if end[0][0] not in ".…" or not _is_inner_stop(text, end):
            yield end.end()


def cut(text: str, limit: int, line_ends: Iterable[int] = ()) -> int:
    """Return where the first piece of `text` ends, at most `limit` characters long.

    The last sentence end wins, then the last line end, the last clause of the second half, the last word; text without
    any of these is cut between two whole characters.
    """
    window = text[: limit + 1]
    clauses = (end.end() for end in _CLAUSE_END.finditer(window, limit // 2))
    words = (end.start() for end in _WORD_END.finditer(window) if _may_part(window, end.start()))
    for ends in (sentence_ends(window), line_ends, clauses, words):
        last = max((end for end in ends if MIN_PIECE <= end <= limit), default=0)
        if last:
            return last
    return next((end for end in range(limit, 0, -1) if not _inside_character(window, end)), limit)


def _is_inner_stop(text: str, stop: re.Match[str]) -> bool:
    dotted = text[max(0, stop.start() + 1 - _ABBREVIATION_LENGTH) : stop.start() + 1]
    following = _VISIBLE.search(text, stop.end())
    return bool(_ABBREVIATION.search(dotted) or (following and following[0].islower()))


def _may_part(text: str, place: int) -> bool:
    if not 0 < place < len(text) or _inside_character(text, place):
        return False
    return not _MAY_NOT_BEGIN.match(text[place]) and not _MAY_NOT_END.match(text[place - 1])


def _inside_character(text: str, place: int) -> bool:
    if place >= len(text):
        return False
    if unicodedata.category(text[place]).startswith("M") or _EXTENDS.match(text[place]) or text[place - 1] == "\u200d":
        return True
    flags = _FLAG_LETTERS.search(text[:place])
    return bool(flags and len(flags[0]) % 2 and _FLAG_LETTERS.match(text[place]))
