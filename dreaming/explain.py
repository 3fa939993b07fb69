"""Why a fragment was promoted or not: the same exam the night gives, for any fragment, at any time."""

from collections.abc import Sequence
from datetime import datetime

from dreaming.home import Home
from dreaming.known import known
from dreaming.phases.deep import Examined, deep
from dreaming.phases.night import Night
from dreaming.promote import MEMORY
from memory.model import FragmentId
from workspace import durable

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
        known=known(durable.said(home.files.read(MEMORY).text)),
        deferred=home.journal.deferred(),
    )
    return deep(asked).examined


def nearest(home: Home, *, now: datetime) -> tuple[Examined, ...]:
    """Return the recalled candidates that are not promoted, those with the fewest gates to pass first."""
    waiting = [one for one in examined(home, home.store.recalled(), now=now) if one.exam.promoted_on is None]
    return tuple(sorted(waiting, key=lambda one: len(one.failed)))[:NEAREST]
