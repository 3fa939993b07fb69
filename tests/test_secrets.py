"""Planted secrets of 36 kinds, wherever a diary may hold one: after whole nights their bytes are nowhere else.

All are made up, and put together at run time: no scanner of a repository finds one here.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from dreaming.cli import dream
from dreaming.context import context, markdown
from dreaming.home import Home, opened
from dreaming.hooks import Event, answered
from dreaming.observing.masking import masked
from dreaming.observing.remembering import remembered
from dreaming.places import NoSuchLinesError, UnknownSourceError
from dreaming.server import Pages, Tools
from dreaming.upkeep.scan import found
from house import House, moment
from memory import leaks, redaction, secrets
from memory.chunking import chunks
from memory.concepts import lexicon
from memory.hiding import legible
from memory.model import Kind
from memory.redaction import Redaction
from memory.trust import redacted
from model_server import ENGLISH, model, says

PIECE = 12
"""Characters of a value that are the value: nothing that long may be left over of it."""
UPPER, LOWER, DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
MIXED = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"
DAYS = tuple(date(2026, 6, day) for day in range(8, 17))
TOPICS = ("kiln", "boiler", "router", "van", "orchard", "printer", "ferry", "archive", "studio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A secret: its kind, the sentence that tells it with `{}` for it, and its value."""

    kind: str
    sentence: str
    value: str

    @property
    def said(self) -> str:
        return self.sentence.format(self.value)


def planted() -> list[Planted]:
    """Return the corpus, the same every time."""
    dice = Random(5)

    def some(letters: str, count: int) -> str:
        return "".join(dice.choice(letters) for _ in range(count))

    def mixed(count: int) -> str:
        return f"{some(MIXED, count - 3)}a7Q"

    pem = "\n".join(some(MIXED + "+/", 64) for _ in range(4))
    values: Mapping[str, tuple[str, str]] = {
        "openai": ("the key of the model is {}", "sk-" + "proj-" + mixed(64)),
        "anthropic": ("the key of the model is {}", "sk-" + "ant-api03-" + some(MIXED, 93) + "AA"),
        "github classic": ("pushes with {}", "ghp_" + mixed(36)),
        "github fine": ("pushes with {}", "github_" + "pat_" + some(MIXED, 22) + "_" + some(MIXED, 59)),
        "gitlab": ("pushes with {}", "glpat-" + mixed(20)),
        "aws id": ("the bucket is read with {}", "AKIA" + some(UPPER + "234567", 16)),
        "aws secret": ("AWS_SECRET_ACCESS_KEY={}", mixed(40)),
        "gcp": ("the map uses {}", "AIza" + mixed(35)),
        "slack bot": ("the bot posts with {}", "xoxb-" + some(DIGITS, 12) + "-" + some(DIGITS, 12) + "-" + mixed(24)),
        "slack webhook": (
            "it posts to {}",
            "https://hooks." + "slack.com/services/T" + some(UPPER, 8) + "/B" + some(UPPER, 8) + "/" + mixed(24),
        ),
        "stripe": ("the shop pays with {}", "sk_" + "live_" + mixed(24)),
        "stripe webhook": ("the shop checks with {}", "whsec_" + mixed(32)),
        "twilio key": ("texts are sent with {}", "SK" + some(HEX, 32)),
        "twilio token": ("TWILIO_AUTH_TOKEN={}", some(HEX, 32)),
        "sendgrid": ("mails are sent with {}", "SG." + mixed(22) + "." + mixed(43)),
        "tavily": ("searches with {}", "tvly-" + "dev-" + mixed(28)),
        "npm": ("publishes with {}", "npm_" + mixed(36)),
        "pypi": ("publishes with {}", "pypi-" + "AgEIcHlwaS5vcmc" + mixed(80)),
        "huggingface": ("downloads with {}", "hf_" + some(UPPER + LOWER, 34)),
        "telegram": ("the bot listens as {}", some("123456789", 10) + ":AA" + mixed(33)),
        "discord": (
            "it posts to {}",
            "https://discord." + "com/api/webhooks/" + some("123456789", 18) + "/" + mixed(68),
        ),
        "jwt": ("logged in with {}", f"eyJ{mixed(33)}.eyJ{mixed(60)}.{mixed(43)}"),
        "bearer": ("call it with Authorization: Bearer {}", mixed(40)),
        "basic": ("call it with Authorization: Basic {}", mixed(30) + "=="),
        "private key": (
            "{}",
            "-----BEGIN RSA " + f"PRIVATE KEY-----\n{pem}\n-----END RSA " + "PRIVATE KEY-----",
        ),
        "postgres": ("notes live in {}", "postgres://ana:" + mixed(14) + "@db.example.org/notes"),
        "mongodb": ("notes live in {}", "mongodb+srv://ana:" + mixed(14) + "@cluster.example.org/notes"),
        "redis": ("queue at {}", "redis://:" + mixed(16) + "@cache.example.org:6379/0"),
        "url with a password": ("backup to {}", "https://ana:" + mixed(14) + "@dav.example.org/x"),
        "card": ("paid with {}", " ".join(("4242",) * 4)),
        "password en": ("the password of the cellar is {}", mixed(14)),
        "password zh": ("后台密码是 {}", mixed(14)),
        "passphrase zh": ("口令：{}", mixed(14)),
        "password de": ("Das Passwort lautet {}", mixed(14)),
        "password ja": ("パスワードは {} です", mixed(14)),
        "env password": ("DB_PASSWORD={}", mixed(16)),
        "generic": ("api_key: {}", mixed(32)),
        "signed link": ("see {}", "https://files.example.org/a.pdf?signature=" + mixed(40)),
        "digitalocean": ("deploys with {}", "dop_v1_" + some(HEX, 64)),
        "own": ("the badge is {}", "acme-" + some(HEX, 16)),
    }
    return [Planted(kind=kind, sentence=sentence, value=value) for kind, (sentence, value) in values.items()]


