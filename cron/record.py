"""How the nights of a workspace ended of late, beside its store: what tells a failure that recurs from a first one."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path

from dreaming.home import STATE

FILE = STATE / "outcome.json"
ATTEMPTS = 3
"""How often the night of a date is begun when it fails: what fails three times needs a person."""
INTERRUPTED = "it was interrupted; what was decided is kept, and the next run goes on"
"""What a night has come to until it says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The last scheduled night: its date, when it ended, why it failed, how often in a row, and for this date."""

    night: str
    at: str
    failure: str = ""
    in_a_row: int = 0
    of_this_date: int = 0

    def failed(self, night: date) -> bool:
        """Return whether the last attempt at a night failed, or was interrupted."""
        return self.night == night.isoformat() and bool(self.failure)

    def mended(self, night: date, *, at: datetime) -> bool:
        """Return whether a night that failed was run to its end since, by hand."""
        return self.failed(night) and datetime.fromisoformat(self.at) < at

    def given_up(self, night: date) -> bool:
        """Return whether a night has failed too often to be tried again."""
        return self.failed(night) and self.of_this_date >= ATTEMPTS


def read(root: Path) -> Record | None:
    """Return the record; None before the first night, or when it says nothing legible."""
    try:
        said = json.loads((root / FILE).read_text(encoding="utf-8"))
        found = Record(**said)
    except (OSError, ValueError, TypeError):
        return None
    return found if _legible(said) else None


def _legible(said: Mapping[str, object]) -> bool:
    counts = (said.get("in_a_row", 0), said.get("of_this_date", 0))
    texts = (said.get("night"), said.get("at"), said.get("failure", ""))
    if not (all(isinstance(one, int) for one in counts) and all(isinstance(one, str) for one in texts)):
        return False
    try:
        return datetime.fromisoformat(str(said["at"])).tzinfo is not None
    except ValueError:
        return False


def after(before: Record | None, *, night: date, at: str, failure: str = "") -> Record:
    """Return the record when one more night has ended; a night without a failure begins the counts anew."""
    if not failure:
        return Record(night=night.isoformat(), at=at)
    same = before is not None and before.night == night.isoformat()
    return Record(
        night=night.isoformat(),
        at=at,
        failure=failure,
        in_a_row=(before.in_a_row if before else 0) + 1,
        of_this_date=(before.of_this_date if before and same else 0) + 1,
    )


def stopped(before: Record | None, *, night: date, at: str) -> Record:
    """Return the record when a night was told to stop: it is to be taken up again, and is no failure that counts."""
    same = before is not None and before.night == night.isoformat()
    return Record(
        night=night.isoformat(),
        at=at,
        failure=(before.failure if before else "") or INTERRUPTED,
        in_a_row=before.in_a_row if before else 0,
        of_this_date=before.of_this_date if before and same else 0,
    )


def write(root: Path, record: Record | None) -> None:
    """Keep the record, or none; a workspace that cannot be written to has said so already."""
    with suppress(OSError):
        if record is None:
            (root / FILE).unlink(missing_ok=True)
            return
        put(root / FILE, json.dumps(asdict(record), ensure_ascii=False))


def put(path: Path, text: str) -> None:
    """Replace a file of the machine's own at once: nobody reads half of it. A name that is no text fails nothing."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(f"{text}\n", encoding="utf-8", errors="replace")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
