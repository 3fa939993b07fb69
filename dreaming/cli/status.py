"""`dream status`: the last night, the store, the head-room, the nearest candidates."""

from collections.abc import Iterator, Sequence
from importlib import import_module

import click

from dreaming import documents
from dreaming.cli.common import Common, complain, fleet_options, json_option, print_json, say
from dreaming.home import Home
from dreaming.observe import observe
from dreaming.overview import Overview, ToldPhase, overview
from memory.journal import NightRecord

ALL = "cron.report"
"""The module of `dream status --all`; named only, because cron is above dreaming."""


@click.command()
@fleet_options
@click.option("--all", "everything", is_flag=True, help="Show how the nights of all workspaces stand.")
@json_option
def status(common: Common, *, everything: bool, as_json: bool) -> None:
    """Show how the workspace stands: what the last night did, and what stands in the way of promotion."""
    if everything:
        import_module(ALL).show_all(common, as_json=as_json)
        return
    if len(common.workspaces) > 1:
        raise click.UsageError("this goes for one workspace; for several add --all")
    with common.open_to_read() as home:
        now = common.moment(home)
        read = observe(home, now=now)
        found = overview(home, now=now)
        problems = (*read.problems, *((found.unscanned,) if found.unscanned else ()))
        complain(problems)
        if as_json:
            print_json(documents.status(home, found, problems))
        else:
            for line in lines(home, found):
                say(line)


def lines(home: Home, found: Overview) -> Iterator[str]:
    """Return the status for people, within 80 columns but for paths and texts."""
    on = home.config.dreaming.enabled
    yield f"Workspace   {home.root}"
    yield f"Schedule    {'on' if on else 'off'} ({home.config.dreaming.time}, {home.zone}); a night by hand: dream"
    yield f"Last night  {_night(found.last_night)}"
    yield from _told(found.told)
    yield "Store       {standing} live fragments of {sources} files, {recalls} searches and reads".format(
        **found.counts
    )
    share = f"{found.memory_chars:,} of {found.budget_chars:,} characters"
    yield f"MEMORY.md   {share}, {found.in_force} promotions in force, {found.dropped} in the archive"
    if found.nearly_full:
        yield "            nearly full: the next promotions move the oldest ones to the archive"
    if found.proposed:
        yield f"Review      {found.proposed} wait for your word: dream review"
    if found.unrecorded:
        yield f"Recalls     {len(found.unrecorded)} could not be recorded, the last at {found.unrecorded[-1]}"
    if found.streak > 1:
        yield f"Streak      {found.streak} nights without a promotion{_because(found)}"
    for one in found.nearest:
        yield f"Nearest     {one.exam.draft.text}"
        yield f"            {', '.join(gate.missing for gate in one.failed) or 'passes every gate tonight'}"


def _night(record: NightRecord | None) -> str:
    if record is None:
        return "never run"
    phases = ", ".join(f"{phase} {_counts(counts)}" for phase, counts in record.reports.items())
    return f"{record.date.isoformat()}{'' if record.finished_at else ' (did not finish)'}: {phases or 'no phase'}"


def _told(told: Sequence[ToldPhase]) -> Iterator[str]:
    if told:
        yield "Told        " + ", ".join(f"{one.phase} by {one.narrator or 'nobody'}" for one in told)
    for one in told:
        for reason in one.refused:
            yield f"            {one.phase}: {reason}"
    if sent := sum(one.prompt_tokens for one in told):
        yield f"            about {sent:,} tokens sent, {sum(one.answer_tokens for one in told):,} came back"


def _counts(counts: object) -> str:
    return " ".join(f"{name} {count}" for name, count in counts.items()) if isinstance(counts, dict) else ""


def _because(found: Overview) -> str:
    return f"; the gate that blocks most is {found.blocking}" if found.blocking else ""
