"""The flow of traffic on freeways, with what is known of the pane written into each record.

Original: ``TriggerExampleTest.scala`` of scio-examples; spotify/scio at 3b35141.

Windows are written as Beam writes them, by a function here. Scala's ``split`` leaves out empty
fields at the end of a line, and one test rests on that; Python's needs an option for it.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from beamlike.scio import ScioContext, SCollection, WindowedValue
from beamlike.testing import contain_single_value, element, emit_exactly, expect, have_size

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Record(NamedTuple):
    trigger_type: str
    freeway: str
    total_flow: int
    number_of_records: int
    window: str
    is_first: bool
    is_last: bool
    timing: str
    event_time: int
    processing_time: int


def extract_flow_info(lines: SCollection[str]) -> SCollection[tuple[str, int]]:
    """Freeway and flow of each line that has them."""
    return lines.flat_map(flow_info_of)


def flow_info_of(line: str) -> list[tuple[str, int]]:
    lane_info = line.rstrip(",").split(",")
    if lane_info[0] == "timestamp" or len(lane_info) < 48:  # the header, or no valid line
        return []
    try:
        freeway, total_flow = lane_info[2], int(lane_info[7])
    except ValueError:
        return []
    return [(freeway, total_flow)] if total_flow > 0 else []


def total_flow(flow_info: SCollection[tuple[str, int]], trigger_type: str) -> SCollection[Record]:
    """A record for each pane."""

    def record(windowed_value: WindowedValue[tuple[str, list[int]]]) -> WindowedValue[Record]:
        freeway, flows = windowed_value.value
        return windowed_value.with_value(
            Record(
                trigger_type,
                freeway,
                sum(flows),
                len(flows),
                text_of(windowed_value.window),
                windowed_value.pane.is_first,
                windowed_value.pane.is_last,
                windowed_value.pane.timing.value,
                windowed_value.timestamp,
                time.time_ns() // 1_000_000,
            )
        )

    return flow_info.group_by_key().to_windowed().map(record).to_scollection()


def text_of(window: Any) -> str:
    start, end = (
        f"{EPOCH + timedelta(milliseconds=at):%Y-%m-%dT%H:%M:%S}.{at % 1_000:03}Z"
        for at in (window.start, window.end)
    )
    return f"[{start}..{end})"


def test_extract_flow_info_works(sc: ScioContext) -> None:
    data = [
        "01/01/2010 00:00:00,1108302,94,E,ML,36,100,29,0.0065,66,9,1,0.001,74.8,1,9,3,0.0028,71,1,"
        "9,12,0.0099,67.4,1,9,13,0.0121,99.0,1,,,,,0,,,,,0,,,,,0,,,,,0",
        "01/01/2010 00:00:00,"
        "1100333,5,N,FR,9,0,39,,,9,,,,0,,,,,0,,,,,0,,,,,0,,,,,0,,,,,0,,,,,0,,,,",
    ]
    r = extract_flow_info(sc.parallelize(data))
    expect(r).to(have_size(1))
    expect(r).to(contain_single_value(("94", 29)))


def test_total_flow_works(sc: ScioContext) -> None:
    data = [
        (
            "01/01/2010 00:00:00,1108302,5,W,ML,36,100,30,0.0065,66,9,1,0.001,"
            "74.8,1,9,3,0.0028,71,1,9,12,0.0099,87.4,1,9,13,0.0121,99.0,1,,,,,0,,,,,0,,,,,0,,,"
            ",,0",
            60_000,
        ),
        (
            "01/01/2010 00:00:00,1108302,110,E,ML,36,100,40,0.0065,66,9,1,0.001,"
            "74.8,1,9,3,0.0028,71,1,9,12,0.0099,67.4,1,9,13,0.0121,99.0,1,,,,,0,,,,,0,,,,,0,,,"
            ",,0",
            1,
        ),
        (
            "01/01/2010 00:00:00,1108302,110,E,ML,36,100,50,0.0065,66,9,1,"
            "0.001,74.8,1,9,3,0.0028,71,1,9,12,0.0099,97.4,1,9,13,0.0121,50.0,1,,,,,0,,,,,0"
            ",,,,,0,,,,,0",
            1,
        ),
    ]
    of_5 = Record(
        "default",
        "5",
        30,
        1,
        "[1970-01-01T00:01:00.000Z..1970-01-01T00:02:00.000Z)",
        True,
        True,
        "ON_TIME",
        1,
        1,
    )
    of_110 = Record(
        "default",
        "110",
        90,
        2,
        "[1970-01-01T00:00:00.000Z..1970-01-01T00:01:00.000Z)",
        True,
        True,
        "ON_TIME",
        1,
        1,
    )
    flow_info = extract_flow_info(sc.parallelize_timestamped(data)).with_fixed_windows("1 minute")
    r = total_flow(flow_info, "default").map(
        lambda record: record._replace(event_time=1, processing_time=1)
    )
    expect(r).to(
        emit_exactly(
            element(of_5, "00:01:00", "00:02:00", timing="ON_TIME"),
            element(of_110, "00:00:00", "00:01:00", timing="ON_TIME"),
        )
    )
