"""What workers log of merges, panes and drops, if they are asked to."""

import logging
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import beamlike as bl
from beamlike import beam
from beamlike.errors import EnvironmentProblem
from beamlike.hosts.spark import workers
from beamlike.machine.events import Drop, DropReason, Element, Merged, Pane
from beamlike.model.combine import Count, Max, Sum
from beamlike.runtime import logs
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.envelope import Kind, sealed
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.work import HostReport, ShardWork
from beamlike.testing import TestStream
from tests.support.machines.in_shard import DictStore
from tests.support.pipelines.in_layers import run_in_letters

WINDOW = bl.IntervalWindow(0, 3_600_000)


def stepped() -> None:
    """A pane of ann's and a dropped element of bob's leave a grouping."""
    plan = Plan(
        bl.WindowingStrategy(bl.FixedWindows(3_600_000)),
        keys={"user": pa.string()},
        values={"v": pa.int64()},
        parts=(Part("total", Sum(), 0, PlainColumn(pa.int64()), pa.int64()),),
        name="hours",
    )
    pane = Pane(WINDOW, (1,), 9, bl.PaneInfo(bl.Timing.LATE, 2, 1, False, False))
    lost = Drop(Element((3,), 4), WINDOW, DropReason.EXPIRED, 5)
    table = OutputTable(plan).build([(("ann",), pane), (("bob",), lost)])
    blob = sealed(Kind.FINISHED, table)
    ShardWork(plan).step(plan.shard_ids[0], DictStore, [blob], HostReport([], 0))


def test_each_pane_and_each_drop_is_a_line_with_its_key_and_window(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG, "beamlike.panes"):
        stepped()
    window = "[1970-01-01T00:00:00+00:00, 1970-01-01T01:00:00+00:00)"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", f"hours: user='ann' {window} LATE pane 2"),
        ("INFO", f"hours: user='bob' {window} drops expired"),
    ]


def test_drops_can_be_had_without_the_panes(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "beamlike.panes"):
        stepped()
    window = "[1970-01-01T00:00:00+00:00, 1970-01-01T01:00:00+00:00)"
    assert caplog.messages == [f"hours: user='bob' {window} drops expired"]


def test_a_time_that_python_has_no_value_for_stops_no_query_that_logs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys, kind = ("day",), pa.timestamp("us", "UTC")
    plan = Plan(
        bl.WindowingStrategy(bl.FixedWindows(3_600_000)),
        keys={"day": pa.date32()},
        values={"v": kind},
        parts=(Part("last", Max(), 0, PlainColumn(kind), kind),),
        name="hours",
    )
    pane = Pane(WINDOW, (None,), 9, bl.PaneInfo(bl.Timing.LATE, 2, 1, False, False))
    lost = Drop(Element((None,), 4), WINDOW, DropReason.EXPIRED, 5)
    table = OutputTable(plan).build([((None,), pane), ((None,), lost)])
    far = {"day": pa.array([3_650_000] * 2, pa.int32()), "last": pa.array([2**61] * 2)}
    for name, column in far.items():
        at, field = table.column_names.index(name), table.schema.field(name)
        table = table.set_column(at, field, column.cast(field.type))

    with caplog.at_level(logging.DEBUG, "beamlike.panes"):
        logs.log_rows("hours", keys, table)

    window = "[1970-01-01T00:00:00+00:00, 1970-01-01T01:00:00+00:00)"
    (day, _) = pc.cast(table.column("day"), pa.string()).to_pylist()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", f"hours: day={day!r} {window} LATE pane 2"),
        ("INFO", f"hours: day={day!r} {window} drops expired"),
    ]


def step_sessions(machine: Any) -> None:
    """Sessions of two users, of which some meet."""
    plan = Plan(
        bl.WindowingStrategy(bl.Sessions(10_000)),
        keys={"user": pa.string()},
        values={},
        parts=(Part("n", Count(), None, PlainColumn(pa.int64()), pa.int64()),),
        name="visits",
        machine_name=machine,
    )
    stepper, store = stepper_of(plan), DictStore()
    for *seconds, shared in ((0, 15, 31, 47, 63, 5), (24, 100), (39, 55, 70)):
        rows = [("ann", second) for second in seconds] + [("bob", shared)]
        table = pa.table(
            {
                "key_user": [user for user, _ in rows],
                "ts": pa.array([at * 1_000 for _, at in rows], pa.int64()),
                "bucket": pa.array([0] * len(rows), pa.int32()),
            }
        )
        stepper.step(store, ShardInput([table], [], 0))


