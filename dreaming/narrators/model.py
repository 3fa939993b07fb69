"""Models as narrators: behind an OpenAI-compatible address, or through a plugin of `llm`."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dreaming.narrators.entry import NarratorError, Request
from dreaming.narrators.listening import MOST_HEARD, NO_END, heard

if TYPE_CHECKING:
    from openai import Stream
    from openai.types.chat import ChatCompletionChunk

INSTALL = 'install it: pip install "nightly-dreaming[llm]"'
RETRIES = 1
"""How often a refused connection, a 429 or a 5xx is tried again; within the time of the call."""
NO_KEY = "none"
"""Sent where no key is configured: servers on one's own machine want none, and the SDK wants something."""

SENT = frozenset(
    (
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "transfer-encoding",
        "user-agent",
    )
)
"""The headers that are sent besides the key; the SDK would add what `OPENAI_…` variables name."""

Key = Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointNarrator:
    """A model behind an address such as `http://localhost:11434/v1`; the key goes there and nowhere else."""

    model: str
    base_url: str
    key: Key

    @property
    def name(self) -> str:
        """Who writes, as `status` and the store say it."""
        return f"model {self.model}"

    def write(self, request: Request, *, seconds: float) -> str:
        """Return an entry within so many seconds; raise NarratorError when there is none."""
        _load(self.name, "openai")
        check = "check that it runs, and narrative.base_url"
        return heard(self.name, lambda: self._stream(request, seconds), seconds=seconds, check=check)

    def _stream(self, request: Request, seconds: float) -> Iterator[str]:
        from openai import DefaultHttpxClient, OpenAI

        key = self.key() or NO_KEY

        def plainly(request: Any) -> None:
            """Send our key and nothing that the environment holds for another address."""
            for name in [name for name in request.headers if name.lower() not in SENT]:
                del request.headers[name]
            request.headers["Authorization"] = f"Bearer {key}"

        direct = DefaultHttpxClient(follow_redirects=False, timeout=seconds, event_hooks={"request": [plainly]})
        with (
            OpenAI(api_key=key, base_url=self.base_url, max_retries=RETRIES, http_client=direct) as client,
            client.chat.completions.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": request.system},
                    {"role": "user", "content": request.asked},
                ],
                stream=True,
            ) as stream,
        ):
            is_whole = "json" in stream.response.headers.get("content-type", "")
            yield from self._whole(stream) if is_whole else _pieces(stream)

    def _whole(self, stream: "Stream[ChatCompletionChunk]") -> Iterator[str]:
        """Yield the answer of a server that does not stream; blanks before it, so that whoever listens can end it."""
        body = b""
        for piece in stream.response.iter_bytes():
            body += piece
            if len(body) > MOST_HEARD:
                raise NarratorError(self.name, NO_END)
            yield ""
        yield _said(body.decode("utf-8", "replace").strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginNarrator:
    """A model that `llm` knows, by one of its plugins; without a key of ours it takes the one kept by `llm keys`."""

    model: str
    key: Key

    @property
    def name(self) -> str:
        """Who writes, as `status` and the store say it."""
        return f"model {self.model}"

    def write(self, request: Request, *, seconds: float) -> str:
        """Return an entry within so many seconds; raise NarratorError when there is none."""
        _load(self.name, "llm")
        check = f"try it by hand: llm -m {self.model} hello"
        return heard(self.name, lambda: self._stream(request), seconds=seconds, check=check)

    def _stream(self, request: Request) -> Iterator[str]:
        import llm

        try:
            model = llm.get_model(self.model)
        except llm.UnknownModelError as error:
            reason = "llm knows no such model; set narrative.base_url, or add its plugin: llm install"
            raise NarratorError(self.name, reason) from error
        yield from model.prompt(request.asked, system=request.system, key=self.key() or None)


def _pieces(stream: "Stream[ChatCompletionChunk]") -> Iterator[str]:
    for chunk in stream:
        yield (chunk.choices[0].delta.content or "") if chunk.choices else ""


def _said(body: str) -> str:
    """Return what a whole body says, be it one answer or a stream under the wrong name."""
    if body.startswith("{"):
        return json.loads(body)["choices"][0]["message"]["content"] or ""
    events = (line.removeprefix("data:").strip() for line in body.splitlines() if line.startswith("data:"))
    choices = (choice for event in events if event != "[DONE]" for choice in json.loads(event)["choices"][:1])
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def _load(narrator: str, package: str) -> None:
    """Import a package before the time of the call begins: loading it takes seconds on a busy machine."""
    try:
        import_module(package)
    except ImportError as error:
        raise NarratorError(narrator, INSTALL) from error
