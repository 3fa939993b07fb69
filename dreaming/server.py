"""The memory as an MCP server: tools that do what the commands do and return what `--json` prints."""

import logging
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from importlib.metadata import version
from importlib.resources import files
from inspect import getdoc
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedResourceError, UnexpectedToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import FunctionResource
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from dreaming import documents, places, reading
from dreaming.context import kept
from dreaming.documents import Document
from dreaming.explain import examined, meant, nearest, written_of
from dreaming.home import DREAMS, MEMORY, Home, NoWorkspaceError
from dreaming.layers import ConfigError
from dreaming.observing.masking import masked
from dreaming.observing.observe import observe
from dreaming.overview import overview
from dreaming.writing import HEADING, append
from memory.store import BrokenStoreError, BusyStoreError, NewerStoreError
from workspace import diary
from workspace.dreams import entries
from workspace.errors import WorkspaceError
from workspace.lines import BOM, one_line, printable

NAME = "nightly-dreaming"
SURFACE = "mcp"
MOST_EXPLAINED = 10
MOST_RESULTS = 100
ERROR = f"{NAME}/error"
"""Key of a failed result's `_meta` under which the kind of the error stands."""

EXPECTED = (
    ConfigError,
    NoWorkspaceError,
    WorkspaceError,
    NewerStoreError,
    BrokenStoreError,
    BusyStoreError,
    places.UnknownSourceError,
    places.NoSuchLinesError,
)
"""What may go wrong without a bug; each says in one sentence what to do."""

Opening = Callable[[], AbstractContextManager[Home]]
Clock = Callable[[Home], datetime]

logger = logging.getLogger(__name__)


class Tools:
    """What an agent can do; every call opens the workspace for as long as it lasts."""

    def __init__(self, opening: Opening, clock: Clock) -> None:
        self._opening = opening
        self._clock = clock

    def memory_search(
        self,
        query: Annotated[str, Field(description="What to look for, in the words a note would use.")],
        limit: Annotated[int, Field(ge=1, le=MOST_RESULTS, description="How many results at most.")] = reading.RESULTS,
        since: Annotated[date | None, Field(description="Only diaries from this day on.")] = None,
        until: Annotated[date | None, Field(description="Only diaries up to this day.")] = None,
        sources: Annotated[list[places.Source] | None, Field(description="Look only there; default: all.")] = None,
    ) -> Document:
        """Search the memory for earlier work, decisions, dates, preferences and to-dos.

        Results come best first, each with its place; relevance is 1 when the text answers every word of the query.
        """
        with self._opening() as home:
            wanted = reading.Wanted(sources=frozenset(sources or places.Source), since=since, until=until)
            found = reading.search(
                home, printable(query), now=self._clock(home), limit=limit, surface=SURFACE, wanted=wanted
            )
        _log(found.problems)
        return documents.search(found)

    def memory_get(
        self,
        place: Annotated[
            str, Field(description="`memory/2026-06-15.md:5-8`, `MEMORY.md:12`, a whole file, or a result's id.")
        ],
    ) -> Document:
        """Read lines of a diary, of MEMORY.md or of DREAMS.md, to see what stands around a search result."""
        with self._opening() as home:
            read = reading.get(home, printable(place), now=self._clock(home), surface=SURFACE)
        _log(read.problems)
        return documents.get(read)

    def diary_append(
        self,
        text: Annotated[str, Field(description="Markdown, at most 8,000 characters; one line for one thing.")],
        heading: Annotated[str, Field(description="What the text is about, in a few words.")] = HEADING,
    ) -> Document:
        """Add a note to today's diary, behind what stands there; returns its place. Secrets are masked.

        A code fence or comment that is never closed is mended, and the problems say so: it would hide later notes.
        """
        with self._opening() as home:
            return documents.append(append(home, text, heading=heading, now=self._clock(home)))

    def memory_status(self) -> Document:
        """Tell how the memory stands: the last night, the store, the room left in MEMORY.md, the nearest candidates."""
        with self._opening() as home:
            now = self._clock(home)
            problems = observe(home, now=now).problems
            _log(problems)
            return documents.status(home, overview(home, now=now), problems)

    def memory_explain(
        self,
        what: Annotated[str, Field(description="An id, a piece of text or a place; empty: the nearest ones.")] = "",
    ) -> Document:
        """Explain why something was kept in MEMORY.md or not: its score, every gate, and what is missing.

        Of many fragments the best ones are explained.
        """
        with self._opening() as home:
            now = self._clock(home)
            problems = observe(home, now=now).problems
            _log(problems)
            sought = printable(what)
            found = examined(home, meant(home, sought), now=now)[:MOST_EXPLAINED] if sought else nearest(home, now=now)
            return documents.explain(found, written_of(home, found), problems)


