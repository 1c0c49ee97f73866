"""Beam Python's assertions, in the words of its own tests."""

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike import FixedWindows, IntervalWindow, SlidingWindows
from beamlike.api.pipelines.dofn import TimestampedValue
from beamlike.api.pipelines.elements import Create, Map
from beamlike.api.pipelines.groups import CombinePerKey, GroupByKey
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.api.pipelines.rows import Row
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.errors import TestStreamError
from beamlike.testing import (
    BeamAssertException,
    PaneAssertionError,
    TestPipeline,
    TestWindowedValue,
    assert_that,
    contain_value,
    equal_to,
    equal_to_per_window,
    in_window,
    is_empty,
    is_not_empty,
)
from tests.support.refusals import refusal

FIRST, SECOND = IntervalWindow(0, 60_000), IntervalWindow(60_000, 120_000)


@pytest.fixture
def pipeline() -> Iterator[TestPipeline]:
    with TestPipeline() as pipeline:
        yield pipeline


def scores(pipeline: Pipeline) -> Any:
    return (
        pipeline
        | Create(
            [
                TimestampedValue(("joe", 1), "00:00:10"),
                TimestampedValue(("joe", 2), "00:00:20"),
                TimestampedValue(("ben", 3), "00:01:30"),
            ]
        )
        | WindowInto(FixedWindows("1 minute"))
    )


def test_equal_to_is_about_all_elements_in_any_order(pipeline: TestPipeline) -> None:
    assert_that(scores(pipeline) | CombinePerKey(sum), equal_to([("ben", 3), ("joe", 3)]))
    assert_that(pipeline | "Other" >> Create([3, 1, 2]), equal_to([1, 2, 3]), label="others")
    assert_that(pipeline | "None" >> Create([]), equal_to([]))
    assert_that(pipeline | "None too" >> Create([]), is_empty())
    assert_that(pipeline | "One" >> Create([1]), is_not_empty())


def test_equal_to_can_be_reported_what_is_equal(pipeline: TestPipeline) -> None:
    close = pipeline | Create([0.1 + 0.2, 1.0])

    assert_that(close, equal_to([1.0, 0.3], equals_fn=lambda want, got: abs(want - got) < 1e-9))


def test_elements_by_window(pipeline: TestPipeline) -> None:
    grouped = scores(pipeline) | GroupByKey()

    assert_that(grouped, equal_to_per_window({FIRST: [("joe", [2, 1])], SECOND: [("ben", [3])]}))
    assert_that(
        grouped | Map(lambda pair: pair[0]),
        equal_to_per_window({("00:00:00", "00:01:00"): ["joe"], SECOND: ["ben"]}),
        reify_windows=True,
    )


def test_an_element_in_several_windows_is_there_once_for_each(pipeline: TestPipeline) -> None:
    sliding = (
        pipeline
        | Create([TimestampedValue("a", "00:00:30")])
        | WindowInto(SlidingWindows("1 minute", "30 s"))
    )

    assert_that(sliding, equal_to(["a", "a"]))
    assert_that(sliding, equal_to_per_window({FIRST: ["a"], beam.IntervalWindow(30, 90): ["a"]}))
    assert_that(
        sliding,
        equal_to(
            [
                TestWindowedValue("a", 30, [beam.IntervalWindow(0, 60)]),
                TestWindowedValue("a", beam.Timestamp(30), [beam.IntervalWindow(30, 90)]),
            ]
        ),
        reify_windows=True,
    )


def test_a_function_may_look_at_the_elements(pipeline: TestPipeline) -> None:
    seen: list[Any] = []

    assert_that(scores(pipeline), seen.extend)
    pipeline.run()

    assert seen == [("joe", 1), ("joe", 2), ("ben", 3)]


def test_the_matchers_of_this_harness_do_as_well(pipeline: TestPipeline) -> None:
    assert_that(scores(pipeline), in_window(FIRST, contain_value(("joe", 2))))


