"""The memory as an MCP server: the same answers as the command line, one sentence when something is wrong."""

import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from http.client import HTTPConnection
from itertools import permutations
from pathlib import Path
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner

from dreaming import open_workspace
from dreaming.cli import dream
from dreaming.context import context
from dreaming.home import Home, opened
from house import House, moment

pytest.importorskip("mcp.server.mcpserver", reason="the extra mcp is not installed")

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from dreaming.server import ERROR, memory_server

NOON = "2026-03-08T12:00"
DIARY = "memory/2026-03-02.md"
TODAY = "memory/2026-03-08.md"
ZONE = {"DREAM_DREAMING__TIMEZONE": "Asia/Shanghai"}
KEY = "sk-proj-" + "a1B2c3D4" * 6

T = TypeVar("T")
Talk = Callable[[Client], Awaitable[T]]


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    for name, value in ZONE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def garage(house: House) -> House:
    house.write(DIARY, "# Monday\n\n- Garage panel takes a CR2450 cell\n\n- the gate opens at six\n")
    return house


def talked(house: House, talk: Talk[T], at: str = NOON) -> T:
    """Talk to a server in this process."""

    def opening() -> AbstractContextManager[Home]:
        return opened(house.root, environ={}, overrides=house.settings)

    async def session() -> T:
        async with Client(memory_server(opening, lambda _home: moment(at))) as client:
            return await talk(client)

    return anyio.run(session)


def spoken(house: House, talk: Talk[T], at: str = NOON) -> T:
    """Talk to a server in a process of its own, over its stdin and stdout."""
    arguments = ["-m", "dreaming", "--workspace", str(house.root), "--now", f"{at}+08:00", "mcp"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ}, cwd=str(house.root))

    async def session() -> T:
        async with Client(stdio_client(server)) as client:
            return await talk(client)

    return anyio.run(session)


def call(house: House, tool: str, at: str = NOON, **arguments: object) -> Any:
    """Call a tool and return its structured output."""
    result = talked(house, lambda client: client.call_tool(tool, arguments), at)
    assert not result.is_error, result.content
    return result.structured_content


def refused(house: House, tool: str, **arguments: object) -> tuple[str, str]:
    """Call a tool that must fail and return the kind of its error and what it says."""
    result = talked(house, lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    assert result.meta is not None
    return result.meta[ERROR], result.content[0].text  # type: ignore[union-attr]  # errors are text


def printed(house: House, *arguments: str, at: str = NOON) -> Any:
    """Run a command with `--json` and return its document."""
    common = ["--workspace", str(house.root), "--now", f"{at}+08:00"]
    return json.loads(CliRunner().invoke(dream, [*common, *arguments, "--json"], prog_name="dream").stdout)


def asked_in_python(house: House, query: str, at: str) -> object:
    with open_workspace(house.root, settings=house.settings, environ={}) as memory:
        return memory.search(query, now=moment(at))


@pytest.mark.parametrize("order", list(permutations(("cli", "mcp", "python"))))
def test_a_question_counts_once_a_day_whichever_door_it_comes_through(garage: House, order: tuple[str, ...]) -> None:
    doors: dict[str, Callable[[str], object]] = {
        "cli": lambda at: printed(garage, "search", "garage panel", at=at),
        "mcp": lambda at: call(garage, "memory_search", at, query="Garage  panel"),
        "python": lambda at: asked_in_python(garage, "garage panel", at),
    }
    for day, door in enumerate(order, 3):
        doors[door](f"2026-03-0{day}T12:00")
        doors[order[0]](f"2026-03-0{day}T18:00")
    evidence = garage.explain("Garage", NOON).candidate.evidence
    assert (evidence.recalls, len(evidence.days)) == (3, 3)


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        ("memory_search", {"query": "garage panel", "limit": 3}, ("search", "garage panel", "--limit", "3")),
        ("memory_search", {"query": "zeppelin"}, ("search", "zeppelin")),
        ("memory_get", {"place": f"{DIARY}:3-3"}, ("get", f"{DIARY}:3-3")),
        ("memory_get", {"place": "DREAMS.md"}, ("get", "DREAMS.md")),
        ("memory_status", {}, ("status",)),
        ("memory_explain", {}, ("explain",)),
        ("memory_explain", {"what": "garage"}, ("explain", "garage")),
        ("memory_explain", {"what": "zeppelin"}, ("explain", "zeppelin")),
    ],
)
def test_a_tool_returns_what_the_command_prints(
    garage: House, tool: str, arguments: dict[str, Any], command: tuple[str, ...]
) -> None:
    garage.search("which coin cell", "2026-03-07T12:00")
    garage.night("2026-03-08T03:00")
    assert call(garage, tool, **arguments) == printed(garage, *command)


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        ("memory_search", {"query": "garage"}, ("search", "garage")),
        ("memory_get", {"place": DIARY}, ("get", DIARY)),
        ("memory_status", {}, ("status",)),
        ("memory_explain", {}, ("explain",)),
        ("memory_explain", {"what": "garage"}, ("explain", "garage")),
    ],
)
def test_what_could_not_be_read_stands_in_the_answer_of_tool_and_command(
    garage: House, tool: str, arguments: dict[str, Any], command: tuple[str, ...]
) -> None:
    (garage.root / "memory/2026-03-03.md").symlink_to("nowhere.md")
    problems = ["memory/2026-03-03.md: is a link that leads nowhere"]
    assert call(garage, tool, **arguments)["problems"] == problems
    assert printed(garage, *command)["problems"] == problems


