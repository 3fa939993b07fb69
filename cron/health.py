"""The health file: whether the service lives and how its workspaces stand, for a liveness probe and for people."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from cron import record
from cron.nights import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Vital:
    """How a workspace stands: its last night done, its next one, what came of its last turn."""

    root: Path
    on: bool
    last: date | None
    next: datetime | None
    outcome: Outcome | None
    problem: str


def write(path: Path, vitals: Sequence[Vital], *, now: datetime) -> None:
    """Replace the file at once; raise OSError when it cannot be written."""
    record.put(path, json.dumps(document(vitals, now=now), ensure_ascii=False, indent=2))


def document(vitals: Sequence[Vital], *, now: datetime) -> Mapping[str, object]:
    """Return what the file says."""
    return {
        "pid": os.getpid(),
        "time": now.isoformat(timespec="seconds"),
        "workspaces": [
            {
                "workspace": str(one.root),
                "enabled": one.on,
                "last_night": None if one.last is None else one.last.isoformat(),
                "next_night": None if one.next is None else one.next.isoformat(timespec="seconds"),
                "outcome": None if one.outcome is None else one.outcome.ending.value,
                "said": one.problem or ("" if one.outcome is None else one.outcome.sentence),
            }
            for one in vitals
        ],
    }
