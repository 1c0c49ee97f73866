"""User sessions: each user's activities, grouped by gaps of inactivity.

The scenarios of the second part of the stream processing series (mkuthan.github.io,
2022-03-08), in its order. Each story has the matcher lines of the original, and then the
complete output, which the original does not state.
"""

from typing import Any

from beamlike import AfterCount, AfterProcessingTime, AfterWatermark, Repeatedly, Sessions
from beamlike.model.combine import CollectByTimestamp
from beamlike.testing import (
    FinishedTestStream,
    Results,
    TestStream,
    TimestampedValue,
    be_empty,
    contain_single_value_at_time,
    dropped,
    early_pane,
    emit_exactly,
    in_early_pane,
    in_late_pane,
    in_on_time_pane,
    in_window,
    late_pane,
    on_time_pane,
)

Host = dict[str, Any]

ONE_MINUTE = "1 minute"
TEN_MINUTES_GAP = "10 minutes"
EVERY_MINUTE_THEN_ON_TIME_THEN_EVERY_LATE_ACTIVITY = AfterWatermark(
    early=AfterProcessingTime(ONE_MINUTE), late=AfterCount(1)
)


def activities_in_session_window(
    activities: FinishedTestStream, gap: str, host: Host, **options: Any
) -> Results:
    """Activities of a user in one session, ordered by event time."""
    return activities.run(window=Sessions(gap), aggregate=CollectByTimestamp(), **options, **host)


def test_no_activities_create_no_session(host: Host) -> None:
    activities = TestStream().advance_watermark_to_infinity()

    results = activities_in_session_window(activities, TEN_MINUTES_GAP, host)

    results.should(be_empty)
    results.should(emit_exactly())


def test_activities_are_aggregated_into_a_single_session(host: Host) -> None:
    activities = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:00", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(activities, TEN_MINUTES_GAP, host)

    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:11:00",
            contain_single_value_at_time("00:10:59.999", ("joe", ["open app", "close app"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "close app"], "00:00:00", "00:11:00", is_last=True, step=2
            )
        )
    )