PLANTED = planted()
SHAPES = {
    "a line": "- The {topic} note: {said}.\n",
    "a paragraph": "We looked at the {topic} today. It turned out that {said}\nand that was that.\n",
    "Chinese": "- 今天记下{topic}的事：{said}，别外传。\n",
    "a nested list": "- {topic}\n  - access\n    - {said}\n",
    "a table": "| what | how |\n| --- | --- |\n| {topic} | {said} |\n",
    "a heading": "## {topic}: {said}\n\n- It was set up on Monday.\n",
    "code": "```sh\n# {topic}\n{said}\n```\n",
    "inline code": "- {topic}: use `{said}` for it\n",
    "a link": "- [{topic}]({said})\n",
    "a quote": "> {topic}: {said}\n",
    "JSON": '- {topic}: {{"note": "{said}"}}\n',
    "env": "export {topic}_NOTE='{said}'\n",
    "two lines": "- The {topic} note is long, and says:\n  {said}\n",
}


KEY_OF_AWS = "Qk7/vT3mZp9LxN2sHd8R" + "bW4yUcE6gJaF1oVi5tBX"
AWS_ID = "AKIA" + "QWERTYUIOPASDFGH"
HAN, SPELLED, NUMBER, LONGER = "梅花香自苦寒来" + "2026", "四八" + "三九", "48" + "39", "48" + "39#"
TREE, LOUD_TREE = "Kirsch" + "baum46", "Kirsch" + "baum-45!"
WORDS = " ".join(("correct", "horse", "battery", "staple"))
CODES = ("8f3k" + "-22lq", "9d2m" + "-77xz", "4k8p" + "-91vw", "2c7h" + "-60rt", "5n3j" + "-38ys", "7b1g" + "-49ud")
SAID = (
    *(
        (sentence, HAN)
        for sentence in ("wifi密码：{}", "密码: {}", "密码是{}，别外传", "密码已改成{}", "パスワードは{}です")
    ),
    *(
        (sentence, "芝麻开门" + "2026")
        for sentence in ("password: {}", "Passwort: {}", "비밀번호: {}", "name: NAS; password: {}")
    ),
    ("密码：{}", "芝麻" + "开门"),
    ("密码“{}”", "芝麻" + "开门"),
    ("Passwort: {}", "Kirsch" + "blüte46"),
    ("Passwort: {}", "Kirsch" + "blüte"),
    ("пароль: {}", "Вишня" + "2026"),
    ("密码{}", "Kirsch" + "baum-44!"),
    *((sentence, SPELLED) for sentence in ("保险箱密码是{}", "门禁密码：{}", "密码 {}", "暗証番号は{}です")),
    ("门禁密码是{}", "四，八，" + "三，九"),
    ("The PIN is {}", "four eight " + "three nine"),
    ("Die PIN ist {}", "vier acht " + "drei neun"),
    *(
        (sentence, LONGER)
        for sentence in (
            "门禁密码 {}",
            "门禁密码{}",
            "门禁码 {}",
            "門禁碼：{}",
            "门禁 {}",
            "door code {}",
            "Door code: {}",
            "the gate code is now {}",
            "the code for the front door is {}",
            "password: {}",
            "Türcode {}",
            "Haustürcode ist {}",
            "Der Code der Haustür ist {}",
            "el código de la puerta es {}",
            "código de la puerta principal: {}",
            "le code de la porte est {}",
            "o código da porta é {}",
            "код домофона {}",
            "현관 비밀번호 {}",
            "현관 비번은 {}",
        )
    ),
    *(
        (sentence, NUMBER)
        for sentence in (
            "PIN is {}",
            "the password is {}",
            "密码是{}不要忘",
            "密码{}",
            "取件码 {}",
            "暗証番号は{}",
            "暗証番号は今は{}",
            "玄関のコードは{}です",
            "金庫の番号は{}",
            "la clave de la puerta es {}",
        )
    ),
    ("The safe combination is {}", "12-34" + "-56"),
    *(
        (sentence, KEY_OF_AWS)
        for sentence in (
            "AWS secret access key is {}",
            "secret key: {}",
            f"the bucket: {AWS_ID} / {{}}",
            f"{AWS_ID}/{{}}",
            f"{AWS_ID} {{}}",
            f"id: {AWS_ID}; key: {{}}",
            "[secret:aws_access_key] / {}",
        )
    ),
    *((sentence, TREE) for sentence in ("mysql -u root -p{}", "mysqldump -h db -p'{}' notes", "7z x -p{} a.7z")),
    *((sentence, LOUD_TREE) for sentence in ("sshpass -p {}", "sshpass -p '{}' ssh nas", "sshpass -p{} ssh nas")),
    ("curl -u lena:{} https://dav.example.org", LOUD_TREE),
    ("docker login -u lena -p {}", TREE),
    ("redis-cli -h cache -a {}", TREE),
    ("smbclient //nas/x -U lena%{}", LOUD_TREE),
    ("unzip -P {} a.zip", TREE),
    *((sentence, WORDS) for sentence in ("passphrase: {}", "The passphrase is {}.", "password: {}", "Passphrase “{}”")),
    ("seed phrase: {}", " ".join((WORDS, "about", "the", "moon", WORDS, "over"))),
    ("passphrase: {}", "blue kiln " + "lantern"),
    *(
        (f"{cue}: {{}}, {CODES[1]}", CODES[0])
        for cue in ("Recovery codes", "Backup codes", "恢复码", "Wiederherstellungscodes")
    ),
    *((f"{cue}: {CODES[0]}, {{}}", CODES[1]) for cue in ("Recovery codes", "2FA backup codes", "リカバリーコード")),
    ("The recovery codes are {}", "19283" + "746 56473829"),
    *(
        (sentence, "Kirsch" + "baum-44!")
        for sentence in (
            "Log in with lena / {} on the NAS",
            "log in as lena/{}",
            "Login: lena / {}",
            "Sign in with lena@example.org / {}",
            "Credentials: lena / {}",
            "Anmelden mit lena / {}",
            "登录：lena / {}",
            "账号 lena / {}",
            "用 lena / {} 登录",
            "lena / {} でログイン",
        )
    ),
    ("Grafana user: admin pass: {}", "Winter" + "2026!"),
    ("admin, pass = {}", "Winter" + "2026!"),
    ("Router user: admin, pw: {}", "Winter" + "2026!"),
    ("Grafana admin pass {}", "Winter" + "2026!"),
    ("Login for the NAS: admin and {}", "Sunflower" + "!42"),
    ("Use admin with {} to log in", "Sunflower" + "!42"),
    ("Passwort für Elster {}", "Xy9" + "!aaQ"),
    ("身份证号码：{}", "1101011990" + "0307851X"),
    ("Login for Grafana is admin with {}.", "Sunflower" + "!42"),
    ("Der Zugang zum NAS ist lena mit {}", "Sunflower" + "!42"),
    ("The jump host accepts root / {} on port 2222.", "toor" + "123!"),
    ("login root / {} on the jump host", "toor" + "123!"),
    ("Das Passwort für Netflix lautet {}.", "Bärchen" + "77"),
    ("Passwort Elster = {}", "Xy9" + "!aaQ"),
    ("password of the NAS: {}", "Bärchen" + "77"),
    ("EC-Karte Geheimzahl {}", NUMBER),
    ("Die Geheimnummer der EC-Karte ist {}", NUMBER),
    ("Der Tresorcode ist {}.", "88-12" + "-31"),
    ("Zugangscode Garage {}", "77" + "31"),
    ("Zugangscode zur Garage: {}", "77" + "31"),
    ("Garage code {}", LONGER),
    ("Garagencode {}", NUMBER),
    ("Code du garage {}", NUMBER),
    ("código del garaje: {}", NUMBER),
    ("车库码 {}", NUMBER),
    ("邮箱授权码：{}", "qwertyuiop" + "asdfgh"),
    ("授权码是{}", "a9b8" + "c7d6e5"),
    ("支付密码还是 {}", "258" + "369"),
    ("支付密码一直是{}", "258" + "369"),
    *(
        (sentence, "1101011990" + "03078515")
        for sentence in ("老板身份证号 {}", "身份证：{}，已登记", "the ID card of the boss is {}")
    ),
    ("招行卡号 {}", "6222 0213 " + "0000 1234 567"),
    ("招行卡号：{}", "62220213" + "00001234569"),
    ("Kartennummer {}", "5105-1051" + "-0510-5100"),
    ("the blue visa card is {}", "45395787" + "6362 1486"),
    ("paid with {} at the kiosk", "6222 0213" + " 0000 1232"),
    ("paid with {}", "5105-1051" + "-0510-5100"),
    ("Rent goes to {} every month", "DE89 3704 0044" + " 0532 0130 00"),
    ("Miete an {} BIC COBADEFF", "DE89370400440" + "532013000"),
    ("Konto CH: {}", "CH93 0076 2011" + " 6238 5295 7"),
    ("le loyer va sur {}.", "FR14 2004 1010" + " 0505 0001 3M02 606"),
    ("IBAN {}, please", "gb82west1234" + "5698765432"),
    ("Sentry DSN: https://{}@o12345.ingest.sentry.io/678901", "0a1b2c3d" * 4),
    ("report to https://{}@o12345.ingest.de.sentry.io/678901", "0a1b2c3d" * 4),
)
"""Sentences that tell a secret by the words around it, each with the value."""
SPREAD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("| host | password |\n| --- | --- |\n| nas | {} |", ("芝麻开门" + "2026",)),
    ("| 设备 | 密码 |\n| --- | --- |\n| 保险箱 | {} |", (SPELLED,)),
    ("## 密码\n\n- {}", (HAN,)),
    ("- id: {}\n- {}", (AWS_ID, KEY_OF_AWS)),
    ("## AWS\n\n- {}", (KEY_OF_AWS,)),
    ("Recovery codes:\n\n" + "\n".join(["- {}"] * len(CODES)), CODES),
    ("- Recovery codes of the forge:\n" + "\n".join(["  1. `{}`"] * len(CODES)), CODES),
    ("恢复码：\n" + "\n".join(["{}"] * len(CODES)), CODES),
)
"""Diaries that tell a secret over several lines."""
ORDINARY = (
    "the password must have 12 characters",
    "the password is 12 characters long, the passcode is 2048 bits",
    "we rotate passwords every 90 days",
    "password: minimum length twelve characters",
    "Password: ask Ana before you travel",
    "Passwort: ändern",
    "пароль: изменён",
    "密码要定期更换",
    "密码：至少12位，每90天更换",
    "密码：每90天更换一次",
    "密码是2024年设的",
    "密码：SHA256加密存储",
    "密码：见保险箱",
    "密码：定期更换",
    "密码在1Password里",
    "修改密码 3000 次也没用",
    "密码长度8到64位",
    "パスワード：定期的に変更",
    "パスワードは4096文字まで",
    "passphrase generator is installed",
    "passphrase: stored in the safe",
    "passphrase is changed by Ana every spring",
    "the PIN header has 40 pins",
    "port 4839",
    "error code 4839",
    "error code for the door is 4839",
    "zip code 48392",
    "exit code 4839, status code 4839",
    "el código de error es 4839",
    "编号 4839",
    "门禁2026年升级",
    "金庫の鍵は4839円",
    "recovery codes are in the safe",
    "recovery codes: printed 2026-06-15, kept in the safe",
    "Backup codes: 10 left",
    "log in with your account / SSO",
    "log in with GitHub / Google",
    "login: see docs/setup-v2 / wiki",
    "log in with docker/login-action@v3",
    "the code name is Kestrel",
    "door code changes on the first of each month",
    "the door code has 4 digits",
    "Motorcode 4839",
    "AWS: see packages/infra/src/StackFactory2/index",
    "the secret of commit 4f2c9d1a4f2c9d1a4f2c9d1a4f2c9d1a4f2c9d1a",
    "docker run -p 8080:80",
    "docker run -p 8080:80 mysql -u root -p",
    "mysql -u root -p$DB_PASS, mysql -u root -p<password>",
    "sshpass -p $PASS ssh nas",
    "curl -u lena:$TOKEN https://dav.example.org",
    "mkdir -p build",
    "cp -p a b",
    "unzip -p a.zip",
    "mysqldump --port 3306 -P 3307 notes",
    "Passwort geändert",
    "the password is in the vault",
    "passcode lock",
    "tests pass: 12 of 14; pass: true",
    "Login for Grafana is SSO with Okta",
    "Login for the shop is by e-mail with a link",
    "the API accepts JSON / XML on port 2222",
    "the form accepts name / e-mail",
    "admin / editor / guest roles",
    "login page / wiki is down",
    "the bar takes oat-milk / soy-milk! please",
    "user / group-2024! naming",
    "Passwort für WLAN geändert!",
    "the tests pass --strict=x1",
    "use git with rebase! for small changes",
    "Passwort Richtlinie: mind. 12 Zeichen",
    "password policy = NIST-800-63B!",
    "Das Passwort für Netflix lautet anders.",
    "Das Passwort für Netflix ist überfällig",
    "Der Tresorcode hat 6 Ziffern",
    "Der Zugangscode ändert sich 2027",
    "Zugangscode Januar 2026",
    "access code review 2026",
    "The safe code was changed on 26-06-15",
    "the code of the garage app is in 4711 lines",
    "OAuth 授权码模式，授权码 authorization_code 换取 token",
    "授权码：见邮件",
    "支付密码还是要定期换",
    "身份证号是18位",
    "订单号 110101199003078516",
    "order 6222021300001234, tweet https://x.example/i/6222021300001232",
    "taken at 1750000000123456 microseconds, 2026061512345674",
    "DE89 3704 0044 0532 0130 01 is no account",
    "paid with the visa card on 2026-06-15, 12.50 EUR",
    "the DSN is https://o12345.ingest.sentry.io/678901",
)
"""What only sounds like it."""


