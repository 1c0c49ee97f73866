"""`check_trigger`: the laws of triggers, each with a trigger that breaks it."""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import TestStreamError, TriggerError
from beamlike.model.extra_triggers import EveryCount
from beamlike.model.triggers import AfterCount
from beamlike.testing import TriggerAssertionError, check_trigger
from tests.support.contracts import broken_by
from tests.support.generated.own_triggers import AfterSpend, CountedAgain, DelayedAgain
from tests.support.refusals import refusal

DELAYED = DelayedAgain(bl.AfterProcessingTime("1 minute"))


@pytest.mark.parametrize(
    "trigger",
    [
        AfterSpend(12),
        CountedAgain(3),
        DELAYED,
        EveryCount(3),
        bl.EveryProcessingTime("1 minute"),
        bl.EveryProcessingTime("1 minute", since_firing=True, tick="7s", fire_unchanged=True),
        bl.EveryEventTime("7 minutes"),
        bl.EveryEventTime("7 minutes", to_end=True, fire_unchanged=True),
        bl.AfterSilence("5 seconds"),
        bl.AfterDelta(3),
        bl.AfterTotal(12),
        bl.AfterTotal(-0.5),
    ],
    ids=str,
)
def test_the_triggers_here_keep_the_contract(trigger: bl.CustomTrigger[Any]) -> None:
    assert broken_by(check_trigger, trigger) == []


@attrs.frozen
class Mean(bl.CustomTrigger[float]):
    """Merges by the mean of two, from the left."""

    def start(self) -> float:
        return 0.0

    def on_elements(
        self, state: float, arrived: bl.ArrivedElements, now: bl.TriggerContext
    ) -> float:
        return state + arrived.count

    def is_ready(self, state: float, now: bl.TriggerContext) -> bool:
        return state >= 30

    def merge(self, states: Sequence[float], now: bl.TriggerContext) -> float:
        merged = states[0]
        for state in states[1:]:
            merged = (merged + state) / 2
        return merged


@attrs.frozen
class Bundles(CountedAgain):
    """Counts bundles."""

    def on_elements(self, state: int, arrived: bl.ArrivedElements, now: bl.TriggerContext) -> int:
        return state + 1


@attrs.frozen
class NoTimer(DelayedAgain):
    """Waits for the clock without a timer."""

    def processing_time_timers(self, state: int | None) -> Iterable[int]:
        return ()


@attrs.frozen
class AtTheEnd(CountedAgain):
    """Waits for the end of the window, and does not say so."""

    def is_ready(self, state: int, now: bl.TriggerContext) -> bool:
        return state > 0 and now.end_reached


@attrs.frozen
class NeverLast(CountedAgain):
    """Says that it finishes, and does not."""

    firings = "until finished"

    def finishes(self, state: int, now: bl.TriggerContext) -> bool:
        return False


@attrs.frozen
class Unasked(CountedAgain):
    """Has an answer to a question that is not asked."""

    firings = "repeated"

    def finishes(self, state: int, now: bl.TriggerContext) -> bool:
        return state > 5


@attrs.frozen
class FiresUnchanged(CountedAgain):
    """Goes on being ready after it fired."""

    firings = "repeated"

    def on_fire(self, state: int, now: bl.TriggerContext) -> int:
        return state

    @property
    def fires_unchanged(self) -> bool:
        return True


@attrs.frozen
class Halves(CountedAgain):
    """Keeps half of its count at each firing."""

    firings = "repeated"

    def on_fire(self, state: int, now: bl.TriggerContext) -> int:
        return state // 2


@attrs.frozen
class AtOnce(CountedAgain):
    """Elements make it ready, and it says that they do not."""

    fires_on_arrival = False


@attrs.frozen
class Appends(bl.CustomTrigger[list[int]]):
    """Changes the list that it is given."""

    def start(self) -> list[int]:
        return []

    def on_elements(
        self, state: list[int], arrived: bl.ArrivedElements, now: bl.TriggerContext
    ) -> list[int]:
        state.append(arrived.count)
        return state

    def is_ready(self, state: list[int], now: bl.TriggerContext) -> bool:
        return sum(state) > 3

    def merge(self, states: Sequence[list[int]], now: bl.TriggerContext) -> list[int]:
        return [count for state in states for count in state]


