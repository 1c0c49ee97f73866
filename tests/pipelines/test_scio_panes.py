"""Scio's verbs that make one value of each pane: by key and overall, empty panes included."""

import math
import operator
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from beamlike import AfterCount, AfterWatermark
from beamlike.errors import PipelineError, TransformError
from beamlike.model.combine import Sum
from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import test_stream_of as stream_of
from tests.support.pipelines.results_of_runs import shown_panes


def panes(collection: SCollection[Any]) -> list[tuple[Any, ...]]:
    return shown_panes(collection, "time", "timing")


EARLY_AND_LATE = WindowOptions(
    trigger=AfterWatermark(early=AfterCount(2), late=AfterCount(1)),
    accumulation_mode="discarding",
    allowed_lateness="1 hour",
)


def scores() -> SCollection[tuple[str, int]]:
    """One key in one minute: an early pane of 3 and 1, an empty on-time pane, a late pane of 5."""
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", ("joe", 3), ("joe", 1))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", ("joe", 5))
        .advance_watermark_to_infinity()
    )
    return ScioContext().test_stream(stream).with_fixed_windows("1 minute", options=EARLY_AND_LATE)


Verb = Callable[[SCollection[tuple[str, int]]], SCollection[Any]]

WITH_A_VALUE_FOR_NOTHING: list[tuple[str, Verb, list[Any]]] = [
    ("group_by_key", lambda it: it.group_by_key(), [[3, 1], [], [5]]),
    (
        "aggregate_by_key",
        lambda it: it.aggregate_by_key([], _append, operator.add),
        [[3, 1], [], [5]],
    ),
    ("aggregate_by_key with a function", lambda it: it.aggregate_by_key(Sum()), [4, 0, 5]),
    ("fold_by_key", lambda it: it.fold_by_key(0), [4, 0, 5]),
    ("fold_by_key with a function", lambda it: it.fold_by_key(1, operator.mul), [3, 1, 5]),
    ("count_by_key", lambda it: it.count_by_key(), [2, 0, 1]),
    ("latest_by_key", lambda it: it.latest_by_key(), [1, None, 5]),
    ("top_by_key", lambda it: it.top_by_key(1), [[3], [], [5]]),
    ("top_by_key in reverse", lambda it: it.top_by_key(1, reverse=True), [[1], [], [5]]),
    ("sample_by_key", lambda it: it.sample_by_key(5).map_values(sorted), [[1, 3], [], [5]]),
    ("approx_quantiles_by_key", lambda it: it.approx_quantiles_by_key(2), [[1, 3], [], [5, 5]]),
    ("count_approx_distinct_by_key", lambda it: it.count_approx_distinct_by_key(), [2, 0, 1]),
]


def _append(known: list[int], value: int) -> list[int]:
    known.append(value)  # as in Scio, the first argument may be changed
    return known


@pytest.mark.parametrize(
    ("verb", "expected"),
    [(verb, expected) for _, verb, expected in WITH_A_VALUE_FOR_NOTHING],
    ids=[name for name, _, _ in WITH_A_VALUE_FOR_NOTHING],
)
def test_an_empty_on_time_pane_has_the_value_of_nothing(verb: Verb, expected: list[Any]):
    early, on_time, late = expected
    assert panes(verb(scores())) == [
        (("joe", early), "00:00:59.999", "EARLY"),
        (("joe", on_time), "00:00:59.999", "ON_TIME"),
        (("joe", late), "00:00:59.999", "LATE"),
    ]


def test_the_mean_of_an_empty_pane_is_not_a_number():
    early, on_time, late = (value for (_, value), _, _ in panes(scores().mean_by_key()))
    assert (early, math.isnan(on_time), late) == (2, True, 5)


FAILING: list[tuple[str, Verb]] = [
    ("sum_by_key", lambda it: it.sum_by_key()),
    ("reduce_by_key", lambda it: it.reduce_by_key(max)),
    ("combine_by_key", lambda it: it.combine_by_key(str, lambda c, v: c + str(v), operator.add)),
    ("min_by_key", lambda it: it.min_by_key()),
    ("max_by_key", lambda it: it.max_by_key()),
]


