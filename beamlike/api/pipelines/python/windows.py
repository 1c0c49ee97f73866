"""Windows, and elements with their time, as Beam Python has them.

The core keeps windows of its own, in milliseconds: `of_model` and `Window.model` go over.

Source: Beam Python ``transforms.window``, ``utils.windowed_value``.
"""

from collections.abc import Iterable
from functools import lru_cache, total_ordering
from typing import Any, ClassVar, Final, Generic, Self

from beamlike.api.pipelines.dofn import Located, Timestamped
from beamlike.api.pipelines.python.reading import Instant, moment
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP, MIN_TIMESTAMP, Timestamp
from beamlike.api.pipelines.variables import T
from beamlike.errors import TimeError, WindowingError
from beamlike.model import windows
from beamlike.model.bundle import Windowed
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.time import END_OF_GLOBAL_WINDOW

__all__ = [
    "BoundedWindow",
    "GlobalWindow",
    "IntervalWindow",
    "TimestampedValue",
    "WindowedValue",
    "model_of",
    "of_model",
]


class _MadeOfFields:
    """What says what it is made of, and so may be a key."""

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


@total_ordering
class BoundedWindow(_MadeOfFields):
    """A span of event time that ends. Windows sort by their ends.

    It equals the window of ``beamlike`` that has the same bounds.
    """

    _start: Timestamp
    _end: Timestamp

    @property
    def start(self) -> Timestamp:
        """The first instant of it."""
        return self._start

    @property
    def end(self) -> Timestamp:
        """The first instant after it."""
        return self._end

    def max_timestamp(self) -> Timestamp:
        """The last instant of it, a microsecond before its end."""
        return self.end.predecessor()

    def _bounds(self) -> tuple[Timestamp, Timestamp]:
        # Beyond the ends of time there is nothing: windows that differ only there are the same.
        return min(self.end, MAX_TIMESTAMP), max(self.start, MIN_TIMESTAMP)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, windows.IntervalWindow | windows.GlobalWindow):
            other = of_model(other)
        return (
            isinstance(other, BoundedWindow)
            and type(other) is type(self)
            and self._bounds() == other._bounds()
        )

    def __hash__(self) -> int:
        end, start = (bound.instant_ms for bound in self._bounds())
        return hash(windows.IntervalWindow(start, end) if start < end else (start, end))

    def __lt__(self, other: "BoundedWindow") -> bool:
        return (self.end, self.start) < (other.end, other.start)

    def __repr__(self) -> str:
        return f"[{float(self.start)}, {float(self.end)})"


class IntervalWindow(BoundedWindow):
    """The window ``[start, end)``.

    Args:
        start: The first instant of it.
        end: The first instant after it.

    Raises:
        TimeError: One of them is no instant.

    Source: Beam Python ``IntervalWindow``.

    >>> IntervalWindow(0, 10), IntervalWindow("00:00:05", 10).start
    ([0.0, 10.0), Timestamp(5))
    """

    def __init__(self, start: Instant, end: Instant) -> None:
        owner = type(self).__name__
        self._start, self._end = moment(start, f"{owner} start"), moment(end, f"{owner} end")

    def intersects(self, other: "IntervalWindow") -> bool:
        """Whether either begins before the other ends; as in Beam, nearly always."""
        return other.start < self.end or self.start < other.end

    def union(self, other: "IntervalWindow") -> "IntervalWindow":
        """The least window that holds both."""
        return IntervalWindow(min(self.start, other.start), max(self.end, other.end))


class GlobalWindow(BoundedWindow):
    """The window of everything; there is one."""

    _instance: ClassVar["GlobalWindow | None"] = None

    def __new__(cls) -> "GlobalWindow":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance._start = MIN_TIMESTAMP
            cls._instance._end = Timestamp(micros=1000 * END_OF_GLOBAL_WINDOW)
        return cls._instance

    def __hash__(self) -> int:
        return hash(windows.GLOBAL_WINDOW)

    def __reduce__(self) -> Any:
        return GlobalWindow, ()

    def __repr__(self) -> str:
        return "GlobalWindow"


@lru_cache(maxsize=4096)
def of_model(window: windows.Window) -> BoundedWindow:
    """The window of Beam's for one of the core."""
    if isinstance(window, windows.GlobalWindow):
        return GlobalWindow()
    return IntervalWindow(Timestamp.of_millis(window.start), Timestamp.of_millis(window.end))


