"""An opened workspace: its folder, configuration, recall store and files."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from dreaming.config import Config, zone
from dreaming.layers import default_user_config, load
from dreaming.progress import Progress, unseen
from memory.changes import Changes
from memory.concepts import Lexicon, lexicon
from memory.embedders import Embedder, EndpointEmbedder, LocalEmbedder, local_embedder
from memory.journal import Journal, NightRecord
from memory.model import Phase
from memory.narratives import Narratives
from memory.promotions import Promotions
from memory.redaction import Redaction
from memory.sources import Sources
from memory.store import Store
from workspace.errors import NotWritableError
from workspace.files import DryFiles, Files
from workspace.folders import make

MEMORY = "MEMORY.md"
DREAMS = "DREAMS.md"
STATE = Path("memory/.dreams")
"""Where the machine's own files live; they are kept out of version control and out of the diaries."""
STORE = STATE / "recall.db"
UNRECORDED = STATE / "unrecorded.txt"
UNRECORDED_DAYS = 7
"""How long it is told that a recall could not be recorded."""
ATTEMPTS = 3
"""How often a change is worked out again when somebody saves the file under the program's hands."""


def archive_name(year: int) -> str:
    """Return the name of the file that keeps what had to leave `MEMORY.md` in a year."""
    return f"memory/archive/MEMORY-{year}.md"


class NoWorkspaceError(Exception):
    """The folder that should be the workspace is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path} is no folder; name the workspace with --workspace, or make one with: dream init {path}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A workspace with everything a command needs; `dry` means nothing of it reaches the disk."""

    root: Path
    config: Config
    zone: ZoneInfo
    lexicon: Lexicon
    redaction: Redaction
    store: Store
    files: Files
    embedder: Embedder | None = None
    dry: bool = False
    progress: Progress = unseen

    @property
    def journal(self) -> Journal:
        """The record of the nights in this home's store."""
        return Journal(self.store)

    @property
    def promotions(self) -> Promotions:
        """The record of the promotions in this home's store."""
        return Promotions(self.store)

    @property
    def changes(self) -> Changes:
        """The record of the changes of the user's files in this home's store."""
        return Changes(self.store)

    @property
    def sources(self) -> Sources:
        """The record of the files in this home's store."""
        return Sources(self.store)

    @property
    def narratives(self) -> Narratives:
        """The record of the entries in this home's store."""
        return Narratives(self.store)

    def archives(self) -> tuple[str, ...]:
        """Return the names of the archives of `MEMORY.md`, oldest year first."""
        found = (self.root / "memory/archive").glob("MEMORY-[0-9][0-9][0-9][0-9].md")
        return tuple(archive_name(year) for year in sorted(int(path.stem[-4:]) for path in found))

    def local_date(self, moment: datetime) -> date:
        """Return the local date of a moment: the name of the night, the day of a vote."""
        return moment.astimezone(self.zone).date()

    def end_of_day(self, day: date) -> datetime:
        """Return the last second of a local day, in UTC."""
        try:
            return datetime.combine(day, time(23, 59, 59), self.zone).astimezone(UTC)
        except OverflowError:  # a diary of the year 1 or 9999
            return datetime.combine(day, time(23, 59, 59), UTC)

    def phases(self) -> tuple[Phase, ...]:
        """Return the phases that the settings let run in a whole night."""
        config = self.config
        switches = {Phase.LIGHT: config.light.enabled, Phase.REM: config.rem.enabled, Phase.DEEP: config.deep.enabled}
        return tuple(phase for phase in Phase if switches[phase])

    def whole(self, night: NightRecord) -> bool:
        """Tell whether every phase of a night was run that the settings let run."""
        return all(phase in night.reports for phase in self.phases())

    def note_unrecorded(self, *, now: datetime) -> None:
        """Remember beside the store that a recall could not be recorded in it; `dream status` counts these."""
        with suppress(OSError), (self.root / UNRECORDED).open("a", encoding="utf-8") as file:
            file.write(f"{now.isoformat(timespec='seconds')}\n")

    def unrecorded(self, *, now: datetime) -> tuple[str, ...]:
        """Return when recalls could not be recorded in the last week, oldest first."""
        since = (now - timedelta(days=UNRECORDED_DAYS)).isoformat(timespec="seconds")
        try:
            said = (self.root / UNRECORDED).read_text(encoding="utf-8", errors="replace").split()
        except OSError:
            return ()
        return tuple(at for at in said if at >= since)

    def forget_unrecorded(self, *, now: datetime) -> None:
        """Forget the recalls that could not be recorded once the last of them is older than a week."""
        if not self.dry and not self.unrecorded(now=now):
            with suppress(OSError):
                (self.root / UNRECORDED).unlink(missing_ok=True)

    def window(self, now: datetime, *, days: int) -> tuple[datetime, datetime]:
        """Return the time a phase looks at: from so many days ago to the end of the local day."""
        return now - timedelta(days=days), self.end_of_day(self.local_date(now))


