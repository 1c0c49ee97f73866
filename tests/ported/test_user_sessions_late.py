"""Activities of users in session windows, when some of them are late.

Original: the last four tests of ``BeamUserSessionsTest`` in ``user-sessions/`` of
mkuthan/stream-processing, commit ce36cac, whose order this is; the scenarios are those of the
article "Stream processing, part 2" (2022-03-08). The first six are in ``test_user_sessions.py``
beside this.

What differs: the article asserts a single value, the repository today all elements in any order,
of which there is always one. Both forms are asked, each test runs once with each. And each test
also says everything that came out and was dropped, step by step, with ``emit_exactly``: the
originals look into one window at a time, and would not notice other panes, nor early ones that
come with each minute instead of each second one. The name of the last test lacks "on every
minute", for its length.
"""

from sessions import ExactlyAtTime, activities_in_session_window, in_both_forms

from beamlike import AfterCount, AfterProcessingTime, AfterWatermark
from beamlike.scio import ScioContext
from beamlike.testing import (
    be_empty,
    dropped,
    early_pane,
    emit_exactly,
    expect,
    in_early_pane,
    in_late_pane,
    in_on_time_pane,
    in_window,
    late_pane,
    on_time_pane,
)
from beamlike.testing import test_stream_of as stream_of

ONE_MINUTE = "1 minute"
TEN_MINUTES_GAP = "10 minutes"


@in_both_forms
def test_late_activity_should_be_silently_discarded(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:30", ("joe", "show product"))
        .advance_watermark_to("00:13:00")
        .add_elements_at_time("00:03:00", ("joe", "add to cart"))  # late activity
        .add_elements_at_time("00:09:30", ("joe", "checkout"))
        .add_elements_at_time("00:13:10", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(sc.test_stream(activities), TEN_MINUTES_GAP)

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:11:30",
            exactly_at_time("00:11:29.999", ("joe", ["open app", "show product"])),
        )
    )

    expect(results.with_timestamp()).to(in_window("00:00:00", "00:13:00", be_empty))

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:09:30",
            "00:23:10",
            exactly_at_time("00:23:09.999", ("joe", ["checkout", "close app"])),
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "show product"], "00:00:00", "00:11:30", is_last=True, step=2
            ),
            dropped(
                "joe",
                ("add to cart", 180_000),
                at="00:03:00",
                window=("00:03:00", "00:13:00"),
                reason="expired",
                missed_by="1 ms",
                step=3,
            ),
            on_time_pane(
                "joe", ["checkout", "close app"], "00:09:30", "00:23:10", is_last=True, step=6
            ),
        )
    )


@in_both_forms
def test_late_activity_within_allowed_lateness_should_be_aggregated_into_late_pane(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:30", ("joe", "show product"))
        .advance_watermark_to("00:13:00")
        .add_elements_at_time(
            "00:03:00", ("joe", "add to cart")
        )  # late activity within allowed lateness
        .add_elements_at_time("00:09:30", ("joe", "checkout"))
        .add_elements_at_time("00:13:10", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(
        sc.test_stream(activities), TEN_MINUTES_GAP, allowed_lateness="5 minutes"
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:11:30",
            exactly_at_time("00:11:29.999", ("joe", ["open app", "show product"])),
        )
    )

    expect(results.with_timestamp()).to(
        in_late_pane(
            "00:00:00", "00:13:00", exactly_at_time("00:12:59.999", ("joe", ["add to cart"]))
        )
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:23:10",
            exactly_at_time("00:23:09.999", ("joe", ["checkout", "close app"])),
        )
    )

    expect(results).to(
        emit_exactly(
            on_time_pane(
                "joe", ["open app", "show product"], "00:00:00", "00:11:30", is_last=False, step=2
            ),
            late_pane("joe", ["add to cart"], "00:00:00", "00:13:00", is_last=False, step=3),
            on_time_pane(
                "joe", ["checkout", "close app"], "00:00:00", "00:23:10", is_last=True, step=6
            ),
        )
    )


@in_both_forms
def test_late_activity_within_allowed_lateness_should_be_aggregated_and_accumulated_into_late_pane(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "open app"))
        .add_elements_at_time("00:01:30", ("joe", "show product"))
        .advance_watermark_to("00:13:00")
        .add_elements_at_time(
            "00:03:00", ("joe", "add to cart")
        )  # late activity within allowed lateness
        .add_elements_at_time("00:09:30", ("joe", "checkout"))
        .add_elements_at_time("00:13:10", ("joe", "close app"))
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(
        sc.test_stream(activities),
        TEN_MINUTES_GAP,
        allowed_lateness="5 minutes",
        accumulation_mode="accumulating",
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:11:30",
            exactly_at_time("00:11:29.999", ("joe", ["open app", "show product"])),
        )
    )

    expect(results.with_timestamp()).to(
        in_late_pane(
            "00:00:00",
            "00:13:00",
            exactly_at_time("00:12:59.999", ("joe", ["open app", "show product", "add to cart"])),
        )
    )

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
                "joe", ["open app", "show product"], "00:00:00", "00:11:30", is_last=False, step=2
            ),
            late_pane(
                "joe",
                ["open app", "show product", "add to cart"],
                "00:00:00",
                "00:13:00",
                is_last=False,
                step=3,
            ),
            on_time_pane(
                "joe",
                ["open app", "show product", "add to cart", "checkout", "close app"],
                "00:00:00",
                "00:23:10",
                is_last=True,
                step=6,
            ),
        )
    )


