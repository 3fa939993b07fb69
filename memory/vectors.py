"""Fragments found by meaning: vectors behind the extra `[embeddings]`, and how nearness joins FTS5's rank."""

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from statistics import quantiles
from weakref import WeakKeyDictionary

from memory.embedders import Embedder, EmbedderError, Vectors, unit
from memory.store import Store, sql

BATCH = 64
"""Fragments embedded and kept in one transaction: a kill loses little, searches get their turn in between."""
STORED = "<f2"
"""How vectors stand in the store: half precision moves a cosine by less than 0.001, and fits three on a page."""
LONGEST_QUERY = 1000
"""Characters of a query that are embedded; the meaning of more is a blur."""
TELLING = 0.3
"""Words of a query below this share of its heaviest word ("Caroline" in a store about Caroline) are left out of its
gist: they would draw the vector towards what everything here is about."""
VECTOR_WEIGHT = 0.5
"""What nearness counts beside FTS5's rank when a fragment answers every word of the query."""
WEAK_VECTOR_WEIGHT = 0.7
"""What it counts when no fragment answers any: then words that match are mostly noise."""
BY_MEANING_AT_MOST = 0.8
"""The most that nearness alone can be worth, as much as half of the words: an answer that holds most words of the query
(relevance 0.7 and more) is worth the same, within 0.1, with vectors and without."""
WITHOUT_WORDS = 10.0
"""What FTS5's rank of a good match comes to, for queries where no fragment matches."""
NARROWEST_SCALE = 0.05
"""The least distance between unrelated and related, for a model that hardly tells them apart."""
ANSWERED_FROM = 0.75
"""A statement answered by its meaning when it is at least this near beside the nearest one of its fragment."""
DIGITS = 5
"""Decimals of a nearness: beyond these, processors differ, and with them the order of ties."""

ANCHORS = (
    ("who cooks at home", "Dinner is always prepared by Lin"),
    ("what does the car need", "The vehicle has to get new brakes before winter"),
    ("why is the website slow", "Pages load sluggishly because the host runs out of memory"),
    ("怎么处理客户的抱怨", "遇到用户投诉要先道歉，再给出解决时间"),
    ("出差怎么报销", "差旅费用凭发票月底统一提交财务"),
    ("孩子几点睡觉", "女儿晚上九点上床休息"),
    ("Wann kommt der Handwerker", "Der Klempner ist am Montag da"),
    ("Welches Haustier hat sie", "Ihre Katze schläft meistens am Fenster"),
    ("wie lernt er Klavier", "Üben am Flügel nimmt er sich jeden Abend vor"),
    ("which plants need water", "植物角的薄荷要每天浇水"),
    ("他喜欢什么运动", "He plays tennis every weekend"),
    ("Wo liegen die Schlüssel", "The keys hang behind the door"),
)
"""Questions, each with an answer that shares no word with it: what a model makes of them is its scale."""


class StaleVectorsError(EmbedderError):
    """A model's vectors have another dimension than before, so those kept from then tell nothing."""

    def __init__(self, model: str, *, dimension: int, stale: int) -> None:
        self.dimension = dimension
        self.stale = stale
        super().__init__(model, "another dimension")

    def __str__(self) -> str:
        kept = "1 fragment has" if self.stale == 1 else f"{self.stale:,} fragments have"
        return (
            f"the embedder gives vectors of {self.dimension:,} numbers now, and {kept} others; "
            "found by words alone until they are made anew, by the next night at the latest"
        )


# -- what is kept -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A fragment without a vector: its text, and behind its heading each of its statements when it has several."""

    key: int
    text: str
    statements: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """What is embedded: the whole first."""
        return (self.text, *self.statements)


def keep_vectors(
    store: Store, embedder: Embedder, *, at_most: int = -1, count: Callable[[int], None] = lambda _: None
) -> int:
    """Embed the fragments without a vector of this model, newest first; return how many. Raise EmbedderError.

    `count` is told how many more have one. StaleVectorsError comes last: what could be made is kept by then.
    """
    made = _made(store, embedder, at_most, count)
    if made and at_most < 0:  # that the model has another dimension by now shows in its first answer
        made += _made(store, embedder, at_most, count)
    if made:
        _look_for_stale(store, embedder.model_id, _dimension(store, embedder.model_id))
    return made


