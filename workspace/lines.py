"""Markdown as lines: how they end, which of them mean nothing, and foreign text made safe to stand on one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

BOM = "\ufeff"

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_HEADING = re.compile(r" {0,3}(?![-+*>]|\d+[.)])\S")
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "text_join"])


def split_lines(text: str) -> list[str]:
    """Split into lines that keep their ends; only LF, CRLF and CR end a line, as in CommonMark."""
    return _LINE.findall(text)


def line_end(text: str) -> str:
    """Return the line end most lines have; LF in a tie."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=counts.__getitem__)


def with_block(text: str, block: str) -> str:
    """Append a block after a blank line; of the text before it nothing changes."""
    if not text.removeprefix(BOM):
        return text + block
    end = line_end(text)
    last = split_lines(text)[-1]
    gaps = 2 - last.endswith(("\n", "\r")) - (not last.strip())
    return text + end * gaps + block


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Line indexes that matter: inside closed fences, and where headings begin that stand for themselves."""

    fenced: frozenset[int]
    headings: frozenset[int]


def outline(lines: Sequence[str]) -> Outline:
    """Find fences and headings; a fence nobody closed hides nothing, or one stray line would hide all that follows."""
    tokens = _BLOCKS.parse("".join(lines).removeprefix(BOM))
    fences = [_span(token) for token in tokens if token.type == "fence" and _is_closed(token, lines)]
    headings = [_span(token).start for token in tokens if token.type == "heading_open"]
    return Outline(
        fenced=frozenset(at for fence in fences for at in fence),
        headings=frozenset(at for at in headings if _HEADING.match(lines[at])),
    )


def _span(token: Token) -> range:
    return range(*token.map) if token.map else range(0)


def _is_closed(fence: Token, lines: Sequence[str]) -> bool:
    """Tell whether a fence outside lists and quotations, which close theirs, has a last line of its own."""
    span = _span(fence)
    mark = re.escape(fence.markup) + re.escape(fence.markup[0])
    return fence.level == 0 and len(span) > 1 and bool(re.fullmatch(rf" {{0,3}}{mark}*[ \t]*[\r\n]*", lines[span[-1]]))


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_STRUCTURE = re.compile(
    r"""
    \#{1,6} (?=\s|$)                            # heading
    | [-+*] (?=\s|$)                            # list item
    | ([-_*=]) [ ]* (?: \1 [ ]* )* $            # rule, underline of a heading
    | >                                         # quotation
    | `{3} | ~{3}                               # fence
    | < (?= [a-z/!?] ) (?! [a-z][a-z0-9+.-]* : )  # HTML, but not <https://…>
    | \[ (?= [\ x] \] | [^\]]* \]: )            # task box, link definition
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_COMMENT_EDGES = (("<!--", "<! --"), ("-->", "-- >"), ("--!>", "--! >"))


def printable(text: str) -> str:
    """Replace what no encoding can print: halves of surrogate pairs, which also stand for bytes that are not UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Put a text on one line and break comment marks up, visibly, so that it neither opens nor ends a comment."""
    flat = " ".join(_UNPRINTABLE.sub("", printable(text)).split())
    for mark, broken in _COMMENT_EDGES:
        flat = flat.replace(mark, broken)
    return flat


def harmless(text: str) -> str:
    """Make any text safe to begin a line with: one line, no comment marks, and no structure at its start."""
    flat = one_line(text)
    if _STRUCTURE.match(flat):
        return f"\\{flat}"
    return _NUMBER.sub(r"\1\\\2", flat, count=1) if _NUMBER.match(flat) else flat