def model_of(window: Any, owner: str) -> windows.Window:
    """The window of the core for one of Beam's: its bounds, rounded down to the millisecond."""
    if type(window) is IntervalWindow:
        # A window of the global one's end or later would never come out.
        end = min(window.end.instant_ms, END_OF_GLOBAL_WINDOW + 1)
        return windows.IntervalWindow(window.start.instant_ms, end)
    if type(window) is GlobalWindow:
        return windows.GLOBAL_WINDOW
    if isinstance(window, windows.IntervalWindow | windows.GlobalWindow):
        return window
    raise WindowingError(
        f"{owner} gave the window {window!r} of the class {type(window).__name__}, and only the "
        "bounds of a window are kept; give windows of the classes IntervalWindow and GlobalWindow "
        "themselves, and put what else belongs to a window into the key"
    )


class TimestampedValue(_MadeOfFields, Timestamped[T], Generic[T]):
    """An element with an event time of its own.

    Args:
        value: The element.
        timestamp: When it happens; kept as a `Timestamp`.

    Raises:
        TimeError: It is no instant, or before or after all time.

    Source: Beam Python ``TimestampedValue``.

    >>> TimestampedValue("tea", 90).timestamp
    Timestamp(90)
    """

    def __init__(self, value: T, timestamp: Instant) -> None:
        self.value = value
        self.timestamp = _within_time(timestamp, f"{type(self).__name__} timestamp")

    @property
    def millis(self) -> int:
        """The event time (ms)."""
        return self.timestamp.instant_ms

    def __eq__(self, other: object) -> bool:
        if type(other) is type(self):
            assert isinstance(other, TimestampedValue)
            return bool(self.value == other.value and self.timestamp == other.timestamp)
        return False

    def __hash__(self) -> int:
        return hash((self.value, self.timestamp))

    def __lt__(self, other: Any) -> bool:
        if type(other) is not type(self):
            return type(self).__name__ < type(other).__name__
        if self.value != other.value:
            return bool(self.value < other.value)  # type: ignore[operator]
        return self.timestamp < other.timestamp

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r}, {self.timestamp!r})"


class WindowedValue(Located):
    """An element with its event time, its windows and its pane.

    Args:
        value: The element.
        timestamp: When it happens; kept as a `Timestamp`.
        windows: The windows that it is in. None at all, as test streams are given: the global one.
        pane_info: The pane that it came in.

    Raises:
        TimeError: ``timestamp`` is no instant.
    """

    def __init__(
        self,
        value: Any,
        timestamp: Instant,
        windows: Iterable[Any] = (GlobalWindow(),),
        pane_info: PaneInfo = NO_FIRING,
    ) -> None:
        self.value = value
        self.timestamp = _within_time(timestamp, "WindowedValue timestamp")
        self.windows = windows if isinstance(windows, list | tuple) else tuple(windows)
        self.pane_info = pane_info

    @classmethod
    def of_model(cls, element: Windowed) -> Self:
        """A windowed value from an element of the core."""
        timestamp = Timestamp.of_millis(element.timestamp)
        return cls(element.value, timestamp, tuple(map(of_model, element.windows)), element.pane)

    def windowed(self) -> Windowed:
        """The element as the core has it.

        Raises:
            WindowingError: A window is of a class of its own.
        """
        windows = tuple(model_of(window, "a WindowedValue") for window in self.windows)
        return Windowed(self.value, self.timestamp.instant_ms, windows, self.pane_info)

    def with_value(self, new_value: Any) -> "WindowedValue":
        """A copy with another element."""
        return WindowedValue(new_value, self.timestamp, self.windows, self.pane_info)

    def _parts(self) -> tuple[Any, ...]:
        return self.value, self.timestamp, tuple(self.windows), self.pane_info

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WindowedValue):
            return NotImplemented
        return type(other) is type(self) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        time = _ENDS.get(self.timestamp) or float(self.timestamp)
        return f"({self.value!r}, {time}, {self.windows}, {self.pane_info})"


def _within_time(value: Instant, argument: str) -> Timestamp:
    timestamp = moment(value, argument)
    if not _LEAST <= timestamp.micros <= _MOST:  # as numbers: each element is compared
        raise TimeError(
            f"{argument} must lie between {MIN_TIMESTAMP} and {MAX_TIMESTAMP}, got {timestamp}"
        )
    return timestamp


_LEAST: Final = MIN_TIMESTAMP.micros
_MOST: Final = MAX_TIMESTAMP.micros
_ENDS: Final = {MIN_TIMESTAMP: "MIN_TIMESTAMP", MAX_TIMESTAMP: "MAX_TIMESTAMP"}
