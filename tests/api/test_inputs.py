"""Where rows come from: each input has a watermark of its own, and keeps its own windows."""

from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import ColumnError, TimeError, WindowingError
from beamlike.machine.clocks import Clocks
from beamlike.machine.events import Pane
from beamlike.machine.input_clocks import (
    Idle,
    InputClock,
    ShardWatermark,
    SourceClock,
    SourceProgress,
    StageClock,
    WatermarkUpdate,
)
from beamlike.model.combine import Count
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.shard import Shard
from tests.support.machines.in_shard import DictStore
from tests.support.queries.rows import SMALL, MakeFeed, Row
from tests.support.queries.shown import lines
from tests.support.refusals import refusal

EVENTS = "k string, at timestamp"
TEN_MINUTES = bl.FixedWindows("10 minutes")
spark_test = pytest.mark.spark
without_empty_batches = pytest.mark.usefixtures("no_empty_batches")


def event(key: str | None, time: str) -> Row:
    return {"k": key, "at": f"2020-01-01T{time}Z"}


def counted(*frames: Any, window: Any = TEN_MINUTES, watermark: Any = "0 s") -> bl.Stream:
    rows = [bl.stream(frame, timestamp="at", watermark=watermark) for frame in frames]
    together = bl.flatten([row.select("k") for row in rows]).window(window)
    return together.group("k", {"n": bl.count()}, **SMALL)


# -- a shard by hand: windows of 10 ms, every clock set to the millisecond --------------------

FAST, SLOW = 0, 1


@attrs.define
class ShardOfInputs:
    """A shard whose inputs have watermarks of their own. It counts, in windows of 10 ms."""

    plan: Plan
    store: DictStore = attrs.Factory(DictStore)
    output_watermark: int = MIN_TIMESTAMP

    @classmethod
    def of(cls, *inputs: InputClock) -> "ShardOfInputs":
        number = pa.int64()
        strategy = WindowingStrategy(
            bl.FixedWindows(10), bl.AfterWatermark(late=bl.AfterCount(1)), "discarding", 1000
        )
        part = Part("n", Count(), None, PlainColumn(number), number)
        clocks = Clocks(inputs)
        return cls(
            Plan(strategy, {"k": pa.string()}, {}, (part,), shards=1, buckets=1, clocks=clocks)
        )

    def step(self, clock: int, *updates: WatermarkUpdate, rows: tuple[int, ...] = ()) -> list[str]:
        """The panes of a micro-batch at a time of the clock, with rows of these event times."""
        table = pa.table(
            {
                "key_k": pa.array(["a"] * len(rows), pa.string()),
                "ts": pa.array(rows, pa.int64()),
                "bucket": pa.array([0] * len(rows), pa.int32()),
            }
        )
        # A new shard each time: nothing survives a step but the bytes of the store.
        out = Shard(self.plan).step(self.store, ShardInput([table] if rows else [], updates, clock))
        self.output_watermark = out.status.output_watermark
        panes = [effect for _, effect in out.effects if isinstance(effect, Pane)]
        assert len(panes) == len(out.effects)
        return [
            f"{pane.value[0]} in {pane.window.start} {pane.info.timing.value}" for pane in panes
        ]


def test_the_slower_input_holds_back_what_the_faster_one_would_let_out() -> None:
    shard = ShardOfInputs.of(SourceClock(0), SourceClock(5))
    assert shard.step(0, SourceProgress(FAST, 3), rows=(3,)) == []
    assert shard.output_watermark == MIN_TIMESTAMP
    assert shard.step(0, SourceProgress(FAST, 400), rows=(400,)) == []
    assert shard.step(0, SourceProgress(SLOW, 4), rows=(4,)) == []
    assert shard.output_watermark == -1
    # 14 trails by 5, and the window ends when the watermark is at 10.
    assert shard.step(0, SourceProgress(SLOW, 14)) == []
    assert shard.output_watermark == 9
    assert shard.step(0, SourceProgress(SLOW, 15)) == ["2 in 0 ON_TIME"]
    # Now the other one is the slower.
    assert shard.step(0, SourceProgress(SLOW, 415)) == []
    assert shard.output_watermark == 400
    assert shard.step(0, SourceProgress(FAST, 410)) == ["1 in 400 ON_TIME"]
    assert shard.output_watermark == 410


def test_a_silent_input_is_released_once_it_is_silent_for_longer_than_it_may() -> None:
    shard = ShardOfInputs.of(SourceClock(0), SourceClock(0, idle_after=100))
    assert shard.step(1000, SourceProgress(FAST, 3), SourceProgress(SLOW, 4), rows=(3, 4)) == []
    assert shard.step(1050, SourceProgress(FAST, 25), rows=(25,)) == []
    assert shard.step(1100) == []
    assert shard.step(1101) == ["2 in 0 ON_TIME"]
    assert shard.output_watermark == 25
    # It speaks again, of a time that is over by now: its row is late, and is waited for again.
    assert shard.step(1102, SourceProgress(SLOW, 8), rows=(8,)) == ["1 in 0 LATE"]
    assert shard.step(1103, SourceProgress(FAST, 95)) == []
    assert shard.output_watermark == 25
    assert shard.step(1104, SourceProgress(SLOW, 30)) == ["1 in 20 ON_TIME"]
    assert shard.output_watermark == 30


