"""What workers log of panes and drops, if they are asked to."""

import logging

import pyarrow as pa
import pytest

from beamlike.errors import EnvironmentProblem
from beamlike.hosts.spark import logs
from beamlike.hosts.spark.blobs import pack_blob
from beamlike.hosts.spark.columns import PlainColumn
from beamlike.hosts.spark.output import OutputTable
from beamlike.hosts.spark.plan import Part, Plan
from beamlike.hosts.spark.unpack import unpacker
from beamlike.machine.events import Drop, DropReason, Element, Pane
from beamlike.model.combine import Sum
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows
from beamlike.model.windows import IntervalWindow

WINDOW = IntervalWindow(0, 3_600_000)


def unpacked() -> list[pa.RecordBatch]:
    """A pane of ann's and a dropped element of bob's leave a grouping."""
    plan = Plan(
        WindowingStrategy(FixedWindows(3_600_000)),
        keys={"user": pa.string()},
        values={"v": pa.int64()},
        parts=(Part("total", Sum(), 0, PlainColumn(pa.int64()), pa.int64()),),
        name="hours",
    )
    pane = Pane(WINDOW, (1,), 9, PaneInfo(Timing.LATE, 2, 1, False, False))
    lost = Drop(Element((3,), 4), WINDOW, DropReason.EXPIRED, 5)
    table = OutputTable(plan).build([(("ann",), pane), (("bob",), lost)])
    blobs = pa.array([pack_blob(table, {"kind": "out"})], pa.binary())
    return list(unpacker(plan)(iter([pa.RecordBatch.from_pydict({"blob": blobs})])))


def test_each_pane_and_each_drop_is_a_line_with_its_key_and_window(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG, "beamlike.panes"):
        unpacked()
    window = "[1970-01-01T00:00:00+00:00, 1970-01-01T01:00:00+00:00)"
    assert [(it.levelname, it.getMessage()) for it in caplog.records] == [
        ("DEBUG", f"hours: user='ann' {window} LATE pane 2"),
        ("DEBUG", f"hours: user='bob' {window} drops expired"),
    ]


def test_nothing_is_read_of_the_rows_if_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("beamlike.hosts.spark.unpack.log_rows", lambda *_: read.append("all"))
    unpacked()
    assert read == []


def test_a_worker_logs_from_the_level_on_that_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("beamlike")
    monkeypatch.setattr(logs, "_prepared", False)
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    monkeypatch.setenv(logs.LEVEL, "debug")
    logger.manager._clear_cache()  # type: ignore[attr-defined]
    try:
        unpacked()
        unpacked()
    finally:
        logger.manager._clear_cache()  # type: ignore[attr-defined]
        monkeypatch.undo()
        logger.manager._clear_cache()  # type: ignore[attr-defined]
    told = [line.split(" ", 2)[2] for line in capsys.readouterr().err.splitlines()]
    window = "[1970-01-01T00:00:00+00:00, 1970-01-01T01:00:00+00:00)"
    assert told == 2 * [
        f"DEBUG beamlike.panes: hours: user='ann' {window} LATE pane 2",
        f"DEBUG beamlike.panes: hours: user='bob' {window} drops expired",
    ]


def test_a_level_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_prepared", False)
    monkeypatch.setenv(logs.LEVEL, "loud")
    with pytest.raises(EnvironmentProblem, match="BEAMLIKE_LOG='loud' is no level of logging"):
        logs.prepare_logs()
