"""What a Markdown file says, line by line, whoever wrote it: what new lines are compared with."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from workspace.lines import BOM, split_lines
from workspace.sections import POINTER_MARK, plain

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_TASK_BOX = re.compile(r"\[[ xX]\]\s+")
_CJK = r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]"
_CJK_GAP = re.compile(rf"(?<={_CJK}) (?={_CJK})")


def said(text: str) -> tuple[str, ...]:
    """Return every line that says something as plain text; text that runs over lines also as a whole."""
    lines = split_lines(text.removeprefix(BOM))
    tokens = _MARKDOWN.parse("".join("\n" if POINTER_MARK in line else line for line in lines))
    found = [line for at, token in enumerate(tokens) for line in _said(tokens, at, token)]
    flat = (" ".join(plain(line).split()) for line in found)
    return tuple(dict.fromkeys(line for line in flat if any(character.isalnum() for character in line)))


def _said(tokens: Sequence[Token], at: int, token: Token) -> Iterator[str]:
    if token.type in ("fence", "code_block"):
        yield from token.content.splitlines()
    elif token.type == "table_open":
        yield from _rows(tokens[at:])
    elif token.type == "inline" and tokens[at - 1].type == "paragraph_open":
        lines = _TASK_BOX.sub("", _words(token.children or ()), count=1).split("\n")
        yield from lines
        yield _CJK_GAP.sub("", " ".join(line.strip() for line in lines))


def _words(children: Sequence[Token]) -> str:
    """Return inline text without its marks; comments and tags say nothing."""
    said = {"softbreak": "\n", "hardbreak": "\n", "html_inline": ""}
    return "".join(said.get(child.type, child.content) for child in children)


def _rows(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the rows of the table that begins the tokens as `Header: cell; Header: cell`."""
    headers: list[str] = []
    cells: list[str] = []
    for at, token in enumerate(tokens):
        if token.type == "table_close":
            return
        if token.type == "tr_close" and cells:
            yield "; ".join(f"{header}: {cell}" for header, cell in zip(headers, cells, strict=False) if cell)
            cells = []
        if token.type in ("th_open", "td_open"):
            row = headers if token.type == "th_open" else cells
            row.append(_words(tokens[at + 1].children or ()))
