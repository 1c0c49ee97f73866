"""What the matchers of panes say.

Original: the tests of windows and late panes of ``SCollectionMatchersTest.scala`` of scio-test;
spotify/scio at 3b35141. What it asks the matchers of values is left out: each of them is asked, and
denied, in each matcher of panes by `tests/pipelines/test_harness_matchers.py`, which also shows
that an assertion about early panes of the global window is refused where there are other windows.

What differs: each test also says all panes.
"""

from beamlike import AfterProcessingTime, AfterWatermark, Repeatedly
from beamlike.scio import ScioContext, WindowOptions
from beamlike.testing import (
    TimestampedValue,
    be_empty,
    contain_in_any_order,
    contain_single_value,
    element,
    emit_exactly,
    expect,
    for_all,
    have_size,
    in_early_global_window_panes,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
    on_time_pane,
    test_stream_of,
)

STREAM = (
    test_stream_of()
    # Start at the epoch.
    .advance_watermark_to("00:00:00")
    # Some elements ahead of the watermark.
    .add_elements(
        TimestampedValue(1, "00:00:03"),
        TimestampedValue(2, "00:01:00"),
        TimestampedValue(3, "00:00:22"),
        TimestampedValue(4, "00:00:03"),
    )
    # Not yet past the end of the window.
    .advance_watermark_to("00:03:00")
    .add_elements(TimestampedValue(1, "00:04:00"), TimestampedValue(2, "00:04:30"))
)


def test_they_support_windowing(sc: ScioContext) -> None:
    windowed_stream = (
        sc.test_stream(STREAM.advance_watermark_to_infinity())
        .with_fixed_windows(
            "20 minutes",
            options=WindowOptions(
                trigger=Repeatedly(
                    AfterWatermark(
                        early=AfterProcessingTime("5 minutes"),
                        late=AfterProcessingTime("10 minutes"),
                    )
                ),
                accumulation_mode="accumulating",
                allowed_lateness="1 hour",
            ),
        )
        .with_timestamp()
    )
    window = ("00:00:00", "00:20:00")
    expect(windowed_stream.group_by_key().keys()).to(
        in_on_time_pane(window, contain_in_any_order([1, 2, 3, 4]))
    )
    expect(windowed_stream.group_by_key()).to(in_final_pane(window, have_size(4)))
    total = windowed_stream.map(lambda pair: pair[0]).sum()
    expect(total).to(in_only_pane(window, contain_single_value(13)))
    expect(windowed_stream.group_by_key()).to(
        in_window(window, for_all(lambda pair: len(pair[1]) > 0))
    )

    expect(windowed_stream.group_by_key()).to(
        emit_exactly(
            on_time_pane(1, [3_000, 240_000], window, is_last=True),
            on_time_pane(2, [60_000, 270_000], window, is_last=True),
            on_time_pane(3, [22_000], window, is_last=True),
            on_time_pane(4, [3_000], window, is_last=True),
        )
    )
    expect(total).to(emit_exactly(element(13, window, timing="ON_TIME")))


def test_they_support_windowing_in_the_global_window(sc: ScioContext) -> None:
    """The second half of the test before this one."""
    windowed_stream = sc.test_stream(
        STREAM.advance_processing_time("21 minutes").advance_watermark_to_infinity()
    ).with_global_window(
        WindowOptions(
            trigger=Repeatedly(AfterWatermark(early=AfterProcessingTime("5 minutes"))),
            accumulation_mode="accumulating",
            allowed_lateness="1 hour",
        )
    )
    total = windowed_stream.sum()
    expect(total).to(in_early_global_window_panes(contain_in_any_order([13])))
    expect(windowed_stream.sum()).not_to(in_early_global_window_panes(be_empty))

    expect(total).to(
        emit_exactly(
            element(13, "global", timing="EARLY", is_last=False),
            element(13, "global", timing="ON_TIME", index=1),
        )
    )


def test_they_support_late_pane_windowing(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        # Start at the epoch.
        .advance_watermark_to("00:00:00")
        .add_elements(TimestampedValue(1, "00:01:00"))
        # The end of the window.
        .advance_watermark_to("00:10:00")
        # Late, and not too late.
        .add_elements(TimestampedValue(2, "00:09:00"))
        .advance_watermark_to_infinity()
    )
    windowed_stream = (
        sc.test_stream(stream)
        .with_fixed_windows(
            "10 minutes",
            options=WindowOptions(
                trigger=AfterWatermark(late=AfterProcessingTime()),
                accumulation_mode="accumulating",
                allowed_lateness="5 minutes",
            ),
        )
        .sum()
    )
    window = ("00:00:00", "00:10:00")
    expect(windowed_stream).to(in_on_time_pane(window, contain_single_value(1)))
    expect(windowed_stream).to(in_late_pane(window, contain_single_value(1 + 2)))

    expect(windowed_stream).to(
        emit_exactly(
            element(1, window, timing="ON_TIME", is_last=False),
            element(3, window, timing="LATE", index=1),
        )
    )
