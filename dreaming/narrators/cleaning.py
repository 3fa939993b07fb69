"""Taking off an answer what a model puts around an entry: greetings, titles, marks, farewells."""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from dreaming.narrators.thinking import spoken
from dreaming.narrators.words import entries
from memory.markdown import joined
from memory.sentences import ends_sentence
from workspace.lines import printable

MOST_PARAGRAPHS = 3
MOST_CHARACTERS = 6_000
"""What is read of an answer: several times the longest entry."""
MOST_ROUNDS = 20
"""How often something is taken off; what still has a greeting in front then is a loop of greetings."""
TITLE_CHARACTERS = 60
"""A line of its own that is no longer and ends no sentence is a title, a date or a signature."""
DATE_CHARACTERS = 40

_TOKEN = r"<[|｜][^<>\n]{1,40}[|｜]>|</s>|</?(?:start|end)_of_turn>|\[/?INST\]"
_FIRST_TOKENS = re.compile(rf"\A(?:\s*(?:{_TOKEN}|<s>)(?:assistant|model)?)+")
_ANY_TOKEN = re.compile(_TOKEN)
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>|</p\s*>|</div\s*>", re.IGNORECASE)
_HTML = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|body|center|cite|code|del|div|em|font|h[1-6]|head|hr|html|i|img|ins|kbd|li|mark|ol|p|pre|q|s"
    r"|script|small|span|strike|strong|style|sub|sup|table|td|th|tr|tt|u|ul"
    r"|answer|article|diary|final|journal|narrative|output|prose|response|result|section|text|title|(?:\w+[-_])?entry)"
    r"(?:\s+[\w:-]+=(?:\"[^\"]*\"|'[^']*'|[^\s<>]+))*\s*/?>",
    re.IGNORECASE,
)
_OTHER_TAG = re.compile(r"<(/?[A-Za-z!?][^<>\n]*)>")
_FENCE = re.compile(r"\A(?P<mark>`{3,}|~{3,})[^\n`]*\n(?P<inside>.*?)\n?[ \t]*(?P=mark)[ \t]*(?=\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"^[ \t]*#{1,6}(?:[ \t][^\n]*)?(?:\n|\Z)", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:([-*_=~—–]) *(?:\1 *){2,}|⁂)[ \t]*(?:\n|\Z)", re.MULTILINE)
_EMPHASISED_LINE = re.compile(r"^[ \t]*([*_]{1,3})(?=\S)([^\n]{1,60}?)(?<=\S)\1[:：]?[ \t]*(?:\n|\Z)", re.MULTILINE)
_QUOTE_MARK = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+•][ \t]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\[\n]*)\]\([^()\s]*\)")
_MARKS = (
    re.compile(r"(\*\*\*?|~~)(?=\S)([^\n]+?)(?<=\S)\1"),
    re.compile(r"(?<![A-Za-z0-9_*])(__?)(?=[^\s_])([^_\n]*[^\s_])\1(?![A-Za-z0-9_])"),
    re.compile(r"(?<![A-Za-z0-9*])(\*)(?=[^\s*])([^*\n]*?)(?<=\S)\1(?![A-Za-z0-9*])"),
    re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)"),
)
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "'": "'", "‘": "’", "”": "”"}
_DIGIT = re.compile(r"\d")
_SIGNATURE = re.compile(
    r"(?:(?<=\n)|(?<=[.!?…。！？]))[ \t]*(?:[—–―~～]{1,2}|--)[ \t]*[^\s—–―~～-][^\n.!?…。！？]{0,39}\Z"
)
_BLANK = re.compile(r"\n\s*\n")


class Cleaned(NamedTuple):
    """What is left of an answer: `whole` still has its marks, `body` its lines, `prose` is ready to be kept."""

    whole: str
    body: str
    prose: str


def cleaned(answer: str) -> Cleaned:
    """Return an answer without reasoning, and without what stands around an entry; cleaning twice changes nothing."""
    whole = _said(answer)
    body = _settled(_plain(whole), _peeled)
    return Cleaned(whole=whole, body=body, prose=_settled(body, lambda text: _paragraphs(_peeled(text))))


