"""What one record of a transcript says, in the form of each host that writes transcripts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

Record = Mapping[str, Any]
"""A JSON object as it was read; nothing in it can be relied on."""

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
"""No conversation with an agent lies outside; a time that does is a broken clock or another unit."""
MILLISECONDS_FROM = 1e11
"""As a number of seconds it would be the year 5138."""

NOTHING: Record = MappingProxyType({})


class Host(StrEnum):
    """Who writes transcripts in a form of its own."""

    CLAUDE = "claude"
    CODEX = "codex"
    OPENCLAW = "openclaw"
    PLAIN = "plain"


class Speaker(StrEnum):
    """Whose words count."""

    USER = "user"
    ASSISTANT = "assistant"


ID_KEYS = MappingProxyType({Host.CLAUDE: "uuid", Host.OPENCLAW: "id"})
"""Where a host writes the name of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record: who speaks in it, if anybody, in which text blocks, and when; `message` is the part that says so.

    `unknown` names a kind of record this program has never heard of. A host that writes a message down twice does so
    in two channels. `results` are what tools returned: nobody speaks in them.
    """

    host: Host
    record: Record
    message: Record = field(default_factory=lambda: NOTHING)
    speaker: Speaker | None = None
    blocks: tuple[str, ...] = ()
    at: datetime | None = None
    channel: str = ""
    unknown: str | None = None
    results: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The name the host gave the record, which a copy of it keeps; empty when it has none."""
        return word(self.record, ID_KEYS.get(self.host, ""))

    @property
    def text(self) -> str:
        """All blocks, as a person would see them."""
        return "\n".join(self.blocks)


def recognised(record: Record) -> Host | None:
    """Return the host whose form a record has; None for one that could be anybody's."""
    return next((host for host, (knows, _) in DIALECTS.items() if knows(record)), None)


def entry(host: Host, record: Record) -> Entry:
    """Return what a record says in the form of a host."""
    return DIALECTS[host][1](record)


def moment(*candidates: object) -> datetime | None:
    """Return the first of some timestamps that is one: ISO text (UTC when naive), or seconds or milliseconds."""
    found = (_moment(candidate) for candidate in candidates)
    return next((at for at in found if at is not None and EARLIEST <= at < LATEST), None)


