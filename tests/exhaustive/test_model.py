"""The model that all engines are compared with, against scenarios that others have published."""

from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive as ArriveTogether
from beamlike.runtime.script import Script
from beamlike.testing.scenarios.files import Scenario
from tests.exhaustive.events import BITS, END, Arrive, Clock, Event, Row, Stream, Watermark
from tests.exhaustive.history import Came, Cleared, Ended, Fired, Grew, Now
from tests.exhaustive.rules import outcome
from tests.exhaustive.scripts import row_of
from tests.exhaustive.strategies import TRIGGERS
from tests.support.corpus import scenarios_of

CASES = Path(__file__).resolve().parents[1] / "conformance" / "cases"
KNOWN = {type(node) for trigger in TRIGGERS for node in trigger.walk()}
SIZE = 120_000
"""Longer windows have too many places to look at for a model that looks at all of them."""


def is_known(strategy: bl.WindowingStrategy) -> bool:
    """Whether the model has rules for it."""
    windows = strategy.window_fn
    match windows:
        case bl.FixedWindows() | bl.SlidingWindows():
            known = windows.size <= SIZE
        case bl.Sessions():
            known = windows == bl.Sessions(windows.gap) and isinstance(windows.gap, int)
        case _:
            known = isinstance(windows, bl.GlobalWindows)
    return (
        known
        and {type(node) for node in strategy.trigger.walk()} <= KNOWN
        and strategy.late_check is bl.LateCheck.ASSIGNED
        and strategy.unchanged is bl.Unchanged.RE_EMIT
    )


@attrs.frozen
class OneKey:
    """What happens to one key of a script, and at which steps of the script."""

    stream: Stream
    steps: tuple[int, ...]
    values: tuple[Any, ...]

    def shown(self, row: Row) -> Row:
        """A row of the model with the steps and the values of the script."""
        content = row[4]
        assert isinstance(content, int)
        assert isinstance(row[0], int)
        if row[1] in ("closed", "expired"):
            return (self.steps[row[0]], *row[1:4], repr(self.values[content]), row[5])
        numbers = [n for n in range(len(self.values)) for _ in range(content >> BITS * n & 255)]
        found = sorted(repr(self.values[number]) for number in numbers)
        return (self.steps[row[0]], *row[1:4], str(found), *row[5:])


def keys_of(script: Script) -> Iterator[tuple[Hashable, OneKey]]:
    """Each key of a script."""
    arrivals = [step for step in script if isinstance(step, ArriveTogether)]
    for key in dict.fromkeys(key for step in arrivals for key in step.by_key()):
        events: list[tuple[int, Event]] = []
        values: list[Any] = []
        for number, step in enumerate(script):
            if isinstance(step, ArriveTogether):
                elements = step.by_key().get(key, [])
                values += (element.value for element in elements)
                if elements:
                    events.append((number, Arrive(tuple(e.timestamp for e in elements))))
            else:
                move = Watermark if isinstance(step, AdvanceWatermark) else Clock
                events.append((number, move(step.to)))
        steps, stream = zip(*events, strict=True)
        yield key, OneKey(stream, steps, tuple(values))


def expected_rows(scenario: Scenario) -> dict[Hashable, Counter[Row]]:
    """What comes out of each key. The memory host is held against the expectation elsewhere."""
    run = run_in_memory(Grouping(scenario.strategy, Collect()), scenario.script)
    rows: dict[Hashable, Counter[Row]] = {}
    for output in run.outputs:
        effect = output.effect
        of_key = rows.setdefault(output.key, Counter())
        if isinstance(effect, Pane):
            found = str(sorted(map(repr, effect.value)))
            of_key[row_of(output.step, attrs.evolve(effect, value=found))] += 1
        else:
            assert effect.window is not None
            span = effect.window.start, effect.window.end
            what = output.step, effect.reason.value
            of_key[*what, *span, repr(effect.value), effect.missed_by] += 1
    return rows


@pytest.mark.parametrize("folder", ["blog", "beam", "scio", "derived"])
def test_published_scenarios_come_out_as_they_should(folder: str) -> None:
    compared = 0
    for file in sorted((CASES / folder).glob("*.json")):
        for scenario in scenarios_of(file):
            if scenario.contested or not is_known(scenario.strategy):
                continue
            expected = expected_rows(scenario)
            for key, one in keys_of(scenario.script):
                rows = Counter(map(one.shown, outcome(scenario.strategy, one.stream)))
                assert rows == expected.get(key, Counter()), f"{scenario.id}, key {key!r}"
                compared += 1
    assert compared > 10


def test_an_early_an_on_time_and_a_late_pane() -> None:
    strategy = bl.WindowingStrategy(
        bl.FixedWindows(10),
        bl.AfterWatermark(early=bl.AfterProcessingTime(2), late=bl.AfterCount(1)),
        "accumulating",
        allowed_lateness=7,
        timestamp_combiner="earliest",
    )
    stream = (
        *(Arrive((3, 5)), Clock(3), Arrive((4,)), Watermark(10), Arrive((6,))),
        *(Watermark(17), Arrive((7,)), END),
    )

    assert outcome(strategy, stream) == [
        (1, "pane", 0, 10, 1 + (1 << 8), 3, "EARLY", 0, -1, True, False),
        (3, "pane", 0, 10, 1 + (1 << 8) + (1 << 16), 4, "ON_TIME", 1, 0, False, False),
        (4, "pane", 0, 10, 1 + (1 << 8) + (1 << 16) + (1 << 24), 9, "LATE", 2, 1, False, False),
        (6, "expired", 0, 10, 4, 1),
    ]


def test_sessions_that_merge_withdraw_what_their_parts_have_emitted() -> None:
    strategy = bl.WindowingStrategy(
        bl.Sessions(5),
        bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
        "retracting",
    )
    stream = (Arrive((0,)), Arrive((8,)), Arrive((4,)), END)
    first = (0, 5, 1, 4, "EARLY", 0, -1, True, False)
    second = (8, 13, 1 << 8, 12, "EARLY", 0, -1, True, False)
    both = 1 + (1 << 8) + (1 << 16)

    assert outcome(strategy, stream) == [
        (0, "pane", *first),
        (1, "pane", *second),
        (2, "withdrawn", *first),
        (2, "withdrawn", *second),
        (2, "pane", 0, 13, both, 12, "EARLY", 0, -1, True, False),
        (3, "withdrawn", 0, 13, both, 12, "EARLY", 0, -1, True, False),
        (3, "pane", 0, 13, both, 12, "ON_TIME", 1, 0, False, True),
    ]


def test_what_happened_is_never_equal_to_something_else_that_happened() -> None:
    # Answers about equal histories are shared.
    now = Now(0, 0, 0, 9, False)
    entries = [Came(0, 0, now), Fired(now, None), Cleared(), Ended(), Grew((), None, now)]

    assert len(set(entries)) == len(entries)
