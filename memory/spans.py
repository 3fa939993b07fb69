"""Where something to hide stands in a text."""

from collections.abc import Iterable
from dataclasses import dataclass

PERSONAL = frozenset({"email", "phone", "ip"})
"""Kinds that are no secrets: masked on request, and nothing against remembering the rest of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a text, and the kind of what stands there."""

    start: int
    end: int
    kind: str

    @property
    def is_secret(self) -> bool:
        """Whether it is more than personal."""
        return self.kind not in PERSONAL


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, those that overlap as one; its kind is that of its first secret."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if found and span.start < found[-1].end:
            first = found.pop()
            kind = first.kind if first.is_secret else span.kind
            found.append(Span(start=first.start, end=max(first.end, span.end), kind=kind))
        else:
            found.append(span)
    return tuple(found)
