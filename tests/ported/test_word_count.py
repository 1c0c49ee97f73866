"""Words counted in fixed windows: the first part of a series of articles on stream processing.

Original: ``BeamWordCountTest`` and ``BeamWordCount`` in ``word-count/`` of
mkuthan/stream-processing, commit ce36cac; the scenarios are those of the article "Stream
processing, part 1" (2022-01-28), but for the one of the latest timestamp, whose data has changed
since, and the one of the earliest, which is new.

What differs: each test also says everything that came out and was dropped, step by step, with
``emit_exactly``. The originals that look into single panes say nothing of other panes, and none
says what the pane infos are.
"""

from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import (
    be_empty,
    contain_in_any_order_at_time,
    dropped,
    emit_exactly,
    expect,
    in_late_pane,
    in_on_time_pane,
    in_window,
    late_pane,
    on_time_pane,
)
from beamlike.testing import test_stream_of as stream_of

ONE_MINUTE = "1 minute"

FIRST = ("00:00:00", "00:01:00")
SECOND = ("00:01:00", "00:02:00")
THIRD = ("00:02:00", "00:03:00")


def word_count_in_fixed_window(
    lines: SCollection[str],
    window_duration: str,
    allowed_lateness: str = "0 s",
    accumulation_mode: str = "discarding",
    timestamp_combiner: str = "end_of_window",
) -> SCollection[tuple[str, int]]:
    options = WindowOptions(
        allowed_lateness=allowed_lateness,
        accumulation_mode=accumulation_mode,
        timestamp_combiner=timestamp_combiner,
    )
    return (
        lines.flat_map(str.split)
        .with_fixed_windows(window_duration, options=options)
        .count_by_value()
    )


def test_words_aggregate_should_be_empty_for_empty_stream(sc: ScioContext):
    words = stream_of().advance_watermark_to_infinity()

    results = word_count_in_fixed_window(sc.test_stream(words), ONE_MINUTE)

    expect(results).to(be_empty)

    expect(results).to(emit_exactly())


def test_words_should_be_aggregated_into_single_fixed_window(sc: ScioContext):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "baz baz")
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(sc.test_stream(words), ONE_MINUTE)

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time("00:00:59.999", [("foo", 1), ("bar", 1), ("baz", 2)])
    )

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=True, step=2),
            on_time_pane("bar", 1, *FIRST, is_last=True, step=2),
            on_time_pane("baz", 2, *FIRST, is_last=True, step=2),
        )
    )


def test_words_should_be_aggregated_into_single_fixed_window_with_the_latest_timestamp(
    sc: ScioContext,
):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "bar")
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(
        sc.test_stream(words), ONE_MINUTE, timestamp_combiner="latest"
    )

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time([("00:00:00", ("foo", 1)), ("00:00:30", ("bar", 2))])
    )

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=True, timestamp="00:00:00", step=2),
            on_time_pane("bar", 2, *FIRST, is_last=True, timestamp="00:00:30", step=2),
        )
    )


def test_words_should_be_aggregated_into_single_fixed_window_with_the_earliest_timestamp(
    sc: ScioContext,
):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "bar")
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(
        sc.test_stream(words), ONE_MINUTE, timestamp_combiner="earliest"
    )

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time([("00:00:00", ("foo", 1)), ("00:00:00", ("bar", 2))])
    )

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=True, timestamp="00:00:00", step=2),
            on_time_pane("bar", 2, *FIRST, is_last=True, timestamp="00:00:00", step=2),
        )
    )


def test_words_should_be_aggregated_into_consecutive_fixed_windows(sc: ScioContext):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "baz baz")
        .add_elements_at_time("00:01:00", "foo bar")
        .add_elements_at_time("00:01:30", "bar foo")
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(sc.test_stream(words), ONE_MINUTE)

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(
            [
                ("00:00:59.999", ("foo", 1)),
                ("00:00:59.999", ("bar", 1)),
                ("00:00:59.999", ("baz", 2)),
                ("00:01:59.999", ("foo", 2)),
                ("00:01:59.999", ("bar", 2)),
            ]
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=True, step=4),
            on_time_pane("bar", 1, *FIRST, is_last=True, step=4),
            on_time_pane("baz", 2, *FIRST, is_last=True, step=4),
            on_time_pane("foo", 2, *SECOND, is_last=True, step=4),
            on_time_pane("bar", 2, *SECOND, is_last=True, step=4),
        )
    )


