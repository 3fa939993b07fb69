"""`dream mcp`: the memory for agents that speak MCP."""

import os
import socket
import sys
from pathlib import Path

import click

from dreaming.cli.common import REFUSED, Common, common_options, complain, json_option, print_json

LOOPBACK = "127.0.0.1"
PACKAGES = frozenset({"mcp", "mcp_types"})
MISSING = "the MCP server needs the extra mcp; install it with: pip install 'nightly-dreaming[mcp]'"


@click.command()
@common_options
@json_option
@click.option(
    "--http",
    "port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdin and stdout.",
)
def mcp(common: Common, port: int | None, *, as_json: bool) -> None:
    """Serve the memory to an agent by the Model Context Protocol, over stdin and stdout.

    With --json, only print what an agent's settings need to start this server.
    """
    from dreaming.home import located

    root, _ = located(common.workspace, config=common.config, environ=os.environ, overrides={})
    if as_json:
        print_json({"mcpServers": {"memory": _client(root, common.config, port)}})
        return
    try:
        from dreaming.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        complain((MISSING,))
        raise click.exceptions.Exit(REFUSED) from None
    if port is not None and not _is_free(port):
        complain((f"port {port} of this machine is in use; name another one with --http",))
        raise click.exceptions.Exit(REFUSED)
    serve(common.open, common.moment, host=LOOPBACK, port=port)


def _is_free(port: int) -> bool:
    """Tell whether a server could listen here; the web server itself would leave with the exit code of a held lock."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return False
    return True


def _client(root: Path, config: Path | None, port: int | None) -> dict[str, object]:
    """Return how a client reaches this server: where it listens, or how to start it from any folder."""
    if port is not None:
        return {"type": "http", "url": f"http://{LOOPBACK}:{port}/mcp"}
    chosen = [] if config is None else ["--config", str(config.resolve())]
    return {"command": sys.executable, "args": ["-m", "dreaming", "--workspace", str(root), *chosen, "mcp"]}