def left_in(text: str, value: str) -> bool:
    """Whether some of a value is left: its words, or the parts of a number that is spelled."""
    return any(part in text for part in (value, *value.split()) if len(part) > 2)


def pieces(value: str) -> list[bytes]:
    """Return what must not be found of a value: its random part, or the beginning and the end of a long one."""
    longest = max((part for line in value.split("\n") for part in split(line)), key=len)
    return [longest.encode()] if len(longest) < PIECE else [longest[:PIECE].encode(), longest[-PIECE:].encode()]


def split(line: str) -> list[str]:
    """Return the parts of a value without what all values of its kind share."""
    if "://" in line:
        line = line.partition("://")[2]
        user, at, _ = line.partition("@")
        return [user.partition(":")[2]] if at else [line.rpartition("/")[2].rpartition("=")[2]]
    return line.removeprefix("-----BEGIN RSA PRIVATE KEY-----").removeprefix("-----END RSA PRIVATE KEY-----").split(".")


@pytest.fixture(params=["core", "with the extra"])
def scanners(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "core":
        monkeypatch.setattr(leaks, "version", lambda: None)
    elif leaks.version() is None:
        pytest.skip("the extra is not installed")
    return str(request.param)


def settings(url: str) -> dict[str, object]:
    return {
        "redact.patterns": ["acme-[0-9a-f]{16}"],
        "narrative.narrator": "model",
        "narrative.model": "m",
        "narrative.base_url": url,
        "dreaming.reports": True,
        "deep.min_score": 0.0,
        "deep.min_recall_count": 1,
        "deep.min_unique_queries": 1,
    }


def write_diaries(house: House) -> None:
    """Plant every secret in four shapes, spread over the days."""
    texts: dict[date, list[str]] = {day: [] for day in DAYS}
    shapes = list(SHAPES.values())
    cases = [(secret, shapes[(n + 3 * k) % len(shapes)]) for k in range(4) for n, secret in enumerate(PLANTED)]
    for n, (secret, shape) in enumerate(cases):
        said = secret.said if not shape.startswith(("|", "##", ">")) else secret.said.replace("\n", " ")
        texts[DAYS[n % len(DAYS)]].append(shape.format(topic=f"{TOPICS[n % len(TOPICS)]}{n}", said=said))
    for day, said_then in texts.items():
        house.write(f"memory/{day}.md", "\n".join([f"# {day}\n", "- Ana fires the kiln at cone six.\n", *said_then]))


class Printed:
    """All that was returned to somebody."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def add(self, value: object) -> None:
        self.parts.append(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def at_noon(day: str, _: Home) -> datetime:
    return moment(f"{day}T12:00")


def a_week(house: House, printed: Printed) -> None:
    """Search, read, append, ask for context and sleep, as agents and people do."""
    for n, day in enumerate(("2026-06-16", "2026-06-17")):
        tools = Tools(partial(opened, house.root, environ={}, overrides=house.settings), partial(at_noon, day))
        for query in ("password of the cellar", "密码", "key of the model", *TOPICS[:4], f"badge {n}"):
            printed.add(tools.memory_search(query, limit=50))
        for path in sorted((house.root / "memory").glob("*.md")):
            printed.add(tools.memory_get(f"memory/{path.name}" if n else f"memory/{path.name}:20-40"))
        for secret in PLANTED[n::2]:
            printed.add(tools.diary_append(f"- Noted again: {secret.said}\n", heading=secret.kind))
        printed.add(tools.memory_explain("kiln"))
        printed.add(tools.memory_explain(""))
        with opened(house.root, environ={}, overrides=house.settings) as home:
            printed.add(markdown(context(home, "password key badge", now=moment(f"{day}T13:00"))))
        house.night(f"{day}T23:00")
        printed.add(tools.memory_status())
        for page in ("MEMORY.md", "DREAMS.md"):
            try:
                printed.add(tools.memory_get(page))
            except (UnknownSourceError, NoSuchLinesError):
                continue
    pages = Pages(tools._opening, tools._clock)
    for show in (pages.durable, pages.today, pages.dream):
        printed.add(show())


def left_over(place: str, raw: bytes) -> list[str]:
    return [f"{secret.kind} in {place}" for secret in PLANTED if any(piece in raw for piece in pieces(secret.value))]


def test_there_are_enough_kinds_and_the_search_would_find_them() -> None:
    assert len(PLANTED) >= 32
    for secret in PLANTED:
        assert left_over("itself", secret.said.encode()), secret.kind


@pytest.mark.timeout(600)
def test_no_planted_secret_is_anywhere_but_in_the_diary_it_was_written_to(
    tmp_path: Path, scanners: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    printed = Printed()
    with model(says(ENGLISH)) as (url, asked):
        house = House(tmp_path, **settings(url))
        write_diaries(house)
        own = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
        with opened(house.root, environ={}, overrides=house.settings) as home:  # keeps the WAL
            home.store.setting("reading")
            a_week(house, printed)
            files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        prompts = json.dumps(asked, ensure_ascii=False)
    assert asked, "the model was never asked"
    assert (tmp_path / "MEMORY.md").exists()
    left = [
        one for path, raw in files.items() if path not in own for one in left_over(str(path.relative_to(tmp_path)), raw)
    ]
    left += [one for path, raw in own.items() for one in left_over("an appended note", files[path].removeprefix(raw))]
    left += left_over("a prompt", prompts.encode())
    left += left_over("the log", caplog.text.encode())
    out, err = capfd.readouterr()
    left += left_over("the output", (out + err).encode())
    left += [one for part in printed.parts for one in left_over(f"an answer: {part[:60]}", part.encode())]
    left += [one for part in printed.parts for one in left_over("an answer", json.loads(json.dumps(part)).encode())]
    assert sorted(set(left)) == []


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_each_secret_is_found_in_each_shape_and_all_of_it_hidden(shape: str, scanners: str) -> None:
    rules = Redaction.of(patterns=["acme-[0-9a-f]{16}"], mask=())
    for secret in PLANTED:
        text = shape.format(topic="kiln", said=secret.said)
        assert list(found("x.md", text, lexicon(), rules)), secret.kind
        assert not left_over("what is shown", masked(text, lexicon(), rules).encode()), secret.kind
        for chunk in chunks(legible(text, rules)):
            assert not left_over("a fragment", repr(remembered(chunk, Kind.DIARY, lexicon(), rules)).encode()), (
                secret.kind
            )


@pytest.mark.parametrize(("sentence", "value"), SAID, ids=[sentence for sentence, _ in SAID])
def test_a_value_is_hidden_where_words_tell_what_it_is(sentence: str, value: str, scanners: str) -> None:
    plain, kinds = redacted(sentence.format(value))
    assert not left_in(plain, value)
    assert kinds
    assert redacted(plain) == (plain, ())


@pytest.mark.parametrize("text", ORDINARY)
def test_talk_about_codes_and_passwords_stays(text: str, scanners: str) -> None:
    assert redacted(text) == (text, ())


@pytest.mark.parametrize(("diary", "values"), SPREAD, ids=[diary.split("\n")[0] for diary, _ in SPREAD])
def test_a_value_is_known_by_what_stands_on_other_lines(
    tmp_path: Path, diary: str, values: tuple[str, ...], scanners: str
) -> None:
    house = House(tmp_path)
    text = diary.format(*values)
    house.write("memory/2026-06-15.md", f"- The kiln is hot.\n\n{text}\n\nAna fires it at cone six.\n")
    house.search("kiln", "2026-06-16T12:00")
    stored = b"".join(path.read_bytes() for path in (house.root / "memory/.dreams").iterdir())
    shown = masked(text, lexicon(), Redaction())
    assert [value for value in values if value.encode() in stored or value in shown] == []


def test_a_store_of_older_rules_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value = "梅花香自苦寒来" + "2026"
    house = House(tmp_path)
    house.write("memory/2026-06-15.md", f"- 书房的密码：{value}\n")
    with monkeypatch.context() as before:
        before.setattr(redaction, "entries", lambda *_: ())
        before.setattr(secrets, "_further_kinds", lambda **_: {})
        house.search("书房", "2026-06-16T12:00")
    secrets._spans.cache_clear()
    house.search("书房", "2026-06-16T13:00")
    assert not any(value.encode() in path.read_bytes() for path in (house.root / "memory/.dreams").iterdir())


def test_a_memory_file_with_a_secret_of_the_users_is_masked_in_contexts(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.write("MEMORY.md", "# Memory\n\n" + "\n".join(f"- {secret.said}" for secret in PLANTED))
    house.write("config.toml", "[redact]\npatterns = ['acme-[0-9a-f]{16}']\n")
    said = CliRunner().invoke(dream, ["context", "--workspace", str(tmp_path)]).output
    reply = answered(
        Event.SESSION_START, b"{}", workspace=tmp_path, config=None, environ={}, now=moment("2026-06-17T12:00")
    )
    assert left_over("the context", said.encode()) == []
    assert left_over("the hook", json.dumps(reply, ensure_ascii=False).encode()) == []
