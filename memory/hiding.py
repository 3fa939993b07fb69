"""Lines without what must be hidden, also where only the heading or the lines around give it away."""

import re
from collections.abc import Iterable, Sequence

from memory.redaction import Redaction
from memory.secrets import spans
from memory.spans import Span
from memory.trust import label, redacted

_LONG = re.compile(
    r"PRIVATE KEY|(?i:(?:recovery|backup|rescue|scratch|emergency|wiederherstellungs|ersatz)[ -]?code"
    r"|de (?:recupera|secours)"
    r"|(?:恢复|恢復|备用|備用)[码碼]|恢复代码|резервные коды"
    r"|(?:リカバリー|復旧|バックアップ)コード|(?:복구|백업) 코드)"
)
"""What a secret of several lines begins with."""
_LINE_END = re.compile(r"\r\n?|\n")


def hidden(heading: str, statement: str, rules: Redaction) -> str:
    """Return a statement without its secrets; a heading such as "password" can make a secret of all of it."""
    plain, _ = redacted(statement, rules)
    _, kinds = redacted(f"{heading}: {plain}", rules)
    return placeholder(kinds) if kinds else plain


def placeholder(kinds: Sequence[str]) -> str:
    """Return what stands in place of a whole text."""
    return f"[secret:{', '.join(kinds)}]"


def hidden_lines(lines: Sequence[str], rules: Redaction) -> list[str]:
    """Return as many lines, each judged with the heading above it, and before and after that all as one text.

    No line of a key says by itself that it is one.
    """
    return in_place(line_by_line(lines, rules), rules)


def line_by_line(lines: Sequence[str], rules: Redaction) -> list[str]:
    """Return the lines, judged as one text and then each with the heading above it."""
    shown, heading = [], ""
    for line, left in zip(lines, in_place(lines, rules), strict=True):
        is_heading = line.startswith("#")
        plain = redacted(left, rules)[0] if is_heading else hidden(heading, left, rules)
        heading = plain.strip("# ") if is_heading else heading
        shown.append(plain)
    return shown


def in_place(lines: Sequence[str], rules: Redaction) -> list[str]:
    """Return as many lines without the secrets of all of them; one of several lines leaves blank ones behind."""
    text = "\n".join(lines)
    found = spans(text, rules)
    if found is None:
        return [redacted(text, rules)[0], *[""] * (len(lines) - 1)]
    return _without(text, found).split("\n")


def legible(text: str, rules: Redaction) -> str:
    """Return a text as it may be cut in pieces: without the secrets of several lines, each line where it was.

    The pieces of such a key do not say by themselves what they are.
    """
    if not _LONG.search(text):
        return text
    return _without(text, [span for span in spans(text, rules) or () if _LINE_END.search(text, span.start, span.end)])


def _without(text: str, found: Iterable[Span]) -> str:
    pieces, done = [], 0
    for span in found:
        ends = _LINE_END.findall(text, span.start, span.end)
        pieces += [text[done : span.start], label(span), *ends]
        done = span.end
    return "".join((*pieces, text[done:]))
