"""What users of each dialect may get wrong: it is said where they wrote it, and what to do."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import beamlike as bl
from beamlike.dialects import akka, apex, flink, kafka
from beamlike.dialects.frames import aggregate_of
from beamlike.errors import (
    BeamlikeError,
    ColumnError,
    CombineError,
    StateError,
    TimeError,
    UserFunctionError,
    WindowError,
    WindowingError,
)
from beamlike.model.combine import Collect

SESSIONS = kafka.group_by_key().windowed_by(kafka.SessionWindows("5 minutes", "1 minute"))
TUMBLING = flink.key_by().window(flink.TumblingEventTimeWindows.of("1 minute"))
SECONDS = apex.WindowOption.time_windows("1 second")
AT_WATERMARK = apex.TriggerOption.at_watermark()


def added(key: Any, value: Any, total: Any) -> Any:
    return total + value


def both() -> kafka.KTable:
    grouped = kafka.group_by_key()
    streams = grouped.cogroup(added).cogroup(grouped, added)
    windowed = streams.windowed_by(kafka.SessionWindows(10, 0))
    return windowed.aggregate(lambda: 0, added)


def apex_operator(**options: Any) -> apex.WindowedOperator:
    return apex.WindowedOperator(SECONDS, apex.Sum(), **options)


def of_kafka() -> Iterator[tuple[Callable[[], object], type[BeamlikeError], str]]:
    grouped: Any = kafka.group_by_key()
    windowed: Any = SESSIONS
    yield lambda: kafka.SessionWindows(-1, 0), TimeError, "-1"
    yield lambda: kafka.SessionWindows(5, -1), TimeError, "grace must not be negative"
    yield lambda: grouped.windowed_by("5 minutes"), WindowingError, "windowed_by must be such as"
    yield lambda: grouped.cogroup(1), CombineError, "cogroup aggregator must be a function of a key"
    yield (
        lambda: grouped.cogroup(added).cogroup("clicks", added),
        WindowingError,
        "cogroup stream must be such as group_by_key()",
    )
    yield (
        lambda: windowed.emit_strategy("on_update"),
        WindowingError,
        "emit_strategy must be one of 'on_window_update', 'on_window_close', got 'on_update'",
    )
    yield (
        lambda: windowed.emit_strategy(kafka.EmitStrategy.on_window_close),
        WindowingError,
        "emit_strategy must be one of",
    )
    yield lambda: windowed.reduce(None), CombineError, "reduce reducer must be a function of two"
    yield lambda: windowed.aggregate(0, added, added), CombineError, "initializer must be a"
    yield lambda: windowed.count("visits"), WindowingError, 'such as Materialized.as_("visits")'
    yield lambda: windowed.count().suppress("1 minute"), WindowingError, "suppress must be such as"
    for stream in (2, -1, None):
        yield (
            lambda stream=stream: both().driver().pipe_input("k", 1, 5, stream),
            WindowingError,
            f"one of 2 streams, counted from 0, got {stream!r}",
        )
    frame: Any = None
    one = SESSIONS.aggregate(lambda: 0, added, added)
    where: Any = {"key": "k", "timestamp": "at", "returns": "bigint"}
    yield lambda: one.on_dataframe(frame, **where), ColumnError, "value is missing"
    yield (
        lambda: both().on_dataframe(frame, value="v", **where),
        ColumnError,
        "stream is missing, and the table is of 2 streams",
    )
    yield (
        lambda: one.on_dataframe(frame, value="v", stream="s", **where),
        ColumnError,
        "stream='s' is for several streams, and the table is of one",
    )
    yield lambda: SESSIONS.count().driver().pipe_input("k", 1, 5, 1), WindowingError, "of 1 stream,"
    yield lambda: SESSIONS.count().driver().pipe_input([], 1, 5), WindowingError, "can be hashed"
    yield (
        lambda: one.on_dataframe(frame, keys="k"),
        WindowingError,
        "KTable.on_dataframe has no argument 'keys'; write key=",
    )
    yield (
        lambda: one.on_dataframe(frame, key="k", value="v", timestamp="at", shard=3),
        WindowingError,
        "KTable.on_dataframe has no argument 'shard'; write shards=",
    )
    store: Any = kafka.SessionStore(5_000)
    store.put("joe", (0, 5), 1)
    yield lambda: store.fetch(), WindowingError, "fetch needs key; give the key of the sessions"
    yield lambda: store.fetch("ann", "joe"), WindowingError, "'joe' has no name; write to_key=..."
    yield (
        lambda: store.fetch("ann", tokey="joe"),
        WindowingError,
        "fetch has no argument 'tokey'; write to_key=",
    )
    yield (
        lambda: store.fetch(1, to_key=5),
        WindowingError,
        "to_key: keys from 1 to 5 cannot be compared with the others of the store (",
    )
    for window in (None, 5, (0,), ("00:00:00", "00:01:00")):
        yield (
            lambda window=window: store.put("joe", window, 1),
            WindowingError,
            f"window must be the times (ms) of a session's first and last record, such as (0, "
            f"60_000), got {window!r}",
        )
    yield lambda: store.put([], (0, 5), 1), WindowingError, "can be hashed, got []"
    yield lambda: store.remove("joe", None), WindowingError, "window must be the times (ms)"
    yield lambda: store.fetch_session("joe", 0), WindowingError, "fetch_session needs end; give a"
    yield lambda: store.fetch_session([], 0, 5), WindowingError, "can be hashed, got []"
    yield lambda: store.fetch_session("joe", 0, None), TimeError, "fetch_session end is not an in"
    yield (
        lambda: store.find_sessions("joe", "noon", 5),
        TimeError,
        "find_sessions earliest_end is not an instant: 'noon'",
    )


def of_flink() -> Iterator[tuple[Callable[[], object], type[BeamlikeError], str]]:
    windowed: Any = TUMBLING
    keyed: Any = flink.key_by()
    triggers: Any = flink.PurgingTrigger
    timeout: Any = flink.ProcessingTimeoutTrigger
    evict: Any = flink.DeltaEvictor
    event_time: Any = flink.EventTimeTrigger
    harness = windowed.aggregate(apex.Sum()).harness
    yield lambda: keyed.window("1 minute"), WindowingError, "window must be such as Tumbling"
    yield lambda: keyed.window(flink.GlobalWindows), WindowingError, "window must be such as"
    yield lambda: windowed.trigger(event_time), WindowingError, "such as CountTrigger.of(3)"
    yield lambda: windowed.trigger(bl.AfterCount(3)), WindowingError, "such as CountTrigger.of(3)"
    yield lambda: windowed.evictor(None), WindowingError, "such as CountEvictor.of(3)"
    yield lambda: triggers.of(event_time), WindowingError, "PurgingTrigger trigger must be"
    yield lambda: timeout.of(event_time, "1s"), WindowingError, "nested_trigger must be"
    yield (
        lambda: timeout.of(flink.CountTrigger.of(2), "1s", "yes"),
        WindowingError,
        "a flag of ProcessingTimeoutTrigger must be such as True, got 'yes'",
    )
    yield lambda: evict.of("far", max), WindowError, "more than 0, got 'far'"
    yield lambda: evict.of(1, None), WindowError, "delta_function must be a function of two values"
    yield lambda: windowed.reduce(None), CombineError, "reduce function must be a function of two"
    yield lambda: windowed.reduce(max, 3), CombineError, "window_function must be a function of a"
    yield lambda: windowed.apply(None), CombineError, "apply must be a function of a list"
    yield lambda: windowed.process(None), CombineError, "process must be a function of a key"
    yield lambda: windowed.aggregate(sum), CombineError, "aggregate must be a combine function"
    yield lambda: windowed.aggregate(apex.Sum), CombineError, "write Sum()"
    yield (
        lambda: flink.TumblingEventTimeWindows.of(10, "-5 parsecs"),
        TimeError,
        "tumbling windows offset is not a duration",
    )
    yield lambda: harness().process_element(None, 1, 5), WindowingError, "key must not be None"
    yield lambda: harness().process_element([], 1, 5), WindowingError, "can be hashed, got []"
    bounds: Any = "noon"
    yield lambda: flink.TimeWindow(bounds, 5), WindowError, "its end in milliseconds, such as Time"
    yield lambda: flink.TimeWindow(5, 0), WindowError, "begins; give the earlier one first"
    pair: Any = [(0, 5)]
    yield lambda: flink.merge_windows(pair), WindowingError, "such as TimeWindow(0, 5), got (0, 5)"


def of_apex_and_akka() -> Iterator[tuple[Callable[[], object], type[BeamlikeError], str]]:
    operator: Any = apex.WindowedOperator
    bytes_: Any = None
    yield lambda: operator("1 second", apex.Sum()), WindowingError, "window must be such as"
    yield (
        lambda: apex_operator(trigger=apex.TriggerOption),
        WindowingError,
        "trigger must be such as TriggerOption.at_watermark()",
    )
    yield lambda: apex_operator(storages="disk"), WindowingError, "such as Storages.all_of"
    yield lambda: apex_operator(watermark_generator=5), WindowingError, "FixedDiffEventTime"
    yield (
        lambda: apex_operator(timestamp_extractor="at"),
        CombineError,
        "timestamp_extractor must be a function of an element's value, got 'at'",
    )
    yield (
        lambda: apex_operator(timestamp_extractor=len).run().process(3),
        UserFunctionError,
        "len raised TypeError: object of type 'int' has no len()",
    )
    yield (
        lambda: apex_operator(timestamp_extractor=str).run().process(3.5),
        TimeError,
        "what str returned is not an instant: '3.5'",
    )
    yield (
        lambda: apex_operator(
            trigger=AT_WATERMARK.accumulating_fired_panes()
            .firing_only_updated_panes()
            .discarding_fired_panes()
        ),
        WindowingError,
        "ask for accumulating_fired_panes()",
    )
    for window in ("everything", 5, (1, 2, 3), ("a", "b")):
        yield (
            lambda window=window: operator(None, apex.Sum()).run().process(1, 5, windows=[window]),
            WindowingError,
            f'(ms) or "global", got {window!r}',
        )
    yield (
        lambda: apex_operator().recover(bytes_),
        StateError,
        "call recover(checkpoint, unpickle=True)",
    )
    yield (
        lambda: apex_operator().recover(bytes_, unpickle=True),
        StateError,
        "what checkpoint() of a run returned",
    )
    yield lambda: apex.CompositeAccumulation(), CombineError, "needs accumulations"
    part: Any = sum
    yield lambda: apex.CompositeAccumulation(part), CombineError, "must be a combine function"
    yield lambda: akka.SessionWindow(5).run().push(1, []), WindowingError, "can be hashed, got []"


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [*of_kafka(), *of_flink(), *of_apex_and_akka()],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_a_mistake_is_named_with_what_to_do(
    wrong: Callable[[], object], kind: type[BeamlikeError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        wrong()
    assert said in str(caught.value)


def test_when_results_come_out_may_be_said_in_words() -> None:
    for strategy in kafka.EmitStrategy:
        assert SESSIONS.emit_strategy(strategy.value) == SESSIONS.emit_strategy(strategy)


@pytest.mark.parametrize("offset", ["-3 s", " -3s", -3000])
def test_an_offset_may_be_negative_however_it_is_written(offset: Any) -> None:
    windows = flink.TumblingEventTimeWindows.of("10 s", offset)

    assert windows.window_fn == bl.FixedWindows("10 s", "7 s")


def test_the_order_in_which_options_are_said_does_not_matter() -> None:
    one = apex.TriggerOption.at_watermark().firing_only_updated_panes().accumulating_fired_panes()
    other = apex.TriggerOption.at_watermark().accumulating_fired_panes().firing_only_updated_panes()

    assert apex_operator(trigger=one) == apex_operator(trigger=other)


def test_the_type_of_a_subclass_is_not_known_from_its_class() -> None:
    class Doubled(apex.Sum):
        def extract(self, accumulator: Any) -> Any:
            return 2 * super().extract(accumulator)

    known = aggregate_of(apex.Sum(), ["v"], None)
    assert (known.kind, known.fn, known.columns) == ("sum", apex.Sum(), ("v",))
    with pytest.raises(CombineError, match="returns is missing"):
        aggregate_of(Doubled(), ["v"], None)


@pytest.mark.parametrize("keep_nulls", [True, False])
def test_a_list_over_a_column_has_the_nulls_that_it_has_in_memory(keep_nulls: bool) -> None:
    one = aggregate_of(Collect(keep_nulls), ["v"], None)

    assert (one.kind, one.fn, one.columns) == ("collect", Collect(keep_nulls), ("v",))


def test_a_list_by_name_of_a_column_leaves_nulls_out_as_sql_does() -> None:
    assert bl.collect("v").fn == Collect(keep_nulls=False)
