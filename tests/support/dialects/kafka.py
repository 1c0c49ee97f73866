"""Cases of Kafka Streams, played by `beamlike.dialects.kafka`."""

from typing import Any

from beamlike.dialects import kafka
from beamlike.errors import UnsupportedError
from tests.support.dialects.cases import DialectCase
from tests.support.dialects.player import Player, unknown

__all__ = ["play_kafka"]


def _signed(key: Any, value: Any, aggregate: Any) -> Any:
    return f"{aggregate}{value}"


_FOR_EVER = 10**12
"""A retention that no case reaches: what is cached is seen however old it is."""


def _materialized(case: DialectCase) -> kafka.Materialized:
    store, sessions = case.settings.get("store", {}), kafka.Materialized.as_("sessions")
    if "retention_ms" in store:
        return sessions.with_retention(store["retention_ms"])
    cached = store.get("kind", "cached") == "cached"
    return sessions.with_retention(_FOR_EVER) if cached else sessions.with_caching_disabled()


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
        return table.suppress(kafka.Suppressed.until_window_closes(repeats=True))
    return table


def play_kafka(case: DialectCase) -> Player:
    """The case, played to its end.

    Raises:
        UnsupportedError: It needs what `beamlike.dialects` does not have.
    """
    table = _table(case)
    cached = case.settings["emit"] == "cached_update"
    driver = table.caching_driver() if cached else table.driver()
    player = Player(driver)
    for at, step in enumerate(case.steps):
        match step:
            case {"elements": elements}:
                for it in elements:
                    stream = it.get("stream", 1) - 1
                    player.note(at, driver.pipe_input(it["key"], it["value"], it["ts_ms"], stream))
            case {"flush_cache": True} if isinstance(driver, kafka.CachingDriver):
                player.note(at, driver.commit())
            case _:
                raise unknown(step)
    return player
