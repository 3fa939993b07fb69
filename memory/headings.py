"""What a heading says about the lines below it; dates, weekdays, times of day and file names say nothing."""

import re
import unicodedata
from functools import lru_cache

from memory.sentences import cut

MAX_PREFIX = 80  # characters; a longer heading would leave too little room for the text below it

_ZONES = r"(?:\s*(?:utc|gmt|uhr|[ecmp][sd]t|cest|cet|bst|jst|kst|msk)\b|z\b)(?:[+-]\d{1,2}(?::?\d\d)?)?"
_CLOCK = rf"(?:(?:(?:[01]?\d|2[0-3])[:h][0-5]\d(?::[0-5]\d)?(?:\s*[ap]m\b)?|(?:1[0-2]|[1-9])\s*[ap]m\b)(?:{_ZONES})?)"
_CLOCKS = rf"{_CLOCK}(?:\s*(?:[-–—~]|to|bis|至|から)\s*{_CLOCK})?"
_PART_OF_DAY = "上午|下午|凌晨|早上|晚上|中午|午前|午後|오전|오후"
_HOUR = r"\d{1,2}\s*[时時点點시]"
_MINUTE = r"\s*(?:半|\d{1,2}\s*[分분])"
_FRONT = re.compile(
    rf"(?:\d+[.)]|[-*+])\s+|[\[(【]?~?{_CLOCKS}(?![a-z\d]|:\d)[\])】]?\s*(?:[-–—:：|｜·,，]+\s*)?"
    rf"|(?:(?:{_PART_OF_DAY})\s*{_HOUR}(?:{_MINUTE})?|{_HOUR}{_MINUTE}|{_HOUR}(?=\s))\s*(?:[-–—:：|｜·,，]+\s*)?",
    re.IGNORECASE,
)
"""What may stand before the words of a heading: a number, a list marker, a time."""

_FILE_NAME = re.compile(r"\S*\d{4}-\d\d-\d\d\S*\.(?:md|markdown)", re.IGNORECASE)

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    "|januar|jänner|februar|märz|mai|juni|juli|oktober|dezember|mär|okt|dez"
    "|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|janv|févr|avr|juil|déc"
    "|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|ene|abr|ago|dic"
    "|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|fev|set|out"
    "|январ[ья]|феврал[ья]|марта?|апрел[ья]|ма[йя]|июн[ья]|июл[ья]|августа?|сентябр[ья]|октябр[ья]|ноябр[ья]|декабр[ья]"
)
_WEEKDAYS = (
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    "|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag"
    "|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    "|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    "|(?:segunda|terça|quarta|quinta|sexta)-feira"
    "|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье"
)
_DAYS = (
    "today|yesterday|tomorrow|tonight|heute|gestern|vorgestern|übermorgen|aujourd['’]hui|hier|demain|hoy|ayer|anteayer"
    "|hoje|ontem|amanhã|сегодня|вчера|позавчера|завтра"
)
_PARTS_OF_DAY = (
    "morning|forenoon|noon|midday|afternoon|evening|night|midnight"
    "|morgens?|vormittags?|mittags?|nachmittags?|abends?|nachts?|mitternacht"
    "|matin|matinée|midi|après-midi|soir|soirée|nuit|minuit|mañana|mediodía|tarde|noche|medianoche|madrugada"
    "|manhã|meio-dia|noite|meia-noite|утром?|полдень|день|днём|днем|вечером?|ночью?|полночь"
)
_CJK_MOMENTS = (
    "(?:星期|礼拜|禮拜|周|週)[一二三四五六日天末]|[月火水木金土日]曜日?|[월화수목금토일]요일|\\([一二三四五六日月火水木金土월화수목금토일]\\)"
    "|今天|昨天|前天|明天|后天|後天|今日|昨日|一昨日|明日|明後日|오늘|어제|그저께|내일|모레"
    "|清晨|早晨|早上|上午|中午|午后|下午|傍晚|晚上|夜里|夜裡|夜间|夜間|深夜|凌晨|今早|今晚|昨晚|半夜"
    "|朝|午前|昼|正午|午後|夕方|夜|夜中|今朝|今夜|昨夜|새벽|아침|오전|정오|점심|오후|저녁|밤"
)
_NUMERAL = "[〇零一二三四五六七八九十]{1,3}"
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|º|o)?\.?"
_OF = r"(?:\s+(?:de|del|do|of))?\s*,?\s*"
_MONTH = rf"(?<![^\W\d_])(?:{_MONTHS})\b\.?"
_DATE = re.compile(
    r"(?<![\w.])\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:t(?=\d)|(?!\d))"
    r"|(?<![\w.])\d{1,2}[-/]\d{1,2}(?:[-/]\d{2,4})?(?!\w)"
    r"|(?<![\w.])(?:\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{4})?|\d\d\.\d\d\.\d\d)(?!\w)"
    r"|(?<!\w)20\d\d[01]\d[0-3]\d(?!\d)"
    rf"|{_MONTH}\s*{_DAY}(?!\w)(?:{_OF}\d{{4}}(?!\d))?|(?<!\w){_DAY}{_OF}{_MONTH}(?:{_OF}\d{{4}}(?!\d))?|{_MONTH}{_OF}\d{{4}}"
    r"|(?:(?:\d{4}|令和\d+|平成\d+)\s*[年년]\s*)?\d{1,2}\s*[月월]\s*\d{1,2}\s*[日号號일]|\d{4}\s*[年년]\s*\d{1,2}\s*[月월]"
    rf"|{_NUMERAL}月{_NUMERAL}[日号號]"
)
_MOMENT = re.compile(
    rf"\b(?:{_WEEKDAYS}|{_DAYS}|{_PARTS_OF_DAY})\b|{_CLOCK}|(?:{_HOUR})(?:{_MINUTE})?|{_CJK_MOMENTS}", re.IGNORECASE
)
_DIARY = re.compile(
    r"\b(?:daily|diary|journal|logs?|notes?|memory|session|tagebuch|notizen|diario|notas|diário|дневник|заметки|журнал)\b"
    "|日记|日記|日志|日誌|日報|笔记|记录|メモ|ログ|일기|일지|메모|기록"
)
_FILLER = re.compile(
    r"\b(?:\d{1,4}|the|this|late|early|last|of|on|in|at|am|pm|utc|gmt|[ecmp][sd]t|cest|cet|uhr|um|im|der|den|die|le|la|el|de"
    r"|del|ce|da|do|esta|dia|día|à|в|на|г|года?"
    r"|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|mo|di|mi|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|mié|jue|vie|sáb|dom"
    r"|seg|ter|qua|qui|sex|пн|вт|ср|чт|пт|сб|вс)\b"
)
"""Says nothing beside a date or a time, but is a word of its own without one: `Sun`, `So`, `42`."""


@lru_cache(maxsize=1024)
def prefix(heading: str) -> str:
    """Return what stands before the chunks below a heading, empty when the heading says nothing."""
    text = heading.rstrip(" :：")
    while text and not _says_nothing(text):
        front = _FRONT.match(text)
        if not front:
            return _shortened(text)
        text = text[front.end() :]
    return ""


def _says_nothing(text: str) -> bool:
    if _FILE_NAME.fullmatch(text):
        return True
    rest, dates = _DATE.subn(" ", unicodedata.normalize("NFKC", text).casefold())
    rest, moments = _MOMENT.subn(" ", rest)
    if dates:
        rest = _DIARY.sub(" ", rest)
    if dates or moments:
        rest = _FILLER.sub(" ", rest)
    return not any(map(str.isalnum, rest))


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_PREFIX else text[: cut(text, MAX_PREFIX)].rstrip()
