"""What a trigger becomes behind a grouping, and the watermark from which its first pane is sure."""

import pytest

from beamlike.errors import TriggerError, UnsupportedError
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP
from beamlike.model.trigger_base import continuation
from beamlike.model.triggers import (
    AfterAll,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterProcessingTime,
    AfterSynchronizedProcessingTime,
    AfterWatermark,
    AlignTo,
    Always,
    DefaultTrigger,
    Never,
    OrFinally,
    Repeatedly,
    Trigger,
)
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow
from tests.support.refusals import refusal

COUNT, ONE = AfterCount(5), AfterCount(1)
DELAY, SYNCHRONIZED = AfterProcessingTime("1 minute"), AfterSynchronizedProcessingTime()


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (DELAY, SYNCHRONIZED),
        (AfterProcessingTime("1 s", AlignTo("1 minute")), SYNCHRONIZED),
        (AfterWatermark(early=COUNT), AfterWatermark(early=ONE)),
        (AfterWatermark(late=DELAY), AfterWatermark(late=SYNCHRONIZED)),
        (AfterWatermark(DELAY, COUNT), AfterWatermark(SYNCHRONIZED, ONE)),
        (AfterFirst(COUNT, DELAY), AfterFirst(ONE, SYNCHRONIZED)),
        (AfterAll(COUNT, DELAY), AfterAll(ONE, SYNCHRONIZED)),
        (Repeatedly(COUNT), Repeatedly(ONE)),
        (AfterEach(COUNT, DELAY), Repeatedly(AfterFirst(ONE, SYNCHRONIZED))),
        (OrFinally(COUNT, until=DELAY), Repeatedly(OrFinally(ONE, until=SYNCHRONIZED))),
        (
            Repeatedly(AfterEach(AfterFirst(COUNT, Never()), AfterWatermark(early=COUNT))),
            Repeatedly(Repeatedly(AfterFirst(AfterFirst(ONE, Never()), AfterWatermark(early=ONE)))),
        ),
    ],
    ids=str,
)
def test_composites_continue_with_the_continuations_of_their_parts(trigger, expected):
    assert continuation(trigger) == expected


@pytest.mark.parametrize(
    "trigger", [DefaultTrigger(), AfterWatermark(), Never(), Always(), ONE, SYNCHRONIZED], ids=str
)
def test_what_waits_for_nothing_of_its_own_stays_as_it_is(trigger):
    assert continuation(trigger) == trigger


WINDOW = IntervalWindow(0, 60_000)
END = 59_999


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (DefaultTrigger(), END),
        (AfterWatermark(), END),
        (AfterWatermark(early=COUNT, late=Never()), END),
        (Always(), END),
        (COUNT, MAX_TIMESTAMP),
        (DELAY, MAX_TIMESTAMP),
        (SYNCHRONIZED, MAX_TIMESTAMP),
        (Never(), MAX_TIMESTAMP),
        (AfterFirst(COUNT, AfterWatermark()), END),
        (AfterAll(COUNT, AfterWatermark()), MAX_TIMESTAMP),
        (AfterAll(DefaultTrigger(), AfterWatermark()), END),
        (AfterEach(AfterWatermark(), COUNT), END),
        (AfterEach(COUNT, AfterWatermark()), MAX_TIMESTAMP),
        (Repeatedly(AfterWatermark()), END),
        (Repeatedly(COUNT), MAX_TIMESTAMP),
        (OrFinally(COUNT, until=AfterWatermark()), END),
        (OrFinally(AfterWatermark(), until=COUNT), END),
        (OrFinally(COUNT, until=DELAY), MAX_TIMESTAMP),
    ],
    ids=str,
)
def test_the_watermark_that_guarantees_a_first_firing(trigger, expected):
    assert trigger.latest_first_firing(WINDOW) == expected


def test_in_the_global_window_it_is_the_end_of_time():
    assert AfterWatermark().latest_first_firing(GLOBAL_WINDOW) == END_OF_GLOBAL_WINDOW


class Mine(Trigger):
    def __repr__(self) -> str:
        return "Mine()"


@pytest.mark.parametrize(
    "ask", [continuation, lambda trigger: trigger.latest_first_firing(WINDOW)], ids=["next", "sure"]
)
@pytest.mark.parametrize("trigger", [Mine(), Repeatedly(Mine())], ids=["itself", "inside"])
def test_of_a_trigger_of_ones_own_nothing_is_known(ask, trigger):
    assert refusal(UnsupportedError, lambda: ask(trigger)) == (
        "Mine() is not a trigger that beamlike knows; build it from those of "
        "beamlike.model.triggers, or make its class a beamlike.CustomTrigger"
    )


def test_what_is_no_trigger_has_no_continuation() -> None:
    with pytest.raises(TriggerError) as refused:
        continuation(5)
    assert str(refused.value) == "continuation needs a trigger such as AfterCount(1), got 5"
