"""The words a night is told to be about: those that recur in what is told, and that tell something."""

import re
from collections import Counter
from collections.abc import Sequence

from dreaming.narrators.words import entries

RECURS = 2
"""In how many texts a word stands that recurs."""
FAINT_ENDINGS = {"en": ("ed", "ly")}
"""What English verbs in the past and adverbs end with."""
NOUNS_ARE_CAPITALISED = ("de",)


def recurring(themes: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the themes that stand in two of the texts at least."""
    folded = [text.casefold() for text in texts]
    return tuple(theme for theme in themes if sum(theme.casefold() in text for text in folded) >= RECURS)


def telling(themes: Sequence[str], texts: Sequence[str], code: str) -> tuple[str, ...]:
    """Return the themes that say what something is about, spelled as the texts spell them."""
    spelled = (_spelled(theme, texts) for theme in themes)
    return tuple(dict.fromkeys(theme for theme in spelled if _tells(theme, code)))


def _spelled(theme: str, texts: Sequence[str]) -> str:
    """Return a theme in small letters when it is ever so written, else as it is written most."""
    found = Counter(re.findall(rf"(?<!\w){re.escape(theme)}(?!\w)", "\n".join(texts), re.IGNORECASE))
    small = theme.casefold()
    return small if small in found else found.most_common(1)[0][0] if found else theme


def is_faint(theme: str) -> bool:
    """Tell whether a word occurs anywhere and says nothing of what a text is about."""
    return theme.casefold() in entries("faint")


def _tells(theme: str, code: str) -> bool:
    is_verb = theme.endswith(FAINT_ENDINGS.get(code, ())) or (code in NOUNS_ARE_CAPITALISED and theme[:1].islower())
    return not is_faint(theme) and not is_verb
