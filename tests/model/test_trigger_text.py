"""Triggers from their text."""

from random import Random

import pytest

from beamlike.errors import TriggerError
from beamlike.model.texts import trigger_of
from beamlike.model.triggers import (
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
from tests.support.generated.strategies import any_trigger
from tests.support.refusals import refusal


@pytest.mark.parametrize(
    "trigger",
    [
        DefaultTrigger(),
        AfterSynchronizedProcessingTime(),
        AfterWatermark(),
        AfterWatermark(early=AfterProcessingTime()),
        AfterWatermark(late=AfterFirst(AfterCount(2), Never())),
        AfterProcessingTime("1m 30s", AlignTo("1 hour", offset="5 s"), AlignTo("1 day")),
        OrFinally(Repeatedly(AfterCount(3)), AfterEach(Always(), AfterWatermark())),
    ],
    ids=str,
)
def test_a_trigger_comes_back_from_its_text(trigger: Trigger) -> None:
    assert trigger_of(str(trigger)) == trigger


@pytest.mark.parametrize("seed", range(50))
def test_any_trigger_comes_back_from_its_text(seed: int) -> None:
    trigger = any_trigger(Random(seed))

    assert trigger_of(str(trigger)) == trigger


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", " ('' has no parentheses)"),
        ("AfterMoon()", " (there is no trigger AfterMoon with these parts)"),
        ("Never(3)", " (there is no trigger Never with these parts)"),
        ("AfterCount(x)", " (invalid literal for int() with base 10: 'x')"),
        ("AfterWatermark(soon=Never())", " ('soon=Never()' has no parentheses)"),
        ("Repeatedly()", ""),
    ],
)
def test_what_is_no_trigger_is_refused(text: str, why: str) -> None:
    assert refusal(TriggerError, lambda: trigger_of(text)) == (
        f"{text!r} is not the text of a trigger{why}; write it as "
        '"AfterWatermark(early=AfterCount(3))"'
    )


def test_a_text_that_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(TriggerError, match="is not the text of a trigger"):
        trigger_of("Repeatedly(" * 1_000 + "Never()" + ")" * 1_000)
