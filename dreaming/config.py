"""The settings: `config.toml`, environment and flags as one frozen `Config`, or every problem at once."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import chain
from pathlib import Path, PurePath, PurePosixPath
from typing import Annotated, Any, Literal, get_args, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from annotated_types import Ge, Gt, Le
from cronsim import CronSim, CronSimError
from platformdirs import user_config_path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from tzlocal import get_localzone

ENV_PREFIX = "DREAM_"
ENV_SEPARATOR = "__"
FILE_NAME = "config.toml"
CENTURY_DAYS = 36_500
"""The longest span a key may name: longer is a slip of the finger."""
DIARY_PATTERN = r"^(?:.*?[^0-9])??(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9]).*\.md$"
"""A Markdown file whose name carries a date (SPEC 1); the first date counts."""

Key = tuple[str, ...]
Document = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Unit:
    """What a number counts, as the legal range says it."""

    name: str


@dataclass(frozen=True, slots=True)
class Legal:
    """What a key accepts, where type and bounds do not say it."""

    text: str


def _cron(value: str) -> str:
    """Refuse what cron would not run; five fields, because a crontab line has no seconds."""
    if len(value.split()) != 5:
        raise ValueError("not five fields")
    try:
        CronSim(value, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise ValueError(str(error)) from error
    return value


def _time_zone(value: str) -> str:
    """Refuse a name that the time zone data does not know."""
    try:
        if value:
            ZoneInfo(value)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(str(error)) from error
    return value


def _dated_pattern(value: str) -> str:
    """Refuse an expression that does not compile, or could not say which day a file belongs to."""
    try:
        groups = re.compile(value).groupindex
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if "date" not in groups:
        raise ValueError("no group named date")
    return value


def _inner_folder(value: str) -> str:
    """Refuse a folder that would lead out of the workspace, or be all of it."""
    path = PurePosixPath(value)
    if path.is_absolute() or not path.parts or {"..", "~"} & set(path.parts):
        raise ValueError("not inside the workspace")
    return value


def _expanded(path: Path) -> Path:
    """Put the home folder in place of `~`; the home of an unknown user stays as written and is not found later."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _only(available: object) -> Callable[[Any], Any]:
    """Refuse every choice but the one that this version has."""

    def check(value: object) -> object:
        if value != available:
            raise ValueError("not available")
        return value

    return check


Share = Annotated[float, Field(ge=0, le=1)]
Similarity = Annotated[float, Field(gt=0, le=1)]
Days = Annotated[int, Field(ge=1, le=CENTURY_DAYS), Unit("days")]
Votes = Annotated[int, Field(ge=1, le=1000)]
Limit = Annotated[int, Field(ge=0, le=10_000)]
Weight = Annotated[float, Field(ge=0, le=1000)]
Texts = Annotated[tuple[str, ...], Field(strict=False)]
Cron = Annotated[str, AfterValidator(_cron), Legal("a cron expression of five fields")]
TimeZone = Annotated[
    str, AfterValidator(_time_zone), Legal('a time zone such as "Europe/Berlin", or "" for the machine\'s')
]
DatedPattern = Annotated[str, AfterValidator(_dated_pattern), Legal("a regular expression with a group named date")]
InnerFolder = Annotated[str, AfterValidator(_inner_folder), Legal("a folder inside the workspace")]
Folder = Annotated[Path, Field(strict=False), AfterValidator(_expanded), Legal("a folder; ~ is the home folder")]
Language = Literal["auto", "de", "en", "es", "fr", "ja", "ko", "pt", "ru", "zh"]
Off = Annotated[bool, AfterValidator(_only(False)), Legal("false; transcripts are not read by this version")]
Mode = Annotated[
    Literal["apply", "review"],
    AfterValidator(_only("apply")),
    Legal('"apply"; "review" is not available in this version'),
]
Narrator = Annotated[
    Literal["plain", "model", "command"],
    AfterValidator(_only("plain")),
    Legal('"plain"; "model" and "command" are not available in this version'),
]