@contextmanager
def opened(
    workspace: Path | None,
    *,
    config: Path | None = None,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
    dry: bool = False,
    personal: bool = True,
    progress: Progress = unseen,
) -> Iterator[Home]:
    """Open a workspace for the block; a dry home works on a copy of the store and only shows what it would write.

    Without `personal` the user's own settings do not count. `progress` shows what takes long.

    Raise ConfigError, NoWorkspaceError, NotWritableError, NewerStoreError or BrokenStoreError.
    """
    root, settings = located(workspace, config=config, environ=environ, overrides=overrides or {}, personal=personal)
    with ExitStack() as stack:
        store = stack.enter_context(_copied(root) if dry else _stored(root))
        yield Home(
            root=root,
            config=settings,
            zone=zone(settings),
            lexicon=lexicon(glossary=settings.concepts.glossary, stop_words=settings.concepts.stop_words),
            redaction=Redaction.of(patterns=settings.redact.patterns, mask=settings.redact.mask),
            store=store,
            files=DryFiles(root) if dry else Files(root),
            embedder=embedder_of(settings),
            dry=dry,
            progress=progress,
        )


def embedder_of(config: Config) -> Embedder | None:
    """Return who makes vectors by the settings; None when nobody does."""
    wish = config.embeddings
    if wish.embedder == "endpoint":
        return EndpointEmbedder(
            model=wish.model,
            base_url=wish.base_url,
            api_key_env=wish.api_key_env,
            timeout_seconds=wish.timeout_seconds,
        )
    if wish.embedder == "local":
        return _loaded_once()
    return _loaded_once() if wish.embedder == "auto" and local_embedder() else None


@cache
def _loaded_once() -> LocalEmbedder:
    """Keep the model for the life of the process: a server opens the workspace for every call."""
    return LocalEmbedder()


def located(
    workspace: Path | None,
    *,
    config: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, object],
    personal: bool = True,
) -> tuple[Path, Config]:
    """Return the folder and the configuration; the flag names the folder, else the configuration, else here."""
    settings = load(
        workspace=workspace,
        config=config,
        environ=environ,
        user_config=default_user_config() if personal else None,
        overrides=overrides,
    )
    folder = Path(settings.workspace.path)
    if not folder.is_dir():
        raise NoWorkspaceError(folder)
    return folder.resolve(), settings


def state(root: Path) -> Path:
    """Return the folder of what this program keeps of a workspace, made if need be; raise GoneError."""
    make(root / STATE, root=root)
    return root / STATE


@contextmanager
def _stored(root: Path) -> Iterator[Store]:
    try:
        _keep_private(state(root))
    except OSError as error:
        raise NotWritableError(root / STATE, error.strerror or str(error)) from error
    with Store.open(root / STORE) as store:
        yield store


def _keep_private(state: Path) -> None:
    ignore, store = state / ".gitignore", state / STORE.name
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    store.touch(mode=0o600, exist_ok=True)


@contextmanager
def _copied(root: Path) -> Iterator[Store]:
    """Open a copy of the store, taken without leaving a trace: as files, unless somebody is writing to it."""
    source = root / STORE
    with tempfile.TemporaryDirectory(prefix="dream-") as folder:
        target = Path(folder) / STORE.name
        if source.with_name(f"{source.name}-wal").exists():
            Store.backup(source, target)
        elif source.is_file():
            shutil.copyfile(source, target)
        with Store.open(target) as store:
            yield store
