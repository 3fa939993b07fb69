"""What a model is told: prompts as files, which a workspace may replace, about material that is only ever quoted."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files

from jinja2 import FunctionLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dreaming.narrators.entry import (
    LONGEST,
    MAX_GRADUATES,
    MAX_TEXTS,
    PHASES,
    SHORTEST,
    Graduate,
    Material,
    Request,
    by_characters,
    code_of,
)
from workspace.lines import one_line

OVERRIDES = ("system", *PHASES)
"""The prompts a workspace may replace, each by a file of that name."""
PARTS = ("parts", "again")
SHIPPED = "shipped"
"""The folder in which a prompt of the workspace finds the shipped ones, to include or to extend them."""
LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "ja": "Japanese",
    "ko": "Korean",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese",
}
EARLIER_ENTRIES, EARLIER_CHARACTERS = 3, 360
"""What a model sees of the last entries (SPEC 11)."""
BREAKS = (TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a prompt of the user's may raise while it is filled in."""
TEXT_CHARACTERS = 400
"""What it sees of a text; a chunk is shorter, a promoted text may be longer."""


class BrokenPromptError(Exception):
    """A prompt of the workspace cannot be filled in."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        super().__init__(f"the prompt {name}.md was not used ({reason}); mend it, or remove it to use the own one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the user wants of the prompts: a style, and own prompts by their name."""

    style: str = ""
    own: tuple[tuple[str, str], ...] = ()


def request(material: Material, wishes: Wishes = Wishes()) -> Request:
    """Return what a model is asked; raise BrokenPromptError when an own prompt cannot be filled in."""
    own, used = dict(wishes.own), dict[str, str]()
    values = _values(material, wishes.style)
    return Request(
        material=material,
        system=_filled("system", own, values, used),
        asked=_filled(material.phase, own, values, used),
        prompts=tuple(used.values()),
    )


def again(first: Request, complaint: str) -> Request:
    """Return the same request with what was wrong with the first answer."""
    used = dict[str, str]()
    asked = _filled("again", {}, {"asked": first.asked, "complaint": complaint}, used)
    return replace(first, asked=asked, prompts=(*first.prompts, *used.values()))


def _values(material: Material, style: str) -> dict[str, object]:
    code = code_of(material.language)
    return {
        "language": LANGUAGES.get(code, material.language),
        "unit": "characters" if by_characters(code) else "words",
        "shortest": SHORTEST,
        "longest": LONGEST,
        "style": quoted(style),
        "night": material.night.isoformat(),
        "texts": [quoted(text) for text in material.texts[:MAX_TEXTS]],
        "themes": [quoted(theme) for theme in material.themes],
        "graduates": [_kept(graduate) for graduate in material.graduates[:MAX_GRADUATES]],
        "earlier": [quoted(entry, EARLIER_CHARACTERS) for entry in material.earlier[:EARLIER_ENTRIES]],
    }


def _kept(graduate: Graduate) -> str:
    often = f"asked for {graduate.recalls} times, on {graduate.days} days, in {graduate.queries} different questions"
    return f"{quoted(graduate.text)} ({often})"


def quoted(text: str, most: int = TEXT_CHARACTERS) -> str:
    """Return a text as one line that cannot end the quotation it stands in."""
    plain = one_line(text).replace("<", "‹").replace(">", "›")
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def _filled(name: str, own: Mapping[str, str], values: Mapping[str, object], used: dict[str, str]) -> str:
    """Return a prompt filled in, and add to `used` each file that it was made of."""
    shipped = {f"{part}.md": _shipped(part) for part in (*OVERRIDES, *PARTS)}
    sources = shipped | {f"{SHIPPED}/{part}": text for part, text in shipped.items()}
    sources |= {f"{part}.md": text for part, text in own.items()}

    def source(part: str) -> str | None:
        if part in sources:
            used[part] = sources[part]
        return sources.get(part)

    room = ImmutableSandboxedEnvironment(loader=FunctionLoader(source), undefined=StrictUndefined, autoescape=False)
    try:
        return room.get_template(f"{name}.md").render(values).strip()
    except BREAKS as error:
        raise BrokenPromptError(name, f"{type(error).__name__}: {one_line(str(error))}") from error


def _shipped(name: str) -> str:
    return files("dreaming").joinpath("prompts", "narrative", f"{name}.md").read_text(encoding="utf-8")
