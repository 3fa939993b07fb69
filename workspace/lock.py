"""One night at a time: the lock of a workspace, which a dead process cannot keep."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from workspace.errors import HeldError, Holder, NotWritableError

LOCK = "night.lock"
HOLDER = "night.holder.json"


@contextmanager
def lock(root: Path, folder: str = "memory", *, now: datetime) -> Iterator[None]:
    """Hold the workspace for a night that began at `now`, or raise HeldError at once; it never waits."""
    from filelock import FileLock, Timeout

    home = root / folder / ".dreams"
    note = home / HOLDER
    try:
        _make(root, home)
        guard = FileLock(home / LOCK, timeout=0)
        guard.acquire()
    except Timeout:
        raise HeldError(_holder(note)) from None
    except OSError as error:
        raise NotWritableError(home, error.strerror or str(error)) from error
    try:
        _sign(note, now)
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        guard.release()


def _make(root: Path, home: Path) -> None:
    """Make the state folder, but no workspace: a mistyped path must not become one."""
    if not root.is_dir():
        raise NotWritableError(root, "there is no such folder")
    home.mkdir(parents=True, exist_ok=True)


def _sign(note: Path, now: datetime) -> None:
    """Say who holds the lock; the lock holds without it, so a full disk is no reason to stop."""
    since = now.isoformat(sep=" ", timespec="seconds")
    with suppress(OSError):
        note.write_text(
            json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}), encoding="utf-8"
        )


def _holder(note: Path) -> Holder:
    """Read who holds the lock; the holder may not have said so yet."""
    try:
        said = json.loads(note.read_text(encoding="utf-8"))
        return Holder(pid=int(said["pid"]), host=str(said["host"]), since=str(said["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Holder()
