"""Telling a night again: an entry from what is stored of it, in the place of the one that stands there."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

from dreaming.changes.history import Why, rewrite
from dreaming.entries import archives
from dreaming.home import DREAMS, Home
from dreaming.narrators.telling import PLAIN
from dreaming.tell import Answer, answered, archive, record
from memory.model import Phase
from memory.narratives import Narrative, Telling
from memory.redaction import Redaction
from memory.similarity import similarity
from memory.trust import UNSCANNED, redacted
from workspace import dreams
from workspace.errors import WorkspaceError
from workspace.files import digest
from workspace.lock import lock

ORDER = tuple(Phase)
NAMED = 5
"""Nights that are named to somebody who asked for one that is not there."""


class NothingToTellError(Exception):
    """Nothing is stored of what a night had to tell; `nights` are those that have something, oldest first."""

    def __init__(self, night: date | None, nights: Sequence[date]) -> None:
        self.night = night
        self.nights = tuple(nights)
        super().__init__(_nothing(night, self.nights))


def _nothing(night: date | None, nights: tuple[date, ...]) -> str:
    if night is None or not nights:
        return "no night has anything to tell yet; run one first: dream"
    if night in nights:
        return f"the phases you named had nothing to tell on {night}; leave out --phase to tell the others"
    newest = ", ".join(str(one) for one in nights[-NAMED:])
    which = f"the newest {NAMED} are" if len(nights) > NAMED else "there are" if len(nights) > 1 else "there is"
    return f"no night of {night} has anything to tell; {which} {newest}"


class KeptEntryError(Exception):
    """What was asked for failed, and a plain entry would take the place of one that somebody else wrote."""

    def __init__(self, old: Narrative, asked: str) -> None:
        self.old = old
        self.asked = asked
        super().__init__(
            f"the {old.phase} entry of {old.night} stays as {old.narrator} wrote it, since {asked} wrote none that can"
            ' be kept; for a plain one set narrative.narrator = "plain"'
        )


class ChangedEntryError(Exception):
    """The entry that would be replaced is no longer what was told."""

    def __init__(self, night: date, phase: Phase, page: str) -> None:
        self.night = night
        self.phase = phase
        self.page = page
        super().__init__(
            f"the {phase} entry of {night} was changed by hand in {page}, so it stays as it is;"
            " remove it there to have it told again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a phase's entry says as long as nobody changed it.

    `stored` is what was told, `begun` has digests of what was about to stand in its place when a telling was killed.
    """

    phase: Phase
    stored: dreams.Entry | None
    begun: frozenset[str]
    hiding: Callable[[dreams.Entry], dreams.Entry]

    def says(self, entry: dreams.Entry) -> bool:
        """Tell whether an entry is this one; a word that is hidden in one of them by now makes no difference."""
        if self.stored is not None and self.hiding(entry) in (self.stored, self.hiding(self.stored)):
            return True
        return _digest(entry) in self.begun

    def likeness(self, entry: dreams.Entry) -> float:
        """Return how alike this one and an entry are that somebody changed."""
        return similarity(self.stored.prose, entry.prose) if self.stored else 0.0


def narrate(home: Home, *, night: date | None, phases: Sequence[Phase], now: datetime) -> tuple[Answer, ...]:
    """Tell phases of a night again (the newest one told, when none is named), each in place of its entry.

    What keeps one of them from being written stands in its answer, and keeps no other from it.
    Raise NothingToTellError or HeldError.
    """
    with lock(home.root, now=now):
        home.files.tidy()
        night = night or home.narratives.last_told()
        tellings = [one for one in home.narratives.tellings(night) if one.phase in phases] if night else []
        if not tellings:
            raise NothingToTellError(night, sorted({one.night for one in home.narratives.told(limit=-1)}))
        return tuple(_outcome(home, telling, now=now) for telling in tellings)


def _outcome(home: Home, telling: Telling, *, now: datetime) -> Answer:
    try:
        return _told_again(home, telling, now=now)
    except (ChangedEntryError, WorkspaceError) as error:
        reason = error.instead("tell it again") if isinstance(error, WorkspaceError) else str(error)
        return Answer(telling=replace(telling, refused=(reason,)), entry=None, unwritten=reason)


def _told_again(home: Home, telling: Telling, *, now: datetime) -> Answer:
    """Ask first, then write the file, then record: whatever ends this early leaves the old entry or the new one."""
    old = next((one for one in home.narratives.told(night=telling.night) if one.phase == telling.phase), None)
    known = _known(home, telling)
    standing = _standing(home, telling, known)
    answer = answered(home, telling)
    new = answer.entry
    if new is None or _is_told(old, new, standing.values()):
        return answer
    if old and standing and answer.telling.asked != PLAIN and new.narrator == PLAIN != old.narrator:
        return replace(answer, entry=None, unwritten=str(KeptEntryError(old, answer.telling.asked)))
    with home.store.writing():
        home.narratives.begin(new.night, new.phase, _digest(dreams.entry_of(new.stamp, new.prose)))
    why = Why(kind="entries", reason="told again", now=now, night=new.night)
    for page in standing or (DREAMS,):
        rewrite(home, page, partial(_with, home, telling, known, new, page), why)
    with home.store.writing():
        record(home, answer)
        home.narratives.wrote(new.night, new.phase)
    archive(home, now=now)
    return answer


