"""A row whose clock is wrong does not end the windows of all others.

Its event time lies ahead of the clock: by years, by hours, by minutes. Did the watermark follow it,
every row that comes after it would be too late.
"""

import json
import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import TimeError
from beamlike.machine.input_clocks import is_far_ahead
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from tests.support.queries.devices import SIGNALS, sums_of_devices
from tests.support.queries.hours import hourly
from tests.support.queries.rows import MakeFeed, Row
from tests.support.queries.shown import lines, shown

SALES = "shop string, at string, n int"
DAY = 86_400_000
ENDS_OF_TIME = [
    {"shop": "a", "at": "2099-01-01 00:00:00Z", "n": 1},
    {"shop": "a", "at": "9999-12-31 23:59:59.999Z", "n": 2},
    {"shop": "a", "at": "+294247-01-10T04:00:54.775Z", "n": 3},
    # Nothing else that is wrong with a row makes its time count.
    {"shop": None, "at": "2099-01-01 00:00:00Z", "n": 4},
]


def sale(at: str, n: int = 0, shop: str = "a") -> Row:
    return {"shop": shop, "at": f"2020-01-01 {at}:00Z", "n": n}


def far(row: Row, stage: str = "beamlike", timestamp: str = "") -> str:
    shop = f'"{row["shop"]}"' if row["shop"] else "null"
    element = f'{{"shop":{shop},"at":"{row["at"]}","n":{row["n"]}}}'
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
        "max_ahead is not a duration: 'a while'; write 10 (seconds), Duration(10), "
        'timedelta(minutes=10) or "10 minutes"'
    )


class _Streaming:
    isStreaming = True


by_shop = partial(hourly, key="shop", aggregate={"sum": bl.sum("n")}, watermark="0 s", output="all")


@pytest.mark.nightly
@pytest.mark.spark
def test_one_row_of_the_far_future_takes_nothing_from_the_others(feed: MakeFeed):
    stream = feed(SALES)
    stream.start(by_shop(stream.frame))

    assert lines(stream.send(sale("00:10", 1), *ENDS_OF_TIME)) == sorted(FAR)
    # Were one of them believed, this row and the one before would be lost by now.
    assert lines(stream.send(sale("00:20", 2))) == []
    assert lines(
        stream.send(sale("01:30"), {"shop": "b", "at": "0001-01-01 00:00:00Z", "n": 5})
    ) == [
        "a 3 | 00:00-01:00 ON_TIME 0 last",
        'dropped by beamlike, expired: {"shop":"b","n":5} | '
        "timestamp 0001-01-01T00:00:00.000Z, watermark 00:20, missed_ms 63713431200001, "
        "window 0001-01-01T00:00:00.000Z-0001-01-01T01:00:00.000Z, count 1",
    ]
    reported = [it.observedMetrics["beamlike"]["dropped_far_future"] for it in stream.progress]
    assert sum(reported) == 4


@pytest.mark.nightly
@pytest.mark.spark
def test_without_the_guard_the_far_future_moves_the_watermark_for_everyone(feed: MakeFeed) -> None:
    stream = feed(SALES)
    stream.start(by_shop(stream.frame, max_ahead=None))

    assert lines(stream.send(sale("00:10", 1), ENDS_OF_TIME[0])) == [
        "a 1 | 00:00-01:00 ON_TIME 0 last"
    ]
    assert [line.split(":")[0] for line in lines(stream.send(sale("00:20", 2)))] == [
        "dropped by beamlike, expired"
    ]


@pytest.mark.spark
def test_a_batch_takes_the_far_future_as_it_is(spark: Any) -> None:
    rows = [tuple(row.values()) for row in (sale("00:10", 1), *ENDS_OF_TIME[:1])]

    assert lines(shown(by_shop(spark.createDataFrame(rows, SALES)))) == [
        "a 1 | 00:00-01:00 ON_TIME 0 last",
        "a 1 | 2099-01-01T00:00:00.000Z-2099-01-01T01:00:00.000Z ON_TIME 0 last",
    ]


@pytest.mark.nightly
@pytest.mark.spark
def test_the_watermark_of_a_stream_of_several_groupings_is_guarded_too(feed: MakeFeed) -> None:
    stream = feed(SALES)
    sales = bl.stream(stream.frame, timestamp="at", watermark="0 s").where("n <> 1")
    hours = sales.window(bl.FixedWindows("1 hour")).group("shop", {"sum": bl.sum("n")})
    stream.start(hours.group([], {"all": bl.sum("sum")}).everything)

    # The first of them is left out by where(), which by itself would not keep it from counting.
    assert lines(stream.send(sale("00:10", 3), *ENDS_OF_TIME)) == sorted(FAR[1:])
    assert lines(stream.send(sale("00:20", 2), sale("00:30", 4, "b"))) == []
    assert lines(stream.send(sale("01:30"))) == ["9 | 00:00-01:00 ON_TIME 0 last"]


