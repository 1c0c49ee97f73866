"""Functions over elements: Beam's ``DoFn``, what it may ask for, and what it may answer.

Source: Beam Python ``DoFn``, ``pvalue.TaggedOutput``, ``window.TimestampedValue``.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from types import GenericAlias
from typing import Any, ClassVar, Final, Generic

import attrs

from beamlike.api.pipelines.beams_own import OfBeamsSDK, needs_beams_sdk
from beamlike.api.pipelines.hints import WithTypeHints
from beamlike.api.pipelines.params import Param, StateAsked, TimerAsked
from beamlike.api.pipelines.variables import In, T
from beamlike.api.user_timers import TimeArithmetic
from beamlike.errors import MissingMethodError, PipelineTypeError
from beamlike.model.bundle import Windowed
from beamlike.model.time import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    DurationLike,
    InstantLike,
    duration_ms,
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

    @staticmethod
    def StateParam(spec: Any) -> Any:
        """A state of the key and window, see `StateAsked`.

        Args:
            spec: Which one, a spec of ``userstate``.

        Raises:
            PipelineError: It is none.
        """
        return StateAsked.of(spec)

    @staticmethod
    def TimerParam(spec: Any) -> Any:
        """A timer of the key and window, see `UserTimer`.

        Args:
            spec: Which one, a ``userstate.TimerSpec``.

        Raises:
            PipelineError: It is none.
        """
        return TimerAsked.of(spec, TimeArithmetic())

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
        return ANY_SKEW if skew is None else duration_ms(skew, f"{label} allowed_timestamp_skew")

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
