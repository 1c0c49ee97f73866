"""A trigger of a user's own, against whole outputs written by hand, in memory and on local."""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import TranscriptError, UnsupportedError, UserFunctionError
from beamlike.hosts.local.nodes import run_in_local
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.machine.events import AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.reference.running import Now
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.changes import refused, strategy_words
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script
from beamlike.testing.scenarios.writing import write_scenario
from beamlike.testing.streams.as_code import as_test_stream
from tests.support.generated.own_triggers import AfterSpend, CountedAgain
from tests.support.refusals import refusal

Host = Callable[[bl.WindowingStrategy, Script], Run]

END = AdvanceWatermark(MAX_TIMESTAMP)


def in_memory(strategy: bl.WindowingStrategy, script: Script) -> Run:
    return run_in_memory(Grouping(strategy, Collect()), script)


def on_local(strategy: bl.WindowingStrategy, script: Script) -> Run:
    return run_in_local(strategy, Collect(), script)


@pytest.fixture(params=[in_memory, on_local], ids=["memory", "local"])
def play(request: pytest.FixtureRequest) -> Host:
    host: Host = request.param
    return host


def spent(*amounts: int, at: int = 0) -> Arrive:
    """A bundle; each a millisecond after the one before."""
    return Arrive(tuple(("ann", Element(n, at + place)) for place, n in enumerate(amounts)))


def said(
    play: Host,
    trigger: bl.Trigger,
    *script: Any,
    window: bl.WindowFn | None = None,
    accumulation: str = "discarding",
) -> list[str]:
    """Each pane: number of the step, window, timing, index, values."""
    windows = bl.FixedWindows(100) if window is None else window
    strategy = bl.WindowingStrategy(windows, trigger, accumulation, 100)
    return [
        f"{out.step}: {out.effect.window.start}-{out.effect.window.end} "
        f"{out.effect.info.timing.value} {out.effect.info.index} {sorted(out.effect.value)}"
        if isinstance(out.effect, Pane)
        else f"{out.step}: {out.effect.reason.value}"
        for out in play(strategy, script).outputs
    ]


def test_as_an_early_trigger_it_begins_anew_after_each_pane(play: Host) -> None:
    trigger = bl.AfterWatermark(early=AfterSpend(10), late=bl.AfterCount(1))
    steps = (spent(4), spent(5), spent(3, 9), spent(9), AdvanceWatermark(100), spent(1), END)

    assert said(play, trigger, *steps, accumulation="accumulating") == [
        "2: 0-100 EARLY 0 [3, 4, 5, 9]",
        "4: 0-100 ON_TIME 1 [3, 4, 5, 9, 9]",
        "5: 0-100 LATE 2 [1, 3, 4, 5, 9, 9]",
    ]


def test_alone_it_fires_once_and_closes_its_window(play: Host) -> None:
    assert said(play, AfterSpend(10), spent(4), spent(6), spent(50), END) == [
        "1: 0-100 EARLY 0 [4, 6]",
        "2: closed",
    ]


def test_it_takes_its_turn_after_another_one(play: Host) -> None:
    trigger = bl.AfterEach(bl.AfterCount(1), bl.Repeatedly(AfterSpend(10)))

    assert said(play, trigger, spent(50), spent(6), spent(5), spent(10), spent(2), END) == [
        "0: 0-100 EARLY 0 [50]",
        "2: 0-100 EARLY 1 [5, 6]",
        "3: 0-100 EARLY 2 [10]",
        "5: 0-100 ON_TIME 3 [2]",
    ]


def test_as_until_it_judges_all_that_the_window_received(play: Host) -> None:
    trigger = bl.OrFinally(bl.Repeatedly(bl.AfterCount(2)), AfterSpend(10))

    assert said(play, trigger, spent(2, 3), spent(1), spent(4), spent(7), END) == [
        "0: 0-100 EARLY 0 [2, 3]",
        "2: 0-100 EARLY 1 [1, 4]",
        "3: closed",
    ]


