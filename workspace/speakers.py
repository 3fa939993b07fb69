"""Who speaks in a record of a transcript: the rules by which only what people and their agent say to each other counts.

What a runtime marks is known by its mark; a text is a sign only where no record is marked, and only when no person
would write it: whoever types something like it is still a person.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from workspace.dialects import NOTHING, Entry, Host, Record, Speaker, moment, part, word
from workspace.wrappings import ALL, ANSWERED, ASKED, CLAUDE, CODEX, EVENTS, OPENCLAW, unwrapped

REMEMBERED = 8
"""Messages among which the second telling of one is looked for; a host tells it within the same moment."""
DIGITS = 12
"""Hex digits of a digest that tells a few messages apart."""
ACKNOWLEDGED = 300
"""Characters of a reply with a heartbeat's token that still says that there is nothing to say (as at OpenClaw)."""

Sign = Callable[[Entry], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What of a session must be known to understand its next record.

    `silenced` is the rule that rules the session out, `turn` the one that rules out all replies until a person speaks
    again, `begun` whether anybody has asked anything, `told` what was said last, in which channels; `forked` is when
    the session was forked from another, as ISO text.
    """

    silenced: str | None = None
    turn: str | None = None
    begun: bool = False
    told: tuple[str, ...] = ()
    forked: str | None = None


class Heard(NamedTuple):
    """What counts of a record; without a text, `rule` is what left it out, if there was anything."""

    state: State
    text: str | None = None
    rule: str | None = None


class Rule(NamedTuple):
    """A sign by which something does not count; `opening` when only what is asked first can bear it."""

    name: str
    hosts: frozenset[Host]
    fits: Sign
    opening: bool = False


def heard(entry: Entry, state: State) -> Heard:
    """Tell what of a record somebody said to somebody, and what is to be remembered for the next one."""
    silenced = state.silenced or _fitting(SESSIONS, entry, state)
    if silenced:
        return Heard(replace(state, silenced=silenced), rule=silenced if entry.speaker else None)
    if entry.speaker is None:
        return Heard(_forked(entry, state))
    left_out = _fitting(MESSAGES, entry, state)
    if left_out:
        return Heard(state, rule=left_out)
    return _asked(entry, state) if entry.speaker is Speaker.USER else _answered(entry, state)


def origin_of(key: str, spawned_by: str = "") -> str | None:
    """Return the rule that rules a session out by its key at OpenClaw and that of its parent; None for a person's."""
    for one in (key, spawned_by):
        own = one.split(":", 2)[-1] if one.startswith("agent:") else one
        for start, name in _KEYS:
            if own.startswith(start):
                return name
    if spawned_by or ":subagent:" in key:
        return "sub-agent session"
    return "heartbeat session" if key.endswith(":heartbeat") else None


_KEYS = (
    ("dreaming-narrative-", "narrative run"),
    ("cron:", "scheduled session"),
    ("hook:", "scheduled session"),
    ("subagent:", "sub-agent session"),
)


def _forked(entry: Entry, state: State) -> State:
    """Note when Codex forked a session: it then writes the other's records again, under the time of the fork."""
    meta = part(entry.record, "payload") if entry.record.get("type") == "session_meta" else NOTHING
    at = moment(meta.get("timestamp"), entry.record.get("timestamp"))
    if state.begun or state.forked or not word(meta, "forked_from_id") or at is None:
        return state
    return replace(state, forked=at.isoformat())


def _asked(entry: Entry, state: State) -> Heard:
    turn = _fitting(TURNS, entry, state)
    if turn:
        return Heard(replace(state, turn=turn, begun=True), rule=turn)
    if not entry.blocks:  # a picture, say: somebody is there
        return Heard(replace(state, turn=None, begun=True))
    text = unwrapped(entry, ASKED)
    if not text.strip() or text.strip() == "(no content)":
        return Heard(state, rule="nothing said")
    return _once(entry, text, replace(state, turn=None, begun=True))


def _answered(entry: Entry, state: State) -> Heard:
    text = unwrapped(entry, ANSWERED)
    if not text.strip():
        return Heard(state, rule="nothing said" if entry.blocks else None)
    if state.turn:
        return Heard(state, rule=state.turn)
    return Heard(state, rule="silent reply") if _is_silent(text.strip()) else _once(entry, text, state)


def _once(entry: Entry, text: str, state: State) -> Heard:
    """Let a message pass that was not told before in another channel."""
    if not entry.channel:
        return Heard(state, text)
    mark = sha256(f"{entry.speaker}\n{text}".encode()).hexdigest()[:DIGITS]
    for at, known in enumerate(state.told):
        said, *channels = known.split(" ")
        if said == mark and entry.channel not in channels:
            told = (*state.told[:at], f"{known} {entry.channel}", *state.told[at + 1 :])
            return Heard(replace(state, told=told), rule="told twice")
    told = (*state.told, f"{mark} {entry.channel}")[-REMEMBERED:]
    return Heard(replace(state, told=told), text)


def _fitting(rules: Iterable[Rule], entry: Entry, state: State) -> str | None:
    for rule in rules:
        if entry.host in rule.hosts and not (rule.opening and state.begun) and rule.fits(entry):
            return rule.name
    return None


# Signs: what a record says of who made it


def _either(*signs: Sign) -> Sign:
    return lambda entry: any(sign(entry) for sign in signs)


def _by_user(sign: Sign) -> Sign:
    return lambda entry: entry.speaker is Speaker.USER and sign(entry)


def _unmarked(sign: Sign) -> Sign:
    """Let a text be a sign only where the host does not mark who made a message."""

    def fits(entry: Entry) -> bool:
        owned = part(entry.message, "__openclaw").get("senderIsOwner") is True
        return entry.speaker is Speaker.USER and not owned and not _source(entry) and sign(entry)

    return fits


def _provenance(entry: Entry) -> Record:
    return part(entry.message, "provenance") or part(entry.record, "provenance")


def _source(entry: Entry) -> str:
    """Return who made a message, as its record marks it; the plain form does so in one word."""
    provenance = _provenance(entry)
    kind = word(provenance, "kind")
    if kind:
        return word(provenance, "sourceTool") or kind if kind == "internal_system" else kind
    marks = ("provenance", "origin", "source") if entry.host is Host.PLAIN else ()
    return next((mark for mark in (word(entry.record, key).lower() for key in marks) if mark), "")


def _is_from(*sources: str) -> Sign:
    return _by_user(lambda entry: _source(entry) in sources)


def _has(key: str) -> Sign:
    return lambda entry: entry.record.get(key) is True or entry.message.get(key) is True


def _claude_origin(*kinds: str) -> Sign:
    def fits(entry: Entry) -> bool:
        origin = part(entry.record, "origin") or part(entry.message, "origin")
        return word(origin, "kind") in kinds

    return fits


_OWN_KEYS = ("sessionKey", "session_key", "runId")
_PARENTS = ("spawnedBy", "parentSessionKey")


def _has_key(name: str) -> Sign:
    """Return the sign that a record names a session key, or a run, of some origin."""

    def fits(entry: Entry) -> bool:
        if entry.host is Host.PLAIN and entry.speaker:
            return False  # one file of many sessions: its records speak for themselves
        return name in _origins(entry.record) | _origins(part(entry.record, "data"))

    return fits


def _origins(place: Record) -> set[str | None]:
    own = {origin_of(word(place, key)) for key in _OWN_KEYS if key in place}
    return own | {origin_of("", word(place, key)) for key in _PARENTS if key in place}


def _key_is_no_persons(entry: Entry) -> bool:
    key = word(entry.record, "sessionKey") or word(entry.record, "session_key")
    return bool(origin_of(key, word(entry.record, "spawnedBy")))


def _is_codex_subagent(entry: Entry) -> bool:
    meta = part(entry.record, "payload") if entry.record.get("type") == "session_meta" else NOTHING
    return bool(part(meta, "source").get("subagent")) or word(meta, "thread_source") == "subagent"


def _is_codex_exec(entry: Entry) -> bool:
    """Tell what `codex exec` ran: its prompt is an argument, from a script as a rule."""
    return entry.record.get("type") == "session_meta" and word(part(entry.record, "payload"), "source") == "exec"


_UNATTENDED = ("sdk-cli", "claude-code-github-action")
"""How Claude Code says that it was started as `claude -p`, by a script or by an action of GitHub."""


def _is_of_a_script(entry: Entry) -> bool:
    """Tell a prompt of `claude -p`; a person who steers such a run from elsewhere is marked as one."""
    human = word(part(entry.record, "origin"), "kind") == "human" or word(entry.record, "promptSource") == "typed"
    return word(entry.record, "entrypoint") in _UNATTENDED and not human


_NARRATING = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders/\S+)/dream-[a-z0-9_]{8}/?")


