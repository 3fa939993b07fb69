"""An answer as prose: what a model puts around an entry, or writes it in, taken away."""

import re
from functools import cache
from importlib.resources import files

from dreaming.narrators.thinking import Unthinking
from workspace.lines import printable

MOST_PARAGRAPHS = 3
LONGEST_PREAMBLE = 120
"""Characters of a line that may announce an entry; a longer one is the entry."""
LONGEST_FAREWELL = 60
LONGEST_DATE, DATE_WORDS = 48, 7

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>")
_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~).*$")
_HEADING = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t].*|=+[ \t]*|-{3,}[ \t]*|\*{3,}[ \t]*|_{3,}[ \t]*)$")
_EMPHASIS = re.compile(r"(\*{1,3}|__|~~|`)(?=\S)(.+?)(?<=\S)\1")
_QUOTE = re.compile(r"(?m)^[ \t]*>[ \t]?")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_WRAPPED = {'"': '"', "“": "”", "„": "“", "「": "」", "『": "』", "«": "»"}
_EDGES = " \t\"'*_.,!?…:;—–-~。，！？：；～（）()💤🌙✨🌌"


def cleaned(answer: str) -> str:
    """Return the prose of an answer: paragraphs set apart by a blank line, nothing of them structure."""
    said = Unthinking()
    said.feed(answer)
    text = _COMMENT.sub("", printable(said.close()))
    for marks in (_TAG, _FENCE, _HEADING, _QUOTE):
        text = marks.sub("", text)
    text = _EMPHASIS.sub(r"\2", text)
    lines = _without_farewell(_without_preamble([line.strip() for line in text.split("\n")]))
    return _unwrapped(_paragraphs(lines))


def _without_preamble(lines: list[str]) -> list[str]:
    while lines and (not lines[0] or _announces(lines[0])):
        lines = lines[1:]
    return lines


def _announces(line: str) -> bool:
    """Tell whether a line announces an entry: it says so and ends in a colon, or is nothing but a title or a date."""
    if len(line) > LONGEST_PREAMBLE:
        return False
    bare = line.strip(_EDGES).casefold()
    if bare in words("preambles") or _is_date(bare):
        return True
    return line.rstrip("*_ ").endswith((":", "：")) and bare.startswith(words("preambles"))


def _is_date(line: str) -> bool:
    """Tell whether a line is nothing but a date, such as `Thursday, June 18, 2026, 3:01 AM`."""
    return len(line) <= LONGEST_DATE and len(line.split()) <= DATE_WORDS and _YEAR.search(line) is not None


def _without_farewell(lines: list[str]) -> list[str]:
    while lines and (not lines[-1] or _takes_leave(lines[-1])):
        lines = lines[:-1]
    return lines


def _takes_leave(line: str) -> bool:
    if len(line) > LONGEST_FAREWELL:
        return False
    bare = line.strip(_EDGES).casefold()
    return not bare or bare in words("farewells") or line.startswith(("—", "–", "-- ", "- the ", "- The "))


def _paragraphs(lines: list[str]) -> str:
    """Join lines that run on; of more paragraphs than fit, the last ones become one."""
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", "\n".join(lines)) if block.strip()]
    if len(blocks) > MOST_PARAGRAPHS:
        blocks = [*blocks[: MOST_PARAGRAPHS - 1], " ".join(blocks[MOST_PARAGRAPHS - 1 :])]
    return "\n\n".join(blocks)


def _unwrapped(prose: str) -> str:
    """Take away quotation marks around all of it."""
    if len(prose) > 2 and _WRAPPED.get(prose[0]) == prose[-1] and prose[-1] not in prose[1:-1]:
        return prose[1:-1].strip()
    return prose


@cache
def words(name: str) -> tuple[str, ...]:
    """Return the lines of a list, folded, without comments."""
    text = files("dreaming").joinpath("narrators", "words", f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line.strip().casefold() for line in text.splitlines() if line.strip() and not line.startswith("# "))
