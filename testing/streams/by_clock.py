"""Streams by the clock: elements with both of their times, and a rule that moves the watermark."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from beamlike.errors import TestStreamError
from beamlike.machine.events import Element
from beamlike.model.time import MAX_TIMESTAMP, InstantLike, instant_ms
from beamlike.runtime.by_clock import Arrival, Move, WatermarkRule, script_by_clock
from beamlike.testing.streams.finished import FinishedTestStream

__all__ = ["arrivals_from_csv", "stream_by_clock"]

Timed = tuple[Any, InstantLike, InstantLike]
"""An element, its event time, and the processing time at which it arrives."""

_COLUMNS: Final = ("key", "value", "event_time", "arrival")


def stream_by_clock(
    elements: Iterable[Timed],
    watermark: WatermarkRule | None = None,
    *,
    end: InstantLike | None = None,
) -> FinishedTestStream:
    """A stream of elements that happen at one time and arrive at another.

    What arrives at one reading of the clock arrives first, one element after the other; then the
    watermark moves. At last it moves to the end of time.

    Args:
        elements: ``(element, event time, arrival)`` in any order; to be run by itself an element
            is a ``(key, value)`` pair. Those that arrive at one instant stay in their order.
        watermark: What moves it: `PerfectWatermark`, `BoundedDelay`, `IdleAfter` or
            `PercentileOfDelays`. None is a batch: it moves once, after the last arrival.
        end: The processing time at which the stream ends, if that is after the last arrival.

    Returns:
        A stream that can be run, drawn and fed to a pipeline.

    Raises:
        TestStreamError: An element has not its two times, or an arrival is before the clock's 0.
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
    arrivals = [_arrival(each) for each in elements]
    last = None if end is None else instant_ms(end, "stream_by_clock end")
    rule = _Batch() if watermark is None else watermark
    script = script_by_clock(arrivals, rule, end=last)
    return FinishedTestStream(script, is_batch=watermark is None)


def arrivals_from_csv(path: str | PathLike[str]) -> Iterator[Timed]:
    """The elements of a CSV file, for `stream_by_clock`: ``((key, value), event time, arrival)``.

    Args:
        path: A file in UTF-8 whose first line names the columns ``key``, ``value``, ``event_time``
            and ``arrival``, in any order. A value that is a number becomes one.

    Raises:
        TestStreamError: The file cannot be read, or a column is missing.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TestStreamError(f"{fspath(path)} cannot be read: {error}; name a CSV file") from error
    rows = csv.DictReader(text.splitlines())
    missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise TestStreamError(
            f"{fspath(path)} has no column {', '.join(missing)}; its first line has to name "
            f"{', '.join(_COLUMNS)}"
        )
    for row in rows:
        yield (row["key"], _value(row["value"])), row["event_time"], row["arrival"]


class _Batch:
    """All of the input is there before the watermark moves."""

    def moves(self, arrivals: Sequence[Arrival]) -> list[Move]:
        return []


def _arrival(given: Any) -> Arrival:
    if not isinstance(given, tuple) or len(given) != 3:
        raise TestStreamError(
            f"stream_by_clock takes (element, event time, arrival), got {given!r}; write "
            '(("team", 5), "12:00:26", "12:05:19")'
        )
    element, happened, arrives = given
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
    return Arrival(clock, None, Element(element, timestamp))


def _value(text: str | None) -> Any:
    for kind in (int, float):
        try:
            return kind(text or "")
        except ValueError:
            continue
    return text
