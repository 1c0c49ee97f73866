"""User sessions: each user's activities, grouped by gaps of inactivity.

The scenarios of the second part of the stream processing series (mkuthan.github.io,
2022-03-08), in its order; late and early results are in files of their own. Each story has the
matcher lines of the original, and then the complete output, which the original does not state.
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
    emit_exactly,
    in_on_time_pane,
    in_window,
    on_time_pane,
)

Host = dict[str, Any]

TEN_MINUTES_GAP = "10 minutes"


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
