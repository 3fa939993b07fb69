"""The report: the numbers of the gates, nothing of the user's but text, bounded, and the same every time."""

import json
import re
import stat
import webbrowser
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from crowded import NIGHTS, crowded
from dreaming.changes.timeline import stood
from dreaming.cli import dream
from dreaming.explain import examined
from dreaming.home import opened
from dreaming.report.calendar import weeks
from dreaming.report.facts import Night, NightState
from dreaming.report.nights import night
from dreaming.report.page import MARK, document, embedded, page, words
from dreaming.report.publish import FOLDER, NAME
from dreaming.report.versions import edited, edits
from dreaming.report.weave import woven
from house import House, moment
from memory.journal import NightRecord
from memory.model import Phase
from memory.promotions import State
from planted import KEY, NOW, PLANTED, facts_of, planted


@pytest.fixture(scope="module")
def haunted(tmp_path_factory: pytest.TempPathFactory) -> House:
    return planted(tmp_path_factory.mktemp("haunted"))


@pytest.fixture(scope="module")
def html(haunted: House) -> str:
    return page(facts_of(haunted))


def told(text: str) -> Any:
    """Return the facts as the page's script reads them."""
    found = re.search(r'<script type="application/json" id="facts">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


# -- words and colours ------------------------------------------------------------------------------------------------


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if path not in ("", ".missing", ".change") or key not in ("missing", "change"):
                yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        yield path, f"{len(value)} words"
    else:
        yield path, " ".join(sorted(re.findall(r"\{\w+\}", value)))


def test_both_languages_say_the_same_things_with_the_same_blanks() -> None:
    assert dict(leaves(words("en"))) == dict(leaves(words("zh")))


def test_every_gate_component_and_state_has_a_name() -> None:
    from dreaming.gates import GATES, IN_WORDS
    from dreaming.report.anatomies import COMPONENTS

    for language in ("en", "zh"):
        say = words(language)
        assert {gate.name for gate in GATES} <= say["gates"].keys()
        assert say["refusals"].keys() == IN_WORDS.keys()
        assert set(COMPONENTS) <= say["component"].keys() & say["formula"].keys()
        assert {state.value for state in State} <= say["verdict"].keys()
        assert {state.value for state in NightState} <= say["state"].keys()
    assert {gate.name for gate in GATES} == words("zh")["missing"].keys()


def test_a_refusal_is_named_as_the_command_line_names_it() -> None:
    from dreaming.gates import IN_WORDS

    assert words("en")["refusals"] == dict(IN_WORDS)


def palette() -> dict[str, tuple[str, str]]:
    style = files("dreaming.report").joinpath("style.css").read_text(encoding="utf-8")
    found = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", style)
    return {name: (light, dark) for name, light, dark in found}


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXT = (
    *(("ink", ground) for ground in ("paper", "sheet", "wash", "mark")),
    *(("soft", ground) for ground in ("paper", "sheet", "wash")),
    *(("accent", ground) for ground in ("paper", "sheet", "wash")),
    *(("p-ink", ground) for ground in ("p1", "p2")),
    *(("accent-ink", "accent"), ("p3-ink", "p3"), ("refused-ink", "refused"), ("failed-ink", "failed")),
    *(("added-ink", "added"), ("removed-ink", "removed"), ("soft", "added"), ("soft", "removed")),
    *(("added-ink", "sheet"), ("removed-ink", "sheet")),
    *(("heat-ink", "heat1"), ("heat-ink", "heat2"), ("heat-ink", "heat3"), ("heat4-ink", "heat4")),
)
DRAWN = (
    *((name, "sheet") for name in ("frequency", "relevance", "diversity", "recency", "consolidation", "conceptual")),
    *((name, "sheet") for name in ("boost", "limit", "accent", "edge")),
    *((name, "paper") for name in ("edge", "p-edge", "refused-edge", "quiet-edge", "failed")),
)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(mode: int) -> None:
    colours = palette()
    weak = [(a, b, round(contrast(colours[a][mode], colours[b][mode]), 2)) for a, b in TEXT]
    assert [one for one in weak if one[2] < 4.5] == []
    weak = [(a, b, round(contrast(colours[a][mode], colours[b][mode]), 2)) for a, b in DRAWN]
    assert [one for one in weak if one[2] < 3] == []


# -- pieces -----------------------------------------------------------------------------------------------------------

LINES = st.lists(st.sampled_from(["", "a", "b", "- c", "# d", "e"]), max_size=30)


@given(LINES, LINES)
def test_edits_make_the_new_text_of_the_old(before: list[str], after: list[str]) -> None:
    assert edited(before, edits(before, after)) == after


def test_a_long_stretch_is_replaced_and_not_compared() -> None:
    before, after = [f"old {n}" for n in range(2000)], [f"new {n}" for n in range(2000)]
    (one,) = edits(["same", *before, "end"], ["same", *after, "end"])
    assert (one.at, one.cut, len(one.put)) == (1, 2000, 2000)


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_embedded_json_says_the_same_and_ends_no_script(value: Any) -> None:
    text = embedded(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


PROSE = st.text(alphabet='ab “”「」".。!?\n<é', max_size=80)


@given(PROSE, st.lists(PROSE, max_size=3))
def test_weaving_changes_no_word_of_an_entry(prose: str, sources: list[str]) -> None:
    paragraphs = ["".join(piece.text for piece in paragraph) for paragraph in woven(prose, sources)]
    assert paragraphs == [part for part in re.split(r"\n\s*\n", prose) if part.strip()]


def test_a_quotation_leads_to_what_it_quotes() -> None:
    sources = ["Deploy: slot picker is out for Harbour Street", "芝麻: 疫苗本找到了，在琴凳里。"]
    ((first, quote, _, second, _),) = woven(
        "I read “Slot picker is out”, then 「疫苗本找到了，在琴凳里」 again.", sources
    )
    assert (first.source, quote.source, second.source) == (None, 1, 2)


def test_a_sentence_without_quotation_leads_to_what_shares_its_words() -> None:
    sources = ["The kiln cools nine degrees an hour since the new seal", "Buy milk"]
    (pieces,) = woven("The new seal lets the kiln cool nine degrees an hour. Good night.", sources)
    assert [piece.source for piece in pieces if piece.text.strip()] == [1, None]


def record(*, finished: bool = True, **deep: int) -> NightRecord:
    at = datetime(2026, 3, 2, 19, tzinfo=UTC)
    reports = {Phase.DEEP: deep} if deep else {}
    return NightRecord(date=date(2026, 3, 3), started_at=at, finished_at=at if finished else None, reports=reports)


@pytest.mark.parametrize(
    ("given_record", "refused", "state"),
    [
        (record(), {}, NightState.QUIET),
        (record(promoted=1, refused=2), {"score": 2}, NightState.PROMOTED),
        (record(promoted=0, refused=2, proposed=1), {"score": 2}, NightState.PROMOTED),
        (record(promoted=0, refused=2), {"score": 2}, NightState.REFUSED),
        (record(finished=False, promoted=1), {}, NightState.FAILED),
        (record(promoted=0, refused=1), {"unwritten": 1}, NightState.FAILED),
    ],
)
def test_a_night_is_what_it_came_to(given_record: NightRecord, refused: dict[str, int], state: NightState) -> None:
    assert night(given_record, refused).state is state


def test_the_funnel_is_in_the_order_of_the_gates() -> None:
    found = night(record(refused=4), {"limit": 1, "score": 1, "clean": 1, "recalled": 1}).funnel
    assert [name for name, _ in found] == ["clean", "recalled", "score", "limit"]


def test_the_calendar_has_each_night_once_and_ends_today() -> None:
    today = date(2026, 6, 24)
    some = [one_night(today - timedelta(days=days)) for days in (0, 1, 100, 399)]
    days = [day for row in weeks(some, today=today).rows for day in row]
    assert sorted(day.date for day in days if day.night) == sorted(one.date for one in some)
    assert max(day.date for day in days if not day.outside) == today
    assert all(row[0].date.weekday() == n for n, row in enumerate(weeks(some, today=today).rows))


def one_night(day: date) -> Night:
    return Night(
        date=day, state=NightState.QUIET, counts=(), promoted=0, proposed=0, refused=0, funnel=()
    )  # fmt: skip


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_every_number_is_the_one_the_gates_compare(haunted: House, html: str) -> None:
    shown = {one["key"]: one for one in told(html)["anatomies"]}
    with opened(haunted.root, environ={}, overrides=haunted.settings) as home:
        exams = examined(home, home.store.recalled(), now=moment(NOW))
        made = home.promotions.all()
    waiting = [one for one in exams if one.exam.promoted_on is None]
    assert waiting
    assert made
    assert shown.keys() == {one.candidate.id for one in waiting} | {f"p{one.id}" for one in made}
    for one in waiting:
        there = shown[one.candidate.id]
        assert (there["score"], there["boost"]) == (one.exam.score.total, one.exam.score.boost)
        for gate, (name, passed, value, threshold, _) in zip(one.gates, there["gates"], strict=True):
            assert (name, passed) == (gate.name, gate.passed)
            assert value == (gate.value if isinstance(gate.value, int | float) else None)
            assert threshold == (gate.threshold if isinstance(gate.threshold, int | float) else None)
    for promotion in made:
        there, basis = shown[f"p{promotion.id}"], promotion.basis
        assert basis is not None
        assert there["score"] == promotion.score
        assert there["weights"] == list(basis.weights.values())
        assert there["days"] == [day.isoformat() for day in basis.evidence.days]
        assert [(name, passed) for name, passed, *_ in there["gates"]] == [(name, True) for name, *_ in basis.gates]
        assert there["least"] == next(demanded for name, _, demanded in basis.gates if name == "score")


def test_the_components_add_up_to_the_score(html: str) -> None:
    facts = told(html)
    weights = list(dict(facts["weights"]).values())
    for one in facts["anatomies"]:
        pairs = zip(one["parts"], one["weights"] or weights, strict=True)
        total = sum(part * weight for part, weight in pairs) + one["boost"]
        assert min(1.0, total) == pytest.approx(one["score"], abs=1e-9)


def test_the_funnel_is_what_the_night_recorded(haunted: House, html: str) -> None:
    with opened(haunted.root, environ={}, overrides=haunted.settings) as home:
        recorded = dict(home.journal.last_refused())
    assert dict(told(html)["nights"][-1]["funnel"]) == recorded != {}


def test_the_history_stands_as_it_stood(haunted: House, html: str) -> None:
    lines: list[str] = []
    texts = {}
    for one in told(html)["memory"]["versions"]:
        before, lines = lines, []
        done = 0
        for at, cut, put in one["edits"]:
            lines += [*before[done:at], *put]
            done = at + cut
        lines += before[done:]
        texts[one["at"][:10]] = lines
    assert len(texts) >= 2
    with opened(haunted.root, environ={}, overrides=haunted.settings) as home:
        then = stood(home, date(2026, 3, 6), now=moment("2026-04-01T09:00")).text.splitlines()
    last = max(day for day in texts if day <= "2026-03-06")
    assert [line[:100] for line in texts[last]] == [line[:100] for line in then]


# -- whatever a diary says --------------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Collects the elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_text_of_the_user_makes_no_element(haunted: House, html: str) -> None:
    assert "planted()" in html  # it is shown, and only that
    elements = Elements()
    elements.feed(html)
    tags = [tag for tag, _ in elements.found]
    scripts = [attrs for tag, attrs in elements.found if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "facts"}, {}, {}]
    assert tags.count("article") == len(facts_of(haunted).entries)  # no comment swallowed one
    assert not {"img", "iframe", "object", "embed", "base", "video", "textarea"} & set(tags)
    attributes = {name for _, attrs in elements.found for name in attrs}
    assert not {name for name in attributes if name.startswith("on")}
    assert "style" not in attributes  # the policy would not let it through


def test_templates_in_a_diary_stay_text(html: str) -> None:
    assert "{{ secrets }}" in html


def test_links_lead_to_the_workspace_or_into_the_page(html: str) -> None:
    elements = Elements()
    elements.feed(html)
    links = [attrs["href"] or "" for tag, attrs in elements.found if tag == "a"]
    assert all(link.startswith(("#", "../../memory/")) for link in links)
    assert any(link.startswith("../../memory/2026-03-02.md") for link in links)


def test_nothing_is_loaded_and_only_the_own_scripts_may_run(html: str) -> None:
    elements = Elements()
    elements.feed(html)
    (policy,) = [attrs["content"] or "" for _, attrs in elements.found if attrs.get("http-equiv")]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not [attrs for tag, attrs in elements.found if "src" in attrs]
    for script in re.findall(r"<script>(.*?)</script>", html, re.DOTALL):
        assert b64encode(sha256(script.encode()).digest()).decode() in policy


def test_secrets_are_masked(haunted: House, html: str) -> None:
    assert KEY in haunted.read("memory/2026-03-05.md")
    assert KEY in haunted.read("MEMORY.md")
    assert KEY not in html
    assert "[secret:" in html


def test_no_control_character_gets_into_the_page(html: str) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", html)


# -- the same, and small ----------------------------------------------------------------------------------------------


def test_the_same_store_and_time_give_the_same_bytes(haunted: House, html: str) -> None:
    assert page(facts_of(haunted)) == html


def test_a_page_begins_with_its_mark(html: str) -> None:
    assert html.startswith(f"{MARK}\n")


def test_the_page_of_an_empty_workspace_says_so(house: House) -> None:
    house.write("memory/2026-03-02.md", "")
    html = page(facts_of(house))
    assert "No night has run yet" in html
    assert "Nothing was left out." in html


def test_the_language_is_that_of_the_memory(house: House) -> None:
    house.write("memory/2026-03-02.md", "- 锅炉压力保持在 1.5 bar，低于 1.0 bar 就加水。\n- 测试必须使用真实数据库。\n")
    house.night("2026-03-03T03:00")
    assert '<html lang="zh-Hans">' in page(facts_of(house))
    assert '<html lang="en">' in page(facts_of(house, language="en"))


def test_german_diaries_are_shown_in_an_english_page(house: House) -> None:
    house.write("memory/2026-03-02.md", "- Die Heizung braucht im Winter 1,5 bar, sagt der Installateur.\n")
    house.night("2026-03-03T03:00")
    assert '<html lang="en">' in page(facts_of(house))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    house = House(tmp_path_factory.mktemp("crowded"))
    crowded(house)
    path = house.root / "full.html"
    path.write_text(page(facts_of(house, language="en")), encoding="utf-8")
    return path


def test_a_full_page_stays_below_three_megabytes_and_says_what_it_left_out(full: Path) -> None:
    text = full.read_text(encoding="utf-8")
    assert len(text.encode()) < 3_000_000
    about = text[text.index('id="h-about"') :]
    for said in (
        "399 of 430 nights",
        "of 600 candidates",
        "of 430 promotions",
        "versions",
        f"of {3 * NIGHTS:,} entries",
    ):
        assert said in about, said


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))


