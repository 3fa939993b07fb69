"""The shipped lists of what an entry may not say: one file per concern and language, `#` begins a comment line."""

from functools import cache
from importlib.resources import files


@cache
def entries(concern: str) -> tuple[str, ...]:
    """Return the lines of a list in all its languages, since a model may mix them; sorted by language."""
    lists = sorted((file for file in files(__name__).iterdir() if file.name.startswith(f"{concern}.")), key=str)
    lines = (line.strip() for one in lists for line in one.read_text(encoding="utf-8").splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))
