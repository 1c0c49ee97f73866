"""A strategy that a call is given, as one value or by its parts."""

from beamlike.errors import WindowingError
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.time import DurationLike, duration_us
from beamlike.model.windowfns import WindowFn


def strategy_of_call(
    owner: str,
    window: WindowFn | None,
    strategy: WindowingStrategy | None,
    parts: StrategyParts,
    *,
    unbounded: bool,
) -> WindowingStrategy:
    """The strategy that a call was given, as one value or by its parts.

    Raises:
        WindowingError: Neither is given, or both; or as `declared`.
        UnsafeTriggerError: The trigger can finish and lose data.
    """
    if strategy is None:
        if window is None:
            raise WindowingError(
                f'{owner} needs window; give windows such as FixedWindows("1 hour")'
            )
        return WindowingStrategy.declared(window, unbounded=unbounded, **parts)
    check_alone(owner, strategy, window, parts)
    strategy.check_groupable(unbounded=unbounded)
    return strategy


def check_strategy(owner: str, strategy: object) -> None:
    """Refuse what is no strategy.

    Args:
        owner: What needs one; it opens the message.

    Raises:
        WindowingError: It is something else.
    """
    if not isinstance(strategy, WindowingStrategy):
        raise WindowingError(
            f'{owner} needs a strategy such as WindowingStrategy(FixedWindows("1 hour")), '
            f"got {strategy!r}"
        )


def check_alone(
    owner: str, strategy: object, window: WindowFn | None, parts: StrategyParts
) -> None:
    """Refuse a strategy with parts beside it.

    Args:
        owner: What was given them; it opens the message.

    Raises:
        WindowingError: There are some, or it is no strategy.
    """
    check_strategy(f"{owner}: strategy", strategy)
    values: dict[str, object] = {"window": window, **parts}
    if extra := next((name for name, part in values.items() if part is not None), None):
        part = "window_fn" if extra == "window" else extra
        raise WindowingError(
            f"{owner}: a strategy has all parts, and {extra} is given beside it; leave it out, "
            f"or give strategy.configured({part}=...)"
        )


def check_lateness(before: WindowingStrategy, lateness: DurationLike | None) -> None:
    """Refuse an allowed lateness that is shorter than the one before.

    Raises:
        WindowingError: With what to write.
        TimeError: The lateness cannot be read.
    """
    had = before.resolution
    least = before.allowed_lateness * had.micros
    if lateness is None or duration_us(lateness, "allowed_lateness") >= least:
        return
    raise WindowingError(
        f"allowed_lateness={lateness!r} is shorter than the "
        f"{had.show_duration(before.allowed_lateness)} that the stream has already, and the "
        "allowed lateness never shrinks, as in Beam; leave it out, or give all parts of the "
        "strategy in one value: strategy=WindowingStrategy(...)"
    )
