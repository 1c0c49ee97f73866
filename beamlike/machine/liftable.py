"""What may be combined before it is grouped, and what a grouping takes that was."""

from beamlike.errors import WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import how_many
from beamlike.model.options import LateCheck, TimestampCombiner
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import Window


def check_liftable(strategy: WindowingStrategy, *, unjudged: bool = False) -> None:
    """Refuse to combine early what has to be kept apart later.

    Args:
        unjudged: The elements are combined before it is known which of them are late.

    Raises:
        WindowingError: With the part of the strategy that needs each element.
    """
    reason = None
    if strategy.timestamp_combiner is not TimestampCombiner.END_OF_WINDOW:
        reason = f"timestamp_combiner={strategy.timestamp_combiner.value!r} needs the time of each"
    elif strategy.trigger.needs_elements:
        reason = f"the trigger {strategy.trigger} looks at each"
    elif strategy.late_check is LateCheck.ELEMENT:
        reason = "late_check='element' judges each by its own time"
    elif strategy.is_merging and unjudged:
        reason = f"each has its own {strategy.window_fn} window, and may be late alone"
    elif strategy.is_merging:
        window_fn = strategy.window_fn
        if not isinstance(window_fn, Sessions):
            reason = f"{window_fn} may merge them otherwise once more are known"
        elif window_fn.max_duration is not None or window_fn.needs_sizes:
            reason = f"{window_fn} cuts sessions where all of their elements are known"
    if reason is not None:
        raise WindowingError(f"elements cannot be combined before they are grouped: {reason}")


def why_one_by_one(strategy: WindowingStrategy, combine: CombineFn) -> str | None:
    """Why the elements of a grouping have to reach it one by one; None: they need not."""
    try:
        check_liftable(strategy)
    except WindowingError as error:
        return str(error)
    if strategy.late_check is LateCheck.MERGED:
        return "late_check='merged' judges each element with those that have come before"
    if strategy.may_lose_data is not None:
        return "its trigger may finish, and what comes after that is dropped one by one"
    window_fn = strategy.window_fn
    if strategy.is_merging and isinstance(window_fn, Sessions) and window_fn.ends_with is not None:
        return f"{window_fn} ends sessions where all of their elements are known"
    if combine.evicts:
        return f"{combine} decides after each pane which elements stay"
    return None


def check_lifted(strategy: WindowingStrategy, count: int, window: Window) -> None:
    """Refuse so many elements of a window that were combined, where the time of each is needed."""
    combiner = strategy.timestamp_combiner
    those = f"{how_many(count, 'element')} of {strategy.resolution.show_window(window)}"
    if combiner is not TimestampCombiner.END_OF_WINDOW:
        raise WindowingError(
            f"{those} came combined already, and "
            f'timestamp_combiner="{combiner.value}" needs the time of each; combine them after '
            f'they arrived, or write timestamp_combiner="{TimestampCombiner.END_OF_WINDOW.value}"'
        )
    if strategy.trigger.needs_elements:
        raise WindowingError(
            f"{those} came combined already, and the trigger "
            f"{strategy.trigger} looks at each; combine them after they arrived"
        )
