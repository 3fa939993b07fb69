"""What the host of an agent asks at the start of a session and at the end of a turn: its JSON in, its JSON out.

Whatever the host sends is data: it names no path that is written to, and is no reason to fail.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dreaming.glance import Glance, glance, user_settings

STATE = Path("memory/.dreams")
"""The same folder as that of the store, whose module takes longer to load than a hook may last."""
ASKED = "asked"
SESSION_DIGITS = 16
MOST_CHARACTERS = 10_000
"""Claude Code shows no more of what a hook says."""

Reply = dict[str, object]


class Event(StrEnum):
    """What happened at the host, as the command line names it."""

    SESSION_START = "session-start"
    STOP = "stop"


class NotAHookError(Exception):
    """What came in is not the JSON object a host sends to a hook."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the hook was given no JSON object ({reason}); let the host call it, or see docs/agents.md")


class NoFolderError(Exception):
    """The workspace that is configured is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is no folder; name the workspace with --workspace, or make it with: dream init")


class OutsideError(Exception):
    """A folder that only a host named keeps its memory elsewhere, through a link."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} leads out of its folder; if that is meant, name the workspace with --workspace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a host said: the session as a hash, where it runs, and whether a stop may be held up."""

    session: str | None
    cwd: str | None
    may_ask: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The workspace of a session; `trusted` when the user named it, not the host."""

    root: Path
    settings: Glance
    trusted: bool


def call_of(raw: bytes) -> Call:
    """Read the JSON of a host; raise NotAHookError when it is none."""
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise NotAHookError(type(error).__name__) from error
    if not isinstance(said, dict):
        raise NotAHookError("something else")
    session, cwd = said.get("session_id"), said.get("cwd")
    return Call(
        session=_hashed(session) if isinstance(session, str) and session else None,
        cwd=cwd if isinstance(cwd, str) else None,
        may_ask=said.get("stop_hook_active") is False,
    )


def _hashed(session: str) -> str:
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:SESSION_DIGITS]


def answered(
    event: Event, raw: bytes, *, workspace: Path | None, config: Path | None, environ: Mapping[str, str], now: datetime
) -> Reply:
    """Return what the host expects to read; empty when there is nothing to say or no workspace.

    A naive `now` is local. Raise NotAHookError, NoFolderError, OutsideError, UnreadableSettingsError, a WorkspaceError
    or an OSError.
    """
    call = call_of(raw)
    found = _found(call, workspace=workspace, config=config, environ=environ)
    if found is None:
        return {}
    if event is Event.SESSION_START:
        return session_start(found)
    return stop(found, call, day=_local(now, found.settings.timezone).date())


def session_start(found: Found) -> Reply:
    """Return the context of the workspace, as the host adds it to a new session."""
    # Not at the top: at a stop, which comes after every turn, the host waits for a third of the time without them.
    from dreaming.context import MEMORY, composed, markdown, recall, sayable
    from memory.redaction import Redaction, is_legal
    from workspace.files import Files

    document = Files(found.root).read(MEMORY)
    _require_inside(found, document.path)
    settings = found.settings
    told = composed(
        sayable(document.text, Redaction.of(patterns=filter(is_legal, settings.patterns), mask=settings.mask)),
        instruction=recall(found.root),
        room=settings.budget_chars,
        budget=MOST_CHARACTERS,
    )
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": markdown(told)}}


def stop(found: Found, call: Call, *, day: date) -> Reply:
    """Ask, once per session and day, that what matters be written to the diary; else let the session stop."""
    if not call.may_ask or call.session is None or not _first_time(found.root, call.session, day):
        return {}
    diary = found.root / found.settings.diaries / f"{day.isoformat()}.md"
    text = " ".join(files("dreaming").joinpath("prompts/stop.md").read_text(encoding="utf-8").split())
    return {"decision": "block", "reason": text.format(diary=diary)}


def _local(now: datetime, timezone: str) -> datetime:
    if now.tzinfo is None:
        return now
    try:
        return now.astimezone(ZoneInfo(timezone) if timezone else None)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return now.astimezone()


def _found(call: Call, *, workspace: Path | None, config: Path | None, environ: Mapping[str, str]) -> Found | None:
    """Return the named workspace, else the configured one, else the folder of the session if it has a memory."""
    user = user_settings()
    named = workspace or glance(workspace=None, config=config, environ=environ, user_config=user).workspace
    root = named or _remembering(call.cwd)
    if root is None:
        return None
    if not root.is_dir():
        raise NoFolderError(root)
    settings = glance(workspace=root, config=config, environ=environ, user_config=user)
    found = Found(root=root.resolve(), settings=settings, trusted=named is not None)
    _require_inside(found, found.root / STATE)
    return found


def _remembering(cwd: str | None) -> Path | None:
    """Return the folder of a session if it is one with a memory."""
    if cwd is None:
        return None
    folder = Path(cwd)
    return folder if folder.is_absolute() and (folder / "memory").is_dir() else None


def _require_inside(found: Found, path: Path) -> None:
    if not found.trusted and not path.resolve().is_relative_to(found.root):
        raise OutsideError(path)


def _first_time(root: Path, session: str, day: date) -> bool:
    """Leave the mark that a session was asked today; False when it stands already. Marks of other days go."""
    state = root / STATE
    state.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), (state / ".gitignore").open("x", encoding="utf-8") as ignore:
        ignore.write("*\n")
    today = f"{ASKED}-{day.isoformat()}-"
    try:
        (state / f"{today}{session}").open("x").close()
    except FileExistsError:
        return False
    for mark in state.glob(f"{ASKED}-*"):
        if not mark.name.startswith(today):
            mark.unlink(missing_ok=True)
    return True
