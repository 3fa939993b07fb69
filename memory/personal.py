"""Personal data in a text: e-mail addresses, telephone numbers and IP addresses, by their shape."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from ipaddress import ip_address

from memory.spans import PERSONAL, Span

MIN_PHONE_DIGITS = 9
MAX_PHONE_DIGITS = 15
"""As E.164 has it; the shortest is a German number with its area code."""

_LATIN = "A-Za-z0-9À-ÖØ-öø-ɏЀ-ӿ"
_EMAIL = re.compile(
    rf"(?<![{_LATIN}._%+-])(?P<local>[{_LATIN}_%+-](?:[{_LATIN}._%+-]{{0,62}}[{_LATIN}_%+-])?)"
    rf"@(?:[{_LATIN}](?:[{_LATIN}-]{{0,61}}[{_LATIN}])?\.){{1,8}}(?:xn--[a-z0-9-]{{2,59}}|[A-Za-zÀ-ӿ]{{2,24}})(?![{_LATIN}-])"
)
_NOBODY = frozenset({"git", "hg"})
"""The user of a repository's address, who is no person."""

_PHONE = re.compile(
    r"""
    (?<![\w.+/=#-])(?<![\w]\ [#])
    (?: (?:\+|00)[1-9]\d{0,2} (?:[ ./-]?\(0\))? (?:[ ./-]?\(?\d{1,5}\)?){1,6}   # international
      | (?:\(0?86\)[ -]?)? 1[3-9]\d ([ -]?)\d{4}\1\d{4}                         # CN, mobile
      | \(?0(?:10|2\d|[3-9]\d{2})\)?[ -]\d{4}[ -]?\d{3,4}                       # CN, landline
      | [48]00[ -]\d{3}[ -]?\d{4}                                               # CN and US, free of charge
      | (?:1[ .-])?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}[.-])[2-9]\d{2}[ .-]\d{4}  # US
      | 0(?:1[5-7]\d|[2-9]\d{1,3})(?:[ /-]{1,3}|\)[ ])\d{2,8}(?:[ /-]?\d{2,8}){0,3}   # DE
      | \(0[1-9]\d{1,4}\)[ /-]{0,3}\d{2,8}(?:[ -]?\d{2,8}){0,3}                 # DE, in brackets
      | 01[5-7]\d{8,9}                                                          # DE, mobile
    )
    (?![\w@]|[./:-]\d|[ ]?%)
    """,
    re.VERBOSE | re.ASCII,
)
_OTHER_NUMBER = re.compile(
    r"(?:order|invoice|ticket|issue|article|serial|tracking|case|id|no\.?|nr\.?|number|nummer|bestellung|auftrag|rechnung"
    r"|订单|訂單|单号|單號|编号|編號|快递|发票|学号|工号|版本|version)(?:号|號|\s*(?:no\.?|nr\.?|number|id))?\s*[:：#＃]?\s*$",
    re.IGNORECASE,
)
"""What stands before a number that is none of a telephone, whatever its shape."""
_LOOK_BACK = 24

_IPV4 = re.compile(r"(?<![\w.-])(?<![A-Za-z]/)(?<!=)(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)", re.ASCII)
_IPV6 = re.compile(
    r"(?<![\w.:])(?=[0-9A-Fa-f:]*\d)(?:[0-9A-Fa-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{1,4}|:)?(?![\w:])"
)
_VERSION = re.compile(
    r"(?:version|release|build|firmware|driver|版本|バージョン|버전)\s*[:：]?\s*$|[<>=~^]\s?$", re.IGNORECASE
)


def personal(text: str, wanted: Collection[str]) -> Iterator[Span]:
    """Yield what a text has of the wanted kinds."""
    for kind in sorted(PERSONAL & set(wanted)):
        for start, end in _FOUND[kind](text):
            yield Span(start=start, end=end, kind=kind)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        if match["local"] not in _NOBODY:
            yield match.span()


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for match in _PHONE.finditer(text):
        digits = sum(map(str.isdigit, match[0]))
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
        if MIN_PHONE_DIGITS <= digits <= MAX_PHONE_DIGITS and not _OTHER_NUMBER.search(before):
            yield match.span()


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    """Yield addresses of machines; one's own machine and "any" are nobody's."""
    for pattern in (_IPV4, _IPV6):
        for match in pattern.finditer(text):
            if _is_address(match[0]) and not _VERSION.search(text[max(0, match.start() - _LOOK_BACK) : match.start()]):
                yield match.span()


def _is_address(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


_FOUND: Mapping[str, Callable[[str], Iterator[tuple[int, int]]]] = {
    "email": _emails,
    "phone": _phones,
    "ip": _addresses,
}