def test_all_that_is_wrong_is_reported_at_the_end() -> None:
    pipeline = TestPipeline()
    numbers = pipeline | Create([TimestampedValue(1, 1_000), TimestampedValue(2, 2_000)])

    def are_three(elements: list[int]) -> None:
        if len(elements) != 3:
            raise BeamAssertException(f"only {len(elements)} elements")

    assert_that(numbers, equal_to([1, 3]))
    assert_that(numbers, is_empty())
    assert_that(numbers, are_three)
    assert_that(numbers, lambda elements: len(elements) == 3)
    assert_that(pipeline | "Nothing" >> Create([]), is_not_empty())

    text = refusal(PaneAssertionError, pipeline.run)

    line = test_all_that_is_wrong_is_reported_at_the_end.__code__.co_firstlineno + 8
    everything = """\
    windowing   GlobalWindows(), DefaultTrigger(), discarding, allowed lateness 0ms

    everything that came out{selected}:
    {mark}  step  key  window  timing   #  ns  place  timestamp  value
    {mark}  0          global  UNKNOWN  0  0   only   00:00:01   1
    {mark}  0          global  UNKNOWN  0  0   only   00:00:02   2"""
    plain = everything.format(mark="", selected="")
    assert (
        text
        == f"""\
5 of 5 assertions do not hold:

1) test_harness_beam.py:{line}
    assert_that(numbers, equal_to([1, 3]))

    equal_to does not hold

    collection  'Create'
    because     Failed assert: [1, 3] == [1, 2], unexpected elements [2], missing elements [3]
{plain}

2) test_harness_beam.py:{line + 1}
    assert_that(numbers, is_empty())

    is_empty does not hold

    collection  'Create'
    because     Failed assert: [] == [1, 2]
{plain}

3) test_harness_beam.py:{line + 2}
    assert_that(numbers, are_three)

    are_three does not hold

    collection  'Create'
    because     BeamAssertException: only 2 elements
{plain}

4) test_harness_beam.py:{line + 3}
    assert_that(numbers, lambda elements: len(elements) == 3)

    <lambda> does not hold

    collection  'Create'
    because     it returned False
{plain}

5) test_harness_beam.py:{line + 4}
    assert_that(pipeline | "Nothing" >> Create([]), is_not_empty())

    is_not_empty does not hold

    collection  'Nothing'
    because     Failed assert: pcol is empty
    windowing   GlobalWindows(), DefaultTrigger(), discarding, allowed lateness 0ms

    everything that came out:
    (nothing came out, nothing was dropped)

    what came out on the way:
         0 of 'Nothing'"""
    )


def test_elements_of_windows_that_are_not_listed_are_unexpected() -> None:
    pipeline = TestPipeline()
    assert_that(scores(pipeline), equal_to_per_window({FIRST: [("joe", 1), ("joe", 2)]}))

    text = refusal(PaneAssertionError, pipeline.run)

    assert "equal_to_per_window does not hold" in text
    assert "window [60.0, 120.0) not found in any expected windows" in text


def test_an_assertion_about_any_pipeline_is_asked_when_it_has_run() -> None:
    for expected in ([1], [2]):
        pipeline = Pipeline()
        assert_that(pipeline | Create([1]), equal_to(expected))
        if expected == [1]:
            pipeline.run()
        else:
            with pytest.raises(PaneAssertionError, match="missing elements \\[2\\]"):
                pipeline.run()


def test_matchers_are_functions_too() -> None:
    equal_to([2, 1])([1, 2])
    is_empty()([])
    is_not_empty()([1])
    for matcher, elements, said in (
        (equal_to([1]), [2], "[1] == [2], unexpected elements [2], missing elements [1]"),
        (is_empty(), [1], "[] == [1]"),
        (is_not_empty(), [], "pcol is empty"),
    ):
        assert refusal(BeamAssertException, matcher, elements) == (f"Failed assert: {said}")


def test_rows_are_equal_to_named_tuples() -> None:
    Point = namedtuple("Point", "x y")
    with TestPipeline() as pipeline:
        assert_that(pipeline | Create([Row(x=1, y=2)]), equal_to([Point(1, 2)]))


def test_a_function_may_be_asked_for_each_window() -> None:
    asked = []
    with TestPipeline() as pipeline:
        elements = [TimestampedValue(n, at) for n, at in ((1, "00:00:10"), (2, "00:01:10"))]
        windowed = pipeline | Create(elements) | WindowInto(FixedWindows("1 minute"))
        assert_that(windowed, asked.append, use_global_window=False)
    assert [(found, window.start) for found, window in asked] == [([1], 0), ([2], 60_000)]


@pytest.mark.parametrize(
    ("matcher", "hint"),
    [
        ([1], "got [1]"),
        (equal_to, "; write equal_to(...)"),
        (is_empty, "; write is_empty(...)"),
        (PaneAssertionError, "PaneAssertionError'>"),
    ],
)
def test_an_assertion_needs_a_matcher(matcher: Any, hint: str) -> None:
    numbers = TestPipeline() | Create([1])

    with pytest.raises(TestStreamError) as refused:
        assert_that(numbers, matcher)

    assert str(refused.value).startswith("assert_that needs a matcher, got ")
    assert str(refused.value).endswith(hint)


def test_every_window_that_is_wrong_is_reported() -> None:
    pipeline = TestPipeline()
    assert_that(
        scores(pipeline),
        equal_to_per_window({FIRST: [("joe", 1)], ("00:02:00", "00:03:00"): [("ann", 4)]}),
    )

    assert """
    equal_to_per_window does not hold

    collection  'WindowInto'
    because     Failed assert: element ('joe', 2) not found in window [0.0, 60.0):[('joe', 1)]
                window [60.0, 120.0) not found in any expected windows [[0.0, 60.0), [120.0, 180.0)]
                unmatched elements [('ann', 4)] in window [120.0, 180.0)
""" in refusal(PaneAssertionError, pipeline.run)
