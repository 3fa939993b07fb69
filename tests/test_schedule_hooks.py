"""Who is told how a night begins and ends, and that nothing depends on it."""

import json
import os
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event as Wait
from threading import Thread
from time import monotonic

import pytest
from click.testing import CliRunner, Result

from cron.calls import Event, address, call
from dreaming.cli import dream
from dreaming.config import Hooks
from house import House

ROOT = Path(__file__).parent.parent
NOW = "2026-06-18T03:00"
SECRET = "Kestrel"


@pytest.fixture(autouse=True)
def user(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("DREAM_DREAMING__TIMEZONE", "Asia/Shanghai")
    monkeypatch.setenv("DREAM_EMBEDDINGS__EMBEDDER", "off")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Ears(HTTPServer):
    """A service that keeps what it is told, and answers as it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[tuple[str, dict[str, object]]] = []
        self.answer = 200
        self.silent = Wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/ping/uuid"


class Handler(BaseHTTPRequestHandler):
    server: Ears

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append((self.path, body))
        if self.server.answer:
            self.send_response(self.server.answer)
            self.end_headers()
        else:
            self.server.silent.wait(30)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def ears() -> Iterator[Ears]:
    with Ears() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.silent.set()
        server.shutdown()
        thread.join()


def told_by(house: House, hooks: str) -> Result:
    """Run a night whose hooks are these."""
    house.write("memory/2026-06-17.md", f"- Boat is called {SECRET}\n")
    house.write("config.toml", f"[dreaming]\nenabled = true\n[hooks]\n{hooks}\n")
    arguments = ["--all", "--now", NOW, "-w", str(house.root)]
    return CliRunner().invoke(dream, arguments, prog_name="dream")


def broken(house: House) -> None:
    """Let the night fail."""
    (house.root / "DREAMS.md").mkdir()


def test_an_address_hears_the_start_and_the_finish(house: House, ears: Ears) -> None:
    assert told_by(house, f'url = "{ears.url}"').exit_code == 0
    assert [(path, body["event"]) for path, body in ears.heard] == [
        ("/ping/uuid/start", "start"),
        ("/ping/uuid", "finish"),
    ]


def test_an_address_hears_a_failure(house: House, ears: Ears) -> None:
    broken(house)
    assert told_by(house, f'url = "{ears.url}"').exit_code == 1
    path, body = ears.heard[-1]
    assert (path, body["event"], body["exit_code"]) == ("/ping/uuid/fail", "fail", 1)


def test_what_is_told_are_counts_and_no_text_of_a_diary(house: House, ears: Ears) -> None:
    told_by(house, f'url = "{ears.url}"')
    body = ears.heard[-1][1]
    assert {key: body[key] for key in ("workspace", "night", "promoted", "problems", "exit_code", "timed_out")} == {
        "workspace": str(house.root),
        "night": "2026-06-18",
        "promoted": 0,
        "problems": 0,
        "exit_code": 0,
        "timed_out": False,
    }
    assert [one["name"] for one in body["phases"]] == ["light", "rem", "deep"]  # type: ignore[attr-defined]
    assert body["seconds"] > 0  # type: ignore[operator]
    assert SECRET not in json.dumps(ears.heard)


def test_a_command_gets_the_event_behind_its_arguments_and_the_document_as_its_input(house: House) -> None:
    program = "import sys; open(sys.argv[1], 'a').write(sys.argv[2] + ' ' + sys.stdin.read() + '\\n')"
    command = json.dumps([sys.executable, "-c", program, str(house.root / "told")])
    assert told_by(house, f"command = {command}").exit_code == 0
    lines = house.read("told").splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["start", "finish"]
    assert json.loads(lines[1].partition(" ")[2])["night"] == "2026-06-18"


@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        ('command = ["/nowhere/told"]', "the hook /nowhere/told could not be run (finish)"),
        ('command = ["false"]', "the hook false failed with code 1 (finish)"),
        ('command = ["sh", "-c", "sleep 60"]\ntimeout_seconds = 1', "the hook sh was stopped after 1 seconds (finish)"),
        ('url = "http://127.0.0.1:9/secret"', "the hook at 127.0.0.1 was not reached (finish)"),
    ],
)
def test_a_hook_that_fails_is_told_and_changes_nothing(house: House, hooks: str, said: str) -> None:
    result = told_by(house, hooks)
    assert result.exit_code == 0
    assert "the night of 2026-06-18" in result.stdout
    assert said in result.stderr
    assert "secret" not in result.stderr
    assert SECRET in house.read("DREAMS.md")


def test_an_address_that_refuses_or_is_silent_is_told(ears: Ears) -> None:
    ears.answer = 503
    hooks = Hooks(url=ears.url, timeout_seconds=1)
    assert call(hooks, Event.FINISH, {}) == ("the hook at 127.0.0.1 answered 503 (finish)",)
    ears.answer = 0
    (said,) = call(hooks, Event.FAIL, {})
    assert said.startswith("the hook at 127.0.0.1 was not reached (fail)")


def test_an_address_that_answers_drop_by_drop_is_not_waited_for(ears: Ears, monkeypatch: pytest.MonkeyPatch) -> None:
    def drop_by_drop(self: Handler) -> None:
        self.send_response(200)
        while not self.server.silent.wait(0.3):
            self.send_header("X-Drop", "1")
            self.flush_headers()

    monkeypatch.setattr(Handler, "do_POST", drop_by_drop)
    before = monotonic()
    (said,) = call(Hooks(url=ears.url, timeout_seconds=1), Event.FINISH, {})
    ears.silent.set()
    assert said == "the hook at 127.0.0.1 was not reached (finish): no answer within 1 seconds"
    assert monotonic() - before < 5


def test_a_folder_whose_name_is_no_text_is_told_as_well_as_it_can_be(house: House) -> None:
    folder = House(house.root / os.fsdecode(b"b\xff"))
    assert told_by(folder, 'command = ["true"]').exit_code == 0


def test_a_night_that_is_not_due_tells_nobody(house: House, ears: Ears) -> None:
    told_by(house, f'url = "{ears.url}"')
    ears.heard.clear()
    told_by(house, f'url = "{ears.url}"')
    assert ears.heard == []


def test_a_command_that_is_stopped_leaves_nothing_running(house: House) -> None:
    program = f"echo $$ > {house.root}/pid; sleep 600 & wait"
    call(Hooks(command=("sh", "-c", program), timeout_seconds=1), Event.START, {})
    group = int(house.read("pid"))
    assert any(gone(group) for _ in range(100))


def gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return Wait().wait(0.05)


@pytest.mark.parametrize(
    ("url", "start"),
    [
        ("https://hc-ping.com/uuid", "https://hc-ping.com/uuid/start"),
        ("https://hc-ping.com/uuid/", "https://hc-ping.com/uuid/start"),
        ("https://hc.example.org/ping?key=1", "https://hc.example.org/ping/start?key=1"),
    ],
)
def test_the_ending_stands_behind_the_path(url: str, start: str) -> None:
    assert address(url, Event.START) == start
    assert address(url, Event.FINISH) == url
