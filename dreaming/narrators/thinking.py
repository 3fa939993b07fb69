"""Taking a model's reasoning out of what it says, while it is still speaking."""

import re

MOST_CHARACTERS = 20_000
"""What is kept of an answer; an entry is shorter by far, and what is longer has no end."""
LONGEST_TAG = 200
"""Characters within which a tag ends; what goes on longer is prose with a `<` in it."""
HELD = 4 * LONGEST_TAG
"""Characters that are held back before they are looked through, since models speak in pieces of a few letters."""

_WORDS = "thinking|think|thoughts|thought|reasoning|reflection|scratchpad"
_NAME = rf"(?:\w{{1,12}}:)?(?:{_WORDS})"
_CHANNELS = "channel"
_WORD = re.compile(f"{_WORDS}|{_CHANNELS}", re.IGNORECASE)
_CHANNEL = r"(?:<\|start\|>\w{0,20}\s?)?<\|channel\|>\s?"
_MESSAGE = r"[^<]{0,60}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>"
_TAG = re.compile(
    rf"""
      (?P<final>    {_CHANNEL}final{_MESSAGE} | assistantfinal )  # without marks where a server has taken them out
    | (?P<end>      <\|(?:end|return|call)\|> )
    | (?P<header>   <\|start\|>\w{{0,20}}\s?<\|message\|> )
    | (?P<opening>  {_CHANNEL}\w{{1,20}}{_MESSAGE} | <\|channel>(?:\w{{1,20}}\n)?
                  | <{_NAME}(?:\s[^<>]{{0,120}})?> | <\|begin_of_thought\|> | \[think\] | ◁think▷ )
    | (?P<closing>  </{_NAME}\s{{0,9}}> | <\|end_of_thought\|> | <channel\|> | \[/think\] | ◁/think▷ )
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Unthinking:
    """What a model said so far without its reasoning, piece by piece, wherever the pieces are cut.

    Reasoning stands between tags. It may be nested, it may never end, and the opening tag may be missing because a
    template swallowed it: then all that came before the closing tag was reasoning. So nothing is certain to belong to
    the answer before it ends.
    """

    def __init__(self) -> None:
        self._said = ""
        self._held = ""
        self._open: list[str] = []

    @property
    def characters(self) -> int:
        """How much was said so far, as far as it is kept; without what is still held back."""
        return len(self._said)

    def feed(self, chunk: str) -> None:
        """Hear the next piece; of reasoning, only what may still become a tag is held back."""
        self._held += chunk
        if len(self._held) > HELD:
            self._take(len(self._held) - LONGEST_TAG)

    def close(self) -> str:
        """Return what was said, when nothing more comes."""
        self._take(len(self._held))
        return self._said

    def _take(self, until: int) -> None:
        """Take what begins before an offset: a tag that begins behind it may not have been heard to its end."""
        start = 0
        while (tag := _TAG.search(self._held, start)) and tag.start() < until:
            self._say(self._held[start : tag.start()])
            self._turn(tag)
            start = tag.end()
        rest = max(start, until)
        self._say(self._held[start:rest])
        self._held = self._held[rest:]

    def _say(self, text: str) -> None:
        if not self._open:
            self._said += text[: MOST_CHARACTERS - len(self._said)]

    def _turn(self, tag: re.Match[str]) -> None:
        word = "".join(_WORD.findall(tag[0])[:1]).lower()
        if tag.lastgroup == "final":
            self._open.clear()
            self._said = ""
        elif tag.lastgroup == "opening":
            self._open.append(word)
        elif tag.lastgroup == "closing":
            self._shut(word)
        elif tag.lastgroup == "end" and _CHANNELS in self._open:
            self._shut(_CHANNELS)

    def _shut(self, word: str) -> None:
        """End the innermost reasoning of that name with all in it, else the innermost, else all said so far."""
        if word in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(word) :]
        elif self._open:
            self._open.pop()
        else:
            self._said = ""


def spoken(text: str) -> str:
    """Return a whole answer without its reasoning."""
    said = Unthinking()
    said.feed(text)
    return said.close()
