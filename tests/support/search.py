"""Commands that look for what breaks a law: chunk by chunk, by processes, in a file that outlives
the run, and as a text. `tests.differential`, `tests.stateful` and `tests.exhaustive` are some.
"""

import hashlib
import json
import math
import platform
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, Self

import attrs

from tests.support.commands import command_parser

ROOT: Final = Path(__file__).resolve().parents[2]

CHUNK: Final = 250
"""Scenarios of one progress report; and so many run side by side on Spark."""

ENOUGH: Final = 5
"""After so many broken laws nothing new is to be learnt from more."""


@attrs.frozen
class Chunk:
    """Some things of a part, by their numbers."""

    part: str
    seed: int
    numbers: range

    def __str__(self) -> str:
        return f"{self.part}/{self.seed}/{self.numbers.start}-{self.numbers.stop - 1}"


def chunks_of(part: str, seed: int, numbers: range, size: int = CHUNK) -> Iterator[Chunk]:
    """Things of a part, so many at a time."""
    for index in range(0, len(numbers), size):
        yield Chunk(part, seed, numbers[index : index + size])


@attrs.frozen
class Checked:
    """How many scenarios of a chunk were compared, and how often each law applied."""

    chunk: str
    scenarios: int
    applied: Mapping[str, int]
    seconds: float


Found = tuple[Checked, list[Any]]
"""What was checked of a chunk, and what breaks a law."""


@attrs.frozen
class Kept:
    """The chunks in which every law holds, in a file to which each is added as a line of JSON."""

    path: Path

    @classmethod
    def of(cls, path: Path, sources: str) -> Self:
        """What is kept there of these sources; begun anew if the file is of others."""
        kept = cls(path)
        if not path.exists() or next(kept._lines(), {}).get("sources") != sources:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"sources": sources}) + "\n", encoding="utf-8")
        return kept

    def add(self, checked: Checked) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(attrs.asdict(checked)) + "\n")

    def checked(self) -> dict[str, Checked]:
        found = [Checked(**line) for line in self._lines() if "chunk" in line]
        return {checked.chunk: checked for checked in found}

    def _lines(self) -> Iterator[dict[str, Any]]:
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the run ended in the middle of a line


def digest_of(names: Iterable[str]) -> str:
    """Sources by their names from the top of the checkout, whole folders or files."""
    digest = hashlib.sha256()
    for name in names:
        path = ROOT / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def search_parser(command: str, description: str | None) -> ArgumentParser:
    """The arguments of each command that searches."""
    parser = command_parser(command, description)
    add = parser.add_argument
    add("--jobs", type=int, default=1, help="processes that share the work")
    add("--minutes", type=float, default=math.inf, help="stop after so long")
    add("--progress", type=Path, metavar="FILE", help="what is done already")
    add("--report", type=Path, metavar="FILE", help="write the result there, such as LATEST.md")
    return parser


def random_parser(command: str, description: str | None, things: str) -> ArgumentParser:
    """The arguments of a command that checks laws of random scenarios, or of other things."""
    parser = search_parser(command, description)
    add = parser.add_argument
    add(f"--{things}", type=int, default=20_000, metavar="N", help="default 20000")
    add("--seed", type=int, default=0, help=f"another one, other {things}")
    add("--first", type=int, default=0, metavar="N", help="number of the first (default 0)")
    on_spark = "the first N also run on Spark, in streaming queries (default 0)"
    add("--spark", type=int, default=0, metavar="N", help=on_spark)
    return parser


def on_spark_in_parts(
    things: str, numbers: range, broken_of: Callable[[range, Any], list[Any]]
) -> list[Any]:
    """What breaks the law of Spark, some hundred side by side in one query."""
    from beamlike.cli.silence_spark import quiet_session

    broken = []
    print("starting Spark", file=sys.stderr, flush=True)
    with quiet_session("beamlike laws") as spark:
        for index in range(0, len(numbers), CHUNK):
            part = numbers[index : index + CHUNK]
            broken += broken_of(part, spark)
            print(f"{index + len(part)} {things} on Spark", file=sys.stderr, flush=True)
    return broken


