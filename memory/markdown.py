"""Reads Markdown: block tokens with their source lines, and what a reader sees of the text inside them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, emphasis
from markdown_it.token import Token
from markdown_it.utils import EnvType
from mdit_py_plugins.front_matter import front_matter_plugin

MAX_NESTING = 60  # levels; a list takes two, and real diaries nest eight lists deep
INLINE_LINES = 40  # lines read at once, so that a log of 50,000 lines without a blank one stays linear

LINE_END = "\v"
"""Stands before every line end of a paragraph while its markup is read: whitespace that the parser keeps in place."""

CJK = (
    r"\u2e80-\u3029\u3030-\u3098\u309b-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff61-\uff9d\U00020000-\U0003ffff"
)
"""Inside of a character class: Han and kana with their punctuation, without marks that combine."""

_CJK = re.compile(f"[{CJK}]")
_MARKUP = re.compile(r"[\\*\[<&]|~~")
_UNDERSCORE_AT_WORD_EDGE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_RUN = re.compile(r"https?://\S+|(?:data:[\w/+.;=-]*,)?[A-Za-z0-9+/_-]{120,}={0,2}")
_YAML = re.compile(r"\s*(?:#.*\n\s*)*[\w.-]+[ \t]*:(?:\s|$)")
_FORMATTING = re.compile(
    r"<!--|</?(?:a|abbr|b|bdi|bdo|big|blockquote|br|caption|center|cite|code|dd|del|details|dfn|div|dl|dt|em|font|h[1-6]|"
    r"hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|section|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|"
    r"thead|tr|tt|u|ul|var|wbr)(?=[\s/>])",
    re.IGNORECASE,
)
"""Comments and tags that format; anything else in angle brackets is what the writer meant to show, like `<user>`."""
_STRUCK = re.compile(r"<(/?)(?:s|del|strike)\s*>", re.IGNORECASE)
_BREAK = re.compile(r"<br(?=[\s/>])", re.IGNORECASE)
_HIDDEN_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|pre|textarea)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)


def normalised(text: str) -> str:
    """Return text as identity compares it: whitespace collapsed, composed (NFC), trimmed."""
    collapsed = " ".join(text.split())
    return collapsed if collapsed.isascii() else unicodedata.normalize("NFC", collapsed)


def joined(lines: Iterable[str]) -> str:
    """Return lines as running text: a space between two of them, nothing between two CJK characters."""
    text = ""
    for line in lines:
        tight = not text or (_CJK.match(text[-1]) and _CJK.match(line[:1]))
        text += line if tight else f" {line}"
    return text


@dataclass(frozen=True, slots=True)
class Document:
    """Block tokens of one text, and the link definitions its inline markup refers to."""

    tokens: tuple[Token, ...]
    definitions: EnvType

    def visible_lines(self, content: str) -> list[str]:
        """Return what a reader sees of each line of an inline token's content; an invisible line is empty."""
        lines = content.split("\n")
        if not _has_markup(content):
            if "`" not in content:
                return [_visible(line) for line in lines]
            if len(lines) == 1:
                return [_visible(_CODE_SPAN.sub(_code, content))]
        return [
            _visible(line)
            for first in range(0, len(lines), INLINE_LINES)
            for line in self._text("\n".join(lines[first : first + INLINE_LINES])).split(LINE_END)
        ]

    def visible(self, content: str) -> str:
        """Return what a reader sees of an inline token's content as one running text."""
        return joined(line for line in self.visible_lines(content) if line)

    def visible_html_lines(self, content: str) -> list[str]:
        """Return the text between the tags of an HTML block, line by line, without scripts and comments."""
        return self.visible_lines(_HIDDEN_HTML.sub(lambda match: "\n" * match[0].count("\n"), content))

    def is_bold(self, line: str) -> bool:
        """Whether everything with a letter or digit in a line stands in one pair of bold marks."""
        if "**" not in line and "__" not in line:
            return False
        depth, spans, outside = 0, 0, ""
        for token in self._inline(line):
            if token.tag == "strong":
                depth += token.nesting
                spans += token.nesting == 1
            elif not depth:
                outside += token.content
        return spans == 1 and not any(map(str.isalnum, outside))

    def _text(self, content: str) -> str:
        return "".join(_shown(self._inline(content.replace("\\\n", "\n").replace("\n", f"{LINE_END}\n"))))

    def _inline(self, content: str) -> list[Token]:
        return _PARSER.inline.parse(content, _PARSER, self.definitions, [])


