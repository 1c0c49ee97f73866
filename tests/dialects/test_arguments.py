"""What users of each dialect may get wrong: it is said where they wrote it, and what to do."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import beamlike as bl
from beamlike import errors
from beamlike.dialects import akka, apex, flink, kafka
from beamlike.dialects.frames import aggregate_of
from beamlike.dialects.kafka_store import Session
from beamlike.model.combine import Collect
from tests.support.refusals import refusal

Mistakes = Iterator[tuple[Any, ...]]
"""Each an error, and then what raises it, and what it says."""

SESSIONS = kafka.group_by_key().windowed_by(kafka.SessionWindows("5 minutes", "1 minute"))
SECONDS = apex.WindowOption.time_windows("1 second")
AT_WATERMARK = apex.TriggerOption.at_watermark()


def added(key: Any, value: Any, total: Any) -> Any:
    return total + value


def both() -> kafka.KTable:
    grouped = kafka.group_by_key()
    streams = grouped.cogroup(added).cogroup(grouped, added)
    return streams.windowed_by(kafka.SessionWindows(10, 0)).aggregate(lambda: 0, added)


def growth(before: int, after: int) -> float:
    return after - before


def apex_operator(window: Any = SECONDS, **options: Any) -> apex.WindowedOperator:
    return apex.WindowedOperator(window, apex.Sum(), **options)


def of_kafka() -> Mistakes:
    windows, materialized = kafka.SessionWindows, kafka.Materialized.as_
    grouped: Any = kafka.group_by_key()
    windowed: Any = SESSIONS
    five = windows(5, 2)
    one = SESSIONS.aggregate(lambda: 0, added, added)

    def over(table: Any, **options: Any) -> object:
        return table.on_dataframe(None, key="k", timestamp="at", **options)

    bigint: Any = {"value": "v", "returns": "bigint"}
    store: Any = kafka.ReadOnlySessionStore(lambda: [Session("joe", (0, 5), 1)], 5_000)
    yield (
        errors.TimeError,
        (lambda: windows(-1, 0), "-1"),
        (lambda: windows(5, -1), "grace must not be negative"),
        (lambda: SESSIONS.count().driver().pipe_input("a", 1, -1), "must be 0 ms or later"),
        (lambda: store.fetch_session("joe", 0, None), "fetch_session end is not an in"),
        (
            lambda: store.find_sessions("joe", "noon", 5),
            "find_sessions earliest_end is not an instant: 'noon'",
        ),
    )
    yield (
        errors.CombineError,
        (lambda: grouped.cogroup(1), "cogroup aggregator must be a function of a key"),
        (lambda: windowed.reduce(None), "reduce reducer must be a function of two"),
        (lambda: windowed.aggregate(0, added, added), "initializer must be a"),
    )
    yield (
        errors.WindowError,
        (lambda: five.until("4 ms"), "until('4 ms') must not be shorter than the gap of 5ms"),
        (
            lambda: grouped.windowed_by(windows(0, 0)).count(
                materialized("all").with_caching_disabled()
            ),
            "the session store 'all' would keep nothing, because gap, grace",
        ),
        (
            lambda: grouped.windowed_by(five).count(materialized("visits").with_retention(6)),
            "the retention of the session store 'visits' must be no smaller than",
        ),
        (
            lambda: kafka.BufferConfig.max_records(-1),
            "max_records must be a whole number of 0 or more",
        ),
        (
            lambda: kafka.Suppressed.until_window_closes(kafka.BufferConfig.max_records(2)),
            "what comes out early is not final; add .shut_down_",
        ),
    )
    yield (
        errors.ColumnError,
        (lambda: over(one, returns="bigint"), "value is missing"),
        (lambda: over(both(), **bigint), "stream is missing, and the table is of 2 streams"),
        (
            lambda: over(one, stream="s", **bigint),
            "stream='s' is for several streams, and the table is of one",
        ),
    )
    yield (
        errors.WindowingError,
        (lambda: grouped.windowed_by("5 minutes"), "windowed_by must be such as"),
        (
            lambda: grouped.cogroup(added).cogroup("clicks", added),
            "cogroup stream must be such as group_by_key()",
        ),
        (
            lambda: windowed.emit_strategy("on_update"),
            "emit_strategy must be one of 'on_window_update', 'on_window_close', got 'on_update'",
        ),
        (
            lambda: windowed.emit_strategy(kafka.EmitStrategy.on_window_close),
            "emit_strategy must be one of",
        ),
        (lambda: windowed.count("visits"), 'such as Materialized.as_("visits")'),
        (lambda: windowed.count().suppress("1 minute"), "suppress must be such as"),
        *(
            (
                lambda stream=stream: both().driver().pipe_input("k", 1, 5, stream),
                f"one of 2 streams, counted from 0, got {stream!r}",
            )
            for stream in (2, -1, None)
        ),
        (lambda: SESSIONS.count().driver().pipe_input("k", 1, 5, 1), "of 1 stream,"),
        (lambda: SESSIONS.count().driver().pipe_input([], 1, 5), "can be hashed"),
        (
            lambda: SESSIONS.count().on_dataframe(None, keys="k"),
            "KTable.on_dataframe has no argument 'keys'; write key=",
        ),
        (
            lambda: over(one, value="v", shard=3),
            "KTable.on_dataframe has no argument 'shard'; write shards=",
        ),
        (lambda: store.fetch(), "fetch needs key; give the key of the sessions"),
        (lambda: store.fetch("ann", "joe"), "'joe' has no name; write to_key=..."),
        (lambda: store.fetch("ann", tokey="joe"), "fetch has no argument 'tokey'; write to_key="),
        (
            lambda: store.fetch(1, to_key=5),
            "to_key: keys from 1 to 5 cannot be compared with the others of the store (",
        ),
        (lambda: store.fetch_session("joe", 0), "fetch_session needs end; give a"),
        (lambda: store.fetch_session([], 0, 5), "can be hashed, got []"),
        *(
            (lambda name=name: kafka.Materialized.as_(name), 'must be a text such as "visits", got')
            for name in (None, "", 5)
        ),
    )
    yield (
        errors.UnsupportedError,
        (
            lambda: kafka.BufferConfig.max_bytes(1_000),
            "BufferConfig.max_bytes(1000): what waits here is not serialized",
        ),
        (
            lambda: over(
                SESSIONS.count().suppress(
                    kafka.Suppressed.until_window_closes(
                        kafka.BufferConfig.max_records(2).shut_down_when_full()
                    )
                )
            ),
            "no more than 2 may be; leave the buffer out",
        ),
    )


def of_flink() -> Mistakes:
    keyed: Any = flink.key_by()
    tumbling = flink.TumblingEventTimeWindows.of("1 minute")
    windowed: Any = keyed.window(tumbling)
    by_clock = keyed.window(flink.TumblingProcessingTimeWindows.of("10 ms"))
    sessions = keyed.window(flink.EventTimeSessionWindows.with_gap(5))
    all_ = flink.window_all(tumbling).aggregate(apex.Sum())
    timeout, count = flink.ProcessingTimeoutTrigger, flink.CountTrigger
    event_time: Any = flink.EventTimeTrigger
    nothing: Any = None
    text: Any = "noon"
    harness = windowed.aggregate(apex.Sum()).harness
    yield (
        errors.WindowingError,
        (lambda: keyed.window("1 minute"), "window must be such as Tumbling"),
        (lambda: keyed.window(flink.GlobalWindows), "window must be such as"),
        (lambda: windowed.trigger(event_time), "such as CountTrigger.of(3)"),
        (lambda: windowed.trigger(bl.AfterCount(3)), "such as CountTrigger.of(3)"),
        (
            lambda: windowed.trigger(flink.ProcessingTimeTrigger.create()),
            "never fires in windows in event time",
        ),
        (
            lambda: by_clock.trigger(flink.ContinuousEventTimeTrigger.of(5)),
            "never fires in windows in processing time",
        ),
        (lambda: sessions.trigger(flink.DeltaTrigger.of(1, growth)), "which merge"),
        (lambda: sessions.trigger(timeout.of(count.of(2), 5)), "which merge"),
        (lambda: by_clock.allowed_lateness(1), "has no meaning in processing time"),
        (lambda: by_clock.evictor(flink.TimeEvictor.of(5)), "looks at event times"),
        (lambda: windowed.evictor(None), "such as CountEvictor.of(3)"),
        (lambda: flink.PurgingTrigger.of(event_time), "PurgingTrigger trigger must be"),
        (lambda: timeout.of(event_time, "1s"), "nested_trigger must be"),
        (
            lambda: timeout.of(count.of(2), "1s", text),
            "a flag of ProcessingTimeoutTrigger must be such as True, got 'noon'",
        ),
        (lambda: harness().process_element("a", 1), "a timestamp"),
        (
            lambda: harness().process_element(None, 1, 5),
            "key must not be None, because Flink has no element without a key; use window_all",
        ),
        (lambda: harness().process_element([], 1, 5), "can be hashed, got []"),
        (
            lambda: all_.harness().process_element("a", 1, 12),
            "has elements without keys, got 'a'; use key_by",
        ),
        (
            lambda: all_.on_dataframe(nothing, key="k", value="v", timestamp="at"),
            "key='k': window_all(...) has elements without keys; say key=(), or key_by",
        ),
    )
    yield (
        errors.UnsupportedError,
        (
            lambda: timeout.of(flink.PurgingTrigger.of(count.of(1)), 5),
            "write PurgingTrigger.of(ProcessingTimeoutTrigger.of(...))",
        ),
        (lambda: timeout.of(flink.ContinuousEventTimeTrigger.of(5), 5), "give it a CountTrigger"),
    )
    yield (
        errors.TriggerError,
        (lambda: count.of(0), "CountTrigger count must be a whole"),
        (lambda: flink.ContinuousEventTimeTrigger.of(0), "more than 0 ms"),
        (lambda: flink.DeltaTrigger.of(-1, growth), "0 or more"),
        (lambda: timeout.of(count.of(1), 0), "more than 0 ms"),
    )
    yield (
        errors.WindowError,
        (lambda: flink.CountEvictor.of(0), "CountEvictor max_count must be a whole"),
        (lambda: flink.TimeEvictor.of(0), "TimeEvictor needs more than 0 ms"),
        (lambda: flink.DeltaEvictor.of(0, growth), "threshold of more than 0"),
        (lambda: flink.DeltaEvictor.of(text, growth), "more than 0, got 'noon'"),
        (
            lambda: flink.DeltaEvictor.of(1, nothing),
            "delta_function must be a function of two values",
        ),
        (lambda: flink.TumblingEventTimeWindows.of(5, -5), "must be less"),
    )
    yield (
        errors.TimeError,
        (
            lambda: flink.TumblingEventTimeWindows.of(10, "-5 parsecs"),
            "tumbling windows offset is not a duration",
        ),
    )
    yield (
        errors.CombineError,
        (lambda: windowed.reduce(None), "reduce function must be a function of two"),
        (lambda: windowed.reduce(max, 3), "window_function must be a function of a"),
        (lambda: windowed.apply(None), "apply must be a function of a list"),
        (lambda: windowed.process(None), "process must be a function of a key"),
        (lambda: windowed.aggregate(sum), "aggregate must be a combine function"),
        (lambda: windowed.aggregate(apex.Sum), "write Sum()"),
    )


def of_apex_and_akka() -> Mistakes:
    option, sessions = apex.TriggerOption(), apex.WindowOption.session_windows(5)
    in_global = apex.WindowOption.global_window()
    nothing: Any = None
    part: Any = sum
    accumulating = AT_WATERMARK.accumulating_fired_panes()
    retracting = AT_WATERMARK.accumulating_and_retracting_fired_panes()
    generator = apex.FixedDiffProcessingTimeWatermarkGen(5)
    drop: Any = "drop"
    yield (
        errors.WindowError,
        (
            lambda: apex.WindowOption.sliding_time_windows(10, 3),
            "got duration=10ms and slide_by=3ms",
        ),
        (
            lambda: in_global.slide_by(10),
            "slide_by belongs to time_windows(...), and these are GlobalWindows()",
        ),
        (lambda: akka.SessionWindow(5, 1), "max_size must be a whole number of 2"),
    )
    yield (
        errors.WindowingError,
        (lambda: apex_operator("1 second"), "window must be such as"),
        (
            lambda: apex_operator(trigger=apex.TriggerOption),
            "trigger must be such as TriggerOption.at_watermark()",
        ),
        (lambda: apex_operator(storages="disk"), "such as Storages.all_of"),
        (lambda: apex_operator(storages=apex.Storages(data=None)), "Storages data is None"),
        (
            lambda: apex_operator(trigger=retracting, storages=apex.Storages()),
            "Storages retraction is None",
        ),
        (lambda: apex_operator(watermark_generator=5), "FixedDiffEventTime"),
        (
            lambda: apex_operator(trigger=AT_WATERMARK.firing_only_updated_panes()),
            "ask for accumulating_fired_panes()",
        ),
        (
            lambda: apex_operator(
                trigger=accumulating.firing_only_updated_panes().discarding_fired_panes()
            ),
            "ask for accumulating_fired_panes()",
        ),
        (lambda: apex_operator(sessions), "say keyed=True"),
        (
            lambda: apex_operator(trigger=option.with_early_firings_at_every("5 ms")).run(1),
            "firings by time need batches of 2 ms or more",
        ),
        (
            lambda: apex_operator(None).run().process(1, 5),
            "say windows=[row.window] of the operator before",
        ),
        *(
            (
                lambda window=window: apex_operator(None).run().process(1, 5, windows=[window]),
                f'(ms) or "global", got {window!r}',
            )
            for window in ("everything", 5, (1, 2, 3), ("a", "b"))
        ),
        (lambda: akka.SessionWindow(0), "inactivity must be more than 0 ms"),
        (lambda: akka.SessionWindow(5, 2, drop), "'drop_newest', 'fail'"),
        (lambda: akka.SessionWindow(5).run().push(1, []), "can be hashed, got []"),  # type: ignore[arg-type]
    )
    yield (
        errors.TriggerError,
        (
            lambda: option.with_early_firings_at_every("0 seconds"),
            "with_early_firings_at_every needs a time of more than 0 ms",
        ),
        (
            lambda: option.with_late_firings_at_every(0),
            "with_late_firings_at_every count must be a whole number of 1 or more, got 0",
        ),
    )
    yield (
        errors.UnsupportedError,
        (
            lambda: apex_operator(in_global, trigger=option.with_late_firings_at_every(1)),
            "begin with TriggerOption.at_watermark()",
        ),
        (
            lambda: apex_operator(
                sessions, trigger=option.with_early_firings_at_every(2), keyed=True
            ),
            "or count 1",
        ),
        (
            lambda: apex.WindowedMergeOperator(
                in_global, apex.CoGroup(), watermark_generator=generator
            ),
            "give each stream its own with process_watermark",
        ),
    )
    yield (
        errors.CombineError,
        (lambda: apex.WindowedOperator(in_global, apex.Sum), "write Sum()"),  # type: ignore[arg-type]
        (
            lambda: apex_operator(timestamp_extractor="at"),
            "timestamp_extractor must be a function of an element's value, got 'at'",
        ),
        (lambda: apex.CompositeAccumulation(), "needs accumulations"),
        (lambda: apex.CompositeAccumulation(part), "must be a combine function"),
        (lambda: apex.TopNByKey(0), "TopNByKey n must be a whole number of 1 or more"),
    )
    yield (
        errors.UserFunctionError,
        (
            lambda: apex_operator(timestamp_extractor=len).run().process(3),
            "len raised TypeError: object of type 'int' has no len()",
        ),
    )
    yield (
        errors.TimeError,
        (
            lambda: apex_operator(timestamp_extractor=str).run().process(3.5),
            "what str returned is not an instant: '3.5'",
        ),
    )
    yield (
        errors.StateError,
        (lambda: apex_operator().recover(nothing), "what checkpoint() of a run returned"),
    )


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        (wrong, kind, said)
        for mistakes in (of_kafka(), of_flink(), of_apex_and_akka())
        for kind, *every in mistakes
        for wrong, said in every
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_a_mistake_is_named_with_what_to_do(
    wrong: Callable[[], object], kind: type[errors.BeamlikeError], said: str
) -> None:
    assert said in refusal(kind, wrong)


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
    with pytest.raises(errors.CombineError, match="returns is missing"):
        aggregate_of(Doubled(), ["v"], None)


@pytest.mark.parametrize("keep_nulls", [True, False])
def test_a_list_over_a_column_has_the_nulls_that_it_has_in_memory(keep_nulls: bool) -> None:
    one = aggregate_of(Collect(keep_nulls), ["v"], None)

    assert (one.kind, one.fn, one.columns) == ("collect", Collect(keep_nulls), ("v",))


def test_a_list_by_name_of_a_column_leaves_nulls_out_as_sql_does() -> None:
    assert bl.collect("v").fn == Collect(keep_nulls=False)
