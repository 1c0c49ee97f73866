"""What does the Spark host hold, and for how long? ``python -m tests.endurance``.

Each work runs a streaming query of its own, with its rows counted and added up: what comes out
must be exact, nothing may be stored once its window is over, and memory must not grow while the
load is the same: by more than 5 % from the second to the last quarter, nor may threads, open files
and processes, nor may micro-batches become slower. ``--list`` names the works. Full sizes take
about six hours and up to 20 GB.

Exit status: 0 if all is well, 1 if something is wrong.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from beamlike.cli.silence_spark import quiet_session
from tests.endurance.ageing import (
    many_keys,
    started_and_stopped,
    state_beyond_its_bound,
    ticking,
    together,
)
from tests.endurance.one_key import hot_key, merged_at_once
from tests.endurance.open_windows import open_windows
from tests.endurance.report import Finding, described
from tests.endurance.soak import soak
from tests.support.commands import command_parser

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Run = Callable[["SparkSession", Path, argparse.Namespace], Finding]

WORKS: Final[Mapping[str, tuple[str, Run]]] = {
    "open-windows": (
        "--windows sessions open at once, then closed by one row",
        lambda spark, home, said: open_windows(spark, home, said.windows),
    ),
    "hot-key": (
        "a session of --elements of one key",
        lambda spark, home, said: hot_key(spark, home, said.elements),
    ),
    "hot-key-lists": (
        "the same, with all values kept",
        lambda spark, home, said: hot_key(spark, home, said.elements, lists=True),
    ),
    "merge-at-once": (
        "--sessions of one key that one micro-batch makes one",
        lambda spark, home, said: merged_at_once(spark, home, said.sessions),
    ),
    "soak": (
        "a steady load for --minutes",
        lambda spark, home, said: soak(spark, home, round(said.minutes * 60), said.rate),
    ),
    "restarts": (
        "a query started and stopped --restarts times",
        lambda spark, home, said: started_and_stopped(spark, home, said.restarts),
    ),
    "together": (
        "three queries in one session, --batches each",
        lambda spark, home, said: together(spark, home, said.batches),
    ),
    "many-keys": (
        "--keys that are there after a fifth of --batches",
        lambda spark, home, said: many_keys(spark, home, said.batches, said.keys),
    ),
    "ticking": (
        "a trigger by processing time for --minutes",
        lambda spark, home, said: ticking(spark, home, said.minutes),
    ),
    "bounded": (
        "--state MiB of state with RocksDB bounded; in a session of its own",
        lambda spark, home, said: state_beyond_its_bound(spark, home, said.state),
    ),
}


_REMEMBERED: Final = (
    *("spark.ui.retainedJobs", "spark.ui.retainedStages", "spark.ui.retainedTasks"),
    *("spark.sql.ui.retainedExecutions", "spark.sql.streaming.ui.retainedQueries"),
)
_SOON_FULL: Final = {
    **dict.fromkeys(_REMEMBERED, "50"),
    "spark.driver.memory": "1536m",
    "spark.driver.extraJavaOptions": "-Xms1536m -XX:+AlwaysPreTouch",
}
"""What Spark remembers of what has been: 1,000 of each would be full after hours. And Java has the
whole of its heap from the start: what it takes more is beside that, as the memory of RocksDB."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    said = parsed(arguments)
    if said.list:
        for name, (title, _) in WORKS.items():
            print(f"{name:15}{title}")
        return 0
    failed = False
    with quiet_session("beamlike endurance", conf=_SOON_FULL) as spark:
        # Every micro-batch is looked at, also those that are over between two looks.
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "100")
        for name in said.only or WORKS:
            with tempfile.TemporaryDirectory(
                prefix="beamlike-endurance-", ignore_cleanup_errors=True
            ) as home:
                finding = WORKS[name][1](spark, Path(home), said)
            print(described(finding), flush=True)
            failed = failed or bool(finding.wrong)
    return 1 if failed else 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = command_parser("tests.endurance", __doc__)
    add = parser.add_argument
    add("--list", action="store_true", help="name the works and stop")
    add("--only", nargs="+", metavar="NAME", choices=WORKS, help="works by name")
    add("--windows", type=int, default=10_000_000, metavar="N", help="open windows (10,000,000)")
    add("--elements", type=int, default=1_000_000, metavar="N", help="of a hot key (1,000,000)")
    add("--sessions", type=int, default=100_000, metavar="N", help="that merge (100,000)")
    add("--minutes", type=float, default=60, metavar="M", help="of soak and ticking (60)")
    add("--restarts", type=int, default=100, metavar="N", help="starts and stops (100)")
    add("--batches", type=int, default=500, metavar="N", help="together and many-keys (500)")
    add("--keys", type=int, default=2_000_000, metavar="N", help="of many-keys (2,000,000)")
    add("--state", type=int, default=160, metavar="MIB", help="of state that is bounded (160)")
    add("--rate", type=int, default=4_000, metavar="N", help="events a second of the soak (4,000)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
