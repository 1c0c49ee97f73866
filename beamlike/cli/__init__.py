"""The `beamlike` command. Each subcommand is a module: what it is asked, and what it does.

`run`, `replay`, `explain`, `state`, `capture`, `plan`, `drain`, `repartition`, `playground` and
`demo` are the commands. `argument_types` reads what is typed. `scenarios` reads transcript files
and folders, runs what is in them and judges what came out, `state_text` and `state_json` show
state, and `silence_spark` keeps Spark's log off the terminal. A module is imported only when its
command is asked for, so that what one command needs (Spark, a plotting library) stays out of the
way of the others.
"""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module, metadata
from typing import Final

from beamlike.cli.argument_types import REFUSED, Parser
from beamlike.errors import BeamlikeError
from beamlike.model.fingerprint import visible

__all__ = ["main"]

COMMANDS: Final = {
    "run": "run a Beam script as it is",
    "replay": "run scenarios from transcript files and compare what comes out",
    "explain": "explain the output of a scenario, step by step",
    "state": "list the saved state of a streaming query",
    "capture": "write a test of what a key got in production",
    "plan": "estimate the cores and the memory that a stream needs",
    "drain": "have a query end all of its windows at its next start",
    "repartition": "spread the state of a query over more or fewer partitions",
    "playground": "drag elements and the watermark about, in a browser",
    "demo": "stream a year of real flights through Spark, pane by pane",
}
"""Name of a command, which is also its module, and its line in the help."""

_DESCRIPTION: Final = """\
Apache Beam's windows, triggers and panes, exact, on PySpark.

A scenario is a JSON file: how elements are windowed, what arrives and how the
watermark and the clock move, step by step, and what must come out. replay runs
it, explain shows why. A failed test of beamlike.testing writes one, and ends
with the command that replays it.
"""

_EPILOG: Final = """\
beamlike COMMAND --help shows more, with examples.

exit status:
  0     all is well
  1     something came out other than expected
  2     the request was not understood, or an input cannot be used
  70    something is wrong in beamlike itself
  130   interrupted with Ctrl-C
  141   the reader of the output, head for one, left early

examples:
  beamlike run wordcount.py -- --output counts      a Beam script, as it is
  beamlike replay scenario.json                     a table of panes and drops
  beamlike replay scenario.json --format timeline   the same as a picture
  beamlike explain scenario.json --key joe          why
  beamlike state CHECKPOINT                         the state of a query
  beamlike capture CHECKPOINT --key joe             a test of what a key got
  beamlike plan --events 20000                      the cluster that it needs
  beamlike drain CHECKPOINT                         an end for all its windows
  beamlike repartition CHECKPOINT 16                more tasks for its state
  beamlike playground                               windows to drag about
  beamlike demo                                     the main job, on real data
"""

_OK, _BROKEN, _INTERRUPTED, _CLOSED_PIPE = 0, 70, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments without the program's name; by default those of the process.

    Returns:
        The exit status: 0 all is well, 1 something came out other than expected, 2 the
        request was not understood or an input cannot be used; others as in the help.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character shows its code instead of failing.
            stream.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader, `head` say, has what it wanted
        _flush_to_nowhere()
        return _CLOSED_PIPE
    except KeyboardInterrupt:
        print("beamlike: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and not isinstance(error, ConnectionError):
            return _unreachable(error)
        traceback.print_exc()
        print(
            "beamlike: this should not have happened, and is a mistake in beamlike itself; please "
            "report it with the lines above",
            file=sys.stderr,
        )
        return _BROKEN


def _unreachable(error: OSError) -> int:
    """A disk that is full, a file without read permission."""
    try:
        sys.stdout.flush()
    except OSError:
        _flush_to_nowhere()
    where = "" if error.filename is None else f"{error.filename}: "
    return _refuse(f"{where}{error.strerror or error}")


def _flush_to_nowhere() -> None:
    """Python flushes at exit, and would complain once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    parser = Parser(prog="beamlike", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"beamlike {_version()}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    asked = next((word for word in arguments if not word.startswith("-")), None)
    rest: list[str] = []
    if asked == "run" and "--" in arguments:  # what follows is for the script
        dashes = arguments.index("--")
        arguments, rest = arguments[:dashes], arguments[dashes + 1 :]
    for name, summary in COMMANDS.items():
        if name != asked:
            subparsers.add_parser(name, help=summary, add_help=False)
            continue
        command = import_module(f"beamlike.cli.{name}")
        texts = {"description": command.DESCRIPTION, "epilog": command.EPILOG}
        command.add_arguments(subparsers.add_parser(name, help=summary, **texts))
    try:
        options = parser.parse_args(arguments)
    except SystemExit as leaving:  # argparse has printed the help, the version or the mistake
        return leaving.code if isinstance(leaving.code, int) else REFUSED
    if options.command is None:
        parser.print_help()
        return _OK
    options.rest = rest
    try:
        return int(command.run(options))
    except BeamlikeError as error:
        return _refuse(str(error))


def _refuse(problem: str) -> int:
    print(f"beamlike: {visible(problem)}", file=sys.stderr)
    return REFUSED


def _version() -> str:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version("beamlike")
    return "(not installed)"
