"""Ranking of fragments for a query: FTS5 finds, one absolute scale of relevance orders."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from typing import Any

from memory.concepts import Lexicon, informative, words
from memory.model import FragmentId
from memory.rows import is_cjk, spaced
from memory.store import Store, sql

STEEPNESS = 2.5
HALFWAY = 0.16
"""The curve of relevance over the covered share c of a query, 1 / (1 + 0.16 ((1 - c) / c) ** 2.5).

All of it is 1, two thirds 0.97, half 0.86, a third 0.53, a quarter 0.29: a question carries words of its own ("coin" of
"coin cell"), so a gap costs little, but a fragment that shares one word in four is no answer and gets no vote."""
COMMON_FROM = 4
"""A word in at most this many fragments counts fully; from there on its weight falls with the logarithm."""
COUNTED_TO = 1500
"""Beyond this many fragments a word is as common as it gets: it is not counted further, and of the fragments that
hold nothing rarer the newest are taken, not the best ranked."""
RANKED_AT_MOST = 3000
"""Fragments FTS5 ranks for a query when no fragment holds all words: the rarest words first, while they fit."""
VOTING_SHARE = 0.75
"""A statement answered when it covers at least this share of what the best statement of its fragment covers."""
POOL = 60
"""How many fragments FTS5 proposes before they are ordered by relevance."""
ENDINGS = "(?:s|es|e|ed|er|ers|d|ing|ings|ly|y|ies|ied|ion|ions|ment|ments|al|able|n|en)?"
"""What may follow the stem of an English word (and, by luck, of some German ones)."""
LONGEST_WORD = 3
"""Characters ICU took apart are one word up to this length (`路|由|器`); a longer run holds several."""
MAX_TERMS = 24
"""Words of a query that are looked for; a page pasted as a query does not become a page of SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A fragment found: relevance in [0, 1], `answered` the positions of the statements that earned it."""

    id: FragmentId
    path: str
    start_line: int
    end_line: int
    text: str
    relevance: float
    answered: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of a query: how FTS5 finds it, how it is recognised in folded text, and how telling it is."""

    match: str
    pattern: re.Pattern[str]
    count: int
    weight: float

    def stands_in(self, folded_text: str) -> bool:
        """Tell whether the word, or a form of it, stands in a text folded by `folded`."""
        return self.pattern.search(folded_text) is not None


def search(store: Store, query: str, lexicon: Lexicon, *, limit: int) -> tuple[Hit, ...]:
    """Return the fragments that answer the query best; ties go to rank, then to the newest place, then to the id."""
    terms = tuple(_term(store, word) for word in asked(query, lexicon))
    if not terms or limit < 1:
        return ()
    rows = _proposed(store, terms, limit)
    statements = _statements(store, [row[0] for row in rows])
    hits = [_hit(row, statements[row[0]], terms) for row in rows]
    ranked = sorted(enumerate(hits), key=lambda pair: (-pair[1].relevance, pair[0]))
    return tuple(hit for _, hit in ranked if hit.relevance > 0)[:limit]


