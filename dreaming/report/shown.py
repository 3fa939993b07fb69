"""Text of the user's as the page may hold it: without secrets, without characters that no page can hold."""

import re
from dataclasses import dataclass, field

from dreaming.home import Home
from dreaming.observing.masking import masked
from memory.chunking import source_lines
from memory.redaction import Redaction
from memory.trust import redacted

LONGEST_LINE = 2_000
"""Characters of a line that are shown; nobody reads on, and one line must not fill the page."""
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Shown:
    """Says how a text is shown, by the rules of a workspace; the same text is judged once."""

    rules: Redaction
    _known: dict[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        """Return a text on its own as it is shown."""
        if text not in self._known:
            self._known[text] = clean(redacted(text, self.rules)[0])
        return self._known[text]


def lines_of(home: Home, text: str) -> list[str]:
    """Return the lines of a whole file as they are shown."""
    return clean_lines(masked(text, home.lexicon, home.redaction))


def clean_lines(text: str) -> list[str]:
    """Return the lines of a text whose secrets are masked already."""
    lines = [clean(line) for line in source_lines(text)]
    return lines[:-1] if lines and not lines[-1] else lines


def clean(text: str) -> str:
    """Return a text without what no page can hold, cut where it is too long."""
    return shorter(_UNSHOWABLE.sub("\ufffd", text), LONGEST_LINE)


def shorter(text: str, most: int) -> str:
    """Return a text of at most so many characters, and a sign where it goes on."""
    return text if len(text) <= most else f"{text[:most]}…"


def weight(text: str) -> int:
    """Return about how many bytes a text takes in the page: what must be escaped takes six."""
    return len(text.encode()) + 5 * sum(map(text.count, "<>&\"'"))
