"""Cases of other systems, played by `beamlike.dialects`."""

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from beamlike.dialects import akka, apex, flink, kafka
from beamlike.dialects.rows import Row
from beamlike.errors import UnsupportedError
from beamlike.model.combine import CombineFn, Sum
from beamlike.model.options import AccumulationMode
from beamlike.testing.dialect_cases import CaseRow, DialectCase

__all__ = ["play", "played_state"]

Step = Mapping[str, Any]


def play(case: DialectCase) -> list[CaseRow]:
    """What comes out of a stream that is told as a case.

    Raises:
        UnsupportedError: The case needs what `beamlike.dialects` does not have.
    """
    return _player(case).rows


def played_state(case: DialectCase) -> list[dict[str, Any]]:
    """The sessions that are open after the last step, as ``expect_state`` lists them.

    Raises:
        UnsupportedError: As `play`; or the dialect does not show its state.
    """
    driver = _player(case).driver
    if isinstance(driver, apex.OperatorRun):
        return [
            {"key": row.key, "window": _as_said(row), "value": row.value}
            for row in driver.windows()
        ]
    if not isinstance(driver, kafka.Driver):
        raise UnsupportedError("only tables of kafka and operators of apex show what is in them")
    return [
        {"key": session.key, "window": list(session.window), "value": session.value}
        for session in driver.store.all()
    ]


def _as_said(row: Row) -> Any:
    return list(row.window) if isinstance(row.window, tuple) else row.window


class _Player:
    """Rows with the steps that brought them."""

    def __init__(self, driver: object) -> None:
        self.driver = driver
        self.rows: list[CaseRow] = []

    def note(self, step: int, rows: Iterable[Row]) -> None:
        self.rows += [
            CaseRow(step, row.kind, row.key, row.value, row.window, row.timestamp, row.reason)
            for row in rows
        ]


def _player(case: DialectCase) -> _Player:
    players: Mapping[str, Callable[[DialectCase], _Player]] = {
        "akka": _akka,
        "apex": _apex,
        "flink": _flink,
        "kafka": _kafka,
    }
    if case.kind != "stream":
        raise UnsupportedError(f"a case of the kind {case.kind} is no stream")
    return players[case.dialect](case)


def _unknown(step: Step) -> UnsupportedError:
    return UnsupportedError(f"a step with {', '.join(step)} has no counterpart")


# -- Kafka Streams ---------------------------------------------------------------------------


def _signed(key: Any, value: Any, aggregate: Any) -> Any:
    return f"{aggregate}{value}"


_FOR_EVER = 10**12
"""A retention that no case reaches: what is cached is seen however old it is."""


def _materialized(case: DialectCase) -> kafka.Materialized:
    store, sessions = case.settings.get("store", {}), kafka.Materialized.as_("sessions")
    if "retention_ms" in store:
        return sessions.with_retention(store["retention_ms"])
    cached = store.get("kind", "cached") == "cached"
    return sessions.with_retention(_FOR_EVER) if cached else sessions


def _table(case: DialectCase) -> kafka.KTable:
    window = case.settings["window"]
    windows = kafka.SessionWindows.of_inactivity_gap_and_grace(
        window["gap_ms"], case.settings.get("grace_ms", 0)
    )
    if case.settings.get("rule") == "kip94":
        windows = windows.until(case.settings["store"]["retention_ms"])
    aggregate, emit = case.settings["aggregate"], case.settings["emit"]
    grouped, materialized = kafka.group_by_key(), _materialized(case)
    windowed = grouped.windowed_by(windows)
    if emit == "on_close":
        windowed = windowed.emit_strategy(kafka.EmitStrategy.on_window_close())
    if aggregate == "count":
        table = windowed.count(materialized)
    elif aggregate == "signed0":
        cogrouped = grouped.cogroup(_signed).cogroup(grouped, _signed).windowed_by(windows)
        table = cogrouped.aggregate(
            lambda: "0", lambda key, one, other: f"{one}+{other}", materialized
        )
    elif aggregate.startswith("reduce:"):
        between = aggregate.removeprefix("reduce:")
        table = windowed.reduce(lambda one, other: f"{one}{between}{other}", materialized)
    else:
        raise UnsupportedError(f"the aggregate {aggregate} has no counterpart")
    if emit == "suppress_until_close":
        return table.suppress(kafka.Suppressed.until_window_closes())
    return table


