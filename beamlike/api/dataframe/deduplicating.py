"""Functions that let the first row of each key go on, by either clock.

Each has one timer, so that a query which waits for the watermark alone has no use for ticks.

Source: Beam Python ``transforms.deduplicate``.
"""
# ruff: noqa: B008 (that is how parameters of a DoFn ask)

from collections.abc import Iterable
from typing import Any

from beamlike.api.pipelines.more_coders import BooleanCoder
from beamlike.api.pipelines.python.durations import Duration
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.userstate import (
    ReadModifyWriteStateSpec,
    TimeDomain,
    TimerSpec,
    on_timer,
)

_SEEN = ReadModifyWriteStateSpec("seen", BooleanCoder())


class FirstByEventTime(DoFn[Any, Any]):
    """Knows a key until the watermark is past its row by so much (ms)."""

    FORGET = TimerSpec("forget", TimeDomain.WATERMARK)

    def __init__(self, within: int) -> None:
        self.within = Duration(micros=1000 * within)

    def process(
        self,
        row: Any,
        at: Any = DoFn.TimestampParam,
        seen: Any = DoFn.StateParam(_SEEN),
        forget: Any = DoFn.TimerParam(FORGET),
    ) -> Iterable[Any]:
        if seen.is_empty():
            seen.write(True)
            forget.with_no_output_timestamp().set(min(at + self.within, forget.latest))
            yield row

    @on_timer(FORGET)
    def on_forget(self, seen: Any = DoFn.StateParam(_SEEN)) -> None:
        seen.clear()


class FirstByClock(DoFn[Any, Any]):
    """Knows a key until the clock is past where it stood when its row came by so much (ms)."""

    FORGET = TimerSpec("forget", TimeDomain.REAL_TIME)

    def __init__(self, within: int) -> None:
        self.within = Duration(micros=1000 * within)

    def process(
        self,
        row: Any,
        seen: Any = DoFn.StateParam(_SEEN),
        forget: Any = DoFn.TimerParam(FORGET),
    ) -> Iterable[Any]:
        if seen.is_empty():
            seen.write(True)
            forget.with_no_output_timestamp().offset(self.within).set_relative()
            yield row

    @on_timer(FORGET)
    def on_forget(self, seen: Any = DoFn.StateParam(_SEEN)) -> None:
        seen.clear()
