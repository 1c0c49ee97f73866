"""What a function of Beam declares to have states and timers for each key and window.

Source: Beam Python ``transforms.userstate``; Beam Java ``@OnWindowExpiration`` and
``@RequiresTimeSortedInput``.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any, TypeVar

from beamlike.api.marked_methods import (
    ON_EXPIRATION,
    SORTED,
    asks_for_order,
    calls_at_expiration,
    is_sorted,
)
from beamlike.api.pipelines.coders import PickleCoder
from beamlike.api.pipelines.combinefn import combine_fn as combine_fn_of
from beamlike.api.pipelines.dofn import DoFn, Param, StateAsked, TimerAsked
from beamlike.api.pipelines.python.reading import moment
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.model import state_specs
from beamlike.model.coders import Coder
from beamlike.model.combine.steps import Stepwise
from beamlike.model.state_specs import (
    BagStateSpec,
    MapStateSpec,
    ReadModifyWriteStateSpec,
    SetStateSpec,
    StateSpec,
    TimeDomain,
    TimerSpec,
)

__all__ = [
    "BagStateSpec",
    "CombiningValueStateSpec",
    "MapStateSpec",
    "OrderedListStateSpec",
    "ReadModifyWriteStateSpec",
    "SetStateSpec",
    "StateSpec",
    "TimeDomain",
    "TimerSpec",
    "get_dofn_specs",
    "is_stateful_dofn",
    "on_timer",
    "on_window_expiration",
    "requires_time_sorted_input",
    "validate_stateful_dofn",
]

Method = TypeVar("Method", bound=Callable[..., Any])


class OrderedListStateSpec(state_specs.OrderedListStateSpec):
    """Values with a `Timestamp`, in the order of these."""

    def millis(self, timestamp: Any) -> int:
        return moment(timestamp, f"the state {self.name!r} timestamp").instant_ms

    def shown(self, millis: int) -> Timestamp:
        return Timestamp.of_millis(millis)


class CombiningValueStateSpec(state_specs.CombiningValueStateSpec):
    """One value, which a combine function makes of all that is added.

    ``CombiningValueStateSpec("sum", sum)`` and ``CombiningValueStateSpec("sum", coder, sum)`` are
    taken, as in Beam. The coder is that of accumulators, and is used with combine functions that
    are written as in Beam, below ``CombineFn``. The accumulators of functions of beamlike's own,
    such as ``CountCombineFn``, have another shape than Beam's, and a coder of their own.

    Args:
        name: Its name, unique in its function.
        coder: How accumulators become bytes.
        combine_fn: A combine function, or a function of all values.

    Raises:
        PipelineTypeError: ``name`` is no text, ``coder`` no coder, or the combine function is none.
        PipelineError: There is no combine function.
    """

    def __init__(self, name: str, coder: Any = None, combine_fn: Any = None) -> None:
        if combine_fn is None:
            if coder is None:
                raise PipelineError(
                    "combine_fn must be provided; write CombiningValueStateSpec('name', sum)"
                )
            coder, combine_fn = None, coder
        try:
            fn = combine_fn_of(combine_fn, "CombiningValueStateSpec")
        except PipelineError as error:
            raise PipelineTypeError(str(error)) from error
        if not isinstance(fn, Stepwise) and isinstance(coder, Coder | None):
            coder = None
        super().__init__(name, PickleCoder() if coder is None else coder, fn)


def on_timer(timer_spec: TimerSpec) -> Callable[[Method], Method]:
    """A decorator of the method that a timer calls.

    The method brings out elements as ``process`` does, and asks by the defaults of its parameters,
    see `DoFn`.

    Raises:
        PipelineError: It is given no `TimerSpec`, or one that calls another method.
    """
    if not isinstance(timer_spec, TimerSpec):
        raise PipelineError(
            f"@on_timer decorator expected TimerSpec, got {timer_spec!r}; write "
            "@on_timer(TIMER) with TIMER = TimerSpec(...) above it"
        )

    def decorate(method: Method) -> Method:
        if not callable(method):
            raise PipelineError(f"@on_timer decorator expected callable, got {method!r}")
        if timer_spec.callback is not None:
            raise PipelineError(
                f"Multiple on_timer callbacks registered for {timer_spec!r}. Declare a TimerSpec "
                "for each method"
            )
        timer_spec.callback = method
        return method

    return decorate


def on_window_expiration(method: Method) -> Method:
    """A decorator of the method that is called when a window of a key expires, before its states
    are forgotten.

    It may ask for states, ``KeyParam``, ``WindowParam`` and ``TimestampParam``, which is the last
    instant of the window: what it brings out happens then, and the output watermark waits there.

    Source: Beam Java ``DoFn.OnWindowExpiration``. Beam Python has none.
    """
    return _marked(method, "on_window_expiration", ON_EXPIRATION)


def requires_time_sorted_input(method: Method) -> Method:
    """A decorator of ``process``: it is given the elements of a key and window in order of event
    time, each once the watermark is past it and the allowed lateness.

    Source: Beam Java ``DoFn.RequiresTimeSortedInput``. Beam Python has none.
    """
    return _marked(method, "requires_time_sorted_input", SORTED)


def _marked(method: Method, decorator: str, mark: str) -> Method:
    if not callable(method):
        raise PipelineError(f"@{decorator} expected callable, got {method!r}")
    setattr(method, mark, True)
    return method


def get_dofn_specs(dofn: DoFn[Any, Any]) -> tuple[set[StateSpec], set[TimerSpec]]:
    """The states and timers that the methods of a function ask for.

    Raises:
        PipelineError: A method asks for one of them twice.
    """
    states: set[StateSpec] = set()
    timers: set[TimerSpec] = set()
    for name, method in methods_of(dofn):
        defaults = [
            parameter.default for parameter in inspect.signature(method).parameters.values()
        ]
        asked = [default for default in defaults if isinstance(default, Param)]
        ids = [(param.name, getattr(getattr(param, "spec", None), "name", None)) for param in asked]
        twice = sorted(
            asked_for if name is None else f"{asked_for}({name})"
            for (asked_for, name), count in Counter(ids).items()
            if count > 1
        )
        if twice:
            raise PipelineError(
                f"DoFn {dofn!r} has duplicate {name} method parameters: {', '.join(twice)}. Ask "
                "for each once"
            )
        states.update(param.spec for param in asked if isinstance(param, StateAsked))
        timers.update(param.spec for param in asked if isinstance(param, TimerAsked))
    return states, timers


def is_stateful_dofn(dofn: DoFn[Any, Any]) -> bool:
    """Whether a function asks for a state or a timer, or needs its elements sorted."""
    states, timers = get_dofn_specs(dofn)
    return bool(states or timers or expiration_of(dofn) or is_sorted(dofn))


def validate_stateful_dofn(dofn: DoFn[Any, Any]) -> None:
    """Refuse a function whose states and timers do not go together.

    Raises:
        PipelineError: Two of them have one name; or a timer calls no method, or one that the
            function does not have any more; or a decorator stands over a method on which it has
            no effect.
    """
    states, timers = get_dofn_specs(dofn)
    for spec_type, specs in (("StateSpecs", states), ("TimerSpecs", timers)):
        counts = Counter(spec.name for spec in specs)
        twice = sorted(name for name, count in counts.items() if count > 1)
        if twice:
            raise PipelineError(
                f"DoFn {dofn!r} has multiple {spec_type} with the same name: {', '.join(twice)}. "
                "Give each a name of its own"
            )
    for spec in sorted(timers, key=lambda timer: timer.name):
        callback = spec.callback
        if callback is None:
            raise PipelineError(
                f"DoFn {dofn!r} has a TimerSpec without an associated on_timer callback: {spec!r}. "
                "Write a method under @on_timer(...)"
            )
        method = getattr(dofn, callback.__name__, None)
        if getattr(method, "__func__", None) is not callback:
            raise PipelineError(
                f"The on_timer callback for {spec!r} is not the specified .{callback.__name__} "
                f"method for DoFn {dofn!r} (perhaps it was overwritten?). Give each method a name "
                "of its own"
            )
    methods = [*methods_of(dofn)]
    expiring = [name for name, method in methods if calls_at_expiration(method)]
    if len(expiring) > 1:
        raise PipelineError(
            f"DoFn {dofn!r} has several methods under @on_window_expiration: {', '.join(expiring)}."
            " Write one"
        )
    for name, method in methods:
        if asks_for_order(method) and name != "process":
            raise PipelineError(
                f"DoFn {dofn!r} has @requires_time_sorted_input over {name}, and it orders the "
                "elements of process. Write it over process"
            )


def methods_of(dofn: DoFn[Any, Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods of a function, with their names."""
    for name in dir(type(dofn)):
        method = getattr(dofn, name, None)
        if isinstance(method, MethodType):
            yield name, method


def expiration_of(dofn: DoFn[Any, Any]) -> str | None:
    """The name of the method that is called when a window expires; None if there is none."""
    expiring = (name for name, method in methods_of(dofn) if calls_at_expiration(method))
    return next(expiring, None)
