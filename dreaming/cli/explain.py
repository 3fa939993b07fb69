"""`dream explain`: the life of a fragment, where a line came from, what a night decided, or two nights differently."""

import textwrap
from collections.abc import Iterator, Sequence
from datetime import date, datetime, tzinfo

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json, printable, say
from dreaming.explain import (
    HOPELESS,
    Decided,
    Difference,
    Life,
    NightExplained,
    Origin,
    Part,
    counted,
    examined,
    is_memory,
    meant,
    nearest,
    night_explained,
    night_meant,
    nights_compared,
    no_night,
    nothing_at,
    nothing_near,
    origins,
    written_of,
)
from dreaming.gates import ASKING, GateResult, of_ranked, ranked_in_words, verdict
from dreaming.home import Home
from dreaming.observing.observe import observe
from dreaming.phases.deep import Examined
from memory.model import Evidence, Mark, Phase
from memory.promotions import Promotion, State

BAR = 5
COLUMNS = 78
"""Two less than a terminal has: what belongs to another thing is set in."""
UNITS = {"age": " days", "source": " live"}
NIGHTS_SHOWN = 3
SHOWN = 10
"""Fragments explained for people unless all are asked for: a common word stands in thousands."""
NOW = {
    State.PLANNED: "not written yet",
    State.IN_FORCE: "in MEMORY.md",
    State.DROPPED: "in the archive since it had to make room",
    State.REMOVED: "taken out of MEMORY.md, or its marker, by you, so it is never written again",
    State.PROPOSED: "waiting for your review",
    State.UNDONE: "taken back by dream undo, so only new questions bring it back",
    State.SUPERSEDED: "in the archive since a newer statement corrects it",
    State.REJECTED: "rejected by you in the review, so only new questions bring it back",
}
"""How a promotion stands, in words."""


@click.command()
@common_options
@json_option
@click.option("--all", "every", is_flag=True, help="Explain every fragment, not only the nearest or the first ten.")
@click.option("--diff", nargs=2, metavar="NIGHT NIGHT", help="Compare what two nights decided, by their dates.")
@click.argument("what", required=False, metavar="[ID | TEXT | PLACE | NIGHT]")
def explain(common: Common, what: str | None, *, diff: tuple[str, str] | None, every: bool, as_json: bool) -> None:
    """Explain a fragment by its ID, a piece of its TEXT or its PLACE; without any, those nearest to promotion.

    A line of MEMORY.md, such as MEMORY.md:12, is explained by where it came from; a NIGHT by its date, such as
    2026-06-18, by what it looked at and decided.
    """
    if diff and (what or every):
        raise click.UsageError("--diff compares two nights and nothing else")
    if what is not None and not what.strip():
        raise click.UsageError("name an id, a piece of text, a place or a night; or nothing, for those nearest")
    what = printable(what) if what else what
    with common.open_to_read() as home:
        now = common.moment(home)
        problems = observe(home, now=now).trouble
        complain(problems)
        if diff:
            _compare(home, diff, problems, as_json=as_json)
        elif what and is_memory(what):
            _trace(home, what, problems, as_json=as_json)
        elif what and night_meant(home, what):
            _recount(home, what, problems, every=every, as_json=as_json)
        else:
            _explain(home, what, problems, now=now, every=every, as_json=as_json)


def _explain(
    home: Home, what: str | None, problems: tuple[str, ...], *, now: datetime, every: bool, as_json: bool
) -> None:
    if every and not what:
        found = examined(home, home.store.every(), now=now)
    else:
        found = examined(home, meant(home, what), now=now) if what else nearest(home, now=now)
    if as_json:
        print_json(documents.explain(found, written_of(home, found), problems))
    else:
        shown = found if every else found[:SHOWN]
        own = written_of(home, shown)
        paragraphs = ["\n".join(lines(one, own[one.candidate.id], home.zone)) for one in shown]
        say("\n\n".join([*paragraphs, *more(len(found) - len(shown))]) or nothing(home, what, now=now))
    if what and not found:
        raise click.exceptions.Exit(REFUSED)