def _runs_in_a_narrators_folder(entry: Entry) -> bool:
    folder = word(entry.record, "cwd") or word(part(entry.record, "payload"), "cwd")
    return bool(_NARRATING.fullmatch(folder))


def _is_of_a_hook(entry: Entry) -> bool:
    marked = entry.record.get("rowSource") == "hook" or entry.record.get("hookText") is True
    return marked or (entry.record.get("isMeta") is True and entry.text.startswith("Stop hook feedback:"))


def _is_meta(entry: Entry) -> bool:
    return _has("isMeta")(entry) and not _is_of_a_hook(entry)


def _is_injected_at_codex(entry: Entry) -> bool:
    kinds = part(entry.message, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    if not isinstance(kinds, list) or not kinds or entry.text.startswith(_HOOK_PROMPT):
        return False
    return not any(kind == "unknown" or (isinstance(kind, str) and kind.startswith("user.")) for kind in kinds)


def _is_an_error(entry: Entry) -> bool:
    failed = entry.message.get("stopReason") == "error" or entry.record.get("isApiErrorMessage") is True
    return entry.speaker is Speaker.ASSISTANT and (failed or entry.message.get("model") == "<synthetic>")


def _is_a_mirror(entry: Entry) -> bool:
    mirrors = ("delivery-mirror", "gateway-injected")
    return entry.message.get("provider") == "openclaw" and entry.message.get("model") in mirrors


# Signs: what a text says that only a runtime writes

NARRATIVE_PROMPTS = (
    "You keep a private diary. It is night, the work of the day is done",
    "Write a dream diary entry from these memory fragments",
)
"""How the prompt of this program's narrators begins, and that of OpenClaw's."""
OWN_REQUESTS = (
    "Before you finish: does this session hold something a later one will need?",
    "This conversation may soon be shortened or end. Save now what a later session would miss",
)
"""How this program asks an agent to write its diary."""
_CRON_PROMPT = re.compile(r"\[cron:[0-9A-Fa-f-]{8,}[ \]]")
_HEARTBEAT_PROMPTS = ("Read HEARTBEAT.md if it exists", "Follow the heartbeat monitor scratch context when provided.")
_HEARTBEAT_TOKENS = ("HEARTBEAT_OK", "NO_REPLY")
_WAKES = re.compile(
    r"\[(?:OpenClaw )?(?:(?P<heartbeat>heartbeat poll)|(?P<cron>cron wake)|session event|exec completion)\]"
    r"(?:\nDisable automatic completion turns[^\n]*)?"
)
_SUBAGENT = ("[Subagent Context]", "[Subagent Task]", "# Subagent Context")
_FLUSH = ("Pre-compaction memory flush", "[memory flush]")
_SUMMARY = "This session is being continued from a previous conversation that ran out of context."
_COMMAND = ("<command-name>", "<command-message>")
_AGENTS = ("<teammate-message", "<cross-session-message", "<agent-message", "[Inter-session message]")
_EXTERNAL = "SECURITY NOTICE: The following content is from an EXTERNAL"
_HOOK_PROMPT = "<hook_prompt"
_CHANNEL = re.compile(r"\s*<channel source=(?![^<>\n]* (?:user|sender|from|author)\w*=)")


def _bare(entry: Entry) -> str:
    """Return the text without the events OpenClaw puts before whatever is asked next."""
    return EVENTS.stripped(entry.text).strip()


def _opens_with(*openings: str) -> Sign:
    return _by_user(lambda entry: entry.text.lstrip().startswith(openings))


def _is_heartbeat_prompt(entry: Entry) -> bool:
    text = _bare(entry)
    wake = _WAKES.fullmatch(text)
    asks = text.startswith(_HEARTBEAT_PROMPTS) and any(token in text for token in _HEARTBEAT_TOKENS)
    return asks or bool(wake and wake["heartbeat"])


def _is_cron_prompt(entry: Entry) -> bool:
    text = _bare(entry)
    wake = _WAKES.fullmatch(text)
    return bool(_CRON_PROMPT.match(text) or (wake and wake["cron"]))


def _is_wake(entry: Entry) -> bool:
    return bool(_WAKES.fullmatch(entry.text.strip())) or (bool(entry.text.strip()) and not _bare(entry))


_SILENT = re.compile(r"(?:[\W_]*(?:action\W{1,5})?(?:NO_REPLY|HEARTBEAT_OK)\b)+[\W_]*")


def _is_silent(text: str) -> bool:
    if text == "(no content)":
        return True
    acknowledges = text.startswith("HEARTBEAT_OK") or text.endswith("HEARTBEAT_OK")
    return len(text) <= ACKNOWLEDGED and (acknowledges or bool(_SILENT.fullmatch(text)))


# The table

SESSIONS = (
    Rule("narrative run", ALL, _either(_has_key("narrative run"), _runs_in_a_narrators_folder)),
    Rule("narrative prompt", ALL, _opens_with(*NARRATIVE_PROMPTS), opening=True),
    Rule("scheduled session", OPENCLAW, _has_key("scheduled session")),
    Rule("scheduled prompt", OPENCLAW, _unmarked(_is_cron_prompt), opening=True),
    Rule("sub-agent session", OPENCLAW, _has_key("sub-agent session")),
    Rule("sub-agent task", OPENCLAW, _unmarked(_opens_with(*_SUBAGENT)), opening=True),
    Rule("sub-agent thread", frozenset({Host.CODEX}), _is_codex_subagent),
    Rule("unattended run", frozenset({Host.CODEX}), _is_codex_exec),
)
"""What rules out a whole session, from the record on that shows it."""

MESSAGES = (
    Rule("sidechain", CLAUDE, _has("isSidechain")),
    Rule("compaction summary", CLAUDE, _either(_has("isCompactSummary"), _opens_with(_SUMMARY))),
    Rule("not shown to people", CLAUDE, _either(_has("isVisibleInTranscriptOnly"), _has("isVirtual"))),
    Rule("meta", CLAUDE, _is_meta),
    Rule("task notification", CLAUDE, _either(_claude_origin("task-notification"), _opens_with("<task-notification>"))),
    Rule("slash command record", CLAUDE, _opens_with(*_COMMAND)),
    Rule("interruption", CLAUDE, _opens_with("[Request interrupted by user")),
    Rule("injected at Codex", frozenset({Host.CODEX}), _by_user(_is_injected_at_codex)),
    Rule("error of the model", ALL, _is_an_error),
    Rule("delivery mirror", OPENCLAW, _is_a_mirror),
)
"""What rules out one message."""

TURNS = (
    Rule("heartbeat", OPENCLAW, _either(_is_from("heartbeat"), _unmarked(_is_heartbeat_prompt))),
    Rule("scheduled turn", OPENCLAW, _either(_is_from("cron", "hook"), _unmarked(_is_cron_prompt))),
    Rule("another session", OPENCLAW, _either(_is_from("inter_session", "subagent"), _key_is_no_persons)),
    Rule("another agent", ALL, _either(_claude_origin("peer", "coordinator"), _opens_with(*_AGENTS))),
    Rule("sub-agent result", OPENCLAW, _unmarked(_opens_with(*_SUBAGENT))),
    Rule("memory flush", ALL, _unmarked(_opens_with(*_FLUSH, *OWN_REQUESTS))),
    Rule("runtime", OPENCLAW, lambda entry: word(_provenance(entry), "kind") == "internal_system"),
    Rule("runtime wake", OPENCLAW, _unmarked(_is_wake)),
    Rule("external content", OPENCLAW, _opens_with(_EXTERNAL)),
    Rule("unattended turn", CLAUDE, _is_of_a_script),
    Rule("hook feedback", CLAUDE, _is_of_a_hook),
    Rule("hook prompt", CODEX, _opens_with(_HOOK_PROMPT)),
    Rule("channel without a sender", CLAUDE, lambda entry: bool(_CHANNEL.match(entry.text))),
)
"""What rules out a message of the user and all replies to it."""
