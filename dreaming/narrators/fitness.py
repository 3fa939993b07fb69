"""What of a fragment is fit to be told: statements that stand alone and can be read."""

from itertools import pairwise

from memory.chunking import composed
from memory.markdown import joined
from memory.model import Fragment, Style
from memory.quality import unfit
from memory.sentences import sentence_ends
from memory.writable import stands_beside

UNREADABLE = "\ufffd"
"""Stands where bytes made no character."""


def tellable(fragment: Fragment) -> str:
    """Return what may be told of a fragment, under its heading; empty when nothing may: no cell of a table is prose."""
    if fragment.style is Style.TABLE:
        return ""
    kept = [_readable(text) if fragment.style is Style.PARAGRAPH else text for text in fragment.statements]
    body = composed([text for text in kept if is_fit(text)], fragment.style)
    return f"{fragment.heading}: {body}" if fragment.heading and body else body


def is_fit(text: str) -> bool:
    """Tell whether a text could be promoted as it stands."""
    return bool(text) and UNREADABLE not in text and not unfit(text)


def _readable(paragraph: str) -> str:
    """Return a paragraph from its first sentence that stands alone, without what is none."""
    ends = sorted({0, *sentence_ends(paragraph), len(paragraph)})
    sentences = [paragraph[start:end].strip() for start, end in pairwise(ends)]
    first = next((n for n, sentence in enumerate(sentences) if is_fit(sentence)), len(sentences))
    return joined([one for one in sentences[first:] if UNREADABLE not in one and stands_beside(one)])
