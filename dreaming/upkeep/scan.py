"""What must be hidden and stands in the user's own files all the same: where and of which kind, never what."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dreaming.config import Config, zone
from dreaming.home import DREAMS, MEMORY
from dreaming.observing.masking import masked
from memory.chunking import source_lines
from memory.concepts import Lexicon, lexicon
from memory.redaction import Redaction
from memory.trust import UNSCANNED
from workspace import diary
from workspace.errors import UnreadableError, WorkspaceError
from workspace.files import Files
from workspace.lines import printable

OWN_FILES = ("memory/archive", "memory/dreaming")
"""Folders of Markdown that this program wrote."""

_HIDDEN = re.compile(rf"\[secret:([\w, -]+)\]|\[(email|phone|ip|{UNSCANNED})\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A line (1-based) that holds something of a kind."""

    path: str
    line: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What was found, by file and line; `files` counts those that were read, `problems` say which were not."""

    findings: tuple[Finding, ...]
    files: int
    problems: tuple[str, ...]


def scan(root: Path, config: Config) -> Scan:
    """Look through the diaries, saved memories, pages, archives and reports of a workspace; write nothing."""
    words = lexicon(glossary=config.concepts.glossary, stop_words=config.concepts.stop_words)
    rules = Redaction.of(patterns=config.redact.patterns, mask=config.redact.mask)
    texts, problems = _texts(root, config)
    findings = [finding for path, text in texts for finding in found(path, text, words, rules)]
    return Scan(findings=tuple(findings), files=len(texts), problems=tuple(problems))


def found(path: str, text: str, words: Lexicon, rules: Redaction) -> Iterator[Finding]:
    """Yield what a text holds, by the lines that would be shown otherwise."""
    plain = printable(text)
    lines = source_lines(plain)
    shown = masked(plain, words, rules).split("\n")
    for number, (line, hidden) in enumerate(zip(lines, shown, strict=True), 1):
        if line != hidden:
            yield from (Finding(path=path, line=number, kind=kind) for kind in _kinds(line, hidden))


def _kinds(line: str, hidden: str) -> Iterable[str]:
    """Return the kinds a line hides beyond what was hidden in it before."""
    new = Counter(_marks(hidden)) - Counter(_marks(line))
    return sorted(new)


def _marks(line: str) -> Iterator[str]:
    for match in _HIDDEN.finditer(line):
        yield from match[1].split(", ") if match[1] else [match[2]]


def _texts(root: Path, config: Config) -> tuple[Sequence[tuple[str, str]], list[str]]:
    """Return every file that is looked through with its text, and what is wrong with others."""
    wanted = config.workspace
    listing = diary.diaries(
        root, folder=wanted.diaries, pattern=wanted.pattern, memories=wanted.memories, zone=zone(config)
    )
    texts: list[tuple[str, str]] = []
    problems = [str(problem) for problem in listing.problems]
    for one in listing.diaries:
        try:
            read = diary.read(root, one.path, folder=wanted.diaries)
        except UnreadableError as error:
            problems.append(str(error.problem))
            continue
        texts.append((one.path, read.text))
        problems += map(str, read.problems)
    for name in _own_files(root):
        try:
            texts.append((name, Files(root).read(name).text))
        except WorkspaceError as error:
            problems.append(str(error))
    return texts, problems


def _own_files(root: Path) -> Iterator[str]:
    yield from (name for name in (MEMORY, DREAMS) if (root / name).exists())
    for folder in OWN_FILES:
        yield from sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("*.md"))