class Section(BaseModel):
    """What all sections share: nothing unknown, nothing converted, nothing changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, validate_default=True)


class Dreaming(Section):
    """When the night comes."""

    enabled: bool = Field(default=False, description="Whether the scheduler runs nights; a run by hand always runs.")
    time: Cron = Field(default="0 3 * * *", description="When a night begins.")
    timezone: TimeZone = Field(default="", description="Where days begin and end.")
    language: Language = Field(
        default="auto", description="Language of what is written, as ISO 639-1; auto is that of the diaries."
    )
    reports: bool = Field(default=False, description="Whether each night is also kept under memory/dreaming/<phase>/.")


class Workspace(Section):
    """Where the diaries are."""

    path: Folder = Field(
        default=Path(),
        examples=["/home/me/agent"],
        description="The workspace, seen from the folder of this file; without it, the current folder.",
    )
    diaries: InnerFolder = Field(default="memory", description="The folder of the diaries, with its sub-folders.")
    pattern: DatedPattern = Field(default=DIARY_PATTERN, description="Which file names are diaries, and of which day.")


class Sessions(Section):
    """Transcripts of conversations."""

    enabled: Off = Field(default=False, description="Whether transcripts are read besides the diaries.")
    paths: Texts = Field(default=("sessions/*.jsonl",), description="Where the transcripts are, as glob patterns.")


class Light(Section):
    """The first phase: sorts what is recent."""

    enabled: bool = Field(default=True, description="Whether the phase runs.")
    lookback_days: Days = Field(default=2, description="How old the last signal of a fragment may be.")
    limit: Annotated[Limit, Unit("fragments")] = Field(
        default=100, description="How many fragments are staged at most."
    )
    dedupe_similarity: Similarity = Field(default=0.9, description="From which similarity on two texts are one.")
    show: Annotated[Limit, Unit("candidates")] = Field(
        default=30, description="How many candidates DREAMS.md lists at most."
    )


class Rem(Section):
    """The second phase: looks for what keeps coming back."""

    enabled: bool = Field(default=True, description="Whether the phase runs.")
    lookback_days: Days = Field(default=7, description="How old the last signal may be when nothing was staged.")
    limit: Annotated[Limit, Unit("themes")] = Field(default=10, description="How many themes are named at most.")
    min_pattern_strength: Share = Field(default=0.75, description="From which strength on a theme is strong.")
    dedupe_similarity: Similarity = Field(default=0.88, description="From which similarity on two texts are one.")
    min_confidence: Share = Field(default=0.45, description="From which confidence on a fragment may be a truth.")
    max_truths: Annotated[Limit, Unit("candidate truths")] = Field(
        default=3, description="How many candidate truths are chosen at most."
    )


class Weights(Section):
    """What each component counts; only the proportions matter."""

    frequency: Weight = Field(default=0.24, description="How many signals there are.")
    relevance: Weight = Field(default=0.30, description="How well the fragment answered on average.")
    diversity: Weight = Field(default=0.15, description="How many different questions or days asked for it.")
    recency: Weight = Field(default=0.15, description="How fresh the last signal is.")
    consolidation: Weight = Field(default=0.10, description="Over how many days it came back.")
    conceptual: Weight = Field(default=0.06, description="How many concepts it touches.")


def _some_weight(weights: Weights) -> Weights:
    if not any(value for _, value in weights):
        raise ValueError("all weights are 0")
    return weights


class Deep(Section):
    """The third phase: promotes to MEMORY.md."""

    enabled: bool = Field(default=True, description="Whether the phase runs.")
    limit: Annotated[Limit, Unit("promotions")] = Field(
        default=10, description="How many promotions a night makes at most."
    )
    min_score: Share = Field(default=0.8, description="The score a candidate needs.")
    min_recall_count: Annotated[Votes, Unit("recalls")] = Field(
        default=3, description="How many recalls a candidate needs."
    )
    min_unique_queries: Annotated[Votes, Unit("questions or days")] = Field(
        default=3, description="How many different questions, or days with one, a candidate needs."
    )
    max_age_days: Annotated[int | None, Field(ge=1, le=CENTURY_DAYS), Unit("days")] = Field(
        default=None, examples=[365], description="How old the last signal of a candidate may be; without it, any age."
    )
    recency_half_life_days: Annotated[float, Field(ge=0.1, le=CENTURY_DAYS), Unit("days")] = Field(
        default=14, description="After how long without a signal recency is halved."
    )
    max_snippet_tokens: Annotated[int, Field(ge=10, le=10_000), Unit("tokens")] = Field(
        default=160, description="How long one promoted text may be."
    )
    weights: Annotated[
        Weights, AfterValidator(_some_weight), Legal("a table of weights, at least one of them above 0")
    ] = Weights()


class Memory(Section):
    """What MEMORY.md and the store hold."""

    budget_chars: Annotated[int, Field(ge=100, le=10_000_000), Unit("characters")] = Field(
        default=10_000, description="How long MEMORY.md may become, the text of the user included."
    )
    evict: Literal["oldest", "least-used"] = Field(
        default="oldest", description="Which promotions move to the archive when the budget is used up."
    )
    mode: Mode = Field(default="apply", description="Whether promotions are written at once or wait for a review.")
    retention_days: Days = Field(
        default=90, description="When a fragment is forgotten that nobody asked for and whose source is gone."
    )


class Narrative(Section):
    """The entries of the dream diary in DREAMS.md."""

    narrator: Narrator = Field(default="plain", description="Who writes the entries.")
    model: str = Field(default="", description='Name of the model; used by the narrator "model" only.')
    base_url: str = Field(default="", description='Address of the model; used by the narrator "model" only.')
    api_key_env: str = Field(
        default="", description='Name of the variable that holds the key; used by the narrator "model" only.'
    )
    command: Texts = Field(
        default=(), description='Program and arguments of an agent; used by the narrator "command" only.'
    )
    timeout_seconds: Annotated[float, Field(ge=1, le=3600), Unit("seconds")] = Field(
        default=60, description="How long one entry may take."
    )
    language: Language = Field(
        default="auto", description="Language of the entries; auto is [dreaming] language, then that of the material."
    )
    style: str = Field(default="", description="A wish for the voice, in your words; a narrator with a model heeds it.")
    diary_entries: Annotated[int, Field(ge=1, le=100_000), Unit("entries")] = Field(
        default=200, description="How many stay in DREAMS.md; older ones move to the archive."
    )


class Concepts(Section):
    """Your own words for the concept tags."""

    stop_words: Texts = Field(default=(), description="Words that are never a tag.")
    glossary: Texts = Field(default=(), description="Terms that always are, when a text contains them.")


class Config(Section):
    """All settings, checked."""

    dreaming: Dreaming = Dreaming()
    workspace: Workspace = Workspace()
    sessions: Sessions = Sessions()
    light: Light = Light()
    rem: Rem = Rem()
    deep: Deep = Deep()
    memory: Memory = Memory()
    narrative: Narrative = Narrative()
    concepts: Concepts = Concepts()


def zone(config: Config) -> ZoneInfo:
    """Return the time zone of the nights: the configured one, the machine's, or UTC where that is unknown."""
    if config.dreaming.timezone:
        return ZoneInfo(config.dreaming.timezone)
    try:
        return get_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def default_user_config() -> Path:
    """Return where the platform keeps the settings of a user; the file need not exist."""
    return user_config_path("nightly-dreaming", appauthor=False) / FILE_NAME


