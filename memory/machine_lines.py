"""Recognise lines that a machine wrote, or that are meant for one: tables, traces, logs, paths, commands."""

import re
from functools import cache

from memory.language import LATIN
from memory.words import SHARED, entries, vocabulary

MAIL_HEADER_CHARACTERS = 200
COMMAND_WORDS = 4
"""A command without option or path is taken for one below this length; a longer one may be a sentence."""

_TABLE = re.compile(r"\|.*\||[\s|:+=-]*(?:--|-\||\|-)[\s|:+=-]*")
_TRACE = re.compile(
    r"Traceback \(most recent|(?:File )[\"'].+[\"'], line \d+|at (?:async )?[\w.$<>\[\] ]+ ?\([^)]*[:.]\w+[^)]*\)"
    r"|Caused by: |Exception in thread|goroutine \d+ \[|panic: |thread '.*' panicked at"
    r"|(?:Uncaught |Unhandled )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception)(?:: |$)|npm ERR!|\.\.\. \d+ more$"
)
_LOG = re.compile(
    r"\[?(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[./-]\d\d[./-]\d{4})[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s"
    r"|\[?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\s|\[(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]"
    r"|(?:level|lvl)=\w+\s|(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)[: ]\s*\[?\d{2,4}[-:]"
)
_PATH = re.compile(
    r"(?:[a-zA-Z][\w+.-]*://|www\.)\S+|[A-Za-z]:\\\S.*|(?:~|\.{1,2})?/\S+|[\w.@-]+(?:[/\\][\w.@-]+)+\.\w{1,5}"
    r"|[a-zA-Z0-9_.@-]+(?:[/\\][a-zA-Z0-9_.@-]+)+[/\\]?"
    r"|[\w-]+\.(?:md|py|js|ts|tsx|json|toml|yaml|yml|txt|pdf|sh|html|css|csv|png|jpg|log|sql|rs|go)(?::\d+)*"
)
_MAIL_HEADER = re.compile(
    r"""
    (?:[^:：]{1,40}[:：]\s+)?  # the heading it stands under
    (?:
        (?:subject|betreff|asunto|objet|assunto|reply-to|b?cc|message-id|主题|主題|件名|发件人|收件人|抄送|差出人|宛先)\s?[:：]
      | (?:from|to|sent|date|von|an|gesendet|datum|de|para|enviado|fecha)\s?:\s
        (?:.*@.*|(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mié|jue|vie|sáb|dom)\w*,?\s.*\d{1,2}:\d{2}.*)
    )
    .*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PROMPT = re.compile(r"[$%>] \S")
_OPTION = re.compile(
    r"(?:^|\s)(?:--?[a-zA-Z][\w-]*|[&|]{1,2}|\d?>{1,2})(?=[\s=]|$)|[\w~.]/[\w.]|\.\w{2,4}(?=\s|$)|\w@\w"
)
_CHAINED = re.compile(r" (?:&&|\|\|?) ")
_QUOTATION = re.compile(r"\"[^\"]*\"|'[^']*'")
_ARGUMENT = re.compile(r"[a-z0-9@.:/_=~^+-]+")
_IN_COMMANDS_TOO = frozenset(
    {"up", "down", "all", "in", "on", "off", "do", "no", "me", "go", "last", "back", "out", "as"}
)
"""Words of the stop lists that stand in commands too."""


def is_table_line(text: str) -> bool:
    """Whether it is a row or a rule of a table in Markdown."""
    return _TABLE.fullmatch(text) is not None


def is_trace(text: str) -> bool:
    """Whether it begins like a line of a stack trace or a bare exception."""
    return _TRACE.match(text) is not None


def is_log(text: str) -> bool:
    """Whether it begins like a line of a log: a time to the second, or a level in brackets."""
    return _LOG.match(text) is not None


def is_path(text: str) -> bool:
    """Whether it is a path or an address and nothing else."""
    return " " not in text and _PATH.fullmatch(text.strip("`<>")) is not None


def is_command(text: str) -> bool:
    """Whether it is a command line: a program with options, paths or its usual words, and no words of a sentence."""
    text = text.strip("`")
    if _PROMPT.match(text):
        return True
    name, _, rest = text.partition(" ")
    usual = _commands().get(name)
    if usual is None or not rest:
        return False
    arguments = _QUOTATION.sub("", rest)
    if _is_prose(arguments):
        return False
    if _CHAINED.search(arguments) or (arguments.isascii() and _OPTION.search(arguments)):
        return True
    words = arguments.split()
    return 0 < len(words) < COMMAND_WORDS and words[0] in usual and all(map(_ARGUMENT.fullmatch, words))


def _is_prose(arguments: str) -> bool:
    return not _prose().isdisjoint(arguments.lower().replace(",", " ").split())


@cache
def _commands() -> dict[str, frozenset[str]]:
    lines = (entry.partition(":") for entry in entries("commands", SHARED))
    return {name: frozenset(words.split()) for name, _, words in lines}


@cache
def _prose() -> frozenset[str]:
    """Return function words of the Latin languages: a command line has none."""
    words = (word for code in LATIN for word in vocabulary("stop", code) if len(word) > 1 and word.isalpha())
    return frozenset(words) - _IN_COMMANDS_TOO


def is_mail_header(text: str) -> bool:
    """Tell a line of the head of a mail: who wrote it to whom, about what, when."""
    return len(text) <= MAIL_HEADER_CHARACTERS and _MAIL_HEADER.fullmatch(text) is not None
