"""What an assistant says in the words of a page, a mail or a file that a tool has just shown it.

| The assistant says                                             | Then it is                          |
|----------------------------------------------------------------|-------------------------------------|
| a sentence that a tool's result holds, of `WHOLE` or more      | copied                              |
| a sentence of which half, and a run of `RUN`, is in a result   | copied                              |
| the same with other marks, breaks or case, or escaped in JSON  | copied                              |
| fewer letters than that, or a sentence put in other words      | its own                             |
| what the user said in the same turns, even if a tool repeats it| the user's                          |
| what a tool showed more than `TURNS` turns before, or before   | its own: it cannot be told any more |
| more than `MOST_HELD` that it showed since                     |                                     |

Lengths are in letters and digits; those of Chinese, Japanese and Korean count twice, because they say more.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import normalize

WHOLE = 16
"""Three or four words; of fewer, any long page holds them by chance."""
RUN = 24
TURNS = 3
"""Turns, the present one among them, whose results are held: who asks what a page said does so soon after."""
MOST_HELD = 2**20
"""Letters of results that are held at once, some hundred long pages; the oldest results give way."""
PLACES = 8
"""Places of a piece at which its surroundings are compared."""

_NO_LETTER = re.compile(r"[\W_]+")
_NO_ASCII_LETTER = bytes(code for code in range(128) if not chr(code).isalnum())
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrt]")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；…])|\n+")


def letters(text: str) -> str:
    """Return the letters and digits of a text in lower case: what is left when it is set or escaped otherwise."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)
    if text.isascii():
        return text.lower().encode("ascii").translate(None, _NO_ASCII_LETTER).decode("ascii")
    return _NO_LETTER.sub("", normalize("NFKC", text).casefold())


def sentences(text: str) -> Iterator[str]:
    """Yield the letters of each sentence or line that is long enough to be told."""
    return (said for said in map(letters, _SENTENCE_END.split(text)) if _weight(said) >= WHOLE)


def is_copied(sentence: str, sources: Sequence[str]) -> bool:
    """Tell whether a sentence stands in one of some texts, or most of it at a stretch; all are `letters`."""
    weight = _weight(sentence)
    if weight < WHOLE:
        return False
    least = max(-(-RUN * len(sentence) // weight), (len(sentence) + 1) // 2)
    if least >= len(sentence):
        return any(sentence in source for source in sources)
    return any(_shares(sentence, source, least) for source in sources)


def _shares(sentence: str, source: str, least: int) -> bool:
    """Tell whether a stretch of so many letters stands in both.

    It would hold one of the pieces of half its length into which the sentence can be cut.
    """
    size = (least + 1) // 2
    for start in range(0, len(sentence) - size + 1, size):
        piece = sentence[start : start + size]
        at = source.find(piece)
        for _ in range(PLACES):
            if at < 0:
                break
            if _stretch(sentence, start, source, at, size) >= least:
                return True
            at = source.find(piece, at + 1)
    return False


def _stretch(sentence: str, start: int, source: str, at: int, size: int) -> int:
    """Return how many letters around a common piece are the same."""
    before = 0
    while before < min(start, at) and sentence[start - before - 1] == source[at - before - 1]:
        before += 1
    end, to = start + size, at + size
    after = 0
    while end + after < len(sentence) and to + after < len(source) and sentence[end + after] == source[to + after]:
        after += 1
    return before + size + after


def _weight(said: str) -> int:
    return len(said) if said.isascii() else len(said) + len(_WIDE.findall(said))


class Shown:
    """What tools showed and the user said in the latest turns of a session, and where in the file these began."""

    def __init__(self, turns: Sequence[int] = ()) -> None:
        self._starts = deque(turns, maxlen=TURNS)
        self._results: deque[tuple[int, str]] = deque()
        self._asked: deque[tuple[int, str]] = deque()
        self._held = 0

    @property
    def turns(self) -> tuple[int, ...]:
        """Offsets of the records with which the latest turns began."""
        return tuple(self._starts)

    @property
    def since(self) -> int:
        """Offset from which on all that is held was read."""
        return self._starts[0] if len(self._starts) == TURNS else 0

    def ask(self, text: str, offset: int) -> None:
        """Begin a turn with what a person says."""
        if offset not in self._starts:
            self._starts.append(offset)
        self._asked.append((offset, letters(text)))
        self._forget()

    def show(self, results: Iterable[str], offset: int) -> None:
        """Hold what tools returned."""
        for said in map(letters, results):
            if len(said) >= WHOLE // 2:
                self._results.append((offset, said[:MOST_HELD]))
                self._held += len(self._results[-1][1])
        self._forget()

    def copied(self, answer: str) -> tuple[str, ...]:
        """Return the letters of the sentences of an answer that are copied."""
        if not self._results:
            return ()
        results, asked = ([text for _, text in held] for held in (self._results, self._asked))
        found = (said for said in sentences(answer) if is_copied(said, results) and not is_copied(said, asked))
        return tuple(dict.fromkeys(found))

    def _forget(self) -> None:
        while self._asked and self._asked[0][0] < self.since:
            self._asked.popleft()
        while self._results and (self._results[0][0] < self.since or self._held > MOST_HELD):
            self._held -= len(self._results.popleft()[1])
