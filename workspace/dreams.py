"""`DREAMS.md`: the diary of the nights and the section of each phase; text in, text out."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from workspace.errors import DamagedBlockError
from workspace.lines import BOM, harmless, line_end, one_line, outline, printable, split_lines, with_block

__all__ = [
    "DIARY",
    "HEADINGS",
    "MARKER",
    "RULE",
    "TITLE",
    "DamagedBlockError",
    "Entry",
    "archive",
    "entries",
    "entry_of",
    "harmless",
    "marker",
    "placed",
    "section",
    "with_entry",
    "with_other_prose",
    "with_section",
    "without_entries",
    "without_oldest",
    "without_section",
]

HEADINGS = {"light": "Light Sleep", "rem": "REM Sleep", "deep": "Deep Sleep"}
TITLE = "# Dream Diary"
RULE = "---"
DIARY = "diary"

MARKER = re.compile(rf"{BOM}?<!--[ \t]*openclaw:dreaming:(?P<name>[a-z][a-z0-9-]*):(?P<edge>start|end)[ \t]*-->\s*\Z")
_INNER_MARKER = re.compile(r"<!--(?=\s*openclaw:dreaming:[a-z][a-z0-9-]*:(?:start|end)\s*-->)", re.IGNORECASE)
_INNER_FENCE = re.compile(r"(?m)^([ \t]*)(`{3,}|~{3,})")
_STAMP = re.compile(r"\*(?P<stamp>[^*]+)\*")
_COMMENT = re.compile(r"<!--.*?-->")
_FRONT_MATTER = re.compile(r"---[ \t]*(?:\r\n|\n|\r)(?=\S)(?s:.*?)(?:\r\n|\n|\r)---[ \t]*(?:\r\n|\n|\r|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One narrative of the diary, and the timestamp it stands under."""

    stamp: str
    prose: str


def with_section(text: str, name: str, body: str) -> str:
    """Show a phase's newest section in its block, once; raise DamagedBlockError when its markers do not pair up."""
    lines, end = split_lines(text), line_end(text)
    inner = [f"{line}{end}" for line in _body(body)]
    blocks = _blocks(lines, name)
    if not blocks:
        frame = (f"## {HEADINGS[name]}{end}", f"{marker(name, 'start')}{end}", *inner, f"{marker(name, 'end')}{end}")
        at = _later_section(lines, name)
        if at is None:
            return with_block(text, "".join(frame))
        return "".join((*lines[:at], *frame, end, *lines[at:]))
    first, *copies = blocks
    for copy in reversed(copies):
        del lines[_head(lines, copy, name) : copy.stop]
    lines[first.start + 1 : first.stop - 1] = inner
    return "".join(lines)


def _later_section(lines: Sequence[str], name: str) -> int | None:
    """Return where the first section of a later phase begins; None when there is none."""
    names = list(HEADINGS)
    found = []
    for later in names[names.index(name) + 1 :]:
        with suppress(DamagedBlockError):
            found += [_head(lines, block, later) for block in _blocks(lines, later)[:1]]
    return min(found, default=None)


def with_entry(text: str, stamp: str, prose: str, *, before: Sequence[Entry] = ()) -> str:
    """Add a narrative to the diary, making the diary at the top where there is none; the same one once.

    It goes in front of the first of some later entries that stands there, else to the end.
    """
    entry = entry_of(stamp, prose)
    if entry in entries(text):
        return text
    mark = BOM if text.startswith(BOM) else ""
    lines, end = _with_diary(text.removeprefix(mark))
    blocks = _blocks(lines, DIARY)
    later = [place.start for place, one in _standing(lines) if one in before]
    at = later[0] if later else blocks[-1].stop - 1
    gap = [""] if lines[at - 1].strip() else []
    added = [*gap, RULE, "", f"*{entry.stamp}*", "", *entry.prose.split("\n"), ""]
    lines[at:at] = [f"{line}{end}" for line in added]
    return mark + "".join(lines)


