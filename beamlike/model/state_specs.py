"""The states and timers that a stateful function declares: their names, kinds and coders.

Source: Beam Java ``StateSpecs``, ``TimerSpecs``; Beam Python ``transforms.userstate``.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final

from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.model.coders import Coder
from beamlike.model.combine import CombineFn


class StateSpec:
    """A state of a stateful function: there is one for each key and window.

    Two specs are equal if they are the same object. Saved state knows a spec by its name.

    Args:
        name: Its name, unique in its function.
        coder: How its values become bytes.

    Raises:
        PipelineTypeError: ``name`` is no text or ``coder`` no coder.

    Source: Beam Python ``StateSpec``.
    """

    container: ClassVar[str] = ""

    def __init__(self, name: str, coder: Coder) -> None:
        self.name = _named(name, type(self).__name__)
        self.coder = _coder(coder, name, type(self).__name__)

    @property
    def state_identity(self) -> str:
        """What saved state depends on: the kind and the coder."""
        return f"{self.name}: {self.container} {self.coder}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class ReadModifyWriteStateSpec(StateSpec):
    """One value. Source: Beam ``ValueState``, Beam Python ``ReadModifyWriteStateSpec``."""

    container = "value"


class BagStateSpec(StateSpec):
    """Values in the order in which they were added. Source: Beam ``BagState``."""

    container = "bag"


class SetStateSpec(StateSpec):
    """Values, each once: two are one if their coder gives them the same bytes.

    Source: Beam ``SetState``.
    """

    container = "set"


class OrderedListStateSpec(StateSpec):
    """Values in the order of instants that they are added with. Source: Beam ``OrderedListState``.

    A subclass says in which form users write instants.
    """

    container = "ordered list"

    def millis(self, instant: Any) -> int:
        """An instant of the user's, in milliseconds."""
        return int(instant)

    def shown(self, millis: int) -> Any:
        """An instant (ms) as the user is shown it."""
        return millis


class MapStateSpec(StateSpec):
    """Values by keys: two keys are one if their coder gives them the same bytes.

    Args:
        name: Its name, unique in its function.
        key_coder: How its keys become bytes.
        value_coder: How its values do.

    Source: Beam Java ``MapState``.
    """

    container = "map"

    def __init__(self, name: str, key_coder: Coder, value_coder: Coder) -> None:
        super().__init__(name, value_coder)
        self.key_coder = _coder(key_coder, name, type(self).__name__)

    @property
    def state_identity(self) -> str:
        return f"{self.name}: {self.container} {self.key_coder} {self.coder}"


class CombiningValueStateSpec(StateSpec):
    """One value, which a combine function makes of all that is added.

    Args:
        name: Its name, unique in its function.
        coder: How accumulators become bytes.
        combine_fn: Makes the value.

    Source: Beam ``CombiningState``, Beam Python ``CombiningValueStateSpec``.
    """

    container = "combined"

    def __init__(self, name: str, coder: Coder, combine_fn: CombineFn) -> None:
        super().__init__(name, coder)
        self.combine_fn = combine_fn

    @property
    def state_identity(self) -> str:
        return f"{self.name}: {self.container} {self.combine_fn} {self.coder}"


class TimeDomain:
    """Which time a timer waits for. Source: Beam Python ``TimeDomain``."""

    WATERMARK: ClassVar[str] = "WATERMARK"
    """Event time: the input watermark."""
    REAL_TIME: ClassVar[str] = "REAL_TIME"
    """Processing time, by the clock that triggers count by."""


_DOMAINS: Final = (TimeDomain.WATERMARK, TimeDomain.REAL_TIME)


class TimerSpec:
    """A timer of a stateful function, or a family of timers that have tags.

    Two specs are equal if they are the same object. Saved state knows a spec by its name.

    Args:
        name: Its name, unique in its function.
        time_domain: `TimeDomain.WATERMARK` or `TimeDomain.REAL_TIME`.

    Raises:
        PipelineTypeError: ``name`` is no text.
        PipelineError: There is no such time domain.

    Source: Beam Python ``TimerSpec``, Beam Java ``TimerSpec`` and ``TimerMap``.
    """

    def __init__(self, name: str, time_domain: str = TimeDomain.WATERMARK) -> None:
        self.name = _named(name, "TimerSpec")
        if time_domain not in _DOMAINS:
            raise PipelineError(
                f"Unsupported TimeDomain: {time_domain!r}. Write TimeDomain.WATERMARK or "
                "TimeDomain.REAL_TIME"
            )
        self.time_domain = time_domain
        self.callback: Callable[..., Any] | None = None

    @property
    def is_event_time(self) -> bool:
        """Whether it waits for the watermark."""
        return self.time_domain == TimeDomain.WATERMARK

    @property
    def state_identity(self) -> str:
        """What saved timers depend on."""
        return f"{self.name}: {self.time_domain}"

    def __repr__(self) -> str:
        return f"TimerSpec({self.name})"


def _named(name: object, owner: str) -> str:
    if not isinstance(name, str):
        raise PipelineTypeError(f"{owner} name is not a string: {name!r}; write {owner}('name')")
    return name


def _coder(coder: object, name: str, owner: str) -> Coder:
    if isinstance(coder, type) and issubclass(coder, Coder):
        coder = coder()
    if not isinstance(coder, Coder):
        raise PipelineTypeError(
            f"{owner}({name}) coder is not of type Coder: {coder!r}; give one of coders, such as "
            "coders.StrUtf8Coder() or coders.PickleCoder()"
        )
    return coder
