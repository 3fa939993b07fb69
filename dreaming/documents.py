"""The JSON documents of the commands, which the tools of the server return too; docs/json.md is their contract."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

from dreaming.changes.timeline import difference
from dreaming.gates import in_words, verdict
from dreaming.overview import needs

if TYPE_CHECKING:
    from dreaming.changes.timeline import Event, Stood
    from dreaming.changes.undo import TakenBack
    from dreaming.explain import Decided, Difference, Life, NightExplained, Origin
    from dreaming.home import Home
    from dreaming.overview import Overview
    from dreaming.phases.deep import Examined
    from dreaming.promotion.review import Proposal
    from dreaming.reading import Found, Read
    from dreaming.tell import Answer
    from dreaming.upkeep.backup import Backup
    from dreaming.upkeep.doctor import Checkup
    from dreaming.upkeep.restore import Restored
    from dreaming.upkeep.scan import Scan
    from memory.journal import NightRecord
    from memory.model import Evidence, FragmentId
    from memory.promotions import Promotion
    from workspace.append import Appended
    from workspace.dreams import Entry

Document = dict[str, Any]


def search(found: "Found") -> Document:
    """Return what a search found."""
    results = [asdict(result) for result in found.results]
    return {"query": found.query, "results": results, "problems": list(found.problems)}


def get(read: "Read") -> Document:
    """Return lines that were read, and the fragments that stand on them."""
    return asdict(read)


def append(appended: "Appended") -> Document:
    """Return where an appended text stands."""
    return asdict(appended)


def scan(found: "Scan") -> Document:
    """Return where secrets stand."""
    return {"findings": [asdict(one) for one in found.findings], "files": found.files, "problems": list(found.problems)}


def doctor(found: "Checkup") -> Document:
    """Return what is wrong with a workspace, and what was repaired."""
    return {"findings": [asdict(one) for one in found.findings], "repaired": [asdict(one) for one in found.repaired]}


def backup(done: "Backup") -> Document:
    """Return what a backup holds."""
    return {
        "path": str(done.path),
        "at": done.manifest.at,
        "files": [{"path": one.path, "size": one.size, "sha256": one.digest} for one in done.manifest.members],
        "problems": list(done.problems),
    }


def restore(done: "Restored", *, dry_run: bool) -> Document:
    """Return what happened to each file of a backup, or would happen."""
    return {
        "dry_run": dry_run,
        "at": done.manifest.at,
        "files": [{"path": one.path, "move": one.move.value} for one in done.steps],
        "saved": None if done.saved is None else str(done.saved),
        "problems": list(done.problems),
    }


def explain(found: "Sequence[Examined]", written: "Mapping[FragmentId, Life]", problems: Sequence[str]) -> Document:
    """Return the exams of fragments, the life of each, and what could not be read for them."""
    return {
        "candidates": [
            _candidate(one, written[one.candidate.id].promotions) | _life(written[one.candidate.id]) for one in found
        ],
        "problems": list(problems),
    }


def _life(life: "Life") -> Document:
    return {
        "asked": [{"day": one.day.isoformat(), "recalls": one.recalls, "grounded": one.grounded} for one in life.asked],
        "nights": {mark.value: [night.isoformat() for night in nights] for mark, nights in life.marks.items()},
        "formulas": [asdict(part) for part in life.parts],
        "change": life.change,
    }


def explain_lines(found: "Sequence[Origin]", problems: Sequence[str]) -> Document:
    """Return where lines of `MEMORY.md` came from."""
    return {"lines": [_origin(one) for one in found], "problems": list(problems)}


def _origin(one: "Origin") -> Document:
    promotion = one.promotion
    return {
        "line": one.line,
        **_promoted(promotion),
        "boost": promotion.boost,
        "components": dict(promotion.components),
        "formulas": [asdict(part) for part in one.parts],
        "evidence": None if promotion.basis is None else _evidence(promotion.basis.evidence),
        "gates": [asdict(gate) for gate in one.gates],
        "recalls": promotion.recalls,
        "path": promotion.path,
        "start_line": promotion.start_line,
        "end_line": promotion.end_line,
        "corrected": None if one.corrected is None else _promoted(one.corrected),
        "changes": [
            {
                "id": event.change.id,
                "at": event.change.at.isoformat(),
                "kind": event.change.kind,
                "file": event.change.file,
                "reason": event.change.reason,
                "state": next(state for known, state in event.promotions if known.id == promotion.id),
            }
            for event in one.changes
        ],
    }


def explain_night(found: "NightExplained", problems: Sequence[str]) -> Document:
    """Return what a night looked at and decided."""
    return {
        **_night(found.record),
        **{
            mark.value: [{"id": key, "text": text} for key, text in looked_at]
            for mark, looked_at in found.looked_at.items()
        },
        "decided": [_decided(one) for one in found.decided],
        "refused": dict(found.refused),
        "problems": list(problems),
    }


def explain_diff(found: "Difference", problems: Sequence[str]) -> Document:
    """Return what two nights decided differently."""
    return {
        "nights": [found.before.isoformat(), found.after.isoformat()],
        "new": [_decided(one) for one in found.new],
        "gone": [_decided(one) for one in found.gone],
        "changed": [{"before": _decided(before), "after": _decided(after)} for before, after in found.changed],
        "problems": list(problems),
    }


def _decided(one: "Decided") -> Document:
    return {
        "id": one.fragment,
        "text": one.text,
        "verdict": one.verdict,
        "score": None if one.promotion is None else one.promotion.score,
        "from": None if one.promotion is None else one.promotion.place,
        "gates": [{"name": gate, "missing": reason} for gate, reason in one.reasons],
    }


def transcript(day: date, said: Sequence[tuple[str, str]]) -> Document:
    """Return what is remembered of the conversations of a day."""
    return {"day": day.isoformat(), "said": [{"place": place, "text": text} for place, text in said]}


def diary(shown: "Sequence[Entry]") -> Document:
    """Return entries of the dream diary, oldest first."""
    return {"entries": [asdict(entry) for entry in shown]}


def review(waiting: "Sequence[Proposal]") -> Document:
    """Return what waits for the user's word."""
    return {
        "proposals": [
            {
                **_promoted(one.promotion),
                "corrects": None if one.corrects is None else _promoted(one.corrects),
                "may_correct": [_promoted(doubt) for doubt in one.doubts],
            }
            for one in waiting
        ]
    }


