"""Say what in a text keeps it from becoming durable memory: own output, orders to an agent, secrets."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from unicodedata import normalize

from memory.cues import by_cue, compiled, cued, in_ascii
from memory.model import QUOTED
from memory.redaction import ONLY_SECRETS, Redaction
from memory.secrets import SECRET, spans
from memory.spans import Span
from memory.words import LANGUAGES, SHARED, entries

OWN_OUTPUT = "own-output"
ORDERS = "orders"
MACHINE = "machine-text"
UNSCANNED = "unscanned"
BOXED = "task"
IN_WORDS = {
    OWN_OUTPUT: "quotes a marker or report of this program",
    ORDERS: "gives orders to an agent",
    MACHINE: "is what a program wrote for programs",
    QUOTED: "was written by somebody else",
    BOXED: "is a task with a box to tick, over once it is done",
    f"{SECRET}:{UNSCANNED}": "could not be scanned for secrets",
}
"""What is wrong with a text, after “it”; of a secret the kind is named too."""

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


def flaws(text: str, rules: Redaction = ONLY_SECRETS) -> tuple[str, ...]:
    """Return why a text may not become durable, sorted: `machine-text`, `orders`, `own-output`, `secret:<kind>`."""
    hidden = spans(text, rules)
    secrets = {UNSCANNED} if hidden is None else {span.kind for span in hidden if span.is_secret}
    found = {f"{SECRET}:{kind}" for kind in secrets}
    if _is_own_output(text.lower()):
        found.add(OWN_OUTPUT)
    if _gives_orders(_folded(text)):
        found.add(ORDERS)
    if _MACHINE.search(text):
        found.add(MACHINE)
    return tuple(sorted(found))


def told(found: Iterable[str]) -> str:
    """Return in words what is wrong with a text, after “it”."""
    return " and ".join(IN_WORDS.get(flaw) or f"holds a secret ({flaw.removeprefix(f'{SECRET}:')})" for flaw in found)


def redacted(text: str, rules: Redaction = ONLY_SECRETS, *, keep_lines: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return a text with `[secret:<kind>]` in place of each secret, and the kinds; all is hidden if the scan failed.

    What is personal and to be masked stands as `[email]`, `[phone]` or `[ip]`, and is not among the kinds. With
    `keep_lines` a secret of several lines leaves as many, so that those below it keep their numbers.
    """
    hidden = spans(text, rules)
    if hidden is None:
        return f"[{UNSCANNED}]", (UNSCANNED,)
    pieces, done = [], 0
    for span in hidden:
        lines = text.count("\n", span.start, span.end) if keep_lines else 0
        pieces += [text[done : span.start], label(span), "\n" * lines]
        done = span.end
    return "".join((*pieces, text[done:])), tuple(sorted({span.kind for span in hidden if span.is_secret}))


def label(span: Span) -> str:
    """Return what stands in place of something hidden."""
    return f"[{SECRET}:{span.kind}]" if span.is_secret else f"[{span.kind}]"


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
    orders = cued(_orders(ascii_only=folded.isascii()), folded)
    return any(compiled(regex).search(folded) for regex in orders)


def _folded(text: str) -> str:
    """Undo what hides words from a reader or a pattern: wide letters, unseen characters, line breaks."""
    if not text.isascii():
        visible = _TAG_CHARACTER.sub(lambda letter: chr(ord(letter[0]) - 0xE0000), text)
        text = normalize("NFKC", _UNSEEN.sub("", visible))
    return " ".join(text.lower().split())


@cache
def _orders(*, ascii_only: bool) -> Mapping[str, tuple[str, ...]]:
    lines = (line.split("\t") for code in LANGUAGES for line in entries("orders", code))
    table = by_cue((cues, _spelled_out(regex)) for cues, regex in lines)
    return in_ascii(table) if ascii_only else table


def _spelled_out(regex: str) -> str:
    """Return an expression with its pieces, of which the first may hold the later ones, in place of their names."""
    pieces = [line.split("\t") for line in entries("order_parts", SHARED)]
    for name, piece in (*pieces, ("address", _ADDRESS)):
        regex = regex.replace(f"<{name}>", f"(?:{piece})")
    return regex
