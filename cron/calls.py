"""Telling others how a night begins and ends: a command of the user's, and an address."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from enum import StrEnum
from http.client import HTTPException
from signal import SIGKILL
from threading import Thread
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import Request, urlopen

from cron.crew import signal_group
from dreaming.config import Hooks


class Event(StrEnum):
    """What a hook is told of."""

    START = "start"
    FINISH = "finish"
    FAIL = "fail"


ENDINGS = {Event.START: "/start", Event.FINISH: "", Event.FAIL: "/fail"}
"""What healthchecks.io and its kin want behind the address."""


def call(hooks: Hooks, event: Event, body: Mapping[str, object]) -> tuple[str, ...]:
    """Tell whom the settings name, and return what went wrong: it changes nothing of the night."""
    text = json.dumps({"event": event.value, **body}, ensure_ascii=False).encode("utf-8", "replace")
    return (*_run(hooks, event, text), *_posted(hooks, event, text))


def address(url: str, event: Event) -> str:
    """Return where an event is posted to: its ending stands behind the path, before a query."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + ENDINGS[event] if ENDINGS[event] else parts.path))


def _run(hooks: Hooks, event: Event, text: bytes) -> Iterator[str]:
    if not hooks.command:
        return
    try:
        code = _code([*hooks.command, event.value], text, seconds=hooks.timeout_seconds)
    except subprocess.TimeoutExpired:
        yield f"the hook {hooks.command[0]} was stopped after {hooks.timeout_seconds:g} seconds ({event})"
    except (OSError, ValueError) as error:
        yield f"the hook {hooks.command[0]} could not be run ({event}): {error}"
    else:
        if code:
            yield f"the hook {hooks.command[0]} failed with code {code} ({event})"


def _code(command: Sequence[str], text: bytes, *, seconds: float) -> int:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
    ) as process:
        try:
            process.communicate(text, timeout=seconds)
        except subprocess.TimeoutExpired:
            signal_group(process, SIGKILL)
            raise
    return process.returncode


def _posted(hooks: Hooks, event: Event, text: bytes) -> tuple[str, ...]:
    """Post within the time, also where names are looked up for long, or an answer comes drop by drop."""
    if not hooks.url:
        return ()
    said: list[str] = []
    post = Thread(target=lambda: said.extend(_post(hooks, event, text)), name="hook", daemon=True)
    post.start()
    post.join(hooks.timeout_seconds)
    if post.is_alive():
        why = f"no answer within {hooks.timeout_seconds:g} seconds"
        return (f"the hook at {_shown(hooks.url)} was not reached ({event}): {why}",)
    return tuple(said)


def _post(hooks: Hooks, event: Event, text: bytes) -> Iterator[str]:
    request = Request(address(hooks.url, event), data=text, headers={"Content-Type": "application/json"}, method="POST")
    try:
        with closing(urlopen(request, timeout=hooks.timeout_seconds)):
            pass
    except HTTPError as error:
        error.close()
        yield f"the hook at {_shown(hooks.url)} answered {error.code} ({event})"
    except (URLError, HTTPException, OSError, ValueError) as error:
        yield f"the hook at {_shown(hooks.url)} was not reached ({event}): {getattr(error, 'reason', error)}"


def _shown(url: str) -> str:
    """Return the host alone: the rest of such an address is often its key."""
    return urlsplit(url).hostname or "an address"
