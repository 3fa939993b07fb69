"""Proposals: what the nights would promote, and what the user says to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dreaming.changes.history import notice
from dreaming.home import MEMORY, Home
from dreaming.promotion.ledger import claim_of, kept, recover, stands
from dreaming.promotion.promote import accepted
from memory.corrections import Verdict, judged
from memory.promotions import Promotion, State
from workspace.lock import lock

DECIDED = {
    State.IN_FORCE: f"stands in {MEMORY} already; dream undo {{name}} takes it out",
    State.REJECTED: "was rejected before; it is proposed again once it is asked for anew, or write it into"
    f" {MEMORY} yourself",
    State.UNDONE: f"was taken back before; it is proposed again once it is asked for anew, or write it into {MEMORY}"
    " yourself",
    State.REMOVED: f"was accepted before, and you took it or its marker out of {MEMORY}; write it there yourself if"
    " you want it back",
    State.DROPPED: "was accepted before and had to make room; it stands in memory/archive and comes back when it is"
    " asked for anew",
    State.SUPERSEDED: "was accepted before and corrected since; dream history {name} shows by what",
}
"""What became of a proposal that waits no more, and the way out."""


class UnknownProposalError(Exception):
    """An id names no proposal, or several."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"no single proposal has the id “{what}”; dream review lists them with their ids")


class DecidedProposalError(UnknownProposalError):
    """A proposal was decided on before."""

    def __init__(self, promotion: Promotion) -> None:
        super().__init__(promotion.name)
        self.args = (f"“{promotion.text}” {DECIDED[promotion.state].format(name=promotion.name)}",)


class UnknownLineError(Exception):
    """An id names no line of `MEMORY.md`, or several."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"no single line of {MEMORY} has the id “{what}”; dream history lists them with their ids")


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

    Raise UnknownProposalError, UnknownLineError, NotAcceptedError, HeldError or a WorkspaceError; then it waits still.
    """
    with lock(home.root, now=now):
        notice(home, now=now, removed=recover(home, now=now))
        proposal = _waiting(home, what)
        if text is None and not stands(home, proposal, now=now):
            raise NotAcceptedError(proposal, "its source was edited or deleted; reject it or use your own words")
        wanted = replace(proposal, text=" ".join((proposal.text if text is None else text).split()))
        if not wanted.text:
            raise NotAcceptedError(proposal, "the new words are empty; name some")
        if replacing is not None:
            wanted = replace(wanted, replaces=_line(home, replacing).id)
        refusal = accepted(home, wanted, now=now)
        if refusal is not None:
            raise NotAcceptedError(proposal, refusal.reason)
        return wanted


def reject(home: Home, what: str, *, now: datetime) -> Promotion:
    """Take a proposal back; what was asked for so far speaks for it no more.

    Raise UnknownProposalError or HeldError.
    """
    with lock(home.root, now=now):
        proposal = _waiting(home, what)
        with home.store.writing():
            home.promotions.settle([proposal.id], State.REJECTED, now=now)
        return proposal


def _waiting(home: Home, what: str) -> Promotion:
    found = _meant(home, what, State.PROPOSED)
    if len(found) == 1:
        return found[0]
    decided = [] if found else _meant(home, what, *DECIDED)
    if len({one.name for one in decided}) == 1:
        raise DecidedProposalError(decided[-1])
    raise UnknownProposalError(what)


def _line(home: Home, what: str) -> Promotion:
    found = _meant(home, what, State.IN_FORCE)
    if len(found) != 1:
        raise UnknownLineError(what)
    return found[0]


def _meant(home: Home, what: str, *states: State) -> Sequence[Promotion]:
    """Return the promotions, oldest first, whose id is or begins with what was said."""
    every = home.promotions.all(*states) if what else ()
    return [p for p in every if p.name == what] or [p for p in every if p.name.startswith(what)]