@pytest.fixture
def kiln(house: House, own_settings: None) -> House:
    house.write("memory/2026-03-02.md", f"- The kiln stays below 1240 °C because of the shelves {PLANTED}\n")
    return house


def call(house: House, *arguments: str) -> Result:
    given_first = ["--workspace", str(house.root), "--now", f"{NOW}+08:00", "report"]
    return CliRunner().invoke(dream, [*given_first, *arguments], prog_name="dream")


def test_the_report_goes_to_the_folder_of_the_nights_and_nobody_else_may_read_it(kiln: House) -> None:
    result = call(kiln)
    assert result.exit_code == 0, result.output
    path = kiln.root / FOLDER / NAME
    assert result.stdout == f"{path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8").startswith(MARK)


def test_a_report_is_replaced_by_the_next_and_is_private_again(kiln: House) -> None:
    path = Path(call(kiln).stdout.strip())
    first = path.read_bytes()
    path.chmod(0o644)
    assert call(kiln).exit_code == 0
    assert path.read_bytes() == first
    path.write_text(f"{MARK}\nan old one", encoding="utf-8")
    path.chmod(0o644)
    assert call(kiln).exit_code == 0
    assert path.read_bytes() == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "<!doctype html>\n<p>mine</p>", f" {MARK}"])
