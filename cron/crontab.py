"""The lines of this program in a crontab: put in, replaced and taken out, everything else byte for byte."""

import shutil
import subprocess

import click

BEGIN = b"# BEGIN dream: dream schedule uninstall --cron takes these lines away"
END = b"# END dream"


class CrontabError(click.ClickException):
    """The crontab cannot be read, understood or written."""


def with_block(crontab: bytes, block: bytes) -> bytes:
    """Return a crontab with these lines as its block, in the place of the old one or at the end."""
    before, after = _around(crontab)
    if before is None:
        before, after = crontab, b""
    if before and not before.endswith(b"\n"):
        before += b"\n"  # cron reads no line without an end
    return before + BEGIN + b"\n" + block.strip(b"\n") + b"\n" + END + b"\n" + after


def without_block(crontab: bytes) -> bytes:
    """Return a crontab without the block; as it is, when it has none."""
    before, after = _around(crontab)
    return crontab if before is None else before + after


def _around(crontab: bytes) -> tuple[bytes | None, bytes]:
    """Return what stands before and behind the block, and None before one that is not there."""
    lines = crontab.splitlines(keepends=True)
    marks = [line.strip() for line in lines]
    if marks.count(BEGIN) == marks.count(END) == 0:
        return None, b""
    if marks.count(BEGIN) != 1 or marks.count(END) != 1 or marks.index(BEGIN) > marks.index(END):
        raise CrontabError("the markers of dream in your crontab do not match; mend or remove them with: crontab -e")
    return b"".join(lines[: marks.index(BEGIN)]), b"".join(lines[marks.index(END) + 1 :])


def read() -> bytes:
    """Return the crontab of the user; empty when there is none, or no program that keeps one."""
    if shutil.which("crontab") is None:
        return b""
    done = _crontab("-l")
    if done.returncode and b"no crontab for" not in done.stderr.lower():
        raise CrontabError(f"crontab -l failed: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout if not done.returncode else b""


def write(text: bytes) -> None:
    """Put a crontab in the place of the user's; without lines there is none any more."""
    done = _crontab("-", text=text) if text else _crontab("-r")
    if done.returncode:
        raise CrontabError(f"crontab refused: {done.stderr.decode('utf-8', 'replace').strip()}; nothing was changed")


def _crontab(argument: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("crontab")
    if program is None:
        raise CrontabError("there is no program crontab here; take --systemd or --launchd, or: dream schedule run")
    return subprocess.run([program, argument], input=text, capture_output=True, check=False, timeout=60)