@pytest.mark.parametrize(("name", "verb"), FAILING, ids=[name for name, _ in FAILING])
def test_what_has_no_value_for_nothing_fails_on_an_empty_pane(name: str, verb: Verb):
    with pytest.raises(TransformError) as failure:
        panes(verb(scores()))
    assert failure.value.label == name
    assert str(failure.value) == (
        f"{name!r} raised AssertionError: Empty output in combine*/sum*: the pane has no elements, "
        "and nothing can be made of them without a zero; use fold_by_key(zero, op) or "
        "aggregate_by_key(zero, seq_op, comb_op), or "
        "WindowOptions(on_time_behavior=\"fire_if_non_empty\"), for key 'joe' in window "
        "[00:00:00, 00:01:00), pane 1 (ON_TIME)"
    )


@pytest.mark.parametrize(
    ("name", "expected"), [("sum_by_key", [4, 5]), ("min_by_key", [1, 5]), ("max_by_key", [3, 5])]
)
def test_it_does_not_fail_where_empty_panes_do_not_come_out(name: str, expected: list[int]):
    silent = attrs.evolve(EARLY_AND_LATE, on_time_behavior="fire_if_non_empty")
    without = scores().with_fixed_windows("1 minute", options=silent)
    assert panes(getattr(without, name)()) == [
        (("joe", expected[0]), "00:00:59.999", "EARLY"),
        (("joe", expected[1]), "00:00:59.999", "LATE"),
    ]


def test_it_does_not_fail_where_panes_accumulate():
    everything = attrs.evolve(EARLY_AND_LATE, accumulation_mode="accumulating")
    assert panes(scores().with_fixed_windows("1 minute", options=everything).sum_by_key()) == [
        (("joe", 4), "00:00:59.999", "EARLY"),
        (("joe", 4), "00:00:59.999", "ON_TIME"),
        (("joe", 9), "00:00:59.999", "LATE"),
    ]


def test_each_key_and_window_has_its_own_value():
    events = ScioContext().parallelize_timestamped(
        [
            (("a", 1), "00:00:00"),
            (("b", 2), "00:00:30"),
            (("a", 4), "00:00:59"),
            (("a", 8), "00:01:00"),
        ]
    )
    assert panes(events.with_fixed_windows("1 minute").sum_by_key()) == [
        (("a", 5), "00:00:59.999", "ON_TIME"),
        (("a", 8), "00:01:59.999", "ON_TIME"),
        (("b", 2), "00:00:59.999", "ON_TIME"),
    ]


def test_a_value_that_functions_change_is_not_shared_by_panes():
    everything = attrs.evolve(EARLY_AND_LATE, accumulation_mode="accumulating")
    lists = (
        scores()
        .with_fixed_windows("1 minute", options=everything)
        .map_values(lambda n: [n])
        .reduce_by_key(operator.iadd)
    )
    assert [value for (_, value), _, _ in panes(lists)] == [[3, 1], [3, 1], [3, 1, 5]]


def test_records_are_summed_by_their_own_plus():
    @attrs.frozen
    class Toll:
        cars: int
        total: int

        def __add__(self, other: "Toll") -> "Toll":
            return Toll(self.cars + other.cars, self.total + other.total)

    tolls = ScioContext().parallelize([("A4", Toll(1, 10)), ("A4", Toll(2, 5))])
    assert [it for it, _, _ in panes(tolls.sum_by_key())] == [("A4", Toll(3, 15))]


def test_least_and_greatest_go_by_a_key():
    words = ScioContext().parallelize([(1, "bb"), (1, "a"), (1, "ccc")])
    assert panes(words.min_by_key(key=len))[0][0] == (1, "a")
    assert panes(words.max_by_key(key=len))[0][0] == (1, "ccc")
    assert panes(words.top_by_key(2, key=len))[0][0] == (1, ["ccc", "bb"])


# -- values, distinct ------------------------------------------------------------------------------


