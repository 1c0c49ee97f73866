"""Words counted in windows of a tenth of a second, and then put into one window for all.

Original: ``WindowedWordCountTest.scala`` of scio-examples; spotify/scio at 3b35141.

The original's job moves each line to a random time of the hour that begins with the run, and its
test fails when two lines happen to meet in a window. Here the time within the hour follows from
the line itself, and the hour is an argument, as it may be in the original.

What the job computes is tested once more by itself, with all panes.
"""

import re
from collections.abc import Mapping
from zlib import crc32

from beamlike import AfterWatermark, Repeatedly
from beamlike.scio import ScioContext, SCollection, WindowOptions
from beamlike.testing import (
    FinishedTestStream,
    JobTest,
    contain_in_any_order,
    element,
    emit_exactly,
    expect,
    on_time_pane,
    test_stream_of,
)

HOUR = 3_600_000


def windowed_counter(
    lines: SCollection[str], window_size: str, min_timestamp: int, max_timestamp: int
) -> SCollection[tuple[str, int]]:
    """How often each word is there in each window."""
    span = max_timestamp - min_timestamp
    return (
        lines.timestamp_by(lambda line: min_timestamp + crc32(line.encode()) % span)
        .with_fixed_windows(window_size)
        .flat_map(lambda line: [word for word in re.split("[^a-zA-Z']+", line) if word])
        .count_by_value()
    )


def in_global_window(counts: SCollection[tuple[str, int]]) -> SCollection[str]:
    """The counts of each window, grouped by the window and taken apart again."""
    return (
        counts.with_window()
        .swap()
        .group_by_key()
        .with_global_window(
            WindowOptions(
                trigger=Repeatedly(AfterWatermark()),
                accumulation_mode="discarding",
                allowed_lateness=0,
            )
        )
        .with_window()
        .flat_map(lambda found: found[0][1])
        .map(lambda counted: f"({counted[0]},{counted[1]})")
    )


def windowed_word_count(sc: ScioContext, args: Mapping[str, str]) -> None:
    """The job. It writes one file; the original can also write one for each window."""
    min_timestamp = int(args["minTimestampMillis"])
    max_timestamp = int(args.get("maxTimestampMillis", min_timestamp + HOUR))
    lines: SCollection[str] = sc.read(args["input"])
    counts = windowed_counter(
        lines, args.get("windowSize", "10 minutes"), min_timestamp, max_timestamp
    )
    in_global_window(counts).save_as(args["output"])


def lines_of_the_test() -> FinishedTestStream:
    return (
        test_stream_of()
        .advance_watermark_to("00:00:00")
        .add_elements("a b b c")
        .advance_watermark_to("00:00:00.150")
        .add_elements("b e")
        .advance_watermark_to_infinity()
    )


EXPECTED = ["(a,1)", "(b,2)", "(b,1)", "(c,1)", "(e,1)"]


def test_windowed_word_count_works(sc: ScioContext) -> None:
    (
        JobTest(windowed_word_count)
        .args(
            "--input=input.txt",
            "--windowSize=100 ms",
            "--minTimestampMillis=3600000",
            "--output=output.txt",
        )
        .input_stream("input.txt", lines_of_the_test())
        .output("output.txt")(lambda out: expect(out).to(contain_in_any_order(EXPECTED)))
        .run_within(sc)
    )


def test_the_panes_of_windowed_word_count(sc: ScioContext) -> None:
    """Not in the original."""
    counts = windowed_counter(sc.test_stream(lines_of_the_test()), "100 ms", HOUR, 2 * HOUR)
    first = ("01:52:38.000", "01:52:38.100")
    second = ("01:55:04.300", "01:55:04.400")
    expect(counts).to(
        emit_exactly(
            on_time_pane("a", 1, first, is_last=True),
            on_time_pane("b", 2, first, is_last=True),
            on_time_pane("c", 1, first, is_last=True),
            on_time_pane("b", 1, second, is_last=True),
            on_time_pane("e", 1, second, is_last=True),
        )
    )
    # In the global window they stay at the end of the windows that they were counted in.
    expect(in_global_window(counts)).to(
        emit_exactly(
            element("(a,1)", "global", timing="ON_TIME", timestamp="01:52:38.099"),
            element("(b,2)", "global", timing="ON_TIME", timestamp="01:52:38.099"),
            element("(c,1)", "global", timing="ON_TIME", timestamp="01:52:38.099"),
            element("(b,1)", "global", timing="ON_TIME", timestamp="01:55:04.399"),
            element("(e,1)", "global", timing="ON_TIME", timestamp="01:55:04.399"),
        )
    )
