"""What an entry of the dream diary is made of, how long it may be, and who can write one."""

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from memory.markdown import CJK

SHORTEST, LONGEST = 80, 180
"""Bounds of an entry: words, or characters in a language written without spaces (SPEC 11)."""
MAX_TEXTS, MAX_GRADUATES = 12, 5
"""What is looked at of the night's material (SPEC 11)."""
PHASES = ("light", "rem", "deep")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graduate:
    """A text that was promoted tonight and the evidence it had."""

    text: str
    recalls: int
    days: int
    queries: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a phase has to tell; texts are untrusted, `earlier` entries are whole and newest first."""

    phase: str
    night: date
    language: str
    texts: tuple[str, ...]
    themes: tuple[str, ...]
    graduates: tuple[Graduate, ...] = ()
    waiting: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a narrator is asked for: the material, and for a model the prompts that show it.

    `complaint` says why its first answer was not kept; empty the first time.
    """

    material: Material
    system: str
    user: str
    complaint: str = ""

    def again(self, complaint: str) -> "Request":
        """Return the same request with what was wrong with the first answer."""
        return replace(self, complaint=complaint)


class NarratorError(Exception):
    """A narrator gave no entry."""

    def __init__(self, narrator: str, reason: str) -> None:
        self.narrator = narrator
        self.reason = reason
        super().__init__(f"{narrator} wrote no entry ({reason})")


class Narrator(Protocol):
    """Writes an entry; what it says is judged before it is kept."""

    @property
    def name(self) -> str:
        """Who writes, as `status` and the store say it."""

    def write(self, request: Request, *, seconds: float) -> str:
        """Return an entry within so many seconds; raise NarratorError when there is none."""


def length(prose: str, language: str) -> int:
    """Return words; for Chinese, and for other prose mostly in Han or kana, the characters that are not whitespace."""
    characters = "".join(prose.split())
    code = code_of(language)
    by_characters = code == "zh" or (code != "en" and 2 * len(re.findall(f"[{CJK}]", prose)) > len(characters))
    return len(characters) if by_characters else len(prose.split())


def code_of(language: str) -> str:
    """Return the language of a tag such as `zh-CN`."""
    return re.split(r"[-_]", language.casefold())[0]
