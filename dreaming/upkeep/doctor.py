"""A check-up of a workspace: what is wrong with its store and files, and repairs that leave the user's words alone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from dreaming.changes.history import Why, notice, rewrite
from dreaming.config import Config, zone
from dreaming.home import DREAMS, MEMORY, STATE, STORE, Home
from dreaming.observing.hearing import hear
from dreaming.observing.observe import observe
from dreaming.promotion.ledger import recover
from dreaming.upkeep.findings import AGAIN, OF_FILES, Check, Finding, copies, is_bare, parts, private, with_markers
from dreaming.upkeep.records import OF_STORE
from memory.concepts import lexicon
from memory.integrity import CASCADING, Health, Integrity, copied, health, is_newer, is_older
from memory.redaction import Redaction
from memory.store import BrokenStoreError, Store
from workspace.errors import NotAFileError, NotReadableError
from workspace.files import DryFiles, Files
from workspace.lock import HOLDER, lock
from workspace.sections import layout

DOCTOR = "doctor"
UNUSABLE = frozenset({"damaged_store", "newer_store"})
"""With one of these nothing can be learned from the store, nor recorded in it."""
UNRECORDED = frozenset({"left_over", "permissions"})
"""What is repaired without a record: no word of a file changes."""

Opening = Callable[[], AbstractContextManager[Home]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What is wrong, and what was wrong and has been repaired."""

    findings: tuple[Finding, ...]
    repaired: tuple[Finding, ...] = ()


def examine(root: Path, config: Config, *, now: datetime) -> Checkup:
    """Look at everything and change nothing: the store is examined in a copy."""
    with TemporaryDirectory(prefix="dream-") as folder:
        copy = Path(folder) / STORE.name
        said = _said_of_file(root, copy)
        if any(one.kind in UNUSABLE for one in said):
            return Checkup(findings=(*said, *_without_store(root, config, now)))
        try:
            with Store.open(copy) as store:
                checked = tuple(_checked(_home(root, config, store), (*OF_STORE, *OF_FILES), now))
        except BrokenStoreError as error:
            return Checkup(findings=(*said, _damaged(error.reason), *_without_store(root, config, now)))
        return Checkup(findings=(*said, *checked))


def repaired(root: Path, config: Config, opening: Opening, *, now: datetime) -> Checkup:
    """Repair what can be repaired, and look again; `opening` opens the workspace.

    Raise HeldError, or a WorkspaceError when a file cannot be written.
    """
    with lock(root, now=now):
        before = examine(root, config, now=now).findings
        if any(one.kind in UNUSABLE for one in before):
            with Store.in_memory() as store:
                repair(replace(_home(root, config, store), files=Files(root), dry=False), before, now=now)
        elif any(one.fixable for one in before):
            with opening() as home:
                repair(replace(home, embedder=None), before, now=now)
        after = examine(root, config, now=now).findings
    left = {(one.kind, one.place, one.what) for one in after}
    done = tuple(one for one in before if one.fixable and (one.kind, one.place, one.what) not in left)
    return Checkup(findings=tuple(map(_failed, after)), repaired=done)


def _failed(one: Finding) -> Finding:
    """Hand what no repair helped to the user."""
    if not one.fixable:
        return one
    return replace(one, fixable=False, repair=f"that could not be repaired ({one.repair}); look at it yourself")


def running(root: Path) -> tuple[str, ...]:
    """Return a warning when a night seems to be running: what it has begun looks as if it were left over."""
    note = STATE / HOLDER
    if not (root / note).exists():
        return ()
    return (f"{note} says that a night is running; what it has begun shows as unfinished, so run this again after it",)


def repair(home: Home, before: Sequence[Finding], *, now: datetime) -> None:
    """Repair what can be repaired of what was found; whoever calls holds the lock, and looks again afterwards."""
    kinds = {one.kind for one in before if one.fixable}
    if any(one.kind == "missing_marker" and not one.fixable for one in before):
        kinds -= SETTLED  # the user has to say first what became of the file
    for which, mend in REPAIRS:
        if kinds & which:
            mend(home, now)


def _said_of_file(root: Path, copy: Path) -> tuple[Finding, ...]:
    """Copy the store, and return what is wrong with its file."""
    if not (root / STORE).is_file():
        return ()
    try:
        copied(root / STORE, copy)
    except BrokenStoreError as error:
        return (_damaged(error.reason),)
    found = health(copy)
    if found.damage:
        return tuple(_damaged(one) for one in found.damage)
    return tuple(_of_health(found))


def _damaged(reason: str) -> Finding:
    return Finding(
        kind="damaged_store",
        place=str(STORE),
        what=f"the store is damaged: {reason}",
        repair="bring a backup back with dream restore; without one move the file away, and the next night reads the"
        " diaries anew",
    )


def _of_health(found: Health) -> Iterator[Finding]:
    place = str(STORE)
    if is_newer(found):
        yield Finding(
            kind="newer_store",
            place=place,
            what=f"a newer version of this program wrote the store (schema {found.version})",
            repair="install the newest nightly-dreaming",
        )
    if is_older(found):
        yield Finding(
            kind="older_store",
            place=place,
            what=f"an older version of this program wrote the store (schema {found.version})",
            repair="it is brought up to date, as by every command",
            fixable=True,
        )
    if not found.index:
        yield Finding(
            kind="word_index",
            place=place,
            what="the index of words does not agree with the fragments",
            repair="it is made anew from them",
            fixable=True,
        )
    for table, count in found.dangling:
        ours = table in CASCADING
        yield Finding(
            kind="dangling_rows",
            place=place,
            what=f"{count} rows of the table {table} belong to something that is gone",
            repair="they are dropped" if ours else "bring a backup back with dream restore, which has what is missing",
            fixable=ours,
        )


