"""Where else fragments stand than in the transcript that is being read: who said them first."""

import json
from collections.abc import Iterable
from datetime import date

from memory.model import FragmentId
from memory.rows import listed
from memory.store import Store


def own(store: Store, ids: Iterable[FragmentId], *, but: str) -> frozenset[FragmentId]:
    """Return which of some fragments somebody said or wrote in another file without quoting anybody."""
    rows = store.db.conn.execute(
        "SELECT DISTINCT fragment.id FROM json_each(:ids) AS wanted"
        " JOIN fragment ON fragment.id = wanted.value JOIN sighting ON sighting.fragment = fragment.key"
        " WHERE sighting.path <> :but AND NOT sighting.quoted",
        {"ids": listed(ids), "but": but},
    )
    return frozenset(FragmentId(row[0]) for row in rows)


def relatives(store: Store, seen: Iterable[tuple[FragmentId, date | None]], *, of: str) -> tuple[str, ...]:
    """Return the transcripts of the same agent in which fragments stand on the same day, those with most first.

    Without a day any day will do.
    """
    rows = store.db.conn.execute(
        "SELECT sighting.path FROM json_each(:seen) AS wanted"
        " JOIN fragment ON fragment.id = json_extract(wanted.value, '$[0]')"
        " JOIN sighting ON sighting.fragment = fragment.key"
        " WHERE sighting.kind = 'session' AND sighting.path <> :of"
        " AND substr(sighting.path, 1, length(:agent)) = :agent"
        " AND sighting.day = coalesce(json_extract(wanted.value, '$[1]'), sighting.day)"
        " GROUP BY sighting.path ORDER BY count(*) DESC, sighting.path",
        {
            "seen": json.dumps([(key, day and day.isoformat()) for key, day in seen]),
            "of": of,
            "agent": f"{of.rpartition('/')[0]}/",
        },
    )
    return tuple(str(row[0]) for row in rows)


def lines(store: Store, path: str) -> frozenset[int]:
    """Return the lines of a transcript on which anything stands that is remembered."""
    rows = store.db.conn.execute("SELECT DISTINCT start_line FROM sighting WHERE path = ?", (path,))
    return frozenset(row[0] for row in rows)
