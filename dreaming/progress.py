"""Telling whoever watches how far a long piece of work is."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")
Count = Callable[[int], None]
"""Takes how much more is done."""
Note = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and of how much; 0 where nobody can tell."""


class Progress(Protocol):
    """What shows a piece of work."""

    def __call__(self, what: str, total: int = 0, /) -> AbstractContextManager[Count]:
        """Show it as long as the block lasts; `total` is how much there is to do, 0 when nobody can tell."""


@contextmanager
def unseen(what: str, total: int = 0) -> Iterator[Count]:  # noqa: ARG001 - a Progress
    """Show nothing: nobody watches."""
    yield lambda done: None  # noqa: ARG005 - a Count


def also_noted(progress: Progress, note: Note) -> Progress:
    """Show a piece of work, and note it too."""

    @contextmanager
    def both(what: str, total: int = 0) -> Iterator[Count]:
        done = 0

        def counted(more: int) -> None:
            nonlocal done
            done += more
            note(what, done, total)
            shown(more)

        note(what, 0, total)
        with progress(what, total) as shown:
            yield counted

    return both


def steps(progress: Progress, what: str, things: Sequence[T], *, size: int = 1) -> Iterator[Sequence[T]]:
    """Yield things in batches, each shown as done once the next is wanted; nothing is shown where there are none."""
    if not things:
        return
    with progress(what, len(things)) as count:
        for start in range(0, len(things), size):
            batch = things[start : start + size]
            yield batch
            count(len(batch))