def with_other_prose(text: str, old: Entry, prose: str, *, archived: bool = False) -> str | None:
    """Return the text with other prose under an entry's stamp; None when that entry does not stand there as it was."""
    mark = BOM if text.startswith(BOM) else ""
    lines, end = split_lines(text.removeprefix(mark)), line_end(text)
    place = next((place for place, entry in _standing(lines, archived=archived) if entry == old), None)
    if place is None:
        return None
    own = [comment for line in lines[place.start : place.stop] for comment in _COMMENT.findall(line)]
    kept = [part for comment in own for part in (comment, "")]  # what the user noted there stays
    said = [RULE, "", f"*{old.stamp}*", "", *_prose(prose).split("\n"), "", *kept]
    lines[place.start : place.stop] = [f"{line}{end}" for line in said]
    return mark + "".join(lines)


def without_entries(text: str, gone: Collection[Entry], *, archived: bool = False) -> str:
    """Take entries out that stand there as they are; what the user wrote around them stays."""
    mark = BOM if text.startswith(BOM) else ""
    lines = split_lines(text.removeprefix(mark))
    for place, entry in reversed(_standing(lines, archived=archived)):
        if entry in gone:
            own = [comment for line in lines[place.start : place.stop] for comment in _COMMENT.findall(line)]
            lines[place.start : place.stop] = [f"{comment}{line_end(text)}" for comment in own]
    return mark + "".join(lines)


def section(text: str, name: str) -> str | None:
    """Return the body of a phase's section, lines ended by LF; None when there is no such block."""
    lines = split_lines(text)
    blocks = _blocks(lines, name)
    if not blocks:
        return None
    return "\n".join(line.rstrip("\r\n") for line in lines[blocks[0].start + 1 : blocks[0].stop - 1])


def without_section(text: str, name: str) -> str:
    """Take a phase's block and its heading out, with the blank line in front of it."""
    lines = split_lines(text)
    for block in reversed(_blocks(lines, name)):
        start = _head(lines, block, name)
        start -= start > 0 and not lines[start - 1].strip()
        del lines[start : block.stop]
    return "".join(lines)


def entry_of(stamp: str, prose: str) -> Entry:
    """Return an entry as it stands in the file: its stamp on one line, its prose without structure."""
    return Entry(stamp=one_line(stamp).replace("*", ""), prose=_prose(prose))


def has_diary(text: str) -> bool:
    """Tell whether the diary's block stands in a text, whatever is in it; raise DamagedBlockError for half of it."""
    return bool(_blocks(split_lines(text), DIARY))


def entries(text: str, *, archived: bool = False) -> tuple[Entry, ...]:
    """Return the narratives of the diary or an archive, oldest first; what the user wrote between them is none."""
    try:
        return tuple(entry for _, entry in _standing(split_lines(text), archived=archived))
    except DamagedBlockError:
        return ()


def placed(text: str) -> tuple[tuple[int, Entry], ...]:
    """Return the narratives of the diary, each with the line of its rule, 1-based; none of a damaged diary."""
    try:
        return tuple((place.start + 1, entry) for place, entry in _standing(split_lines(text)))
    except DamagedBlockError:
        return ()


def without_oldest(text: str, keep: int) -> tuple[str, str]:
    """Return the text with its newest `keep` entries, and the Markdown of those taken out."""
    lines = split_lines(text)
    found = [place for place, _ in _standing(lines)]
    oldest = found[: max(0, len(found) - max(0, keep))]
    removed = "".join("".join(lines[place.start : place.stop]) for place in oldest)
    for place in reversed(oldest):
        del lines[place.start : place.stop]
    return "".join(lines), removed


def archive(text: str, year: int, removed: str) -> str:
    """Add removed entries to the archive of a year; one that stands there already is not added again."""
    lines = split_lines(removed)
    known = set(entries(text, archived=True))
    added = [place for place, entry in _entries(lines) if entry not in known]
    if not added:
        return text
    end = line_end(text or removed)
    kept = [lines[at].rstrip("\r\n") for place in added for at in place]
    return with_block(text or f"{TITLE} {year}{end}", "".join(f"{line}{end}" for line in kept))


