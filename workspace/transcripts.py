"""Which session transcripts there are: whose they are, and which of them no person started."""

import glob
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from workspace.dialects import Host, Record, word
from workspace.lines import one_line
from workspace.speakers import origin_of

LARGEST_INDEX = 64 * 2**20
"""Bytes of a `sessions.json` that is still read."""

_ARCHIVED = re.compile(r"(?P<session>.+)\.jsonl\.reset\.[^/]+")
_DELETED = re.compile(r"(?P<session>.+)\.jsonl\.deleted\.[^/]+")
_NO_SESSION = re.compile(
    r"sessions\.json|.*\.trajectory\.jsonl|.*\.checkpoint\..*|.*\.bak(?:[.-].*)?|.*\.deleted\..*|.*\.(?:tmp|zst|gz|lock)"
)
_ROLLOUT = re.compile(r"rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
MAIN = "main"
"""What hosts call the agent that has no other name."""
_AGENTS = re.compile(r"/agents/([^/]+)/sessions/[^/]+\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A file with one session: where it is, as what it is shown, whose it is, and what tells that it changed.

    `origin` is the rule that rules the session out when the host's own index says that no person started it.
    """

    path: Path
    name: str
    agent: str
    session: str
    archived: bool
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    origin: str | None = None


def transcripts(root: Path, patterns: Sequence[str]) -> tuple[Transcript, ...]:
    """List the transcripts that match, by path, each file once; a pattern is absolute or relative to the root.

    What a host archived when a session was reset comes along; deleted sessions, checkpoints and backups do not.
    """
    origins: dict[Path, Mapping[str, str]] = {}
    found: dict[tuple[int, int], Transcript] = {}
    names: set[str] = set()
    for path in _matching(root, patterns, ".reset.*"):
        status = status_of(path)
        if status is None or (status.st_dev, status.st_ino) in found or _NO_SESSION.fullmatch(path.name):
            continue
        if path.parent not in origins:
            origins[path.parent] = _origins(path.parent)
        listed = _listed(root, path, status, origins[path.parent])
        if listed.name in names:
            listed = replace(listed, name=_apart(listed))
        names.add(listed.name)
        found[status.st_dev, status.st_ino] = listed
    return tuple(found.values())


def deleted(root: Path, patterns: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Return agent and session of what a host keeps only as deleted: it is gone, and so is what came from it."""
    paths = _matching(root, patterns, ".deleted.*")
    matches = ((path, _DELETED.fullmatch(path.name)) for path in paths)
    return frozenset((_agent(root, path), found["session"]) for path, found in matches if found)


def _matching(root: Path, patterns: Sequence[str], archive: str) -> list[Path]:
    """Return the paths that match, and the archives beside them."""
    paths: set[Path] = set()
    for pattern in patterns:
        whole = os.path.join(root, os.path.expanduser(pattern))  # noqa: PTH118, PTH111  a pattern is no path
        archives = [f"{whole}{archive}"] if whole.endswith(".jsonl") else []
        for one in (whole, *archives):
            paths.update(Path(os.path.abspath(match)) for match in glob.iglob(one, recursive=True))  # noqa: PTH100, PTH207
    return sorted(paths)


def status_of(path: Path) -> os.stat_result | None:
    """Return the status of a regular file; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _listed(root: Path, path: Path, status: os.stat_result, origins: Mapping[str, str]) -> Transcript:
    archived = _ARCHIVED.fullmatch(path.name)
    session = archived["session"] if archived else path.name.removesuffix(".jsonl")
    rollout = _ROLLOUT.fullmatch(session)
    session = rollout[1] if rollout else session
    agent = _agent(root, path)
    shown = path.name if archived else f"{session}.jsonl"
    return Transcript(
        path=path,
        name=one_line(f"sessions/{agent}/{shown}"),
        agent=agent,
        session=session,
        archived=archived is not None,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        inode=status.st_ino,
        origin=origins.get(session) or origins.get(f"{session}.jsonl"),
    )


def _agent(root: Path, path: Path) -> str:
    """Return whose sessions a folder holds: an agent of OpenClaw, another host, else what the folder is called.

    Those in the workspace itself are the main agent's, wherever the workspace lies.
    """
    if path.parent == Path(os.path.abspath(root)) / "sessions":  # noqa: PTH100
        return MAIN
    posix = path.as_posix()
    agent = _AGENTS.search(posix)
    if agent:
        return agent[1]
    for host in (Host.CLAUDE, Host.CODEX):
        if f"/.{host}/" in posix:
            return str(host)
    folder = path.parent.parent if path.parent.name == "sessions" else path.parent
    return folder.name or "sessions"


def _apart(listed: Transcript) -> str:
    """Return a name for a file whose own is taken, such as one session in two folders of projects."""
    stem, dot, ending = listed.name.partition(".jsonl")
    return f"{stem}~{sha256(os.fsencode(listed.path)).hexdigest()[:6]}{dot}{ending}"


def _origins(folder: Path) -> Mapping[str, str]:
    """Return the sessions, by id and by file name, that the index of OpenClaw says no person started."""
    index = folder / "sessions.json"
    status = status_of(index)
    if status is None or status.st_size > LARGEST_INDEX:
        return {}
    try:
        sessions = json.loads(index.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for key, told in sessions.items() if isinstance(sessions, dict) else ():
        about: Record = told if isinstance(told, dict) else {}
        origin = origin_of(key, word(about, "spawnedBy"))
        if origin:
            found |= {
                name: origin for name in (word(about, "sessionId"), Path(word(about, "sessionFile")).name) if name
            }
    return found
