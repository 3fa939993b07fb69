"""The shipped word lists: one file per concern and language, `#` begins a comment line."""

from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "de", "fr", "es", "pt", "zh", "ja", "ko", "ru")
"""The languages the lists are kept for, as ISO 639-1 codes; the order breaks ties."""
SHARED = "shared"
"""The name in place of a language for what belongs to none."""


@cache
def entries(concern: str, language: str) -> tuple[str, ...]:
    """Return the lines of one list, in order, without comments and blank lines."""
    text = files(__name__).joinpath(f"{concern}.{language}.txt").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


@cache
def vocabulary(concern: str, language: str) -> tuple[str, ...]:
    """Return the words of one list, in order; a line may hold several, set apart by spaces."""
    return tuple(word for line in entries(concern, language) for word in line.split())
