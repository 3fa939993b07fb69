"""What was told of the nights: the entries of the dream diary, what they were told of, and who was asked."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from memory.model import FragmentId, Phase
from memory.store import Store, sql


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrative:
    """One told entry of `DREAMS.md`; `stamp` is its date line, `fragments` what it was woven from."""

    night: date
    phase: Phase
    stamp: str
    language: str
    narrator: str
    prose: str
    fragments: tuple[FragmentId, ...]
    written: bool = False
    taken_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """What a phase had to tell on a night, and how that went; from the material it can be told again.

    `asked` is the narrator of the settings, `refused` why each answer was not kept, `stamp` the date line of an entry.
    """

    night: date
    phase: Phase
    stamp: str
    asked: str
    material: Mapping[str, Any]
    fragments: tuple[FragmentId, ...]
    refused: tuple[str, ...] = ()
    prompt_tokens: int = 0
    answer_tokens: int = 0


class Narratives:
    """The rows about entries in a store; every method is one statement or one transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.connection = store.db.conn

    def tell(self, narrative: Narrative) -> None:
        """Record an entry of the dream diary and what it was woven from; one of the same night and phase goes."""
        key = (narrative.night.isoformat(), narrative.phase)
        self.connection.execute(
            "INSERT OR REPLACE INTO narrative (night, phase, stamp, language, narrator, prose)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (*key, narrative.stamp, narrative.language, narrative.narrator, narrative.prose),
        )
        self.connection.executemany(
            "INSERT OR IGNORE INTO told (night, phase, fragment) VALUES (?, ?, ?)",
            [(*key, fragment) for fragment in narrative.fragments],
        )

    def unwritten(self) -> Sequence[Narrative]:
        """Return the entries that are told but do not stand in `DREAMS.md` yet, oldest first."""
        rows = self.connection.execute(
            "SELECT DISTINCT night FROM narrative WHERE NOT written AND NOT taken_back ORDER BY night"
        ).fetchall()
        nights = [date.fromisoformat(row[0]) for row in rows]
        return [one for night in nights for one in reversed(self.told(night=night)) if not one.written]

    def begin(self, night: date, phase: Phase, digest: str) -> None:
        """Record that an entry is about to be written, so that it is known to be ours also after a kill.

        Of its prose only a digest is kept, which holds no word that a later rule hides.
        """
        self.store.set_setting(_begun(night, phase), " ".join(sorted(self.begun(night, phase) | {digest})))

    def begun(self, night: date, phase: Phase) -> frozenset[str]:
        """Return the digests of entries that were about to be written, and of which nobody knows whether they were."""
        return frozenset((self.store.setting(_begun(night, phase)) or "").split())

    def take_back(self, night: date, *, taken_back: bool) -> None:
        """Record that the entries of a night were taken out of the diary by the user's wish, or put back."""
        self.connection.execute(
            "UPDATE narrative SET taken_back = ? WHERE night = ?", (int(taken_back), night.isoformat())
        )

    def wrote(self, night: date, phase: Phase) -> None:
        """Record that an entry stands in `DREAMS.md`; what the user does to it there is the user's own affair."""
        self.connection.execute("DELETE FROM setting WHERE name = ?", (_begun(night, phase),))
        self.connection.execute(
            "UPDATE narrative SET written = 1 WHERE night = ? AND phase = ?", (night.isoformat(), phase)
        )

    def told(self, *, before: date | None = None, night: date | None = None, limit: int = 30) -> Sequence[Narrative]:
        """Return told entries, newest first: of earlier nights, of one night, or the latest; -1 is all of them."""
        rows = self.connection.execute(
            sql("narratives"),
            {
                "before": None if before is None else before.isoformat(),
                "night": None if night is None else night.isoformat(),
                "limit": limit,
            },
        ).fetchall()
        return tuple(
            Narrative(
                night=date.fromisoformat(row[0]), phase=Phase(row[1]), stamp=row[2], language=row[3],
                narrator=row[4], prose=row[5], fragments=self._woven_from(row[0], row[1]), written=bool(row[6]),
                taken_back=bool(row[7]),
            )
            for row in rows
        )  # fmt: skip

    def _woven_from(self, night: str, phase: str) -> tuple[FragmentId, ...]:
        rows = self.connection.execute(
            "SELECT fragment FROM told WHERE night = ? AND phase = ? ORDER BY fragment", (night, phase)
        ).fetchall()
        return tuple(FragmentId(row[0]) for row in rows)

    def keep(self, telling: Telling) -> None:
        """Record what a phase has to tell and how that goes, in place of what was recorded of it before."""
        self.connection.execute(
            sql("keep_telling"),
            {
                "night": telling.night.isoformat(),
                "phase": telling.phase,
                "stamp": telling.stamp,
                "asked": telling.asked,
                "material": json.dumps(telling.material, ensure_ascii=False, sort_keys=True),
                "fragments": json.dumps(telling.fragments),
                "refused": json.dumps(telling.refused, ensure_ascii=False),
                "prompt_tokens": telling.prompt_tokens,
                "answer_tokens": telling.answer_tokens,
            },
        )

    def tellings(self, night: date) -> tuple[Telling, ...]:
        """Return what the phases of a night had to tell, in the order of the phases."""
        rows = self.connection.execute(sql("tellings"), {"night": night.isoformat()}).fetchall()
        return tuple(
            Telling(
                night=date.fromisoformat(row[0]), phase=Phase(row[1]), stamp=row[2], asked=row[3],
                material=json.loads(row[4]), fragments=tuple(json.loads(row[5])), refused=tuple(json.loads(row[6])),
                prompt_tokens=row[7], answer_tokens=row[8],
            )
            for row in rows
        )  # fmt: skip

    def last_told(self) -> date | None:
        """Return the newest night that had something to tell."""
        (night,) = self.connection.execute(
            "SELECT max(night) FROM telling WHERE night NOT IN (SELECT night FROM narrative WHERE taken_back)"
        ).fetchone()
        return date.fromisoformat(night) if night else None


def _begun(night: date, phase: Phase) -> str:
    return f"begun {night.isoformat()} {phase}"
