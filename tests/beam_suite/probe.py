"""Runs tests and programs of Beam, each in a process of its own. Needs Python's library alone.

It is run by the Python of an environment that has Apache Beam, with a plan as JSON:
``probe.py PLAN OUTPUT``. It appends a line of JSON for each test and each program to the output.
With ``"answers": "beamlike"`` imports of ``apache_beam`` get ``beamlike.beam``, except for tests,
examples and the like, which come from the installed Beam; else all is Beam's own, with ``"runner"``
on `BeamlikeRunner`. ``"host"`` says where pipelines run then.
"""

import atexit
import importlib
import importlib.util
import io
import json
import os
import re
import runpy
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import unittest
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]

# Modules of Beam that tests import and that are programs themselves.
_PROGRAMS = re.compile(
    r"(apache_beam|beamlike\.beam)\."
    r"(examples\b|.*_test$|.*_test_common$|testing\.data\b|coders\.proto2_coder_test|io\.gcp\.tests\b)"
)


class _FromBeam(MetaPathFinder):
    """Finds the tests and examples of an installed Beam by their names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = _PROGRAMS.match(fullname)
        if not found:
            return None
        # `from apache_beam.coders import coders_test` asks for it under the package's own name.
        name = fullname.removeprefix(f"{found[1]}.")
        place = self.folder.joinpath(*name.split("."))
        if place.is_dir():
            inside = [str(place)]
            file = place / "__init__.py"
            return importlib.util.spec_from_file_location(
                fullname, file, submodule_search_locations=inside
            )
        file = place.with_suffix(".py")
        return importlib.util.spec_from_file_location(fullname, file) if file.exists() else None


class _Harness(MetaPathFinder):
    """Finds ``beamlike.testing`` beside the package, where a checkout has it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "beamlike.testing":
            return None
        folder = ROOT / "testing"
        return importlib.util.spec_from_file_location(
            fullname, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


WORKERS = "BEAM_SUITE_WORKERS"
"""The variable that says to workers of Spark where the installed Beam is."""

_SHIM = f"""\
import importlib, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import probe
probe.answer(probe.Path(probe.os.environ[{WORKERS!r}]))
sys.modules[__name__] = importlib.import_module("apache_beam")
"""
"""The ``apache_beam`` of workers, which are processes of their own."""


def answer(beam: Path) -> None:
    """Let imports of Beam get this package."""
    sys.path.insert(0, str(ROOT))
    sys.meta_path.insert(0, _Harness())
    importlib.import_module("beamlike.beam").install_as("apache_beam")
    sys.meta_path.insert(0, _FromBeam(beam))


def prepare(answers: str, host: str) -> None:
    """Import what is tested, once for all processes."""
    spec = importlib.util.find_spec("apache_beam")
    assert spec is not None, "this Python has no apache_beam"
    assert spec.origin is not None
    if answers != "beamlike":
        importlib.import_module("apache_beam")
        importlib.import_module("apache_beam.runners.direct.direct_runner")
        importlib.import_module("apache_beam.testing.util")
        if answers == "runner":
            run_by_runner(host)
        return
    beam = Path(spec.origin).parent
    answer(beam)
    pipelines = importlib.import_module("beamlike.testing.pipelines.contexts")
    pipelines.TestPipeline.default_host = host
    if host == "local":
        importlib.import_module("beamlike.hosts.local.nodes")
        return
    # Workers of Spark are started by what this process says.
    shim = Path(tempfile.mkdtemp(prefix="beam-suite-workers-"), "apache_beam")
    shim.mkdir()
    shim.joinpath("__init__.py").write_text(_SHIM, encoding="utf-8")
    atexit.register(shutil.rmtree, shim.parent, ignore_errors=True)
    os.environ[WORKERS] = str(beam)
    os.environ["PYTHONPATH"] = os.pathsep.join((str(shim.parent), str(ROOT)))
    os.environ["BEAMLIKE_HOST"] = host


def run_by_runner(host: str) -> None:
    """Let pipelines that name no runner run on `BeamlikeRunner`."""
    sys.path.insert(0, str(ROOT))
    os.environ["PYTHONPATH"] = str(ROOT)
    pipeline = importlib.import_module("apache_beam.pipeline").Pipeline
    of_options = importlib.import_module("apache_beam.options.pipeline_options").StandardOptions
    runner = importlib.import_module("beamlike.runners.beam").BeamlikeRunner
    importlib.import_module("beamlike.hosts.local.nodes")
    init = pipeline.__init__

    def on_ours(self: Any, given: Any = None, options: Any = None, *args: Any, **more: Any) -> None:
        given = more.pop("runner", given)
        named = options is not None and options.view_as(of_options).runner
        init(self, given or (None if named else runner(host)), options, *args, **more)

    pipeline.__init__ = on_ours


class _Late(BaseException):
    """A test took too long."""


def _ring(_number: int, _frame: Any) -> NoReturn:
    raise _Late("took too long")


class _Result(unittest.TestResult):
    """Writes down each test as it ends."""

    def __init__(self, unit: str, output: Path, limit: int) -> None:
        super().__init__()
        self.unit, self.written, self.limit = unit, output, limit
        self.outcome: tuple[str, Any] = ("passed", None)
        self.began = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcome, self.began = ("passed", None), time.perf_counter()
        signal.alarm(self.limit)

    def stopTest(self, test: unittest.TestCase) -> None:
        signal.alarm(0)
        super().stopTest(test)
        outcome, error = self.outcome
        self.note(test, outcome, error, time.perf_counter() - self.began)

    def note(self, test: Any, outcome: str, error: Any, seconds: float = 0.0) -> None:
        name = test.id().removeprefix(f"{self.unit}.")
        entry = {"unit": self.unit, "test": name, "outcome": outcome, "seconds": round(seconds, 2)}
        write(self.written, entry | described(error))

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        self.outcome = "failed", err[1]
        if not isinstance(test, unittest.TestCase):  # setUpClass
            self.note(test, *self.outcome)

    addFailure = addError

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.outcome = "skipped", None

    def addSubTest(self, test: unittest.TestCase, subtest: Any, err: Any) -> None:
        if err is not None:
            self.outcome = "failed", err[1]

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self.outcome = "skipped", None


def described(error: BaseException | None) -> dict[str, str]:
    """The cause of a failure, and where it was raised."""
    if error is None:
        return {}
    frames = traceback.extract_tb(error.__traceback__)
    sites = [
        f"{Path(frame.filename).name}:{frame.name}"
        for frame in frames
        if "/beamlike" in frame.filename
    ]
    lines = str(error).strip().splitlines() or [""]
    text = "".join(traceback.format_exception(error))
    return {
        "cause": f"{type(error).__name__}: {lines[0]}"[:400],
        "site": sites[-1] if sites else "",
        "trace": text[-3000:],
    }


def write(output: Path, entry: dict[str, Any]) -> None:
    """Append an entry."""
    with output.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def run_tests(unit: dict[str, Any], output: Path) -> None:
    """Run the tests of a module."""
    name = unit["unit"]
    signal.signal(signal.SIGALRM, _ring)
    try:
        signal.alarm(unit["limit"])
        module = importlib.import_module(name)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        signal.alarm(0)
    except BaseException as error:
        write(output, {"unit": name, "test": "*", "outcome": "failed"} | described(error))
        return
    result = _Result(name, output, unit["limit"])
    for test in cases(suite):
        if unit.get("only") and test.id().removeprefix(f"{name}.") not in unit["only"]:
            continue
        try:
            unittest.TestSuite([test]).run(result)
        except BaseException as error:
            signal.alarm(0)
            result.note(test, "failed", error)


def cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """The tests of a suite one by one."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from cases(each)
        else:
            yield each


def run_program(unit: dict[str, Any], output: Path) -> None:
    """Run a file as a program, and keep what it prints."""
    entry: dict[str, Any] = {"unit": unit["unit"], "test": "", "outcome": "passed"}
    file = copied(unit) if "folder" in unit else unit["file"]
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    sys.argv = [file, *unit.get("arguments", ())]
    sys.path.insert(0, str(Path(file).parent))
    signal.signal(signal.SIGALRM, _ring)
    signal.alarm(unit["limit"])
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            entry |= {"outcome": "failed"} | described(end)
    except BaseException as error:
        entry |= {"outcome": "failed"} | described(error)
    signal.alarm(0)
    entry["printed"] = sorted([*printed.getvalue().splitlines(), *written_since(before)])
    write(output, entry)


def copied(unit: dict[str, Any]) -> str:
    """Copy a program with its folder into the working folder, and say where it is.

    It reads its samples from files beside it.
    """
    shutil.copytree(unit["folder"], ".", dirs_exist_ok=True)
    for name, text in unit["samples"].items():
        sample = Path(name.replace("gs://", "samples/"))
        sample.parent.mkdir(parents=True, exist_ok=True)
        sample.write_text(text, encoding="utf-8")
    for path in Path().glob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("gs://", "samples/"), encoding="utf-8")
    return str(Path(unit["file"]).relative_to(unit["folder"]).absolute())


def written_since(before: dict[Path, bytes]) -> Iterator[str]:
    """The lines of files in the working folder that are new or that say something else."""
    for path in Path().rglob("*"):
        if path.is_file() and path.suffix != ".pyc" and path.read_bytes() != before.get(path):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                yield f"{path}: {line}"


def in_a_process(units: Sequence[dict[str, Any]], output: Path) -> None:
    """Run units one after the other in a process of their own.

    It is ended when the time of one is up. The others then have another process.
    """
    left = list(units)
    while left:
        left = left[_run_apart(left, output) :]


def _run_apart(units: Sequence[dict[str, Any]], output: Path) -> int:
    """Run units in one process until the time of one is up, and say how many have ended."""
    folder = tempfile.mkdtemp(prefix="beam-suite-")
    ended, ends = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.chdir(folder)
            quiet = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(quiet, number)
            for unit in units:
                (run_program if "file" in unit else run_tests)(unit, output)
                write(output, _end_of(unit))
                os.write(ends, b".")
        finally:
            os._exit(0)
    os.close(ends)
    done = 0
    for unit in units:
        done += 1
        in_time = select.select([ended], [], [], unit["whole"])[0]
        if in_time and os.read(ended, 1):
            continue
        late = {"unit": unit["unit"], "test": "*", "outcome": "failed"}
        cause = "the process ended" if in_time else "took too long"
        write(output, late | {"cause": cause, "site": "", "trace": ""})
        write(output, _end_of(unit))
        break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ended)
    shutil.rmtree(folder, ignore_errors=True)
    return done


def _end_of(unit: dict[str, Any]) -> dict[str, Any]:
    return {"unit": unit["unit"], "test": None, "outcome": "ended"}


def together(units: Sequence[dict[str, Any]], host: str) -> Iterator[Sequence[dict[str, Any]]]:
    """The units that share a process: on Spark the tests of single transforms.

    A session takes longer to start than these take to run.
    """
    short = [unit for unit in units if host == "spark" and ".snippets.transforms." in unit["unit"]]
    if short:
        yield short
    yield from ([unit] for unit in units if unit not in short)


def main(plan: str, output: str) -> None:
    """Run a plan."""
    steps = json.loads(Path(plan).read_text(encoding="utf-8"))
    prepare(steps["answers"], steps["host"])
    for units in together(steps["units"], steps["host"]):
        in_a_process(units, Path(output))


if __name__ == "__main__":
    main(*sys.argv[1:])
