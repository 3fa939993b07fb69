"""`dream --all`: the due nights of all workspaces, now; what a line of cron, a timer or launchd calls."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from cron.crew import Crew
from cron.nights import Ending, Outcome, Turn, one_line, take
from cron.standing import Named, NothingFoundError, present
from dreaming import documents
from dreaming.cli.common import CONFIG, HELD, REFUSED, Common, complain, print_json, say
from dreaming.config import Config, zone
from dreaming.fleet import Fleet
from dreaming.home import NoWorkspaceError
from dreaming.layers import ConfigError

BADNESS = (0, HELD, REFUSED, CONFIG)
"""Exit codes, the worst one last: a night that runs elsewhere is nearly well, wrong settings let nothing happen."""
LOOK_SECONDS = 0.5
"""How long a signal may go unnoticed."""
SIGNALLED = 128
"""What shells add to the number of a signal."""


def run_all(common: Common, *, force: bool, as_json: bool) -> None:
    """Run the due nights of all workspaces, print a line each, and exit with the worst of their codes."""
    named = Named(workspaces=common.workspaces, config=common.config)
    found = named.fleet()
    crew = Crew(found.workers)
    turns = [_turn(common, named, root, force=force, roots=found.roots) for root in found.roots]
    with _signals() as received:
        ended = tuple(_each(turns, crew, received, print_line=None if as_json else _say))
    outcomes = (*_missing(found), *ended)
    if not outcomes:
        raise NothingFoundError(found.patterns)
    if as_json:
        print_json(documents.turns([as_document(one) for one in outcomes]))
    complain(tuple(_complaints(outcomes)))
    code = max((one.code for one in outcomes), key=BADNESS.index, default=0)
    if received:
        code = SIGNALLED + received[0]
    if code:
        sys.exit(code)


def _turn(common: Common, named: Named, root: Path, *, force: bool, roots: tuple[Path, ...]) -> Turn:
    """Return the turn of a workspace, at the moment that was named in its zone, or by the clock."""
    now = present()
    if common.now is not None:
        try:
            now = common.at(zone(named.settings(root)))
        except (ConfigError, NoWorkspaceError):
            now = common.at(zone(Config()))  # its turn says what is wrong with it
    return Turn(named=named, root=root, now=now, force=force, roots=roots)


def _each(
    turns: Sequence[Turn], crew: Crew, received: Sequence[int], *, print_line: Callable[[Outcome], None] | None
) -> Iterator[Outcome]:
    """Return the outcomes in the order of the workspaces, each as soon as it and those before it are known.

    When a signal is received the nights end; they keep what they decided. A bug that one of them meets shows when all
    others are done.
    """
    bugs: list[BaseException] = []
    with ThreadPoolExecutor(max_workers=crew.threads) as pool:
        for future in [pool.submit(take, turn, crew) for turn in turns]:
            while not _over(future):
                if received:
                    crew.end()
            if bug := future.exception():
                bugs.append(bug)
                continue
            outcome = future.result()
            if print_line:
                print_line(outcome)
            yield outcome
    for bug in bugs:
        raise bug


def _over(future: "Future[Outcome]") -> bool:
    """Wait a little for the end of a turn: a signal that another thread gets wakes nobody up."""
    with suppress(TimeoutError):
        future.exception(timeout=LOOK_SECONDS)
    return future.done()


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Note when this process is told to end; a handler that did more could wait for what it has interrupted."""
    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)

    before: Mapping[int, object] = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal returned


def as_document(one: Outcome) -> documents.Document:
    """Return what came of a turn as the JSON says it."""
    return documents.turn(
        workspace=str(one.root),
        outcome=one.ending.value,
        said=one.sentence,
        code=one.code,
        night=one.night,
        seconds=one.seconds,
        report=one.report,
        hooks=one.hooks,
    )


def _missing(found: Fleet) -> Iterator[Outcome]:
    for place in found.missing:
        yield Outcome(root=place, ending=Ending.FAILED, sentence=one_line(str(NoWorkspaceError(place))), code=CONFIG)


def _say(outcome: Outcome) -> None:
    if outcome.ending is not Ending.FAILED:
        say(f"{outcome.root}  {outcome.sentence}")


def _complaints(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Return what goes to the error stream: what failed, and hooks that did."""
    for outcome in outcomes:
        if outcome.ending is Ending.FAILED:
            yield f"{outcome.root}: {outcome.sentence}"
        yield from (f"{outcome.root}: {sentence}" for sentence in outcome.hooks)
