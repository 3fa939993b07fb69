"""An agent's command line as a narrator: the prompt on its input, the entry on its output, nothing else."""

import os
import signal
import subprocess
import tempfile
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import IO

from dreaming.narrators import NARRATING
from dreaming.narrators.entry import NarratorError, Request
from dreaming.narrators.listening import heard
from dreaming.narrators.watched import watched

CHECK = "check narrative.command"
CHUNK = 4096
LOOK_SECONDS = 0.1
"""How often a silent agent is looked after."""
GRACE_SECONDS = 0.5
"""How long an agent that has ended is still listened to: something it started may keep its output open for ever."""
PATIENCE_SECONDS = 2.0
"""How long an agent that was told to end may take before it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNarrator:
    """A program such as `claude -p`; it runs in an empty folder, and its group of processes ends with the call."""

    argv: tuple[str, ...]

    @property
    def name(self) -> str:
        """Who writes, as `status` and the store say it."""
        return f"command {Path(self.argv[0]).name}"

    def write(self, request: Request, *, seconds: float) -> str:
        """Return an entry within so many seconds; raise NarratorError when there is none."""
        try:
            return self._written(request, seconds)
        except OSError as error:
            raise NarratorError(
                self.name, f"no place for its prompt: {error.strerror}; make room in the folder for temporary files"
            ) from error

    def _written(self, request: Request, seconds: float) -> str:
        with (
            tempfile.TemporaryDirectory(prefix="dream-", ignore_cleanup_errors=True) as folder,
            tempfile.TemporaryFile() as prompt,
        ):
            prompt.write(f"{request.system}\n\n{request.asked}\n".encode())
            prompt.seek(0)
            process = self._started(Path(folder), prompt)
            with watched(process.pid):
                try:
                    return heard(self.name, lambda: self._said(process), seconds=seconds, check=CHECK)
                finally:
                    _ended(process)

    def _started(self, folder: Path, prompt: IO[bytes]) -> "subprocess.Popen[bytes]":
        """Start the program with the prompt as a file on its input: it may be read late, or never."""
        try:
            return subprocess.Popen(
                self.argv,
                stdin=prompt,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=os.environ | {NARRATING: "1"},
                start_new_session=True,
            )
        except OSError as error:
            raise NarratorError(self.name, f"it cannot be started: {error.strerror}; {CHECK}") from error
        except ValueError as error:
            raise NarratorError(self.name, f"it cannot be started: its words hold a NUL character; {CHECK}") from error

    def _said(self, process: "subprocess.Popen[bytes]") -> Iterator[str]:
        decoder = getincrementaldecoder("utf-8")("replace")
        if process.stdout is not None:
            with process.stdout as output:
                yield from map(decoder.decode, _chunks(process, output))
        code = process.wait()
        if code:
            raise NarratorError(self.name, f"it ended with exit code {code}; run it by hand to see why, or {CHECK}")


def _chunks(process: "subprocess.Popen[bytes]", output: IO[bytes]) -> Iterator[bytes]:
    """Yield what a program says until nobody can say more, or until a while after its end."""
    until = inf
    with DefaultSelector() as selector:
        selector.register(output, EVENT_READ)
        while monotonic() < until:
            if until == inf and process.poll() is not None:
                until = monotonic() + GRACE_SECONDS
            if selector.select(LOOK_SECONDS):
                chunk = os.read(output.fileno(), CHUNK)
                if not chunk:
                    return
                yield chunk


def _ended(process: "subprocess.Popen[bytes]") -> None:
    """End the program with all it started: politely, then by force, also what outlived it."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_SECONDS)
