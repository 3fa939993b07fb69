"""The report as a person meets it: opened from the disk, without network, by mouse, keyboard and ear, in the dark.

Runs where Chromium (`apt-get install chromium`) is; with DREAM_BROWSER=required its absence is a failure. With
DREAM_SHOTS=FOLDER each look of the page is kept there.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crowded import crowded
from dreaming.report.page import page
from house import House
from planted import facts_of, planted

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
NAMES = ("chromium", "chromium-browser", "google-chrome")
SECOND = 1.0


def absent(reason: str) -> None:
    if os.environ.get("DREAM_BROWSER") == "required":
        pytest.fail(f"a browser is required here, but {reason}")
    pytest.skip(f"{reason}; the report is not tried in a browser")


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    program = os.environ.get("DREAM_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        absent("no Chromium is installed (on Debian: apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright is not installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def haunted(tmp_path_factory: pytest.TempPathFactory) -> House:
    return planted(tmp_path_factory.mktemp("haunted"))


@pytest.fixture(scope="module")
def files(haunted: House, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for language in ("en", "zh"):
        found[language] = folder / f"{language}.html"
        found[language].write_text(page(facts_of(haunted, language=language)), encoding="utf-8")
    return found


Open = Callable[..., "Page"]


@pytest.fixture
def visit(browser: "Browser", files: dict[str, Path]) -> Iterator[Open]:
    """Open the page; whatever it says to the console, asks of the network or pops up fails the test at its end."""
    trouble: list[str] = []
    contexts = []

    def opened(language: str = "en", *, scheme: str = "light", width: int = 1180, path: Path | None = None) -> "Page":
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})  # type: ignore[arg-type]  # one of its words
        contexts.append(context)
        view = context.new_page()
        view.on("console", lambda message: trouble.append(f"console: {message.text}"))
        view.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        view.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        view.on("request", lambda asked: None if asked.url.startswith("file:") else trouble.append(asked.url))
        view.goto((path or files[language]).as_uri())
        return view

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


def kept(view: "Page", name: str) -> None:
    folder = os.environ.get("DREAM_SHOTS")
    if folder:
        view.screenshot(path=Path(folder) / f"report-{name}.png", full_page=True)


@pytest.mark.parametrize(
    ("language", "scheme", "width"),
    [("en", "light", 1180), ("en", "dark", 1180), ("zh", "light", 1180), ("zh", "dark", 390)],
)
def test_the_page_opens_without_a_word_of_complaint(visit: Open, language: str, scheme: str, width: int) -> None:
    view = visit(language, scheme=scheme, width=width)
    assert view.locator("h1").inner_text() == {"en": "Dream report", "zh": "梦境报告"}[language]
    assert view.locator(".uplot canvas").count() == 2
    assert view.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the window"
    kept(view, f"{language}-{scheme}-{width}")


def test_no_word_of_a_diary_acts(visit: Open) -> None:
    view = visit()
    for key in ("#calendar td.night", "#candidates .option"):
        for one in view.locator(key).all()[-8:]:
            one.click()
    for _ in range(6):
        view.locator("#earlier").click(force=True)
    view.locator("#search").fill("planted")
    view.wait_for_selector("#results a")
    assert view.evaluate("document.images.length") == 0
    assert view.evaluate("document.scripts.length") == 3
    assert view.evaluate("typeof planted") == "undefined"
    assert view.get_by_text("<img src=x onerror=planted()>").count() > 0


def test_the_policy_stops_what_would_get_in_all_the_same(
    browser: "Browser", files: dict[str, Path], tmp_path: Path
) -> None:
    broken = (
        files["en"].read_text(encoding="utf-8").replace("</main>", "<script>document.title='in'</script></main>", 1)
    )
    (tmp_path / "broken.html").write_text(broken, encoding="utf-8")
    view = browser.new_page()
    view.goto((tmp_path / "broken.html").as_uri())
    assert view.title() != "in"
    assert view.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'stopped')") == "stopped"
    view.close()


def test_the_calendar_is_walked_with_the_arrow_keys(visit: Open) -> None:
    view = visit()
    view.locator('#calendar td[tabindex="0"]').focus()
    assert view.locator("#night h3").inner_text() == "Night of 2026-03-08"
    view.keyboard.press("ArrowUp")
    assert view.locator("#night h3").inner_text() == "Night of 2026-03-07"
    view.keyboard.press("ArrowLeft")
    assert view.locator("#night p").inner_text() == "no night"
    view.keyboard.press("ArrowRight")
    view.keyboard.press("End")
    assert view.evaluate("document.activeElement.dataset.day") == "2026-03-09"
    assert view.locator('#calendar td[aria-selected="true"]').count() == 1
    assert view.locator('#calendar td[tabindex="0"]').count() == 1


def test_the_night_of_a_promotion_shows_its_gates_and_leads_to_its_score(visit: Open) -> None:
    view = visit()
    view.locator("#calendar td.promoted").first.click()
    assert "It promoted 1." in view.locator("#night").inner_text()
    assert view.locator("#night table tbody tr").count() >= 2
    view.locator("#night ul a").first.click()
    assert "in MEMORY.md" in view.locator("#anatomy").inner_text()


def test_candidates_are_chosen_with_the_arrow_keys(visit: Open) -> None:
    view = visit()
    view.locator("#candidates").focus()
    before = view.locator("#anatomy .said").inner_text()
    view.keyboard.press("ArrowDown")
    assert view.locator("#anatomy .said").inner_text() != before
    chosen = view.locator("#candidates").get_attribute("aria-activedescendant")
    assert view.locator(f"#{chosen}").get_attribute("aria-selected") == "true"
    view.keyboard.press("End")
    assert view.locator("#anatomy table.gates tbody tr").count() == 13


def test_the_bar_ends_where_the_score_is(visit: Open) -> None:
    view = visit()
    view.locator("#candidates").focus()
    view.keyboard.press("End")
    score = float(view.locator("#anatomy .total").inner_text())
    ends = view.evaluate(
        "[...document.querySelectorAll('#anatomy svg rect:not(.room):not(.threshold)')]"
        ".map(r => r.x.baseVal.value + r.width.baseVal.value).reduce((a, b) => Math.max(a, b), 0) / 1000"
    )
    assert ends == pytest.approx(score, abs=0.003)


def test_the_slider_shows_the_file_as_it_stood(visit: Open) -> None:
    view = visit()
    slider = view.locator("#moment")
    now = view.locator("#memory-text").inner_text()
    assert "by hand" in now
    slider.focus()
    view.keyboard.press("Home")
    assert "by hand" not in view.locator("#memory-text").inner_text()
    assert "before the first change" in (slider.get_attribute("aria-valuetext") or "")
    view.keyboard.press("ArrowRight")
    assert view.locator("#memory-text ins.added").count() > 0
    view.locator("#mark").uncheck()
    assert view.locator("#memory-text ins.added").count() == 0
    view.keyboard.press("Tab")
    view.locator("#later").click()
    assert "2026-03-0" in view.locator("#moment-said").inner_text()


def test_the_search_finds_and_filters(visit: Open) -> None:
    view = visit()
    view.keyboard.press("/")
    view.keyboard.type("锅炉压力")
    view.wait_for_selector("#results a")
    assert "found" in view.locator("#said").inner_text()
    assert view.locator("#candidates .option:visible").count() == 1
    shown, total = view.locator(".entry:visible").count(), view.locator(".entry").count()
    assert 0 < shown < total
    assert f"{shown} of {total} entries" in view.locator("#filtered").inner_text()
    view.keyboard.press("ArrowDown")
    view.keyboard.press("Enter")
    assert "锅炉" in view.locator("#anatomy .said").inner_text()
    view.locator("#search").focus()
    view.keyboard.press("Escape")
    assert view.locator(".entry:visible").count() == total
    view.locator("#search").fill("nobody ever said this")
    view.locator("#said", has_text="Nothing on this page").wait_for(state="attached")


def test_an_underlined_word_leads_to_its_source(visit: Open) -> None:
    view = visit()
    link = view.locator("a.from").first
    target = (link.get_attribute("href") or "")[1:]
    link.click()
    view.locator(f"#{target}:focus").wait_for()
    assert view.locator(f"#{target} a.place").get_attribute("href", timeout=1000 * SECOND)


def test_the_colours_follow_the_system_and_the_button(visit: Open) -> None:
    view = visit(scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = view.evaluate(background)
    view.locator("#theme").click()
    light = view.evaluate(background)
    assert dark != light
    assert view.locator("#theme").inner_text() == "Colours: light"
    view.locator("#theme").click()
    assert view.evaluate(background) == dark
    view.reload()
    assert view.locator("#theme").inner_text() == "Colours: dark"
    view.locator("#theme").click()
    view.emulate_media(color_scheme="light")
    assert view.evaluate(background) == light


def test_paper_is_white_and_has_no_buttons(visit: Open) -> None:
    view = visit(scheme="dark")
    view.emulate_media(media="print")
    assert view.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert view.evaluate("getComputedStyle(document.querySelector('h2')).color") == "rgb(35, 38, 45)"
    for gone in (".top", "#candidates", ".controls"):
        assert not view.locator(gone).is_visible()
    for there in ("#calendar", "#anatomy", ".heat", "#memory-text", ".entry >> nth=0"):
        assert view.locator(there).is_visible()
    assert view.pdf()[:5] == b"%PDF-"


def test_everything_has_a_name_and_an_order(visit: Open) -> None:
    view = visit()
    levels = view.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels)), levels
    assert view.locator("main, header, nav, [role=search]").count() == 4
    nameless = """[...document.querySelectorAll('button,a,input,[role=listbox],[role=region],[role=grid],[role=img]')]
        .filter(e => !(e.ariaLabel || e.textContent.trim() || (e.labels && e.labels.length)
            || document.getElementById(e.getAttribute('aria-labelledby')))).map(e => e.outerHTML.slice(0, 90))"""
    assert view.evaluate(nameless) == []
    ids = view.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    unknown = """[...document.querySelectorAll('[aria-labelledby],[aria-describedby],a[href^="#"]')]
        .map(e => e.getAttribute('aria-labelledby') || e.getAttribute('aria-describedby') || e.hash.slice(1))
        .filter(id => !document.getElementById(id))"""
    assert view.evaluate(unknown) == []


def test_the_keyboard_gets_everywhere_and_is_seen(visit: Open) -> None:
    view = visit()
    reached = set()
    for _ in range(60):
        view.keyboard.press("Tab")
        reached.add(view.evaluate("document.activeElement.id || document.activeElement.className"))
        outline = view.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", view.evaluate("document.activeElement.outerHTML.slice(0, 90)")
    assert {"skip", "search", "theme", "candidates", "earlier", "moment", "mark", "memory-text"} <= reached
    assert any("night" in one for one in reached)


def test_the_menu_leads_to_every_section(visit: Open) -> None:
    view = visit()
    for link in view.locator("nav a").all():
        link.click()
        heading = view.locator(f"#h-{(link.get_attribute('href') or '')[1:]}")
        place = heading.bounding_box()
        assert place
        assert 0 <= place["y"] < 900, link.inner_text()


def test_the_first_stop_skips_to_the_content(visit: Open) -> None:
    view = visit()
    view.keyboard.press("Tab")
    view.keyboard.press("Enter")
    assert view.evaluate("document.activeElement.id") == "content"


def test_what_runs_from_right_to_left_turns_nothing_else_round(visit: Open) -> None:
    view = visit()
    view.locator("#search").fill("esrever")
    view.wait_for_selector("#results a")
    for text in view.locator(".option-text, .said, #results bdi").all():
        assert text.evaluate("e => getComputedStyle(e).unicodeBidi") in ("isolate", "plaintext")


def test_a_long_line_stays_in_its_place(visit: Open) -> None:
    view = visit(width=390)
    assert view.evaluate("document.documentElement.scrollWidth") <= 390
    assert view.evaluate("document.getElementById('memory-text').scrollWidth") <= 390


def test_chinese_is_drawn_and_not_boxed(visit: Open) -> None:
    view = visit("zh")
    drawn = """(() => { const of = text => { const c = document.createElement('canvas'); c.width = c.height = 60;
        const p = c.getContext('2d'); p.font = '40px ' + getComputedStyle(document.body).fontFamily;
        p.fillText(text, 5, 45); return [...p.getImageData(0, 0, 60, 60).data].join(); };
        return of('梦') !== of('境') && of('夜') !== of('晚'); })()"""
    if not view.evaluate(drawn):
        absent("no font with Chinese characters is installed (on Debian: apt-get install fonts-noto-cjk)")


def work(view: "Page", path: Path) -> float:
    """Return the seconds a processor is busy with opening a page, however busy it is with other things."""
    session = view.context.new_cdp_session(view)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    view.goto(path.as_uri())
    after = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    print(f"\n{after['TaskDuration'] - before['TaskDuration']:.2f} s of work to open {path.stat().st_size:,} bytes")  # noqa: T201
    return float(after["TaskDuration"] - before["TaskDuration"])


def test_a_full_page_opens_in_under_a_second(visit: Open, tmp_path_factory: pytest.TempPathFactory) -> None:
    house = House(tmp_path_factory.mktemp("crowded"))
    crowded(house)
    path = house.root / "full.html"
    path.write_text(page(facts_of(house)), encoding="utf-8")
    assert work(visit(), path) < SECOND
