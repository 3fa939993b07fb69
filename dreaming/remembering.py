"""What is remembered of a chunk: its text without secrets, what it is about, and what is unfit in it."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from dreaming.draft import composed
from memory.concepts import Lexicon, tags
from memory.hiding import hidden, placeholder
from memory.language import language
from memory.model import Chunk, Fragment, Kind
from memory.redaction import Redaction
from memory.trust import BOXED, flaws, redacted


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