def _trace(home: Home, what: str, problems: tuple[str, ...], *, as_json: bool) -> None:
    found = origins(home, what)
    if as_json:
        print_json(documents.explain_lines(found, problems))
    else:
        say("\n\n".join("\n".join(origin_lines(one, home.zone, briefly=len(found) > 1)) for one in found))


def _recount(home: Home, what: str, problems: tuple[str, ...], *, every: bool, as_json: bool) -> None:
    found = night_explained(home, what)
    if as_json:
        print_json(documents.explain_night(found, problems))
    else:
        say("\n".join(night_lines(found, most=None if every else SHOWN)))


def _compare(home: Home, diff: tuple[str, str], problems: tuple[str, ...], *, as_json: bool) -> None:
    found = nights_compared(home, *(printable(day) for day in diff))
    if as_json:
        print_json(documents.explain_diff(found, problems))
    else:
        say("\n".join(difference_lines(found)))


def more(count: int) -> tuple[str, ...]:
    """Return what to say of fragments that are not shown."""
    narrower = "name more words, a place or an id to narrow it, or see all with --all"
    return (f"{count} more; {narrower}",) if count else ()


def nothing(home: Home, what: str | None, *, now: datetime) -> str:
    """Return what to say when there is nothing to explain."""
    if not what:
        return nothing_near(home, now=now)
    known = no_night(home, what) or nothing_at(home, what, now=now)
    return known or f"No fragment contains “{what}”; try fewer words, or dream explain --all"


def lines(one: Examined, life: Life, zone: tzinfo) -> Iterator[str]:
    """Return the explanation of one fragment for people, within 80 columns but for the texts themselves."""
    yield one.candidate.fragment.text
    if life.standing:
        since = min(line.promotion.night for line in life.standing)
        yield f"  {_named(one)}"
        yield f"  verdict: in MEMORY.md since {since.isoformat()}"
        for line in life.standing:
            yield from (f"  {said}" for said in origin_lines(line, zone, briefly=len(life.standing) > 1))
    for promotion in life.ended:
        ended = f" ({promotion.ended_at.astimezone(zone).date()})" if promotion.ended_at else ""
        yield f"  {_made(promotion)}, {NOW[promotion.state]}{ended}: “{promotion.text}”"
    if life.standing and one.exam.promoted_on is not None:
        yield from _marks(life)
        return
    if life.standing:
        yield ""
        yield f"  what of it was not promoted: “{one.exam.draft.text}”"
        yield f"  verdict on that: {verdict(one.gates)}"
    else:
        yield f"  {_named(one)}  verdict: {_verdict(one, life)}"
        if one.exam.draft.text != one.candidate.fragment.text and not one.candidate.flaws:
            yield f"  what follows is about: “{one.exam.draft.text}”"
    yield from _exam(one, life)


def _named(one: Examined) -> str:
    stands = one.candidate.place
    return f"{one.candidate.id}  {stands.place if stands else 'source gone'}"


def _verdict(one: Examined, life: Life) -> str:
    found = verdict(one.gates)
    waits = any(promotion.state is State.PROPOSED for promotion in life.promotions)
    return "proposed" if found == "promoted" and waits else found


def _made(promotion: Promotion) -> str:
    word = "proposed" if promotion.state in (State.PROPOSED, State.REJECTED) else "promoted"
    return f"{word} on {promotion.night.isoformat()}"


def _exam(one: Examined, life: Life) -> Iterator[str]:
    yield _counts(one.candidate.evidence)
    yield from _asked(life)
    yield from _marks(life)
    yield from map(_part, life.parts)
    yield _score(one.exam.score.boost, one.exam.score.total, one.gates)
    yield from map(_gate, one.gates)
    yield from _within(f"what would change it: {life.change}", indent=2, hanging=4)


