"""Why a fragment was promoted or not: the same exam the night gives, for any fragment, at any time."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from dreaming.home import Home
from dreaming.known import known
from dreaming.ledger import kept, known_before, taken_back
from dreaming.phases.deep import Examined, deep
from dreaming.phases.night import Night
from dreaming.places import named
from memory.model import FragmentId, Kind
from memory.promotions import Promotion

HOPELESS = frozenset({"origin", "clean", "stands_alone", "not_promoted", "current", "not_over", "source"})
"""What fails one of these is not near: no further search brings it closer."""
MAX_LINE = 10**9
NEAREST = 10
"""Candidates shown when none is asked for: those closest to promotion."""


def examined(home: Home, ids: Sequence[FragmentId], *, now: datetime) -> tuple[Examined, ...]:
    """Return the exams of fragments, best first, as a night at `now` would hold them."""
    night = home.local_date(now)
    asked = Night(
        date=night,
        now=now,
        config=home.config,
        candidates=home.store.candidates(ids, until=night),
        known=known(known_before(home, None)),
        deferred=home.journal.deferred(),
        lexicon=home.lexicon,
        kept=kept(home, now=now),
        taken_back=taken_back(home, now=now),
    )
    return deep(asked).examined


def meant(home: Home, what: str) -> tuple[FragmentId, ...]:
    """Return the fragments a person means by an id, the beginning of one, a piece of text, or a place."""
    place = named(what)
    if place.path in home.sources.known(*Kind):
        return home.store.at_lines(place.path, place.start or 1, place.end or MAX_LINE)
    return home.store.containing(what) if what.strip() else ()


def nearest(home: Home, *, now: datetime) -> tuple[Examined, ...]:
    """Return the recalled candidates that are not promoted, those with the fewest gates to pass first."""
    waiting = [one for one in examined(home, home.store.recalled(), now=now) if one.exam.promoted_on is None]
    hopeful = [one for one in waiting if not any(gate.name in HOPELESS for gate in one.failed)]
    return tuple(sorted(hopeful, key=lambda one: len(one.failed)))[:NEAREST]


def written_of(home: Home, found: Sequence[Examined]) -> Mapping[FragmentId, tuple[Promotion, ...]]:
    """Return what was ever written of each fragment, oldest first."""
    written: dict[FragmentId, list[Promotion]] = {one.candidate.id: [] for one in found}
    for promotion in home.promotions.all():
        if promotion.fragment in written:
            written[promotion.fragment].append(promotion)
    return {fragment: tuple(promotions) for fragment, promotions in written.items()}
