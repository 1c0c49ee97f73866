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
* three, joined, looked: three groupings, a join, a side input. sqlite, duckdb, delta, postgres:
  retracting panes that keep a table; kafka: and a topic. sdk: a pipeline of Beam's own SDK. Of
  tables and topics, what stands in the end is the same.
* no-data: Spark's own micro-batches for the watermark, one of which may be missing after a kill.
  Judged by Spark's notes too.

A micro-batch that comes to a sink twice must be the same both times, in each of them. Some are run
a second and a third time without a kill.

Each start finds other surroundings than the one before (`surroundings`): cores, attempts of a task,
executors in processes of their own, zones, and settings of the session. The checkpoints of a part
of the runs lie on a file system that fails at random. With ``--home`` a command that was broken off
goes on where it was.

Between the undisturbed run and the kills: the sink fails, a commit of the state fails, no file may
grow, a micro-batch is replayed; in one session, whose workers live on. After the kills: a small
file system is full, where this process may mount one.

Exit status: 0 if nothing differs, 1 if something does.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.crash.faults import FAULTS, WORK
from tests.crash.feed import write_feed
from tests.crash.full_disk import FULL_DISK, can_mount, fill_until_done
from tests.crash.killing import Kill, Round, rounds
from tests.crash.moments import MOMENTS
from tests.crash.needed import AtHand, all_at_hand
from tests.crash.outputs import differences, output_of, standing_of
from tests.crash.processes import Child
from tests.crash.report import UNMOUNTED, Result, full, said
from tests.crash.surroundings import FILE_SYSTEMS
from tests.crash.unsteady import can_be_unsteady
from tests.crash.works import WORKS
from tests.support.commands import command_parser

ALIKE: Final = ("reference", "database", "parquet")
"""Works whose rows are those of the first one."""

