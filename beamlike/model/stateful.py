"""What a machine calls of a stateful function, and what the function may reach in a call.

Source: Beam Java ``DoFn`` with ``@StateId``, ``@TimerId``, ``@OnTimer``, ``@OnWindowExpiration``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import attrs

from beamlike.model.bundle import Windowed
from beamlike.model.resolution import Resolution
from beamlike.model.state_specs import ReadModifyWriteStateSpec, StateSpec, TimerSpec
from beamlike.model.windows import Window
from beamlike.safe_text import UserRaised


class TimerControl(Protocol):
    """One timer of a key and window, or a family of timers that have tags."""

    spec: TimerSpec

    @property
    def now(self) -> int:
        """Where its clock stands (ms): the input watermark, or processing time."""
        ...

    @property
    def latest(self) -> int | None:
        """The last instant that it may be set to (ms); None if any will do."""
        ...

    def set(
        self, due: int, tag: str = "", output_timestamp: int | None = None, *, holds: bool = True
    ) -> None:
        """Call back when its clock is past this (ms); what it was set to before is forgotten.

        Args:
            output_timestamp: When what the callback brings out happens (ms). The output watermark
                waits there.
            holds: False: nothing waits for it, and it has no output timestamp.
        """
        ...

    def clear(self, tag: str = "") -> None:
        """Do not call back. Nothing happens if it is not set."""
        ...


class UserStates(Protocol):
    """What a stateful function may reach in a call: the states and timers of a key and window."""

    key: Any
    window: Window

    def state(self, spec: StateSpec) -> Any:
        """The state, see `beamlike.machine.userstate.cells`."""
        ...

    def timer(self, spec: TimerSpec) -> TimerControl:
        """The timer."""
        ...


@attrs.frozen
class DueTimer:
    """A timer that calls back.

    Args:
        spec: Which one.
        tag: Which of its family.
        instant: The instant that it was set to (ms), of its own clock.
        output_timestamp: When what it brings out happens (ms).
    """

    spec: TimerSpec
    tag: str
    instant: int
    output_timestamp: int


@attrs.frozen
class KeepsFirst:
    """What a function does that only brings out the first element of a key and window.

    The key is known from then on, until the timer forgets it. So machines may take all keys
    together, without a call for each element.

    Args:
        state: The state that is True while the key is known.
        timer: The timer that forgets it.
        within: How long after the element that is: after its event time, or after where the clock
            stood when it came, as the timer has it.
    """

    state: ReadModifyWriteStateSpec
    timer: TimerSpec
    within: int


class Lifecycle:
    """What is called of a function before its elements, between bundles of them, and at the end."""

    def setup(self) -> None:
        """Before the first bundle that this copy is given."""

    def start_bundle(self) -> None:
        """Before the first element of each bundle."""

    def finish_bundle(self) -> Iterable[tuple[str, Windowed]]:
        """After the last element of each bundle: what was kept back."""
        return ()

    def teardown(self) -> None:
        """After the last bundle that this copy is given."""


class StatefulFn(Lifecycle, ABC):
    """A function with states and timers for each key and window.

    Each call answers with what comes out: elements, each with the tag of an output.
    """

    states: Mapping[str, StateSpec]
    """The states that it declares, by name."""
    timers: Mapping[str, TimerSpec]
    """The timers that it declares, by name."""
    expires: bool = False
    """Whether it is called when a window expires."""
    sorts: bool = False
    """Whether it is given the elements of a key and window in order of event time."""
    keeps_first: KeepsFirst | None = None
    """If all that it does is to bring out the first element of a key and window, as `first` has it,
    until a timer forgets that there was one; None: it does anything else."""
    outlasts_input: bool = False
    """Whether a window stays beyond its expiry as long as a timer of it is set: for a function that
    has its own work left after its input has ended."""
    skew: int = 0
    """How far before its element, or its timer, an output may happen (ms)."""

    def in_resolution(self, resolution: Resolution) -> "StatefulFn":
        """The function as a query calls it that counts so; by default the function itself."""
        return self

    @abstractmethod
    def key_of(self, value: Any) -> Any:
        """The key of an element."""

    @abstractmethod
    def process(self, user_states: UserStates, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        """An element has come, in one window."""

    def first(self, value: Any) -> Any:
        """What the first element of a key becomes, where `keeps_first`."""
        raise NotImplementedError

    @abstractmethod
    def fire(self, user_states: UserStates, timer: DueTimer) -> Iterable[tuple[str, Windowed]]:
        """A timer calls back."""

    def expire(self, user_states: UserStates, timestamp: int) -> Iterable[tuple[str, Windowed]]:
        """The window has expired; afterwards its states are gone. What it brings out happens at
        ``timestamp`` (ms)."""
        return ()

    @property
    def answers_failures(self) -> bool:
        """Whether something comes out in place of what raises, see `failed`."""
        return False

    def failed(self, element: Windowed, error: UserRaised) -> Iterable[tuple[str, Windowed]] | None:
        """What comes out for an element that `process` raised for; None: that is a failure.

        What the call has changed is undone.
        """
        return None

    def shown(self, value: Any) -> Any:
        """An element as its owner knows it, for messages."""
        return value

    @property
    @abstractmethod
    def display_name(self) -> str:
        """The function in words, for messages."""

    def callback_words(self, spec: TimerSpec) -> str:
        """What a timer calls, in words."""
        return self.display_name

    @property
    def expiry_words(self) -> str:
        """What the end of a window calls, in words."""
        return self.display_name

    def start_bundle(self) -> None:
        """Before each call. What is to be done once in a bundle is done at the first of them."""
