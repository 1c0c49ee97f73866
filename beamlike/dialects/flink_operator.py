"""A window operator of Flink: what it is in the model, in memory, and over a DataFrame.

Source: Flink ``WindowOperator``, ``EvictingWindowOperator``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Unpack

import attrs

from beamlike.api.dataframe.arguments import A_KEY
from beamlike.dialects.flink_harness import Harness, WindowFunction
from beamlike.dialects.flink_triggers import Trigger
from beamlike.dialects.flink_words import Assigner
from beamlike.dialects.frames import A_VALUE, GROUP_OPTIONS, GroupOptions
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.keyword_errors import by_name
from beamlike.model.options import AccumulationMode, ClosingBehavior, LateCheck, OnTimeBehavior
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike
from beamlike.model.windowfns import GlobalWindows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Windowed(Protocol):
    """Windows that have a function by now, see `beamlike.dialects.flink.WindowedStream`."""

    @property
    def assigner(self) -> Assigner: ...
    @property
    def when(self) -> Trigger: ...
    @property
    def lateness(self) -> int: ...
    @property
    def late_output(self) -> bool: ...
    @property
    def keyed(self) -> bool: ...


@attrs.frozen
class WindowedOperator:
    """Windows with their function. Source: Flink ``WindowOperator``."""

    windowed: Windowed
    combine: CombineFn
    window_function: WindowFunction | None = None

    @property
    def strategy(self) -> WindowingStrategy:
        """The same in the words of the model.

        Where the trigger does not fire at the end of a window, what is left then comes out as the
        window's last pane; Flink drops it, and so does `harness`.
        """
        when, lateness = self.windowed.when, self.windowed.lateness
        again = not when.purging
        cleanup = self._fires_at_cleanup and not (when.forgets_end and lateness == 0)
        return WindowingStrategy(
            self.windowed.assigner.window_fn,
            when.trigger,
            AccumulationMode.DISCARDING if when.purging else AccumulationMode.ACCUMULATING,
            lateness,
            closing_behavior=(
                ClosingBehavior.FIRE_ALWAYS
                if again and cleanup
                else ClosingBehavior.FIRE_IF_NON_EMPTY
            ),
            on_time_behavior=(
                OnTimeBehavior.FIRE_ALWAYS
                if again and when.refires
                else OnTimeBehavior.FIRE_IF_NON_EMPTY
            ),
            late_check=LateCheck.MERGED,
        )

    @property
    def fires_at_end(self) -> bool:
        """Whether what is left of a window at its end is emitted. If not, it is dropped."""
        return self.windowed.when.at_end or self._fires_at_cleanup

    @property
    def _fires_at_cleanup(self) -> bool:
        # The global window is never cleaned up.
        in_global = isinstance(self.windowed.assigner.window_fn, GlobalWindows)
        return self.windowed.when.at_cleanup and not in_global

    @by_name(
        "WindowedOperator.on_dataframe", WindowingError, GROUP_OPTIONS, key=A_KEY, value=A_VALUE
    )
    def on_dataframe(
        self,
        df: "DataFrame",
        *,
        key: str | Sequence[str],
        value: str | Sequence[str],
        timestamp: str | None = None,
        returns: str | None = None,
        watermark: DurationLike | None = None,
        tick: DurationLike = "1 second",
        **options: Unpack[GroupOptions],
    ) -> "DataFrame":
        """The operator over a DataFrame, streaming or bounded; see `beamlike.dialects.frames`.

        ``end`` is the first instant after a window, and ``timestamp`` the millisecond before it.
        Elements that are in none of their windows have the kind ``late`` if they are asked for,
        and else ``dropped``; their ``timestamp`` is their own. Those between sliding windows, which
        Flink asks whether they are late, are in no row.

        Args:
            key: The key's columns, ``()`` after `window_all`. Rows without a key are dropped.
            value: The column of the elements; of several, elements are tuples.
            timestamp: The column with the event time. In processing time the time of arrival, or
                None for that of the micro-batch.
            returns: The type of the result as DDL; not needed for the combine functions of this
                package whose type is known.
            watermark: How far event time may be out of order, as in ``forBoundedOutOfOrderness``.
            tick: In processing time: after how long without a row time follows the clock.
            options: See `Stream.group`.

        Raises:
            WindowingError: ``timestamp`` or ``watermark`` is missing.
            CombineError: ``returns`` is missing.
            ColumnError: A column is missing or has a type that cannot be used.
            UnsupportedError: A function of the window, which would run after the query.
        """
        from beamlike.dialects import flink_frames

        if key and not self.windowed.keyed:
            raise WindowingError(
                f"on_dataframe key={key!r}: window_all(...) has elements without keys; say key=(), "
                "or key_by().window(...)"
            )
        if self.window_function is not None:
            raise UnsupportedError(
                "a function of key and window is not run over a DataFrame; apply(...) a function "
                "of the elements, and compute with the columns key, start and end"
            )

        return flink_frames.on_dataframe(
            df,
            self.strategy,
            self.combine,
            processing_time=self.windowed.assigner.processing_time,
            fires_at_end=self.fires_at_end,
            late_output=self.windowed.late_output,
            key=key,
            value=value,
            timestamp=timestamp,
            returns=returns,
            watermark=watermark,
            tick=tick,
            options=options,
        )

    def harness(self) -> Harness:
        """The operator in memory, to be fed element by element."""
        return Harness(
            self.strategy,
            self.combine,
            processing_time=self.windowed.assigner.processing_time,
            fires_at_end=self.fires_at_end,
            late_output=self.windowed.late_output,
            window_function=self.window_function,
            keyed=self.windowed.keyed,
        )
