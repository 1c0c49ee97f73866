"""Activities of users in session windows: the second part of a series of articles.

Original: the first six tests of ``BeamUserSessionsTest`` in ``user-sessions/`` of
mkuthan/stream-processing, commit ce36cac, whose order this is; the scenarios are those of the
article "Stream processing, part 2" (2022-03-08). The other four, about activities that are late,
are in ``test_user_sessions_late.py`` beside this.

What differs: the article asserts a single value, the repository today all elements in any order,
of which there is always one. Both forms are asked, each test runs once with each. And each test
also says everything that came out and was dropped, step by step, with ``emit_exactly``: the
originals look into one window at a time, and would not notice other panes.
"""

from sessions import ExactlyAtTime, activities_in_session_window, in_both_forms

from beamlike.scio import ScioContext
from beamlike.testing import (
    be_empty,
    emit_exactly,
    expect,
    in_on_time_pane,
    on_time_pane,
)
from beamlike.testing import test_stream_of as stream_of

TEN_MINUTES_GAP = "10 minutes"


def test_no_activities_should_create_empty_session(sc: ScioContext):
    activities = stream_of().advance_watermark_to_infinity()

    results = activities_in_session_window(sc.test_stream(activities), TEN_MINUTES_GAP)

    expect(results).to(be_empty)

    expect(results).to(emit_exactly())


@in_both_forms
def test_activities_should_be_aggregated_into_single_session(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:00", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(sc.test_stream(activities), TEN_MINUTES_GAP)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:11:00",
            exactly_at_time("00:10:59.999", ("joe", ["open app", "close app"])),
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "close app"], "00:00:00", "00:11:00", is_last=True, step=2
            ),
        )
    )


@in_both_forms
def test_out_of_order_activities_should_be_aggregated_into_single_session(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:01:00", ("joe", "close app"))
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(sc.test_stream(activities), TEN_MINUTES_GAP)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:11:00",
            exactly_at_time("00:10:59.999", ("joe", ["open app", "close app"])),
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "close app"], "00:00:00", "00:11:00", is_last=True, step=2
            ),
        )
    )


@in_both_forms
def test_activities_from_two_clients_should_be_aggregated_into_two_simultaneous_sessions(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:00:00", ("ben", "open app"))
        .add_elements_at_time("00:01:00", ("joe", "close app"))
        .add_elements_at_time("00:01:30", ("ben", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(sc.test_stream(activities), TEN_MINUTES_GAP)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:11:00",
            exactly_at_time("00:10:59.999", ("joe", ["open app", "close app"])),
        )
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:11:30",
            exactly_at_time("00:11:29.999", ("ben", ["open app", "close app"])),
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "close app"], "00:00:00", "00:11:00", is_last=True, step=4
            ),
            on_time_pane(
                "ben", ["open app", "close app"], "00:00:00", "00:11:30", is_last=True, step=4
            ),
        )
    )


@in_both_forms
def test_continuous_activities_should_be_aggregated_into_single_session(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:30", ("joe", "show product"))
        .add_elements_at_time("00:03:00", ("joe", "add to cart"))
        .add_elements_at_time("00:09:30", ("joe", "checkout"))
        .add_elements_at_time("00:13:10", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(sc.test_stream(activities), TEN_MINUTES_GAP)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:23:10",
            exactly_at_time(
                "00:23:09.999",
                ("joe", ["open app", "show product", "add to cart", "checkout", "close app"]),
            ),
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane(
                "joe",
                ["open app", "show product", "add to cart", "checkout", "close app"],
                "00:00:00",
                "00:23:10",
                is_last=True,
                step=5,
            ),
        )
    )


@in_both_forms
def test_interrupted_activities_should_be_aggregated_into_two_sessions(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:30", ("joe", "show product"))
        .add_elements_at_time("00:03:00", ("joe", "add to cart"))
        .add_elements_at_time("00:13:00", ("joe", "checkout"))
        .add_elements_at_time("00:13:10", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(sc.test_stream(activities), TEN_MINUTES_GAP)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:13:00",
            exactly_at_time("00:12:59.999", ("joe", ["open app", "show product", "add to cart"])),
        )
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:13:00",
            "00:23:10",
            exactly_at_time("00:23:09.999", ("joe", ["checkout", "close app"])),
        )
    )

    expect(results).to(
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
