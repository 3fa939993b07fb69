"""Ranking of fragments for a query: FTS5 finds, its rank and what stands around a fragment order."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory.concepts import Lexicon, is_telling
from memory.embedders import Embedder
from memory.model import FragmentId, Kind
from memory.query import UNTELLING, Term, asked, covered, matched, relevance, said, term
from memory.store import Store, sql
from memory.vectors import Near, fused, gist, nearest, relevance_by_meaning

VOTING_SHARE = 0.75
"""A statement answered when it covers at least this share of what the best statement of its fragment covers."""
POOL = 150
"""How many fragments FTS5 proposes before they are ordered."""
AROUND = 0.5
"""What the rank of the fragments right before and after adds: an answer often stands below its question."""
RELEVANCE_IN_RANKS = 4.0
"""What full relevance is worth beside FTS5's rank, which says nothing in a store of few fragments."""
COUNTED_TO = 1500
"""Beyond this many fragments a word is as common as it gets: it is not counted further, and of the fragments that
hold nothing rarer the newest are taken, not the best ranked."""
SAMPLE = 2000
"""The newest fragments, among which it is seen how common a word is: that costs the same in a store of any size."""
FEWEST = 200
"""A share is taken of no fewer: in a diary of ten lines a word that stands twice is not common yet."""
RANKED_AT_MOST = 2000
"""Fragments FTS5 ranks for a query when no fragment holds all words: the rarest words first, while they fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A fragment found: relevance in [0, 1], `answered` the positions of the statements that earned it.

    Nothing answered when only the fragment as a whole is near: that is no vote for any one of its statements.
    """

    id: FragmentId
    path: str
    start_line: int
    end_line: int
    kind: Kind
    text: str
    relevance: float
    answered: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proposal:
    """A fragment FTS5 proposes, at its newest place; `rank` grows with how well it matches."""

    key: int
    id: FragmentId
    text: str
    path: str
    start_line: int
    end_line: int
    rank: float
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to look: places of these kinds, from a day on, up to a day; None looks everywhere."""

    kinds: frozenset[Kind] | None = None
    since: date | None = None
    until: date | None = None


EVERYWHERE = Scope()


def search(
    store: Store,
    query: str,
    lexicon: Lexicon,
    *,
    limit: int,
    scope: Scope = EVERYWHERE,
    embedder: Embedder | None = None,
    terms: Sequence[Term] | None = None,
) -> tuple[Hit, ...]:
    """Return the fragments that answer the query best; ties go to the newest place, then to the id.

    Who has the query's words already (`terms_of`) gives them: counting them is a good part of a search.
    Raise EmbedderError when there is an embedder and it fails.
    """
    if terms is None:
        terms = terms_of(store, query, lexicon)
    if not terms or limit < 1:
        return ()
    words = gist(zip(asked(query, lexicon), (one.weight for one in terms), strict=True))
    near = (
        {}
        if embedder is None
        else {one.key: one for one in nearest(store, embedder, query, limit=POOL, gist=words, where=_where(scope))}
    )
    proposals = _proposed(store, terms, limit, scope)
    proposals += _proposals(store, [(key, 0.0) for key in sorted(near.keys() - {one.key for one in proposals})], scope)
    ranked = _ordered(proposals, terms, near)[:limit]
    most = 1.0 if is_telling(query, lexicon) else UNTELLING
    statements = _statements(store, [proposal.key for proposal, _ in ranked])
    return tuple(
        Hit(
            id=proposal.id,
            path=proposal.path,
            start_line=proposal.start_line,
            end_line=proposal.end_line,
            kind=proposal.kind,
            text=proposal.text,
            relevance=min(share, most),
            answered=near[proposal.key].answered
            if share > relevance(proposal.text, terms)
            else answered(statements[proposal.key], terms),
        )
        for proposal, share in ranked
    )


def answered(statements: Sequence[str], terms: Sequence[Term]) -> tuple[int, ...]:
    """Return the positions of the statements that answer the query; all of them when none stands out."""
    shares = [covered(said(statement), terms) for statement in statements]
    best = max(shares, default=0.0)
    return tuple(position for position, share in enumerate(shares) if share >= best * VOTING_SHARE)


def _ordered(
    proposals: Sequence[_Proposal], terms: Sequence[Term], near: Mapping[int, Near]
) -> list[tuple[_Proposal, float]]:
    """Return the proposals that answer anything with their relevance, best first; equal ones keep their order."""
    shares = {one.key: relevance(one.text, terms) for one in proposals}
    ranks = _with_neighbours(proposals, {one.key: one.rank for one in proposals})
    worths = {key: round(rank + RELEVANCE_IN_RANKS * shares[key], 6) for key, rank in ranks.items()}
    if near:
        around = _with_neighbours(proposals, {key: one.nearness for key, one in near.items()})
        meant = {key: value / (1 + AROUND) for key, value in around.items()}
        worths = fused(worths, meant, relevance=max(shares.values(), default=0.0))
        meant_shares = {key: relevance_by_meaning(one.nearest) for key, one in near.items()}
        shares = {key: max(share, meant_shares.get(key, 0.0)) for key, share in shares.items()}
    judged = [(one, shares[one.key]) for one in proposals if shares[one.key] > 0]
    return sorted(judged, key=lambda pair: -worths[pair[0].key])


def _with_neighbours(proposals: Sequence[_Proposal], values: Mapping[int, float]) -> dict[int, float]:
    """Return the value of each proposal with a share of those right before and after it."""
    begins = {(one.path, one.start_line): values.get(one.key, 0.0) for one in proposals}
    ends = {(one.path, one.end_line): values.get(one.key, 0.0) for one in proposals}
    return {
        one.key: values.get(one.key, 0.0)
        + AROUND * (ends.get((one.path, one.start_line - 1), 0.0) + begins.get((one.path, one.end_line + 1), 0.0))
        for one in proposals
    }


def terms_of(store: Store, query: str, lexicon: Lexicon) -> tuple[Term, ...]:
    """Return the words a query asks for, each with what it counts in this store."""
    return tuple(_term(store, word) for word in asked(query, lexicon))


def _term(store: Store, word: str) -> Term:
    """Return a word with how many fragments hold it, and its weight after its share among the newest ones."""
    wanted = {"match": matched(word), "limit": COUNTED_TO, "newest": SAMPLE}
    count, sampled, newest, shared = store.db.conn.execute(sql("frequency"), wanted).fetchone()
    return term(word, count=count, share=sampled / max(newest, FEWEST), shared=bool(shared))


def _proposed(store: Store, terms: Sequence[Term], limit: int, scope: Scope) -> list[_Proposal]:
    """Return what FTS5 proposes: fragments with all words, and when those are too few, with some of them."""
    found = _matching(store, terms, " AND ", scope)
    if len(found) >= limit or len(terms) == 1:
        return found
    known = {one.key for one in found}
    return found + [one for one in _matching(store, _affordable(terms), " OR ", scope) if one.key not in known]


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


def _matching(store: Store, terms: Sequence[Term], joiner: str, scope: Scope) -> list[_Proposal]:
    match = joiner.join(one.match for one in terms)
    order = "newest" if min(one.count for one in terms) >= COUNTED_TO else "search"
    ranked = store.db.conn.execute(sql(order), {"match": match, "limit": POOL, **_where(scope)}).fetchall()
    return _proposals(store, ranked, scope)


def _proposals(store: Store, ranked: Sequence[tuple[int, float]], scope: Scope) -> list[_Proposal]:
    """Return fragments, given with FTS5's rank, at their newest place in the scope: best first, then newest first."""
    rows = store.db.conn.execute(sql("places"), {"ranked": json.dumps(ranked), **_where(scope)})
    return [
        _Proposal(
            key=row[0],
            id=FragmentId(row[1]),
            text=row[2],
            path=row[3],
            start_line=row[4],
            end_line=row[5],
            rank=row[6],
            kind=Kind(row[7]),
        )
        for row in rows
    ]


def _where(scope: Scope) -> dict[str, str | None]:
    return {
        "kinds": None if scope.kinds is None else json.dumps(sorted(scope.kinds)),
        "since": None if scope.since is None else scope.since.isoformat(),
        "until": None if scope.until is None else scope.until.isoformat(),
    }


def _statements(store: Store, keys: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {key: [] for key in keys}
    rows = store.db.conn.execute(sql("found_statements"), {"keys": json.dumps(list(keys))})
    for key, text in rows:
        found[key].append(text)
    return found