def test_when_all_inputs_are_silent_the_one_that_is_furthest_decides() -> None:
    patient = SourceClock(0, idle_after=100)
    shard = ShardOfInputs.of(patient, patient)
    assert shard.step(1000, SourceProgress(FAST, 30), SourceProgress(SLOW, 4), rows=(4, 30)) == []
    assert shard.step(1100) == []
    assert shard.step(5000) == ["1 in 0 ON_TIME"]
    assert shard.output_watermark == 30


def test_a_silent_input_that_advances_goes_on_with_the_clock() -> None:
    shard = ShardOfInputs.of(SourceClock(2, idle_after=100, idle=Idle.ADVANCE))
    assert shard.step(1000, SourceProgress(FAST, 4), rows=(4,)) == []
    assert shard.step(1100) == []
    assert shard.output_watermark == 2
    assert shard.step(1107) == []
    assert shard.output_watermark == 9
    assert shard.step(1108) == ["1 in 0 ON_TIME"]
    assert shard.output_watermark == 10
    # A row comes after all, and is late. What was promised is not taken back.
    assert shard.step(1110, SourceProgress(FAST, 6), rows=(6,)) == ["1 in 0 LATE"]
    assert shard.output_watermark == 10


def test_an_input_that_never_spoke_is_released_too_and_does_not_advance() -> None:
    for idle in Idle:
        shard = ShardOfInputs.of(SourceClock(0), SourceClock(0, idle_after=100, idle=idle))
        assert shard.step(1000, SourceProgress(FAST, 30), rows=(4,)) == []
        assert shard.step(1100) == []
        assert shard.step(1101) == ["1 in 0 ON_TIME"]
        assert shard.output_watermark == 30


def test_a_grouping_before_is_as_far_as_the_slowest_of_its_shards() -> None:
    shard = ShardOfInputs.of(StageClock(2), SourceClock(0))
    assert shard.step(0, ShardWatermark(0, 0, 50), SourceProgress(1, 70), rows=(4,)) == []
    assert shard.output_watermark == MIN_TIMESTAMP
    assert shard.step(0, ShardWatermark(0, 1, 10)) == ["1 in 0 ON_TIME"]
    assert shard.output_watermark == 10


# -- Spark ------------------------------------------------------------------------------------


@pytest.mark.nightly
@spark_test
@without_empty_batches
def test_results_wait_for_the_slower_input_also_after_a_restart(feed: MakeFeed):
    fast, slow = feed(EVENTS), feed(EVENTS)
    out = counted(fast.frame, slow.frame).everything
    fast.start(out)
    fast.put(event("a", "00:01:00"))
    slow.put(event("a", "00:02:00"))
    assert fast.settle() == []
    fast.put(event("b", "05:00:00"))
    assert fast.settle() == []
    slow.put(event("a", "00:09:59.999"))
    assert fast.settle() == []
    fast.stop()
    # What is known of either input is remembered: that the fast one is at 05:00, too.
    fast.start(out)
    slow.put(event("c", "00:30:00"))
    assert lines(fast.settle()) == ["a 3 | 00:00-00:10 ON_TIME 0 last"]
    # Behind one input and not behind the watermark: not late.
    fast.put(event("c", "00:31:00"))
    assert fast.settle() == []
    slow.put(event("d", "06:00:00"))
    assert lines(fast.settle()) == ["c 2 | 00:30-00:40 ON_TIME 0 last"]


@pytest.mark.nightly
@spark_test
def test_a_silent_input_is_released_by_the_clock_although_no_row_comes(feed: MakeFeed) -> None:
    busy, silent = feed(EVENTS), feed(EVENTS)
    streams = [
        bl.stream(busy.frame, timestamp="at", watermark="0 s"),
        bl.stream(silent.frame, timestamp="at", watermark="0 s", idle_after="1 second"),
    ]
    by_key = bl.flatten([stream.select("k") for stream in streams]).window(TEN_MINUTES)
    busy.put(event("a", "00:01:00"), event("b", "00:15:00"))
    busy.start(by_key.group("k", {"n": bl.count()}, wake_every="2 seconds", **SMALL).everything)
    for _ in range(240):
        if busy.numbered:
            break
        busy.query.awaitTermination(0.25)
    ((_, pane),) = busy.numbered
    assert lines([pane]) == ["a 1 | 00:00-00:10 ON_TIME 0 last"]


