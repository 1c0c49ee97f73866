"""Cases of other systems, played by `beamlike.dialects`."""

from collections.abc import Callable, Mapping
from typing import Any

from beamlike.dialects import apex, kafka
from beamlike.dialects.stages import ElementwiseGrouping, Row
from beamlike.errors import UnsupportedError
from tests.conformance.beamlike_conformance.scenarios import DialectCase, load_cases
from tests.support.dialects.akka import play_akka
from tests.support.dialects.apex import play_apex
from tests.support.dialects.flink import play_flink
from tests.support.dialects.kafka import play_kafka
from tests.support.dialects.player import CaseRow, Player

__all__ = ["STREAMS", "play", "played_state", "stage_of"]


STREAMS = {
    case.id: case
    for case in load_cases()
    if case.kind == "stream" and "by_record" not in str(case.document["window"])
}
"""The cases that are streams; but the model has no windows that begin and end with records."""


def play(case: DialectCase) -> list[CaseRow]:
    """The outputs of the stream of a case."""
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


def stage_of(case: DialectCase) -> ElementwiseGrouping:
    """The stage on which the stream of a case was played."""
    driver: Any = _player(case).driver
    stage: ElementwiseGrouping = driver._stage
    return stage


def _as_said(row: Row) -> Any:
    return list(row.window) if isinstance(row.window, tuple) else row.window


def _player(case: DialectCase) -> Player:
    players: Mapping[str, Callable[[DialectCase], Player]] = {
        "akka": play_akka,
        "apex": play_apex,
        "flink": play_flink,
        "kafka": play_kafka,
    }
    if case.kind != "stream":
        raise UnsupportedError(f"a case of the kind {case.kind} is no stream")
    return players[case.dialect](case)