def has_vectors(store: Store, embedder: Embedder) -> bool:
    """Tell whether every fragment has a vector of this model; that costs two looks, however large the store is."""
    return store.setting("vectors known") == _known(store, embedder.model_id)


def _made(store: Store, embedder: Embedder, at_most: int, count: Callable[[int], None]) -> int:
    if not at_most or has_vectors(store, embedder):
        return 0
    missing = missing_vectors(store, embedder.model_id, at_most=at_most)
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        # outside the transaction: it may be a network away
        vectors = embedder.embed([text for one in batch for text in one.texts])
        with store.writing():
            _keep(store, embedder.model_id, batch, vectors)
        count(len(batch))
    if not missing:
        store.set_setting("vectors known", _known(store, embedder.model_id))
    return len(missing)


def missing_count(store: Store, embedder: Embedder) -> int:
    """Return how many fragments have no vector of this model."""
    wanted = {"model": embedder.model_id, "dimension": _dimension(store, embedder.model_id), "limit": -1}
    return int(store.db.conn.execute(f"SELECT count(*) FROM ({sql('without_vector')})", wanted).fetchone()[0])


def missing_vectors(store: Store, model_id: str, *, at_most: int = -1) -> list[Unembedded]:
    """Return the fragments without a vector as a model makes them now, newest first; -1 is all of them."""
    wanted = {"model": model_id, "dimension": _dimension(store, model_id), "limit": at_most}
    rows = store.db.conn.execute(sql("without_vector"), wanted).fetchall()
    return [Unembedded(key=row[0], text=row[1], statements=tuple(json.loads(row[2]))) for row in rows]


def _known(store: Store, model_id: str) -> str:
    kind = f"{model_id} {_dimension(store, model_id)}"
    return str(store.db.conn.execute(sql("vectors_known"), {"model": kind}).fetchone()[0])


def _dimension(store: Store, model_id: str) -> int | None:
    """Return how many numbers a model answered with the last time, as far as that was kept."""
    kept = store.setting(f"vector dimension {model_id}")
    return None if kept is None else int(kept)


def _set_dimension(store: Store, model_id: str, dimension: int) -> None:
    if dimension != _dimension(store, model_id):
        store.set_setting(f"vector dimension {model_id}", str(dimension))


def _look_for_stale(store: Store, model_id: str, dimension: int | None) -> None:
    """Raise StaleVectorsError when vectors of a model have another dimension than it has now."""
    query = "SELECT count(*) FROM vector WHERE model = ? AND dimension <> ?"
    (stale,) = store.db.conn.execute(query, (model_id, dimension)).fetchone()
    if dimension and stale:
        raise StaleVectorsError(model_id, dimension=dimension, stale=stale)


def _notice(store: Store, model_id: str, dimension: int) -> None:
    """Keep which dimension a model answers with; raise StaleVectorsError when it is another one than before."""
    if dimension == _dimension(store, model_id):
        return
    with suppress(sqlite3.OperationalError):  # no search is spoilt by that: the next one notices again
        _set_dimension(store, model_id, dimension)
    _look_for_stale(store, model_id, dimension)


