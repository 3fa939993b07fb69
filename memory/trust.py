"""Say what in a text keeps it from becoming durable memory: own output, orders to an agent, secrets."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import normalize

from classifinder_engine import PATTERN_REGISTRY, scan

from memory.words import LANGUAGES, SHARED, entries, vocabulary

OWN_OUTPUT = "own-output"
ORDERS = "orders"
SECRET = "secret"
UNSCANNED = "unscanned"
CACHED_SCANS = 64
"""A text is judged and redacted one after the other; the second costs nothing."""

_INJECTION = "prompt_injection"
_SCANNED_KINDS = [pattern.id for pattern in PATTERN_REGISTRY if pattern.provider != _INJECTION]
_WORTH_SCANNING = re.compile(
    r"""
      (?i:[a-z0-9+/=_.~-]{16})               # keys, tokens, base64
    | :// | (?i:password) | (?i:authorization) | -----BEGIN
    | [0-9]{4}[\s-]?[0-9]{4}                 # card numbers
    """,
    re.VERBOSE,
)
"""Every pattern of the scanner needs one of these, so a text without any is not worth its 200 microseconds."""

_ADDRESS = r"(?:[\w.+-]+@[\w-]+\.[\w.-]+|https?://\S+|www\.\S+)"
_UNSEEN = {code: None for code in (0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF)}
_TAGGED = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Unicode's tag characters spell ASCII that nobody sees."""