def test_sessions_that_merge_add_up_what_it_keeps(play: Host) -> None:
    steps = (spent(4), spent(5, at=20), spent(1, at=10), END)

    assert said(play, bl.Repeatedly(AfterSpend(10)), *steps, window=bl.Sessions(15)) == [
        "2: 0-35 EARLY 0 [1, 4, 5]",
        "3: 0-35 ON_TIME 1 []",
    ]


def test_what_it_cannot_take_fails_or_is_dropped_alone() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(100), bl.Repeatedly(AfterSpend(10)))
    script = (Arrive((("a", Element(6, 0)), ("a", Element("x", 1)), ("a", Element(5, 2)))), END)

    with pytest.raises(UserFunctionError, match=r"AfterSpend\(limit=10\)\.on_elements raised"):
        run_in_memory(Grouping(strategy, Collect()), script)
    outputs = run_in_memory(Grouping(strategy, Collect(), "drop"), script).outputs
    assert [
        out.effect.reason.value if isinstance(out.effect, Drop) else out.effect.value
        for out in outputs
    ] == ["failed", [6, 5], []]


def test_what_is_known_of_it_before_any_data() -> None:
    trigger = bl.Repeatedly(AfterSpend(10))
    strategy = bl.WindowingStrategy(bl.FixedWindows(100), trigger)

    assert str(trigger) == "Repeatedly(AfterSpend(limit=10))"
    assert bl.continuation(trigger) == bl.Repeatedly(bl.AfterCount(1))
    assert refusal(UnsupportedError, lambda: ColumnarGrouping(strategy, ())) == (
        "AfterSpend(limit=10), a trigger of yours, runs key by key, and not over columns"
    )


def test_a_window_says_what_it_waits_for() -> None:
    machine = Grouping(bl.WindowingStrategy(bl.FixedWindows(100), AfterSpend(10)), Collect())
    now = Now(bl.IntervalWindow(0, 100), 0, 0, (Element(4, 0),))
    view = machine.trigger.view(machine.trigger.on_elements(machine.trigger.start(), 1, now), now)

    assert (view.name, view.waits_for) == ("AfterSpend(limit=10)", "6 more")
    assert view.reason == "at least 10 was spent"


def test_a_changed_trigger_is_refused_at_a_restart() -> None:
    def words(trigger: bl.Trigger) -> dict[str, str]:
        return strategy_words(bl.WindowingStrategy(bl.FixedWindows(100), bl.Repeatedly(trigger)))

    class AfterSpendAnew(AfterSpend):
        state_version = 2

    AfterSpendAnew.__name__ = "AfterSpend"
    before = words(AfterSpend(10))
    assert list(refused(before, words(AfterSpend(10)))) == []
    assert list(refused(before, words(AfterSpend(20)))) == [
        "trigger: the checkpoint has 'Repeatedly(AfterSpend(limit=10))', the query has "
        "'Repeatedly(AfterSpend(limit=20))'"
    ]
    assert list(refused(before, words(AfterSpendAnew(10)))) == [
        "state of AfterSpend: the checkpoint has 'number, version 1', the query has "
        "'number, version 2'"
    ]
    assert len(list(refused(before, words(CountedAgain(10))))) == 3


def test_scenario_files_refuse_it_by_name_and_code_names_its_class() -> None:
    strategy = bl.WindowingStrategy(bl.FixedWindows(100), bl.Repeatedly(AfterSpend(10)))
    run = in_memory(strategy, (spent(4),))

    with pytest.raises(TranscriptError, match=r"AfterSpend\(limit=10\) is a trigger of your own"):
        write_scenario("x", strategy, "list", run)
    code = as_test_stream(run.script, strategy, Collect())
    assert "bl.Repeatedly(AfterSpend(limit=10))" in code
    assert "AfterSpend of tests.support.generated.own_triggers" in code
