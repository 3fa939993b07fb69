"""Every change of a file of the user's: what it was before and after, why, and what it meant for promotions."""

import json
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from typing import Any

from memory.rows import stamp
from memory.store import Store

DEEPEST = 50
"""Pictures that stand each on the one before; then a whole one is kept, so that none takes long to draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """The text of a file at one moment; `digest` is of the text as it was, `text` may have secrets masked."""

    digest: str
    text: str

    @property
    def whole(self) -> bool:
        """Whether nothing is masked, so that the text can stand in the file again."""
        return self.digest == digest_of(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a change means for a promotion: the state it had, and has once the change stands in the file."""

    promotion: int
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one file; digests are None where the file does not exist, `night` None outside of nights.

    `undoes` are the changes that it takes back; `made` is False while nobody knows whether it stands in the file.
    """

    id: int
    at: datetime
    day: date
    night: date | None
    kind: str
    file: str
    reason: str
    before: str | None
    after: str | None
    effects: tuple[Effect, ...]
    undoes: tuple[int, ...]
    made: bool


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text, in hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Changes:
    """The rows about changes in a store; every method is one statement or one transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.connection = store.db.conn

    def plan(
        self,
        *,
        at: datetime,
        day: date,
        night: date | None,
        kind: str,
        file: str,
        reason: str,
        before: Image | str | None,
        after: Image | None,
        effects: Sequence[Effect] = (),
        undoes: Sequence[int] = (),
    ) -> int:
        """Record a change about to be made, and return its number; a text that is known is named by its digest."""
        for image in (before, after):
            if isinstance(image, Image):
                self._keep(file, image)
        row = self.connection.execute(
            "INSERT INTO change (at, on_day, night, kind, file, reason, before, after, effects, undoes, state)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'planned') RETURNING id",
            (
                stamp(at),
                day.isoformat(),
                None if night is None else night.isoformat(),
                kind,
                file,
                reason,
                before.digest if isinstance(before, Image) else before,
                None if after is None else after.digest,
                json.dumps([[e.promotion, e.before, e.after] for e in effects]),
                json.dumps(list(undoes)),
            ),
        ).fetchone()
        return int(row[0])

    def settle(self, change: int) -> None:
        """Record that a change stands in the file."""
        self.connection.execute("UPDATE change SET state = 'applied' WHERE id = ?", (change,))

    def forget(self, change: int) -> None:
        """Take back the record of a change that was not made after all."""
        self.connection.execute("DELETE FROM change WHERE id = ?", (change,))

    def all(self, *, file: str | None = None, night: date | None = None) -> tuple[Change, ...]:
        """Return changes, oldest first: of a file, of a night, or all."""
        return self._changes(
            "(:file IS NULL OR file = :file) AND (:night IS NULL OR night = :night)",
            file=file,
            night=None if night is None else night.isoformat(),
        )

    def last(self, file: str) -> Change | None:
        """Return the last change of a file that was made."""
        found = self._changes("id = (SELECT max(id) FROM change WHERE file = :file AND state = 'applied')", file=file)
        return found[0] if found else None

    def planned(self) -> tuple[Change, ...]:
        """Return the changes nobody knows the end of, oldest first."""
        return self._changes("state = 'planned'")

    def _changes(self, condition: str, **values: object) -> tuple[Change, ...]:
        rows = self.connection.execute(
            "SELECT id, at, on_day, night, kind, file, reason, before, after, effects, undoes, state FROM change"
            f" WHERE {condition} ORDER BY id",
            values,
        ).fetchall()
        return tuple(_change(row) for row in rows)

    def image(self, digest: str) -> Image:
        """Return a picture by its digest; KeyError when there is none."""
        row = self.connection.execute(
            "SELECT base, first, last, content FROM image WHERE digest = ?", (digest,)
        ).fetchone()
        if row is None:
            raise KeyError(digest)
        base, first, last, content = row
        middle = zlib.decompress(content).decode("utf-8", "surrogatepass")
        if base is None:
            return Image(digest=digest, text=middle)
        below = self.image(base).text
        return Image(digest=digest, text=below[:first] + middle + below[len(below) - last :])

    def hide(self, hiding: Callable[[str], str], *, kept: Collection[str]) -> None:
        """Draw the pictures of the `kept` files anew with what must be hidden now, and forget those of the others.

        A long diary has thousands; that it was changed, when and why stays known.
        """
        shown = {file: self._pictures(file, hiding) for file in sorted(kept)}
        self.connection.execute("DELETE FROM image")
        for images in shown.values():
            last = None
            for image in images:
                self._draw(image, last)
                last = image.digest

    def _pictures(self, file: str, hiding: Callable[[str], str]) -> list[Image]:
        keys = dict.fromkeys(key for change in self.all(file=file) for key in (change.before, change.after) if key)
        found = []
        for key in keys:
            with suppress(KeyError):
                found.append(Image(digest=key, text=hiding(self.image(key).text)))
        return found

    def _keep(self, file: str, image: Image) -> None:
        row = self.connection.execute(
            "SELECT coalesce(after, before) FROM change WHERE file = ? AND coalesce(after, before) IS NOT NULL"
            " ORDER BY id DESC LIMIT 1",
            (file,),
        ).fetchone()
        self._draw(image, None if row is None else row[0])

    def _draw(self, image: Image, last: str | None) -> None:
        """Keep a picture once: whole, or by how it differs from the last one of its file."""
        if self.connection.execute("SELECT 1 FROM image WHERE digest = ?", (image.digest,)).fetchone():
            return
        base, depth, first, end, middle = None, 0, 0, 0, image.text
        if last is not None and (below := self._depth(last)) is not None and below < DEEPEST:
            old = self.image(last).text
            first, end = _common(old, image.text)
            base, depth, middle = last, below + 1, image.text[first : len(image.text) - end]
        self.connection.execute(
            "INSERT INTO image (digest, base, depth, first, last, content) VALUES (?, ?, ?, ?, ?, ?)",
            (image.digest, base, depth, first, end, zlib.compress(middle.encode("utf-8", "surrogatepass"), 9)),
        )

    def _depth(self, digest: str) -> int | None:
        row = self.connection.execute("SELECT depth FROM image WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else int(row[0])


def _common(old: str, new: str) -> tuple[int, int]:
    """Return how many characters two texts share at their beginnings, and of the rest at their ends."""
    most = min(len(old), len(new))
    first = _shared(most, lambda n: old[:n] == new[:n])
    return first, _shared(most - first, lambda n: old[len(old) - n :] == new[len(new) - n :])


def _shared(most: int, same: Callable[[int], bool]) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(middle) else (low, middle - 1)
    return low


def _change(row: Sequence[Any]) -> Change:
    number, at, day, night, kind, file, reason, before, after, effects, undoes, state = row
    return Change(
        id=number,
        at=datetime.fromisoformat(at),
        day=date.fromisoformat(day),
        night=None if night is None else date.fromisoformat(night),
        kind=kind,
        file=file,
        reason=reason,
        before=before,
        after=after,
        effects=tuple(Effect(promotion=e[0], before=e[1], after=e[2]) for e in json.loads(effects)),
        undoes=tuple(json.loads(undoes)),
        made=state == "applied",
    )
