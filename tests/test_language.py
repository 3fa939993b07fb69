"""Which language a text is in, and which language most of the texts are in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language import language, main_language
from memory.words import LANGUAGES

SENTENCES = {
    "en": "The router in the hall is restarted every Sunday night",
    "de": "Der Router im Flur wird jeden Sonntag neu gestartet",
    "fr": "Le routeur du couloir est redémarré chaque dimanche",
    "es": "El enrutador del pasillo se reinicia todos los domingos",
    "pt": "O roteador do corredor é reiniciado todos os domingos",
    "zh": "走廊里的路由器每周日晚上重启",
    "ja": "廊下のルーターは毎週日曜の夜に再起動する",
    "ko": "복도 라우터는 매주 일요일 밤에 다시 시작한다",
    "ru": "Роутер в коридоре перезапускается каждое воскресенье",
}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_plain_sentence_is_told_by_its_language(code: str) -> None:
    assert language(SENTENCES[code]) == code


def test_chinese_notes_full_of_english_terms_are_chinese() -> None:
    assert language("把 order-service 的 connection pool 改成 60") == "zh"


def test_russian_notes_full_of_english_terms_are_russian() -> None:
    assert language("Обновил nginx config для postgres cluster") == "ru"


def test_german_prose_that_quotes_a_chinese_word_is_german() -> None:
    assert language("Treffen mit dem Team: 侧边栏 bleibt, das Fenster fällt weg") == "de"


def test_one_han_character_in_a_long_line_is_a_quotation() -> None:
    assert language("Deploy checklist updated: nginx, postgres, redis, grafana (中)") == "en"


def test_a_stray_kana_does_not_make_chinese_japanese() -> None:
    assert language("今天在超市买到了那款很有名的绿茶，包装上写着の字") == "zh"


def test_a_word_that_means_something_elsewhere_is_no_evidence() -> None:
    assert language("NAS backup, war room") == "en"


def test_where_nothing_tells_it_is_english() -> None:
    assert [language(text) for text in ("", "123", "🚀", "Backup")] == ["en"] * 4


def test_most_letters_decide_not_most_lines() -> None:
    assert main_language(["ok then", "see the log", SENTENCES["zh"] * 2]) == "zh"


def test_a_han_character_weighs_three_letters() -> None:
    assert main_language(["数据库迁移完成", "the old one is gone"]) == "zh"
    assert main_language(["数据库", "the old one is gone"]) == "en"


def test_lines_without_function_words_follow_the_strongest_latin_language() -> None:
    assert main_language([SENTENCES["de"], "Backup Router Firmware", "Gateway Failover Checkliste Montag"]) == "de"


def test_no_text_is_english() -> None:
    assert main_language([]) == "en"


def test_ties_are_broken_the_same_way_in_any_order() -> None:
    assert main_language(["数据库", "база данны"]) == main_language(["база данны", "数据库"])


@given(st.lists(st.text(max_size=40), max_size=6))
def test_any_texts_have_a_listed_language_whatever_their_order(texts: list[str]) -> None:
    assert main_language(texts) in LANGUAGES
    assert main_language(texts) == main_language(texts[::-1])
    assert all(language(text) in LANGUAGES for text in texts)
