"""Tell whether a text is a statement that stands alone, by a table of named rules that it may break."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, takewhile

from memory.idle import Line, line
from memory.language import language
from memory.machine_lines import is_command, is_log, is_mail_header, is_path, is_table_line, is_trace
from memory.sentences import sentence_ends

LEAD_IN = "lead-in"
LEAST_SAID = 4
"""Two words, or four Han or kana characters; the shortest thing that can be a rule."""
LABEL_WORDS = 4
"""A longer text before a colon is a sentence, not a label."""
VALUE_CHARACTERS = 20
TINY_WORDS = 2
TINY_CHARACTERS_CJK = 4
"""A value may be empty up to the first length; up to the others any says nothing behind a label such as "mood"."""
UNFINISHED_CHARACTERS = 80
"""A longer piece of a sentence says something, and what follows it is written with it."""
CLEAR_SIGN = 2
ENOUGH_SIGNS = 2
"""Signs of small talk, of which a clear one is enough."""
LITTLE_WORDS = 3
LITTLE_CHARACTERS_CJK = 6
"""So much behind a laugh is an answer to what was said."""
HARDLY_NEWS = 1
"""Words that may say something behind "thanks" or "it is", without making a statement of it."""

_MARKS = re.compile(r"^(?:(?:[-*+>•▪]|\d+[.)]|#{1,6}|\[[ xX]\])\s+)+")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_]+(?=\w)|(?<=\w)[*_]+(?!\w)")
_LABEL = re.compile(r"([^:：`\"“”«»「」]{1,30}?)\s?(?:：|:\s)\s*(?=\S)")
_TO_DO = re.compile(r"(?:TODO|TO-DO|FIXME)[sS]?\b")
_NUMBER = re.compile(r"\d[\d.,:/-]*|(?=\w*\d)[0-9a-f]{4,}(?:-[0-9a-f]{2,})*")
_QUESTION = re.compile(r"[?？]+[\s)）.!！]*$")
_QUOTED_QUESTION = re.compile(r"[\"“„«「『‘'].*[?？]+[\"”“»」』’']")
_CLOSING_QUOTES = ("」", "』", '"', "”", "“", "»")
_NAME = re.compile(r"(?<=[\w,;] )(?!I\b)[A-ZÄÖÜÁÉÍÓÚÑ]\w+")
_GOES_ON = re.compile(r"[,，、;；\d]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What makes a text unfit: its name, the test, and what a text that fails it is, as the end of a sentence."""

    name: str
    breaks: Callable[[Line], bool]
    says: str


def unfit(text: str) -> str:
    """Return the name of the rule a text breaks, '' when it is a statement that stands alone.

    A text of several sentences is fit when one of them is, and it does not end as a lead-in.
    """
    plain = _plain(text)
    whole = line(plain)
    return _first(OF_TEXTS, whole) or _worst(plain, whole) or (TASK.name if TASK.breaks(whole) else "")


def _worst(plain: str, whole: Line) -> str:
    """Return the rule that the first sentence breaks, if every sentence breaks one."""
    sentences = _sentences(plain)
    if len(sentences) < 2:
        return _broken(whole)
    names = list(takewhile(bool, map(_broken, map(line, sentences))))
    return names[0] if len(names) == len(sentences) else ""


def explained(name: str) -> str:
    """Return in words what a text is that breaks the rule of this name."""
    return next(rule.says for rule in (*OF_TEXTS, *OF_SENTENCES, TASK) if rule.name == name)


def _first(rules: tuple[Rule, ...], of: Line) -> str:
    return next((rule.name for rule in rules if rule.breaks(of)), "")


def _broken(sentence: Line) -> str:
    """Return the rule a sentence breaks, or what is said behind its label."""
    name, label = _first(OF_SENTENCES, sentence), _label(sentence.text)
    if name or not label:
        return name
    value = sentence.text[label.end() :]
    return "" if is_command(value) else _first(OF_VALUES, line(value))


def _label(text: str) -> re.Match[str] | None:
    label = _LABEL.match(text)
    return label if label and len(label[1].split()) <= LABEL_WORDS else None


def _plain(text: str) -> str:
    """Return the text without the marks of Markdown."""
    text = text.strip()
    if not text[:1].isalpha():
        text = _MARKS.sub("", text)
    return _EMPHASIS.sub("", text).strip() if "*" in text or "_" in text else text


def _sentences(text: str) -> list[str]:
    pieces = (text[start:end].strip() for start, end in pairwise((0, *sentence_ends(text), len(text))))
    return [piece for piece in pieces if piece]


def _is_task(of: Line) -> bool:
    """Tell what is marked as something to do, in capitals or by its label."""
    label = _label(of.text)
    return bool(_TO_DO.match(of.text) or (label and names_tasks(label[1])))


def names_tasks(heading: str) -> bool:
    """Tell whether a label or heading says that what follows is to be done, and nothing else."""
    return _TO_DO.match(heading) is not None or line(heading.rstrip(":： ")).is_one("task")


def _is_number(of: Line) -> bool:
    return not of.unspaced and all(map(_NUMBER.fullmatch, of.spaced))


def _is_label(of: Line) -> bool:
    """Tell a value such as "done" behind any label, and any tiny value behind a label such as "status"."""
    label = _label(of.text)
    if not label or len(of.text) - label.end() > VALUE_CHARACTERS:
        return False
    value = line(of.text[label.end() :])
    if value.made_of("value") or not (value.spaced or value.unspaced):
        return True
    tiny = len(value.spaced) <= TINY_WORDS and value.unspaced_characters <= TINY_CHARACTERS_CJK
    return tiny and line(label[1]).made_of("label")


