import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.narrators.quoting import (
    Manner,
    Quotation,
    Room,
    columns,
    fits,
    inert,
    quotation,
    shorten,
    split_heading,
)

ENGLISH = Manner(code="en", inner_marks=("‘", "’"))
GERMAN = Manner(code="de", inner_marks=("‚", "‘"))
CHINESE = Manner(code="zh", inner_marks=("『", "』"), punctuation="，；：？！")
JAPANESE = Manner(code="ja", inner_marks=("『", "』"), punctuation="、；：？！")
ROOM = Room(columns=60, words=12)
FORBIDDEN = re.compile(r"[`#*<>{}|\n\r]|---|\]\(|\{%")


def quoted(text: str, manner: Manner = ENGLISH, room: Room = ROOM) -> Quotation:
    said = quotation(text, room, manner)
    assert said is not None
    return said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{{ config.items() }}", "(config.items())"),
        ("{% raw %} x {%- endraw -%}", "(raw) x (endraw)"),
        ("before <!-- openclaw:x:end --> after", "before after"),
        ("<!-- never closed", "never closed"),
        ("<script>alert(1)</script>", "‹script›alert(1)‹/script›"),
        ("a -> b --> c <-- d", "a → b → c ← d"),
        ("one\n\n---\n\ntwo", "one — two"),
        ("## Heading", "Heading"),
        ("issue #42 in C#", "issue 42 in C♯"),
        ("run `make test` and **wait**", "run make test and wait"),
        ("memory/*.md", "memory/∗.md"),
        ("see [the docs](https://evil.example/a?b=c)", "see the docs"),
        ("at https://me:secret@host.example/a/b?c=d, then", "at host.example then"),
        ("见 https://host.example/a，然后", "见 host.example，然后"),
        ("a\u202eb\u2066c\u200bd\ufeff", "abcd"),
        ("\x1b[31mred\x1b[0m\x00\x07 bell", "red bell"),
        ("a | b", "a / b"),
        ("- [x] done", "done"),
        ("half \ud800 a character", "half a character"),
        ("e" + "\u0301" * 40, "\u00e9" + "\u0301" * 4),
    ],
)
def test_a_text_becomes_one_harmless_line(text: str, line: str) -> None:
    assert inert(text) == line


