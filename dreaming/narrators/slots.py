"""At most three calls of models at once on a machine, whichever workspace they are for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from filelock import BaseFileLock, FileLock, Timeout
from platformdirs import user_state_path

AT_ONCE = 3
"""SPEC 11."""
LOOK_AGAIN_SECONDS = 0.1


class NoSlotError(Exception):
    """Other calls took all the time there was."""

    def __init__(self) -> None:
        super().__init__(f"{AT_ONCE} other calls were going on all the time; try again later: dream narrate")


def own_folder() -> Path:
    """Return where the locks are, the same for all workspaces of a user."""
    return user_state_path("nightly-dreaming")


@contextmanager
def slot(folder: Path, *, seconds: float) -> Iterator[None]:
    """Hold one of the slots for the block; raise NoSlotError when none gets free in so many seconds.

    A holder that died holds nothing: the locks are the system's. Where the folder cannot be written there are none.
    """
    held = _taken(folder, until=monotonic() + seconds)
    try:
        yield
    finally:
        if held is not None:
            held.release()


def _taken(folder: Path, *, until: float) -> BaseFileLock | None:
    while True:
        for number in range(AT_ONCE):
            lock = FileLock(folder / f"narrator-{number}.lock", timeout=0, is_singleton=False)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                lock.acquire()
            except Timeout:
                continue
            except OSError:
                return None
            return lock
        if monotonic() >= until:
            raise NoSlotError
        sleep(LOOK_AGAIN_SECONDS)
