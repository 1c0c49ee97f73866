"""What a run of the command gave, as text and as Markdown."""

import argparse
import platform
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

import attrs

from tests.crash.faults import FAULTS
from tests.crash.killing import Round
from tests.crash.moments import MOMENTS
from tests.crash.work import Work
from tests.crash.works import WORKS

UNMOUNTED: Final = "No file system could be mounted here, so that none was full."


@attrs.frozen
class Result:
    """All that was run, and what differs."""

    options: argparse.Namespace
    works: Sequence[str]
    rounds: Sequence[Round]
    full: Round | None
    different: Sequence[str]
    missing: Sequence[str]
    seconds: float

    def summary(self) -> str:
        """The figures in a line."""
        done = self.rounds
        kills = sum(len(of_run.kills) for of_run in done)
        starts = sum(of_run.starts for of_run in done)
        count = len(self.different)
        return (
            f"{kills} kills in {len(done)} runs, {starts} starts and "
            f"{sum(of_run.failures for of_run in done)} queries that failed and went on, "
            f"{sum(of_run.again for of_run in done)} micro-batches run again, "
            f"{sum(of_run.repeated for of_run in done)} that came to a sink again, "
            f"{self.seconds:.0f} s: " + (f"{count} differences" if count else "nothing differs")
        )

    def markdown(self) -> str:
        """The page of the latest run."""
        options = self.options
        per_run = "" if options.per_run is None else f"--per-run {options.per_run} "
        hit = Counter(kill.moment for of_run in self.rounds for kill in of_run.kills)
        lines = [
            "# The latest long run",
            "",
            f"`python -m tests.crash --kills {options.kills} {per_run}--seed {options.seed} "
            f"--files {options.files}`, {datetime.now(UTC):%Y-%m-%d}; Spark {version('pyspark')}, "
            f"Python {platform.python_version()}, PyArrow {version('pyarrow')}.",
            "",
            self.summary() + ".",
            "",
            "| killed | times |",
            "|---|---|",
            *(f"| {MOMENTS[name].title} | {hit[name]} |" for name in MOMENTS if hit[name]),
            "",
            "| run | works | kills | starts | failed queries | run again | differences |",
            "|---|---|---|---|---|---|---|",
            *(
                f"| {number} | {', '.join(of_run.works)} | {len(of_run.kills)} | {of_run.starts} | "
                f"{of_run.failures} | {of_run.again} | {len(of_run.different) or 'none'} |"
                for number, of_run in enumerate(self.rounds)
            ),
            "",
            *(f"* {name}: {WORKS[name].title}{_judged(WORKS[name])}" for name in self.works),
            *self._without_kills(),
            *self._changes(),
        ]
        if self.different:
            lines += [
                "",
                "What differs:",
                "",
                *(f"* {difference}" for difference in self.different),
            ]
        return "\n".join(lines) + "\n"

    def _without_kills(self) -> Iterator[str]:
        if "sessions" in self.works and not self.options.no_faults:
            yield from ("", f"Without a kill, compared likewise: {', '.join(FAULTS)}.")
        if self.full is not None:
            yield from ("", f"Compared likewise: {full(self.full)}: {said(self.full)}.")
        elif self.options.full_disks:
            yield from ("", UNMOUNTED)
        for reason in self.missing:
            yield from ("", f"{reason}.")

    def _changes(self) -> Iterator[str]:
        yield from ("", "## What each start found changed", "")
        yield "Settings are written without `spark.` and `sql.streaming.stateStore.`."
        yield from ("", "| run | start | changed |", "|---|---|---|")
        for number, of_run in enumerate(self.rounds):
            for start, change in enumerate(of_run.changes):
                short = re.sub(r"(^|, )spark\.(sql\.streaming\.stateStore\.)?", r"\1", change)
                yield f"| {number} | {start} | {short or 'nothing'} |"


def said(of_run: Round) -> str:
    """Whether anything differs, in words."""
    return "the same" if not of_run.different else "DIFFERENT"


def full(of_run: Round) -> str:
    """The run in which a file system was full, in words."""
    return (
        f"a file system that is full, {len(of_run.kills)} times ({', '.join(of_run.works)}; "
        f"{of_run.failures} failures of a query, {of_run.starts - 1} times the process was killed "
        "while it was full)"
    )


def _judged(work: Work) -> str:
    return "" if work.windowing is None else "; judged by Spark's notes"