@given(st.text(max_size=300))
def test_nothing_in_a_line_is_markup(text: str) -> None:
    line = inert(text)

    assert not FORBIDDEN.search(line)
    assert not any(unicodedata.category(character).startswith("C") for character in line)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("Deploy: verify on staging", ("Deploy", "verify on staging")),
        ("PR 评审: 规范：今后必须用真实数据库", ("PR 评审", "今后必须用真实数据库")),
        ("Rule: tests use a real database", ("", "tests use a real database")),
        ("Rechnungen: Regel: Der Beleg wird zuerst geprüft", ("Rechnungen", "Der Beleg wird zuerst geprüft")),
        ("レビュー：ルール：テストは本物のデータベースで行う", ("レビュー", "テストは本物のデータベースで行う")),
        ("the meeting is at 14:30 now", ("", "the meeting is at 14:30 now")),
        ("We tried it, and failed: no luck", ("", "We tried it, and failed: no luck")),
        ("Deploy: staging: verify there", ("Deploy", "staging: verify there")),
    ],
)
def test_a_heading_is_told_from_a_label_and_a_sentence(line: str, parts: tuple[str, str]) -> None:
    assert split_heading(line) == parts


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        (
            "Tests use a real database because a mock hid a bug",
            ("Tests use a real database", "because a mock hid a bug"),
        ),
        ("Because the disk was full, backups moved to 2 AM", ("backups moved to 2 AM", "Because the disk was full")),
        ("Backups run at two so that nothing collides", ("Backups run at two", "so that nothing collides")),
        ("The cable was replaced after the second outage", ("The cable was replaced", "after the second outage")),
        ("The fan runs five minutes after every cut", ("The fan runs five minutes after every cut", "")),
        ("Oak is stacked dry. Pine moves first, otherwise it warps.", ("Oak is stacked dry", "")),
        ("暖柜设在十八度。木板先到先用，否则旧板会翘曲变形。", ("暖柜设在十八度", "")),
        ("Tomatoes go out after the last frost", ("Tomatoes go out after the last frost", "")),
        ("Call the plumber the day after tomorrow", ("Call the plumber the day after tomorrow", "")),
        ("Use cursors. Last month paging timed out twice.", ("Use cursors", "Last month paging timed out twice")),
        ("今后测试用真实数据库，因为 mock 掩盖了错误", ("今后测试用真实数据库", "因为 mock 掩盖了错误")),
        ("因为磁盘满了，备份改到两点", ("备份改到两点", "因为磁盘满了")),
        ("不接受 mock。上季度它掩盖了一次失败", ("不接受 mock", "上季度它掩盖了一次失败")),
        ("Vor dem Release prüfen, weil Staging alt ist", ("Vor dem Release prüfen", "weil Staging alt ist")),
        (
            "Die Sicherung läuft um zwei, da sonst der Bericht stockt",
            ("Die Sicherung läuft um zwei", "da sonst der Bericht stockt"),
        ),
        (
            "Die Sicherung läuft um zwei, um den Bericht zu schonen",
            ("Die Sicherung läuft um zwei", "um den Bericht zu schonen"),
        ),
        ("Erst umschalten, um Ausfälle abzufangen.", ("Erst umschalten", "um Ausfälle abzufangen")),
        ("Vor dem Release prüfen, sonst fehlt die Spalte", ("Vor dem Release prüfen", "sonst fehlt die Spalte")),
        ("Nie ohne Probe. Letztes Quartal fehlte die Spalte.", ("Nie ohne Probe", "Letztes Quartal fehlte die Spalte")),
        (
            "Weil die Platte voll war, läuft sie jetzt um zwei",
            ("Weil die Platte voll war, läuft sie jetzt um zwei", ""),
        ),
        ("Wir treffen uns, um zwei ist Schluss", ("Wir treffen uns, um zwei ist Schluss", "")),
        ("モックが失敗を隠したので、本物を使う", ("本物を使う", "モックが失敗を隠したので")),
        ("モックが失敗を隠したから、本物を使う", ("本物を使う", "モックが失敗を隠したから")),
        ("負荷を減らすため、夜中に実行する", ("夜中に実行する", "負荷を減らすため")),
        ("負荷を減らすために夜中に実行する", ("夜中に実行する", "負荷を減らすために")),
        ("鍵を忘れないように、棚に掛けておく", ("棚に掛けておく", "鍵を忘れないように")),
        ("本物を使う。モックが失敗を隠したからだ。", ("本物を使う", "モックが失敗を隠したからだ")),
        ("モックは使わない。前の四半期に失敗を隠した。", ("モックは使わない", "前の四半期に失敗を隠した")),
        ("本物を使う、なぜならモックが隠したから", ("本物を使う", "なぜならモックが隠したから")),
        ("コードを変更する理由は必ず書く", ("コードを変更する理由は必ず書く", "")),
        ("会議が長いというのも困りものだ", ("会議が長いというのも困りものだ", "")),
        ("月曜日から、会議は十時に始める", ("月曜日から、会議は十時に始める", "")),
        ("窓の向こうから、隣の庭が見える", ("窓の向こうから、隣の庭が見える", "")),
        ("田中さんから、返事をもらった", ("田中さんから、返事をもらった", "")),
        ("古いものでは足りないことがある", ("古いものでは足りないことがある", "")),
        ("Garage panel takes a CR2450 cell", ("Garage panel takes a CR2450 cell", "")),
    ],
)
def test_the_reason_is_found(text: str, halves: tuple[str, str]) -> None:
    said = quoted(text)

    assert (said.claim, said.reason) == halves


def test_an_undivided_text_keeps_its_reason_inside() -> None:
    said = quoted("Backups run at two so that nothing collides").undivided

    assert (said.claim, said.reason) == ("Backups run at two so that nothing collides", "")


def test_what_happened_before_is_a_story() -> None:
    said = quoted("不接受 mock。上季度它掩盖了一次迁移失败", CHINESE)

    assert said.reason_is_story


@pytest.mark.parametrize(
    ("text", "manner"),
    [
        ("Nie ohne Probe. Letztes Quartal fehlte die Spalte.", GERMAN),
        ("モックは使わない。前の四半期に失敗を隠した。", JAPANESE),
    ],
)
def test_what_happened_before_is_a_story_in_any_language(text: str, manner: Manner) -> None:
    assert quoted(text, manner).reason_is_story


def test_a_long_text_is_cut_at_a_clause_end() -> None:
    text = "verify every release on staging first, then tell the team in the channel, then go home"

    assert shorten(text, ROOM) == "verify every release on staging first"


def test_a_text_is_not_cut_where_its_meaning_turns() -> None:
    text = "mocks are fine for everything in the house, except the database, which is never mocked"

    assert shorten(text, Room(columns=50, words=12)) == "mocks are fine for everything in the house…"


def test_a_condition_is_not_quoted_without_what_it_asks_for() -> None:
    text = "if the disk of the second server is full, delete the oldest archive, then write to Anna about it"

    assert shorten(text, Room(columns=62, words=15)) == "if the disk of the second server is full, delete the oldest…"


def test_a_japanese_text_cut_behind_a_clause_goes_on() -> None:
    text = "発布の前には必ずステージングで確かめ、結果を全員に知らせてから帰る"

    assert quoted(text, JAPANESE, Room(columns=50, words=12)).claim == "発布の前には必ずステージングで確かめ……"


