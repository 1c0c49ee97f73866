"""What a trigger becomes behind a grouping, and the watermark from which its first pane is sure."""

import pytest

import beamlike as bl
from beamlike.errors import TriggerError, UnsupportedError
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP
from tests.support.refusals import refusal

COUNT, ONE = bl.AfterCount(5), bl.AfterCount(1)
DELAY, SYNCHRONIZED = bl.AfterProcessingTime("1 minute"), bl.AfterSynchronizedProcessingTime()


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (DELAY, SYNCHRONIZED),
        (bl.AfterProcessingTime("1 s", bl.AlignTo("1 minute")), SYNCHRONIZED),
        (bl.AfterWatermark(early=COUNT), bl.AfterWatermark(early=ONE)),
        (bl.AfterWatermark(late=DELAY), bl.AfterWatermark(late=SYNCHRONIZED)),
        (bl.AfterWatermark(DELAY, COUNT), bl.AfterWatermark(SYNCHRONIZED, ONE)),
        (bl.AfterFirst(COUNT, DELAY), bl.AfterFirst(ONE, SYNCHRONIZED)),
        (bl.AfterAll(COUNT, DELAY), bl.AfterAll(ONE, SYNCHRONIZED)),
        (bl.Repeatedly(COUNT), bl.Repeatedly(ONE)),
        (bl.AfterEach(COUNT, DELAY), bl.Repeatedly(bl.AfterFirst(ONE, SYNCHRONIZED))),
        (bl.OrFinally(COUNT, until=DELAY), bl.Repeatedly(bl.OrFinally(ONE, until=SYNCHRONIZED))),
        (
            bl.Repeatedly(
                bl.AfterEach(bl.AfterFirst(COUNT, bl.Never()), bl.AfterWatermark(early=COUNT))
            ),
            bl.Repeatedly(
                bl.Repeatedly(
                    bl.AfterFirst(bl.AfterFirst(ONE, bl.Never()), bl.AfterWatermark(early=ONE))
                )
            ),
        ),
    ],
    ids=str,
)
def test_composites_continue_with_the_continuations_of_their_parts(trigger, expected):
    assert bl.continuation(trigger) == expected


@pytest.mark.parametrize(
    "trigger",
    [bl.DefaultTrigger(), bl.AfterWatermark(), bl.Never(), bl.Always(), ONE, SYNCHRONIZED],
    ids=str,
)
def test_what_waits_for_nothing_of_its_own_stays_as_it_is(trigger):
    assert bl.continuation(trigger) == trigger


WINDOW = bl.IntervalWindow(0, 60_000)
END = 59_999


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (bl.DefaultTrigger(), END),
        (bl.AfterWatermark(), END),
        (bl.AfterWatermark(early=COUNT, late=bl.Never()), END),
        (bl.Always(), END),
        (COUNT, MAX_TIMESTAMP),
        (DELAY, MAX_TIMESTAMP),
        (SYNCHRONIZED, MAX_TIMESTAMP),
        (bl.Never(), MAX_TIMESTAMP),
        (bl.AfterFirst(COUNT, bl.AfterWatermark()), END),
        (bl.AfterAll(COUNT, bl.AfterWatermark()), MAX_TIMESTAMP),
        (bl.AfterAll(bl.DefaultTrigger(), bl.AfterWatermark()), END),
        (bl.AfterEach(bl.AfterWatermark(), COUNT), END),
        (bl.AfterEach(COUNT, bl.AfterWatermark()), MAX_TIMESTAMP),
        (bl.Repeatedly(bl.AfterWatermark()), END),
        (bl.Repeatedly(COUNT), MAX_TIMESTAMP),
        (bl.OrFinally(COUNT, until=bl.AfterWatermark()), END),
        (bl.OrFinally(bl.AfterWatermark(), until=COUNT), END),
        (bl.OrFinally(COUNT, until=DELAY), MAX_TIMESTAMP),
    ],
    ids=str,
)
def test_the_watermark_that_guarantees_a_first_firing(trigger, expected):
    assert trigger.latest_first_firing(WINDOW) == expected


def test_in_the_global_window_it_is_the_end_of_time():
    assert bl.AfterWatermark().latest_first_firing(bl.GLOBAL_WINDOW) == END_OF_GLOBAL_WINDOW


class Mine(bl.Trigger):
    def __repr__(self) -> str:
        return "Mine()"


@pytest.mark.parametrize(
    "ask",
    [bl.continuation, lambda trigger: trigger.latest_first_firing(WINDOW)],
    ids=["next", "sure"],
)
@pytest.mark.parametrize("trigger", [Mine(), bl.Repeatedly(Mine())], ids=["itself", "inside"])
def test_of_a_trigger_of_ones_own_nothing_is_known(ask, trigger):
    assert refusal(UnsupportedError, lambda: ask(trigger)) == (
        "Mine() is not a trigger that beamlike knows; build it from those of "
        "beamlike.model.triggers, or make its class a beamlike.CustomTrigger"
    )


def test_what_is_no_trigger_has_no_continuation() -> None:
    with pytest.raises(TriggerError) as refused:
        bl.continuation(5)
    assert str(refused.value) == "continuation needs a trigger such as AfterCount(1), got 5"
