"""The test harness of beamlike: scripted streams, and assertions about what came out.

    results = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:00", ("joe", "close app"))
        .advance_watermark_to_infinity()
        .run(window=Sessions("10 minutes"))
    )
    results.should(
        in_on_time_pane(
            "00:00:00", "00:11:00", contain_single_value(("joe", ["open app", "close app"]))
        )
    )

Whole pipelines are checked in a block, which runs them at its end:

    with run_with_context() as sc:
        counts = sc.test_stream(lines).flat_map(str.split).count_by_value()
        expect(counts).to(contain_value(("foo", 2)))

Time is simulated: nothing sleeps, and no clock is read. `load_transcripts` reads scenarios from
files, `differences` lists how a run differs from what a scenario expects. Importing this does
not import pyspark.

Read in this order: `spelling` (times and windows as a test writes them), `streams` (test streams
and their results), `assertions`, `dataframes` (queries fed micro-batch by micro-batch),
`pipelines`, `scenarios` (as files), `contracts` (laws of a user's own functions), `plugin` (of
pytest).
"""

from beamlike.api.pipelines.dofn import TimestampedValue
from beamlike.testing.assertions.complete import (
    ExpectedDrop,
    ExpectedPane,
    dropped,
    early_pane,
    element,
    emit_exactly,
    late_pane,
    on_time_pane,
    pane,
)
from beamlike.testing.assertions.failures import PaneAssertionError
from beamlike.testing.assertions.matchers import (
    in_combined_non_late_panes,
    in_early_global_window_panes,
    in_early_pane,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
)
from beamlike.testing.assertions.values import (
    be_empty,
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value,
    contain_single_value_at_time,
    contain_value,
    contain_value_at_time,
    equal_map_of,
    exist,
    for_all,
    have_size,
    satisfy,
    satisfy_single_value,
)
from beamlike.testing.contracts.combine_fn import CombineFnAssertionError, check_combine_fn
from beamlike.testing.contracts.trigger import TriggerAssertionError, check_trigger
from beamlike.testing.contracts.window_fn import WindowFnAssertionError, check_window_fn
from beamlike.testing.dataframes.query import QueryTest
from beamlike.testing.pipelines.beam import (
    BeamAssertException,
    TestWindowedValue,
    assert_that,
    equal_to,
    equal_to_per_window,
    is_empty,
    is_not_empty,
)
from beamlike.testing.pipelines.checks import NothingRanWarning
from beamlike.testing.pipelines.collections import Expectation, expect, inside
from beamlike.testing.pipelines.contexts import (
    TestPipeline,
    run_with_context,
    run_with_data,
    run_with_local_output,
    run_with_overrides,
)
from beamlike.testing.pipelines.jobs import JobTest
from beamlike.testing.pipelines.runs import (
    expect_counter,
    expect_distribution,
    expect_error,
    expect_gauge,
)
from beamlike.testing.pipelines.wiring import TransformOverride
from beamlike.testing.scenarios.files import Scenario, differences, load_transcripts
from beamlike.testing.scenarios.results import to_document
from beamlike.testing.streams.as_code import as_test_stream
from beamlike.testing.streams.by_clock import arrivals_from_dataframe, stream_by_clock
from beamlike.testing.streams.comparing import compare
from beamlike.testing.streams.finished import FinishedTestStream
from beamlike.testing.streams.results import Results
from beamlike.testing.streams.stream import TestStream, test_stream_of
from beamlike.testing.streams.watermark_rules import (
    BoundedDelay,
    IdleAfter,
    PercentileOfDelays,
    PerfectWatermark,
    WatermarkRule,
)
from beamlike.viz.picture import figure_of

__all__ = [
    "BeamAssertException",
    "BoundedDelay",
    "CombineFnAssertionError",
    "Expectation",
    "ExpectedDrop",
    "ExpectedPane",
    "FinishedTestStream",
    "IdleAfter",
    "JobTest",
    "NothingRanWarning",
    "PaneAssertionError",
    "PercentileOfDelays",
    "PerfectWatermark",
    "QueryTest",
    "Results",
    "Scenario",
    "TestPipeline",
    "TestStream",
    "TestWindowedValue",
    "TimestampedValue",
    "TransformOverride",
    "TriggerAssertionError",
    "WatermarkRule",
    "WindowFnAssertionError",
    "arrivals_from_dataframe",
    "as_test_stream",
    "assert_that",
    "be_empty",
    "check_combine_fn",
    "check_trigger",
    "check_window_fn",
    "compare",
    "contain_in_any_order",
    "contain_in_any_order_at_time",
    "contain_single_value",
    "contain_single_value_at_time",
    "contain_value",
    "contain_value_at_time",
    "differences",
    "dropped",
    "early_pane",
    "element",
    "emit_exactly",
    "equal_map_of",
    "equal_to",
    "equal_to_per_window",
    "exist",
    "expect",
    "expect_counter",
    "expect_distribution",
    "expect_error",
    "expect_gauge",
    "figure_of",
    "for_all",
    "have_size",
    "in_combined_non_late_panes",
    "in_early_global_window_panes",
    "in_early_pane",
    "in_final_pane",
    "in_late_pane",
    "in_on_time_pane",
    "in_only_pane",
    "in_window",
    "inside",
    "is_empty",
    "is_not_empty",
    "late_pane",
    "load_transcripts",
    "on_time_pane",
    "pane",
    "run_with_context",
    "run_with_data",
    "run_with_local_output",
    "run_with_overrides",
    "satisfy",
    "satisfy_single_value",
    "stream_by_clock",
    "test_stream_of",
    "to_document",
]
