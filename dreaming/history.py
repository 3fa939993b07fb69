"""Changing the user's files so that it can be told and taken back: plan in the store, write, settle in the store."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime

from dreaming.home import ATTEMPTS, DREAMS, MEMORY, Home
from dreaming.masking import masked
from memory.changes import Effect, Image, digest_of
from memory.chunking import source_lines
from memory.promotions import State
from workspace.errors import ExternallyChangedError, WorkspaceError
from workspace.files import Document

PAGES = (MEMORY, DREAMS)
"""The files that the user writes too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """What changes a file: a kind of change, the reason in words, when, and in which night, if in one."""

    kind: str
    reason: str
    now: datetime
    night: date | None = None


def write(home: Home, document: Document, text: str, why: Why, effects: Sequence[Effect] = ()) -> int:
    """Replace a file's text and record that; return the number of the change, 0 when there is nothing to change.

    `effects` say how promotions stand once the text stands there. Raise as `Files.write` does; then nothing changed.
    """
    if text == document.text:
        return 0
    with home.store.writing(lasting=True):
        change = _plan(home, document.name, _image(home, document), _seen(home, text), why, effects)
    try:
        home.files.write(document, text)
    except WorkspaceError:
        with home.store.writing():
            home.changes.forget(change)
        raise
    with home.store.writing():
        _settle(home, change, effects, now=why.now, night=why.night)
    return change


def restore(home: Home, document: Document, text: str | None, why: Why, effects: Sequence[Effect] = ()) -> int:
    """Bring a file to a text, or remove it when that is None, and record that; return the number of the change."""
    if text is not None:
        return write(home, document, text, why, effects)
    with home.store.writing(lasting=True):
        change = _plan(home, document.name, _image(home, document), None, why, effects)
    try:
        home.files.remove(document)
    except WorkspaceError:
        with home.store.writing():
            home.changes.forget(change)
        raise
    with home.store.writing():
        _settle(home, change, effects, now=why.now, night=None)
    return change


def rewrite(home: Home, name: str, change: Callable[[str], str], why: Why) -> int:
    """Change a file by a function of its text; again when somebody saved it meanwhile."""
    for _ in range(ATTEMPTS - 1):
        document = home.files.read(name)
        with suppress(ExternallyChangedError):
            return write(home, document, change(document.text), why)
    document = home.files.read(name)
    return write(home, document, change(document.text), why)


def recover(home: Home, *, now: datetime) -> None:
    """Find out what became of changes that nobody saw the end of: a file that has the new text was changed."""
    for change in home.changes.planned():
        found = _digest(home.files.read(change.file))
        stands, undone = found == change.after, found == change.before
        with home.store.writing():
            if stands or not (undone or change.effects):
                _settle(home, change.id, change.effects, now=now, night=change.night)
            else:
                # Of promotions the file itself says how they stand.
                home.changes.forget(change.id)


def notice(home: Home, *, now: datetime) -> None:
    """Record what somebody else changed in the pages since the last change of this program."""
    for name in PAGES:
        known = home.changes.last(name)
        if known is None:
            continue
        with suppress(WorkspaceError):
            document = home.files.read(name)
            if _digest(document) == known.after:
                continue
            why = Why(kind="edit", reason="changed by you or another program", now=now)
            before = None if known.after is None else home.changes.image(known.after)
            with home.store.writing():
                change = _plan(home, name, before, _image(home, document), why, ())
                home.changes.applied(change)


def _plan(home: Home, name: str, before: Image | None, after: Image | None, why: Why, effects: Sequence[Effect]) -> int:
    return home.changes.plan(
        at=why.now,
        day=home.local_date(why.now),
        night=why.night,
        kind=why.kind,
        file=name,
        reason=why.reason,
        before=before,
        after=after,
        effects=effects,
    )


def _settle(home: Home, change: int, effects: Sequence[Effect], *, now: datetime, night: date | None) -> None:
    for effect in effects:
        home.promotions.settle([effect.promotion], State(effect.after), now=now, night=night)
    home.changes.applied(change)


def _digest(document: Document) -> str | None:
    return None if document.digest is None else digest_of(document.text)


def _image(home: Home, document: Document) -> Image | None:
    return None if document.digest is None else _seen(home, document.text)


def _seen(home: Home, text: str) -> Image:
    """Return the picture of a text, without its secrets."""
    digest = digest_of(text)
    with suppress(KeyError):
        return home.changes.image(digest)
    shown = masked(text, home.lexicon, home.redaction)
    same = "\n".join(source_lines(text)) == shown
    return Image(digest=digest, text=text if same else shown)
