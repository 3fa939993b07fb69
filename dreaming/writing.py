"""Writing into today's diary, the one place where this program adds to what the user's agent says."""

from datetime import datetime

from dreaming.home import Home
from dreaming.masking import masked
from memory.chunking import unclosed_fence
from workspace import append as appending
from workspace.append import Appended
from workspace.errors import WorkspaceError

HEADING = "Today"
"""Says nothing, so that no text is remembered as belonging to it."""


class UnclosedFenceError(WorkspaceError):
    """The text opens a code fence and does not close it; all that is written later would count as code."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(
            f"line {line} of the text opens a code fence that is never closed; nothing was written, so close it"
        )


def append(home: Home, text: str, *, heading: str = HEADING, now: datetime) -> Appended:
    """Append a text to today's diary, under a heading, its secrets masked.

    Raise UnclosedFenceError, or what `workspace.append.append` raises.
    """
    title, said = appending.title_of(heading), "\n".join(appending.lines_of(text))
    fence = unclosed_fence(said)
    if fence is not None:
        raise UnclosedFenceError(fence)
    head, _, body = masked(f"## {title}\n\n{said}", home.lexicon).partition("\n\n")
    day = home.local_date(now)
    return appending.append(home.root, day, body, heading=head, folder=home.config.workspace.diaries)
