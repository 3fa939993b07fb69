"""Tables of things to try on a text, each only where one of its cues occurs: most texts have none."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import TypeVar

T = TypeVar("T")


@cache
def compiled(regex: str) -> re.Pattern[str]:
    """Return an expression of a table, made when the first text has its cue: most nights meet few of them."""
    return re.compile(regex)


def by_cue(things: Iterable[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    """Return a table by cue; the cues of a thing are set apart by `|`."""
    table: defaultdict[str, list[T]] = defaultdict(list)
    for cues, thing in things:
        for cue in cues.split("|"):
            table[cue].append(thing)
    return {cue: tuple(cued) for cue, cued in table.items()}


def in_ascii(table: Mapping[str, tuple[T, ...]]) -> dict[str, tuple[T, ...]]:
    """Return what of a table an ASCII text can have, as most are."""
    return {cue: things for cue, things in table.items() if cue.isascii()}


def cued(table: Mapping[str, tuple[T, ...]], lowered: str) -> dict[T, None]:
    """Return what is worth trying on a text: the entries of which a cue occurs in it, each once, in order."""
    return dict.fromkeys(chain.from_iterable([things for cue, things in table.items() if cue in lowered]))
