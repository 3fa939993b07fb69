"""Taking back what nights did to the user's files, and doing it again: in the files and in the store."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from itertools import pairwise, takewhile
from pathlib import Path

from dreaming.changes.history import REDO, UNDO, Why, digest, note, notice, standing, write
from dreaming.entries import archives
from dreaming.explain import is_memory, origins
from dreaming.home import DREAMS, MEMORY, Home, archive_name
from dreaming.places import named
from dreaming.promotion.ledger import is_reworded, line_of, recover, yours
from memory.changes import Change, Effect
from memory.model import Phase
from memory.promotions import HOLDING, LEFT, TAKEN_BACK, Key, Promotion, State
from memory.trust import redacted
from workspace import dreams, durable
from workspace.files import Document
from workspace.lock import lock
from workspace.sections import layout

NIGHTLY = frozenset({"promotions", "sections", "entries", "archive", "doctor"})
REPORTS = "memory/dreaming"
PHASES = tuple(Phase)


class NothingToUndoError(Exception):
    """What should be taken back is not there, or was taken back already."""

    def __init__(self, what: str | None) -> None:
        which = "no change of a night stands" if what is None else f"no change that stands belongs to “{what}”"
        super().__init__(f"{which}; dream history shows what was changed")


class NotMarkedError(NothingToUndoError):
    """What should be taken back has no marker any more: the line is the user's."""

    def __init__(self, promotion: Promotion, text: str) -> None:
        self.promotion = promotion
        Exception.__init__(self, _not_marked(text))


class SeveralMeantError(NothingToUndoError):
    """What should be taken back begins the ids of several promotions; none was."""

    def __init__(self, what: str, names: Sequence[str]) -> None:
        self.names = tuple(names)
        Exception.__init__(self, f"“{what}” may mean each of {', '.join(names)}; name one of them, or its line")


class NothingToRedoError(Exception):
    """Nothing was taken back that is not in force again."""

    def __init__(self) -> None:
        super().__init__("nothing was taken back that could be done again; dream history shows what was changed")


