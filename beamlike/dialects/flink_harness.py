"""A window operator of Flink in memory: elements, watermarks and the clock go in, rows come out.

Source: Flink ``KeyedOneInputStreamOperatorTestHarness``, ``WindowOperator``.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from beamlike.dialects.rows import Row
from beamlike.dialects.stages import Stage
from beamlike.errors import WatermarkError, WindowingError
from beamlike.hosts.script import Output, Run
from beamlike.machine.events import Drop, Pane
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, InstantLike, instant_ms
from beamlike.model.windows import GlobalWindow

__all__ = ["Harness"]


class Harness:
    """An operator in memory. Make one with ``WindowedOperator.harness``."""

    def __init__(
        self,
        strategy: WindowingStrategy,
        combine: CombineFn,
        *,
        processing_time: bool,
        fires_at_end: bool,
        late_output: bool,
    ) -> None:
        self._stage = Stage(strategy, combine)
        self._processing_time = processing_time
        self._fires_at_end = fires_at_end
        self._late_output = late_output
        self._clock = 0
        if processing_time:
            self._stage.advance(1)

    @property
    def machine_run(self) -> Run:
        """The elements as a script of the machine, and its panes and drops."""
        return self._stage.run

    def process_element(
        self, key: Hashable, value: Any, timestamp: InstantLike | None = None
    ) -> list[Row]:
        """What comes out because of an element.

        Args:
            timestamp: When it happened; not looked at in processing time.

        Raises:
            WindowingError: In event time, without a timestamp.
            TimeError: The timestamp cannot be read.
            UserFunctionError: A function of the user's raised.
        """
        if self._processing_time:
            at = self._clock
        elif timestamp is None:
            raise WindowingError(
                "process_element needs a timestamp, because these windows are in event time; "
                "give one, or use windows in processing time"
            )
        else:
            at = instant_ms(timestamp, "process_element timestamp")
        outputs = self._stage.arrive(key, value, at)
        drops = [output for output in outputs if isinstance(output.effect, Drop)]
        if drops and len(drops) == len(self._stage.strategy.window_fn.assign(at, value)):
            # No window took it. What one of several windows took is in a result.
            if self._late_output:
                return [Row("late", key, value, None, at)]
            return [Row("dropped", key, value, None, at, "expired_window")]
        return self._rows(outputs)

    def process_watermark(self, timestamp: InstantLike) -> list[Row]:
        """What comes out because nothing at or before this instant will come any more.

        It has no effect on windows in processing time, or if it is not ahead.

        Raises:
            TimeError: The instant cannot be read.
        """
        to = instant_ms(timestamp, "process_watermark timestamp")
        if self._processing_time:
            return []
        return self._rows(self._stage.advance(min(to + 1, MAX_TIMESTAMP)))

    def process_watermark_to_infinity(self) -> list[Row]:
        """What comes out because nothing will come any more."""
        return self.process_watermark(MAX_TIMESTAMP)

    def set_processing_time(self, instant: InstantLike) -> list[Row]:
        """What comes out because the clock stands here now. It begins at 0.

        Raises:
            WatermarkError: The clock would go back.
            TimeError: The instant cannot be read.
        """
        to = instant_ms(instant, "set_processing_time instant")
        if to < self._clock:
            raise WatermarkError(
                f"processing time cannot go back: it stands at {self._clock} ms, asked for {to} ms"
            )
        self._clock = to
        # A timer is due when the clock has reached it; the model waits until it is past.
        return self._rows(self._stage.advance(to + 1)) if self._processing_time else []

    def _rows(self, outputs: Sequence[Output]) -> list[Row]:
        panes = [
            (output.key, output.effect)
            for output in outputs
            if isinstance(output.effect, Pane)
            # The last pane of a window is what is left of it: triggers of Flink never finish.
            and (self._fires_at_end or not output.effect.info.is_last)
        ]
        # Timers are due in order of time, whatever their keys.
        panes.sort(key=lambda it: it[1].window.max_timestamp)
        return [_row(key, pane) for key, pane in panes]


def _row(key: Any, pane: Pane) -> Row:
    if isinstance(pane.window, GlobalWindow):
        return Row("value", key, pane.value, None, None)
    bounds = (pane.window.start, pane.window.end)
    return Row("value", key, pane.value, bounds, pane.window.max_timestamp)
