"""Collections whose functions see element, time, window and pane together.

Source: Scio ``WindowedSCollection``, ``WindowedValue``.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from beamlike.api.pipelines.dofn import DoFn, TimestampedValue
from beamlike.api.pipelines.scio.call import Call, WithFunctions, unnamed
from beamlike.errors import PipelineError
from beamlike.model.panes import PaneInfo
from beamlike.model.time import InstantLike, event_time_ms
from beamlike.model.windows import Window

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import SCollection

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
K = TypeVar("K")


@attrs.frozen
class WindowedValue(Generic[T_co]):
    """An element with all that goes with it.

    Args:
        value: The element.
        timestamp: Its event time (ms).
        window: One of its windows.
        pane: The pane that it came in.
    """

    value: T_co
    timestamp: int
    window: Window
    pane: PaneInfo

    def with_value(self, value: U) -> "WindowedValue[U]":
        """A copy with another element."""
        return WindowedValue(value, self.timestamp, self.window, self.pane)

    def with_timestamp(self, timestamp: InstantLike) -> "WindowedValue[T_co]":
        """A copy at another event time."""
        return attrs.evolve(self, timestamp=event_time_ms(timestamp, "timestamp"))


class WindowedSCollection(WithFunctions[T_co]):
    """A collection whose functions take a `WindowedValue` each.

    Of what they return only the element and its time count, as in Scio: windows and panes stay
    as they are. An element that is in several windows is taken once for each. In the run a time
    that is earlier than the old one is a `PipelineError`.
    """

    def map(
        self, fn: "Callable[[WindowedValue[T_co]], WindowedValue[U]]"
    ) -> "WindowedSCollection[U]":
        """Each becomes what a function makes of it."""
        return self._apply_verb("map", fn)

    def flat_map(
        self,
        fn: "Callable[[WindowedValue[T_co]], Iterable[WindowedValue[U]]]",
    ) -> "WindowedSCollection[U]":
        """Each becomes what a function lists."""
        return self._apply_verb("flat_map", fn)

    def filter(self, fn: "Callable[[WindowedValue[T_co]], Any]") -> "WindowedSCollection[T_co]":
        """The elements for which a function is true."""
        return self._apply_verb("filter", fn)

    def key_by(
        self, fn: "Callable[[WindowedValue[T_co]], K]"
    ) -> "WindowedSCollection[tuple[K, T_co]]":
        """Each element with its key before it."""
        call = Call(self._collection, "key_by", fn)
        key_of = call.checked(fn)
        return self._listed(
            call, lambda element: (element.with_value((key_of(element), element.value)),)
        )

    def to_scollection(self) -> "SCollection[T_co]":
        """The elements alone. Source: Scio ``toSCollection``."""
        return unnamed(self._collection)

    def _apply_verb(self, verb: str, fn: Any) -> "WindowedSCollection[Any]":
        call = Call(self._collection, verb, fn)
        return self._listed(call, call.listing(fn))

    def _listed(self, call: Call, listing: Any) -> "WindowedSCollection[Any]":
        windowing: _Windowing[Any, Any] = _Windowing(listing, call.label)
        return self._over(call.apply_dofn(windowing))


class _Windowing(DoFn[T, U]):
    def __init__(
        self, fn: Callable[[WindowedValue[T]], Iterable[WindowedValue[U]]], label: str
    ) -> None:
        self.fn, self.label = fn, label

    def process(
        self,
        element: T,
        timestamp: int = DoFn.TimestampParam,
        window: Window = DoFn.WindowParam,
        pane: PaneInfo = DoFn.PaneInfoParam,
    ) -> Any:
        for answer in self.fn(WindowedValue(element, timestamp, window, pane)):
            if not isinstance(answer, WindowedValue):
                raise PipelineError(
                    f"{self.label!r} returned {answer!r}, and a function of a windowed "
                    "collection returns windowed values; write it.with_value(...)"
                )
            yield TimestampedValue(answer.value, answer.timestamp)