class Pages:
    """What a host may load at the start of a conversation; that is no vote."""

    def __init__(self, opening: Opening, clock: Clock) -> None:
        self._opening = opening
        self._clock = clock

    def durable(self) -> str:
        """Return all of `MEMORY.md` without its markers: what was kept; empty before the first promotion."""
        with self._opening() as home:
            text = home.files.read(MEMORY).text
            return _shown(home, kept(text, room=len(text)).text)

    def today(self) -> str:
        """Return today's diary so far; empty when nothing is written."""
        with self._opening() as home:
            folder = home.config.workspace.diaries
            path = f"{folder}/{home.local_date(self._clock(home)).isoformat()}.md"
            if not (home.root / path).exists():
                return ""
            return _shown(home, diary.read(home.root, path, folder=folder).text)

    def dream(self) -> str:
        """Return the newest entry of the dream diary; empty before the first."""
        with self._opening() as home:
            told = entries(home.files.read(DREAMS).text)
            return _shown(home, f"*{told[-1].stamp}*\n\n{told[-1].prose}\n") if told else ""


class MemoryServer(MCPServer[Any]):
    """A server whose failures are one sentence for the caller and one line without anybody's text in the log."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; a failure is a result that says what to do, its kind in `_meta`."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            kind, sentence = _told(error, known=await self._arguments(name))
        content = TextContent(type="text", text=sentence)
        return CallToolResult(content=[content], is_error=True, _meta={ERROR: kind})

    async def _arguments(self, name: str) -> tuple[str, ...]:
        schemas = [tool.input_schema for tool in await self.list_tools() if tool.name == name]
        return tuple(argument for schema in schemas for argument in schema["properties"])

    async def read_resource(self, uri: Any, context: Context[Any, Any] | None = None) -> Any:
        """Read a resource; a failure is an error with one sentence."""
        try:
            return await super().read_resource(uri, context)
        except UnexpectedResourceError as error:
            sentence = _told(error)[1]
        raise ResourceError(sentence)


def memory_server(opening: Opening, clock: Clock) -> MCPServer[Any]:
    """Return the server of one workspace; `opening` opens it for a call, `clock` says when the call is."""
    tools, pages = Tools(opening, clock), Pages(opening, clock)
    server = MemoryServer(
        name=NAME,
        title="Memory of this workspace",
        version=version(NAME),
        instructions=prompt("recall"),
        log_level="WARNING",
        tools=[
            _tool(tools.memory_search, _hints(idempotent=True)),
            _tool(tools.memory_get, _hints(idempotent=True)),
            _tool(tools.diary_append, _hints()),
            _tool(tools.memory_status, _hints(read_only=True)),
            _tool(tools.memory_explain, _hints(read_only=True)),
        ],
    )
    for uri, name, page in (
        ("memory://long-term", MEMORY, pages.durable),
        ("memory://diary/today", "today's diary", pages.today),
        ("memory://dream/newest", "the newest dream", pages.dream),
    ):
        server.add_resource(FunctionResource.from_function(page, uri, name=name, mime_type="text/markdown"))
    for name, description in (
        ("recall", "When and how to search the memory before answering."),
        ("flush", "What to write into today's diary before a conversation is shortened or ends."),
    ):
        server.add_prompt(Prompt.from_function(_saying(name), name=f"memory_{name}", description=description))
    return server


def serve(opening: Opening, clock: Clock, *, host: str, port: int | None) -> None:
    """Serve until the client leaves: over stdin and stdout, or with a port as streamable HTTP."""
    server = memory_server(opening, clock)
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host=host, port=port)


def prompt(name: str) -> str:
    """Return the text of a prompt."""
    return files("dreaming").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")


def _saying(name: str) -> Callable[[], str]:
    return lambda: prompt(name)


def _tool(function: Callable[..., Document], hints: ToolAnnotations) -> Tool:
    """Return a tool that refuses arguments it does not know: a caller would take a misspelt one for obeyed."""
    tool = Tool.from_function(function, description=getdoc(function), annotations=hints)
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    return tool.model_copy(update={"parameters": arguments.model_json_schema(by_alias=True)})


def _hints(*, read_only: bool = False, idempotent: bool = False) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=read_only, idempotent_hint=idempotent, destructive_hint=False, open_world_hint=False
    )


def _shown(home: Home, text: str) -> str:
    return masked(printable(text.removeprefix(BOM)), home.lexicon, home.redaction)


def _told(error: ToolError | ResourceError, known: Sequence[str] = ()) -> tuple[str, str]:
    """Return the kind of a failure and what to tell the caller; a bug leaves its place in the log.

    `known` are the arguments that the tool has.
    """
    cause = error.__cause__
    unexpected = isinstance(error, UnexpectedToolError | UnexpectedResourceError)
    if isinstance(cause, ValidationError) and not unexpected:
        unknown = f"there is no such argument; known are {', '.join(known) or 'none'}"
        flaws = [
            (flaw["loc"], unknown if flaw["type"] == "extra_forbidden" else flaw["msg"]) for flaw in cause.errors()
        ]
        return "InvalidArguments", "; ".join(f"{_path(place)}: {message}" for place, message in flaws)
    if isinstance(cause, EXPECTED):
        return type(cause).__name__, str(cause)
    if not unexpected:
        return "UnknownTool", str(error)
    kind = type(cause).__name__
    frames = traceback.extract_tb(cause.__traceback__ if cause else None)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    logger.error("%s at %s", kind, place)
    return kind, f"the memory failed inside ({kind}); the log of the server names the place, so report it"


def _path(location: Iterable[int | str]) -> str:
    return one_line(".".join(map(str, location))) or "arguments"


def _log(problems: Iterable[str]) -> None:
    for problem in problems:
        logger.warning("%s", problem)