def _kafka(case: DialectCase) -> _Player:
    table = _table(case)
    cached = case.settings["emit"] == "cached_update"
    driver = table.caching_driver() if cached else table.driver()
    player = _Player(driver)
    for at, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for it in elements:
                    stream = it.get("stream", 1) - 1
                    player.note(at, driver.pipe_input(it["key"], it["value"], it["ts_ms"], stream))
            case {"flush_cache": True} if isinstance(driver, kafka.CachingDriver):
                player.note(at, driver.commit())
            case _:
                raise _unknown(step)
    return player


# -- Flink -----------------------------------------------------------------------------------


def _trigger(said: Mapping[str, Any]) -> flink.Trigger:
    match said:
        case {"type": "event_time"}:
            return flink.EventTimeTrigger.create()
        case {"type": "processing_time"}:
            return flink.ProcessingTimeTrigger.create()
        case {"type": "count", "count": count}:
            return flink.CountTrigger.of(count)
        case {"type": "purging", "of": inner}:
            return flink.PurgingTrigger.of(_trigger(inner))
    raise UnsupportedError(f"the trigger {said['type']}")


def _gap_of(value: tuple[Any, int]) -> int:
    return value[1]


def _assigner(said: Mapping[str, Any]) -> flink.Assigner:
    match said:
        case {"type": "session", "time": "processing", "gap_ms": int(gap)}:
            return flink.ProcessingTimeSessionWindows.with_gap(gap)
        case {"type": "session", "gap_ms": None}:
            return flink.EventTimeSessionWindows.with_dynamic_gap(_gap_of)
        case {"type": "session", "gap_ms": gap}:
            return flink.EventTimeSessionWindows.with_gap(gap)
        case {"type": "tumbling", "size_ms": size}:
            return flink.TumblingEventTimeWindows.of(size)
        case {"type": "sliding", "size_ms": size, "slide_ms": slide}:
            return flink.SlidingEventTimeWindows.of(size, slide)
        case {"type": "global"}:
            return flink.GlobalWindows.create()
    raise UnsupportedError(f"the window {said['type']}")


def _evictor(said: Mapping[str, Any]) -> flink.Evictor:
    match said:
        case {"after": True}:
            raise UnsupportedError("an evictor that runs after the function")
        case {"type": "count", "keep": count}:
            return flink.CountEvictor.of(count)
        case {"type": "time", "keep_ms": size}:
            return flink.TimeEvictor.of(size)
    raise UnsupportedError(f"the evictor {said['type']}")


def _flink(case: DialectCase) -> _Player:
    settings = case.settings
    windowed = flink.key_by().window(_assigner(settings["window"]))
    windowed = windowed.trigger(_trigger(settings["trigger"]))
    windowed = windowed.allowed_lateness(settings.get("allowed_lateness_ms", 0))
    if settings.get("late_output"):
        windowed = windowed.side_output_late_data()
    if "evictor" in settings:
        windowed = windowed.evictor(_evictor(settings["evictor"]))
    if settings["aggregate"] != "sum":
        raise UnsupportedError(f"the aggregate {settings['aggregate']} has no counterpart")
    # A value travels with its gap, where it has one.
    harness = windowed.apply(lambda values: sum(value for value, _ in values)).harness()
    player = _Player(harness)
    clock = 0
    for at, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for it in elements:
                    value = (it["value"], it.get("gap_ms"))
                    rows = harness.process_element(it["key"], value, it["ts_ms"])
                    player.note(at, map(_without_gap, rows))
            case {"advance_watermark_to_ms": to}:
                player.note(at, harness.process_watermark(to))
            case {"advance_watermark_to_infinity": True}:
                player.note(at, harness.process_watermark_to_infinity())
            case {"advance_processing_time_by_ms": by}:
                clock += by
                player.note(at, harness.set_processing_time(clock))
            case {"snapshot_and_restore": True}:
                harness = player.driver = copy.deepcopy(harness)
            case _:
                raise _unknown(step)
    return player


