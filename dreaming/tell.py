"""Telling a night: from what the phases decided to entries of the dream diary, at most one per phase."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

from dreaming.changes.history import Why, again, rewrite, write
from dreaming.entries import archive_name
from dreaming.home import DREAMS, Home
from dreaming.narrators.choice import chosen
from dreaming.narrators.entry import Graduate, Material, Narrator, Request
from dreaming.narrators.fitness import is_fit, tellable
from dreaming.narrators.prompts import OVERRIDES, BrokenPromptError, Wishes, request
from dreaming.narrators.telling import PLAIN, told
from dreaming.narrators.themes import RECURS
from memory.language import main_language
from memory.model import Candidate, Phase
from memory.narratives import Narrative, Telling
from memory.promotions import Promotion
from memory.trust import redacted
from workspace import dreams
from workspace.errors import WorkspaceError

TEXTS = {Phase.LIGHT: 12, Phase.REM: 8, Phase.DEEP: 12}
GRADUATES = 5
REMEMBERED = 30
"""Entries the narrator looks back on, so as not to repeat itself."""
PROMPTS = "memory/dreaming/prompts"
"""Where a workspace may keep prompts of its own."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How telling went: `unwritten` is what `DREAMS.md` has not got, `notes` what did not go as it was configured."""

    unwritten: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def tell(home: Home, stories: Sequence[Story], *, night: date, now: datetime) -> Outcome:
    """Add tonight's entries to `DREAMS.md`; whatever goes wrong with that changes nothing else of the night."""
    known = {entry.phase for entry in home.narratives.told(night=night)}
    asked = {one.phase: one.fragments for one in home.narratives.tellings(night) if one.refused}
    answers: list[Answer] = []
    for story in map(_fit, stories):
        if story.phase not in known and (story.candidates or story.promoted):
            telling = _telling(home, story, night=night, now=now)
            if asked.get(story.phase) == telling.fragments:
                continue  # it was asked for in vain, and nothing is new
            with home.store.writing():
                home.narratives.keep(telling)  # whoever is interrupted can be asked again
            answer = answered(home, telling)
            with home.store.writing():
                record(home, answer)
            answers.append(answer)
    try:
        _write(home, night=night, now=now)
    except WorkspaceError as error:
        return Outcome(unwritten=(str(error),), notes=notes(answers))
    return Outcome(notes=notes(answers))