def _counts(evidence: Evidence) -> str:
    return (
        f"  recalls {evidence.recalls}, sightings {evidence.sightings}, grounded {evidence.grounded}, "
        f"different questions {evidence.unique_queries}, days {len(evidence.days)}"
    )


def _part(part: Part) -> str:
    bar = "█" * round(part.value * BAR)
    product = f"{part.value:.2f} × {part.weight:.2f} = {part.value * part.weight:.3f}"
    return f"  {part.name:<14} {product}  {bar:<{BAR}}  {part.formula}"


def _score(boost: float, total: float, gates: Sequence[GateResult]) -> str:
    least = next(gate.threshold for gate in gates if gate.name == "score")
    return f"  and a boost of {boost:.3f} make the score {total:.3f} (needs {least:.2f})"


def _gate(gate: GateResult) -> str:
    said = f"{'ok ' if gate.passed else 'NO '} {gate.name:<15} {gate.missing or _passed(gate)}"
    return "\n".join(_within(said, indent=2, hanging=22))


def _within(text: str, *, indent: int, hanging: int) -> list[str]:
    return textwrap.wrap(text, COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * hanging) or [""]


def _passed(gate: GateResult) -> str:
    """Return what a gate measured, and what it needs where that is a number."""
    if not isinstance(gate.value, int | float):
        return str(gate.value)
    unit = UNITS.get(gate.name, "")
    return f"{gate.value:g}{unit} ({'any' if gate.threshold is None else f'needs {gate.threshold:g}'})"


def _asked(life: Life) -> Iterator[str]:
    for one in life.asked:
        grounded = f", {one.grounded} times “remember this”" if one.grounded else ""
        yield f"    {one.day.isoformat()}  {counted(one.recalls, 'question')}{grounded}"


def _marks(life: Life) -> Iterator[str]:
    for mark, nights in life.marks.items():
        if nights:
            yield f"  {mark.value} by {'light' if mark is Mark.STAGED else 'REM'} on {_nights(nights)}"


def _nights(nights: Sequence[date]) -> str:
    last = ", ".join(night.isoformat() for night in nights[-NIGHTS_SHOWN:])
    return last if len(nights) <= NIGHTS_SHOWN else f"{len(nights)} nights, last {last}"


def origin_lines(one: Origin, zone: tzinfo, *, briefly: bool = False) -> Iterator[str]:
    """Return where a line of `MEMORY.md` came from and why it is there, for people; `briefly` without the gates."""
    promotion = one.promotion
    yield f"MEMORY.md:{one.line}  {one.words or 'nothing: you took the words'}"
    if one.is_reworded:
        yield f"  reworded by you; promoted as: “{promotion.text}”"
    yield f"  {promotion.name}  {_made(promotion)}, {NOW[promotion.state]}"
    yield f"  from {promotion.place}"
    yield from _basis(one, briefly=briefly)
    if promotion.state is State.IN_FORCE:
        yield f"  to take it out: dream undo {promotion.name}, or delete the line"
    if one.corrected is not None:
        yield f"  in place of, promoted on {one.corrected.night.isoformat()}: “{one.corrected.text}”"
    for event in one.changes:
        state = next(state for known, state in event.promotions if known.id == promotion.id)
        at = event.change.at.astimezone(zone)
        yield f"  {at:%Y-%m-%d %H:%M}  {event.change.file}: {event.change.reason} ({state}; change {event.change.id})"


def _basis(one: Origin, *, briefly: bool) -> Iterator[str]:
    promotion = one.promotion
    if promotion.basis is None:
        yield f"  recalls {promotion.recalls}, boost {promotion.boost:.3f}, score {promotion.score:.3f}"
        yield "  the version that promoted it kept no more of why it did"
        return
    evidence = promotion.basis.evidence
    said = f"{_asked_for(evidence)}: {', '.join(day.isoformat() for day in evidence.days)}"
    yield from _within(said, indent=2, hanging=4)
    yield from map(_part, one.parts)
    yield _score(promotion.boost, promotion.score, one.gates)
    if briefly:
        yield f"  ok  all {len(one.gates)} gates; see them with: dream explain MEMORY.md:{one.line}"
    else:
        yield from map(_gate, one.gates)


