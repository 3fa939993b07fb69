"""From facts to the page: one HTML file that brings everything along and lets nothing else in."""

import json
import tomllib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dreaming import scoring
from dreaming.report.calendar import weeks
from dreaming.report.facts import Anatomy, Facts, Night, Source, Version

MARK = "<!doctype html>\n<!-- nightly-dreaming report -->"
"""What every page begins with; a file that does not is not overwritten."""
HEAT = 4
"""Shades of the table of themes, besides none."""
_ESCAPED = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}
"""Inside a script element only these could end it, or a line; JSON may write them otherwise."""


def page(facts: Facts) -> str:
    """Return the page; the same facts give the same text."""
    style, script = _part("style.css"), _part("report.js")
    charts, charts_style = _part("vendor/uPlot.iife.min.js"), _part("vendor/uPlot.min.css")
    styles, scripts = f"{charts_style}\n{style}", (charts, script)
    say = words(facts.language)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            facts=facts,
            say=say,
            formulas=_formulas(say["formula"], facts),
            weeks=weeks(facts.nights, today=facts.now.date()),
            blocking=_blocking(facts.nights),
            style=Markup(styles),
            scripts=[Markup(one) for one in scripts],
            licence=Markup(_part("vendor/uPlot.LICENSE")),
            policy=_policy(styles, scripts),
            facts_json=Markup(embedded(document(facts, say))),
        )
    )


@cache
def words(language: str) -> Mapping[str, Any]:
    """Return what the page says in a language."""
    return tomllib.loads(_part(f"words/{language}.toml"))


def embedded(value: object) -> str:
    """Return JSON that may stand in a script element, whatever text it holds."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.translate(_ESCAPED)


def document(facts: Facts, say: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page's script reads; lists are in the order of their dataclass where keys would weigh most."""
    return {
        "say": {**say, "formula": _formulas(say["formula"], facts)},
        "language": facts.language,
        "today": facts.now.date().isoformat(),
        "places": facts.places,
        "weights": [list(pair) for pair in facts.weights],
        "minScore": facts.min_score,
        "nights": [_night(one) for one in facts.nights],
        "anatomies": [_anatomy(one, facts.places) for one in facts.anatomies],
        "asked": [[one.day.isoformat(), one.questions, one.answers] for one in facts.asked],
        "memory": {
            "budget": facts.memory.budget,
            "chars": facts.memory.chars,
            "versions": [_version(one) for one in facts.memory.versions],
        },
    }


def _night(one: Night) -> dict[str, Any]:
    return {
        "date": one.date.isoformat(),
        "state": one.state.value,
        "counts": [list(pair) for pair in one.counts],
        "promoted": one.promoted,
        "proposed": one.proposed,
        "refused": one.refused,
        "funnel": [list(pair) for pair in one.funnel],
    }


def _anatomy(one: Anatomy, places: str | None) -> dict[str, Any]:
    source = one.source
    return {
        "key": one.key,
        "id": source.id,
        "text": source.text,
        "language": source.language,
        "path": source.path,
        "lines": [source.first, source.last],
        "href": _href(source, places),
        "more": source.more_places,
        "score": one.score,
        "boost": one.boost,
        "parts": list(one.parts),
        "verdict": one.verdict,
        "recalls": one.recalls,
        "questions": one.questions,
        "days": [day.isoformat() for day in one.days],
        "light": one.light,
        "rem": one.rem,
        "night": one.night.isoformat() if one.night else None,
        "weights": list(one.weights),
        "least": one.least,
        "gates": [[gate.name, gate.passed, gate.value, gate.threshold, gate.missing] for gate in one.gates],
    }


def _version(one: Version) -> dict[str, Any]:
    return {
        "at": one.at.isoformat(sep=" ", timespec="minutes"),
        "kind": one.kind,
        "reason": one.reason,
        "night": one.night.isoformat() if one.night else None,
        "chars": one.chars,
        "exact": one.exact,
        "edits": [[edit.at, edit.cut, list(edit.put)] for edit in one.edits],
    }


def _formulas(say: Mapping[str, str], facts: Facts) -> dict[str, str]:
    numbers = {
        "signals": scoring.SIGNALS_THAT_SATURATE,
        "contexts": scoring.CONTEXTS_THAT_SATURATE,
        "tags": scoring.TAGS_THAT_SATURATE,
        "half_life": f"{facts.half_life_days:g}",
        "boost": f"{scoring.LIGHT_BOOST + scoring.REM_BOOST:.2f}",
    }
    return {name: text.format(**numbers) for name, text in say.items()}


def _blocking(nights: tuple[Night, ...]) -> tuple[str, int] | None:
    """Return the gate at which the last night stopped most of what had been asked for."""
    last = nights[-1].funnel if nights else ()
    return max((pair for pair in last if pair[0] != "recalled"), key=lambda pair: pair[1], default=None)


def _policy(style: str, scripts: tuple[str, ...]) -> str:
    """Return a Content-Security-Policy that lets run what this program wrote, and nothing load or be sent."""
    allowed = " ".join(map(_hashed, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hashed(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _href(source: Source, places: str | None) -> str | None:
    """Return the way from the page to a source's file; None where there is none."""
    if places is None or not source.path.endswith(".md"):
        return None
    return f"{quote(places)}/{quote(source.path)}"


def _heat(count: int, most: int) -> int:
    """Return the shade of a count: 0 for none, else 1 to 4."""
    return 0 if count == 0 else max(1, -(-count * HEAT // max(1, most)))


@cache
def _part(name: str) -> str:
    return files("dreaming.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dreaming", "report/templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"href": _href, "heat": _heat, "thousands": lambda number: f"{number:,}"}
    return environment
