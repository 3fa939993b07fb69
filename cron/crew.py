"""Nights as processes of their own: so many at once, each within its time, and all of them stopped together."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import BoundedSemaphore, Event, Lock, Timer

GRACE_SECONDS = 10.0
"""How long a night that is told to stop may take for it, before it is killed; it is safe at every moment."""
PATIENCE_SECONDS = 300.0
"""After so long a night is slow, and another one may begin beside it."""
WAIT_SECONDS = 0.2
"""How long it may go unnoticed that no more nights are to begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended; its code is negative when a signal ended it."""

    code: int
    out: str
    err: str
    late: bool = False


class StoppedError(Exception):
    """No more nights are begun."""


class Crew:
    """At most `places` quick nights at once, and as many slow ones beside them."""

    def __init__(self, places: int, *, patience: float = PATIENCE_SECONDS, grace: float = GRACE_SECONDS) -> None:
        self.places = places
        self.stopping, self.ending = Event(), Event()
        self._patience = patience
        self._grace = grace
        self._free = BoundedSemaphore(places)
        self._running: set[subprocess.Popen[str]] = set()
        self._guard = Lock()

    @property
    def threads(self) -> int:
        """How many threads can wait for nights without hindering one another."""
        return 2 * self.places

    @contextmanager
    def place(self) -> Iterator[Event]:
        """Wait for a free place and hold it for the block, or until the event is set, which says it is given up.

        Raise StoppedError when no more nights are to begin.
        """
        while not self._free.acquire(timeout=WAIT_SECONDS):
            self._go_on()
        given_up = Event()
        try:
            self._go_on()
            yield given_up
        finally:
            if not given_up.is_set():
                self._free.release()

    def run(self, arguments: Sequence[str], *, seconds: float, place: Event) -> Ended:
        """Run the program of this installation on a place; a slow one gives it up. Raise StoppedError as `place`."""
        process = self._start(arguments)
        try:
            return self._wait(process, seconds=seconds, place=place)
        finally:
            with self._guard:
                self._running.discard(process)

    def stop(self) -> None:
        """Begin no more nights; those that run go on."""
        self.stopping.set()

    def end(self) -> None:
        """Begin no more nights, and tell those that run to stop, once: what they decided is kept.

        Those that do not heed it are killed. A handler of a signal must not call it: it waits for a lock.
        """
        self.stop()
        if self.ending.is_set():
            return
        self.ending.set()
        self._signal(signal.SIGTERM)
        late = Timer(self._grace, self._signal, [signal.SIGKILL])
        late.daemon = True
        late.start()

    def _signal(self, number: signal.Signals) -> None:
        with self._guard:
            for process in self._running:
                signal_group(process, number)

    def _go_on(self) -> None:
        if self.stopping.is_set():
            raise StoppedError

    def _start(self, arguments: Sequence[str]) -> subprocess.Popen[str]:
        with self._guard:
            self._go_on()
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dreaming", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # Ctrl-C is for this process, which decides what comes of its nights
            )
            self._running.add(process)
        return process

    def _wait(self, process: subprocess.Popen[str], *, seconds: float, place: Event) -> Ended:
        with suppress(subprocess.TimeoutExpired):
            return ended(process, *process.communicate(timeout=min(seconds, self._patience)))
        if seconds > self._patience:
            place.set()
            self._free.release()
            with suppress(subprocess.TimeoutExpired):
                return ended(process, *process.communicate(timeout=seconds - self._patience))
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                signal_group(process, number)
                with suppress(subprocess.TimeoutExpired):
                    return ended(process, *process.communicate(timeout=self._grace), late=True)
        finally:
            signal_group(process, signal.SIGKILL)  # what it started may have outlived it
        return Ended(code=-signal.SIGKILL, out="", err="", late=True)  # something outside its group holds the pipe


def ended(process: subprocess.Popen[str], out: str, err: str, *, late: bool = False) -> Ended:
    """Return how a process ended."""
    return Ended(code=process.returncode, out=out, err=err, late=late)


def signal_group(process: "subprocess.Popen[str] | subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Signal a process and its children, those of a narrator too."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
