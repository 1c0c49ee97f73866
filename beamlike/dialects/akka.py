"""Sessions as in Akka Streams' ``SessionWindow``: by arrival, with a largest size.

    flow = SessionWindow("1 second", max_size=5, overflow_strategy=OverflowStrategy.DROP_OLDEST)
    run = flow.run()
    run.push("a")
    rows = run.advance("2 seconds")

A session ends after more than the gap without an element; it is emitted once, as the list of its
elements in order of arrival. Elements exactly one gap apart are one session. Dropped elements
keep their session open all the same. What is left comes out when the stream ends.

In the model: ``Sessions(gap + 1 ms)`` over the time of arrival, the clock as watermark, one pane
as the session expires. Akka checks for the end of a session once in every gap, and makes one
session of two bursts without a check between them. Here it closes at its deadline; with
``checked_every`` it is emitted at the first check after that, and never joins what came later.

Source: ``SessionWindow`` of the library akka-streams-session-window.
"""

from collections.abc import Hashable, Sequence
from enum import Enum
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Unpack

import attrs

from beamlike.api.arguments import column_names, positive_duration
from beamlike.dialects import frames
from beamlike.dialects.folds import Stamp, Then
from beamlike.dialects.stages import DialectRun, Row
from beamlike.errors import (
    SessionOverflowError,
    UnsupportedError,
    UserFunctionError,
    WatermarkError,
    WindowError,
)
from beamlike.machine.events import Pane
from beamlike.model.combine import CombineFn
from beamlike.model.options import option, whole_number
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, DurationLike, duration_ms
from beamlike.model.triggers import Never
from beamlike.runtime.script import Output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["OverflowStrategy", "SessionOverflowException", "SessionRun", "SessionWindow"]

SessionOverflowException = SessionOverflowError
"""`beamlike.errors.SessionOverflowError`, by its name in Akka."""


class OverflowStrategy(Enum):
    """What becomes of an element for which its session has no room."""

    DROP_OLDEST = "drop_oldest"
    """The oldest element of the session leaves."""
    DROP_NEWEST = "drop_newest"
    """It is dropped itself."""
    FAIL_STAGE = "fail"
    """The stream fails, and what its sessions held is lost."""


OverflowStrategyLike = OverflowStrategy | Literal["drop_oldest", "drop_newest", "fail"]


_Held = tuple[tuple[Stamp, ...], tuple[Stamp, ...]]
"""What a session holds, and what it had no room for."""


@attrs.frozen
class Held(CombineFn):
    """The elements of a session, of which there are never more than ``max_size``, and the others.

    Elements are the columns of the key, then the value. The others are emitted with the session, if
    it ``keeps_dropped``.
    """

    keys: int
    gap: int
    max_size: int | None
    overflow: str
    keeps_dropped: bool

    def create(self) -> _Held:
        return (), ()

    def add(self, accumulator: _Held, values: Sequence[Any], timestamps: Sequence[int]) -> _Held:
        held, lost = accumulator
        for columns, timestamp in zip(values, timestamps, strict=True):
            *key, value = columns if self.keys else (columns,)
            if self.overflow == "fail" and len(held) == self.max_size:
                window = (held[0].timestamp, timestamp + self.gap)
                named = key[0] if len(key) == 1 else tuple(key) or None
                raise SessionOverflowError(named, window, self.max_size)
            held, lost = self._bounded((*held, Stamp(value, timestamp)), lost)
        return held, lost

    def merge(self, first: _Held, second: _Held) -> _Held:
        return self._bounded(first[0] + second[0], first[1] + second[1])

    def extract(self, accumulator: _Held) -> dict[str, Any]:
        held, lost = accumulator
        dropped = [{"value": stamp.value, "at": stamp.timestamp} for stamp in lost]
        return {"elements": [stamp.value for stamp in held], "dropped": dropped}

    def _bounded(self, held: tuple[Stamp, ...], lost: tuple[Stamp, ...]) -> _Held:
        if self.max_size is None or len(held) <= self.max_size:
            return held, lost
        cut = len(held) - self.max_size if self.overflow == "drop_oldest" else self.max_size
        older, newer = held[:cut], held[cut:]
        stay, go = (newer, older) if self.overflow == "drop_oldest" else (older, newer)
        return stay, lost + go if self.keeps_dropped else lost


def _inactivity(inactivity: DurationLike) -> int:
    return positive_duration("SessionWindow inactivity", inactivity)


