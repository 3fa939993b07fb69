"""Showing on a terminal what takes long: how much of it is done, or for how long it has been going on."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

import click

from dreaming.progress import Count

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

EVERY_SECONDS = 1.0
"""How often seconds are counted, and how long something takes before it is shown at all."""
ERASED = "\r\x1b[K"
UP = "\x1b[1A"


@contextmanager
def progress(what: str, total: int = 0) -> Iterator[Count]:
    """Show work on the error stream once it takes longer than a second, if that is a terminal; leave nothing behind."""
    if not sys.stderr.isatty():
        yield lambda done: None  # noqa: ARG005 - nobody watches
        return
    shown = Shown(what, total, after=EVERY_SECONDS)
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        shown.reach(done)

    try:
        if total:
            yield count
        else:
            with _every_second(shown):
                yield lambda done: None  # noqa: ARG005 - nobody can tell how much there is
    finally:
        shown.end(erase=True)


class Shown:
    """A line about one piece of work: a bar, or the seconds where nobody can tell how much there is to do."""

    def __init__(self, what: str, total: int, *, after: float = 0.0) -> None:
        self.what = what
        self._total = total
        self._after = after
        self._began = monotonic()
        self._bar: ProgressBar[int] | None = None
        self._drawn = False

    def goes_on(self, what: str, done: int, total: int) -> bool:
        """Tell whether it is still about the same piece of work, and not one of the same name that began since."""
        return (what, total) == (self.what, self._total) and (self._bar is None or done >= self._bar.pos)

    def reach(self, done: int) -> None:
        """Draw that so much is done, unless it is too early to draw anything."""
        seconds = monotonic() - self._began
        if seconds < self._after:
            return
        self._drawn = True
        if not self._total:
            click.echo(f"{ERASED}{self.what}, {seconds:.0f} s", nl=False, err=True)
            return
        if self._bar is None:
            self._bar = click.progressbar(length=self._total, label=self.what, show_pos=True, file=sys.stderr)
        self._bar.update(done - self._bar.pos)

    def end(self, *, erase: bool) -> None:
        """Draw no more; leave what was drawn, or nothing."""
        if not self._drawn:
            return
        if self._bar is not None:
            self._bar.render_finish()  # ends the line
            click.echo(f"{UP}{ERASED}" if erase else "", nl=False, err=True)
        else:
            click.echo(ERASED if erase else "", nl=not erase, err=True)


@contextmanager
def _every_second(shown: Shown) -> Iterator[None]:
    """Draw the seconds while the block lasts."""
    done = Event()

    def draw() -> None:
        while not done.wait(EVERY_SECONDS):
            shown.reach(0)

    thread = Thread(target=draw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
