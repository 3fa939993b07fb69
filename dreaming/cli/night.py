"""`dream`: run tonight's night, or some of its phases."""

import signal
import sys
import textwrap
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dreaming.cli.common import REFUSED, Common, complain, print_json, say
from dreaming.fleet import keep_apart
from dreaming.gates import of_ranked, ranked_in_words
from dreaming.night import NightReport, PhaseReport, run_night
from memory.model import Phase
from workspace.files import DryFiles

WIDTH = 80
LABEL = 7
"""Columns of the name of a phase."""
WORDS = {
    Phase.LIGHT: "staged {staged} of {examined} alive, {fresh} of them new",
    Phase.REM: "considered {considered}, themes {themes}, candidate truths {truths}",
    Phase.DEEP: "ranked {ranked}, promoted {promoted}, refused {refused}",
}


def night(common: Common, phases: tuple[str, ...], *, dry_run: bool, as_json: bool) -> None:
    """Run the night and print one line a phase."""
    with stoppable(), common.open(dry=dry_run) as home:
        keep_apart(home.root, home.config)
        chosen = tuple(Phase(name) for name in phases) or home.phases()
        report = run_night(home, phases=chosen, now=common.moment(home))
        diffs = home.files.diffs() if isinstance(home.files, DryFiles) else ()
    if as_json:
        print_json(as_document(report) | ({"dry_run": True, "diffs": list(diffs)} if dry_run else {}))
    else:
        for line in (*lines(report), *dry_lines(diffs, dry_run=dry_run)):
            say(line)
    complain(report.problems)
    if report.failed:
        sys.exit(REFUSED)


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: a narrator's program is ended too, which has a session of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def lines(report: NightReport) -> Iterator[str]:
    """Return the report for people: the night, a line a phase, a line a promotion."""
    yield f"Night of {report.night.isoformat()}"
    for one in report.phases:
        yield from phase_lines(one, report.refused)
    for promotion in report.promoted:
        yield f"  + {promotion.text} (score {promotion.score:.2f}, {promotion.path}:{promotion.start_line})"
        if promotion.replaces is not None and promotion.replaces in report.replaced:
            yield f"    in place of: {report.replaced[promotion.replaces]}"
    for promotion in report.proposed:
        yield f"  ? {promotion.text} (score {promotion.score:.2f}, {promotion.path}:{promotion.start_line})"
    if report.proposed:
        yield "  what is marked with ? waits for your word: dream review"
    for day in report.dropped_dates:
        yield f"  - promotions of {day.isoformat()} moved from MEMORY.md to memory/archive/, to make room"
    for promotion in report.removed:
        yield f"  - you took this out of MEMORY.md, so no night writes it again: {promotion.text}"


def phase_lines(one: PhaseReport, refused: Mapping[str, int]) -> Iterator[str]:
    """Return what a phase did, within 80 columns."""
    said = WORDS[one.phase].format(**one.counts)
    if one.phase is Phase.DEEP:
        gates, _ = of_ranked(refused, one.counts["refused"])
        because = ", ".join(f"{count} {ranked_in_words(gate)}" for gate, count in gates.items())
        said += f" ({because})" if because else ""
    yield from textwrap.wrap(
        f"{said}{'; told' if one.told else ''}",
        WIDTH,
        initial_indent=f"{one.phase:<{LABEL}}",
        subsequent_indent=" " * LABEL,
        break_long_words=False,
    )


def dry_lines(diffs: tuple[str, ...], *, dry_run: bool) -> Iterator[str]:
    """Return what a dry run would have written."""
    if dry_run:
        yield "Dry run: nothing was changed."
        yield from diffs


def as_document(report: NightReport) -> dict[str, object]:
    """Return the report as the JSON says it."""
    return {
        "night": report.night.isoformat(),
        "phases": [{"name": one.phase.value, **one.counts, "told": one.told} for one in report.phases],
        "promoted": [{"id": p.fragment, "text": p.text, "score": p.score} for p in report.promoted],
        "proposed": [{"id": p.fragment, "text": p.text, "score": p.score} for p in report.proposed],
        "refused": dict(report.refused),
        "removed": [promotion.text for promotion in report.removed],
        "dropped_dates": [day.isoformat() for day in report.dropped_dates],
        "read": report.observed.read,
        "gone": report.observed.gone,
        "problems": list(report.problems),
    }
