"""Changing the user's files so that it can be told and taken back: plan in the store, write, settle in the store."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import takewhile
from typing import TypeVar

from dreaming.home import ATTEMPTS, DREAMS, MEMORY, Home
from dreaming.observing.masking import masked
from memory.changes import Change, Effect, Image, digest_of
from memory.chunking import source_lines
from memory.promotions import State
from workspace import durable
from workspace.errors import ExternallyChangedError, WorkspaceError
from workspace.files import Document
from workspace.lines import split_lines

T = TypeVar("T")
PAGES = (MEMORY, DREAMS)
"""The files that the user writes too."""
UNDO = "undo"
REDO = "redo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """What changes a file: a kind of change, the reason in words, when, and in which night, if in one.

    `undoes` are the changes that it takes back.
    """

    kind: str
    reason: str
    now: datetime
    night: date | None = None
    undoes: tuple[int, ...] = ()


def write(home: Home, document: Document, text: str | None, why: Why, effects: Sequence[Effect] = ()) -> int:
    """Replace a file's text, or remove the file when that is None, and record that; return the number of the change.

    It is 0 when there is nothing to change. `effects` say how promotions stand once the text stands there. Raise as
    `Files.write` does; then nothing changed.
    """
    if text == document.text and document.digest is not None:
        return 0
    with home.store.writing(lasting=True):
        before = _image(home, document)
        after = None if text is None else _seen_after(home, document, before, text)
        change = _plan(home, document.name, before, after, why, effects)
    try:
        if text is None:
            home.files.remove(document)
        else:
            home.files.write(document, text)
    except WorkspaceError:
        with home.store.writing():
            home.changes.forget(change)
        raise
    with home.store.writing():
        _settle(home, change, _canonical(document.name), why, effects)
    return change


def note(home: Home, document: Document, why: Why, effects: Sequence[Effect] = ()) -> int:
    """Record what a change means for promotions and for other changes where the file itself stays as it is."""
    with home.store.writing():
        seen = _image(home, document)
        change = _plan(home, document.name, seen, seen, why, effects)
        _settle(home, change, _canonical(document.name), why, effects)
    return change


def rewrite(home: Home, name: str, change: Callable[[str], str], why: Why) -> int:
    """Change a file by a function of its text; again when somebody saved it meanwhile."""

    def once() -> int:
        document = home.files.read(name)
        return write(home, document, change(document.text), why)

    return again(once)


def again(work: Callable[[], T], *, between: Callable[[], object] = lambda: None) -> T:
    """Do some work on a file, and do it anew, with something in between, when somebody saved the file meanwhile."""
    for _ in range(ATTEMPTS - 1):
        try:
            return work()
        except ExternallyChangedError:
            between()
    return work()


def recover(home: Home, *, now: datetime) -> None:
    """Find out what became of changes that nobody saw the end of: a file that has the new text was changed.

    Where somebody saved the file since, its markers say whether the promotions stand as they would.
    """
    for change in home.changes.planned():
        document = home.files.read(change.file)
        found = digest(document)
        stands = found == change.after
        if not stands and found != change.before:
            stands = not change.effects or _stand(home, change, document.text)
        why = Why(kind=change.kind, reason=change.reason, now=now, night=change.night)
        with home.store.writing():
            if stands:
                _settle(home, change.id, change.file, why, change.effects)
            else:
                home.changes.forget(change.id)


def _stand(home: Home, change: Change, text: str) -> bool:
    keys = {number: promotion.key for number, promotion in home.promotions.by_id().items()}
    marked = durable.standing(text)
    return all((keys.get(e.promotion) in marked) == (e.after == State.IN_FORCE) for e in change.effects)


def notice(home: Home, *, now: datetime, removed: Sequence[Effect] = ()) -> None:
    """Record what somebody else changed in the pages since the last change of this program, and what was `removed`."""
    for name in PAGES:
        known = home.changes.last(name)
        if known is None:
            continue
        with suppress(WorkspaceError):
            document = home.files.read(name)
            if digest(document) == known.after:
                continue
            why = Why(kind="edit", reason="changed by you or another program", now=now)
            with home.store.writing():
                change = _plan(home, name, known.after, _image(home, document), why, removed if name == MEMORY else ())
                home.changes.settle(change)


def digest(document: Document) -> str | None:
    """Return what identifies the text of a file; None when there is no file."""
    return None if document.digest is None else digest_of(document.text)


def standing(home: Home) -> tuple[Change, ...]:
    """Return the changes that were not taken back, oldest first; one whose undoing was taken back stands again."""
    made = [change for change in home.changes.all() if change.made]
    gone: set[int] = set()
    for change in reversed(made):
        if change.id not in gone:
            gone.update(change.undoes)
    return tuple(change for change in made if change.id not in gone)


def _canonical(name: str) -> str:
    """Return how this program calls a file, however it is spelt in the folder."""
    return next((page for page in PAGES if page.casefold() == name.casefold()), name)


def _plan(
    home: Home, name: str, before: Image | str | None, after: Image | None, why: Why, effects: Sequence[Effect]
) -> int:
    return home.changes.plan(
        at=why.now,
        day=home.local_date(why.now),
        night=why.night,
        kind=why.kind,
        file=_canonical(name),
        reason=why.reason,
        before=before,
        after=after,
        effects=effects,
        undoes=why.undoes,
    )


def _settle(home: Home, change: int, file: str, why: Why, effects: Sequence[Effect]) -> None:
    by_hand = why.kind in (UNDO, REDO)
    for effect in effects:
        night = None if by_hand else why.night
        home.promotions.settle([effect.promotion], State(effect.after), now=why.now, night=night)
    if by_hand and file == DREAMS and why.night is not None:
        home.narratives.take_back(why.night, taken_back=why.kind == UNDO)
    home.changes.settle(change)


def _image(home: Home, document: Document) -> Image | None:
    return None if document.digest is None else _seen(home, document.text)


def _seen_after(home: Home, document: Document, before: Image | None, text: str) -> Image:
    """Return the picture of a changed text: what stands on unchanged lines has been looked at."""
    if before is None:
        return _seen(home, text)
    old, new, shown = (split_lines(one) for one in (document.text, text, before.text))
    if len(shown) != len(old):
        return _seen(home, text)
    first = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    most = min(len(old), len(new)) - first
    pairs = zip(reversed(old), reversed(new), strict=False)
    last = min(most, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)))
    heading = _heading_above(new, first)
    middle = _seen(home, "".join((heading, *new[first : len(new) - last]))).text
    changed = split_lines(middle)[bool(heading) :]
    whole = "".join((*shown[:first], *changed, *shown[len(shown) - last :]))
    return Image(digest=digest_of(text), text=whole)


def _heading_above(lines: Sequence[str], at: int) -> str:
    """Return the heading that a line stands under; it may give a secret away."""
    return next((line for line in reversed(lines[:at]) if line.startswith("#")), "")


def _seen(home: Home, text: str) -> Image:
    """Return the picture of a text, without its secrets."""
    key = digest_of(text)
    with suppress(KeyError):
        return home.changes.image(key)
    shown = masked(text, home.lexicon, home.redaction)
    same = "\n".join(source_lines(text)) == shown
    if same:
        return Image(digest=key, text=text)
    return Image(digest=key, text=shown if shown.endswith("\n") or not text.endswith(("\n", "\r")) else f"{shown}\n")
