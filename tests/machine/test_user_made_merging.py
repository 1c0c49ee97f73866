"""A merging window function that Beam does not have, where nothing happens to hide a mistake."""

from collections.abc import Iterable
from typing import Any

import attrs

import beamlike as bl
from beamlike.testing import TestStream, check_window_fn, early_pane, emit_exactly, on_time_pane
from tests.support.contracts import broken_by


@attrs.frozen
class Chapters(bl.MergingWindowFn):
    """Pages lie in windows of ten; a marker joins the two windows before its own.

    So windows merge in a bundle that adds nothing to them.
    """

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        start = timestamp - timestamp % 10
        return (bl.IntervalWindow(start, start + (9 if timestamp % 10 == 8 else 10)),)

    def merge(self, windows: Iterable[bl.IntervalWindow]) -> tuple[bl.Merge, ...]:
        given = set(windows)
        plans = []
        for marker in sorted(w for w in given if w.end % 10 == 9):
            pair = [
                bl.IntervalWindow(marker.start - 20, marker.start - 10),
                bl.IntervalWindow(marker.start - 10, marker.start),
            ]
            if given.issuperset(pair):
                plans.append(bl.Merge(tuple(pair), bl.IntervalWindow(pair[0].start, pair[1].end)))
        return tuple(plans)


def test_it_keeps_the_contract() -> None:
    assert broken_by(check_window_fn, Chapters(), timestamps=[0, 5, 12, 28, 40]) == []


def test_a_window_merged_by_another_s_element_still_waits_for_its_end() -> None:
    stream = (
        TestStream()
        .add_elements_at_time(1, ("book", "one"))
        .add_elements_at_time(12, ("book", "two"))
        .add_elements_at_time(28, ("book", "marker"))
        .advance_watermark_to(20)
        .advance_watermark_to_infinity()
    )

    results = stream.run(
        window=Chapters(),
        trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
        accumulation="discarding",
        allowed_lateness=50,
    )

    results.should(
        emit_exactly(
            on_time_pane("book", ["one", "two"], 0, 20, is_last=False, step=3),
            on_time_pane("book", ["marker"], 20, 29, is_last=True, step=4),
        )
    )


def test_a_window_merged_by_another_s_element_is_asked_whether_it_fires() -> None:
    stream = (
        TestStream()
        .add_elements_at_time(1, ("book", "one"))
        .add_elements_at_time(12, ("book", "two"))
        .add_elements_at_time(28, ("book", "marker"))
        .advance_watermark_to_infinity()
    )

    results = stream.run(
        window=Chapters(),
        trigger=bl.Repeatedly(bl.AfterCount(2)),
        accumulation="discarding",
        allowed_lateness=0,
        on_time_behavior="fire_if_non_empty",
    )

    # Beam Java: ``ReduceFnRunner.processElements`` considers what windows of the bundle and live
    # ones have merged into, whether or not an element of the bundle is in it.
    results.should(
        emit_exactly(
            early_pane("book", ["one", "two"], 0, 20, is_last=False, step=2),
            on_time_pane("book", ["marker"], 20, 29, is_last=True, step=3),
        )
    )


def test_one_that_is_closed_is_not_asked() -> None:
    stream = (
        TestStream()
        .add_elements_at_time(0, ("book", "zero"), ("book", "one"), ("book", "two"))
        .add_elements_at_time(12, ("book", "three"))
        .add_elements_at_time(28, ("book", "marker"))
        .advance_watermark_to_infinity()
    )

    results = stream.run(
        window=Chapters(),
        trigger=bl.AfterCount(3),
        accumulation="discarding",
        allowed_lateness=0,
        allow_unsafe_trigger=True,
    )

    # The first window is closed and does not merge; so nothing becomes of the pair.
    results.should(
        emit_exactly(
            early_pane("book", ["zero", "one", "two"], 0, 10, is_last=True, step=0),
            on_time_pane("book", ["three"], 10, 20, is_last=True, step=3),
            on_time_pane("book", ["marker"], 20, 29, is_last=True, step=3),
        )
    )
