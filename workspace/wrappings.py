"""What hosts wrap around the words of a message: recalled memories, envelopes, reminders, output of commands.

A wrapping counts only in the hosts whose runtime writes it, at the place where it does, and whole: one that nobody
closed hides nothing, because a person may have typed it.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from workspace.dialects import Entry, Host
from workspace.lines import printable

ALL = frozenset(Host)
CLAUDE = frozenset({Host.CLAUDE, Host.PLAIN})
CODEX = frozenset({Host.CODEX, Host.PLAIN})
OPENCLAW = frozenset({Host.OPENCLAW, Host.PLAIN})
"""Plain transcripts are mostly exports of the others, so that what those write stands in them too."""


class Strip(NamedTuple):
    """Something that is taken out of a message, in the hosts that put it there."""

    name: str
    hosts: frozenset[Host]
    stripped: Callable[[str], str]


def unwrapped(entry: Entry, strips: Iterable[Strip]) -> str:
    """Return what of a message is somebody's words; line ends become LF, NUL goes, no block leaves a blank line."""
    own = [strip for strip in strips if entry.host in strip.hosts]
    return "\n".join(text for text in (_unwrapped(block, own) for block in entry.blocks) if text.strip())


def _unwrapped(block: str, strips: Iterable[Strip]) -> str:
    text = before = printable(block.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))
    for strip in strips:
        text = strip.stripped(text)
    return text if text == before else text.strip("\n")


