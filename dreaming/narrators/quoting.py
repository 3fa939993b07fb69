"""Untrusted diary text as it may be quoted in prose: one inert line, shortened where it stays readable.

Whatever a diary says is data here. It ends up between quotation marks, without anything Markdown, HTML, a template or
a terminal would act on, and short enough for the sentence around it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise

from icu4py.breakers import CharacterBreaker, WordBreaker

from dreaming.narrators.speech import is_in
from memory.markdown import CJK
from memory.sentences import sentence_ends

MIN_CLAIM_COLUMNS = 10
"""A claim or a reason narrower than this says nothing without its other half."""
MAX_HEADING_COLUMNS = 30
"""A longer text before a colon is a sentence, not a heading."""
REASONS = ("why-clauses", "why-endings", "why-events")
"""Word lists of which one must match for a sentence to say why the one before it was written."""
MAX_MARKS = 4
"""Combining marks in a row; no script needs more, and a pile of them runs over the neighbouring lines."""
SHORTEST_CUT = 0.45
"""A clause end before this share of the room gives away too much of the text; then words are cut instead."""

_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*(?:\s[^()]*)?\)")
_URL = re.compile(rf"\b[A-Za-z][A-Za-z0-9+.-]*://(?:[^\s/@]*@)?([^\s/{CJK}，。；：）]+)[^\s{CJK}，。；：）]*")
_HIDDEN = re.compile(r"<!--.*?-->|\x1b\[[0-9;?]*[A-Za-z]", re.DOTALL)
_LABEL = re.compile(r"([^:：。.!?！？,，;；]{1,40})(?::\s|：\s*)(?=.)")
_LEAD = re.compile(r"^(?:[-+•·–—→›∗\s]+|\[[ xX]\]\s)+")
_CLAUSE_END = re.compile(
    r"(?:[,;:](?=\s)|\s[–—-]\s|[—，、；：])"  # what follows may turn the meaning round, and then it is no place to stop
    r"(?!\s*(?:except|unless|but|only|if|not|nor"
    r"|außer|sofern|falls|wenn|aber|nur|nicht|sondern|ohne|bis auf|es sei denn"
    r"|除非|除了|但|不过|否则|只|如果|而不|ただし|しかし))",
    re.IGNORECASE,
)
_EDGES = " ,.;:!。，、；：！·-–—→…"
_CONDITION = re.compile(
    r"(?:if|when|unless|until|before|while|although|wenn|falls|sobald|solange|bevor|nachdem|während|obwohl|bis|damit|weil|da|um)\b"
    r"|如果|要是|当|除非",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"(?:\s+(?:a|an|the|of|to|for|and|or|with|in|on|at|by|from|as|is|are|was|were|be|that|which|not|no|et|de|la|le"
    r"|und|oder|der|die|das|den|dem|des|ein|eine|einen|einem|einer|mit|von|vom|für|im|am|auf|zu|zum|zur|bei|beim|als"
    r"|ist|sind|war|dass|nicht|kein|keine))+$",
    re.IGNORECASE,
)
_REPLACEMENTS = (
    (re.compile(r"<!--"), " "),
    (re.compile(r"<?--+>|[-=]+>"), "→"),
    (re.compile(r"<--+|<[-=]+(?=\s)"), "←"),
    (re.compile(r"-{3,}"), "—"),
    (re.compile(r"\{+[%#]?-?\s*"), "("),
    (re.compile(r"\s*-?[%#]?\}+"), ")"),
    (re.compile(r"#+(?=\w)|(?<!\w)#+"), ""),
    (re.compile(r"#"), "♯"),
    (re.compile(r"`|~{2,}|_{3,}|\*{2,}"), ""),
    (re.compile(r"\*"), "∗"),
    (re.compile(r"<"), "‹"),
    (re.compile(r">"), "›"),
    (re.compile(r"\|"), "/"),
    (re.compile(r"\](?=[(\[])"), "] "),
)
_NARROW = ",;:?!"
_QUOTE_PAIRS = (("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much of a text may be quoted: terminal columns (a Han character takes two) and words."""

    columns: int
    words: int

    @property
    def for_a_name(self) -> "Room":
        """The room of a heading or a tag beside a quotation."""
        return Room(columns=min(MAX_HEADING_COLUMNS, self.columns // 2), words=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a language quotes: its marks for a quotation inside a quotation, and its own forms of `,;:?!` if any."""

    code: str
    inner_marks: tuple[str, str]
    punctuation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """What can be quoted of one text: its claim and its reason apart, or the `whole` sentence.

    Heading and reason may be empty. A story is a reason that tells what happened before; a backstory is a whole text
    of that kind. What is `foreign` is in another language than the entry; what is `cut` lacks its end.
    """

    heading: str
    claim: str
    reason: str
    whole: str
    reason_is_story: bool
    is_backstory: bool
    source: str
    elided: bool
    foreign: bool

    @property
    def cut(self) -> bool:
        """Whether the claim had no room up to its end."""
        return self.claim.endswith("…")

    @property
    def undivided(self) -> "Quotation":
        """The same text with its reason left inside the sentence."""
        return replace(self, claim=self.whole, reason="")


def quotation(text: str, room: Room, manner: Manner, heading: str | None = None) -> Quotation | None:
    """Return what can be quoted of a text; None when nothing sayable is in it.

    Where it is not known what the text stands under, a label in front is taken for a heading.
    """
    line = inert(text)
    head, body = split_heading(line) if heading is None else _under(inert(heading), line)
    sentence = _main_sentence(body, manner.code)
    if not sentence:
        return None
    claim, reason = _split_reason(sentence) or (sentence, _next_reason(body, sentence))
    spoken, whole = _spoken(claim, room, manner), _spoken(sentence, room, manner)
    if not spoken:
        return None
    return Quotation(
        heading=term(head, room.for_a_name, manner) if is_in(head, manner.code) else "",
        claim=spoken,
        reason=_spoken(reason, room, manner),
        whole=whole,
        reason_is_story=_matches("why-events", reason),
        is_backstory=not reason and _matches("why-events", claim),
        source=line.casefold(),
        elided=_matches("unspoken", sentence),
        foreign=not is_in(sentence, manner.code),
    )


def term(text: str, room: Room, manner: Manner) -> str:
    """Return a name, a tag or a heading, as it may be quoted; empty when it does not fit or is not spoken of."""
    line = inert(text)
    return _spoken(line, room, manner) if fits(line, room) and not _matches("unspoken", line) else ""


def inert(text: str) -> str:
    """Return the text as one line that no Markdown, HTML, template or terminal acts on."""
    line = "".join(_printable(unicodedata.normalize("NFC", _HIDDEN.sub(" ", text))))
    line = _URL.sub(r"\1", _LINK.sub(r"\1", line))
    for pattern, replacement in _REPLACEMENTS:
        line = pattern.sub(replacement, line)
    return _LEAD.sub("", " ".join(line.split()))


def _printable(text: str) -> Iterator[str]:
    """Whitespace becomes a space; controls, bidi marks, joiners, surrogates and piled-up marks are gone."""
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category.startswith("M") else 0
        if character.isspace():
            yield " "
        elif not category.startswith("C") and marks <= MAX_MARKS:
            yield character


def split_heading(line: str) -> tuple[str, str]:
    """Split `Heading: statement`; a label that only names the kind of note (`Rule:`) is dropped."""
    heading, body = "", line
    while match := _LABEL.match(body):
        label = match[1].strip()
        rest = body[match.end() :]
        if columns(label) > MAX_HEADING_COLUMNS or columns(rest) < 4:
            break
        if label.casefold() not in _labels():
            if heading:
                break
            heading = label
        body = rest
    return heading, body


def _under(heading: str, line: str) -> tuple[str, str]:
    """Return the heading and what stands under it, without labels that only name the kind of note."""
    body = line.removeprefix(f"{heading}: ") if heading else line
    while (match := _LABEL.match(body)) and match[1].strip().casefold() in _labels():
        body = body[match.end() :]
    return heading, body


def _main_sentence(body: str, code: str) -> str:
    """Return the first sentence that says something, in a language if there is one; else the longest, or nothing."""
    every = _sentences(body)
    sentences = [sentence for sentence in every if is_in(sentence, code)] or every
    return next((s for s in sentences if columns(s) >= MIN_CLAIM_COLUMNS), max(sentences, key=columns, default=""))


def _split_reason(sentence: str) -> tuple[str, str] | None:
    """Return the claim of a sentence and the clause that says why; None when there is no such clause."""
    return _opening_reason(sentence) or _inner_reason(sentence) or _ended_reason(sentence)


def _next_reason(body: str, sentence: str) -> str:
    """Return the sentence behind it that says why, in the same statement and without a claim of its own."""
    behind = body.partition(sentence)[2].partition("; ")[0]
    own = (s for s in _sentences(behind) if not _split_reason(s))
    reasons = (s for s in own if any(_matches(name, s) for name in REASONS))
    return next((reason for reason in reasons if columns(reason) >= MIN_CLAIM_COLUMNS), "")


def _sentences(body: str) -> list[str]:
    ends = sorted({0, *sentence_ends(body), *(match.end() for match in re.finditer("; ", body)), len(body)})
    return [sentence for start, end in pairwise(ends) if (sentence := body[start:end].strip(" ;；"))]


def _opening_reason(claim: str) -> tuple[str, str] | None:
    """`Because the disk was full, backups moved`: the reason comes first."""
    comma = re.search(r", |，", claim)
    if comma is None or not _pattern("why-openers").match(claim):
        return None
    rest = re.sub(r"^(?:所以|因此|于是|so )\s*", "", claim[comma.end() :])
    return _halves(rest, claim[: comma.start()])


def _inner_reason(claim: str) -> tuple[str, str] | None:
    """`Backups moved because the disk was full`: the reason follows."""
    matches = (_halves(claim[: m.start()], claim[m.start() :]) for m in _pattern("why-clauses").finditer(claim))
    return next((halves for halves in matches if halves), None)


def _ended_reason(claim: str) -> tuple[str, str] | None:
    """`ディスクが一杯なので、バックアップを移した`: the reason comes first and its last word says that it is one."""
    matches = (_halves(claim[m.end() :], claim[: m.end()]) for m in _pattern("why-endings").finditer(claim))
    return next((halves for halves in matches if halves), None)


def _halves(claim: str, reason: str) -> tuple[str, str] | None:
    claim, reason = claim.strip(_EDGES + "(（"), reason.strip(_EDGES + ")）")
    return (claim, reason) if min(columns(claim), columns(reason)) >= MIN_CLAIM_COLUMNS else None


def _spoken(text: str, room: Room, manner: Manner) -> str:
    """Leave out what must not be said, shorten, and punctuate as the language around the quotation does."""
    line = re.sub(r"…(?:\s*…)+", "…", _pattern("unspoken").sub("…", text)).strip(_EDGES)
    if not any(character.isalnum() or unicodedata.category(character) == "So" for character in line):
        return ""
    if line != text.strip(_EDGES) and columns(line) < MIN_CLAIM_COLUMNS:
        return ""
    short = _balanced(shorten(line, room), manner.inner_marks)
    return _wide(short, manner.punctuation) if manner.punctuation else short


def shorten(text: str, room: Room) -> str:
    """Return the text, or its beginning up to the last clause end or word that has room, then `…`."""
    if fits(text, room):
        return text
    narrower = Room(columns=room.columns - 2, words=room.words)
    head = _longest(text, narrower, WordBreaker)
    ends = [m.start() for m in _CLAUSE_END.finditer(text) if m.start() <= len(head)]
    if _CONDITION.match(text):
        ends = ends[1:]
    if ends and columns(text[: ends[-1]]) >= SHORTEST_CUT * room.columns:
        goes_on = "…" if text[ends[-1]] == "、" else ""
        return text[: ends[-1]] + goes_on
    if columns(head) < SHORTEST_CUT * room.columns and len(head.split()) < room.words:
        head = _longest(text, narrower, CharacterBreaker) or text[: narrower.columns // 2]
    return _closed(_DANGLING.sub("", head.rstrip(_EDGES)).rstrip(_EDGES)) + "…"


def _longest(text: str, room: Room, breaker: Callable[[str, str], Iterable[str]]) -> str:
    head = ""
    for piece in breaker(text, "und"):
        if not fits(head + piece, room):
            break
        head += piece
    return head


def _closed(head: str) -> str:
    """Drop a parenthesis that the cut left open, when enough stands before it."""
    start = max(head.rfind("("), head.rfind("（"))
    is_open = start > len(head) // 2 and not re.search(r"[)）]", head[start:])
    return head[:start].rstrip(_EDGES) if is_open else head


def fits(text: str, room: Room) -> bool:
    """Tell whether a text may be quoted whole."""
    return columns(text) <= room.columns and len(text.split()) <= room.words


def columns(text: str) -> int:
    """Return the width in terminal columns, at least one for every character."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _balanced(text: str, inner_marks: tuple[str, str]) -> str:
    """Turn quotation marks of any language into the inner ones, or drop them all when a partner is missing."""
    for opening, closing in _QUOTE_PAIRS:
        if text.count(opening) == text.count(closing):
            text = text.replace(opening, '"').replace(closing, '"')
    text = re.sub(r"[“”„«»「」『』]", "", text)
    if text.count('"') % 2:
        return text.replace('"', "")
    opening, closing = inner_marks
    text = re.sub(r'^"([^"]*)"$', r"\1", text)
    return re.sub(r'"([^"]*)"', rf"{opening}\1{closing}", text)


def _wide(text: str, punctuation: str) -> str:
    """Make punctuation after a Han or kana character full-width, and an ellipsis at the end a double one."""
    wide = re.sub(r"…$", "……", text)
    full_width = str.maketrans(_NARROW, punctuation)
    wide = re.sub(rf"(?<=[{CJK}])\s*([{_NARROW}])\s*", lambda match: match[1].translate(full_width), wide)
    return re.sub(rf"(?<=[{CJK}])\.(?=[\s{CJK}]|$)\s*", "。", wide)


def _matches(name: str, text: str) -> bool:
    return bool(_pattern(name).search(text))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    alternatives = "|".join(f"(?:{line})" for line in _list(name))
    return re.compile(alternatives, re.NOFLAG if name == "unspoken" else re.IGNORECASE)


@cache
def _labels() -> frozenset[str]:
    return frozenset(_list("labels"))


def _list(name: str) -> tuple[str, ...]:
    text = (files("dreaming") / "words" / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))