def _fit(story: Story) -> Story:
    """Return a story without what is no statement, and without themes that only one of its candidates has."""
    fit = tuple(one for one in story.candidates if tellable(one.fragment))
    counts = Counter(tag for one in fit for tag in one.fragment.tags)
    shared = tuple(tag for tag in story.themes if story.phase is Phase.REM or counts[tag] >= RECURS)
    return replace(story, candidates=fit, themes=shared, waiting=tuple(filter(is_fit, story.waiting)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of asking for an entry: the entry or None, how that went, and why a prompt was not used.

    `unwritten` is why the diary has not got it, empty when it has.
    """

    telling: Telling
    entry: Narrative | None
    unused: tuple[str, ...] = ()
    unwritten: str = ""


def notes(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return what did not go as it was configured; what holds of several phases is said once."""
    phases: dict[str, list[Phase]] = {}
    for answer in answers:
        for reason in answer.telling.refused:
            if reason != answer.unwritten:
                phases.setdefault(reason, []).append(answer.telling.phase)
    unused = dict.fromkeys(one for answer in answers for one in answer.unused)
    return (*unused, *(f"{', '.join(which)}: {reason}" for reason, which in phases.items()))


def answered(home: Home, telling: Telling) -> Answer:
    """Get an entry for what a phase has to tell; nothing is recorded yet."""
    narrator = None if home.dry else chosen(home.config.narrative)
    asked = PLAIN if narrator is None else narrator.name
    others = [one for one in home.narratives.told(limit=REMEMBERED + 1) if _is_other(one, telling)]
    recent = tuple(one.prose for one in others)[:REMEMBERED]
    material = _hidden(home, replace(Material.of(telling.material), earlier=recent))
    material = replace(material, language=_language(home, material))
    wanted, unused = _request(home, material, narrator)
    with home.progress(f"{telling.phase}: {asked}") if narrator else nullcontext():
        result = told(narrator, wanted, recent=recent, seconds=home.config.narrative.timeout_seconds)
    return Answer(
        telling=replace(
            telling,
            asked=asked,
            refused=result.refused,
            prompt_tokens=result.prompt_tokens,
            answer_tokens=result.answer_tokens,
        ),
        entry=None if result.prose is None else _entry(telling, material, result.narrator, result.prose),
        unused=unused,
    )


def record(home: Home, answer: Answer) -> None:
    """Record an entry and how it came about."""
    home.narratives.keep(answer.telling)
    if answer.entry is not None:
        home.narratives.tell(answer.entry)


def _hidden(home: Home, material: Material) -> Material:
    """Return the material without what is hidden by now: it may have been kept under other rules."""

    def hidden(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(redacted(text, home.redaction)[0] for text in texts)

    return replace(
        material,
        texts=hidden(material.texts),
        themes=hidden(material.themes),
        graduates=tuple(replace(one, text=hidden([one.text])[0]) for one in material.graduates),
        waiting=hidden(material.waiting),
        earlier=hidden(material.earlier),
        headings=hidden(material.headings),
    )


def _is_other(entry: Narrative, telling: Telling) -> bool:
    return (entry.night, entry.phase) != (telling.night, telling.phase)


def _entry(telling: Telling, material: Material, narrator: str, prose: str) -> Narrative:
    return Narrative(
        night=telling.night,
        phase=telling.phase,
        stamp=telling.stamp,
        language=material.language,
        narrator=narrator,
        prose=prose,
        fragments=telling.fragments,
    )


def _request(home: Home, material: Material, narrator: Narrator | None) -> tuple[Request, tuple[str, ...]]:
    """Return what is asked, and why a prompt of the workspace's own was not used."""
    if narrator is None:
        return Request(material=material, system="", asked=""), ()
    style = home.config.narrative.style
    try:
        return request(material, Wishes(style=style, own=_own_prompts(home))), ()
    except (BrokenPromptError, WorkspaceError) as error:
        return request(material, Wishes(style=style)), (str(error),)


def _own_prompts(home: Home) -> tuple[tuple[str, str], ...]:
    texts = ((name, home.files.read(f"{PROMPTS}/{name}.md").text) for name in OVERRIDES)
    return tuple((name, text) for name, text in texts if text.strip())


def _telling(home: Home, story: Story, *, night: date, now: datetime) -> Telling:
    candidates = story.candidates[: TEXTS[story.phase]]
    texts = tuple(tellable(candidate.fragment) for candidate in candidates)
    material = Material(
        phase=story.phase,
        night=night,
        language="",
        texts=texts,
        themes=story.themes,
        graduates=tuple(_graduate(home, promotion, night) for promotion in story.promoted[:GRADUATES]),
        waiting=story.waiting[: TEXTS[story.phase]],
        headings=tuple(candidate.fragment.heading for candidate in candidates),
        days=tuple(_days(candidate) for candidate in candidates),
    )
    return Telling(
        night=night,
        phase=story.phase,
        stamp=stamped(now.astimezone(home.zone)),
        asked=PLAIN,
        material=replace(material, language=_language(home, material)).document(),
        fragments=tuple(candidate.id for candidate in candidates),
    )


def _days(candidate: Candidate) -> tuple[str, ...]:
    days = {*candidate.evidence.days, *(sighting.day for sighting in candidate.sightings)}
    return tuple(day.isoformat() for day in sorted(days))


def _language(home: Home, material: Material) -> str:
    """Return the language of the entry: the configured one, else that of what was kept, else of all the material."""
    wishes = (home.config.narrative.language, home.config.dreaming.language)
    kept = tuple(graduate.text for graduate in material.graduates)
    return next((wish for wish in wishes if wish != "auto"), None) or main_language(kept or material.texts)


def _graduate(home: Home, promotion: Promotion, night: date) -> Graduate:
    (candidate,) = home.store.candidates([promotion.fragment], until=night, tonight=night)
    return Graduate(
        text=promotion.text,
        recalls=promotion.recalls,
        days=len(candidate.evidence.days),
        queries=candidate.evidence.unique_queries,
        score=promotion.score,
    )


def _write(home: Home, *, night: date, now: datetime) -> None:
    """Bring into the file what it has not got yet, and tonight's entries again when the whole diary is gone."""
    new = list(home.narratives.unwritten())
    if not dreams.has_diary(home.files.read(DREAMS).text):
        new = [entry for entry in new if entry.night != night]
        new += reversed([entry for entry in home.narratives.told(night=night) if not entry.taken_back])
    if new:
        _write_new(home, new, night=night, now=now)
    archive(home, now=now)


def _write_new(home: Home, new: Sequence[Narrative], *, night: date, now: datetime) -> None:
    def with_entries(text: str) -> str:
        for entry in new:
            text = dreams.with_entry(text, entry.stamp, entry.prose)
        return text

    rewrite(home, DREAMS, with_entries, Why(kind="entries", reason="what the night told", now=now, night=night))
    with home.store.writing():
        for entry in new:
            home.narratives.wrote(entry.night, entry.phase)


def archive(home: Home, *, now: datetime) -> None:
    """Move entries there is no room for to the archive of the year; again when somebody saved the diary meanwhile."""
    again(partial(_archive, home, now=now))


def _archive(home: Home, *, now: datetime) -> None:
    document = home.files.read(DREAMS)
    text, removed = dreams.without_oldest(document.text, home.config.narrative.diary_entries)
    if removed:
        year = home.local_date(now).year
        reason = f"{DREAMS} keeps {home.config.narrative.diary_entries} entries"
        why = Why(kind="archive", reason=reason, now=now, night=home.local_date(now))
        rewrite(home, archive_name(year), lambda old: dreams.archive(old, year, removed), why)
        write(home, document, text, why)


def stamped(moment: datetime) -> str:
    """Return a local moment as an entry carries it: `June 15, 2026, 3:01 AM PDT`."""
    hour, half = (moment.hour % 12 or 12), ("AM" if moment.hour < 12 else "PM")
    day = f"{MONTHS[moment.month - 1]} {moment.day}, {moment.year}"
    return f"{day}, {hour}:{moment.minute:02} {half} {moment.tzname()}"
