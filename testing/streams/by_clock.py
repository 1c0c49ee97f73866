"""Streams by the clock: elements with both of their times, and a rule that moves the watermark."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from beamlike.errors import TestStreamError
from beamlike.machine.events import Element
from beamlike.model.time import (
    MAX_TIMESTAMP,
    DurationLike,
    InstantLike,
    duration_ms,
    instant_ms,
    show_instant,
)
from beamlike.testing.streams.finished import FinishedTestStream
from beamlike.testing.streams.watermark_rules import (
    Move,
    TimedElement,
    WatermarkRule,
    script_by_clock,
)

Timed = tuple[Any, InstantLike, InstantLike]
"""An element, its event time, and the processing time at which it arrives."""


def stream_by_clock(
    elements: Iterable[Timed],
    watermark: WatermarkRule | Iterable[tuple[InstantLike, InstantLike]] | None = None,
    *,
    end: InstantLike | None = None,
    every: DurationLike | None = None,
) -> FinishedTestStream:
    """A stream of elements that happen at one time and arrive at another.

    What arrives at one reading of the clock arrives first, one element after the other; then the
    watermark moves. At last it moves to the end of time.

    Args:
        elements: ``(element, event time, arrival)`` in any order; to be run by itself an element
            is a ``(key, value)`` pair. Those that arrive at one instant stay in their order.
        watermark: What moves it: `PerfectWatermark`, `BoundedDelay`, `IdleAfter`,
            `PercentileOfDelays`, or a rule of your own. As it is drawn: pairs of a processing
            time and the watermark from then on, such as ``[("12:06:00", "12:02:00")]``. None is a
            batch: it moves once, after the last arrival.
        end: The processing time at which the stream ends, if that is after the last arrival.
        every: The clock also passes each multiple of this duration after the first arrival, by
            1 ms, so that a trigger that is set to then fires then. Otherwise the clock moves
            only when something arrives or the watermark moves.

    Returns:
        A stream that can be run, drawn and fed to a pipeline.

    Raises:
        TestStreamError: An element has not its two times, an arrival is before the clock's 0, the
            watermark is drawn back in time, or ``every`` is 0.
        TimeError: A time cannot be read.

    >>> from beamlike import FixedWindows
    >>> from beamlike.testing import PerfectWatermark
    >>> from beamlike.combine_fns import Sum
    >>> scores = [(("team", 5), "12:00:26", "12:05:19"), (("team", 9), "12:01:26", "12:08:19")]
    >>> stream = stream_by_clock(scores, PerfectWatermark())
    >>> results = stream.run(window=FixedWindows("2 minutes"), aggregate=Sum())
    >>> [output.effect.value for output in results.run.panes]
    [14]
    """
    arrivals = [_arrival(element) for element in elements]
    last = None if end is None else instant_ms(end, "stream_by_clock end")
    rule = _rule(watermark)
    step = None if every is None else duration_ms(every, "stream_by_clock every")
    if step == 0:
        raise TestStreamError(f"every must be more than 0 ms, got {every!r}; give a duration")
    script = script_by_clock(arrivals, rule, end=last, every=step)
    return FinishedTestStream(script, is_batch=watermark is None)


def _rule(
    watermark: WatermarkRule | Iterable[tuple[InstantLike, InstantLike]] | None,
) -> WatermarkRule:
    if watermark is None:
        return _Drawn(())  # all of the input is there before the watermark moves
    return _Drawn(tuple(_moves(watermark))) if isinstance(watermark, Iterable) else watermark


def _moves(drawn: Iterable[Any]) -> Iterator[Move]:
    before = None
    for pair in drawn:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TestStreamError(
                f"the watermark is drawn in pairs (processing time, watermark), got {pair!r}; "
                'write ("12:06:00", "12:02:00")'
            )
        clock, to = (instant_ms(time, "stream_by_clock watermark") for time in pair)
        if before is not None and (clock < before[0] or to < before[1]):
            raise TestStreamError(
                f"the watermark goes from {show_instant(before[1])} at {show_instant(before[0])} "
                f"to {show_instant(to)} at {show_instant(clock)}; move it forward in both times"
            )
        before = clock, to
        yield before


@attrs.frozen
class _Drawn:
    """The watermark moves as it is drawn."""

    drawn: tuple[Move, ...]

    def moves(self, arrivals: Sequence[TimedElement], end: int) -> list[Move]:
        return list(self.drawn)


def _arrival(timed: Any) -> TimedElement:
    if not isinstance(timed, tuple) or len(timed) != 3:
        raise TestStreamError(
            f"stream_by_clock takes (element, event time, arrival), got {timed!r}; write "
            '(("team", 5), "12:00:26", "12:05:19")'
        )
    element, happened, arrives = timed
    timestamp = instant_ms(happened, "stream_by_clock event time")
    clock = instant_ms(arrives, "stream_by_clock arrival")
    if clock < 0:
        raise TestStreamError(
            f"the clock of a test stream begins at 00:00:00, got an arrival at {arrives!r}"
        )
    if timestamp >= MAX_TIMESTAMP:
        raise TestStreamError(
            f"an element must happen before the end of time, got {happened!r} for {element!r}"
        )
    return TimedElement(clock, None, Element(element, timestamp))


def arrivals_from_dataframe(
    frame: Any,
    *,
    key: str = "key",
    value: str = "value",
    event_time: str = "event_time",
    arrival: str = "arrival",
) -> Iterator[Timed]:
    """The rows of a DataFrame, for `stream_by_clock`: ``((key, value), event time, arrival)``.

    Args:
        frame: A DataFrame of Spark, pandas or Polars, or a table of PyArrow. Its rows are all
            brought here.
        key: The column with the key of an element.
        value: The column with its value.
        event_time: The column with its event time: timestamps (without a zone they are in UTC),
            texts such as ``"12:00:26"``, or milliseconds.
        arrival: The column with the processing time at which it arrives, likewise.

    Raises:
        TestStreamError: It is no DataFrame, or a column is missing.

    >>> import pyarrow as pa
    >>> scores = {"team": ["red"], "score": [5], "at": ["12:00:26"], "came": ["12:05:19"]}
    >>> columns = {"key": "team", "value": "score", "event_time": "at", "arrival": "came"}
    >>> list(arrivals_from_dataframe(pa.table(scores), **columns))
    [(('red', 5), '12:00:26', '12:05:19')]
    """
    wanted = (key, value, event_time, arrival)
    columns = [str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", ()))]
    missing = [name for name in wanted if name not in columns]
    if missing and columns:
        raise TestStreamError(
            f"the DataFrame has no column {', '.join(missing)}; it has {', '.join(columns)}; name "
            "them by key, value, event_time and arrival"
        )
    for row in _rows(frame):
        yield (row[key], row[value]), row[event_time], row[arrival]


def _rows(frame: Any) -> Iterable[Mapping[str, Any]]:
    """The rows of whatever kind of frame it is, with plain values."""
    if hasattr(frame, "toArrow"):  # of Spark; its own rows have times without a zone
        from beamlike.runtime.row_metadata import canonical

        frame = canonical(frame.toArrow())
    for method, arguments in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(frame, method):
            rows: Iterable[Mapping[str, Any]] = getattr(frame, method)(*arguments)
            return rows
    raise TestStreamError(
        f"arrivals_from_dataframe takes a DataFrame of Spark, pandas or Polars, got {frame!r}"
    )
