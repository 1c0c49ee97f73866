"""The test harness of beamlike: streams told step by step, and questions about what came out.

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

Whole pipelines are asked about in a block, which runs them at its end:

    with run_with_context() as sc:
        counts = sc.test_stream(lines).flat_map(str.split).count_by_value()
        expect(counts).to(contain_value(("foo", 2)))

Time is made up: nothing sleeps, and no clock is read. `load_transcripts` reads scenarios from
files, `differences` says how a run differs from what a scenario expects. Importing this does
not import pyspark.

Read in this order. Scenarios: `spelling` (times and windows as a test writes them), `arguments` (of
verbs, and what misspelt ones meant), `finished_stream` (a test stream that can be run), `stream`
(the verbs that make one), `as_code` (a run as a test stream to be pasted), `changes` (a run as the
changes of a table), `results`, `comparing` (several strategies). Assertions: `equality`, `values`
(what must be in panes), `selection` and `matchers` (in which panes), `expected` and `complete` (the
whole output), `groupings` (what an assertion is about), `failures` (what a failure says).
Queries of DataFrames: `query_rows` (what is sent), `query_outputs` (what comes out, as panes and
drops), `query_hosts` (where they run), `query_test`.
Pipelines: `checks` (when assertions are asked), `collections`, `runs`, `overrides` and `wiring`
(what a test puts in place of parts), `pipelines`, `jobs`, `inside_pipelines` (what happened in
their groupings), `beam_matchers` and `beam` (Beam Python's words), `plugin` (of pytest),
`plugin_examples` (of hypothesis) and `plugin_reports` (what it adds to a failure). Scenarios as
files: `json_places` and `transcript_places` (where a mistake is), `transcript_schema`,
`transcripts`, `transcript_results`, `transcript_writing`, `conformance`; those of other systems:
`dialect_cases`, `dialect_player`, `akka_plays`, `apex_plays`, `flink_plays`, `kafka_plays`,
`dialect_plays`, `dialect_replays` (on Spark), `apex_questions`, `dialect_questions`. Laws:
`random_strategies`, `generate` (random scenarios), `streams` (of many keys at once), `laws` (of
machines), `bundles` (of how elements arrive), `chain` (several groupings, one after the other),
`in_shard`, `shard_of_numbers` (at rest), `every_aggregate` (of every column), `rows_of_plans`,
`hand_made_rows`, `either_machine`, `both_machines`, `in_columns` and `differential` (all of them,
on many scenarios), `shrinking` (what breaks one), `contract_case`, `contract_rules` and `contract`
(of window functions), `combine_contract` (of combine functions). Laws of pipelines:
`random_pipelines`, `told_runs` (what came out, in words), `in_letters` (the layers of the Spark
host, without Spark), `side_by_side` (tests in one query), `counted_words` (a pipeline with panes of
all timings, to be asked about). Running queries: `query_reports` (as Spark writes them),
`checkpoints` (that they leave behind).
"""

from beamlike.testing.as_code import as_test_stream
from beamlike.testing.beam import assert_that
from beamlike.testing.beam_matchers import (
    BeamAssertException,
    TestWindowedValue,
    equal_to,
    equal_to_per_window,
    is_empty,
    is_not_empty,
)
from beamlike.testing.checks import NothingRanWarning
from beamlike.testing.collections import Expectation, expect
from beamlike.testing.combine_contract import (
    CombineFnAssertionError,
    broken_combine_fn_laws,
    check_combine_fn,
)
from beamlike.testing.comparing import compare
from beamlike.testing.complete import emit_exactly
from beamlike.testing.contract import (
    WindowFnAssertionError,
    broken_window_fn_rules,
    check_window_fn,
)
from beamlike.testing.expected import (
    ExpectedDrop,
    ExpectedPane,
    dropped,
    early_pane,
    element,
    late_pane,
    on_time_pane,
    pane,
)
from beamlike.testing.failures import PaneAssertionError
from beamlike.testing.finished_stream import FinishedTestStream
from beamlike.testing.inside_pipelines import inside
from beamlike.testing.jobs import JobTest
from beamlike.testing.matchers import (
    in_combined_non_late_panes,
    in_early_global_window_panes,
    in_early_pane,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
)
from beamlike.testing.overrides import TransformOverride
from beamlike.testing.pipelines import (
    TestPipeline,
    run_with_context,
    run_with_data,
    run_with_local_output,
    run_with_overrides,
)
from beamlike.testing.query_test import QueryTest
from beamlike.testing.results import Results
from beamlike.testing.runs import (
    expect_counter,
    expect_distribution,
    expect_error,
    expect_gauge,
)
from beamlike.testing.spelling import TimestampedValue
from beamlike.testing.stream import TestStream, test_stream_of
from beamlike.testing.transcripts import Scenario, differences, load_transcripts, to_document
from beamlike.testing.values import (
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
from beamlike.viz.picture import figure_of

__all__ = [
    "BeamAssertException",
    "CombineFnAssertionError",
    "Expectation",
    "ExpectedDrop",
    "ExpectedPane",
    "FinishedTestStream",
    "JobTest",
    "NothingRanWarning",
    "PaneAssertionError",
    "QueryTest",
    "Results",
    "Scenario",
    "TestPipeline",
    "TestStream",
    "TestWindowedValue",
    "TimestampedValue",
    "TransformOverride",
    "WindowFnAssertionError",
    "as_test_stream",
    "assert_that",
    "be_empty",
    "broken_combine_fn_laws",
    "broken_window_fn_rules",
    "check_combine_fn",
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
    "test_stream_of",
    "to_document",
]