def test_a_recall_that_was_not_recorded_is_told_in_the_answer(garage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    call(garage, "memory_status")
    monkeypatch.setattr("memory.store.BUSY_SECONDS", 0.05)
    with opened(garage.root, environ={}, overrides=garage.settings) as writer, writer.store.writing():
        found = call(garage, "memory_search", query="garage panel")
        read = call(garage, "memory_get", place=f"{DIARY}:3")
    assert ["not recorded" in problem for problem in (*found["problems"], *read["problems"])] == [True, True]


def test_a_client_in_another_process_is_answered_over_a_clean_stdout(garage: House) -> None:
    async def talk(client: Client) -> tuple[Any, ...]:
        tools = await client.list_tools()
        found = await client.call_tool("memory_search", {"query": "garage panel"})
        placed = await client.call_tool("diary_append", {"text": "- the gate code changed", "heading": "Gate"})
        page = await client.read_resource("memory://diary/today")
        recall = await client.get_prompt("memory_recall")
        return tools, found, placed, page, recall

    tools, found, placed, page, recall = spoken(garage, talk)
    assert [tool.name for tool in tools.tools] == [
        "memory_search",
        "memory_get",
        "diary_append",
        "memory_status",
        "memory_explain",
    ]
    assert all(tool.output_schema for tool in tools.tools)
    assert found.structured_content == printed(garage, "search", "garage panel")
    assert placed.structured_content == {"path": TODAY, "start_line": 3, "end_line": 3, "problems": []}
    assert page.contents[0].text == garage.read(TODAY)
    assert "memory_search" in recall.messages[0].content.text


def test_stdout_carries_nothing_but_the_protocol(garage: House) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize"} | {
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
    }
    garage.write("memory/2026-03-03.md", "```\nnever closed\n")
    search = {"name": "memory_search", "arguments": {"query": "garage panel"}}
    lines = [
        json.dumps(asked),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "this is no message",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": search}),
    ]
    command = [sys.executable, "-m", "dreaming", "--workspace", str(garage.root), "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write("".join(f"{line}\n" for line in lines).encode())
        server.stdin.flush()
        said = [json.loads(server.stdout.readline())]
        while said[-1].get("id") != 2:
            said.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        assert server.stdout.read() == b""
        errors = server.stderr.read().decode()
    assert all(one["jsonrpc"] == "2.0" for one in said)
    assert "2026-03-03.md:1: a code fence" in errors
    assert "Garage" not in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "place",
    [
        *("../secret.md", "/etc/passwd", "file:///etc/passwd", "memory/../secret.md", "memory/link.md", "link.md"),
        *("MEMORY/2026-03-02.md", "memory/2026-03-05.md", "memory/.dreams/recall.db", "config.toml", ".", "memory"),
        *(
            "MEMORY.md/../secret.md",
            "memory/../MEMORY.md",
            "memory/MEMORY.md",
            "memory.md",
            "MEMORY.md/",
            "~/MEMORY.md",
        ),
        *("a" * 16, "", "\0", f"{DIARY}\0", "MEMORY.md\0", "MEMORY.md\0.txt", " MEMORY.md", "ＭEMORY.md"),
    ],
)
def test_a_place_cannot_lead_out_of_the_diaries_and_the_two_pages(garage: House, tmp_path: Path, place: str) -> None:
    secret = tmp_path.parent / "secret.md"
    secret.write_text("the secret\n", encoding="utf-8")
    garage.write("MEMORY.md", "the secret\n")
    garage.write("config.toml", "# the secret\n")
    for name in ("memory/link", "memory/2026-03-05", "link"):
        (garage.root / f"{name}.md").symlink_to(secret)
    for named in (place, f"{place}:1"):
        kind, sentence = refused(garage, "memory_get", place=named)
        assert kind == "UnknownSourceError"
        assert "the secret" not in sentence


