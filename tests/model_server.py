"""A model behind a real address for tests: what it answers is scripted, and what it was asked is kept."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ENGLISH = (
    "The kitchen light was still on when I began to sort the day. Somebody wrote that the kiln takes cone six because"
    " the new clay melts at eight, and I kept turning that sentence over, the way one turns a warm stone. It belongs"
    " beside an older remark about glaze that ran down a shelf in spring. Heat is patient until it is not. I think the"
    " lesson cost a shelf and two bowls, which is a fair price for a number one will never forget again. Tomorrow I"
    " would like to look at the shelf once more."
)
"""An entry of some ninety words that nothing is wrong with."""

Script = Callable[[BaseHTTPRequestHandler], None]


def sse(text: str, *, size: int = 7) -> bytes:
    """Return a text as a server of OpenAI's kind streams it, in small pieces."""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return b"".join(event(piece) for piece in pieces) + b"data: [DONE]\n\n"


def event(piece: str) -> bytes:
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps(chunk | {'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n".encode()


def says(text: str) -> Script:
    """Answer with a text."""
    return sends(200, sse(text))


def sends(status: int, body: bytes, **headers: str) -> Script:
    """Answer with a status, a body and headers."""

    def script(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", "text/event-stream")
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return script


def stalls(text: str = "", *, seconds: float = 30) -> Script:
    """Begin an answer, and never end it."""

    def script(request: BaseHTTPRequestHandler) -> None:
        sends(200, b"".join(event(piece) for piece in text.split()))(request)
        request.wfile.flush()
        until = time.monotonic() + seconds
        while not request.server.closing and time.monotonic() < until:  # type: ignore[attr-defined]
            time.sleep(0.02)

    return script


def trickles(beginning: bytes, *, seconds: float = 30) -> Script:
    """Send something, then a blank now and then: no single read waits long, and there is no end."""

    def script(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(beginning)
        until = time.monotonic() + seconds
        while not request.server.closing and time.monotonic() < until:  # type: ignore[attr-defined]
            request.wfile.write(b" ")
            time.sleep(0.02)

    return script


def dies(request: BaseHTTPRequestHandler) -> None:
    """Promise more than is sent, and hang up."""
    request.send_response(200)
    request.send_header("Content-Length", "100000")
    request.end_headers()
    request.wfile.write(event("The kitchen light"))


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers.get("Authorization"), body, dict(self.headers)))  # type: ignore[attr-defined]
        scripts = self.server.scripts  # type: ignore[attr-defined]
        script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        try:
            script(self)
        except (BrokenPipeError, ConnectionResetError):
            return

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@contextmanager
def model(*scripts: Script) -> Iterator[tuple[str, list[Any]]]:
    """Serve the scripts one after the other, the last one again and again; yield the address and what was asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.asked, server.scripts, server.closing = [], list(scripts), False  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.asked  # type: ignore[attr-defined]
    finally:
        server.closing = True  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()
        server.server_close()
