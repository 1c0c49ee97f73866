"""Is anything lost or twice when it is killed? ``python -m tests.crash`` kills, and compares.

From the top of the checkout. A child process with its own Java runs streaming queries with early,
on-time, late and withdrawn panes and dropped rows: by both machines, with two groupings, as a
pipeline; into files, a database, and by Spark's own file sink. First undisturbed. Then it is killed
with SIGKILL, driver and Java together, Java alone, or Python workers, at chosen moments of a
micro-batch or anywhere, and started again from its checkpoint until the input is done. All that
came out must be the same, micro-batch for micro-batch; and so must each micro-batch that came to
a sink twice.

Between the undisturbed run and the kills: the sink fails, a commit of the state fails, the disk is
full, a micro-batch is replayed; in one session, whose workers live on.

Exit status: 0 if nothing differs, 1 if something does.
"""

import argparse
import platform
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tests.crash.faults import FAULTS, WORK
from tests.crash.feed import write_feed
from tests.crash.killing import Kill, Round, rounds
from tests.crash.moments import MOMENTS
from tests.crash.outputs import differences, output_of
from tests.crash.processes import Child
from tests.crash.works import WORKS

__all__ = ["main"]

ALIKE: Final = ("reference", "database", "parquet")
"""Works whose rows are those of the first one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.crash",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--kills", type=int, default=50, help="how many; default 50")
    add("--seed", type=int, default=0, help="of rows and moments; default 0")
    add("--files", type=int, default=12, help="files, and so micro-batches; default 12")
    add(
        "--works",
        nargs="+",
        default=list(WORKS),
        choices=WORKS,
        help="default: all; sessions first",
    )
    add("--together", type=int, default=3, help="works that run at once; default 3")
    add("--moments", nargs="+", default=list(MOMENTS), choices=MOMENTS, help="default: all")
    add("--no-faults", action="store_true", help="only kills")
    add(
        "--home",
        type=Path,
        help="where files are kept, and an undisturbed run is found; default: nowhere",
    )
    add("--write", type=Path, metavar="FILE", help="the result as Markdown")
    options = parser.parse_args(arguments)
    home = options.home or Path(tempfile.mkdtemp(prefix="beamlike-crash-"))
    try:
        return _run(home, options)
    finally:
        if options.home is None:
            shutil.rmtree(home, ignore_errors=True)


def _run(home: Path, options: argparse.Namespace) -> int:
    began = time.monotonic()
    feed, undisturbed = home / "feed", home / "undisturbed"
    faults = not options.no_faults
    if not (undisturbed / "done").exists():
        write_feed(feed, options.files, options.seed)
        flags = ["--faults"] if faults else []
        with Child.start(undisturbed, feed, options.works, *flags) as child:
            child.finish()
    different = _unlike(undisturbed, options.works)
    if faults:
        found = differences(output_of(undisturbed / WORK), output_of(undisturbed / "faults" / WORK))
        same = "the same" if not found else "DIFFERENT"
        print(f"{', '.join(FAULTS)}: {same}", flush=True)
        different += [f"faults: {it}" for it in found]

    works, size = options.works, options.together
    groups = [works[at : at + size] for at in range(0, len(works), size)]
    draw = random.Random(options.seed)
    kills: list[Kill] = []

    def tell(kill: Kill) -> None:
        kills.append(kill)
        number = f"{len(kills):4}  {kill.moment:14}{kill.work:11}"
        print(f"{number}micro-batch {kill.batch:3}  {kill.age:6.1f} s", flush=True)

    done: list[Round] = []
    for each in rounds(home, feed, undisturbed, groups, options.kills, draw, tell, options.moments):
        done.append(each)
        different += each.different
        same = "the same" if not each.different else "DIFFERENT"
        print(f"{', '.join(each.works)}: {len(each.kills)} kills, {same}", flush=True)
    seconds = time.monotonic() - began
    print(*different, sep="\n")
    print(_summary(done, seconds))
    if options.write is not None:
        options.write.write_text(_report(options, done, different, seconds), "utf-8")
    return 1 if different else 0


def _unlike(home: Path, works: Sequence[str]) -> list[str]:
    """What differs between works that must come to the same.

    Windows of a key that fire at once come in an order of each machine's own.
    """
    if WORK not in works:
        return []
    expected = output_of(home / WORK)
    told = []
    for work in works:
        if work in ALIKE:
            found = output_of(home / work)
            same = found.flat == expected.flat
            if work != "parquet":  # which does not know its micro-batches
                same = found.unordered == expected.unordered
            told += [] if same else [f"undisturbed: {work} is not {WORK}"]
    return told


def _summary(done: Sequence[Round], seconds: float) -> str:
    kills = sum(len(it.kills) for it in done)
    bad = sum(bool(it.different) for it in done)
    return (
        f"{kills} kills in {len(done)} runs, {sum(it.starts for it in done)} starts and "
        f"{sum(it.failures for it in done)} queries that failed and went on, "
        f"{sum(it.repeated for it in done)} micro-batches that came to a sink again, "
        f"{seconds:.0f} s: " + (f"{bad} runs differ" if bad else "nothing differs")
    )


def _report(
    options: argparse.Namespace,
    done: Sequence[Round],
    different: Sequence[str],
    seconds: float,
) -> str:
    hit = Counter(kill.moment for each in done for kill in each.kills)
    lines = [
        "# The latest long run",
        "",
        f"`python -m tests.crash --kills {options.kills} --seed {options.seed} "
        f"--files {options.files}`, {datetime.now(UTC):%Y-%m-%d}; Spark {version('pyspark')}, "
        f"Python {platform.python_version()}, PyArrow {version('pyarrow')}.",
        "",
        _summary(done, seconds) + ".",
        "",
        "| killed | times |",
        "|---|---|",
        *(f"| {MOMENTS[name].title} | {hit[name]} |" for name in MOMENTS if hit[name]),
        "",
        "| works of a run | kills | starts | failed queries | repeated | differences |",
        "|---|---|---|---|---|---|",
        *(
            f"| {', '.join(it.works)} | {len(it.kills)} | {it.starts} | {it.failures} | "
            f"{it.repeated} | {len(it.different) or 'none'} |"
            for it in done
        ),
        "",
        *(f"* {name}: {WORKS[name].title}" for name in options.works),
    ]
    if not options.no_faults:
        lines += ["", f"Without a kill, compared likewise: {', '.join(FAULTS)}."]
    if different:
        lines += ["", "What differs:", "", *(f"* {it}" for it in different)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
