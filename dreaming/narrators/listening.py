"""Listening to something that may talk too long, too much or not at all."""

from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic

from dreaming.narrators.entry import NarratorError
from dreaming.narrators.thinking import Unthinking

MOST_HEARD = 400_000
"""Characters a model may say, thinking aloud included; more is a loop."""


def heard(narrator: str, stream: Callable[[], Iterable[str]], *, seconds: float) -> str:
    """Return what a stream says without its reasoning, or raise NarratorError; a stall ends at the deadline too.

    The stream runs in a thread of its own, which is left alone when time is up: no library in there has to keep a
    deadline. What it raises is told by its kind only, since its words may quote the prompt.
    """
    said: SimpleQueue[str | Exception | None] = SimpleQueue()
    enough = Event()
    Thread(target=_listen, args=(stream, said, enough), daemon=True).start()
    try:
        return _joined(narrator, said, until=monotonic() + seconds, seconds=seconds)
    finally:
        enough.set()


def _listen(stream: Callable[[], Iterable[str]], said: "SimpleQueue[str | Exception | None]", enough: Event) -> None:
    try:
        for chunk in stream():
            said.put(chunk)
            if enough.is_set():
                return
        said.put(None)
    except Exception as error:  # noqa: BLE001 - whatever a foreign library raises costs one entry, no night
        said.put(error)


def _joined(narrator: str, said: "SimpleQueue[str | Exception | None]", *, until: float, seconds: float) -> str:
    spoken, heard_so_far = Unthinking(), 0
    while True:
        try:
            chunk = said.get(timeout=max(0.0, until - monotonic()))
        except Empty as error:
            raise NarratorError(narrator, f"no whole answer within {seconds:g} s") from error
        if chunk is None:
            return spoken.close()
        if isinstance(chunk, Exception):
            raise NarratorError(narrator, reason_of(chunk)) from chunk
        spoken.feed(chunk)
        heard_so_far += len(chunk)
        if heard_so_far > MOST_HEARD:
            raise NarratorError(narrator, "the answer has no end")


def reason_of(error: Exception) -> str:
    """Return what went wrong in a few words, without any that came from outside."""
    if isinstance(error, NarratorError):
        return error.reason
    status = getattr(error, "status_code", None)
    return f"it answered {status}" if isinstance(status, int) else type(error).__name__
