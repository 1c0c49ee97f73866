"""Install the lower bounds, and run tests with them; see the package.

Each step is named with what came of it, and with its last lines if it failed.
"""

import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.compatibility.environments import environment
from tests.compatibility.steps import LIMIT, Ended, StepFailed, after_table, checkout, ran
from tests.lower_bounds.bounds import ROOT, constraints
from tests.support.commands import command_parser

WITHOUT_SPARK: Final = ("tests/model", "tests/machine", "tests/laws", "tests/hosts", "tests/fuzz")
WITH_SPARK: Final = ("tests/api/test_windowed_batch.py", "tests/api/test_far_future.py")
LATEST: Final = Path(__file__).with_name("LATEST.md")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a test fails, or the versions do not go together."""
    parser = command_parser("tests.lower_bounds", __doc__)
    add = parser.add_argument
    add("--print", action="store_true", help="print the constraints, and no more")
    add("--no-spark", action="store_true", help="leave out the tests with Spark")
    add("--write", action="store_true", help=f"write what was seen to {LATEST.name}")
    add("--limit", type=float, default=LIMIT, metavar="SECONDS", help="of a step, %(default)g")
    add("--keep", type=Path, metavar="FOLDER", help="keep environment and logs here, and use them")
    options = parser.parse_args(arguments)
    pinned = list(constraints())
    if options.print:
        print(*pinned, sep="\n")
        return 0
    seen = []
    temporary = tempfile.TemporaryDirectory(prefix="beamlike-bounds-")
    with temporary if options.keep is None else nullcontext(str(options.keep)) as made:
        home = Path(made).resolve()
        home.mkdir(parents=True, exist_ok=True)
        for ended in tried(pinned, home, spark=not options.no_spark, limit=options.limit):
            print(ended, flush=True)
            seen.append(ended)
            if options.write:
                before = LATEST.read_text(encoding="utf-8") if LATEST.exists() else ""
                LATEST.write_text(page(pinned, seen, before), encoding="utf-8")
    return 0 if all(ended.good for ended in seen) else 1


def tried(pinned: Sequence[str], home: Path, *, spark: bool, limit: float) -> Iterator[Ended]:
    """Each step as it ends. What is installed wrongly is not tested."""
    source = checkout(ROOT, home / "checkout")
    (home / "constraints.txt").write_text("".join(f"{line}\n" for line in pinned))
    try:
        python = environment(home / "env", ".".join(platform.python_version_tuple()[:2]), home)
    except StepFailed as failed:
        yield failed.ended
        return
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "-qq")
    held = ("-c", home / "constraints.txt")
    wanted = [line.partition("==")[0] for line in pinned]
    pytest = (python, "-m", "pytest", "-q")
    two = ("-n", "2", "--dist", "loadgroup", "-m", "not spark and not browser")
    steps: list[tuple[str, Sequence[str | Path], bool]] = [
        ("pip installs the bounds", [*pip, *held, *wanted], True),
        ("pip installs beamlike", [*pip, *held, "--no-deps", "-e", source], True),
        ("tests without Spark", [*pytest, *two, *WITHOUT_SPARK], False),
    ]
    if spark:
        steps.append(("tests with Spark", [*pytest, "-m", "spark", *WITH_SPARK], False))
    for name, command, needed in steps:
        log = home / f"{name.replace(' ', '-')}.log"
        ended = ran(name, command, log=log, folder=source, limit=limit)
        yield ended
        if needed and not ended.good:
            return


def page(pinned: Sequence[str], seen: Sequence[Ended], before: str) -> str:
    """What was seen, to be kept, and the notes that stand there already."""
    lines = [
        f"# The last trial: {datetime.now(UTC):%Y-%m-%d}",
        "",
        f"`python -m tests.lower_bounds` on {platform.system()}, Python "
        f"{platform.python_version()}, and exactly these:",
        "",
        *(f"- {line.replace('==', ' ')}" for line in pinned),
        "",
        "| step | | saw | seconds |",
        "|---|---|---|---|",
    ]
    for it in seen:
        good, saw = "ok" if it.good else "wrong", it.saw.replace("|", "/")
        lines.append(f"| {it.step} | {good} | {saw} | {it.seconds} |")
    if notes := after_table(before):
        lines += ["", notes]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