@pytest.mark.nightly
@spark_test
def test_a_silent_query_advances_with_the_clock(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    rows = bl.stream(
        events.frame, timestamp="at", watermark="0 s", idle_after="1 second", idle="advance"
    )
    by_key = rows.select("k").window(bl.FixedWindows("2 seconds"))
    events.put(event("a", "00:00:01"))
    events.start(by_key.group("k", {"n": bl.count()}, wake_every="2 seconds", **SMALL).everything)
    for _ in range(240):
        if events.numbered:
            break
        events.query.awaitTermination(0.25)
    ((_, pane),) = events.numbered
    assert lines([pane]) == ["a 1 | 00:00-00:00:02 ON_TIME 0 last"]


@pytest.mark.nightly
@spark_test
@without_empty_batches
def test_a_watermark_that_the_frame_has_already_is_used_with_its_delay(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    events.start(counted(events.frame.withWatermark("at", "90 seconds"), watermark=None).everything)
    assert events.send(event("a", "00:01:00"), event("b", "00:11:29.999")) == []
    assert lines(events.send(event("b", "00:11:30"))) == ["a 1 | 00:00-00:10 ON_TIME 0 last"]


@pytest.mark.nightly
@spark_test
@without_empty_batches
def test_each_row_keeps_the_windows_of_its_own_input(feed: MakeFeed) -> None:
    phones, screens = feed(EVENTS), feed(EVENTS)
    gaps = {"phones": "2 minutes", "screens": "10 minutes"}
    streams = {
        name: bl.stream(each.frame, timestamp="at", watermark="0 s")
        .select("k")
        .window(bl.Sessions(gaps[name]))
        for name, each in (("phones", phones), ("screens", screens))
    }
    together = bl.flatten(streams)
    assert together.strategy.window_fn == bl.Sessions("2 minutes")
    phones.put(
        *(event("a", time) for time in ("00:00:00", "00:01:00", "00:11:00", "00:13:30")),
        event("b", "00:00:00"),
    )
    screens.put(event("a", "00:02:30"), event("c", "00:00:00"), event("c", "00:09:00"))
    phones.start(together.group("k", {"n": bl.count()}, **SMALL).everything)
    # The screens are at 00:09.
    assert lines(phones.settle()) == ["b 1 | 00:00-00:02 ON_TIME 0 last"]
    phones.put(event("z", "01:00:00"))
    screens.put(event("z", "01:00:00"))
    assert lines(phones.settle()) == [
        "a 1 | 00:13:30-00:15:30 ON_TIME 0 last",
        # A phone until 00:03, a screen from 00:02:30 until 00:12:30, a phone from 00:11.
        "a 4 | 00:00-00:13 ON_TIME 0 last",
        "c 2 | 00:00-00:19 ON_TIME 0 last",
    ]


# -- calls that cannot work -------------------------------------------------------------------


@pytest.fixture(scope="module")
def ticks(spark: Any) -> Any:
    return spark.readStream.format("rate").load().withColumnRenamed("timestamp", "at")


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"watermark": None},
        WindowingError,
        "watermark is missing, and without one no window of a stream ever ends; add "
        'watermark="10 minutes", or as long as rows may be out of order. If df.withWatermark was '
        "called before, keep its column until here",
    ),
    (
        {"watermark": "a while"},
        TimeError,
        "watermark is not a duration: 'a while'; write 600000 "
        '(milliseconds), timedelta(minutes=10), "10 minutes", "1h 30m" or "00:10:00"',
    ),
    (
        {"timestamp": "when"},
        ColumnError,
        "timestamp: there is no column 'when'; the columns are 'at', 'value'",
    ),
    ({"idle": "wait"}, WindowingError, "idle must be one of 'release', 'advance', got 'wait'"),
    (
        {"idle_after": 0},
        WindowingError,
        'idle_after must be more than 0 ms; give one such as "5 seconds"',
    ),
]


@spark_test
@pytest.mark.parametrize(("changes", "kind", "text"), WRONG, ids=[text[:40] for *_, text in WRONG])
def test_an_input_that_cannot_work_is_refused(
    ticks: Any, changes: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as wrong:
        bl.stream(ticks, **({"timestamp": "at", "watermark": "1 minute"} | changes))

    assert type(wrong.value) is kind
    assert str(wrong.value) == text


@spark_test
def test_a_watermark_on_another_column_is_refused(ticks: Any) -> None:
    marked = ticks.selectExpr("at", "at + interval 1 hour due").withWatermark("due", "1 minute")
    assert refusal(WindowingError, lambda: bl.stream(marked, timestamp="at")) == (
        "the watermark of df is on column 'due' and timestamp is 'at'; leave df.withWatermark out "
        "and say watermark= here"
    )


@spark_test
def test_streams_of_different_columns_do_not_flow_together(ticks: Any) -> None:
    from pyspark.sql import functions as F

    rows = bl.stream(ticks, timestamp="at", watermark="1 minute")
    texts = rows.select("at", F.col("value").cast("string").alias("value"))
    assert refusal(ColumnError, lambda: bl.flatten({"numbers": rows, "texts": texts})) == (
        "the streams of a Flatten need the same columns: 'value' is bigint in numbers and string "
        "in texts; use select() or with_columns() before"
    )
    assert refusal(ColumnError, lambda: bl.flatten([rows, rows.select("at")])) == (
        "the streams of a Flatten need the same columns: 'value' is bigint in input 0 and missing "
        "in input 1; use select() or with_columns() before"
    )
