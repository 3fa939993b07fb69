"""Where a text holds what must be hidden: what the scanners know, what the words around it tell, the user's own."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from classifinder_engine import PATTERN_REGISTRY, scan

from memory import checksums
from memory.cues import by_cue, compiled, cued, in_ascii
from memory.leaks import CREDENTIAL, KINDS, leaks
from memory.personal import personal
from memory.redaction import Redaction
from memory.spans import Span, merged
from memory.words import LANGUAGES, SHARED, entries, vocabulary

SECRET = "secret"
OWN = "own"
"""The kind of what a pattern of the user's finds."""
CACHED_SCANS = 64
"""A text is judged and redacted one after the other; the second costs nothing."""
MIN_PASSWORD_CHARACTERS = 6
"""Letters and digits mixed below this length are names such as `k8s` and `v2`."""
MIN_STRONG_PASSWORD = 8
"""Upper and lower case and digits mixed below this length are names such as `OAuth2`."""
MIN_PHRASE_WORDS = 4
"""Of a phrase that may begin with a word such as `correct`; "changed last week" has fewer."""
MIN_SEED_WORDS = 12
"""So many words in a row after "seed phrase" are one, whatever they say."""
MIN_CHANGES = 15
"""Of case or kind between the 40 characters of a key of AWS: 25 is usual, a path of words has about ten."""
MIN_TOKEN_PIECE = 8
"""A token has letters and digits mixed for at least so long; `deploy-bot-2` is a name."""
LONGEST_TRIED = 1_000
"""Characters that a pattern of the user's is tried on at once; its time may grow with the square of them, or worse."""
OVERLAP = 500
"""Characters of a longer line that are tried again with what follows them, so that a secret is not cut in two."""

_INJECTION = "prompt_injection"
_SCANNED_KINDS = [pattern.id for pattern in PATTERN_REGISTRY if pattern.provider != _INJECTION]
# What every pattern of the scanner needs one of; the scan of a text without any would cost 200 microseconds in vain.
_SECRET_SIGNS = ("://", "password", "authorization", "_key", "_secret", "_token", "-----begin")
_LONG_RUN = re.compile("[A-Za-z0-9+/=_.~\u017f\u212a-]{20}")
_CARD_NUMBER = re.compile(r"[0-9]{4}[\s-]?[0-9]{4}")

