"""Assertions about collections: what a failure says, and what says nothing or is refused."""

from typing import Any

import pytest

from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.errors import PipelineError, TestStreamError
from beamlike.testing import (
    PaneAssertionError,
    TestPipeline,
    TimestampedValue,
    contain_single_value,
    contain_value,
    element,
    emit_exactly,
    equal_map_of,
    expect,
    for_all,
    have_size,
    in_late_pane,
    in_on_time_pane,
)
from tests.support.pipelines.counted_words import word_counts
from tests.support.refusals import refusal

FIRST = ("00:00:00", "00:01:00")

WINDOWING = (
    "FixedWindows(1m), AfterWatermark(early=AfterCount(2), late=AfterCount(1)), accumulating, "
    "allowed lateness 30s"
)


TIMELINE = """\
* element   o behind the watermark   x dropped   [--) window   | watermark   < > off the axis

'foo' key               00:00:00    00:00:10     00:00:20    00:00:30     00:00:40    00:00:50
                        +-----------+------------+-----------+------------+-----------+------------+
  0 + 'foo'             *
      opened            [-------------------------------------------------------------------------)
  1 + 'foo'                                                  *
      EARLY #0          [-------------------------------------------------------------------------)
                        2 by AfterWatermark.early[AfterCount(2)]
  2 watermark                                                                             00:01:00 |
      ON_TIME #1        [-------------------------------------------------------------------------)|
                        2 by AfterWatermark[end of window]
  4 watermark                                                                             00:02:00 >
      no pane           [-------------------------------------------------------------------------)>
                        nothing new, expiry of the window
  5 + 'foo'                                                                           x            >
      dropped, expired  [-------------------------------------------------------------x-----------)>
                        'foo' missed by 30s 1ms
  6 watermark                                                                             infinity >

'bar' key               00:00:00    00:00:10     00:00:20    00:00:30     00:00:40    00:00:50
                        +-----------+------------+-----------+------------+-----------+------------+
  0 + 'bar'             *
      opened            [-------------------------------------------------------------------------)
  2 watermark                                                                             00:01:00 |
      ON_TIME #0        [-------------------------------------------------------------------------)|
                        1 by AfterWatermark[end of window]
  3 + 'bar'                                                               o                        |
      LATE #1           [-------------------------------------------------------------------------)|
                        2 by AfterWatermark.late[AfterCount(1)]
  4 watermark                                                                             00:02:00 >
      no pane           [-------------------------------------------------------------------------)>
                        nothing new, expiry of the window
  6 watermark                                                                             infinity >
""".rstrip("\n")
"""What happened to the counts, of which the assertions are."""


# -- what a failure says ----------------------------------------------------------------------


def test_all_failures_are_reported_together_each_with_its_line() -> None:
    pipeline = TestPipeline()
    counts = word_counts(pipeline)
    words = counts | "Words alone" >> Map(lambda pair: pair[0])
    expect(counts).to(
        in_late_pane(*FIRST, contain_single_value(("bar", 3)))  # there are two
    )
    expect(words).to(have_size(4))
    expect(words).not_to(in_on_time_pane(*FIRST, contain_value("foo")))

    text = refusal(PaneAssertionError, pipeline.run)

    line = test_all_failures_are_reported_together_each_with_its_line.__code__.co_firstlineno
    expected = f"""\
2 of 3 assertions do not hold:

1) test_harness_failures.py:{line + 4}
    expect(counts).to(
        in_late_pane(*FIRST, contain_single_value(("bar", 3)))  # there are two
    )

    in_late_pane [00:00:00, 00:01:00) contain_single_value does not hold

    collection  'Count'
    expected    exactly one element, ('bar', 3)
    missing     ('bar', 3)
    unexpected  ('bar', 2)
    dropped by  'Count'
    windowing   {WINDOWING}

    everything that came out, 1 marked with >:
       step  key    window                timing   #  ns  place    timestamp     value
       1     'foo'  [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  2
       2     'foo'  [00:00:00, 00:01:00)  ON_TIME  1  0            00:00:59.999  2
       2     'bar'  [00:00:00, 00:01:00)  ON_TIME  0  0   first    00:00:59.999  1
    >  3     'bar'  [00:00:00, 00:01:00)  LATE     1  1            00:00:59.999  2
       5     'foo'  [00:00:00, 00:01:00)  DROPPED         expired  00:00:50      'foo' (missed by \
30s 1ms)

2) test_harness_failures.py:{line + 8}
    expect(words).not_to(in_on_time_pane(*FIRST, contain_value("foo")))

    in_on_time_pane [00:00:00, 00:01:00) contain_value holds, but should not

    collection  'Words alone'
    expected    anything but an element 'foo'
    dropped by  'Count'
    windowing   {WINDOWING}

    everything that came out, 2 marked with >:
       step  key    window                timing   #  ns  place    timestamp     value
       1            [00:00:00, 00:01:00)  EARLY    0  -1  first    00:00:59.999  'foo'
    >  2            [00:00:00, 00:01:00)  ON_TIME  1  0            00:00:59.999  'foo'
    >  2            [00:00:00, 00:01:00)  ON_TIME  0  0   first    00:00:59.999  'bar'
       3            [00:00:00, 00:01:00)  LATE     1  1            00:00:59.999  'bar'
       5     'foo'  [00:00:00, 00:01:00)  DROPPED         expired  00:00:50      'foo' (missed by \
30s 1ms)

timeline of 'Count', by its own steps:
{TIMELINE}"""
    assert text == expected


