"""Streams whose elements have both of their times, and the rules that move their watermark."""

from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.combine_fns import Sum
from beamlike.errors import TestStreamError, WatermarkError
from beamlike.testing import (
    BoundedDelay,
    IdleAfter,
    PercentileOfDelays,
    PerfectWatermark,
    TestStream,
    arrivals_from_csv,
    contain_single_value,
    dropped,
    early_pane,
    emit_exactly,
    late_pane,
    on_time_pane,
    stream_by_clock,
)

SCORES = [
    (("team", value), happened, arrived)
    for value, happened, arrived in (
        *((5, "12:00:26", "12:05:19"), (9, "12:01:26", "12:08:19"), (7, "12:02:26", "12:05:39")),
        *((8, "12:03:06", "12:07:06"), (3, "12:03:39", "12:06:13"), (4, "12:03:46", "12:06:26")),
        *((3, "12:04:19", "12:06:39"), (3, "12:06:39", "12:07:19"), (8, "12:07:26", "12:08:39")),
        (1, "12:07:46", "12:09:00"),
    )
]
FIXED = bl.FixedWindows("2 minutes")
ALL_ON_TIME = [
    on_time_pane("team", 14, "12:00:00", "12:02:00", is_last=True),
    on_time_pane("team", 22, "12:02:00", "12:04:00", is_last=True),
    on_time_pane("team", 3, "12:04:00", "12:06:00", is_last=True),
    on_time_pane("team", 12, "12:06:00", "12:08:00", is_last=True),
]


def code(stream: Any) -> list[str]:
    return repr(stream).replace(".a", "\n.a").splitlines()[1:]


def test_a_stream_is_written_by_the_clock():
    stream = (
        TestStream()
        .at_processing_time("12:05:19")
        .add_elements_at_time("12:00:26", ("team", 5))
        .at_processing_time("12:05:19")
        .advance_watermark_to("12:00:26")
        .at_processing_time("12:08:19")
        .add_elements_at_time("12:01:26", ("team", 9))
        .advance_watermark_to_infinity()
    )
    assert code(stream) == [
        '.advance_processing_time("12h 5m 19s")',
        ".add_elements_at_time(\"12:00:26\", ('team', 5))",
        '.advance_watermark_to("12:00:26")',
        '.advance_processing_time("3m")',
        ".add_elements_at_time(\"12:01:26\", ('team', 9))",
        ".advance_watermark_to_infinity()",
    ]


def test_the_clock_never_goes_back():
    stream = TestStream().at_processing_time("12:05:19")
    with pytest.raises(TestStreamError, match=r"processing time cannot go back"):
        stream.at_processing_time("12:05:18")


def test_a_batch_has_all_of_its_input_before_the_watermark_moves():
    stream = stream_by_clock(SCORES)
    assert [step for step in code(stream) if "watermark" in step] == [
        ".advance_watermark_to_infinity()"
    ]
    whole = stream.run(window=bl.GlobalWindows(), aggregate=Sum())
    whole.should(contain_single_value(("team", 51)))
    stream.run(window=FIXED, aggregate=Sum()).should(emit_exactly(*ALL_ON_TIME))


def test_a_perfect_watermark_is_as_fast_as_it_can_be_and_makes_nothing_late():
    stream = stream_by_clock(SCORES, PerfectWatermark())
    moves = [step for step in code(stream) if "watermark" in step]
    assert moves == [
        '.advance_watermark_to("12:01:26")',
        '.advance_watermark_to("12:07:26")',
        '.advance_watermark_to("12:07:46")',
        ".advance_watermark_to_infinity()",
    ]
    results = stream.run(window=FIXED, allowed_lateness="0s", aggregate=Sum())
    results.should(emit_exactly(*ALL_ON_TIME))