def test_a_german_cut_leaves_no_dangling_article() -> None:
    assert shorten("Niemand darf jemals den Router in der Mitte neu starten", Room(columns=36, words=8)) == (
        "Niemand darf jemals den Router…"
    )


def test_a_cut_between_words_leaves_no_dangling_article() -> None:
    assert shorten("nobody may ever restart the router in the middle of a call", Room(columns=40, words=8)) == (
        "nobody may ever restart the router…"
    )


def test_a_text_without_spaces_is_cut_between_characters() -> None:
    assert shorten("x" * 280, Room(columns=20, words=5)) == "x" * 18 + "…"


def test_an_emoji_is_not_cut_in_two() -> None:
    short = shorten("👍🏽" * 50, Room(columns=21, words=5)).removesuffix("…")

    assert short == "👍🏽" * (len(short) // 2)


@given(st.text(max_size=300), st.integers(10, 60), st.integers(1, 15))
def test_a_quotation_fits_its_room(text: str, width: int, words: int) -> None:
    room = Room(columns=width, words=words)
    said = quotation(text, room, ENGLISH)

    assert said is None or fits(said.claim, room)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ('He said "never again" and left', "He said ‘never again’ and left"),
        ("He said “never again” and left", "He said ‘never again’ and left"),
        ('a stray " mark in the text', "a stray mark in the text"),
        ("“we ship on Friday”", "we ship on Friday"),
    ],
)
def test_marks_inside_a_quotation_are_the_inner_ones(text: str, claim: str) -> None:
    assert " ".join(quoted(text).claim.split()) == claim


def test_marks_inside_a_german_quotation_are_single() -> None:
    assert quoted("Sie sagte „nie wieder“ und ging", GERMAN).claim == "Sie sagte ‚nie wieder‘ und ging"


def test_japanese_punctuation_is_full_width_with_its_own_comma() -> None:
    assert (
        quoted('先に確認,次に更新;"再起動"は 10:30 から', JAPANESE).claim
        == "先に確認、次に更新；『再起動』は 10:30 から"
    )


def test_chinese_punctuation_is_full_width() -> None:
    assert quoted("先备份,再升级;路由器在 10:30 重启", CHINESE).claim == "先备份，再升级；路由器在 10:30 重启"


def test_what_is_never_spoken_of_is_left_out() -> None:
    said = quoted("The agent must ask before it deletes files")

    assert (said.claim, said.elided) == ("The … must ask before it deletes files", True)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Im Zeitraum bis März träumt die KI vom Modell", "Im Zeitraum bis März … die … vom"),
        ("夢を見たモデルの話を聞いた", "を見た…の話を聞いた"),
    ],
)
def test_what_is_never_spoken_of_is_left_out_in_any_language(text: str, claim: str) -> None:
    assert quoted(text).claim == claim


@pytest.mark.parametrize(
    "text",
    ["", "   ", "…!?", "---", "#", "AI", "梦境", "Dream agent", "KI", "Träume", "Albtraum", "夢", "モデル", "\u202e"],
)
def test_a_text_that_says_nothing_is_not_quoted(text: str) -> None:
    assert quotation(text, ROOM, ENGLISH) is None


def test_a_han_character_takes_two_columns() -> None:
    assert columns("测试 ok") == 7


@pytest.mark.parametrize(
    ("text", "heading", "expected"),
    [
        ("Garden: Understood: orchids get water from below", "Garden", ("Garden", "orchids get water from below")),
        ("Upper case ending: the ladder is borrowed", "", ("", "Upper case ending: the ladder is borrowed")),
        ("Understood: orchids get water from below", "", ("", "orchids get water from below")),
        ("Understood: orchids get water from below", None, ("", "orchids get water from below")),
        ("明白了：兰花只能从下面浇水", "", ("", "兰花只能从下面浇水")),
    ],
)
def test_a_label_is_no_heading(text: str, heading: str | None, expected: tuple[str, str]) -> None:
    manner = CHINESE if "明" in text else ENGLISH
    said = quotation(text, ROOM, manner, heading)

    assert said is not None
    assert (said.heading, said.claim) == expected


def test_a_heading_in_another_script_than_the_entry_is_not_named() -> None:
    said = quotation("温室: The fan runs at night", ROOM, ENGLISH, "温室")

    assert said is not None
    assert (said.heading, said.claim) == ("", "The fan runs at night")


def test_a_reason_comes_from_the_statement_it_explains_and_from_no_other() -> None:
    assert quoted("The shed is locked; The pump was replaced because it leaked").reason == ""


def test_of_a_text_in_two_languages_the_sentence_in_the_language_of_the_entry_is_quoted() -> None:
    text = "浇水改到早上六点。 The fan of the greenhouse runs at night."

    assert quoted(text).claim == "The fan of the greenhouse runs at night"
    assert quoted(text, CHINESE).claim == "浇水改到早上六点"
