"""Is anything lost or twice when it is killed? ``python -m tests.crash`` kills, and compares.

From the top of the checkout. A child process with its own Java runs streaming queries with early,
on-time, late and withdrawn panes and dropped rows, and is killed with SIGKILL, driver and Java
together, Java alone, or Python workers, at chosen moments of a micro-batch or anywhere, and started
again from its checkpoint until the input is done. What must be right then:

* sessions, days, reference, stages: panes by both machines, with one grouping and with two.
  database, parquet: the same into a database, and by Spark's own file sink. beam, chain, scio:
  pipelines, with one grouping and with two. visits, beats: functions with states and timers, over
  rows and in a pipeline. All that came out is the same as of an undisturbed run, micro-batch for
  micro-batch.
* clock, intervals, clock-beam: triggers that wait for the clock, in a DataFrame and in a pipeline,
  woken by ticks. Where a pane ends depends on when the query was killed. But what came out is what
  Spark's notes of clock, watermark and files say for each micro-batch, played in memory. And each
  element is in exactly one pane that stands, or dropped; panes have their numbers without a gap;
  what a window holds, what came late and what was dropped is the same whatever the clock.
* no-data: Spark's own micro-batches for the watermark, one of which may be missing after a kill.
  Judged by Spark's notes too.

A micro-batch that comes to a sink twice must be the same both times, in each of them.

Between the undisturbed run and the kills: the sink fails, a commit of the state fails, no file may
grow, a micro-batch is replayed; in one session, whose workers live on. After the kills: a small
file system is full, where this process may mount one.

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
from tests.crash.full_disk import FULL_DISK, can_mount, fill_until_done
from tests.crash.killing import Kill, Round, rounds
from tests.crash.moments import MOMENTS
from tests.crash.outputs import differences, output_of
from tests.crash.processes import Child
from tests.crash.work import Work
from tests.crash.works import WORKS

__all__ = ["main"]

ALIKE: Final = ("reference", "database", "parquet")
"""Works whose rows are those of the first one."""

UNMOUNTED: Final = "No file system could be mounted here, so that none was full."


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
    add("--per-run", type=int, metavar="N", help="so many of them in a run; default: files")
    add("--files", type=int, default=12, help="files, and so micro-batches; default 12")
    add(
        "--works",
        nargs="+",
        default=list(WORKS),
        choices=WORKS,
        metavar="WORK",
        help="default: all; sessions first: " + ", ".join(WORKS),
    )
    add("--together", type=int, default=3, help="works that run at once; default 3")
    add("--moments", nargs="+", default=list(MOMENTS), choices=MOMENTS, help="default: all")
    add("--no-faults", action="store_true", help="only kills")
    add(
        "--full-disks",
        type=int,
        default=8,
        metavar="N",
        help="how often a file system is full, where one can be mounted; default 8",
    )
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
    faults = WORK in options.works and not options.no_faults
    fills = options.full_disks if options.full_disks and can_mount() else 0
    # What notes are judged by needs no undisturbed run.
    alike = [it for it in options.works if WORKS[it].windowing is None]
    alike += [it for it in FULL_DISK if fills and it not in alike]
    if not feed.exists():
        write_feed(feed, options.files, options.seed)
    if alike and not (undisturbed / "done").exists():
        flags = ["--faults"] if faults else []
        with Child.start(undisturbed, feed, alike, *flags) as child:
            child.finish()
    different = _unlike(undisturbed, alike)
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
    for each in rounds(
        home,
        feed,
        undisturbed,
        groups,
        options.kills,
        draw,
        tell,
        only=options.moments,
        per_run=options.per_run,
    ):
        done.append(each)
        different += each.different
        print(f"{', '.join(each.works)}: {len(each.kills)} kills, {_said(each)}", flush=True)
    full = None
    if fills:
        full = fill_until_done(home / "full", feed, undisturbed, fills, draw, tell)
        different += full.different
        print(f"{_full(full)}: {_said(full)}", flush=True)
    elif options.full_disks:
        print(UNMOUNTED, flush=True)
    seconds = time.monotonic() - began
    print(*different, sep="\n")
    print(_summary(done, different, seconds))
    if options.write is not None:
        options.write.write_text(_report(options, done, full, different, seconds), "utf-8")
    return 1 if different else 0


def _said(of: Round) -> str:
    return "the same" if not of.different else "DIFFERENT"


def _full(of: Round) -> str:
    return (
        f"a file system that is full, {len(of.kills)} times ({', '.join(of.works)}; {of.failures} "
        f"failures of a query, {of.starts - 1} times the process was killed while it was full)"
    )


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


def _summary(done: Sequence[Round], different: Sequence[str], seconds: float) -> str:
    kills = sum(len(it.kills) for it in done)
    return (
        f"{kills} kills in {len(done)} runs, {sum(it.starts for it in done)} starts and "
        f"{sum(it.failures for it in done)} queries that failed and went on, "
        f"{sum(it.repeated for it in done)} micro-batches that came to a sink again, "
        f"{seconds:.0f} s: " + (f"{len(different)} differences" if different else "nothing differs")
    )


def _report(
    options: argparse.Namespace,
    done: Sequence[Round],
    full: Round | None,
    different: Sequence[str],
    seconds: float,
) -> str:
    hit = Counter(kill.moment for each in done for kill in each.kills)
    per_run = "" if options.per_run is None else f"--per-run {options.per_run} "
    lines = [
        "# The latest long run",
        "",
        f"`python -m tests.crash --kills {options.kills} {per_run}--seed {options.seed} "
        f"--files {options.files}`, {datetime.now(UTC):%Y-%m-%d}; Spark {version('pyspark')}, "
        f"Python {platform.python_version()}, PyArrow {version('pyarrow')}.",
        "",
        _summary(done, different, seconds) + ".",
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
        *(f"* {name}: {WORKS[name].title}{_judged(WORKS[name])}" for name in options.works),
    ]
    if WORK in options.works and not options.no_faults:
        lines += ["", f"Without a kill, compared likewise: {', '.join(FAULTS)}."]
    if full is not None:
        lines += ["", f"Compared likewise: {_full(full)}: {_said(full)}."]
    elif options.full_disks:
        lines += ["", UNMOUNTED]
    if different:
        lines += ["", "What differs:", "", *(f"* {it}" for it in different)]
    return "\n".join(lines) + "\n"


def _judged(work: Work) -> str:
    return "" if work.windowing is None else "; judged by Spark's notes"


if __name__ == "__main__":
    sys.exit(main())
