"""Telling a night through the doors people use: with a model, without one, again, and when it goes wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dreaming.cli import dream
from dreaming.cli.progress import progress
from dreaming.home import opened
from dreaming.narrate import NothingToTellError, narrate
from dreaming.night import run_night
from dreaming.overview import ToldPhase, overview
from dreaming.progress import Count, unseen
from dreaming.tell import Answer
from house import ZONE, House, moment
from memory.language import language
from memory.model import Phase
from memory.narratives import Narrative
from model_server import ENGLISH, Script, dies, model, says, sends, stalls
from workspace.dreams import entries, without_entries
from workspace.files import Document, Files

DIARY = (
    "# Studio\n\n- The kiln takes cone six, because the new clay melts at eight\n\n"
    "- The glaze ran down a shelf in spring\n\n- Marta fires the bowls on Tuesdays\n"
)
NIGHT = "2026-06-16T03:00"
ARCHIVE = "memory/archive/DREAMS-2026.md"


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("dreaming.narrators.telling.own_folder", lambda: tmp_path_factory.mktemp("slots"))


def studio(root: Path, url: str = "", **settings: object) -> House:
    wish = {"narrative.narrator": "model", "narrative.model": "m", "narrative.base_url": url} if url else {}
    house = House(root, **{"narrative.timeout_seconds": 10, **wish, **settings})
    if not (root / "memory").exists():
        house.write("memory/2026-06-15.md", DIARY)
    return house


def told(house: House) -> list[str]:
    return [entry.prose for entry in entries(house.read("DREAMS.md"))]


def status(house: House, at: str = NIGHT) -> dict[Phase, ToldPhase]:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return {one.phase: one for one in overview(home, now=moment(at)).told}


def again(house: House, *phases: Phase) -> tuple[Answer, ...]:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return narrate(home, night=moment(NIGHT).date(), phases=phases or tuple(Phase), now=moment("2026-06-20T12:00"))


def test_a_model_writes_the_entry_and_what_it_cost_is_shown(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, asked):
        house = studio(tmp_path, url)
        report = house.night(NIGHT, [Phase.LIGHT])
        assert (report.failed, report.problems) == (False, ())
        house.night("2026-06-16T09:00", [Phase.LIGHT])
    assert told(house) == [ENGLISH]
    assert len(asked) == 1
    light = status(house)[Phase.LIGHT]
    assert (light.asked, light.narrator, light.refused) == ("model m", "model m", ())
    assert 300 < light.prompt_tokens < 3000
    assert light.answer_tokens > 50


@pytest.mark.parametrize(
    "script", [sends(500, b""), stalls("The kitchen"), dies, says("- a\n- list"), sends(200, b"data: {not json\n\n")]
)
def test_a_failing_model_changes_nothing_but_who_writes(tmp_path: Path, script: Script) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    plain = studio(tmp_path / "without")
    plain.night(NIGHT)
    with model(script) as (url, _):
        house = studio(tmp_path / "with", url, **{"narrative.timeout_seconds": 1})
        report = house.night(NIGHT)
    assert house.digests() == plain.digests()
    assert not report.failed
    assert report.problems
    assert status(house)[Phase.LIGHT].refused


def test_a_model_that_fell_back_is_not_asked_again_by_the_same_night(tmp_path: Path) -> None:
    with model(sends(400, b"")) as (url, asked):
        house = studio(tmp_path, url)
        house.night(NIGHT, [Phase.LIGHT])
        before = house.digests()
        house.night("2026-06-16T09:00", [Phase.LIGHT])
    assert len(asked) == 1
    assert house.digests() == before


def test_a_night_with_nothing_new_asks_nobody(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, asked):
        house = studio(tmp_path, url)
        house.night(NIGHT)
        count = len(asked)
        house.night("2026-06-17T03:00")
        house.night("2026-06-18T03:00")
    assert len(asked) == count


def test_notes_in_a_language_without_a_plain_narrator_are_told_in_english(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.write("memory/2026-06-15.md", "- Le four demande le cône six, parce que la nouvelle argile fond à huit\n")
    assert house.night(NIGHT).problems == ()
    assert told(house)


def test_a_dry_run_asks_nobody(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, asked):
        house = studio(tmp_path, url)
        with opened(tmp_path, environ={}, overrides=house.settings, dry=True) as home:
            run_night(home, phases=tuple(Phase), now=moment(NIGHT))
    assert asked == []


def test_an_interrupted_telling_leaves_the_night_done_and_is_made_up_for(tmp_path: Path) -> None:
    house = studio(tmp_path)

    def interrupted(what: str, total: int = 0) -> AbstractContextManager[Count]:
        if what.startswith("light: "):  # who is asked
            raise KeyboardInterrupt
        return unseen(what, total)

    with model(says(ENGLISH)) as (url, _):
        house = studio(tmp_path, url)
        held = opened(tmp_path, environ={}, overrides=house.settings, progress=interrupted)
        with held as home, pytest.raises(KeyboardInterrupt):
            run_night(home, phases=[Phase.LIGHT], now=moment(NIGHT))
        assert "## Light Sleep" in house.read("DREAMS.md")
        assert told(house) == []
        house.night("2026-06-16T09:00", [Phase.LIGHT])
    assert told(house) == [ENGLISH]


def test_a_prompt_of_the_workspace_is_used(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, asked):
        house = studio(tmp_path, url)
        house.write("memory/dreaming/prompts/light.md", "Sing of {{ texts | length }} things.")
        house.night(NIGHT, [Phase.LIGHT])
    assert asked[0][2]["messages"][1]["content"] == "Sing of 3 things."


def test_a_broken_prompt_of_the_workspace_is_named_and_the_shipped_one_used(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, asked):
        house = studio(tmp_path, url)
        house.write("memory/dreaming/prompts/light.md", "Sing of {{ nothing_like_this }}.")
        report = house.night(NIGHT, [Phase.LIGHT])
    assert "cone six" in asked[0][2]["messages"][1]["content"]
    assert ["light.md" in problem for problem in report.problems] == [True]


# -- telling again -------------------------------------------------------------------------------------------------


def test_telling_again_replaces_only_that_entry(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT)
    house.write("memory/2026-06-17.md", "# Garden\n\n- The beans want a fence, because deer come at dawn\n")
    house.night("2026-06-18T03:00")
    before = told(house)
    own = house.read("DREAMS.md").replace("# Dream Diary\n", "# Dream Diary\n\nMy own words.\n")
    house.write("DREAMS.md", own)
    with model(says(ENGLISH)) as (url, _):
        again(studio(tmp_path, url), Phase.LIGHT)
    assert told(house) == [ENGLISH, *before[1:]]
    assert house.read("DREAMS.md") == own.replace(before[0], ENGLISH)
    assert status(house, NIGHT)  # what the last night told is still what it was


def test_telling_again_with_the_same_narrator_changes_no_byte(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT)
    before = house.digests()
    again(house)
    assert house.digests() == before


def test_an_entry_that_was_taken_out_is_told_again_in_its_place(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT)
    house.write("memory/2026-06-17.md", "# Garden\n\n- The beans want a fence, because deer come at dawn\n")
    house.night("2026-06-18T03:00")
    text, before = house.read("DREAMS.md"), told(house)
    first = text.index("---\n")
    house.write("DREAMS.md", text[:first] + text[text.index("---\n", first + 4) :])
    assert told(house) == before[1:]
    with model(says(ENGLISH)) as (url, _):
        again(studio(tmp_path, url), Phase.LIGHT)
    assert told(house) == [ENGLISH, *before[1:]]


def test_an_entry_somebody_changed_stays_as_it_is(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    changed = house.read("DREAMS.md").replace(told(house)[0], "What I remember of that night.")
    house.write("DREAMS.md", changed)
    (answer,) = again(house)
    assert "changed by hand in DREAMS.md" in answer.unwritten
    assert house.read("DREAMS.md") == changed


def test_what_was_never_told_cannot_be_told_again(tmp_path: Path) -> None:
    with pytest.raises(NothingToTellError):
        again(studio(tmp_path))


def test_hand_written_lines_in_the_diary_outlive_every_night(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT)
    text = house.read("DREAMS.md")
    end = text.index("<!-- openclaw:dreaming:diary:end")
    house.write("DREAMS.md", f"{text[:end]}I had a thought of my own here.\n\n{text[end:]}")
    for day in (17, 18, 19):
        house.write(f"memory/2026-06-{day}.md", f"- On day {day} the kiln was opened because of a noise\n")
        house.night(f"2026-06-{day + 1}T03:00")
    assert house.read("DREAMS.md").count("I had a thought of my own here.") == 1


def test_a_comment_in_an_entry_stays_when_it_is_told_again(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    prose = told(house)[0]
    house.write("DREAMS.md", house.read("DREAMS.md").replace(prose, f"{prose}\n\n<!-- ask Ana -->"))
    with model(says(ENGLISH)) as (url, _):
        again(studio(tmp_path, url))
    assert told(house) == [ENGLISH]
    assert house.read("DREAMS.md").count("<!-- ask Ana -->") == 1


def test_a_model_that_was_asked_in_vain_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dreaming.narrators.telling.plain", lambda _: None)
    with model(says("- a\n- list")) as (url, asked):
        house = studio(tmp_path, url)
        house.night(NIGHT, [Phase.LIGHT])
        house.night("2026-06-16T09:00", [Phase.LIGHT])
    assert len(asked) == 2


def archive_of_two_nights(root: Path) -> House:
    """Tell two nights where only the newest entry stays: the first one's stands in the archive."""
    house = studio(root, "", **{"narrative.diary_entries": 1})
    house.night(NIGHT, [Phase.LIGHT])
    house.write("memory/2026-06-17.md", "# Garden\n\n- The beans want a fence, because deer come at dawn\n")
    house.night("2026-06-18T03:00", [Phase.LIGHT])
    return house


