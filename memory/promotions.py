"""The statements written to `MEMORY.md`, or proposed for it, and how that ended."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from memory.model import Basis, FragmentId, StatementId, place
from memory.rows import evidence_document, evidence_of, stamp
from memory.store import Store, sql


class State(StrEnum):
    """How a promotion stands.

    Planned before the file is written, in force once it is there, proposed while the user has not accepted it.
    What was dropped, undone, superseded or rejected may be promoted again, by new votes; what the user removed may not.
    """

    PLANNED = "planned"
    PROPOSED = "proposed"
    IN_FORCE = "in force"
    DROPPED = "dropped"
    REMOVED = "removed"
    UNDONE = "undone"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


HOLDING = (State.PLANNED, State.PROPOSED, State.IN_FORCE, State.REMOVED)
"""While a promotion is in one of these, its statements are not promoted again."""
LEFT = (State.DROPPED, State.SUPERSEDED)
"""How a promotion ended that left `MEMORY.md` for the archive."""
TAKEN_BACK = frozenset({State.UNDONE, State.REJECTED})
"""What the user took back is no result of its night any more."""

Key = tuple[str, str]
"""What a marker in the file carries: fragment and positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """Statements of a fragment written to `MEMORY.md`; `positions` are 1-based, all of them when empty.

    `id` is 0 until it is recorded; `replaces` is the id of the promotion that this one corrects; `ended_on` is the
    night in which it ended, if it was in one. `basis` is None where an older version promoted it, which kept none.
    """

    fragment: FragmentId
    positions: tuple[int, ...]
    statements: tuple[StatementId, ...]
    night: date
    score: float
    boost: float
    components: Mapping[str, float]
    recalls: int
    text: str
    path: str
    start_line: int
    end_line: int
    state: State = State.PLANNED
    ended_at: datetime | None = None
    ended_on: date | None = None
    replaces: int | None = None
    basis: Basis | None = None
    id: int = 0

    @property
    def name(self) -> str:
        """How people name it: its fragment, and the lines of it unless it is all of them."""
        return f"{self.fragment}:{numbered(self.positions)}" if self.positions else self.fragment

    @property
    def place(self) -> str:
        """Where it was read, as users read places."""
        return place(self.path, self.start_line, self.end_line)

    @property
    def key(self) -> Key:
        """What the marker in the file carries."""
        return (self.fragment, numbered(self.positions))


def numbered(positions: Iterable[int]) -> str:
    """Return positions as markers and rows carry them: `1,3`."""
    return ",".join(str(position) for position in positions)