def _keep(store: Store, model_id: str, fragments: Sequence[Unembedded], vectors: Vectors) -> None:
    """Keep vectors of fragments that still say what was embedded, and which dimension the model has."""
    dimension = vectors.shape[1]
    values = vectors.astype(STORED)
    ends = list(accumulate(len(one.texts) for one in fragments))
    _set_dimension(store, model_id, dimension)
    store.db.conn.executemany(
        sql("keep_vector"),
        [
            {
                "fragment": one.key,
                "text": one.text,
                "model": model_id,
                "dimension": dimension,
                "value": values[end - len(one.texts) : end].tobytes(),
            }
            for one, end in zip(fragments, ends, strict=True)
        ],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The vectors of a kind as they were after so many changes; `begins` says where those of each fragment begin.

    The first is that of the whole fragment, what follows are those of its statements.
    """

    kind: tuple[str, int, str | None]
    keys: tuple[int, ...]
    begins: Vectors
    vectors: Vectors


_LOADED: WeakKeyDictionary[Store, _Loaded] = WeakKeyDictionary()


def _loaded(store: Store, model_id: str, dimension: int) -> _Loaded:
    """Return the vectors of a model; from the store only when some of them changed since the last time."""
    kind = (model_id, dimension, store.setting("vector changes"))
    known = _LOADED.get(store)
    if known is None or known.kind != kind:
        known = _LOADED[store] = _from_rows(store, kind)
    return known


def _from_rows(store: Store, kind: tuple[str, int, str | None]) -> _Loaded:
    import numpy as np

    rows = store.db.conn.execute(
        "SELECT fragment, value FROM vector WHERE +model = ? AND dimension = ? ORDER BY fragment", kind[:2]
    ).fetchall()
    values = np.frombuffer(b"".join(row[1] for row in rows), dtype=STORED).astype(np.float32)
    bytes_each = np.dtype(STORED).itemsize * kind[1]
    return _Loaded(
        kind=kind,
        keys=tuple(row[0] for row in rows),
        begins=np.cumsum([0, *(len(row[1]) // bytes_each for row in rows)]),
        vectors=values.reshape(-1, kind[1]),
    )


# -- what is near -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a model's cosines mean: up to `unrelated` nothing, from `related` on as much as meaning can tell."""

    unrelated: float
    related: float

    def nearness(self, cosine: float) -> float:
        """Return a cosine on the scale all models share, in [0, 1]."""
        share = (cosine - self.unrelated) / (self.related - self.unrelated)
        return round(min(1.0, max(0.0, share)), DIGITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A fragment near a query: `nearness` of all of it, by which it is ordered, and of what is `nearest` in it.

    Both lie in [0, 1]; `answered` are the positions of the statements that are near themselves.
    """

    key: int
    nearness: float
    nearest: float
    answered: tuple[int, ...]


Where = Mapping[str, str | None]
"""Which places count: the `kinds` as a JSON list, the first day (`since`) and the last (`until`)."""
ANYWHERE: Where = {"kinds": None, "since": None, "until": None}


def gist(words: Iterable[tuple[str, float]]) -> str:
    """Return the telling ones of a query's words, each given with its weight."""
    weighed = tuple(words)
    heaviest = max((weight for _, weight in weighed), default=0.0)
    return " ".join(word for word, weight in weighed if weight >= TELLING * heaviest)


def nearest(
    store: Store, embedder: Embedder, query: str, *, limit: int, gist: str = "", where: Where = ANYWHERE
) -> list[Near]:
    """Return live fragments that are near, nearest first, then newest; raise EmbedderError.

    The query is the middle between its wording and its gist: a question lies near all questions, whatever they ask. A
    fragment stands in the middle between all it says and its nearest statement: one bullet of a mixed list is found
    without the others, and a line is understood by those around it.
    """
    if limit < 1 or not query.strip():
        return []
    wanted = _asked_for(embedder, query, gist)
    _notice(store, embedder.model_id, len(wanted))
    loaded = _loaded(store, embedder.model_id, len(wanted))
    scale = scale_of(store, embedder, dimension=len(wanted))
    cosines = loaded.vectors @ wanted
    found: list[Near] = []
    for places in _ranked(loaded, cosines, at_least=scale.unrelated, size=4 * limit):
        standing = _standing(store, [loaded.keys[place] for place in places], where)
        found += [_near(loaded, cosines, scale, place) for place in places if loaded.keys[place] in standing]
        if len(found) >= limit:
            break
    return [one for one in found if one.nearest > 0][:limit]


def _near(loaded: _Loaded, cosines: Vectors, scale: Scale, place: int) -> Near:
    own = [float(cosine) for cosine in cosines[loaded.begins[place] : loaded.begins[place + 1]]]
    statements = [scale.nearness(cosine) for cosine in own[1:] or own]
    best = max(statements)
    return Near(
        key=loaded.keys[place],
        nearness=scale.nearness((own[0] + max(own)) / 2),
        nearest=scale.nearness(max(own)),
        answered=tuple(n for n, one in enumerate(statements) if one > 0 and one >= ANSWERED_FROM * best),
    )


def _asked_for(embedder: Embedder, query: str, gist: str) -> Vectors:
    wordings = [text[:LONGEST_QUERY] for text in (query, gist) if text.strip()]
    middle: Vectors = unit(embedder.embed(wordings).mean(axis=0, keepdims=True))[0]
    return middle


def _ranked(loaded: _Loaded, cosines: Vectors, *, at_least: float, size: int) -> Iterable[list[int]]:
    """Yield the places of fragments with something from `at_least` on in lots of `size`: nearest first, then newest."""
    import numpy as np

    if not loaded.keys:
        return
    begins = loaded.begins[:-1]
    rounded = np.round(cosines.astype(np.float64), DIGITS)
    best = np.maximum.reduceat(rounded, begins)
    middle = rounded[begins] + best
    (places,) = np.nonzero(best > at_least)
    places = places[np.lexsort((-places, -middle[places]))]
    for start in range(0, len(places), size):
        yield [int(place) for place in places[start : start + size]]


def _standing(store: Store, keys: Sequence[int], where: Where) -> frozenset[int]:
    rows = store.db.conn.execute(sql("standing"), {"keys": json.dumps(list(keys)), **where})
    return frozenset(row[0] for row in rows)


def scale_of(store: Store, embedder: Embedder, *, dimension: int) -> Scale:
    """Return the scale of a model, measured once for each dimension it has had, and kept in the store."""
    name = f"vector scale {embedder.model_id} {dimension}"
    kept = store.setting(name)
    if kept is None:
        scale = measured(embedder)
        with suppress(sqlite3.OperationalError):  # no search is spoilt by that: the next one measures again
            store.set_setting(name, json.dumps([scale.unrelated, scale.related]))
        return scale
    unrelated, related = json.loads(kept)
    return Scale(unrelated=unrelated, related=related)


def measured(embedder: Embedder) -> Scale:
    """Measure what a model makes of the anchors: the 95th percentiles of pairs that belong together or do not.

    So one unrelated fragment in twenty is taken for near, and the best paraphrases count fully; the local model has
    0.21 and 0.62.
    """
    vectors = embedder.embed([*(question for question, _ in ANCHORS), *(answer for _, answer in ANCHORS)])
    cosines = vectors[: len(ANCHORS)] @ vectors[len(ANCHORS) :].T
    together = [float(cosines[n, n]) for n in range(len(ANCHORS))]
    apart = [float(cosines[n, m]) for n in range(len(ANCHORS)) for m in range(len(ANCHORS)) if n != m]
    unrelated = round(_high(apart), DIGITS)
    return Scale(unrelated=unrelated, related=max(round(_high(together), DIGITS), unrelated + NARROWEST_SCALE))


def _high(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def relevance_by_meaning(nearness: float) -> float:
    """Return what nearness alone is worth on the scale of relevance: 0.8 times its square; a vote needs 0.62.

    Found by setting side by side how often the fragments of a nearness, and those of a relevance by words, hold the
    answer to 760 labelled questions over 2,156 fragments of dialogue: nearness 0.6 to 0.7 (here 0.34) 10 in 100, and so
    do words at 0.8; nearness from 0.9 on (0.73) 20 in 100, and so do words from 0.9 on. It stays below that curve,
    because fragments that are near and share hardly a word are right a third as often.
    """
    return round(BY_MEANING_AT_MOST * nearness**2, 4)


def fused(lexical: Mapping[int, float], semantic: Mapping[int, float], *, relevance: float) -> dict[int, float]:
    """Return one score for each fragment, on the scale of FTS5's ranks: a weighted sum, never one of places.

    `relevance` is that of the best fragment by words, in [0, 1]: the less words say, the more meaning counts.
    """
    weight = WEAK_VECTOR_WEIGHT + (VECTOR_WEIGHT - WEAK_VECTOR_WEIGHT) * relevance
    best = max(lexical.values(), default=0.0)
    unit = best if best > 0 and math.isfinite(best) else WITHOUT_WORDS
    return {
        key: round((1 - weight) * lexical.get(key, 0.0) + weight * unit * semantic.get(key, 0.0), DIGITS)
        for key in (*lexical, *(key for key in semantic if key not in lexical))
    }
