"""What the methods of a ``DoFn`` ask for by the defaults of their parameters.

Source: Beam Python ``DoFn.ElementParam`` and its siblings.
"""

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any, ClassVar

import attrs

from beamlike.api.user_timers import TimeArithmetic
from beamlike.errors import PipelineError
from beamlike.model.state_specs import StateSpec, TimerSpec


@attrs.frozen
class Param:
    """What a ``process`` may ask for by the default of a parameter.

    Args:
        name: What it is.
        shown: What a function sees of it; None: what the core has.
    """

    is_asked_for: ClassVar[bool] = True
    """It is no default, but says what is asked for."""

    name: str
    shown: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        return f"DoFn.{self.name}"


@attrs.frozen(repr=False)
class StateAsked(Param):
    """A state that a function of pairs asks for.

    What it is given has ``read``, ``clear``, ``is_empty`` and, of a single value, ``write``; of
    what holds several, ``add``: see `beamlike.machine.userstate.cells`.
    """

    spec: StateSpec = attrs.field(kw_only=True)

    @classmethod
    def of(cls, spec: object) -> "StateAsked":
        """What asks for this state.

        Raises:
            PipelineError: It is no spec of a state.
        """
        if not isinstance(spec, StateSpec):
            raise PipelineError(
                f"DoFn.StateParam expected StateSpec object, got {spec!r}; write "
                'StateParam(ReadModifyWriteStateSpec("name", coder)), or another state of userstate'
            )
        return cls("StateParam", spec=spec)


@attrs.frozen(repr=False)
class TimerAsked(Param):
    """A timer that a function of pairs asks for: it is given a `UserTimer`."""

    spec: TimerSpec = attrs.field(kw_only=True)

    @classmethod
    def of(cls, spec: object, times: TimeArithmetic) -> "TimerAsked":
        """What asks for this timer.

        Args:
            spec: The timer.
            times: In which form its users write instants.

        Raises:
            PipelineError: It is no spec of a timer.
        """
        if not isinstance(spec, TimerSpec):
            raise PipelineError(
                f"DoFn.TimerParam expected TimerSpec object, got {spec!r}; write "
                'TimerParam(TimerSpec("name", TimeDomain.WATERMARK))'
            )
        return cls("TimerParam", times.timer, spec=spec)


def names_after_element(called: Callable[..., Any]) -> list[str]:
    """The parameters of a function of Python that may be given by their place after the element.

    By its code: its signature may be that of another one that it wraps.
    """
    function = getattr(called, "__func__", called)
    if not isinstance(function, FunctionType) or function.__code__.co_posonlyargcount:
        return []
    code, before = function.__code__, 1 + isinstance(called, MethodType)
    return [*code.co_varnames[before : code.co_argcount]]


def asked_by(called: Callable[..., Any]) -> dict[str, Param]:
    """What a function asks for by the defaults of its parameters, but its element."""
    parameters = _parameters(called)
    asked = {
        name: parameter.default
        for name, parameter in parameters.items()
        # A side input is given as an argument, whatever its default says.
        if isinstance(parameter.default, Param) and parameter.default != Param("SideInputParam")
    }
    first = next(iter(parameters), None)
    # The element is given as the first argument anyway.
    if first in asked and asked[first] == Param("ElementParam"):
        del asked[first]
    return asked


def arguments_by_name(
    called: Callable[..., Any], args: tuple[Any, ...], skipped: set[str], takes_element: bool
) -> dict[str, Any]:
    """Arguments by the names of the parameters that they are meant for; empty if places will do.

    They are meant for the parameters after the element that the function does not ask for by a
    default, one after the other. If it is given the parts of a tuple, these fill what has no
    default.

    Args:
        called: The function.
        args: The arguments.
        skipped: The parameters that are filled otherwise.
        takes_element: Whether the first one is the element.
    """
    parameters = [
        parameter
        for parameter in _parameters(called).values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    if getattr(called, "opens", False):
        parameters = [
            parameter for parameter in parameters if parameter.default is not parameter.empty
        ]
    elif takes_element:
        parameters = parameters[1:]
    meant = [parameter.name for parameter in parameters[: len(args) + len(skipped)]]
    if skipped.isdisjoint(meant[: len(args)]):
        return {}
    return dict(zip((name for name in meant if name not in skipped), args, strict=False))


def _parameters(called: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(called).parameters
    except ValueError:  # some functions in C have no signature
        return {}
