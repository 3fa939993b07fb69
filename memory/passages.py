"""Reads the statements of a diary, each with its lines, its kind and the heading in force (SPEC 1)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category, east_asian_width

from markdown_it.token import Token

from memory.foreign import is_callout, names_others, without_callout
from memory.headings import MAX_PREFIX, prefix
from memory.markdown import Document, first_line, joined
from memory.model import Style
from memory.own_blocks import own_lines
from memory.sentences import ends_sentence

WRAPPED_COLUMNS = 60  # a line at least this wide was broken by the margin, not by its writer

_TASK_BOX = re.compile(r"\[[ xX]\](?:[ \t]+|(?=\n)|$)")
_LABEL = re.compile(r"\[?\d{1,2}:\d\d|\w{1,20}(?::\s|：)")
_BULLETS = frozenset("•·・‣▪◦●○–—→－＊*-")
_LEAVES = frozenset({"heading_open", "html_block", "paragraph_open", "table_open"})
_CONTAINER_STARTS = frozenset({"blockquote_open", "list_item_open"})
_CONTAINER_ENDS = frozenset({"blockquote_close", "list_item_close"})
_HARD_BREAKS = ("  ", "\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A statement before its chunk is known: 1-based lines with their visible text; `depth` is that of its block.

    `quoted` is what somebody else wrote, as far as its setting shows; `boxed` is an item with a box to tick.
    """

    heading: str
    style: Style
    lines: tuple[tuple[int, str], ...]
    depth: int = 0
    quoted: bool = False
    boxed: bool = False

    @property
    def start(self) -> int:
        """First line."""
        return self.lines[0][0]

    @property
    def end(self) -> int:
        """Last line."""
        return self.lines[-1][0]

    @property
    def text(self) -> str:
        """The lines as running text."""
        return joined(line for _, line in self.lines)


def passages(doc: Document) -> Iterator[Passage]:
    """Yield what a diary says in its order, without headings, code, comments, rules and this program's own lines."""
    return _Reading(doc).passages()


class _Reading:
    """One pass over the block tokens; knows the heading in force here and outside the quote or list item."""

    def __init__(self, doc: Document) -> None:
        self._doc = doc
        self._own = own_lines(doc.tokens)
        self._heading = ""
        self._outer: list[str] = []
        self._quotations: list[bool] = []

    def passages(self) -> Iterator[Passage]:
        stream, before = iter(self._doc.tokens), ""
        for token in stream:
            kind = token.type
            self._follow_quotations(token)
            if kind in _LEAVES:
                if kind == "html_block" or first_line(token) not in self._own.blocks:
                    yield from self._leaf(token, stream, opens_item=before == "list_item_open")
            elif kind in _CONTAINER_STARTS:
                self._outer.append(self._heading)
            elif kind in _CONTAINER_ENDS:
                self._heading = self._outer.pop()
            before = kind

    def _follow_quotations(self, token: Token) -> None:
        """Know which quotations are open here."""
        if token.type == "blockquote_open":
            self._quotations.append(True)
        elif token.type == "blockquote_close":
            self._quotations.pop()

    def _leaf(self, token: Token, stream: Iterator[Token], *, opens_item: bool) -> Iterator[Passage]:
        match token.type:
            case "paragraph_open":
                return self._item(token, next(stream)) if opens_item else self._paragraph(token, next(stream))
            case "heading_open":
                return self._under_heading(token, next(stream))
            case "table_open":
                return self._rows(stream)
            case _:
                return self._html(token)

    def _under_heading(self, token: Token, inline: Token) -> Iterator[Passage]:
        """Take the heading, or the text: a rule below a statement makes it a heading to Markdown, not to its writer."""
        shown = self._doc.visible_lines(inline.content)
        underlined = token.markup in {"-", "="}
        if underlined and (len(shown) > 1 or _is_statement(shown[0])):
            yield from self._paragraph(token, inline)
        else:
            self._heading = prefix(" ".join(shown))

    def _item(self, token: Token, inline: Token) -> Iterator[Passage]:
        if first_line(token) not in self._own.promotions:
            box = _TASK_BOX.match(inline.content)
            shown = self._doc.visible_lines(inline.content[box.end() if box else 0 :])
            yield from self._passage(
                shown, first_line(token), style=Style.LIST, depth=token.level, boxed=box is not None
            )

    def _paragraph(self, token: Token, inline: Token) -> Iterator[Passage]:
        shown = self._doc.visible_lines(inline.content)
        if self._quotations and is_callout(inline.content):
            self._quotations[-1] = False
            shown = [without_callout(shown[0]), *shown[1:]]
        yield from self._prose(inline.content.split("\n"), shown, first_line(token))

    def _html(self, token: Token) -> Iterator[Passage]:
        raw, line = token.content.rstrip("\n"), first_line(token)
        shown = enumerate(self._doc.visible_html_lines(raw), line)
        kept = ["" if number in self._own.blocks else text for number, text in shown]
        yield from self._prose(raw.split("\n"), kept, line)

    def _prose(self, raw: Sequence[str], shown: Sequence[str], line: int) -> Iterator[Passage]:
        first = 0
        for end in range(1, len(shown) + 1):
            if end < len(shown) and _runs_on(raw[end - 1], shown[end - 1], shown[end]):
                continue
            if end - first == 1 and self._doc.is_bold(raw[first]) and not _is_statement(shown[first]):
                self._heading = prefix(shown[first])
            else:
                yield from self._passage(shown[first:end], line + first)
            first = end

    def _rows(self, stream: Iterator[Token]) -> Iterator[Passage]:
        line, cells = 0, list[str]()
        names: list[str] | None = None
        for token in stream:
            match token.type:
                case "tr_open":
                    line, cells = first_line(token), []
                case "inline":
                    cells.append(self._doc.visible(token.content))
                case "thead_close":
                    names = [f"{name.rstrip(':：')}: " if name else "" for name in cells]
                case "tr_close" if names is not None:
                    row = "; ".join(name + cell for name, cell in zip(names, cells, strict=True) if cell)
                    yield from self._passage([row], line, style=Style.TABLE)
                case "table_close":
                    return

    def _passage(
        self,
        shown: Sequence[str],
        line: int,
        *,
        style: Style = Style.PARAGRAPH,
        depth: int = 0,
        boxed: bool = False,
    ) -> Iterator[Passage]:
        lines = tuple((number, text) for number, text in enumerate(shown, line + 1) if text)
        if lines:
            quoted = any(self._quotations) or names_others(self._heading)
            yield Passage(heading=self._heading, style=style, lines=lines, depth=depth, quoted=quoted, boxed=boxed)


def _is_statement(line: str) -> bool:
    """Whether a line set like a heading would lose something if it were one."""
    return len(line) > MAX_PREFIX or (ends_sentence(line) and not line.endswith(("?", "？")))


def _runs_on(raw: str, line: str, following: str) -> bool:
    """Whether a line was broken by the margin, so that its statement goes on in the line below."""
    if not line or not following or raw.endswith(_HARD_BREAKS) or ends_sentence(line):
        return False
    if _LABEL.match(following) or following[0] in _BULLETS or category(following[0]) == "So":
        return False
    return following[0].islower() or _columns(raw) >= WRAPPED_COLUMNS


def _columns(line: str) -> int:
    if line.isascii() or len(line) >= WRAPPED_COLUMNS:
        return len(line)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in line)
