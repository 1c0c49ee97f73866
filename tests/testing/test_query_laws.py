"""A query without Spark emits what the reference machine does, whatever is asked of it."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.errors import UnwiseStrategyWarning, WindowingError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, Count, Together
from beamlike.model.combine.sql import SqlSum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Script, with_elements
from beamlike.testing import QueryTest
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import patient_strategy

ORIGIN = 1_577_836_800_000
"""Spark knows no watermark before 1970, and so does a query without it."""

EACH_TWO = bl.Repeatedly(bl.AfterCount(2))

ALL = {"n": bl.count(), "total": bl.sum("v"), "all": bl.collect("v")}
TOGETHER = Together({"n": (Count(), None), "total": (SqlSum(), 0), "all": (Collect(), 0)})


def any_safe_strategy(random: Random) -> WindowingStrategy:
    """A strategy that a query takes."""
    strategy = patient_strategy(random, gap_functions=False)
    for trigger in (strategy.trigger, bl.Repeatedly(strategy.trigger), EACH_TWO):
        tried = strategy.configured(trigger=trigger)
        try:
            tried.check_groupable(unbounded=True)
        except WindowingError:  # it loses data, or nothing ever comes out
            continue
        return tried
    raise AssertionError(f"no trigger goes with {strategy}")


def shown(outputs: Iterable[Output], values: Callable[[Any], Sequence[Any]]) -> Any:
    """What comes out of each key: panes of a window in order, drops in any."""
    panes, drops = defaultdict[Any, list[Any]](list), defaultdict[Any, list[Any]](list)
    for output in outputs:
        match output.effect:
            case Pane(window, value, timestamp, info, retraction):
                n, total, every = values(value)
                facts = (window, n, total, sorted(every), timestamp, info, retraction)
                panes[output.key, window].append(facts)
            case Drop() as drop:
                lost = (drop.window, drop.timestamp, drop.reason, drop.missed_by, drop.count)
                drops[output.key].append(lost)
    return panes, {key: sorted(lost, key=str) for key, lost in drops.items()}


def fed(script: Script, strategy: WindowingStrategy, restarts: Iterable[int]) -> QueryTest:
    """The query after all steps of a script. No row moves its watermark: the script does."""

    def job(events: Any) -> Any:
        return bl.windowed(
            events,
            key="user",
            timestamp="at",
            watermark="100000 days",
            max_ahead=None,
            strategy=strategy,
            aggregate=ALL,
            shards=2,
        )

    query, clock = QueryTest(job, "user string, at timestamp, v bigint", clock=0), 0
    for number, step in enumerate(script):
        match step:
            case Arrive(elements):
                query.send(
                    *({"user": key, "at": it.timestamp, "v": it.value} for key, it in elements)
                )
            case AdvanceWatermark(to) if to == MAX_TIMESTAMP:
                query.advance_watermark_to_infinity()
                return query
            case AdvanceWatermark(to):
                query.advance_watermark_to(to)
            case AdvanceClock(to) if to > clock:
                query.advance_processing_time(to - clock)
                clock = to
        if number in restarts:
            query.restart()
    return query


def as_rows(script: Script) -> Script:
    """The same script with elements that are rows of one column."""
    return with_elements(script, lambda key, it: (key, attrs.evolve(it, value=(it.value,))))


@settings(max_examples=examples(30), derandomize=True, database=None)
@given(st.randoms(use_true_random=False), st.sets(st.integers(0, 13), max_size=3))
def test_a_query_emits_the_panes_of_the_reference_machine(random: Random, restarts: set[int]):
    strategy, script = any_safe_strategy(random), any_script(random, origin=ORIGIN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnwiseStrategyWarning)
        query = fed(script, strategy, restarts)

    expected = run_in_memory(Grouping(strategy, TOGETHER), as_rows(script))
    emitted = shown(query.results.run.outputs, lambda row: list(row.values()))
    assert emitted == shown(expected.outputs, lambda value: value)
