"""Bringing a backup back: all of it is verified before anything is written, and what stands there is saved first."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from dreaming.config import Config
from dreaming.home import STATE, STORE
from dreaming.upkeep.archive import Archive, BadBackupError, verified
from dreaming.upkeep.backup import Manifest, Member, Part, alike, saved, standing
from memory.integrity import replaced, snapshot
from memory.store import BrokenStoreError
from workspace.errors import NotReadableError
from workspace.files import Document, DryFiles, Files, digest
from workspace.lock import lock


class Move(StrEnum):
    """What happens to a file; kept are diaries and settings that say something else by now."""

    WRITE = "write"
    REPLACE = "replace"
    REMOVE = "remove"
    KEEP = "keep"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A file of the workspace by its name, and what happens to it."""

    path: str
    part: Part
    move: Move


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was brought back, or would be; `saved` is the backup of what stood there before, None when nothing did."""

    manifest: Manifest
    steps: tuple[Step, ...]
    saved: Path | None = None
    problems: tuple[str, ...] = ()


def rehearsed(root: Path, config: Config, source: Path) -> Restored:
    """Return what bringing a backup back would do; raise as `restore` does."""
    with verified(source) as archive:
        return Restored(manifest=archive.manifest, steps=_steps(root, config, archive, DryFiles(root)))


def restore(
    root: Path, config: Config, source: Path, *, now: datetime, tell: Callable[[Path], None] = lambda _: None
) -> Restored:
    """Bring a backup back; diaries and settings that are there stay as they are.

    `tell` is told where what stands there was saved, before anything of it is replaced.

    Raise BadBackupError, NewerStoreError, HeldError or a WorkspaceError; then everything is as it was.
    """
    with verified(source) as archive, lock(root, now=now):
        files = Files(root)
        steps = _steps(root, config, archive, files)
        if not any(step.move in (Move.WRITE, Move.REPLACE, Move.REMOVE) for step in steps):
            return Restored(manifest=archive.manifest, steps=steps)
        before, problems = _saved(root, config, archive, steps, now=now)
        tell(before)
        _Hands(root, files, archive, now).make(steps)
        return Restored(manifest=archive.manifest, steps=steps, saved=before, problems=problems)


# -- planning ---------------------------------------------------------------------------------------------------


def _steps(root: Path, config: Config, archive: Archive, files: Files) -> tuple[Step, ...]:
    """Return what happens to each file; raise BadBackupError when one would not stand in the workspace."""
    order = list(Part)
    members = sorted(archive.manifest.members, key=lambda one: (order.index(_part(one)), one.path))
    for member in members:
        _require_inside(root, config, member, archive.path)
    steps = [Step(path=one.path, part=_part(one), move=_move(root, one, files)) for one in members]
    own = {member.path for member in members}
    for path, key in sorted(archive.manifest.made.items()):
        member = Member(path=path, size=0, digest=key)
        _require_inside(root, config, member, archive.path)
        if path not in own and _part(member) is not Part.STORE and _digest(root, member, files) == key:
            steps.append(Step(path=path, part=_part(member), move=Move.REMOVE))
    return tuple(steps)


def _part(member: Member) -> Part:
    part = member.part
    assert part is not None, member
    return part


def _move(root: Path, member: Member, files: Files) -> Move:
    if member.part is Part.STORE:
        return _move_of_store(root, member)
    there = _digest(root, member, files)
    if there is None:
        return Move.WRITE
    if there == member.digest:
        return Move.SAME
    return Move.KEEP if member.part in (Part.DIARY, Part.CONFIG) else Move.REPLACE


def _move_of_store(root: Path, member: Member) -> Move:
    if not (root / STORE).exists():
        return Move.WRITE
    with TemporaryDirectory(prefix="dream-") as folder, suppress(BrokenStoreError):
        copy = Path(folder) / STORE.name
        snapshot(root / STORE, copy)
        return Move.SAME if digest(copy.read_bytes()) == member.digest else Move.REPLACE
    return Move.REPLACE


def _digest(root: Path, member: Member, files: Files) -> str | None:
    """Return the digest of what stands there; None when nothing does."""
    path = files.read(member.path).path if member.part is Part.PAGE else standing(root, member.path)
    try:
        return digest(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotReadableError(path, error.strerror or str(error)) from error


def _require_inside(root: Path, config: Config, member: Member, source: Path) -> None:
    """Refuse what a link would lead out of the workspace, or what stands there in another case."""
    if member.part is Part.PAGE:
        return  # the user may keep these elsewhere, behind a link
    place = root
    for name in member.path.split("/"):
        following = standing(place, name)
        other = None if os.path.lexists(following) else next(alike(place, name), None)
        if other is not None:
            raise BadBackupError(source, f"{member.path!r} differs only in case from {other.name!r}, which is there")
        place = following
    homes = [os.path.realpath(folder) for folder in (root, root / config.workspace.diaries, root / "memory")]
    if not any(Path(os.path.realpath(place)).is_relative_to(home) for home in homes):
        raise BadBackupError(source, f"{member.path!r} leads out of the workspace, by a link")


# -- doing ------------------------------------------------------------------------------------------------------


def _saved(
    root: Path, config: Config, archive: Archive, steps: Sequence[Step], *, now: datetime
) -> tuple[Path, tuple[str, ...]]:
    """Save what stands there now beside the store; of a damaged store only the files can be."""
    state = root / STATE
    if not (state / ".gitignore").exists():
        (state / ".gitignore").write_text("*\n", encoding="utf-8")
    target = _free(state, f"before-restore-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}", ".zip")
    written = {step.path for step in steps if step.move is Move.WRITE and step.part is not Part.STORE}
    made = {member.path: member.digest for member in archive.manifest.members if member.path in written}
    try:
        done = saved(root, config, target, now=now, made=made)
    except BrokenStoreError as error:
        done = saved(root, config, target, now=now, made=made, with_store=False)
        return target, (*done.problems, f"the store that was there is not in it ({error.reason})")
    return target, done.problems


def _free(folder: Path, name: str, end: str) -> Path:
    """Return a name that is not taken yet."""
    number, path = 1, folder / f"{name}{end}"
    while os.path.lexists(path):
        number += 1
        path = folder / f"{name}-{number}{end}"
    return path


class _Hands:
    """Whoever brings files back one by one, and puts the old ones back when that fails on the way."""

    def __init__(self, root: Path, files: Files, archive: Archive, now: datetime) -> None:
        self._root = root
        self._files = files
        self._archive = archive
        self._now = now
        self._done: list[tuple[str, str | None]] = []

    def make(self, steps: Sequence[Step]) -> None:
        """Make the steps, the store's last: that is one transaction."""
        try:
            for step in sorted(steps, key=lambda step: step.part is Part.STORE):
                if step.move in (Move.WRITE, Move.REPLACE, Move.REMOVE):
                    self._one(step)
        except BaseException:
            for name, text in reversed(self._done):
                self._put(name, text)
            raise

    def _one(self, step: Step) -> None:
        if step.part is Part.STORE:
            self._store()
            return
        page = step.part is Part.PAGE
        name = step.path if page else standing(self._root, step.path).relative_to(self._root).as_posix()
        before = _raw(self._files.read(name))
        self._done.append((name, None if before.digest is None else before.text))
        self._put(name, None if step.move is Move.REMOVE else self._archive.text(step.path))

    def _put(self, name: str, text: str | None) -> None:
        document = _raw(self._files.read(name))
        if text is None:
            self._files.remove(document)
        else:
            self._files.write(document, text)

    def _store(self) -> None:
        target, source = self._root / STORE, self._archive.store
        assert source is not None
        target.touch(mode=0o600, exist_ok=True)
        try:
            replaced(target, source)
        except BrokenStoreError:
            self._set_aside(target)
            target.touch(mode=0o600)
            replaced(target, source)

    def _set_aside(self, target: Path) -> None:
        """Give a damaged store another name, and what belongs to it."""
        aside = _free(target.parent, f"{target.name}.damaged-{self._now.astimezone(UTC):%Y%m%dT%H%M%SZ}", "")
        for end in ("", "-wal", "-shm"):
            part = target.with_name(f"{target.name}{end}")
            if part.exists():
                part.rename(aside.with_name(f"{aside.name}{end}"))


def _raw(document: Document) -> Document:
    """Return a document by its bytes, whatever they mean: it is replaced by other bytes."""
    if document.encoding == "utf-8":
        return document
    raw = document.text.encode(document.encoding, "surrogatepass")
    return replace(document, text=raw.decode("utf-8", "surrogateescape"), encoding="utf-8")
