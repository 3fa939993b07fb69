"""The command line: a night without a subcommand, everything else one module a noun, loaded when it is called."""

from importlib import import_module
from typing import Any

import click

from dreaming.cli.common import Common, fleet_options, json_option, told_apart

COMMANDS = {
    "init": "Set up a workspace: config.toml and the diary folder.",
    "search": "Search the memory; every hit is a vote.",
    "get": "Read lines of the memory; a vote for what stands there.",
    "context": "Print what a session needs in its system prompt; no vote.",
    "hook": "Answer an agent host at the start and the end of a session.",
    "transcript": "Print what is remembered of a day's conversations.",
    "diary": "Print the newest entries of the dream diary.",
    "narrate": "Write the entries of a night again.",
    "status": "Show the last night, the store and the head-room of MEMORY.md.",
    "review": "Accept, change or reject what waits to be promoted.",
    "undo": "Take back what a night, or one promotion, did to your files.",
    "redo": "Do again what was taken back last.",
    "history": "List what changed your files, and why.",
    "show": "Print MEMORY.md as it stands, or stood on a day.",
    "doctor": "Check the store and the files, and repair what can be repaired.",
    "backup": "Copy the store and the files into one archive.",
    "restore": "Bring the store and the files back from such an archive.",
    "scan": "List the secrets that the diaries and pages hold; change nothing.",
    "explain": "Say why a fragment was promoted or not, gate by gate.",
    "report": "Write a page about the nights, the scores and the memory.",
    "mcp": "Serve the memory to an agent by the Model Context Protocol.",
    "schedule": "Run nights by themselves, or show when they come.",
    "demo": "Play three invented weeks into a folder and show what is kept.",
}
"""Name and short help; kept here so that `dream --help` imports no command."""
ELSEWHERE = {
    "schedule": "cron.command",
    "redo": "dreaming.cli.undo",
    "show": "dreaming.cli.history",
    "restore": "dreaming.cli.backup",
}
"""The modules of commands that are named otherwise; cron is named only, because it is above dreaming."""
ALL = "cron.all"
"""The module of `dream --all`, named for the same reason."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(ELSEWHERE.get(cmd_name, f"dreaming.cli.{cmd_name}"))
        return getattr(module, cmd_name)  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and turn what went wrong into a sentence and an exit code."""
        with told_apart():
            return super().invoke(ctx)


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@fleet_options
@click.option(
    "--phase",
    "phases",
    multiple=True,
    type=click.Choice(["light", "rem", "deep"]),
    help="Run only this phase; may be given several times.",
)
@click.option("--dry-run", is_flag=True, help="Show what the night would do and write; change nothing.")
@click.option("--all", "everything", is_flag=True, help="Run what is due in all workspaces that are on.")
@click.option("--force", is_flag=True, help="With --all: also what is not due.")
@json_option
@click.version_option(package_name="nightly-dreaming", message="%(version)s")
@click.pass_context
def dream(
    ctx: click.Context,
    common: Common,
    phases: tuple[str, ...],
    *,
    dry_run: bool,
    everything: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Turn the diaries of an agent into durable memory.

    Without a command, run the night of today's date: light, REM and deep sleep over the workspace. Running it again
    continues the same night; unchanged, it changes nothing.
    """
    ctx.obj = common
    if ctx.invoked_subcommand is not None:
        if phases or dry_run or everything or force:
            raise click.UsageError("--phase, --dry-run, --all and --force belong to the night, without a command")
        return
    if everything:
        if phases or dry_run:
            raise click.UsageError("--all runs whole nights; --phase and --dry-run go for one workspace, without --all")
        import_module(ALL).run_all(common, force=force, as_json=as_json)
        return
    if force:
        raise click.UsageError("--force goes with --all; without it a night runs whenever you call it")
    if len(common.workspaces) > 1:
        raise click.UsageError("a night goes for one workspace; for the due nights of several add --all")
    from dreaming.cli.night import night

    night(common, phases, dry_run=dry_run, as_json=as_json)
