"""What all commands share: their common options, exit codes, and how they print."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from dreaming.config import Config
    from dreaming.home import Home

FIRST_YEAR = 1971
LAST_YEAR = 9000
"""Between them a night before or after is always a date, in every time zone."""
REFUSED = 1
CONFIG = 2
HELD = 3
INTERRUPTED = 130
"""As shells have it: 128 and the number of the signal."""


class NotYetAWorkspaceError(Exception):
    """A folder that is to be read holds nothing of a workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        super().__init__(
            f"{root} is no workspace yet: make it one with dream init {shlex.quote(str(root))}, "
            "or name yours with --workspace"
        )


class NotAFolderError(WorkspaceError):
    """A file stands where a folder of the workspace belongs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is a file where a folder of the workspace belongs; move it away and try again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The options every command takes; `now` is naive when the user named no offset.

    `workspaces` are the folders and patterns that were named where there may be several; `workspace` is the only one.
    """

    workspace: Path | None
    config: Path | None
    now: datetime | None
    workspaces: tuple[Path, ...] = ()

    @contextmanager
    def open(self, *, dry: bool = False) -> "Iterator[Home]":
        """Open the workspace for a block; raise NotAFolderError when its own folder cannot be made."""
        from dreaming.cli.progress import progress
        from dreaming.home import STATE, opened
        from workspace.errors import NotWritableError

        with ExitStack() as stack:
            try:
                home = stack.enter_context(
                    opened(self.workspace, config=self.config, environ=os.environ, dry=dry, progress=progress)
                )
            except NotWritableError as error:
                for folder in (error.path, *error.path.parents[: len(STATE.parts) - 1]):
                    if folder.is_file():
                        raise NotAFolderError(folder) from error
                raise
            yield home

    @contextmanager
    def open_to_read(self) -> "Iterator[Home]":
        """Open the workspace for a block; raise NotYetAWorkspaceError, and make nothing, when the folder is none."""
        self.to_read()
        with self.open() as home:
            yield home

    def to_read(self) -> "tuple[Path, Config]":
        """Return the folder of the workspace and its settings; raise NotYetAWorkspaceError when the folder is none."""
        from dreaming.home import located

        root, config = located(self.workspace, config=self.config, environ=os.environ, overrides={})
        if not _is_workspace(root, config.workspace.diaries):
            raise NotYetAWorkspaceError(root)
        return root, config

    def moment(self, home: "Home") -> datetime:
        """Return the time to decide by: `--now` in the workspace's zone, else the clock; whole seconds, UTC."""
        return self.at(home.zone)

    def at(self, zone: tzinfo) -> datetime:
        """Return the time to decide by without opening the workspace, which has that zone."""
        if self.now is None:
            return datetime.now(UTC).replace(microsecond=0)
        local = self.now if self.now.tzinfo else self.now.replace(tzinfo=zone)
        return local.astimezone(UTC).replace(microsecond=0)


def _is_workspace(root: Path, diaries: str) -> bool:
    """Tell whether a folder has a store, settings, a page of this program, or a folder that diaries may stand in.

    Any program may have a folder `memory`: one that holds something, and no Markdown, is not for diaries.
    """
    from dreaming.config import FILE_NAME
    from dreaming.home import STORE

    if (root / STORE).exists() or (root / FILE_NAME).exists():
        return True
    if any(entry.name.upper() in ("MEMORY.MD", "DREAMS.MD") for entry in root.iterdir()):
        return True
    folder = root / diaries
    if folder == root or not folder.is_dir():
        return folder.is_file()  # which is told better when it is opened
    names = [path.name for path in folder.rglob("*")]
    return not names or any(name.lower().endswith(".md") for name in names)


class Moment(click.ParamType[datetime]):
    """A date and time in ISO 8601."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse the text or refuse it with an example."""
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is no time; write it like 2026-06-18T03:00 or 2026-06-18T03:00+02:00", param, ctx)
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            self.fail(f"{value!r} is out of reach; name a year from {FIRST_YEAR} to {LAST_YEAR}", param, ctx)
        return moment


OPTIONS = (
    click.option(
        "--workspace",
        "-w",
        "workspaces",
        multiple=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="The folder with the diaries; default: the configured one, else the current folder.",
    ),
    click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A config.toml instead of the workspace's own.",
    ),
    click.option(
        "--now", type=Moment(), help="The time to decide by, for example 2026-06-18T03:00; default: the clock."
    ),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""A diary may hold sequences that make a terminal do things; tab and line feed stay."""


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json`, which may also stand before a subcommand."""

    @wraps(command)
    def with_json(*args: Any, as_json: bool, **kwargs: Any) -> Any:
        outer = click.get_current_context().find_root().params.get("as_json", False)
        return command(*args, as_json=as_json or outer, **kwargs)

    option = click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/json.md describes it.")
    return option(with_json)


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the common options and hand them to the command as `common`, those before a subcommand included."""
    return _with_options(command, many=False)


def fleet_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the common options to a command for which several workspaces may be named."""
    return _with_options(command, many=True)


