"""The memory for Python programs: one object, the same functions as the command line."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dreaming import reading
from dreaming.context import context, markdown
from dreaming.home import Home, opened
from dreaming.night import NightReport, run_night
from dreaming.reading import EVERYTHING, RESULTS, Found, Read, Wanted
from dreaming.writing import append
from workspace.append import Appended


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """An opened workspace; `now` everywhere is aware, and the clock when it is not given."""

    home: Home

    def search(
        self, query: str, *, limit: int = RESULTS, wanted: Wanted = EVERYTHING, now: datetime | None = None
    ) -> Found:
        """Return what answers a query, and count it: every answer is a vote."""
        return reading.search(self.home, query, now=_moment(now), limit=limit, surface="python", wanted=wanted)

    def get(self, place: str, *, now: datetime | None = None) -> Read:
        """Return lines named as a search names them; raise UnknownSourceError, NoSuchLinesError or WorkspaceError."""
        return reading.get(self.home, place, now=_moment(now), surface="python")

    def append(self, text: str, *, heading: str = "Today", now: datetime | None = None) -> Appended:
        """Add a text under a heading to today's diary, secrets masked; raise one of the errors of workspace.append."""
        return append(self.home, text, heading=heading, now=_moment(now))

    def context(self, query: str | None = None, *, now: datetime | None = None) -> str:
        """Return what a session needs in its system prompt, as Markdown; nothing of it is a vote."""
        return markdown(context(self.home, query, now=_moment(now)))

    def night(self, *, now: datetime | None = None) -> NightReport:
        """Run the night of the present date, the phases the settings let run; raise HeldError while another runs."""
        return run_night(self.home, phases=self.home.phases(), now=_moment(now))


@contextmanager
def open_workspace(
    path: Path | str, *, settings: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None
) -> Iterator[Memory]:
    """Open the memory of a workspace for the block; `settings` are keys such as `deep.min_score`.

    Raise NoWorkspaceError, ConfigError, NotWritableError, NewerStoreError or BrokenStoreError.
    """
    root, variables = Path(path).expanduser(), os.environ if environ is None else environ
    with opened(root, environ=variables, overrides=settings) as home:
        yield Memory(home=home)


def _moment(now: datetime | None) -> datetime:
    return (now or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
