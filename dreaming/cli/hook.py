"""`dream hook`: what the host of an agent calls; it is answered within a second, and nothing it calls can fail."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Thread
from typing import Any, BinaryIO

import click

from dreaming.cli.common import Common, common_options, complain, json_option

SECONDS = 0.8
"""How long the host waits at most; starting Python takes the rest of a second."""
MOST_BYTES = 2**20
"""What a host says is far shorter; more is read, so that its pipe does not break, and not looked at."""
CHUNK = 2**16
NOTHING: dict[str, object] = {}


class HookCommand(click.Command):
    """A command that never exits with 2, which tells a host to hold its agent up."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the arguments; answer with nothing when they are wrong."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            _print(NOTHING, error.format_message())
            raise click.exceptions.Exit(0) from error


@dataclass(slots=True, kw_only=True)
class Attempt:
    """What became of the work: its answer, or the one sentence about what was in the way."""

    answer: dict[str, object] = field(default_factory=dict)
    trouble: str | None = None


@click.command(cls=HookCommand)
@common_options
@json_option
@click.option(
    "--seconds",
    type=click.FloatRange(0, 600),
    default=SECONDS,
    show_default=True,
    help="How long it may take before it answers with nothing.",
)
@click.argument("event", type=click.Choice(["session-start", "stop"]))
def hook(common: Common, event: str, *, seconds: float, as_json: bool) -> None:  # noqa: ARG001 - it is JSON anyway
    """Answer the EVENT of an agent host, whose JSON comes on the standard input; docs/agents.md shows the set-up.

    At session-start the answer is the context of the workspace; at stop, once per session and day, the wish to write
    what matters to the diary. When anything is in the way the answer is {} and the exit code is 0.
    """
    attempt = within(seconds, partial(_answer, common, event))
    if attempt is not None:
        _print(attempt.answer, attempt.trouble)
        return
    _print(NOTHING, f"the hook was not done within {seconds:g} seconds; give it more with --seconds")
    sys.stdout.flush()
    # The work may hang in a read for ever, and Python would wait for it.
    os._exit(0)


def within(seconds: float, work: Callable[[], dict[str, object]]) -> Attempt | None:
    """Return what became of the work, or None when it is not done in time and goes on in a thread of its own."""
    attempt = Attempt()

    def run() -> None:
        try:
            attempt.answer = work()
        except Exception as error:  # noqa: BLE001 - whatever is in the way here, the host's session goes on
            attempt.trouble = str(error) or type(error).__name__

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return None if thread.is_alive() else attempt


def _answer(common: Common, event: str) -> dict[str, object]:
    from dreaming.hooks import Event, NotAHookError, answered
    from dreaming.narrators import NARRATING

    if os.environ.get(NARRATING):
        return NOTHING
    raw = _read(sys.stdin.buffer)
    try:
        return answered(
            Event(event),
            raw,
            workspace=common.workspace,
            config=common.config,
            environ=os.environ,
            now=common.now or datetime.now(UTC),
        )
    except NotAHookError as error:
        raise NotAHookError(_in_words(raw)) from error


def _read(stdin: BinaryIO) -> bytes:
    """Return what the host says; nothing of it when it is beyond all measure."""
    kept, size = [], 0
    while chunk := stdin.read(CHUNK):
        size += len(chunk)
        if size <= MOST_BYTES:
            kept.append(chunk)
    return b"".join(kept) if size <= MOST_BYTES else b""


def _in_words(raw: bytes) -> str:
    """Return what came in place of a JSON object, without the name of an error."""
    if not raw.strip():
        return "nothing came, or more than a megabyte"
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return "what came is no JSON"
    return "what came is JSON of another kind"


def _print(answer: dict[str, object], trouble: str | None) -> None:
    """Print the answer in ASCII, whatever the encoding of the host's pipe, and the sentence on the error stream."""
    if trouble:
        complain((" ".join(trouble.split()),))
    click.echo(json.dumps(answer))
