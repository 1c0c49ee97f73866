"""The result folder: each batch once, however often it is written, and nobody else's files."""

from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest

from beamlike.demo.job import ResultFolders

WINDOW = {"start": 0, "end": 3_600_000_000}
PANE = pa.struct({"timing": pa.string(), "index": pa.int64()})
DROPPED = pa.struct({"reason": pa.string(), "element": pa.string()})
SCHEMA = pa.schema(
    {
        "carrier": pa.string(),
        "window": pa.struct({"start": pa.int64(), "end": pa.int64()}),
        "departures": pa.int64(),
        "delay": pa.float64(),
        "tails": pa.list_(pa.string()),
        "timestamp": pa.int64(),
        "pane": PANE,
        "dropped": DROPPED,
    }
)


@attrs.frozen
class Frame:
    """As much of a DataFrame as ``save`` needs."""

    rows: list[dict[str, Any]]

    def toArrow(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows, schema=SCHEMA)


def pane(timing: str, index: int) -> dict[str, Any]:
    return {
        "carrier": "UA",
        "window": WINDOW,
        "departures": index + 1,
        "tails": ["N1"],
        "pane": {"timing": timing, "index": index},
    }


DROP = {"carrier": "AA", "window": WINDOW, "dropped": {"reason": "expired", "element": "{}"}}


@pytest.fixture
def output(tmp_path: Path) -> ResultFolders:
    output = ResultFolders(tmp_path)
    output.prepare()
    return output


def save(output: ResultFolders, rows: list[dict[str, Any]], batch: int) -> None:
    frame: Any = Frame(rows)
    output.save(frame, batch)


def test_panes_and_drops_go_to_folders_of_their_own(output: ResultFolders):
    save(output, [pane("EARLY", 0), DROP], 3)
    assert output.panes().to_pylist() == [
        {
            "carrier": "UA",
            "window": WINDOW,
            "departures": 1,
            "delay": None,
            "tails": ["N1"],
            "timestamp": None,
            "pane": {"timing": "EARLY", "index": 0},
            "batch": 3,
        }
    ]
    assert output.dropped().to_pylist() == [{**DROP, "batch": 3}]


def test_a_batch_that_is_repeated_after_a_failure_counts_once(output: ResultFolders):
    save(output, [pane("EARLY", 0)], 0)
    for _ in range(2):
        save(output, [pane("ON_TIME", 1), pane("LATE", 2), DROP], 1)
    assert [row["batch"] for row in output.panes().to_pylist()] == [0, 1, 1]
    assert len(output.dropped()) == 1
    assert output.counted == {
        0: Counter(EARLY=1, DROPPED=0),
        1: Counter(ON_TIME=1, LATE=1, DROPPED=1),
    }


def test_an_earlier_result_is_replaced_and_other_files_stay(tmp_path: Path, output: ResultFolders):
    save(output, [pane("EARLY", 0), DROP], 0)
    note = tmp_path / "panes" / "notes.txt"
    note.write_text("mine")
    ResultFolders(tmp_path).prepare()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [note]
    save(output, [pane("LATE", 4)], 1)
    assert [row["batch"] for row in output.panes().to_pylist()] == [1]
