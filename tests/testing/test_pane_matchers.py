"""Pane matchers: how a window can be written, and what is refused.

Which panes each of them selects is a table of `tests/pipelines/test_harness_matchers.py`.
"""

from collections.abc import Callable

import pytest

from beamlike import AfterCount, GlobalWindow, GlobalWindows, IntervalWindow, Repeatedly
from beamlike.errors import TestStreamError, TimeError, WindowError
from beamlike.testing import (
    PaneAssertionError,
    Results,
    TestStream,
    be_empty,
    contain_in_any_order,
    contain_single_value,
    contain_value,
    emit_exactly,
    have_size,
    in_early_global_window_panes,
    in_early_pane,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
)
from tests.support.refusals import refusal

FIRST = ("00:00:00", "00:01:00")
JOE_2, JOE_3, BEN_2 = ("joe", ["a", "b"]), ("joe", ["a", "b", "c"]), ("ben", ["x", "y"])


def test_in_only_pane_fails_if_a_window_has_several_panes(results: Results) -> None:
    for ask in (results.should, results.should_not):
        assert refusal(
            PaneAssertionError, ask, in_only_pane(*FIRST, contain_value(JOE_2))
        ).startswith(
            "in_only_pane [00:00:00, 00:01:00): the window has panes that are not the only one "
            "of their key\n"
        )


def test_a_window_can_be_written_in_four_ways(results: Results) -> None:
    for window in (("00:00:00", "00:01:00"), (0, 60_000), (FIRST,), (IntervalWindow(0, 60_000),)):
        results.should(in_late_pane(*window, contain_single_value(JOE_3)))


def test_the_global_window_is_selected_by_name_or_value() -> None:
    results = (
        TestStream()
        .add_elements_at_time(5, ("joe", "a"))
        .advance_watermark_to_infinity()
        .run(window=GlobalWindows(), trigger=Repeatedly(AfterCount(1)), accumulation="accumulating")
    )

    for window in ("global", GlobalWindow()):
        results.should(in_early_pane(window, contain_single_value(("joe", ["a"]))))
        results.should(in_on_time_pane(window, contain_single_value(("joe", ["a"]))))
    results.should(in_early_global_window_panes(contain_single_value(("joe", ["a"]))))


def test_panes_of_other_windows_are_no_early_panes_of_the_global_window(results: Results) -> None:
    results.should(in_early_global_window_panes(be_empty))


def test_a_window_is_selected_only_if_it_is_equal(results: Results) -> None:
    results.should(in_window("00:00:00", "00:00:59.999", be_empty))
    results.should(in_window("00:00:00.001", "00:01:00", be_empty))


def test_withdrawn_panes_are_no_elements() -> None:
    results = (
        TestStream()
        .add_elements_at_time(5, ("joe", "a"))
        .add_elements_at_time(6, ("joe", "b"))
        .advance_watermark_to_infinity()
        .run(window=GlobalWindows(), trigger=Repeatedly(AfterCount(1)), accumulation="retracting")
    )

    first, both = ("joe", ["a"]), ("joe", ["a", "b"])
    results.should(in_early_pane("global", contain_in_any_order([first, both])))
    results.should(contain_in_any_order([first, both, both]))
    results.should_not(emit_exactly())
    assert [output.effect.retraction for output in results.panes] == [
        False,
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (
            lambda: in_on_time_pane("00:00:00", "00:01:00"),
            TestStreamError,
            "in_on_time_pane needs a value matcher such as have_size(1) after its window, "
            "got '00:01:00'",
        ),
        (
            lambda: in_late_pane(),
            TestStreamError,
            "in_late_pane needs a value matcher such as have_size(1) after its window, got None",
        ),
        (
            lambda: in_window(*FIRST, in_late_pane(*FIRST, be_empty)),
            TestStreamError,
            "in_window needs a value matcher such as have_size(1) after its window, got _InPanes",
        ),
        (
            lambda: in_window(*FIRST, contain_single_value),
            TestStreamError,
            "in_window needs a value matcher such as have_size(1) after its window, "
            "got contain_single_value; write contain_single_value(...)",
        ),
        (
            lambda: in_early_pane(be_empty),
            TestStreamError,
            'in_early_pane needs a window: two instants such as "00:00:00", "00:11:00", an '
            'IntervalWindow, or "global"; got nothing',
        ),
        (
            lambda: in_early_pane("the first", be_empty),
            TestStreamError,
            'in_early_pane needs a window: two instants such as "00:00:00", "00:11:00", an '
            "IntervalWindow, or \"global\"; got 'the first'",
        ),
        (
            lambda: in_final_pane("00:00:00", "noon", have_size(1)),
            TimeError,
            "in_final_pane window end is not an instant: 'noon'",
        ),
        (
            lambda: in_final_pane("00:01:00", "00:00:00", have_size(1)),
            WindowError,
            "a window needs start < end, got start=00:01:00, end=00:00:00; give an end that is "
            "later",
        ),
    ],
)
def test_a_pane_matcher_refuses(write: Callable[[], object], error: type[Exception], message: str):
    assert refusal(error, write).startswith(message)
