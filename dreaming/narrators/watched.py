"""A watch over a program that was started: it ends with the night also when that is killed and can end nothing."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

WATCH = 'read -r over || { kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"; }'
"""A shell that waits for a line; the system ends its input without one when this process is gone, however it went."""


@contextmanager
def watched(group: int) -> Iterator[None]:
    """End a group of processes when this process dies within the block; without a shell nobody watches."""
    watch = None
    with suppress(OSError):
        watch = subprocess.Popen(
            ("/bin/sh", "-c", WATCH, "watch", str(group)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield
    finally:
        if watch is not None:
            with suppress(OSError):  # somebody killed the watch
                watch.communicate(b"over\n")
