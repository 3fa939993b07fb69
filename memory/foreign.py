"""What in a diary somebody else wrote: text in a quotation, and what stands below a heading that says so."""

import re
from functools import cache, lru_cache

from memory.markdown import CJK
from memory.words import LANGUAGES, entries

_CALLOUT = re.compile(r"\s*\[![A-Za-z]+\]")


def is_callout(content: str) -> bool:
    """Tell whether a quotation is only set like one: `> [!NOTE]` is the writer's own remark."""
    return _CALLOUT.match(content) is not None


def without_callout(line: str) -> str:
    """Return a line without the mark of a callout."""
    return _CALLOUT.sub("", line).strip()


@lru_cache(maxsize=1024)
def names_others(heading: str) -> bool:
    """Tell whether a heading stands above what somebody else wrote: a mail, a web page, the output of a tool."""
    return bool(heading) and _signs().search(heading.casefold()) is not None


@cache
def _signs() -> re.Pattern[str]:
    phrases = sorted({phrase.casefold() for code in LANGUAGES for phrase in entries("foreign", code)})
    return re.compile("|".join(map(_whole, phrases)))


def _whole(phrase: str) -> str:
    cjk = re.search(f"[{CJK}\uac00-\ud7af]", phrase)
    return re.escape(phrase) if cjk else rf"(?<!\w){re.escape(phrase)}(?!\w)"
