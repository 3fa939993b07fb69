"""Listening to something that may talk too long, too much or not at all."""

from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic

from dreaming.narrators.entry import NarratorError
from dreaming.narrators.thinking import Unthinking

MOST_HEARD = 400_000
"""Characters a model may say, thinking aloud included; more is a loop."""
NO_END = "the answer has no end; name another narrator"
LATE = "raise narrative.timeout_seconds, or name a faster one"

_KEY = "check narrative.api_key_env, api_key_command or api_key"
STATUSES = {
    401: f"it refused the key (401); {_KEY}",
    403: f"it refused the key (403); {_KEY}",
    404: "it knows no such address or model (404); check narrative.base_url and narrative.model",
    429: "too many requests, or no credit left (429); try again later: dream narrate",
}
"""What a status means, and what to do."""
SERVER_FAILED = 500
BROKEN = {
    "APIConnectionError": "no connection, or it was cut off",
    "APITimeoutError": "it did not answer in time",
    **dict.fromkeys(("JSONDecodeError", "TypeError", "KeyError", "IndexError"), "it answered what is no completion"),
    "UnicodeDecodeError": "it answered what is no text",
    "NeedsKeyException": "it needs a key",
}
"""What is meant by the errors people meet; others keep their names."""


def heard(narrator: str, stream: Callable[[], Iterable[str]], *, seconds: float, check: str) -> str:
    """Return what a stream says without its reasoning, or raise NarratorError; a stall ends at the deadline too.

    The stream runs in a thread of its own, which is left alone when time is up: no library in there has to keep a
    deadline. What it raises is told by its kind only, since its words may quote the prompt; `check` is what to
    do about it.
    """
    said: SimpleQueue[str | Exception | None] = SimpleQueue()
    enough = Event()
    Thread(target=_listen, args=(stream, said, enough), daemon=True).start()
    try:
        return _joined(narrator, said, seconds=seconds, check=check)
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


def _joined(narrator: str, said: "SimpleQueue[str | Exception | None]", *, seconds: float, check: str) -> str:
    spoken, heard_so_far, until = Unthinking(), 0, monotonic() + seconds
    while True:
        try:
            chunk = said.get(timeout=max(0.0, until - monotonic()))
        except Empty as error:
            raise NarratorError(narrator, f"no whole answer within {seconds:g} s; {LATE}") from error
        if chunk is None:
            return spoken.close()
        if isinstance(chunk, Exception):
            raise NarratorError(narrator, reason_of(chunk, check=check)) from chunk
        spoken.feed(chunk)
        heard_so_far += len(chunk)
        if heard_so_far > MOST_HEARD:
            raise NarratorError(narrator, NO_END)


def reason_of(error: Exception, *, check: str) -> str:
    """Return what went wrong and what to do, in a few words, without any that came from outside."""
    if isinstance(error, NarratorError):
        return error.reason
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return f"{BROKEN.get(type(error).__name__, type(error).__name__)}; {check}"
    failed = "look at its log" if status >= SERVER_FAILED else "check narrative.base_url and narrative.model"
    return STATUSES.get(status, f"it answered {status}; {failed}")