@pytest.mark.parametrize("machine", ["reference", "columnar"])
def test_each_merge_of_live_windows_is_a_line(machine: str, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG, "beamlike.panes"):
        step_sessions(machine)

    def span(*seconds: int) -> str:
        start, end = (
            f"1970-01-01T00:{second // 60:02}:{second % 60:02}+00:00" for second in seconds
        )
        return f"[{start}, {end})"

    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", f"visits: user='ann' {span(15, 41)} merges {span(15, 25)}, {span(31, 41)}"),
        (
            "DEBUG",
            f"visits: user='ann' {span(15, 73)} merges {span(15, 41)}, {span(47, 57)}, "
            f"{span(63, 73)}",
        ),
    ]


def test_of_a_merge_of_many_windows_some_are_shown(caplog: pytest.LogCaptureFixture) -> None:
    parts = tuple(bl.IntervalWindow(index, index + 500) for index in range(0, 2_000, 400))
    with caplog.at_level(logging.DEBUG, "beamlike.panes"):
        logs.log_merges(
            "visits", [({"k": 1, "m": "x"}, Merged(parts, bl.IntervalWindow(0, 2_100)))]
        )
    day = "1970-01-01T00:00:"
    assert caplog.messages == [
        f"visits: k=1, m='x' [{day}00+00:00, {day}02.100000+00:00) merges "
        f"[{day}00+00:00, {day}00.500000+00:00), [{day}00.400000+00:00, {day}00.900000+00:00), "
        f"[{day}00.800000+00:00, {day}01.300000+00:00), 2 more"
    ]


@pytest.mark.parametrize("machine", ["reference", "columnar"])
def test_no_merge_is_put_in_words_if_no_one_listens(machine: str, monkeypatch: pytest.MonkeyPatch):
    for name in ("log_merges", "keyed_merges"):
        monkeypatch.setattr(f"beamlike.runtime.stepping.{name}", None)
    step_sessions(machine)


def test_the_groupings_of_a_pipeline_log_the_same(caplog: pytest.LogCaptureFixture) -> None:
    script = (
        TestStream()
        .add_elements_at_time("00:00:00", ("ann", 1))
        .add_elements_at_time("00:00:15", ("ann", 2))
        .add_elements_at_time("00:00:07", ("ann", 3))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:01", ("ann", 4))
        .advance_watermark_to_infinity()
    )
    windows = beam.WindowInto(
        bl.Sessions("10 seconds"),
        trigger=bl.AfterWatermark(early=bl.Repeatedly(bl.AfterCount(1))),
        accumulation_mode="accumulating",
        allowed_lateness="0 s",
    )
    pipeline = beam.Pipeline()
    pipeline | script | windows | "Sum" >> beam.CombinePerKey(sum)

    with caplog.at_level(logging.DEBUG, "beamlike.panes"):
        run_in_letters(pipeline.nodes, dice=Random(0))

    day = "1970-01-01T00:00:"
    first, second = f"[{day}00+00:00, {day}10+00:00)", f"[{day}15+00:00, {day}25+00:00)"
    both, late = f"[{day}00+00:00, {day}25+00:00)", f"[{day}01+00:00, {day}11+00:00)"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", f"Sum: key='ann' {first} EARLY pane 0"),
        ("DEBUG", f"Sum: key='ann' {second} EARLY pane 0"),
        ("DEBUG", f"Sum: key='ann' {both} merges {first}, {second}"),
        ("DEBUG", f"Sum: key='ann' {both} EARLY pane 0"),
        ("DEBUG", f"Sum: key='ann' {both} ON_TIME pane 1"),
        ("INFO", f"Sum: key='ann' {late} drops expired"),
    ]


def test_nothing_is_read_of_the_rows_if_no_one_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("beamlike.runtime.work.log_rows", lambda *_: read.append("all"))
    stepped()
    assert read == []


def test_a_worker_logs_from_the_level_on_that_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("beamlike")
    monkeypatch.setattr(workers, "_prepared", False)
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    monkeypatch.setenv(workers.LOG_LEVEL, "debug")
    logger.manager._clear_cache()  # type: ignore[attr-defined]
    try:
        for _ in range(2):  # as each task does
            workers.prepare_logs()
            stepped()
    finally:
        logger.manager._clear_cache()  # type: ignore[attr-defined]
        monkeypatch.undo()
        logger.manager._clear_cache()  # type: ignore[attr-defined]
    shown = [line.split(" ", 2)[2] for line in capsys.readouterr().err.splitlines()]
    window = "[1970-01-01T00:00:00+00:00, 1970-01-01T01:00:00+00:00)"
    assert shown == 2 * [
        f"DEBUG beamlike.panes: hours: user='ann' {window} LATE pane 2",
        f"INFO beamlike.panes: hours: user='bob' {window} drops expired",
    ]


def test_a_level_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_prepared", False)
    monkeypatch.setenv(workers.LOG_LEVEL, "loud")
    for _ in range(2):  # the task is tried again in the same worker
        with pytest.raises(EnvironmentProblem, match="BEAMLIKE_LOG='loud' is no level of logging"):
            workers.prepare_logs()