def test_an_entry_in_the_archive_is_replaced_where_it_stands(tmp_path: Path) -> None:
    house = archive_of_two_nights(tmp_path)
    (old,) = entries(house.read(ARCHIVE), archived=True)
    archive, diary = house.read(ARCHIVE), house.read("DREAMS.md")
    with model(says(ENGLISH)) as (url, _):
        again(studio(tmp_path, url, **{"narrative.diary_entries": 1}), Phase.LIGHT)
    assert house.read(ARCHIVE) == archive.replace(old.prose, ENGLISH)
    assert house.read("DREAMS.md") == diary


def test_an_entry_somebody_changed_in_the_archive_stays_and_its_file_is_named(tmp_path: Path) -> None:
    house = archive_of_two_nights(tmp_path)
    (old,) = entries(house.read(ARCHIVE), archived=True)
    house.write(ARCHIVE, house.read(ARCHIVE).replace(old.prose, "What I remember of that night."))
    before = house.digests()
    (answer,) = again(house, Phase.LIGHT)
    assert f"changed by hand in {ARCHIVE}" in answer.unwritten
    assert house.digests() == before


class Killed(Files):
    """Files whose process ends when one of them is written, before anything else is."""

    def write(self, document: Document, text: str) -> bool:
        super().write(document, text)
        raise KeyboardInterrupt


