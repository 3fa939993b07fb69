"""The settings: `config.toml`, environment and flags as one frozen `Config`, or every problem at once."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, get_args, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from annotated_types import Ge, Gt, Le
from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo
from tzlocal import get_localzone

from memory.redaction import MOST_PATTERNS, checked
from workspace.diary import DEFAULT_PATTERN

FILE_NAME = "config.toml"
CENTURY_DAYS = 36_500
"""The longest span a key may name: longer is a slip of the finger."""

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


def _endings(value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what no path of a Markdown file ends with."""
    for ending in value:
        if not ending.lower().endswith(".md") or PurePosixPath(ending).is_absolute():
            raise ValueError(f"{ending} is not the end of a path")
    return value


def _web_address(value: str) -> str:
    """Refuse what nothing can be sent to."""
    if value and not re.match(r"https?://[^/\s]+\S*\Z", value):
        raise ValueError("no address of the web")
    return value


def _patterns(value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is no regular expression, or one that could take for ever."""
    if len(value) > MOST_PATTERNS:
        raise ValueError("too many")
    return tuple(checked(pattern) for pattern in value)


def expanded(path: Path) -> Path:
    """Put the home folder in place of `~`; the home of an unknown user stays as written and is not found later."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


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
Folder = Annotated[Path, Field(strict=False), AfterValidator(expanded), Legal("a folder; ~ is the home folder")]
Endings = Annotated[Texts, AfterValidator(_endings), Legal("a list of ends of paths of .md files")]
Patterns = Annotated[
    Texts,
    AfterValidator(_patterns),
    Legal("a list of regular expressions, none longer than 500 characters, nothing variable inside a repeat"),
]
Masks = Annotated[
    tuple[Literal["email", "phone", "ip"], ...], Field(strict=False), Legal('a list out of "email", "phone" and "ip"')
]
Address = Annotated[
    str, AfterValidator(_web_address), Legal('an address that begins with http:// or https://, or "" for none')
]
Language = Literal["auto", "de", "en", "es", "fr", "ja", "ko", "pt", "ru", "zh"]
Mode = Literal["apply", "review"]
Narrator = Literal["plain", "model", "command"]


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
    limit_minutes: Annotated[int, Field(ge=1, le=1440), Unit("minutes")] = Field(
        default=60, description="How long a scheduled night may take; it is stopped then, and taken up the next time."
    )


class Schedule(Section):
    """Whose nights are run together; only your user config, a --config file and the environment say it."""

    workspaces: Texts = Field(
        default=(),
        examples=[["~/agents/*"]],
        description="Workspaces, or glob patterns of them, seen from the folder of this file; ~ is the home folder.",
    )
    workers: Annotated[int, Field(ge=0, le=64), Unit("nights")] = Field(
        default=0, description="How many nights run at once; 0 is one less than there are cores, and at least 1."
    )


class Hooks(Section):
    """Who is told how a scheduled night begins and ends; counts are told, never a text of yours."""

    command: Texts = Field(
        default=(),
        examples=[["/home/me/bin/told"]],
        description="Program and arguments; start, finish or fail stands behind them, a JSON document is its input.",
    )
    url: Address = Field(
        default="", description="Where that document is posted to; /start or /fail is added, as healthchecks.io has it."
    )
    timeout_seconds: Annotated[float, Field(ge=1, le=600), Unit("seconds")] = Field(
        default=10, description="How long either may take."
    )


class Workspace(Section):
    """Where the diaries are."""

    path: Folder = Field(
        default=Path(),
        examples=["/home/me/agent"],
        description="The workspace, seen from the folder of this file; without it, the current folder.",
    )
    diaries: InnerFolder = Field(default="memory", description="The folder of the diaries, with its sub-folders.")
    pattern: DatedPattern = Field(
        default=DEFAULT_PATTERN, description="Which names of .md files are diaries, and of which day."
    )
    memories: Endings = Field(
        default=(),
        examples=[["people.md", "topics/*.md"]],
        description="Files without a date in that folder that hold saved memories, by what their path ends with.",
    )


class Sessions(Section):
    """Transcripts of conversations."""

    enabled: bool = Field(default=False, description="Whether a night reads transcripts besides the diaries.")
    paths: Texts = Field(
        default=("sessions/*.jsonl",),
        description="Where the transcripts are, as glob patterns seen from the workspace; ~ is the home folder.",
    )
    agents: Texts = Field(
        default=(), description="Whose transcripts belong to this workspace; none named is all that are found."
    )


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
    base_url: str = Field(
        default="",
        description='Address of an OpenAI-compatible service; without it, "model" is one that the program llm knows.',
    )
    api_key_env: str = Field(default="", description="Name of the environment variable that holds the key.")
    api_key_command: Texts = Field(
        default=(), examples=[["pass", "show", "openai"]], description="Program and arguments that print the key."
    )
    api_key: str = Field(
        default="", description="The key in clear, if there is no other way: whoever reads this file has it."
    )
    command: Texts = Field(
        default=(),
        examples=[["claude", "-p", "--tools", ""]],
        description='Program and arguments of an agent; used by the narrator "command" only.',
    )
    timeout_seconds: Annotated[float, Field(ge=1, le=3600), Unit("seconds")] = Field(
        default=60, description="How long a model may take for an entry; it is asked twice at most."
    )
    language: Language = Field(
        default="auto", description="Language of the entries; auto is [dreaming] language, then that of the material."
    )
    style: str = Field(default="", description="A wish for the voice, in your words; a narrator with a model heeds it.")
    diary_entries: Annotated[int, Field(ge=1, le=100_000), Unit("entries")] = Field(
        default=200, description="How many stay in DREAMS.md; older ones move to the archive."
    )


class Redact(Section):
    """What is hidden besides secrets, before anything is stored or shown; a change lets all diaries be read anew."""

    patterns: Patterns = Field(
        default=(),
        description="Secrets of your own: all that matches is hidden, or only the group named secret.",
    )
    mask: Masks = Field(
        default=(), description="Personal data that is masked, as [email], [phone] or [ip]; nothing else is lost."
    )


class Concepts(Section):
    """Your own words for the concept tags."""

    stop_words: Texts = Field(default=(), description="Words that are never a tag.")
    glossary: Texts = Field(default=(), description="Terms that always are, when a text contains them.")


class Embeddings(Section):
    """Finding by meaning, beside finding by words."""

    embedder: Literal["auto", "off", "local", "endpoint"] = Field(
        default="auto",
        description='Who makes vectors; auto is local where the extra "embeddings" is installed, and off elsewhere.',
    )
    model: str = Field(default="", description='Name of the model; used by the embedder "endpoint" only.')
    base_url: str = Field(
        default="", description='Address before /embeddings, as of any OpenAI-compatible service; for "endpoint" only.'
    )
    api_key_env: str = Field(default="", description='Name of the variable that holds the key; for "endpoint" only.')
    timeout_seconds: Annotated[float, Field(ge=1, le=3600), Unit("seconds")] = Field(
        default=20, description="How long one request may take."
    )


class Config(Section):
    """All settings, checked."""

    dreaming: Dreaming = Dreaming()
    schedule: Schedule = Schedule()
    hooks: Hooks = Hooks()
    workspace: Workspace = Workspace()
    sessions: Sessions = Sessions()
    light: Light = Light()
    rem: Rem = Rem()
    deep: Deep = Deep()
    memory: Memory = Memory()
    narrative: Narrative = Narrative()
    redact: Redact = Redact()
    concepts: Concepts = Concepts()
    embeddings: Embeddings = Embeddings()


def zone(config: Config) -> ZoneInfo:
    """Return the time zone of the nights: the configured one, the machine's, or UTC where that is unknown."""
    if config.dreaming.timezone:
        return ZoneInfo(config.dreaming.timezone)
    try:
        return get_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


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


def legal(field: FieldInfo) -> str:
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
            parts += [f"# {field.description}", f"{_assignment(key[-1], field)}  # {legal(field)}"]
    return "\n".join(parts) + "\n"


def _assignment(name: str, field: FieldInfo) -> str:
    """Return `key = default`; a key whose absence means something stands as a commented example."""
    for example in field.examples or ():
        return f"# {name} = {toml(example)}"
    return f"{name} = {toml(field.default)}"
