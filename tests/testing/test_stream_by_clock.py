"""Streams whose elements have both of their times, and the rules that move their watermark."""

import base64
import gzip
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pyarrow as pa
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
    arrivals_from_dataframe,
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
    assert [step for step in code(stream) if "watermark" in step] == [
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
        stream_by_clock([(("team", 5), "12:00:26", "12:00:30")], rule, end="12:04:00")
        for rule in (BoundedDelay("10s"), IdleAfter("10s", "1 minute"))
    )
    assert code(held)[2:] == [
        '.advance_watermark_to("12:00:16")',
        '.advance_processing_time("3m 30s")',
        ".advance_watermark_to_infinity()",
    ]
    assert code(idle)[2:] == [
        '.advance_watermark_to("12:00:16")',
        *('.advance_processing_time("1m")', '.advance_watermark_to("12:01:20")'),
        *('.advance_processing_time("1m")', '.advance_watermark_to("12:02:20")'),
        *('.advance_processing_time("1m")', '.advance_watermark_to("12:03:20")'),
        '.advance_processing_time("30s")',
        ".advance_watermark_to_infinity()",
    ]


def test_a_source_is_idle_until_the_next_arrival():
    twice = [(("team", 5), "12:00:26", "12:00:30"), (("team", 7), "12:02:26", "12:02:45")]
    assert code(stream_by_clock(twice, IdleAfter("10s", "1 minute")))[2:] == [
        '.advance_watermark_to("12:00:16")',
        *('.advance_processing_time("1m")', '.advance_watermark_to("12:01:20")'),
        *('.advance_processing_time("1m")', '.advance_watermark_to("12:02:20")'),
        '.advance_processing_time("15s")',
        ".add_elements_at_time(\"12:02:26\", ('team', 7))",
        *('.advance_processing_time("1m")', '.advance_watermark_to("12:03:35")'),
        ".advance_watermark_to_infinity()",
    ]


def test_an_idle_source_moves_the_watermark_a_few_dozen_times_at_most():
    stream = stream_by_clock([(("team", 5), 0, 0)], IdleAfter("0s", "0s"), end="23:00:00")
    assert len([step for step in code(stream) if "watermark" in step]) == 51


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


COLUMNS: dict[str, list[Any]] = {
    "team": [key for (key, _), _, _ in SCORES],
    "score": [score for (_, score), _, _ in SCORES],
    "at": [at for _, at, _ in SCORES],
    "arrived": [arrived for _, _, arrived in SCORES],
}
NAMED = {"key": "team", "value": "score", "event_time": "at", "arrival": "arrived"}


@pytest.mark.parametrize("frame", [pd.DataFrame(COLUMNS), pa.table(COLUMNS)])
def test_elements_are_the_rows_of_a_dataframe(frame: Any):
    assert list(arrivals_from_dataframe(frame, **NAMED)) == SCORES


def test_times_of_a_dataframe_may_be_timestamps():
    day = datetime(2024, 5, 1, 12, 5, 19, tzinfo=UTC)
    row = {"team": ["red"], "score": [5], "at": [day], "arrived": [day]}
    for frame in pd.DataFrame(row), pa.table(row):
        assert list(arrivals_from_dataframe(frame, **NAMED)) == [(("red", 5), day, day)]


@pytest.mark.spark
def test_elements_are_the_rows_of_a_dataframe_of_spark(spark: Any):
    rows = [("team", 5, datetime(2024, 5, 1, 12, tzinfo=UTC), datetime(2024, 5, 1, 13, tzinfo=UTC))]
    frame = spark.createDataFrame(rows, list(NAMED.values()))
    assert list(arrivals_from_dataframe(frame, **NAMED)) == [(rows[0][:2], *rows[0][2:])]


def test_a_dataframe_without_the_columns_is_refused():
    with pytest.raises(
        TestStreamError, match=r"has no column key, value, event_time, arrival; it has team, score,"
    ):
        list(arrivals_from_dataframe(pd.DataFrame(COLUMNS)))
    with pytest.raises(
        TestStreamError, match=r"takes a DataFrame of Spark, pandas or Polars, got \["
    ):
        list(arrivals_from_dataframe([("team", 5)]))


EARLY_AND_LATE = {
    "window": FIXED,
    "trigger": bl.AfterWatermark(
        early=bl.AfterProcessingTime(bl.AlignTo("1 minute")), late=bl.AfterCount(1)
    ),
    "accumulation": "accumulating",
    "allowed_lateness": "10 minutes",
    "aggregate": Sum(),
}


