"""Nights as processes of their own: so many at once, each within its time, and all of them stopped together."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Condition, Event, Lock, Timer
from time import monotonic

GRACE_SECONDS = 10.0
"""How long a night that is told to stop may take for it, before it is killed; it is safe at every moment."""
PATIENCE_SECONDS = 60.0
"""After so long a night is slow, and another one may begin beside it: nearly always it waits for somebody."""
SLOW_PER_PLACE = 8
"""So many slow nights may go on beside each place: a night takes about a hundred megabytes."""
HANGING = 256
"""So many turns may hang before they have a place, as on the dead disk of another machine, and hinder nobody.

Each holds a lock open, and a process may open about a thousand files.
"""


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
    """At most `places` quick nights at once, and `SLOW_PER_PLACE` times as many slow ones beside them."""

    def __init__(self, places: int, *, patience: float = PATIENCE_SECONDS, grace: float = GRACE_SECONDS) -> None:
        self.places = places
        self.stopping, self.ending = Event(), Event()
        self._patience = patience
        self._grace = grace
        self._began: dict[object, float] = {}
        self._changed = Condition()
        self._running: set[subprocess.Popen[str]] = set()
        self._guard = Lock()

    @property
    def threads(self) -> int:
        """How many threads there may be for turns, made as they are needed: all nights that may run, and `HANGING`."""
        return self.places * (1 + SLOW_PER_PLACE) + HANGING

    @contextmanager
    def place(self) -> Iterator[None]:
        """Wait for a free place and hold it for the block; who holds it for long is slow, and then it is free again.

        Raise StoppedError when no more nights are to begin.
        """
        holder = object()
        with self._changed:
            while not (self.stopping.is_set() or self._is_free(left := self._patience_left())):
                self._changed.wait(min((seconds for seconds in left if seconds > 0), default=None))
            self._go_on()
            self._began[holder] = monotonic()
        try:
            yield
        finally:
            with self._changed:
                del self._began[holder]
                self._changed.notify_all()

    def _patience_left(self) -> list[float]:
        """Return in how many seconds each night that has a place is slow; those that are have none left."""
        now = monotonic()
        return [began + self._patience - now for began in self._began.values()]

    def _is_free(self, left: Sequence[float]) -> bool:
        slow = sum(seconds <= 0 for seconds in left)
        beside = min(slow, SLOW_PER_PLACE * self.places)
        return len(left) - beside < self.places

    def run(self, arguments: Sequence[str], *, seconds: float) -> Ended:
        """Run the program of this installation, on a place. Raise StoppedError when no more nights are to begin."""
        process = self._start(arguments)
        try:
            return self._wait(process, seconds=seconds)
        finally:
            with self._guard:
                self._running.discard(process)

    def stop(self) -> None:
        """Begin no more nights; those that run go on. A handler of a signal must not call it: it waits for a lock."""
        with self._changed:
            self.stopping.set()
            self._changed.notify_all()

    def end(self) -> None:
        """Begin no more nights, and tell those that run to stop, once: what they decided is kept.

        Those that do not heed it are killed. A handler of a signal must not call it either.
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

    def _wait(self, process: subprocess.Popen[str], *, seconds: float) -> Ended:
        with suppress(subprocess.TimeoutExpired):
            return ended(process, *process.communicate(timeout=seconds))
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
