"""Value matchers: ways to write what is wanted, what is equal, and what is refused.

What each makes of one element, of several and of none is a table of
`tests/pipelines/test_harness_matchers.py`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from beamlike import Sessions
from beamlike.errors import TestStreamError, TimeError
from beamlike.model.combine import CollectByTimestamp
from beamlike.testing import (
    PaneAssertionError,
    Results,
    TestStream,
    TimestampedValue,
    be_empty,
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value,
    contain_single_value_at_time,
    contain_value,
    contain_value_at_time,
    dropped,
    equal_map_of,
    equal_to,
    equal_to_per_window,
    for_all,
    have_size,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    satisfy_single_value,
)
from tests.support.refusals import refusal

FIRST, OTHER = ("00:00:00", "00:01:00"), ("00:03:00", "00:04:00")
JOE, BEN, LATE = ("joe", ["a", "b"]), ("ben", ["x", "y"]), ("joe", ["a", "b", "c"])
END = "00:00:59.999"


def on_time(matcher: Any) -> Any:
    """The two elements JOE and BEN."""
    return in_on_time_pane(*FIRST, matcher)


def late(matcher: Any) -> Any:
    """The one element LATE."""
    return in_late_pane(*FIRST, matcher)


HOLDS = {
    "any order, from an iterator": on_time(contain_in_any_order(iter([BEN, JOE]))),
    "any order at one time": on_time(contain_in_any_order_at_time(END, [BEN, JOE])),
    "any order at times": on_time(contain_in_any_order_at_time([(END, BEN), (59_999, JOE)])),
    "any order of timestamped values": on_time(
        contain_in_any_order_at_time([TimestampedValue(BEN, END), TimestampedValue(JOE, END)])
    ),
    "single value at a time": late(contain_single_value_at_time(END, LATE)),
    "a value at a time": on_time(contain_value_at_time(END, BEN)),
    "empty, called": in_final_pane(*FIRST, be_empty()),
    "map": on_time(equal_map_of({"joe": ["a", "b"], "ben": ("x", "y")})),
}
FAILS = {
    "any order, one twice": on_time(contain_in_any_order([BEN, JOE, JOE])),
    "any order, one at another time": on_time(
        contain_in_any_order_at_time([(END, BEN), (60_000, JOE)])
    ),
    "single value, another key": late(contain_single_value(("ben", ["a", "b", "c"]))),
    "single value a millisecond off": late(contain_single_value_at_time("00:01:00", LATE)),
    "a value at another time": on_time(contain_value_at_time("00:00:59.998", BEN)),
    "map, a key missing": on_time(equal_map_of({"joe": ["a", "b"]})),
    "map, another value": late(equal_map_of({"joe": ["a"]})),
}


@pytest.mark.parametrize("matcher", HOLDS.values(), ids=list(HOLDS))
def test_a_matcher_holds_and_its_negation_fails(results: Results, matcher: Any) -> None:
    results.should(matcher)
    with pytest.raises(PaneAssertionError, match=" holds, but should not"):
        results.should_not(matcher)


@pytest.mark.parametrize("matcher", FAILS.values(), ids=list(FAILS))
def test_a_matcher_fails_and_its_negation_holds(results: Results, matcher: Any) -> None:
    with pytest.raises(PaneAssertionError, match=" does not hold"):
        results.should(matcher)
    results.should_not(matcher)


def test_with_timestamp_pairs_each_element_with_its_time_in_milliseconds(results: Results) -> None:
    stamped = results.with_timestamp()

    stamped.should(on_time(contain_in_any_order([(JOE, 59_999), (BEN, 59_999)])))
    stamped.should(late(contain_single_value(TimestampedValue(LATE, END))))
    stamped.should(late(satisfy_single_value(lambda element: element[1] == 59_999)))
    stamped.should(late(contain_single_value_at_time(END, LATE)))
    stamped.should(late(equal_map_of({"joe": ["a", "b", "c"]})))
    stamped.should_not(late(contain_single_value((LATE, 60_000))))


def test_a_list_equals_any_sequence_and_collected_values_have_no_order(results: Results) -> None:
    results.should(late(contain_single_value(("joe", ("c", "a", "b")))))
    results.should_not(late(contain_single_value(("joe", ["a", "b", "b"]))))
    results.should_not(late(contain_single_value(("joe", "abc"))))


def test_an_aggregate_that_promises_an_order_is_held_to_it() -> None:
    results = (
        TestStream()
        .add_elements_at_time(2, ("joe", "second"))
        .add_elements_at_time(1, ("joe", "first"))
        .advance_watermark_to_infinity()
        .run(window=Sessions("1 s"), aggregate=CollectByTimestamp())
    )

    results.should(contain_single_value(("joe", ("first", "second"))))
    results.should_not(contain_single_value(("joe", ["second", "first"])))
    results.should_not(contain_single_value(("joe", ["first"])))
    results.should_not(contain_single_value(("joe", ["first", "second", "third"])))


def test_sequences_inside_mappings_and_sequences_are_compared_the_same_way() -> None:
    results = (
        TestStream()
        .add_elements_at_time(2, ("joe", {"a": (1, [2, 3])}))
        .advance_watermark_to_infinity()
        .run(window=Sessions("1 s"), aggregate=CollectByTimestamp())
    )

    results.should(contain_single_value(("joe", [{"a": [1, (2, 3)]}])))
    results.should_not(contain_single_value(("joe", [{"a": [1, (3, 2)]}])))
    results.should_not(contain_single_value(("joe", [{"b": [1, (2, 3)]}])))


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (
            lambda: contain_in_any_order_at_time([BEN[1]]),
            TestStreamError,
            'contain_in_any_order_at_time: write ("00:00:59.999", ("foo", 1)) for each '
            "element, got ['x', 'y']",
        ),
        (
            lambda: contain_in_any_order_at_time(),
            TestStreamError,
            'contain_in_any_order_at_time needs [("00:00:59.999", ("foo", 1)), ...], or '
            '"00:00:59.999" and [("foo", 1), ...]; got nothing',
        ),
        (
            lambda: contain_single_value_at_time("noon", JOE),
            TimeError,
            "contain_single_value_at_time time is not an instant: 'noon'",
        ),
        (lambda: have_size(-1), TestStreamError, "have_size needs a whole number, 0 or more"),
        (
            lambda: contain_in_any_order(5),
            TestStreamError,
            "contain_in_any_order needs a list of elements, got 5",
        ),
        (lambda: equal_to(None), TestStreamError, "equal_to needs a list of elements, got None"),
        (
            lambda: equal_map_of([("joe", 3)]),
            TestStreamError,
            "equal_map_of needs a value for each key, such as {\"joe\": 3}, got [('joe', 3)]",
        ),
        (
            lambda: equal_to_per_window([1, 2]),
            TestStreamError,
            'equal_to_per_window needs elements by window, such as {("00:00:00", "00:01:00"): '
            "[1, 2]}, got [1, 2]",
        ),
        (
            lambda: equal_to_per_window({"global": 5}),
            TestStreamError,
            "equal_to_per_window: 'global' needs a list of elements, got 5",
        ),
        (lambda: have_size(True), TestStreamError, "have_size needs a whole number, 0 or more"),
    ],
)
def test_a_value_matcher_refuses(write: Callable[[], object], error: type[Exception], message: str):
    assert refusal(error, write).startswith(message)


@pytest.mark.parametrize(
    "matcher", [contain_single_value("joe"), contain_in_any_order(("joe", 1))], ids=repr
)
def test_what_is_no_pair_never_comes_out_of_a_stream_of_pairs(results: Results, matcher: Any):
    assert refusal(TestStreamError, lambda: results.should_not(late(matcher))) == (
        f"{matcher.name}: elements are (key, value) pairs such as "
        '("joe", ["open app"]), got \'joe\''
    )


def test_with_timestamps_an_element_has_a_time(results: Results) -> None:
    assert refusal(
        TestStreamError, lambda: results.with_timestamp().should(late(contain_value("joe")))
    ) == (
        "contain_value: with timestamps elements are pairs of element and time, got 'joe'; write "
        '(element, "00:00:59.999")'
    )


def test_a_predicate_that_returns_nothing_is_a_mistake_and_not_a_no(results: Results) -> None:
    def forgets_to_return(pair: Any) -> Any:
        pair[0] == "joe"  # noqa: B015

    with pytest.raises(TestStreamError, match=r"forgets_to_return of test_value_matchers.py:\d+, "):
        results.should_not(late(for_all(forgets_to_return)))


@pytest.mark.parametrize("verb", ["should", "should_not"])
def test_results_want_a_matcher(results: Results, verb: str) -> None:
    ask: Any = getattr(results, verb)

    assert refusal(TestStreamError, lambda: ask(have_size)) == (
        f"{verb} needs a matcher, got {have_size!r}; write have_size(...)"
    )
    with pytest.raises(TestStreamError) as refused:
        ask([("joe", 1)])
    assert str(refused.value) == f"{verb} needs a matcher, got [('joe', 1)]"
    with pytest.raises(TestStreamError) as refused:
        ask(dropped("k", 2, at="12:04:00", window=("12:00:00", "12:05:00"), reason="closed"))
    assert str(refused.value) == (
        f"{verb} needs a matcher, got one pane or drop; write {verb}(emit_exactly(dropped('k', 2, "
        'at="12:04:00", window=("12:00:00", "12:05:00"), reason="closed"))), with all else that '
        "comes out beside it"
    )
