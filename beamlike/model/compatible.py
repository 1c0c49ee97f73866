"""Which collections may flow into one: their windows and triggers have to be compatible.

Source: Beam Java, ``Flatten.PCollections.expand``, ``WindowFn.verifyCompatibility``,
``Trigger.isCompatible``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from beamlike.errors import WindowingError
from beamlike.model.fingerprint import SPELLING, Spelling
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_arguments import check_strategy
from beamlike.model.windowfns import WindowFn


def check_flatten(
    strategies: Sequence[WindowingStrategy] | Mapping[str, WindowingStrategy],
    spelling: Spelling = SPELLING,
) -> WindowingStrategy:
    """The strategy of a Flatten: that of the first input, if the others fit it.

    The other inputs' allowed lateness, accumulation mode and pane rules do not count.
    No input at all gives `WindowingStrategy.unwindowed`.

    Args:
        strategies: In order; a mapping also gives the inputs names for the error message.
        spelling: How its advice is spelled.

    Raises:
        WindowingError: Naming the two inputs, what differs, and the change; or one of them is no
            strategy.

    >>> from beamlike import FixedWindows
    >>> hours = WindowingStrategy(FixedWindows("1 hour"))
    >>> check_flatten({"orders": hours, "payments": hours}) is hours
    True
    """
    if not isinstance(strategies, Mapping | Sequence):
        raise WindowingError(f"check_flatten needs a list of strategies, got {strategies!r}")
    named = (
        list(strategies.items())
        if isinstance(strategies, Mapping)
        else [(f"input {index}", strategy) for index, strategy in enumerate(strategies)]
    )
    for name, strategy in named:
        check_strategy(f"check_flatten: {name}", strategy)
    if not named:
        return WindowingStrategy.unwindowed()
    (first_name, first), *rest = named
    for name, other in rest:
        if not first.window_fn.compatible_with(other.window_fn):
            raise WindowingError(
                f"Inputs to Flatten had incompatible window windowFns: {first_name} has "
                f"{first.window_fn}, {name} has {other.window_fn}; "
                f"{_difference(first.window_fn, other.window_fn)}; give {name} the "
                f"windows of {first_name} first: {spelling.window.format(part=first.window_fn)}"
            )
        if first.already_merged != other.already_merged:
            merged, open_ = (first_name, name) if first.already_merged else (name, first_name)
            remerge = spelling.remerge.format(name=merged, window_fn=first.window_fn)
            raise WindowingError(
                f"Inputs to Flatten had incompatible window windowFns: the {first.window_fn} of "
                f"{merged} were merged by a grouping, those of {open_} were not; write {remerge}"
            )
        if first.trigger != other.trigger:
            raise WindowingError(
                f"Inputs to Flatten had incompatible triggers: {first_name} has {first.trigger}, "
                f"{name} has {other.trigger}; give {name} the trigger of {first_name} first: "
                f"{spelling.window.format(part=f'trigger={first.trigger}')}"
            )
    return first


def _difference(first: WindowFn, second: WindowFn) -> str:
    if type(first) is not type(second):
        return f"{type(first).__name__} and {type(second).__name__} are different kinds of windows"
    cls: Any = type(first)
    names = [part.name for part in attrs.fields(cls) if part.eq] if attrs.has(cls) else []
    differ = [name for name in names if getattr(first, name) != getattr(second, name)]
    return f"they differ in {' and '.join(differ)}" if differ else "they are not equal"
