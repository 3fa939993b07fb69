"""Reading the diaries into the store: only what changed, each file on its own."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from dreaming.home import MEMORY, Home
from dreaming.masking import masked
from dreaming.remembering import remembered, whole
from memory.chunking import chunks, overlong_lines, unclosed_fence
from memory.concepts import fingerprint, tags
from memory.embedders import EmbedderError
from memory.hiding import legible
from memory.model import ORIGIN_SCORES, Fragment, Kind, Sighting
from memory.purging import purge, rewrite
from memory.sources import SourceFile, Stamp
from memory.trust import redacted
from memory.vectors import keep_vectors
from workspace import diary
from workspace.errors import Problem, UnreadableError

VECTORS_BEFORE_A_SEARCH = 256
"""About a second's work; the night makes the rest."""
READING = "2"
"""Version of how a file becomes fragments and what is unfit in them; raise it when that changes: all is read anew."""
FILES = (Kind.DIARY, Kind.MEMORY)
"""What stands in Markdown files below the diary folder."""
BATCH = 64
"""Files read in one transaction: searches get their turn in between, a kill loses little."""


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


def observe(home: Home, *, now: datetime, vectors_at_most: int = VECTORS_BEFORE_A_SEARCH) -> Observation:
    """Bring the store up to date with the diaries; unchanged ones cost a look at their stamp.

    Vectors are made of what has none yet, so many at most; a negative number makes them all.
    """
    wanted = home.config.workspace
    listing = diary.diaries(
        home.root, folder=wanted.diaries, pattern=wanted.pattern, memories=wanted.memories, zone=home.zone
    )
    _derive_anew(home)
    known = home.sources.known(*FILES)
    changed = [found for found in listing.diaries if known.get(found.path) != (str(found.day), *found.stamp)]
    gone = sorted(known.keys() - {found.path for found in listing.diaries})
    problems = list(listing.problems)
    for start in range(0, len(changed), BATCH):
        with home.store.writing():
            for found in changed[start : start + BATCH]:
                problems += _read(home, found, known.get(found.path), now=now)
    if gone:
        with home.store.writing():
            for path in gone:
                home.sources.forget(path, now=now)
    trouble = with_vectors(home, at_most=vectors_at_most)
    misnamed = tuple(map(str, listing.misnamed))
    return Observation(
        read=len(changed), gone=len(gone), problems=(*map(str, problems), *misnamed, *trouble), misnamed=misnamed
    )


def with_vectors(home: Home, *, at_most: int) -> tuple[str, ...]:
    """Make missing vectors; without them the memory is found by its words."""
    if home.embedder is None:
        return ()
    try:
        keep_vectors(home.store, home.embedder, at_most=at_most)
    except EmbedderError as error:
        return (str(error),)
    return ()


def _read(home: Home, found: diary.Diary, known: Stamp | None, *, now: datetime) -> Iterable[Problem]:
    try:
        text = diary.read(home.root, found.path, folder=home.config.workspace.diaries)
    except UnreadableError as error:
        return (error.problem,)
    kind = Kind.DIARY if found.dated else Kind.MEMORY
    source = SourceFile(path=found.path, kind=kind, day=found.day, stamp=found.stamp, digest=text.digest)
    same_day = known is not None and known[0] == str(found.day)
    if same_day and home.sources.digest(found.path) == source.digest:
        home.sources.touch(source)
        return ()
    home.sources.replace(source, list(seen(home, source, text.text)), now=now)
    return (*text.problems, *_left_out(found.path, text.text))


def _left_out(path: str, text: str) -> Iterable[Problem]:
    for line in overlong_lines(text):
        yield Problem(path=path, line=line, reason="a line of over 4,000 characters was left out")
    fence = unclosed_fence(text)
    if fence is not None:
        yield Problem(path=path, line=fence, reason="a code fence that is never closed hides what stands below it")


def seen(home: Home, source: SourceFile, text: str) -> Iterable[tuple[Fragment, Sighting]]:
    """Return every fragment of a file's text and where it stands."""
    at = home.end_of_day(source.day)
    for chunk in whole(chunks(legible(text, home.redaction)), home.redaction):
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
