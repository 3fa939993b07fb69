"""What the store adds up to over time: questions by day, refusals and tags by night, languages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from memory.model import FragmentId
from memory.store import Store, sql


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedDay:
    """A local day on which somebody searched: different questions, and statements that answered them."""

    day: date
    questions: int
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """A fragment REM considered on a night, with its concept tags."""

    night: date
    fragment: FragmentId
    tags: tuple[str, ...]


class Tallies:
    """Sums over a store; every method is one statement that only reads."""

    def __init__(self, store: Store) -> None:
        self.connection = store.db.conn

    def asked(self, *, since: date, until: date) -> tuple[AskedDay, ...]:
        """Return the days with a search, oldest first."""
        rows = self.connection.execute(sql("asked"), _between(since, until))
        return tuple(AskedDay(day=date.fromisoformat(row[0]), questions=row[1], answers=row[2]) for row in rows)

    def looked_at(self, *, since: date, until: date) -> tuple[LookedAt, ...]:
        """Return what REM considered, oldest night first."""
        rows = self.connection.execute(sql("looked_at"), _between(since, until))
        return tuple(
            LookedAt(night=date.fromisoformat(row[0]), fragment=FragmentId(row[1]), tags=tuple(json.loads(row[2])))
            for row in rows
        )

    def refused(self, *, since: date, until: date) -> Mapping[date, Mapping[str, int]]:
        """Return how many fragments each night of deep refused, by the first gate they failed."""
        rows = self.connection.execute(
            "SELECT night, refused FROM deep_night WHERE night >= :since AND night <= :until", _between(since, until)
        )
        return {date.fromisoformat(row[0]): json.loads(row[1]) for row in rows}

    def night_count(self) -> int:
        """Return how many nights there were."""
        return int(self.connection.execute("SELECT count(*) FROM night").fetchone()[0])

    def entry_count(self) -> int:
        """Return how many entries were told."""
        return int(self.connection.execute("SELECT count(*) FROM narrative").fetchone()[0])

    def main_language(self) -> str | None:
        """Return the ISO 639-1 code that most of what stands somewhere is written in; None of an empty store."""
        row = self.connection.execute(sql("languages")).fetchone()
        return None if row is None else str(row[0])


def _between(since: date, until: date) -> dict[str, str]:
    return {"since": since.isoformat(), "until": until.isoformat()}
