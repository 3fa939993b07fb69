"""Why a fragment was promoted or not: the same exam the night gives, for any fragment, at any time."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from dreaming.home import Home
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
    candidates = home.store.candidates(ids, before=night + timedelta(days=1))
    claims = durable.claims(home.files.read(MEMORY).text)
    return deep(Night(date=night, now=now, config=home.config, candidates=candidates, claims=claims)).examined


def nearest(home: Home, *, now: datetime) -> tuple[Examined, ...]:
    """Return the recalled candidates that are not promoted, those with the fewest gates to pass first."""
    waiting = [one for one in examined(home, home.store.recalled(), now=now) if one.exam.promoted_on is None]
    return tuple(sorted(waiting, key=lambda one: len(one.failed)))[:NEAREST]
