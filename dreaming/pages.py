"""The sections of `DREAMS.md`, rendered from what a night decided."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from dreaming.changes.history import Why, rewrite
from dreaming.home import DREAMS, Home
from dreaming.phases.rem import Truth
from dreaming.scoring import Theme
from memory.model import Candidate, FragmentId, Phase
from memory.promotions import Promotion, State
from workspace.dreams import harmless, with_section
from workspace.errors import DamagedBlockError, WorkspaceError

PLACES = 3
"""Places named as evidence of one candidate; the store has them all."""
WAITING = 10
"""Refused candidates named in the deep section; `dream explain` has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A candidate that was refused, and why in plain words."""

    fragment: FragmentId
    text: str
    reasons: tuple[str, ...]


def light_section(candidates: Sequence[Candidate], *, show: int) -> str:
    """Return the body of `## Light Sleep`."""
    return _rendered("light", candidates=candidates[:show], more=max(0, len(candidates) - show))


def rem_section(themes: Sequence[Theme], truths: Sequence[Truth]) -> str:
    """Return the body of `## REM Sleep`."""
    return _rendered("rem", themes=themes, truths=truths)


def deep_section(
    ranked: int, made: Sequence[Promotion], waiting: Sequence[Waiting], *, replaced: Mapping[int, str]
) -> str:
    """Return the body of `## Deep Sleep`; what the night made are promotions and proposals.

    `replaced` is what they correct, by the id of the promotion that says it.
    """
    return _rendered(
        "deep",
        ranked=ranked,
        replaced=replaced,
        promoted=[one for one in made if one.state is not State.PROPOSED],
        proposed=[one for one in made if one.state is State.PROPOSED],
        waiting=waiting[:WAITING],
        more=max(0, len(waiting) - WAITING),
    )


def write(home: Home, night: date, sections: Mapping[Phase, str], *, now: datetime) -> tuple[str, ...]:
    """Put the sections of the phases that ran into `DREAMS.md`; return what went wrong."""
    why = Why(kind="sections", reason=f"what {', '.join(sections)} decided", now=now, night=night)
    if not sections or (home.store.counts()["sources"] == 0 and not dreams_exist(home)):
        return ()  # nothing to show yet, perhaps not even the right folder
    pages = [partial(rewrite, home, DREAMS, lambda text: _shown(text, sections)[0], why)]
    if home.config.dreaming.reports:
        pages += [partial(_report, home, phase, body, why) for phase, body in sections.items()]
    problems = []
    for page in pages:
        try:
            page()
        except WorkspaceError as error:
            problems.append(str(error))
    return (*problems, *_damaged(home, sections))


def _shown(text: str, sections: Mapping[Phase, str]) -> tuple[str, tuple[str, ...]]:
    """Return the text with the sections in it, and what went wrong with those whose blocks are damaged."""
    problems = []
    for phase, body in sections.items():
        try:
            text = with_section(text, phase.value, body)
        except DamagedBlockError as error:
            problems.append(str(error))
    return text, tuple(problems)


def _damaged(home: Home, sections: Mapping[Phase, str]) -> tuple[str, ...]:
    with suppress(WorkspaceError):
        return _shown(home.files.read(DREAMS).text, sections)[1]
    return ()  # said already


def _report(home: Home, phase: Phase, body: str, why: Why) -> int:
    return rewrite(home, f"memory/dreaming/{phase}/{why.night}.md", lambda _: f"{body}\n", why)


def dreams_exist(home: Home) -> bool:
    """Tell whether the workspace has a dream diary, whatever is in it; a folder of that name counts."""
    try:
        return home.files.read(DREAMS).digest is not None
    except WorkspaceError:
        return True


def places(candidate: Candidate) -> str:
    """Return where a candidate stands, newest first, as users read it."""
    newest = sorted(candidate.sightings, key=lambda s: (-s.day.toordinal(), s.path, s.start_line))
    more = len(newest) - PLACES
    named = ", ".join(sighting.place for sighting in newest[:PLACES])
    return f"{named} and {more} more" if more > 0 else named


def two(number: float) -> str:
    """Return a number with two decimals."""
    return f"{number:.2f}"


def _rendered(name: str, **values: Any) -> str:
    return _environment().get_template(f"{name}.md.j2").render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dreaming", "templates/sections"),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=False,
    )
    environment.filters |= {"harmless": harmless, "places": places, "two": two}
    return environment