def test_activities_of_two_users_are_aggregated_into_two_simultaneous_sessions(host: Host) -> None:
    activities = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:00:00", ("ben", "open app"))
        .add_elements_at_time("00:01:00", ("joe", "close app"))
        .add_elements_at_time("00:01:30", ("ben", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(activities, TEN_MINUTES_GAP, host)

    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:11:00",
            contain_single_value_at_time("00:10:59.999", ("joe", ["open app", "close app"])),
        )
    )
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:11:30",
            contain_single_value_at_time("00:11:29.999", ("ben", ["open app", "close app"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("joe", ["open app", "close app"], "00:00:00", "00:11:00", is_last=True),
            on_time_pane("ben", ["open app", "close app"], "00:00:00", "00:11:30", is_last=True),
        )
    )


def test_out_of_order_activities_are_aggregated_into_a_single_session(host: Host) -> None:
    activities = (
        TestStream()
        .add_elements_at_time("00:01:00", ("joe", "close app"))
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(activities, TEN_MINUTES_GAP, host)

    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:11:00",
            contain_single_value_at_time("00:10:59.999", ("joe", ["open app", "close app"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("joe", ["open app", "close app"], "00:00:00", "00:11:00", is_last=True)
        )
    )


def test_continuous_activities_are_aggregated_into_a_single_session(host: Host) -> None:
    activities = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:30", ("joe", "show product"))
        .add_elements_at_time("00:03:00", ("joe", "add to cart"))
        .add_elements_at_time("00:09:30", ("joe", "checkout"))
        .add_elements_at_time("00:13:10", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(activities, TEN_MINUTES_GAP, host)

    everything = ["open app", "show product", "add to cart", "checkout", "close app"]
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:23:10",
            contain_single_value_at_time("00:23:09.999", ("joe", everything)),
        )
    )
    results.should(
        emit_exactly(on_time_pane("joe", everything, "00:00:00", "00:23:10", is_last=True))
    )


INTERRUPTED = (
    TestStream()
    .add_elements_at_time("00:00:00", ("joe", "open app"))
    .add_elements_at_time("00:01:30", ("joe", "show product"))
    .add_elements_at_time("00:03:00", ("joe", "add to cart"))
    .add_elements_at_time("00:13:00", ("joe", "checkout"))  # exactly ten minutes later
    .add_elements_at_time("00:13:10", ("joe", "close app"))
    .advance_watermark_to_infinity()
)


def test_interrupted_activities_are_aggregated_into_two_sessions(host: Host) -> None:
    results = activities_in_session_window(INTERRUPTED, TEN_MINUTES_GAP, host)

    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:13:00",
            contain_single_value_at_time(
                "00:12:59.999", ("joe", ["open app", "show product", "add to cart"])
            ),
        )
    )
    results.with_timestamp().should(
        in_on_time_pane(
            "00:13:00",
            "00:23:10",
            contain_single_value_at_time("00:23:09.999", ("joe", ["checkout", "close app"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(
                "joe",
                ["open app", "show product", "add to cart"],
                "00:00:00",
                "00:13:00",
                is_last=True,
            ),
            on_time_pane("joe", ["checkout", "close app"], "00:13:00", "00:23:10", is_last=True),
        )
    )


def test_a_pause_of_exactly_the_gap_is_not_one_session_as_the_introduction_says(host: Host) -> None:
    results = activities_in_session_window(INTERRUPTED, TEN_MINUTES_GAP, host)

    # [00:00:00, 00:13:00) and [00:13:00, 00:23:10) touch, and windows that touch do not merge.
    results.should(in_window("00:00:00", "00:23:10", be_empty))
    results.should(
        emit_exactly(
            on_time_pane(
                "joe",
                ["open app", "show product", "add to cart"],
                "00:00:00",
                "00:13:00",
                is_last=True,
                step=5,
            ),
            on_time_pane(
                "joe", ["checkout", "close app"], "00:13:00", "00:23:10", is_last=True, step=5
            ),
        )
    )


def test_a_gap_one_millisecond_longer_makes_the_introduction_true(
    host: Host,
) -> None:
    results = activities_in_session_window(INTERRUPTED, "10m 1ms", host)

    results.should(
        emit_exactly(
            on_time_pane(
                "joe",
                ["open app", "show product", "add to cart", "checkout", "close app"],
                "00:00:00",
                "00:23:10.001",
                is_last=True,
            )
        )
    )


def test_a_gap_of_five_minutes_makes_two_sessions_with_a_hole_between_them(host: Host) -> None:
    results = activities_in_session_window(INTERRUPTED, "5 minutes", host)

    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:08:00",
            contain_single_value_at_time(
                "00:07:59.999", ("joe", ["open app", "show product", "add to cart"])
            ),
        )
    )
    results.with_timestamp().should(
        in_on_time_pane(
            "00:13:00",
            "00:18:10",
            contain_single_value_at_time("00:18:09.999", ("joe", ["checkout", "close app"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(
                "joe",
                ["open app", "show product", "add to cart"],
                "00:00:00",
                "00:08:00",
                is_last=True,
            ),
            on_time_pane("joe", ["checkout", "close app"], "00:13:00", "00:18:10", is_last=True),
        )
    )


A_LATE_ACTIVITY = (
    TestStream()
    .add_elements_at_time("00:00:00", ("joe", "open app"))
    .add_elements_at_time("00:01:30", ("joe", "show product"))
    .advance_watermark_to("00:13:00")
    .add_elements_at_time("00:03:00", ("joe", "add to cart"))  # late activity
    .add_elements_at_time("00:09:30", ("joe", "checkout"))
    .add_elements_at_time("00:13:10", ("joe", "close app"))
    .advance_watermark_to_infinity()
)


def test_late_activity_is_discarded_but_no_longer_silently(host: Host) -> None:
    results = activities_in_session_window(A_LATE_ACTIVITY, TEN_MINUTES_GAP, host)

    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:11:30",
            contain_single_value_at_time("00:11:29.999", ("joe", ["open app", "show product"])),
        )
    )
    results.with_timestamp().should(in_window("00:00:00", "00:13:00", be_empty))
    results.with_timestamp().should(
        in_on_time_pane(
            "00:09:30",
            "00:23:10",
            contain_single_value_at_time("00:23:09.999", ("joe", ["checkout", "close app"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "show product"], "00:00:00", "00:11:30", is_last=True, step=2
            ),
            dropped(
                "joe",
                "add to cart",
                at="00:03:00",
                window=("00:03:00", "00:13:00"),
                reason="expired",
                missed_by="1 ms",
                step=3,
            ),
            # "checkout" is behind the watermark too, but its own ten minutes are not over.
            on_time_pane(
                "joe", ["checkout", "close app"], "00:09:30", "00:23:10", is_last=True, step=6
            ),
        )
    )


def test_one_millisecond_decides_whether_an_activity_is_late(host: Host) -> None:
    activities = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .advance_watermark_to("00:13:00")
        .add_elements_at_time("00:03:00", ("joe", "x"))
        .add_elements_at_time("00:03:00.001", ("joe", "y"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(activities, TEN_MINUTES_GAP, host)

    results.should(
        emit_exactly(
            on_time_pane("joe", ["open app"], "00:00:00", "00:10:00", is_last=True, step=1),
            dropped(
                "joe",
                "x",
                at="00:03:00",
                window=("00:03:00", "00:13:00"),
                reason="expired",
                missed_by="1 ms",
                step=2,
            ),
            on_time_pane("joe", ["y"], "00:03:00.001", "00:13:00.001", is_last=True, step=4),
        )
    )


def test_late_activity_is_discarded_even_when_a_live_session_could_absorb_it(host: Host) -> None:
    activities = (
        TestStream()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .advance_watermark_to("00:13:00")
        .add_elements_at_time("00:09:30", ("joe", "checkout"))
        .add_elements_at_time("00:03:00", ("joe", "add to cart"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(activities, TEN_MINUTES_GAP, host)

    results.should(
        emit_exactly(
            on_time_pane("joe", ["open app"], "00:00:00", "00:10:00", is_last=True, step=1),
            dropped(
                "joe",
                "add to cart",
                at="00:03:00",
                window=("00:03:00", "00:13:00"),
                reason="expired",
                missed_by="1 ms",
                step=3,
            ),
            on_time_pane("joe", ["checkout"], "00:09:30", "00:19:30", is_last=True, step=4),
        )
    )


def test_late_activity_within_allowed_lateness_is_aggregated_into_a_late_pane(host: Host) -> None:
    results = activities_in_session_window(
        A_LATE_ACTIVITY,
        TEN_MINUTES_GAP,
        host,
        allowed_lateness="5 minutes",
        accumulation="discarding",
    )

    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:11:30",
            contain_single_value_at_time("00:11:29.999", ("joe", ["open app", "show product"])),
        )
    )
    results.with_timestamp().should(
        in_late_pane(
            "00:00:00",
            "00:13:00",
            contain_single_value_at_time("00:12:59.999", ("joe", ["add to cart"])),
        )
    )
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:23:10",
            contain_single_value_at_time("00:23:09.999", ("joe", ["checkout", "close app"])),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "show product"], "00:00:00", "00:11:30", is_last=False, step=2
            ),
            late_pane("joe", ["add to cart"], "00:00:00", "00:13:00", is_last=False, step=3),
            # The late activity bridges the two sessions: the longer one is on time once more.
            on_time_pane(
                "joe", ["checkout", "close app"], "00:00:00", "00:23:10", is_last=True, step=6
            ),
        )
    )


def test_late_activity_within_allowed_lateness_is_accumulated_into_a_late_pane(host: Host) -> None:
    results = activities_in_session_window(
        A_LATE_ACTIVITY,
        TEN_MINUTES_GAP,
        host,
        allowed_lateness="5 minutes",
        accumulation="accumulating",
    )

    first_two = ["open app", "show product"]
    everything = [*first_two, "add to cart", "checkout", "close app"]
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00", "00:11:30", contain_single_value_at_time("00:11:29.999", ("joe", first_two))
        )
    )
    results.with_timestamp().should(
        in_late_pane(
            "00:00:00",
            "00:13:00",
            contain_single_value_at_time("00:12:59.999", ("joe", [*first_two, "add to cart"])),
        )
    )
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00",
            "00:23:10",
            contain_single_value_at_time("00:23:09.999", ("joe", everything)),
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("joe", first_two, "00:00:00", "00:11:30", is_last=False, step=2),
            late_pane(
                "joe", [*first_two, "add to cart"], "00:00:00", "00:13:00", is_last=False, step=3
            ),
            on_time_pane("joe", everything, "00:00:00", "00:23:10", is_last=True, step=6),
        )
    )


