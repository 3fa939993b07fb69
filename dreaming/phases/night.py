"""What a phase is given: one night of one workspace, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from dreaming.config import Config
from dreaming.promotion.known import Kept, Known, TakenBack, known, known_as_taken_back
from memory.concepts import Lexicon
from memory.model import Candidate, FragmentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One night as a phase sees it; `now` is when the night first began, for every run of it.

    `told` holds what the last diary entries were woven from; `staged_before` what the last earlier night staged and
    the signal count each had; `known` is what `MEMORY.md` says, `kept` which promotions stand in it, `newer` what newer
    notes correct, `deferred` why a fragment found no room in it last time, `taken_back` what the user took back or
    rejected.
    """

    date: date
    now: datetime
    config: Config
    candidates: tuple[Candidate, ...]
    lexicon: Lexicon
    told: frozenset[FragmentId] = frozenset()
    staged_before: Mapping[FragmentId, int] = field(default_factory=dict)
    known: Known = field(default_factory=lambda: known(()))
    kept: tuple[Kept, ...] = ()
    newer: tuple[Kept, ...] = ()
    taken_back: TakenBack = field(default_factory=lambda: known_as_taken_back(()))
    deferred: Mapping[FragmentId, str] = field(default_factory=dict)