def _settled(text: str, step: Callable[[str], str]) -> str:
    for _ in range(MOST_ROUNDS):
        before, text = text, step(text)
        if text == before:
            break
    return text


def _said(answer: str) -> str:
    """Return the one turn of the model, without its reasoning and without what nobody sees."""
    lines = printable(spoken(answer)).replace("\r\n", "\n").replace("\r", "\n")
    turn = _ANY_TOKEN.split(_FIRST_TOKENS.sub("", lines), maxsplit=1)[0]
    return _UNSEEN.sub("", turn).strip()[:MOST_CHARACTERS]


def _plain(text: str) -> str:
    """Take out HTML; a tag that is none of HTML's stays, where no browser finds it."""
    bare = _HTML.sub("", _BREAK.sub("\n\n", _COMMENT.sub("", text)))
    return _OTHER_TAG.sub(r"‹\1›", bare).strip()


def _peeled(text: str) -> str:
    for peel in PEELS:
        text = peel(text).strip()
    return text


def _unfenced(text: str) -> str:
    return _FENCE.sub(lambda fence: fence["inside"], text)


def _unquoted(text: str) -> str:
    """Take off quotation marks around the whole, but not those of a first and a last quotation."""
    closing = _QUOTES.get(text[:1])
    inside = text[1:-1]
    if closing is None or len(text) < 2 or text[-1] != closing or closing in inside:
        return text
    return inside


def _without_rules(text: str) -> str:
    return _RULE.sub("\n", text)


def _without_line_marks(text: str) -> str:
    return _BULLET.sub("", _QUOTE_MARK.sub("", text))


def _without_headings(text: str) -> str:
    return _EMPHASISED_LINE.sub(lambda line: line[0] if ends_sentence(line[2]) else "\n", _HEADING.sub("\n", text))


def _without_marks(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    for marks in _MARKS:
        text = marks.sub(r"\2", text)
    return text


def _without_opener(text: str) -> str:
    rest = _openers().sub("", text, count=1).lstrip()
    return text if len(rest) == len(text) else rest[:1].upper() + rest[1:]


def _without_title(text: str) -> str:
    """Take off a first line that is a date, or that is short, ends no sentence and stands alone."""
    line, _, rest = text.partition("\n")
    if not rest:
        return text
    is_date = len(line) <= DATE_CHARACTERS and _DIGIT.search(line)
    stands_alone = len(line) <= TITLE_CHARACTERS and not rest.partition("\n")[0].strip()
    return rest if not ends_sentence(line) and (is_date or stands_alone) else text


def _without_closer(text: str) -> str:
    return _SIGNATURE.sub("", _closers().sub("", text))


def _without_signature(text: str) -> str:
    """Take off a last paragraph that is short and ends no sentence."""
    before, _, line = text.rpartition("\n\n")
    is_one = 0 < len(line) <= DATE_CHARACTERS and "\n" not in line and not ends_sentence(line)
    return before if before and is_one else text


PEELS = (
    _unfenced,
    _unquoted,
    _without_rules,
    _without_headings,
    _without_line_marks,
    _without_marks,
    _without_opener,
    _without_title,
    _without_closer,
    _without_signature,
)
"""What is taken off, over and over until nothing changes: a greeting may hide a fence, and that a title."""


def _paragraphs(body: str) -> str:
    """Return one line a paragraph; what is too many belongs to the last."""
    told = [joined(" ".join(line.split()) for line in one.split("\n")) for one in _BLANK.split(body)]
    spaced = [one for one in told if one]
    last = joined(spaced[MOST_PARAGRAPHS - 1 :])
    return "\n\n".join([*spaced[: MOST_PARAGRAPHS - 1], *([last] if last else [])])


@cache
def _openers() -> re.Pattern[str]:
    return re.compile(rf"\A(?:{'|'.join(entries('openers'))})", re.IGNORECASE)


@cache
def _closers() -> re.Pattern[str]:
    farewells = "|".join(entries("closers"))
    return re.compile(rf"(?:\A|(?<=[\n.!?…。！？”」)）]))[ \t]*(?:{farewells})[\s.!~…。！～]*\Z", re.IGNORECASE)