@attrs.frozen
class Fraction(CountedAgain):
    """Keeps what is no whole number, and says that it does."""

    keeps = "number"

    def start(self) -> Any:
        return 0.5


@attrs.frozen
class Blind(CountedAgain):
    """Looks at values that it did not ask for."""

    def on_elements(self, state: int, arrived: bl.ArrivedElements, now: bl.TriggerContext) -> int:
        return state + len(arrived.values)


@attrs.frozen
class Unmerged(bl.CustomTrigger[None]):
    """Has no merge."""

    def on_elements(self, state: None, arrived: bl.ArrivedElements, now: bl.TriggerContext) -> None:
        return None

    def is_ready(self, state: None, now: bl.TriggerContext) -> bool:
        return True


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        (Mean(), "merge must be associative"),
        (Bundles(3), "how elements are cut into bundles must not matter"),
        (NoTimer(bl.AfterProcessingTime("1 minute")), "name one in processing_time_timers"),
        (AtTheEnd(1), "or write waits_for_end = True"),
        (NeverLast(2), 'ready 500 times and never finished; write firings = "repeated"'),
        (Unasked(2), 'finishes is not asked with firings = "repeated"'),
        (FiresUnchanged(2), "right after its firing"),
        (Halves(2), "called twice at one moment it must change nothing more"),
        (AtOnce(2), "write fires_on_arrival = True"),
        (Appends(), "changes the state that it is given; return a new one"),
        (Fraction(2), 'write keeps = "value"'),
        (Blind(2), 'write looks_at = "values" in its class'),
        (Unmerged(), "it has no method merge; write one"),
    ],
    ids=lambda given: str(given) if isinstance(given, bl.CustomTrigger) else "",
)
def test_a_broken_rule_is_named(trigger: bl.CustomTrigger[Any], said: str) -> None:
    with pytest.raises(TriggerAssertionError) as broken:
        check_trigger(trigger)

    assert str(broken.value).startswith(f"{trigger} breaks ")
    assert said in str(broken.value)


def test_a_trigger_that_cannot_travel_is_named() -> None:
    (broken,) = broken_by(check_trigger, CountedAgain(Locked(2)))
    assert broken.startswith("it cannot be pickled (it holds a lock)")


class Locked(int):
    """A number that no process can send to another."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("it holds a lock")


def test_a_class_without_a_module_may_be_checked() -> None:
    @attrs.frozen
    class Local(CountedAgain):
        pass

    check_trigger(Local(2))


@pytest.mark.parametrize(
    ("trigger", "given", "said"),
    [
        (AfterCount(3), {}, "whose class is a beamlike.CustomTrigger, got AfterCount(count=3)"),
        (CountedAgain(10**9), {}, "CountedAgain(count=1000000000) never gets ready"),
        (CountedAgain(2), {"values": ()}, "at least one value"),
        (CountedAgain(2), {"window": 0}, "a window of 1 ms or more"),
    ],
)
def test_a_check_that_could_not_fail_is_refused(trigger: Any, given: dict[str, Any], said: str):
    assert said in refusal(TestStreamError, lambda: check_trigger(trigger, **given))


def test_a_class_that_says_nonsense_is_refused_as_it_is_made() -> None:
    with pytest.raises(TriggerError, match=r"firings of Once must be one of .*, got 'sometimes'"):
        type("Once", (bl.CustomTrigger,), {"firings": "sometimes"})
    with pytest.raises(TriggerError, match="AfterCount is the name of a trigger of beamlike"):
        type("AfterCount", (bl.CustomTrigger,), {})
    with pytest.raises(TriggerError, match="EveryCount is the name of a trigger of beamlike"):
        type("EveryCount", (bl.CustomTrigger,), {})
