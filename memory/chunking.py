"""Cuts a diary into chunks: Markdown text in, chunks with their source lines out (SPEC 1).

Lines are counted as editors and CommonMark count them: LF, CRLF and a lone CR each end one. `source_lines` is that
count, for whoever looks a line up again.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, takewhile

from memory.markdown import document, joined, normalised
from memory.model import Chunk, Statement, Style
from memory.passages import Passage, passages
from memory.sentences import MIN_PIECE, cut

__all__ = ["chunks", "normalised", "overlong_lines", "source_lines", "unclosed_fence"]

MAX_CHARACTERS = 280  # of a chunk, with its heading
MAX_LINES = 4  # of a chunk
MIN_CHARACTERS = MIN_PIECE  # of a chunk, without its heading
MIN_CJK_CHARACTERS = 4  # of the same when most of it is Han, kana or Hangul, which say more in less
MAX_LINE_CHARACTERS = 4_000  # a longer line is no prose

_SURROGATE = re.compile("[\ud800-\udfff]")
_CJK_LETTER = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def chunks(text: str) -> tuple[Chunk, ...]:
    """Return everything a diary says, as chunks of neighbouring lines in their order."""
    runs = _runs(passages(document(_readable(text))))
    return tuple(_chunk(group) for run in runs for group in _groups(run) if _says_enough(_body(group)))


def overlong_lines(text: str) -> tuple[int, ...]:
    """Return the 1-based lines that `chunks` leaves out because they are longer than 4,000 characters."""
    if len(text) <= MAX_LINE_CHARACTERS:
        return ()
    return tuple(number for number, line in enumerate(source_lines(text), 1) if len(line) > MAX_LINE_CHARACTERS)


def unclosed_fence(text: str) -> int | None:
    """Return the 1-based line of a code fence that nobody closed and that hides all below it; None without one."""
    marks = [line for line in source_lines(text) if line.lstrip(" >").startswith(("```", "~~~"))]
    if len(marks) % 2 == 0:
        return None
    fences = [token for token in document(_readable(text)).tokens if token.type == "fence" and token.map]
    last = fences[-1] if fences else None
    if last is None or last.map is None:
        return None
    end = source_lines(text)[: last.map[1]][-1].strip(" >")
    closed = last.map[1] - last.map[0] > 1 and end.startswith(last.markup) and not end.strip(last.markup[0])
    return None if closed else last.map[0] + 1


def source_lines(text: str) -> list[str]:
    """Return the lines that line numbers count, without their ends and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _readable(text: str) -> str:
    lines = (line if len(line) <= MAX_LINE_CHARACTERS else "" for line in source_lines(text))
    plain = "\n".join(lines).replace("\v", " ")
    if not _SURROGATE.search(plain):
        return plain
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _runs(stream: Iterable[Passage]) -> Iterator[list[Passage]]:
    """Yield passages of one kind under one heading that stand line below line."""
    run: list[Passage] = []
    for passage in stream:
        if run and _setting(passage) != (run[-1].end + 1, *_setting(run[-1])[1:]):
            yield run
            run = []
        run.append(passage)
    if run:
        yield run


def _setting(passage: Passage) -> tuple[int, Style, str, bool, bool]:
    return passage.start, passage.style, passage.heading, passage.quoted, passage.boxed


def _groups(run: Sequence[Passage]) -> Iterator[list[Passage]]:
    """Yield the passages of each chunk; a passage that fits into none is cut into several."""
    current: list[Passage] = []
    for place, passage in enumerate(run):
        if current and _begins_anew(current, passage, run[place + 1 : place + 1 + MAX_LINES]):
            yield current
            current = []
        if _fit([passage]):
            current.append(passage)
        else:
            yield from ([piece] for piece in _pieces(passage))
    if current:
        yield current


def _begins_anew(current: Sequence[Passage], passage: Passage, following: Sequence[Passage]) -> bool:
    """Whether a passage opens a chunk: it does not fit in, or those nested in it do not and would lose it."""
    if not _fit([*current, passage]):
        return True
    family = [passage, *takewhile(lambda below: below.depth > passage.depth, following)]
    return not _fit([*current, *family]) and any(above.depth >= passage.depth for above in current)


def _fit(group: Sequence[Passage]) -> bool:
    lines = group[-1].end - group[0].start + 1
    return lines <= MAX_LINES and len(_lead(group[0]) + _body(group)) <= MAX_CHARACTERS


def _lead(passage: Passage) -> str:
    return f"{passage.heading}: " if passage.heading else ""


def _body(group: Sequence[Passage]) -> str:
    texts = [passage.text for passage in group]
    return composed(texts, group[0].style)


def composed(statements: Sequence[str], style: Style) -> str:
    """Return statements as one text, the way a chunk of that style joins its lines."""
    return joined(statements) if style is Style.PARAGRAPH else "; ".join(statements)


def _says_enough(body: str) -> bool:
    if len(body) >= MIN_CHARACTERS:
        return True
    return len(body) >= MIN_CJK_CHARACTERS and 2 * len(_CJK_LETTER.findall(body)) >= len(body.replace(" ", ""))


def _chunk(group: Sequence[Passage]) -> Chunk:
    return Chunk(
        heading=group[0].heading,
        text=_lead(group[0]) + _body(group),
        style=group[0].style,
        quoted=group[0].quoted,
        boxed=group[0].boxed,
        statements=tuple(Statement(text=one.text, start_line=one.start, end_line=one.end) for one in group),
    )


def _pieces(passage: Passage) -> Iterator[Passage]:
    """Cut a passage that is too long for a chunk; a piece keeps the lines it stands on."""
    text, ends, begin = passage.text, _line_ends(passage), 0
    while begin < len(text):
        end = _piece_end(passage, text, ends, begin)
        touched = range(bisect_right(ends, begin), bisect_left(ends, end) + 1)
        starts = (ends[place - 1] if place else 0 for place in touched)
        parts = (
            text[max(begin, start) : min(end, ends[place])].strip()
            for place, start in zip(touched, starts, strict=True)
        )
        yield replace(
            passage, lines=tuple((passage.lines[place][0], part) for place, part in zip(touched, parts, strict=True))
        )
        begin = end + text[end : end + 1].isspace()


def _piece_end(passage: Passage, text: str, ends: Sequence[int], begin: int) -> int:
    first = bisect_right(ends, begin)
    last = bisect_right(passage.lines, passage.lines[first][0] + MAX_LINES - 1, key=lambda line: line[0])
    reach = min(begin + MAX_CHARACTERS - len(_lead(passage)), ends[last - 1])
    if reach >= len(text):
        return len(text)
    reach = min(reach, max(begin + 1, len(text) - MIN_CHARACTERS - 1))
    return begin + cut(text[begin : reach + 1], reach - begin, [end - begin for end in ends[first:last]])


def _line_ends(passage: Passage) -> list[int]:
    """Return the offsets in the text of a passage at which its lines end."""
    texts = [line for _, line in passage.lines]
    gaps = (len(joined((above[-1], below[0]))) - 2 for above, below in pairwise(texts))
    return list(accumulate(len(line) + gap for line, gap in zip(texts, (0, *gaps), strict=True)))