def _is_told(old: Narrative | None, new: Narrative, standing: Iterable[dreams.Entry]) -> bool:
    """Tell whether an entry is stored and stands there as it is."""
    places = set(standing)
    stored = old is not None and old.written and old.prose == new.prose
    return stored and places == {dreams.entry_of(new.stamp, new.prose)}


def _known(home: Home, telling: Telling) -> tuple[Known, ...]:
    """Return what is known of the entries under a stamp; the phases of a night often share one."""
    told = {one.phase: one for one in home.narratives.told(night=telling.night) if one.stamp == telling.stamp}
    return tuple(
        Known(
            phase=phase,
            stored=dreams.entry_of(told[phase].stamp, told[phase].prose) if phase in told else None,
            begun=begun,
            hiding=partial(_hidden, home.redaction),
        )
        for phase in Phase
        if (begun := home.narratives.begun(telling.night, phase)) or phase in told
    )


def _standing(home: Home, telling: Telling, known: Sequence[Known]) -> dict[str, dreams.Entry]:
    """Return the entry of a phase by the page it stands on; raise ChangedEntryError when it says what nobody told."""
    pages = {page: _alike(page, home.files.read(page).text, telling) for page in _pages(home)}
    whose = _attributed([entry for entries in pages.values() for entry in entries], known)
    own = [(page, one) for page, entries in pages.items() for one in entries if whose.get(one) == telling.phase]
    for page, entry in own:
        if not _says(telling.phase, known, entry):
            raise ChangedEntryError(telling.night, telling.phase, page)
    return dict(own)


def _pages(home: Home) -> tuple[str, ...]:
    return (DREAMS, *archives(home))


def _alike(page: str, text: str, telling: Telling) -> list[dreams.Entry]:
    """Return the entries of a page that have the stamp of a telling."""
    stamp = dreams.entry_of(telling.stamp, "").stamp
    return [entry for entry in dreams.entries(text, archived=page != DREAMS) if entry.stamp == stamp]


def _attributed(entries: Sequence[dreams.Entry], known: Sequence[Known]) -> dict[dreams.Entry, Phase]:
    """Return whose entries are; a changed one is of the phase it is most like, among those whose own is missing."""
    whose = {entry: one.phase for entry in entries for one in known if one.says(entry)}
    missing = [one for one in known if one.phase not in whose.values()]
    for entry in entries:
        if missing and entry not in whose:
            nearest = max(missing, key=lambda one: one.likeness(entry))
            whose[entry] = nearest.phase
            missing.remove(nearest)
    return whose


def _says(phase: Phase, known: Sequence[Known], entry: dreams.Entry) -> bool:
    return any(one.phase == phase and one.says(entry) for one in known)


def _with(home: Home, telling: Telling, known: Sequence[Known], new: Narrative, page: str, text: str) -> str:
    """Return a page with the new entry; somebody may have been at it while the narrator wrote."""
    own = next((entry for entry in _alike(page, text, telling) if _says(telling.phase, known, entry)), None)
    if own is not None:
        return dreams.with_other_prose(text, own, new.prose, archived=page != DREAMS) or text
    if _standing(home, telling, known) or page != DREAMS:
        return text
    return dreams.with_entry(text, new.stamp, new.prose, before=_later(home, telling, known, text))


def _later(home: Home, telling: Telling, known: Sequence[Known], text: str) -> list[dreams.Entry]:
    """Return the standing entries that were told after one: of later phases and nights, whatever they say by now."""
    mine = (telling.night, ORDER.index(telling.phase))
    told = [one for one in home.narratives.told(limit=-1) if (one.night, ORDER.index(one.phase)) > mine]
    stamps = {dreams.entry_of(one.stamp, "").stamp for one in told if one.stamp != telling.stamp}
    whose = _attributed(_alike(DREAMS, text, telling), known)
    behind = {entry for entry, phase in whose.items() if ORDER.index(phase) > mine[1]}
    return [entry for entry in dreams.entries(text) if entry.stamp in stamps or entry in behind]


def _hidden(rules: Redaction, entry: dreams.Entry) -> dreams.Entry:
    """Return an entry without what is hidden by now; as it is where that cannot be told."""
    prose, kinds = redacted(entry.prose, rules)
    return entry if UNSCANNED in kinds else dreams.entry_of(entry.stamp, prose)


def _digest(entry: dreams.Entry) -> str:
    return digest(f"{entry.stamp}\n{entry.prose}".encode("utf-8", "surrogatepass"))