def _checked_every(every: DurationLike | None) -> int | None:
    return None if every is None else positive_duration("SessionWindow checked_every", every)


def _overflow_strategy(strategy: OverflowStrategyLike) -> OverflowStrategy:
    return option(OverflowStrategy, strategy, "overflow_strategy")


def _check_max_size(_: object, field: "attrs.Attribute[Any]", size: int | None) -> None:
    if size is not None:
        whole_number(size, 2, f"SessionWindow {field.name}", WindowError)


@attrs.frozen
class SessionWindow:
    """Sessions by time of arrival.

    Args:
        inactivity: The inactivity that ends a session, more than 0.
        max_size: The most elements of a session, 2 or more; None: no limit.
        overflow_strategy: What happens when there are more.
        checked_every: How often sessions are checked for their end; None: they close at their
            deadline. Akka checks once in every ``inactivity``, first when that has passed.

    Raises:
        WindowError: ``max_size`` is no whole number of 2 or more.
        WindowingError: ``inactivity`` or ``checked_every`` is 0, or the strategy is unknown.
        TimeError: A duration cannot be read.
    """

    inactivity: int = attrs.field(converter=_inactivity)
    max_size: int | None = attrs.field(default=None, validator=_check_max_size)
    overflow_strategy: OverflowStrategy = attrs.field(
        default=OverflowStrategy.FAIL_STAGE, converter=_overflow_strategy
    )
    checked_every: int | None = attrs.field(default=None, converter=_checked_every, kw_only=True)

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing in the words of the model, for elements stamped with their arrival."""
        return WindowingStrategy(
            Sessions(self.inactivity + 1),
            Never(),
            "discarding",
            on_time_behavior="fire_if_non_empty",
        )

    @property
    def combine(self) -> CombineFn:
        """How a session becomes its list."""
        held = Held(0, self.inactivity, self.max_size, self.overflow_strategy.value, False)
        return Then(held, itemgetter("elements"))

    def run(self) -> "SessionRun":
        """The flow in memory, to be fed element by element."""
        return SessionRun(self)

    @frames.called_by_name("SessionWindow", value=frames.A_VALUE)
    def on_dataframe(
        self,
        df: "DataFrame",
        *,
        value: str,
        key: str | Sequence[str] = (),
        arrival: str | None = None,
        tell_dropped: bool = True,
        tick: DurationLike = "1 second",
        **options: Unpack[frames.GroupOptions],
    ) -> "DataFrame":
        """The flow over a DataFrame, streaming or bounded; see `beamlike.dialects.frames`.

        ``value`` is the list of a session's elements. No bounds are shown, and ``timestamp`` is
        the deadline at which the session was over. A row that has no room comes out with its
        session, as ``dropped`` with its ``reason``. With ``FAIL_STAGE`` the query fails.

        Elements arrive with their micro-batch, and a session is emitted by the first one after
        its deadline. While nothing comes, deadlines are checked ``tick`` later.

        Args:
            value: The column of the elements.
            key: The key's columns. Each key has its own sessions; by default there is one stage
                for all.
            arrival: The column with the time of arrival, if something before has stamped it. None:
                the time of the micro-batch.
            tell_dropped: Whether dropped elements come out. They are kept until then, so what a
                session holds has no limit any more.
            tick: After how long without a row time follows the clock alone, more than 0.
            options: See `Stream.group`.

        Raises:
            UnsupportedError: ``checked_every``: the micro-batches of the query are what looks.
            ColumnError: A column is missing or has a type that cannot be used.
            SessionOverflowError: In the query, see there.
        """
        if self.checked_every is not None:
            raise UnsupportedError(
                "checked_every has no meaning on Spark, where each micro-batch looks; leave it out"
            )
        rows = frames.arriving(df, arrival, tick)
        from pyspark.sql import functions as F

        from beamlike.hosts.spark.sql_columns import as_json, type_of

        keys = column_names(key, "key")
        max_size, overflow = self.max_size, self.overflow_strategy.value
        dtype = type_of(df, value, "value")
        value_type = dtype.simpleString()
        dropped_type = f"array<struct<value: {value_type}, at: bigint>>"
        result_type = f"struct<elements: array<{value_type}>, dropped: {dropped_type}>"
        combine = Held(len(keys), self.inactivity, max_size, overflow, tell_dropped)
        if max_size is not None and overflow == "fail":
            options["on_error"] = "fail"
        parts = self.strategy, combine, keys, [*keys, value], result_type
        everything = frames.grouped(rows, *parts, options)
        lost = F.transform(
            "value.dropped",
            lambda stamp: F.struct(
                F.timestamp_millis(stamp["at"]).alias("at"),
                as_json({value: (stamp["value"], dtype)}).alias("element"),
            ),
        )
        # The session itself is another one of these, without a time.
        session = F.expr("array(named_struct('at', timestamp(null), 'element', string(null)))")
        one_by_one = F.explode(F.concat(F.coalesce(lost, F.array()), session))
        lost_at, element = "__beamlike_lost.at", "__beamlike_lost.element"
        reason = f"overflow_{overflow.removeprefix('drop_')}"
        return frames.shown(
            everything.withColumn("__beamlike_lost", one_by_one),
            keys,
            kinds={"dropped": f"{lost_at} IS NOT NULL"},
            value=f"if({lost_at} IS NULL, value.elements, NULL)",
            start="timestamp(null)",
            end="timestamp(null)",
            timestamp=f"coalesce({lost_at}, window.`end`)",
            reason=f"if({lost_at} IS NULL, {frames.REASON}, '{reason}')",
            element=f"coalesce({element}, dropped.element)",
        )


class SessionRun(DialectRun):
    """A flow in memory. Make one with `SessionWindow.run`. The clock begins at 0 ms."""

    def __init__(self, flow: SessionWindow) -> None:
        self._flow = flow
        super().__init__(flow.strategy, flow.combine)
        self._clock = 0
        self._over = ""

    def push(self, value: Any, key: Hashable = None) -> list[Row]:
        """What is dropped because of an element that arrives now.

        Args:
            key: Each key has its own sessions. Akka has none: one stage for all.

        Raises:
            SessionOverflowError: The session is full, and that is a failure.
            WatermarkError: The stream is over.
        """
        self._check_open()
        before = self._held(key)
        try:
            self._stage.arrive(key, value, self._clock)
        except (SessionOverflowError, UserFunctionError) as error:
            self._over = "failed"
            start = before[0].timestamp if before else self._clock
            window = (start, self._clock + self._flow.inactivity)
            limit = self._flow.max_size or 0
            raise SessionOverflowError(key, window, limit) from error
        if self._flow.max_size is None or len(before) < self._flow.max_size:
            return []
        oldest = self._flow.overflow_strategy is OverflowStrategy.DROP_OLDEST
        lost = before[0] if oldest else Stamp(value, self._clock)
        reason = "overflow_oldest" if oldest else "overflow_newest"
        return [Row("dropped", key, lost.value, None, self._clock, reason)]

    def advance(self, duration: DurationLike) -> list[Row]:
        """The sessions that are over once so much time has passed, in order of that.

        Raises:
            TimeError: The duration cannot be read, or is negative.
            WatermarkError: The stream is over.
        """
        self._check_open()
        before, every = self._clock, self._flow.checked_every
        self._clock += duration_ms(duration, "advance duration")
        if every is None:
            return _rows(self._stage.advance(self._clock), now=None)
        rows: list[Row] = []
        for check in range(before - before % every + every, self._clock + 1, every):
            rows += _rows(self._stage.advance(check), now=check)
        return rows

    def complete(self) -> list[Row]:
        """The sessions that are left when the stream ends.

        Raises:
            WatermarkError: It is over already.
        """
        self._check_open()
        self._over = "completed"
        return _rows(self._stage.advance(MAX_TIMESTAMP), self._clock, "end_of_input")

    def _held(self, key: Hashable) -> Sequence[Stamp]:
        """What the session holds that an element of this key joins now."""
        for _, window, state in self._stage.windows_of(key):
            if window.end > self._clock:
                held: Sequence[Stamp] = state.accumulator[0]
                return held
        return ()

    def _check_open(self) -> None:
        if self._over:
            raise WatermarkError(
                f"the stream has {self._over}, and nothing happens after that; start another "
                "with SessionWindow(...).run()"
            )


def _rows(outputs: Sequence[Output], now: int | None, reason: str = "inactivity") -> list[Row]:
    """The sessions as rows of this instant (ms); None: of that at which each of them closes."""
    panes = [(out.key, out.effect) for out in outputs if isinstance(out.effect, Pane)]
    panes.sort(key=lambda pane: pane[1].window.end)
    return [
        Row("value", key, pane.value, None, pane.window.end if now is None else now, reason)
        for key, pane in panes
    ]
