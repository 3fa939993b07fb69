"""What a session is told before it begins: how to search, what answers a question, and `MEMORY.md` within a budget."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from workspace.lines import BOM, harmless, one_line
from workspace.sections import Layout, layout

if TYPE_CHECKING:
    from dreaming.home import Home
    from memory.redaction import Redaction

MEMORY = "MEMORY.md"
ANSWERS = 5
LEAST_RELEVANCE = 0.3
"""Below it a hit is no answer (SPEC 12), and a prompt is no place for guesses."""
QUOTED = 80
"""Characters of a question that are repeated in a heading."""

_LINE_END = re.compile(r"\r\n?")
_UNSAYABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold, no encoding can print, or a terminal would obey."""


class BudgetError(Exception):
    """A budget does not hold what must be said in any case."""

    def __init__(self, budget: int, needed: int) -> None:
        self.budget = budget
        self.needed = needed
        super().__init__(
            f"a budget of {budget} characters does not hold the instruction to search; give at least {needed}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A remembered text that answers the question, and where it stands."""

    path: str
    start_line: int
    end_line: int
    text: str
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What of `MEMORY.md` is shown, and how many of its lines are not."""

    text: str
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All that a session is told; `query` is None when nothing was asked, `problems` are for people."""

    instruction: str
    memory: Kept
    query: str | None = None
    answers: tuple[Answer, ...] = ()
    problems: tuple[str, ...] = ()


def context(home: "Home", query: str | None = None, *, now: datetime, budget: int | None = None) -> Context:
    """Return the context of a workspace; nothing in it is a vote. `budget` is as in `composed`.

    Raise BudgetError when not even the instruction is within the budget.
    """
    answers, problems = _answers(home, query, now=now) if query else ((), ())
    told = composed(
        sayable(home.files.read(MEMORY).text, home.redaction),
        instruction=recall(home.root),
        query=query or None,
        answers=answers,
        problems=problems,
        room=home.config.memory.budget_chars if budget is None else budget,
        budget=budget,
    )
    if budget is not None and len(markdown(told)) > budget:
        raise BudgetError(budget, len(markdown(told)))
    return told


def sayable(text: str, rules: "Redaction") -> str:
    """Return the text of `MEMORY.md` without what must be hidden, whoever wrote it there."""
    # Not at the top: a stop, which comes after every turn, does without the scanners.
    from memory.hiding import hidden_lines

    return "\n".join(hidden_lines(_LINE_END.sub("\n", text).split("\n"), rules))


def recall(root: Path) -> str:
    """Return the instruction to search before answering, for a session that may run in another folder."""
    text = " ".join(files("dreaming").joinpath("prompts/context.md").read_text(encoding="utf-8").split())
    command = f"dream search --workspace {shlex.quote(str(root))}"
    return _clean(text.replace("dream search", command, 1))


def composed(
    text: str,
    *,
    instruction: str,
    room: int,
    budget: int | None = None,
    query: str | None = None,
    answers: Sequence[Answer] = (),
    problems: tuple[str, ...] = (),
) -> Context:
    """Put a context together of the text of `MEMORY.md`, of which at most `room` characters are shown.

    With a `budget` all of it as Markdown is no longer than that: `MEMORY.md` gives way first, then the least relevant
    answers; only the instruction stands in any case.
    """
    told = Context(
        instruction=instruction,
        memory=kept(text, room=room),
        query=None if query is None else _clean(query),
        answers=tuple(replace(answer, text=_clean(answer.text)) for answer in answers),
        problems=problems,
    )
    return told if budget is None or len(markdown(told)) <= budget else _shortened(told, text, budget)


def _shortened(told: Context, text: str, budget: int) -> Context:
    # A file that is all left out takes the longest note.
    bare = replace(told, memory=kept(text, room=-1))
    while bare.answers and len(markdown(bare)) > budget:
        bare = replace(bare, answers=bare.answers[:-1])
    return replace(bare, memory=kept(text, room=budget - len(markdown(bare)) - len("\n\n")))


def kept(text: str, *, room: int) -> Kept:
    """Return `MEMORY.md` without its markers and within so many characters, in whole lines.

    What was promoted goes first, from the oldest section on, then the end of the file. Line ends become LF.
    """
    page = layout(_clean(text))
    hidden = {at for own in page.own for at in (own.place[:-1] or own.place)}
    lines = {at: line.rstrip("\n") for at, line in enumerate(page.lines) if at not in hidden}
    length = sum(len(line) + 1 for line in lines.values()) - 1
    out: set[int] = set()
    for at in dict.fromkeys(chain(_oldest_first(page), reversed(lines))):
        if length <= room:
            break
        out.add(at)
        length -= len(lines[at]) + 1
    shown = "\n".join(line for at, line in lines.items() if at not in out).strip("\n")
    return Kept(text=shown, left_out=sum(1 for at in out if lines[at].strip()))


def _oldest_first(page: Layout) -> Iterator[int]:
    """Yield the lines of promotions, oldest section first; its heading follows when nothing else is under it."""
    for section in sorted(page.sections, key=lambda section: (section.day, section.place.start)):
        own = [one for one in section.own if len(one.place) > 1 and not one.hangs]
        yield from (one.place[-1] for one in own)
        promoted = {at for one in section.own for at in one.place}
        rest = [at for at in section.place if at not in promoted]
        if len(own) == len(section.own) and not any(page.lines[at].strip() for at in rest[1:]):
            yield from rest


def _answers(home: "Home", query: str, *, now: datetime) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
    """Return what answers a question best, fit to stand in a prompt: no orders, no text of machines."""
    # Not at the top: the store takes longer to load than a hook may last, and a session start asks nothing.
    from dreaming.observing.observe import observe
    from memory.search import search
    from memory.trust import flaws

    observed = observe(home, now=now, vectors_at_most=0)
    hits = search(home.store, query, home.lexicon, limit=2 * ANSWERS)
    fit = [hit for hit in hits if hit.relevance >= LEAST_RELEVANCE and not flaws(hit.text, home.redaction)]
    answers = tuple(
        Answer(path=hit.path, start_line=hit.start_line, end_line=hit.end_line, text=hit.text, relevance=hit.relevance)
        for hit in fit[:ANSWERS]
    )
    return answers, observed.trouble


def markdown(context: Context) -> str:
    """Return the context as Markdown; the user's own text stands last, where nothing in it can hide the rest."""
    parts = ["# Memory", context.instruction]
    if context.answers:
        query = one_line(context.query or "")
        shown = query if len(query) <= QUOTED else f"{query[: QUOTED - 1]}…"
        parts.append(f"## What answers “{shown}”")
        parts.append("\n".join(f"- {harmless(one.text)} ({_place(one)})" for one in context.answers))
    if context.memory.text or context.memory.left_out:
        parts.append(f"## {MEMORY}")
    if context.memory.left_out:
        parts.append(f"(Lines left out for want of room: {context.memory.left_out}. The file has them all.)")
    return "\n\n".join([*parts, context.memory.text]).rstrip("\n")


def xml(context: Context) -> str:
    """Return the context as an XML document; whatever a text contains, it is text there."""
    memory = context.memory
    lines = ["<context>", f"<instruction>{escape(context.instruction)}</instruction>"]
    if context.query is not None:
        lines.append(f'<answers query="{escape(context.query)}">')
        lines += [
            f'<answer place="{escape(_place(one))}" relevance="{one.relevance:.2f}">{escape(one.text)}</answer>'
            for one in context.answers
        ]
        lines.append("</answers>")
    lines.append(f'<memory file="{MEMORY}" lines_left_out="{memory.left_out}">{escape(memory.text)}</memory>')
    return "\n".join([*lines, "</context>"])


def document(context: Context) -> dict[str, object]:
    """Return the context as the JSON says it."""
    return {
        "instruction": context.instruction,
        "query": context.query,
        "answers": [
            {
                "path": one.path,
                "start_line": one.start_line,
                "end_line": one.end_line,
                "text": one.text,
                "relevance": one.relevance,
            }
            for one in context.answers
        ],
        "memory": context.memory.text,
        "lines_left_out": context.memory.left_out,
    }


def _place(one: Answer) -> str:
    from memory.model import place  # only with a query, which has loaded it already

    return _clean(place(one.path, one.start_line, one.end_line))


def _clean(text: str) -> str:
    """Return a text that can stand in any of the formats: no byte order mark, LF, nothing unsayable."""
    return _UNSAYABLE.sub("\ufffd", _LINE_END.sub("\n", text.removeprefix(BOM)))