@pytest.mark.nightly
@pytest.mark.spark
def test_the_watermark_of_a_pipeline_is_guarded_too(spark: Any, feed: MakeFeed, tmp_path: Any):
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


# -- a clock that is hours or minutes ahead ---------------------------------------------------

MINUTE, HOUR = 60, 3_600
AHEAD = {"nine hours": 9 * HOUR, "fifty minutes": 50 * MINUTE}


def signals(ahead: int) -> list[list[Row]]:
    """Ten devices, a row a second until now in four files; one clock of the second is ahead (s)."""
    first = int(time.time()) - 400
    times = [first + second for second in range(400)]
    times[150] += ahead
    rows = [
        {"device": f"d{row % 10}", "at": datetime.fromtimestamp(at, UTC).isoformat(), "n": row}
        for row, at in enumerate(times)
    ]
    return [rows[index : index + 100] for index in range(0, 400, 100)]


def refused(rows: list[Row], ahead: int) -> list[tuple[str, int]]:
    """The reason and the number of each row that is to be dropped."""
    return [("far_future", 150)] if ahead > HOUR else []


def dropped_of(rows: list[Row]) -> list[tuple[str, int]]:
    dropped = [row["dropped"] for row in rows if row["dropped"]]
    return [(it["reason"], json.loads(it["element"])["n"]) for it in dropped]


FIVE = bl.FixedWindows("5 minutes")


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize("ahead", AHEAD.values(), ids=AHEAD)
@pytest.mark.parametrize("face", ["windowed", "stream", "advancing"])
def test_one_clock_ahead_takes_no_row_of_the_other_devices(feed: MakeFeed, face: str, ahead: int):
    stream = feed(SIGNALS)
    lateness = {"allowed_lateness": "10 minutes", "accumulation": "discarding"}
    if face == "windowed":
        how = {"key": "device", "watermark": "5 minutes", "window": FIVE, "output": "all"}
        out = hourly(stream.frame, {"n": bl.collect("n")}, **how, **lateness)
    else:
        idle = {"idle_after": "1 hour", "idle": "advance"} if face == "advancing" else {}
        given = bl.stream(stream.frame, timestamp="at", watermark="5 minutes", **idle)
        out = given.window(FIVE, **lateness).group("device", {"n": bl.collect("n")}).everything
    stream.start(out)

    found = [row for rows in signals(ahead) for row in stream.send(*rows)]

    assert dropped_of(found) == refused(found, ahead)
    counts = [it.observedMetrics["beamlike"] for it in stream.progress]
    assert {"elements": 400, "lost": len(refused(found, ahead))} == {
        "elements": sum(count["elements"] for count in counts),
        "lost": sum(
            count[f"dropped_{why}"] for count in counts for why in ("expired", "far_future")
        ),
    }


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize("ahead", AHEAD.values(), ids=AHEAD)
def test_one_clock_ahead_takes_no_row_of_a_pipeline(spark: Any, feed: MakeFeed, ahead: int) -> None:
    stream = feed(SIGNALS)
    stream.start(sums_of_devices(stream.frame, spark))

    for rows_of_file in signals(ahead):
        stream.send(*rows_of_file)

    observed = [it.observedMetrics for it in stream.progress]
    assert sum(it["Read"]["dropped_far_future"] for it in observed) == (ahead > HOUR)
    assert sum(it["Sum"]["dropped_expired"] for it in observed) == 0


@pytest.mark.spark
def test_the_watermark_goes_as_far_as_the_clock_and_no_further(feed: MakeFeed) -> None:
    stream = feed(SIGNALS)
    rows = bl.stream(stream.frame, timestamp="at", watermark="0 s")
    stream.start(rows.window(FIVE).group("device", {"n": bl.count()}).everything)
    soon = datetime.fromtimestamp(int(time.time()) + 30 * MINUTE, UTC).isoformat()

    stream.send({"device": "a", "at": soon, "n": 1})

    moved = [it for it in stream.progress if it.observedMetrics["beamlike"]["watermark"]]
    began = round(datetime.fromisoformat(moved[0].timestamp).timestamp() * 1_000)
    stands = moved[0].observedMetrics["beamlike"]["watermark"]
    assert began <= stands < began + 60_000  # the clock of this micro-batch


@pytest.mark.nightly
@pytest.mark.spark
def test_times_in_the_future_on_purpose_move_the_watermark_as_they_are(feed: MakeFeed) -> None:
    stream = feed(SIGNALS)
    rows = bl.stream(stream.frame, timestamp="at", watermark="0 s", max_ahead=None)
    stream.start(rows.window(FIVE).group("device", {"n": bl.count()}).everything)

    stream.send({"device": "a", "at": "2099-01-01 00:00:00Z", "n": 1})

    stands = [it.observedMetrics["beamlike"]["watermark"] for it in stream.progress]
    assert [it for it in stands if it] == [4_070_908_800_000]