def _without_gap(row: Row) -> Row:
    if row.kind == "value":
        return row
    return Row(row.kind, row.key, row.value[0], row.window, row.timestamp, row.reason)


# -- Akka ------------------------------------------------------------------------------------


def _akka(case: DialectCase) -> _Player:
    window, overflow = case.settings["window"], case.settings.get("overflow")
    bound = (
        {}
        if overflow is None
        else {
            "max_size": overflow["max_elements"],
            "overflow_strategy": overflow["strategy"],
        }
    )
    flow = akka.SessionWindow(window["gap_ms"], checked_every=window["checked_every_ms"], **bound)
    run = flow.run()
    player = _Player(run)
    for at, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for it in elements:
                    player.note(at, run.push(it["value"], it["key"]))
            case {"advance_processing_time_by_ms": by}:
                player.note(at, run.advance(by))
            case {"end_of_input": True}:
                player.note(at, run.complete())
            case _:
                raise _unknown(step)
    return player


# -- Apex ------------------------------------------------------------------------------------

_ACCUMULATIONS: Mapping[str, CombineFn] = {
    "sum": Sum(),
    "cogroup": apex.CoGroup(),
    "inner_join": apex.InnerJoin(),
}


def _option(said: Mapping[str, Any]) -> apex.WindowOption:
    match said:
        case {"type": "global"}:
            return apex.WindowOption.global_window()
        case {"type": "session", "gap_ms": gap}:
            return apex.WindowOption.session_windows(gap)
        case {"type": "sliding", "size_ms": size, "slide_ms": slide}:
            return apex.WindowOption.sliding_time_windows(size, slide)
        case {"type": "fixed", "size_ms": size}:
            return apex.WindowOption.time_windows(size)
    raise UnsupportedError(f"the window {said}")


def _trigger_option(case: DialectCase) -> apex.TriggerOption:
    option = apex.TriggerOption()
    for name, said in case.settings["trigger"].items():
        match name:
            case "at_watermark":
                option = attrs.evolve(option, on_time=said)
            case "early_every_count":
                option = option.with_early_firings_at_every(said)
            case "late_every_count":
                option = option.with_late_firings_at_every(said)
            case "only_updated_panes":
                option = attrs.evolve(option, only_updated=said)
            case _:
                raise UnsupportedError(f"the trigger {name}")
    return attrs.evolve(option, mode=AccumulationMode(case.settings["accumulation"]))


def _generator(said: Mapping[str, Any] | None) -> Any:
    match said:
        case {"type": "event_time_minus", "ms": by}:
            return apex.FixedDiffEventTimeWatermarkGen(by)
        case {"type": "ingestion_time_minus", "ms": by}:
            return apex.FixedDiffProcessingTimeWatermarkGen(by)
    return None


def _apex(case: DialectCase) -> _Player:
    settings = case.settings
    lateness = settings.get("allowed_lateness_ms", -1)
    run = apex.WindowedOperator(
        _option(settings["window"]),
        _ACCUMULATIONS[settings["aggregate"]],
        _trigger_option(case),
        allowed_lateness=None if lateness < 0 else lateness,
        keyed=case.keyed,
        watermark_generator=_generator(settings.get("watermark_generator")),
    ).run(settings["batch_interval_ms"])
    player, joins = _Player(run), "streams" in settings
    for at, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for it in elements:
                    value = (it["stream"], it["value"]) if joins else it["value"]
                    player.note(at, run.process(value, it["ts_ms"], it["key"]))
            case {"advance_watermark_to_ms": to}:
                run.process_watermark(to)
            case {"end_batches": batches}:
                for _ in range(batches):
                    player.note(at, run.end_batch())
            case _:
                raise _unknown(step)
    return player
