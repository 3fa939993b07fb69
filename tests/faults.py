"""Faults for a whole night: at one of its operations the process dies, the disk fails, or somebody saves a file.

A night runs in a forked child of the loaded test process. A first pass counts its operations; then each of them is a
point at which each kind of fault can happen.
"""

import builtins
import errno
import io
import os
import pickle
import shutil
import signal
import sqlite3
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from types import ModuleType
from typing import Any

import workspace.files
from dreaming.home import opened
from dreaming.night import run_night
from house import House, moment
from memory.model import Phase

KILLED, DONE, RAISED = "killed", "done", "raised"
SECONDS = 60
"""After so long a child hangs."""
MINE = "- mine, saved meanwhile"
"""The line that the user adds while a night runs."""
STATE = {".gitignore", "night.lock", "reading.lock", "recall.db"}
"""What may be left in the folder of the store."""

KINDS = (
    *("killed before", "killed after", "ENOSPC", "EACCES", "short"),
    *(f"{name} saved {how}" for name in ("MEMORY.md", "DREAMS.md") for how in ("in place", "by rename")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A workspace, what the user wrote in it, and when its nights are; times are local.

    Where names cannot be exchanged, a save by rename in the last moment is lost, so nobody saves there.
    """

    name: str
    lay: Callable[[House], None]
    settings: dict[str, object] = field(default_factory=dict)
    tonight: str
    tomorrow: str
    own: tuple[tuple[str, bytes], ...] = ()
    memory: str = "MEMORY.md"
    dreams: str = "DREAMS.md"
    exchanges: bool = True

    def house(self, root: Path) -> House:
        """Return the workspace in a folder."""
        return House(root, **self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that counts after a night: each file's bytes, each promotion, and what should not be there."""

    files: dict[str, bytes]
    promotions: tuple[str, ...]
    state_files: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """How a scenario goes when nothing happens: its operations, and how things stand after each night."""

    operations: tuple[str, ...]
    tonight: State
    tomorrow: State


# -- children ---------------------------------------------------------------------------------------------------------


def forked(work: Callable[[], Any]) -> tuple[str, Any]:
    """Run something in a child and return how it ended and what it returned, raised or was killed by."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of the test runner, which the child never meets
        child = os.fork()
    if child == 0:
        _run(work, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return KILLED, signal.Signals(os.WTERMSIG(status)).name
    how, what = pickle.loads(said)
    return how, what


def _run(work: Callable[[], Any], writer: int) -> None:
    write, leave = os.write, os._exit
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    try:
        said = pickle.dumps((DONE, work()))
    except BaseException as error:  # noqa: BLE001  # whatever it is, the parent judges it
        said = pickle.dumps((RAISED, (type(error).__name__, str(error), traceback.format_exc())))
    while said:
        said = said[write(writer, said) :]
    leave(0)


# -- operations -------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Fault:
    """Counts the operations below a folder in this process, and lets something happen at the one numbered `at`."""

    root: Path
    at: int | None = None
    kind: str = ""
    save: Callable[[], None] = lambda: None
    exchanges: bool = True
    seen: list[str] = field(default_factory=list)
    files: dict[int, str] = field(default_factory=dict)

    def install(self) -> None:
        """Wrap the operations for the rest of this process's life."""
        for name in ("replace", "rename", "link"):
            setattr(os, name, self._of_paths(name, getattr(os, name), count=2))
        for name in ("unlink", "mkdir"):
            setattr(os, name, self._of_paths(name, getattr(os, name), count=1))
        if not self.exchanges:
            _put(workspace.files, _rename=lambda: None)
        workspace.files.renamed = self._of_paths("exchange", workspace.files.renamed, count=2)
        self._wrap_files()
        self._wrap_opens()
        self._wrap_commits()

    def _of_paths(self, name: str, real: Callable[..., Any], *, count: int) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            places = [self._below(one) for one in args[:count]]
            if None in places:
                return real(*args, **kwargs)
            return self._met(f"{name} {' -> '.join(map(str, places))}", lambda: real(*args, **kwargs))

        return wrapped

    def _wrap_files(self) -> None:
        write, fsync = os.write, os.fsync

        def written(file: int, data: Any) -> int:
            if file not in self.files:
                return write(file, data)
            short = bytes(data)[: max(1, len(data) // 2)]
            met = self._met(f"write {self.files[file]}", lambda: write(file, data), short=lambda: write(file, short))
            return int(met)

        def synced(file: int) -> None:
            place = self._below(_path_of(file))
            if place is None:
                fsync(file)
            else:
                self._met(f"fsync {place}", lambda: fsync(file))

        _put(os, write=written, fsync=synced)

    def _wrap_opens(self) -> None:
        os_open, close, io_open = os.open, os.close, io.open

        def opened_file(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            place = self._below(path)
            if place is None or not flags & (os.O_WRONLY | os.O_RDWR):
                return os_open(path, flags, *args, **kwargs)
            file = int(self._met(f"open {place}", lambda: os_open(path, flags, *args, **kwargs)))
            self.files[file] = place
            return file

        def closed(file: int) -> None:
            self.files.pop(file, None)
            close(file)

        def opened_text(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            place = self._below(path)
            if place is None or not set(mode) & set("wax+"):
                return io_open(path, mode, *args, **kwargs)
            return self._met(f"open {place}", lambda: io_open(path, mode, *args, **kwargs))

        _put(os, open=opened_file, close=closed)
        for module in (io, builtins):
            _put(module, open=opened_text)

    def _wrap_commits(self) -> None:
        fault, connect = self, sqlite3.connect

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
                if sql != "COMMIT":
                    return super().execute(sql, *args)
                cursor: sqlite3.Cursor = fault._met("commit", lambda: sqlite3.Connection.execute(self, sql, *args))
                return cursor

        def connected(*args: Any, **kwargs: Any) -> sqlite3.Connection:
            found: sqlite3.Connection = connect(*args, factory=Connection, **kwargs)
            return found

        _put(sqlite3, connect=connected)

    def _below(self, path: Any) -> str | None:
        if isinstance(path, int) or path is None:
            return None
        try:
            return Path(os.fsdecode(path)).absolute().relative_to(self.root).as_posix()
        except ValueError:
            return None

    def _met(self, label: str, real: Callable[[], Any], *, short: Callable[[], Any] | None = None) -> Any:
        self.seen.append(label)
        if self.at != len(self.seen) - 1:
            return real()
        if self.kind == "killed before":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.kind == "killed after":
            real()
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.kind in ("ENOSPC", "EACCES"):
            raise _failure(label, self.kind)
        elif self.kind == "short" and short is not None:
            return short()
        elif "saved" in self.kind:
            self.save()
        return real()


def _put(module: ModuleType, **wrapped: Callable[..., Any]) -> None:
    for name, function in wrapped.items():
        setattr(module, name, function)


def _path_of(file: int) -> str | None:
    try:
        return str(Path(f"/proc/self/fd/{file}").readlink())
    except OSError:
        return None


def _failure(label: str, kind: str) -> Exception:
    if label == "commit":
        full = kind == "ENOSPC"
        return sqlite3.OperationalError("database or disk is full" if full else "attempt to write a readonly database")
    number = getattr(errno, kind)
    return OSError(number, os.strerror(number))


# -- nights -----------------------------------------------------------------------------------------------------------


def night(house: House, at: str, fault: Fault | None = None) -> tuple[str, Any]:
    """Run a night in a child, with a fault if any; return how it ended, and the operations or the error."""

    def work() -> list[str]:
        if fault is not None:
            fault.install()
        with opened(house.root, environ={}, overrides=house.settings) as home:
            report = run_night(home, phases=tuple(Phase), now=moment(at))
        return [] if fault is None else [*fault.seen, *(f"problem: {one}" for one in report.problems)]

    return forked(work)


def standing(house: House) -> State:
    """Return how things stand in a workspace."""

    def work() -> State:
        # The connection must not be the parent's.
        with opened(house.root, environ={}, overrides=house.settings) as home:
            rows = tuple(sorted(repr(promotion) for promotion in home.promotions.all()))
        found = [path for path in house.root.rglob("*") if path.is_file()]
        return State(
            files={
                path.relative_to(house.root).as_posix(): path.read_bytes()
                for path in found
                if ".dreams" not in path.parts
            },
            promotions=rows,
            state_files=frozenset(path.name for path in found if ".dreams" in path.parts)
            - {"recall.db-wal", "recall.db-shm"},
        )

    how, what = forked(work)
    if how != DONE:
        raise AssertionError(what)
    state: State = what
    return state


class Stage:
    """A scenario laid out once and copied for each point."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self.folder = folder
        self.laid = folder / "laid"
        self.laid.mkdir(parents=True)
        house = scenario.house(self.laid)
        scenario.lay(house)  # in this process, which so has loaded what a night needs; its connections are closed
        self.count = 0
        self.undisturbed = self._undisturbed()

    def copy(self) -> House:
        """Return a fresh copy of the workspace."""
        self.count += 1
        root = self.folder / f"{self.count:05}"
        shutil.copytree(self.laid, root, symlinks=True)
        return self.scenario.house(root)

    def _undisturbed(self) -> Undisturbed:
        house = self.copy()
        how, operations = night(house, self.scenario.tonight, self._fault(house))
        if how != DONE:
            raise AssertionError(operations)
        tonight = standing(house)
        _expect(night(house, self.scenario.tonight)[0] == DONE and standing(house) == tonight, "a re-run changes it")
        _expect(night(house, self.scenario.tomorrow)[0] == DONE, "the next night fails")
        tomorrow = standing(house)
        problems = [one for one in operations if one.startswith("problem: ")]
        _expect(not problems, f"an undisturbed night has {problems}")
        return Undisturbed(operations=tuple(operations), tonight=tonight, tomorrow=tomorrow)

    def _fault(self, house: House, **what: Any) -> Fault:
        return Fault(root=house.root, exchanges=self.scenario.exchanges, **what)

    def points(self, kind: str) -> tuple[int, ...]:
        """Return the numbers of the operations at which a kind of fault can happen."""
        operations = enumerate(self.undisturbed.operations)
        return tuple(n for n, label in operations if kind != "short" or label.startswith("write "))

    def problems(self, kind: str, at: int) -> tuple[str, ...]:
        """Let a fault happen at a point and return what is wrong after it, empty when all is well."""
        house = self.copy()
        try:
            found = tuple(self._saved(house, kind, at) if "saved" in kind else self._broken(house, kind, at))
        finally:
            shutil.rmtree(house.root)
        label = self.undisturbed.operations[at]
        return tuple(f"{self.scenario.name}, {kind} {at} ({label}): {one}" for one in found)

    def killed_twice(self, first: int, second: int) -> tuple[str, ...]:
        """Kill a night, and then the night that finishes it."""
        house = self.copy()
        try:
            night(house, self.scenario.tonight, self._fault(house, at=first, kind="killed after"))
            found = tuple(self._broken(house, "killed before", second))
        finally:
            shutil.rmtree(house.root)
        label = self.undisturbed.operations[first]
        return tuple(f"{self.scenario.name}, killed after {first} ({label}), again at {second}: {one}" for one in found)

    def _broken(self, house: House, kind: str, at: int) -> Iterator[str]:
        how, what = night(house, self.scenario.tonight, self._fault(house, at=at, kind=kind))
        if how == KILLED and what != "SIGKILL":
            yield f"it ended by {what}"
        if how == RAISED and not _is_named(what[0]):
            yield f"it raised {what[0]}: {what[1]}\n{what[2]}"
        yield from self._lost(house)
        how, what = night(house, self.scenario.tonight)
        if how != DONE:
            yield f"running it again {how}: {what[-1]}"
            return
        yield from _differences("after running it again", standing(house), self.undisturbed.tonight)
        how, what = night(house, self.scenario.tomorrow)
        if how != DONE:
            yield f"the next night {how}: {what[-1]}"
            return
        yield from _differences("after the next night", standing(house), self.undisturbed.tomorrow)

    def _lost(self, house: House) -> Iterator[str]:
        """Name what the user wrote and is not there any more, byte by byte."""
        for name, raw in self.scenario.own:
            now = (house.root / name).read_bytes()
            whole = now.replace(b"%b\r\n" % MINE.encode(), b"").replace(b"%b\n" % MINE.encode(), b"")
            if raw not in whole:
                yield f"{name} lost bytes of the user: {now!r}"

    def _saved(self, house: House, kind: str, at: int) -> Iterator[str]:
        name, _, how = kind.partition(" saved ")
        name = {"MEMORY.md": self.scenario.memory, "DREAMS.md": self.scenario.dreams}[name]
        path = Path(os.path.realpath(house.root / name))
        save = saving(path, by_rename=how == "by rename")
        ended, what = night(house, self.scenario.tonight, self._fault(house, at=at, kind=kind, save=save))
        if ended != DONE:
            yield f"the night {ended}: {what[-1]}"
        else:
            yield from (one for one in what if one.startswith("problem: "))
        yield from self._lost(house)
        now, wanted = standing(house), self.undisturbed.tonight
        if MINE.encode() not in path.read_bytes():
            yield f"{name} lost what the user saved"
        yield from _line_differences(now, wanted)
        if now.promotions != wanted.promotions:
            yield f"other promotions: {set(now.promotions) ^ set(wanted.promotions)}"
        if now.state_files - STATE:
            yield f"left: {now.state_files - STATE}"


def saving(path: Path, *, by_rename: bool) -> Callable[[], None]:
    """Return what an editor does that adds a line below the first one, with the operations as they are now."""
    rename, open_file = os.rename, io.open

    def save() -> None:
        raw = path.read_bytes() if path.exists() else b""
        end = b"\r\n" if b"\r\n" in raw else b"\n"
        head, mark, tail = raw.partition(end)
        text = head + mark + MINE.encode() + end + tail
        target = path.with_name(f"{path.name}.editor") if by_rename else path
        with open_file(target, "wb") as file:
            file.write(text)
        if by_rename:
            rename(target, path)

    return save


def _expect(holds: bool, complaint: str) -> None:
    if not holds:
        raise AssertionError(complaint)


def _is_named(error: str) -> bool:
    """Tell whether an error is one of this program's sentences, which the commands print, and no traceback."""
    return error.endswith("Error") and error not in {
        *("OSError", "PermissionError", "FileNotFoundError", "FileExistsError", "AssertionError"),
        *("OperationalError", "DatabaseError", "KeyError", "TypeError", "ValueError", "AttributeError"),
    }


def _differences(when: str, now: State, wanted: State) -> Iterator[str]:
    for name in sorted(now.files.keys() | wanted.files.keys()):
        is_now, should = now.files.get(name), wanted.files.get(name)
        if is_now is None or should is None:
            yield f"{when}, {name} is {'missing' if is_now is None else 'left'}"
        elif is_now != should:
            lines = unified_diff(should.decode().splitlines(), is_now.decode().splitlines(), n=0, lineterm="")
            yield f"{when}, {name} differs: {[line for line in lines if line[:2] not in ('--', '++', '@@')]}"
    if now.promotions != wanted.promotions:
        yield f"{when}, other promotions: {sorted(set(now.promotions) ^ set(wanted.promotions))}"
    if now.state_files - STATE:
        yield f"{when}, left: {sorted(now.state_files - STATE)}"


def _line_differences(now: State, wanted: State) -> Iterator[str]:
    """Compare files line by line, in whatever order, without what the user added."""
    for name in sorted(now.files.keys() | wanted.files.keys()):
        lines, others = (_lines(one.files.get(name, b"")) for one in (now, wanted))
        lines.pop(MINE, None)
        more, less = lines - others, others - lines
        less.pop("# Long-Term Memory", None)  # the title of a file the user did not make first
        if more or less:
            yield f"{name} has too much {list(more)} and lacks {list(less)}"


def _lines(raw: bytes) -> Counter[str]:
    return Counter(line.removeprefix("\ufeff") for line in raw.decode().splitlines() if line.strip())


def spread(points: Sequence[int], count: int, *, shift: int = 0) -> tuple[int, ...]:
    """Return so many of the points, at even distances."""
    if count >= len(points):
        return tuple(points)
    return tuple(points[(n * len(points) // count + shift) % len(points)] for n in range(count))
