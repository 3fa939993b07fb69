"""Search: what is found, how relevant it is, which statements get the vote."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.concepts import lexicon
from memory.query import asked, marked, relevance, term
from memory.search import Hit, answered, search, terms_of
from memory.store import Store
from shelf import put

WORDS = lexicon()


def found(store: Store, query: str, limit: int = 6) -> tuple[Hit, ...]:
    return search(store, query, WORDS, limit=limit)


LABELLED = (
    ("测试用什么数据库", "测试必须使用真实数据库，不接受 mock"),
    ("真实数据库", "测试必须使用真实数据库，不接受 mock"),
    ("锅炉压力多少", "锅炉压力保持在 1.5 bar"),
    ("路由器", "路由器固件升级之后丢包率恢复正常"),
    ("重跑 gen-itgc", "重跑gen-itgc后再看结果"),
    ("which database do tests use", "Tests run against a real database, never a mock"),
    ("deploying on fridays", "Never deploy on a Friday"),
    ("when is the server backed up", "Backups of the server run at two"),
    ("wann kommt der Lieferdienst", "Der Lieferdienst kommt am Dienstag"),
    ("ルーター", "ルーターのファームウェアを更新した"),
    ("백업", "백업 보관 기간을 구십 일로 변경했다"),
    ("connection pool 上限", "把 order-service 的 connection pool 上限改成 60"),
    ("ｶﾚﾝﾀﾞｰ", "カレンダーは木曜に更新する"),
    ("café résumé", "The cafe keeps a resume of Ana"),
)


@pytest.mark.parametrize(("query", "line"), LABELLED, ids=[query for query, _ in LABELLED])
def test_a_question_in_any_script_finds_its_line_first(query: str, line: str) -> None:
    with Store.in_memory() as store:
        for number, (_, text) in enumerate(LABELLED):
            put(store, f"memory/2026-06-{number + 1:02}.md", f"- {text}\n", date(2026, 6, number + 1))
        hits = found(store, query)
        assert hits[0].text == line
        assert hits[0].relevance >= 0.8


ASKED_TWICE = (
    ("garage panel", "which cell does the panel in the garage take again", "Garage panel takes a CR2450 cell"),
    ("database for tests", "could you please remind me which database we decided on for our tests", LABELLED[5][1]),
    ("plumber", "do you remember what the name of the plumber was", "The plumber is called Brandt"),
    ("coffee Ben likes", "what kind of coffee does Ben like, please tell me", "Ben likes a flat white as his coffee"),
    ("测试数据库", "请告诉我当时决定测试要用什么数据库来着", "测试必须使用真实数据库，不接受 mock"),
    ("锅炉压力", "你还记得锅炉的压力是多少吗", "锅炉压力保持在 1.5 bar"),
    ("Lieferdienst Dienstag", "sag mir bitte nochmal, ob der Lieferdienst am Dienstag kommt", LABELLED[8][1]),
    ("connection pool 上限", "请问 order-service 的 connection pool 上限现在是多少", LABELLED[11][1]),
)
"""A short question, a long one, and the line that obviously answers both."""
SMALL_TALK = (
    "Could you please look at the new garden before we decide on the {n} seeds",
    "We decided to use the small oven for test number {n} and remember the time it took",
    "Ben and I tell the same story {n} times a day, what a kind of joke",
    "今天请他告诉我第 {n} 号花盆的情况，当时没有决定",
    "Bitte sag nochmal, wann der Bus Nummer {n} am Dienstag kommt",
    "The current panel discussion {n} was on coffee, likes and the service",
)


@pytest.mark.parametrize("remembered", [6, 60, 2400])
def test_relevance_of_an_obvious_answer_does_not_depend_on_how_much_is_remembered(remembered: int) -> None:
    with Store.in_memory() as alone, Store.in_memory() as crowded:
        answers = "\n\n".join(f"- {line}" for _, _, line in ASKED_TWICE)
        talk = "\n\n".join(f"- {SMALL_TALK[n % len(SMALL_TALK)].format(n=n)}" for n in range(remembered))
        put(alone, "memory/2026-06-01.md", answers)
        put(crowded, "memory/2026-06-01.md", answers)
        put(crowded, "memory/2026-06-02.md", talk, date(2026, 6, 2))
        for short, long, line in ASKED_TWICE:
            for query in (short, long):
                there = {hit.text: hit.relevance for hit in found(crowded, query, 20)}
                assert abs(there[line] - found(alone, query)[0].relevance) <= 0.1, query


@pytest.mark.parametrize(("short", "long", "line"), ASKED_TWICE, ids=[short for short, _, _ in ASKED_TWICE])
def test_a_long_question_and_a_short_one_agree_on_an_obvious_answer(short: str, long: str, line: str) -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", f"- {line}\n")
        assert abs(found(store, short)[0].relevance - found(store, long)[0].relevance) <= 0.1


def test_one_word_in_four_is_no_answer_and_gets_no_vote() -> None:
    terms = [term(word) for word in ("alpha", "bravo", "charlie", "delta")]
    assert relevance("only alpha stands here", terms) < 0.3
    assert relevance("alpha and bravo stand here", terms) >= 0.8


ABOUT_ONE_NAME = (
    ("- Jonas likes toast with honey\n\n- Jonas forgot his cap\n", "when is Jonas' birthday", "Jonas school start"),
    ("- Jonas mag Toast mit Honig\n\n- Jonas spielt Schach\n", "wann hat Jonas Geburtstag", "Jonas Schuhe Größe"),
    ("- 小明喜欢吃蜂蜜吐司\n\n- 小明把帽子落在操场了\n", "小明 生日", "小明 学校 老师"),
)
"""Two lines about one name, a question of which they share half, and one of which they share a third."""


@pytest.mark.parametrize(("lines", "half", "third"), ABOUT_ONE_NAME, ids=["en", "de", "zh"])
def test_a_name_that_several_fragments_share_does_not_answer_a_question(lines: str, half: str, third: str) -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", lines)
        assert {hit.relevance for hit in found(store, half)} == {0.5263}
        assert {hit.relevance for hit in found(store, third)} == {0.122}


@pytest.mark.parametrize(
    ("line", "query"), [("Boiler wants 1.5 bar", "boiler pressure"), ("锅炉保持 1.5 bar", "锅炉 水压")]
)
def test_a_word_that_stands_in_one_fragment_alone_points_at_it(line: str, query: str) -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", f"- {line}\n\n- Jonas forgot his cap\n")
        assert found(store, query)[0].relevance >= 0.8


def test_an_older_wording_of_a_line_does_not_take_votes_from_it() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "- Boiler wants 1.2 bar\n")
        put(store, "memory/2026-06-01.md", "- Boiler wants 1.5 bar\n")
        assert [hit.relevance for hit in found(store, "boiler pressure")] == [0.8]


def test_a_name_alone_asks_for_every_line_about_it() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", ABOUT_ONE_NAME[0][0])
        assert [hit.relevance for hit in found(store, "Jonas")] == [1.0, 1.0]


def test_relevance_is_1_when_every_informative_word_is_answered() -> None:
    assert (
        relevance("Never deploy on a Friday", [term(word) for word in asked("do we deploy on Fridays?", WORDS)]) == 1.0
    )


@given(st.text(max_size=200), st.text(max_size=60))
def test_relevance_lies_between_0_and_1(text: str, query: str) -> None:
    terms = [term(word) for word in asked(query, WORDS)]
    assert not terms or 0 <= relevance(text, terms) <= 1


HOSTILE = (
    '"',
    "*",
    "NEAR(a b)",
    "a AND",
    "NOT",
    "col:x",
    "^a",
    "'; DROP TABLE fragment; --",
    "\0",
    "\ud800",
    "🚀",
    "שלום",
)


@pytest.mark.parametrize("query", [*HOSTILE, "", "   ", "x" * 10_000, "测" * 10_000, "word " * 2000])
def test_any_query_is_safe(query: str) -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "- Never deploy on a Friday 🚀 שלום\n")
        assert len(found(store, query)) <= 1


@given(st.text(max_size=80))
def test_no_query_raises(query: str) -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "- Never deploy on a Friday\n")
        found(store, query)


def test_a_vote_goes_to_the_statements_that_answered() -> None:
    terms = [term(word) for word in ("boiler", "bar")]
    assert answered(["dentist is Brandt", "boiler wants 1.5 bar", "ladder at the door"], terms) == (1,)


def test_a_vote_goes_to_all_statements_when_none_stands_out() -> None:
    assert answered(["dentist is Brandt", "ladder at the door"], [term("household")]) == (0, 1)


def test_what_stands_nowhere_any_more_is_not_found() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "- Never deploy on a Friday\n")
        put(store, "memory/2026-06-01.md", "- Something else\n")
        assert found(store, "deploy friday") == ()


def test_characters_that_icu_takes_apart_are_asked_for_together() -> None:
    assert asked("路由器在哪里", WORDS) == ("路由器",)
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "- 马路由东向西\n\n- 路由器放在柜子上\n")
        assert found(store, "路由器在哪里")[0].text == "路由器放在柜子上"


def test_equal_hits_come_newest_first() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "- kiln alpha one\n", date(2026, 6, 1))
        put(store, "memory/2026-06-05.md", "- kiln alpha two\n", date(2026, 6, 5))
        assert [hit.path for hit in found(store, "kiln alpha")] == ["memory/2026-06-05.md", "memory/2026-06-01.md"]


def test_a_common_word_weighs_less_than_a_rare_one() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "\n\n".join(f"- kiln remark {n}" for n in range(200)))
        put(store, "memory/2026-06-02.md", "- glaze recipe for celadon\n", date(2026, 6, 2))
        hits = {hit.text: hit.relevance for hit in found(store, "kiln celadon", 10)}
        assert hits["glaze recipe for celadon"] > 0.9
        assert max(value for text, value in hits.items() if "kiln" in text) < 0.3


def test_two_characters_are_found_together_even_if_one_of_them_joins_words() -> None:
    assert asked("由器", WORDS) == ("由器",)
    with Store.in_memory() as store:
        put(store, "memory/2026-06-01.md", "- 器官移植的新闻\n\n- 路由器放在柜子上\n")
        assert [hit.text for hit in found(store, "由器")] == ["路由器放在柜子上"]


def test_of_a_very_common_word_the_newest_lines_are_found() -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", "\n\n".join(f"- kiln remark number {n}" for n in range(1600)))
        put(store, "memory/2026-06-16.md", "- kiln cooled down over one long cold night\n", date(2026, 6, 16))
        assert found(store, "kiln", 1)[0].text == "kiln cooled down over one long cold night"


def test_what_was_forgotten_makes_no_word_rarer() -> None:
    with Store.in_memory() as store:
        lines = "\n\n".join(f"- Caroline remark {n}" for n in range(300))
        put(store, "memory/2026-06-01.md", lines)
        before = terms_of(store, "Caroline", WORDS)[0].weight
        put(store, "memory/2026-06-02.md", "\n\n".join(f"- filler number {n}" for n in range(2500)))
        store.db.conn.execute("DELETE FROM fragment WHERE text LIKE 'filler%'")
        put(store, "memory/2026-06-02.md", lines.replace("remark", "note"))
        assert terms_of(store, "Caroline", WORDS)[0].weight == before


def test_marks_that_touch_are_one() -> None:
    assert marked("老板喜欢路由器", [term("老板"), term("喜欢")]) == "**老板喜欢**路由器"
    assert marked("放在路由器上", [term("路由"), term("由器")]) == "放在**路由器**上"
    assert marked("Garage panel", [term("garage"), term("panel")]) == "**Garage** **panel**"


@pytest.mark.parametrize("hidden", ["[secret:openai_api_key]", "[secret:password, api key]", "[email]"])
def test_the_words_of_a_placeholder_say_nothing(hidden: str) -> None:
    text, terms = f"the key stands in {hidden}", [term(word) for word in ("openai", "api", "password", "email")]
    assert (relevance(text, terms), marked(text, terms)) == (0.0, text)
    assert answered([text, "the openai account"], terms) == (1,)
    assert marked(text, [term("key")]) == f"the **key** stands in {hidden}"
