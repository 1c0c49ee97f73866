"""The saved state of a stopped query, spread over another number of Spark's partitions.

Shards and panes stay as they are: a partition holds the state of some shards, and one task works
on it. Spark writes a micro-batch into the checkpoint that reads nothing and goes to no sink. But
Spark's file sink needs a note of every micro-batch, and Spark reads no folder where one is missing.
So the note is written here.

Source: Spark's ``OfflineStateRepartitionRunner``, ``CompactibleFileStreamLog``.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from beamlike.errors import StateError, UnsupportedError
from beamlike.hosts.spark.drain import last_batch, unfinished
from beamlike.hosts.spark.requirements import file_manager_problem
from beamlike.hosts.spark.session import refuse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG: Final = "_spark_metadata"
_INTERVAL: Final = "spark.sql.streaming.fileSink.log.compactInterval"
_COMPACT: Final = ".compact"


def repartition(spark: "SparkSession", path: str, partitions: int, output: str | None) -> int:
    """See `beamlike.repartition`. Returns the number of the micro-batch that Spark has written."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    # PySpark has it under a name of its own, in Spark Classic.
    manager: Any = getattr(spark, "_streamingCheckpointManager", None)
    if manager is None:
        raise UnsupportedError(
            "the state of a query is repartitioned by PySpark 4.2 and later, in a session without "
            "Spark Connect; start one beside the stopped query, with bl.local_session(), or drain "
            "the query and start it with a new checkpoint"
        )
    refuse(file_manager_problem(spark, path))
    last, log = check_stopped(path, output)
    try:
        manager.repartition(path, partitions, True)
    except (PySparkException, Py4JError) as error:
        raise StateError(
            f"Spark does not repartition the state of {path}: {_reason(error)}"
        ) from error
    number = last + 1
    if log is not None:
        _note(log, number, int(spark.conf.get(_INTERVAL, "10") or 10))
    return number


def check_stopped(path: str, output: str | None) -> tuple[int, Path | None]:
    """The last micro-batch of a checkpoint, and where Spark's file sink notes it."""
    last, has_ended = last_batch(path)
    if not has_ended:
        raise unfinished(path, last, "repartition it")
    return last, None if output is None else _log_of(output, last)


def _reason(error: Exception) -> str:
    """Spark's message without its stack trace; it begins with the name of the error."""
    text, _, _ = str(error).partition("\n\tat ")
    named = re.search(r"\[[A-Z_.]+\].*", text, re.DOTALL)
    return " ".join((named[0] if named else text).split())


def _log_of(output: str, last: int) -> Path:
    """The notes of Spark's file sink."""
    log = Path(output.removeprefix("file:")) / _LOG
    if any((log / f"{last}{ending}").exists() for ending in ("", _COMPACT)):
        return log
    raise StateError(
        f"output={output!r} is no folder that the query writes to with Spark's file sink: it has "
        f"no note of micro-batch {last} in {_LOG}; give that folder, on a disk of this machine, or "
        "leave it out if the sink is another"
    )


def _note(log: Path, number: int, interval: int) -> None:
    """Note that a micro-batch has written nothing. Every ``interval``-th note repeats all
    others."""
    if (number + 1) % interval:
        (log / str(number)).write_text("v1", encoding="utf-8")
        return
    compact = [int(path.stem) for path in log.glob(f"*{_COMPACT}") if path.stem.isdecimal()]
    begun = max(compact, default=-1)
    names = [*([f"{begun}{_COMPACT}"] if compact else []), *map(str, range(begun + 1, number))]
    lines = ["v1"]
    for name in names:
        _, *written = (log / name).read_text(encoding="utf-8").splitlines()
        lines += written
    (log / f"{number}{_COMPACT}").write_text("\n".join(lines), encoding="utf-8")
