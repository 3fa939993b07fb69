"""Switching nights on in the text of a config.toml: one line changes, every other byte stays."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

_HEADER = re.compile(r"[ \t]*\[\s*dreaming\s*\][ \t]*(?:#.*)?")
_TABLE = re.compile(r"[ \t]*\[")
_KEY = re.compile(r"(?P<before>[ \t]*enabled[ \t]*=[ \t]*)(?:true|false)\b(?P<after>.*)")


class NotSwitchedError(click.ClickException):
    """The text is written in a way that is better changed by hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} says it in a way of its own; set enabled = true under [dreaming] there by hand")


def switched_on(text: str, path: Path) -> str:
    """Return the settings with nights on; raise NotSwitchedError unless that alone is what changes."""
    end = "\r\n" if "\r\n" in text else "\n"
    changed = end.join(_switched(text.split(end)))
    try:
        before, after = tomllib.loads(text), tomllib.loads(changed)
    except tomllib.TOMLDecodeError as error:
        raise NotSwitchedError(path) from error
    if after != _with_nights(before):
        raise NotSwitchedError(path)
    return changed


def _with_nights(document: Mapping[str, Any]) -> Mapping[str, Any]:
    table = document.get("dreaming")
    return {**document, "dreaming": {**(table if isinstance(table, dict) else {}), "enabled": True}}


def _switched(lines: list[str]) -> list[str]:
    header = next((n for n, line in enumerate(lines) if _HEADER.fullmatch(line)), None)
    if header is None:
        return ["[dreaming]", "enabled = true", *(["", *lines] if any(lines) else [""])]
    end = next((n for n in range(header + 1, len(lines)) if _TABLE.match(lines[n])), len(lines))
    for n in range(header + 1, end):
        if key := _KEY.fullmatch(lines[n]):
            return [*lines[:n], f"{key['before']}true{key['after']}", *lines[n + 1 :]]
    return [*lines[: header + 1], "enabled = true", *lines[header + 1 :]]
