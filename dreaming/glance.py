"""The few settings a hook needs, read in a tenth of the time that all of them take; `dream` is who judges them."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from platformdirs import user_config_path

FILE_NAME = "config.toml"

Document = Mapping[str, object]


class UnreadableSettingsError(Exception):
    """A file of settings is no TOML, or cannot be opened."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be read ({reason}); dream status says what is wrong with it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What the sources say together; `workspace` is None when none of them names one. Illegal values are defaults."""

    workspace: Path | None
    diaries: str
    budget_chars: int
    timezone: str
    patterns: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()


def user_settings() -> Path:
    """Return where the settings of the user are."""
    return user_config_path("nightly-dreaming", appauthor=False) / FILE_NAME


def glance(*, workspace: Path | None, config: Path | None, environ: Mapping[str, str], user_config: Path) -> Glance:
    """Return the settings in the order of `dreaming.layers`: flag, environment, the workspace's file, the user's file.

    Without a named workspace there is no file of a workspace: the present folder may be anybody's.
    """
    documents = [_document(user_config), _variables(environ)]
    named = workspace or _workspace(documents)
    file = config or (named / FILE_NAME if named else None)
    if file is not None:
        documents.insert(1, _document(file))
    budget = _last(documents, "memory", "budget_chars")
    zone = _last(documents, "dreaming", "timezone")
    return Glance(
        workspace=workspace or _workspace(documents),
        diaries=_inner(_last(documents, "workspace", "diaries")),
        budget_chars=budget if isinstance(budget, int) and not isinstance(budget, bool) and budget >= 100 else 10_000,
        timezone=zone if isinstance(zone, str) else "",
        patterns=_texts(_last(documents, "redact", "patterns")),
        mask=_texts(_last(documents, "redact", "mask")),
    )


def _document(path: Path) -> Document:
    """Return what a file says, its workspace counted from its folder; nothing when it is not there."""
    try:
        said = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UnreadableSettingsError(path, str(error)) from error
    match said:
        case {"workspace": {"path": str(folder)}} if not folder.startswith("~"):
            said["workspace"]["path"] = str(path.parent.absolute() / folder)
    return said


def _variables(environ: Mapping[str, str]) -> Document:
    budget = environ.get("DREAM_MEMORY__BUDGET_CHARS", "").strip().replace("_", "")
    texts = {
        "workspace": {"path": environ.get("DREAM_WORKSPACE__PATH"), "diaries": environ.get("DREAM_WORKSPACE__DIARIES")},
        "dreaming": {"timezone": environ.get("DREAM_DREAMING__TIMEZONE")},
    }
    texts["redact"] = {
        "patterns": environ.get("DREAM_REDACT__PATTERNS"),
        "mask": environ.get("DREAM_REDACT__MASK"),
    }
    return {**texts, "memory": {"budget_chars": int(budget) if budget.isdecimal() and len(budget) < 9 else None}}


def _workspace(documents: Sequence[Document]) -> Path | None:
    match _last(documents, "workspace", "path"):
        case str(path) if path:
            try:
                return Path(path).expanduser().absolute()
            except RuntimeError:  # `~` of a user who is not there
                return Path(path)
    return None


def _last(documents: Sequence[Document], section: str, key: str) -> object:
    """Return what the last of the documents that names a key says."""
    return next(_values(reversed(documents), section, key), None)


def _values(documents: Iterator[Document], section: str, key: str) -> Iterator[object]:
    for document in documents:
        table = document.get(section)
        if isinstance(table, Mapping) and table.get(key) is not None:
            yield table[key]


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, also of one that an environment variable holds as TOML."""
    if isinstance(value, str):
        try:
            value = tomllib.loads(f"texts = {value}")["texts"]
        except tomllib.TOMLDecodeError:
            return ()
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _inner(folder: object) -> str:
    """Return a folder inside the workspace, or the usual one."""
    if not isinstance(folder, str):
        return "memory"
    path = PurePosixPath(folder)
    return "memory" if path.is_absolute() or not path.parts or {"..", "~"} & set(path.parts) else folder
