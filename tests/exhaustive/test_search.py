"""All engines agree on every small stream; and the search finds what is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest

from beamlike.machine.reference import emission
from beamlike.model.panes import PaneInfo, Timing, next_pane
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, AfterWatermark, Repeatedly
from beamlike.model.windowfns import FixedWindows
from tests.exhaustive.engines import Engine, from_script, in_memory, local, reference
from tests.exhaustive.events import Arrive, Watermark
from tests.exhaustive.search import Difference, search
from tests.exhaustive.strategies import STRATEGIES, deep, wide
from tests.exhaustive.streams import Alphabet, count_of
from tests.exhaustive.work import check_cheaply

EVENTS = 2
"""Here; the command goes further."""

PARTS = 5
"""The reference machine is compared under all strategies, in parts. The runtime, which costs as
much for one stream as for a hundred, is compared under the first part."""


@pytest.mark.parametrize("part", range(PARTS))
def test_model_and_reference_machine_agree_on_every_stream(part: int) -> None:
    assert_agreement(STRATEGIES[part::PARTS], {"reference": reference})


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_model_and_runtime_agree_on_every_stream(part: int) -> None:
    assert_agreement(STRATEGIES[::PARTS][part::2], {"local": local})


def assert_agreement(
    strategies: Sequence[WindowingStrategy], engines: Mapping[str, Engine]
) -> None:
    for strategy in strategies:
        alphabet = attrs.evolve(wide(strategy), events=EVENTS)

        found = search(strategy, alphabet, engines=engines, check=check_cheaply)

        assert "\n".join(map(str, found.differences)) == ""
        assert found.streams == count_of(alphabet)


def test_the_strategies_of_the_runtime_have_each_trigger_and_window_function() -> None:
    chosen = STRATEGIES[::PARTS]

    assert {str(one.trigger) for one in chosen} == {str(one.trigger) for one in STRATEGIES}
    assert {str(one.window_fn) for one in chosen} == {str(one.window_fn) for one in STRATEGIES}


def test_they_agree_on_more_events_of_one_strategy() -> None:
    strategy = WindowingStrategy(
        Sessions(5), AfterWatermark(early=AfterCount(2), late=AfterCount(1)), "retracting", 1
    )

    alphabet = attrs.evolve(deep(strategy), events=4)

    found = search(strategy, alphabet)

    assert (found.differences, found.streams) == ((), count_of(alphabet))


def test_an_engine_that_plays_scripts_is_compared_too() -> None:
    strategy = WindowingStrategy(FixedWindows(10), Repeatedly(AfterCount(2)), "accumulating", 7)
    alphabet = attrs.evolve(wide(strategy), events=3)

    found = search(strategy, alphabet, engines={"scripts": from_script(in_memory)})

    assert (found.differences, found.streams) == ((), count_of(alphabet))


# -- planted mistakes ------------------------------------------------------------------------------


def playing_another(engine: Engine, changes: dict[str, Any]) -> Engine:
    """An engine that plays another strategy than the one it is given."""
    return lambda strategy: engine(strategy.configured(**changes))


STRATEGY = WindowingStrategy(
    Sessions(5),
    AfterWatermark(early=AfterCount(2), late=AfterCount(1)),
    "retracting",
    allowed_lateness=7,
    timestamp_combiner="earliest",
)

MISTAKES: Sequence[dict[str, Any]] = (
    {"allowed_lateness": 8},
    {"window_fn": Sessions(5, merge_touching=True)},
    {"window_fn": Sessions(6)},
    {"accumulation": "accumulating"},
    {"accumulation": "discarding"},
    {"timestamp_combiner": "latest"},
    {"timestamp_combiner": "end_of_window"},
    {"closing_behavior": "fire_always"},
    {"on_time_behavior": "fire_if_non_empty"},
    {"trigger": AfterWatermark(early=AfterCount(3), late=AfterCount(1))},
    {"trigger": AfterWatermark(early=AfterCount(2))},
)


@pytest.mark.parametrize("engine", [reference, local])
@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_an_engine_with_another_rule_is_found(engine: Engine, mistake: dict[str, Any]) -> None:
    engines = {"mistaken": playing_another(engine, mistake)}

    found = search(STRATEGY, attrs.evolve(wide(STRATEGY), events=3), engines=engines, enough=1)

    assert [difference.what for difference in found.differences] == ["mistaken"]


def test_a_mistake_in_the_machine_is_shown_with_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    def never_late(previous: PaneInfo | None, **facts: bool) -> PaneInfo:
        info = next_pane(previous, **facts)
        return attrs.evolve(info, timing=Timing.ON_TIME) if info.timing is Timing.LATE else info

    monkeypatch.setattr(emission, "next_pane", never_late)
    strategy = WindowingStrategy(
        FixedWindows(10), allowed_lateness=1, on_time_behavior="fire_if_non_empty"
    )

    found = search(strategy, Alphabet((0,), (10,), (), 2), enough=1)

    late = (1, "pane", 0, 10, 1, 9, "LATE", 0, 0, True, False)
    assert found.differences == (
        Difference(
            strategy,
            (Watermark(10), Arrive((0,))),
            "reference",
            missing=(late,),
            unexpected=((*late[:6], "ON_TIME", *late[7:]),),
        ),
    )
    assert str(found.differences[0]).splitlines() == [
        "reference: FixedWindows(10ms), DefaultTrigger(), discarding, allowed lateness 1ms, "
        "on-time behavior fire_if_non_empty",
        "  watermark 10; +0",
        f"  missing: {late}",
        f"  unexpected: {(*late[:6], 'ON_TIME', *late[7:])}",
    ]
