"""`dream schedule install` and `uninstall`: what the system is told, shown before it is, and taken back."""

import getpass
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from signal import SIGKILL
from typing import Protocol

import click
from jinja2 import Environment, PackageLoader, StrictUndefined

from cron import crontab, record
from cron.placing import Rhythm, calendar, for_cron, for_systemd, rhythm, words, writable
from cron.schedule import daily
from cron.standing import Named, NothingFoundError, Standing, present, standing
from cron.switching import switched_on
from dreaming.cli.common import REFUSED, NotAFolderError
from dreaming.fleet import DIARIES, Fleet, rewrite, settings_file
from dreaming.home import NoWorkspaceError
from dreaming.layers import ConfigError

LABEL = "local.nightly-dreaming"
UNITS = ("dream.service", "dream.timer")
LONGEST_SECONDS = 120
"""How long a command of the system may take."""


class NotInstalledError(click.ClickException):
    """Something of what was to be done was not done."""

    exit_code = REFUSED


class NotWrittenError(NotInstalledError):
    """A file of the system cannot be written or removed."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"{error.filename} cannot be written ({error.strerror}); with --user it is yours alone, without it "
            "call it as an administrator"
        )


class Piece(Protocol):
    """One change of the system: it can be shown, and made."""

    def shown(self) -> str:
        """Return what would change; empty when nothing would."""
        ...

    def make(self) -> None:
        """Make the change."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A file as it is to be; None is not there."""

    path: Path
    text: str | None

    @property
    def present(self) -> str | None:
        """What stands there now."""
        return self.path.read_text(encoding="utf-8") if self.path.is_file() else None

    def shown(self) -> str:
        """Return the difference, as `diff -u` has it."""
        return difference(str(self.path), self.present, self.text)

    def make(self) -> None:
        """Replace the file at once, or remove it."""
        if self.text is None:
            self.path.unlink(missing_ok=True)
        elif self.text != self.present:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            record.put(self.path, self.text.removesuffix("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """The settings of a workspace, with its nights on."""

    path: Path

    def shown(self) -> str:
        """Return the difference; raise NotSwitchedError when it has to be made by hand."""
        text = settings_file(self.path).text
        return difference(str(self.path), text, switched_on(text, self.path))

    def make(self) -> None:
        """Write it, every other byte as it was."""
        document = settings_file(self.path)
        rewrite(document, switched_on(document.text, self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """The crontab as it was and as it is to be."""

    before: bytes
    after: bytes

    def shown(self) -> str:
        """Return the difference."""
        old, new = (text.decode("utf-8", "replace") for text in (self.before, self.after))
        return difference("your crontab", old, new)

    def make(self) -> None:
        """Hand it to cron."""
        if self.before != self.after:
            crontab.write(self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call that changes nothing: yes is that it ends well, and says nothing but the answer if there is to be one."""

    words: tuple[str, ...]
    answer: str = ""

    def is_yes(self) -> bool:
        """Ask it."""
        done = _run(self.words)
        return done.returncode == 0 and (not self.answer or set(done.stdout.split()) == {self.answer})


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that makes the system heed the files; where its program is not, it is only named.

    It is done when all that it `asks` the system is answered with yes, or with no when that is `wanted`: files may be
    there that the system refused to heed.
    """

    words: tuple[str, ...]
    may_fail: bool = False
    asks: tuple[Question, ...] = ()
    wanted: bool = True

    def shown(self) -> str:
        """Return the command."""
        where = "" if shutil.which(self.words[0]) else f"   # not here: there is no {self.words[0]}"
        return f"$ {shlex.join(self.words)}{where}\n"

    def is_done(self) -> bool:
        """Ask the system whether it is as the command would make it; without a question, or its program, it is."""
        if not self.asks or shutil.which(self.words[0]) is None:
            return True
        said = [question.is_yes() for question in self.asks]
        return all(said) if self.wanted else not any(said)

    def make(self) -> None:
        """Run it."""
        if shutil.which(self.words[0]) is None:
            return
        done = _run(self.words)
        if done.returncode and not self.may_fail:
            raise NotInstalledError(
                f"{shlex.join(self.words)} failed: {done.stderr.strip() or done.returncode}; "
                "the files are written, run it by hand when what is wrong is mended"
            )


def _run(words: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, -SIGKILL, "", f"no end of it within {LONGEST_SECONDS} seconds")


def difference(name: str, before: str | None, after: str | None) -> str:
    """Return what changes in a text; empty when nothing does."""
    if before == after:
        return ""
    old, new = (text.splitlines(keepends=True) if text else [] for text in (before, after))
    was, becomes = ("/dev/null" if text is None else name for text in (before, after))
    lines = unified_diff(old, new, was, becomes)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be installed: for which workspaces, as the user's own or the machine's; `wrong` is with the others."""

    named: Named
    found: Fleet
    standings: tuple[Standing, ...]
    own: bool
    wrong: tuple[Exception, ...] = ()

    @property
    def user(self) -> str | None:
        """Whose nights a service of the machine runs."""
        return None if self.own else os.environ.get("SUDO_USER") or getpass.getuser()


def ordered(named: Named, *, own: bool) -> Order:
    """Return an order; raise NothingFoundError without a workspace, and what is wrong when it is with all of them."""
    found = named.fleet()
    if not (found.roots or found.missing):
        raise NothingFoundError(found.patterns)
    standings: list[Standing] = []
    wrong: list[Exception] = [NoWorkspaceError(place) for place in found.missing]
    for root in found.roots:
        try:
            standings.append(_sound(named, root))
        except (ConfigError, NoWorkspaceError, NotAFolderError) as error:
            wrong.append(error)
    if not standings:
        raise wrong[0]
    return Order(named=named, found=found, standings=tuple(standings), own=own, wrong=tuple(wrong))


def _sound(named: Named, root: Path) -> Standing:
    one = standing(named, root)
    if (root / DIARIES).is_file():
        raise NotAFolderError(root / DIARIES)
    return one


def cron_lines(order: Order) -> str:
    """Return the lines for a crontab."""
    when = rhythm(order.standings, now=present(), zones=False, any_time=True)
    return _rendered("dream.cron", when, command=for_cron(words(order.named, order.found))).strip("\n")


def for_crontab(order: Order) -> tuple[Piece, ...]:
    """Return what changes for cron."""
    before = crontab.read()
    return (Tab(before=before, after=crontab.with_block(before, cron_lines(order).encode("utf-8"))),)


def not_for_crontab(*, own: bool) -> tuple[Piece, ...]:  # noqa: ARG001  a crontab is always somebody's own
    """Return what takes that back."""
    before = crontab.read()
    return (Tab(before=before, after=crontab.without_block(before)),)


def for_systemd_units(order: Order) -> tuple[Piece, ...]:
    """Return what changes for systemd."""
    when = rhythm(order.standings, now=present(), zones=True, any_time=False)
    service = _rendered(
        "dream.service",
        when,
        command=" ".join(for_systemd(word, command=True) for word in words(order.named, order.found)),
        user=order.user,
        writable=[for_systemd(f"-{folder}") for folder in writable(order.found, order.standings)],
    )
    timer = _rendered("dream.timer", when, calendar=calendar(when))
    folder = units(own=order.own)
    return (
        *(Text(path=folder / name, text=text) for name, text in zip(UNITS, (service, timer), strict=True)),
        Command(words=systemctl("daemon-reload", own=order.own), asks=(_heeded(own=order.own),)),
        Command(words=systemctl("enable", "--now", UNITS[1], own=order.own), asks=_timer(own=order.own)),
    )


def not_for_systemd(*, own: bool) -> tuple[Piece, ...]:
    """Return what takes that back."""
    return (
        Command(
            words=systemctl("disable", "--now", UNITS[1], own=own), may_fail=True, asks=_timer(own=own), wanted=False
        ),
        *(Text(path=units(own=own) / name, text=None) for name in UNITS),
        Command(words=systemctl("daemon-reload", own=own), may_fail=True),
    )


def for_launchd(order: Order) -> tuple[Piece, ...]:
    """Return what changes for launchd."""
    when = rhythm(order.standings, now=present(), zones=False, any_time=False)
    hour, minute = daily(when.time) or (0, 0)
    logs = Path.home() / "Library/Logs" if order.own else Path("/var/log")
    text = _rendered(
        "dream.plist",
        when,
        label=LABEL,
        words=words(order.named, order.found),
        user=order.user,
        hour=hour,
        minute=minute,
        log=str(logs / "nightly-dreaming.log"),
    )
    path = plist(own=order.own)
    return (
        Text(path=path, text=text),
        Command(words=("launchctl", "bootout", f"{_domain(own=order.own)}/{LABEL}"), may_fail=True),
        Command(words=("launchctl", "bootstrap", _domain(own=order.own), str(path)), asks=_job(own=order.own)),
    )


def not_for_launchd(*, own: bool) -> tuple[Piece, ...]:
    """Return what takes that back."""
    return (
        Command(
            words=("launchctl", "bootout", f"{_domain(own=own)}/{LABEL}"),
            may_fail=True,
            asks=_job(own=own),
            wanted=False,
        ),
        Text(path=plist(own=own), text=None),
    )


SYSTEMS = {
    "cron": (for_crontab, not_for_crontab),
    "systemd": (for_systemd_units, not_for_systemd),
    "launchd": (for_launchd, not_for_launchd),
}
"""How nights are put into each system, and taken out of it."""


def units(*, own: bool) -> Path:
    """Return where units are."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return home / "systemd/user" if own else Path("/etc/systemd/system")


def plist(*, own: bool) -> Path:
    """Return where the job of launchd is."""
    folder = Path.home() / "Library/LaunchAgents" if own else Path("/Library/LaunchDaemons")
    return folder / f"{LABEL}.plist"


def systemctl(*said: str, own: bool) -> tuple[str, ...]:
    """Return a call of systemctl."""
    return ("systemctl", *(("--user",) if own else ()), *said)


def _heeded(*, own: bool) -> Question:
    """Return how to ask whether systemd has read the units as they are."""
    words = systemctl("show", "--property=NeedDaemonReload", "--value", *UNITS, own=own)
    return Question(words=words, answer="no")


def _timer(*, own: bool) -> tuple[Question, ...]:
    """Return how to ask whether the timer is switched on, now and after the next start."""
    asked = ("is-active", "is-enabled")
    return tuple(Question(words=systemctl(question, "--quiet", UNITS[1], own=own)) for question in asked)


def _job(*, own: bool) -> tuple[Question, ...]:
    """Return how to ask whether launchd has the job."""
    return (Question(words=("launchctl", "print", f"{_domain(own=own)}/{LABEL}")),)


def _domain(*, own: bool) -> str:
    return f"gui/{os.getuid()}" if own else "system"


def _rendered(name: str, when: Rhythm, **values: object) -> str:
    environment = Environment(
        loader=PackageLoader("cron", ""), undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    template = environment.get_template(name)
    return template.render(quarterly=when.quarterly, why=when.why, time=when.time, **values)


def switches(order: Order) -> Iterator[Piece]:
    """Return what switches the nights on that are off, each in the settings of its workspace."""
    for file in dict.fromkeys(order.named.file(one.root) for one in order.standings if not one.on):
        yield Switch(path=file)
