"""Say what in a text keeps it from becoming durable memory: own output, orders to an agent, secrets."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TypeVar
from unicodedata import normalize

from classifinder_engine import PATTERN_REGISTRY, scan

from memory.words import LANGUAGES, SHARED, entries, vocabulary

OWN_OUTPUT = "own-output"
ORDERS = "orders"
MACHINE = "machine-text"
SECRET = "secret"
UNSCANNED = "unscanned"
CACHED_SCANS = 64
"""A text is judged and redacted one after the other; the second costs nothing."""
MIN_PASSWORD_CHARACTERS = 6
"""Letters and digits mixed below this length are names such as `k8s` and `v2`."""
MIN_TOKEN_PIECE = 8
"""A token has letters and digits mixed for at least so long; `deploy-bot-2` is a name."""

_MACHINE = re.compile(
    r"""
      (?:^|:\ )\[?\{\s*"[\w-]+"\s*:                  # a JSON object, or a list of them
    | "(?:role|tool_calls?|tool_use|arguments)"\s*:     # a piece of a transcript
    | (?:^|:\ |\s)user:\ .*\bassistant:\             # a conversation in one breath
    | \bTraceback\ \(most\ recent\ call\ last\)
    """,
    re.VERBOSE,
)
"""What programs write for programs: it is searched, but is nobody's own words."""

T = TypeVar("T")

_INJECTION = "prompt_injection"
_SCANNED_KINDS = [pattern.id for pattern in PATTERN_REGISTRY if pattern.provider != _INJECTION]
# What every pattern of the scanner needs one of; the scan of a text without any would cost 200 microseconds in vain.
_SECRET_SIGNS = ("://", "password", "authorization", "_key", "_secret", "_token", "-----begin")
_LONG_RUN = re.compile("[A-Za-z0-9+/=_.~\u017f\u212a-]{20}")
_CARD_NUMBER = re.compile(r"[0-9]{4}[\s-]?[0-9]{4}")

_ADDRESS = r"(?:[\w.+-]+@[\w-]+\.[\w.-]+|https?://\S+|www\.\S+)"
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_TAG_CHARACTER = re.compile("[\U000e0020-\U000e007e]")
"""These spell ASCII that nobody sees."""

_OWN_CUES = ("openclaw", "[score=", "[confidence=", "confidence:", "evidence:", " memor", "candidate")
_OWN_SIGNS = tuple(
    re.compile(sign)
    for sign in (
        r"<!--\s*openclaw-memory-promotion:|openclaw:dreaming:",
        r"\[score=\d[\d.]*\s+(?:signals|recalls)=\d|\[confidence=\d[\d.]*\s+evidence=",
        r"\btheme:\s*\S.{0,80}?(?:kept surfacing across \d+ memor|\(strength [01]\.\d\d, \d+ memor)",
        r"\branked \d+ candidates?(?:, promoted|\(s\) for durable promotion)|\bpromoted \d+ candidate\(s\) into\b",
        r"\bwrite a dream diary entry from these memory fragments\b",
    )
)
_OWN_LEAD = re.compile(r"\bcandidate truth:")
_LEAD = re.compile(r"\b(?:candidate|theme|reflections?|possible lasting truths?):")
_OWN_DETAILS = tuple(
    re.compile(rf"\b{detail}")
    for detail in (
        r"confidence:\s*[01]\.\d\d(?!\d)",
        r"evidence:\s*[`\"]?memory/\S",
        r"status:\s*staged\b",
        r"recalls:\s*\d",
        r"consolidated:\s*\d+ days?\b",
        r"note:\s*reflection\b",
    )
)

_CLOSING = ".,;:)]}>\"'`"
_CLAUSE_ENDS = frozenset(("", "\n", *_CLOSING, *"，。；、）」』”"))
_HARD_SIGNS = frozenset("!@#$%^&*+=?~")
_VARIABLE = re.compile(r"[$<{%*(\[]|os\.|env\.|process\.")
_PLACE = re.compile(r".*://|.*@[\w-]+\.\w|[./~]*[a-z][a-z_.-]*/|v?\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """Where a secret stands in a text, and what it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Secret:
    """A kind of secret the scanner does not know: where it may stand and what it must look like."""

    kind: str
    regex: re.Pattern[str]
    looks_right: Callable[[str, bool], bool]


def flaws(text: str) -> tuple[str, ...]:
    """Return why a text may not become durable, sorted: `machine-text`, `orders`, `own-output`, `secret:<kind>`."""
    spans = _scanned(text)
    secrets = {UNSCANNED} if spans is None else {span.kind for span in spans}
    found = {f"{SECRET}:{kind}" for kind in secrets}
    if _is_own_output(text.lower()):
        found.add(OWN_OUTPUT)
    if _gives_orders(_folded(text)):
        found.add(ORDERS)
    if _MACHINE.search(text):
        found.add(MACHINE)
    return tuple(sorted(found))


def redacted(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with `[secret:<kind>]` in place of each secret, and the kinds; all is hidden if the scan failed."""
    spans = _scanned(text)
    if spans is None:
        return f"[{UNSCANNED}]", (UNSCANNED,)
    pieces, done = [], 0
    for span in spans:
        pieces += [text[done : span.start], f"[{SECRET}:{span.kind}]"]
        done = span.end
    return "".join((*pieces, text[done:])), tuple(sorted({span.kind for span in spans}))


def _is_own_output(lowered: str) -> bool:
    """Return whether a report of this program is quoted; a lead such as `Candidate:` alone is the user's own word."""
    if not any(cue in lowered for cue in _OWN_CUES):
        return False
    if any(sign.search(lowered) for sign in _OWN_SIGNS):
        return True
    details = sum(detail.search(lowered) is not None for detail in _OWN_DETAILS)
    if _OWN_LEAD.search(lowered):
        return details >= 1
    return details >= (2 if _LEAD.search(lowered) else 3)


def _gives_orders(folded: str) -> bool:
    return any(pattern.search(folded) for pattern in _cued(_orders(), folded))


def _folded(text: str) -> str:
    """Undo what hides words from a reader or a pattern: wide letters, unseen characters, line breaks."""
    if not text.isascii():
        visible = _TAG_CHARACTER.sub(lambda letter: chr(ord(letter[0]) - 0xE0000), text)
        text = normalize("NFKC", _UNSEEN.sub("", visible))
    return " ".join(text.lower().split())


def _scanned(text: str) -> tuple[_Span, ...] | None:
    """Return the secrets of a text in order, or None when the scanner failed: such a text passes nowhere."""
    try:
        return _spans(text)
    except Exception:  # noqa: BLE001 - whatever goes wrong inside the scanner, an unscanned text must not pass
        return None


@lru_cache(maxsize=CACHED_SCANS)
def _spans(text: str) -> tuple[_Span, ...]:
    masked = _without_placeholders(text)
    merged: list[_Span] = []
    for span in sorted((*_known_secrets(masked), *_further_secrets(masked)), key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            first = merged.pop()
            merged.append(_Span(start=first.start, end=max(first.end, span.end), kind=first.kind))
        else:
            merged.append(span)
    return tuple(merged)


def _without_placeholders(text: str) -> str:
    """Blank out what was redacted before with characters no pattern takes for a value, so that it stays as it is."""
    if f"[{SECRET}:" not in text:
        return text
    return _placeholder().sub(lambda place: ("#\n" * len(place[0]))[: len(place[0])], text)


@cache
def _placeholder() -> re.Pattern[str]:
    own = (secret.kind for secrets in _further_kinds().values() for secret in secrets)
    return re.compile(rf"\[{SECRET}:(?:{'|'.join(sorted({*_SCANNED_KINDS, *own}))})\]")


def _known_secrets(text: str) -> Iterator[_Span]:
    if not _is_worth_scanning(text):
        return
    found = scan(text, include_context=False)
    if any(finding.provider == _INJECTION for finding in found):
        # It may hide a secret it overlaps. Asking for secrets alone at once would make every scan thrice as slow.
        found = scan(text, types=_SCANNED_KINDS, include_context=False)
    for finding in found:
        yield _Span(start=finding.span_start, end=finding.span_end, kind=finding.type)


def _is_worth_scanning(text: str) -> bool:
    folded = text.casefold()
    if any(sign in folded for sign in _SECRET_SIGNS):
        return True
    return _LONG_RUN.search(text) is not None or _CARD_NUMBER.search(text) is not None


def _further_secrets(text: str) -> Iterator[_Span]:
    for secret in _cued(_further_kinds(), text.lower()):
        for match in secret.regex.finditer(text):
            value, start = match["secret"].rstrip(_CLOSING), match.start("secret")
            end = start + len(value)
            if secret.looks_right(value, text[end : end + 1] in _CLAUSE_ENDS):
                yield _Span(start=start, end=end, kind=secret.kind)


def _is_mixed(value: str, _at_clause_end: bool) -> bool:
    letters = any(map(str.isalpha, value))
    others = any(map(str.isdigit, value)) or not _HARD_SIGNS.isdisjoint(value)
    return len(value) >= MIN_PASSWORD_CHARACTERS and letters and others and not _is_innocent(value)


def _is_password(value: str, at_clause_end: bool) -> bool:
    """Take anything mixed; a number or a lone word only where the clause ends with it."""
    if _is_mixed(value, at_clause_end):
        return True
    lone = value.isdigit() or value.replace("-", "").replace("_", "").isalpha()
    return lone and at_clause_end and not _is_innocent(value)


def _is_token(value: str, _at_clause_end: bool) -> bool:
    return any(
        len(piece) >= MIN_TOKEN_PIECE and not piece.isalpha() and not piece.isdigit()
        for piece in re.split(r"[^a-zA-Z0-9]+", value)
    )


def _is_innocent(value: str) -> bool:
    if _VARIABLE.match(value) or _PLACE.match(value):
        return True
    return value.lower() in vocabulary("innocent", SHARED)


_LOOKS: dict[str, Callable[[str, bool], bool]] = {
    "any": lambda _value, _at_clause_end: True,
    "mixed": _is_mixed,
    "token": _is_token,
    "word": _is_password,
}


@cache
def _orders() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    lines = (line.split("\t") for code in LANGUAGES for line in entries("orders", code))
    return _by_cue((cues, re.compile(regex.replace("<address>", _ADDRESS))) for cues, regex in lines)


@cache
def _further_kinds() -> Mapping[str, tuple[_Secret, ...]]:
    lines = (line.split("\t") for line in entries("secrets", SHARED))
    return _by_cue(
        (cues, _Secret(kind=kind, regex=re.compile(regex), looks_right=_LOOKS[look]))
        for kind, look, cues, regex in lines
    )


def _by_cue(things: Iterable[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    table: defaultdict[str, list[T]] = defaultdict(list)
    for cues, thing in things:
        for cue in cues.split("|"):
            table[cue].append(thing)
    return {cue: tuple(cued) for cue, cued in table.items()}


def _cued(table: Mapping[str, tuple[T, ...]], lowered: str) -> dict[T, None]:
    """Return what is worth trying on a text: the entries of which a cue occurs in it, each once, in order."""
    return dict.fromkeys(chain.from_iterable([things for cue, things in table.items() if cue in lowered]))