def undo(done: "TakenBack") -> Document:
    """Return what was taken back, or done again."""
    return {
        "night": None if done.night is None else done.night.isoformat(),
        "out": [_promoted(one) for one in done.out],
        "back": [_promoted(one) for one in done.back],
        "files": list(done.files),
        "problems": list(done.left),
    }


def history(home: "Home", found: "Sequence[Event]") -> Document:
    """Return changes of the user's files, oldest first, each as a diff."""
    return {"changes": [_change(home, one) for one in found]}


def _change(home: "Home", one: "Event") -> Document:
    change = one.change
    return {
        "id": change.id,
        "at": change.at.isoformat(),
        "night": None if change.night is None else change.night.isoformat(),
        "kind": change.kind,
        "file": change.file,
        "reason": change.reason,
        "promotions": [
            {**_promoted(promotion), "state": state, "now": promotion.state.value}
            for promotion, state in one.promotions
        ],
        "diff": difference(home, change),
    }


def show(found: "Stood") -> Document:
    """Return `MEMORY.md` at the end of a day, or as it stands."""
    return {
        "as_of": None if found.day is None else found.day.isoformat(),
        "text": found.text,
        "problems": list(found.problems),
    }


def _promoted(promotion: "Promotion") -> Document:
    return {
        "id": promotion.name,
        "night": promotion.night.isoformat(),
        "text": promotion.text,
        "score": promotion.score,
        "state": promotion.state.value,
    }


def narrate(answers: "Sequence[Answer]") -> Document:
    """Return what telling a night again came to, phase by phase."""
    return {
        "told": [
            {
                "night": one.telling.night.isoformat(),
                "phase": one.telling.phase.value,
                "asked": one.telling.asked,
                "narrator": one.entry.narrator if one.entry else None,
                "prose": one.entry.prose if one.entry else None,
                "refused": list(one.telling.refused),
            }
            for one in answers
        ]
    }


