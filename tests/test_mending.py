"""Putting marker lines back: what comes out pairs up, and no other line is touched."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from workspace.dreams import MARKER, Entry
from workspace.mending import lonely, mended

TOLD = Entry(stamp="March 6, 2026, 3:00 AM CST", prose="A quiet day.")
LINES = (
    *(f"<!-- openclaw:dreaming:{name}:{edge} -->" for name in ("diary", "light") for edge in ("start", "end")),
    "# Dream Diary",
    "## Light Sleep",
    "- Candidate: x",
    "  - recalls: 3",
    "mine",
    "",
    "---",
    f"*{TOLD.stamp}*",
    TOLD.prose,
)


def others(text: str) -> list[str]:
    return [line for line in text.splitlines() if not MARKER.match(line)]


@given(lines=st.lists(st.sampled_from(LINES), max_size=12), end=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_what_is_mended_pairs_up_and_keeps_every_other_line(lines: Sequence[str], end: str, last: bool) -> None:
    text = end.join(lines) + (end if last else "")
    for name in ("diary", "light"):
        made = mended(text, name, {TOLD})
        if made is not None:
            assert lonely(made, name) == ()
            assert others(made) == others(text)
            assert mended(made, name, {TOLD}) == made