@in_both_forms
def test_activities_should_be_aggregated_speculatively_on_time_and_finally_on_every_late_activity(
    sc: ScioContext, exactly_at_time: ExactlyAtTime
):
    activities = (
        stream_of()
        .add_elements_at_time("00:00:00", ("joe", "0"))
        .advance_processing_time(ONE_MINUTE)
        .add_elements_at_time("00:01:00", ("joe", "1"))
        .advance_processing_time(ONE_MINUTE)
        .add_elements_at_time("00:02:00", ("joe", "2"))
        .advance_processing_time(ONE_MINUTE)
        .add_elements_at_time("00:03:00", ("joe", "3"))
        .advance_processing_time(ONE_MINUTE)
        .add_elements_at_time("00:04:00", ("joe", "4"))
        .advance_processing_time(ONE_MINUTE)
        .add_elements_at_time("00:05:00", ("joe", "5"))
        .advance_processing_time(ONE_MINUTE)
        .advance_watermark_to("00:20:00")  # more than 00:05:00 + 10 minutes of gap
        .add_elements_at_time("00:06:00", ("joe", "6"))  # late activity within allowed lateness
        .add_elements_at_time("00:07:00", ("joe", "7"))  # late activity within allowed lateness
        .advance_watermark_to_infinity()
    )

    results = activities_in_session_window(
        sc.test_stream(activities),
        TEN_MINUTES_GAP,
        accumulation_mode="accumulating",
        allowed_lateness="10 minutes",
        trigger=AfterWatermark(early=AfterProcessingTime(ONE_MINUTE), late=AfterCount(1)),
    )

    expect(results.with_timestamp()).to(
        in_early_pane("00:00:00", "00:11:00", exactly_at_time("00:10:59.999", ("joe", ["0", "1"])))
    )

    expect(results.with_timestamp()).to(
        in_early_pane(
            "00:00:00", "00:13:00", exactly_at_time("00:12:59.999", ("joe", ["0", "1", "2", "3"]))
        )
    )

    expect(results.with_timestamp()).to(
        in_early_pane(
            "00:00:00",
            "00:15:00",
            exactly_at_time("00:14:59.999", ("joe", ["0", "1", "2", "3", "4", "5"])),
        )
    )

    expect(results.with_timestamp()).to(
        in_on_time_pane(
            "00:00:00",
            "00:15:00",
            exactly_at_time("00:14:59.999", ("joe", ["0", "1", "2", "3", "4", "5"])),
        )
    )

    expect(results.with_timestamp()).to(
        in_late_pane(
            "00:00:00",
            "00:16:00",
            exactly_at_time("00:15:59.999", ("joe", ["0", "1", "2", "3", "4", "5", "6"])),
        )
    )

    expect(results.with_timestamp()).to(
        in_late_pane(
            "00:00:00",
            "00:17:00",
            exactly_at_time("00:16:59.999", ("joe", ["0", "1", "2", "3", "4", "5", "6", "7"])),
        )
    )

    expect(results).to(
        emit_exactly(
            early_pane("joe", ["0", "1"], "00:00:00", "00:11:00", is_last=False, step=3),
            early_pane("joe", ["0", "1", "2", "3"], "00:00:00", "00:13:00", is_last=False, step=7),
            early_pane(
                "joe",
                ["0", "1", "2", "3", "4", "5"],
                "00:00:00",
                "00:15:00",
                is_last=False,
                step=11,
            ),
            on_time_pane(
                "joe",
                ["0", "1", "2", "3", "4", "5"],
                "00:00:00",
                "00:15:00",
                index=1,
                is_last=False,
                step=12,
            ),
            late_pane(
                "joe",
                ["0", "1", "2", "3", "4", "5", "6"],
                "00:00:00",
                "00:16:00",
                is_last=False,
                step=13,
            ),
            late_pane(
                "joe",
                ["0", "1", "2", "3", "4", "5", "6", "7"],
                "00:00:00",
                "00:17:00",
                is_last=False,
                step=14,
            ),
        )
    )
