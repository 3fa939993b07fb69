"""What can go wrong with the user's files, one class a mistake, each sentence ending with the way out."""

from dataclasses import dataclass
from pathlib import Path

NIGHT_AGAIN = "run the night again"
"""The way out where a night ran into a file that it could not use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that was left out; `path` is as shown to the user, `line` is 1-based."""

    path: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who runs a night; None where nobody can tell.

    `doing` is what it is at, `done` of `total` of that; a total of 0 means that nobody can tell how much there is.
    """

    pid: int | None = None
    host: str | None = None
    since: str | None = None
    doing: str = ""
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        pid = "an unknown process" if self.pid is None else f"process {self.pid}"
        host = "" if self.host is None else f" on {self.host}"
        since = "" if self.since is None else f" since {self.since}"
        return f"{pid}{host}{since}"


class WorkspaceError(Exception):
    """A file of the workspace cannot be used; the message is one sentence for the user."""

    def instead(self, way: str) -> str:
        """Return the message where no night ran: with another way out."""
        return str(self).replace(NIGHT_AGAIN, way)


class ExternallyChangedError(WorkspaceError):
    """The file changed on disk since it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} changed while dreaming; nothing was written to it, so {NIGHT_AGAIN}")


class NotAFileError(WorkspaceError):
    """A folder, pipe or device stands where a file belongs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is not a regular file; move it away and {NIGHT_AGAIN}")


class NotReadableError(WorkspaceError):
    """The file exists but its bytes cannot be had."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} cannot be read ({reason}); make it readable and {NIGHT_AGAIN}")


class NotWritableError(WorkspaceError):
    """The file, or the folder it stands in, refuses to be written; the old bytes are still there."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(
            f"{path} cannot be written ({reason}); it is as it was, so make it and its folder writable "
            f"and {NIGHT_AGAIN}"
        )


class GoneError(WorkspaceError):
    """The folder of the workspace is not there; what is made in its place would only look like it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        super().__init__(
            f"{root} is no folder, or is none any more; nothing was made in its place, so put it back and {NIGHT_AGAIN}"
        )


class HeldError(WorkspaceError):
    """Another process runs a night in this workspace."""

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        who = "" if holder.pid is None else f", held by {holder}"
        way = "" if holder.pid is None else " or stop that process"
        super().__init__(f"another night is running here{who}; wait for it to end{way}")


class UnreadableError(WorkspaceError):
    """One diary cannot be read; the others can."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(f"{problem}; the rest went on without it, so mend or move it")


class DamagedBlockError(WorkspaceError):
    """The start and end markers of one of this program's blocks do not pair up."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"the markers of the {name} block in DREAMS.md do not pair up, so it was left alone; "
            "dream doctor says where, and --fix puts back what it is sure of"
        )
