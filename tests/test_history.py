"""What is kept of the user's files: each change, exactly where nothing in it is secret, and never a secret."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.history import Why, write
from dreaming.home import opened
from house import House, moment

SECRET = "Kirsch-" + "46!xQ"
LINES = ("# Mine", "## Log", "- a line", "- another one", "", "ß 甲乙丙", f"password: {SECRET}")
WHY = Why(kind="sections", reason="a test", now=moment("2026-03-06T03:00"))


@settings(max_examples=40)
@given(
    versions=st.lists(st.lists(st.sampled_from(LINES), min_size=1, max_size=8), min_size=2, max_size=4),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_kept_of_a_change_is_exact_where_nothing_in_it_is_secret(
    versions: Sequence[Sequence[str]], end: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        house.write("DREAMS.md", end.join(versions[0]) + end)
        with opened(house.root, environ={}, overrides=house.settings) as home:
            for lines in versions[1:]:
                document = home.files.read("DREAMS.md")
                if not (number := write(home, document, end.join(lines) + end, WHY)):
                    continue
                (change,) = [one for one in home.changes.all() if one.id == number]
                image = home.changes.image(str(change.after))
                assert SECRET not in image.text
                assert image.whole == (not any(SECRET in line for line in lines))
                assert len(image.text.splitlines()) == len(lines)