def test_another_file_is_left_alone(kiln: House, text: str) -> None:
    other = kiln.write("page.html", text)
    result = call(kiln, str(other))
    assert result.exit_code == 1
    assert "is no report of this program and was left alone" in result.stderr
    assert other.read_text(encoding="utf-8") == text


def test_a_folder_takes_the_report_under_its_own_name(kiln: House, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    assert call(kiln, str(folder)).stdout == f"{folder / NAME}\n"
    assert told((folder / NAME).read_text(encoding="utf-8"))["places"] == ".."


def test_a_missing_folder_is_named(kiln: House, tmp_path: Path) -> None:
    result = call(kiln, str(tmp_path / "nowhere" / "page.html"))
    assert result.exit_code == 1
    assert "nowhere is no folder" in result.stderr


def test_the_report_is_opened_on_request(kiln: House, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_pages: list[str] = []

    def show(url: str) -> bool:
        opened_pages.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", show)
    result = call(kiln, "--open", "--json")
    assert opened_pages == [(kiln.root / FOLDER / NAME).as_uri()]
    assert json.loads(result.stdout) == {"file": str(kiln.root / FOLDER / NAME), "problems": []}


def test_the_report_is_no_diary(kiln: House) -> None:
    call(kiln)
    with opened(kiln.root, environ={}, overrides=kiln.settings) as home:
        before = home.store.counts()
    kiln.night("2026-03-09T23:00")
    with opened(kiln.root, environ={}, overrides=kiln.settings) as home:
        assert home.store.counts() == before


def test_a_folder_that_is_no_workspace_gets_no_report(tmp_path: Path, own_settings: None) -> None:
    (tmp_path / "empty").mkdir()
    result = CliRunner().invoke(dream, ["--workspace", str(tmp_path / "empty"), "report"])
    assert result.exit_code == 2
    assert not list((tmp_path / "empty").iterdir())


def test_the_pieces_of_the_document_are_plain_json(haunted: House) -> None:
    facts = facts_of(haunted)
    assert json.loads(embedded(document(facts, words("en")))) == document(facts, words("en"))
