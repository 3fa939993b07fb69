"""`dream status`: the last night, the store, the head-room, the nearest candidates."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

import click

from dreaming import documents
from dreaming.cli.common import REFUSED, Common, complain, fleet_options, json_option, print_json, say
from dreaming.cli.watch import watched
from dreaming.gates import in_words, of_ranked, ranked_in_words
from dreaming.home import Home
from dreaming.observing.observe import observe
from dreaming.overview import Overview, ToldPhase, needs, overview
from memory.journal import NightRecord
from memory.model import Phase
from workspace.errors import Holder

ALL = "cron.report"
"""The module of `dream status --all`; named only, because cron is above dreaming."""


WIDTH = 80
LABEL = 12
"""Columns of the words on the left."""


@click.command()
@fleet_options
@click.option("--all", "everything", is_flag=True, help="Show how the nights of all workspaces stand.")
@click.option("--check", is_flag=True, help="Print only what needs you, a line each, and exit with 1 if anything does.")
@click.option("--watch", is_flag=True, help="Show the night that runs now as it goes on, then how things stand.")
@json_option
def status(common: Common, *, everything: bool, check: bool, watch: bool, as_json: bool) -> None:
    """Show how the workspace stands: what the last night did, and what stands in the way of promotion."""
    if everything:
        if check:
            raise click.UsageError("--check goes for one workspace, without --all")
        if watch:
            raise click.UsageError("--watch goes for one workspace, without --all")
        import_module(ALL).show_all(common, as_json=as_json)
        return
    if len(common.workspaces) > 1:
        raise click.UsageError("this goes for one workspace; for several add --all")
    if watch:
        watched(common.to_read()[0])
    with common.open_to_read() as home:
        now = common.moment(home)
        read = observe(home, now=now)
        found = overview(home, now=now)
        problems = (*read.problems, *((found.unscanned,) if found.unscanned else ()))
        needed = tuple(needs(found, problems))
        if as_json:
            print_json(documents.status(home, found, problems))
        else:
            for line in needed if check else lines(home, found):
                say(line)
        if not check or as_json:
            complain(problems)
    if check and needed:
        raise click.exceptions.Exit(REFUSED)


def lines(home: Home, found: Overview) -> Iterator[str]:
    """Return the status for people, within 80 columns but for paths and texts."""
    yield f"Workspace   {home.root}"
    yield from _schedule(home, found)
    if found.running is not None:
        yield from _wrapped("Running", f"a night, by {found.running}{_doing(found.running)}")
    yield from _night(found.last_night, going=found.running is not None)
    if found.refused:
        yield from _wrapped("Refused", _refused(found))
    yield from _told(found.told)
    yield from _wrapped(
        "Store",
        "{standing} live fragments of {sources} files, {recalls} searches and reads, ".format(**found.counts)
        + f"{_bytes(found.store_bytes)} on the disk",
    )
    share = f"{found.memory_chars:,} of {found.budget_chars:,} characters, room for {found.room_chars:,}"
    yield from _wrapped("MEMORY.md", f"{share}; {found.in_force} promotions in force, {found.dropped} in the archive")
    if found.nearly_full:
        yield "            nearly full: the next promotions move the oldest ones to the archive"
    if found.proposed:
        yield f"Review      {found.proposed} wait for your word: dream review"
    if found.unrecorded:
        yield f"Recalls     {len(found.unrecorded)} could not be recorded, the last at {found.unrecorded[-1]}"
    if found.failures:
        yield from _wrapped("Failures", f"{found.failures} in a row; the last: {found.failure}")
    if found.streak > 1:
        yield from _wrapped("Streak", f"{found.streak} nights without a promotion{_because(found)}")
    for one, change in zip(found.nearest, found.changes, strict=True):
        yield f"Nearest     {one.exam.draft.text}"
        missing = ", ".join(gate.missing for gate in one.failed)
        yield from _wrapped("", f"{missing}: {change}" if missing else "passes every gate tonight")


def _refused(found: Overview) -> str:
    """Return what deep refused, in numbers that add up to its count, and apart from it what it did not rank."""
    deep = found.last_night.reports.get(Phase.DEEP, {}) if found.last_night else {}
    gates, unranked = of_ranked(found.refused, deep.get("refused", 0))
    parts = [", ".join(f"{count} {ranked_in_words(gate)}" for gate, count in gates.items())] if gates else []
    return "; ".join([*parts, *([f"not ranked: {unranked} that nobody ever asked for"] if unranked else [])])


def _wrapped(label: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        WIDTH,
        initial_indent=label.ljust(LABEL),
        subsequent_indent=" " * LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _schedule(home: Home, found: Overview) -> Iterator[str]:
    settings = home.config.dreaming
    on = "on" if settings.enabled else "off"
    yield from _wrapped("Schedule", f"{on} ({settings.time}, {home.zone}); a night by hand: dream")
    if settings.enabled:
        at = found.next_night
        yield f"Next night  {at.isoformat(sep=' ', timespec='minutes') if at else 'none will ever come'}"


def _doing(holder: Holder) -> str:
    how_far = f" ({holder.done:,} of {holder.total:,})" if holder.total else ""
    return f": {holder.doing}{how_far}" if holder.doing else ""


def _night(record: NightRecord | None, *, going: bool) -> Iterator[str]:
    if record is None:
        yield "Last night  never run"
        return
    halted = "" if record.finished_at or going else " (did not finish)"
    ran = ":" if record.reports else ": no phase"
    yield from _wrapped("Last night", f"{record.date.isoformat()}{halted}{'' if going and not record.reports else ran}")
    for phase, counts in record.reports.items():
        yield from _wrapped("", f"{phase} {_counts(counts)}")


def _told(told: Sequence[ToldPhase]) -> Iterator[str]:
    if told:
        yield from _wrapped("Told", ", ".join(map(_teller, told)))
    for one in told:
        for reason in one.refused:
            yield from _wrapped("", f"{one.phase}: {reason}")
    if sent := sum(one.prompt_tokens for one in told):
        yield f"            about {sent:,} tokens sent, {sum(one.answer_tokens for one in told):,} came back"


def _teller(one: ToldPhase) -> str:
    missing = " (not in DREAMS.md)" if one.narrator and not one.written else ""
    return f"{one.phase} by {one.narrator or 'nobody'}{missing}"


def _counts(counts: Mapping[str, object]) -> str:
    """Return the counts of a phase, and how long it took where that was recorded."""
    said = ", ".join(f"{name} {count}" for name, count in counts.items() if name != "seconds")
    seconds = counts.get("seconds")
    return f"{said}, {seconds:.1f} s" if isinstance(seconds, (int, float)) else said


def _bytes(count: int) -> str:
    """Return a size in the unit that people would choose."""
    if count < 1_000_000:
        return f"{count / 1000:,.0f} kB"
    return f"{count / 1_000_000:,.1f} MB"


def _because(found: Overview) -> str:
    return f"; the last refused most as {in_words(found.blocking)}" if found.blocking else ""
