"""Word count in fixed windows of one minute.

The scenarios of the first part of the stream processing series (mkuthan.github.io,
2022-01-28) and those that its repository added later. A line is one bundle: its words arrive
together. Each story has the matcher lines of the original, and then the complete output.
"""

from typing import Any

from beamlike import FixedWindows
from beamlike.model.combine import Count
from beamlike.testing import (
    FinishedTestStream,
    Results,
    TestStream,
    be_empty,
    contain_in_any_order_at_time,
    contain_single_value_at_time,
    dropped,
    emit_exactly,
    in_late_pane,
    in_on_time_pane,
    in_window,
    late_pane,
    on_time_pane,
)

Host = dict[str, Any]

FIRST_MINUTE = ("00:00:00", "00:01:00")
SECOND_MINUTE = ("00:01:00", "00:02:00")
THIRD_MINUTE = ("00:02:00", "00:03:00")


def words_of(line: str) -> list[tuple[str, str]]:
    return [(word, word) for word in line.split()]


def word_count_in_fixed_window(lines: FinishedTestStream, host: Host, **options: Any) -> Results:
    return lines.run(window=FixedWindows("1 minute"), aggregate=Count(), **options, **host)


ONE_MINUTE_OF_LINES = (
    TestStream()
    .add_elements_at_time("00:00:00", *words_of("foo bar"))
    .add_elements_at_time("00:00:30", *words_of("baz baz"))
)
COUNTS_OF_THE_FIRST_MINUTE = [
    ("00:00:59.999", ("foo", 1)),
    ("00:00:59.999", ("bar", 1)),
    ("00:00:59.999", ("baz", 2)),
]


def test_no_input_is_counted_as_nothing(host: Host) -> None:
    lines = TestStream().advance_watermark_to_infinity()

    results = word_count_in_fixed_window(lines, host)

    results.should(be_empty)
    results.should(emit_exactly())


def test_words_are_counted_in_a_single_window(host: Host) -> None:
    lines = ONE_MINUTE_OF_LINES.advance_watermark_to_infinity()

    results = word_count_in_fixed_window(lines, host)

    results.with_timestamp().should(contain_in_any_order_at_time(COUNTS_OF_THE_FIRST_MINUTE))
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, is_last=True, step=2),
            on_time_pane("bar", 1, FIRST_MINUTE, is_last=True, step=2),
            on_time_pane("baz", 2, FIRST_MINUTE, is_last=True, step=2),
        )
    )


def test_the_latest_word_gives_the_count_its_timestamp(host: Host) -> None:
    lines = ONE_MINUTE_OF_LINES.advance_watermark_to_infinity()

    results = word_count_in_fixed_window(lines, host, timestamp_combiner="latest")

    results.with_timestamp().should(
        contain_in_any_order_at_time(
            [("00:00:00", ("foo", 1)), ("00:00:00", ("bar", 1)), ("00:00:30", ("baz", 2))]
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, timestamp="00:00:00", is_last=True),
            on_time_pane("bar", 1, FIRST_MINUTE, timestamp="00:00:00", is_last=True),
            on_time_pane("baz", 2, FIRST_MINUTE, timestamp="00:00:30", is_last=True),
        )
    )


A_WORD_SEEN_TWICE = (
    TestStream()
    .add_elements_at_time("00:00:00", *words_of("foo bar"))
    .add_elements_at_time("00:00:30", *words_of("bar"))
    .advance_watermark_to_infinity()
)


def test_the_latest_timestamp_is_that_of_each_word_alone(host: Host) -> None:
    results = word_count_in_fixed_window(A_WORD_SEEN_TWICE, host, timestamp_combiner="latest")

    results.with_timestamp().should(
        contain_in_any_order_at_time([("00:00:00", ("foo", 1)), ("00:00:30", ("bar", 2))])
    )
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, timestamp="00:00:00", is_last=True),
            on_time_pane("bar", 2, FIRST_MINUTE, timestamp="00:00:30", is_last=True),
        )
    )


def test_the_earliest_word_gives_the_count_its_timestamp(host: Host) -> None:
    results = word_count_in_fixed_window(A_WORD_SEEN_TWICE, host, timestamp_combiner="earliest")

    results.with_timestamp().should(
        contain_in_any_order_at_time("00:00:00", [("foo", 1), ("bar", 2)])
    )
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, timestamp="00:00:00", is_last=True),
            on_time_pane("bar", 2, FIRST_MINUTE, timestamp="00:00:00", is_last=True),
        )
    )


TWO_CONSECUTIVE_MINUTES_OF_LINES = (
    ONE_MINUTE_OF_LINES.add_elements_at_time("00:01:00", *words_of("foo bar"))
    .add_elements_at_time("00:01:30", *words_of("bar foo"))
    .advance_watermark_to_infinity()
)


def test_words_are_counted_in_consecutive_windows(host: Host) -> None:
    results = word_count_in_fixed_window(TWO_CONSECUTIVE_MINUTES_OF_LINES, host)

    results.with_timestamp().should(
        contain_in_any_order_at_time(
            [
                *COUNTS_OF_THE_FIRST_MINUTE,
                ("00:01:59.999", ("foo", 2)),
                ("00:01:59.999", ("bar", 2)),
            ]
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, is_last=True, step=4),
            on_time_pane("bar", 1, FIRST_MINUTE, is_last=True, step=4),
            on_time_pane("baz", 2, FIRST_MINUTE, is_last=True, step=4),
            on_time_pane("foo", 2, SECOND_MINUTE, is_last=True, step=4),
            on_time_pane("bar", 2, SECOND_MINUTE, is_last=True, step=4),
        )
    )


