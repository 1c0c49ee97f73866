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
    """The strategy that a call was given, as one value or by its parts; neither and both are
    refused, and what `declared` refuses."""
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
    """Refuse what is not a strategy; ``owner`` needs one."""
    if not isinstance(strategy, WindowingStrategy):
        raise WindowingError(
            f'{owner} needs a strategy such as WindowingStrategy(FixedWindows("1 hour")), '
            f"got {strategy!r}"
        )


def check_alone(
    owner: str, strategy: object, window: WindowFn | None, parts: StrategyParts
) -> None:
    """Refuse what is not a strategy, and one with parts beside it; ``owner`` was given them."""
    check_strategy(f"{owner}: strategy", strategy)
    values: dict[str, object] = {"window": window, **parts}
    if extra := next((name for name, part in values.items() if part is not None), None):
        part = "window_fn" if extra == "window" else extra
        raise WindowingError(
            f"{owner}: a strategy has all parts, and {extra} is given beside it; leave it out, "
            f"or give strategy.configured({part}=...)"
        )


def check_lateness(before: WindowingStrategy, lateness: DurationLike | None) -> None:
    """Refuse an allowed lateness that is shorter than the one before, or cannot be read."""
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
