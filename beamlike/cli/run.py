"""``beamlike run``: a Beam script as it is, with this package in the place of ``apache_beam``."""

import argparse
import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, get_args

from beamlike.api.pipelines.options import HOST_VARIABLE, Host
from beamlike.beam.alias import install_as
from beamlike.cli.argument_types import Parser
from beamlike.errors import EnvironmentProblem

DESCRIPTION: Final = """\
Run a Python script that was written for Apache Beam, as it is: whatever it
imports from apache_beam comes from beamlike.beam. What stands after -- are the
script's own arguments. It prints, writes and exits as it does with Beam.
"""

EPILOG: Final = """\
exit status:
  0   the script came to its end
  1   it raised an exception, which is printed as Python does
  2   there is no such script
  any other that the script exits with

examples:
  beamlike run wordcount.py -- --input words.txt --output counts
  beamlike run wordcount.py --host memory -- --input words.txt --output counts
  beamlike run wordcount.py --host spark -- --input words.txt --output counts
"""

_SHIM: Final = """\
import importlib
import sys

from beamlike.beam import install_as

install_as("apache_beam")
sys.modules[__name__] = importlib.import_module("apache_beam")
"""
"""The ``apache_beam`` of Spark's workers, which are processes of their own."""


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    parser.usage = "beamlike run [-h] [--host HOST] SCRIPT [-- ARGUMENT ...]"
    parser.take("SCRIPT", "a Python file")
    parser.take(
        "--host",
        "where its pipelines run, whatever runner they name; by default that runner decides, "
        "and none means local: this process",
        choices=get_args(Host),
    )


def run(options: argparse.Namespace) -> int:
    """Run the script and return its exit status."""
    script = Path(options.script)
    if not script.is_file():
        problem = "is a folder" if script.is_dir() else "is not there"
        raise EnvironmentProblem(f"{options.script} {problem}; write the path of a Python file")
    with _prepared(script, options.rest, options.host), install_as("apache_beam"):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as leaving:
            return _status(leaving)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _print(error, script)
            return 1
    return 0


def _status(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    print(leaving.code, file=sys.stderr)
    return 1


def _print(error: BaseException, script: Path) -> None:
    """Print a traceback that begins in the script."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(script):
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


@contextmanager
def _prepared(script: Path, arguments: list[str], host: Host | None) -> Iterator[None]:
    """What the script finds: its arguments, its folder among those of modules, and a host."""
    before = sys.argv, list(sys.path)
    variables = {name: os.environ.get(name) for name in ("PYTHONPATH", HOST_VARIABLE)}
    folder = str(script.resolve().parent)
    with TemporaryDirectory(prefix="beamlike-run-") as shims:
        shim = Path(shims, "apache_beam")
        shim.mkdir()
        shim.joinpath("__init__.py").write_text(_SHIM, encoding="utf-8")
        sys.argv = [str(script), *arguments]
        sys.path.insert(0, folder)
        # Workers of Spark are started by what this process says.
        os.environ["PYTHONPATH"] = os.pathsep.join(
            filter(None, [folder, variables["PYTHONPATH"], shims])
        )
        if host is not None:
            os.environ[HOST_VARIABLE] = host
        try:
            yield
        finally:
            sys.argv, sys.path[:] = before
            for name, value in variables.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