def first_line(token: Token) -> int:
    """Return the 0-based source line on which a block begins."""
    return token.map[0] if token.map else 0


def document(text: str) -> Document:
    """Parse a text whose lines end in LF; dashes around prose at its top are rules, not front matter."""
    definitions: EnvType = {}
    if text.startswith("---"):
        tokens = _PARSER_OF_FRONT_MATTER.parse(text, definitions)
        if tokens[0].type == "front_matter" and _YAML.match(tokens[0].content):
            return Document(tuple(tokens), definitions)
    return Document(tuple(_PARSER.parse(text, definitions)), definitions)


def _has_markup(content: str) -> bool:
    return bool(_MARKUP.search(content) or ("_" in content and _UNDERSCORE_AT_WORD_EDGE.search(content)))


def _code(span: re.Match[str]) -> str:
    padded = span[2][0] == span[2][-1] == " " and not span[2].isspace()
    return span[2][1:-1] if padded else span[2]


def _visible(line: str) -> str:
    text = normalised(line)
    return text if len(text) < 120 else normalised(_RUN.sub(_without_blob, text))


def _without_blob(run: re.Match[str]) -> str:
    text = run[0]
    mixed = any(map(str.isdigit, text)) and any(map(str.isupper, text)) and any(map(str.islower, text))
    coded = mixed or (re.fullmatch(r"[0-9a-fA-F]+", text) and not text.isdigit() and not text.isalpha())
    return text if text.startswith("http") or not coded else ""


def _shown(tokens: Iterable[Token]) -> Iterator[str]:
    below, struck = "", 0
    for token in tokens:
        struck = max(0, struck + _strikes(token))
        if struck:  # taken back by its writer; its line ends stay
            yield LINE_END * token.content.count(LINE_END)
            continue
        match token.type:
            case "text" | "text_special" | "code_inline":
                yield token.content
            case "html_inline":
                yield _shown_html(token.content)
            case "image":
                yield "".join(_shown(token.children or ())) + _line_ends_in_title(token)
            case "link_open":
                below = _line_ends_in_title(token)
            case "link_close":
                yield below


def _strikes(token: Token) -> int:
    """Return 1 where text begins that is struck out, -1 where it ends, else 0."""
    if token.tag == "s":
        return token.nesting
    tag = _STRUCK.match(token.content) if token.type == "html_inline" else None
    return 0 if tag is None else -1 if tag[1] else 1


def _line_ends_in_title(link: Token) -> str:
    return LINE_END * str(link.attrs.get("title", "")).count(LINE_END)


def _shown_html(html: str) -> str:
    if not _FORMATTING.match(html):
        return html
    return LINE_END * html.count(LINE_END) or " " * bool(_BREAK.match(html))


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Let `**` open and close beside punctuation: `**规则：**必须` and `**Rule:**always` are bold to their writers."""
    start, known = state.pos, len(state.delimiters)
    if not emphasis.tokenize(state, silent):
        return False
    before, after = state.src[start - 1 : start] or " ", state.src[state.pos : state.pos + 1] or " "
    if state.src[start] == "*" and (state.pos - start > 1 or _CJK.match(before) or _CJK.match(after)):
        for delimiter in state.delimiters[known:]:
            delimiter.open, delimiter.close = not after.isspace(), not before.isspace()
    return True


class _Parser(MarkdownIt):
    """Only the text of a link is read, so no target is refused or rewritten."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - the signature is the parser's
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the signature is the parser's
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802 - the signature is the parser's
        return link


def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])  # inline markup is read where it is needed, by `Document`
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser


_PARSER = _parser()
_PARSER_OF_FRONT_MATTER = _parser().use(front_matter_plugin)
