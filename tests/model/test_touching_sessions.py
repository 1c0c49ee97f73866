"""Sessions that merge on touch, held against small models of Flink's and Spark's merging.

Neither model knows of `merge_overlapping`: Flink takes elements in one at a time and asks every
window whether it intersects, Spark walks once through the sorted rows.
"""

from collections import Counter
from random import Random

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Drop, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive
from tests.support.generated.strategies import gap_of_number

SEEDS = range(400)


class Flink:
    """One key of Flink's session windows with its `EventTimeTrigger`, which purges nothing.

    Flink's watermark says that nothing at or before it comes any more, Beam's that nothing
    before it does: Flink's is one millisecond less. Source: Flink, ``TimeWindow.mergeWindows``,
    ``MergingWindowSet``, ``WindowOperator``, ``EventTimeTrigger``.
    """

    def __init__(self, lateness=0):
        self.lateness = lateness
        self.watermark = -(2**62)
        self.windows = {}
        self.shown = []

    def element(self, value, at, gap):
        start, end = at, at + gap
        joined = [window for window in self.windows if window[0] <= end and start <= window[1]]
        into = min([start, *(one[0] for one in joined)]), max([end, *(one[1] for one in joined)])
        if into[1] - 1 + self.lateness <= self.watermark:
            self.shown.append(("late", value))
            return
        held = [one for window in joined for one in self.windows.pop(window)[0]]
        fires = into[1] - 1 <= self.watermark
        self.windows[into] = sorted([*held, value]), fires
        if fires:
            self.fire(into)

    def fire(self, window):
        self.shown.append((window, self.windows[window][0]))

    def advance(self, watermark):
        self.watermark = watermark
        for window, (held, fired) in sorted(self.windows.items()):
            if window[1] - 1 <= watermark and not fired:
                self.windows[window] = held, True
                self.fire(window)
            if window[1] - 1 + self.lateness <= watermark:
                del self.windows[window]


def walk_of_spark(rows):
    """Spark's ``session_window`` over rows ``(value, at, gap)`` of one key that all are there.

    Source: Spark, ``MergingSessionsIterator``.
    """
    sessions = []
    for value, at, gap in sorted(rows, key=lambda row: row[1]):
        if sessions and at <= sessions[-1][1]:
            sessions[-1][1] = max(sessions[-1][1], at + gap)
            sessions[-1][2].append(value)
        else:
            sessions.append([at, at + gap, [value]])
    return [((start, end), sorted(held)) for start, end, held in sessions]


def any_sessions(random):
    """Sessions of one gap, or of a gap for each element, and the gap of each number."""
    if random.randrange(3) == 0:
        return bl.Sessions(gap_of_number, merge_touching=True), gap_of_number
    gap = random.randint(1, 10)
    return bl.Sessions(gap, merge_touching=True), lambda number: gap


def any_rows(random, gap_of):
    """Rows in any order; most are exactly a gap from another one, or a millisecond beside it."""
    rows = [(0, 0, gap_of(0))]
    for value in range(1, random.randint(2, 14)):
        _, at, gap = random.choice(rows)
        off = random.choice(
            (gap - 1, gap, gap, gap, gap + 1, -gap_of(value), random.randint(0, 60))
        )
        rows.append((value, at + off, gap_of(value)))
    random.shuffle(rows)
    return rows


def at_the_end(strategy, script):
    run = run_in_memory(Grouping(strategy, Collect()), (*script, AdvanceWatermark(MAX_TIMESTAMP)))
    return sorted(
        ((effect.window.start, effect.window.end), sorted(effect.value))
        for effect in (output.effect for output in run.outputs)
    )


def test_rows_that_are_all_there_are_the_sessions_of_spark_and_of_flink_in_any_bundles():
    touched = 0
    for seed in SEEDS:
        random = Random(f"touching rows:{seed}")
        sessions, gap_of = any_sessions(random)
        rows = any_rows(random, gap_of)
        flink = Flink()
        for row in rows:
            flink.element(*row)
        flink.advance(10**6)
        size = random.randint(1, len(rows))
        bundles = [rows[index : index + size] for index in range(0, len(rows), size)]
        script = [
            Arrive(tuple(("k", Element(row[0], row[1])) for row in bundle)) for bundle in bundles
        ]

        found = at_the_end(bl.WindowingStrategy(sessions), script)

        assert found == walk_of_spark(rows) == sorted(flink.shown)
        touched += found != at_the_end(bl.WindowingStrategy(bl.Sessions(sessions.gap)), script)
    assert touched > 200


def test_elements_and_watermarks_in_any_order_are_reported_as_flink_tells_them():
    seen = Counter()
    for seed in SEEDS:
        random = Random(f"touching stream:{seed}")
        sessions, gap_of = any_sessions(random)
        flink, script = Flink(random.choice((0, 0, 3, 10))), []
        watermark = -30
        disorder = random.choice((5, 15, 40))
        rows = any_rows(random, gap_of)
        rows.sort(key=lambda row: row[1] + random.randint(0, disorder))
        for value, at, gap in rows:
            flink.element(value, at, gap)
            script.append(Arrive((("k", Element(value, at)),)))
            if random.randrange(2):
                watermark = max(watermark, at + random.randint(-5, 15))
                flink.advance(watermark - 1)
                script.append(AdvanceWatermark(watermark))
        strategy = bl.WindowingStrategy(
            sessions,
            bl.AfterWatermark(late=bl.AfterCount(1)),
            "accumulating",
            flink.lateness,
            late_check="merged",
        )

        run = run_in_memory(Grouping(strategy, Collect()), tuple(script))

        shown = [
            ("late", effect.element.value)
            if isinstance(effect, Drop)
            else ((effect.window.start, effect.window.end), sorted(effect.value))
            for effect in (output.effect for output in run.outputs)
        ]
        assert shown == flink.shown
        seen["late"] += sum(one[0] == "late" for one in shown)
        seen["panes"] += sum(one[0] != "late" for one in shown)
    assert seen["late"] > 200
    assert seen["panes"] > 400
