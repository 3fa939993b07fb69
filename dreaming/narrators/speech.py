"""Tell whether what a night quotes is in the language that its entry is told in."""

from memory.language import language

UNDECIDED = {"de": "der"}
"""A word that decides for a language when no word of the text decides for any; English it is without one."""
HAN_ONLY_CHARACTERS = 12
"""Up to this length Japanese may do without kana."""


def is_in(text: str, code: str) -> bool:
    """Tell whether a text is in a language; one that could be in any of the Latin ones is in each of them."""
    found = language(f"{text} {UNDECIDED.get(code, '')}")
    return found == code or (code == "ja" and found == "zh" and len(text) <= HAN_ONLY_CHARACTERS)
