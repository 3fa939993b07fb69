"""One night at a time: the lock of a workspace, which a dead process cannot keep.

On one machine a lock of the system decides. Where several share the folder and it does not reach from one to the
other, the note of the holder does: it is touched every few seconds, and one that is not any more counts for nothing.
"""

import json
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Thread

from workspace.errors import HeldError, Holder, NotWritableError
from workspace.folders import make

LOCK = "night.lock"
HOLDER = "night.holder.json"
BEAT_SECONDS = 5.0
"""How often a holder says that it is still there."""
NOTE_BYTES = 1024
"""What a note fills: one that says less overwrites all of one that said more."""
LONGEST = 60
"""Characters of what a holder says that it is doing."""
STALE_SECONDS = 60.0
"""Silence after which a holder on another host is dead: some beats, and what a network folder may be late."""
ATTEMPTS = 3
"""How often a note is tried to be put while others put and remove theirs."""


@contextmanager
def lock(root: Path, folder: str = "memory", *, now: datetime) -> Iterator[Callable[[str, int, int], None]]:
    """Hold the workspace for a night that began at `now`, or raise HeldError at once; it never waits.

    The block is given what lets others know what the night is doing, how much of it is done, and of how much.
    """
    from filelock import FileLock, Timeout

    home = root / folder / ".dreams"
    note = home / HOLDER
    try:
        make(home, root=root)
        guard = FileLock(home / LOCK, timeout=0)
        guard.acquire()
    except Timeout:
        raise HeldError(_holder(note)) from None
    except OSError as error:
        raise NotWritableError(home, error.strerror or str(error)) from error
    try:
        with _signed(note, now) as tell:
            yield tell
    finally:
        guard.release()


@contextmanager
def turn(root: Path, work: str, folder: str = "memory") -> Iterator[Callable[[], bool]]:
    """Let a process try for its turn at some work; it keeps a turn that it got as long as the block lasts.

    This only spares work that another process is at: where the folder knows no locks everybody has a turn at once.
    """
    from filelock import FileLock, Timeout

    home = root / folder / ".dreams"
    guard = FileLock(home / f"{work}.lock", timeout=0)

    def mine() -> bool:
        if not home.is_dir():  # filelock would make it, of a workspace that is gone too
            return True
        try:
            guard.acquire()
        except Timeout:
            return False
        except (OSError, NotImplementedError):
            return True
        return True

    try:
        yield mine
    finally:
        guard.release(force=True)


def running(root: Path, folder: str = "memory") -> Holder | None:
    """Return who runs a night in a workspace and what it is doing; None when nobody does. Looking holds up nobody."""
    note = root / folder / ".dreams" / HOLDER
    try:
        silent = time.time() - note.stat().st_mtime
    except OSError:
        return None
    holder = _holder(note)
    if holder.pid is None or holder.pid < 1 or silent > STALE_SECONDS:
        return None
    if holder.host == socket.gethostname():
        try:
            os.kill(holder.pid, 0)
        except (ProcessLookupError, OverflowError):
            return None
        except OSError:  # it is another user's
            return holder
    return holder


@contextmanager
def _signed(note: Path, now: datetime) -> Iterator[Callable[[str, int, int], None]]:
    """Say who holds the lock as long as the block lasts; without it, as on a full disk, the lock still holds."""
    file = _sign(note, now)
    if file is None:
        yield lambda doing, done, total: None  # noqa: ARG005 - nobody is told
        return
    over = Event()
    beat = Thread(target=_beat, args=(file, over), name="night-holder", daemon=True)
    beat.start()

    def tell(doing: str, done: int, total: int) -> None:
        with suppress(OSError):
            os.pwrite(file, _said(now, doing=doing[:LONGEST], done=done, total=total), 0)

    try:
        yield tell
    finally:
        over.set()
        beat.join()
        with suppress(OSError):
            if os.path.samestat(os.fstat(file), note.stat()):  # else another host thought this one dead
                note.unlink()
        os.close(file)


def _beat(file: int, over: Event) -> None:
    while not over.wait(BEAT_SECONDS):
        with suppress(OSError):
            os.utime(file)  # the clock of the folder, not of this host


def _sign(note: Path, now: datetime) -> int | None:
    """Put a note of who holds the lock, and return it opened; raise HeldError while another host's is kept alive."""
    mine, gone = (note.with_name(f".{HOLDER}.{socket.gethostname()}.{end}") for end in ("part", "gone"))
    try:
        for left in (mine, gone):
            left.unlink(missing_ok=True)
        file = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError:
        return None
    try:
        with suppress(OSError):
            os.write(file, _said(now))
        _put(mine, note, gone, file)
    except BaseException as error:
        os.close(file)
        if isinstance(error, OSError):
            return None
        raise
    finally:
        with suppress(OSError):
            mine.unlink(missing_ok=True)
    return file


def _said(now: datetime, **doing: str | int) -> bytes:
    since = now.isoformat(sep=" ", timespec="seconds")
    said = {"pid": os.getpid(), "host": socket.gethostname(), "since": since, **doing}
    return json.dumps(said).encode().ljust(NOTE_BYTES)


def _put(mine: Path, note: Path, gone: Path, file: int) -> None:
    """Give a note its name when no other host has a living one there; only one host can."""
    for _ in range(ATTEMPTS):
        try:
            os.link(mine, note)
        except FileExistsError:
            _clear(note, gone, file)
        except OSError:  # a file system without links
            _clear(note, gone, file)
            mine.rename(note)
            return
        else:
            return
    raise HeldError(_holder(note))


def _clear(note: Path, gone: Path, file: int) -> None:
    """Take a dead holder's note away, or raise HeldError; another host may just be doing the same."""
    with suppress(FileNotFoundError):
        if _lives_elsewhere(note, file):
            raise HeldError(_holder(note))
        note.rename(gone)
        if _lives_elsewhere(gone, file):
            with suppress(OSError):
                os.link(gone, note)
            raise HeldError(_holder(gone))
        gone.unlink()


def _lives_elsewhere(note: Path, file: int) -> bool:
    """Tell whether a note is another host's and was touched lately, by the clock that dates the files there.

    It is opened first: only then must a network folder show what others did to it. One of this host, where the lock
    was got, is a dead process's.
    """
    found = os.open(note, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        touched = os.fstat(found)
    finally:
        os.close(found)
    if not stat.S_ISREG(touched.st_mode):
        raise IsADirectoryError(note)
    host = _holder(note).host
    return host not in (None, socket.gethostname()) and os.fstat(file).st_mtime - touched.st_mtime < STALE_SECONDS


def _holder(note: Path) -> Holder:
    """Read who holds the lock; the holder may not have said so yet."""
    try:
        said = json.loads(note.read_text(encoding="utf-8"))
        return Holder(
            pid=int(said["pid"]),
            host=str(said["host"]),
            since=str(said["since"]),
            doing=str(said.get("doing", "")),
            done=int(said.get("done", 0)),
            total=int(said.get("total", 0)),
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return Holder()
