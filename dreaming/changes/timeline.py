"""What happened to the user's files, change by change, and how `MEMORY.md` stood on a day."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from difflib import unified_diff

from dreaming.home import MEMORY, Home
from dreaming.promotion.ledger import agreed
from memory.changes import Change
from memory.promotions import Promotion
from workspace.errors import WorkspaceError
from workspace.lines import printable, split_lines


class NothingKnownError(Exception):
    """Nothing is known of how the file stood that early."""

    def __init__(self, day: date) -> None:
        self.day = day
        super().__init__(f"nothing is known of how {MEMORY} stood on {day}; dream history shows since when it is")


class UnknownChangeError(Exception):
    """A number, a night or an id names no change."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"no change belongs to “{what}”; dream history lists them all with their numbers and ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A change, and the promotions whose state it changed, each as it stands now and with the state it got."""

    change: Change
    promotions: tuple[tuple[Promotion, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stood:
    """The text of `MEMORY.md` at the end of a day; `day` is None when it is the present one."""

    day: date | None
    text: str
    problems: tuple[str, ...] = ()


def events(home: Home, what: str | None) -> tuple[Event, ...]:
    """Return what changed the user's files, oldest first: all, or what belongs to a number, a night or an id.

    Raise UnknownChangeError.
    """
    by_id = _promotions(home)
    found = tuple(
        Event(
            change=change,
            promotions=tuple(
                (by_id[effect.promotion], effect.after) for effect in change.effects if effect.promotion in by_id
            ),
        )
        for change in home.changes.all()
    )
    if what is None:
        return found
    wanted = tuple(event for event in found if _belongs(event, what))
    if not wanted:
        raise UnknownChangeError(what)
    return wanted


def _promotions(home: Home) -> Mapping[int, Promotion]:
    """Return every promotion as the file says it stands; as it is recorded when the file cannot be read."""
    with suppress(WorkspaceError):
        return agreed(home)
    return home.promotions.by_id()


def _belongs(event: Event, what: str) -> bool:
    change = event.change
    if what in (str(change.id), change.night and change.night.isoformat()):
        return True
    return len(what) >= 4 and any(promotion.fragment.startswith(what) for promotion, _ in event.promotions)


def difference(home: Home, change: Change) -> str:
    """Return a change as a unified diff, without secrets."""
    try:
        texts = ["" if key is None else home.changes.image(key).text for key in (change.before, change.after)]
    except KeyError:
        return "(what it said is not kept any more, since the rules of what is hidden changed)"
    before, after = (split_lines(printable(text)) for text in texts)
    lines = unified_diff(before, after, f"a/{change.file}", f"b/{change.file}")
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines).rstrip("\n")


def stood(home: Home, day: date | None, *, now: datetime) -> Stood:
    """Return `MEMORY.md` as it stands, or as it is known to have stood at the end of a day.

    Raise NothingKnownError for a day before the first change, unless the file is known from before that.
    """
    if day is None or day >= home.local_date(now):
        return Stood(day=day, text=home.files.read(MEMORY).text)
    known = [change for change in home.changes.all(file=MEMORY) if change.made]
    until = [change for change in known if change.day <= day]
    if until:
        key = until[-1].after
    elif known:
        key = known[0].before
    else:
        raise NothingKnownError(day)
    if key is None:
        return Stood(day=day, text="")
    try:
        image = home.changes.image(key)
    except KeyError:
        raise NothingKnownError(day) from None
    masked = () if image.whole else (f"secrets that stood in {MEMORY} are masked: their values are never kept",)
    return Stood(day=day, text=image.text, problems=masked)