def _section(field: FieldInfo) -> type[Section] | None:
    """Return the section that a field holds, None for a plain value."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def _fields(section: type[Section], prefix: Key = ()) -> Iterator[tuple[Key, FieldInfo]]:
    for name, field in section.model_fields.items():
        yield (*prefix, name), field
        if inner := _section(field):
            yield from _fields(inner, (*prefix, name))


FIELDS: Mapping[Key, FieldInfo] = dict(_fields(Config))
"""Every section and every key, in the order of SPEC 13."""

KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _legal(field: FieldInfo) -> str:
    """Say in words what a key accepts."""
    said = next((note.text for note in field.metadata if isinstance(note, Legal)), None)
    if said or _section(field):
        return said or "a table of keys"
    return " ".join([_kind(field.annotation), *_unit(field), *_bounds(field)])


def _kind(annotation: object) -> str:
    if get_origin(annotation) is Literal:
        *most, last = (toml(choice) for choice in get_args(annotation))
        return f"{', '.join(most)} or {last}"
    if get_origin(annotation) is tuple:
        return "a list of texts"
    kind, *_ = get_args(annotation) or (annotation,)
    return KINDS[kind]


def _bounds(field: FieldInfo) -> Iterator[str]:
    for bound in field.metadata:
        if isinstance(bound, Ge):
            yield f"from {bound.ge}"
        elif isinstance(bound, Gt):
            yield f"above {bound.gt} and up"
        elif isinstance(bound, Le):
            yield f"to {bound.le}"


def _unit(field: FieldInfo) -> Iterator[str]:
    yield from (f"of {note.name}" for note in field.metadata if isinstance(note, Unit))


def toml(value: object) -> str:
    """Return a value as TOML writes it; what TOML has no word for is shown as Python would."""
    match value:
        case str():
            literal = "\\" in value and "'" not in value and value.isprintable()
            return f"'{value}'" if literal else json.dumps(value, ensure_ascii=False)
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(toml(item) for item in value)}]"
        case dict():
            return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    return str(value)


HEAD = """\
# Settings of the nightly pipeline. Every key stands here with its default and, behind it, what is legal; anything
# else is refused, never replaced. A flag wins over an environment variable (DREAM_DEEP__MIN_SCORE=0.7), that over
# this file, this file over your user config. Remove a line to let your user config or the default decide."""


