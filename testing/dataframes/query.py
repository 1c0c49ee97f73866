"""QueryTest: the query that will run, fed by a test micro-batch by micro-batch.

The test moves its watermarks and its clock, and checks the output with
the matchers of a test stream.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args

from beamlike.errors import USERS_FAULT, TestStreamError, TimeError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, refuse_going_back
from beamlike.machine.input_clocks import SourceClock
from beamlike.model.resolution import MILLISECONDS
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import (
    MAX_TIMESTAMP,
    DurationLike,
    InstantLike,
    duration_ms,
    instant_ms,
    show_duration,
    show_instant,
)
from beamlike.runtime.script import Arrive, Output, Run, ScriptStep
from beamlike.testing.dataframes.hosts import Job, LocalRun, QueryRun, SparkRun
from beamlike.testing.dataframes.rows import Row, SchemaLike, Shape, input_schemas, typed_rows
from beamlike.testing.streams.results import Results

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.runtime.plan import Plan

Host = Literal["local", "spark"]
Rows = list[dict[str, Any]]

_CLOCK: Final = "2100-01-01 00:00:00"
"""Ahead of whatever happens in a test: no row is from the future."""


class QueryTest:
    """A query of `beamlike.windowed` or `beamlike.stream`, fed by a test.

        def busy(events):
            return bl.windowed(
                events, key="user", timestamp="at", watermark="10 minutes",
                window=bl.FixedWindows("1 hour"), aggregate={"n": bl.count()},
            )

        with QueryTest(busy, "user string, at timestamp") as query:
            query.send({"user": "ann", "at": "12:01:00"}, {"user": "ann", "at": "12:07:00"})
            query.advance_watermark_to("13:00:00")
        query.results.should(
            in_on_time_pane("12:00:00", "13:00:00", contain_single_value(("ann", {"n": 2})))
        )

    Each call is a micro-batch, followed by one without data if the watermark has moved, as in
    Spark. It returns the rows that came out. Watermarks follow the rows as in the query, and can be
    moved besides; the clock stands still until it is moved.

    Args:
        job: A function of frames that returns the frame of a query, or a `Stream`. It is called
            here.
        inputs: The columns of its only frame, as ``"user string, at timestamp"`` or a
            ``StructType``, or as a schema of pyarrow; of several a mapping from the names of its
            parameters.
        host: ``"local"`` runs the query on the runtime of production in this process, without
            Spark, if ``job`` names columns and has no expressions of Spark. ``"spark"`` runs it as
            a streaming query with a checkpoint, whatever it is made of.
        spark: The session for host ``"spark"``; None takes the active one or starts one.
        clock: Processing time at first. Rows may not lie further ahead of it than ``max_ahead`` of
            the query allows. By default it is ahead of them all.

    Raises:
        TestStreamError: An argument is none of these, or ``job`` returns no frame of a stream.
        ColumnError: The columns cannot be read.
        UnsupportedError: On host ``"local"``: ``job`` asks for what only Spark can do.
    """

    __test__: ClassVar[bool] = False  # the name ends with Test, but pytest must not collect it

    def __init__(
        self,
        job: Job,
        inputs: SchemaLike | Mapping[str, SchemaLike],
        *,
        host: Host = "local",
        spark: "SparkSession | None" = None,
        clock: InstantLike = _CLOCK,
    ) -> None:
        if not callable(job):
            raise TestStreamError(f"job must be a function of frames, got {job!r}")
        if host not in get_args(Host):
            raise TestStreamError(f'host must be "local" or "spark", got {host!r}')
        if spark is not None and host != "spark":
            raise TestStreamError(
                f'a Spark session was given, but the host is "{host}"; add host="spark"'
            )
        self._job, self._schemas = job, input_schemas(inputs)
        self._clock = instant_ms(clock, "clock")
        alone = not isinstance(inputs, Mapping)
        self._happened: list[tuple[ScriptStep, Rows]] = []  # and what each step brought out
        self._moved: dict[str, int] = {}
        self._over = ""
        self._run: QueryRun = (
            LocalRun(job, self._schemas, alone, self._clock)
            if host == "local"
            else SparkRun(job, self._schemas, alone, self._clock, spark)
        )
        self._watermark = self._run.watermark

    # -- what happens --------------------------------------------------------------------------

    def send(self, *rows: Row, to: str | None = None) -> Rows:
        """Rows arrive together, as one micro-batch; the rows that come out.

        Args:
            rows: Mappings of columns to values; what is left out is null. Times are datetimes,
                milliseconds, or texts such as ``"2020-01-01 12:01:00"`` and ``"12:01:00"``.
            to: The input, if there are several.

        Raises:
            TestStreamError: A row has a column that is not there or a value of another type; there
                is no such input; the query is at its end.
        """
        if not rows:
            raise TestStreamError('no rows to send; write send({"user": "ann", ...})')
        name = self._input(to)
        table = typed_rows(name, self._schemas[name], rows)
        arrive = Arrive(tuple(self._elements(name, rows)))
        return self._do(arrive, lambda: self._run.send(name, table))

    def advance_watermark_to(self, instant: InstantLike, of: str | None = None) -> Rows:
        """The watermark becomes ``instant``; the rows that come out.

        It moves as by a row with a later time that is no element.

        Args:
            instant: Where to.
            of: Only that of this input; None: those of all.

        Raises:
            TestStreamError: It would go back, or past the clock where the query does not let it;
                the query has no watermark to be moved, or is at its end.
            TimeError: The instant cannot be read.
        """
        to = instant_ms(instant, "advance_watermark_to instant")
        inputs = list(self._schemas) if of is None else [self._input(of)]
        self._check_watermark(inputs, to)
        came = self._do(AdvanceWatermark(to), lambda: self._run.move_watermark(inputs, to))
        self._moved |= dict.fromkeys(inputs, to)
        return came

    def advance_processing_time(self, duration: DurationLike) -> Rows:
        """The clock moves on by ``duration``, more than 0; the rows that come out.

        Raises:
            TestStreamError: The duration is 0, or the query is at its end.
            TimeError: The duration cannot be read, or is negative.
        """
        by = duration_ms(duration, "advance_processing_time duration")
        if by == 0:
            raise TestStreamError(
                f"advance_processing_time must move the clock by more than 0 ms, got {duration!r}"
            )
        to = self._clock + by
        came = self._do(AdvanceClock(to), lambda: self._run.move_clock(to))
        self._clock = to
        return came

    def advance_watermark_to_infinity(self) -> Rows:
        """All inputs come to their end, and with them all windows: as `beamlike.drain` does it.

        Raises:
            TestStreamError: The query is at its end already.
        """
        came = self._do(AdvanceWatermark(MAX_TIMESTAMP), self._run.end)
        self._over = "it was brought to its end by advance_watermark_to_infinity()"
        return came

    def restart(self, job: Job | None = None) -> Rows:
        """The query stops, and starts again from its checkpoint; the rows that come out.

        That may be rows of the micro-batch at which it failed, which runs once more.

        Args:
            job: Another function, to see that the query can be changed to that; None: the same.

        Raises:
            StateError: The state of the query does not go on under another one.
        """
        if self._over and "restart" not in self._over:
            raise TestStreamError(f"the query cannot start again: {self._over}")
        self._job, self._over = self._job if job is None else job, ""
        return self._do(None, lambda: self._run.restart(self._job))

    def close(self) -> None:
        """Stop the query. Windows that are open stay so."""
        self._over = self._over or "it was closed"
        self._run.close()

    def __enter__(self) -> "QueryTest":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what came out -------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """All rows that came out, in order of the steps, times in UTC."""
        return [row for _, rows in self._happened for row in rows]

    @property
    def results(self) -> Results:
        """Everything that came out so far, for the matchers of test streams.

        Elements are pairs of the key and a mapping of all other columns. The key is its value if it
        has one column, else a tuple. Rows that were dropped are there if the query delivers them,
        or if ``job`` returns what `windowed` returned, or a `Stream`. Where rows move the watermark
        of the query that is a step of its own.

        Raises:
            TestStreamError: Rows do not say of which window and pane they are.
        """
        shape, groupings = self._shape, self._run.described.groupings
        steps: list[ScriptStep] = []
        outputs: list[Output] = []
        for step, rows in self._happened:
            outputs += shape.outputs(len(steps), rows)
            steps.append(step)
        strategy = _in_milliseconds(groupings[-1].strategy) if groupings else None
        return Results(Run(tuple(steps), tuple(outputs)), strategy, equal=shape.same)

    @property
    def _shape(self) -> Shape:
        return Shape.of(self._run.described.groupings)

    # -- steps ---------------------------------------------------------------------------------

    def _do(self, step: ScriptStep | None, run: Callable[[], Sequence[Any]]) -> Rows:
        if self._over:
            raise TestStreamError(f"the query takes nothing any more: {self._over}")
        try:
            came = [table.to_pylist() for table in run()]
        except Exception as error:
            self._over = "it stopped with an error; restart() lets it go on from its checkpoint"
            if isinstance(error, USERS_FAULT):  # how it got there is of no use to them
                raise error.with_traceback(None) from error.__cause__
            raise
        first, *later = came or [[]]
        before, self._watermark = self._watermark, self._run.watermark
        moved = self._watermark > before and not isinstance(step, AdvanceWatermark)
        rest = [row for rows in later for row in rows]
        if step is None:
            if not first and not moved:
                return []
            step = AdvanceClock(self._clock)  # it stays where it was
        self._happened.append((step, first if moved else [*first, *rest]))
        if moved:
            self._happened.append((AdvanceWatermark(self._watermark), rest))
        return [*first, *rest]

    def _input(self, name: str | None) -> str:
        if name is None and len(self._schemas) == 1:
            return next(iter(self._schemas))
        if name not in self._schemas:
            known = ", ".join(map(repr, self._schemas))
            problem = "say which input is meant" if name is None else f"there is no input {name!r}"
            raise TestStreamError(f"{problem}; the inputs are {known}")
        return name

    def _check_watermark(self, inputs: Sequence[str], to: int) -> None:
        moved = [self._moved.get(name, 0) for name in inputs]
        refuse_going_back(AdvanceWatermark(to), max(self._watermark, *moved), error=TestStreamError)
        if to >= MAX_TIMESTAMP:
            raise TestStreamError(
                "the watermark must stay before the end of time; write "
                "advance_watermark_to_infinity()"
            )
        for grouping in self._run.described.groupings:
            if grouping.key_clock is not None:
                raise TestStreamError(
                    f"each key of {grouping.name!r} has a watermark of its own, which its own rows "
                    "move: send a later row of the key, advance the clock where the input says "
                    'idle="advance", or write advance_watermark_to_infinity()'
                )
            if _holds_jumps(grouping):
                raise TestStreamError(
                    f"{grouping.name!r} reads an input with max_jump, whose watermark only rows "
                    "move: send a later row, or where that lies beyond a gap, let idle_after pass "
                    "by advance_processing_time(...) before; or write "
                    "advance_watermark_to_infinity()"
                )
        for name in inputs:
            clocks = [
                source.clock for source in self._run.described.sources if name in source.inputs
            ]
            if not clocks:
                raise TestStreamError(
                    f"nothing in the query has a watermark that follows {name!r}: give watermark= "
                    "to bl.windowed or bl.stream, and leave df.withWatermark out"
                )
            for clock in clocks:
                if clock.max_ahead is not None and to + clock.delay > self._clock:
                    raise TestStreamError(
                        f"no row of {name!r} moves the watermark to {show_instant(to)}: it trails "
                        f"the rows by {show_duration(clock.delay)}, and no row counts as later "
                        f"than the clock, which stands at {show_instant(self._clock)}; write "
                        "advance_processing_time(...) before, or begin with a later clock="
                    )

    def _elements(self, name: str, rows: Sequence[Row]) -> list[tuple[Any, Element]]:
        """Rows as a timeline shows them, if they have the key and a time that can be read."""
        from beamlike.hosts.local.tables.query import event_times

        shape, schema = self._shape, self._schemas[name]
        sources = [source for source in self._run.described.sources if name in source.inputs]
        column = sources[0].timestamp if sources else None
        if column not in schema.names:
            return []
        full = [dict.fromkeys(schema.names) | dict(row) for row in rows]
        table = typed_rows(name, schema, full)
        times, _ = event_times(table.column(column))
        return [
            (shape.key_of(row), Element(shape.value_of(row), time // 1_000))
            for row, time in zip(full, times, strict=True)
            if time is not None and shape.has_key(row)
        ]


def _holds_jumps(plan: "Plan") -> bool:
    """Whether an input of a grouping has a watermark that one row cannot move by any length."""
    clocks = () if plan.clocks is None else plan.clocks.inputs
    return any(isinstance(clock, SourceClock) and clock.max_jump is not None for clock in clocks)


def _in_milliseconds(strategy: WindowingStrategy) -> WindowingStrategy:
    """The strategy as matchers and pictures show it; as it is, if a duration of it is finer."""
    try:
        return strategy.in_resolution(MILLISECONDS)
    except TimeError:
        return strategy
