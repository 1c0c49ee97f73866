"""Apex's window and trigger options, watermark generators and storages, and what they are in the
model.

Source: Apex Malhar ``WindowOption``, ``TriggerOption``, ``ImplicitWatermarkGenerator``.
"""

from enum import Enum
from typing import Any

import attrs

from beamlike.errors import TriggerError, UnsupportedError, WindowError, WindowingError
from beamlike.model.extra_triggers import EveryCount
from beamlike.model.interval_triggers import EveryProcessingTime
from beamlike.model.options import (
    AccumulationMode,
    LateCheck,
    OnTimeBehavior,
    Unchanged,
    whole_number,
)
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, DurationLike, duration_ms, show_duration
from beamlike.model.triggers import AfterCount, AfterFirst, AfterWatermark, Never, Trigger
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
            count = whole_number(count_or_time, 1, f"{argument} count", TriggerError)
            counted: dict[str, Any] = {f"{phase}_count": count}
            return attrs.evolve(self, **counted)
        every = duration_ms(count_or_time, f"{argument} time")
        if every == 0:
            raise TriggerError(f'{argument} needs a time of more than 0 ms, such as "10 seconds"')
        timed: dict[str, Any] = {f"{phase}_every": every}
        return attrs.evolve(self, **timed)

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
        for name in ("window_state", "data"):
            if getattr(self, name) is None:
                raise WindowingError(
                    f"an operator needs storages, and Storages {name} is None; name one, "
                    "or leave storages out"
                )
        if self.retraction is not None:
            return
        asks = None
        if trigger.mode is AccumulationMode.RETRACTING:
            asks = "accumulating_and_retracting_fired_panes()"
        elif trigger.only_updated:
            asks = "firing_only_updated_panes()"
        if asks is not None:
            raise WindowingError(
                f"{asks} looks at what was fired before, and Storages retraction is None; name "
                "one, or leave storages out"
            )


def strategy_of(
    window: WindowOption | None,
    trigger: TriggerOption,
    allowed_lateness: int | None,
    batch_interval: int = 1,
) -> WindowingStrategy:
    """The windowing, for a watermark one millisecond less than Apex's.

    Args:
        batch_interval: Times are counted in batches of so much (ms). They are looked at when a
            batch ends, which is when the clock is past the batch's own time.
    """
    # What compares with the pane before has to keep it.
    keeps_panes = trigger.only_updated or trigger.mode is AccumulationMode.RETRACTING
    discarding = trigger.mode is AccumulationMode.DISCARDING
    window_fn = GlobalWindows() if window is None else window.window_fn
    in_global = isinstance(window_fn, GlobalWindows) and window is not None
    early = _phase(trigger.early_count, trigger.early_every, batch_interval, in_global=in_global)
    late = _phase(trigger.late_count, trigger.late_every, batch_interval, is_late=True)
    fires_ever = trigger.on_time or early is not None or late is not None
    return WindowingStrategy(
        window_fn,
        AfterWatermark(early=early, late=late or Never()) if fires_ever else Never(),
        AccumulationMode.RETRACTING if keeps_panes else trigger.mode,
        END_OF_GLOBAL_WINDOW if allowed_lateness is None else allowed_lateness,
        on_time_behavior=OnTimeBehavior.FIRE_IF_NON_EMPTY
        if discarding or not trigger.on_time
        else OnTimeBehavior.FIRE_ALWAYS,
        late_check=LateCheck.MERGED,
        unchanged=Unchanged.OMIT if trigger.only_updated else Unchanged.RE_EMIT,
    )


def _phase(
    count: int | None,
    every: int | None,
    batch_interval: int,
    *,
    is_late: bool = False,
    in_global: bool = False,
) -> Trigger | None:
    by_count: Trigger | None = None
    if count is not None:
        # What counts on over other firings, and from before the end, is asked key by key; where
        # that is the same, the plain count is not.
        alone = count == 1 or (every is None and not is_late)
        by_count = AfterCount(count) if alone else EveryCount(count)
    if every is None:
        return by_count
    if in_global and by_count is None:
        # Apex's global window is there from the beginning, and its rhythm with it.
        return EveryProcessingTime(every + -every % batch_interval, fire_unchanged=True)
    by_time = EveryProcessingTime(
        every, since_firing=True, tick=batch_interval, fire_unchanged=True
    )
    return by_time if by_count is None else AfterFirst(by_count, by_time)


def check_option(window: WindowOption | None, trigger: TriggerOption, *, keyed: bool) -> None:
    """Refuse options that do not go together, or not here.

    Raises:
        WindowingError: Sessions without keys; only updated panes, where none is known to compare
            with.
        UnsupportedError: Late firings without a firing at the watermark, where that would be
            seen; firings after which the model would not know what came out last.
    """
    in_sessions = window is not None and isinstance(window.window_fn, Sessions)
    if in_sessions and not keyed:
        raise WindowingError("session_windows need keys, as in Apex; say keyed=True")
    if trigger.only_updated and trigger.mode is AccumulationMode.DISCARDING:
        raise WindowingError(
            "firing_only_updated_panes() compares with the pane before, which "
            "discarding_fired_panes() does not keep; ask for accumulating_fired_panes()"
        )
    if trigger.on_time:
        return
    fires_late = trigger.late_count is not None or trigger.late_every is not None
    # The model fires at the watermark, too, which `OperatorRun` leaves out: it must not matter.
    plain = trigger.mode is AccumulationMode.ACCUMULATING and not trigger.only_updated
    if fires_late and (in_sessions or trigger.times or not plain):
        raise UnsupportedError(
            "late firings without a firing at the watermark are here by counts alone, of windows "
            "that are no sessions, with accumulating_fired_panes(); begin with "
            "TriggerOption.at_watermark()"
        )
    loses = in_sessions and trigger.mode is not AccumulationMode.ACCUMULATING
    if loses and (trigger.early_count not in (None, 1) or trigger.early_every is not None):
        asked = "a time" if trigger.early_count in (None, 1) else str(trigger.early_count)
        raise UnsupportedError(
            f"with_early_firings_at_every({asked}) of sessions whose panes are withdrawn or "
            "discarded needs a firing at the watermark too; begin with "
            "TriggerOption.at_watermark(), or count 1"
        )
