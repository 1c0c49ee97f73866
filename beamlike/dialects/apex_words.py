"""Apex's window and trigger options and watermark generators, each with what it is in the model.

Source: Apex Malhar ``WindowOption``, ``TriggerOption``, ``ImplicitWatermarkGenerator``.
"""

import attrs

from beamlike.errors import TriggerError, WindowError
from beamlike.model.options import AccumulationMode, whole_number
from beamlike.model.sessions import Sessions
from beamlike.model.time import DurationLike, duration_ms, show_duration
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn


@attrs.frozen
class WindowOption:
    """Which windows an element is in."""

    window_fn: WindowFn

    @classmethod
    def global_window(cls) -> "WindowOption":
        """One window for ever."""
        return cls(GlobalWindows())

    @classmethod
    def time_windows(cls, duration: DurationLike) -> "WindowOption":
        """Windows of one length, end to end.

        Raises:
            WindowError: The duration is 0.
            TimeError: It cannot be read.
        """
        return cls(FixedWindows(duration))

    def slide_by(self, duration: DurationLike) -> "WindowOption":
        """Time windows that begin with every slide, and not end to end.

        Raises:
            WindowError: These are no time windows; or as of `sliding_time_windows`.
            TimeError: The duration cannot be read.
        """
        if not isinstance(self.window_fn, FixedWindows):
            raise WindowError(
                f"slide_by belongs to time_windows(...), and these are {self.window_fn}"
            )
        return self.sliding_time_windows(self.window_fn.size, duration)

    @classmethod
    def sliding_time_windows(cls, duration: DurationLike, slide_by: DurationLike) -> "WindowOption":
        """Windows of one length, one beginning with every slide.

        Raises:
            WindowError: One of them is 0, or the length is no multiple of the slide.
            TimeError: One of them cannot be read.
        """
        windows = SlidingWindows(duration, slide_by)
        if windows.size % windows.period:
            raise WindowError(
                f"sliding_time_windows need a duration that is a multiple of slide_by, got "
                f"duration={show_duration(windows.size)} and "
                f"slide_by={show_duration(windows.period)}"
            )
        return cls(windows)

    @classmethod
    def session_windows(cls, min_gap: DurationLike) -> "WindowOption":
        """Sessions that end after a gap. Elements exactly one gap apart are two sessions; in
        Apex, if they come out of order, one.

        Raises:
            WindowError: The gap is 0.
            TimeError: It cannot be read.
        """
        return cls(Sessions(min_gap))


@attrs.frozen
class TriggerOption:
    """When windows fire. Nothing at all is fired unless it is asked for.

    A phase can have a count and a time: each fires when it is due. Times are looked at when a
    batch ends, and only then, by the clock of the batch. A window fires if the time has passed
    since its last firing, whatever that was for, and whether anything is new or not; with panes
    that are discarded, if anything is there. A window that has not fired counts from the first
    batch: one that begins later fires at the end of its first batch.

    A count is of all elements of a window since it began, early and late ones, and of all keys.
    """

    on_time: bool = False
    early_count: int | None = None
    late_count: int | None = None
    mode: AccumulationMode = AccumulationMode.DISCARDING
    only_updated: bool = False
    early_every: int | None = None
    late_every: int | None = None

    @property
    def times(self) -> tuple[int, ...]:
        """The times between firings (ms), of both phases."""
        return tuple(it for it in (self.early_every, self.late_every) if it is not None)

    @classmethod
    def at_watermark(cls) -> "TriggerOption":
        """Once the watermark is past the end of the window."""
        return cls(on_time=True)

    def with_early_firings_at_every(self, count_or_time: DurationLike) -> "TriggerOption":
        """Whenever so many elements have come, or so much time has passed, while the window is
        not over.

        Args:
            count_or_time: A whole number counts elements. A time is a text such as
                ``"10 seconds"`` or a timedelta. The last of each kind is in force.

        Raises:
            TriggerError: A count or a time of less than 1.
            TimeError: It cannot be read.
        """
        count, every = _count_or_time(count_or_time, "with_early_firings_at_every")
        return attrs.evolve(
            self,
            early_count=self.early_count if count is None else count,
            early_every=self.early_every if every is None else every,
        )

    def with_late_firings_at_every(self, count_or_time: DurationLike) -> "TriggerOption":
        """Likewise, once it is over.

        Raises:
            TriggerError: A count or a time of less than 1.
            TimeError: It cannot be read.
        """
        count, every = _count_or_time(count_or_time, "with_late_firings_at_every")
        return attrs.evolve(
            self,
            late_count=self.late_count if count is None else count,
            late_every=self.late_every if every is None else every,
        )

    def discarding_fired_panes(self) -> "TriggerOption":
        """A firing empties the window: the default."""
        return attrs.evolve(self, mode=AccumulationMode.DISCARDING)

    def accumulating_fired_panes(self) -> "TriggerOption":
        """A firing keeps everything."""
        return attrs.evolve(self, mode=AccumulationMode.ACCUMULATING)

    def accumulating_and_retracting_fired_panes(self) -> "TriggerOption":
        """Likewise, and first withdraws what was fired before."""
        return attrs.evolve(self, mode=AccumulationMode.RETRACTING)

    def firing_only_updated_panes(self) -> "TriggerOption":
        """No firing with the value of the one before. An operator refuses it where panes are
        discarded, and none is known to compare with."""
        return attrs.evolve(self, only_updated=True)


def _count_or_time(given: DurationLike, argument: str) -> tuple[int | None, int | None]:
    if isinstance(given, int):
        return whole_number(given, 1, f"{argument} count", TriggerError), None
    every = duration_ms(given, f"{argument} time")
    if every == 0:
        raise TriggerError(f'{argument} needs a time of more than 0 ms, such as "10 seconds"')
    return None, every


def _fixed_diff(given: DurationLike) -> int:
    return duration_ms(given, "fixed_diff")


@attrs.frozen
class FixedDiffEventTimeWatermarkGen:
    """A watermark that trails the latest element by so much, made at the end of each batch."""

    fixed_diff: int = attrs.field(converter=_fixed_diff)


@attrs.frozen
class FixedDiffProcessingTimeWatermarkGen:
    """A watermark that trails the clock of the batches by so much.

    It is what Apex's text calls a fixed watermark. ``setFixedWatermark`` stores a value there that
    is never read.
    """

    fixed_diff: int = attrs.field(converter=_fixed_diff)


WatermarkGenerator = FixedDiffEventTimeWatermarkGen | FixedDiffProcessingTimeWatermarkGen
