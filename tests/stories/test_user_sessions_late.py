"""User sessions with late activities: what is dropped, and what comes out in a late pane.

Scenarios of the second part of the stream processing series (mkuthan.github.io, 2022-03-08),
in its order, written as in ``test_user_sessions.py``.
"""

from typing import Any

from beamlike import Sessions
from beamlike.model.combine import CollectByTimestamp
from beamlike.testing import (
    FinishedTestStream,
    Results,
    TestStream,
    be_empty,
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

TEN_MINUTES_GAP = "10 minutes"


def activities_in_session_window(
    activities: FinishedTestStream, gap: str, host: Host, **options: Any
) -> Results:
    """Activities of a user in one session, ordered by event time."""
    return activities.run(window=Sessions(gap), aggregate=CollectByTimestamp(), **options, **host)


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
