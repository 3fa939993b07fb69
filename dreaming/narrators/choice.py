"""Which narrator the settings name, and where its key comes from."""

import os
import subprocess
from collections.abc import Mapping

from dreaming.config import Narrative
from dreaming.narrators.command import CommandNarrator
from dreaming.narrators.entry import Narrator, NarratorError
from dreaming.narrators.model import EndpointNarrator, PluginNarrator

KEY_SECONDS = 20
"""What the program that prints the key may take: somebody may have to unlock a store of passwords."""


def chosen(settings: Narrative, environ: Mapping[str, str] = os.environ) -> Narrator | None:
    """Return who writes the entries; None when they are written plainly, without a model."""
    if settings.narrator == "command":
        return CommandNarrator(argv=settings.command)
    if settings.narrator == "model" and settings.base_url:
        return EndpointNarrator(model=settings.model, base_url=settings.base_url, key=lambda: key(settings, environ))
    if settings.narrator == "model":
        return PluginNarrator(model=settings.model, key=lambda: key(settings, environ))
    return None


def key(settings: Narrative, environ: Mapping[str, str]) -> str:
    """Return the key: from the environment, else printed by a program, else as it stands in the settings; or none."""
    if settings.api_key_env:
        return environ.get(settings.api_key_env, "")
    if settings.api_key_command:
        return _printed(settings.api_key_command)
    return settings.api_key


def _printed(argv: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, timeout=KEY_SECONDS, check=True, stdin=subprocess.DEVNULL)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise NarratorError(
            "narrative.api_key_command", f"it gave no key, {type(error).__name__}; run it by hand to see why"
        ) from error
    printed = done.stdout.decode("utf-8", "replace").split("\n")[0].strip()  # stores of passwords put notes below
    if not printed:
        raise NarratorError(
            "narrative.api_key_command", "it printed no key on its first line; run it by hand to see why"
        )
    return printed
