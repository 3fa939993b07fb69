"""`dream explain`: components, boost, score, and every gate with what is missing."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import tzinfo

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, printable, say
from dreaming.explain import examined, meant, nearest, written_of
from dreaming.gates import GateResult, verdict
from dreaming.observe import observe
from dreaming.phases.deep import Examined
from memory.promotions import Promotion, State

BAR = 20
SHOWN = 10
"""Fragments explained for people unless all are asked for: a common word stands in thousands."""
NOW = {
    State.PLANNED: "not written yet",
    State.IN_FORCE: "in MEMORY.md",
    State.DROPPED: "in the archive since it had to make room",
    State.REMOVED: "taken out of MEMORY.md by you",
    State.PROPOSED: "waiting for your review",
    State.UNDONE: "taken back by dream undo",
    State.SUPERSEDED: "in the archive since a newer statement corrects it",
    State.REJECTED: "rejected by you in the review",
}
"""How a promotion stands, in words."""


@click.command()
@common_options
@json_option
@click.option("--all", "every", is_flag=True, help="Explain every fragment, not only the nearest or the first ten.")
@click.argument("what", required=False, metavar="[ID | TEXT | PLACE]")
def explain(common: Common, what: str | None, *, every: bool, as_json: bool) -> None:
    """Explain a fragment by its ID, a piece of its TEXT or its PLACE; without any, those nearest to promotion."""
    what = printable(what) if what else what
    with common.open_to_read() as home:
        now = common.moment(home)
        problems = observe(home, now=now).trouble
        complain(problems)
        if every and not what:
            found = examined(home, home.store.every(), now=now)
        else:
            found = examined(home, meant(home, what), now=now) if what else nearest(home, now=now)
        written = written_of(home, found)
    if as_json:
        print_json(documents.explain(found, written, problems))
    else:
        shown = found if every else found[:SHOWN]
        paragraphs = ["\n".join(lines(one, written[one.candidate.id], home.zone)) for one in shown]
        say("\n\n".join([*paragraphs, *more(len(found) - len(shown))]) or nothing(what))
    if what and not found:
        raise click.exceptions.Exit(REFUSED)


def more(count: int) -> tuple[str, ...]:
    """Return what to say of fragments that are not shown."""
    narrower = "name more words, a place or an id to narrow it, or see all with --all"
    return (f"{count} more; {narrower}",) if count else ()


def nothing(what: str | None) -> str:
    """Return what to say when there is nothing to explain."""
    if what:
        return f"No fragment contains “{what}”; try fewer words, or dream explain --all"
    return "Nobody has searched for anything yet; search with: dream search QUESTION"


def lines(one: Examined, written: Sequence[Promotion], zone: tzinfo) -> Iterator[str]:
    """Return the explanation of one fragment for people, within 80 columns but for the texts themselves."""
    candidate, exam = one.candidate, one.exam
    place = candidate.place
    yield candidate.fragment.text
    for promotion in written:
        ended = f" ({promotion.ended_at.astimezone(zone).date()})" if promotion.ended_at else ""
        yield f"  promoted on {promotion.night.isoformat()}, {NOW[promotion.state]}{ended}: “{promotion.text}”"
    if written and exam.promoted_on is None:
        yield f"  what follows is about the rest of it: “{exam.draft.text}”"
    yield f"  {candidate.id}  {place.place if place else 'source gone'}  verdict: {verdict(one.gates)}"
    evidence = candidate.evidence
    yield (
        f"  recalls {evidence.recalls}, sightings {evidence.sightings}, grounded {evidence.grounded}, "
        f"different questions {evidence.unique_queries}, days {len(evidence.days)}"
    )
    for name, value in asdict(exam.score.components).items():
        yield f"  {name:<14} {value:.2f}  {'█' * round(value * BAR)}"
    yield f"  boost {exam.score.boost:.3f}, score {exam.score.total:.3f} of {exam.thresholds.min_score:.2f}"
    for gate in one.gates:
        mark = "ok " if gate.passed else "NO "
        yield f"  {mark} {gate.name:<15} {gate.missing or _passed(gate)}"


def _passed(gate: GateResult) -> str:
    return f"{gate.value} (any)" if gate.threshold is None else f"{gate.value} (needs {gate.threshold})"
