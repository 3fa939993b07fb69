"""How values stand in the rows of the store, and come out of them again."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from unicodedata import normalize

from memory.model import Evidence, Fragment, FragmentId, Kind, PhaseHistory, Sighting, Style

_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def stamp(moment: datetime) -> str:
    """Return a moment as the store writes it: UTC, to the second, comparable as text."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def spaced(text: str) -> str:
    """Return the text as it is indexed: NFKC, each Han, kana and Hangul character a word of its own."""
    return _CJK.sub(lambda character: f" {character[0]} ", normalize("NFKC", text))


def is_cjk(character: str) -> bool:
    """Tell whether a character is one of Han, kana or Hangul."""
    return _CJK.match(character) is not None


def listed(values: Iterable[str]) -> str:
    """Return texts as a JSON list, the way a column holds several."""
    return json.dumps(list(values), ensure_ascii=False)


def grouped(rows: Iterable[Any], make: Callable[[Any], Any]) -> dict[FragmentId, list[Any]]:
    """Return what rows say, by the fragment each begins with."""
    groups: dict[FragmentId, list[Any]] = {}
    for row in rows:
        groups.setdefault(row[0], []).append(make(row[1:]))
    return groups


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def row_of(key: FragmentId, one: Fragment) -> dict[str, object]:
    """Return the row of a fragment."""
    return {
        "id": key,
        "heading": one.heading,
        "text": one.text,
        "style": one.style,
        "origin": one.origin,
        "language": one.language,
        "tags": listed(one.tags),
        "flaws": listed(one.flaws),
        "search_text": spaced(one.text),
    }


def as_fragment(row: Any, statements: Sequence[Any]) -> Fragment:
    """Return the fragment of a row and the rows of its statements."""
    _, heading, text, style, origin, language, tags, flaws = row
    return Fragment(
        heading=heading,
        text=text,
        statements=tuple(s[0] for s in statements),
        style=Style(style),
        origin=Kind(origin),
        language=language,
        tags=tuple(json.loads(tags)),
        flaws=tuple(json.loads(flaws)),
    )


def as_sighting(row: Any) -> Sighting:
    """Return the sighting of a row."""
    path, start, end, kind, day, score, at, quoted = row
    return Sighting(
        path=path,
        start_line=start,
        end_line=end,
        kind=Kind(kind),
        day=date.fromisoformat(day),
        score=score,
        at=datetime.fromisoformat(at),
        quoted=bool(quoted),
    )


def as_evidence(row: Any) -> Evidence:
    """Return the evidence of a row."""
    _, recalls, sightings, grounded, total, queries, days, first, last = row
    return Evidence(
        recalls=recalls,
        sightings=sightings,
        grounded=grounded,
        total_score=total,
        unique_queries=queries,
        days=tuple(sorted(date.fromisoformat(day) for day in (days or "").split(",") if day)),
        first_at=_moment(first),
        last_at=_moment(last),
    )


def evidence_document(evidence: Evidence) -> dict[str, object]:
    """Return evidence as a column keeps it in JSON."""
    return {
        "recalls": evidence.recalls,
        "sightings": evidence.sightings,
        "grounded": evidence.grounded,
        "total_score": evidence.total_score,
        "unique_queries": evidence.unique_queries,
        "days": [day.isoformat() for day in evidence.days],
        "first_at": None if evidence.first_at is None else stamp(evidence.first_at),
        "last_at": None if evidence.last_at is None else stamp(evidence.last_at),
    }


def evidence_of(kept: Mapping[str, Any]) -> Evidence:
    """Return the evidence that a column kept in JSON."""
    days = tuple(date.fromisoformat(day) for day in kept["days"])
    moments = {name: _moment(kept[name]) for name in ("first_at", "last_at")}
    return Evidence(**{**kept, "days": days, **moments})


def as_history(row: Any) -> PhaseHistory:
    """Return the phase history of a row."""
    _, light_hits, last_light, rem_hits, last_rem = row
    return PhaseHistory(
        light_hits=light_hits, last_light_at=_moment(last_light), rem_hits=rem_hits, last_rem_at=_moment(last_rem)
    )
