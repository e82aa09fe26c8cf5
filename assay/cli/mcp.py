"""The command ``assay mcp``: serve tools to agents by the Model Context Protocol, over stdio or HTTP."""

from __future__ import annotations

import argparse
from pathlib import Path

from assay.cli import option
from assay.cli.options.server import add_server_options, given_token
from assay.core.errors import NotValid

EXAMPLE = "assay mcp --server https://assay.example.com --collection shop"
HOST, PORT = "127.0.0.1", 8765
ONLY_OVER_HTTP = {"host": HOST, "port": PORT, "allowed_host": [], "allowed_origin": []}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--http", action="store_true", help="serve over streamable HTTP at /mcp instead of stdio; requests bring tokens"
    )
    option(parser, "--host", "with --http: address to listen at", HOST)
    option(parser, "--port N", "with --http: port; 0 for any", PORT, type=int)
    option(
        parser,
        "--allowed-host HOST",
        "with --http: another Host header to accept, such as mcp.example.com; default: loopback names only",
        action="append",
        default=[],
    )
    option(
        parser,
        "--allowed-origin ORIGIN",
        "with --http: another Origin header to accept, such as https://app.example.com; default: loopback only",
        action="append",
        default=[],
    )
    option(
        parser,
        "--folder DIR",
        "folder whose files tools may read; default: the current folder over stdio, none over HTTP",
    )
    add_server_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until the client closes the connection or the process is stopped."""
    import mcp  # noqa: F401 - a missing extra is reported before anything else

    from assay.client.credentials import login_for
    from assay.mcp.connections import Connections
    from assay.mcp.server import build, serve_http

    folder = Path(args.folder) if args.folder else None if args.http else Path.cwd()
    if folder is not None and not folder.is_dir():
        raise NotValid(f"{folder} is no folder; --folder names the folder whose files tools may read")
    if not args.http:
        for name, default in ONLY_OVER_HTTP.items():
            if getattr(args, name) != default:
                raise NotValid(f"--{name.replace('_', '-')} needs --http; add --http or remove it")
        if args.token_stdin:
            raise NotValid("over stdio the client uses standard input; use ASSAY_TOKEN or assay login")
        connections = Connections(args.server or "", args.token or "", args.collection or "", folder)
        build(connections).run("stdio")
        return 0
    if given_token(args):
        raise NotValid("over HTTP each request brings its own token; remove --token and --token-stdin")
    # The placeholder keeps the stored token out: requests bring theirs.
    server = login_for(args.server or "", "placeholder", "").url
    connections = Connections(server, "", args.collection or "", folder, over_http=True)
    serve_http(connections, args.host, args.port, args.allowed_host, args.allowed_origin)
    return 0