def test_equal_elements_are_counted():
    stream = (
        stream_of()
        .add_elements_at_time("00:00:10", "foo", "bar", "foo")
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", "foo")
        .advance_watermark_to_infinity()
    )
    words = ScioContext().test_stream(stream)
    assert panes(words.with_fixed_windows("1 minute", options=EARLY_AND_LATE).count_by_value()) == [
        (("foo", 2), "00:00:59.999", "EARLY"),
        (("foo", 0), "00:00:59.999", "ON_TIME"),
        (("bar", 1), "00:00:59.999", "ON_TIME"),
        (("foo", 1), "00:00:59.999", "LATE"),
    ]


def test_distinct_elements_come_out_with_their_first_pane():
    assert panes(scores().keys().distinct()) == [("joe", "00:00:59.999", "EARLY")]


def test_distinct_refuses_sessions_with_late_data():
    sessions = scores().with_session_windows("1 minute", options=EARLY_AND_LATE)
    with pytest.raises(PipelineError, match=r"^'distinct': Distinct does not support merging"):
        sessions.distinct()


def test_distinct_by_gives_one_of_each_pane_that_has_one():
    assert panes(scores().distinct_by(lambda it: it[0])) == [
        (("joe", 3), "00:00:59.999", "EARLY"),
        (("joe", 5), "00:00:59.999", "LATE"),
    ]
    assert panes(scores().distinct_by_key()) == panes(scores().distinct_by(lambda it: it[0]))


# -- overall ---------------------------------------------------------------------------------------

OVERALL: list[tuple[str, Callable[[SCollection[int]], SCollection[Any]], list[Any]]] = [
    ("aggregate", lambda it: it.aggregate(0, operator.add, operator.add), [4, 0, 5]),
    ("fold", lambda it: it.fold(0), [4, 0, 5]),
    ("count", lambda it: it.count(), [2, 0, 1]),
    ("top", lambda it: it.top(1), [[3], [], [5]]),
    ("sample", lambda it: it.sample(5).map(sorted), [[1, 3], [], [5]]),
    ("quantiles_approx", lambda it: it.quantiles_approx(2), [[1, 3], [], [5, 5]]),
    ("count_approx_distinct", lambda it: it.count_approx_distinct(), [2, 0, 1]),
]


@pytest.mark.parametrize(
    ("verb", "expected"), [it[1:] for it in OVERALL], ids=[name for name, _, _ in OVERALL]
)
def test_an_empty_pane_of_everything_has_the_value_of_nothing(verb: Any, expected: list[Any]):
    early, on_time, late = expected
    assert panes(verb(scores().values())) == [
        (early, "00:00:59.999", "EARLY"),
        (on_time, "00:00:59.999", "ON_TIME"),
        (late, "00:00:59.999", "LATE"),
    ]


def test_take_gives_so_many_elements_of_each_pane():
    assert panes(scores().values().take(1)) == [
        (3, "00:00:59.999", "EARLY"),
        (5, "00:00:59.999", "LATE"),
    ]


def test_the_mean_of_everything_in_an_empty_pane_is_not_a_number():
    early, on_time, late = (it for it, _, _ in panes(scores().values().mean()))
    assert (early, math.isnan(on_time), late) == (2, True, 5)


@pytest.mark.parametrize("verb", ["sum", "min", "max", "latest"])
def test_what_has_no_value_for_nothing_fails_overall(verb: str):
    with pytest.raises(TransformError) as failure:
        panes(getattr(scores().values(), verb)())
    assert failure.value.label.split("/")[0] == verb
    assert failure.value.problem.startswith("AssertionError: Empty output in combine*/sum*: ")
    assert "use fold(zero, op) or aggregate(zero, seq_op, comb_op)" in failure.value.problem
    assert failure.value.place == "window [00:00:00, 00:01:00), pane 1 (ON_TIME)"


def test_values_of_everything():
    numbers = ScioContext().parallelize([3, 1, 2])
    assert [it for it, _, _ in panes(numbers.sum())] == [6]
    assert [it for it, _, _ in panes(numbers.reduce(min))] == [1]
    assert [it for it, _, _ in panes(numbers.combine(str, _join, operator.add))] == ["312"]
    assert [it for it, _, _ in panes(numbers.min())] == [1]
    assert [it for it, _, _ in panes(numbers.max(key=lambda n: -n))] == [1]
    assert [it for it, _, _ in panes(numbers.mean())] == [2]


