"""Writing into today's diary, the one place where this program adds to what the user's agent says."""

from datetime import datetime

from dreaming.home import Home
from dreaming.observing.masking import masked
from workspace import append as appending
from workspace.append import Appended

HEADING = "Today"
"""Says nothing, so that no text is remembered as belonging to it."""


def append(home: Home, text: str, *, heading: str = HEADING, now: datetime) -> Appended:
    """Append a text to today's diary, under a heading, its secrets masked.

    Raise what `workspace.append.append` raises.
    """
    title, said = appending.title_of(heading), "\n".join(appending.lines_of(text))
    head, _, body = masked(f"## {title}\n\n{said}", home.lexicon, home.redaction).partition("\n\n")
    day = home.local_date(now)
    return appending.append(home.root, day, body, heading=head, folder=home.config.workspace.diaries)