def six_activities_a_minute_apart(clock_step: str) -> TestStream:
    """Activities "0" to "5"; after each of them the clock moves on by ``clock_step``."""
    activities = TestStream()
    for minute in range(6):
        activities = activities.add_elements_at_time(
            f"00:0{minute}:00", ("joe", str(minute))
        ).advance_processing_time(clock_step)
    return activities.advance_watermark_to("00:20:00")  # more than 00:05:00 + 10 minutes of gap


def then_two_late_activities(activities: TestStream) -> FinishedTestStream:
    return (
        activities.add_elements_at_time("00:06:00", ("joe", "6"))  # late, within allowed lateness
        .add_elements_at_time("00:07:00", ("joe", "7"))  # late, within allowed lateness
        .advance_watermark_to_infinity()
    )


def up_to(last: int) -> list[str]:
    return [str(number) for number in range(last + 1)]


SPECULATIVE: dict[str, Any] = {
    "allowed_lateness": "10 minutes",
    "trigger": EVERY_MINUTE_THEN_ON_TIME_THEN_EVERY_LATE_ACTIVITY,
}


def test_activities_are_aggregated_early_on_time_and_on_every_late_activity(
    host: Host,
) -> None:
    results = activities_in_session_window(
        then_two_late_activities(six_activities_a_minute_apart(ONE_MINUTE)),
        TEN_MINUTES_GAP,
        host,
        accumulation="accumulating",
        **SPECULATIVE,
    )

    results.with_timestamp().should(
        in_early_pane(
            "00:00:00", "00:11:00", contain_single_value_at_time("00:10:59.999", ("joe", up_to(1)))
        )
    )
    results.with_timestamp().should(
        in_early_pane(
            "00:00:00", "00:13:00", contain_single_value_at_time("00:12:59.999", ("joe", up_to(3)))
        )
    )
    results.with_timestamp().should(
        in_early_pane(
            "00:00:00", "00:15:00", contain_single_value_at_time("00:14:59.999", ("joe", up_to(5)))
        )
    )
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00", "00:15:00", contain_single_value_at_time("00:14:59.999", ("joe", up_to(5)))
        )
    )
    results.with_timestamp().should(
        in_late_pane(
            "00:00:00", "00:16:00", contain_single_value_at_time("00:15:59.999", ("joe", up_to(6)))
        )
    )
    results.with_timestamp().should(
        in_late_pane(
            "00:00:00", "00:17:00", contain_single_value_at_time("00:16:59.999", ("joe", up_to(7)))
        )
    )
    # Early panes come every second minute: after one the clock stands exactly at the target,
    # and a processing-time trigger wants it to be past.
    results.should(
        emit_exactly(
            early_pane("joe", up_to(1), "00:00:00", "00:11:00", is_last=False, step=3),
            early_pane("joe", up_to(3), "00:00:00", "00:13:00", is_last=False, step=7),
            early_pane("joe", up_to(5), "00:00:00", "00:15:00", is_last=False, step=11),
            on_time_pane("joe", up_to(5), "00:00:00", "00:15:00", index=1, is_last=False, step=12),
            late_pane("joe", up_to(6), "00:00:00", "00:16:00", is_last=False, step=13),
            late_pane("joe", up_to(7), "00:00:00", "00:17:00", is_last=False, step=14),
        )
    )