def test_an_absolute_path_to_a_page_is_no_place(garage: House) -> None:
    garage.write("MEMORY.md", "kept\n")
    assert refused(garage, "memory_get", place=str(garage.root / "MEMORY.md"))[0] == "UnknownSourceError"


def test_a_note_goes_behind_todays_diary_and_nowhere_else(garage: House) -> None:
    garage.write("MEMORY.md", "# Long-Term Memory\n")
    garage.write("DREAMS.md", "# Dream Diary\n")
    before = garage.digests()
    call(garage, "diary_append", text="- first", heading="Gate")
    placed = call(garage, "diary_append", text="- second", heading="Gate")
    assert garage.read(TODAY) == "## Gate\n\n- first\n\n- second\n"
    assert placed == {"path": TODAY, "start_line": 5, "end_line": 5, "problems": []}
    assert garage.digests().items() - before.items() == {(TODAY, garage.digests()[TODAY])}


def test_the_day_of_a_note_is_that_of_the_workspace(garage: House) -> None:
    assert call(garage, "diary_append", "2026-03-09T00:30", text="- late")["path"] == "memory/2026-03-09.md"


def test_a_note_can_be_found_and_read_by_its_place(garage: House) -> None:
    placed = call(garage, "diary_append", text="- the zeppelin lands on Friday")
    read = call(garage, "memory_get", place="{path}:{start_line}-{end_line}".format(**placed))
    assert read["text"] == "- the zeppelin lands on Friday"
    (found,) = call(garage, "memory_search", query="zeppelin")["results"]
    assert found["text"] == "the zeppelin lands on Friday"


@pytest.mark.parametrize("text", ["- fine\n\n```sh\nls", "<!-- to do\n- fine"])
def test_a_note_that_leaves_something_open_hides_no_later_note_and_says_so(garage: House, text: str) -> None:
    placed = call(garage, "diary_append", text=text)
    assert [problem.partition(": ")[2].endswith("hides no later note") for problem in placed["problems"]] == [True]
    call(garage, "diary_append", text="- the zeppelin lands on Friday")
    (found,) = call(garage, "memory_search", query="zeppelin")["results"]
    assert found["text"] == "the zeppelin lands on Friday"


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        (f"- the key is {KEY}", "Deploy"),
        ("- the password is Tulpe-4711", "Deploy"),
        ("- fine", f"Key {KEY}"),
        ("Tulpe-4711x", "password:"),
    ],
)
def test_secrets_are_masked_before_they_are_written(garage: House, text: str, heading: str) -> None:
    call(garage, "diary_append", text=text, heading=heading)
    written = garage.read(TODAY)
    assert "[secret:" in written
    assert KEY not in written
    assert "4711" not in written


