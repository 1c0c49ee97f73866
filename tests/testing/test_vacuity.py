"""Assertions that hold only because there is nothing to look at are failures."""

from typing import Any

import pytest

from beamlike import FixedWindows
from beamlike.testing import (
    PaneAssertionError,
    Results,
    TestStream,
    be_empty,
    contain_in_any_order,
    contain_single_value,
    contain_value,
    emit_exactly,
    equal_map_of,
    for_all,
    have_size,
    in_early_global_window_panes,
    in_late_pane,
    in_on_time_pane,
    in_window,
    satisfy,
)

JOE = ("joe", ["a", "b"])
MISSPELT = ("00:00:00", "00:01:01")

NEGATIONS = {
    "contain value": contain_value(JOE),
    "contain single value": contain_single_value(JOE),
    "contain in any order": contain_in_any_order([JOE]),
    "have size": have_size(2),
    "map": equal_map_of({"joe": ["a", "b"]}),
    "satisfy": satisfy(lambda pairs: len(pairs) == 2),
}


@pytest.mark.parametrize("matcher", NEGATIONS.values(), ids=list(NEGATIONS))
def test_a_negation_in_a_window_that_never_occurs_says_nothing(
    results: Results, matcher: Any
) -> None:
    with pytest.raises(PaneAssertionError, match="no such window occurs"):
        results.should_not(in_on_time_pane(*MISSPELT, matcher))


@pytest.mark.parametrize(
    "matcher",
    [for_all(lambda pair: False), satisfy(lambda pairs: True)],
    ids=["for all", "satisfy"],
)
def test_what_holds_for_all_of_nothing_says_nothing(results: Results, matcher: Any) -> None:
    with pytest.raises(PaneAssertionError, match="no such window occurs"):
        results.should(in_window(*MISSPELT, matcher))
    with pytest.raises(PaneAssertionError, match="no such window occurs"):
        results.should(in_early_global_window_panes(matcher))


@pytest.mark.parametrize(
    "matcher",
    [be_empty, have_size(0), contain_in_any_order([]), equal_map_of({})],
    ids=["be empty", "have size 0", "contain nothing", "equal the empty map"],
)
def test_that_nothing_is_there_can_be_said_of_any_window(results: Results, matcher: Any) -> None:
    results.should(in_window(*MISSPELT, matcher))


def test_a_window_that_occurs_can_lack_a_pane(results: Results) -> None:
    results.should_not(in_late_pane("00:03:00", "00:04:00", contain_value(JOE)))
    results.should(in_late_pane("00:03:00", "00:04:00", for_all(lambda pair: False)))


def test_a_window_that_only_dropped_something_occurs() -> None:
    results = (
        TestStream()
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:59", ("joe", "a"))
        .advance_watermark_to_infinity()
        .run(window=FixedWindows("1 minute"))
    )

    results.should_not(in_window("00:00:00", "00:01:00", contain_value(("joe", ["a"]))))
    with pytest.raises(PaneAssertionError, match="no such window occurs"):
        results.should_not(in_window("00:01:00", "00:02:00", contain_value(("joe", ["a"]))))


def test_of_no_output_at_all_only_emptiness_can_be_said() -> None:
    nothing = TestStream().advance_watermark_to_infinity().run(window=FixedWindows("1 minute"))

    nothing.should(be_empty)
    nothing.should(emit_exactly())
    with pytest.raises(PaneAssertionError, match="for_all says nothing: no pane came out at all"):
        nothing.should(for_all(lambda pair: False))
    with pytest.raises(
        PaneAssertionError, match="should_not contain_value says nothing: no pane came out at all"
    ):
        nothing.should_not(contain_value(JOE))
