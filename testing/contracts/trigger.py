"""The contract of triggers, as a check for those that users write.

    def test_every_tenth_is_a_trigger():
        check_trigger(EveryTenth())

A failure has one sentence for each broken rule, with an example.
"""

from collections.abc import Iterable
from typing import Any

from beamlike.errors import TestStreamError
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.time import DurationLike, duration_ms
from beamlike.testing.contracts.trigger_cases import Case
from beamlike.testing.contracts.trigger_rules import broken_rules
from beamlike.testing.contracts.values import ContractAssertionError


class TriggerAssertionError(ContractAssertionError):
    """A trigger breaks its contract. ``broken`` has a sentence for each rule."""


def check_trigger(
    trigger: CustomTrigger[Any],
    *,
    values: Iterable[Any] = range(10),
    window: DurationLike = "1 hour",
) -> None:
    """Check that a trigger of one's own keeps the contract which every host relies on.

    It is a frozen value that survives pickling and prints the same in every process. What it keeps
    is what its class says and can be saved; its methods change nothing. How elements are cut into
    bundles does not matter; merging is associative. A firing leaves nothing that a second call
    would change; it finishes as ``firings`` says. Whatever time makes it ready has a timer, and
    elements alone make it ready only if ``fires_on_arrival`` says so.

    The rules are tried at the moments of random streams: bundles of up to four elements, a clock
    and a watermark that move on by a millisecond to a day, and panes that others fired.

    Args:
        trigger: The trigger.
        values: Values of elements, for triggers that look at them.
        window: How long the window is that it is tried in.

    Raises:
        TriggerAssertionError: A rule is broken.
        TestStreamError: There is nothing to check: the trigger never gets ready, there are no
            values, or the window has no length; or ``trigger`` is no `CustomTrigger`.
        TimeError: The window's length cannot be read.

    >>> from beamlike import AfterSilence
    >>> check_trigger(AfterSilence("30 seconds"))
    """
    if not isinstance(trigger, CustomTrigger):
        raise TestStreamError(
            "check_trigger needs a trigger whose class is a beamlike.CustomTrigger, got "
            f"{trigger!r}"
        )
    given, length = tuple(values), duration_ms(window, "check_trigger window")
    if not given or length == 0:
        raise TestStreamError(
            "check_trigger has nothing to check: give at least one value, and a window of 1 ms or "
            "more"
        )
    broken = broken_rules(Case(trigger, given, length))
    TriggerAssertionError.refuse(trigger, broken, "rule", "triggers")
