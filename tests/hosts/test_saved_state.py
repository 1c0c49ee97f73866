"""State that a person can open: the checkpoints of real queries."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import EnvironmentProblem, StateError
from beamlike.inspect.state.choice import choose, windows_of
from beamlike.inspect.state.report import SavedState
from tests.support.queries.checkpoints import leave_checkpoint
from tests.support.refusals import refusal

pytestmark = pytest.mark.spark

EVENTS = "user string, till int, at timestamp, v int"
EARLY = bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(1))
Query = Callable[[Any], Any]


def event(user: str, time: str, v: int = 1, till: int = 1) -> dict[str, Any]:
    return {"user": user, "till": till, "at": f"2020-01-01T{time}Z", "v": v}


def sessions(machine: Any, **options: Any) -> Query:
    def query(rows: Any) -> Any:
        windowing: dict[str, Any] = {
            "key": ["user", "till"],
            "timestamp": "at",
            "watermark": "10 minutes",
            "window": bl.Sessions("10 minutes"),
            "trigger": EARLY,
            "accumulation": "retracting",
            "allowed_lateness": "1 hour",
            "aggregate": {"n": bl.count(), "all": bl.collect("v")},
            "shards": 2,
            "buckets": 2,
            "machine": machine,
        }
        return bl.windowed(rows, **(windowing | options))

    return query


ARRIVALS = (
    [event("ann", "00:00:00", 1), event("ann", "00:05:00", 2), event("ann", "00:06:00", 3)],
    [event("bob", "00:20:00", 4, till=2), event("ann", "00:09:00", 5)],
)


def shown(state: SavedState) -> list[tuple[Any, ...]]:
    """Each window: key, span, new elements, last pane, panes that stand."""
    rows = state.windows.sort_by("key").to_pylist()
    return [
        (
            row["key"],
            f"{row['start']:%H:%M}-{row['end']:%H:%M}",
            row["new_elements"],
            row["timing"] and (row["timing"], row["index"]),
            row["standing"],
        )
        for row in rows
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("machine", ["columnar", "reference"])
def test_the_windows_of_a_retracting_query(spark: Any, tmp_path: Path, machine: str) -> None:
    path = leave_checkpoint(spark, tmp_path, EVENTS, sessions(machine), *ARRIVALS)

    state = bl.open_state(spark, path)

    assert shown(state) == [
        # A session that has grown counts its panes anew; the one before waits to be withdrawn.
        ("ann, 1", "00:00-00:19", 1, None, 1),
        ("bob, 2", "00:20-00:30", 1, None, 0),
    ]
    (stage,) = state.stages
    assert (stage.name, stage.operator, dict(stage.key_columns)) == (
        "beamlike",
        0,
        {"user": pa.string(), "till": pa.int32()},
    )
    typed = stage.windows.sort_by("key").select(["key_user", "key_till", "acc0_n", "acc1_all"])
    assert typed.to_pylist() == [
        {"key_user": "ann", "key_till": 1, "acc0_n": 4, "acc1_all": [1, 2, 3, 5]},
        {"key_user": "bob", "key_till": 2, "acc0_n": 1, "acc1_all": [4]},
    ]
    shards = state.shards
    assert pc.sum(shards["windows"]).as_py() == 2
    assert pc.sum(shards["keys"]).as_py() == 2
    assert pc.sum(shards["bytes"]).as_py() == pc.sum(state.windows["bytes"]).as_py()
    assert {f"{it:%H:%M}" for it in shards["watermark"].to_pylist()} == {"00:10"}
    # What the shard's own index says of its next deadline is what its windows say.
    for shard in shards.to_pylist():
        own = state.windows.filter(pc.equal(state.windows["shard"], shard["shard"]))
        assert shard["next_event"] == pc.min(own["due_event"]).as_py()


@pytest.mark.nightly
def test_the_state_after_an_earlier_batch(spark: Any, tmp_path: Path) -> None:
    path = leave_checkpoint(spark, tmp_path, EVENTS, sessions("columnar"), *ARRIVALS)

    state = bl.open_state(spark, path, batch=0)

    assert shown(state) == [("ann, 1", "00:00-00:16", 0, ("EARLY", 0), 1)]
    assert (state.batch, state.batches[0]) == (0, 0)
    with pytest.raises(StateError) as refusal:
        bl.open_state(spark, path, batch=999)
    last = state.batches[1]
    assert str(refusal.value) == (
        f"batch 999 is not in the checkpoint {path}; there are 0 to {last}"
    )


@pytest.mark.nightly
def test_a_window_says_that_it_holds_the_output_watermark_back(spark: Any, tmp_path: Path) -> None:
    query = sessions(
        "columnar",
        window=bl.FixedWindows("1 hour"),
        timestamp_combiner="earliest",
        accumulation="discarding",
        trigger=bl.AfterWatermark(),
        allowed_lateness=0,
        shards=1,
    )
    arrivals = [event("ann", "00:05:00"), event("bob", "00:03:00")], [event("cy", "00:40:00")]

    state = bl.open_state(spark, leave_checkpoint(spark, tmp_path, EVENTS, query, *arrivals))

    (shard,) = state.shards.to_pylist()
    names = ("watermark", "output_watermark", "held_until", "held_start", "held_end")
    assert [f"{shard[name]:%H:%M}" for name in names] == [
        "00:30",
        "00:03",
        "00:03",
        "00:00",
        "01:00",
    ]
    assert shard["held_key"] == "bob, 1"


@pytest.mark.nightly
def test_an_early_pane_of_a_session_that_grew_is_said_to_hold_it(spark: Any, tmp_path: Path):
    query = sessions("columnar", allowed_lateness=0, shards=1)
    grows = [event("ann", "00:09:00"), event("ann", "00:15:00"), event("cy", "00:28:00")]

    path = leave_checkpoint(spark, tmp_path, EVENTS, query, ARRIVALS[0], grows)
    (shard,) = bl.open_state(spark, path).shards.to_pylist()

    names = ("watermark", "output_watermark", "held_until", "held_start", "held_end")
    assert [f"{shard[name]:%H:%M}" for name in names] == [
        "00:18",
        "00:15",
        "00:15",
        "00:00",
        "00:25",
    ]
    assert shard["held_key"] == "ann, 1"


@pytest.mark.nightly
def test_several_groupings_of_a_query(spark: Any, tmp_path: Path) -> None:
    def query(rows: Any) -> Any:
        stream = bl.stream(rows, timestamp="at", watermark="1 minute")
        small: dict[str, Any] = {"shards": 2, "buckets": 2}
        by_user = stream.window(
            bl.FixedWindows("10 minutes"), allowed_lateness=0, accumulation="discarding"
        ).group("user", {"n": bl.count()}, name="users", **small)
        return by_user.group([], {"users": bl.count()}, name="total", **small).rows

    arrivals = [event("ann", "00:01:00"), event("bob", "00:02:00")], [event("ann", "00:12:00")]
    state = bl.open_state(spark, leave_checkpoint(spark, tmp_path, EVENTS, query, *arrivals))

    assert [(stage.name, stage.operator) for stage in state.stages] == [("users", 1), ("total", 0)]
    assert state.windows.select(["stage", "key", "new_elements"]).to_pylist() == [
        {"stage": "users", "key": "ann", "new_elements": 1}
    ]
    assert state.to_dataframe().select("stage", "key").collect() == [("users", "ann")]
    assert refusal(StateError, lambda: state.stage("user")) == (
        f"there is no stage 'user' in {state.path}; there are 'users', 'total'"
    )


@pytest.mark.nightly
def test_a_pipeline_tells_labels_keys_windows_and_triggers(spark: Any, tmp_path: Path) -> None:
    inbox, checkpoint = str(tmp_path / "in"), str(tmp_path / "checkpoint")
    schema = "user string, points int, at timestamp"
    rows = [("ann", 3, "2020-01-01 00:01:00Z"), ("bob", 4, "2020-01-01 00:02:00Z")]
    spark.createDataFrame(rows, "user string, points int, at string").selectExpr(
        "user", "points", "cast(at as timestamp) at"
    ).coalesce(1).write.parquet(inbox)
    pipeline = beam.Pipeline()
    games = spark.readStream.schema(schema).parquet(inbox)
    totals = (
        pipeline
        | "Games" >> beam.FromDataFrame(games, timestamp="at", watermark="10 seconds")
        | beam.Map(lambda row: ((row.user, 1), row.points))
        | beam.WindowInto(
            beam.FixedWindows("1 hour"),
            trigger=bl.Repeatedly(bl.AfterCount(5)),
            accumulation_mode="accumulating",
            allowed_lateness=0,
        )
        | "Totals" >> beam.CombinePerKey(sum)
    )
    totals | beam.WriteRows("user string, points long", lambda frame, number: frame.collect())
    result = pipeline.run("spark", spark, checkpoint=checkpoint)
    result.query.processAllAvailable()
    result.query.stop()

    state = bl.open_state(spark, checkpoint)

    (stage,) = state.stages
    assert (stage.name, stage.in_pipeline) == ("Totals", True)
    found = list(windows_of(state, choose(state)))
    assert [
        (it.key, it.facts["key"], str(it.window), it.facts["new_elements"]) for it in found
    ] == [
        (("ann", 1), "('ann', 1)", "[2020-01-01 00:00:00, 2020-01-01 01:00:00)", 1),
        (("bob", 1), "('bob', 1)", "[2020-01-01 00:00:00, 2020-01-01 01:00:00)", 1),
    ]
    views = [it.trigger for it in found]
    assert [view and view.waits_for for view in views] == ["4 more elements (1 of 5)"] * 2
    assert all(str(it.holds["value"]).startswith("pickled, ") for it in found)
    opened = windows_of(state, choose(state, keys=['["bob", 1]']), unpickle=True)
    assert [(it.key, it.holds) for it in opened] == [(("bob", 1), {"value": (4,)})]


@pytest.mark.nightly
def test_windows_are_chosen_and_sorted(spark: Any, tmp_path: Path) -> None:
    arrivals = (
        [event("ann", "00:30:00"), *(event("bob", "00:40:00") for _ in range(2))],
        [event("anna", "00:45:00", v) for v in range(3)],
    )
    path = leave_checkpoint(spark, tmp_path, EVENTS, sessions("columnar"), *arrivals)
    state = bl.open_state(spark, path)

    def keys(**choice: Any) -> list[str]:
        return state.windows["key"].take(choose(state, **choice)).to_pylist()

    assert keys() == ["ann, 1", "bob, 1", "anna, 1"]
    assert keys(sort="largest")[0] == "anna, 1"
    assert keys(sort="deadline") == ["ann, 1", "bob, 1", "anna, 1"]
    assert keys(keys=['{"user": "bob", "till": 1}', "anna, 1"]) == ["bob, 1", "anna, 1"]
    assert refusal(StateError, lambda: keys(keys=["anne, 1"])) == (
        f"no window of the key 'anne, 1' is open after batch {state.batch}; the nearest are "
        "'ann, 1', 'anna, 1'"
    )


def test_a_query_without_windows_is_named(spark: Any, tmp_path: Path) -> None:
    def query(rows: Any) -> Any:
        return rows.withWatermark("at", "1 minute").dropDuplicatesWithinWatermark(["user"])

    path = leave_checkpoint(spark, tmp_path, EVENTS, query, [event("ann", "00:00:00")])

    assert refusal(StateError, lambda: bl.open_state(spark, path)) == (
        f"the query of the checkpoint {path} keeps no windows of beamlike, but state of "
        "dedupeWithinWatermark; give the checkpointLocation of a query made with windowed, stream "
        "or a pipeline"
    )


def test_a_query_without_state_is_named(spark: Any, tmp_path: Path) -> None:
    path = leave_checkpoint(spark, tmp_path, EVENTS, lambda rows: rows, [event("ann", "00:00:00")])

    assert refusal(StateError, lambda: bl.open_state(spark, path)) == (
        f"{path} is the checkpoint of a query that keeps no state, or has not finished its first "
        "micro-batch; let it run, or give the checkpointLocation of another one"
    )


def test_folders_that_are_no_checkpoints_are_named(spark: Any, tmp_path: Path) -> None:
    ask = "give the folder that the query has as checkpointLocation"
    for path, says in {
        tmp_path / "nowhere": f"there is no folder {tmp_path / 'nowhere'}; {ask}",
        tmp_path: f"{tmp_path} is no checkpoint: it has no offsets; {ask}",
    }.items():
        assert refusal(StateError, bl.open_state, spark, path) == says


def test_a_place_that_spark_cannot_read_is_reported_with_what_spark_says(spark: Any) -> None:
    with pytest.raises(StateError) as refusal:
        bl.open_state(spark, "nope://bucket/orders")

    shown = str(refusal.value)
    assert shown.startswith("nope://bucket/orders is no checkpoint with state that can be read (")
    assert 'No FileSystem for scheme "nope"' in shown
    assert shown.endswith("; give the folder that the query has as checkpointLocation")


def test_a_session_with_another_state_store_is_refused(
    spark: Any, setting: Any, tmp_path: Path
) -> None:
    setting("spark.sql.streaming.stateStore.providerClass", "org.example.Provider")
    with pytest.raises(EnvironmentProblem, match="streaming windows need the RocksDB state"):
        bl.open_state(spark, tmp_path)