def test_words_should_be_aggregated_into_non_consecutive_fixed_windows(sc: ScioContext):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "baz baz")
        .add_elements_at_time("00:02:00", "foo bar")
        .add_elements_at_time("00:02:30", "bar foo")
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(sc.test_stream(words), ONE_MINUTE)

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time(
            [
                ("00:00:59.999", ("foo", 1)),
                ("00:00:59.999", ("bar", 1)),
                ("00:00:59.999", ("baz", 2)),
                ("00:02:59.999", ("foo", 2)),
                ("00:02:59.999", ("bar", 2)),
            ]
        )
    )

    expect(results.with_timestamp()).to(in_window("00:01:00", "00:02:00", be_empty))

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=True, step=4),
            on_time_pane("bar", 1, *FIRST, is_last=True, step=4),
            on_time_pane("baz", 2, *FIRST, is_last=True, step=4),
            on_time_pane("foo", 2, *THIRD, is_last=True, step=4),
            on_time_pane("bar", 2, *THIRD, is_last=True, step=4),
        )
    )


def test_late_words_should_be_silently_dropped(sc: ScioContext):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "baz baz")
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:40", "foo")  # late event
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(sc.test_stream(words), ONE_MINUTE)

    expect(results.with_timestamp()).to(
        contain_in_any_order_at_time("00:00:59.999", [("foo", 1), ("bar", 1), ("baz", 2)])
    )

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=True, step=2),
            on_time_pane("bar", 1, *FIRST, is_last=True, step=2),
            on_time_pane("baz", 2, *FIRST, is_last=True, step=2),
            dropped(
                "foo",
                "foo",
                at="00:00:40",
                window=FIRST,
                reason="expired",
                missed_by="1 ms",
                step=3,
            ),
        )
    )


def test_late_words_within_allowed_lateness_should_be_aggregated_in_late_pane(sc: ScioContext):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "baz baz")
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:40", "foo foo")  # late event within allowed lateness
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(
        sc.test_stream(words), ONE_MINUTE, allowed_lateness="30 seconds"
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:01:00",
            contain_in_any_order_at_time("00:00:59.999", [("foo", 1), ("bar", 1), ("baz", 2)]),
        )
    )

    expect(results.with_timestamp()).to(
        in_late_pane(
            "00:00:00", "00:01:00", contain_in_any_order_at_time("00:00:59.999", [("foo", 2)])
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=False, step=2),
            on_time_pane("bar", 1, *FIRST, is_last=False, step=2),
            on_time_pane("baz", 2, *FIRST, is_last=False, step=2),
            late_pane("foo", 2, *FIRST, index=1, is_last=False, step=3),
        )
    )


def test_late_words_within_allowed_lateness_should_be_aggregated_and_accumulated_in_late_pane(
    sc: ScioContext,
):
    words = (
        stream_of()
        .add_elements_at_time("00:00:00", "foo bar")
        .add_elements_at_time("00:00:30", "baz baz")
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:40", "foo foo")  # late event within allowed lateness
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(
        sc.test_stream(words),
        ONE_MINUTE,
        allowed_lateness="30 seconds",
        accumulation_mode="accumulating",
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:01:00",
            contain_in_any_order_at_time("00:00:59.999", [("foo", 1), ("bar", 1), ("baz", 2)]),
        )
    )

    expect(results.with_timestamp()).to(
        in_late_pane(
            "00:00:00", "00:01:00", contain_in_any_order_at_time("00:00:59.999", [("foo", 3)])
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane("foo", 1, *FIRST, is_last=False, step=2),
            on_time_pane("bar", 1, *FIRST, is_last=False, step=2),
            on_time_pane("baz", 2, *FIRST, is_last=False, step=2),
            late_pane("foo", 3, *FIRST, index=1, is_last=False, step=3),
        )
    )
