"""A trigger of one's own and the moments to try it at: what the rules of triggers ask.

The moments are those of random streams, played with the trigger alone. They are drawn with a fixed
seed, so that a check is the same each time.
"""

import pickle
from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random
from typing import Any, Final, ParamSpec, TypeVar

import attrs

from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.trigger_context import ArrivedElements, TriggerContext
from beamlike.model.windows import IntervalWindow
from beamlike.testing.contracts.values import UserFunctionRaised, short

Elements = Sequence[tuple[int, Any]]
"""Timestamps (ms) and values."""

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

MOVES: Final = (1, 7, 999, 1_000, 30_000, 60_000, 600_000, 3_600_000, 86_400_000)
"""By how much a clock moves on (ms)."""

_STREAMS: Final = 150
_EVENTS: Final = 12


@attrs.frozen
class TriggerMoment:
    """What a trigger kept at a moment, and whether it was ready."""

    state: Any
    now: TriggerContext
    ready: bool


@attrs.frozen(slots=False)
class TriggerCase:
    """A trigger, and the elements and the window to try it on."""

    trigger: CustomTrigger[Any]
    values: tuple[Any, ...]
    length: int

    @cached_property
    def seen(self) -> list[TriggerMoment]:
        """All moments of all streams."""
        seen: list[TriggerMoment] = []
        for seed in range(_STREAMS):
            seen += self._play(Random(seed))
        return seen

    @cached_property
    def window(self) -> IntervalWindow:
        return IntervalWindow(0, self.length)

    def _play(self, random: Random) -> list[TriggerMoment]:
        now = TriggerContext(self.window, random.choice((MIN_TIMESTAMP, 0)), 0)
        state, seen = self.ask(self.trigger.start), list[TriggerMoment]()
        for _ in range(_EVENTS):
            move = random.choice(MOVES)
            match random.choice(("elements", "elements", "clock", "watermark", "pane")):
                case "elements":
                    state = self.add(state, self.any_elements(random), now)
                case "clock":
                    now = attrs.evolve(now, clock=now.clock + move)
                case "watermark":
                    now = attrs.evolve(now, watermark=max(now.watermark, 0) + move)
                case _:
                    state = self.ask(self.trigger.on_pane, state, now)
            ready = self.ask(self.trigger.is_ready, state, now)
            seen.append(TriggerMoment(state, now, ready))
            if ready:
                state = self.ask(self.trigger.on_fire, state, now)
        return seen

    def any_elements(self, random: Random) -> list[tuple[int, Any]]:
        """One to four elements of the window."""
        return [
            (random.randrange(self.length), random.choice(self.values))
            for _ in range(random.randint(1, 4))
        ]

    def add(self, state: Any, elements: Elements, now: TriggerContext) -> Any:
        """What it keeps after a bundle."""
        return self.ask(self.trigger.on_elements, state, self._arrived(elements), now)

    def _arrived(self, elements: Elements) -> ArrivedElements:
        return self.trigger.arrived(len(elements), elements)

    def ask(
        self, method: Callable[Given, Answer], *args: Given.args, **more: Given.kwargs
    ) -> Answer:
        """The answer of a method of the trigger."""
        try:
            return method(*args, **more)
        except NotImplementedError as error:
            raise UserFunctionRaised(f"it has no method {method.__name__}; write one") from error
        except Exception as error:
            given = ", ".join(map(shown, args))
            raise UserFunctionRaised(f"{method.__name__}({given}) raises {error!r}") from error


def same(one: Any, other: Any) -> bool:
    """Whether two states are the same."""
    try:
        return bool(one == other)
    except Exception:
        return pickle.dumps(one) == pickle.dumps(other)


def shown(value: Any) -> str:
    """A state, or a moment, in a few words."""
    if isinstance(value, TriggerContext):
        return f"watermark {value.watermark}, clock {value.clock}"
    if isinstance(value, ArrivedElements):
        return f"{value.count} elements"
    return short(value)