def status(home: "Home", found: "Overview", problems: Sequence[str]) -> Document:
    """Return how a workspace stands, and what of it could not be read."""
    return {
        "workspace": str(home.root),
        "enabled": home.config.dreaming.enabled,
        "time": home.config.dreaming.time,
        "timezone": str(home.zone),
        "last_night": None if found.last_night is None else _night(found.last_night),
        "running": None if found.running is None else asdict(found.running),
        "next_night": None if found.next_night is None else found.next_night.isoformat(),
        "refused": dict(found.refused),
        "told": [asdict(one) | {"phase": one.phase.value, "refused": list(one.refused)} for one in found.told],
        "store": {**found.counts, "bytes": found.store_bytes},
        "memory": {
            "chars": found.memory_chars,
            "budget_chars": found.budget_chars,
            "room_chars": found.room_chars,
            "nearly_full": found.nearly_full,
            "in_force": found.in_force,
            "archived": found.dropped,
            "proposed": found.proposed,
        },
        "nights_without_promotion": found.streak,
        "unrecorded": list(found.unrecorded),
        "blocking_gate": found.blocking,
        "blocking": None if found.blocking is None else in_words(found.blocking),
        "failures": found.failures,
        "last_failure": found.failure or None,
        "nearest": [
            {
                "id": one.candidate.id,
                "text": one.exam.draft.text,
                "score": one.exam.score.total,
                "missing": [gate.missing for gate in one.failed],
                "change": change,
            }
            for one, change in zip(found.nearest, found.changes, strict=True)
        ],
        "needs": list(needs(found, problems)),
        "problems": list(problems),
    }


def _night(record: "NightRecord") -> Document:
    return {
        "night": record.date.isoformat(),
        "started_at": record.started_at.isoformat(),
        "finished_at": record.finished_at.isoformat() if record.finished_at else None,
        "phases": [{"name": phase.value, **counts} for phase, counts in record.reports.items()],
    }


def _candidate(one: "Examined", written: "Sequence[Promotion]") -> Document:
    candidate, exam = one.candidate, one.exam
    place, evidence = candidate.place, candidate.evidence
    return {
        "id": candidate.id,
        "text": candidate.fragment.text,
        "path": place.path if place else None,
        "start_line": place.start_line if place else None,
        "end_line": place.end_line if place else None,
        "score": exam.score.total,
        "boost": exam.score.boost,
        "components": asdict(exam.score.components),
        "evidence": _evidence(evidence),
        "phases": {"light": candidate.history.light_hits, "rem": candidate.history.rem_hits},
        "promotions": [
            {"night": p.night.isoformat(), "text": p.text, "score": p.score, "state": p.state.value} for p in written
        ],
        "sightings": [sighting.place for sighting in candidate.sightings],
        "gates": [asdict(gate) for gate in one.gates],
        "verdict": verdict(one.gates),
    }


def _evidence(evidence: "Evidence") -> Document:
    return {
        "recalls": evidence.recalls,
        "sightings": evidence.sightings,
        "grounded": evidence.grounded,
        "unique_queries": evidence.unique_queries,
        "days": len(evidence.days),
        "total_score": evidence.total_score,
        "last_at": evidence.last_at.isoformat() if evidence.last_at else None,
    }


def turn(
    *,
    workspace: str,
    outcome: str,
    said: str,
    code: int,
    night: date | None,
    seconds: float,
    report: Mapping[str, Any],
    hooks: Sequence[str],
) -> Document:
    """Return what came of the turn of a workspace; the report is the document of its night, or null."""
    return {
        "workspace": workspace,
        "outcome": outcome,
        "said": said,
        "exit_code": code,
        "night": None if night is None else night.isoformat(),
        "seconds": seconds,
        "report": dict(report) or None,
        "hooks": list(hooks),
    }


def turns(found: Sequence[Document]) -> Document:
    """Return what came of the turns of all workspaces."""
    return {"workspaces": list(found)}
