"""What an Apex operator is in the model, and which of its options have no counterpart there."""

from beamlike.dialects.apex_words import TriggerOption, WindowOption
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.model.extra_triggers import EveryCount
from beamlike.model.interval_triggers import EveryProcessingTime
from beamlike.model.options import AccumulationMode, LateCheck, OnTimeBehavior, Unchanged
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.triggers import AfterCount, AfterFirst, AfterWatermark, Never, Trigger
from beamlike.model.windowfns import GlobalWindows


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
    fires = trigger.on_time or early is not None or late is not None
    return WindowingStrategy(
        window_fn,
        AfterWatermark(early=early, late=late or Never()) if fires else Never(),
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
    # The model fires at the watermark, too, which `rows_of` leaves out: it must not matter.
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
