"""How time and memory of a micro-batch grow: ``python -m tests.growth``.

For each axis a run of some micro-batches at each of its values, the smallest first, after one that
only warms up. ``cores`` is the same work on one core and on two, and on clusters of one worker and
of two; ``streamed`` is the memory of a pipeline in one process. Tables go to ``LATEST.md`` beside
this file, and a picture to ``latest.png``. ``--only`` takes some of them, and keeps the tables of
the others.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import asdict

from beamlike.cli.silence_spark import quiet_session
from tests.benchmarks.data import FileCache, benchmark_files
from tests.benchmarks.measure import timed_run
from tests.benchmarks.report import machine
from tests.benchmarks.workers import descendants, status_bytes
from tests.benchmarks.works import Contender
from tests.growth import cores, model, streamed
from tests.growth.axes import AXES, Axis
from tests.growth.report import Point, draw, section
from tests.support.commands import command_parser

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE: Final = Path(__file__).parent
_HEADING: Final = """# The latest run

`python -m tests.growth`: the median time of a micro-batch while one figure grows, and the peaks of
memory. {machine}.

![Time and memory along each axis](latest.png)

"""


def measured(spark: "SparkSession", files: FileCache, axis: Axis, scale: float) -> Iterable[Point]:
    """A point for each value of an axis."""
    for number, at in enumerate((axis.values[0], *axis.values)):
        query, shape = axis.case(at, scale)
        with _settings(spark, axis.settings(at)):
            run = timed_run(spark, files, Contender("beamlike", "beamlike", query, shape))
        if number:  # Java has compiled the query once
            java = sum(
                status_bytes(it, "VmRSS") or 0 for it, name in descendants() if name == "java"
            )
            times = tuple(ms for some in run.times_ms.values() for ms in some)
            yield Point(at, times, (run.worker_bytes or 0) >> 20, java >> 20)


@contextmanager
def _settings(spark: "SparkSession", settings: Mapping[str, str]) -> Iterator[None]:
    """The session has these until the end of the block."""
    before = {name: str(spark.conf.get(name)) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    names = [*(axis.name for axis in AXES), "cores", "streamed"]
    parser = command_parser("tests.growth", __doc__)
    add = parser.add_argument
    add("--only", nargs="+", choices=names, default=names, metavar="AXIS", help=", ".join(names))
    add("--scale", type=float, default=1.0, metavar="X", help="sizes in parts of the full ones")
    add("--rounds", type=int, default=2, metavar="N", help="runs for each place of cores (2)")
    add("--out", type=Path, default=HERE, metavar="DIR", help="where the results go")
    asked = parser.parse_args(arguments)
    kept = asked.out / "latest.json"
    results = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    with benchmark_files() as files:
        if axes := [axis for axis in AXES if axis.name in asked.only]:
            with quiet_session("beamlike growth") as spark:
                described = machine(spark)
                results["machine"] = ", ".join(
                    [
                        *(described["processor"], described["memory"]),
                        *(f"Spark {described['spark']}", described["java"]),
                    ]
                )
                for axis in axes:
                    points = []
                    for point in measured(spark, files, axis, asked.scale):
                        print(f"{axis.name} {point.at:,}: {point.ms} ms", flush=True)
                        points.append(asdict(point))
                    results[axis.name] = points
                    keep(results, asked.out)
        if "cores" in asked.only:
            speeds = []
            for speed in cores.measured(files, asked.scale, asked.rounds):
                print(f"{speed.place}, {speed.engine}: {speed.a_second:,.0f} a second", flush=True)
                speeds.append(asdict(speed))
            results["cores"] = speeds
            keep(results, asked.out)
        if "streamed" in asked.only:
            runs = []
            for host in streamed.HOSTS:
                for elements in streamed.ELEMENTS:
                    count = max(streamed.KEYS, round(elements * asked.scale))
                    run = streamed.measured(host, count // streamed.KEYS * streamed.KEYS)
                    print(f"{host}, {run.elements:,} elements: {run.mebibytes} MiB", flush=True)
                    runs.append(asdict(run))
            results["streamed"] = runs
            keep(results, asked.out)
    write(results, asked.out)
    return 0


def keep(results: dict[str, object], out: Path) -> None:
    """Write what has been measured so far, so that a run cut short leaves something."""
    results["on"] = f"{datetime.now(UTC):%Y-%m-%d}"
    text = json.dumps(results, indent=1) + "\n"
    (out / "latest.json").write_text(text, encoding="utf-8")


def write(results: dict[str, object], out: Path) -> None:
    """Write the tables and the picture of what has been measured."""
    points = {
        axis.name: [Point(**{**it, "ms": tuple(it["ms"])}) for it in results[axis.name]]  # type: ignore[attr-defined]
        for axis in AXES
        if axis.name in results
    }
    described = f"{results.get('machine', 'A machine')}; {results['on']}"
    text = _HEADING.format(machine=described)
    text += "\n".join(section(axis, points[axis.name]) for axis in AXES if axis.name in points)
    text += "\n" + model.section(points)
    if "cores" in results:
        speeds = [cores.Speed(**{**it, "ms": tuple(it["ms"])}) for it in results["cores"]]  # type: ignore[attr-defined]
        text += "\n" + cores.section(speeds)
    if "streamed" in results:
        runs = [streamed.Streamed(**run) for run in results["streamed"]]  # type: ignore[attr-defined]
        text += "\n" + streamed.section(runs)
    (out / "LATEST.md").write_text(text, encoding="utf-8")
    draw(points, described, out / "latest.png")


if __name__ == "__main__":
    sys.exit(main())
