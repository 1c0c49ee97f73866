"""Puts the questions to Pathway. A Python that has it runs this.

``adapter.py OUT.json FILE...`` writes one document with what came out.
"""

import json
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pathway as pw


def window(spec: Mapping[str, Any]) -> Any:
    """Pathway's windows."""
    if spec["type"] == "session":
        return pw.temporal.session(max_gap=spec["gap_ms"])
    if "slide_ms" in spec:
        return pw.temporal.sliding(hop=spec["slide_ms"], duration=spec["size_ms"], origin=0)
    return pw.temporal.tumbling(duration=spec["size_ms"], origin=0)


def behavior(question: Mapping[str, Any]) -> Any:
    """When results come, and how long windows are kept."""
    late = question["delay"] + question["lateness"]
    if question["early"]:
        return pw.temporal.common_behavior(cutoff=late)
    return pw.temporal.exactly_once_behavior(shift=late)


def play(question: Mapping[str, Any]) -> dict[str, Any]:
    """What comes of a question."""
    rows: list[dict[str, Any]] = []

    def note(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        rows.append(
            {
                "step": time // 2,
                "kind": "value" if is_addition else "tombstone",
                "key": row["key"],
                "value": row["value"] if is_addition else None,
                "window": [row["start"], row["end"]],
                "ts_ms": None,
            }
        )

    try:
        pw.internals.parse_graph.G.clear()
        schema = pw.schema_from_types(key=str, value=int, ts_ms=int)
        elements = [
            (element["key"], element["value"], element["ts_ms"], 2 * number, 1)
            for number, element in enumerate(question["elements"])
        ]
        table = pw.debug.table_from_rows(schema, elements, is_stream=True)
        result = table.windowby(
            table.ts_ms,
            window=window(question["window"]),
            behavior=behavior(question),
            instance=table.key,
        ).reduce(
            key=pw.this._pw_instance,
            start=pw.this._pw_window_start,
            end=pw.this._pw_window_end,
            value=pw.reducers.sum(pw.this.value),
        )
        pw.io.subscribe(result, on_change=note)
        pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    except BaseException as error:
        return {"id": question["id"], "error": f"{type(error).__name__}: {error}"[:200]}
    rows.sort(key=lambda row: (row["step"], row["kind"] == "value"))
    return {"id": question["id"], "rows": rows}


def main() -> None:
    """Play the questions of the files, and write the document."""
    target, *files = sys.argv[1:]
    questions = [load for file in files for load in json.loads(Path(file).read_text("utf-8"))]
    document = {
        "engine": "Pathway",
        "version": version("pathway"),
        "scenarios": [play(question) for question in questions],
    }
    Path(target).write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main()