def rendered() -> str:
    """Return the text of `config.toml`: every key with its default, what it means above it, what is legal behind it."""
    parts = [HEAD]
    for key, field in FIELDS.items():
        if section := _section(field):
            parts += ["", f"# {section.__doc__}", f"[{'.'.join(key)}]"]
        else:
            parts += [f"# {field.description}", f"{_assignment(key[-1], field)}  # {_legal(field)}"]
    return "\n".join(parts) + "\n"


def _assignment(name: str, field: FieldInfo) -> str:
    """Return `key = default`; a key whose absence means something stands as a commented example."""
    for example in field.examples or ():
        return f"# {name} = {toml(example)}"
    return f"{name} = {toml(field.default)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigProblem:
    """One thing that is not legal; `key` is dotted, or names the line where a file cannot be read."""

    key: str
    found: str
    legal: str
    source: str

    def __str__(self) -> str:
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
        legal=", ".join(_beside(path)) if unknown else _legal(FIELDS[path]),
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
    layers = [*user, _file(path, required=config is not None), *given]
    problems = dict.fromkeys(chain.from_iterable(layer.problems for layer in layers))
    if problems:
        raise ConfigError(tuple(problems))
    return _together(layers)


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
            return _expanded(Path(path))
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
    """Count a relative workspace from the folder of the file that names it."""
    match document:
        case {"workspace": {"path": str(path)}} if not path.startswith("~"):
            return _over(document, {"workspace": {"path": str(folder / path)}})
    return document


def _unreadable(path: Path, error: Exception) -> ConfigProblem:
    """Say what keeps a file from being read, with the line where that is known."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return ConfigProblem(key=f"line {line}", found="bytes that are no text", legal="UTF-8", source=str(path))
    if isinstance(error, OSError):
        return ConfigProblem(key="the file", found=error.strerror or "it", legal="a readable file", source=str(path))
    place = re.search(r" \(at (line \d+), .*\)$", str(error))
    key, found = (place[1], str(error)[: place.start()]) if place else ("the file", str(error))
    return ConfigProblem(key=key, found=_cut(found), legal="TOML", source=str(path))
