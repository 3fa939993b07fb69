"""Bytes of a diary as text, with every loss named by the line it happened on."""

import codecs

from workspace.lines import split_lines

LONGEST_LINE = 1_000_000
"""Characters of a line that still is text; a longer one is a dump and is emptied, so that line numbers hold."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Flaw = tuple[int, str]
"""A 1-based line and what is wrong from there on."""


def decoded(raw: bytes) -> tuple[str, tuple[Flaw, ...]]:
    """Decode UTF-8, or UTF-16 and UTF-32 with a byte order mark; the mark itself is left out."""
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8-sig")
    text, garbled = _replaced(raw, encoding)
    text, empty = _without_nul(text)
    text, long = _without_dumps(text)
    return text, tuple(sorted((*garbled, *empty, *long)))


def _replaced(raw: bytes, encoding: str) -> tuple[str, tuple[Flaw, ...]]:
    try:
        return raw.decode(encoding), ()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(encoding, "replace")
        name = encoding.removesuffix("-sig").upper()
        flaw = (_line_of(before), f"has bytes that are not {name}; they were replaced")
        return raw.decode(encoding, "replace"), (flaw,)


def _without_nul(text: str) -> tuple[str, tuple[Flaw, ...]]:
    at = text.find("\0")
    if at < 0:
        return text, ()
    return text.replace("\0", ""), ((_line_of(text[:at]), "has NUL bytes; they were left out"),)


def _without_dumps(text: str) -> tuple[str, tuple[Flaw, ...]]:
    lines = split_lines(text) if len(text) > LONGEST_LINE else []
    long = [index for index, line in enumerate(lines) if len(line) > LONGEST_LINE]
    for index in long:
        lines[index] = lines[index][len(lines[index].rstrip("\r\n")) :]
    flaws = tuple((index + 1, f"has more than {LONGEST_LINE:,} characters; it was left out") for index in long)
    return "".join(lines) if long else text, flaws


def _line_of(before: str) -> int:
    return len(split_lines(f"{before}x"))
