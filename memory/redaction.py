"""What is hidden beside the secrets everybody has: the user's own patterns, and personal data on request."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

from memory import leaks
from memory.words import SHARED, entries

VERSION = "4"
"""Of what `memory/secrets.py` takes for a secret, and what is set apart with it; raise it when that changes.

Texts are read anew then.
"""
SHIPPED = (
    *((concern, SHARED) for concern in ("secrets", "secret_parts", "innocent")),
    *(("innocent", code) for code in ("zh", "ja")),
    ("innocent_signs", "zh"),
)
"""The lists that decide it too."""
MOST_PATTERNS = 100
LONGEST_PATTERN = 500
"""Characters; a longer one is a list that got into the wrong key."""
UNLIMITED = 1000
"""What a repeat without an upper limit counts when ways are counted."""
MOST_WAYS = 4_000_000
"""In how many ways a pattern may match at one place: that bounds how long a text that almost matches is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """The user's own secrets as expressions (all of a match is hidden, or its group `secret`), and what to mask."""

    patterns: tuple[re.Pattern[str], ...] = ()
    mask: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *, patterns: Iterable[str], mask: Iterable[str]) -> Self:
        """Return the rules of the settings; the patterns are `checked`."""
        return cls(patterns=tuple(re.compile(pattern) for pattern in patterns), mask=frozenset(mask))

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides what is hidden, the scanners among it: under another one texts are read anew."""
        shipped = [entries(concern, code) for concern, code in SHIPPED]
        said = [[pattern.pattern for pattern in self.patterns], sorted(self.mask), leaks.version(), VERSION, shipped]
        return sha256(json.dumps(said).encode("utf-8", "replace")).hexdigest()[:16]


def broken_scanner() -> str | None:
    """Return what keeps the scanner of the extra from running, with the way out; None when it runs or is not there."""
    try:
        list(leaks.leaks("Is anybody there?"))
    except Exception as error:  # noqa: BLE001 - whatever it is, it hides every text
        installed = f"{leaks.PACKAGE} {leaks.version()}"
        return (
            f"the scanner for secrets ({installed}) is installed but does not run ({type(error).__name__}), so that"
            f" every text is hidden; install it anew or take it out: pip uninstall {leaks.PACKAGE}"
        )
    return None


ONLY_SECRETS = Redaction()
"""What holds without settings."""


def checked(pattern: str) -> str:
    """Return a pattern that hides something in reasonable time, or raise ValueError with what is wrong."""
    if len(pattern) > LONGEST_PATTERN:
        raise ValueError(f"longer than {LONGEST_PATTERN} characters")
    try:
        compiled = re.compile(pattern)
        ways = _ways(re._parser.parse(pattern), repeated=False)  # type: ignore[attr-defined]  # no public parser
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if compiled.search("") is not None:
        raise ValueError("it matches where nothing is")
    if ways > MOST_WAYS:
        raise ValueError("it may take for ever; give its repeats upper limits, such as {8,64}")
    return pattern


def is_legal(pattern: str) -> bool:
    """Tell whether a pattern may be used."""
    try:
        checked(pattern)
    except ValueError:
        return False
    return True


def _ways(parsed: Iterable[tuple[Any, Any]], *, repeated: bool) -> int:
    """Return in how many ways a parsed expression may go on from one place, at most.

    Ways inside a repeat multiply with every round: `(a+)+` and `(a|aa)+` have more than can be tried.
    """
    ways = 1
    for code, argument in parsed:
        ways *= _ways_of(str(code), argument, repeated=repeated)
        if ways > MOST_WAYS:
            break
    return ways


def _ways_of(code: str, argument: Any, *, repeated: bool) -> int:
    if code in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, body = argument
        rounds = min(int(most), UNLIMITED)
        inside = _ways(body, repeated=repeated or rounds > 1)
        return MOST_WAYS + 1 if inside > 1 and rounds > 1 else inside * max(1, rounds - min(int(least), rounds) + 1)
    if code == "BRANCH":
        return sum(_ways(branch, repeated=repeated) for branch in argument[1])
    inner = [part for part in _parts(argument) if hasattr(part, "getwidth")]
    ways = 1
    for part in inner:
        ways *= _ways(part, repeated=repeated)
    return ways


def _parts(argument: Any) -> Iterator[Any]:
    """Yield what groups, conditions and lookarounds hold: expressions among other things."""
    if hasattr(argument, "getwidth"):
        yield argument
    elif isinstance(argument, tuple):
        yield from argument
