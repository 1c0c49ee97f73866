"""``beamlike playground``: windows, triggers and panes to drag about, in a browser."""

import argparse
import threading
from contextlib import closing
from typing import Final

from beamlike.cli.argument_types import Parser, as_path, whole_number

DESCRIPTION: Final = """\
Serve the playground on this machine: a page on which elements and the watermark
are dragged in event time and processing time, and the panes of any windowing
follow. All of it runs in the browser; nothing is sent anywhere.

The page runs Python by Pyodide, which npm fetches the first time. With --build
the page is written to a folder instead, for any server of static files.
"""

EPILOG: Final = """\
exit status:
  0   it was served, or the folder is written
  2   Pyodide cannot be had, the folder cannot be written, or the port is taken

examples:
  beamlike playground                        serve it until Ctrl-C
  beamlike playground --port 8000            at a port of your choice
  beamlike playground --build site/play      as a folder of static files
"""


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    parser.take("--build DIR", "write it to a folder, and serve nothing", as_path)
    parser.take("--port", "of 127.0.0.1; by default one that is free", whole_number(0), default=0)
    parser.take(
        "--pyodide FILE",
        "the package of Pyodide, as npm packs it; by default npm fetches it once",
        as_path,
    )


def run(args: argparse.Namespace) -> int:
    """Build the folder, and serve it until Ctrl-C."""
    from beamlike.playground.folder import build_folder, built_folder
    from beamlike.playground.server import PlaygroundServer

    if args.build is not None:
        written = build_folder(args.build, args.pyodide)
        size = sum(path.stat().st_size for path in written) / 1e6
        print(f"{args.build}: {len(written)} files, {size:.1f} MB; open its index.html by a server")
        return 0
    with closing(PlaygroundServer(built_folder(args.pyodide), args.port)) as server:
        print(f"the playground is at {server.url} until Ctrl-C", flush=True)
        threading.Event().wait()
    return 0
