"""The night of one workspace, if it is due: as a process of its own, with its hooks, and never by two at once."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM
from time import monotonic
from typing import Any

from filelock import FileLock, Timeout

from cron import calls, record
from cron.crew import Crew, Ended, StoppedError
from cron.standing import Named, Standing, last_done, next_sentence, off, standing
from dreaming.cli.common import CONFIG, HELD, INTERRUPTED, REFUSED
from dreaming.fleet import TROUBLE, held, keep_apart, keep_stores_apart
from dreaming.home import STATE, NoWorkspaceError, state
from dreaming.layers import ConfigError

LOCK = STATE / "schedule.lock"
TOLD = (-SIGTERM, -SIGINT, INTERRUPTED)
"""How a night ends that was told to; by SIGINT where Python met the interrupt in `exec`, as of a dataclass."""


class Ending(StrEnum):
    """What came of a workspace's turn."""

    DONE = "done"
    FAILED = "failed"
    HELD = "held"
    OFF = "off"
    NOT_DUE = "not due"
    RUNNING = "running"
    GIVEN_UP = "given up"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a workspace's turn, in a sentence; `report` is the JSON of its night, `code` as SPEC 14 has it.

    `hooks` says which hook failed: that is told, and changes nothing.
    """

    root: Path
    ending: Ending
    sentence: str
    code: int = 0
    night: date | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    hooks: tuple[str, ...] = ()


def unheard(_: Outcome) -> None:
    """Let nobody know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a workspace: at which moment, also when nothing is due, beside which others."""

    named: Named
    root: Path
    now: datetime
    force: bool = False
    roots: tuple[Path, ...] = ()
    begun: Callable[[Outcome], None] = unheard

    def over(self, ending: Ending, sentence: str, **rest: Any) -> Outcome:
        """Return what came of it."""
        return Outcome(root=self.root, ending=ending, sentence=one_line(sentence), **rest)


def take(turn: Turn, crew: Crew) -> Outcome:
    """Run the night of the present date if it is due; whatever is wrong with the workspace becomes its outcome."""
    try:
        one = standing(turn.named, turn.root)
        if not one.on:
            return turn.over(Ending.OFF, off(turn.named, turn.root))
        return _alone(turn, one, crew)
    except (ConfigError, NoWorkspaceError) as error:
        return turn.over(Ending.FAILED, str(error), code=CONFIG)
    except OSError as error:
        why = f"{error.filename or turn.root} cannot be used ({error.strerror}); mend that, and the next run goes on"
        return turn.over(Ending.FAILED, why, code=REFUSED)
    except TROUBLE as error:
        return turn.over(Ending.FAILED, str(error), code=REFUSED)


def _alone(turn: Turn, one: Standing, crew: Crew) -> Outcome:
    """Let one scheduler at a time look whether a night is due, and run it: two of them make one night."""
    keep_stores_apart(turn.root, turn.roots)
    try:
        with _lock(turn.root):
            return _if_due(turn, one, crew)
    except Timeout:
        return turn.over(Ending.RUNNING, "another scheduler is running its night")


@contextmanager
def _lock(root: Path) -> Iterator[None]:
    with FileLock(state(root) / LOCK.name, timeout=0):
        yield


def _if_due(turn: Turn, one: Standing, crew: Crew) -> Outcome:
    done, tonight = last_done(turn.named, one, now=turn.now), one.local_date(turn.now)
    last, before = done.date if done else None, record.read(turn.root)
    if before and done and last == tonight and before.mended(tonight, at=done.at):
        before = None
        record.write(turn.root, None)
    if not turn.force and before and before.given_up(tonight):
        again = f"it failed {before.of_this_date} times tonight and waits for the next night, or dream --all --force"
        return turn.over(Ending.GIVEN_UP, f"{again} ({before.failure})", code=REFUSED, night=tonight)
    if not (turn.force or one.due(turn.now, last) or (before and before.failed(tonight))):
        said = f"nothing is due, the last night was that of {last}" if last else "nothing is due yet"
        return turn.over(Ending.NOT_DUE, f"{said}; {next_sentence(one, turn.now)}", night=last)
    keep_apart(turn.root, one.config, turn.roots)
    if why := held(turn.root):  # nobody is told that a night begins where another one is going on
        return turn.over(Ending.HELD, why, code=HELD, night=tonight)
    try:
        with crew.place():
            return _night(turn, one, crew, before)
    except StoppedError:
        return _stopped(turn, tonight)


def _night(turn: Turn, one: Standing, crew: Crew, before: record.Record | None) -> Outcome:
    tonight, began = one.local_date(turn.now), monotonic()
    body = {"workspace": str(turn.root), "night": tonight.isoformat()}
    turn.begun(turn.over(Ending.RUNNING, f"the night of {tonight} begins", night=tonight))
    _record(turn, tonight, before, record.INTERRUPTED)
    hooks = calls.call(one.config.hooks, calls.Event.START, body)
    try:
        ended = crew.run(_arguments(turn), seconds=one.config.dreaming.limit_minutes * 60)
    except StoppedError:
        ended = Ended(code=-SIGTERM, out="", err="")
    seconds = round(monotonic() - began, 1)
    if crew.stopping.is_set() and ended.code in ((*TOLD, -SIGKILL) if crew.ending.is_set() else TOLD):
        outcome = _stopped(turn, tonight)
        record.write(turn.root, record.stopped(before, night=tonight, at=turn.now.isoformat(timespec="seconds")))
    else:
        outcome = judged(turn, ended, night=tonight, seconds=seconds, minutes=one.config.dreaming.limit_minutes)
        if outcome.ending is Ending.HELD:  # somebody else's night is no failure of this one
            record.write(turn.root, before)
        else:
            _record(turn, tonight, before, outcome.sentence if outcome.code else "", seconds=seconds)
    event = calls.Event.FAIL if outcome.code and outcome.ending is not Ending.HELD else calls.Event.FINISH
    hooks += calls.call(one.config.hooks, event, {**body, **told(outcome, late=ended.late)})
    return replace(outcome, hooks=hooks)


def _record(turn: Turn, night: date, before: record.Record | None, failure: str, *, seconds: float = 0) -> None:
    """Keep how the night ended, or that it has not yet."""
    at = (turn.now + timedelta(seconds=seconds)).isoformat(timespec="seconds")
    record.write(turn.root, record.after(before, night=night, at=at, failure=failure))


def _arguments(turn: Turn) -> tuple[str, ...]:
    config = ("--config", str(turn.named.config.absolute())) if turn.named.config else ()
    return ("--workspace", str(turn.root), "--now", turn.now.isoformat(), *config, "--json")


def _stopped(turn: Turn, night: date) -> Outcome:
    why = "stopped; what was decided is kept, and the next run goes on"
    return turn.over(Ending.STOPPED, why, code=REFUSED, night=night)


def judged(turn: Turn, ended: Ended, *, night: date, seconds: float, minutes: int) -> Outcome:
    """Return what a process that ended says about its night."""
    report, problem = _report(ended.out), last_word(ended.err)
    rest: dict[str, Any] = {"night": night, "report": report, "seconds": seconds}
    if ended.late:
        why = f"stopped after {minutes} minutes, the limit_minutes under [dreaming]; the next run goes on where it was"
        return turn.over(Ending.FAILED, why, code=REFUSED, **rest)
    if ended.code == HELD:
        return turn.over(Ending.HELD, problem, code=HELD, **rest)
    if ended.code < 0:
        return turn.over(Ending.FAILED, f"its process was ended by signal {-ended.code}", code=REFUSED, **rest)
    if ended.code:
        code = CONFIG if ended.code == CONFIG else REFUSED
        return turn.over(Ending.FAILED, problem or f"it failed with code {ended.code}", code=code, **rest)
    return turn.over(Ending.DONE, f"the night of {night}: {counted(report)} ({seconds:g} s)", **rest)


def _report(out: str) -> Mapping[str, Any]:
    try:
        found = json.loads(out)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def counted(report: Mapping[str, Any]) -> str:
    """Return the counts of a night that people look for."""
    counts = {one["name"]: one for one in report.get("phases", ())}
    said = [
        f"{name} {key} {counts[name][key]}"
        for name, keys in (("light", ("staged",)), ("rem", ("truths",)), ("deep", ("promoted", "refused")))
        for key in keys
        if name in counts
    ]
    if problems := len(report.get("problems", ())):
        said.append(f"{problems} problems")
    return ", ".join(said) or "no phase"


def told(outcome: Outcome, *, late: bool) -> dict[str, object]:
    """Return what a hook is told of an ended night: counts, and no text of anybody's."""
    phases = outcome.report.get("phases", ())
    return {
        "phases": [dict(one) for one in phases],
        "promoted": len(outcome.report.get("promoted", ())),
        "problems": len(outcome.report.get("problems", ())),
        "seconds": outcome.seconds,
        "exit_code": outcome.code,
        "timed_out": late,
    }


def last_word(text: str) -> str:
    """Return the last sentence of an error stream."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("dream: ") if lines else ""


def one_line(text: str) -> str:
    """Return a text as one line of a log."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())