def _asked_for(evidence: Evidence) -> str:
    told = f", and told to be remembered {_times(evidence.grounded)}" if evidence.grounded else ""
    questions, days = counted(evidence.unique_queries, "different question"), counted(len(evidence.days), "day")
    return f"asked for {_times(evidence.recalls)}{told}, by {questions}, on {days}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def night_lines(found: NightExplained, *, most: int | None) -> Iterator[str]:
    """Return what a night looked at and decided, for people; at most so many texts of each kind."""
    record = found.record
    yield f"Night of {record.date.isoformat()}{'' if record.finished_at else ' (did not finish)'}"
    for word in ("promoted", "proposed"):
        made = [_won(one.promotion) for one in found.decided if one.verdict == word and one.promotion]
        yield f"{word} {len(made)}"
        yield from _some(made, most)
    if found.archived:
        yield f"taken to the archive {len(found.archived)}"
        yield from _some([f"  {one.text} ({_made(one)})" for one in found.archived], most)
    yield ", ".join(f"{mark.value} {len(own)}" for mark, own in found.looked_at.items())
    yield from _some([f"  {text} ({', '.join(marks)})" for (_, text), marks in found.marks.items()], most)
    yield from _refused(found, most)


def _won(promotion: Promotion) -> str:
    """Return what a night promoted, and beneath it from where and for what."""
    lines = [f"  {promotion.text} (score {promotion.score:.3f})", f"    {promotion.name}  from {promotion.place}"]
    if promotion.basis:
        lines.append(f"    {_asked_for(promotion.basis.evidence)}")
    return "\n".join(lines)


def _refused(found: NightExplained, most: int | None) -> Iterator[str]:
    refused = [one for one in found.decided if one.verdict == "refused"]
    deep = found.record.reports.get(Phase.DEEP, {})
    counts, unranked = of_ranked(found.refused, deep.get("refused", len(refused)))
    if deep:
        yield f"ranked {deep.get('ranked', 0)}, refused {deep.get('refused', 0)}"
    for gate in dict.fromkeys([*(one.reasons[0][0] for one in refused), *counts]):
        own = [one for one in refused if one.reasons[0][0] == gate]
        yield f"refused {counts.get(gate, len(own))} at {gate}: {ranked_in_words(gate)}"
        for one in own[:most]:
            yield f"  {one.text}"
            yield from _why(one)
        yield from _rest(len(own), most)
    if unranked:
        yield f"not ranked {unranked}: nobody ever asked for them"


def _some(lines: Sequence[str], most: int | None) -> Iterator[str]:
    yield from lines[:most]
    yield from _rest(len(lines), most)


def _rest(count: int, most: int | None) -> Iterator[str]:
    if most is not None and count > most:
        yield f"  and {count - most} more; see them with --all"


def difference_lines(found: Difference) -> Iterator[str]:
    """Return what two nights decided differently, for people."""
    yield f"{found.before.isoformat()} → {found.after.isoformat()}"
    for sign, own in (("+", found.new), ("-", found.gone)):
        for one in own:
            yield f"{sign} {one.text}"
            yield from _why(one)
    for before, after in found.changed:
        yield f"~ {after.text}"
        yield from _why(before, "was ")
        yield from _why(after, "now the rest " if before.promotion and after.verdict == "refused" else "now ")
    if not (found.new or found.gone or found.changed):
        yield "Both decided the same."


def _why(one: Decided, when: str = "") -> Iterator[str]:
    """Return why something was refused; what no question changes needs no word on how many were asked."""
    final = bool(one.reasons) and one.reasons[0][0] in HOPELESS
    reasons = ", ".join(reason for gate, reason in one.reasons if not final or gate not in ASKING)
    said = f"{when}{one.verdict}{f': {reasons}' if reasons else ''}"
    yield from _within(said, indent=4, hanging=6)
