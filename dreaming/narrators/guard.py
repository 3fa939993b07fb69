"""Whether an answer is an entry worth keeping, whoever wrote it, and if not, why."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dreaming.narrators.cleaning import cleaned, words
from dreaming.narrators.entry import LONGEST, SHORTEST, Material, by_characters, code_of, length
from dreaming.narrators.prompts import LANGUAGES
from memory.language import language
from memory.markdown import CJK
from memory.sentences import sentence_ends
from memory.similarity import similarity
from memory.trust import redacted

NEAR = 0.8
"""From this similarity on an entry is one of the earlier ones over again."""
ECHO, ECHO_CJK = 40, 20
"""Characters taken from the prompt as they stand there that are no coincidence."""
RUN, RUN_CJK = 20, 8
"""Characters taken from a text as they stand there that are a quotation."""
MOSTLY = 0.6
"""Share of quotations from which on an entry is only the notes over again."""
BEGINNINGS = 6
"""Earlier entries, two nights of them, whose first sentence may not come again."""
SENTENCE, SENTENCE_CJK = 20, 8
"""Characters of a sentence that nobody says twice by chance."""

_LIST_LINE = re.compile(r"(?m)^[ \t]*(?:[-*+•·]|\d{1,2}[.)、])[ \t]+\S|^[ \t]*\|.*\|[ \t]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The prose to keep, or the reason why there is none; the reason quotes neither answer nor material."""

    prose: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """What is judged: the answer as it came and as prose, and what it is held against."""

    answer: str
    prose: str
    material: Material
    prompts: tuple[str, ...]
    recent: tuple[str, ...]

    @property
    def known(self) -> str:
        """All that the material says, folded."""
        told = (*self.material.texts, *self.material.waiting, *(one.text for one in self.material.graduates))
        return " ".join((*told, *self.material.themes)).casefold()


def judged(answer: str, material: Material, *, prompts: Sequence[str] = (), recent: Sequence[str]) -> Verdict:
    """Return what to keep of an answer: cleaned, and cut where it is too long; or why it is no entry."""
    case = _Case(answer=answer, prose=cleaned(answer), material=material, prompts=tuple(prompts), recent=tuple(recent))
    reason = next((reason for check in CHECKS if (reason := check(case))), "")
    return Verdict(reason=reason) if reason else _fitted(case.prose, material.language)


def _fitted(prose: str, code: str) -> Verdict:
    """Cut an entry that is too long behind its last sentence that fits."""
    unit = "characters" if by_characters(code) else "words"
    wanted = f"write {SHORTEST} to {LONGEST} {unit}"
    count = length(prose, code)
    if count < SHORTEST:
        return Verdict(reason=f"it has {count} {unit}; {wanted}")
    if count <= LONGEST:
        return Verdict(prose=prose)
    ends = [end for end in sentence_ends(prose) if SHORTEST <= length(prose[:end], code) <= LONGEST]
    return Verdict(prose=prose[: ends[-1]].strip()) if ends else Verdict(reason=f"it has {count} {unit}; {wanted}")


def _empty(case: _Case) -> str:
    return "" if case.prose else "it says nothing"


def _listed(case: _Case) -> str:
    return "it is a list; write prose" if len(_LIST_LINE.findall(case.answer)) > 1 else ""


def _coded(case: _Case) -> str:
    bare = case.answer.strip().strip("`").strip()
    if bare[:1] not in ("{", "["):
        return ""
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return ""
    return "it is JSON; write prose"


def _refusing(case: _Case) -> str:
    return "it is a refusal" if case.prose.casefold().startswith(words("refusals")) else ""


def _unfilled(case: _Case) -> str:
    said = case.prose.casefold()
    found = any(mark in said and mark not in case.known for mark in words("placeholders"))
    return "it holds a placeholder" if found else ""


def _about_itself(case: _Case) -> str:
    said = case.prose.casefold()
    found = any(_stands(phrase, said) and phrase not in case.known for phrase in words("meta"))
    return "it talks about models, prompts, notes or dreaming" if found else ""


def _stands(phrase: str, text: str) -> bool:
    if not phrase.isascii():
        return phrase in text
    return re.search(rf"(?<![a-z]){re.escape(phrase)}(?![a-z])", text) is not None


def _echoing(case: _Case) -> str:
    instructions = _flat(" ".join(case.prompts))
    own = _flat(case.known)
    found = any(run in instructions and run not in own for run in _runs(_flat(case.prose), ECHO, ECHO_CJK))
    return "it repeats the instructions" if found else ""


def _secret(case: _Case) -> str:
    return "it holds a secret" if redacted(case.prose)[1] else ""


def _foreign(case: _Case) -> str:
    wanted, found = code_of(case.material.language), language(case.prose)
    return "" if found == wanted or wanted not in LANGUAGES else f"it is not in {LANGUAGES[wanted]}"


def _quoting(case: _Case) -> str:
    """Tell whether an entry is mostly the texts as they are, one behind the other."""
    said, known = _flat(case.prose), _flat(case.known)
    run = RUN_CJK if by_characters(case.material.language) else RUN
    quoted = [False] * len(said)
    for start in range(max(0, len(said) - run + 1)):
        if said[start : start + run] in known:
            quoted[start : start + run] = [True] * run
    return "it only quotes the notes; tell what they mean" if sum(quoted) > MOSTLY * len(said) else ""


def _repeating(case: _Case) -> str:
    said = [_flat(sentence) for sentence in _sentences(case.prose)]
    long = [one for one in said if len(one) >= (SENTENCE_CJK if _is_cjk(one) else SENTENCE)]
    return "it says the same sentence twice" if len(set(long)) < len(long) else ""


def _told_before(case: _Case) -> str:
    if any(similarity(case.prose, earlier) >= NEAR for earlier in case.recent):
        return "it is nearly the same as an earlier entry"
    beginning = _beginning(case.prose)
    long = len(beginning) >= (SENTENCE_CJK if _is_cjk(beginning) else SENTENCE)
    if long and any(_beginning(earlier) == beginning for earlier in case.recent[:BEGINNINGS]):
        return "it begins like an earlier entry"
    return ""


def _beginning(prose: str) -> str:
    return _flat(next(_sentences(prose), ""))


def _sentences(prose: str) -> Iterator[str]:
    start = 0
    for end in (*sentence_ends(prose), len(prose)):
        if prose[start:end].strip():
            yield prose[start:end]
        start = end


def _runs(said: str, count: int, count_cjk: int) -> Iterator[str]:
    """Yield every run of so many characters; fewer where they are CJK."""
    for start in range(len(said)):
        run = said[start : start + (count_cjk if _is_cjk(said[start : start + count_cjk]) else count)]
        if len(run) >= count_cjk and (len(run) >= count or _is_cjk(run)):
            yield run


def _is_cjk(text: str) -> bool:
    return 2 * len(re.findall(f"[{CJK}]", text)) > len(text)


def _flat(text: str) -> str:
    return "".join(text.casefold().split())


CHECKS: tuple[Callable[[_Case], str], ...] = (
    _coded,
    _listed,
    _empty,
    _refusing,
    _unfilled,
    _about_itself,
    _echoing,
    _secret,
    _foreign,
    _quoting,
    _repeating,
    _told_before,
)
"""What an entry must not be, in the order in which it is said; each returns the reason, or nothing."""
