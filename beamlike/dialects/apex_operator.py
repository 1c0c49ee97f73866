"""An operator of Apex: its window and trigger options, watermark generators and storages, and what
they are in the model.

Source: Apex Malhar ``WindowOption``, ``TriggerOption``, ``ImplicitWatermarkGenerator``.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any

import attrs

from beamlike.dialects.apex_accumulations import PerKey
from beamlike.dialects.stages import check_combine, check_function, kind_of
from beamlike.errors import TriggerError, UnsupportedError, WindowError, WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.extra_triggers import EveryCount
from beamlike.model.interval_triggers import EveryProcessingTime
from beamlike.model.options import AccumulationMode, whole_number
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


Extract = Callable[[Any], int]
"""From an element's value to its event time (ms)."""
WatermarkGen = FixedDiffEventTimeWatermarkGen | FixedDiffProcessingTimeWatermarkGen


def _trigger(trigger: TriggerOption | None) -> TriggerOption:
    return TriggerOption() if trigger is None else trigger


def _lateness(lateness: DurationLike | None) -> int | None:
    return None if lateness is None else duration_ms(lateness, "allowed_lateness")


def _check_accumulation(_: object, field: "attrs.Attribute[Any]", accumulation: object) -> None:
    check_combine(field.name, accumulation)


def check_extractor(_: object, field: "attrs.Attribute[Any]", function: object) -> None:
    """Refuse what is no function from a value to its event time, as a field of attrs."""
    check_function(field.name, function, "an element's value")


@attrs.frozen
class Operator:
    """The parts of an operator, see `beamlike.dialects.apex.WindowedOperator`."""

    window: WindowOption | None = attrs.field(
        validator=kind_of(WindowOption | None, 'WindowOption.time_windows("1 second")')
    )
    accumulation: CombineFn = attrs.field(validator=_check_accumulation)
    trigger: TriggerOption = attrs.field(
        default=None,
        converter=_trigger,
        validator=kind_of(TriggerOption, "TriggerOption.at_watermark()"),
    )
    allowed_lateness: int | None = attrs.field(default=None, converter=_lateness, kw_only=True)
    keyed: bool = attrs.field(default=False, kw_only=True)
    timestamp_extractor: Extract | None = attrs.field(
        default=None, validator=attrs.validators.optional(check_extractor), kw_only=True
    )
    watermark_generator: WatermarkGen | None = attrs.field(
        default=None,
        validator=kind_of(WatermarkGen | None, 'FixedDiffEventTimeWatermarkGen("10 seconds")'),
        kw_only=True,
    )
    storages: Storages | None = attrs.field(
        default=None,
        validator=kind_of(Storages | None, "Storages.all_of(Storage.SPILLABLE)"),
        kw_only=True,
    )

    def __attrs_post_init__(self) -> None:
        trigger = self.trigger
        if self._in_sessions and not self.keyed:
            raise WindowingError("session_windows need keys, as in Apex; say keyed=True")
        if trigger.only_updated and trigger.mode is AccumulationMode.DISCARDING:
            raise WindowingError(
                "firing_only_updated_panes() compares with the pane before, which "
                "discarding_fired_panes() does not keep; ask for accumulating_fired_panes()"
            )
        if not trigger.on_time:
            self._check_without_end()
        if self.storages is not None:
            self.storages.check(trigger)

    def _check_without_end(self) -> None:
        """Refuse late firings where the one at the watermark, which the model has and `OperatorRun`
        leaves out, would be seen; and those after which the model would not know what came last."""
        trigger, accumulates = self.trigger, self.trigger.mode is AccumulationMode.ACCUMULATING
        fires_late = trigger.late_count is not None or trigger.late_every is not None
        plain = accumulates and not trigger.only_updated
        if fires_late and (self._in_sessions or trigger.times or not plain):
            raise UnsupportedError(
                "late firings without a firing at the watermark are here by counts alone, of "
                "windows that are no sessions, with accumulating_fired_panes(); begin with "
                "TriggerOption.at_watermark()"
            )
        counts = trigger.early_count not in (None, 1)
        if self._in_sessions and not accumulates and (counts or trigger.early_every is not None):
            asked = str(trigger.early_count) if counts else "a time"
            raise UnsupportedError(
                f"with_early_firings_at_every({asked}) of sessions whose panes are withdrawn or "
                "discarded needs a firing at the watermark too; begin with "
                "TriggerOption.at_watermark(), or count 1"
            )

    @property
    def extractors(self) -> tuple[Extract | None, ...]:
        """What says when an element happened, for each of its streams."""
        return (self.timestamp_extractor,)

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing, for a watermark one millisecond less than Apex's.

        `run` leaves out the panes at the end of a window that no trigger asked for.
        """
        return self.strategy_in_batches(1)

    def strategy_in_batches(self, batch_interval: int) -> WindowingStrategy:
        """The windowing where times are looked at when a batch ends, so often (ms): that is when
        the clock is past the batch's own time."""
        trigger, mode = self.trigger, self.trigger.mode
        window_fn = GlobalWindows() if self.window is None else self.window.window_fn
        early = _phase(trigger.early_count, trigger.early_every, batch_interval)
        late = _phase(trigger.late_count, trigger.late_every, batch_interval, is_late=True)
        in_global = isinstance(window_fn, GlobalWindows) and self.window is not None
        if in_global and trigger.early_every is not None and trigger.early_count is None:
            # Apex's global window is there from the beginning, and its rhythm with it.
            every = trigger.early_every
            early = EveryProcessingTime(every + -every % batch_interval, fire_unchanged=True)
        fires_ever = trigger.on_time or early is not None or late is not None
        at_end = trigger.on_time and mode is not AccumulationMode.DISCARDING
        return WindowingStrategy(
            window_fn,
            AfterWatermark(early=early, late=late or Never()) if fires_ever else Never(),
            # What compares with the pane before has to keep it.
            "retracting" if trigger.only_updated else mode,
            END_OF_GLOBAL_WINDOW if self.allowed_lateness is None else self.allowed_lateness,
            on_time_behavior="fire_always" if at_end else "fire_if_non_empty",
            late_check="merged",
            unchanged="omit" if trigger.only_updated else "re_emit",
        )

    @property
    def holds_all_keys(self) -> bool:
        """Whether one group holds all keys, because a condition is of all keys of a window: counts
        and times of an operator with keys. Not in sessions, which are of one key each, and not if
        every element fires and the other keys of its window have nothing new."""
        trigger = self.trigger
        if not self.keyed or self._in_sessions:
            return False
        counts = {trigger.early_count, trigger.late_count} - {None}
        alone = trigger.mode is AccumulationMode.DISCARDING or trigger.only_updated
        return bool(trigger.times) or (bool(counts) and not (alone and counts == {1}))

    @property
    def combine(self) -> CombineFn:
        """The combine function of a group."""
        return PerKey(self.accumulation) if self.holds_all_keys else self.accumulation

    @property
    def _in_sessions(self) -> bool:
        return self.window is not None and isinstance(self.window.window_fn, Sessions)


def _phase(
    count: int | None, every: int | None, batch_interval: int, *, is_late: bool = False
) -> Trigger | None:
    by_count: Trigger | None = None
    if count is not None:
        # What counts on over other firings, and from before the end, is asked key by key; where
        # that is the same, the plain count is not.
        alone = count == 1 or (every is None and not is_late)
        by_count = AfterCount(count) if alone else EveryCount(count)
    if every is None:
        return by_count
    by_time = EveryProcessingTime(
        every, since_firing=True, tick=batch_interval, fire_unchanged=True
    )
    return by_time if by_count is None else AfterFirst(by_count, by_time)
