"""What is remembered of a chunk: its text without secrets, what it is about, and what is unfit in it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from memory.chunking import chunks, composed
from memory.concepts import Lexicon, tags
from memory.hiding import hidden, legible, placeholder
from memory.language import language
from memory.model import Chunk, Fragment, Kind, Statement, Style
from memory.redaction import Redaction
from memory.secrets import SECRET
from memory.trust import BOXED, UNSCANNED, flaws, redacted


def pieces(text: str, rules: Redaction) -> tuple[Chunk, ...]:
    """Return what a text says, in pieces as they are remembered: its chunks, lines with a secret set apart."""
    return tuple(part for chunk in chunks(legible(text, rules)) for part in _apart(chunk, rules))


def _apart(chunk: Chunk, rules: Redaction) -> Iterator[Chunk]:
    """Set apart the lines of a list or table that hold a secret: their neighbours are not to blame.

    All stays together where something else is wrong with it, since an order may run over lines, and where a secret is
    known only by several lines; sentences of a paragraph speak of each other.
    """
    lines = chunk.statements if _only_of_lines(chunk, rules) else ()
    secrets = [_is_secret(chunk.heading, one, rules) for one in lines]
    if all(secrets) or not any(secrets):
        yield chunk
        return
    for _, group in groupby(zip(secrets, lines, strict=True), key=lambda pair: pair[0]):
        together = tuple(statement for _, statement in group)
        text = _composed(chunk.heading, tuple(one.text for one in together), chunk)
        yield replace(chunk, statements=together, text=text)


def _only_of_lines(chunk: Chunk, rules: Redaction) -> bool:
    """Tell whether something is wrong with a list or table, and nothing but secrets, each of a single line."""
    if chunk.style is Style.PARAGRAPH or len(chunk.statements) < 2:
        return False
    found = flaws(chunk.text, rules)
    if not found or not all(map(_is_known_secret, found)):
        return False
    shown = tuple(hidden(chunk.heading, one.text, rules) for one in chunk.statements)
    return not any(map(_is_known_secret, flaws(_composed(chunk.heading, shown, chunk), rules)))


def _is_secret(heading: str, statement: Statement, rules: Redaction) -> bool:
    texts = (statement.text, f"{heading}: {statement.text}")
    return any(_is_known_secret(flaw) for text in texts for flaw in flaws(text, rules))


def _is_known_secret(flaw: str) -> bool:
    return flaw.startswith(f"{SECRET}:") and not flaw.endswith(UNSCANNED)


def remembered(chunk: Chunk, origin: Kind, lexicon: Lexicon, rules: Redaction) -> Fragment:
    """Return what is remembered of a chunk: its text without secrets, its tags, language and flaws."""
    heading, statements, text, secrets = _without_secrets(chunk, rules)
    return Fragment(
        heading=heading,
        text=text,
        statements=statements,
        style=chunk.style,
        origin=origin,
        language=language(text),
        tags=tags(text, lexicon),
        flaws=tuple(sorted({*flaws(chunk.text, rules), *(f"secret:{kind}" for kind in secrets), *_task(chunk)})),
    )


def _task(chunk: Chunk) -> tuple[str, ...]:
    return (BOXED,) if chunk.boxed else ()


def _without_secrets(chunk: Chunk, rules: Redaction) -> tuple[str, tuple[str, ...], str, tuple[str, ...]]:
    """Return heading, statements and text without what must be hidden, and the kinds of secrets that were there."""
    plain, secrets = redacted(chunk.text, rules)
    statements = tuple(statement.text for statement in chunk.statements)
    if plain == chunk.text:
        return chunk.heading, statements, chunk.text, ()
    heading, _ = redacted(chunk.heading, rules)
    statements = tuple(hidden(heading, statement, rules) for statement in statements)
    text = _composed(heading, statements, chunk)
    if redacted(text, rules)[0] != text:  # known only by what stands beside it, in no single statement
        statements = tuple(placeholder(secrets) for _ in statements)
        return "", statements, _composed("", statements, chunk), secrets
    return heading, statements, text, secrets


def _composed(heading: str, statements: tuple[str, ...], chunk: Chunk) -> str:
    body = composed(statements, chunk.style)
    return f"{heading}: {body}" if heading else body


def whole(found: Sequence[Chunk], rules: Redaction) -> Iterable[Chunk]:
    """Leave out the pieces of a long sentence that hide a secret between them: neither shows it by itself."""
    split: set[int] = set()
    for n, (above, below) in enumerate(pairwise(found)):
        if below.start_line <= above.end_line and _only_together(above, below, rules):
            split |= {n, n + 1}
    return (chunk for n, chunk in enumerate(found) if n not in split)


def _only_together(above: Chunk, below: Chunk, rules: Redaction) -> bool:
    pieces = (above.statements[-1].text, below.statements[0].text)
    alone = {kind for piece in pieces for kind in redacted(piece, rules)[1]}
    return not alone.issuperset(redacted(" ".join(pieces), rules)[1])