def test_a_clock_one_millisecond_past_each_minute_gives_an_early_pane_each_minute(
    host: Host,
) -> None:
    results = activities_in_session_window(
        then_two_late_activities(six_activities_a_minute_apart("1m 1ms")),
        TEN_MINUTES_GAP,
        host,
        accumulation="accumulating",
        **SPECULATIVE,
    )

    results.should(
        emit_exactly(
            early_pane("joe", up_to(0), "00:00:00", "00:10:00", is_last=False, step=1),
            early_pane("joe", up_to(1), "00:00:00", "00:11:00", is_last=False, step=3),
            early_pane("joe", up_to(2), "00:00:00", "00:12:00", is_last=False, step=5),
            early_pane("joe", up_to(3), "00:00:00", "00:13:00", is_last=False, step=7),
            early_pane("joe", up_to(4), "00:00:00", "00:14:00", is_last=False, step=9),
            early_pane("joe", up_to(5), "00:00:00", "00:15:00", is_last=False, step=11),
            on_time_pane("joe", up_to(5), "00:00:00", "00:15:00", index=1, is_last=False, step=12),
            late_pane("joe", up_to(6), "00:00:00", "00:16:00", is_last=False, step=13),
            late_pane("joe", up_to(7), "00:00:00", "00:17:00", is_last=False, step=14),
        )
    )


def test_early_panes_that_are_discarded_leave_an_empty_pane_on_time(host: Host) -> None:
    results = activities_in_session_window(
        then_two_late_activities(six_activities_a_minute_apart(ONE_MINUTE)),
        TEN_MINUTES_GAP,
        host,
        accumulation="discarding",
        **SPECULATIVE,
    )

    results.should(
        emit_exactly(
            early_pane("joe", ["0", "1"], "00:00:00", "00:11:00", is_last=False, step=3),
            early_pane("joe", ["2", "3"], "00:00:00", "00:13:00", is_last=False, step=7),
            early_pane("joe", ["4", "5"], "00:00:00", "00:15:00", is_last=False, step=11),
            on_time_pane("joe", [], "00:00:00", "00:15:00", index=1, is_last=False, step=12),
            late_pane("joe", ["6"], "00:00:00", "00:16:00", is_last=False, step=13),
            late_pane("joe", ["7"], "00:00:00", "00:17:00", is_last=False, step=14),
        )
    )


