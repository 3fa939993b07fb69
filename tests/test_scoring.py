"""The formulas agree with the recorded numbers and keep their algebra."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming import scoring
from memory.model import Evidence, PhaseHistory

NOW = datetime(2026, 6, 18, 3, tzinfo=UTC)


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def evidence_of(row: dict[str, Any]) -> Evidence:
    days = row["days"]
    count = range(days) if isinstance(days, int) else ()
    return Evidence(
        recalls=row["recall_count"],
        sightings=row["sighting_count"],
        grounded=row["grounded_count"],
        total_score=row["total_score"],
        unique_queries=row.get("unique_queries", 0),
        days=tuple(date(2026, 1, 1 + i) for i in count) or tuple(map(date.fromisoformat, days or ())),
        last_at=moment(row.get("last_at")),
    )


def test_golden_scores_agree(golden: Callable[[str], Any]) -> None:
    for case in golden("scoring")["cases"]:
        phase, expected = case["phase"], case["expected"]
        weights = {name: getattr(scoring.WEIGHTS, name) for name in scoring.Components.__slots__}
        weights |= case["weights"] or {}
        got = scoring.score(
            evidence_of(case["evidence"]),
            case["evidence"]["tag_count"],
            PhaseHistory(
                light_hits=phase["light_hits"],
                last_light_at=moment(phase["last_light_at"]),
                rem_hits=phase["rem_hits"],
                last_rem_at=moment(phase["last_rem_at"]),
            ),
            now=datetime.fromtimestamp(case["now_ms"] / 1000, UTC),
            weights=scoring.Components(**weights),
            half_life_days=case["half_life_days"],
        )
        for name in scoring.Components.__slots__:
            assert getattr(got.components, name) == pytest.approx(expected[name], abs=1e-9), (case["id"], name)
        assert got.boost == pytest.approx(expected["boost"], abs=1e-9), case["id"]
        assert got.total == pytest.approx(expected["score"], abs=1e-9), case["id"]


def test_golden_confidences_agree(golden: Callable[[str], Any]) -> None:
    for case in golden("rem")["cases"]["confidence"]:
        got = scoring.confidence(evidence_of(case["evidence"]), case["evidence"]["tag_count"])
        assert got == pytest.approx(case["confidence"], abs=1e-9), case["id"]


def test_golden_themes_agree(golden: Callable[[str], Any]) -> None:
    """The recording breaks ties by a locale's collation, ours by code point: equal ranks may swap, nothing else."""
    for case in golden("rem")["cases"]["themes"]:
        got = scoring.themes(case["tags_of_entries"], min_strength=case["min_strength"], limit=case["limit"])
        every = scoring.themes(case["tags_of_entries"], min_strength=case["min_strength"], limit=10_000)
        ours = {theme.tag: (theme.count, theme.strength) for theme in every}
        assert len(got) == len(case["themes"]), case["id"]
        for mine, theirs in zip(got, case["themes"], strict=True):
            assert mine.count == theirs["count"], case["id"]
            assert mine.strength == pytest.approx(theirs["strength"], abs=1e-9), case["id"]
            assert ours[theirs["tag"]] == (mine.count, mine.strength), case["id"]


def test_themes_of_equal_rank_are_in_code_point_order() -> None:
    got = scoring.themes([["b", "a", "é", "z"]], min_strength=0.75, limit=3)
    assert [theme.tag for theme in got] == ["a", "b", "z"]


evidences = st.builds(
    Evidence,
    recalls=st.integers(0, 500),
    sightings=st.integers(0, 500),
    grounded=st.integers(0, 50),
    total_score=st.floats(0, 2000),
    unique_queries=st.integers(0, 500),
    days=st.lists(st.dates(date(2020, 1, 1), date(2030, 1, 1)), unique=True, max_size=20).map(
        lambda d: tuple(sorted(d))
    ),
    last_at=st.none() | st.integers(0, 3650).map(lambda d: NOW - timedelta(days=d)),
)
histories = st.builds(
    PhaseHistory,
    light_hits=st.integers(0, 9999),
    last_light_at=st.none() | st.just(NOW - timedelta(days=3)),
    rem_hits=st.integers(0, 9999),
    last_rem_at=st.none() | st.just(NOW + timedelta(days=3)),
)


@given(evidences, st.integers(0, 8), histories)
def test_every_number_lies_between_0_and_1(evidence: Evidence, tag_count: int, history: PhaseHistory) -> None:
    got = scoring.score(evidence, tag_count, history, now=NOW)
    numbers = [*(getattr(got.components, name) for name in scoring.Components.__slots__), got.boost, got.total]
    assert all(0 <= number <= 1 for number in [*numbers, scoring.confidence(evidence, tag_count)])


@given(evidences, st.integers(0, 8))
def test_a_later_night_never_scores_the_same_evidence_higher(evidence: Evidence, tag_count: int) -> None:
    today = scoring.score(evidence, tag_count, PhaseHistory(), now=NOW).total
    assert scoring.score(evidence, tag_count, PhaseHistory(), now=NOW + timedelta(days=1)).total <= today


def test_the_boost_needs_both_hits_and_freshness() -> None:
    assert scoring.boost(PhaseHistory(light_hits=5, rem_hits=5), now=NOW) == 0
    both = PhaseHistory(light_hits=6, last_light_at=NOW, rem_hits=6, last_rem_at=NOW)
    assert scoring.boost(both, now=NOW) == pytest.approx(0.15)


def test_what_only_one_memory_says_is_no_recurring_theme() -> None:
    found = scoring.themes([["router", "fan"], ["router"]], min_strength=0.75, limit=10)
    assert [theme.tag for theme in found] == ["router", "fan"]
    assert [theme.tag for theme in scoring.recurring(found)] == ["router"]


def test_role_words_are_no_themes() -> None:
    assert scoring.themes([["assistant", "the", "router"]], min_strength=0.75, limit=10)[0].tag == "router"