def test_a_fixed_bound_is_passed_by_what_comes_later_than_that():
    results = stream_by_clock(SCORES, BoundedDelay("2 minutes")).run(
        window=FIXED,
        trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness="10 minutes",
        aggregate=Sum(),
    )
    results.should(
        emit_exactly(
            on_time_pane("team", 5, "12:00:00", "12:02:00", is_last=False),
            late_pane("team", 14, "12:00:00", "12:02:00", index=1, is_last=False),
            on_time_pane("team", 22, "12:02:00", "12:04:00", is_last=False),
            on_time_pane("team", 3, "12:04:00", "12:06:00", is_last=True),
            on_time_pane("team", 12, "12:06:00", "12:08:00", is_last=True),
        )
    )


def test_an_idle_source_no_longer_holds_the_watermark_back():
    held, idle = (
        stream_by_clock([(("team", 5), "12:00:26", "12:00:30")], rule, end="12:10:00")
        for rule in (BoundedDelay("10s"), IdleAfter("10s", "1 minute"))
    )
    assert code(held)[2:] == [
        '.advance_watermark_to("12:00:16")',
        '.advance_processing_time("9m 30s")',
        ".advance_watermark_to_infinity()",
    ]
    assert code(idle)[2:] == [
        '.advance_watermark_to("12:00:16")',
        '.advance_processing_time("1m")',
        '.advance_watermark_to("12:01:20")',
        '.advance_processing_time("8m 30s")',
        ".advance_watermark_to_infinity()",
    ]


def test_a_percentile_of_the_delays_lets_the_slowest_be_late():
    seconds = [(("k", n), f"12:00:{n:02}", f"12:00:{n + 1:02}") for n in range(0, 40, 10)]
    slow = [(("k", 99), "12:00:05", "12:00:35")]
    run = {"window": bl.FixedWindows("10s"), "aggregate": Sum()}
    most = stream_by_clock([*seconds, *slow], PercentileOfDelays(75)).run(**run)
    panes = [
        on_time_pane("k", n, f"12:00:{n:02}", f"12:00:{n + 10:02}", is_last=True)
        for n in range(0, 40, 10)
    ]
    missed = dropped(
        "k",
        99,
        at="12:00:05",
        window=("12:00:00", "12:00:10"),
        reason="expired",
        missed_by="20s 1ms",
    )
    most.should(emit_exactly(*panes, missed))


def test_early_panes_come_by_the_clock_of_the_stream():
    results = stream_by_clock(SCORES[:1], end="12:07:00").run(
        window=FIXED,
        trigger=bl.AfterWatermark(early=bl.AfterProcessingTime("1 minute")),
        accumulation="discarding",
        allowed_lateness="0s",
        aggregate=Sum(),
    )
    results.should(
        emit_exactly(
            early_pane("team", 5, "12:00:00", "12:02:00", is_last=False),
            on_time_pane("team", 0, "12:00:00", "12:02:00", index=1, is_last=True),
        )
    )


def test_elements_are_read_from_a_file(tmp_path: Path):
    file = tmp_path / "scores.csv"
    lines = [f"{score},{key},{arrived},{at}" for (key, score), at, arrived in SCORES]
    file.write_text("\n".join(["value,key,arrival,event_time", *lines]))
    assert list(arrivals_from_csv(file)) == SCORES


def test_a_file_without_the_columns_is_refused(tmp_path: Path):
    file = tmp_path / "scores.csv"
    file.write_text("value,key,when\n")
    with pytest.raises(TestStreamError, match=r"scores\.csv has no column event_time, arrival; "):
        list(arrivals_from_csv(file))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ((("k", 1), "12:00:00"), r"takes \(element, event time, arrival\), got \(\('k', 1\)"),
        ((("k", 1), "12:00:00", -1), r"the clock of a test stream begins at 00:00:00"),
    ],
)
def test_an_element_without_its_times_is_refused(wrong: Any, said: str):
    with pytest.raises(TestStreamError, match=said):
        stream_by_clock([wrong])


def test_a_percentile_of_nothing_is_refused():
    with pytest.raises(WatermarkError, match=r"percent must be more than 0 and at most 100, got 0"):
        PercentileOfDelays(0)