def _blocks(lines: Sequence[str], name: str) -> list[range]:
    """Return the lines of each block, both markers included; markers inside a fence are the user's examples."""
    marks = [(at, match) for at, line in enumerate(lines) if (match := MARKER.match(line))]
    if not marks:
        return []
    fenced = outline(lines).fenced
    marks = [(at, match) for at, match in marks if at not in fenced]
    mine = [index for index, (_, match) in enumerate(marks) if match["name"] == name]
    pairs = list(zip(mine[::2], mine[1::2], strict=False))
    # Neighbours in the list of all markers: a block with another one's marker inside is not to be replaced.
    whole = all(last == first + 1 and _edges(marks, first, last) == ("start", "end") for first, last in pairs)
    if len(mine) % 2 or not whole:
        raise DamagedBlockError(name)
    return [range(marks[first][0], marks[last][0] + 1) for first, last in pairs]


def _edges(marks: Sequence[tuple[int, re.Match[str]]], first: int, last: int) -> tuple[str, str]:
    return marks[first][1]["edge"], marks[last][1]["edge"]


def marker(name: str, edge: str) -> str:
    """Return the line that begins or ends a block."""
    return f"<!-- openclaw:dreaming:{name}:{edge} -->"


def _head(lines: Sequence[str], block: range, name: str) -> int:
    """Return where a block begins with its heading, if nothing but blank lines is between."""
    above = block.start - 1
    while above >= 0 and not lines[above].strip():
        above -= 1
    return above if above >= 0 and lines[above].strip() == f"## {HEADINGS[name]}" else block.start


def _body(body: str) -> list[str]:
    """Return a body's lines, none of which can end the block or hide its end."""
    inner = _INNER_FENCE.sub(r"\1\\\2", _INNER_MARKER.sub("<! --", body))
    return [line.rstrip("\r\n") for line in split_lines(printable(inner).strip("\r\n"))]


def _prose(prose: str) -> str:
    """Return a narrative's paragraphs as text alone: nothing in it is structure."""
    return _spaced("\n".join(harmless(line) for line in split_lines(prose)))


def _with_diary(text: str) -> tuple[list[str], str]:
    """Return the lines of a text that has a diary block, and its line end; a title without a block gets one."""
    lines, end = split_lines(text), line_end(text)
    if _blocks(lines, DIARY):
        return lines, end
    at, title = _top(text, lines)
    if at and not lines[at - 1].endswith(("\n", "\r")):
        lines[at - 1] += end
    before = [""] if at else []
    after = [""] if at < len(lines) and lines[at].strip() else []
    frame = [*before, *title, marker(DIARY, "start"), marker(DIARY, "end"), *after]
    return [*lines[:at], *(f"{line}{end}" for line in frame), *lines[at:]], end


def _top(text: str, lines: Sequence[str]) -> tuple[int, list[str]]:
    """Return where the diary goes, below its title or the front matter, and the title it still needs."""
    fenced = outline(lines).fenced
    for at, line in enumerate(lines):
        if line.rstrip() == TITLE and at not in fenced:
            return at + 1, []
    front = _FRONT_MATTER.match(text)
    last = len(split_lines(front[0])) - 1 if front else -1
    return (0 if last in fenced else last + 1), [TITLE, ""]


def _standing(lines: Sequence[str], *, archived: bool = False) -> list[tuple[range, Entry]]:
    """Return each entry with its lines: of the diary's blocks, or of an archive, which has none."""
    if archived:
        return list(_entries(lines))
    return [found for block in _blocks(lines, DIARY) for found in _entries(lines, block[1:-1])]


def _entries(lines: Sequence[str], among: range | None = None) -> Iterator[tuple[range, Entry]]:
    """Yield each entry with its lines, from its rule to before the next one or the end."""
    among = range(len(lines)) if among is None else among
    rules = [at for at in among if lines[at].strip() == RULE]
    for start, stop in zip(rules, [*rules[1:], among.stop], strict=False):
        said = "\n".join(_COMMENT.sub("", line).rstrip() for line in lines[start + 1 : stop])
        stamp, _, prose = said.strip("\n").partition("\n")
        if match := _STAMP.fullmatch(stamp.strip()):
            yield range(start, stop), Entry(stamp=match["stamp"].strip(), prose=_spaced(prose))


def _spaced(prose: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", prose).strip("\n")