def _with_options(command: Callable[..., Any], *, many: bool) -> Callable[..., Any]:
    @wraps(command)
    def with_common(
        *args: Any, workspaces: tuple[Path, ...], config: Path | None, now: datetime | None, **kwargs: Any
    ) -> Any:
        outer = click.get_current_context().obj
        given = outer if isinstance(outer, Common) else Common(workspace=None, config=None, now=None)
        named = workspaces or given.workspaces
        if len(named) > 1 and not many:
            raise click.UsageError("this goes for one workspace; name one with --workspace")
        common = Common(
            workspace=named[0] if len(named) == 1 else None,
            config=config or given.config,
            now=now or given.now,
            workspaces=named,
        )
        return command(*args, common=common, **kwargs)

    for option in reversed(OPTIONS):
        with_common = option(with_common)
    return with_common


def say(text: str) -> None:
    """Print text for people, without what a terminal would obey."""
    click.echo(_CONTROL.sub("\ufffd", printable(text)))


def printable(text: str) -> str:
    """Return an argument or a path as text that can be searched for and printed, whatever bytes it came in."""
    return text.encode("utf-8", "replace").decode("utf-8")


def print_json(value: object) -> None:
    """Print one JSON document, text in any script as it is."""
    click.echo(printable(json.dumps(value, ensure_ascii=False, indent=2)))


def complain(problems: "tuple[str, ...]") -> None:
    """Say on the error stream what was left out; the rest went on."""
    for problem in problems:
        click.echo(_CONTROL.sub("\ufffd", printable(f"dream: {problem}")), err=True)


@contextmanager
def told_apart() -> Iterator[None]:
    """Turn what went wrong into one sentence and the exit code of SPEC 14; a bug still shows as one."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except KeyboardInterrupt:
        click.echo("dream: stopped; what was decided is kept, run it again to go on", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:
        code = _exit_code(error)
        if code is None:
            raise
        click.echo(f"dream: {_sentence(error)}", err=True)
        sys.exit(code)


def _sentence(error: Exception) -> str:
    """Return what went wrong, ending with the way out of the command that was called."""
    context = click.get_current_context(silent=True)
    command = None if context is None else context.invoked_subcommand
    return error.instead(f"run dream {command} again") if command and isinstance(error, WorkspaceError) else str(error)


def _exit_code(error: Exception) -> int | None:
    from dreaming.changes.timeline import NothingKnownError, UnknownChangeError
    from dreaming.changes.undo import ConflictError, NothingToRedoError, NothingToUndoError
    from dreaming.context import BudgetError
    from dreaming.demo import NotEmptyError
    from dreaming.explain import NotPromotedError, UnknownNightError
    from dreaming.home import NoWorkspaceError
    from dreaming.layers import ConfigError
    from dreaming.narrate import ChangedEntryError, NothingToTellError
    from dreaming.places import NoSuchLinesError, UnknownSourceError
    from dreaming.promotion.review import NotAcceptedError, UnknownLineError, UnknownProposalError
    from dreaming.upkeep.archive import BadBackupError
    from dreaming.upkeep.backup import BackupInsideError, BackupThereError
    from memory.store import BrokenStoreError, BusyStoreError, NewerStoreError
    from workspace.errors import HeldError

    codes: tuple[tuple[type[Exception], int], ...] = (
        (ConfigError, CONFIG),
        (NoWorkspaceError, CONFIG),
        (NotYetAWorkspaceError, CONFIG),
        (BudgetError, CONFIG),
        (HeldError, HELD),
        (WorkspaceError, REFUSED),
        (NewerStoreError, REFUSED),
        (BrokenStoreError, REFUSED),
        (BusyStoreError, REFUSED),
        (UnknownSourceError, REFUSED),
        (NoSuchLinesError, REFUSED),
        (NotEmptyError, REFUSED),
        (NothingToTellError, REFUSED),
        (ChangedEntryError, REFUSED),
        (NothingKnownError, REFUSED),
        (UnknownChangeError, REFUSED),
        (UnknownNightError, REFUSED),
        (NotPromotedError, REFUSED),
        (NothingToUndoError, REFUSED),
        (NothingToRedoError, REFUSED),
        (ConflictError, REFUSED),
        (UnknownProposalError, REFUSED),
        (UnknownLineError, REFUSED),
        (NotAcceptedError, REFUSED),
        (BackupThereError, REFUSED),
        (BackupInsideError, REFUSED),
        (BadBackupError, REFUSED),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), None)
