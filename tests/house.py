"""A workspace for tests: write diaries, search, run nights, at times the test names."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from dreaming.explain import examined
from dreaming.home import Home, opened
from dreaming.night import NightReport, run_night
from dreaming.observing.observe import observe
from dreaming.phases.deep import Examined
from dreaming.reading import Found, Read, get, search
from memory.model import Phase

ZONE = "Asia/Shanghai"


class House:
    """A workspace in a folder; times are local, in Shanghai."""

    def __init__(self, root: Path, **settings: object) -> None:
        self.root = root
        self.settings: dict[str, object] = {"dreaming.timezone": ZONE, "embeddings.embedder": "off", **settings}

    @contextmanager
    def home(self, *, dry: bool = False) -> Iterator[Home]:
        """Open the workspace for a block."""
        with opened(self.root, environ={}, overrides=self.settings, dry=dry) as home:
            yield home

    def write(self, name: str, text: str) -> Path:
        """Write a file of the workspace, bytes as given."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        return path

    def read(self, name: str) -> str:
        """Read a file of the workspace; empty when it is not there."""
        path = self.root / name
        return path.read_bytes().decode("utf-8") if path.exists() else ""

    def search(self, query: str, at: str, *, limit: int = 6) -> Found:
        """Search at a local time."""
        with opened(self.root, environ={}, overrides=self.settings) as home:
            return search(home, query, now=moment(at), limit=limit)

    def get(self, place: str, at: str) -> Read:
        """Read lines at a local time."""
        with opened(self.root, environ={}, overrides=self.settings) as home:
            return get(home, place, now=moment(at))

    def night(self, at: str, phases: Sequence[Phase] = tuple(Phase)) -> NightReport:
        """Run a night at a local time."""
        with opened(self.root, environ={}, overrides=self.settings) as home:
            return run_night(home, phases=phases, now=moment(at))

    def explain(self, text: str, at: str) -> Examined:
        """Explain the one fragment that contains a text and stands somewhere, or else the first that does not."""
        with opened(self.root, environ={}, overrides=self.settings) as home:
            observe(home, now=moment(at))
            found = examined(home, home.store.containing(text), now=moment(at))
        return sorted(found, key=lambda one: not one.candidate.sightings)[0]

    def digests(self) -> dict[str, str]:
        """Return a digest of every file of the workspace but the store's own."""
        files = sorted(p for p in self.root.rglob("*") if p.is_file() and ".dreams" not in p.parts)
        return {str(p.relative_to(self.root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def moment(at: str) -> datetime:
    """Return a local time as a moment."""
    return datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(ZONE))
