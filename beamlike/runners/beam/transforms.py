"""beamlike's own words as transforms of the Beam SDK: DataFrames in and out, tables, strategies.

They have URNs of beamlike's, and no other runner knows them.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import apache_beam as beam
from apache_beam.pvalue import PBegin, PCollection, PDone
from apache_beam.transforms.core import Windowing

from beamlike.api.pipelines.frames import check_writer, clock_of_rows
from beamlike.errors import PipelineError
from beamlike.machine.input_clocks import Idle, IdleLike
from beamlike.model.bundle import Retraction
from beamlike.model.options import (
    AccumulationMode,
    ClosingBehavior,
    ClosingBehaviorLike,
    LateCheck,
    LateCheckLike,
    OnTimeBehavior,
    OnTimeBehaviorLike,
    option,
)
from beamlike.model.time import DurationLike, duration_ms
from beamlike.runtime.options import MAX_AHEAD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.hosts.landing.target import Target


class Ours:
    """The URNs of these transforms."""

    FROM_DATA_FRAME: Final = "beamlike:transform:from_data_frame:v1"
    WRITE_ROWS: Final = "beamlike:transform:write_rows:v1"
    UPSERT_INTO: Final = "beamlike:transform:upsert_into:v1"
    STRATEGY_OPTIONS: Final = "beamlike:transform:strategy_options:v1"


class _Ours(beam.PTransform):  # type: ignore[misc]
    """A transform that only `BeamlikeRunner` knows, by its URN."""

    urn: str

    def to_runner_api_parameter(self, unused_context: Any) -> tuple[str, None]:
        return self.urn, None


class FromDataFrame(_Ours):
    """The rows of a DataFrame of Spark, batch or streaming: each is an object of Spark's ``Row``.

    Args:
        rows: The DataFrame.
        timestamp: The column of event time; needed for a stream.
        watermark: How far event time may be out of order, for a stream.
        idle_after: For how long no row may come before the source counts as idle.
        idle: What an idle source's watermark does: ``"release"`` lets the others go on,
            ``"advance"`` moves with the clock.
        max_ahead: How far ahead of the clock event time may be; None: as far as it likes.
        max_jump: How far ahead of all rows before it a row of a stream may lie and move the
            watermark at once, see `beamlike.stream`.

    Raises:
        PipelineError: It is not a DataFrame; a stream has no event time; there is
            ``idle="advance"`` without ``idle_after``; or ``max_jump`` cannot be.
        TimeError: A duration cannot be read.
    """

    urn = Ours.FROM_DATA_FRAME

    def __init__(
        self,
        rows: "DataFrame",
        *,
        timestamp: str | None = None,
        watermark: DurationLike | None = None,
        idle_after: DurationLike | None = None,
        idle: IdleLike = Idle.RELEASE,
        max_ahead: DurationLike | None = MAX_AHEAD,
        max_jump: DurationLike | None = None,
    ) -> None:
        super().__init__()
        spans: dict[str, Any] = {"watermark": watermark, "idle_after": idle_after}
        limits: dict[str, Any] = {"max_ahead": max_ahead, "max_jump": max_jump}
        self.clock = clock_of_rows(rows, timestamp, idle, duration_ms, **spans, **limits)
        self.rows, self.timestamp = rows, timestamp

    def get_windowing(self, unused_inputs: Any) -> Windowing:
        return Windowing(beam.window.GlobalWindows())

    def expand(self, pbegin: PBegin) -> PCollection:
        return PCollection(pbegin.pipeline, is_bounded=not self.rows.isStreaming)


Write = Callable[["DataFrame", int], Any]


class WriteRows(_Ours):
    """The elements written as rows, when the pipeline runs on Spark.

    All writers of a pipeline share one query: what they write was computed once.

    Args:
        schema: The Spark schema of the rows, as ``"user string, n long"``. An element is a
            ``beam.Row``, a mapping, a named tuple or a tuple of the columns; any other element is
            the only column. A ``Timestamp`` is an instant.
        write: Called with the rows of each micro-batch as a DataFrame, and its number, like the
            function of Spark's ``foreachBatch``. After a restart it may be called again with a
            number that it has seen.

    Raises:
        PipelineError: ``write`` cannot be called.
    """

    urn = Ours.WRITE_ROWS

    def __init__(self, schema: str, write: Write) -> None:
        super().__init__()
        check_writer(write)
        self.schema, self.write = schema, write

    def expand(self, pcoll: PCollection) -> PDone:
        return PDone(pcoll.pipeline)


class UpsertInto(_Ours):
    """The elements as rows of a table, in which a later pane replaces an earlier one.

    The table has a row for each key and window, see `beamlike.upsert_into`. Group with accumulating
    panes: of panes that discard, the last part would stay.

    Args:
        target: The table: `beamlike.tables.SQLite`, ``DuckDB``, ``Postgres``, ``Delta`` or
            ``Iceberg``.
        key: The columns of the key.
        schema: The Spark schema of the elements, as for `WriteRows`; the key is among its columns.
        name: What the numbers of the micro-batches are kept under, with the table and the query.
    """

    urn = Ours.UPSERT_INTO

    def __init__(
        self, target: "Target", key: str | Sequence[str], schema: str, *, name: str | None = None
    ) -> None:
        super().__init__()
        self.target, self.key, self.schema, self.name = target, key, schema, name

    def expand(self, pcoll: PCollection) -> PDone:
        return PDone(pcoll.pipeline)


def retractable(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of elements that takes `Retraction`, too: it is called for what is withdrawn.

    Args:
        fn: Given an element, and makes one; as ``beam.Map`` takes it. Of ``lambda n: 2 * n`` it
            makes one that gives 4 for 2, and ``Retraction(4)`` for ``Retraction(2)``.
    """

    def call(element: Any) -> Any:
        return Retraction(fn(element.element)) if type(element) is Retraction else fn(element)

    return call


