"""What deep decides beside what newer notes say: a correction that nobody asked for yet holds back what it corrects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from dreaming.home import Home
from dreaming.phases.deep import DeepPlan, Examined, Others, deep, stale
from dreaming.phases.night import Night
from dreaming.promotion.known import Kept, claimed
from dreaming.promotion.ledger import unwanted
from memory.corrections import may_correct
from memory.model import Candidate, FragmentId
from memory.search import Scope, search

PROPOSED, NEAR = 150, 20
"""Notes found for each candidate that would be promoted, and how many of them that correct something are looked at."""
LIMITS = 5
"""Of the candidates that are looked after, the best first, so many times as many as a night may promote."""
OF_TIME = {"current", "not_over"}
"""Gates that one statement of several may fail alone."""


def decided(home: Home, night: Night, *, tonight: date | None = None) -> DeepPlan:
    """Return what deep decides of the candidates of a night; the night and every explanation of it call this.

    Of what would be promoted but for statements that a newer one corrects, or that are over, the rest is examined by
    itself: the votes for those carry no other. What was promoted `tonight` counts as not yet promoted.
    """
    plan = deep(night)
    near = [one for one in plan.examined if {gate.name for gate in one.failed} <= OF_TIME][
        : LIMITS * night.config.deep.limit
    ]
    if not near:
        return plan
    candidates = tuple(one.candidate for one in near)
    night = replace(night, newer=tuple(_corrections(home, near, night)), candidates=candidates)
    others = Others.of(night)
    left_out = {one.id: old for one in candidates if (old := stale(one, night, others))}
    if not (night.newer or left_out):
        return plan
    return deep(replace(night, candidates=_left(home, night, left_out, tonight=tonight)), plan)


def _left(
    home: Home, night: Night, left_out: Mapping[FragmentId, tuple[int, ...]], *, tonight: date | None
) -> tuple[Candidate, ...]:
    """Return the candidates of a night, some of them without statements of theirs and the votes for those."""
    found = home.store.candidates(tuple(left_out), until=night.date, tonight=tonight, but=left_out)
    anew = {candidate.id: candidate for candidate in found}
    return tuple(anew.get(candidate.id, candidate) for candidate in night.candidates)


def _corrections(home: Home, near: Iterable[Examined], night: Night) -> Iterator[Kept]:
    """Yield the statements of newer notes that announce a correction, but for those the user does not want."""
    barred = unwanted(home, night.date)
    ids = tuple(dict.fromkeys(found for one in near for found in _correcting(home, one, night)))
    for candidate in home.store.candidates(ids, until=night.date):
        fragment = candidate.fragment
        for n, key in enumerate(fragment.statement_ids):
            if not candidate.flaws and key not in barred and may_correct(fragment.statements[n]):
                yield claimed(candidate, [n], day=night.date, place=("", 0))


def _correcting(home: Home, one: Examined, night: Night) -> Sequence[FragmentId]:
    """Return notes with words of a candidate that are no older, and that correct something."""
    place = one.candidate.place
    if place is None:
        return ()
    scope = Scope(since=place.day, until=night.date)
    found = search(home.store, one.exam.draft.text, home.lexicon, limit=PROPOSED, scope=scope)
    said = home.store.statements([hit.id for hit in found])
    return [hit.id for hit in found if any(may_correct(text) for _, text in said.get(hit.id, ()))][:NEAR]