def test_a_key_in_a_code_fence_is_masked_in_all_its_lines(garage: House) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq1\n-----END RSA PRIVATE KEY-----"
    call(garage, "diary_append", text=f"```\n{key}\n```\n\n- the key is old")
    assert "MIIE" not in garage.read(TODAY)
    assert garage.read(TODAY).endswith("\n- the key is old\n")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "NothingToAppendError"),
        ("x" * 8_001, "TooLongError"),
        ("<!-- openclaw:dreaming:diary:start -->", "OwnMarkerError"),
    ],
)
def test_a_refused_note_says_why_in_one_sentence(garage: House, text: str, kind: str) -> None:
    found, sentence = refused(garage, "diary_append", text=text)
    assert found == kind
    assert "nothing was written" in sentence
    assert "\n" not in sentence
    assert not (garage.root / TODAY).exists()


def test_todays_diary_as_a_link_to_a_managed_file_is_refused(garage: House) -> None:
    garage.write("MEMORY.md", "# Long-Term Memory\n")
    (garage.root / TODAY).symlink_to("../MEMORY.md")
    assert refused(garage, "diary_append", text="- a line")[0] == "LinkedDiaryError"
    assert garage.read("MEMORY.md") == "# Long-Term Memory\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "says"),
    [
        ("memory_search", {"query": "gate", "limit": 0}, "InvalidArguments", "limit: "),
        ("memory_search", {}, "InvalidArguments", "query: "),
        (
            "memory_search",
            {"query": "gate", "top_k": 3, "source": "diary"},
            "InvalidArguments",
            "top_k: there is no such argument; known are query, limit, since, until, sources; source: there is no such",
        ),
        ("memory_status", {"verbose": True}, "InvalidArguments", "verbose: there is no such argument; known are none"),
        ("memory_get", {"place": f"{DIARY}:90-91"}, "NoSuchLinesError", "has 5 lines"),
        ("memory_forget", {}, "UnknownTool", "memory_forget"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_in_one_line(
    garage: House, tool: str, arguments: dict[str, object], kind: str, says: str
) -> None:
    found, sentence = refused(garage, tool, **arguments)
    assert found == kind
    assert says in sentence
    assert "\n" not in sentence


def test_a_call_with_an_unknown_argument_does_nothing(garage: House) -> None:
    kind, _ = refused(garage, "diary_append", text="- a line", title="Gate")
    assert kind == "InvalidArguments"
    assert not (garage.root / TODAY).exists()


def test_every_tool_says_that_it_takes_no_other_arguments(house: House) -> None:
    tools = talked(house, lambda client: client.list_tools()).tools
    assert {tool.name: tool.input_schema["additionalProperties"] for tool in tools} == {
        tool.name: False for tool in tools
    }


def test_a_bug_is_told_without_anybodys_text(
    garage: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("Garage panel takes a CR2450 cell")

    monkeypatch.setattr("dreaming.reading.search", broken)
    with caplog.at_level(logging.DEBUG):
        kind, sentence = refused(garage, "memory_search", query="garage")
    assert kind == "RuntimeError"
    assert "CR2450" not in sentence + caplog.text
    assert "test_server.py" in caplog.text


@pytest.mark.parametrize("uri", ["memory://long-term", "memory://diary/today", "memory://dream/newest"])
def test_pages_of_an_empty_workspace_are_empty(house: House, uri: str) -> None:
    assert page(house, uri) == ""


def test_pages_show_memory_today_and_the_newest_dream_and_are_no_votes(garage: House) -> None:
    for day in (3, 5, 7):
        garage.search("which coin cell does the garage panel take", f"2026-03-0{day}T12:00")
    garage.night("2026-03-08T03:00")
    garage.write(TODAY, f"- the key is {KEY}\n")
    before = garage.explain("Garage", NOON).candidate.evidence.recalls
    assert "Garage panel takes a CR2450 cell" in page(garage, "memory://long-term")
    assert page(garage, "memory://dream/newest").startswith("*March 8, 2026")
    assert page(garage, "memory://diary/today") == "- the key is [secret:openai_api_key]\n"
    assert garage.explain("Garage", NOON).candidate.evidence.recalls == before


def test_the_long_term_page_is_what_a_session_is_told_of_it_all_of_it_and_without_secrets(garage: House) -> None:
    garage.settings["memory.budget_chars"] = 100
    marker = "<!-- openclaw-memory-promotion:0123456789abcdef score=0.900 recalls=5 source=memory/2026-03-02.md:3-3 -->"
    said = f"# Mine\n\n<!-- my own -->\n- the key is {KEY}\n\n" + "- a line\n" * 20
    garage.write("MEMORY.md", f"\ufeff{said}\n## Promoted From Short-Term Memory (2026-03-01)\n\n{marker}\n- kept\n")
    shown = page(garage, "memory://long-term")
    with opened(garage.root, environ={}, overrides={"memory.budget_chars": 10_000}) as home:
        told = context(home, now=moment(NOON)).memory.text
    assert shown == told.replace(KEY, "[secret:openai_api_key]")
    assert shown.endswith("## Promoted From Short-Term Memory (2026-03-01)\n\n- kept")


def page(house: House, uri: str) -> str:
    result = talked(house, lambda client: client.read_resource(uri))
    return result.contents[0].text  # type: ignore[union-attr]  # pages are text


def test_a_page_that_cannot_be_read_says_so(garage: House) -> None:
    (garage.root / "MEMORY.md").mkdir()

    async def talk(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("memory://long-term")
        return str(caught.value)

    assert "is not a regular file" in talked(garage, talk)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("memory_recall", ["memory_search", "decisions", "dates", "preferences", "to-dos", "memory_get"]),
        ("memory_flush", ["diary_append", "decision", "preference", "not finished", "Not worth", "NO_REPLY"]),
    ],
)
def test_prompts_name_what_they_are_about(house: House, name: str, words: list[str]) -> None:
    result = talked(house, lambda client: client.get_prompt(name))
    text = result.messages[0].content.text  # type: ignore[union-attr]  # prompts are text
    assert [word for word in words if word not in text] == []


def test_the_server_tells_every_client_when_to_search(house: House) -> None:
    async def talk(client: Client) -> str:
        return client.instructions or ""

    assert "memory_search" in talked(house, talk)


def test_json_prints_how_a_client_starts_the_server(garage: House) -> None:
    server = printed(garage, "mcp")["mcpServers"]["memory"]
    assert server["command"] == sys.executable
    assert server["args"] == ["-m", "dreaming", "--workspace", str(garage.root.resolve()), "mcp"]
    assert printed(garage, "mcp", "--http", "8765")["mcpServers"]["memory"]["url"] == "http://127.0.0.1:8765/mcp"


def test_without_the_extra_it_says_what_to_install(garage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    for name in [one for one in sys.modules if one.startswith("mcp.") or one == "dreaming.server"]:
        monkeypatch.delitem(sys.modules, name)
    result = CliRunner().invoke(dream, ["--workspace", str(garage.root), "mcp"], prog_name="dream")
    assert result.exit_code == 1
    assert "pip install 'nightly-dreaming[mcp]'" in result.stderr
    assert result.stdout == ""


def test_http_listens_on_this_machine_only(garage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[dict[str, object]] = []
    monkeypatch.setattr("dreaming.server.MemoryServer.run", lambda _self, kind, **where: served.append(where))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refusal = CliRunner().invoke(dream, ["--workspace", str(garage.root), "mcp", "--http", port])
    CliRunner().invoke(dream, ["--workspace", str(garage.root), "mcp", "--http", port])
    assert (refusal.exit_code, "in use" in refusal.stderr) == (1, True)
    assert served == [{"host": "127.0.0.1", "port": int(port)}]


@contextmanager
def served(house: House, at: str = NOON) -> Iterator[int]:
    """Serve over HTTP in a process of its own; the port of this machine where it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    options = ["--workspace", str(house.root), "--now", f"{at}+08:00"]
    command = [sys.executable, "-m", "dreaming", *options, "mcp", "--http", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=house.root) as server:
        try:
            while not answers("127.0.0.1", port):
                with suppress(subprocess.TimeoutExpired):
                    pytest.fail(f"the server left with {server.wait(0.1)}")
            yield port
        finally:
            server.terminate()
        assert server.stderr is not None
        assert "Traceback" not in server.stderr.read().decode()


def answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def test_all_that_a_client_may_do_is_done_over_http(garage: House) -> None:
    async def talk(port: int) -> tuple[Any, ...]:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            return (
                client.instructions,
                [tool.name for tool in (await client.list_tools()).tools],
                await client.call_tool("memory_search", {"query": "garage panel"}),
                await client.call_tool("memory_get", {"place": f"{DIARY}:5"}),
                await client.call_tool("diary_append", {"text": "- the gate code changed", "heading": "Gate"}),
                await client.read_resource("memory://diary/today"),
                await client.get_prompt("memory_recall"),
                await client.call_tool("memory_get", {"place": "../../etc/passwd"}),
            )

    with served(garage) as port:
        instructions, tools, found, read, placed, today, recall, error = anyio.run(talk, port)
    assert "memory_search" in instructions
    assert set(tools) == {"memory_search", "memory_get", "diary_append", "memory_status", "memory_explain"}
    assert found.structured_content["results"][0]["recorded"] is True
    assert read.structured_content["text"] == "- the gate opens at six"
    assert placed.structured_content["path"] == TODAY
    assert today.contents[0].text == garage.read(TODAY) == "## Gate\n\n- the gate code changed\n"
    assert "memory_search" in recall.messages[0].content.text
    assert (error.is_error, error.meta[ERROR]) == (True, "UnknownSourceError")
    votes = {text: garage.explain(text, NOON).candidate.evidence.recalls for text in ("Garage panel", "gate opens")}
    assert votes == {"Garage panel": 1, "gate opens": 1}


def test_http_answers_only_this_machine_and_no_page_of_a_browser(garage: House) -> None:
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked})
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def status(**headers: str) -> int:
        with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
            connection.request("POST", "/mcp", body, kinds | headers)
            return connection.getresponse().status

    with served(garage) as port:
        assert status() == 200
        assert status(Origin=f"http://localhost:{port}") == 200
        assert status(Origin="https://evil.example") == 403
        assert status(Origin="null") == 403
        assert status(Host="evil.example") == 421
        assert status(Host=f"evil.example:{port}", Origin=f"http://evil.example:{port}") == 421
        assert not answers("127.0.0.2", port)


def test_a_folder_that_is_not_there_ends_the_server_at_once(tmp_path: Path) -> None:
    result = CliRunner().invoke(dream, ["--workspace", str(tmp_path / "nowhere"), "mcp"], prog_name="dream")
    assert result.exit_code == 2
    assert result.stdout == ""


def test_what_a_tool_is_for_is_told_without_the_indentation_of_its_source(garage: House) -> None:
    tools = talked(garage, lambda client: client.list_tools()).tools
    assert all("\n  " not in (tool.description or "") for tool in tools)
    assert all(tool.description for tool in tools)
