"""Invented diaries in bulk, half Chinese, from a fixed seed; words are as unevenly common as in a language."""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from random import Random

SYLLABLES = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
HAN = [bytes((high, low)).decode("gb2312") for high in range(0xB0, 0xD7) for low in range(0xA1, 0xFE, 5)]
"""Some 740 of the common characters, as GB 2312 lists them."""
VOCABULARY = 20_000
LINES_A_SECTION = 9


def write(root: Path, *, days: int, lines: int, start: date = date(2016, 6, 1)) -> int:
    """Write one diary a day with so many one-line fragments; return the bytes written."""
    folder = root / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    dice, written = Random(20260618), 0
    for day in range(days):
        text = f"# {start + timedelta(days=day)}\n\n" + "\n".join(_sections(dice, lines))
        written += (folder / f"{start + timedelta(days=day)}.md").write_bytes(text.encode("utf-8"))
    return written


def english(rank: int) -> str:
    """Return the invented word of a rank; 0 is the most common one."""
    word, rest = "", rank + len(SYLLABLES)
    while rest:
        rest, syllable = divmod(rest, len(SYLLABLES))
        word += SYLLABLES[syllable]
    return word


def chinese(rank: int) -> str:
    """Return the invented two-character word of a rank."""
    first, second = divmod(rank * 7919 % len(HAN) ** 2, len(HAN))
    return HAN[first] + HAN[second]


def rank(dice: Random) -> int:
    """Return how common the next word is: the n-th word comes about 1/n as often as the first."""
    return int(VOCABULARY ** dice.random()) - 1


def _sections(dice: Random, lines: int) -> Iterator[str]:
    for number in range(lines):
        if number % LINES_A_SECTION == 0:
            yield f"## {english(rank(dice)).title()} {dice.randrange(100)}\n"
        yield f"- {_english_line(dice) if dice.random() < 0.5 else _chinese_line(dice)}\n"


def _english_line(dice: Random) -> str:
    words = " ".join(english(rank(dice)) for _ in range(dice.randrange(8, 16)))
    return f"The {words} takes {dice.randrange(2, 1000)}."


def _chinese_line(dice: Random) -> str:
    words = [chinese(rank(dice)) for _ in range(dice.randrange(8, 16))]
    return f"{''.join(words[:5])}，{''.join(words[5:])}用了 {dice.randrange(2, 1000)} 次。"
