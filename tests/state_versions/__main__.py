"""Keep the checkpoints of the layout of today: ``python -m tests.state_versions``.

To be run when the layout of state has a new version, and the files to be committed; those of the
layouts before stay for as long as they are read. It takes a session with three cores, so that the
tests, which have two, go on with another number. With ``--list`` it says what is kept.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beamlike.hosts.spark.session import local_session
from tests.state_versions.stored import FOLDER, layouts, pack
from tests.state_versions.works import WORKS, Inbox, Work
from tests.support.commands import command_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parsed(arguments)
    if options.list:
        for layout, work in layouts():
            print(f"layout {layout}, {work}")
        return 0
    spark = local_session("beamlike state versions", cores=3)
    try:
        for name in options.works or WORKS:
            with tempfile.TemporaryDirectory(prefix="beamlike-state-") as home:
                leave(spark, WORKS[name], Path(home))
                file = pack(Path(home), name)
            print(f"{file.relative_to(FOLDER)}: {file.stat().st_size:,} bytes")
    finally:
        spark.stop()
    return 0


def leave(spark: Any, work: Work, home: Path) -> None:
    """Run a work until it has seen what arrives before, and stop it."""
    inbox = Inbox(home)
    query = work.start(
        spark, inbox.rows(spark), str(home / "checkpoint"), lambda rows, _: rows.collect()
    )
    try:
        for number, rows in enumerate(work.before):
            inbox.put(f"{number:04}", rows)
            query.processAllAvailable()
    finally:
        query.stop()


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = command_parser("tests.state_versions", __doc__)
    parser.add_argument("--list", action="store_true", help="say which are kept, and write none")
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(WORKS)}")
    options = parser.parse_args(arguments)
    unknown = set(options.works) - WORKS.keys()
    if unknown:
        parser.error(f"there is no work {min(unknown)!r}; there are {', '.join(WORKS)}")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
