"""Cases of Kafka Streams, played by `beamlike.dialects.kafka`."""

from typing import Any

import attrs

from beamlike.dialects import kafka
from beamlike.dialects.stages import ElementwiseGrouping, Row
from beamlike.errors import UnsupportedError
from beamlike.machine.events import Drop, Element
from beamlike.model.combine import Collect, Count
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, Never, Repeatedly
from beamlike.model.windowfns import FixedWindows, SlidingWindows, WindowFn
from beamlike.model.windows import Window
from beamlike.runtime.script import Output
from tests.conformance.beamlike_conformance.scenarios import DialectCase
from tests.support.dialects.player import Player, unknown

__all__ = ["play_kafka"]


def _signed(key: Any, value: Any, aggregate: Any) -> Any:
    return f"{aggregate}{value}"


_FOR_EVER = 10**12
"""A retention that no case reaches."""


def _materialized(case: DialectCase) -> kafka.Materialized:
    store, sessions = case.document.get("store", {}), kafka.Materialized.as_("sessions")
    if "retention_ms" in store:
        return sessions.with_retention(store["retention_ms"])
    if store.get("kind") == "cached":
        return sessions
    # Where a case names no store, it has no cache and forgets nothing.
    return sessions.with_caching_disabled() if store else sessions.with_retention(_FOR_EVER)


def _table(case: DialectCase) -> kafka.KTable:
    windows = kafka.SessionWindows.of_inactivity_gap_and_grace(
        case.document["window"]["gap_ms"], case.document.get("grace_ms", 0)
    )
    if case.document.get("rule") == "kip94":
        windows = windows.until(case.document["store"]["retention_ms"])
    aggregate, emit = case.document["aggregate"], case.document["emit"]
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
        return table.suppress(kafka.Suppressed.until_window_closes(repeats=True))
    return table


@attrs.frozen
class FromZeroOn(WindowFn):
    """Sliding windows without those that begin before 1970: Kafka has none."""

    windows: SlidingWindows

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        return tuple(one for one in self.windows.assign(timestamp) if one.start >= 0)


class TimeWindows:
    """Kafka's windows of a fixed length, counted, in the words of the model.

    They have no API in `beamlike.dialects.kafka`, whose docstring says how they are written.
    """

    def __init__(self, case: DialectCase) -> None:
        window = case.document["window"]
        size = window.get("size_ms", 1)
        slide = window.get("slide_ms", size)
        # What is suppressed until a window closes comes out as if on close.
        on_close = case.document["emit"] in ("on_close", "suppress_until_close")
        aggregate = case.document["aggregate"]
        is_count, _, self._between = aggregate.partition(":")
        if is_count not in ("count", "reduce") or window["type"] == "by_record":
            raise UnsupportedError(f"{window['type']} windows with {aggregate} have no counterpart")
        self._stage = ElementwiseGrouping(
            WindowingStrategy(
                FixedWindows(size) if slide == size else FromZeroOn(SlidingWindows(size, slide)),
                Never() if on_close else Repeatedly(AfterCount(1)),
                "discarding" if on_close else "accumulating",
                case.document.get("grace_ms", 0),
                on_time_behavior="fire_if_non_empty",
            ),
            Count() if is_count == "count" else Collect(),
        )
        self._latest: dict[tuple[Any, Window], int] = {}

    def pipe_input(self, key: Any, value: Any, timestamp: int) -> list[Row]:
        """The changes that a record makes."""
        outputs = self._stage.advance(max(self._stage.watermark, timestamp))
        arrived = self._stage.arrive(key, value, timestamp)
        windows = self._stage.strategy.window_fn.assign(timestamp)
        for window in windows:
            latest = self._latest.get((key, window), timestamp)
            self._latest[key, window] = max(latest, timestamp)
        closed = sorted(map(self._row, outputs), key=lambda row: (row.window, row.key))
        return [*closed, *sorted(map(self._row, arrived), key=_start)]

    def _row(self, output: Output) -> Row:
        effect = output.effect
        assert effect.window is not None
        bounds = (effect.window.start, effect.window.end)
        if isinstance(effect, Drop):
            late = effect.element
            assert isinstance(late, Element)
            reason = "expired_window"
            return Row("dropped", output.key, late.value, bounds, late.timestamp, reason)
        latest = self._latest[output.key, effect.window]
        value = effect.value
        reduced = value if isinstance(value, int) else self._between.join(value)
        return Row("value", output.key, reduced, bounds, latest)


def _start(row: Row) -> Any:
    return row.window


def play_kafka(case: DialectCase) -> Player:
    """The case, played to its end."""
    if case.document["window"]["type"] != "session":
        return _play_time_windows(case)
    table = _table(case)
    cached = case.document["emit"] == "cached_update"
    driver = table.caching_driver() if cached else table.driver()
    player = Player(driver)
    for index, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for element in elements:
                    stream = element.get("stream", 1) - 1
                    player.note(
                        index,
                        driver.pipe_input(
                            element["key"], element["value"], element["ts_ms"], stream
                        ),
                    )
            case {"flush_cache": True} if isinstance(driver, kafka.CachingDriver):
                player.note(index, driver.commit())
            case _:
                raise unknown(step)
    return player


def _play_time_windows(case: DialectCase) -> Player:
    windows = TimeWindows(case)
    player = Player(windows)
    for number, step in enumerate(case.steps):
        if "elements" not in step:
            raise unknown(step)
        for element in step["elements"]:
            rows = windows.pipe_input(element["key"], element["value"], element["ts_ms"])
            player.note(number, rows)
    return player
