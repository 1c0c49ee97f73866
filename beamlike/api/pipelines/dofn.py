"""Functions over elements: Beam's ``DoFn``, what it may ask for, and what it may answer.

Source: Beam Python ``DoFn``, ``CallableWrapperDoFn``, ``pvalue.TaggedOutput``,
``window.TimestampedValue``.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import FunctionType, GenericAlias, MethodType
from typing import Any, ClassVar, Final, Generic

import attrs

from beamlike.api.pipelines.beams_own import OfBeamsSDK, needs_beams_sdk
from beamlike.api.pipelines.hints import WithTypeHints
from beamlike.api.pipelines.transform import function_label
from beamlike.api.pipelines.variables import In, T
from beamlike.api.user_timers import TimeArithmetic
from beamlike.errors import MissingMethodError, PipelineError, PipelineTypeError
from beamlike.model.bundle import Windowed
from beamlike.model.state_specs import StateSpec, TimerSpec
from beamlike.model.time import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    DurationLike,
    InstantLike,
    event_time_ms,
)

__all__ = [
    "ANY_SKEW",
    "WRAPPERS",
    "DoFn",
    "Located",
    "Plain",
    "TaggedOutput",
    "Timestamped",
    "TimestampedValue",
]


@attrs.frozen
class Param:
    """What a ``process`` may ask for by the default of a parameter.

    Args:
        name: What it is.
        shown: What a function sees of it; None: what the core has.
    """

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


@attrs.frozen(repr=False)
class TimerAsked(Param):
    """A timer that a function of pairs asks for: it is given a `UserTimer`."""

    spec: TimerSpec = attrs.field(kw_only=True)


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


@attrs.frozen
class TaggedOutput:
    """An element for the output with this tag.

    An annotation may say both: ``Iterable[int | TaggedOutput[Literal["words"], str]]``.
    """

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    tag: str = attrs.field()
    value: Any

    @tag.validator
    def _check_tag(self, _attribute: Any, tag: object) -> None:
        if not isinstance(tag, str):
            raise PipelineTypeError(
                f"Attempting to create a TaggedOutput with non-string tag {tag}; write "
                'TaggedOutput("name", value)'
            )


class Timestamped(Generic[T]):
    """An element with an event time of its own, in whatever unit its class counts."""

    __slots__ = ()

    value: T

    @property
    def millis(self) -> int:
        """The event time (ms)."""
        raise NotImplementedError


def _instant(instant: InstantLike) -> int:
    return event_time_ms(instant, "timestamp")


@attrs.frozen
class TimestampedValue(Timestamped[T]):
    """An element with an event time of its own: an instant, kept as milliseconds."""

    value: T
    timestamp: int = attrs.field(converter=_instant)

    @property
    def millis(self) -> int:
        """The event time (ms)."""
        return self.timestamp


class Located:
    """An element that knows its windows in a form of its own."""

    def windowed(self) -> Windowed:
        """The element as the core has it."""
        raise NotImplementedError


WRAPPERS: Final = (TaggedOutput, Timestamped, Windowed, Located)
"""What an answer may be besides a plain value."""

ANY_SKEW: Final = MAX_TIMESTAMP - MIN_TIMESTAMP
"""The allowed skew, in milliseconds, of a function whose outputs may happen at any time."""


class Plain(Enum):
    """What the answer of a function of an element alone means."""

    MADE = "made"
    """It is what the element becomes."""
    KEPT = "kept"
    """Whether the element stays."""
    LISTED = "listed"
    """It lists what the element becomes."""


class DoFn(WithTypeHints, Generic[In, T]):
    """A function over elements, with a life. Times are numbers of milliseconds.

    Subclasses write ``process(self, element)``, which returns or yields what comes out: plain
    values, `TimestampedValue`, or `TaggedOutput` around either. What it may ask for by the defaults
    of its parameters, `beamlike.beam.DoFn` says: here ``timestamp=DoFn.TimestampParam`` is a number
    of ms, and so are ``start`` and ``end`` of ``window=DoFn.WindowParam``.

    An output may happen later than the element that it came from, but not earlier by more than
    ``allowed_timestamp_skew``, because the watermark may have passed there.
    """

    ElementParam: ClassVar[Any] = Param("ElementParam")
    TimestampParam: ClassVar[Any] = Param("TimestampParam")
    WindowParam: ClassVar[Any] = Param("WindowParam")
    PaneInfoParam: ClassVar[Any] = Param("PaneInfoParam")
    WindowedValueParam: ClassVar[Any] = Param("WindowedValueParam")
    KeyParam: ClassVar[Any] = Param("KeyParam")
    SideInputParam: ClassVar[Any] = Param("SideInputParam")

    allowed_timestamp_skew: DurationLike | float | None = 0
    """How far before its element an output may happen. Beam Java ``getAllowedTimestampSkew``."""

    opens_texts: ClassVar[bool] = False
    """Whether a text, bytes or a mapping that `process` returns is meant to be taken apart."""

    DynamicTimerTagParam: ClassVar[Any] = Param("DynamicTimerTagParam")
    FireTimestampParam: ClassVar[Any] = Param("FireTimestampParam")

    _times: ClassVar[TimeArithmetic] = TimeArithmetic()
    """In which form its methods are given times."""

    @staticmethod
    def StateParam(spec: Any) -> Any:
        """A state of the key and window, see `StateAsked`.

        Args:
            spec: Which one, a spec of ``userstate``.

        Raises:
            PipelineError: It is none.
        """
        if not isinstance(spec, StateSpec):
            raise PipelineError(
                f"DoFn.StateParam expected StateSpec object, got {spec!r}; write "
                'StateParam(ReadModifyWriteStateSpec("name", coder)), or another state of userstate'
            )
        return StateAsked("StateParam", spec=spec)

    @classmethod
    def TimerParam(cls, spec: Any) -> Any:
        """A timer of the key and window, see `beamlike.api.user_timers.UserTimer`.

        Args:
            spec: Which one, a ``userstate.TimerSpec``.

        Raises:
            PipelineError: It is none.
        """
        if not isinstance(spec, TimerSpec):
            raise PipelineError(
                f"DoFn.TimerParam expected TimerSpec object, got {spec!r}; write "
                'TimerParam(TimerSpec("name", TimeDomain.WATERMARK))'
            )
        return TimerAsked("TimerParam", cls._times.timer, spec=spec)

    # Only in Beam's own SDK: the work of an element is not split here, elements come one by one,
    # and what is dear to make is made in `setup`.
    RestrictionParam: ClassVar[Any] = OfBeamsSDK("DoFn.RestrictionParam")
    WatermarkEstimatorParam: ClassVar[Any] = OfBeamsSDK("DoFn.WatermarkEstimatorParam")
    unbounded_per_element: ClassVar[Any] = OfBeamsSDK("DoFn.unbounded_per_element")
    yields_batches: ClassVar[Any] = OfBeamsSDK("DoFn.yields_batches")
    yields_elements: ClassVar[Any] = OfBeamsSDK("DoFn.yields_elements")
    SetupContextParam: ClassVar[Any] = OfBeamsSDK("DoFn.SetupContextParam")
    BundleContextParam: ClassVar[Any] = OfBeamsSDK("DoFn.BundleContextParam")

    # Refused where the function is applied, which knows both by name.
    BundleFinalizerParam: ClassVar[Any] = Param("BundleFinalizerParam")

    def default_label(self) -> str:
        """What the default name of a `ParDo` calls this function: its class."""
        return type(self).__name__

    def setup(self) -> None:
        """Before the first bundle that this copy is given: once in a run in memory.

        On Spark each task of each micro-batch has a copy, also one that no element comes to. What
        is dear to make is best made once in a process, where `process` first needs it.
        """

    def start_bundle(self) -> None:
        """Before the first element of each bundle."""

    def process(self, element: In, *args: Any, **kwargs: Any) -> Iterable[T] | None:
        """What an element becomes.

        Raises:
            PipelineError: The subclass does not say.
        """
        raise MissingMethodError(
            f"{type(self).__name__} has no process method; write def process(self, element) "
            "that yields what the element becomes"
        )

    def skew_ms(self, label: str) -> int:
        """``allowed_timestamp_skew`` in milliseconds, of the transform with this name.

        Raises:
            TimeError: It cannot be read.
        """
        skew: Any = self.allowed_timestamp_skew
        if skew is None:
            return ANY_SKEW
        return self._times.length(skew, f"{label} allowed_timestamp_skew")

    def called(self) -> Callable[..., Any]:
        """What is called for each element: its parameters say what it asks for.

        Raises:
            UnsupportedError: It has a ``process_batch`` and no ``process``.
        """
        if type(self).process is DoFn.process and hasattr(self, "process_batch"):
            raise needs_beams_sdk("DoFn.process_batch")
        return self.process

    def plain(self) -> "Plain":
        """What the answer of `called` means."""
        return Plain.LISTED

    def finish_bundle(self) -> Iterable[Windowed] | None:
        """After the last element of each bundle: what was kept back, each in its window."""
        return None

    def teardown(self) -> None:
        """After the last bundle that this copy is given, also if there was none, see `setup`."""


class PlainFn(DoFn[Any, Any]):
    """A plain function as a `DoFn`, and what its answer means."""

    opens_texts = True
    # As in Beam Python: what a function moves behind the watermark is late.
    allowed_timestamp_skew = None

    def __init__(self, fn: Callable[..., Any], means: Plain = Plain.LISTED) -> None:
        self.fn, self.means = fn, means

    def default_label(self) -> str:
        return function_label(self.fn)

    def called(self) -> Callable[..., Any]:
        return self.fn

    def plain(self) -> Plain:
        return self.means