def asked(query: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words to look for; characters that ICU took apart (`路|由|器`) are put together again."""
    telling = informative(query, lexicon)
    singles = frozenset(word for word in telling if len(word) == 1 and is_cjk(word))
    found = [word for word in telling if word not in singles]
    found += [piece for run in _runs(words(query), folded(query)) for piece in _pieces(run, singles)]
    return tuple(dict.fromkeys(found or telling))[:MAX_TERMS]


def _runs(segments: Sequence[str], text: str) -> list[str]:
    """Return the runs of single CJK characters that stand side by side in the query."""
    runs = [""]
    for segment in segments:
        single = len(segment) == 1 and is_cjk(segment)
        if single and runs[-1] + segment in text:
            runs[-1] += segment
        else:
            runs.append(segment if single else "")
    return runs


def _pieces(run: str, telling: frozenset[str]) -> list[str]:
    """Return what to look for of a run: all of a short one, each pair of a long one; not what only joins words."""
    places = [place for place, character in enumerate(run) if character in telling]
    kept = run[places[0] : places[-1] + 1] if places else ""
    if len(kept) <= LONGEST_WORD:
        return [kept] if len(kept) > 1 else []
    return [kept[place : place + 2] for place in range(len(kept) - 1)]


def relevance(text: str, terms: Sequence[Term]) -> float:
    """Return how much of the query a text answers, in [0, 1]: 1 when it holds every informative word."""
    share = _covered(folded(text), terms)
    return 0.0 if share <= 0 else round(1 / (1 + HALFWAY * ((1 - share) / share) ** STEEPNESS), 4)


def answered(statements: Sequence[str], terms: Sequence[Term]) -> tuple[int, ...]:
    """Return the positions of the statements that answer the query; all of them when none stands out."""
    shares = [_covered(folded(statement), terms) for statement in statements]
    best = max(shares, default=0.0)
    return tuple(position for position, share in enumerate(shares) if share >= best * VOTING_SHARE)


def _term(store: Store, word: str) -> Term:
    """Return a word with its weight: 1 for a rare one, less the more fragments hold it, however large the store."""
    count = store.db.conn.execute(sql("frequency"), {"match": matched(word), "limit": COUNTED_TO}).fetchone()[0]
    return term(word, count)


def _proposed(store: Store, terms: Sequence[Term], limit: int) -> list[Any]:
    """Return what FTS5 proposes: fragments with all words, and when those are too few, with some of them."""
    pool = max(POOL, limit)
    rows = _rows(store, terms, " AND ", pool)
    if len(rows) >= limit or len(terms) == 1:
        return rows
    known = {row[0] for row in rows}
    return rows + [row for row in _rows(store, _affordable(terms), " OR ", pool) if row[0] not in known]


def _affordable(terms: Sequence[Term]) -> Sequence[Term]:
    """Return the rarest words that together stand in few enough fragments; the rarest one always."""
    rarest = sorted(terms, key=lambda one: (one.count, one.match))
    total, kept = 0, 0
    for one in rarest:
        total += one.count if one.count < COUNTED_TO else RANKED_AT_MOST
        if kept and total > RANKED_AT_MOST:
            break
        kept += 1
    return rarest[:kept]


def folded(text: str) -> str:
    """Return the text as FTS5 compares it: NFKC, lower case, no diacritics on Latin letters."""
    lower = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(c for c in unicodedata.normalize("NFD", lower) if unicodedata.combining(c) != 230)
    return unicodedata.normalize("NFC", bare)


def matched(word: str) -> str:
    """Return the FTS5 phrase that finds a word; quoted, so nothing in it is an operator."""
    return '"' + spaced(word).replace('"', " ").strip() + '"'


def term(word: str, count: int = 0) -> Term:
    """Return how a word of a query is found, and what it counts when it stands in so many fragments."""
    return Term(
        match=matched(word),
        pattern=_pattern(word),
        count=count,
        weight=1 / (1 + log2(max(1.0, count / COMMON_FROM))),
    )


@cache
def _pattern(word: str) -> re.Pattern[str]:
    plain = folded(word)
    if not re.search(r"[a-z0-9]", plain):
        return re.compile(re.escape(plain))
    if not (plain.isascii() and plain.isalpha()):
        return re.compile(rf"(?<![a-z0-9]){re.escape(plain)}(?![a-z0-9])")
    stem = re.sub("i$", "[iy]", re.escape(_stem(plain)))
    return re.compile(rf"(?<![a-z0-9]){stem}{ENDINGS}(?![a-z0-9])")


def _stem(word: str) -> str:
    from snowballstemmer import stemmer  # here, so that only a search pays for it

    return str(stemmer("porter").stemWord(word))


def _covered(folded_text: str, terms: Sequence[Term]) -> float:
    return sum(t.weight for t in terms if t.stands_in(folded_text)) / sum(t.weight for t in terms)


def _rows(store: Store, terms: Sequence[Term], joiner: str, limit: int) -> list[Any]:
    match = joiner.join(one.match for one in terms)
    order = "newest" if min(one.count for one in terms) >= COUNTED_TO else "search"
    return store.db.conn.execute(sql(order), {"match": match, "limit": limit}).fetchall()


def _statements(store: Store, keys: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {key: [] for key in keys}
    rows = store.db.conn.execute(sql("found_statements"), {"keys": json.dumps(list(keys))})
    for key, text in rows:
        found[key].append(text)
    return found


def _hit(row: Any, statements: Sequence[str], terms: Sequence[Term]) -> Hit:
    _, fragment, text, path, start, end = row
    return Hit(
        id=FragmentId(fragment),
        path=path,
        start_line=start,
        end_line=end,
        text=text,
        relevance=relevance(text, terms),
        answered=answered(statements, terms),
    )
