"""Conversations as the second source: what is heard, when, how it is found again, and how it goes."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreaming.cli import dream
from dreaming.home import opened
from dreaming.places import Source
from dreaming.reading import Wanted, get, search
from house import House, moment

NIGHT = "2026-03-03T03:00"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, **{"sessions.enabled": True, "sessions.paths": ["sessions/*.jsonl"]})


def said(speaker: str, text: str, at: str = "2026-03-02T10:00:00Z") -> str:
    return json.dumps({"role": speaker, "content": text, "timestamp": at}) + "\n"


def write(house: House, name: str, *lines: str) -> Path:
    return house.write(f"sessions/{name}", "".join(lines))


def texts(house: House) -> list[str]:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        rows = home.store.db.conn.execute(
            "SELECT fragment.text, path, start_line FROM sighting JOIN fragment ON fragment.key = sighting.fragment"
            " WHERE sighting.kind = 'session' ORDER BY path, start_line"
        )
        return [f"{row[1].rpartition('/')[2]}#L{row[2]} {row[0]}" for row in rows]


def heard(house: House) -> list[str]:
    return [line.split(" ", 1)[1] for line in texts(house)]


def grown(path: Path, *lines: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(lines))


def test_what_was_said_of_a_note_takes_no_votes_from_it(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Boiler wants 1.5 bar\n")
    write(house, "a1.jsonl", said("user", "The boiler needs its pressure checked"))
    house.night(NIGHT)
    best, note = (one for one in house.search("boiler pressure", NIGHT).results if one.source != "dreams")
    assert (best.text, best.relevance) == ("The boiler needs its pressure checked", 1.0)
    assert (note.text, note.relevance, note.recorded) == ("Boiler wants 1.5 bar", 0.8, True)


def test_what_people_said_is_remembered_after_the_night_and_leads_back_to_its_line(house: House) -> None:
    write(
        house,
        "a1.jsonl",
        said("user", "My sister Anna lands on the 14th"),
        said("assistant", "Noted, Anna on the 14th."),
    )
    report = house.night(NIGHT)
    assert (report.heard.read, report.heard.messages) == (1, 2)
    assert texts(house) == ["a1.jsonl#L1 My sister Anna lands on the 14th", "a1.jsonl#L2 Noted, Anna on the 14th."]
    with opened(house.root, environ={}, overrides=house.settings) as home:
        found = search(home, "sister lands", now=moment("2026-03-03T12:00"))
        assert (found.results[0].source, found.results[0].recorded) == ("session", True)
        name = found.results[0].path
        assert get(home, f"{name}#L1", now=moment("2026-03-03T12:00")).text == "user: My sister Anna lands on the 14th"
        only = search(
            home, "sister lands", now=moment("2026-03-03T12:00"), wanted=Wanted(sources=frozenset({Source.DIARY}))
        )
        assert only.results == ()


def test_an_append_is_read_on_and_a_half_written_line_waits(house: House) -> None:
    path = write(house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"))
    house.night(NIGHT)
    half = said("user", "The router stands on the shelf")
    grown(path, half[:20])
    assert house.night("2026-03-04T03:00").heard.messages == 0
    grown(path, half[20:])
    assert house.night("2026-03-05T03:00").heard.messages == 1
    assert [line.split(" ", 1)[1] for line in texts(house)] == [
        "The boiler wants 1.5 bar",
        "The router stands on the shelf",
    ]
    assert house.night("2026-03-06T03:00").heard.read == 0


def test_a_file_that_was_written_anew_is_read_anew(house: House) -> None:
    path = write(
        house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"), said("user", "The router is on the shelf")
    )
    house.night(NIGHT)
    write(house, "a1.jsonl", said("user", "The ladder hangs behind the door"))
    house.night("2026-03-04T03:00")
    assert heard(house) == ["The ladder hangs behind the door"]
    path.rename(path.with_name("a1.jsonl.reset.2026-03-04"))
    house.night("2026-03-05T03:00")
    assert heard(house) == ["The ladder hangs behind the door"]


def test_a_deleted_session_takes_what_was_only_said_there_with_it(house: House) -> None:
    house.write("memory/2026-03-01.md", "- The boiler wants 1.5 bar\n")
    path = write(
        house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"), said("user", "My secret wish is a red canoe")
    )
    house.night(NIGHT)
    path.rename(path.with_name("a1.jsonl.deleted.2026-03-03"))
    house.night("2026-03-04T03:00")
    assert texts(house) == []
    with opened(house.root, environ={}, overrides=house.settings) as home:
        kept = [row[0] for row in home.store.db.conn.execute("SELECT text FROM fragment")]
        assert not [row for row in home.store.db.conn.execute("SELECT material FROM telling") if "canoe" in row[0]]
    assert kept == ["The boiler wants 1.5 bar"]


def test_what_repeats_a_line_of_a_diary_stands_with_it(house: House) -> None:
    house.write("memory/2026-03-01.md", "# Home\n\n- The boiler wants 1.5 bar\n")
    write(house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"))
    house.night(NIGHT)
    found = house.explain("boiler", "2026-03-03T12:00").candidate
    assert [sighting.kind.value for sighting in found.sightings] == ["diary", "session"]
    assert found.sightings[1].place == "sessions/sessions/a1.jsonl#L1" or found.sightings[1].place.endswith(
        "a1.jsonl#L1"
    )


def test_what_is_asked_for_again_and_again_is_promoted_from_a_conversation(house: House) -> None:
    write(house, "a1.jsonl", said("user", "Anna only drinks oat milk, because cow's milk makes her ill"))
    house.night(NIGHT)
    for day in (3, 4, 5, 6):
        for question in ("what milk does Anna drink", "oat milk for Anna", "why oat milk"):
            house.search(question, f"2026-03-0{day}T12:00")
        house.night(f"2026-03-0{day + 1}T03:00")
    assert "Anna only drinks oat milk" in house.read("MEMORY.md")
    assert "a1.jsonl#L1" in house.read("MEMORY.md")


def test_off_means_off(tmp_path: Path) -> None:
    house = House(tmp_path)
    write(house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"))
    assert house.night(NIGHT).heard.read == 0
    assert texts(house) == []


@pytest.mark.parametrize(("agents", "read"), [(["other"], 0), (["main"], 1), ([], 1)])
def test_only_the_agents_that_are_named_belong_to_a_workspace(house: House, agents: Sequence[str], read: int) -> None:
    house.settings["sessions.agents"] = agents
    write(house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"))
    assert house.night(NIGHT).heard.read == read


def test_a_transcript_is_read_by_the_path_of_its_file_too(house: House) -> None:
    write(house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"))
    house.night(NIGHT)
    assert house.get("sessions/a1.jsonl:1", NIGHT).path == "sessions/main/a1.jsonl"


def test_a_secret_said_aloud_is_never_stored(house: House) -> None:
    key = "ghp" + "_" + "a1B2" * 9
    write(house, "a1.jsonl", said("user", f"Use the token {key} for the deploy"))
    house.night(NIGHT)
    files = [path for path in (house.root / "memory/.dreams").iterdir() if path.is_file()]
    assert all(key.encode() not in path.read_bytes() for path in files)


def test_a_day_of_chatter_pushes_out_nothing_that_was_recalled(house: House) -> None:
    house.write("memory/2026-03-01.md", "- The boiler wants 1.5 bar\n")
    house.night("2026-03-02T03:00")
    house.search("boiler bar", "2026-03-02T12:00")
    chatter = [said("user", f"Number {n} of the remarks about cable {n * 7} in room {n % 90}") for n in range(1500)]
    write(house, "a1.jsonl", *chatter)
    house.night(NIGHT)
    assert house.explain("boiler", "2026-03-03T12:00").candidate.evidence.recalls == 1


def test_a_broken_transcript_costs_only_itself(house: House) -> None:
    write(house, "a1.jsonl", "not json\n", said("user", "The boiler wants 1.5 bar"))
    write(house, "b2.jsonl", said("user", "The router stands on the shelf"))
    (house.root / "sessions/c3.jsonl").symlink_to("/nowhere")
    report = house.night(NIGHT)
    assert not report.failed
    assert len(texts(house)) == 2


def test_a_days_conversations_are_printed(house: House) -> None:
    write(house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"))
    house.night(NIGHT)
    done = CliRunner().invoke(dream, ["--workspace", str(house.root), "transcript", "2026-03-02"])
    assert done.output.endswith("a1.jsonl#L1] The boiler wants 1.5 bar\n")
    none = CliRunner().invoke(dream, ["--workspace", str(house.root), "transcript", "2026-01-01"])
    assert "Nothing is remembered of conversations on 2026-01-01" in none.output


def test_a_session_that_turns_out_to_be_no_persons_is_forgotten(house: House) -> None:
    path = write(house, "a1.jsonl", said("user", "The boiler wants 1.5 bar"))
    house.night(NIGHT)
    assert heard(house) == ["The boiler wants 1.5 bar"]
    meta = {"type": "session_meta", "payload": {"id": "a1", "source": {"subagent": "review"}}}
    lines = path.read_text(encoding="utf-8")
    path.write_text(json.dumps(meta) + "\n" + lines, encoding="utf-8")
    house.night("2026-03-04T03:00")
    assert heard(house) == []


# Resumed and forked sessions


def claude(uuid: str, text: str, at: str = "2026-03-02T10:00:00Z", speaker: str = "user", **more: object) -> str:
    record = {"type": speaker, "uuid": uuid, "sessionId": "s", "timestamp": at, "message": {"content": text}, **more}
    return json.dumps(record) + "\n"


def codex(text: str, at: str) -> str:
    payload = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return json.dumps({"timestamp": at, "type": "response_item", "payload": payload}) + "\n"


def codex_meta(at: str, **more: str) -> str:
    return json.dumps({"timestamp": at, "type": "session_meta", "payload": {"timestamp": at, **more}}) + "\n"


BOILER = "The boiler wants 1.5 bar"
ROUTER = "The router stands on the shelf"
CANOE = "The canoe lies behind the shed"
UUID = "01a22e95-9936-7e83-851a-c49e4b0d767"
FIRST, SECOND = "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z"
TWICE = {
    "the record's name": (
        [claude("u1", BOILER), claude("u2", ROUTER)],
        [claude("u1", BOILER, SECOND), claude("u2", ROUTER, SECOND), claude("u3", CANOE, SECOND)],
    ),
    "time and text": (
        [claude("u1", BOILER), claude("u2", ROUTER)],
        [claude("v1", BOILER), claude("v2", ROUTER), claude("v3", CANOE, SECOND)],
    ),
    "a part of it": (
        [claude("u1", BOILER), claude("u2", ROUTER)],
        [claude("u2", ROUTER), claude("u3", CANOE, SECOND)],
    ),
    "a resumed rollout": (
        [codex_meta(FIRST, id="a"), codex(BOILER, FIRST), codex(ROUTER, FIRST)],
        [codex_meta(SECOND, id="b"), codex(BOILER, FIRST), codex(ROUTER, FIRST), codex(CANOE, SECOND)],
    ),
}


@pytest.mark.parametrize("names", [("a1", "b2"), ("b2", "a1")], ids=["original first", "copy first"])
@pytest.mark.parametrize("way", TWICE)
@pytest.mark.parametrize("together", [True, False])
def test_a_message_that_was_copied_to_another_session_counts_once(
    house: House, way: str, names: tuple[str, str], together: bool
) -> None:
    original, copy = TWICE[way]
    write(house, f"{names[0]}.jsonl", *original)
    if not together:
        house.night(NIGHT)
    write(house, f"{names[1]}.jsonl", *copy)
    house.night("2026-03-04T03:00")
    assert sorted(heard(house)) == sorted([BOILER, ROUTER, CANOE])


def test_what_a_forked_rollout_repeats_under_a_new_time_counts_once(house: House) -> None:
    house = House(house.root, **{**house.settings, "sessions.paths": ["sessions/rollout-*.jsonl"]})
    write(house, f"rollout-1-{UUID}a.jsonl", codex_meta(FIRST, id="a"), codex(BOILER, FIRST), codex(ROUTER, FIRST))
    fork = codex_meta(SECOND, id="b", forked_from_id="a")
    again = (codex(BOILER, SECOND), codex(ROUTER, SECOND), codex(CANOE, SECOND), codex(BOILER, "2026-03-02T12:00:00Z"))
    write(house, f"rollout-2-{UUID}b.jsonl", fork, *again)
    house.night(NIGHT)
    assert heard(house) == [BOILER, ROUTER, CANOE, BOILER]


@pytest.mark.parametrize("gone", ["a1", "b2"])
@pytest.mark.parametrize("ending", ["", ".deleted.2026-03-03"])
def test_a_copy_that_is_deleted_takes_nothing_along_that_the_other_says(house: House, gone: str, ending: str) -> None:
    original, copy = TWICE["the record's name"]
    paths = {"a1": write(house, "a1.jsonl", *original), "b2": write(house, "b2.jsonl", *copy)}
    house.night(NIGHT)
    house.search("boiler bar", "2026-03-03T12:00")
    path = paths[gone]
    path.rename(f"{path}{ending}") if ending else path.unlink()
    house.night("2026-03-04T03:00")
    assert sorted(heard(house)) == sorted([BOILER, ROUTER] if gone == "b2" else [BOILER, ROUTER, CANOE])
    assert house.explain("boiler", "2026-03-04T12:00").candidate.evidence.recalls == 1


def test_an_original_that_is_rewritten_leaves_to_the_copy_what_it_says_no_more(house: House) -> None:
    original, copy = TWICE["the record's name"]
    write(house, "a1.jsonl", *original)
    write(house, "b2.jsonl", *copy)
    house.night(NIGHT)
    write(house, "a1.jsonl", claude("u9", "The ladder hangs behind the door"))
    house.night("2026-03-04T03:00")
    assert sorted(texts(house)) == [
        "a1.jsonl#L1 The ladder hangs behind the door",
        f"b2.jsonl#L1 {BOILER}",
        f"b2.jsonl#L2 {ROUTER}",
        f"b2.jsonl#L3 {CANOE}",
    ]


def test_an_original_that_grows_is_read_on_and_its_copy_too(house: House) -> None:
    original, copy = TWICE["the record's name"]
    first, second = write(house, "a1.jsonl", *original), write(house, "b2.jsonl", *copy)
    house.night(NIGHT)
    grown(first, claude("u7", "The ladder hangs behind the door", SECOND))
    grown(second, claude("u8", "The kettle whistles at noon", SECOND))
    assert house.night("2026-03-04T03:00").heard.messages == 2
    assert len(texts(house)) == 5


def test_the_same_words_at_another_time_are_said_again(house: House) -> None:
    write(house, "a1.jsonl", said("user", BOILER, FIRST))
    write(house, "b2.jsonl", said("user", BOILER, SECOND))
    house.night(NIGHT)
    assert heard(house) == [BOILER, BOILER]


def test_words_without_a_time_are_no_copy(house: House) -> None:
    record = json.dumps({"role": "user", "content": BOILER}) + "\n"
    write(house, "a1.jsonl", record)
    write(house, "b2.jsonl", record)
    house.night(NIGHT)
    assert heard(house) == [BOILER, BOILER]


def test_what_two_agents_heard_counts_for_each(house: House) -> None:
    house = House(house.root, **{**house.settings, "sessions.paths": ["*/sessions/*.jsonl"]})
    for agent in ("ada", "bob"):
        house.write(f"{agent}/sessions/a1.jsonl", claude("u1", BOILER))
    house.night(NIGHT)
    assert heard(house) == [BOILER, BOILER]
