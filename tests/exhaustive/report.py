"""The result of a search as a text, for people and for ``LATEST.md``."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from tests.exhaustive.engines import ENGINES
from tests.exhaustive.laws import CHEAP, LAWS
from tests.exhaustive.progress import Done
from tests.exhaustive.shards import machine_of
from tests.exhaustive.strategies import STRATEGIES
from tests.exhaustive.work import pieces, streams_in_all


def report(done: Mapping[str, Done], bounds: tuple[str, ...], bad: Sequence[Done]) -> str:
    """What was searched and found."""
    rows = [_row(bound, done) for bound in bounds]
    compared = sum(_of(bound, done)[1] for bound in bounds if bound != "laws")
    day = datetime.now(UTC).date()
    ends = "nothing differs" if not bad else f"{len(bad)} pieces differ"
    streams = streams_in_all(bounds)
    return "\n".join(
        [
            "# The latest search",
            "",
            f"`python -m tests.exhaustive`, {day}; Python {platform.python_version()}.",
            "",
            f"{len(STRATEGIES)} strategies. {compared:,} of {streams:,} streams of one key, in "
            f"which {' and '.join(map('`{}`'.format, ENGINES))} were compared with the model: "
            f"{ends}." + ("" if compared == streams else " The same command goes on from there."),
            "",
            _engines(),
            "",
            "| part | pieces | streams | seconds of work |",
            "|---|---|---|---|",
            *rows,
            "",
            f"The part `laws` checks {len(LAWS)} laws, on streams that `wide` has too; the first "
            f"{len(CHEAP)} are checked in all parts:",
            "",
            *(f"* {law}" for law in LAWS),
            "",
            *(f"```text\n{text}\n```\n" for one in bad for text in one.differences),
        ]
    )


def _engines() -> str:
    """What the engines are, and how the runtime steps the strategies."""
    key_by_key = [choice.why for choice in map(machine_of, STRATEGIES) if choice.why]
    whys = "".join(f"\n* {count}: {why}" for why, count in sorted(Counter(key_by_key).items()))
    return (
        "`reference` is the reference machine; `local` is the runtime of the local host: all "
        "streams that differ only in their bundles are keys of one shard, whose state rests as "
        "bytes between any two steps. It steps "
        f"{len(STRATEGIES) - len(key_by_key)} of the strategies by the columnar machine and "
        f"{len(key_by_key)} key by key{':' if whys else '.'}{whys}"
    )


def _of(bound: str, done: Mapping[str, Done]) -> tuple[int, int, float]:
    mine = [one for name, one in done.items() if name.startswith(f"{bound}/")]
    return len(mine), sum(one.streams for one in mine), sum(one.seconds for one in mine)


def _row(bound: str, done: Mapping[str, Done]) -> str:
    count, streams, seconds = _of(bound, done)
    in_all = sum(1 for _ in pieces((bound,)))
    return f"| {bound} | {count:,} of {in_all:,} | {streams:,} | {seconds:,.0f} |"
