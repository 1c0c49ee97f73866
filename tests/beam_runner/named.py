"""Tests of Beam that do not pass on our runner, each with the reason.

A reason stands for all tests whose names end with one of these texts. A test that is named and
passes is an error, too: then the line is to go.
"""

from typing import Final

NAMED: Final[dict[str, tuple[str, ...]]] = {
    "The last pane of a window comes out as it expires, as in Beam Java.": (
        "TriggerPipelineTest::test_after_count",
        "LeaderBoardTest::test_leader_board_users",
    ),
    "The on-time pane comes out also if it is empty, as in Beam Java.": (
        "TriggerPipelineTest::test_repeatedly_after_processing_time",
    ),
    "Beam's proto has no output time of that kind, so no portable runner has it.": (
        "TestStreamTranscriptTest::test_timestamp_combiner_custom_timestamping_earliest_1",
    ),
    "Times are microseconds here, and milliseconds in what the test expects; and an on-time pane "
    "after which none can follow is the last.": (
        "test_reshuffle_default_window_preserves_metadata_1",
        "test_reshuffle_window_fn_preserved",
        "test_reshuffle_windows_unchanged",
    ),
    "The transform is one of Beam's direct runner.": (
        "ReverseTestStreamTest::test_basic_execution",
        "ReverseTestStreamTest::test_basic_execution_in_records_format",
        "ReverseTestStreamTest::test_windowing",
        "TestStreamTest::test_basic_execution_with_service",
        "TestStreamTest::test_windowed_values_interpreted_correctly",
    ),
    "An element of a side input that comes too late is dropped, as in Beam Java.": (
        "test_basic_execution_sideinputs_fixed_windows",
    ),
    "The test needs a cloud.": (
        "FiltersTest::test_filters_output_bigquery_matcher",
        "AutocompleteTest::test_autocomplete_it",
        "MatchIntegrationTest::test_transform_on_gcs",
    ),
    "A side input of a stream shows its latest pane, as in Beam Java.": (
        "test_multi_triggered_gbk_side_input",
    ),
}


ON_SPARK: Final[dict[str, tuple[str, ...]]] = {
    "The test waits for a warning that is given in a worker's process. Beam's tests of portable "
    "runners, and of Flink with workers of its own, skip it for that.": (
        "test_batch_rebatch_pardos",
    )
}
"""Those that do not pass on Spark alone."""

OF_BEAMS_RUNNER: Final[dict[str, tuple[str, ...]]] = {
    "The on-time pane of a window comes out also if it is empty, as in Beam Java.": (
        "test_reshuffle_custom_window_preserves_metadata_0",
        "test_reshuffle_custom_window_preserves_metadata_1",
        "SnippetsTest::test_model_other_composite_triggers",
    )
}
"""Those that ask for Beam's own runner. `tests.beam_suite` runs them on ours all the same."""


def reason_of(test: str, host: str = "local", *, in_place: bool = False) -> str | None:
    """Why a test does not pass on a host; None if it is not named.

    Args:
        test: The test.
        host: Where pipelines run.
        in_place: Whether ours is there in place of the runners that tests ask for.
    """
    on_spark = ON_SPARK if host == "spark" else {}
    of_beams = OF_BEAMS_RUNNER if in_place else {}
    for reason, names in {**NAMED, **on_spark, **of_beams}.items():
        if test.endswith(names):
            return reason
    return None
