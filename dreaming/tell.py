"""Telling a night: from what the phases decided to entries of the dream diary, at most one per phase."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from dreaming.home import Home
from dreaming.narrators.entry import Graduate, Material
from dreaming.narrators.plain import plain
from dreaming.pages import DREAMS
from memory.journal import Narrative, Promotion
from memory.language import main_language
from memory.model import Candidate, Phase
from workspace import dreams
from workspace.errors import WorkspaceError

TEXTS = {Phase.LIGHT: 12, Phase.REM: 8, Phase.DEEP: 12}
GRADUATES = 5
REMEMBERED = 30
"""Entries the narrator looks back on, so as not to repeat itself."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
"""Not from strftime, which speaks the machine's language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What a phase has to tell: nothing when there are no candidates."""

    phase: Phase
    candidates: tuple[Candidate, ...]
    themes: tuple[str, ...]
    promoted: tuple[Promotion, ...] = ()
    waiting: tuple[str, ...] = ()


def tell(home: Home, stories: Sequence[Story], *, night: date, now: datetime) -> tuple[str, ...]:
    """Add tonight's entries to `DREAMS.md`; return what went wrong, which never changes the rest of the night."""
    told = {entry.phase for entry in home.journal.narratives(night=night)}
    for story in stories:
        if story.phase not in told and story.candidates:
            _tell(home, story, night=night, now=now)
    try:
        return _written(home, night=night, now=now)
    except WorkspaceError as error:
        return (str(error),)


def _tell(home: Home, story: Story, *, night: date, now: datetime) -> None:
    material = _material(home, story, night)
    prose = plain(material)
    if prose is None:
        return
    with home.store.writing():
        home.journal.tell(
            night,
            Narrative(
                phase=story.phase,
                stamp=stamped(now.astimezone(home.zone)),
                language=material.language,
                narrator="plain",
                prose=prose,
                fragments=tuple(c.id for c in story.candidates[: TEXTS[story.phase]]),
            ),
        )


def _material(home: Home, story: Story, night: date) -> Material:
    texts = tuple(c.fragment.text for c in story.candidates[: TEXTS[story.phase]])
    return Material(
        phase=story.phase,
        night=night,
        language=_language(home, texts),
        texts=texts,
        themes=story.themes,
        graduates=tuple(_graduate(home, promotion, night) for promotion in story.promoted[:GRADUATES]),
        waiting=story.waiting[: TEXTS[story.phase]],
        earlier=tuple(entry.prose for entry in home.journal.narratives(limit=REMEMBERED)),
    )


def _language(home: Home, texts: Sequence[str]) -> str:
    """Return the language of the entry: the configured one, else that of the material."""
    wishes = (home.config.narrative.language, home.config.dreaming.language)
    return next((wish for wish in wishes if wish != "auto"), None) or main_language(texts)


def _graduate(home: Home, promotion: Promotion, night: date) -> Graduate:
    (candidate,) = home.store.candidates([promotion.fragment], until=night, tonight=night)
    return Graduate(
        text=promotion.text,
        recalls=promotion.recalls,
        days=len(candidate.evidence.days),
        queries=candidate.evidence.unique_queries,
        score=promotion.score,
    )


def _written(home: Home, *, night: date, now: datetime) -> tuple[str, ...]:
    """Bring into the file what it has not got yet, and tonight's entries again when the whole diary is gone."""
    new = list(home.journal.unwritten())
    if not dreams.has_diary(home.files.read(DREAMS).text):
        new = [pair for pair in new if pair[0] != night]
        new += [(night, entry) for entry in reversed(home.journal.narratives(night=night))]
    if not new:
        return ()

    def with_entries(text: str) -> str:
        for _, entry in new:
            text = dreams.with_entry(text, entry.stamp, entry.prose)
        return text

    home.rewrite(DREAMS, with_entries)
    with home.store.writing():
        for told_on, entry in new:
            home.journal.wrote(told_on, entry.phase)
    _archive(home, now=now)
    return ()


def _archive(home: Home, *, now: datetime) -> None:
    document = home.files.read(DREAMS)
    text, removed = dreams.without_oldest(document.text, home.config.narrative.diary_entries)
    if removed:
        year = home.local_date(now).year
        home.rewrite(f"memory/archive/DREAMS-{year}.md", lambda old: dreams.archive(old, year, removed))
        home.files.write(document, text)


def stamped(moment: datetime) -> str:
    """Return a local moment as an entry carries it: `June 15, 2026, 3:01 AM PDT`."""
    hour, half = (moment.hour % 12 or 12), ("AM" if moment.hour < 12 else "PM")
    day = f"{MONTHS[moment.month - 1]} {moment.day}, {moment.year}"
    return f"{day}, {hour}:{moment.minute:02} {half} {moment.tzname()}"
