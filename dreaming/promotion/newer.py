"""What deep decides beside what newer notes say: a correction that nobody asked for yet holds back what it corrects."""

from collections.abc import Iterable, Iterator

from dreaming.home import Home
from dreaming.phases.deep import DeepPlan, Examined, deep, held_back
from dreaming.phases.night import Night
from dreaming.promotion.known import Kept
from dreaming.promotion.ledger import unwanted
from memory.corrections import Claim, may_correct
from memory.model import FragmentId
from memory.search import Scope, search

NEAR = 20
"""Notes looked at for each candidate that would be promoted: a correction shares most of its words."""


def decided(home: Home, night: Night) -> DeepPlan:
    """Return what deep decides of the candidates of a night; the night and every explanation of it call this."""
    plan = deep(night)
    return held_back(plan, _corrections(home, plan.eligible, night), night) if plan.eligible else plan


def _corrections(home: Home, eligible: Iterable[Examined], night: Night) -> Iterator[Kept]:
    """Yield the statements of newer notes that announce a correction, but for those the user does not want."""
    barred = unwanted(home, night.date)
    ids = tuple(dict.fromkeys(one for each in eligible for one in _near(home, each, night)))
    for candidate in home.store.candidates(ids, until=night.date):
        fragment, place = candidate.fragment, candidate.place
        if place is None or candidate.flaws:
            continue
        for text, key in zip(fragment.statements, fragment.statement_ids, strict=True):
            if may_correct(text) and key not in barred:
                claim = Claim(heading=fragment.heading, text=text, day=place.day)
                yield Kept(promotion=0, text=text, claim=claim, place=(place.path, place.start_line))


def _near(home: Home, one: Examined, night: Night) -> Iterator[FragmentId]:
    place = one.candidate.place
    if place is not None:
        scope = Scope(since=place.day, until=night.date)
        found = search(home.store, one.exam.draft.text, home.lexicon, limit=NEAR, scope=scope)
        yield from (hit.id for hit in found if may_correct(hit.text))