_CLOSING = ".,;:)]}>\"'`"
_CLAUSE_ENDS = frozenset(("", "\n", *_CLOSING, *"，。；、）」』”"))
_HARD_SIGNS = frozenset("!@#$%^&*+=?~")
_PIECE = re.compile(r"(?<!\(\?P)<([a-z]\w+)>")
_NUMBER = re.compile(r"[#*]?[0-9]+[#*]?")
_PORTS = re.compile(r"[0-9.]*:?[0-9.]+:[0-9]+(?:/[a-z]+)?")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_HAN_WORD = re.compile(r"[\u4e00-\u9fff]{4,10}")
_AMOUNT = re.compile(r"\d[位个個天次年月周日号號字分秒时時小桁文円元级級版代期회자년월일번%％]|第\d")
_CHANGE = re.compile(r"(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=[0-9])[^0-9]")
_VARIABLE = re.compile(r"[$<{%*(\[]|os\.|env\.|process\.")
_PLACE = re.compile(r".*://|.*@[\w-]+\.\w|[./~]*[a-z][a-z_.-]*/|v?\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Secret:
    """A kind of secret the scanner does not know: where it may stand and what it must look like."""

    kind: str
    regex: str
    looks_right: Callable[[str, bool], bool]


def spans(text: str, rules: Redaction) -> tuple[Span, ...] | None:
    """Return what must be hidden in a text, in order, or None when a scanner failed: such a text passes nowhere."""
    try:
        return _spans(text, rules)
    except Exception:  # noqa: BLE001 - whatever goes wrong inside a scanner, an unscanned text must not pass
        return None


@lru_cache(maxsize=CACHED_SCANS)
def _spans(text: str, rules: Redaction) -> tuple[Span, ...]:
    masked = _without_placeholders(text)
    found = [*_known_secrets(masked), *_further_secrets(masked), *leaks(masked), *_own_secrets(masked, rules)]
    return merged([*found, *personal(masked, rules.mask)])


def _own_secrets(text: str, rules: Redaction) -> Iterator[Span]:
    if not rules.patterns:
        return
    at = 0
    for line in text.split("\n"):
        for start in range(0, max(1, len(line) - OVERLAP), LONGEST_TRIED - OVERLAP):
            piece = line[start : start + LONGEST_TRIED]
            for pattern in rules.patterns:
                yield from _own_matches(piece, pattern, at + start)
        at += len(line) + 1


def _own_matches(piece: str, pattern: re.Pattern[str], at: int) -> Iterator[Span]:
    group = SECRET if SECRET in pattern.groupindex else 0
    for match in pattern.finditer(piece):
        start, end = match.span(group)
        if start < end:
            yield Span(start=at + start, end=at + end, kind=OWN)


def _without_placeholders(text: str) -> str:
    """Blank out what was redacted before with characters no pattern takes for a value, so that it stays as it is."""
    if f"[{SECRET}:" not in text:
        return text
    return _placeholder().sub(lambda place: ("#\n" * len(place[0]))[: len(place[0])], text)


@cache
def _placeholder() -> re.Pattern[str]:
    own = (secret.kind for secrets in _further_kinds(ascii_only=False).values() for secret in secrets)
    kinds = sorted({*_SCANNED_KINDS, *own, *KINDS, CREDENTIAL, OWN})
    return re.compile(rf"\[{SECRET}:(?:{'|'.join(kinds)})\]")


def _known_secrets(text: str) -> Iterator[Span]:
    if not _is_worth_scanning(text):
        return
    found = scan(text, include_context=False)
    if any(finding.provider == _INJECTION for finding in found):
        # It may hide a secret it overlaps. Asking for secrets alone at once would make every scan thrice as slow.
        found = scan(text, types=_SCANNED_KINDS, include_context=False)
    for finding in found:
        yield Span(start=finding.span_start, end=finding.span_end, kind=finding.type)


def _is_worth_scanning(text: str) -> bool:
    folded = text.casefold()
    if any(sign in folded for sign in _SECRET_SIGNS):
        return True
    return _LONG_RUN.search(text) is not None or _CARD_NUMBER.search(text) is not None


def _further_secrets(text: str) -> Iterator[Span]:
    for secret in cued(_further_kinds(ascii_only=text.isascii()), text.lower()):
        for match in compiled(secret.regex).finditer(text):
            value, start = match["secret"].rstrip(_CLOSING), match.start("secret")
            end = start + len(value)
            if secret.looks_right(value, text[end : end + 1] in _CLAUSE_ENDS):
                yield Span(start=start, end=end, kind=secret.kind)


def _is_mixed(value: str, _at_clause_end: bool) -> bool:
    letters = any(map(str.isalpha, value))
    others = any(map(str.isdigit, value)) or not _HARD_SIGNS.isdisjoint(value)
    return len(value) >= MIN_PASSWORD_CHARACTERS and letters and others and not _is_innocent(value)


def _is_password(value: str, at_clause_end: bool) -> bool:
    """Take anything mixed; a number or a lone word only where the clause ends with it."""
    if _is_mixed(value, at_clause_end):
        return True
    return _is_lone(value) and at_clause_end and not _is_innocent(value)


def _is_lone(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None or value.replace("-", "").replace("_", "").isalpha()


def _is_mixed_to_the_end(value: str, at_clause_end: bool) -> bool:
    return at_clause_end and _is_mixed(value, at_clause_end)


def _is_foreign(value: str, at_clause_end: bool) -> bool:
    """Take what is mixed and not all ASCII; in Chinese, Japanese and Korean only what is no talk about passwords."""
    if value.isascii():
        return False
    if not _CJK.search(value):
        return _is_mixed(value, at_clause_end)
    mixed = any(map(str.isdigit, value)) or not _HARD_SIGNS.isdisjoint(value)
    return mixed and not _is_talk(value)


def _is_foreign_word(value: str, at_clause_end: bool) -> bool:
    """Take also a lone word; several of Han only without what sentences are made of."""
    if value.isascii() or _is_foreign(value, at_clause_end):
        return not value.isascii()
    if _CJK.search(value):
        talks = _is_talk(value) or any(sign in value for sign in vocabulary("innocent_signs", "zh"))
        return _HAN_WORD.fullmatch(value) is not None and not talks
    return _is_lone(value) and at_clause_end and not _is_innocent(value)


def _is_talk(value: str) -> bool:
    """Whether a text without spaces speaks of a password: what it must have, where it is, what it is made with."""
    if _AMOUNT.search(value) or any(word in value for code in ("zh", "ja") for word in vocabulary("innocent", code)):
        return True
    return any(map(_is_innocent, re.findall(r"[!-~]{3,}", value)))


def _is_phrase(value: str, _at_clause_end: bool) -> bool:
    """Take words in a row unless they make a sentence, or speak of passwords."""
    words = re.split(r"[\s,-]+", value.lower())
    about = [word in vocabulary("innocent", SHARED) for word in words]
    talks = sum(about) > 1 or (about[0] and len(words) < MIN_PHRASE_WORDS)
    return len(words) >= MIN_SEED_WORDS or not (talks or _words_of_sentences() & set(words))


@cache
def _words_of_sentences() -> frozenset[str]:
    return frozenset(word.lstrip("?") for code in LANGUAGES for word in vocabulary("stop", code))


def _is_argument(value: str, _at_clause_end: bool) -> bool:
    """Take what follows an option for passwords, unless it is a variable, a place or a pair of ports."""
    return not (_is_innocent(value) or _PORTS.fullmatch(value))


def _is_strong(value: str, _at_clause_end: bool) -> bool:
    kinds = all(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))
    return kinds and len(value) >= MIN_STRONG_PASSWORD and not _is_innocent(value)


def _is_loud(value: str, at_clause_end: bool) -> bool:
    """Take what nobody writes but for a password: signs such as `!` within letters, or all kinds of them."""
    digits = any(map(str.isdigit, value))
    signs = not _HARD_SIGNS.isdisjoint(value if digits else value.rstrip("!?"))
    return (signs and _is_mixed(value, at_clause_end)) or _is_strong(value, at_clause_end)


def _is_random(value: str, _at_clause_end: bool) -> bool:
    """Take a key of letters in both cases and digits; no hash, and no path of words."""
    kinds = all(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))
    return kinds and len(_CHANGE.findall(value)) >= MIN_CHANGES


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
    "account": lambda value, _at_clause_end: checksums.is_account(value),
    "any": lambda _value, _at_clause_end: True,
    "argument": _is_argument,
    "card": lambda value, _at_clause_end: checksums.is_card(value),
    "foreign": _is_foreign,
    "foreign_word": _is_foreign_word,
    "identity": lambda value, _at_clause_end: checksums.is_identity(value),
    "loud": _is_loud,
    "mixed": _is_mixed,
    "mixed_end": _is_mixed_to_the_end,
    "phrase": _is_phrase,
    "random": _is_random,
    "strong": _is_strong,
    "token": _is_token,
    "word": _is_password,
}


@cache
def _further_kinds(*, ascii_only: bool) -> Mapping[str, tuple[_Secret, ...]]:
    """Return the table by cue."""
    lines = (line.split("\t") for line in entries("secrets", SHARED))
    table = by_cue(
        (cues.replace(r"\n", "\n"), _Secret(kind=kind, regex=_spelled_out(regex), looks_right=_LOOKS[look]))
        for kind, look, cues, regex in lines
    )
    return in_ascii(table) if ascii_only else table


def _spelled_out(regex: str) -> str:
    """Return an expression with its pieces, and theirs, in place of their names."""
    return _PIECE.sub(lambda name: f"(?:{_spelled_out(_pieces()[name[1]])})", regex)


@cache
def _pieces() -> Mapping[str, str]:
    return dict(line.split("\t") for line in entries("secret_parts", SHARED))