def test_late_activities_that_arrive_together_share_one_late_pane(host: Host) -> None:
    activities = six_activities_a_minute_apart(ONE_MINUTE)
    together = activities.add_elements(
        TimestampedValue(("joe", "6"), "00:06:00"), TimestampedValue(("joe", "7"), "00:07:00")
    ).advance_watermark_to_infinity()

    results = activities_in_session_window(
        together, TEN_MINUTES_GAP, host, accumulation="accumulating", **SPECULATIVE
    )

    results.should(
        emit_exactly(
            early_pane("joe", up_to(1), "00:00:00", "00:11:00", is_last=False, step=3),
            early_pane("joe", up_to(3), "00:00:00", "00:13:00", is_last=False, step=7),
            early_pane("joe", up_to(5), "00:00:00", "00:15:00", is_last=False, step=11),
            on_time_pane("joe", up_to(5), "00:00:00", "00:15:00", index=1, is_last=False, step=12),
            late_pane("joe", up_to(7), "00:00:00", "00:17:00", is_last=False, step=13),
        )
    )


def test_activity_within_the_gap_of_a_finished_session_is_on_time_once_more(
    host: Host,
) -> None:
    # A first draft of the late stories: the author kept only the first of its assertions.
    activities = (
        TestStream()
        .add_elements_at_time("00:00:00", ("jack", "open app"))
        .add_elements_at_time("00:01:00", ("jack", "search product"))
        .add_elements_at_time("00:01:30", ("jack", "open product"))
        .add_elements_at_time("00:03:00", ("jack", "add to cart"))
        .advance_watermark_to("00:13:00")
        .add_elements_at_time("00:09:30", ("jack", "checkout"))
        .add_elements_at_time("00:13:10", ("jack", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(
        activities,
        TEN_MINUTES_GAP,
        host,
        allowed_lateness="5 minutes",
        accumulation="discarding",
    )

    first = ["open app", "search product", "open product", "add to cart"]
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00", "00:13:00", contain_single_value_at_time("00:12:59.999", ("jack", first))
        )
    )
    results.should(
        emit_exactly(
            on_time_pane("jack", first, "00:00:00", "00:13:00", is_last=False, step=4),
            on_time_pane(
                "jack", ["checkout", "close app"], "00:00:00", "00:23:10", is_last=True, step=7
            ),
        )
    )


def test_earliest_timestamps_of_early_panes_are_those_of_new_activities(
    host: Host,
) -> None:
    activities = (
        TestStream()
        .add_elements_at_time("00:00:00", ("jack", "open app"))
        .add_elements_at_time("00:01:30", ("jack", "open product"))
        .add_elements_at_time("00:03:00", ("jack", "add to cart"))
        .advance_processing_time("6 minutes")
        .add_elements_at_time("00:09:30", ("jack", "checkout"))
        .advance_processing_time("6 minutes")
        .add_elements_at_time("00:13:10", ("jack", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(
        activities,
        TEN_MINUTES_GAP,
        host,
        trigger=Repeatedly(AfterWatermark(early=AfterProcessingTime("5 minutes"))),
        allowed_lateness=0,
        accumulation="accumulating",
        timestamp_combiner="earliest",
    )

    first = ["open app", "open product", "add to cart"]
    second = [*first, "checkout"]
    third = [*second, "close app"]
    results.with_timestamp().should(
        in_early_pane(
            "00:00:00", "00:13:00", contain_single_value_at_time("00:00:00", ("jack", first))
        )
    )
    results.with_timestamp().should(
        in_early_pane(
            "00:00:00", "00:19:30", contain_single_value_at_time("00:09:30", ("jack", second))
        )
    )
    results.with_timestamp().should(
        in_on_time_pane(
            "00:00:00", "00:23:10", contain_single_value_at_time("00:13:10", ("jack", third))
        )
    )
    results.should(
        emit_exactly(
            early_pane(
                "jack", first, "00:00:00", "00:13:00", is_last=False, timestamp="00:00:00", step=3
            ),
            early_pane(
                "jack", second, "00:00:00", "00:19:30", is_last=False, timestamp="00:09:30", step=5
            ),
            on_time_pane(
                "jack", third, "00:00:00", "00:23:10", is_last=True, timestamp="00:13:10", step=7
            ),
        )
    )
