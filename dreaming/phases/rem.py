"""REM sleep: look for themes in what light staged, and for statements that may be lasting truths (SPEC 7)."""

from dataclasses import dataclass

from dreaming.narrators.themes import is_faint
from dreaming.phases.light import lively
from dreaming.phases.night import Night
from dreaming.scoring import Theme, confidence, recurring, themes
from memory.model import Candidate
from memory.similarity import groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A statement REM believes in; confidence in [0, 1]."""

    candidate: Candidate
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RemPlan:
    """What REM looked at, the strong themes that tell something, and the candidate truths, best first."""

    considered: tuple[Candidate, ...]
    distinct: tuple[Candidate, ...]
    themes: tuple[Theme, ...]
    truths: tuple[Truth, ...]


def rem(night: Night) -> RemPlan:
    """Merge near-duplicates, count tags, and judge each statement by its history."""
    config = night.config.rem
    considered = tuple(sorted((c for c in night.candidates if not c.flaws), key=lively))
    kept = groups([c.fragment.text for c in considered], config.dedupe_similarity)
    distinct = tuple(c for n, c in enumerate(considered) if kept[n] == n)
    truths = sorted((believed(c) for c in distinct), key=lambda t: (-t.confidence, t.candidate.fragment.text))
    tags = (c.fragment.tags for c in distinct)
    strong = themes(tags, min_strength=config.min_pattern_strength, limit=config.limit)
    wanted = {term.casefold() for term in night.config.concepts.glossary}
    return RemPlan(
        considered=considered,
        distinct=distinct,
        themes=tuple(theme for theme in recurring(strong) if theme.tag in wanted or not is_faint(theme.tag)),
        truths=tuple(t for t in truths if t.confidence >= config.min_confidence)[: config.max_truths],
    )


def believed(candidate: Candidate) -> Truth:
    """Return the candidate with REM's confidence in it."""
    return Truth(candidate=candidate, confidence=confidence(candidate.evidence, len(candidate.fragment.tags)))
