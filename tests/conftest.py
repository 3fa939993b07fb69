"""Shared pieces of the tests: the recorded numbers, a user without privileges, and Hypothesis' settings."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from house import House

settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

GOLDEN = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent / "golden")
NOBODY = 65534


@pytest.fixture(scope="session")
def golden() -> Callable[[str], Any]:
    """Read the recorded numbers of one file, from `GOLDEN_DIR` when it is set."""

    def read(name: str) -> Any:
        return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))

    return read


@pytest.fixture
def house(tmp_path: Path) -> House:
    """An empty workspace."""
    return House(tmp_path)


@pytest.fixture
def plain_user(tmp_path: Path) -> Iterator[Path]:
    """A workspace of a user whom permissions bind, even where the tests are run by root."""
    if os.geteuid():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            os.seteuid(0)