class KilledBefore(Files):
    """Files whose process ends just before one of them is written."""

    def write(self, document: Document, text: str) -> bool:
        raise KeyboardInterrupt


def killed(house: House, files: Files) -> None:
    with opened(house.root, environ={}, overrides=house.settings) as home, suppress(KeyboardInterrupt):
        narrate(
            replace(home, files=files), night=moment(NIGHT).date(), phases=[Phase.LIGHT], now=moment("2026-06-20T12:00")
        )


@pytest.mark.parametrize("stands", [True, False], ids=["replaced", "added"])
def test_an_entry_whose_telling_was_killed_is_still_ours(tmp_path: Path, *, stands: bool) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    own = told(house)[0]
    if not stands:
        house.write("DREAMS.md", house.read("DREAMS.md").replace(f"---\n\n*June 16, 2026, 3:00 AM CST*\n\n{own}\n", ""))
    with model(says(ENGLISH)) as (url, _):
        killed(studio(tmp_path, url), Killed(tmp_path))
    assert told(house) == [ENGLISH]
    assert [one.unwritten for one in again(house)] == [""]
    assert told(house) == [own]


def test_an_entry_whose_telling_was_killed_twice_is_still_ours(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    with model(says(ENGLISH), says(ENGLISH.replace("kitchen", "hall"))) as (url, _):
        killed(studio(tmp_path, url), Killed(tmp_path))
        killed(studio(tmp_path, url), KilledBefore(tmp_path))
    assert told(house) == [ENGLISH]
    assert [one.unwritten for one in again(house)] == [""]
    assert len(told(house)) == 1


def test_a_rule_that_hides_a_word_of_an_entry_does_not_make_it_a_changed_one(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    assert "cone six" in told(house)[0]
    hiding = studio(tmp_path, "", **{"redact.patterns": ["cone six"]})
    hiding.night("2026-06-17T03:00", [Phase.LIGHT])
    assert [one.unwritten for one in again(hiding)] == [""]
    assert len(told(house)) == 1
    assert "cone six" not in house.read("DREAMS.md")


def test_a_model_is_shown_nothing_that_is_hidden_by_now(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT)
    assert "cone six" in told(house)[0]
    with model(says(ENGLISH)) as (url, asked):
        again(studio(tmp_path, url, **{"redact.patterns": ["cone six"]}))
    shown = json.dumps([body for _, _, body, _ in asked])
    assert "new clay" in shown
    assert "cone six" not in shown


def test_an_entry_that_was_taken_out_is_told_again_though_the_one_beside_it_was_changed(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT)
    text, (light, rem) = house.read("DREAMS.md"), told(house)
    stamp = "---\n\n*June 16, 2026, 3:00 AM CST*\n\n"
    house.write("DREAMS.md", text.replace(f"{stamp}{light}\n\n", "").replace(rem, f"{rem} So be it."))
    with model(says(ENGLISH)) as (url, _):
        first, second = again(studio(tmp_path, url))
    assert (first.unwritten, "the rem entry" in second.unwritten) == ("", True)
    assert told(house) == [ENGLISH, f"{rem} So be it."]


def test_a_taken_out_entry_comes_back_from_the_same_narrator(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    text, (own,) = house.read("DREAMS.md"), told(house)
    house.write("DREAMS.md", text.replace(f"---\n\n*June 16, 2026, 3:00 AM CST*\n\n{own}\n\n", ""))
    assert told(house) == []
    again(house)
    assert house.read("DREAMS.md") == text


# -- what is fit to be told ----------------------------------------------------------------------------------------

JUNK = (
    *("Checked mail, nothing new", "What about the fan?", "HEARTBEAT"),
    *("systemctl restart mosquitto", "\ufffd\ufffd\ufffd\u02f5 the pump \ufffd runs"),
)
TABLE = "| sensor | value |\n| --- | --- |\n| litres/min | 4.5 |\n"


def diary(house: House, *lines: str, day: int = 15) -> House:
    house.write(f"memory/2026-06-{day}.md", "# Garden\n\n" + "".join(f"- {line}\n\n" for line in lines) + TABLE)
    return house


def test_what_could_not_be_promoted_by_its_text_is_not_told(tmp_path: Path) -> None:
    house = diary(House(tmp_path), *JUNK, "The drip line runs at dawn, because the noon heat burns the leaves")
    house.night(NIGHT)
    assert len(told(house)) == 2
    for prose in told(house):
        assert "The drip line runs at dawn" in prose
        assert not [piece for piece in ("mail", "fan?", "HEARTBEAT", "mosquitto", "\ufffd", "litres") if piece in prose]


def test_a_night_of_nothing_but_junk_has_no_entry(tmp_path: Path) -> None:
    house = diary(House(tmp_path), *JUNK)
    assert house.night(NIGHT).problems == ()
    assert told(house) == []


def test_a_model_is_shown_nothing_that_is_not_fit(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, asked):
        diary(studio(tmp_path, url), *JUNK, "The kiln takes cone six, because the new clay melts at eight").night(NIGHT)
    assert "cone six" in json.dumps([body for _, _, body, _ in asked])
    assert "mosquitto" not in json.dumps([body for _, _, body, _ in asked])


def test_a_theme_of_one_memory_is_neither_shown_nor_counted(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.write("memory/2026-06-15.md", "The drip line runs at dawn\n")
    report = house.night(NIGHT)
    assert "Theme:" not in house.read("DREAMS.md")
    assert [phase.counts["themes"] for phase in report.phases if phase.phase is Phase.REM] == [0]


def test_a_word_that_says_nothing_is_no_theme_unless_the_glossary_has_it(tmp_path: Path) -> None:
    lines = "## Shed\n\nThe log of the pump stays dry\n\n## Barn\n\nThe log of the fan is read at noon\n"
    for wanted in (False, True):
        (tmp_path / str(wanted)).mkdir()
        house = House(tmp_path / str(wanted), **({"concepts.glossary": ["log"]} if wanted else {}))
        house.write("memory/2026-06-15.md", lines)
        house.night(NIGHT)
        assert ("Theme: log" in house.read("DREAMS.md")) is wanted


def test_a_label_in_a_note_is_no_heading(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.write("memory/2026-06-15.md", "- Understood: orchids get water only from below\n\n- The ladder is at Ana's\n")
    house.night(NIGHT)
    assert len(told(house)) == 2
    assert not [prose for prose in told(house) if "Understood" in prose]


def test_only_what_stands_on_two_days_is_said_to_come_back(tmp_path: Path) -> None:
    house = diary(diary(House(tmp_path), "The drip line runs at dawn"), "The drip line runs at dawn", day=14)
    house.night(NIGHT)
    with opened(house.root, environ={}, overrides=house.settings) as home:
        light, _ = home.narratives.tellings(moment(NIGHT).date())
    assert light.material["days"] == [["2026-06-14", "2026-06-15"]]
    assert light.material["headings"] == ["Garden"]


def test_old_material_without_headings_and_days_is_told_again(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    with opened(house.root, environ={}, overrides=house.settings) as home:
        (one,) = home.narratives.tellings(moment(NIGHT).date())
        old = {name: value for name, value in one.material.items() if name not in ("headings", "days")}
        with home.store.writing():
            home.narratives.keep(replace(one, material=old))
    assert [answer.unwritten for answer in again(house)] == [""]


def test_an_entry_about_what_was_kept_is_in_the_language_of_that(tmp_path: Path) -> None:
    house = House(tmp_path)
    notes = "".join(f"第{n}个水泵在北边的温室里，每周要检查一次，滤网也要换新的。\n\n" for n in "一二三四五")
    house.write("memory/2026-06-13.md", f"{notes}The kiln takes cone six, because the new clay melts at eight\n")
    for day in (13, 14, 15):
        for question in ("kiln cone", "which cone for the clay", "new clay melts", "水泵 滤网"):
            house.search(question, f"2026-06-{day}T20:00")
    assert len(house.night(NIGHT, [Phase.DEEP]).promoted) == 1
    with opened(house.root, environ={}, overrides=house.settings) as home:
        (one,) = home.narratives.told()
    assert (one.language, "cone six" in one.prose) == ("en", True)


# -- the commands --------------------------------------------------------------------------------------------------


def ran(house: House, *arguments: str) -> Result:
    common = ["--workspace", str(house.root), "--now", "2026-06-20T12:00"]
    return CliRunner(env={"DREAM_EMBEDDINGS__EMBEDDER": "off"}).invoke(dream, [*common, *arguments])


def test_the_newest_entries_are_printed_oldest_first(tmp_path: Path) -> None:
    house = studio(tmp_path)
    assert "Nothing has been told yet" in ran(house, "diary").output
    house.night(NIGHT)
    last = json.loads(ran(house, "diary", "--last", "2", "--json").output)["entries"]
    assert [one["prose"] for one in last] == told(house)[-2:]
    assert told(house)[-1] in ran(house, "diary").output


def test_narrate_says_who_wrote_what(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT, [Phase.LIGHT])
    done = ran(house, "narrate", "--night", "2026-06-16")
    assert (done.exit_code, done.output) == (0, "2026-06-16 light written by plain\n")


def test_a_night_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    house = studio(tmp_path)
    assert "run one first: dream" in ran(house, "narrate").output
    house.night(NIGHT, [Phase.LIGHT])
    missing = ran(house, "narrate", "--night", "2026-06-01")
    assert missing.exit_code == 1
    assert missing.output == "dream: no night of 2026-06-01 has anything to tell; there is 2026-06-16\n"
    assert "leave out --phase" in ran(house, "narrate", "--phase", "deep").output


def test_an_entry_stays_when_what_was_asked_for_fails_and_a_plain_one_would_replace_it(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, _):
        studio(tmp_path, url).night(NIGHT, [Phase.LIGHT])
    house = studio(tmp_path)
    house.write("config.toml", '[narrative]\nnarrator = "command"\ncommand = ["false"]\n')
    before = house.digests()
    done = ran(house, "narrate")
    assert (done.exit_code, done.stdout) == (1, "2026-06-16 light left as it is\n")
    assert "command false wrote no entry: it ended with exit code 1; run it by hand" in done.stderr
    assert "the light entry of 2026-06-16 stays as model m wrote it, since command false wrote none" in done.stderr
    assert house.digests() == before
    assert [one.prose for one in told_by(house)] == [ENGLISH]


def told_by(house: House) -> list[Narrative]:
    with opened(house.root, environ={}, overrides=house.settings) as home:
        return list(home.narratives.told())


def test_a_plain_entry_replaces_anothers_when_it_is_asked_for(tmp_path: Path) -> None:
    with model(says(ENGLISH)) as (url, _):
        studio(tmp_path, url).night(NIGHT, [Phase.LIGHT])
    house = studio(tmp_path)
    assert [one.entry.narrator for one in again(house) if one.entry] == ["plain"]
    assert told(house) != [ENGLISH]


def test_what_went_wrong_alike_in_several_phases_is_said_once(tmp_path: Path) -> None:
    with model(sends(401, b"")) as (url, _):
        problems = studio(tmp_path, url).night(NIGHT).problems
    reason = "model m wrote no entry: it refused the key (401)"
    assert [problem.partition(";")[0] for problem in problems] == [f"light, rem: {reason}"]


@pytest.mark.parametrize("setting", ["narrative.language", "dreaming.language"])
def test_telling_again_heeds_the_language_that_is_set_now(tmp_path: Path, setting: str) -> None:
    studio(tmp_path).night(NIGHT, [Phase.LIGHT])
    (answer,) = again(studio(tmp_path, "", **{setting: "de"}))
    assert answer.entry
    assert (answer.entry.language, language(told(studio(tmp_path))[0])) == ("de", "de")
    (answer,) = again(studio(tmp_path))
    assert answer.entry
    assert answer.entry.language == "en"


def test_narrate_reports_every_phase_also_beside_a_changed_one(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.night(NIGHT)
    house.write("DREAMS.md", house.read("DREAMS.md").replace(told(house)[0], "What I remember of that night."))
    done = ran(house, "narrate", "--night", "2026-06-16")
    assert done.exit_code == 1
    assert done.stdout == "2026-06-16 light left as it is\n2026-06-16 rem   written by plain\n"
    assert done.stderr.startswith("dream: the light entry of 2026-06-16 was changed by hand in DREAMS.md")


def test_a_narrator_that_lacks_something_is_refused_with_its_key(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.write("config.toml", '[narrative]\nnarrator = "model"\n')
    done = ran(house, "status")
    assert done.exit_code == 2
    assert 'narrative.model: found nothing, legal: a value, since narrative.narrator is "model"' in done.output


def test_ctrl_c_while_a_model_is_asked_ends_at_once_and_loses_nothing(tmp_path: Path) -> None:
    with model(stalls()) as (url, asked):
        house = studio(tmp_path, url)
        settings = {"NARRATOR": "model", "MODEL": "m", "BASE_URL": url, "TIMEOUT_SECONDS": "60"}
        environ = os.environ | {f"DREAM_NARRATIVE__{name}": value for name, value in settings.items()}
        going = subprocess.Popen(
            [sys.executable, "-m", "dreaming", "--workspace", str(tmp_path), "--now", NIGHT],
            env=environ | {"DREAM_DREAMING__TIMEZONE": ZONE, "DREAM_EMBEDDINGS__EMBEDDER": "off"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not asked and going.poll() is None:
            time.sleep(0.02)
        going.send_signal(signal.SIGINT)
        _, said = going.communicate(timeout=30)
    assert (going.returncode, said) == (130, "dream: stopped; what was decided is kept, run it again to go on\n")
    assert "## Light Sleep" in house.read("DREAMS.md")
    house = studio(tmp_path)
    house.night("2026-06-16T09:00")
    assert told(house)


def test_who_is_asked_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dreaming.cli.progress.EVERY_SECONDS", 0.01)
    with progress("light: model m"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress("light: model m"):
        time.sleep(0.05)
    assert "light: model m, 0 s" in capsys.readouterr().err


def phases_told(house: House, at: str = NIGHT) -> list[bool]:
    return [one.told for one in house.night(at, [Phase.LIGHT, Phase.REM]).phases]


def test_a_night_says_told_only_of_what_stands_in_the_dream_diary(tmp_path: Path) -> None:
    house = studio(tmp_path)
    house.write("DREAMS.md", "# Dream Diary\n\n<!-- openclaw:dreaming:diary:start -->\n\nmine\n")
    assert phases_told(house) == [False, False]
    assert [one.written for one in status(house).values()] == [False, False]
    house.write("DREAMS.md", "")
    assert phases_told(house) == [True, True]
    assert [one.written for one in status(house).values()] == [True, True]


def test_an_entry_that_was_reworded_is_told_and_one_that_was_taken_out_is_not(tmp_path: Path) -> None:
    house = studio(tmp_path)
    assert phases_told(house) == [True, True]
    text, (light, rem) = house.read("DREAMS.md"), entries(house.read("DREAMS.md"))
    house.write("DREAMS.md", text.replace(rem.prose, "What I remember of that night."))
    assert phases_told(house) == [True, True]
    house.write("DREAMS.md", without_entries(text, {light}))
    assert phases_told(house) == [False, True]