def _join(known: str, number: int) -> str:
    return f"{known}{number}"


def test_the_latest_element_is_that_of_the_greatest_time():
    events = ScioContext().parallelize_timestamped(["a", "c", "b"], [0, 2, 1])
    assert [it for it, _, _ in panes(events.latest())] == ["c"]


WITH_DEFAULT: list[tuple[Callable[[SCollection[Any]], SCollection[Any]], Any]] = [
    (lambda it: it.aggregate(7, operator.add, operator.add), 7),
    (lambda it: it.fold(0), 0),
    (lambda it: it.count(), 0),
    (lambda it: it.top(3), []),
]


@pytest.mark.parametrize(
    ("verb", "default"), WITH_DEFAULT, ids=["aggregate", "fold", "count", "top"]
)
def test_an_empty_collection_has_a_default_unless_it_is_windowed(verb: Any, default: Any):
    nothing = ScioContext().empty()
    assert [it for it, _, _ in panes(verb(nothing))] == [default]
    assert [it for it, _, _ in panes(verb(nothing.with_global_window()))] == [default]
    assert panes(verb(nothing.with_fixed_windows("1 minute"))) == []
    accumulating = WindowOptions(accumulation_mode="accumulating")
    assert panes(verb(nothing.with_global_window(accumulating))) == []


@pytest.mark.parametrize("verb", ["sum", "min", "max", "latest", "mean"])
def test_other_values_of_an_empty_collection_are_not_there(verb: str):
    assert panes(getattr(ScioContext().empty(), verb)()) == []


# -- what is refused when the pipeline is built ----------------------------------------------------


def test_an_aggregation_needs_its_functions():
    pairs: Any = ScioContext().parallelize([("a", 1)])
    with pytest.raises(
        PipelineError, match=r"'aggregate_by_key' needs a combine function or a zero"
    ):
        pairs.aggregate_by_key(0)
    with pytest.raises(PipelineError, match=r"got <class .*Sum'>; write Sum\(\)"):
        pairs.aggregate_by_key(Sum)
    with pytest.raises(PipelineError, match=r"'aggregate' needs a function, got 1"):
        pairs.aggregate(0, 1, 2)


def test_numbers_that_make_no_sense_are_refused_with_the_name_of_the_verb():
    pairs: Any = ScioContext().parallelize([("a", 1)])
    with pytest.raises(PipelineError, match=r"^'top_by_key': Top n must be a whole number of 1"):
        pairs.top_by_key(0)
    with pytest.raises(PipelineError, match=r"^'sample': Sample n must be"):
        pairs.sample(0)
    with pytest.raises(PipelineError, match=r"^'take': num must be a whole number of 1 or more"):
        pairs.take(0)


@pytest.mark.parametrize(
    "count",
    [
        lambda it: it.count_approx_distinct(0.02),
        lambda it: it.count_approx_distinct(10_000),
        lambda it: it.with_fanout(2).count_approx_distinct(),
        lambda it: it.map(lambda n: ("a", n)).count_approx_distinct_by_key(0.02).values(),
        lambda it: it.map(lambda n: ("a", n)).count_approx_distinct_by_key(10_000).values(),
    ],
)
def test_different_elements_are_counted_as_well_as_is_asked(count: Any):
    counted = count(ScioContext().parallelize([n % 5000 for n in range(6000)]))
    (came,) = counted.pipeline.run().out_of(counted.edge)
    assert abs(came.element.value - 5000) <= 100


@pytest.mark.parametrize("error", [0.005, 0.6, 15, "x", True])
def test_an_error_that_is_none_is_refused(error: Any):
    problem = "'count_approx_distinct': the error must be a number from 0.01 to 0.5, or a whole"
    with pytest.raises(PipelineError, match=problem):
        ScioContext().parallelize([1]).count_approx_distinct(error)