@attrs.frozen
class Search:
    """A command that looks for what breaks a law, and says what it looked at.

    Attributes:
        command: Its module.
        things: What the laws are of, in the plural.
        laws: All of them, that of Spark at last.
        check: Checks a chunk, and counts what each law has something to say about: of how many
            things, and what breaks a law.
        show: Prints what breaks a law, made smaller.
        sources: What a result is a result of. After a change of these nothing counts as done.
        note: A sentence for the report.
    """

    command: str
    things: str
    laws: Sequence[str]
    check: Callable[[Chunk, Counter[str]], tuple[int, list[Any]]]
    show: Callable[[Any], None]
    sources: Sequence[str] = ("beamlike", "testing")
    note: str = ""

    def run(
        self,
        args: Namespace,
        chunks: Iterable[Chunk],
        broken_on_spark: Callable[[range, Any], list[Any]] | None = None,
    ) -> int:
        """Check the chunks that are not done yet, and some things on Spark; the exit status."""
        started = time.monotonic()
        kept = None if args.progress is None else Kept.of(args.progress, digest_of(self.sources))
        checked = {} if kept is None else kept.checked()
        todo = [chunk for chunk in chunks if str(chunk) not in checked]
        broken: list[Any] = []
        for done, found in self._shown(self._in_processes(todo, args.jobs), len(todo)):
            broken += found
            checked[done.chunk] = done
            if kept is not None and not found:
                kept.add(done)
            if len(broken) >= ENOUGH or time.monotonic() > started + 60 * args.minutes:
                break
        if broken_on_spark is not None and args.spark and len(broken) < ENOUGH:
            on_spark = range(args.first, args.first + args.spark)
            broken += on_spark_in_parts(self.things, on_spark, broken_on_spark)
            law, count = self.laws[-1], len(on_spark)
            checked[law] = Checked(law, count, {law: count}, 0)

        for law, count in applied_laws(checked, self.laws).items():
            print(f"{count:>8}  {law}")
        for one in broken[:ENOUGH]:
            self.show(one)
        verdict = "every law holds" if not broken else f"{len(broken)} broken"
        compared = sum(done.scenarios for done in checked.values())
        of_seed = f" of seed {args.seed}" if "seed" in args else ""
        took = time.monotonic() - started
        print(f"\n{compared} {self.things}{of_seed} in {took:.0f} s: {verdict}")
        if args.report is not None:
            args.report.write_text(self._report(checked, verdict), encoding="utf-8")
        return int(bool(broken))

    def _checked(self, chunk: Chunk) -> Found:
        started, applied = time.monotonic(), Counter[str]()
        count, broken = self.check(chunk, applied)
        took = round(time.monotonic() - started, 3)
        return Checked(str(chunk), count, dict(applied), took), broken

    def _in_processes(self, chunks: Sequence[Chunk], jobs: int) -> Iterator[Found]:
        if jobs <= 1:
            yield from map(self._checked, chunks)
            return
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            try:
                yield from pool.map(self._checked, chunks)
            finally:
                pool.shutdown(cancel_futures=True)  # when the time is up, the rest is left

    def _shown(self, found: Iterator[Found], total: int) -> Iterable[Found]:
        """What was found, and how far the search is on stderr."""
        try:
            from rich.console import Console
            from rich.progress import track
        except ImportError:
            return self._counted(found)
        console = Console(stderr=True)
        if not console.is_terminal:
            return self._counted(found)
        return track(found, "Checking", total, console=console)

    def _counted(self, found: Iterator[Found]) -> Iterator[Found]:
        done = 0
        for checked, broken in found:
            done += checked.scenarios
            print(f"{done} {self.things}", file=sys.stderr, flush=True)
            yield checked, broken

    def _report(self, checked: Mapping[str, Checked], verdict: str) -> str:
        """What was compared, part by part and law by law."""
        parts: dict[str, list[Checked]] = {}
        for one in checked.values():
            parts.setdefault(one.chunk.partition("/")[0], []).append(one)
        counts = [
            f"| {part} | {sum(one.scenarios for one in them):,} | "
            f"{sum(one.seconds for one in them):,.0f} |"
            for part, them in parts.items()
        ]
        applied = applied_laws(checked, self.laws)
        return "\n".join(
            [
                "# The latest comparison",
                "",
                f"`python -m {self.command}`, {datetime.now(UTC).date()}; "
                f"Python {platform.python_version()}. {verdict[0].upper()}{verdict[1:]}.",
                *([self.note] if self.note else []),
                "",
                f"| part | {self.things} | seconds of work |",
                "|---|---|---|",
                *counts,
                "",
                f"| law | {self.things} |",
                "|---|---|",
                *(f"| {law} | {count:,} |" for law, count in applied.items()),
                "",
            ]
        )


def applied_laws(checked: Mapping[str, Checked], laws: Iterable[str]) -> dict[str, int]:
    """How often each law was checked."""
    applied = Counter[str]()
    for one in checked.values():
        applied.update(one.applied)
    return {law: applied[law] for law in laws if applied[law]}
