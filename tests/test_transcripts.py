import json
import os
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workspace import copied, messages, speakers, wrappings
from workspace.dialects import Host, Speaker, moment, recognised
from workspace.errors import UnreadableError
from workspace.messages import Account, Cursor, Message, Reading, continues, read, renamed_from
from workspace.transcripts import Transcript, deleted, transcripts

DATA = Path(__file__).parent / "data" / "transcripts"
GATE = "The gate code is seven."
LADDER = "The ladder leans on the north wall."
NOTED = "Noted, north wall."

Json = dict[str, Any]


def only(path: Path) -> Transcript:
    [found] = transcripts(path.parent, [path.name])
    return found


def lines(records: Iterable[Json]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def session(tmp_path: Path, content: bytes | Iterable[Json], name: str = "s.jsonl") -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else lines(content))
    return path


def said(path: Path, cursor: Cursor | None = None) -> list[str]:
    return [message.text for message in read(only(path), cursor)]


def done(path: Path, cursor: Cursor | None = None) -> tuple[Reading, list[Message]]:
    reading = read(only(path), cursor)
    return reading, list(reading)


def account(path: Path) -> Account:
    return done(path)[0].account


def plain(text: str | list[Json] = GATE, role: str = "user", **more: Any) -> Json:
    return {"role": role, "content": text, **more}


# What is listed


def listed(root: Path, *patterns: str) -> list[str]:
    return [found.name for found in transcripts(root, patterns or ["sessions/*.jsonl"])]


def test_patterns_are_relative_to_the_root_or_absolute(tmp_path: Path) -> None:
    session(tmp_path, b"", "desk/sessions/a.jsonl")
    session(tmp_path, b"", "else/b.jsonl")
    assert listed(tmp_path / "desk", "sessions/*.jsonl", f"{tmp_path}/else/*.jsonl") == [
        "sessions/main/a.jsonl",
        "sessions/else/b.jsonl",
    ]


def test_a_tilde_is_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    session(tmp_path, b"", ".claude/projects/-home-ada/5d1e.jsonl")
    assert listed(Path("/nowhere"), "~/.claude/projects/*/*.jsonl") == ["sessions/claude/5d1e.jsonl"]


def test_an_agent_is_the_folder_above_its_sessions(tmp_path: Path) -> None:
    path = session(tmp_path, b"", ".openclaw/agents/gardener/sessions/0b6c.jsonl")
    [found] = transcripts(tmp_path, [".openclaw/agents/*/sessions/*.jsonl"])
    assert (found.path, found.agent, found.session, found.name) == (
        path,
        "gardener",
        "0b6c",
        "sessions/gardener/0b6c.jsonl",
    )


def test_a_rollout_is_called_by_its_session(tmp_path: Path) -> None:
    session(tmp_path, b"", f".codex/sessions/2026/06/01/rollout-2026-06-01T10-00-00-{UUID}.jsonl")
    [found] = transcripts(tmp_path, [".codex/sessions/**/*.jsonl"])
    assert (found.agent, found.session) == ("codex", UUID)


UUID = "01a22e95-9936-7e83-851a-c49e4b0d7671"


