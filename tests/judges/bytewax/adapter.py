"""Puts the questions to Bytewax. A Python that has it runs this.

``adapter.py OUT.json FILE...`` writes one document with what came out. Bytewax counts real time in
its watermark, so a millisecond of a question is an hour here.
"""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, TestingSource, run_main

ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
UNIT = timedelta(hours=1)


def instant(millis: int) -> datetime:
    """A time of a question."""
    return ORIGIN + millis * UNIT


def millis(time: datetime) -> int:
    """The way back."""
    return round((time - ORIGIN) / UNIT)


def windower(window: Mapping[str, Any]) -> Any:
    """Bytewax's windows."""
    if window["type"] == "session":
        return win.SessionWindower(gap=window["gap_ms"] * UNIT)
    length = window["size_ms"] * UNIT
    if "slide_ms" in window:
        return win.SlidingWindower(length=length, offset=window["slide_ms"] * UNIT, align_to=ORIGIN)
    return win.TumblingWindower(length=length, align_to=ORIGIN)


def play(question: Mapping[str, Any]) -> dict[str, Any]:
    """What comes of a question."""
    if question["early"]:
        return {"id": question["id"], "unsupported": "results before a window is closed"}
    arrived: list[int] = []
    notes: list[tuple[int, str, Any]] = []

    def arrive(element: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        arrived.append(1)
        return element["key"], element

    def noted(port: str) -> Any:
        def note(item: Any) -> Any:
            notes.append((len(arrived) - 1, port, item))
            return item

        return note

    try:
        flow = Dataflow("question")
        source = TestingSource([dict(element) for element in question["elements"]], batch_size=1)
        keyed = op.map("keyed", op.input("input", flow, source), arrive)
        wait = (question["delay"] + question["lateness"]) * UNIT
        clock = win.EventClock(
            ts_getter=lambda element: instant(element["ts_ms"]), wait_for_system_duration=wait
        )
        windows = win.collect_window("windows", keyed, clock, windower(question["window"]))
        for port, stream in (
            ("down", windows.down),
            ("meta", windows.meta),
            ("late", windows.late),
        ):
            shown = op.map(f"note_{port}", stream, noted(port))
            op.output(f"output_{port}", shown, TestingSink([]))
        run_main(flow)
    except BaseException as error:
        return {"id": question["id"], "error": f"{type(error).__name__}: {error}"[:200]}
    bounds = {(key, window): meta for _, port, (key, (window, meta)) in notes if port == "meta"}
    rows = []
    for step, port, (key, (window, content)) in notes:
        if port == "meta":
            continue
        meta = bounds.get((key, window))
        shown = [millis(meta.open_time), millis(meta.close_time)] if meta else None
        row = {"step": step, "key": key, "window": shown, "ts_ms": None}
        if port == "late":
            rows.append({**row, "kind": "dropped", "value": content["value"]})
        else:
            rows.append(
                {**row, "kind": "value", "value": sum(element["value"] for element in content)}
            )
    return {"id": question["id"], "rows": rows}


def main() -> None:
    """Play the questions of the files, and write the document."""
    target, *files = sys.argv[1:]
    questions = [load for file in files for load in json.loads(Path(file).read_text("utf-8"))]
    document = {
        "engine": "Bytewax",
        "version": version("bytewax"),
        "scenarios": [play(question) for question in questions],
    }
    Path(target).write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main()
