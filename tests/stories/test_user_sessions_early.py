"""User sessions with early results: every minute, on time, and on every late activity.

Scenarios of the second part of the stream processing series (mkuthan.github.io, 2022-03-08),
in its order, written as in ``test_user_sessions.py``.
"""

from typing import Any

from beamlike import AfterCount, AfterProcessingTime, AfterWatermark, Repeatedly, Sessions
from beamlike.model.combine import CollectByTimestamp
from beamlike.testing import (
    FinishedTestStream,
    Results,
    TestStream,
    TimestampedValue,
    contain_single_value_at_time,
    early_pane,
    emit_exactly,
    in_early_pane,
    in_late_pane,
    in_on_time_pane,
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
