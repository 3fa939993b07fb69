"""Showing on a terminal who is being asked, and for how long."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

import click

EVERY_SECONDS = 1.0
ERASED = "\r\x1b[K"


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Count the seconds on the error stream while the block lasts, if that is a terminal; leave nothing behind."""
    if not sys.stderr.isatty():
        yield
        return
    done = Event()
    thread = Thread(target=_count, args=(what, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        click.echo(ERASED, nl=False, err=True)


def _count(what: str, done: Event) -> None:
    began = monotonic()
    while True:
        click.echo(f"{ERASED}{what}, {monotonic() - began:.0f} s", nl=False, err=True)
        if done.wait(EVERY_SECONDS):
            return
