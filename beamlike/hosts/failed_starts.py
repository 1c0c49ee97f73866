"""What Spark says when a query does not get under way, and what helps.

A Python process of the start may come too late: Spark gives it ten seconds to connect, and fails
the query otherwise; nothing sets more. The query can be started again: no micro-batch was done, and
its checkpoint has what was before.

A query that was killed while Spark noted the very first offsets leaves a file behind, and Spark
then refuses the checkpoint as one that is not empty.

A write of Spark's note on a stateful operator that fails leaves the note torn: its writer of JSON
closes the file as it fails, and with that Spark moves it to its place.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from beamlike.hosts.step_notes import steps_that_ended_workers

_TOO_LATE: Final = "Timed out while waiting for the Python worker to connect back"

ADVICE: Final = (
    "a Python process of the query did not connect within the ten seconds that Spark gives it: "
    "the machine was too busy, or reads Python from a slow disk. Start the query again, which "
    "continues from its checkpoint; leave a core to the driver; see "
    '"Python worker failed to connect back" in docs/pages/operating.md'
)
ADVICE_ON_LEFTOVERS: Final = (
    "the checkpoint has notes of no micro-batch, and it has other files. If the first start of the "
    "query was killed, nothing was read yet: delete the folder of the checkpoint, or have Spark "
    "take it as it is with "
    'spark.conf.set("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart", "false"). If its '
    "offsets were deleted, do not: the state that is left is of rows that would come again; use a "
    'new checkpointLocation. See "Spark says that the checkpoint should be empty" in '
    "docs/pages/operating.md"
)

ADVICE_ON_TORN_NOTES: Final = (
    "a note of Spark's in the checkpoint has no content: a write failed, and Spark kept what "
    "had come. Look in state/*/_metadata/v2 for a file of 3 bytes: if commits has no file of its "
    "number, the micro-batch is not committed and writes the note again. Delete this file alone "
    'and start the query again; see "No content to map due to end-of-input" in '
    "docs/pages/operating.md"
)

ADVICE_ON_DEAD_WORKERS: Final = (
    "a Python worker of Spark ended in the middle of its work. Mostly its memory ran out, and the "
    "system killed it (see the log of the machine or the container): give Python more of it "
    "(spark.executor.memoryOverhead, spark.executor.pyspark.memory, or fewer cores for each "
    "executor), or let a micro-batch read less; see "
    '"A worker that runs out of memory" in docs/pages/operating.md. Else code of yours ended it, '
    "such as os._exit() or a crash in a native library. Nothing of the micro-batch is lost, and "
    "the query goes on from its checkpoint"
)
ADVICE_WITHOUT_BEAMLIKE: Final = (
    "a Python process of Spark has no beamlike. On workers, and over Spark Connect on the server: "
    "install it in the Python that spark.pyspark.python names, ship that Python as an archive "
    "(spark.archives), or ship beamlike alone, with --py-files or spark.sparkContext.addPyFile, "
    'over Spark Connect with spark.addArtifacts(..., pyfile=True); see "On a cluster" in '
    "docs/pages/operating.md"
)

_ADVICE: Final = {
    _TOO_LATE: ADVICE,
    "Python worker exited unexpectedly": ADVICE_ON_DEAD_WORKERS,
    r"No module named 'beamlike[.']": ADVICE_WITHOUT_BEAMLIKE,
    "No content to map due to end-of-input": ADVICE_ON_TORN_NOTES,
    "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY": ADVICE_ON_LEFTOVERS,
}
"""What helps, by what Spark says; the first that it says counts."""


def advice_on(message: str | None) -> str | None:
    """What helps against such a failure, by the words of Spark's exception; None: nothing known."""
    if message is None:
        return None
    known = next((advice for sign, advice in _ADVICE.items() if re.search(sign, message)), None)
    if known is ADVICE_ON_DEAD_WORKERS:
        last = [f"its last step was {step}" for step in steps_that_ended_workers()[:1]]
        return "; ".join([known, *last])
    return known


@contextmanager
def advising() -> Iterator[None]:
    """Add to what fails in the block what helps, if that is known."""
    try:
        yield
    except Exception as failure:
        advice = advice_on(str(failure))
        if advice is not None:
            failure.add_note(advice)
        raise


def all_processed(query: Any, start: Callable[[], Any]) -> Any:
    """Have a streaming query process what is there, and start it once more if that is why it fails.

    Args:
        query: As Spark has started it.
        start: Starts it again, from the same checkpoint or from the beginning.

    Raises:
        Exception: As Spark raises it; the second time with what helps.
    """
    try:
        query.processAllAvailable()
        return query
    except Exception as failure:
        if _TOO_LATE not in str(failure):
            raise
    again = start()
    with advising():
        again.processAllAvailable()
    return again