class StrategyOptions(_Ours):
    """Parts of the windowing strategy that the Beam SDK cannot say, for groupings that follow.

    They hold until the next window transform.

    Args:
        on_time_behavior: Whether an on-time pane comes out that has nothing new:
            ``"fire_always"`` or ``"fire_if_non_empty"``.
        closing_behavior: Likewise of the last pane of a window.
        late_check: What decides that an element is too late: ``"assigned"``, its own window, as in
            Beam, or one of the other choices of `beamlike`.
        retractions: Whether a pane that replaces an earlier one withdraws it before, also that of a
            session which has become part of another one. What is withdrawn comes as a
            `Retraction`; rows of it say so in a column ``retraction boolean`` that is added to the
            schema, and a table deletes it. `retractable` makes a function of elements take both.
    """

    urn = Ours.STRATEGY_OPTIONS

    def __init__(
        self,
        *,
        on_time_behavior: OnTimeBehaviorLike | None = None,
        closing_behavior: ClosingBehaviorLike | None = None,
        late_check: LateCheckLike | None = None,
        retractions: bool = False,
    ) -> None:
        super().__init__()
        choices = {
            "on_time_behavior": (OnTimeBehavior, on_time_behavior),
            "closing_behavior": (ClosingBehavior, closing_behavior),
            "late_check": (LateCheck, late_check),
        }
        said: dict[str, Any] = {
            name: option(choice, value, name)
            for name, (choice, value) in choices.items()
            if value is not None
        }
        if not isinstance(retractions, bool):
            raise PipelineError(f"retractions must be True or False, got {retractions!r}")
        if retractions:
            said["accumulation"] = AccumulationMode.RETRACTING
        if not said:
            raise PipelineError(
                "StrategyOptions() says nothing; give on_time_behavior, closing_behavior, "
                "late_check or retractions"
            )
        self.parts = said

    def expand(self, pcoll: PCollection) -> PCollection:
        return PCollection.from_(pcoll)
