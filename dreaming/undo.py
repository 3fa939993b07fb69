"""Taking back what nights did to the user's files, and doing it again: in the files and in the store."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

from dreaming.history import Why, notice, restore, write
from dreaming.home import DREAMS, MEMORY, Home
from dreaming.promote import archive_name, line_of, recover
from memory.changes import Change, Effect, digest_of
from memory.model import Phase
from memory.narratives import Narrative
from memory.promotions import HOLDING, Promotion, State
from workspace import dreams, durable
from workspace.files import Document
from workspace.lock import lock
from workspace.sections import layout

NIGHTLY = ("promotions", "sections", "entries", "archive", "doctor")
UNDO = "undo"
REDO = "redo"


class NothingToUndoError(Exception):
    """What should be taken back is not there, or was taken back already."""

    def __init__(self, what: str | None) -> None:
        which = "no night changed anything yet" if what is None else f"nothing of “{what}” stands there any more"
        super().__init__(f"{which}; dream history shows what was changed")


class NothingToRedoError(Exception):
    """Nothing was taken back that is not in force again."""

    def __init__(self) -> None:
        super().__init__("nothing was taken back that could be done again; dream history shows what was changed")


class ConflictError(Exception):
    """The user changed what should be taken back; nothing was done."""

    def __init__(self, conflicts: Sequence["Conflict"]) -> None:
        self.conflicts = tuple(conflicts)
        where = ", ".join(f"{one.file}:{one.line}" for one in conflicts)
        super().__init__(
            f"{where}: you changed what this program wrote there, so nothing was taken back; "
            "remove or restore those lines yourself and run this again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A line, 1-based, that no longer says what was written: both texts."""

    file: str
    line: int
    written: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """What was taken back or done again: promotions that left the file and that came back to it, files changed.

    `night` is None when only one promotion was meant; `left` says what could not be brought back and where it is.
    """

    night: date | None
    out: tuple[Promotion, ...]
    back: tuple[Promotion, ...]
    files: tuple[str, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What is to leave `MEMORY.md`, what comes back to it, and the changes that are taken back with it."""

    night: date | None
    out: tuple[Promotion, ...]
    back: tuple[Promotion, ...]
    changes: tuple[Change, ...]
    entries: tuple[Narrative, ...] = ()


def undo(home: Home, what: str | None, *, now: datetime) -> TakenBack:
    """Take back a night by its date, a promotion by the beginning of its id, or, when nothing is named, the last night.

    Raise NothingToUndoError, ConflictError, HeldError or a WorkspaceError; then nothing was changed.
    """
    with lock(home.root, now=now):
        recover(home, now=now)
        notice(home, now=now)
        wish = _wish(home, what)
        conflicts = [*_reworded(home, wish.out), *_retold(home, wish)]
        if conflicts:
            raise ConflictError(conflicts)
        said = f"night of {wish.night}" if wish.night else f"promotion {wish.out[0].fragment}"
        why = Why(kind=UNDO, reason=f"took back the {said}", now=now, night=wish.night)
        return _taken_back(home, wish, why)


def redo(home: Home, *, now: datetime) -> TakenBack:
    """Do again what was taken back last.

    Raise NothingToRedoError, ConflictError, HeldError or a WorkspaceError; then nothing was changed.
    """
    with lock(home.root, now=now):
        recover(home, now=now)
        notice(home, now=now)
        undone = _last_undone(home)
        if not undone:
            raise NothingToRedoError
        by_id = {promotion.id: promotion for promotion in home.promotions.all()}
        effects = [effect for change in undone for effect in change.effects]
        out = tuple(by_id[e.promotion] for e in effects if e.after == State.IN_FORCE and e.promotion in by_id)
        back = tuple(by_id[e.promotion] for e in effects if e.after == State.UNDONE and e.promotion in by_id)
        if conflicts := _reworded(home, out):
            raise ConflictError(conflicts)
        before = {e.promotion: e.before for e in effects}
        why = Why(kind=REDO, reason=undone[0].reason.replace("took back", "did again"), now=now, night=undone[0].night)
        return _done_again(home, undone, _Moves(out=out, back=back, ends=before), why)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moves:
    """Promotions that leave the file, each with the state it ends in, and those that come back."""

    out: tuple[Promotion, ...]
    back: tuple[Promotion, ...]
    ends: Mapping[int, str]


def _wish(home: Home, what: str | None) -> _Wish:
    night = _night(home, what)
    if night is not None:
        wish = _of_night(home, night)
        if not wish.changes:
            raise NothingToUndoError(what)
        return wish
    found = [p for p in home.promotions.all(State.IN_FORCE) if what and len(what) >= 4 and p.fragment.startswith(what)]
    if not found:
        raise NothingToUndoError(what)
    replaced = {promotion.replaces for promotion in found}
    back = tuple(p for p in home.promotions.all(State.SUPERSEDED) if p.id in replaced)
    return _Wish(night=None, out=tuple(found), back=back, changes=())


def _night(home: Home, what: str | None) -> date | None:
    if what is None:
        nights = [change.night for change in _standing(home) if change.night is not None]
        if not nights:
            raise NothingToUndoError(None)
        return max(nights)
    with suppress(ValueError):
        return date.fromisoformat(what)
    return None


def _standing(home: Home, night: date | None = None) -> tuple[Change, ...]:
    """Return the changes of nights that were not taken back since."""
    stack: dict[date, list[Change]] = {}
    for change in home.changes.all(night=night):
        if change.night is None:
            continue
        if change.kind == UNDO:
            stack[change.night] = []
        elif change.kind in NIGHTLY or change.kind == REDO:
            stack.setdefault(change.night, []).append(change)
    return tuple(change for changes in stack.values() for change in changes)


def _of_night(home: Home, night: date) -> _Wish:
    changes = _standing(home, night)
    by_id = {promotion.id: promotion for promotion in home.promotions.all()}
    gone = [
        by_id[effect.promotion]
        for change in changes
        for effect in change.effects
        if effect.after in (State.DROPPED, State.SUPERSEDED) and effect.promotion in by_id
    ]
    return _Wish(
        night=night,
        out=tuple(p for p in by_id.values() if p.night == night and p.state is State.IN_FORCE),
        back=tuple(p for p in gone if p.state in (State.DROPPED, State.SUPERSEDED)),
        changes=changes,
        entries=tuple(home.narratives.told(night=night)),
    )


def _reworded(home: Home, out: Iterable[Promotion]) -> list[Conflict]:
    """Return the lines that the user reworded or wrote something under."""
    wanted = {promotion.key: promotion for promotion in out}
    found = []
    for own in layout(home.files.read(MEMORY).text).own:
        promotion = wanted.get((own.written.key, own.written.statements))
        if promotion and (own.hangs or own.written.text != durable.wording(promotion.text)):
            found.append(
                Conflict(
                    file=MEMORY, line=own.written.line, written=promotion.text, found=own.written.text or "nothing"
                )
            )
    return found


def _retold(home: Home, wish: _Wish) -> list[Conflict]:
    """Return the entries that the user changed: under the stamp stands something else."""
    told = {dreams.entry_of(one.stamp, one.prose) for one in wish.entries}
    stamps = {entry.stamp for entry in told}
    text = home.files.read(DREAMS).text
    places = dreams.placed(text)
    changed = [(line, one) for line, one in places if one.stamp in stamps and one not in told]
    missing = [entry for entry in told if entry not in {one for _, one in places}]
    return [
        Conflict(file=DREAMS, line=line, written=missing[0].prose if missing else "", found=one.prose)
        for line, one in changed
        if missing
    ]


def _taken_back(home: Home, wish: _Wish, why: Why) -> TakenBack:
    moves = _Moves(out=wish.out, back=wish.back, ends={promotion.id: State.UNDONE for promotion in wish.out})
    files, left, back = _memory_moved(home, moves, why, wish.changes)
    if wish.night is not None:
        later = any(
            change.night and change.night > wish.night for change in _standing(home) if change.kind == "sections"
        )
        change = partial(_without_night, home=home, wish=wish, keep_sections=later)
        files += _page_changed(home, DREAMS, change, why, wish.changes)
        for name in sorted({c.file for c in wish.changes if Path(c.file).is_relative_to("memory/dreaming")}):
            files += _page_changed(home, name, lambda text: text, why, wish.changes)
    return TakenBack(night=wish.night, out=wish.out, back=back, files=tuple(dict.fromkeys(files)), left=left)


def _done_again(home: Home, undone: Sequence[Change], moves: _Moves, why: Why) -> TakenBack:
    files, left, back = _memory_moved(home, moves, why, undone)
    told = home.narratives.told(night=why.night) if why.night else ()

    def with_night(text: str) -> str:
        for entry in reversed(told):
            text = dreams.with_entry(text, entry.stamp, entry.prose)
        return text

    for name in dict.fromkeys(change.file for change in undone):
        if name == DREAMS:
            files += _page_changed(home, DREAMS, with_night, why, undone)
        elif Path(name).is_relative_to("memory/dreaming"):
            files += _page_changed(home, name, lambda text: text, why, undone)
    return TakenBack(night=why.night, out=moves.out, back=back, files=tuple(dict.fromkeys(files)), left=left)


def _memory_moved(
    home: Home, moves: _Moves, why: Why, changes: Sequence[Change]
) -> tuple[list[str], tuple[str, ...], tuple[Promotion, ...]]:
    """Move promotions out of `MEMORY.md` and back; return the files changed, what found no room, what came back."""
    document = home.files.read(MEMORY)
    exact = _exactly_before(home, document, changes)
    left: tuple[str, ...] = ()
    moves = replace(moves, back=_free(home, moves))
    back = moves.back
    if exact is None:
        text, back = _rearranged(home, document.text, moves)
        missing = [promotion for promotion in moves.back if promotion not in back]
        left = tuple(f"“{one.text}” has no room in {MEMORY} and stays in the archive" for one in missing)
    files = _archives_moved(home, moves, back, why, changes)
    effects = (
        *(Effect(promotion=p.id, before=p.state, after=moves.ends[p.id]) for p in moves.out),
        *(Effect(promotion=p.id, before=p.state, after=State.IN_FORCE) for p in back),
    )
    if not effects and exact is None:
        return files, left, back
    if exact is not None:
        changed = restore(home, document, exact.text, why, effects)
    else:
        changed = write(home, document, text, why, effects)
    if not changed:  # the user took the lines out already
        with home.store.writing():
            for effect in effects:
                home.promotions.settle([effect.promotion], State(effect.after), now=why.now)
    return ([*files, MEMORY] if changed else files), left, back


def _free(home: Home, moves: _Moves) -> tuple[Promotion, ...]:
    """Return what may come back: nothing that was promoted anew since, in whatever words, or that the user removed."""
    held = {s for one in home.promotions.all(*HOLDING) if one not in moves.out for s in one.statements}
    return tuple(promotion for promotion in moves.back if held.isdisjoint(promotion.statements))


def _rearranged(home: Home, text: str, moves: _Moves) -> tuple[str, tuple[Promotion, ...]]:
    """Return the text without some lines and with others, each under the heading of its night, where there is room."""
    text = durable.without(text, {promotion.key for promotion in moves.out})
    back = []
    for promotion in moves.back:
        made = durable.revised(
            text, promotion.night, [line_of(promotion)], budget=home.config.memory.budget_chars, evict="nothing"
        )
        if not made.deferred:
            text = made.text
            back.append(promotion)
    return text, tuple(back)


def _archives_moved(
    home: Home, moves: _Moves, back: Sequence[Promotion], why: Why, changes: Sequence[Change]
) -> list[str]:
    """Take out of the archives what stands in the file again, and put there what goes there again."""
    keys = {promotion.key for promotion in back}
    files = []
    for name in _archives(home):
        files += _page_changed(home, name, lambda text: durable.unarchived(text, keys), why, changes)
    again = [p for p in moves.out if moves.ends[p.id] in (State.DROPPED, State.SUPERSEDED)]
    if again:
        on = home.local_date(why.now)
        document = home.files.read(archive_name(on.year))
        sections = [
            durable.Dropped(day=own.written.day or on, lines=(own.written,))
            for own in layout(home.files.read(MEMORY).text).own
            if (own.written.key, own.written.statements) in {promotion.key for promotion in again}
        ]
        text = durable.archived(document.text, sections, on=on, reason=why.reason)
        files += [document.name] if write(home, document, text, why) else []
    return files


def _archives(home: Home) -> Iterable[str]:
    years = sorted(
        int(path.stem[-4:]) for path in (home.root / "memory/archive").glob("MEMORY-[0-9][0-9][0-9][0-9].md")
    )
    return [archive_name(year) for year in years]


def _page_changed(
    home: Home, name: str, change: Callable[[str], str], why: Why, changes: Sequence[Change]
) -> list[str]:
    """Bring a page back to the byte where only these changes were made to it since; else change it line by line."""
    document = home.files.read(name)
    exact = _exactly_before(home, document, changes)
    if exact is not None:
        return [name] if restore(home, document, exact.text, why) else []
    return [name] if write(home, document, change(document.text), why) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exact:
    """What a file held before some changes; None when there was no file."""

    text: str | None


def _exactly_before(home: Home, document: Document, changes: Sequence[Change]) -> _Exact | None:
    """Return what a file held before changes, if nobody else changed it between them and since and it is kept whole."""
    own = [change for change in changes if change.file == document.name and change.applied]
    found = None if document.digest is None else digest_of(document.text)
    if not own or found != own[-1].after:
        return None
    numbers = {change.id for change in own}
    since = [change for change in home.changes.all(file=document.name) if change.id >= own[0].id]
    if any(change.id not in numbers for change in since):
        return None
    if any(above.after != below.before for above, below in pairwise(own)):
        return None
    first = own[0].before
    if first is None:
        return _Exact(text=None)
    image = home.changes.image(first)
    return _Exact(text=image.text) if image.whole else None


def _without_night(text: str, *, home: Home, wish: _Wish, keep_sections: bool) -> str:
    """Return the dream diary without the entries of a night, its sections as they were before it, if it is the last."""
    text = dreams.without_entries(text, {dreams.entry_of(one.stamp, one.prose) for one in wish.entries})
    first = next((c for c in wish.changes if c.kind == "sections" and c.file == DREAMS), None)
    if keep_sections or first is None:
        return text
    before = "" if first.before is None else home.changes.image(first.before).text
    for phase in Phase:
        body = dreams.section(before, phase.value)
        if body is not None:
            text = dreams.with_section(text, phase.value, body)
        else:
            text = dreams.without_section(text, phase.value)
    return text


def _last_undone(home: Home) -> tuple[Change, ...]:
    """Return the changes of the last undo that was not done again."""
    stack: list[list[Change]] = []
    last: tuple[object, ...] | None = None
    for change in home.changes.all():
        if change.kind not in (UNDO, REDO):
            continue
        action = (change.kind, change.at, change.reason)
        if action == last:
            if change.kind == UNDO:
                stack[-1].append(change)
            continue
        last = action
        if change.kind == UNDO:
            stack.append([change])
        elif stack:
            stack.pop()
    return tuple(stack[-1]) if stack else ()
