"""Scio's game example of a stateful team score, row by row.

A team's score is added up per key and window, and comes out each time that it passes a further
multiple of the threshold, at the timestamp of the score that brought it there.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from beamlike.machine.events import AdvanceWatermark, Element, Pane
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windowfns import GlobalWindows
from beamlike.model.windows import GLOBAL_WINDOW
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, ScriptStep
from tests.support.machines.memory import ApplyFn

Json = dict[str, Any]
FILE = Path(__file__).parent / "scio_stateful_threshold.json"
ROWS: list[Json] = json.loads(FILE.read_text(encoding="utf-8"))
by_row = pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ROWS])


def test_every_row_is_a_global_window() -> None:
    assert [row["window"] for row in ROWS] == [{"fn": "global"}] * 2
    assert [row["expect_empty"] for row in ROWS] == [[], []]


def read_step(spelled: Json) -> ScriptStep:
    match spelled:
        case {"elements": elements}:
            pairs = [((e["key"], e["value"]), e["ts_ms"]) for e in elements]
            return Arrive(tuple((it[0], Element((it, NO_FIRING), at)) for it, at in pairs))
        case {"advance_watermark_to_ms": to}:
            return AdvanceWatermark(to)
        case {"advance_watermark_to_infinity": True}:
            return AdvanceWatermark(MAX_TIMESTAMP)
    raise AssertionError(f"a step that nobody reads: {spelled}")


def played(row: Json, host: Json) -> Run:
    def crossings(
        total: int | None, pair: tuple[str, int], timestamp: int
    ) -> tuple[int, tuple[int, ...]]:
        before = total or 0
        after = before + pair[1]
        crossed = before // row["threshold"] < after // row["threshold"]
        return after, (after,) if crossed else ()

    machine = StatefulParDo(GlobalWindows(), ApplyFn(crossings, "Score"))
    script = tuple(map(read_step, row["steps"]))
    if host["host"] == "memory":
        return run_in_memory(machine, script)
    from beamlike.hosts.spark.graph.query import replay_on_spark

    (run,) = replay_on_spark([(machine, None, script)], host["spark"])
    return run


def spelled(run: Run) -> list[Json]:
    """All that came out, as a row spells it."""
    panes = []
    for output in run.outputs:
        pane = output.effect
        assert isinstance(pane, Pane)
        assert pane.window == GLOBAL_WINDOW
        fields = {
            "key": output.key,
            "window": "global",
            "timing": pane.info.timing.value,
            "index": pane.info.index,
            "nonspec": pane.info.nonspeculative_index,
            "is_first": pane.info.is_first,
            "is_last": pane.info.is_last,
            "timestamp_ms": pane.timestamp,
            "value": pane.value,
        }
        panes.append(fields)
    return panes


@by_row
def test_a_team_s_score_comes_out_whenever_it_passes_the_threshold_again(row: Json, host: Json):
    assert spelled(played(row, host)) == row["panes"]


@by_row
def test_the_expectations_of_scio_s_own_test_are_met(row: Json, host: Json) -> None:
    (wanted,) = row["expect"]

    assert (wanted["matcher"], wanted["assert"]) == ("inWindow", "containInAnyOrder")
    found = [{"key": pane["key"], "value": pane["value"]} for pane in spelled(played(row, host))]
    assert sorted(map(repr, found)) == sorted(map(repr, wanted["values"]))
