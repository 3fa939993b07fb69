"""Where settings come from: flags, environment and files laid over one another, or every problem at once."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path, PurePath
from typing import Literal, get_origin

from platformdirs import user_config_path
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from dreaming.config import FIELDS, FILE_NAME, Config, Document, Key, expanded, legal, toml

ENV_PREFIX = "DREAM_"
ENV_SEPARATOR = "__"
NEEDS = (
    ("narrative", "narrator", "model", "model"),
    ("narrative", "narrator", "command", "command"),
    ("embeddings", "embedder", "endpoint", "model"),
    ("embeddings", "embedder", "endpoint", "base_url"),
)
"""Section, key and value that need another key of that section."""
READABLE = "a readable file"
"""What is legal where a file cannot be opened."""


def default_user_config() -> Path:
    """Return where the platform keeps the settings of a user; the file need not exist."""
    return user_config_path("nightly-dreaming", appauthor=False) / FILE_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigProblem:
    """One thing that is not legal; `key` is dotted, or names the line where a file cannot be read.

    Where a file cannot be opened, `found` says why.
    """

    key: str
    found: str
    legal: str
    source: str

    def __str__(self) -> str:
        if self.legal == READABLE:
            return f"{self.source} cannot be read ({self.found}); name {READABLE}"
        return f"{self.key}: found {self.found}, legal: {self.legal} (from {self.source})"


class ConfigError(Exception):
    """The settings are not legal; all problems of all sources, so that one correction is enough."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        way_out = "Nothing was done; correct each where it was set, or remove it to take the default."
        super().__init__("\n".join([*map(str, self.problems), way_out]))


def _problem(error: ErrorDetails, source: str) -> ConfigProblem:
    path = tuple(part for part in error["loc"] if isinstance(part, str))
    item = "".join(f"[{part}]" for part in error["loc"] if isinstance(part, int))
    unknown = error["type"] == "extra_forbidden"
    return ConfigProblem(
        key=".".join(path) + item,
        found=f"an unknown key{_meant(path)}" if unknown else _cut(toml(error["input"])),
        legal=", ".join(_beside(path)) if unknown else legal(FIELDS[path]),
        source=source,
    )


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def _beside(path: Key) -> dict[str, Key]:
    """Return the keys that the section of an unknown key has, by their last name."""
    return {key[-1]: key for key in FIELDS if key[:-1] == path[:-1]}


def _meant(path: Key) -> str:
    """Ask for the similar key beside an unknown one, else for the same name in other sections."""
    beside = _beside(path)
    similar = [beside[name] for name in get_close_matches(path[-1].lower(), beside, n=1)]
    meant = similar or [key for key in FIELDS if key[-1] == path[-1]]
    return f" (did you mean {' or '.join(map('.'.join, meant))}?)" if meant else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one source says; `broken` tells why a file says nothing."""

    source: str
    document: Document
    broken: tuple[ConfigProblem, ...] = ()

    @property
    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything in this source that is not legal by itself."""
        try:
            Config.model_validate(self.document)
        except ValidationError as error:
            return tuple(_problem(detail, self.source) for detail in error.errors(include_url=False))
        return self.broken


def load(
    *,
    workspace: Path | None,
    config: Path | None = None,
    environ: Mapping[str, str],
    user_config: Path | None,
    overrides: Mapping[str, object] = {},
) -> Config:
    """Return the settings that flags, environment and files make together, or raise `ConfigError` with all problems.

    `overrides` are flags by dotted key, None where a flag was not given; `workspace` is one of them. The `config.toml`
    of the workspace is read when `config` names no other file. A file must be legal even where something overrides it.
    """
    given = [*_variables(environ), *_flags({"workspace.path": workspace, **overrides})]
    user = [_file(user_config, required=False)] if user_config else []
    path = config or _home([*user, *given]) / FILE_NAME
    return _legal([*user, _file(path, required=config is not None), *given])


def load_shared(*, config: Path | None, environ: Mapping[str, str], user_config: Path | None) -> Config:
    """Return what is set for all workspaces together, or raise `ConfigError`: no workspace's own file counts."""
    user = [_file(user_config, required=False)] if user_config else []
    named = [_file(config, required=True)] if config else []
    return _legal([*user, *named, *_variables(environ)])


def _legal(layers: Sequence[Layer]) -> Config:
    """Return what the layers make when each is legal by itself and all are together."""
    problems = dict.fromkeys(chain.from_iterable(layer.problems for layer in layers))
    if problems:
        raise ConfigError(tuple(problems))
    settings = _together(layers)
    if lacking := tuple(_lacking(settings, layers)):
        raise ConfigError(lacking)
    return settings


