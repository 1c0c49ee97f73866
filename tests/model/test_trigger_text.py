"""Triggers from their text."""

from random import Random

import pytest

import beamlike as bl
from beamlike.errors import TriggerError
from beamlike.model.texts import trigger_of
from tests.support.generated.strategies import any_trigger
from tests.support.refusals import refusal


@pytest.mark.parametrize(
    "trigger",
    [
        bl.DefaultTrigger(),
        bl.AfterSynchronizedProcessingTime(),
        bl.AfterWatermark(),
        bl.AfterWatermark(early=bl.AfterProcessingTime()),
        bl.AfterWatermark(late=bl.AfterFirst(bl.AfterCount(2), bl.Never())),
        bl.AfterProcessingTime("1m 30s", bl.AlignTo("1 hour", offset="5 s"), bl.AlignTo("1 day")),
        bl.OrFinally(
            bl.Repeatedly(bl.AfterCount(3)), bl.AfterEach(bl.Always(), bl.AfterWatermark())
        ),
    ],
    ids=str,
)
def test_a_trigger_comes_back_from_its_text(trigger: bl.Trigger) -> None:
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
