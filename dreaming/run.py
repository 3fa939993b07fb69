"""One run of a night, phase by phase: read what the phase needs, let it decide, record what it decided."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from hashlib import sha256

from dreaming import pages
from dreaming.home import Home
from dreaming.phases.deep import Examined, promoted_on
from dreaming.phases.light import LightPlan, light, lively
from dreaming.phases.night import Night
from dreaming.phases.rem import RemPlan, Truth, believed, rem
from dreaming.promotion import ledger, promote
from dreaming.promotion.known import known
from dreaming.promotion.newer import decided
from dreaming.tell import Story
from memory.journal import PhaseSignal, Refusal
from memory.model import Candidate, FragmentId, Mark, Phase
from memory.promotions import Promotion, State
from memory.similarity import groups
from workspace.errors import WorkspaceError

ENTRIES_REMEMBERED = 4
"""What the last four entries of the diary told goes behind what they did not (SPEC 6)."""


@dataclass(slots=True, kw_only=True)
class Run:
    """A run while it goes on; `began` is when the night first did, the clock that all its runs decide by.

    Each run may stage and believe as much as its limits say; a whole night promotes no more than one limit.
    """

    home: Home
    night: date
    now: datetime
    began: datetime
    counts: dict[Phase, Mapping[str, int]] = field(default_factory=dict)
    sections: dict[Phase, str] = field(default_factory=dict)
    stories: list[Story] = field(default_factory=list)
    seconds: dict[Phase, float] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    dropped_dates: tuple[date, ...] = ()
    material: str = ""
    problems: list[str] = field(default_factory=list)
    failed: bool = False


def run_light(run: Run) -> None:
    """Stage what is alive now."""
    home, journal = run.home, run.home.journal
    plan = light(_night(run, _active(run, days=home.config.light.lookback_days)))
    with home.store.writing():
        journal.mark(run.night, _signals(plan.staged, Mark.STAGED), at=run.now)
    staged = _staged(run, plan)
    run.sections[Phase.LIGHT] = pages.light_section(staged, show=home.config.light.show)
    run.stories.append(Story(phase=Phase.LIGHT, candidates=plan.fresh, themes=_tags(plan.fresh)))
    run.counts[Phase.LIGHT] = {
        "examined": plan.examined,
        "merged": plan.merged,
        "staged": len(staged),
        "fresh": len(plan.fresh),
    }


def _staged(run: Run, plan: LightPlan) -> tuple[Candidate, ...]:
    """Return what all runs of the night staged and still stands, what this one did first, and nothing twice."""
    known = {candidate.id for candidate in plan.staged}
    rest = [one for one in run.home.journal.marked(run.night, Mark.STAGED) if one not in known]
    both = (*plan.staged, *sorted((c for c in _candidates(run, rest) if c.sightings), key=lively))
    kept = groups([c.fragment.text for c in both], run.home.config.light.dedupe_similarity)
    return tuple(candidate for n, candidate in enumerate(both) if kept[n] == n)


def run_rem(run: Run) -> None:
    """Look for what keeps coming back in what light staged, or in the last week when nothing was."""
    home, journal = run.home, run.home.journal
    staged = tuple(
        c for c in _candidates(run, journal.unconsidered(run.night)) if c.sightings and promoted_on(c) is None
    )
    plan = rem(_night(run, staged or _active(run, days=home.config.rem.lookback_days)))
    with home.store.writing():
        journal.mark(run.night, _signals(plan.considered, Mark.CONSIDERED), at=run.now)
        journal.mark(run.night, _signals([t.candidate for t in plan.truths], Mark.CHOSEN), at=run.now)
    truths = _truths(run, plan)
    run.sections[Phase.REM] = pages.rem_section(plan.themes, truths)
    news = _news(run, plan)
    run.stories.append(Story(phase=Phase.REM, candidates=news, themes=tuple(theme.tag for theme in plan.themes)))
    run.counts[Phase.REM] = {
        "considered": len(journal.marked(run.night, Mark.CONSIDERED)),
        "themes": len(plan.themes),
        "truths": len(truths),
    }


def _news(run: Run, plan: RemPlan) -> tuple[Candidate, ...]:
    """Return the truths, else what was looked at, without what has not changed since REM last looked at it."""
    known = run.home.journal.considered_before(run.night)
    believed_in = tuple(truth.candidate for truth in plan.truths) or plan.distinct
    return tuple(c for c in believed_in if known.get(c.id) != c.evidence.signal_count)


def _truths(run: Run, plan: RemPlan) -> tuple[Truth, ...]:
    known = {truth.candidate.id for truth in plan.truths}
    rest = [one for one in run.home.journal.marked(run.night, Mark.CHOSEN) if one not in known]
    both = (*plan.truths, *(believed(candidate) for candidate in _candidates(run, rest) if candidate.sightings))
    ordered = sorted(both, key=lambda truth: (-truth.confidence, truth.candidate.fragment.text))
    return tuple(ordered[: run.home.config.rem.max_truths])


def run_deep(run: Run) -> None:
    """Promote what passes every gate; what an earlier run of the night promoted keeps its place."""
    home = run.home
    recalled = (c for c in _candidates(run, home.store.recalled(tonight=run.night)) if promoted_on(c) is None)
    plan = decided(home, _with_memory(run, _night(run, tuple(recalled))), tonight=run.night)
    outcome = _promoted(run, plan.eligible)
    tonight = {promotion.fragment for promotion in ledger.made(home, run.night)}
    refused = tuple(one for one in plan.examined if one.failed and one.candidate.id not in tonight)
    with home.store.writing():
        home.journal.refuse(run.night, (*promote.refusals_of(refused), *outcome.refused))
    run.dropped_dates += outcome.dropped_dates
    _report_deep(run, plan.examined, refused, outcome)


def _report_deep(run: Run, ranked: Sequence[Examined], refused: Sequence[Examined], outcome: promote.Outcome) -> None:
    late = outcome.refused
    made = ledger.made(run.home, run.night)
    promoted = [one for one in made if one.state is not State.PROPOSED]
    waiting = _waiting(ranked, refused, late)
    run.sections[Phase.DEEP] = pages.deep_section(len(ranked), made, waiting, replaced=ledger.replaced(run.home, made))
    if not outcome.failed:  # the next run tells how it ended
        run.stories.append(_deep_story(run, ranked, promoted, waiting))
    first = [one.failed[0].name for one in refused] + [one.gate for one in late]
    silent = {"recalled": run.home.store.silent_count()}
    run.refused = {gate: count for gate, count in (Counter(first) + Counter(silent)).items() if count}
    run.counts[Phase.DEEP] = {
        "ranked": len(ranked),
        "promoted": len(promoted),
        "refused": len(refused) + len(late),
        "proposed": len(made) - len(promoted),
    }


def _promoted(run: Run, eligible: Sequence[Examined]) -> promote.Outcome:
    """Write what may be written; a `MEMORY.md` that cannot be written costs the promotions, not the night."""
    try:
        return promote.promote(run.home, eligible, night=run.night, now=run.now)
    except WorkspaceError as error:
        run.failed = True
        run.problems.append(str(error))
        with suppress(WorkspaceError):
            ledger.recover(run.home, now=run.now)
        return promote.Outcome(refused=promote.unwritten(eligible), failed=True)


def _lines(run: Run) -> list[str]:
    try:
        return ledger.known_before(run.home, run.night)
    except WorkspaceError:
        return []  # said once, when the promotions are written


def _waiting(
    ranked: Sequence[Examined], refused: Sequence[Examined], late: Sequence[Refusal]
) -> tuple[pages.Waiting, ...]:
    reasons: dict[FragmentId, list[str]] = {}
    for refusal in (*promote.refusals_of(refused), *late):
        reasons.setdefault(refusal.fragment, []).append(refusal.reason)
    return tuple(
        pages.Waiting(fragment=one.candidate.id, text=_shown(one), reasons=tuple(reasons[one.candidate.id]))
        for one in ranked
        if one.candidate.id in reasons
    )


def _shown(one: Examined) -> str:
    """Return the text of a candidate, but of one that is unfit to be remembered only where it stands."""
    if not one.candidate.flaws:
        return one.exam.draft.text
    place = one.candidate.place
    return "a text that is gone" if place is None else f"what stands at {place.place}"


def _deep_story(
    run: Run, ranked: Sequence[Examined], promoted: Sequence[Promotion], waiting: Sequence[pages.Waiting]
) -> Story:
    """Return what deep has to tell; the same candidates waiting for the same reasons are no news."""
    fit = [one.candidate for one in ranked if not one.candidate.flaws]
    told = {candidate.id for candidate in fit}
    material = sorted(f"{candidate.id} {candidate.evidence.signal_count}" for candidate in fit)
    run.material = sha256("\n".join(material).encode()).hexdigest()
    news = promoted or run.material != run.home.journal.material_before(run.night)
    return Story(
        phase=Phase.DEEP,
        candidates=tuple(fit) if news else (),
        themes=_tags(fit),
        promoted=tuple(promoted),
        waiting=tuple(one.text for one in waiting if one.fragment in told),
    )


def _night(run: Run, candidates: Sequence[Candidate]) -> Night:
    journal = run.home.journal
    entries = run.home.narratives.told(before=run.night, limit=ENTRIES_REMEMBERED)
    told = {one for entry in entries for one in entry.fragments}
    return Night(
        date=run.night,
        now=run.began,
        config=run.home.config,
        candidates=tuple(candidates),
        told=frozenset(told),
        staged_before=journal.staged_before(run.night),
        lexicon=run.home.lexicon,
    )


def _with_memory(run: Run, night: Night) -> Night:
    """Return the night with what `MEMORY.md` says and said, which deep alone asks for."""
    return replace(
        night,
        known=known(_lines(run)),
        kept=ledger.kept(run.home, now=run.began, tonight=run.night),
        taken_back=ledger.taken_back(run.home, now=run.began, tonight=run.night),
    )


def _active(run: Run, *, days: int) -> tuple[Candidate, ...]:
    since, until = run.home.window(run.began, days=days)
    return _candidates(run, run.home.store.active(since=since, until=until, tonight=run.night))


def _candidates(run: Run, ids: Sequence[FragmentId]) -> tuple[Candidate, ...]:
    return run.home.store.candidates(ids, until=run.night, tonight=run.night)


def _signals(candidates: Iterable[Candidate], mark: Mark) -> tuple[PhaseSignal, ...]:
    return tuple(PhaseSignal(fragment=c.id, mark=mark, signals=c.evidence.signal_count) for c in candidates)


def _tags(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    """Return the tags most of the candidates share, most shared first."""
    counts = Counter(tag for candidate in candidates for tag in candidate.fragment.tags)
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))[:6])


RUNS: Mapping[Phase, Callable[[Run], None]] = {
    Phase.LIGHT: run_light,
    Phase.REM: run_rem,
    Phase.DEEP: run_deep,
}