def _is_question(of: Line) -> bool:
    if ("?" in of.text or "？" in of.text) and (_QUESTION.search(of.shown) or _QUOTED_QUESTION.fullmatch(of.shown)):
        return True
    return (of.begins("question") or of.ends("question")) and not of.shown.endswith(_CLOSING_QUOTES)


def _is_greeting(of: Line) -> bool:
    return of.only("greeting") or (of.begins("greeting") and of.news <= HARDLY_NEWS and not of.has_facts)


def _is_progress(of: Line) -> bool:
    return of.only("progress") or ((of.begins("progress") or of.ends("progress")) and not of.has_facts)


def _is_to_do(of: Line) -> bool:
    return of.only("to-do") or (of.begins("to-do") and of.news == 0)


def _is_quiet(of: Line) -> bool:
    return of.only("quiet") and not _is_word(of)


def _is_fragment(of: Line) -> bool:
    if len(of.text) >= UNFINISHED_CHARACTERS:
        return False
    opened = of.begins("fragment") and not _GOES_ON.search(of.text)
    return opened or of.ends("fragment") or of.only("fragment") or of.text.endswith((",", "，", "、"))


def _is_anaphor(of: Line) -> bool:
    hardly = of.news <= HARDLY_NEWS and (of.begins("anaphor") or of.ends("anaphor"))
    return of.only("anaphor") or (hardly and not of.has_facts)


def _is_small_talk(of: Line) -> bool:
    """Tell what is said in passing, by signs that count together: the more, the rarer it is something to keep.

    A laugh in front, weather or food, and "today" count one each; "off to bed" says enough by itself, as does a laugh
    before little more. With a name or a word of things that last it takes one more; a number or a quotation is no talk.
    """
    if len(of.text) >= UNFINISHED_CHARACTERS or of.has_marks:
        return False
    said = line(of.after("filler")) if of.begins("filler") else of
    laughs = said.begins("opener")
    rest = line(said.after("opener")) if laughs else said
    clear = rest.begins("chat") or of.begins("chat") or of.ends("chat")
    signs = CLEAR_SIGN * clear + laughs * (1 + _is_short(rest)) + of.has("topic")
    signs += of.has("moment") or of.ends("moment")
    return signs >= ENOUGH_SIGNS and (signs > ENOUGH_SIGNS or not (of.lasts or _names(of.text)))


def _is_short(of: Line) -> bool:
    return len(of.spaced) <= LITTLE_WORDS and of.unspaced_characters <= LITTLE_CHARACTERS_CJK


def _names(text: str) -> bool:
    """Tell a capital within a sentence of a language that gives none to every noun."""
    return _NAME.search(text) is not None and language(text) != "de"


def _says_it_is(of: Line) -> bool:
    """Tell "it works now" behind a label: what "it" is makes no statement of it."""
    return of.news == 0 and of.begins("anaphor") and not of.has_facts


def _is_word(of: Line) -> bool:
    return of.unspaced_characters + 2 * len(of.spaced) < LEAST_SAID


OF_TEXTS = (
    Rule(name="table", breaks=lambda of: is_table_line(of.text), says="is a line of a table"),
    Rule(name="trace", breaks=lambda of: is_trace(of.text), says="is a piece of an error trace"),
    Rule(name="log", breaks=lambda of: is_log(of.text), says="is a line of a log"),
    Rule(name="mail header", breaks=lambda of: is_mail_header(of.text), says="is a line of the head of a mail"),
    Rule(name=LEAD_IN, breaks=lambda of: of.shown.endswith((":", "：")), says="leads in to what is not there"),
    Rule(name="path", breaks=lambda of: is_path(of.text), says="is only a path or an address"),
    Rule(name="command", breaks=lambda of: is_command(of.text), says="is only a command"),
)
"""Asked of a whole text."""

OF_VALUES = (
    Rule(name="label", breaks=_is_label, says="is only a label with a tiny value"),
    Rule(name="question", breaks=_is_question, says="is a question"),
    Rule(name="greeting", breaks=_is_greeting, says="is only a greeting, thanks or applause"),
    Rule(name="nothing new", breaks=_is_quiet, says="says that nothing happened"),
    Rule(name="progress", breaks=_is_progress, says="reports progress, and nothing that lasts"),
    Rule(name="to-do", breaks=_is_to_do, says="is a to-do that does not say what"),
    Rule(name="anaphor", breaks=_says_it_is, says="speaks of something that stands elsewhere"),
)
"""Asked of what stands behind a label, which may be what "it" means, or name a number or a path."""

TASK = Rule(name="task", breaks=_is_task, says="is a task, over once it is done")
"""Asked of a whole text that says something: what is done stays true, what is to do does not."""

OF_SENTENCES = (
    Rule(name="number", breaks=_is_number, says="has no words, only numbers or signs"),
    *OF_VALUES,
    Rule(name="fragment", breaks=_is_fragment, says="is a piece of a sentence"),
    Rule(name="small talk", breaks=_is_small_talk, says="is said in passing"),
    Rule(name="anaphor", breaks=_is_anaphor, says="speaks of something that stands elsewhere"),
    Rule(name="word", breaks=_is_word, says="is a single word"),
    Rule(name="empty", breaks=lambda of: of.news == 0, says="has only words that say nothing"),
)
"""Asked of every sentence; a text is unfit when all its sentences are."""
