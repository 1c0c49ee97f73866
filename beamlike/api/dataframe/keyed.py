"""Steps of a stream that give its rows to a function with states and timers, key by key.

Source: Beam's stateful ``DoFn``, ``Deduplicate``.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from beamlike.api.arguments import (
    A_KEY,
    check_choice,
    column_names,
    positive_duration,
    warn_of_numbers,
)
from beamlike.api.dataframe.declared import TIMES
from beamlike.api.dataframe.inputs import Inputs, Reject, carried_columns, without_rejected
from beamlike.api.dataframe.row_steps import RowSteps
from beamlike.api.dataframe.stage import given_columns, run_stage, stage_name, step_options
from beamlike.errors import ColumnError, UnsupportedError, WindowingError
from beamlike.hosts.finding import is_struct_type
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.graph import StatefulParDoNode
from beamlike.model.options import by_name
from beamlike.model.time import DurationLike
from beamlike.runtime.options import BUCKETS, SHARDS, WAKE_EVERY, OnError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import types as T

    from beamlike.api.function_rows import FunctionRows
    from beamlike.model.stateful import StatefulFn
    from beamlike.runtime.plan import PlanOptions

_A_FUNCTION = "an object with a method process(self, row), such as fn=Visits()"
_RETURNS = 'the columns of its results, such as returns="n int, total double"'


class KeyedSteps(RowSteps):
    """What a `Stream` does with its rows key by key, one after the other."""

    __slots__ = ()

    @by_name("Stream.apply_per_key", WindowingError, key=A_KEY, fn=_A_FUNCTION, returns=_RETURNS)
    def apply_per_key(
        self,
        key: str | Sequence[str],
        fn: Any,
        returns: "str | T.StructType | pa.Schema",
        *,
        on_error: OnError = "drop",
        max_failures: float | None = None,
        reject: Reject | None = None,
        wake_every: DurationLike = WAKE_EVERY,
        shards: int = SHARDS,
        buckets: int = BUCKETS,
        name: str | None = None,
    ) -> Self:
        """Give each row to a function that has states and timers for each key and window.

        Rows are not grouped, and there is no trigger: what the function answers comes out at once.
        Its states and timers are kept from micro-batch to micro-batch and across restarts, until
        the window of their key ends. The page State and timers has the rules.

        ``fn`` is an object of any class with a method ``process(self, row)``. It declares states
        with `state` and timers with `timer` as attributes of the class, and asks for them by the
        names of its parameters. By name it may ask for ``key`` and ``timestamp`` and ``window``
        too. A timer ``quiet`` calls ``on_quiet``; ``on_window_expiration`` is called before the
        states of a window are forgotten. Under ``requires_time_sorted_input`` of
        ``beamlike.beam.transforms.userstate`` ``process`` is given the rows of a key and window in
        order of event time. Or ``fn`` is a `beamlike.beam.DoFn`, which asks with
        ``DoFn.StateParam`` and ``DoFn.TimerParam``; its element is the row, and its ``KeyParam``
        the key.

        A row is a ``Row`` of PySpark, or one like it where there is none, with all columns of the
        stream, those of the key among them. A key is a ``Row`` of its columns. Times in them are
        datetimes in UTC, structs are dicts. Each result is a dict or a ``Row`` with values by name,
        where a missing one is null, or a tuple of all values.

        Args:
            key: The columns that rows have in common which share a state.
            fn: The function. It is pickled with the query, so each shard has its own copy:
                what it keeps in attributes of its own is lost.
            returns: The columns of its results, as text, as a ``StructType`` or as a
                schema of pyarrow.
            on_error: ``"drop"`` drops a row for which the function raises, or whose result does not
                fit ``returns``, and leaves states and timers as they were before the call. The
                dropped row names the key and the window, and ``error`` the method, the exception
                and the timer that called it. ``"fail"`` fails the query.
            max_failures: As `beamlike.windowed`, and ``reject`` likewise.
            wake_every: As `Stream.group`, for timers of processing time.
            shards: As `Stream.group`, and ``buckets`` likewise.
            name: The name in drops and in the query's progress. Default: ``per key``, then
                ``per key 2`` and so on.

        Returns:
            A stream with the key columns, those of ``returns``, and ``window``, ``timestamp`` and
            ``pane``. A result of ``process`` has the event time, window and pane of its row. One of
            a timer happens at the output timestamp of the timer, in its window, and its pane never
            fired. The strategy stays.

        Raises:
            WindowingError: The windows merge; a name is taken; an option cannot be.
            ColumnError: A column is missing, has an unusable type, or a name is taken twice;
                ``returns`` cannot be read; ``fn`` has no ``process``, or asks for a state that it
                does not declare, or has a timer or a callback that would never be called.
            UnsupportedError: Rows withdraw others; ``fn`` has methods for bundles.

        Source: Beam's stateful ``DoFn``, Scio ``applyPerKeyDoFn``.

        >>> import beamlike as bl
        >>> from datetime import timedelta
        >>> from beamlike.testing import QueryTest
        >>> class Visits:
        ...     pages, quiet = bl.state("list"), bl.timer("event")
        ...
        ...     def process(self, row, timestamp, pages, quiet):
        ...         pages.add(row.page)
        ...         quiet.set(timestamp + timedelta(minutes=30))
        ...
        ...     def on_quiet(self, pages):
        ...         yield {"pages": pages.read()}
        ...         pages.clear()
        >>> def visits(views):
        ...     rows = bl.stream(views, timestamp="at", watermark="0 s")
        ...     return rows.apply_per_key("user", Visits(), returns="pages array<string>")
        >>> query = QueryTest(visits, "user string, at timestamp, page string")
        >>> rows = query.send({"user": "ann", "at": "12:00:00", "page": "tea"})
        >>> rows = query.send({"user": "ann", "at": "12:20:00", "page": "milk"})
        >>> [(row["user"], row["pages"]) for row in query.advance_watermark_to("13:00:00")]
        [('ann', ['tea', 'milk'])]
        """
        from beamlike.api.dataframe.row_functions import row_function

        warn_of_numbers("Stream.apply_per_key", wake_every=wake_every)
        label = stage_name(name, self.inputs.stages, "per key")
        options = step_options(label, on_error, max_failures, shards, buckets)
        return self._with(without_rejected(self.inputs, reject))._applied(
            column_names(key, "key"),
            self.inputs.columns,
            lambda rows: row_function(fn, rows, label),
            _read_schema(self.inputs, returns),
            wake_every,
            options,
        )

    @by_name("Stream.deduplicate", WindowingError, key=A_KEY)
    def deduplicate(
        self,
        key: str | Sequence[str],
        within: DurationLike = "10 minutes",
        time: Literal["event", "processing"] = "event",
        *,
        on_error: OnError = "drop",
        max_failures: float | None = None,
        reject: Reject | None = None,
        wake_every: DurationLike = WAKE_EVERY,
        shards: int = SHARDS,
        buckets: int = BUCKETS,
        name: str | None = None,
    ) -> Self:
        """The first row of each key and window; others go on no earlier than a duration after it.

        What is known of a key is forgotten when the duration is over, or with its window. Which row
        is the first is a question of arrival, not of event time. Known keys hold no watermark back.

        Args:
            key: The columns that make rows the same.
            within: How long a key is known.
            time: ``"event"``: until the watermark is past the event time of its row plus
                ``within``, at most until its window expires. ``"processing"``: until the clock is
                ``within`` past the micro-batch in which its row came.
            on_error: As `apply_per_key`, and the rest likewise.
            name: Default: ``deduplicate``, then ``deduplicate 2`` and so on.

        Returns:
            A stream with the key columns, the other columns, and ``window``, ``timestamp`` and
            ``pane`` of the row. Columns of these names that were there before are left out. The
            strategy stays.

        Raises:
            WindowingError: As `apply_per_key`; ``within`` is 0, ``time`` is neither.
            ColumnError: A column is missing, or has an unusable type.
            TimeError: A duration cannot be read.
            UnsupportedError: Rows withdraw others.

        Source: Beam ``Deduplicate.keyedValues``, ``DeduplicatePerKey``.

        >>> import beamlike as bl
        >>> from beamlike.testing import QueryTest
        >>> def once(orders):
        ...     rows = bl.stream(orders, timestamp="at", watermark="0 s")
        ...     return rows.deduplicate("no", within="1 hour")
        >>> query = QueryTest(once, "no int, at timestamp, item string")
        >>> rows = query.send({"no": 7, "at": "12:01:00", "item": "tea"})
        >>> [row["item"] for row in rows], query.send({"no": 7, "at": "12:02:00", "item": "tea"})
        (['tea'], [])
        """
        import pyarrow as pa

        from beamlike.api.dataframe.deduplicating import FirstOfKey

        keys = column_names(key, "key")
        warn_of_numbers("Stream.deduplicate", within=within, wake_every=wake_every)
        check_choice("time", time, TIMES)
        span = positive_duration("within", within)
        label = stage_name(name, self.inputs.stages, "deduplicate")
        carried = carried_columns(self.inputs, keys)
        schema = self.inputs.frame_columns.schema
        return self._with(without_rejected(self.inputs, reject))._applied(
            keys,
            [*keys, *carried],
            lambda rows: FirstOfKey(rows, span, time == "event"),
            pa.schema([schema.field(column) for column in carried]),
            wake_every,
            step_options(label, on_error, max_failures, shards, buckets),
        )

    def _applied(
        self,
        key: Sequence[str],
        columns: Sequence[str],
        make: "Callable[[FunctionRows], StatefulFn]",
        returns: "pa.Schema",
        wake_every: DurationLike,
        options: "PlanOptions",
    ) -> Self:
        """The stream of everything that a function answers which sees these columns."""
        from beamlike.api.function_rows import FunctionRows
        from beamlike.runtime.binding import bind_per_key

        inputs, name = self.inputs, options["name"]
        maker = inputs.frames.row_maker
        if inputs.retracting:
            raise UnsupportedError(
                f"{name!r}: rows that withdraw others cannot be given to a function with states, "
                'which does not know what it made of them; use accumulation="discarding" or '
                '"accumulating" in the grouping before'
            )
        strategy = self.strategy
        if not strategy.already_merged:  # else every row has its window
            strategy = strategy.configured(given_columns(strategy.window_fn, ()))
        plan, values = bind_per_key(
            inputs.frame_columns,
            strategy,
            key,
            columns,
            lambda returned: make(FunctionRows(columns, key, returned, maker)),
            returns,
            "pane" if inputs.are_panes and "pane" in columns else None,
            {**options, "clocks": inputs.clocks, "reports": inputs.is_streaming},
        )
        wake = positive_duration("wake_every", wake_every)
        assert isinstance(plan.machine, StatefulParDo), "a function is called with rows"
        node = StatefulParDoNode(name, inputs.edges, self.strategy, plan.machine.fn, plan=plan)
        return self._with(Inputs((run_stage(inputs, node, self.strategy, (), values, wake),)))


def _read_schema(inputs: Inputs, returns: object) -> "pa.Schema":
    """The columns of results, as their user declares them."""
    import pyarrow as pa

    from beamlike.runtime.sql_types import usual_schema

    example = 'such as returns="n int, total double", or a StructType'
    schema = returns
    if isinstance(returns, str):
        try:
            schema = inputs.frames.read_columns(returns)
        except ColumnError as error:
            raise ColumnError(
                f"returns={returns!r} are no columns that Spark can read; write names and types, "
                f"{example}"
            ) from error
    elif is_struct_type(returns):
        from beamlike.hosts.pyspark_types import schema_of

        schema = schema_of(returns)
    if not isinstance(schema, pa.Schema) or not schema.names:
        raise ColumnError(
            f"returns must say the columns of the results, {example}, got {returns!r}"
        )
    return usual_schema(schema, "returns")
