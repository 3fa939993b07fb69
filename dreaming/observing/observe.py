"""Reading the diaries into the store: only what changed, each file on its own."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from dreaming.home import MEMORY, Home
from dreaming.observing.masking import masked
from dreaming.observing.remembering import pieces, remembered, whole
from dreaming.progress import steps
from memory.chunking import overlong_lines, unclosed_fence
from memory.concepts import fingerprint, tags
from memory.embedders import EmbedderError
from memory.model import ORIGIN_SCORES, Fragment, Kind, Sighting
from memory.purging import purge, rewrite
from memory.sources import SourceFile, Stamp
from memory.trust import redacted
from memory.vectors import has_vectors, keep_vectors, missing_count
from workspace import diary
from workspace.errors import Problem, UnreadableError
from workspace.lock import turn

VECTORS_BEFORE_A_SEARCH = 256
"""About a second's work; the night makes the rest."""
READING = "3"
"""Version of how a file becomes fragments and what is unfit in them; raise it when that changes: all is read anew."""
FILES = (Kind.DIARY, Kind.MEMORY)
"""What stands in Markdown files below the diary folder."""
BATCH = 8
"""Files stored in one transaction: votes get their turn in between, a kill loses little."""
FEW = 8
"""Files that another process will have read in a moment: a search waits for these, and does without more."""
WAIT_SECONDS, NIGHT_WAIT_SECONDS = 0.5, 60.0
"""How long a search, and a night, wait for another process that reads the same files."""
POLL_SECONDS = 0.003
READING_FILES, EMBEDDING = "reading", "embedding"
"""Work that one process at a time does for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was read: files anew, files gone since, and what could not be read.

    `misnamed` are those of the problems that a night and the status tell, and a search need not repeat.
    """

    read: int
    gone: int
    problems: tuple[str, ...]
    misnamed: tuple[str, ...] = ()

    @property
    def trouble(self) -> tuple[str, ...]:
        """The problems without the names that nearly are dates."""
        return tuple(one for one in self.problems if one not in self.misnamed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unread:
    """Files that changed or are gone since the store knew them, and what it knows of them."""

    changed: Sequence[diary.Diary]
    gone: Sequence[str]
    known: Mapping[str, Stamp]

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)

    def still(self, home: Home) -> "_Unread":
        """Return what of it nobody has read meanwhile."""
        known = home.sources.stamps([*(found.path for found in self.changed), *self.gone])
        return _Unread(
            changed=[found for found in self.changed if _is_new(found, known)],
            gone=[path for path in self.gone if path in known and known[path] == self.known[path]],
            known=known,
        )


def observe(
    home: Home, *, now: datetime, vectors_at_most: int = VECTORS_BEFORE_A_SEARCH, patient: bool = False
) -> Observation:
    """Bring the store up to date with the diaries; unchanged ones cost a look at their stamp.

    What another process is reading just now is left to it: one that is `patient` waits for that, others do without what
    takes long, and say so. Vectors are made of what has none yet, so many at most; a negative number makes them all.
    """
    wanted = home.config.workspace
    listing = diary.diaries(
        home.root, folder=wanted.diaries, pattern=wanted.pattern, memories=wanted.memories, zone=home.zone
    )
    _derive_anew(home)
    known = home.sources.known(*FILES)
    changed = [found for found in listing.diaries if _is_new(found, known)]
    gone = sorted(known.keys() - {found.path for found in listing.diaries})
    problems = list(map(str, listing.problems))
    unread = _Unread(changed=changed, gone=gone, known=known)
    with _share(home, unread, patient=patient) as (mine, others):
        problems += _read_all(home, mine, now=now)
    if others:
        notes = "a note" if others == 1 else f"{others} notes"
        problems.append(f"another process is reading {notes} just now; ask again soon for what is new there")
    trouble = with_vectors(home, at_most=vectors_at_most, patient=patient)
    misnamed = tuple(map(str, listing.misnamed))
    return Observation(
        read=len(mine.changed), gone=len(mine.gone), problems=(*problems, *misnamed, *trouble), misnamed=misnamed
    )


def _is_new(found: diary.Diary, known: Mapping[str, Stamp]) -> bool:
    return known.get(found.path) != (str(found.day), *found.stamp)


@contextmanager
def _share(home: Home, unread: _Unread, *, patient: bool) -> Iterator[tuple[_Unread, int]]:
    """Yield what this process has to read, and how much is left to another one that is at it."""
    if not unread:
        yield unread, 0
        return
    until = time.monotonic() + (NIGHT_WAIT_SECONDS if patient else WAIT_SECONDS)
    with _its_turn(home, READING_FILES) as got:
        while unread and not got():
            if time.monotonic() > until or (len(unread) > FEW and not patient):
                nothing = _Unread(changed=(), gone=(), known={})
                yield (unread, 0) if patient else (nothing, len(unread))
                return
            time.sleep(POLL_SECONDS)
            unread = unread.still(home)
        yield unread.still(home), 0


