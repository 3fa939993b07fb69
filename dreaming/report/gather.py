"""From a workspace to all that the page shows: reads only, and the same store and time give the same facts."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from dreaming.home import Home
from dreaming.phases.deep import thresholds, weights
from dreaming.report.anatomies import anatomies
from dreaming.report.facts import Asked, Facts, LeftOut
from dreaming.report.journal import journal
from dreaming.report.memories import memory
from dreaming.report.nights import NIGHTS, nights, themes
from dreaming.report.shown import Shown, clean
from dreaming.scoring import normalised
from memory.tallies import Tallies

LANGUAGES = ("en", "zh")
"""What the page itself speaks; what it shows stays as it was written."""


def facts(home: Home, *, now: datetime, language: str | None = None, places: str | None = None) -> Facts:
    """Return what the page of a workspace shows; `language` None takes that of the memory."""
    today, shown, tallies = home.local_date(now), Shown(home.redaction), Tallies(home.store)
    since = today - timedelta(days=NIGHTS - 1)
    found = nights(home, today=today)
    parts, left_out = anatomies(home, shown, now=now)
    held, versions = memory(home, now=now)
    entries, unread = journal(home, shown, until=today.isoformat())
    return Facts(
        workspace=clean(home.root.name or str(home.root)),
        language=language or spoken(home),
        now=now.astimezone(home.zone),
        places=places,
        counts=tuple(home.store.counts().items()),
        weights=tuple(asdict(normalised(weights(home.config))).items()),
        min_score=thresholds(home.config).min_score,
        half_life_days=home.config.deep.recency_half_life_days,
        nights=found,
        anatomies=parts,
        themes=themes(tallies.looked_at(since=since, until=today), shown),
        asked=tuple(
            Asked(day=one.day, questions=one.questions, answers=one.answers)
            for one in tallies.asked(since=since, until=today)
        ),
        memory=held,
        entries=entries,
        left_out=_missing(
            (LeftOut(kind="nights", shown=len(found), total=tallies.night_count()), *left_out, versions, unread)
        ),
    )


def spoken(home: Home) -> str:
    """Return the language of the page: the configured one, else that of most of the memory, else English."""
    wish = home.config.dreaming.language
    main = Tallies(home.store).main_language() if wish == "auto" else wish
    return main if main in LANGUAGES else LANGUAGES[0]


def _missing(counted: Sequence[LeftOut]) -> tuple[LeftOut, ...]:
    return tuple(one for one in counted if one.shown < one.total)
