"""A hunt for inputs that are neither taken nor properly refused; see the package.

``python -m tests.fuzz --minutes 30`` shares the time among all readers, two at a time. It needs
atheris (``pip install "beamlike[fuzz]"``). The exit status is 1 if something was found.
"""

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from tests.fuzz.readers import READERS, Reader
from tests.support.commands import command_parser

_DONE = re.compile(r"Done (\d+) runs in (\d+) second")
_COVERED = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)")
_LONGEST = 20_000
"""Bytes of an input: what a reader does with more it does with this many."""
_HANGS = 20
"""Seconds after which an input counts as one that never ends."""
_MEMORY = 3_000
"""Megabytes that a reader may need."""


@attrs.frozen
class Hunted:
    """What came of a hunt.

    Args:
        reader: Whose.
        runs: How many inputs it was given.
        seconds: In how long.
        covered: Branches that these reached.
        kept: Inputs that reached something new.
        found: What was unexpected.
        broke: What libFuzzer said when it stopped before its time; "" if it did not.
    """

    reader: str
    runs: int
    seconds: int
    covered: int
    kept: int
    found: tuple[dict[str, Any], ...]
    broke: str = ""


def hunt(reader: Reader, seconds: int, path: Path) -> Hunted:
    """Give a reader inputs for so many seconds, in a process of its own."""
    with TemporaryDirectory(prefix="beamlike-hunt-") as made:
        home = Path(made)
        corpus = home / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(_known(reader)):
            (corpus / f"{number:03}").write_bytes(seed)
        words = home / "words"
        words.write_text("".join(f'"{_quoted(word)}"\n' for word in reader.words))
        command = [
            *(sys.executable, "-m", "tests.fuzz.hunt", reader.name, str(path)),
            *(f"-max_total_time={seconds}", f"-max_len={_LONGEST}", f"-timeout={_HANGS}"),
            *(f"-rss_limit_mb={_MEMORY}", f"-artifact_prefix={path}/{reader.name}-", "-seed=1"),
            *([f"-dict={words}"] if reader.words else []),
            str(corpus),
        ]
        # What a reader puts into files goes with this folder, whatever becomes of the process.
        place = {**os.environ, "TMPDIR": str(home), "PYTHONPATH": os.getcwd()}
        ran = subprocess.run(command, capture_output=True, env=place, check=False)
    shown, log = ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace")
    done, covered = _DONE.search(log), _COVERED.findall(log)
    finds = tuple(json.loads(line) for line in shown.splitlines() if line.startswith('{"found"'))
    broke = "" if done else " / ".join(log.strip().splitlines()[-12:])
    runs, took = map(int, done.groups()) if done else (0, 0)
    branches, _, kept = map(int, covered[-1]) if covered else (0, 0, 0)
    return Hunted(reader.name, runs, took, branches, kept, finds, broke)


def _known(reader: Reader) -> Iterator[bytes]:
    yield from reader.seeds()
    yield from (path.read_bytes() for path in reader.kept)


def _quoted(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def _report(results: Sequence[Hunted], minutes: float) -> Iterator[str]:
    python = ".".join(map(str, sys.version_info[:3]))
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("atheris", "pyarrow", "attrs")
    )
    yield f"# The last hunt: {datetime.now(UTC):%Y-%m-%d}"
    yield ""
    yield f"`python -m tests.fuzz --minutes {minutes:g}` with Python {python}, {versions}."
    yield ""
    yield "| reader | inputs | seconds | branches reached | inputs that reached more | found |"
    yield "|---|---|---|---|---|---|"
    for result in results:
        found = "; ".join(each["found"] for each in result.found) or "nothing"
        if result.broke:
            found = f"stopped early: {result.broke[-300:]}"
        yield (
            f"| {result.reader} | {result.runs:,} | {result.seconds} | {result.covered:,} "
            f"| {result.kept:,} | {found} |"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt, and tell what was found."""
    parser = command_parser("tests.fuzz", __doc__)
    names = [it.name for it in READERS]
    parser.add_argument("--minutes", type=float, default=30, help="all together (default: 30)")
    parser.add_argument("--only", choices=names, action="append", help="of these readers only")
    parser.add_argument("--found", type=Path, default=Path("found"), help="a folder for inputs")
    parser.add_argument("--report", type=Path, help="a markdown file for what came of it")
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("atheris") is None:
        print('atheris is missing; run: pip install "beamlike[fuzz]"', file=sys.stderr)
        return 2
    chosen = [it for it in READERS if it.name in (options.only or names)]
    options.found.mkdir(parents=True, exist_ok=True)
    together = min(2, len(chosen))
    seconds = max(1, round(options.minutes * 60 * together / len(chosen)))
    with ThreadPoolExecutor(together) as pool:
        results = list(pool.map(lambda it: hunt(it, seconds, options.found.resolve()), chosen))
    lines = list(_report(results, options.minutes))
    print("\n".join(lines))
    for result in results:
        for each in result.found:
            print(
                f"\n{result.reader}: {each['problem'][:300]}\n"
                f"  input: {options.found / each['input']}"
            )
        if result.broke:
            print(f"\n{result.reader} stopped early: {result.broke}")
    if options.report:
        options.report.write_text("\n".join(lines) + "\n")
    if not any(options.found.iterdir()):
        options.found.rmdir()
    return int(any(result.found or result.broke for result in results))


if __name__ == "__main__":
    sys.exit(main())
