"""One entry: the narrator is asked, once more with what was wrong, and when that fails it is written plainly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dreaming.narrators.entry import Narrator, NarratorError, Request, code_of
from dreaming.narrators.guard import judged
from dreaming.narrators.plain import ENGLISH, TONGUES, plain
from dreaming.narrators.prompts import again
from dreaming.narrators.slots import NoSlotError, own_folder, slot
from dreaming.promotion.draft import tokens

PLAIN = "plain"
ASKED_AT_MOST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of asking: the entry and who wrote it, None when nobody did.

    `refused` is why answers were not kept, each reason once; tokens are estimates, of what was sent and what came back.
    """

    prose: str | None
    narrator: str
    refused: tuple[str, ...] = ()
    prompt_tokens: int = 0
    answer_tokens: int = 0


def told(
    narrator: Narrator | None, request: Request, *, recent: Sequence[str], seconds: float, slots: Path | None = None
) -> Told:
    """Return the entry of a narrator, at most twice asked and each time for so many seconds; else the plain one."""
    spent = Told(prose=None, narrator=PLAIN)
    if narrator is None:
        return _plainly(request, spent, recent)
    for _ in range(ASKED_AT_MOST):
        spent = _sent(spent, request)
        try:
            answer = _answer(narrator, request, seconds=seconds, slots=slots or own_folder())
        except (NarratorError, NoSlotError) as error:
            spent = _refused(spent, str(error))
            break
        spent = replace(spent, answer_tokens=spent.answer_tokens + round(tokens(answer)))
        verdict = judged(answer, request.material, prompts=request.prompts, recent=recent)
        if not verdict.reason:
            return replace(spent, prose=verdict.prose, narrator=narrator.name)
        spent = _refused(spent, f"{narrator.name}: {verdict.reason}")
        request = again(request, verdict.reason)
    return _plainly(request, spent, recent)


def _plainly(request: Request, spent: Told, recent: Sequence[str]) -> Told:
    """Return the plain entry, if it passes the same guard as any other."""
    prose = plain(request.material)
    told_in = replace(request.material, language=TONGUES.get(code_of(request.material.language), ENGLISH).code)
    if prose is not None and (reason := judged(prose, told_in, recent=recent).reason):
        return _refused(spent, f"the plain entry: {reason}")
    return replace(spent, prose=prose)


def _sent(spent: Told, request: Request) -> Told:
    sent = round(tokens(request.system) + tokens(request.asked))
    return replace(spent, prompt_tokens=spent.prompt_tokens + sent)


def _refused(spent: Told, reason: str) -> Told:
    return replace(spent, refused=tuple(dict.fromkeys((*spent.refused, reason))))


def _answer(narrator: Narrator, request: Request, *, seconds: float, slots: Path) -> str:
    """Ask in a slot; waiting for one takes nothing from the time of the call, and no longer than that."""
    with slot(slots, seconds=seconds):
        return narrator.write(request, seconds=seconds)