def _without_store(root: Path, config: Config, now: datetime) -> Iterator[Finding]:
    """Check the files alone; a file is changed only where that can be recorded."""
    with Store.in_memory() as store:
        for one in _checked(_home(root, config, store), OF_FILES, now):
            waits = one.fixable and one.kind not in UNRECORDED
            yield replace(one, fixable=False, repair=f"once the store is mended, {one.repair}") if waits else one


def _checked(home: Home, checks: Sequence[Check], now: datetime) -> Iterator[Finding]:
    for check in checks:
        try:
            yield from check(home, now)
        except (NotAFileError, NotReadableError) as error:
            place = error.path.relative_to(home.root) if error.path.is_relative_to(home.root) else error.path
            yield Finding(kind="unreadable", place=str(place), what=error.instead(AGAIN), repair="mend it")


def _home(root: Path, config: Config, store: Store) -> Home:
    return Home(
        root=root,
        config=config,
        zone=zone(config),
        lexicon=lexicon(glossary=config.concepts.glossary, stop_words=config.concepts.stop_words),
        redaction=Redaction.of(patterns=config.redact.patterns, mask=config.redact.mask),
        store=store,
        files=DryFiles(root),
        dry=True,
    )


# -- repairs ----------------------------------------------------------------------------------------------------


def _upgrade(home: Home, now: datetime) -> None:
    """Do nothing: opening the store did it."""


def _tidy(home: Home, now: datetime) -> None:  # noqa: ARG001
    home.files.tidy()
    for path in parts(home.root):
        if path.parent == home.root / STATE:
            path.unlink(missing_ok=True)


def _narrow(home: Home, now: datetime) -> None:  # noqa: ARG001
    for path in private(home.root):
        with suppress(OSError):  # somebody else's, or gone
            path.chmod(0o600)


def _index(home: Home, now: datetime) -> None:  # noqa: ARG001
    with home.store.writing():
        Integrity(home.store).index_anew()


def _drop_dangling(home: Home, now: datetime) -> None:
    integrity = Integrity(home.store)
    with home.store.writing():
        integrity.drop_dangling()
        integrity.place(integrity.misplaced(), now=now)


def _settle(home: Home, now: datetime) -> None:
    notice(home, now=now, removed=recover(home, now=now))


def _single(home: Home, now: datetime) -> None:
    notice(home, now=now)
    why = Why(kind=DOCTOR, reason="a marker twice, or without a line", now=now, night=home.local_date(now))
    rewrite(home, MEMORY, without_copies, why)


def _mark(home: Home, now: datetime) -> None:
    notice(home, now=now)
    why = Why(kind=DOCTOR, reason="marker lines that were missing or damaged", now=now, night=home.local_date(now))
    rewrite(home, DREAMS, partial(with_markers, home), why)


def _place(home: Home, now: datetime) -> None:
    integrity = Integrity(home.store)
    with home.store.writing():
        if wordless := integrity.wordless():
            integrity.drop_fragments(wordless)
            home.sources.read_anew()
        integrity.place(integrity.misplaced(), now=now)


def _read(home: Home, now: datetime) -> None:
    observe(home, now=now, vectors_at_most=0)
    hear(home, now=now)


def _drop_images(home: Home, now: datetime) -> None:  # noqa: ARG001
    integrity = Integrity(home.store)
    with home.store.writing():
        integrity.drop_images(integrity.orphan_images())


def _close(home: Home, now: datetime) -> None:
    listed = home.journal.nights(limit=-1)
    with home.store.writing():
        for at, night in enumerate(listed):
            if night.finished_at is None and any(later.finished_at for later in listed[:at]):
                home.journal.finish(night.date, now=now)


SETTLED = frozenset({"planned_promotion", "planned_change", "missing_marker", "ended_marker"})
REPAIRS: tuple[tuple[frozenset[str], Callable[[Home, datetime], None]], ...] = (
    (frozenset({"older_store"}), _upgrade),
    (frozenset({"left_over"}), _tidy),
    (frozenset({"permissions"}), _narrow),
    (frozenset({"word_index"}), _index),
    (frozenset({"dangling_rows"}), _drop_dangling),
    (SETTLED, _settle),
    (frozenset({"double_marker", "bare_marker"}), _single),
    (frozenset({"damaged_block"}), _mark),
    (frozenset({"empty_fragment", "misplaced_fragment"}), _place),
    (frozenset({"gone_source", "stale_source", "empty_fragment"}), _read),
    (frozenset({"orphan_image"}), _drop_images),
    (frozenset({"unfinished_night"}), _close),
)
"""Which kinds of findings each repair is for, in the order in which they are made."""


def without_copies(text: str) -> str:
    """Take out own lines that are copies, markers without a line, and a heading that nothing is left under."""
    page = layout(text)
    gone = [*copies(page.own), *filter(is_bare, page.own)]
    out = {at for one in gone for at in one.place}
    for section in page.sections:
        left = [at for at in section.place if at not in out and page.lines[at].strip()]
        if left == [section.place.start] and any(one.place.start in section.place for one in gone):
            out.update(section.place)
    return "".join(line for at, line in enumerate(page.lines) if at not in out)
