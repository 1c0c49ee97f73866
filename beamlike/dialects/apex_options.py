"""Apex's window and trigger options, watermark generators and storages.

Source: Apex Malhar ``WindowOption``, ``TriggerOption``, ``ImplicitWatermarkGenerator``.
"""

from enum import Enum
from typing import Any

import attrs

from beamlike.errors import TriggerError, WindowError, WindowingError
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
        return tuple(every for every in (self.early_every, self.late_every) if every is not None)

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
        return self._with_firings("early", count_or_time)

    def with_late_firings_at_every(self, count_or_time: DurationLike) -> "TriggerOption":
        """Whenever so many elements have come, or so much time has passed, once the window is
        over; `with_early_firings_at_every` says how each is written.

        Raises:
            TriggerError: A count or a time of less than 1.
            TimeError: It cannot be read.
        """
        return self._with_firings("late", count_or_time)

    def _with_firings(self, phase: str, count_or_time: DurationLike) -> "TriggerOption":
        argument = f"with_{phase}_firings_at_every"
        if isinstance(count_or_time, int):
            due: int = whole_number(count_or_time, 1, f"{argument} count", TriggerError)
        else:
            due = duration_ms(count_or_time, f"{argument} time")
        if due == 0:
            raise TriggerError(f'{argument} needs a time of more than 0 ms, such as "10 seconds"')
        field = f"{phase}_count" if isinstance(count_or_time, int) else f"{phase}_every"
        changes: dict[str, Any] = {field: due}
        return attrs.evolve(self, **changes)

    def discarding_fired_panes(self) -> "TriggerOption":
        """A firing empties the window: the default."""
        return attrs.evolve(self, mode=AccumulationMode.DISCARDING)

    def accumulating_fired_panes(self) -> "TriggerOption":
        """A firing keeps everything."""
        return attrs.evolve(self, mode=AccumulationMode.ACCUMULATING)

    def accumulating_and_retracting_fired_panes(self) -> "TriggerOption":
        """A firing keeps everything, and first withdraws what was fired before."""
        return attrs.evolve(self, mode=AccumulationMode.RETRACTING)

    def firing_only_updated_panes(self) -> "TriggerOption":
        """No firing with the value of the one before. An operator refuses it where panes are
        discarded, and none is known to compare with."""
        return attrs.evolve(self, only_updated=True)


def _fixed_diff(fixed_diff: DurationLike) -> int:
    return duration_ms(fixed_diff, "fixed_diff")


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


class Storage(Enum):
    """A place for state: in memory, copied as a whole at a checkpoint, or spillable, on disk with
    checkpoints of what changed.

    A storage that is named decides nothing about rows: `WindowedOperator.run` keeps state in
    memory, and on Spark it is in the RocksDB state store, which is what Apex calls spillable.

    Source: Apex Malhar ``InMemoryWindowedStorage``, ``SpillableWindowedPlainStorage``.
    """

    IN_MEMORY = "in_memory"
    SPILLABLE = "spillable"


@attrs.frozen
class Storages:
    """The storages of an operator: of the windows' trigger states, of their data and, where earlier
    panes are looked at again, of what was fired. None: it has none.

    Apex's store of updated keys is not asked for: without it Apex fires a value again whose
    withdrawal it leaves out.

    Source: Apex Malhar ``AbstractWindowedOperator.validate``.
    """

    window_state: Storage | None = Storage.IN_MEMORY
    data: Storage | None = Storage.IN_MEMORY
    retraction: Storage | None = None

    @classmethod
    def all_of(cls, storage: Storage) -> "Storages":
        """All three of one kind."""
        return cls(storage, storage, storage)

    def check(self, trigger: TriggerOption) -> None:
        """Refuse storages with which Apex would not run a trigger.

        Raises:
            WindowingError: A storage is missing that the trigger needs.
        """
        needs = {"window_state": "an operator", "data": "an operator"}
        if trigger.mode is AccumulationMode.RETRACTING:
            needs["retraction"] = "accumulating_and_retracting_fired_panes()"
        elif trigger.only_updated:
            needs["retraction"] = "firing_only_updated_panes()"
        for name, asking in needs.items():
            if getattr(self, name) is None:
                raise WindowingError(
                    f"{asking} needs a storage, and Storages {name} is None; name one, or leave "
                    "storages out"
                )
