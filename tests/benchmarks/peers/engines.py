"""The engines whose sessions are timed, and how each is started."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import attrs

from tests.judges.building import class_path
from tests.support.environments import Requirement, cached_environment

_HERE: Final = Path(__file__).parent

Command = Callable[[Path], list[str | Path]]
"""The program and its first arguments, by the cache folder, where what it needs is installed and
built. Raises `NotHere` if it cannot run on this machine."""


@attrs.frozen
class Peer:
    """An engine that finds the sessions."""

    name: str
    title: str
    source: Literal["parquet", "lines", "headed"]
    command: Command


def _spark(job: str) -> Command:
    return lambda cache: [sys.executable, "-m", "tests.benchmarks.peers.spark_jobs", job]


def _flink(mode: str) -> Command:
    def command(cache: Path) -> list[str | Path]:
        path = class_path(_HERE / "flink_sessions", cache)
        return ["java", "-Xmx1500m", "-cp", path, "FlinkSessions", mode]

    return command


def _python(job: str, *needed: Requirement) -> Command:
    return lambda cache: [cached_environment(job, needed, cache), _HERE / "jobs.py", job]


PEERS: Final[dict[str, Peer]] = {
    peer.name: peer
    for peer in (
        Peer("beamlike", "beamlike", "parquet", _spark("beamlike")),
        Peer("native", "Spark 4.3, `session_window`", "parquet", _spark("native")),
        Peer("flink_heap", "Flink 2.3, state on the heap", "lines", _flink("heap")),
        Peer("flink_rocksdb", "Flink 2.3, RocksDB", "lines", _flink("rocksdb")),
        Peer("flink_sql", "Flink 2.3, SQL", "lines", _flink("sql")),
        Peer(
            *("pathway", "Pathway 0.33, one batch", "headed"),
            _python("pathway", Requirement("pathway", "0.33.0")),
        ),
        Peer(
            *("bytewax", "Bytewax 0.21", "lines"),
            _python("bytewax", Requirement("bytewax", "0.21.1")),
        ),
        Peer(
            *("beam_python", "Beam Python 2.77, FnApiRunner", "lines"),
            _python("beam_python", Requirement("apache-beam", "2.77.0")),
        ),
    )
}
"""The engines by their names."""
