"""What the nights did: phases run, fragments staged and considered, candidates refused and why."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from memory.model import Candidate, FragmentId, Mark, Phase
from memory.rows import stamp
from memory.store import Store, sql, withheld

Dates = tuple[date, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSignal:
    """A mark a phase put on a fragment; `signals` is the fragment's signal count at that time."""

    fragment: FragmentId
    mark: Mark
    signals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a candidate was not promoted on a night: one failed gate, in words."""

    fragment: FragmentId
    gate: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRecord:
    """One night as it was recorded; `reports` holds each phase's counts."""

    date: date
    started_at: datetime
    finished_at: datetime | None
    reports: Mapping[Phase, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOn:
    """How many different questions asked for a fragment on a local day, and how often its owner vouched for it."""

    day: date
    recalls: int
    grounded: int


class Journal:
    """The rows about nights in a store; every method is one statement or one transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.connection = store.db.conn

    # -- nights -------------------------------------------------------------------------------------------------

    def begin(self, night: date, *, now: datetime) -> datetime:
        """Record that a night began and return when it first did: the clock all its runs decide by."""
        self.connection.execute(
            "INSERT OR IGNORE INTO night (date, started_at) VALUES (?, ?)", (night.isoformat(), stamp(now))
        )
        row = self.connection.execute("SELECT started_at FROM night WHERE date = ?", (night.isoformat(),)).fetchone()
        return datetime.fromisoformat(row[0])

    def finish(self, night: date, *, now: datetime) -> None:
        """Record that a run of the night reached its end."""
        self.connection.execute("UPDATE night SET finished_at = ? WHERE date = ?", (stamp(now), night.isoformat()))

    def nights(self, *, limit: int) -> tuple[NightRecord, ...]:
        """Return the latest nights, newest first."""
        rows = self.connection.execute(
            "SELECT date, started_at, finished_at FROM night ORDER BY date DESC LIMIT ?", (limit,)
        ).fetchall()
        return tuple(
            NightRecord(
                date=date.fromisoformat(row[0]),
                started_at=datetime.fromisoformat(row[1]),
                finished_at=None if row[2] is None else datetime.fromisoformat(row[2]),
                reports=self._reports(row[0]),
            )
            for row in rows
        )

    def _reports(self, night: str) -> dict[Phase, Mapping[str, Any]]:
        rows = self.connection.execute("SELECT phase, report FROM phase_run WHERE night = ?", (night,)).fetchall()
        found = {phase: json.loads(report) for phase, report in rows}
        return {phase: found[phase] for phase in Phase if phase in found}

    def record_deep(self, night: date, refused: Mapping[str, int], *, material: str) -> None:
        """Record how many fragments deep refused at each gate, and a digest of what it examined."""
        self.connection.execute(
            "INSERT OR REPLACE INTO deep_night (night, refused, material) VALUES (?, ?, ?)",
            (night.isoformat(), json.dumps(refused, sort_keys=True), material),
        )

    def last_refused(self) -> Mapping[str, int]:
        """Return what the last deep night refused at each gate, most first."""
        row = self.connection.execute("SELECT refused FROM deep_night ORDER BY night DESC LIMIT 1").fetchone()
        counts: dict[str, int] = json.loads(row[0]) if row else {}
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def material_before(self, night: date) -> str | None:
        """Return the digest of what the last earlier deep night examined; None before the first."""
        row = self.connection.execute(
            "SELECT material FROM deep_night WHERE night < ? ORDER BY night DESC LIMIT 1", (night.isoformat(),)
        ).fetchone()
        return None if row is None else str(row[0])

    def record_run(self, night: date, phase: Phase, report: Mapping[str, Any], *, now: datetime) -> None:
        """Record the counts of a phase; a later run of the night replaces them."""
        self.connection.execute(
            "INSERT OR REPLACE INTO phase_run (night, phase, at, report) VALUES (?, ?, ?, ?)",
            (night.isoformat(), phase, stamp(now), json.dumps(report, ensure_ascii=False, sort_keys=True)),
        )

    # -- phase signals ------------------------------------------------------------------------------------------

    def mark(self, night: date, signals: Iterable[PhaseSignal], *, at: datetime) -> None:
        """Record what a phase staged, considered or chose; once per fragment, mark and night."""
        rows = [(s.fragment, s.mark, night.isoformat(), stamp(at), s.signals) for s in signals]
        self.connection.executemany(
            "INSERT OR IGNORE INTO phase_signal (fragment, mark, night, at, signals) VALUES (?, ?, ?, ?, ?)", rows
        )

    def marked(self, night: date, mark: Mark) -> tuple[FragmentId, ...]:
        """Return the fragments that carry a mark of the night."""
        rows = self.connection.execute(
            "SELECT fragment FROM phase_signal WHERE night = ? AND mark = ? ORDER BY fragment",
            (night.isoformat(), mark),
        ).fetchall()
        return tuple(FragmentId(row[0]) for row in rows)

    def staged_before(self, night: date) -> Mapping[FragmentId, int]:
        """Return what the last earlier night staged, with the signal count each had then."""
        rows = self.connection.execute(
            "SELECT fragment, signals FROM phase_signal WHERE mark = 'staged' AND night ="
            " (SELECT max(night) FROM phase_signal WHERE mark = 'staged' AND night < ?)",
            (night.isoformat(),),
        ).fetchall()
        return {FragmentId(row[0]): int(row[1]) for row in rows}

    def considered_before(self, night: date) -> Mapping[FragmentId, int]:
        """Return what REM looked at on earlier nights, with the signal count each had the last time."""
        rows = self.connection.execute(
            "SELECT fragment, signals, max(night) FROM phase_signal WHERE mark = 'considered' AND night < ?"
            " GROUP BY fragment",
            (night.isoformat(),),
        ).fetchall()
        return {FragmentId(row[0]): int(row[1]) for row in rows}

    def unconsidered(self, night: date) -> tuple[FragmentId, ...]:
        """Return what light staged up to this night and REM has not looked at since, on an earlier night."""
        rows = self.connection.execute(
            "SELECT fragment FROM phase_signal WHERE night <= ? GROUP BY fragment"
            " HAVING max(CASE WHEN mark = 'staged' THEN at END)"
            " > coalesce(max(CASE WHEN mark = 'considered' AND night < ? THEN at END), '')"
            " ORDER BY fragment",
            (night.isoformat(), night.isoformat()),
        ).fetchall()
        return tuple(FragmentId(row[0]) for row in rows)

    # -- refusals -----------------------------------------------------------------------------------------------

    def refuse(self, night: date, refusals: Iterable[Refusal]) -> None:
        """Record why the night's candidates were refused, in place of what an earlier run of it said."""
        self.connection.execute("DELETE FROM refusal WHERE night = ?", (night.isoformat(),))
        rows = [(night.isoformat(), r.fragment, r.gate, r.reason) for r in refusals]
        self.connection.executemany(
            "INSERT OR IGNORE INTO refusal (night, fragment, gate, reason) VALUES (?, ?, ?, ?)", rows
        )

    def deferred(self) -> Mapping[FragmentId, str]:
        """Return the fragments the last night had no room for, and why."""
        rows = self.connection.execute(
            "SELECT fragment, reason FROM refusal"
            " WHERE gate = 'budget' AND night = (SELECT max(night) FROM deep_night) ORDER BY fragment"
        ).fetchall()
        return {FragmentId(row[0]): row[1] for row in rows}

    # -- what explanations ask ----------------------------------------------------------------------------------

    def night(self, night: date) -> NightRecord | None:
        """Return one night; None when there was none."""
        row = self.connection.execute(
            "SELECT started_at, finished_at FROM night WHERE date = ?", (night.isoformat(),)
        ).fetchone()
        if row is None:
            return None
        return NightRecord(
            date=night,
            started_at=datetime.fromisoformat(row[0]),
            finished_at=None if row[1] is None else datetime.fromisoformat(row[1]),
            reports=self._reports(night.isoformat()),
        )

    def refused(self, night: date) -> Mapping[str, int]:
        """Return what deep refused on a night, each fragment once, at the first gate it failed; most first."""
        row = self.connection.execute("SELECT refused FROM deep_night WHERE night = ?", (night.isoformat(),)).fetchone()
        counts: dict[str, int] = json.loads(row[0]) if row else {}
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def refusals(self, night: date) -> tuple[Refusal, ...]:
        """Return every gate that a candidate failed on a night."""
        rows = self.connection.execute(
            "SELECT fragment, gate, reason FROM refusal WHERE night = ? ORDER BY fragment, gate", (night.isoformat(),)
        ).fetchall()
        return tuple(Refusal(fragment=FragmentId(row[0]), gate=row[1], reason=row[2]) for row in rows)

    def marks(self, fragments: Sequence[FragmentId], *, until: date) -> Mapping[FragmentId, Mapping[Mark, Dates]]:
        """Return the nights on which fragments were staged, considered and chosen, oldest first."""
        rows = self.connection.execute(
            "SELECT fragment, mark, night FROM phase_signal"
            " WHERE fragment IN (SELECT value FROM json_each(?)) AND night <= ? ORDER BY night",
            (json.dumps(list(fragments)), until.isoformat()),
        ).fetchall()
        found: dict[FragmentId, dict[Mark, Dates]] = {one: dict.fromkeys(Mark, ()) for one in fragments}
        for fragment, mark, night in rows:
            own = found[FragmentId(fragment)]
            own[Mark(mark)] = (*own[Mark(mark)], date.fromisoformat(night))
        return found

    def asked(self, candidates: Sequence[Candidate], *, until: date) -> Mapping[FragmentId, tuple[AskedOn, ...]]:
        """Return the days on which candidates were asked for, oldest first; their sums are those of the evidence."""
        voted_for = {one.id: one.fragment for one in candidates if any(one.votes)}
        counted, _, _ = sql("evidence").rpartition("\nSELECT\n")  # the rows that the evidence adds up
        rows = self.connection.execute(
            f"{counted} SELECT wanted.id, counted.day, sum(counted.kind = 'recall'), sum(counted.kind = 'grounded')"
            " FROM wanted JOIN counted ON counted.key = wanted.key WHERE counted.kind <> 'sighting'"
            " GROUP BY wanted.key, counted.day ORDER BY counted.day",
            {
                "ids": json.dumps(list(voted_for)),
                "until": until.isoformat(),
                "tonight": None,
                "withheld": withheld(voted_for, {one.id: one.withheld for one in candidates}),
            },
        ).fetchall()
        found: dict[FragmentId, tuple[AskedOn, ...]] = {one.id: () for one in candidates}
        for fragment, day, recalls, grounded in rows:
            asked = AskedOn(day=date.fromisoformat(day), recalls=int(recalls), grounded=int(grounded))
            found[fragment] = (*found[fragment], asked)
        return found