class Promotions:
    """The rows about promotions in a store; every method is one statement or one transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.connection = store.db.conn

    def plan(self, promotions: Iterable[Promotion]) -> tuple[int, ...]:
        """Record promotions that are about to be written to the file, or proposed; return their ids."""
        return tuple([self._plan(promotion) for promotion in promotions])

    def _plan(self, promotion: Promotion) -> int:
        row = self.connection.execute(f"{sql('plan')} RETURNING id", _row(promotion)).fetchone()
        rows = [(statement, row[0]) for statement in promotion.statements]
        self.connection.executemany(
            "INSERT OR IGNORE INTO promoted_statement (statement, promotion) VALUES (?, ?)", rows
        )
        return int(row[0])

    def settle(self, ids: Iterable[int], state: State, *, now: datetime, night: date | None = None) -> None:
        """Record how promotions stand; what ends in the course of a night is held until the next one."""
        ended = None if state in (State.IN_FORCE, State.PLANNED, State.PROPOSED) else stamp(now)
        on = night.isoformat() if ended and night and state not in HOLDING else None
        self.connection.executemany(
            # Two promotions of the same words cannot both stand; the one that does stays.
            "UPDATE OR IGNORE promotion SET state = ?, ended_at = ?, ended_on = ? WHERE id = ?",
            [(state, ended, on, key) for key in ids],
        )

    def reword(self, promotion: int, text: str, *, replaces: int | None) -> None:
        """Record the words in which a proposal was accepted, and what it corrects."""
        self.connection.execute("UPDATE promotion SET text = ?, replaces = ? WHERE id = ?", (text, replaces, promotion))

    def withdraw(self, ids: Iterable[int]) -> None:
        """Take back promotions that never reached the file; they compete again."""
        self.connection.executemany("DELETE FROM promotion WHERE id = ?", [(key,) for key in ids])

    def all(self, *states: State, night: date | None = None) -> tuple[Promotion, ...]:
        """Return promotions, oldest first, of some states, of a night, or all."""
        rows = self.connection.execute(
            "SELECT * FROM promotion WHERE (:states IS NULL OR state IN (SELECT value FROM json_each(:states)))"
            " AND (:night IS NULL OR night = :night) ORDER BY night, id",
            {
                "states": json.dumps(states) if states else None,
                "night": None if night is None else night.isoformat(),
            },
        )
        names = [column[0] for column in rows.description]
        found = rows.fetchall()
        written = self._written([row[0] for row in found])
        return tuple(_promotion(dict(zip(names, row, strict=True)), written.get(row[0], ())) for row in found)

    def by_id(self) -> Mapping[int, Promotion]:
        """Return every promotion by its number, which changes and corrections name it by."""
        return {one.id: one for one in self.all()}

    def spoken_of(self, *, but: date | None = None) -> Mapping[Key, Promotion]:
        """Return for each key the promotion that a marker speaks of: the one that holds it, else the last.

        What was promoted on one night, `but`, may be left out, as long as it was not taken back.
        """
        every = [one for one in self.all() if one.night != but or one.state in TAKEN_BACK]
        return {one.key: one for one in sorted(every, key=lambda one: (one.state in HOLDING, one.id))}

    def last_used(self) -> Mapping[Key, float]:
        """Return when each promotion was last asked for, in seconds since 1970: the least used has least."""
        rows = self.connection.execute(sql("last_used")).fetchall()
        return {(row[0], row[1]): datetime.fromisoformat(row[2]).timestamp() if row[2] else 0.0 for row in rows}

    def _written(self, promotions: Sequence[int]) -> Mapping[int, Sequence[StatementId]]:
        rows = self.connection.execute(
            "SELECT promotion, statement FROM promoted_statement"
            " WHERE promotion IN (SELECT value FROM json_each(?)) ORDER BY promotion, statement",
            (json.dumps(promotions),),
        ).fetchall()
        found: dict[int, list[StatementId]] = {}
        for promotion, statement in rows:
            found.setdefault(promotion, []).append(StatementId(statement))
        return found


def _row(promotion: Promotion) -> dict[str, object]:
    return {
        "fragment": promotion.fragment,
        "statements": numbered(promotion.positions),
        "night": promotion.night.isoformat(),
        "score": promotion.score,
        "boost": promotion.boost,
        "components": json.dumps(dict(promotion.components)),
        "recalls": promotion.recalls,
        "text": promotion.text,
        "path": promotion.path,
        "start_line": promotion.start_line,
        "end_line": promotion.end_line,
        "state": promotion.state,
        "replaces": promotion.replaces,
        "basis": None if promotion.basis is None else _noted(promotion.basis),
    }


def _promotion(row: Mapping[str, Any], statements: Sequence[StatementId]) -> Promotion:
    return Promotion(
        id=row["id"],
        fragment=FragmentId(row["fragment"]),
        positions=tuple(int(n) for n in row["statements"].split(",") if n),
        statements=tuple(statements),
        night=date.fromisoformat(row["night"]),
        score=row["score"],
        boost=row["boost"],
        components=json.loads(row["components"]),
        recalls=row["recalls"],
        text=row["text"],
        path=row["path"],
        start_line=row["start_line"],
        end_line=row["end_line"],
        state=State(row["state"]),
        ended_at=None if row["ended_at"] is None else datetime.fromisoformat(row["ended_at"]),
        ended_on=None if row["ended_on"] is None else date.fromisoformat(row["ended_on"]),
        replaces=row["replaces"],
        basis=None if row["basis"] is None else _basis(json.loads(row["basis"])),
    )


def _noted(basis: Basis) -> str:
    """Return the basis of a promotion as its row keeps it."""
    return json.dumps(
        {
            "at": basis.at.isoformat(),
            "evidence": evidence_document(basis.evidence),
            "tags": basis.tags,
            "weights": dict(basis.weights),
            "half_life_days": basis.half_life_days,
            "gates": basis.gates,
        },
        ensure_ascii=False,
    )


def _basis(kept: Mapping[str, Any]) -> Basis:
    return Basis(
        at=datetime.fromisoformat(kept["at"]),
        evidence=evidence_of(kept["evidence"]),
        tags=kept["tags"],
        weights=kept["weights"],
        half_life_days=kept["half_life_days"],
        gates=tuple((name, value, demanded) for name, value, demanded in kept["gates"]),
    )
