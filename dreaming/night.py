"""One night of one workspace: lock, recover, observe, run the phases, write, tell, report."""

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from dreaming import pages
from dreaming.changes.history import notice
from dreaming.entries import standing
from dreaming.home import Home
from dreaming.observing.hearing import Hearing, hear
from dreaming.observing.observe import Observation, observe
from dreaming.progress import also_noted
from dreaming.promotion import ledger
from dreaming.run import RUNS, Run
from dreaming.tell import tell
from memory.changes import Effect
from memory.model import Phase
from memory.promotions import Promotion, State
from workspace.errors import GoneError, WorkspaceError
from workspace.lock import lock

ASLEEP = {Phase.LIGHT: "light sleep", Phase.REM: "REM sleep", Phase.DEEP: "deep sleep"}
ELSEWHERE = "name the workspace with --workspace, or let your agent write memory/YYYY-MM-DD.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseReport:
    """What a phase did, in counts; `told` says whether its entry stands in the dream diary."""

    phase: Phase
    counts: Mapping[str, int]
    told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NightReport:
    """One run of a night; `refused` counts each refused fragment once, at the first gate it fails.

    `proposed` waits for a review; `replaced` is what promotions correct, by its id; `dropped_dates` are the days whose
    promotions this run moved from `MEMORY.md` to the archive, `removed` what the user took out since the last one.
    """

    night: date
    observed: Observation
    heard: Hearing
    phases: tuple[PhaseReport, ...]
    promoted: tuple[Promotion, ...]
    proposed: tuple[Promotion, ...]
    replaced: Mapping[int, str]
    refused: Mapping[str, int]
    dropped_dates: tuple[date, ...]
    removed: tuple[Promotion, ...]
    problems: tuple[str, ...]
    failed: bool


def run_night(home: Home, *, phases: Sequence[Phase], now: datetime) -> NightReport:
    """Run phases of the local date's night; running it again continues it and, unchanged, changes nothing.

    Raise HeldError when another process runs a night here, and GoneError when the workspace is removed meanwhile.
    """
    with nullcontext(None) if home.dry else lock(home.root, now=now) as note:
        if note is not None:
            home = replace(home, progress=also_noted(home.progress, note))
        removed: tuple[Effect, ...] = ()
        with suppress(WorkspaceError):  # said once, when the promotions are written
            removed = ledger.recover(home, now=now)
        notice(home, now=now, removed=removed)
        observed = observe(home, now=now, vectors_at_most=-1, patient=True)
        heard = hear(home, now=now)
        _require_folder(home)
        run = _begun(home, now=now)
        for phase in Phase:
            if phase in phases:
                _run(run, phase)
        if home.store.counts()["sources"] == 0:
            run.problems.append(f"there is no diary under {home.root / home.config.workspace.diaries}; {ELSEWHERE}")
        unwritten = pages.write(home, run.night, run.sections, now=now)
        _finish(run)  # before anybody is asked for an entry: that may take long, or be interrupted
        _require_folder(home)
        told = tell(home, run.stories, night=run.night, now=now)
        run.problems += dict.fromkeys((*unwritten, *told.unwritten, *told.notes))
        run.failed |= bool(unwritten or told.unwritten)
        _require_folder(home)
        return _report(run, observed, heard, removed)


def _require_folder(home: Home) -> None:
    """Say in one sentence that the workspace was removed meanwhile, in place of one for each file."""
    if not home.root.is_dir():
        raise GoneError(home.root)


def _begun(home: Home, *, now: datetime) -> Run:
    night = home.local_date(now)
    with home.store.writing():
        began = home.journal.begin(night, now=now)
    return Run(home=home, night=night, now=now, began=began)


def _run(run: Run, phase: Phase) -> None:
    began = time.monotonic()
    with run.home.progress(ASLEEP[phase]):
        RUNS[phase](run)
    run.seconds[phase] = round(time.monotonic() - began, 3)


def _finish(run: Run) -> None:
    store, journal = run.home.store, run.home.journal
    with store.writing():
        store.prune(before=run.began - timedelta(days=run.home.config.memory.retention_days))
        for phase, counts in run.counts.items():
            journal.record_run(run.night, phase, {**counts, "seconds": run.seconds[phase]}, now=run.now)
        if Phase.DEEP in run.counts:
            journal.record_deep(run.night, run.refused, material=run.material)
        journal.finish(run.night, now=run.now)
    run.home.forget_unrecorded(now=run.now)


def _report(run: Run, observed: Observation, heard: Hearing, removed: Sequence[Effect]) -> NightReport:
    told = standing(run.home, run.night)
    made, by_id = ledger.made(run.home, run.night), run.home.promotions.by_id() if removed else {}
    return NightReport(
        night=run.night,
        observed=observed,
        heard=heard,
        phases=tuple(PhaseReport(phase=p, counts=counts, told=p in told) for p, counts in run.counts.items()),
        promoted=tuple(one for one in made if one.state is not State.PROPOSED),
        proposed=tuple(one for one in made if one.state is State.PROPOSED),
        replaced=ledger.replaced(run.home, made),
        refused=run.refused,
        dropped_dates=run.dropped_dates,
        removed=tuple(by_id[effect.promotion] for effect in removed),
        problems=(*observed.problems, *heard.problems, *run.problems),
        failed=run.failed,
    )
