"""A store for tests: put a diary's text into it, as a night would."""

from datetime import UTC, date, datetime

from dreaming.observing.remembering import pieces, remembered
from memory.concepts import lexicon
from memory.model import Fragment, Kind, Sighting
from memory.redaction import ONLY_SECRETS
from memory.sources import SourceFile, Sources
from memory.store import Store

NOW = datetime(2026, 6, 18, 3, tzinfo=UTC)


def put(store: Store, path: str, text: str, day: date = date(2026, 6, 15), now: datetime = NOW) -> list[Fragment]:
    """Read a text as the diary of a day and return its fragments."""
    source = SourceFile(path=path, kind=Kind.DIARY, day=day, stamp=(1, 1, 1), digest=str(hash(text)))
    made = [(remembered(chunk, Kind.DIARY, lexicon(), ONLY_SECRETS), chunk) for chunk in pieces(text, ONLY_SECRETS)]
    seen = [
        (
            one,
            Sighting(
                path=path,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                day=day,
                kind=Kind.DIARY,
                score=0.62,
                at=datetime.combine(day, datetime.max.time(), UTC),
            ),
        )
        for one, chunk in made
    ]
    with store.writing():
        Sources(store).replace(source, seen, now=now)
    return [one for one, _ in made]
