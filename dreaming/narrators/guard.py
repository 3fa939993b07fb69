"""Judging an answer: an entry of the dream diary, or why it is none."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from unicodedata import normalize

from dreaming.narrators.cleaning import Cleaned, cleaned
from dreaming.narrators.entry import LONGEST, SHORTEST, Material, code_of, length
from dreaming.narrators.prompts import LANGUAGES
from dreaming.narrators.words import entries
from memory.language import HAN, HANGUL, KANA, language
from memory.sentences import ends_sentence, sentence_ends
from memory.similarity import similarity
from memory.trust import redacted

MOST_RECENT = 30
"""Entries that another one may not equal."""
LATELY = 15
"""Entries whose first sentence may not return, nor most of their words; plain ones come round in sixteen."""
ALIKE, SAME = 0.8, 0.95
"""From this similarity on, an entry is one of lately over again, or one of any time."""
LISTED_LINES = CODE_LINES = 2
FENCES = 2
"""Lines around the whole of an entry; more of them are around code."""
REFUSAL_CHARACTERS = 300
"""A model refuses at once or not at all."""
RAW_SHARE = 0.6
"""Above this share of its characters, an entry is a pile of quotations."""
LOOP = 3
"""As often as this, the same words are no refrain any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The prose to keep, or in one sentence why there is none; it may be told to a model, and quotes no diary."""

    prose: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """How many characters in a row are no coincidence: where spaces stand, and in CJK scripts."""

    spaced: int
    cjk: int

    def of(self, text: str) -> int:
        """Return the number for a text."""
        return self.cjk if 2 * len(_CJK.findall(text)) > len("".join(text.split())) else self.spaced


QUOTED = Runs(spaced=20, cjk=8)
ECHOED = Runs(spaced=40, cjk=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is judged, and beside what."""

    cleaned: Cleaned
    prose: str
    material: Material
    prompts: Sequence[str]
    recent: Sequence[str]

    @property
    def sources(self) -> tuple[str, ...]:
        """All that the material quotes; what stands in there may stand in an entry."""
        told = self.material
        return (*told.texts, *told.waiting, *told.themes, *(graduate.text for graduate in told.graduates))


_CJK = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_ITEM = re.compile(
    r"""^[ \t>]*(?:
        [-*+•·▪◦‣●○]\s+\S | \**\d{1,2}[.)]\s | \d{1,2}[、．] | [（(]\d{1,2}[)）] | [一二三四五六七八九十]{1,2}、
      | \|.*\|\s*$
    )""",
    re.MULTILINE | re.VERBOSE,
)
_JSON = re.compile(r"\A\s*(?:\{\s*[\"'\[]|\[\s*[\"'{\[])|^\s*\"\w+\"\s*:\s", re.MULTILINE)
_CODE = re.compile(
    r"^\s*(?:(?:def|class|function|import|from|const|let|var|return|public|private|#include|package|fn)\b.*[;:{)]"
    r"|SELECT\b.*\bFROM\b.*|\$ \w.*|<\?.*|.*[;{}]|//.*)\s*$",
    re.MULTILINE,
)
_FENCE = re.compile(r"^\s*(?:`{3}|~{3})", re.MULTILINE)
_QUOTATION = re.compile('“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|"[^"]*"')
_APOSTROPHES = str.maketrans("’‘＇`", "''''")


def judged(answer: str, material: Material, *, prompts: Sequence[str] = (), recent: Sequence[str]) -> Verdict:
    """Return the prose of an answer, cleaned and cut to length, or why it is no entry of tonight.

    `prompts` are the instructions the model had, `recent` the last entries, newest first.
    """
    found = cleaned(answer)
    told = Answer(
        cleaned=found,
        prose=within(found.prose, material.language),
        material=material,
        prompts=prompts,
        recent=recent[:MOST_RECENT],
    )
    reason = next((reason for check in CHECKS if (reason := check(told))), "")
    return Verdict(prose="" if reason else told.prose, reason=reason)


def within(prose: str, tongue: str) -> str:
    """Return the prose up to its last sentence end within the longest length; whole when too little would remain."""
    if length(prose, tongue) <= LONGEST and ends_sentence(prose):
        return prose
    heads = [prose[:end].rstrip() for end in sentence_ends(prose)]
    sizes = ((length(head, tongue), head) for head in heads)
    return max(((size, head) for size, head in sizes if SHORTEST <= size <= LONGEST), default=(0, prose))[1]


def _empty(answer: Answer) -> str:
    return "" if answer.prose else "it says nothing"


def _list(answer: Answer) -> str:
    return "it is a list; write prose" if len(_ITEM.findall(answer.cleaned.whole)) >= LISTED_LINES else ""


def _code(answer: Answer) -> str:
    body = answer.cleaned.body
    if _JSON.search(body):
        return "it is JSON; write prose"
    fences = len(_FENCE.findall(answer.cleaned.whole))
    is_code = fences > FENCES or len(_CODE.findall(body)) >= CODE_LINES
    return "it is code; write prose" if is_code else ""


def _refusal(answer: Answer) -> str:
    found = _phrase("refusals", answer.prose[:REFUSAL_CHARACTERS], answer.sources)
    return "it is a refusal" if found else ""


def _placeholder(answer: Answer) -> str:
    sources = _folded(" ".join(answer.sources))
    found = (match[0] for match in _placeholders().finditer(answer.cleaned.whole))
    is_open = any(_folded(mark) not in sources for mark in found)
    return "it holds a placeholder" if is_open else ""


