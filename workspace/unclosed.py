"""What a Markdown text leaves open at its end, so that it would swallow whatever is added behind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from workspace.lines import BOM

_PROBE = "\n\nanything"
_YAML = re.compile(r"\s*(?:#.*\n\s*)*[\w.-]+[ \t]*:(?:\s|$)")
"""Dashes around anything else are rules."""
_TAG = re.compile(r"<\w+")
_HTML = (
    ("<!--", "an HTML comment", "-->"),
    ("<?", "an HTML block", "?>"),
    ("<![CDATA[", "an HTML block", "]]>"),
    ("<!", "an HTML block", ">"),
)
"""How HTML begins that no blank line ends, and what does; beside these, a few tags end with their like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclosed:
    """What stands open from a line on (0-based): how it begins, in lower case, and the line that would close it."""

    line: int
    what: str
    begin: str
    end: str

    @property
    def is_fence(self) -> bool:
        """Whether it is code; else it is HTML, whose text is no code to its writer."""
        return self.begin == self.end


def unclosed(text: str) -> Unclosed | None:
    """Return what would swallow a paragraph behind the text; in lists and quotations everything ends with them."""
    last = _tokens(text.removeprefix(BOM) + _PROBE)[-1]
    if last.type not in ("fence", "html_block"):
        return None
    line = last.map[0] if last.map else 0
    if last.type == "fence":
        return Unclosed(line=line, what="a code fence", begin=last.markup, end=last.markup)
    html = last.content.lstrip().lower()
    for begin, what, end in _HTML:
        if html.startswith(begin.lower()):
            return Unclosed(line=line, what=what, begin=begin.lower(), end=end)
    tag = _TAG.match(html)
    name = tag[0] if tag else "<"
    return Unclosed(line=line, what="an HTML block", begin=name, end=f"</{name[1:]}>")


def _tokens(text: str) -> Sequence[Token]:
    if text.startswith("---"):
        tokens = _WITH_FRONT_MATTER.parse(text)
        if tokens[0].type == "front_matter" and _YAML.match(tokens[0].content):
            return tokens
    return _BLOCKS.parse(text)


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


_BLOCKS = _parser()
_WITH_FRONT_MATTER = _parser().use(front_matter_plugin)