def test_a_watermark_may_be_drawn():
    drawn = [("12:06:00", "12:02:00"), ("12:07:30", "12:04:00"), ("12:08:00", "12:06:00")]
    assert [step for step in code(stream_by_clock(SCORES, drawn)) if "watermark" in step] == [
        *('.advance_watermark_to("12:02:00")', '.advance_watermark_to("12:04:00")'),
        *('.advance_watermark_to("12:06:00")', ".advance_watermark_to_infinity()"),
    ]


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        ([("12:06:00",)], r"in pairs \(processing time, watermark\), got \('12:06:00',\); "),
        (
            [("12:06:00", "12:02:00"), ("12:07:00", "12:01:00")],
            r"from 12:02:00 at 12:06:00 to 12:01:00 at 12:07:00; move it forward in both times",
        ),
    ],
)
def test_a_watermark_is_drawn_forward(drawn: Any, said: str):
    with pytest.raises(TestStreamError, match=said):
        stream_by_clock(SCORES, drawn)


def test_the_clock_may_pass_every_minute_so_that_what_is_due_comes_then():
    stream = stream_by_clock(SCORES, BoundedDelay("2 minutes"), every="1 minute")
    moves = [step for step in code(stream) if step.endswith('1ms")')]
    assert moves == [f'.advance_processing_time("{it}s 1ms")' for it in (21, 21, 41)]
    stream.run(**EARLY_AND_LATE).should(
        emit_exactly(
            early_pane("team", 5, "12:00:00", "12:02:00", is_last=False),
            early_pane("team", 7, "12:02:00", "12:04:00", is_last=False),
            on_time_pane("team", 5, "12:00:00", "12:02:00", index=1, is_last=False),
            early_pane("team", 14, "12:02:00", "12:04:00", index=1, is_last=False),
            early_pane("team", 3, "12:04:00", "12:06:00", is_last=False),
            on_time_pane("team", 22, "12:02:00", "12:04:00", index=2, is_last=False),
            early_pane("team", 3, "12:06:00", "12:08:00", is_last=False),
            late_pane(
                "team", 14, "12:00:00", "12:02:00", index=2, nonspeculative_index=1, is_last=False
            ),
            on_time_pane("team", 3, "12:04:00", "12:06:00", index=1, is_last=True),
            on_time_pane("team", 12, "12:06:00", "12:08:00", index=1, is_last=True),
        )
    )
    with pytest.raises(TestStreamError, match=r"every must be more than 0 ms, got '0s'"):
        stream_by_clock(SCORES, every="0s")


def test_windows_of_processing_time_are_a_trigger_or_times_of_arrival():
    due = bl.Repeatedly(bl.AfterProcessingTime(bl.AlignTo("2 minutes")))
    by_trigger = stream_by_clock(SCORES, every="2 minutes", end="12:10:00").run(
        window=bl.GlobalWindows(), trigger=due, accumulation="discarding", aggregate=Sum()
    )
    arriving = [(element, arrived, arrived) for element, _, arrived in SCORES]
    by_arrival = stream_by_clock(arriving, PerfectWatermark()).run(window=FIXED, aggregate=Sum())
    for results in by_trigger, by_arrival:
        assert [pane.effect.value for pane in results.panes] == [12, 21, 18]


def test_a_stream_is_drawn_before_it_is_grouped():
    figure = stream_by_clock(SCORES, BoundedDelay("2 minutes")).figure()
    assert figure.text == (
        "key 'team'. 10 elements, 1 late and taken, 0 dropped; 0 windows, 0 panes."
    )


def test_a_run_is_a_page_in_a_frame():
    results = stream_by_clock(SCORES).run(window=FIXED, aggregate=Sum())
    frame = results.embedded("Ten <scores>", height=400)
    before, found, packed = frame._repr_html_().partition("atob(&quot;")
    assert found
    assert before.startswith('<iframe title="Ten &lt;scores&gt;" width="100%" height="400" ')
    assert 'sandbox="allow-scripts" srcdoc="' in before
    page = gzip.decompress(base64.b64decode(packed.partition("&quot;")[0])).decode()
    assert page == frame.page
    assert "<title>Ten &lt;scores&gt;</title>" in page
    assert repr(frame) == "Ten <scores>: a page to step through, which a notebook shows"


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
