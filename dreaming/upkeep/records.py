"""What can be wrong with the records of a workspace: each check compares rows with files, and changes nothing."""

import re
from collections.abc import Iterator
from datetime import datetime

from dreaming.home import MEMORY, STORE, Home
from dreaming.observing.hearing import listing as transcripts
from dreaming.observing.observe import FILES
from dreaming.upkeep.findings import Check, Finding, listed
from memory.integrity import Dated, Integrity
from memory.model import Kind
from memory.promotions import Promotion, State
from workspace import diary
from workspace.durable import promoted
from workspace.errors import UnreadableError

_FRAGMENT = re.compile(r"[0-9a-f]{16}")


def markers(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Compare the markers of `MEMORY.md` with the promotions of the store."""
    page = home.files.read(MEMORY)
    latest = home.promotions.spoken_of()
    written = {line.mark: line.line for line in promoted(page.text) if line.text}
    for key, line in written.items():
        if key not in latest and _FRAGMENT.fullmatch(key[0]):
            yield _unknown(f"{MEMORY}:{line}", key[0])
    for key, promotion in latest.items():
        state = promotion.state
        if state is State.PLANNED:
            yield _planned(promotion, stands=key in written)
        elif state is State.IN_FORCE and key not in written:
            yield _missing(promotion, no_page=page.digest is None)
        elif state is not State.IN_FORCE and key in written:
            yield Finding(
                kind="ended_marker",
                place=f"{MEMORY}:{written[key]}",
                what=f"promotion {promotion.fragment} stands there, and is recorded as {state.value}",
                repair="it is recorded as in force again; delete the line if it should not be",
                fixable=True,
            )


def _unknown(place: str, fragment: str) -> Finding:
    return Finding(
        kind="unknown_marker",
        place=place,
        what=f"the marker of fragment {fragment} belongs to no promotion in the store",
        repair="bring back the store that knows it with dream restore, or delete the comment to keep the line as yours",
    )


def _planned(promotion: Promotion, *, stands: bool) -> Finding:
    became = "it stands in the file and is recorded as in force" if stands else "it never got there and competes again"
    return Finding(
        kind="planned_promotion",
        place=MEMORY,
        what=f"promotion {promotion.fragment} was planned on {promotion.night} and never settled",
        repair=became,
        fixable=True,
    )


NO_PAGE = "put the file back (dream show --as-of prints it, dream restore brings it), or all of it counts as deleted"


def _missing(promotion: Promotion, *, no_page: bool) -> Finding:
    return Finding(
        kind="missing_marker",
        place=MEMORY,
        what=f"promotion {promotion.fragment} is in force and does not stand there",
        repair=NO_PAGE
        if no_page
        else "put the line back first if you miss it; else it is recorded how it came to leave",
        fixable=not no_page,
    )


def sources(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find files that are gone or changed since they were read."""
    known = home.sources.known(*FILES)
    there = {one.path: one for one in listed(home).diaries}
    for path, as_read in known.items():
        if path not in there:
            yield _gone(path)
        elif as_read != (str(there[path].day), *there[path].stamp) and _differs(home, there[path], as_read[0]):
            yield _stale(path)
    if home.config.sessions.enabled:
        heard = {one.name: (one.size, one.mtime_ns, one.ctime_ns) for one in transcripts(home)}
        for name, as_read in home.sources.known(Kind.SESSION).items():
            if name not in heard:
                yield _gone(name)
            elif heard[name] != as_read[1:]:
                yield _stale(name)


def _differs(home: Home, one: diary.Diary, day: str) -> bool:
    try:
        text = diary.read(home.root, one.path, folder=home.config.workspace.diaries)
    except UnreadableError:
        return False  # said by the check of the diaries
    return text.digest != home.sources.digest(one.path) or day != str(one.day)


def _gone(path: str) -> Finding:
    return Finding(
        kind="gone_source",
        place=path,
        what="the file was read and is gone",
        repair="what stood only there is recorded as gone; put the file back first if you miss it",
        fixable=True,
    )


def _stale(path: str) -> Finding:
    return Finding(
        kind="stale_source",
        place=path,
        what="the file changed since it was read",
        repair="it is read again, as the next search or night does",
        fixable=True,
    )


def rows(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find rows that contradict others: fragments without words or place, pictures nothing needs."""
    integrity = Integrity(home.store)
    for kind, found_rows, what, repair in (
        ("empty_fragment", integrity.wordless(), "fragments without a statement", "they are dropped and read again"),
        ("misplaced_fragment", integrity.misplaced(), "fragments recorded as gone though they stand somewhere, or not"
         " as gone though they stand nowhere", "that is recorded as it is"),
        ("orphan_image", integrity.orphan_images(), "pictures of files that no change needs", "they are dropped"),
    ):  # fmt: skip
        if found_rows:
            yield _in_store(kind, f"there are {len(found_rows)} {what}, such as {found_rows[0][:16]}", repair)


def changes(home: Home, now: datetime) -> Iterator[Finding]:  # noqa: ARG001
    """Find changes of files that were planned and never finished."""
    for change in home.changes.planned():
        yield Finding(
            kind="planned_change",
            place=change.file,
            what=f"change {change.id} ({change.reason}) was planned on {change.day} and never finished",
            repair="the file itself says whether it was made, and that is recorded",
            fixable=True,
        )


def nights(home: Home, now: datetime) -> Iterator[Finding]:
    """Find nights that did not finish."""
    run = home.journal.nights(limit=-1)
    for at, night in enumerate(run):
        if night.finished_at is not None:
            continue
        caught_up = any(later.finished_at for later in run[:at])
        to_run = "dream" if night.date == home.local_date(now) else f"dream --now {night.date}T23:00"
        yield Finding(
            kind="unfinished_night",
            place=str(STORE),
            what=f"the night of {night.date} did not finish",
            repair="a later night took up what it left, so it is closed" if caught_up else f"run {to_run} to finish it",
            fixable=caught_up,
        )


def clock(home: Home, now: datetime) -> Iterator[Finding]:
    """Find what is dated after now, and nights that are not in the order in which they began."""
    integrity, today = Integrity(home.store), home.local_date(now)
    wait = f"check the clock and the time zone; it is {now.astimezone(home.zone):%Y-%m-%d %H:%M} here"
    if later := integrity.nights_after(today, now):
        first, last = later[0], later[-1]
        what = f"{len(later)} nights from that of {first.what} on are dated after now, the last {last.at}"
        yield _dated(str(STORE), what, wait)
    for one in integrity.sightings_after(today):
        yield _dated(one.what, f"it is of {one.at}, after today", f"rename the file if its day is wrong, or {wait}")
    for one in integrity.signals_after(now):
        yield _dated(str(STORE), f"something was asked for ({one.what}) at {one.at}, after now", wait)
    for one in integrity.nights_out_of_order():
        yield _dated(str(STORE), f"the night of {one.what} began before a night of an earlier date did", _order(one))


def _order(one: Dated) -> str:
    return f"check the clock, which said {one.at}; nothing is lost, and nights go on by their dates"


def _dated(place: str, what: str, repair: str) -> Finding:
    return Finding(kind="clock", place=place, what=what, repair=repair)


def _in_store(kind: str, what: str, repair: str) -> Finding:
    return Finding(kind=kind, place=str(STORE), what=what, repair=repair, fixable=True)


OF_STORE: tuple[Check, ...] = (markers, changes, nights, sources, rows, clock)
