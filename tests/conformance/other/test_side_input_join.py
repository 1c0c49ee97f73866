"""The toll booth's join with expired registrations, row by row, from mkuthan's blog.

Registrations are grouped in windows of two days and collected; entries are not grouped. Each
entry looks into the two days in which its own five minutes end.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.machine.side_input import Main, Side, SideInputs
from beamlike.model.combine import Collect
from beamlike.model.side_inputs import side_input_window
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run

Json = dict[str, Any]
FILE = Path(__file__).parent / "blog_side_input_join.json"
ROWS: list[Json] = json.loads(FILE.read_text(encoding="utf-8"))
by_row = pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ROWS])


def test_every_row_is_a_bounded_left_join_of_ungrouped_entries_in_fixed_windows() -> None:
    assert len(ROWS) == 3
    for row in ROWS:
        kinds = (row["main"]["window"]["fn"], row["side"]["window"]["fn"])
        assert kinds == ("fixed", "fixed")
        assert (row["bounded"], row["join"]) == (True, "hash_left_outer")
        assert (row["side"]["view"], row["expect_empty"]) == ("multimap_singleton", [])


def read_window_fn(spelled: Json) -> bl.FixedWindows:
    return bl.FixedWindows(spelled["size_ms"], spelled["offset_ms"])


def arrivals(side: Json) -> Arrive:
    return Arrive(tuple((e["key"], Element(e["value"], e["ts_ms"])) for e in side["elements"]))


def diagnosis(joined: tuple[str, Json | None]) -> list[str]:
    """What the blog's pipeline makes of an entry and a registration, or none."""
    _, registration = joined
    if registration is None:
        return ["missing"]
    return ["expired", registration["id"]] if registration["expired"] else ["not_expired"]


def grouped(row: Json) -> tuple[tuple[str, Element], ...]:
    """The panes of the side input's grouping, as elements of the join."""
    grouping = Grouping(bl.WindowingStrategy(read_window_fn(row["side"]["window"])), Collect())
    run = run_in_memory(grouping, (arrivals(row["side"]), AdvanceWatermark(MAX_TIMESTAMP)))
    return tuple(
        (output.key, Element(Side(pane.value), pane.timestamp, pane.window))
        for output in run.panes
        if isinstance(pane := output.effect, Pane)
    )


def joined(row: Json, host: Json, *, side_first: bool) -> Run:
    machine = SideInputs(
        read_window_fn(row["main"]["window"]), read_window_fn(row["side"]["window"]), join="left"
    )
    entries = arrivals(row["main"]).elements
    main = Arrive(tuple((key, Element(Main(e.value), e.timestamp)) for key, e in entries))
    side = Arrive(grouped(row))
    arriving = (side, main) if side_first else (main, side)
    script = (*arriving, AdvanceWatermark(MAX_TIMESTAMP))
    if host["host"] == "memory":
        return run_in_memory(machine, script)
    from beamlike.hosts.spark.graph.query import replay_on_spark

    (run,) = replay_on_spark([(machine, None, script)], host["spark"])
    return run


def expected(row: Json) -> Counter[str]:
    return Counter(json.dumps(pane, sort_keys=True) for pane in row["panes"])


def spelled(run: Run, row: Json) -> Counter[str]:
    """All that came out, as the row spells it."""
    side_fn = read_window_fn(row["side"]["window"])
    panes: Counter[str] = Counter()
    for output in run.outputs:
        pane = output.effect
        assert isinstance(pane, Pane)
        side_window = side_input_window(pane.window, side_fn)
        fields = {
            "key": output.key,
            "window": [pane.window.start, pane.window.end],
            "timing": pane.info.timing.value,
            "index": pane.info.index,
            "nonspec": pane.info.nonspeculative_index,
            "is_first": pane.info.is_first,
            "is_last": pane.info.is_last,
            "timestamp_ms": pane.timestamp,
            "value": diagnosis(pane.value),
            "side_window": [side_window.start, side_window.end],
        }
        panes[json.dumps(fields, sort_keys=True)] += 1
    return panes


@pytest.mark.parametrize("side_first", [True, False], ids=["side first", "main first"])
@by_row
def test_an_entry_comes_out_with_each_registration_of_its_plate(
    row: Json, host: Json, side_first: bool
) -> None:
    assert spelled(joined(row, host, side_first=side_first), row) == expected(row)


@by_row
def test_the_expectations_of_the_blog_s_own_test_are_met(row: Json, host: Json) -> None:
    (wanted,) = row["expect"]
    run = joined(row, host, side_first=True)

    assert (wanted["matcher"], wanted["assert"]) == ("inOnlyPane", "containInAnyOrder")
    assert [output for output in run.outputs if isinstance(output.effect, Drop)] == []
    assert {(o.effect.window.start, o.effect.window.end) for o in run.panes} == {  # type: ignore[union-attr]
        tuple(wanted["window"])
    }
    found = [
        {"key": o.key, "value": diagnosis(o.effect.value), "timestamp_ms": o.effect.timestamp}
        for o in run.panes
        if isinstance(o.effect, Pane)
    ]
    assert sorted(map(repr, found)) == sorted(map(repr, wanted["values"]))


@pytest.mark.nightly
@pytest.mark.spark
@by_row
def test_the_same_comes_out_of_a_look_up_of_bounded_dataframes(row: Json, spark: Any) -> None:
    from pyspark.sql import functions as F

    def frame(elements: list[Json], schema: str, *fields: str) -> Any:
        rows = [(e["key"], e["ts_ms"], *(e["value"][field] for field in fields)) for e in elements]
        return spark.createDataFrame(rows, schema).withColumn("at", F.timestamp_millis("at"))

    main, side = row["main"], row["side"]
    entries = frame(main["elements"], "plate string, at long")
    fields = ("id", "expired")
    registrations = frame(
        side["elements"], "plate string, at long, id string, expired boolean", *fields
    )
    found = bl.look_up(
        bl.stream(entries, timestamp="at").window(read_window_fn(main["window"])),
        bl.stream(registrations, timestamp="at")
        .window(read_window_fn(side["window"]))
        .select("plate", F.struct(*fields).alias("registration")),
        on="plate",
    )

    side_fn = read_window_fn(side["window"])
    panes: Counter[str] = Counter()
    millis = [F.unix_millis(name) for name in ("window.start", "window.end", "timestamp")]
    shown = found.everything.select(
        "plate", "pane", "registration", "dropped", F.array(*millis).alias("millis")
    )
    for it in shown.collect():
        assert it.dropped is None
        side_window = side_input_window(bl.IntervalWindow(*it.millis[:2]), side_fn)
        pane = it.pane.asDict()
        fields_of_row = {
            "key": it.plate,
            "window": it.millis[:2],
            "timing": pane["timing"],
            "index": pane["index"],
            "nonspec": pane["nonspeculative_index"],
            "is_first": pane["is_first"],
            "is_last": pane["is_last"],
            "timestamp_ms": it.millis[2],
            "value": diagnosis(("entry", it.registration and it.registration.asDict())),
            "side_window": [side_window.start, side_window.end],
        }
        panes[json.dumps(fields_of_row, sort_keys=True)] += 1
    assert panes == expected(row)