def test_a_collection_without_elements_tells_where_they_were_lost() -> None:
    pipeline = TestPipeline()
    numbers = pipeline | Create([1, 2, 3]) | "None" >> FlatMap(lambda number: [])
    expect(numbers).to(contain_single_value(1))

    text = refusal(PaneAssertionError, pipeline.run)

    assert text.startswith("the assertion does not hold:\n\n1) test_harness_failures.py:")
    expected = """\
does not hold: no pane was selected

    collection  'None'
    expected    exactly one element, 1
    missing     1
    windowing   GlobalWindows(), DefaultTrigger(), discarding, allowed lateness 0ms

    everything that came out:
    (nothing came out, nothing was dropped)

    what came out on the way:
         3 of 'Create'
         0 of 'None'"""
    assert text.partition("\n\n    contain_single_value ")[2] == expected


def test_the_whole_output_is_reported_as_code() -> None:
    pipeline = TestPipeline()
    numbers = pipeline | Create([TimestampedValue(1, "00:00:05"), TimestampedValue(("a", 2), 7)])
    expect(numbers).to(emit_exactly(element(3, "global", timestamp="00:00:05")))

    assert """
    collection  'Create'
    expected    element(3, "global", timestamp="00:00:05")
    came out    element(1, "global", timestamp="00:00:05")
    differs in  element: expected 3, got 1
    unexpected  pane('a', 2, "global", timing="UNKNOWN", is_last=True, timestamp="00:00:00.007")
""" in refusal(PaneAssertionError, pipeline.run)


# -- what says nothing ------------------------------------------------------------------------


def test_a_negation_in_a_window_that_never_occurs_says_nothing() -> None:
    pipeline = TestPipeline()
    expect(word_counts(pipeline)).not_to(
        in_late_pane("00:00:00", "00:01:01", contain_value(("foo", 9)))
    )

    assert (
        "should_not in_late_pane [00:00:00, 00:01:01) contain_value says nothing: no pane was "
        "selected, and no such window occurs" in refusal(PaneAssertionError, pipeline.run)
    )


def test_what_holds_for_all_of_nothing_says_nothing() -> None:
    pipeline = TestPipeline()
    expect(pipeline | Create([])).to(for_all(lambda number: False))

    assert "for_all says nothing: no pane came out at all" in refusal(
        PaneAssertionError, pipeline.run
    )


def test_an_assertion_without_a_matcher_says_nothing() -> None:
    pipeline = TestPipeline()
    expect(pipeline | Create([1]))

    text = refusal(PaneAssertionError, pipeline.run)

    line = test_an_assertion_without_a_matcher_says_nothing.__code__.co_firstlineno + 2
    expected = f"""\
the assertion does not hold:

1) test_harness_failures.py:{line}
    expect(pipeline | Create([1]))

    this checks nothing; add .to(...) or .not_to(...) with a matcher"""
    assert text == expected


# -- what is refused ---------------------------------------------------------------------------


def test_collections_of_any_pipeline_can_be_asked() -> None:
    pipeline = Pipeline()
    expect(pipeline | Create([1])).to(have_size(2))

    with pytest.raises(PaneAssertionError, match="expected    2 elements"):
        pipeline.run()
    not_a_collection: Any = [1]
    with pytest.raises(PipelineError, match=r"expect needs a collection of a pipeline, got \[1\]"):
        expect(not_a_collection)


def test_nothing_can_be_asserted_after_the_run() -> None:
    with TestPipeline() as pipeline:
        numbers = pipeline | Create([1])

    with pytest.raises(PipelineError, match=r"failures.py:\d+ asserts something about a pipeline"):
        expect(numbers)


def test_an_assertion_wants_a_matcher() -> None:
    wrong: Any = have_size

    with pytest.raises(TestStreamError) as refused, TestPipeline() as pipeline:
        expect(pipeline | Create([1])).to(wrong)

    assert str(refused.value) == (
        f"expect(...).to needs a matcher, got {have_size!r}; write have_size(...)"
    )


def test_a_map_is_made_of_pairs() -> None:
    pipeline = TestPipeline()
    expect(pipeline | Create([1])).to(equal_map_of({"a": 1}))

    with pytest.raises(TestStreamError) as refused:
        pipeline.run()

    assert str(refused.value) == (
        "equal_map_of needs a collection of (key, value) pairs, and got 1"
    )
    assert "test_harness_failures.py:" in refused.value.__notes__[0]