def _meta(answer: Answer) -> str:
    found = _phrase("meta", answer.prose, answer.sources)
    return f'it talks about models, prompts, notes or dreaming ("{found}")' if found else ""


def _echo(answer: Answer) -> str:
    size = ECHOED.of(answer.prose)
    asked = _grams(answer.prompts, size) - _grams(answer.sources, size)
    return "it repeats the instructions" if asked & _grams([answer.prose], size) else ""


def _secret(answer: Answer) -> str:
    return "it holds a secret" if redacted(answer.prose)[1] else ""


def _language(answer: Answer) -> str:
    """Ask twice, with what it quotes and without: a quotation may be in any language."""
    wanted = code_of(answer.material.language)
    found = {language(answer.prose), language(_own(answer.prose))}
    return f"it is not in {LANGUAGES[wanted]}" if wanted in LANGUAGES and wanted not in found else ""


def _raw(answer: Answer) -> str:
    size, prose = QUOTED.of(answer.prose), _folded(answer.prose)
    quoted = _grams(answer.sources, size)
    places = {at + n for at in range(len(prose)) if prose[at : at + size] in quoted for n in range(size)}
    return "it only quotes the notes; tell what they mean" if len(places) > RAW_SHARE * len(prose) else ""


def _repetition(answer: Answer) -> str:
    size = QUOTED.of(answer.prose)
    said = Counter(sentence for sentence in _sentences(answer.prose) if len(sentence) >= size)
    if max(said.values(), default=0) > 1:
        return "it says the same sentence twice"
    runs = Counter(_runs(_folded(answer.prose), ECHOED.of(answer.prose)))
    return "it says the same words over and over" if max(runs.values(), default=0) >= LOOP else ""


def _known(answer: Answer) -> str:
    """Compare with quotations and without: two entries may quote the same notes."""
    bounds = (ALIKE if ago < LATELY else SAME for ago in range(MOST_RECENT))
    known = any(
        min(similarity(answer.prose, one), similarity(_own(answer.prose), _own(one))) >= bound
        for one, bound in zip(answer.recent, bounds, strict=False)
    )
    return "it is nearly the same as an earlier entry" if known else ""


def _beginning(answer: Answer) -> str:
    first = next(_sentences(answer.prose), "")
    known = any(first == next(_sentences(one), "") for one in answer.recent[:LATELY])
    return "it begins like an earlier entry" if known else ""


def _length(answer: Answer) -> str:
    count = length(answer.prose, answer.material.language)
    unit = "words" if count == len(answer.prose.split()) else "characters"
    has = f"{count} {unit}" if count != 1 else f"1 {unit.removesuffix('s')}"
    return "" if SHORTEST <= count <= LONGEST else f"it has {has}; write {SHORTEST} to {LONGEST} {unit}"


CHECKS: tuple[Callable[[Answer], str], ...] = (
    _empty,
    _code,
    _list,
    _refusal,
    _placeholder,
    _meta,
    _echo,
    _secret,
    _language,
    _raw,
    _repetition,
    _length,
    _known,
    _beginning,
)
"""Each returns what is wrong, or nothing; the first complaint counts, so what explains the others comes first."""


def _own(prose: str) -> str:
    """Return the words of an entry without those it quotes."""
    return _QUOTATION.sub(" ", prose)


def _sentences(prose: str) -> Iterator[str]:
    ends = sorted({0, *sentence_ends(prose), len(prose)})
    folded = (_folded(prose[start:end]).strip() for start, end in pairwise(ends))
    return (sentence for sentence in folded if sentence)


def _grams(texts: Iterable[str], size: int) -> set[str]:
    return {run for text in texts for run in _runs(_folded(text), size)}


def _runs(folded: str, size: int) -> Iterator[str]:
    return (folded[at : at + size] for at in range(len(folded) - size + 1))


def _folded(text: str) -> str:
    """Undo what tells equal words apart: case, width, kinds of apostrophes and of spaces."""
    return " ".join(normalize("NFKC", text.translate(_APOSTROPHES)).casefold().split())


def _phrase(concern: str, text: str, sources: Iterable[str]) -> str:
    """Return the first phrase of a list that stands in a text and in none of the sources."""
    folded, quoted = _spellings(text), _spellings(" ".join(sources))
    return next(
        (phrase for phrase, pattern in _phrases(concern) if pattern.search(folded) and not pattern.search(quoted)), ""
    )


def _spellings(text: str) -> str:
    """Return a text with and without its spaces, since a phrase in a CJK script may have some around Latin letters."""
    folded = _folded(text)
    return f"{folded}\n{''.join(folded.split())}" if _CJK.search(folded) else folded


@cache
def _phrases(concern: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((phrase.strip("-"), _pattern(phrase)) for phrase in entries(concern))


def _pattern(phrase: str) -> re.Pattern[str]:
    folded = _folded(phrase)
    if _CJK.search(folded):
        return re.compile(re.escape("".join(folded.split())))
    left, right = ("" if folded.startswith("-") else r"(?<!\w)"), ("" if folded.endswith("-") else r"(?!\w)")
    return re.compile(f"{left}{re.escape(folded.strip('-'))}{right}")


@cache
def _placeholders() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{line})" for line in entries("placeholders")))