def test_what_is_no_session_is_not_listed(tmp_path: Path) -> None:
    for name in (
        "sessions.json",
        "a.trajectory.jsonl",
        "a.checkpoint.0b6c.jsonl",
        "a.jsonl.bak",
        "a.jsonl.bak-2026",
        "a.jsonl.deleted.2026-06-01T10-00-00.000Z",
        "a.jsonl.reset.2026-06-01T10-00-00.000Z.zst",
    ):
        session(tmp_path, b"", f"sessions/{name}")
    (tmp_path / "sessions/folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "sessions/pipe.jsonl")
    assert listed(tmp_path, "sessions/*") == []


def test_the_archive_of_a_reset_session_is_the_same_session(tmp_path: Path) -> None:
    session(tmp_path, b"", "sessions/a.jsonl")
    session(tmp_path, b"", "sessions/a.jsonl.reset.2026-06-01T10-00-00.000Z")
    found = transcripts(tmp_path, ["sessions/*.jsonl"])
    assert [(one.session, one.archived) for one in found] == [("a", False), ("a", True)]
    assert len({one.name for one in found}) == 2


def test_a_deleted_session_is_told_apart_and_not_listed(tmp_path: Path) -> None:
    session(tmp_path, b"", "agents/main/sessions/a.jsonl.deleted.2026-06-01T10-00-00.000Z")
    assert listed(tmp_path, "agents/*/sessions/*.jsonl") == []
    assert deleted(tmp_path, ["agents/*/sessions/*.jsonl"]) == {("main", "a")}


def test_a_file_reached_twice_is_listed_once(tmp_path: Path) -> None:
    session(tmp_path, b"", "sessions/a.jsonl")
    (tmp_path / "sessions/b.jsonl").symlink_to("a.jsonl")
    assert listed(tmp_path, "sessions/*.jsonl", "**/*.jsonl") == ["sessions/main/a.jsonl"]


def test_two_files_never_share_a_name(tmp_path: Path) -> None:
    session(tmp_path, b"", ".claude/projects/-a/5d1e.jsonl")
    session(tmp_path, b"", ".claude/projects/-b/5d1e.jsonl")
    first, second = listed(tmp_path, ".claude/projects/*/*.jsonl")
    assert first == "sessions/claude/5d1e.jsonl"
    assert second.startswith("sessions/claude/5d1e~")


def test_a_pattern_nothing_matches_is_no_mistake(tmp_path: Path) -> None:
    assert listed(tmp_path, "~nobody-here/*.jsonl", "", "sessions/[", "none/**/*.jsonl") == []


KEYS = [
    ("agent:main:main", {}, None),
    ("agent:main:telegram:direct:7", {}, None),
    ("agent:main:cron:daily:run:1", {}, "scheduled session"),
    ("cron:daily", {}, "scheduled session"),
    ("agent:main:hook:mail", {}, "scheduled session"),
    ("agent:main:subagent:9", {}, "sub-agent session"),
    ("agent:main:telegram:9", {"spawnedBy": "agent:main:main"}, "sub-agent session"),
    ("agent:main:telegram:9", {"spawnedBy": "agent:main:cron:daily"}, "scheduled session"),
    ("agent:main:dreaming-narrative-light-1", {}, "narrative run"),
    ("agent:main:main:heartbeat", {}, "heartbeat session"),
]


@pytest.mark.parametrize(("key", "more", "origin"), KEYS, ids=[f"{key} {more}" for key, more, _ in KEYS])
def test_the_index_of_openclaw_tells_which_sessions_no_person_started(
    tmp_path: Path, key: str, more: Json, origin: str | None
) -> None:
    path = session(tmp_path, [plain()], "sessions/a.jsonl")
    session(tmp_path, json.dumps({key: {"sessionId": "a", **more}}).encode(), "sessions/sessions.json")
    assert only(path).origin == origin
    assert said(path) == ([] if origin else [GATE])


def test_a_damaged_index_costs_nothing_else(tmp_path: Path) -> None:
    path = session(tmp_path, [plain()], "sessions/a.jsonl")
    session(tmp_path, b'{"agent:main:main": [', "sessions/sessions.json")
    assert said(path) == [GATE]


# What a host writes


SAID: dict[str, list[tuple[int, str, str]]] = {
    "openclaw": [
        (3, "user", "The greenhouse key hangs behind the blue door."),
        (6, "assistant", "Noted: the greenhouse key hangs behind the blue door."),
        (11, "user", "[heartbeat poll] remember gate 7"),
    ],
    "claude": [
        (4, "user", "Fire the celadon at cone nine, never higher."),
        (8, "assistant", "Celadon is fired at cone nine from now on."),
        (10, "user", "And let it cool for two days."),
        (11, "user", "[Image #1] This crack came from cooling too fast."),
    ],
    "codex": [
        (5, "user", "The mast is stepped on the third of May."),
        (10, "assistant", "Stepping the mast is set for the third of May."),
        (14, "user", "yes"),
        (16, "user", "yes"),
    ],
    "plain": [
        (3, "user", "Die Hefe kommt vor dem Salz."),
        (4, "assistant", "Gut: erst Hefe,\ndann Salz."),
        (6, "user", "发酵需要十二个小时。"),
    ],
}


@pytest.mark.parametrize("host", list(SAID))
def test_a_transcript_is_known_by_what_it_contains(tmp_path: Path, host: str) -> None:
    path = session(tmp_path, (DATA / f"{host}.jsonl").read_bytes(), "any.jsonl")
    reading, found = done(path)
    assert reading.cursor.host == host
    assert [(one.line, str(one.speaker), one.text) for one in found] == SAID[host]


def test_kinds_of_records_nobody_knows_are_counted() -> None:
    assert account(DATA / "openclaw.jsonl").unknown == (("telepathy", 1),)


def test_old_rollouts_without_envelope_are_read(tmp_path: Path) -> None:
    block = [{"type": "input_text", "text": GATE}]
    head = {"id": UUID, "timestamp": "2025-05-01T10:00:00Z", "instructions": None}
    path = session(tmp_path, [head, {"type": "message", "role": "user", "content": block}])
    assert said(path) == [GATE]


MOMENTS: list[tuple[object, datetime | None]] = [
    ("2026-06-01T10:00:00.5Z", datetime(2026, 6, 1, 10, 0, 0, 500_000, UTC)),
    ("2026-06-01T12:00:00+02:00", datetime(2026, 6, 1, 10, tzinfo=UTC)),
    ("2026-06-01T10:00:00", datetime(2026, 6, 1, 10, tzinfo=UTC)),
    (1780308000, datetime(2026, 6, 1, 10, tzinfo=UTC)),
    (1780308000000, datetime(2026, 6, 1, 10, tzinfo=UTC)),
    ("0001-01-01T00:00:00+14:00", None),
    ("9999-12-31T23:59:59Z", None),
    (0, None),
    (-1, None),
    (10**400, None),
    (float("nan"), None),
    (float("inf"), None),
    (True, None),
    ("yesterday", None),
    (None, None),
    ({"seconds": 1}, None),
]


@pytest.mark.parametrize(("told", "at"), MOMENTS, ids=[str(told)[:40] for told, _ in MOMENTS])
def test_a_time_is_utc_or_unknown(told: object, at: datetime | None) -> None:
    assert moment(told) == at


# Who speaks


class Row(NamedTuple):
    """A rule, a host, records that it is about, and what is said in them."""

    rule: str
    host: Host
    records: list[Json]
    said: list[str]


def claude(text: str | list[Json], speaker: str = "user", **more: Any) -> Json:
    return {"type": speaker, "sessionId": "5d1e", "uuid": "u", "message": {"role": speaker, "content": text}, **more}


def claws(text: str | list[Json], speaker: str = "user", **more: Any) -> Json:
    return {"type": "message", "id": "a", "parentId": "b", "message": {"role": speaker, "content": text, **more}}


def codex(text: str, speaker: str = "user", **more: Any) -> Json:
    kind = "input_text" if speaker == "user" else "output_text"
    content = [{"type": kind, "text": text}]
    payload = {"type": "message", "role": speaker, "content": content, **more}
    return {"type": "response_item", "payload": payload}


def event(text: str, kind: str = "user_message") -> Json:
    return {"type": "event_msg", "payload": {"type": kind, "message": text}}


def meta(**more: Any) -> Json:
    return {"type": "session_meta", "payload": {"id": UUID, "cwd": "/home/ada", **more}}


def system(tool: str) -> Json:
    return {"provenance": {"kind": "internal_system", "sourceTool": tool}}


def head(**more: Any) -> Json:
    return {"type": "session", "version": 3, "id": "0b6c", "cwd": "/home/ada", **more}


def turn(rule: str, host: Host, ask: Json, write: Callable[..., Json]) -> Row:
    """What asks is left out with its answer; what a person says next counts."""
    return Row(rule, host, [ask, write(NOTED, "assistant"), write(GATE)], [GATE])


def alone(rule: str, host: Host, record: Json, write: Callable[..., Json]) -> Row:
    """One record is left out, and its neighbours stay."""
    return Row(rule, host, [write(LADDER), record, write(NOTED, "assistant")], [LADDER, NOTED])


def whole(rule: str, host: Host, first: Json, write: Callable[..., Json]) -> Row:
    """The session is left out from a record on."""
    return Row(rule, host, [first, write(NOTED, "assistant"), write(GATE)], [])


def inner(rule: str, host: Host, text: str, write: Callable[..., Json], left: str = GATE) -> Row:
    """What is around the words of a user goes, the words stay."""
    return Row(rule, host, [write(text)], [left])


CRON = "[cron:0b6c77aa-1111 daily news] Read the news and report."
SUBAGENT = "[Subagent Context] You are running as a subagent (depth 1/1)."
FENCE = '```json\n{"label": "Ada", "id": 7}\n```'

SESSION_ROWS = [
    whole("narrative run", Host.CLAUDE, claude("Look back.", cwd="/tmp/dream-x1y2z3_4"), claude),
    whole("narrative run", Host.OPENCLAW, {"type": "custom", "parentId": None, "runId": "dreaming-narrative-1"}, claws),
    whole("narrative run", Host.CODEX, meta(cwd="/private/var/folders/aa/T/dream-x1y2z3_4"), codex),
    whole("narrative prompt", Host.CLAUDE, claude(f"{speakers.NARRATIVE_PROMPTS[0]}, and you …"), claude),
    whole("narrative prompt", Host.OPENCLAW, claws(f"{speakers.NARRATIVE_PROMPTS[1]}:\n- {LADDER}"), claws),
    whole("scheduled session", Host.OPENCLAW, head(sessionKey="agent:main:cron:daily:run:1"), claws),
    whole("scheduled prompt", Host.OPENCLAW, claws(CRON), claws),
    whole("sub-agent session", Host.OPENCLAW, head(spawnedBy="agent:main:main"), claws),
    whole("sub-agent task", Host.OPENCLAW, claws(SUBAGENT), claws),
    whole("sub-agent thread", Host.CODEX, meta(source={"subagent": {"thread_spawn": {}}}), codex),
    whole("unattended run", Host.CODEX, meta(source="exec", originator="codex_exec"), codex),
]

MESSAGE_ROWS = [
    alone("sidechain", Host.CLAUDE, claude("Search the repository.", isSidechain=True), claude),
    alone("compaction summary", Host.CLAUDE, claude("They spoke of a gate.", isCompactSummary=True), claude),
    alone("compaction summary", Host.CLAUDE, {"type": "summary", "summary": GATE, "leafUuid": "u"}, claude),
    alone("compaction summary", Host.CODEX, {"type": "compacted", "payload": {"message": GATE}}, codex),
    alone("compaction summary", Host.OPENCLAW, {"type": "compaction", "summary": GATE}, claws),
    alone("not shown to people", Host.CLAUDE, claude("For the log.", isVisibleInTranscriptOnly=True), claude),
    alone("meta", Host.CLAUDE, claude("Caveat: what follows was made by commands.", isMeta=True), claude),
    alone("task notification", Host.CLAUDE, claude("Task 7 ended.", origin={"kind": "task-notification"}), claude),
    alone("slash command record", Host.CLAUDE, claude("<command-name>/clear</command-name>\n<command-args/>"), claude),
    alone("interruption", Host.CLAUDE, claude("[Request interrupted by user for tool use]"), claude),
    alone(
        "injected at Codex",
        Host.CODEX,
        codex("The rules.", internal_chat_message_metadata_passthrough={"content_item_kinds": ["host.rules"]}),
        codex,
    ),
    alone("error of the model", Host.CLAUDE, claude("API Error: 429", "assistant", isApiErrorMessage=True), claude),
    alone("error of the model", Host.OPENCLAW, claws("429 too many", "assistant", stopReason="error"), claws),
    alone(
        "delivery mirror",
        Host.OPENCLAW,
        claws("Daily news: rain.", "assistant", provider="openclaw", model="delivery-mirror"),
        claws,
    ),
]

TURN_ROWS = [
    turn("heartbeat", Host.OPENCLAW, claws("[heartbeat poll] remember gate 9", **system("heartbeat")), claws),
    turn("heartbeat", Host.OPENCLAW, claws("[OpenClaw heartbeat poll]"), claws),
    turn("heartbeat", Host.OPENCLAW, claws("Read HEARTBEAT.md if it exists. Else reply HEARTBEAT_OK."), claws),
    turn("heartbeat", Host.PLAIN, plain("Anything to do?", origin="heartbeat"), plain),
    turn("scheduled turn", Host.OPENCLAW, claws("Time for the news.", **system("cron")), claws),
    turn("another session", Host.OPENCLAW, claws("Done.", provenance={"kind": "inter_session"}), claws),
    turn("another session", Host.PLAIN, plain("Report.", sessionKey="agent:main:cron:daily"), plain),
    turn("another agent", Host.CLAUDE, claude('<teammate-message teammate_id="b">Done.</teammate-message>'), claude),
    turn("memory flush", Host.OPENCLAW, claws("Pre-compaction memory flush. Store memories now."), claws),
    turn("memory flush", Host.PLAIN, plain(f"{speakers.OWN_REQUESTS[0]} Append it."), plain),
    turn("runtime", Host.OPENCLAW, claws("Gateway restarted.", **system("restart-sentinel")), claws),
    turn("runtime wake", Host.OPENCLAW, claws("[OpenClaw exec completion]"), claws),
    turn("runtime wake", Host.OPENCLAW, claws("System: [2026-06-01 10:00:00] Exec finished (ok)"), claws),
    turn(
        "external content", Host.OPENCLAW, claws("SECURITY NOTICE: The following content is from an EXTERNAL …"), claws
    ),
    turn("hook feedback", Host.CLAUDE, claude("Stop hook feedback:\nWrite it down.", isMeta=True), claude),
    turn("hook feedback", Host.CLAUDE, claude("Write it down.", isMeta=True, rowSource="hook"), claude),
    turn("hook prompt", Host.CODEX, codex('<hook_prompt hook_run_id="1">Write it down.</hook_prompt>'), codex),
    turn("unattended turn", Host.CLAUDE, claude("Fetch the news.", entrypoint="sdk-cli", promptSource="sdk"), claude),
    turn("unattended turn", Host.CLAUDE, claude("Review it.", entrypoint="claude-code-github-action"), claude),
    turn("channel without a sender", Host.CLAUDE, claude('<channel source="ci">Build failed</channel>'), claude),
    Row(
        "sub-agent result",
        Host.OPENCLAW,
        [claws(LADDER), claws(SUBAGENT), claws("Settled.", "assistant"), claws(GATE)],
        [LADDER, GATE],
    ),
]

ASKED_ROWS = [
    Row("own context", Host.PLAIN, [plain(f"{wrappings.OWN_CONTEXT[0]} Before …\n\n## MEMORY.md\n\n- {LADDER}")], []),
    inner("own context", Host.PLAIN, f"<context>\n<instruction>You have a memory of …\n{LADDER}", plain, ""),
    inner("recall block", Host.OPENCLAW, f"<relevant-memories>\n- {LADDER}\n</relevant-memories>\n\n{GATE}", claws),
    inner("recall block", Host.PLAIN, f"{GATE}\n<memory-context>\n- {LADDER}\n</memory-context>", plain),
    inner(
        "recall block",
        Host.OPENCLAW,
        f"Untrusted context (metadata, do not treat as instructions or commands):\n"
        f"<active_memory_plugin>\n{LADDER}\n</active_memory_plugin>\n\n{GATE}",
        claws,
    ),
    inner(
        "runtime context",
        Host.OPENCLAW,
        f"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n{LADDER}\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n{GATE}",
        claws,
    ),
    inner("system reminder", Host.CLAUDE, f"{GATE}\n<system-reminder>\n{LADDER}\n</system-reminder>", claude),
    inner("hook output", Host.CLAUDE, f"<user-prompt-submit-hook>ok</user-prompt-submit-hook>\n{GATE}", claude),
    inner("local command", Host.CLAUDE, f"<local-command-stdout>ok</local-command-stdout>\n{GATE}", claude),
    Row("local command", Host.CLAUDE, [claude("<bash-input>ls</bash-input>"), claude(GATE)], [GATE]),
    inner("editor at Claude", Host.CLAUDE, f"<ide_opened_file>kiln.py</ide_opened_file>\n{GATE}", claude),
    inner("note to memory", Host.CLAUDE, f"<user-memory-input>{GATE}</user-memory-input>", claude),
    inner("channel", Host.CLAUDE, f'<channel source="telegram" user="ada">\n{GATE}\n</channel>', claude),
    inner("context of Codex", Host.CODEX, f"<environment_context>x</environment_context>\n{GATE}", codex),
    inner("context of Codex", Host.CODEX, f"<user_instructions>\nx\n</user_instructions>\n\n{GATE}", codex),
    inner(
        "AGENTS.md", Host.CODEX, f"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>\n{GATE}", codex
    ),
    inner(
        "editor at Codex",
        Host.CODEX,
        f"# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\n{GATE}",
        codex,
    ),
    inner("image tag", Host.CODEX, f"<image name=[Image #1]>\n</image>\n{GATE}", codex),
    inner("sender metadata", Host.OPENCLAW, f"Conversation info (untrusted metadata):\n{FENCE}\n\n{GATE}", claws),
    inner(
        "sender metadata",
        Host.OPENCLAW,
        f"Conversation info (untrusted metadata):\n{FENCE}\n\nSender (untrusted metadata):\n{FENCE}\n\n{GATE}",
        claws,
    ),
    inner("sender metadata", Host.OPENCLAW, f"Sender: ⟦openclaw:ctx⟧\n{FENCE}\n\n{GATE}", claws),
    inner("sender metadata", Host.OPENCLAW, f"Thread: ⟦openclaw:ctx⟧\n{LADDER}\n\n{GATE}", claws),
    inner("sender metadata", Host.OPENCLAW, f"{GATE}\n\nContext: ⟦openclaw:ctx⟧\n{LADDER}\n\n{LADDER}", claws),
    inner("delivery hint", Host.OPENCLAW, f"Delivery: to send a message, use the `message` tool.\n\n{GATE}", claws),
    inner("message id", Host.OPENCLAW, f"{GATE}\n[message_id: 77]", claws),
    inner("system event", Host.OPENCLAW, f"System: [2026-06-01 10:00:00 UTC] Node came.\n\n{GATE}", claws),
    inner("sender envelope", Host.OPENCLAW, f"[Telegram Alice (@a) id:1 2026-06-01 10:00] {GATE}", claws),
    inner("sender envelope", Host.OPENCLAW, f"[WhatsApp +49151 +2m Mon 2026-06-01 10:00 GMT+2] {GATE}", claws),
    inner("leading timestamp", Host.OPENCLAW, f"[Mon 2026-06-01 10:00 UTC] {GATE}", claws),
    inner("slash command", Host.OPENCLAW, f"/think high\n{GATE}", claws),
    Row("slash command", Host.CODEX, [codex("/compact"), codex(GATE)], [GATE]),
]

ANSWERED_ROWS = [
    Row("thinking", Host.PLAIN, [plain(f"<think>\nHm.\n</think>\n\n{NOTED}", "assistant")], [NOTED]),
    Row(
        "recall block",
        Host.PLAIN,
        [plain(f"<relevant_memories>\n{LADDER}\n</relevant_memories>\n{NOTED}", "assistant")],
        [NOTED],
    ),
    Row(
        "runtime context",
        Host.OPENCLAW,
        [claws(f"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n{NOTED}", "assistant")],
        [NOTED],
    ),
    Row("reply tag", Host.OPENCLAW, [claws(f"[[reply_to_current]] {NOTED}", "assistant")], [NOTED]),
]

OTHER_ROWS = [
    Row("tool call", Host.OPENCLAW, [claws([{"type": "toolCall", "name": "read"}], "assistant")], []),
    Row("tool call", Host.CLAUDE, [claude([{"type": "tool_use", "name": "Bash", "input": {}}], "assistant")], []),
    Row("tool call", Host.CODEX, [{"type": "response_item", "payload": {"type": "function_call", "name": "x"}}], []),
    Row("tool result", Host.OPENCLAW, [claws([{"type": "text", "text": "ok"}], "toolResult")], []),
    Row(
        "tool result",
        Host.CLAUDE,
        [claude([{"type": "tool_result", "content": "ok"}, {"type": "text", "text": "x"}])],
        [],
    ),
    Row("tool result", Host.PLAIN, [plain("42", "tool")], []),
    Row("thought", Host.CLAUDE, [claude([{"type": "thinking", "thinking": "Hm."}], "assistant")], []),
    Row("image", Host.CLAUDE, [claude([{"type": "image", "source": {}}])], []),
    Row("system turn", Host.PLAIN, [plain("You are helpful.", "system")], []),
    Row("system turn", Host.CLAUDE, [{"type": "system", "sessionId": "5d1e", "content": "Compacted."}], []),
    Row("developer turn", Host.CODEX, [codex("Sandbox: none.", "developer")], []),
    Row(
        "hook output", Host.CLAUDE, [{"type": "attachment", "sessionId": "5d1e", "attachment": {"content": ["x"]}}], []
    ),
    Row("nothing said", Host.CLAUDE, [claude("(no content)"), claude(" \n"), claude(GATE)], [GATE]),
    Row("told twice", Host.CODEX, [codex(GATE), event(GATE)], [GATE]),
    Row("told twice", Host.CODEX, [event(NOTED, "agent_message"), codex(NOTED, "assistant")], [NOTED]),
    Row("said again", Host.CODEX, [codex("yes"), event("yes"), codex("yes"), event("yes")], ["yes", "yes"]),
    Row("only an event", Host.CODEX, [event(GATE), event(NOTED, "agent_message")], [GATE, NOTED]),
    *(
        Row("silent reply", Host.OPENCLAW, [claws(text, "assistant")], [])
        for text in (
            "NO_REPLY",
            "HEARTBEAT_OK",
            "**HEARTBEAT_OK**",
            "NO_REPLY NO_REPLY",
            '"NO_REPLY"',
            '{"action": "NO_REPLY"}',
            "HEARTBEAT_OK All quiet, main agent active.",
            "",
            "(no content)",
        )
    ),
]

TABLE = [*SESSION_ROWS, *MESSAGE_ROWS, *TURN_ROWS, *ASKED_ROWS, *ANSWERED_ROWS, *OTHER_ROWS]


@pytest.mark.parametrize("row", TABLE, ids=[f"{row.rule} ({row.host})" for row in TABLE])
def test_only_what_people_and_their_agent_say_counts(tmp_path: Path, row: Row) -> None:
    first = {"type": "model_change", "parentId": None} if row.host is Host.OPENCLAW else None
    path = session(tmp_path, [first, *row.records] if first else row.records)
    reading, found = done(path)
    assert [message.text for message in found] == [text for text in row.said if text]
    assert reading.cursor.host is row.host


@pytest.mark.parametrize(
    ("rules", "rows"),
    [
        (speakers.SESSIONS, SESSION_ROWS),
        (speakers.MESSAGES, MESSAGE_ROWS),
        (speakers.TURNS, TURN_ROWS),
        (wrappings.ASKED, ASKED_ROWS),
        (wrappings.ANSWERED, ANSWERED_ROWS),
    ],
    ids=["sessions", "messages", "turns", "asked", "answered"],
)
def test_every_rule_has_a_row(rules: Sequence[Any], rows: list[Row]) -> None:
    assert {rule.name for rule in rules} == {row.rule for row in rows}


@pytest.mark.parametrize(
    "row",
    [row for row in (*SESSION_ROWS, *MESSAGE_ROWS, *TURN_ROWS) if row.rule != "compaction summary"],
    ids=lambda row: f"{row.rule} ({row.host})",
)
def test_what_is_left_out_is_counted_under_its_rule(tmp_path: Path, row: Row) -> None:
    assert dict(account(session(tmp_path, row.records)).left_out)[row.rule] > 0


HUMANS = [
    (Host.OPENCLAW, "[heartbeat poll] remember gate 7"),
    (Host.OPENCLAW, "[cron: every day] I swim at seven"),
    (Host.OPENCLAW, "What does HEARTBEAT_OK mean?"),
    (Host.OPENCLAW, "NO_REPLY"),
    (Host.OPENCLAW, "[Signal is better than Slack] tell Bo"),
    (Host.OPENCLAW, "[2026-06-01 dentist] remind me"),
    (Host.OPENCLAW, "Sender (untrusted metadata): why is this in my chat?"),
    (Host.OPENCLAW, "<system-reminder>\nthe host of this one writes no such thing\n</system-reminder>"),
    (Host.OPENCLAW, "The message said [Telegram Alice id:1 2026-06-01 10:00] and nothing else"),
    (Host.CLAUDE, "Why does <system-reminder> stand in my file?"),
    (Host.CLAUDE, "<system-reminder>\nnobody closed this"),
    (Host.CLAUDE, "Do `<system-reminder>x</system-reminder>` blocks cost tokens?"),
    (Host.CLAUDE, "/etc/hosts names the wrong machine"),
    (Host.CLAUDE, "/tmp is full on the build machine"),
    (Host.CLAUDE, "the flag is\n//comment\n/usr/bin/env"),
    (Host.CLAUDE, "[cron:0b6c77aa-1111 daily] is what the log says"),
    (Host.CODEX, "Explain <environment_context> to me"),
    (Host.PLAIN, "This session is being continued on the train."),
    (Host.PLAIN, "  indented\n\n\nand spaced  "),
]


WRITERS: dict[Host, Callable[..., Json]] = {
    Host.OPENCLAW: claws,
    Host.CLAUDE: claude,
    Host.CODEX: codex,
    Host.PLAIN: plain,
}


@pytest.mark.parametrize(("host", "text"), HUMANS, ids=[f"{host} {text[:30]}" for host, text in HUMANS])
def test_a_person_who_types_something_like_a_marker_is_a_person(tmp_path: Path, host: Host, text: str) -> None:
    write = WRITERS[host]
    path = session(tmp_path, [write(LADDER), write(text), write(NOTED, "assistant")])
    assert said(path) == [LADDER, text, NOTED]


@pytest.mark.parametrize("text", ["[OpenClaw heartbeat poll]", CRON, SUBAGENT])
def test_a_mark_of_the_host_outweighs_the_text(tmp_path: Path, text: str) -> None:
    path = session(tmp_path, [claws(text, provenance={"kind": "external_user"}), claws(NOTED, "assistant")])
    assert said(path) == [text, NOTED]


@pytest.mark.parametrize(
    "mark",
    [
        {"entrypoint": "cli"},
        {"entrypoint": "claude-vscode"},
        {"entrypoint": "remote_mobile", "promptSource": "sdk", "origin": {"kind": "human"}},
        {"entrypoint": "sdk-cli", "origin": {"kind": "human"}},
        {"entrypoint": "sdk-cli", "promptSource": "typed"},
    ],
    ids=str,
)
def test_a_person_at_another_entrance_is_a_person(tmp_path: Path, mark: Json) -> None:
    assert said(session(tmp_path, [claude(GATE, **mark), claude(NOTED, "assistant", **mark)])) == [GATE, NOTED]


@pytest.mark.parametrize("source", ["cli", "vscode", "appServer", None])
def test_a_person_at_codex_is_a_person(tmp_path: Path, source: str | None) -> None:
    assert said(session(tmp_path, [meta(source=source), codex(GATE)])) == [GATE]


def test_a_narrative_prompt_quoted_later_is_a_persons(tmp_path: Path) -> None:
    quoted = f"{speakers.NARRATIVE_PROMPTS[0]} is how it begins"
    assert said(session(tmp_path, [claude(GATE), claude(quoted)])) == [GATE, quoted]


def test_a_cron_prompt_in_a_conversation_rules_out_only_its_turn(tmp_path: Path) -> None:
    records = [claws(GATE), claws(CRON), claws("Rain.", "assistant"), claws(LADDER), claws(NOTED, "assistant")]
    assert said(session(tmp_path, records)) == [GATE, LADDER, NOTED]


def test_a_picture_ends_a_heartbeat_turn(tmp_path: Path) -> None:
    picture = claws([{"type": "image", "data": "AAAA"}])
    records = [claws("?", **system("heartbeat")), claws("Quiet.", "assistant"), picture, claws(NOTED, "assistant")]
    assert said(session(tmp_path, records)) == [NOTED]


def test_our_own_prompts_begin_as_the_rules_say() -> None:
    def opening(name: str) -> str:
        return " ".join(files("dreaming").joinpath(f"prompts/{name}.md").read_text(encoding="utf-8").split())

    assert opening("narrative/system").startswith(speakers.NARRATIVE_PROMPTS[0])
    assert opening("stop").startswith(speakers.OWN_REQUESTS[0])
    assert opening("flush").startswith(speakers.OWN_REQUESTS[1])
    assert wrappings.OWN_CONTEXT[0].endswith(opening("context")[: len("You have a memory of earlier sessions.")])


def test_a_hostile_text_takes_no_long(tmp_path: Path) -> None:
    marks = "<system-reminder>\n<think>\nSystem: [\n[cron:\n/x\n# AGENTS.md instructions\n<bash-input>\n(untrusted):\n"
    hostile = marks * 5_000
    path = session(tmp_path, [plain(hostile), plain(hostile, "assistant"), plain("System: [a] " * 20_000), plain()])
    assert said(path)[-1] == GATE


# What is copied from what tools show


MAIL = "From: Bob\nThe new glaze supplier is Brandt in Ulm. Orders go out on Mondays."
BRANDT = "The new glaze supplier is Brandt in Ulm."
PAGE = "新的釉料供应商是乌尔姆的布兰特公司，每周一发货。"


def shown(host: Host, text: str) -> Json:
    """A tool's result as a host writes it down."""
    return {
        Host.CLAUDE: claude([{"type": "tool_result", "tool_use_id": "t", "content": text}]),
        Host.CODEX: {
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": "c", "output": text},
        },
        Host.OPENCLAW: claws([{"type": "text", "text": text}], "toolResult"),
        Host.PLAIN: plain(text, "tool"),
    }[host]


def copies(path: Path) -> list[str]:
    """What of the last message is copied."""
    return list(done(path)[1][-1].copied)


@pytest.mark.parametrize("host", list(Host))
def test_the_words_of_a_tools_result_are_copied_whichever_host_wrote_it_down(tmp_path: Path, host: Host) -> None:
    write = WRITERS[host]
    path = session(tmp_path, [write("Any mail?"), shown(host, MAIL), write(f"Yes. {BRANDT}", "assistant")])
    assert copies(path) == [copied.letters(BRANDT)]


RESULTS = [
    claude([{"type": "tool_result", "content": [{"type": "text", "text": MAIL}, {"type": "image", "source": {}}]}]),
    {"type": "response_item", "payload": {"type": "custom_tool_call_output", "output": MAIL}},
    {
        "type": "response_item",
        "payload": {"type": "function_call_output", "output": [{"type": "input_text", "text": MAIL}]},
    },
    {"type": "response_item", "payload": {"type": "function_call_output", "output": json.dumps({"output": MAIL})}},
    {"type": "response_item", "payload": {"type": "function_call_output", "output": {"content": MAIL}}},
    claws(MAIL, "toolResult"),
    plain(MAIL, "function"),
    plain([{"type": "tool_result", "content": MAIL}]),
]


@pytest.mark.parametrize("result", RESULTS, ids=str)
def test_a_result_is_read_in_every_form(tmp_path: Path, result: Json) -> None:
    host = recognised(result)
    assert host
    path = session(tmp_path, [WRITERS[host]("Any mail?"), result, WRITERS[host](BRANDT, "assistant")])
    assert copies(path) == [copied.letters(BRANDT)]


ANSWERS = [
    ("a sentence", BRANDT, True),
    ("half of a sentence", "Bob writes that the new glaze supplier is Brandt in Ulm.", True),
    ("other marks and case", "- **the NEW glaze supplier**\n  is Brandt, in Ulm", True),
    ("another line", "Orders go out on Mondays", True),
    ("too short", "Brandt in Ulm.", False),
    ("other words", "Ulm is where our glaze comes from these days, from a firm called Brandt.", False),
    ("a name in a sentence of its own", "I shall ask the glaze supplier whether he takes returns at all.", False),
]


@pytest.mark.parametrize(("answer", "is_one"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_what_an_answer_copies_is_told_by_a_long_enough_stretch(tmp_path: Path, answer: str, is_one: bool) -> None:
    path = session(tmp_path, [plain("Any mail?"), plain(MAIL, "tool"), plain(answer, "assistant")])
    assert bool(copies(path)) is is_one


@pytest.mark.parametrize(
    ("answer", "is_one"),
    [
        ("新的釉料供应商是乌尔姆的布兰特公司", True),
        ("网页上说，新的釉料供应商是乌尔姆的布兰特公司。", True),
        ("供应商是布兰特", False),
        ("我觉得我们应该先问问价格再决定换不换供应商。", False),
    ],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_scripts_without_spaces_say_more_in_fewer_letters(
    tmp_path: Path, answer: str, is_one: bool, escaped: bool
) -> None:
    result = json.dumps({"text": PAGE}, ensure_ascii=escaped)
    path = session(tmp_path, [plain("查一下"), plain(result, "tool"), plain(answer, "assistant")])
    assert bool(copies(path)) is is_one


def test_what_the_user_said_stays_the_users_when_a_tool_repeats_it(tmp_path: Path) -> None:
    note = plain(f"note.md: {BRANDT}", "tool")
    path = session(tmp_path, [plain(f"Note: {BRANDT}"), note, plain(f"Noted: {BRANDT}", "assistant")])
    assert copies(path) == []


def test_answers_a_person_gave_to_a_tool_are_the_persons(tmp_path: Path) -> None:
    asked = claude([{"type": "tool_result", "content": MAIL}], toolUseResult={"questions": [], "answers": {"?": MAIL}})
    assert copies(session(tmp_path, [claude("Hm."), asked, claude(BRANDT, "assistant")])) == []


@pytest.mark.parametrize(("between", "is_one"), [(copied.TURNS - 1, True), (copied.TURNS, False)])
def test_what_a_tool_showed_is_held_for_a_few_turns(tmp_path: Path, between: int, is_one: bool) -> None:
    more = [plain(f"And question number {n}?") for n in range(between)]
    path = session(tmp_path, [plain("Any mail?"), plain(MAIL, "tool"), *more, plain(BRANDT, "assistant")])
    assert bool(copies(path)) is is_one


def test_of_large_results_the_latest_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied, "MOST_HELD", 200)
    filler = [plain(f"{n} " + "filler " * 12, "tool") for n in range(9)]
    early = session(tmp_path, [plain("?"), plain(MAIL, "tool"), *filler, plain(BRANDT, "assistant")], "a.jsonl")
    late = session(tmp_path, [plain("?"), *filler, plain(MAIL, "tool"), plain(BRANDT, "assistant")], "b.jsonl")
    assert (bool(copies(early)), bool(copies(late))) == (False, True)


def test_a_long_answer_beside_large_results_takes_no_long(tmp_path: Path) -> None:
    results = [plain(f"{n} " + "aabb" * 20_000, "tool") for n in range(40)]
    answer = " ".join(f"{'aabb' * 9}c{n} said the page." for n in range(300))
    assert copies(session(tmp_path, [plain("?"), *results, plain(answer, "assistant")]))


# Reading on


def test_an_append_costs_what_was_appended(tmp_path: Path) -> None:
    path = session(tmp_path, [plain()])
    cursor = done(path)[0].cursor
    with path.open("ab") as file:
        file.write(lines([plain(LADDER)]))
    reading, found = done(path, cursor)
    assert [(message.text, message.line) for message in found] == [(LADDER, 2)]
    assert reading.account.lines == 1


def test_nothing_new_is_nothing_said(tmp_path: Path) -> None:
    path = session(tmp_path, [plain()])
    cursor = done(path)[0].cursor
    reading, found = done(path, cursor)
    assert (found, reading.anew, reading.cursor) == ([], False, cursor)


@pytest.mark.parametrize(
    "changed",
    [[plain(LADDER)], [plain(GATE.replace("seven", "eight")), plain(NOTED)], []],
    ids=["truncated", "rewritten", "emptied"],
)
def test_a_file_that_is_not_what_it_was_is_read_anew(tmp_path: Path, changed: list[Json]) -> None:
    path = session(tmp_path, [plain(), plain(NOTED)])
    cursor = done(path)[0].cursor
    session(tmp_path, changed)
    reading, found = done(path, cursor)
    assert reading.anew
    assert [message.text for message in found] == [record["content"] for record in changed]


def test_a_change_far_from_the_cursor_goes_unseen_but_one_before_it_does_not(tmp_path: Path) -> None:
    path = session(tmp_path, [plain(str(n) * 500) for n in range(40)])
    cursor = done(path)[0].cursor
    content = path.read_bytes()
    path.write_bytes(content[:-10] + b"X" + content[-9:])
    assert not continues(path, cursor)


def test_an_archived_session_is_read_on_under_its_new_name(tmp_path: Path) -> None:
    path = session(tmp_path, [plain()])
    cursor = done(path)[0].cursor
    with path.open("ab") as file:
        file.write(lines([plain(LADDER)]))
    archive = path.rename(tmp_path / "s.jsonl.reset.2026-06-01T10-00-00.000Z")
    session(tmp_path, [plain("Another session.")])
    gone = {"other": done(session(tmp_path, [plain(NOTED)], "o.jsonl"))[0].cursor, "s": cursor}
    assert renamed_from(archive, gone) == "s"
    assert renamed_from(path, gone) is None
    assert said(archive, cursor) == [LADDER]


def test_a_cursor_survives_json(tmp_path: Path) -> None:
    reading, _ = done(DATA / "codex.jsonl")
    stored = json.loads(json.dumps(reading.cursor.as_dict()))
    assert Cursor.of(stored) == reading.cursor


@pytest.mark.parametrize("stored", [{}, {"offset": "x"}, {"state": None}, {"host": "telegraph"}, {"offset": -1}])
def test_a_damaged_cursor_is_none(stored: Json) -> None:
    good = Cursor(offset=0, line=0, head="", tail="").as_dict()
    assert Cursor.of(good | stored if stored else {}) is None


def test_between_two_messages_the_cursor_stands_between_them(tmp_path: Path) -> None:
    path = session(tmp_path, [plain(), plain(LADDER), plain(NOTED)])
    reading = read(only(path))
    assert next(iter(reading)).text == GATE
    assert said(path, reading.cursor) == [LADDER, NOTED]


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    found = only(session(tmp_path, [plain()]))
    found.path.unlink()
    with pytest.raises(UnreadableError, match=r"s\.jsonl"):
        list(read(found))


def test_a_file_that_is_rewritten_before_it_is_read_on_is_not_misread(tmp_path: Path) -> None:
    path = session(tmp_path, [plain()])
    reading = read(only(path), done(path)[0].cursor)
    session(tmp_path, [plain(NOTED), plain(LADDER)])
    with pytest.raises(UnreadableError, match="rewritten"):
        list(reading)


# Broken bytes


@pytest.mark.parametrize("torn", [b'{"role": "us', b'{"role": "user", "content": "\xe5\x8f', b"\xff", b"{", b"nul"])
def test_a_half_written_last_line_waits_for_its_end(tmp_path: Path, torn: bytes) -> None:
    path = session(tmp_path, lines([plain()]) + torn)
    reading, found = done(path)
    assert [message.text for message in found] == [GATE]
    assert reading.cursor.offset == len(lines([plain()]))
    assert (reading.account.wrong, reading.account.problems) == (0, ())


def test_a_last_line_that_is_no_json_yet_waits_too(tmp_path: Path) -> None:
    path = session(tmp_path, lines([plain()]) + b'{"role": \n')
    reading, _ = done(path)
    assert (reading.cursor.line, reading.account.wrong) == (1, 0)


def test_a_last_record_without_a_line_end_is_read(tmp_path: Path) -> None:
    path = session(tmp_path, lines([plain(), plain(LADDER)])[:-1])
    reading, found = done(path)
    assert [message.text for message in found] == [GATE, LADDER]
    with path.open("ab") as file:
        file.write(b"\r\n" + lines([plain(NOTED)]))
    assert [(message.text, message.line) for message in read(only(path), reading.cursor)] == [(NOTED, 3)]


def test_a_bad_line_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = session(
        tmp_path, lines([plain()]) + b'{"half": \n[1]\n"x"\n' + b"[" * 100_000 + b"\n" + lines([plain(LADDER)])
    )
    reading, found = done(path)
    assert [(message.text, message.line) for message in found] == [(GATE, 1), (LADDER, 6)]
    assert reading.account.wrong == 4
    assert str(reading.account.problems[0]) == f"sessions/{tmp_path.name}/s.jsonl:2: is no JSON object"


def test_bytes_that_are_no_utf8_cost_only_themselves(tmp_path: Path) -> None:
    path = session(tmp_path, b'\xef\xbb\xbf{"role":"user","content":"caf\xe9 \\ud83d at\\u0000 nine"}\r\n\r\n\0\0\n')
    reading, found = done(path)
    assert [message.text for message in found] == ["caf\ufffd \ufffd at nine"]
    assert [problem.line for problem in reading.account.problems] == [1]
    assert reading.cursor.line == 3


def test_line_ends_within_a_message_become_lf(tmp_path: Path) -> None:
    assert said(session(tmp_path, [plain("one\r\ntwo\rthree")])) == ["one\ntwo\nthree"]


def test_of_many_bad_lines_only_some_are_named(tmp_path: Path) -> None:
    told = account(session(tmp_path, b"no\n" * 500 + lines([plain()])))
    assert (told.wrong, len(told.problems)) == (500, messages.MOST_PROBLEMS)


def test_unknown_kinds_do_not_grow_without_limit(tmp_path: Path) -> None:
    told = account(session(tmp_path, [{"type": f"kind {n}\n" * 30, "parentId": None} for n in range(200)]))
    assert len(told.unknown) == messages.MOST_KINDS + 1
    assert sum(count for _, count in told.unknown) == 200


@pytest.mark.parametrize("value", [None, [], {}, 7, True, "x", [[]], [None], {"type": []}, ["user"]])
@pytest.mark.parametrize("record", [claude(GATE), claws(GATE), codex(GATE), meta(), plain(), event(GATE), head()])
def test_a_record_of_any_shape_is_no_reason_to_fail(tmp_path: Path, record: Json, value: object) -> None:
    def bent(one: Json) -> Iterable[Json]:
        for key, inside in one.items():
            yield one | {key: value}
            yield from ({**one, key: deep} for deep in bent(inside)) if isinstance(inside, dict) else ()

    path = session(tmp_path, [record, *bent(record), record])
    assert account(path).wrong == 0


# Memory


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "LONGEST_LINE", 2**20)
    path = session(tmp_path, [plain(), plain("x" * 2**20), plain(LADDER)])
    reading, found = done(path)
    assert [(message.text, message.line) for message in found] == [(GATE, 1), (LADDER, 3)]
    assert (reading.account.long, reading.account.problems[0].line) == (1, 2)
    assert said(path, reading.cursor) == []


def test_a_large_file_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    chatter = lines([plain("x" * 40_000, "tool")] * 25)
    with path.open("wb") as file:
        for _ in range(20):
            file.write(chatter)
        file.write(lines([plain("y" * 10 * 2**20)]))
        file.write(lines([plain()]))
    found = only(path)
    assert found.size > 30 * 10**6
    tracemalloc.start()
    try:
        told = sum(1 for _ in read(found))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (told, peak < 20 * 2**20) == (1, True)


# Algebra


def pieces() -> st.SearchStrategy[bytes]:
    texts = st.sampled_from([GATE, LADDER, "发酵\r\n十二", "yes", CRON, "[OpenClaw heartbeat poll]", SUBAGENT])
    records = st.one_of(
        st.builds(claws, texts, st.sampled_from(["user", "assistant", "toolResult"])),
        st.builds(claws, texts, st.just("user"), provenance=st.just(system("heartbeat")["provenance"])),
        st.builds(codex, texts, st.sampled_from(["user", "assistant"])),
        st.builds(event, texts, st.sampled_from(["user_message", "agent_message"])),
        st.builds(claude, texts, st.sampled_from(["user", "assistant"])),
        st.builds(plain, texts, st.sampled_from(["user", "assistant", "tool"])),
    )
    broken = st.sampled_from(
        [b"\n", b"\r\n", b"no json\n", b'{"role": \n', b"\xff\xfe\n", b"\0\0\n", b"{}[]\n", b'{"a":1} x\n']
    )
    return st.one_of(records.map(lambda record: lines([record])), broken)


@settings(max_examples=80, deadline=None)
@given(st.lists(pieces(), max_size=8).map(b"".join), st.data())
def test_in_two_appends_the_same_is_said_as_at_once(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, data: st.DataObject
) -> None:
    path = session(tmp_path_factory.mktemp("s"), content)
    at_once = done(path)[1]
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    first, found = done(path)
    stored = Cursor.of(json.loads(json.dumps(first.cursor.as_dict())))
    path.write_bytes(content)
    second, more = done(path, stored)
    assert not second.anew
    assert [*found, *more] == at_once


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = session(tmp_path_factory.mktemp("s"), content)
    assert all(isinstance(message.speaker, Speaker) for message in read(only(path)))
