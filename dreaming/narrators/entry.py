"""What an entry of the dream diary is made of, how long it may be, and who can write one."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Protocol

from memory.markdown import CJK

SHORTEST, LONGEST = 80, 180
"""Bounds of an entry: words, or characters in a language written without spaces (SPEC 11)."""
ALWAYS_BY_WORDS = ("en", "de")
"""Measured in words, even a sentence that quotes more Han or kana than it says itself."""
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
    """What a phase has to tell; texts are untrusted, `earlier` entries are whole and newest first.

    Text by text, `headings` is what each stands under and `days` when it was written or asked for, as ISO dates; both
    are empty when that is not known.
    """

    phase: str
    night: date
    language: str
    texts: tuple[str, ...]
    themes: tuple[str, ...]
    graduates: tuple[Graduate, ...] = ()
    waiting: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    days: tuple[tuple[str, ...], ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what can be kept as JSON: all but the earlier entries, which will be others."""
        return asdict(self) | {"night": self.night.isoformat(), "earlier": ()}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Material":
        """Return the material that a document was made of."""
        return cls(
            phase=document["phase"],
            night=date.fromisoformat(document["night"]),
            language=document["language"],
            texts=tuple(document["texts"]),
            themes=tuple(document["themes"]),
            graduates=tuple(Graduate(**one) for one in document["graduates"]),
            waiting=tuple(document["waiting"]),
            headings=tuple(document.get("headings", ())),
            days=tuple(tuple(days) for days in document.get("days", ())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a narrator is asked for: the material, and for a model the prompts that show it.

    `prompts` are the files these were made of, as they are written: an entry that repeats them is none.
    """

    material: Material
    system: str
    asked: str
    prompts: tuple[str, ...] = ()


class NarratorError(Exception):
    """A narrator gave no entry."""

    def __init__(self, narrator: str, reason: str) -> None:
        self.narrator = narrator
        self.reason = reason
        super().__init__(f"{narrator} wrote no entry: {reason}")


class Narrator(Protocol):
    """Writes an entry; what it says is judged before it is kept."""

    @property
    def name(self) -> str:
        """Who writes, as `status` and the store say it."""

    def write(self, request: Request, *, seconds: float) -> str:
        """Return an entry within so many seconds; raise NarratorError when there is none."""


def length(prose: str, language: str) -> int:
    """Return words; for Chinese, Japanese and prose mostly in their scripts, the characters that are not whitespace."""
    characters = "".join(prose.split())
    mostly_cjk = 2 * len(re.findall(f"[{CJK}]", prose)) > len(characters)
    counts_characters = by_characters(language) or (mostly_cjk and code_of(language) not in ALWAYS_BY_WORDS)
    return len(characters) if counts_characters else len(prose.split())


def by_characters(language: str) -> bool:
    """Tell whether an entry in a language is measured in characters, not in words."""
    return code_of(language) in ("zh", "ja")


def code_of(language: str) -> str:
    """Return the language of a tag such as `zh-CN`."""
    return re.split(r"[-_]", language.casefold())[0]
