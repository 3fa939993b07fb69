"""Proposals: what the nights would promote, and what the user says to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dreaming.home import Home
from dreaming.ledger import claim_of, kept, recover, stands
from dreaming.promote import accepted
from memory.corrections import Verdict, judged
from memory.promotions import Promotion, State
from workspace.lock import lock


class UnknownProposalError(Exception):
    """An id names no proposal, or several."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"no single proposal has the id “{what}”; dream review lists them with their ids")


class NotAcceptedError(Exception):
    """A proposal cannot be written to `MEMORY.md`."""

    def __init__(self, proposal: Promotion, reason: str) -> None:
        self.proposal = proposal
        super().__init__(f"“{proposal.text}” was not accepted: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A promotion that waits, the line of `MEMORY.md` it corrects, and lines that it may correct."""

    promotion: Promotion
    corrects: Promotion | None
    doubts: tuple[Promotion, ...]


def proposals(home: Home, *, now: datetime) -> tuple[Proposal, ...]:
    """Return what waits for the user's word, oldest night first, best first."""
    waiting = sorted(home.promotions.all(State.PROPOSED), key=lambda one: (one.night, -one.score, one.id))
    standing = {promotion.id: promotion for promotion in home.promotions.all(State.IN_FORCE)}
    lines = kept(home, now=now)
    found = []
    for promotion in waiting:
        own = claim_of(home, promotion, now=now)
        doubts = [one.promotion for one in lines if judged(own, one.claim, home.lexicon) is Verdict.UNSURE]
        found.append(
            Proposal(
                promotion=promotion,
                corrects=standing.get(promotion.replaces or 0),
                doubts=tuple(standing[key] for key in doubts),
            )
        )
    return tuple(found)


def accept(home: Home, what: str, *, now: datetime, text: str | None = None, replacing: str | None = None) -> Promotion:
    """Write a proposal to `MEMORY.md`, in other words if there are any, in place of another line if one is named.

    Raise UnknownProposalError, NotAcceptedError, HeldError or a WorkspaceError; then it waits still.
    """
    with lock(home.root, now=now):
        recover(home, now=now)
        proposal = _meant(home, what, State.PROPOSED)
        if text is None and not stands(home, proposal, now=now):
            raise NotAcceptedError(proposal, "its source was edited or deleted; reject it or use your own words")
        wanted = replace(proposal, text=" ".join((proposal.text if text is None else text).split()))
        if not wanted.text:
            raise NotAcceptedError(proposal, "the new words are empty; name some")
        if replacing is not None:
            wanted = replace(wanted, replaces=_meant(home, replacing, State.IN_FORCE).id)
        refusal = accepted(home, wanted, now=now)
        if refusal is not None:
            raise NotAcceptedError(proposal, refusal.reason)
        return wanted


def reject(home: Home, what: str, *, now: datetime) -> Promotion:
    """Take a proposal back; what was asked for so far speaks for it no more.

    Raise UnknownProposalError or HeldError.
    """
    with lock(home.root, now=now):
        proposal = _meant(home, what, State.PROPOSED)
        with home.store.writing():
            home.promotions.settle([proposal.id], State.REJECTED, now=now)
        return proposal


def _meant(home: Home, what: str, state: State) -> Promotion:
    every = home.promotions.all(state)
    found: Sequence[Promotion] = [p for p in every if p.name == what] or [p for p in every if p.name.startswith(what)]
    if len(found) != 1 or not what:
        raise UnknownProposalError(what)
    return found[0]
