"""Telling a night again: an entry from what is stored of it, in the place of the one that stands there."""

from collections.abc import Sequence
from datetime import date, datetime

from dreaming.home import Home
from dreaming.pages import DREAMS
from dreaming.tell import Answer, Progress, answered, archive, record, unseen
from memory.model import Phase
from memory.narratives import Narrative, Telling
from workspace import dreams
from workspace.lock import lock


class NothingToTellError(Exception):
    """Nothing is stored of what a night had to tell."""

    def __init__(self, night: date | None) -> None:
        self.night = night
        which = "no night has anything to tell yet" if night is None else f"nothing is stored to tell of {night}"
        super().__init__(f"{which}; run the night first: dream")


class ChangedEntryError(Exception):
    """The entry that would be replaced is no longer what was told."""

    def __init__(self, night: date, phase: Phase) -> None:
        self.night = night
        self.phase = phase
        super().__init__(
            f"the {phase} entry of {night} was changed by hand in {DREAMS}, so it stays as it is;"
            " remove it there to have it told again"
        )


def narrate(
    home: Home, *, night: date | None, phases: Sequence[Phase], now: datetime, progress: Progress = unseen
) -> tuple[Answer, ...]:
    """Tell phases of a night again (the newest one told, when none is named), each in place of its entry.

    Raise NothingToTellError, ChangedEntryError, HeldError or a WorkspaceError.
    """
    with lock(home.root, now=now):
        night = night or home.narratives.last_told()
        tellings = [one for one in home.narratives.tellings(night) if one.phase in phases] if night else []
        if not tellings:
            raise NothingToTellError(night)
        return tuple(_told_again(home, telling, now=now, progress=progress) for telling in tellings)


def _told_again(home: Home, telling: Telling, *, now: datetime, progress: Progress) -> Answer:
    """Ask first, then write the file, then record: whatever ends this early leaves the old entry or the new one."""
    told = home.narratives.told(night=telling.night)
    old = next((entry for entry in told if entry.phase == telling.phase), None)
    _check(home.files.read(DREAMS).text, telling, told)
    answer = answered(home, telling, progress=progress)
    new = answer.entry
    if new is None or (old is not None and old.prose == new.prose and old.written):
        return answer
    home.rewrite(DREAMS, lambda text: _with(_check(text, telling, told), old, new, _later(home, new)))
    with home.store.writing():
        record(home, answer)
        home.narratives.wrote(new.night, new.phase)
    archive(home, now=now)
    return answer


def _check(text: str, telling: Telling, told: Sequence[Narrative]) -> str:
    """Return the text, or raise ChangedEntryError when an entry of that time says what nobody told."""
    known = [dreams.entry_of(entry.stamp, entry.prose) for entry in told]
    foreign = [one for one in dreams.entries(text) if one.stamp == telling.stamp and one not in known]
    standing = any(one in dreams.entries(text) for one in _own(telling, told))
    if foreign and not standing:
        raise ChangedEntryError(telling.night, telling.phase)
    return text


def _own(telling: Telling, told: Sequence[Narrative]) -> list[dreams.Entry]:
    return [dreams.entry_of(entry.stamp, entry.prose) for entry in told if entry.phase == telling.phase]


def _with(text: str, old: Narrative | None, new: Narrative, later: Sequence[dreams.Entry]) -> str:
    replaced = None
    if old is not None:
        replaced = dreams.with_other_prose(text, dreams.entry_of(old.stamp, old.prose), new.prose)
    return dreams.with_entry(text, new.stamp, new.prose, before=later) if replaced is None else replaced


def _later(home: Home, new: Narrative) -> list[dreams.Entry]:
    """Return the entries told after one: of later phases and nights."""
    order = list(Phase)
    mine = (new.night, order.index(new.phase))
    later = [one for one in home.narratives.told(limit=-1) if (one.night, order.index(one.phase)) > mine]
    return [dreams.entry_of(one.stamp, one.prose) for one in later]