def _lacking(settings: Config, layers: Sequence[Layer]) -> Iterator[ConfigProblem]:
    """Name what a choice needs and has not got."""
    for section, choice, wish, needed in NEEDS:
        own = getattr(settings, section)
        if getattr(own, choice) == wish and not getattr(own, needed):
            yield ConfigProblem(
                key=f"{section}.{needed}",
                found="nothing",
                legal=f'a value, since {section}.{choice} is "{wish}"',
                source=_sources(layers, (section, choice)),
            )


def _together(layers: Sequence[Layer]) -> Config:
    """Return what the layers make; even legal ones can contradict each other, as weights that are all 0."""
    try:
        return Config.model_validate(_merged(layers))
    except ValidationError as error:
        raise ConfigError(
            [_problem(detail, _sources(layers, detail["loc"])) for detail in error.errors(include_url=False)]
        ) from None


def _sources(layers: Sequence[Layer], path: Sequence[str | int]) -> str:
    return ", ".join(layer.source for layer in layers if _holds(layer.document, path))


def _holds(document: object, path: Sequence[str | int]) -> bool:
    if not path:
        return True
    return isinstance(document, Mapping) and path[0] in document and _holds(document[path[0]], path[1:])


def _merged(layers: Sequence[Layer]) -> Document:
    document: Document = {}
    for layer in layers:
        document = _over(document, layer.document)
    return document


def _over(below: Document, above: Document) -> Document:
    """Lay one document over another; tables are joined, all other values replaced."""
    result = dict(below)
    for key, value in above.items():
        under = result.get(key)
        if isinstance(under, Mapping) and isinstance(value, Mapping):
            value = _over(under, value)
        result[key] = value
    return result


def _nested(key: Sequence[str], value: object) -> Document:
    first, *rest = key
    return {first: _nested(rest, value) if rest else value}


def _home(layers: Sequence[Layer]) -> Path:
    """Return the workspace that the sources name, before they are checked; else the current folder."""
    match _merged(layers):
        case {"workspace": {"path": str(path)}}:
            return expanded(Path(path))
    return Path()


def _flags(overrides: Mapping[str, object]) -> Iterator[Layer]:
    for key, value in overrides.items():
        if value is not None:
            plain = str(value) if isinstance(value, PurePath) else value
            yield Layer(source="a flag", document=_nested(tuple(key.split(".")), plain))


def _variables(environ: Mapping[str, str]) -> Iterator[Layer]:
    for name, text in sorted(environ.items()):
        rest = name.removeprefix(ENV_PREFIX)
        if rest != name and ENV_SEPARATOR in rest:
            key = tuple(rest.lower().split(ENV_SEPARATOR))
            source = f"environment variable {name}"
            yield Layer(source=source, document=_nested(key, _value(text, FIELDS.get(key))))


SWITCHES = {"1": True, "0": False, "true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}


def _value(text: str, field: FieldInfo | None) -> object:
    """Return what a variable says: a text as it stands, everything else read as JSON or TOML if it is that."""
    if field is None or field.annotation in (str, Path) or get_origin(field.annotation) is Literal:
        return text
    if field.annotation is bool:
        return SWITCHES.get(text.strip().lower(), text)
    for read in (json.loads, _toml_value):
        try:
            return read(text)
        except (ValueError, RecursionError):
            continue
    return text


def _toml_value(text: str) -> object:
    document = tomllib.loads(f"value = {text}")
    if len(document) > 1:
        raise ValueError("more than one value")
    return document["value"]


def _file(path: Path, *, required: bool) -> Layer:
    """Return what a file says; one that is not required may be missing, but not unreadable."""
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError) and not required
        return Layer(source=str(path), document={}, broken=() if missing else (_unreadable(path, error),))
    return Layer(source=str(path), document=_anchored(document, path.parent))


def _anchored(document: Document, folder: Path) -> Document:
    """Count relative workspaces from the folder of the file that names them."""
    match document:
        case {"workspace": {"path": str(path)}}:
            document = _over(document, {"workspace": {"path": _from(folder, path)}})
    match document:
        case {"schedule": {"workspaces": [*paths]}}:
            seen = [_from(folder, path) if isinstance(path, str) else path for path in paths]
            document = _over(document, {"schedule": {"workspaces": seen}})
    return document


def _from(folder: Path, path: str) -> str:
    return path if path.startswith("~") else str(folder / path)


def _unreadable(path: Path, error: Exception) -> ConfigProblem:
    """Say what keeps a file from being read, with the line where that is known."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return ConfigProblem(key=f"line {line}", found="bytes that are no text", legal="UTF-8", source=str(path))
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return ConfigProblem(key="the file", found=reason, legal=READABLE, source=str(path))
    place = re.search(r" \(at (line \d+), .*\)$", str(error))
    key, found = (place[1], str(error)[: place.start()]) if place else ("the file", str(error))
    return ConfigProblem(key=key, found=_cut(found), legal="TOML", source=str(path))