def _read_all(home: Home, unread: _Unread, *, now: datetime) -> Iterable[str]:
    problems: list[Problem] = []
    for batch in steps(home.progress, "reading notes", unread.changed, size=BATCH):
        # Outside the transaction: whoever records a vote meanwhile need not wait.
        opened = [_opened(home, one, unread.known.get(one.path), problems) for one in batch]
        with home.store.writing():
            for one in filter(None, opened):
                _keep(home, one, unread.known.get(one.source.path), now=now)
    if unread.gone:
        with home.store.writing():
            for path in unread.still(home).gone:  # none that came back meanwhile
                home.sources.forget(path, now=now)
    return map(str, problems)


def with_vectors(home: Home, *, at_most: int, patient: bool) -> tuple[str, ...]:
    """Make missing vectors, unless another process is at it; without them the memory is found by its words."""
    if home.embedder is None or not at_most or has_vectors(home.store, home.embedder):
        return ()
    with _its_turn(home, EMBEDDING) as got:
        if not got() and not patient:
            return ()
        missing = missing_count(home.store, home.embedder)
        total = missing if at_most < 0 else min(missing, at_most)
        try:
            with home.progress("making vectors", total) as count:
                keep_vectors(home.store, home.embedder, at_most=at_most, count=count)
        except EmbedderError as error:
            return (str(error),)
    return ()


def _its_turn(home: Home, work: str) -> AbstractContextManager[Callable[[], bool]]:
    """Let this process try for its turn at some work; a copy of the store is nobody else's."""
    return nullcontext(lambda: True) if home.dry else turn(home.root, work)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A file and what was seen in it; None when only its stamp is another."""

    source: SourceFile
    seen: Sequence[tuple[Fragment, Sighting]] | None


def _opened(home: Home, found: diary.Diary, known: Stamp | None, problems: list[Problem]) -> _Opened | None:
    """Read a file, and add to the problems what is wrong with it; None when it cannot be read."""
    try:
        text = diary.read(home.root, found.path, folder=home.config.workspace.diaries)
    except UnreadableError as error:
        problems.append(error.problem)
        return None
    kind = Kind.DIARY if found.dated else Kind.MEMORY
    source = SourceFile(path=found.path, kind=kind, day=found.day, stamp=found.stamp, digest=text.digest)
    same_day = known is not None and known[0] == str(found.day)
    if same_day and home.sources.digest(found.path) == source.digest:
        return _Opened(source=source, seen=None)
    problems += (*text.problems, *_left_out(found.path, text.text))
    return _Opened(source=source, seen=tuple(seen(home, source, text.text)))


def _keep(home: Home, opened: _Opened, known: Stamp | None, *, now: datetime) -> None:
    """Store what was seen in a file, unless another process did so meanwhile."""
    path = opened.source.path
    if home.sources.stamps([path]).get(path) != known:
        return
    if opened.seen is None:
        home.sources.touch(opened.source)
    else:
        home.sources.replace(opened.source, opened.seen, now=now)


def _left_out(path: str, text: str) -> Iterable[Problem]:
    for line in overlong_lines(text):
        yield Problem(path=path, line=line, reason="a line of over 4,000 characters was left out")
    fence = unclosed_fence(text)
    if fence is not None:
        yield Problem(path=path, line=fence, reason="a code fence that is never closed hides what stands below it")


def seen(home: Home, source: SourceFile, text: str) -> Iterable[tuple[Fragment, Sighting]]:
    """Return every fragment of a file's text and where it stands."""
    at = home.end_of_day(source.day)
    for chunk in whole(pieces(text, home.redaction), home.redaction):
        yield (
            remembered(chunk, source.kind, home.lexicon, home.redaction),
            Sighting(
                path=source.path,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                day=source.day,
                kind=source.kind,
                score=ORIGIN_SCORES[source.kind],
                at=at,
                quoted=chunk.quoted,
            ),
        )


def _derive_anew(home: Home) -> None:
    """Make again what was derived under other rules: fragments without what is hidden, tags, when days end."""
    rules: tuple[tuple[str, str, Callable[[], None]], ...] = (
        ("reading", READING, home.sources.read_anew),
        ("redaction", home.redaction.fingerprint, partial(_hide_anew, home)),
        ("tagging", fingerprint(home.lexicon), partial(_retag, home)),
        ("zone", str(home.zone), partial(home.store.redate, home.end_of_day)),
    )
    stale = [rule for rule in rules if home.store.setting(rule[0]) != rule[1]]
    if not stale:
        return
    with home.store.writing():
        stale = [
            rule for rule in stale if home.store.setting(rule[0]) != rule[1]
        ]  # another process may have been first
        for name, value, derive in stale:
            derive()
            home.store.set_setting(name, value)
    if any(name == "redaction" for name, *_ in stale):
        rewrite(home.store)


def _hide_anew(home: Home) -> None:
    """Forget what is hidden by now; the diaries are read again, and tell the rest."""
    purge(home.store, lambda text: redacted(text, home.redaction)[0])
    home.changes.hide(lambda text: masked(text, home.lexicon, home.redaction), kept=(MEMORY, *home.archives()))
    home.sources.read_anew()


def _retag(home: Home) -> None:
    home.store.retag((key, tags(text, home.lexicon)) for key, text in home.store.texts())
