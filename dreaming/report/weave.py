"""Which stretches of an entry repeat which of its sources: first what is quoted, then what shares its words."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dreaming.report.facts import Piece
from memory.sentences import sentence_ends
from memory.similarity import tokens

_QUOTED = re.compile(r"“[^“”]+”|「[^「」]+」|『[^『』]+』|„[^„“]+“|«[^«»]+»|‹[^‹›]+›|\"[^\"\n]+\"")
_EDGES = "“”„「」『』«»‹›\"' .,;:!?…。，；：！？"
SHORTEST_QUOTE = 4
"""Characters; a shorter quotation may stand anywhere."""
SHARED = 0.5
"""From this share of its words on, a sentence without a quotation is about the source."""
FEWEST_SHARED = 4
"""Tokens; fewer are shared by chance."""


def woven(prose: str, sources: Sequence[str]) -> tuple[tuple[Piece, ...], ...]:
    """Return the paragraphs of an entry in pieces, each with the number of its source, from 1."""
    plain = [_plain(source) for source in sources]
    held = [tokens(source) for source in sources]
    paragraphs = (part for part in re.split(r"\n\s*\n", prose) if part.strip())
    return tuple(
        tuple(piece for sentence in _sentences(part) for piece in _pieces(sentence, plain, held)) for part in paragraphs
    )


def _sentences(paragraph: str) -> Iterator[str]:
    ends = [0, *sentence_ends(paragraph), len(paragraph)]
    yield from (paragraph[start:end] for start, end in pairwise(ends) if end > start)


def _pieces(sentence: str, plain: Sequence[str], held: Sequence[frozenset[str]]) -> Iterator[Piece]:
    found = [(quote, _quoting(quote[0], plain)) for quote in _QUOTED.finditer(sentence)]
    found = [(quote, source) for quote, source in found if source is not None]
    if not found:
        bare = sentence.lstrip()
        if len(bare) < len(sentence):
            yield Piece(text=sentence[: -len(bare)] if bare else sentence)
        if bare:
            yield Piece(text=bare, source=_sharing(bare, held))
        return
    done = 0
    for quote, source in found:
        if quote.start() > done:
            yield Piece(text=sentence[done : quote.start()])
        yield Piece(text=quote[0], source=source)
        done = quote.end()
    if done < len(sentence):
        yield Piece(text=sentence[done:])


def _quoting(quote: str, plain: Sequence[str]) -> int | None:
    """Return the first source that has a quotation in it, or all pieces of a shortened one."""
    parts = [part for part in map(_plain, re.split("…|\\.\\.\\.", quote)) if part]
    if sum(map(len, parts)) < SHORTEST_QUOTE:
        return None
    return next((n for n, source in enumerate(plain, 1) if all(part in source for part in parts)), None)


def _sharing(sentence: str, held: Sequence[frozenset[str]]) -> int | None:
    own = tokens(sentence)
    shared = [len(own & theirs) for theirs in held]
    best = max(range(len(held)), key=shared.__getitem__, default=None)
    if best is None or shared[best] < max(FEWEST_SHARED, SHARED * len(own)):
        return None
    return best + 1


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_EDGES)