_MARKER = re.compile(r"<!--\s*openclaw-memory-promotion:|openclaw:dreaming:", re.IGNORECASE)
_SCORE_TAG = re.compile(r"\[score=\d[\d.]*\s+(?:signals|recalls)=\d|\[confidence=\d[\d.]*\s+evidence=")
_REPORT = re.compile(
    r"\btheme:\s*\S.{0,80}?(?:kept surfacing across \d+ memor|\(strength [01]\.\d\d, \d+ memor)"
    r"|\branked \d+ candidates?(?:, promoted|\(s\) for durable promotion)|\bpromoted \d+ candidate\(s\) into\b"
    r"|\bwrite a dream diary entry from these memory fragments\b",
    re.IGNORECASE,
)
_OWN_LEAD = re.compile(r"\bcandidate truth:", re.IGNORECASE)
_LEAD = re.compile(r"\b(?:candidate|theme|reflections?|possible lasting truths?):", re.IGNORECASE)
_DETAILS = tuple(
    re.compile(rf"\b{detail}", re.IGNORECASE)
    for detail in (
        r"confidence:\s*[01]\.\d\d(?!\d)",
        r"evidence:\s*[`\"]?memory/\S",
        r"status:\s*staged\b",
        r"recalls:\s*\d",
        r"consolidated:\s*\d+ days?\b",
        r"note:\s*reflection\b",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """Where a secret stands in a text, and what it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """A regular expression with the words of which a text must contain one for it to be tried at all."""

    cues: tuple[str, ...]
    regex: re.Pattern[str]

    def search(self, text: str, lowered: str) -> re.Match[str] | None:
        """Return the first match, or None without trying when no cue occurs."""
        return self.regex.search(text) if any(cue in lowered for cue in self.cues) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Secret:
    """A kind of secret the scanner does not know: where it may stand and what it must look like."""

    kind: str
    looks_right: Callable[[str, bool], bool]
    pattern: _Pattern


def flaws(text: str) -> tuple[str, ...]:
    """Return why a text may not become durable, sorted: `orders`, `own-output`, `secret:<kind>`; nothing when clean."""
    spans = _scanned(text)
    secrets = {UNSCANNED} if spans is None else {span.kind for span in spans}
    found = {f"{SECRET}:{kind}" for kind in secrets}
    if _is_own_output(text):
        found.add(OWN_OUTPUT)
    if _gives_orders(text):
        found.add(ORDERS)
    return tuple(sorted(found))


def redacted(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with `[secret:<kind>]` in place of each secret, and the kinds; all of it goes if it was not scanned."""
    spans = _scanned(text)
    if spans is None:
        return f"[{UNSCANNED}]", (UNSCANNED,)
    pieces, done = [], 0
    for span in spans:
        pieces += [text[done : span.start], f"[{SECRET}:{span.kind}]"]
        done = span.end
    return "".join((*pieces, text[done:])), tuple(sorted({span.kind for span in spans}))


def _is_own_output(text: str) -> bool:
    """A lead alone is the user's own word; it takes the details that stand below it in a report."""
    if any(sign.search(text) for sign in (_MARKER, _SCORE_TAG, _REPORT)):
        return True
    details = sum(detail.search(text) is not None for detail in _DETAILS)
    if _OWN_LEAD.search(text):
        return details >= 1
    return details >= (2 if _LEAD.search(text) else 3) 


def _gives_orders(text: str) -> bool:
    folded = _folded(text)
    return any(pattern.search(folded, folded) for pattern in _orders())


def _folded(text: str) -> str:
    """Undo what hides words from a reader or a pattern: wide letters, invisible characters, tag characters, line breaks."""
    if not text.isascii():
        text = normalize("NFKC", text.translate(_TAGGED).translate(_UNSEEN))
    return " ".join(text.lower().split())


@cache
def _orders() -> tuple[_Pattern, ...]:
    return tuple(_pattern(*line.split("\t")) for code in LANGUAGES for line in entries("orders", code))


@cache
def _own_secrets() -> tuple[_Secret, ...]:
    lines = (line.split("\t") for line in entries("secrets", SHARED))
    return tuple(
        _Secret(kind=kind, looks_right=_LOOKS[look], pattern=_pattern(cues, regex)) for kind, look, cues, regex in lines
    )


def _pattern(cues: str, regex: str) -> _Pattern:
    return _Pattern(cues=tuple(cues.split("|")), regex=re.compile(regex.replace("<address>", _ADDRESS)))


def _scanned(text: str) -> tuple[_Span, ...] | None:
    """Return the secrets of a text in order, or None when the scanner failed: such a text passes nowhere."""
    try:
        return _spans(text)
    except Exception:  # noqa: BLE001 - whatever goes wrong inside the scanner, an unscanned text must not pass
        return None


@lru_cache(maxsize=CACHED_SCANS)
def _spans(text: str) -> tuple[_Span, ...]:
    masked = _without_placeholders(text)
    spans = sorted((*_known_secrets(masked), *_further_secrets(masked)), key=lambda span: (span.start, -span.end))
    merged: list[_Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            span = _Span(start=last.start, end=max(last.end, span.end), kind=last.kind)
        merged.append(span)
    return tuple(merged)


def _without_placeholders(text: str) -> str:
    """Blank out what was redacted before with characters no pattern takes for a value, so that it stays as it is."""
    if f"[{SECRET}:" not in text:
        return text
    return _placeholder().sub(lambda place: ("#\n" * len(place[0]))[: len(place[0])], text)


@cache
def _placeholder() -> re.Pattern[str]:
    kinds = sorted({*_SCANNED_KINDS, *(secret.kind for secret in _own_secrets())})
    return re.compile(rf"\[{SECRET}:(?:{'|'.join(kinds)})\]")


def _known_secrets(text: str) -> Iterator[_Span]:
    if not _WORTH_SCANNING.search(text):
        return
    found = scan(text, include_context=False)
    if any(finding.provider == _INJECTION for finding in found):
        # Such a finding may hide a secret it overlaps; asking for kinds from the start costs every text three times as much.
        found = scan(text, types=_SCANNED_KINDS, include_context=False)
    for finding in found:
        yield _Span(start=finding.span_start, end=finding.span_end, kind=finding.type)


def _further_secrets(text: str) -> Iterator[_Span]:
    lowered = text.lower()
    for secret in _own_secrets():
        if not secret.pattern.search(text, lowered):
            continue
        for match in secret.pattern.regex.finditer(text):
            value = match["secret"].rstrip(_CLOSING)
            start = match.start("secret")
            end = start + len(value)
            if secret.looks_right(value, text[end : end + 1] in _CLAUSE_ENDS):
                yield _Span(start=start, end=end, kind=secret.kind)


_CLOSING = ".,;:)]}>\"'`"
_CLAUSE_ENDS = frozenset(("", "\n", *_CLOSING, *"，。；、）」』”"))
_PLACEHOLDER_START = re.compile(r"[$<{%*(\[]|os\.|env\.|process\.")
_PLACE = re.compile(r".*://|.*@[\w-]+\.\w|[\w.~-]*/|v?\d+(?:\.\d+)+")


def _is_mixed(value: str, _at_clause_end: bool) -> bool:
    """Letters with digits or signs, as no word has them; no address, path, version or variable."""
    letters = any(map(str.isalpha, value))
    others = any(map(str.isdigit, value)) or not _HARD_SIGNS.isdisjoint(value)
    return len(value) >= 6 and letters and others and not _is_innocent(value)


def _is_word(value: str, at_clause_end: bool) -> bool:
    """Anything mixed; a number or one lone word only where the clause ends with it."""
    if _is_mixed(value, at_clause_end):
        return True
    lone = len(value) >= 4 and (value.isdigit() or value.replace("-", "").replace("_", "").isalpha())
    return lone and at_clause_end and not _is_innocent(value)


def _is_token(value: str, _at_clause_end: bool) -> bool:
    """One piece of at least eight letters and digits mixed: `deploy-bot-2` is a name."""
    return any(
        len(piece) >= 8 and any(map(str.isalpha, piece)) and any(map(str.isdigit, piece))
        for piece in re.split(r"[^a-zA-Z0-9]+", value)
    )


def _is_innocent(value: str) -> bool:
    if _PLACEHOLDER_START.match(value) or _PLACE.match(value):
        return True
    return value.lower() in _innocent_words()


@cache
def _innocent_words() -> frozenset[str]:
    return frozenset(vocabulary("innocent", SHARED))


_HARD_SIGNS = frozenset("!@#$%^&*+=?~")
_LOOKS: dict[str, Callable[[str, bool], bool]] = {
    "any": lambda _value, _at_clause_end: True,
    "digits": lambda value, _at_clause_end: value.isdigit(),
    "mixed": _is_mixed,
    "token": _is_token,
    "word": _is_word,
}