def _without(opening: str, closing: Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    """Return what takes blocks out that an opening begins and a closing ends, in one pass over the text."""
    compiled = re.compile(opening, re.MULTILINE)

    def stripped(text: str) -> str:
        kept: list[str] = []
        at = 0
        endless: set[str] = set()
        for found in compiled.finditer(text):
            close = closing(found)
            if found.start() < at or close in endless:
                continue
            end = text.find(close, found.end())
            if end < 0:
                endless.add(close)
                continue
            kept.append(text[at : found.start()])
            at = end + len(close)
        return "".join([*kept, text[at:]])

    return stripped


def _without_tags(*tags: str, before: str = "") -> Callable[[str], str]:
    opening = rf"^[ \t]*{before}<(?P<tag>{'|'.join(tags)})(?:[ \t][^<>\n]*)?>"
    return _without(opening, lambda found: f"</{found['tag']}>")


def _without_match(pattern: str) -> Callable[[str], str]:
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda text: compiled.sub("", text)


_METADATA = re.compile(
    r"^(?:(?P<rest>Untrusted context \(metadata, do not treat as instructions or commands\):|Context: ⟦openclaw:ctx⟧)"
    r"|[A-Z][\w ]{0,60} \(untrusted[^)\n]{0,80}\):|(?P<marked>[^\n]{1,80} ⟦openclaw:ctx⟧))[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_FENCE_END = re.compile(r"^```[ \t]*(?:\n|\Z)", re.MULTILINE)


def _without_metadata(text: str) -> str:
    """Take out what OpenClaw says about a message: a header with a fence of JSON, a paragraph, or all that follows."""
    kept: list[str] = []
    at = 0
    while found := _METADATA.search(text, at):
        end = _metadata_end(text, found)
        kept.append(text[at : found.end() if end is None else found.start()])
        at = found.end() if end is None else end
    return "".join([*kept, text[at:]])


def _metadata_end(text: str, header: re.Match[str]) -> int | None:
    """Return where what a header says ends; None when it is no header."""
    if header["rest"]:
        return len(text)
    if text.startswith("```json\n", header.end()):
        fence = _FENCE_END.search(text, header.end() + len("```json\n"))
        return fence.end() if fence else None
    blank = text.find("\n\n", header.end())
    return (len(text) if blank < 0 else blank) if header["marked"] else None


STAMP = (
    r"(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?"
    r"(?: ?(?:[A-Z]{2,5}(?:[+-]\d{1,2}(?::?\d\d)?)?|[+-]\d{1,2}(?::?\d\d)?|[A-Z][A-Za-z_]+/[A-Za-z_/]+))?"
)
_CHANNELS = (
    "BlueBubbles|Discord|Email|Feishu|Google Chat|IRC|LINE|Matrix|Mattermost|MS Teams|Nextcloud Talk|Nostr|QQ|Signal|"
    "Slack|Teams|Telegram|Tlon|Twitch|WebChat|WeChat|WhatsApp|Zalo Personal|Zalo|iMessage"
)
_ENVELOPE = rf"\A\s*\[(?:{_CHANNELS}) [^\]\n]{{0,300}}?(?:{STAMP}|\bid:[^\]\s]+)\][ \t]*"
_HINTS = (
    r"^Delivery: (?:to send a message, use the `message` tool|Final assistant text is not|No visible reply)[^\n]*\n?"
)
_AGENTS_MD = r"\A\s*# AGENTS\.md instructions[^\n]*\n\s*<INSTRUCTIONS>[\s\S]*?</INSTRUCTIONS>"
_IDE_CONTEXT = r"\A\s*# Context from my IDE setup:[\s\S]*?^## My request for Codex:[ \t]*\n?"
_RECALLED = ("relevant[-_]memories", "memory[-_]context", "active_memory_plugin", "supermemory-context", "hook_context")
_LOCAL = ("bash-input", "bash-stdout", "bash-stderr", "bash-exit-code", "local-command-[a-z]+", "command-[a-z]+")
_AT_CODEX = (
    "environment_context",
    "user_instructions",
    "user_action",
    "user_shell_command",
    "turn_aborted",
    "skill",
    "subagent_notification",
)
_ROOTS = "bin|boot|data|dev|etc|home|lib|media|mnt|opt|proc|root|run|srv|sys|tmp|usr|var"
"""Folders a person speaks of at the start of a line; no command is named like one."""

_runtime_context = _without(
    r"^[ \t]*<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", lambda _: "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
)
_recall_block = _without_tags(*_RECALLED, before=r"(?:(?:Untrusted context[^\n]{0,80}|Context):[ \t]*\n)?")

OWN_CONTEXT = ("# Memory\n\nYou have a memory of earlier sessions.", "<context>\n<instruction>You have a memory of")
"""How a block begins that this program told a session; the rest of it is the user's `MEMORY.md`."""


def _unless_own(text: str) -> str:
    return "" if text.lstrip().startswith(OWN_CONTEXT) else text


EVENTS = Strip("system event", OPENCLAW, _without_match(r"^System(?: \(untrusted\))?: \[[^\]\n]+\][^\n]*\n?"))

ASKED = (
    Strip("own context", ALL, _unless_own),
    Strip("recall block", ALL, _recall_block),
    Strip("runtime context", OPENCLAW, _runtime_context),
    Strip("system reminder", CLAUDE, _without_tags("system-reminder")),
    Strip("hook output", CLAUDE, _without_tags("user-prompt-submit-hook", "session-start-hook")),
    Strip("local command", CLAUDE, _without_tags(*_LOCAL)),
    Strip("editor at Claude", CLAUDE, _without_tags("ide_opened_file", "ide_selection", "ide_diagnostics")),
    Strip("note to memory", CLAUDE, _without_match(r"</?user-memory-input>")),
    Strip("channel", CLAUDE, _without_match(r"\A\s*<channel source=[^<>\n]*>\n?|\n?</channel>\s*\Z")),
    Strip("context of Codex", CODEX, _without_tags(*_AT_CODEX)),
    Strip("AGENTS.md", CODEX, _without_match(_AGENTS_MD)),
    Strip("editor at Codex", CODEX, _without_match(_IDE_CONTEXT)),
    Strip("image tag", frozenset({Host.CODEX}), _without_match(r"^</?image(?: [^<>\n]*)?>")),
    Strip("sender metadata", OPENCLAW, _without_metadata),
    Strip("delivery hint", OPENCLAW, _without_match(_HINTS)),
    Strip("message id", OPENCLAW, _without_match(r"^[ \t]*\[message_id:[^\]\n]*\][ \t]*\n?")),
    EVENTS,
    Strip("sender envelope", OPENCLAW, _without_match(_ENVELOPE)),
    Strip("leading timestamp", OPENCLAW, _without_match(rf"\A\s*\[{STAMP}\][ \t]*")),
    Strip("slash command", ALL, _without_match(rf"^/(?!(?:{_ROOTS})\b)[A-Za-z][\w:-]{{0,40}}(?![\w/.:-])[^\n]*\n?")),
)
"""What is taken out of the words of a user, in this order: what stands around a message goes before what is in it."""

ANSWERED = (
    Strip("thinking", ALL, _without_tags("think", "thinking", "thought", "antthinking")),
    Strip("recall block", ALL, _recall_block),
    Strip("runtime context", OPENCLAW, _runtime_context),
    Strip("reply tag", OPENCLAW, _without_match(r"\A\s*\[\[ ?(?:reply_to_current|reply_to: ?[^\]\n]+) ?\]\][ \t]*")),
)
"""What is taken out of the words of an assistant."""
