"""A row whose clock is wrong does not end the windows of all others.

Its event time lies years ahead. Were it believed, the watermark would follow, and every row that
comes after it would be too late.
"""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import TimeError
from beamlike.machine.clocks import is_far_ahead
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

Row = dict[str, Any]
MakeFeed = Callable[[str], Any]
Lines = Callable[[list[Row]], list[str]]

SALES = "shop string, at string, n int"
DAY = 86_400_000
ENDS_OF_TIME = [
    {"shop": "a", "at": "2099-01-01 00:00:00", "n": 1},
    {"shop": "a", "at": "9999-12-31 23:59:59.999", "n": 2},
    {"shop": "a", "at": "+294247-01-10T04:00:54.775Z", "n": 3},
    # Nothing else that is wrong with a row makes its time count.
    {"shop": None, "at": "2099-01-01 00:00:00", "n": 4},
]


def sale(at: str, n: int = 0, shop: str = "a") -> Row:
    return {"shop": shop, "at": f"2020-01-01 {at}", "n": n}


def far(given: Row, stage: str = "beamlike", timestamp: str = "") -> str:
    shop = f'"{given["shop"]}"' if given["shop"] else "null"
    element = f'{{"shop":{shop},"at":"{given["at"]}","n":{given["n"]}}}'
    return f"dropped by {stage}, far_future: {element} | {timestamp}count 1"


FAR = [
    far(ENDS_OF_TIME[0], timestamp="timestamp 2099-01-01T00:00:00.000Z, "),
    far(ENDS_OF_TIME[1], timestamp="timestamp 9999-12-31T23:59:59.999Z, "),
    far(ENDS_OF_TIME[2]),
    far(ENDS_OF_TIME[3], timestamp="timestamp 2099-01-01T00:00:00.000Z, "),
]


@pytest.mark.parametrize(
    ("timestamp", "ahead"),
    [(MIN_TIMESTAMP, False), (7, False), (7 + DAY, False), (8 + DAY, True), (MAX_TIMESTAMP, True)],
)
def test_a_time_is_believed_up_to_the_limit_and_not_a_millisecond_beyond(
    timestamp: int, ahead: bool
) -> None:
    assert is_far_ahead(timestamp, 7, DAY) is ahead


def test_no_limit_is_too_far_to_be_added_to_the_clock() -> None:
    assert is_far_ahead(MAX_TIMESTAMP, 7, 2**70) is False


def test_a_limit_that_is_no_duration_is_refused() -> None:
    with pytest.raises(TimeError) as refused:
        beam.FromDataFrame(_Streaming(), timestamp="at", watermark=0, max_ahead="a while")  # type: ignore[arg-type]

    assert str(refused.value) == (
        "max_ahead is not a duration: 'a while'; write 600000 (milliseconds), "
        'timedelta(minutes=10), "10 minutes", "1h 30m" or "00:10:00"'
    )


class _Streaming:
    isStreaming = True


def hourly(frame: Any, **changes: Any) -> Any:
    call: dict[str, Any] = {
        "key": "shop",
        "timestamp": "at",
        "window": bl.FixedWindows("1 hour"),
        "aggregate": {"sum": bl.sum("n")},
        "watermark": "0 s",
        "output": "all",
    }
    return bl.windowed(frame, **(call | changes))


@pytest.mark.spark
def test_one_row_of_the_far_future_takes_nothing_from_the_others(
    feed: MakeFeed, lines: Lines
) -> None:
    stream = feed(SALES)
    stream.start(hourly(stream.frame))

    assert lines(stream.send(sale("00:10", 1), *ENDS_OF_TIME)) == sorted(FAR)
    # Were one of them believed, this row and the one before would be lost by now.
    assert lines(stream.send(sale("00:20", 2))) == []
    assert lines(
        stream.send(sale("01:30"), {"shop": "b", "at": "0001-01-01 00:00:00", "n": 5})
    ) == [
        "a 3 | 00:00-01:00 ON_TIME 0 last",
        'dropped by beamlike, expired: {"shop": "b", "n": 5} | '
        "timestamp 0001-01-01T00:00:00.000Z, watermark 00:20, missed_ms 63713431200001, "
        "window 0001-01-01T00:00:00.000Z-0001-01-01T01:00:00.000Z, count 1",
    ]
    told = [it.observedMetrics["beamlike"]["dropped_far_future"] for it in stream.progress]
    assert sum(told) == 4


@pytest.mark.spark
def test_without_the_guard_the_far_future_moves_the_watermark_for_everyone(
    feed: MakeFeed, lines: Lines
) -> None:
    stream = feed(SALES)
    stream.start(hourly(stream.frame, max_ahead=None))

    assert lines(stream.send(sale("00:10", 1), ENDS_OF_TIME[0])) == [
        "a 1 | 00:00-01:00 ON_TIME 0 last"
    ]
    assert [line.split(":")[0] for line in lines(stream.send(sale("00:20", 2)))] == [
        "dropped by beamlike, expired"
    ]


@pytest.mark.spark
def test_a_batch_takes_the_far_future_as_it_is(spark: Any, lines: Lines, shown: Any) -> None:
    rows = [tuple(row.values()) for row in (sale("00:10", 1), *ENDS_OF_TIME[:1])]

    panes = shown(hourly(spark.createDataFrame(rows, SALES)))

    assert lines(panes) == [
        "a 1 | 00:00-01:00 ON_TIME 0 last",
        "a 1 | 2099-01-01T00:00:00.000Z-2099-01-01T01:00:00.000Z ON_TIME 0 last",
    ]


@pytest.mark.spark
def test_the_watermark_of_a_stream_of_several_groupings_is_guarded_too(
    feed: MakeFeed, lines: Lines
) -> None:
    stream = feed(SALES)
    sales = bl.stream(stream.frame, timestamp="at", watermark="0 s").where("n <> 1")
    hours = sales.window(bl.FixedWindows("1 hour")).group("shop", {"sum": bl.sum("n")})
    stream.start(hours.group([], {"all": bl.sum("sum")}).everything)

    # The first of them is left out by where(), which by itself would not keep it from counting.
    assert lines(stream.send(sale("00:10", 3), *ENDS_OF_TIME)) == sorted(FAR[1:])
    assert lines(stream.send(sale("00:20", 2), sale("00:30", 4, "b"))) == []
    assert lines(stream.send(sale("01:30"))) == ["9 | 00:00-01:00 ON_TIME 0 last"]


@pytest.mark.spark
def test_the_watermark_of_a_pipeline_is_guarded_too(
    spark: Any, feed: MakeFeed, tmp_path: Any
) -> None:
    stream = feed(SALES)
    pipeline = beam.Pipeline()
    rows = pipeline | beam.FromDataFrame(stream.frame, timestamp="at", watermark="0 s")
    sums = (
        rows
        | beam.Map(lambda row: (row.shop, row.n))
        | beam.WindowInto(beam.FixedWindows("1 hour"))
        | beam.CombinePerKey(sum)
    )
    stream.start(beam.to_data_frame(sums, "shop string, sum int", spark=spark))

    assert stream.send(sale("00:10", 1), ENDS_OF_TIME[0]) == []
    assert stream.send(sale("00:20", 2)) == []
    assert stream.send(sale("01:30")) == [{"shop": "a", "sum": 3}]