class NoRoomError(Exception):
    """What should be done again has no room any more; nothing was done."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"“{text}” has no room in {MEMORY} any more, so nothing was done; shorten your own text there or raise"
            " memory.budget_chars and run this again"
        )


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
    """A line, 1-based, that no longer says what was written: both texts, without secrets."""

    file: str
    line: int
    written: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """What was taken back or done again: promotions that left the file and that came back to it, files changed.

    `night` is None when only promotions were meant; `left` says what could not be taken or brought back, and where it
    is.
    """

    night: date | None
    out: tuple[Promotion, ...]
    back: tuple[Promotion, ...]
    files: tuple[str, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moves:
    """Promotions that leave `MEMORY.md`, that come back to it, and the state each gets that does neither or leaves."""

    out: tuple[Promotion, ...]
    back: tuple[Promotion, ...]
    states: Mapping[int, State]

    @property
    def archived(self) -> tuple[Promotion, ...]:
        """Those that leave for the archive."""
        return tuple(one for one in self.out if self.states[one.id] in LEFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is taken back: changes of files, moves of promotions; `night` when it is a night's.

    `yours` are promotions that stay, because their lines have no markers any more.
    """

    night: date | None
    changes: tuple[Change, ...]
    moves: _Moves
    yours: tuple[Promotion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A file and the text it gets, None when it goes; worked out before anything is written."""

    document: Document
    text: str | None
    why: Why
    effects: tuple[Effect, ...] = ()


def undo(home: Home, what: str | None, *, now: datetime) -> TakenBack:
    """Take back a night by its date, a promotion by the beginning of its id, lines by their place, or the last night.

    Raise NothingToUndoError, which may be a NotMarkedError or a SeveralMeantError, NotPromotedError, NoSuchLinesError,
    ConflictError, HeldError or a WorkspaceError. What fails on the way is finished by the next undo.
    """
    with lock(home.root, now=now):
        notice(home, now=now, removed=recover(home, now=now))
        plan = _planned(home, what)
        if conflicts := [*_reworded(home, plan.moves.out), *_retold(home, plan)]:
            raise ConflictError(conflicts)
        said = f"night of {plan.night}" if plan.night else f"promotion {', '.join(one.name for one in plan.moves.out)}"
        why = Why(kind=UNDO, reason=f"took back the {said}", now=now, night=plan.night)
        memory, back, left = _memory_step(home, plan, why)
        left += [_not_marked(_hidden(home, one.text)) for one in plan.yours]
        done = (back, _archive_steps(home, plan, why, back=back), _page_steps(home, plan, why))
        return _taken(plan, back, left, _written(home, [*memory, *done[1], *done[2]]))


def redo(home: Home, *, now: datetime) -> TakenBack:
    """Do again what was taken back last.

    Raise NothingToRedoError, NoRoomError, ConflictError, HeldError or a WorkspaceError.
    """
    with lock(home.root, now=now):
        notice(home, now=now, removed=recover(home, now=now))
        plan, reason = _last_undone(home)
        if conflicts := _reworded(home, plan.moves.out):
            raise ConflictError(conflicts)
        why = Why(kind=REDO, reason=reason.replace("took back", "did again"), now=now, night=plan.night)
        memory, back, left = _memory_step(home, plan, why)
        if left:
            raise NoRoomError(next(one.text for one in plan.moves.back if one not in back))
        archives = _archive_steps(home, plan, why, back=back)
        # What leaves the file is in the archive first.
        return _taken(plan, back, (), _written(home, [*archives, *memory, *_page_steps(home, plan, why)]))


def _taken(plan: _Plan, back: Sequence[Promotion], left: Sequence[str], files: Iterable[str]) -> TakenBack:
    names = tuple(dict.fromkeys(files))
    return TakenBack(night=plan.night, out=plan.moves.out, back=tuple(back), files=names, left=tuple(left))


def _written(home: Home, steps: Iterable[_Step]) -> Iterable[str]:
    for step in steps:
        if write(home, step.document, step.text, step.why, step.effects):
            yield step.document.name
        elif step.effects or step.why.undoes:
            note(home, step.document, step.why, step.effects)


# -- what is meant ----------------------------------------------------------------------------------------------------


def _planned(home: Home, what: str | None) -> _Plan:
    changes = [change for change in standing(home) if change.kind in NIGHTLY and change.night is not None]
    if what is None:
        if not changes:
            raise NothingToUndoError(None)
        return _of_night(home, changes, changes[-1].night)
    with suppress(ValueError):
        night = date.fromisoformat(what)
        return _of_night(home, changes, night)
    return _of_promotions(home, what)


def _of_promotions(home: Home, what: str) -> _Plan:
    by_line = is_memory(what) and named(what).start is not None
    if by_line:
        meant = [one.promotion for one in origins(home, what)]
    else:
        begun = [p for p in home.promotions.all() if len(what) >= 4 and p.name.startswith(what)]
        meant = [p for p in begun if p.name == what and p.state is State.IN_FORCE] or begun
    found, unmarked = tuple(p for p in meant if p.state is State.IN_FORCE), yours(home, meant)
    if not found and unmarked:
        raise NotMarkedError(unmarked[-1], _hidden(home, unmarked[-1].text))
    if not found:
        raise NothingToUndoError(what)
    if not by_line and len(found) > 1:
        raise SeveralMeantError(what, [f"{one.name} (“{_hidden(home, one.text)}”)" for one in found])
    states = dict.fromkeys((one.id for one in found), State.UNDONE)
    moves = _Moves(out=found, back=_corrected(home, found), states=states)
    return _Plan(night=None, changes=(), moves=_free(home, moves), yours=unmarked)


def _of_night(home: Home, changes: Iterable[Change], night: date | None) -> _Plan:
    meant = tuple(change for change in changes if change.night == night)
    made = home.promotions.all(night=night)
    own = [one for one in made if one.state not in TAKEN_BACK and one.state is not State.REMOVED]
    if not meant and not own:
        raise NothingToUndoError(str(night))
    out = tuple(one for one in own if one.state is State.IN_FORCE)
    dropped = {e.promotion for change in meant for e in change.effects if e.after == State.DROPPED}
    back = [one for one in home.promotions.all(State.DROPPED) if one.id in dropped and one not in own]
    moves = _Moves(
        out=out, back=(*back, *_corrected(home, out)), states=dict.fromkeys((one.id for one in own), State.UNDONE)
    )
    return _Plan(night=night, changes=meant, moves=_free(home, moves), yours=yours(home, made))


def _corrected(home: Home, out: Iterable[Promotion]) -> tuple[Promotion, ...]:
    """Return what promotions took the place of; of one that was taken back since, what that took the place of."""
    by_id = home.promotions.by_id()
    found = []
    for promotion in out:
        older = by_id.get(promotion.replaces or 0)
        while older is not None and older.state in TAKEN_BACK:
            older = by_id.get(older.replaces or 0)
        if older is not None and older.state is State.SUPERSEDED:
            found.append(older)
    return tuple(found)


def _free(home: Home, moves: _Moves) -> _Moves:
    """Let nothing come back that was promoted anew since, in whatever words, or that the user removed."""
    held = {s for one in home.promotions.all(*HOLDING) if one not in moves.out for s in one.statements}
    back = tuple(one for one in moves.back if held.isdisjoint(one.statements))
    return _Moves(out=moves.out, back=back, states=moves.states)


def _last_undone(home: Home) -> tuple[_Plan, str]:
    undone = [change for change in standing(home) if change.kind == UNDO]
    if not undone:
        raise NothingToRedoError
    last = undone[-1]
    together = takewhile(lambda pair: _is_of_one(*pair), pairwise(reversed(undone)))
    changes = (*reversed([earlier for _, earlier in together]), last)
    by_id = home.promotions.by_id()
    effects = [e for change in changes for e in change.effects if _still(by_id.get(e.promotion), e)]
    moves = _Moves(
        out=tuple(by_id[e.promotion] for e in effects if e.after == State.IN_FORCE),
        back=tuple(by_id[e.promotion] for e in effects if e.before == State.IN_FORCE),
        states={e.promotion: State(e.before) for e in effects if e.before != State.IN_FORCE},
    )
    return _Plan(night=last.night, changes=changes, moves=_free(home, moves)), last.reason


def _is_of_one(change: Change, before: Change) -> bool:
    """Tell whether one call made both changes: right after each other, for the same reason."""
    return (change.id - 1, change.at, change.reason) == (before.id, before.at, before.reason)


def _still(promotion: Promotion | None, effect: Effect) -> bool:
    return promotion is not None and promotion.state == effect.after


# -- conflicts --------------------------------------------------------------------------------------------------------


def _reworded(home: Home, out: Iterable[Promotion]) -> list[Conflict]:
    """Return the lines that the user reworded or wrote something under."""
    wanted = {promotion.key: promotion for promotion in out}
    hide = partial(_hidden, home)
    found = []
    for own in layout(home.files.read(MEMORY).text).own:
        promotion = wanted.get(own.written.mark)
        if promotion and (own.hangs or is_reworded(home, own.written.text, promotion)):
            words = hide(own.written.text) or "nothing"
            found.append(Conflict(file=MEMORY, line=own.written.line, written=hide(promotion.text), found=words))
    return found


def _retold(home: Home, plan: _Plan) -> list[Conflict]:
    """Return the entries that the user changed: under the stamp stands something else."""
    if plan.night is None:
        return []
    told = [one for one in home.narratives.told(night=plan.night) if one.written and not one.taken_back]
    known = {_plain(home, dreams.entry_of(one.stamp, one.prose)) for one in told}
    stamps = {entry.stamp for entry in known}
    places = [(line, _plain(home, entry)) for line, entry in dreams.placed(home.files.read(DREAMS).text)]
    missing = sorted(known - {entry for _, entry in places}, key=lambda entry: entry.prose)
    changed = [(line, entry) for line, entry in places if entry.stamp in stamps and entry not in known]
    return [
        Conflict(file=DREAMS, line=line, written=missing[0].prose, found=entry.prose)
        for line, entry in changed
        if missing
    ]


def _plain(home: Home, entry: dreams.Entry) -> dreams.Entry:
    return dreams.Entry(stamp=entry.stamp, prose=_hidden(home, entry.prose))


def _not_marked(text: str) -> str:
    return (
        f"“{text}” is not marked in {MEMORY} any more, so it is your own line and stays; delete it there if you do not"
        " want it"
    )


def _hidden(home: Home, text: str) -> str:
    return redacted(text, home.redaction)[0]


# -- the new texts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exact:
    """What a file held before some changes; None when there was no file."""

    text: str | None


def _exactly_before(home: Home, document: Document, changes: Sequence[Change]) -> _Exact | None:
    """Return what a file held before changes, when it is now as they left it, to the byte, and that is kept whole."""
    if not changes or digest(document) != changes[-1].after:
        return None
    if any(above.after != below.before for above, below in pairwise(changes)):
        return None
    if changes[0].before is None:
        return _Exact(text=None)
    with suppress(KeyError):
        image = home.changes.image(changes[0].before)
        return _Exact(text=image.text) if image.whole else None
    return None


def _step(home: Home, plan: _Plan, why: Why, name: str, change: Callable[[str], str]) -> _Step:
    """Bring a file back to the byte where only these changes were made to it; else change it line by line."""
    document = home.files.read(name)
    changes = [one for one in plan.changes if one.file == name]
    exact = _exactly_before(home, document, changes)
    text = change(document.text) if exact is None else exact.text
    return _Step(document=document, text=text, why=replace(why, undoes=tuple(one.id for one in changes)))


def _memory_step(home: Home, plan: _Plan, why: Why) -> tuple[list[_Step], tuple[Promotion, ...], list[str]]:
    """Return what becomes of `MEMORY.md`, the promotions that come back to it, and what has no room there."""
    moves = plan.moves
    if not moves.states and not moves.back and not any(change.file == MEMORY for change in plan.changes):
        return [], (), []
    document = home.files.read(MEMORY)
    rearranged, back = _rearranged(home, document.text, moves)
    exact = _exactly_before(home, document, [change for change in plan.changes if change.file == MEMORY])
    text: str | None = rearranged
    if exact is not None and durable.standing(exact.text or "") == _expected(home, moves):
        text, back = exact.text, moves.back
    left = [f"“{one.text}” has no room in {MEMORY} and stays in the archive" for one in moves.back if one not in back]
    states = {**moves.states, **dict.fromkeys((one.id for one in back), State.IN_FORCE)}
    by_id = home.promotions.by_id()
    effects = tuple(
        Effect(promotion=key, before=by_id[key].state, after=state) for key, state in sorted(states.items())
    )
    undoes = tuple(change.id for change in plan.changes if change.file == MEMORY)
    own = replace(why, undoes=undoes)
    return [_Step(document=document, text=text, why=own, effects=effects)], back, left


def _expected(home: Home, moves: _Moves) -> frozenset[Key]:
    """Return the lines that should stand in the file: an older text may hold one that was taken back since."""
    standing_now = {promotion.key for promotion in home.promotions.all(State.IN_FORCE)}
    gone = {promotion.key for promotion in moves.out}
    return frozenset(standing_now - gone | {promotion.key for promotion in moves.back})


def _rearranged(home: Home, text: str, moves: _Moves) -> tuple[str, tuple[Promotion, ...]]:
    """Return the text without some lines and with others, each under the heading of its night, where there is room."""
    text = durable.without(text, {promotion.key for promotion in moves.out})
    back = []
    for promotion in moves.back:
        budget = home.config.memory.budget_chars
        made = durable.revised(text, promotion.night, [line_of(promotion)], budget=budget, evict="nothing")
        if not made.deferred:
            text = made.text
            back.append(promotion)
    return text, tuple(back)


def _archive_steps(home: Home, plan: _Plan, why: Why, *, back: Sequence[Promotion]) -> list[_Step]:
    """Return what becomes of the archives: what comes back leaves them, what leaves the file goes there again."""
    keys, again = {promotion.key for promotion in back}, {promotion.key for promotion in plan.moves.archived}
    on = home.local_date(why.now)
    lines = [own.written for own in layout(home.files.read(MEMORY).text).own]
    moved = [durable.Dropped(day=line.day or on, lines=(line,)) for line in lines if line.mark in again]
    whole = _Plan(night=plan.night, changes=plan.changes if len(back) == len(plan.moves.back) else (), moves=plan.moves)
    changed = {change.file for change in plan.changes if change.file.startswith("memory/archive/MEMORY-")}
    names = {*home.archives(), *changed, *([archive_name(on.year)] if moved else [])}

    def archived(name: str, text: str) -> str:
        text = durable.unarchived(text, keys)
        return durable.archived(text, moved, on=on, reason=why.reason) if name == archive_name(on.year) else text

    steps = [_step(home, whole, why, name, partial(archived, name)) for name in sorted(names)]
    return [step for step in steps if step.text != step.document.text or step.why.undoes]


def _page_steps(home: Home, plan: _Plan, why: Why) -> list[_Step]:
    """Return what becomes of the dream diary, its archives and the reports of the nights."""
    if plan.night is None:
        return []
    files = dict.fromkeys(change.file for change in plan.changes)
    ways: dict[str, Callable[[str], str]] = {}
    for name in files:
        if name == DREAMS:
            ways[name] = partial(_diary_again if why.kind == REDO else _diary_before, home, plan)
        elif name.startswith("memory/archive/DREAMS-"):
            ways[name] = partial(_without_entries, home, plan.night, archived=True) if why.kind == UNDO else str
        elif Path(name).is_relative_to(REPORTS):
            ways[name] = str
    return [_step(home, plan, why, name, change) for name, change in ways.items()]


def _without_entries(home: Home, night: date, text: str, *, archived: bool = False) -> str:
    told = {_plain(home, dreams.entry_of(one.stamp, one.prose)) for one in home.narratives.told(night=night)}
    standing_there = dreams.entries(text, archived=archived)
    gone = [entry for entry in standing_there if _plain(home, entry) in told]
    return dreams.without_entries(text, gone, archived=archived)


def _diary_before(home: Home, plan: _Plan, text: str) -> str:
    """Return the dream diary without the entries of a night, and with the sections from before it."""
    if plan.night is not None:
        text = _without_entries(home, plan.night, text)
    own = [change for change in plan.changes if change.file == DREAMS and change.kind in ("sections", REDO)]
    return _with_sections(home, text, own[0], own[-1]) if own else text


def _diary_again(home: Home, plan: _Plan, text: str) -> str:
    """Return the dream diary with the entries of a night among the others, and with its sections if none came since."""
    every = home.narratives.told(limit=-1)
    moved = [home.files.read(name).text for name in archives(home)]
    kept = {entry for archive in moved for entry in dreams.entries(archive, archived=True)}
    for entry in reversed([one for one in every if one.night == plan.night and one.taken_back]):
        mine = (entry.night, PHASES.index(entry.phase))
        later = [dreams.entry_of(o.stamp, o.prose) for o in every if (o.night, PHASES.index(o.phase)) > mine]
        if dreams.entry_of(entry.stamp, entry.prose) not in kept:
            text = dreams.with_entry(text, entry.stamp, entry.prose, before=later)
    own = [change for change in plan.changes if change.file == DREAMS]
    return _with_sections(home, text, own[0], own[-1]) if own else text


def _with_sections(home: Home, text: str, first: Change, last: Change) -> str:
    """Return the text with the sections from before changes, each that still says what the changes left there."""
    before, after = (_text(home, key) for key in (first.before, last.after))
    for phase in Phase:
        was, left = dreams.section(before, phase.value), dreams.section(after, phase.value)
        if was == left or dreams.section(text, phase.value) != left:
            continue
        name = phase.value
        text = dreams.without_section(text, name) if was is None else dreams.with_section(text, name, was)
    return text


def _text(home: Home, key: str | None) -> str:
    """Return a kept text; nothing of one that is not kept any more."""
    if key is None:
        return ""
    with suppress(KeyError):
        return home.changes.image(key).text
    return ""