def test_the_example_of_the_introduction_is_stamped_a_millisecond_before_its_labels(
    host: Host,
) -> None:
    results = word_count_in_fixed_window(TWO_CONSECUTIVE_MINUTES_OF_LINES, host)

    # The introduction labels the counts 00:01:00 and 00:02:00, the ends of their windows.
    results.with_timestamp().should(
        in_on_time_pane(FIRST_MINUTE, contain_in_any_order_at_time(COUNTS_OF_THE_FIRST_MINUTE))
    )
    results.with_timestamp().should(
        in_on_time_pane(
            SECOND_MINUTE, contain_in_any_order_at_time("00:01:59.999", [("foo", 2), ("bar", 2)])
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, timestamp="00:00:59.999", is_last=True),
            on_time_pane("bar", 1, FIRST_MINUTE, timestamp="00:00:59.999", is_last=True),
            on_time_pane("baz", 2, FIRST_MINUTE, timestamp="00:00:59.999", is_last=True),
            on_time_pane("foo", 2, SECOND_MINUTE, timestamp="00:01:59.999", is_last=True),
            on_time_pane("bar", 2, SECOND_MINUTE, timestamp="00:01:59.999", is_last=True),
        )
    )


def test_words_are_counted_in_non_consecutive_windows(host: Host) -> None:
    lines = (
        ONE_MINUTE_OF_LINES.add_elements_at_time("00:02:00", *words_of("foo bar"))
        .add_elements_at_time("00:02:30", *words_of("bar foo"))
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(lines, host)

    results.with_timestamp().should(
        contain_in_any_order_at_time(
            [
                *COUNTS_OF_THE_FIRST_MINUTE,
                ("00:02:59.999", ("foo", 2)),
                ("00:02:59.999", ("bar", 2)),
            ]
        )
    )
    results.with_timestamp().should(in_window(SECOND_MINUTE, be_empty))
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, is_last=True),
            on_time_pane("bar", 1, FIRST_MINUTE, is_last=True),
            on_time_pane("baz", 2, FIRST_MINUTE, is_last=True),
            on_time_pane("foo", 2, THIRD_MINUTE, is_last=True),
            on_time_pane("bar", 2, THIRD_MINUTE, is_last=True),
        )
    )


def test_late_words_are_discarded_but_no_longer_silently(host: Host) -> None:
    lines = (
        ONE_MINUTE_OF_LINES.advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:40", *words_of("foo"))  # late event
        .advance_watermark_to_infinity()
    )

    results = word_count_in_fixed_window(lines, host)

    results.with_timestamp().should(contain_in_any_order_at_time(COUNTS_OF_THE_FIRST_MINUTE))
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, is_last=True, step=2),
            on_time_pane("bar", 1, FIRST_MINUTE, is_last=True, step=2),
            on_time_pane("baz", 2, FIRST_MINUTE, is_last=True, step=2),
            dropped(
                "foo",
                "foo",
                at="00:00:40",
                window=FIRST_MINUTE,
                reason="expired",
                missed_by="1 ms",
                step=3,
            ),
        )
    )


TWO_LATE_WORDS_IN_ONE_LINE = (
    ONE_MINUTE_OF_LINES.advance_watermark_to("00:01:00")
    .add_elements_at_time("00:00:40", *words_of("foo foo"))  # late, within allowed lateness
    .advance_watermark_to_infinity()
)


def test_late_words_within_allowed_lateness_are_counted_in_a_late_pane(host: Host) -> None:
    results = word_count_in_fixed_window(
        TWO_LATE_WORDS_IN_ONE_LINE,
        host,
        allowed_lateness="30 seconds",
        accumulation="discarding",
    )

    results.with_timestamp().should(
        in_on_time_pane(FIRST_MINUTE, contain_in_any_order_at_time(COUNTS_OF_THE_FIRST_MINUTE))
    )
    results.with_timestamp().should(
        in_late_pane(FIRST_MINUTE, contain_single_value_at_time("00:00:59.999", ("foo", 2)))
    )
    # Two late words, one late pane: the trigger is asked once for a line. And no pane is the
    # last one: when the window expires there is nothing new to say.
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, is_last=False, step=2),
            on_time_pane("bar", 1, FIRST_MINUTE, is_last=False, step=2),
            on_time_pane("baz", 2, FIRST_MINUTE, is_last=False, step=2),
            late_pane("foo", 2, FIRST_MINUTE, index=1, is_last=False, step=3),
        )
    )


def test_late_words_within_allowed_lateness_are_added_to_the_count_of_a_late_pane(
    host: Host,
) -> None:
    results = word_count_in_fixed_window(
        TWO_LATE_WORDS_IN_ONE_LINE,
        host,
        allowed_lateness="30 seconds",
        accumulation="accumulating",
    )

    results.with_timestamp().should(
        in_on_time_pane(FIRST_MINUTE, contain_in_any_order_at_time(COUNTS_OF_THE_FIRST_MINUTE))
    )
    results.with_timestamp().should(
        in_late_pane(FIRST_MINUTE, contain_single_value_at_time("00:00:59.999", ("foo", 3)))
    )
    results.should(
        emit_exactly(
            on_time_pane("foo", 1, FIRST_MINUTE, is_last=False, step=2),
            on_time_pane("bar", 1, FIRST_MINUTE, is_last=False, step=2),
            on_time_pane("baz", 2, FIRST_MINUTE, is_last=False, step=2),
            late_pane("foo", 3, FIRST_MINUTE, index=1, is_last=False, step=3),
        )
    )