STANDING: Final = ("sqlite", "duckdb", "delta", "postgres")
"""Works that leave the same table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = command_parser("tests.crash", __doc__)
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
    add("--most-cores", type=int, default=4, metavar="N", help="of a session; default 4")
    add("--no-executors", action="store_true", help="tasks run in the driver's Java alone")
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
    add(
        "--python",
        nargs=2,
        action="append",
        default=[],
        metavar=("NEED", "PYTHON"),
        help="what runs works that need beam, postgres or kafka; default: this one",
    )
    add("--minutes", type=float, help="no other run starts after so many")
    add("--write", type=Path, metavar="FILE", help="the result as Markdown")
    options = parser.parse_args(arguments)
    home = options.home or Path(tempfile.mkdtemp(prefix="beamlike-crash-"))
    wanted = list(dict.fromkeys(WORKS[name].needs for name in options.works))
    pythons = {need: Path(python) for need, python in options.python}
    try:
        with all_at_hand(wanted, pythons, home) as (at_hand, missing):
            return _run(home, options, at_hand, missing)
    finally:
        if options.home is None:
            shutil.rmtree(home, ignore_errors=True)


def _run(
    home: Path, options: argparse.Namespace, at_hand: Mapping[str, AtHand], missing: Sequence[str]
) -> int:
    began = time.monotonic()
    feed = home / "feed"
    print(*missing, sep="\n", flush=True)
    works = [name for name in options.works if WORKS[name].needs in at_hand]
    faults = WORK in works and not options.no_faults
    fills = options.full_disks if options.full_disks and can_mount() else 0
    works += [name for name in FULL_DISK if fills and name not in works]
    # What notes are judged by needs no undisturbed run.
    alike = [name for name in works if WORKS[name].windowing is None]
    if not feed.exists():
        write_feed(feed, options.files, options.seed)

    groups = _groups(works, options.together)
    folders = {name: home / "-".join(["undisturbed", *group]) for group in groups for name in group}

    def prepare(group: Sequence[str]) -> list[str]:
        """Run undisturbed what has to come to that; what is wrong with it."""
        own = [name for name in group if name in alike]
        if own and not (folders[own[0]] / "done").exists():
            hand = at_hand[WORKS[own[0]].needs]
            flags = ["--faults"] if faults and WORK in own else []
            with Child.start(
                *(folders[own[0]], feed, own, *flags),
                python=hand.python,
                environment=hand.environment,
            ) as child:
                child.finish()
        is_known = WORK in folders and (folders[WORK] / "done").exists()
        return _unlike(folders, own) if is_known else []

    different = []
    if WORK in works:
        different += prepare(next(group for group in groups if WORK in group))
    if faults:
        plain = folders[WORK]
        found = differences(output_of(plain / WORK), output_of(plain / "faults" / WORK))
        print(f"{', '.join(FAULTS)}: {'DIFFERENT' if found else 'the same'}", flush=True)
        different += [f"faults: {difference}" for difference in found]
    count = 0

    def tell(kill: Kill) -> None:
        nonlocal count
        count += 1
        number = f"{count:4}  {kill.moment:14}{kill.work:11}"
        print(f"{number}micro-batch {kill.batch:3}  {kill.age:6.1f} s", flush=True)

    done: list[Round] = []
    for result in rounds(
        home,
        feed,
        folders.__getitem__,
        groups,
        options.kills,
        options.seed,
        tell,
        at_hand=at_hand,
        prepare=prepare,
        executors=not options.no_executors,
        most_cores=options.most_cores,
        steady=lambda number: (
            not can_be_unsteady() or FILE_SYSTEMS[number % len(FILE_SYSTEMS)] == "steady"
        ),
        only=options.moments,
        per_run=options.per_run,
        until=lambda: (
            options.minutes is not None and time.monotonic() - began > 60 * options.minutes
        ),
    ):
        done.append(result)
        count = sum(len(of_run.kills) for of_run in done)
        different += result.different
        print(f"{', '.join(result.works)}: {len(result.kills)} kills, {said(result)}", flush=True)
        _write(options, works, done, None, different, missing, began)
    filled = None
    if fills:
        for group in groups:
            if set(group) & set(FULL_DISK):
                prepare(group)
        draw = random.Random(options.seed)
        filled = fill_until_done(home / "full", feed, folders.__getitem__, fills, draw, tell)
        different += filled.different
        print(f"{full(filled)}: {said(filled)}", flush=True)
    elif options.full_disks:
        print(UNMOUNTED, flush=True)
    print(*different, sep="\n")
    print(_write(options, works, done, filled, different, missing, began).summary())
    return 1 if different else 0


def _write(
    options: argparse.Namespace,
    works: Sequence[str],
    done: Sequence[Round],
    filled: Round | None,
    different: Sequence[str],
    missing: Sequence[str],
    began: float,
) -> Result:
    seconds = time.monotonic() - began
    result = Result(options, works, done, filled, different, missing, seconds)
    if options.write is not None:
        options.write.write_text(result.markdown(), "utf-8")
    return result


def _groups(works: Sequence[str], size: int) -> list[list[str]]:
    """Works that run together: they need the same."""
    groups: list[list[str]] = []
    for name in works:
        last = groups[-1] if groups else []
        if 0 < len(last) < size and WORKS[last[0]].needs == WORKS[name].needs:
            last.append(name)
        else:
            groups.append([name])
    return groups


def _unlike(folders: Mapping[str, Path], works: Sequence[str]) -> list[str]:
    """What of works differs from the first one, to which it must come.

    Windows of a key that fire at once come in an order of each machine's own.
    """
    unlike = []
    expected = output_of(folders[WORK] / WORK)
    for work in works:
        output = output_of(folders[work] / work)
        same = True
        if work in STANDING:
            same = output.flat == standing_of(expected)
        elif work in ALIKE:
            same = output.flat == expected.flat
            if work != "parquet":  # which does not know its micro-batches
                same = output.unordered == expected.unordered
        unlike += [] if same else [f"undisturbed: {work} is not {WORK}"]
    return unlike


if __name__ == "__main__":
    # So that servers and children end, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
