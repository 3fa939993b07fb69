"""`dream status --all`: how the nights of all workspaces stand, a line each."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from cron import record
from cron.nights import one_line
from cron.standing import Named, NothingFoundError, Standing, last_date, local, standing
from dreaming import documents
from dreaming.cli.common import CONFIG, REFUSED, Common, complain, print_json, say
from dreaming.fleet import TROUBLE
from dreaming.gates import in_words, of_ranked, ranked_in_words
from dreaming.home import STORE, NoWorkspaceError, opened
from dreaming.layers import ConfigError
from dreaming.overview import overview


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How the nights of a workspace stand; `problem` says why that is not known.

    `late` says that a night should have come that is not done. `failures` are those in a row, `failure` the last one.
    """

    root: Path
    problem: str = ""
    code: int = 0
    on: bool = False
    last: date | None = None
    finished: bool = False
    next: datetime | None = None
    late: bool = False
    promoted: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    streak: int = 0
    blocking: str | None = None
    failures: int = 0
    failure: str = ""


def show_all(common: Common, *, as_json: bool) -> None:
    """Print how the nights of all workspaces stand; a workspace that cannot be read is told and counts as failed."""
    named = Named(workspaces=common.workspaces, config=common.config)
    found = named.fleet()
    missing = tuple(Report(root=one, problem=str(NoWorkspaceError(one)), code=CONFIG) for one in found.missing)
    reports = (*missing, *(report(common, named, root) for root in found.roots))
    if not reports:
        raise NothingFoundError(found.patterns)
    if as_json:
        print_json({"workspaces": [as_document(one) for one in reports]})
    else:
        for one in reports:
            for line in lines(one):
                say(line)
    complain(tuple(f"{one.root}: {one.problem}" for one in reports if one.problem))
    if code := max(one.code for one in reports):
        raise SystemExit(code)


def report(common: Common, named: Named, root: Path) -> Report:
    """Return how the nights of a workspace stand; nothing in it is made or changed."""
    try:
        one = standing(named, root)
        now = common.at(one.zone)
        return _report(named, one, now)
    except (ConfigError, NoWorkspaceError) as error:
        return Report(root=root, problem=one_line(str(error)), code=CONFIG)
    except TROUBLE as error:
        return Report(root=root, problem=one_line(str(error)), code=REFUSED)


def _report(named: Named, one: Standing, now: datetime) -> Report:
    known = record.read(one.root)
    told: dict[str, Any] = {
        "root": one.root,
        "on": one.on,
        "next": one.next(now) if one.on else None,
        "failures": known.in_a_row if known else 0,
        "failure": known.failure if known else "",
    }
    if not (one.root / STORE).exists():
        return Report(**told, late=one.on and one.due(now, None))
    with opened(one.root, config=named.config, environ=os.environ) as home:
        found = overview(home, now=now)
        refused = home.journal.last_refused()
    night = found.last_night
    deep = next((counts for phase, counts in night.reports.items() if phase == "deep"), {}) if night else {}
    return Report(
        **told,
        last=night.date if night else None,
        finished=bool(night and night.finished_at),
        late=one.on and one.due(now, last_date(named, one, now=now)),
        promoted=deep.get("promoted", 0),
        refused=of_ranked(refused, deep.get("refused", 0))[0],
        streak=found.streak,
        blocking=found.blocking,
    )


def lines(one: Report) -> Iterator[str]:
    """Return what people read of a workspace."""
    if one.problem:
        return
    yield f"{one.root}"
    yield f"    {_last(one)}{', late' if one.late else ''}; {_next(one)}"
    if one.refused:
        yield f"    refused: {', '.join(f'{count} {ranked_in_words(gate)}' for gate, count in one.refused.items())}"
    if one.streak > 1:
        blocking = f"; the last refused most as {in_words(one.blocking)}" if one.blocking else ""
        yield f"    {one.streak} nights without a promotion{blocking}"
    if one.failures:
        times = "once" if one.failures == 1 else f"{one.failures} times in a row"
        yield f"    failed {times}: {one.failure}"


def _last(one: Report) -> str:
    if one.last is None:
        return "no night yet"
    ending = "" if one.finished else " (did not finish)"
    return f"last night {one.last}{ending}, promoted {one.promoted}"


def _next(one: Report) -> str:
    if not one.on:
        return "nights are off"
    return f"next night {local(one.next)}" if one.next else "no night will come"


def as_document(one: Report) -> documents.Document:
    """Return what machines read of a workspace."""
    return {
        "workspace": str(one.root),
        "problem": one.problem or None,
        "enabled": one.on,
        "last_night": one.last.isoformat() if one.last else None,
        "finished": one.finished,
        "late": one.late,
        "next_night": one.next.isoformat() if one.next else None,
        "promoted": one.promoted,
        "refused": dict(one.refused),
        "nights_without_promotion": one.streak,
        "blocking_gate": one.blocking,
        "failures": one.failures,
        "last_failure": one.failure or None,
    }
