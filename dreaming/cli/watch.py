"""Showing a night that another process runs, as it goes on."""

import sys
import time
from pathlib import Path

from dreaming.cli.common import complain
from dreaming.cli.progress import Shown
from workspace.errors import Holder
from workspace.lock import running

LOOK_SECONDS = 0.3


def watched(root: Path) -> None:
    """Show each step of the night that runs in a workspace until it has ended; draw only on a terminal."""
    night = running(root)
    if night is None:
        complain(("no night runs here now",))
        return
    complain((f"a night runs here, by {night}",))
    shown: Shown | None = None
    while night is not None:
        if sys.stderr.isatty() and night.doing:
            shown = _drawn(shown, night)
        time.sleep(LOOK_SECONDS)
        night = running(root)
    if shown is not None:
        shown.end(erase=False)


def _drawn(shown: Shown | None, night: Holder) -> Shown:
    if shown is None or not shown.goes_on(night.doing, night.done, night.total):
        if shown is not None:
            shown.end(erase=False)
        shown = Shown(night.doing, night.total)
    shown.reach(night.done)
    return shown
