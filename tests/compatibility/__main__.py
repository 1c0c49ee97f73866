"""Does it work with these versions, and elsewhere? ``python -m tests.compatibility``.

Each setting gets an environment in a temporary folder, into which pip installs a copy of this
checkout. Versions of PySpark run all tests that meet Spark; versions of Python those that do not,
and the scenarios on Spark. Over Spark Connect, on ``local-cluster``, on a standalone master with
two workers, and by ``spark-submit``, a script runs a streaming query and compares its panes; on the
clusters the workers have no beamlike of their own, it is shipped to them. Spark Connect then runs
the scenarios and the tests of the DataFrame API. The lowest versions that `setup.cfg` allows run
tests of each kind. ``--list`` names the settings, and what runs in each.

A step that fails is named, with its last lines. Exit status: 0 if all is well, 1 if something is
wrong, or cannot be had here.
"""

import argparse
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import attrs

from tests.compatibility.bounds import constraints
from tests.compatibility.environments import environment, install, printed_by, wheel
from tests.compatibility.settings import QUICK, SETTINGS, Probe, Setting, Suite
from tests.compatibility.steps import LIMIT, Ended, StepFailed, checkout, ran
from tests.support.commands import command_parser
from tests.support.latest import Latest

ROOT: Final = Path(__file__).resolve().parents[2]
NEEDS: Final = (
    *("attrs", "cloudpickle", "numpy", "pandas<3"),
    *("prometheus_client", "protobuf", "pyarrow"),
)
"""What is needed besides beamlike, and the metrics of the probe."""
LATEST: Final = Latest(
    Path(__file__).with_name("LATEST.md"),
    f"""# Latest run

`python -m tests.compatibility`, on {platform.system()}, each setting on its own day.
[settings.py](settings.py) says what runs in each, and why that. The newest PySpark with
Python 3.11 is what all tests run with.

""",
    ("setting", "Python", "PySpark", "result", "saw", "seconds", "day"),
)
VERSIONS: Final = "import platform, pyspark; print(platform.python_version(), pyspark.__version__)"


@attrs.frozen
class Outcome:
    """What came of a setting."""

    setting: Setting
    good: bool
    python: str
    pyspark: str
    saw: str
    seconds: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parsed(arguments)
    settings = [it for it in SETTINGS if not options.only or it.name in options.only]
    if options.list:
        for it in settings:
            does = ", ".join(each.what for each in it.does)
            print(f"{it.name:15}Python {it.python}, {it.pyspark}: {does}")
        return 0
    outcomes = []
    for setting in settings:
        print(setting.name, flush=True)
        outcome = tried(setting, quick=options.quick, limit=options.limit, keep=options.keep)
        print(f"{setting.name}: {'ok' if outcome.good else 'WRONG'}, {outcome.saw}", flush=True)
        outcomes.append(outcome)
        if options.write:
            cells = (outcome.python, outcome.pyspark, "ok" if outcome.good else "wrong")
            order = [it.name for it in SETTINGS]
            LATEST.keep(setting.name, *cells, outcome.saw, outcome.seconds, order=order)
    return 0 if all(outcome.good for outcome in outcomes) else 1


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = command_parser("tests.compatibility", __doc__)
    names = [it.name for it in SETTINGS]
    add = parser.add_argument
    add("--only", nargs="+", metavar="NAME", choices=names, help=", ".join(names))
    add("--list", action="store_true", help="name the settings and stop")
    add("--quick", action="store_true", help="few tests of each kind")
    add(
        "--write",
        action="store_true",
        help="write what was seen to LATEST.md, row by row",
    )
    add("--limit", type=float, default=LIMIT, metavar="SECONDS", help="of a step, %(default)g")
    add("--keep", type=Path, metavar="FOLDER", help="keep environments and logs here, and use them")
    return parser.parse_args(arguments)


def tried(setting: Setting, *, quick: bool, limit: float, keep: Path | None) -> Outcome:
    """Make the environment, run what is to be run."""
    began, python, pyspark = time.monotonic(), setting.python, setting.pyspark
    ended: list[Ended] = []
    temporary = tempfile.TemporaryDirectory(prefix="beamlike-compatibility-")
    with temporary if keep is None else nullcontext(str(keep / setting.name)) as made:
        home = Path(made).resolve()
        home.mkdir(parents=True, exist_ok=True)
        try:
            source = checkout(ROOT, home / "checkout")
            interpreter = prepared(setting, home, source)
            python, _, pyspark = printed_by(interpreter, VERSIONS, home).partition(" ")
            for each in few(setting) if quick else setting.does:
                ended.append(done(each, setting, interpreter, home, source, limit))
                print(f"  {ended[-1]}", flush=True)
        except StepFailed as failed:
            ended.append(failed.ended)
            print(f"  {failed.ended}", flush=True)
    saw = "; ".join(f"{it.step}: {it.saw}" for it in ended)
    seconds, good = round(time.monotonic() - began), all(it.good for it in ended)
    return Outcome(setting, good, python, pyspark, f"{'few: ' * quick}{saw}", seconds)


def prepared(setting: Setting, home: Path, source: Path) -> Path:
    """The interpreter of an environment that has what the setting needs."""
    python = environment(home / "env", setting.python, home)
    if setting.at_bounds:
        install(python, *constraints(), logs=home)
        install(python, "--no-deps", "--editable", source, logs=home)
        return python
    wanted = [setting.pyspark, *setting.extras]
    if any(it == Probe("submit") for it in setting.does):
        # As on a cluster: what beamlike needs is there, and beamlike is not.
        install(python, *wanted, *NEEDS, logs=home)
        return python
    asked = f"{source}[{'test' if setting.tests else 'spark,metrics'}]"
    install(python, *wanted, "--editable", asked, logs=home)
    return python


def few(setting: Setting) -> Sequence[Suite | Probe]:
    """What can be had quickly: the probe, and otherwise a few tests."""
    return [it for it in setting.does if isinstance(it, Probe)] or [QUICK]


def done(
    what: Suite | Probe, setting: Setting, python: Path, home: Path, source: Path, limit: float
) -> Ended:
    """Run tests, or the probe."""
    log = home / f"{what.what.replace(' ', '-')}.log"
    if isinstance(what, Suite):
        return ran(
            what.what,
            [python, "-m", "pytest", "-q", *what.options],
            log=log,
            folder=source,
            # Workers of Spark Connect are started elsewhere, and import what tests have defined.
            variables={"PYTHONPATH": str(source), **what.variables},
            limit=limit,
        )
    probe, workers = home / "probe.py", python
    probe.write_text(Path(__file__).with_name("probe.py").read_text())
    arguments: list[str | Path] = []
    if what.kind == "submit":
        arguments.append(wheel(python, source, home, home))
    elif what.kind != "connect":
        workers = environment(home / "workers", setting.python, home)
        install(workers, *NEEDS, logs=home)
    command = [python, probe, what.kind, workers, *arguments]
    return ran(what.what, command, log=log, folder=home, limit=limit)


if __name__ == "__main__":
    sys.exit(main())