def _moment(value: object) -> datetime | None:
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value >= MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def part(record: Record, key: str) -> Record:
    """Return an object inside a record; empty when there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else NOTHING


def word(record: Record, key: str) -> str:
    """Return a text of a record; empty when there is none."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _objects(content: object) -> Iterable[Record]:
    return (block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()


_TEXT = frozenset({"text", "input_text", "output_text", "Text"})


def texts(content: object) -> tuple[str, ...]:
    """Return the text blocks of a message; calls, results, thoughts and images are none."""
    if isinstance(content, str):
        return (content,)
    said = (word(block, "text") for block in _objects(content) if word(block, "type") in _TEXT)
    return tuple(text for text in said if text)


def _returned(content: object) -> tuple[str, ...]:
    """Return the texts of what a tool returned, also where results stand among other blocks."""
    inside = (text for block in _objects(content) if _is_result(block) for text in texts(block.get("content")))
    return (*texts(content), *inside)


def _is_result(block: Record) -> bool:
    return block.get("type") == "tool_result"


def _speaker(role: object) -> Speaker | None:
    return Speaker(role) if role in ("user", "assistant") else None


def _silent(host: Host, record: Record, kind: str, known: frozenset[str], results: tuple[str, ...] = ()) -> Entry:
    return Entry(host=host, record=record, unknown=None if kind in known else kind or "(no type)", results=results)


# Claude Code: ~/.claude/projects/<folder>/<session>.jsonl

_CLAUDE_SILENT = _kinds(
    """
    agent-color agent-name agent-setting ai-title api-request api-request-blob api-request-shape assistant
    atis-latch attachment attribution-snapshot bridge-session content-replacement cost-state custom-title
    file-history-snapshot last-prompt mode permission-mode pr-link progress queue-operation summary system tag
    task-summary tools-used user worktree-state
    """
)


def _knows_claude(record: Record) -> bool:
    kind = word(record, "type")
    if not kind or kind in ("session", "message") or "payload" in record:
        return False
    return bool({"sessionId", "parentUuid", "leafUuid"} & record.keys()) or kind == "file-history-snapshot"


def _claude(record: Record) -> Entry:
    kind = word(record, "type")
    at = moment(record.get("timestamp"))
    queued = part(record, "attachment")
    if queued.get("type") == "queued_command" and queued.get("commandMode") in (None, "prompt"):
        blocks = texts(queued.get("prompt"))
        return Entry(host=Host.CLAUDE, record=record, message=queued, speaker=Speaker.USER, blocks=blocks, at=at)
    message = part(record, "message")
    speaker = _speaker(kind)
    found = [block for block in _objects(message.get("content")) if _is_result(block)]
    if speaker is None or found:
        answers = "answers" in part(record, "toolUseResult")  # a person was asked, and these are their words
        return _silent(Host.CLAUDE, record, kind, _CLAUDE_SILENT, () if answers else _returned(found))
    blocks = texts(message.get("content"))
    return Entry(host=Host.CLAUDE, record=record, message=message, speaker=speaker, blocks=blocks, at=at)


# Codex CLI: ~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl

_CODEX_RECORDS = _kinds(
    """
    compacted event_msg response_item session_meta token_usage_record turn_context world_state
    """
)
_CODEX_SILENT = _kinds(
    """
    additional_tools agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break background_event
    compacted compaction context_compacted custom_tool_call custom_tool_call_output entered_review_mode error
    exec_command_begin exec_command_end exited_review_mode function_call function_call_output ghost_snapshot
    image_generation_call item_completed item_started local_shell_call mcp_tool_call_begin mcp_tool_call_end
    message patch_apply_begin patch_apply_end plan_update reasoning session_meta stream_error task_complete
    task_started thread_name_updated thread_rolled_back thread_settings_applied token_count token_usage_record
    tool_search_call tool_search_output turn_aborted turn_context turn_diff view_image_tool_call warning
    web_search_begin web_search_call web_search_end world_state
    """
)
_CODEX_RESULTS = _kinds("custom_tool_call_output function_call_output")
_CODEX_EVENTS = {"user_message": Speaker.USER, "agent_message": Speaker.ASSISTANT}
_CODEX_ITEMS = {"UserMessage": Speaker.USER, "AgentMessage": Speaker.ASSISTANT}


def _knows_codex(record: Record) -> bool:
    if word(record, "type") in _CODEX_RECORDS:
        return isinstance(record.get("payload"), dict)
    kinds = {word(block, "type") for block in _objects(record.get("content"))}
    return record.get("type") == "message" and not kinds.isdisjoint({"input_text", "output_text"})


def _codex(record: Record) -> Entry:
    payload = part(record, "payload") or record
    record_kind, kind = word(record, "type"), word(payload, "type")
    item = part(payload, "item")
    if record_kind == "event_msg" and kind in _CODEX_EVENTS:
        return _codex_said(record, payload, _CODEX_EVENTS[kind], texts(payload.get("message")), kind)
    if record_kind == "event_msg" and word(item, "type") in _CODEX_ITEMS:
        return _codex_said(record, item, _CODEX_ITEMS[word(item, "type")], texts(item.get("content")), "item")
    speaker = _speaker(payload.get("role"))
    if speaker is None or kind != "message":
        results = _codex_returned(payload.get("output")) if kind in _CODEX_RESULTS else ()
        return _silent(Host.CODEX, record, kind or record_kind, _CODEX_SILENT, results)
    return _codex_said(record, payload, speaker, texts(payload.get("content")), "response")


def _codex_returned(output: object) -> tuple[str, ...]:
    return _returned(output.get("content") if isinstance(output, dict) else output)


def _codex_said(record: Record, message: Record, speaker: Speaker, blocks: tuple[str, ...], channel: str) -> Entry:
    at = moment(record.get("timestamp"))
    return Entry(
        host=Host.CODEX, record=record, message=message, speaker=speaker, blocks=blocks, at=at, channel=channel
    )


# OpenClaw: ~/.openclaw/agents/<agent>/sessions/<session>.jsonl

_OPENCLAW_SILENT = _kinds(
    """
    branch_summary compaction custom custom_message label leaf message model_change reset session session_info
    thinking_level_change
    """
)


def _knows_openclaw(record: Record) -> bool:
    kind = word(record, "type")
    if kind == "message":
        return bool(word(part(record, "message"), "role"))
    return (kind == "session" and "id" in record) or (kind in _OPENCLAW_SILENT and "parentId" in record)


def _openclaw(record: Record) -> Entry:
    kind = word(record, "type")
    message = part(record, "message")
    speaker = _speaker(message.get("role"))
    if kind != "message" or speaker is None:
        results = _returned(message.get("content")) if message.get("role") == "toolResult" else ()
        return _silent(Host.OPENCLAW, record, kind, _OPENCLAW_SILENT, results)
    at = moment(message.get("timestamp"), record.get("timestamp"))
    blocks = texts(message.get("content"))
    return Entry(host=Host.OPENCLAW, record=record, message=message, speaker=speaker, blocks=blocks, at=at)


# The plain form: {"role": …, "content": …, "timestamp": …}

_PLAIN_SILENT = _kinds("developer function system tool")


def _knows_plain(record: Record) -> bool:
    return bool(word(record, "role")) and "content" in record


def _plain(record: Record) -> Entry:
    speaker = _speaker(record.get("role"))
    content = record.get("content")
    if speaker is None:
        results = _returned(content) if record.get("role") in ("tool", "function") else ()
        return _silent(Host.PLAIN, record, word(record, "role"), _PLAIN_SILENT, results)
    at = moment(*(record.get(key) for key in ("timestamp", "created_at", "at", "time", "ts", "date")))
    results = _returned([block for block in _objects(content) if _is_result(block)])
    return Entry(
        host=Host.PLAIN, record=record, message=record, speaker=speaker, blocks=texts(content), at=at, results=results
    )


DIALECTS: Mapping[Host, tuple[Callable[[Record], bool], Callable[[Record], Entry]]] = {
    Host.CLAUDE: (_knows_claude, _claude),
    Host.CODEX: (_knows_codex, _codex),
    Host.OPENCLAW: (_knows_openclaw, _openclaw),
    Host.PLAIN: (_knows_plain, _plain),
}
