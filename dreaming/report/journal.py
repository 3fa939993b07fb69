"""The dream diary as it was told, with what each entry was woven from."""

from collections.abc import Mapping

from dreaming.home import Home
from dreaming.report.anatomies import sources_of
from dreaming.report.facts import Entry, LeftOut, Source
from dreaming.report.shown import Shown, weight
from dreaming.report.weave import woven
from memory.narratives import Narrative
from memory.tallies import Tallies

ENTRIES = 240
BYTES = 1_200_000
"""Of all entries and their sources together."""


def journal(home: Home, shown: Shown, *, until: str) -> tuple[tuple[Entry, ...], LeftOut]:
    """Return the newest entries up to a night there is room for, newest first, and how many were left out."""
    told = [one for one in home.narratives.told(limit=ENTRIES) if one.night.isoformat() <= until]
    ids = list(dict.fromkeys(fragment for one in told for fragment in one.fragments))
    latest = told[0].night if told else None
    known = sources_of(home.store.candidates(ids, until=latest), shown) if latest else {}
    found: list[Entry] = []
    room = BYTES
    for one in told:
        entry = _entry(one, known, shown)
        room -= _size(entry)
        if room < 0:
            break
        found.append(entry)
    return tuple(found), LeftOut(kind="entries", shown=len(found), total=Tallies(home.store).entry_count())


def _entry(one: Narrative, known: Mapping[str, Source], shown: Shown) -> Entry:
    sources = sorted((known[key] for key in one.fragments if key in known), key=lambda source: _place(source))
    return Entry(
        night=one.night,
        phase=one.phase.value,
        stamp=shown(one.stamp),
        language=one.language,
        narrator=shown(one.narrator),
        paragraphs=woven(shown(one.prose), [source.text for source in sources]),
        sources=tuple(sources),
    )


def _place(source: Source) -> tuple[str, int, str]:
    return source.path, source.first, source.id


def _size(entry: Entry) -> int:
    """Return about how many bytes an entry takes in the page."""
    prose = sum(60 + weight(piece.text) for paragraph in entry.paragraphs for piece in paragraph)
    sources = sum(200 + weight(one.text) + 4 * weight(one.path) for one in entry.sources)
    return 600 + prose + sources
