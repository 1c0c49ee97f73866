"""State of every aggregate as typed columns, without Spark: what is written comes back equal.

Between any two events the key's state goes to bytes and back. What comes out must be what comes
out without that.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as T

import beamlike as bl
from beamlike.errors import ColumnError, CombineError
from beamlike.machine.events import AdvanceWatermark, Bundle, Element, Event, Pane
from beamlike.machine.reference.state import KeyState
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.accumulator_columns import CheckedColumn, PickledColumn, converted
from beamlike.runtime.checked_combine_fns import UserMade
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.store.blobs import pack_blob, unpack_blob
from beamlike.runtime.store.state import StateLayout
from tests.support.machines.every_aggregate import bind, every_aggregate
from tests.support.refusals import refusal

NAN = float("nan")
NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)

COLUMNS: dict[str, tuple[T.DataType, list[Any]]] = {
    "whole": (T.LongType(), [3, None, -1, 3, 7]),
    "real": (T.DoubleType(), [0.5, NAN, None, -0.0, 2.5]),
    "money": (
        T.DecimalType(7, 2),
        [Decimal("1.50"), None, Decimal("-0.05"), Decimal("1.50"), Decimal("99999.99")],
    ),
    "day": (T.DateType(), [date(2020, 1, d) for d in (3, 1, 2)] + [None, date(1969, 12, 31)]),
    "moment": (T.TimestampType(), [NOON, None, NOON.replace(hour=3), NOON, NOON]),
    "text": (T.StringType(), ["b", "", None, "é", "a"]),
    "bits": (T.BinaryType(), [b"\x00", b"", None, b"\xff", b"a"]),
    "flag": (T.BooleanType(), [True, None, False, True, False]),
    "tags": (T.ArrayType(T.StringType()), [["a"], None, [], ["a", None], ["b"]]),
    "place": (
        T.StructType([T.StructField("x", T.LongType()), T.StructField("y", T.DoubleType())]),
        [{"x": 1, "y": 0.5}, None, {"x": None, "y": NAN}, {"x": 1, "y": 0.5}, {"x": 2, "y": 0.0}],
    ),
}
MARKS = T.ArrayType(T.MapType(T.StringType(), T.LongType()))
KINDS = {name: kind for name, (kind, _) in COLUMNS.items()}
EVERY = bind(KINDS, every_aggregate(KINDS, by="whole", shown="tags"))


class Spread(bl.CombineFn):
    """The least and the greatest, as a struct."""

    def create(self) -> dict[str, Any]:
        return {"low": None, "high": None}

    def add(
        self, accumulator: dict[str, Any], values: Sequence[Any], timestamps: Sequence[int]
    ) -> dict[str, Any]:
        seen = [value for value in values if value is not None]
        return self.merge(
            accumulator, {"low": min(seen, default=None), "high": max(seen, default=None)}
        )

    def merge(self, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
        if first["low"] is None or second["low"] is None:
            return second if first["low"] is None else first
        return {"low": min(first["low"], second["low"]), "high": max(first["high"], second["high"])}

    def extract(self, accumulator: dict[str, Any]) -> tuple[Any, Any]:
        return accumulator["low"], accumulator["high"]


SPREAD = pa.struct([("low", pa.int64()), ("high", pa.int64())])
PAIR = pa.list_(pa.int64())


def user_made(name: str, accumulator: str | None) -> Part:
    state = CheckedColumn(name, SPREAD, accumulator) if accumulator else PickledColumn()
    return Part(name, UserMade(name, Spread(), PAIR, "array<bigint>", accumulator), 0, state, PAIR)


def plan_of(strategy: bl.WindowingStrategy) -> Plan:
    made = user_made("spread", "struct<low: bigint, high: bigint>"), user_made("any", None)
    parts = (*EVERY.parts.values(), *made)
    return Plan(strategy, {"key": pa.string()}, EVERY.values, parts, shards=1, buckets=1)


def elements(plan: Plan, times: Sequence[int]) -> list[Element]:
    """A row for each time, as Arrow brings it: cast where the plan casts."""
    columns = []
    for label, kind in plan.values.items():
        values = COLUMNS[label.partition(" as ")[0]][1]
        if kind == pa.float64():
            values = [value if value is None else float(value) for value in values]
        columns.append(pa.array(values, kind).to_pylist())
    rows = list(zip(*columns, strict=True))
    return [Element(rows[index], time) for index, time in enumerate(times)]


def run(plan: Plan, events: Sequence[Event], *, through_bytes: bool) -> list[str]:
    """The effects in words, because NaN is not equal to itself."""
    layout, key = StateLayout(plan), ("k",)
    state = KeyState.unseen(MIN_TIMESTAMP, 0)
    watermark, reported = MIN_TIMESTAMP, []
    for event in events:
        if through_bytes and state.windows:
            blob = pack_blob(layout.encode({key: state}), {})
            (state,) = layout.decode(unpack_blob(blob)[0], watermark, 0).values()
            state = state.caught_up(watermark, 0)
        state, effects = plan.machine.step(state, event)
        reported += [repr(effect) for effect in effects]
        if isinstance(event, AdvanceWatermark):
            watermark = event.to
    return reported


@pytest.mark.parametrize("accumulation", ["discarding", "accumulating", "retracting"])
def test_state_of_every_aggregate_comes_back_as_it_was(accumulation: str) -> None:
    strategy = bl.WindowingStrategy(
        bl.Sessions(10), bl.Repeatedly(bl.AfterCount(2)), accumulation, allowed_lateness=100
    )
    plan = plan_of(strategy)
    late, other, one, two, between = elements(plan, [25, 0, 21, 3, 12])
    events = [
        Bundle((one, two)),  # two sessions
        Bundle((other,)),
        AdvanceWatermark(20),
        Bundle((between,)),  # makes them one
        Bundle((late,)),
        AdvanceWatermark(MAX_TIMESTAMP),
    ]

    reported = run(plan, events, through_bytes=True)

    assert reported == run(plan, events, through_bytes=False)
    assert len([text for text in reported if text.startswith("Pane(")]) >= 3


def test_empty_panes_of_every_aggregate_come_back_too() -> None:
    trigger = bl.AfterWatermark(early=bl.AfterCount(1))
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(10), trigger, "discarding"))
    events = [Bundle((elements(plan, [3])[0],)), AdvanceWatermark(10)]

    state, effects = plan.machine.step(KeyState.unseen(MIN_TIMESTAMP, 0), events[0])
    blob = pack_blob(StateLayout(plan).encode({("k",): state}), {})
    (back,) = StateLayout(plan).decode(unpack_blob(blob)[0], MIN_TIMESTAMP, 0).values()
    _, effects = plan.machine.step(back, events[1])

    (pane,) = effects
    assert isinstance(pane, Pane)
    assert pane.value == tuple(part.fn.on_empty.value for part in plan.parts)


def test_state_can_be_read_without_running_anything() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(100)))
    state, _ = plan.machine.step(
        KeyState.unseen(MIN_TIMESTAMP, 0), Bundle(tuple(elements(plan, [50, 40, 30, 20, 10])))
    )

    (row,) = StateLayout(plan).encode({("k",): state}).to_pylist()

    def of(name: str) -> dict[str, Any]:
        at = next(index for index, part in enumerate(plan.parts) if part.name == name)
        prefix = f"acc{at}_"
        return {key.removeprefix(prefix): row[key] for key in row if key.startswith(prefix)}

    assert of("day_first") == {"day_first_value": date(1969, 12, 31), "day_first_ts": 10}
    assert of("text_last") == {"text_last_value": "b", "text_last_ts": 50}
    assert of("whole_top") == {"whole_top": [7, 3]}
    assert of("tags_by_whole") == {
        "tags_by_whole": [
            {"value": [], "by": -1, "timestamp": 30},
            {"value": ["a", None], "by": 3, "timestamp": 20},
        ]
    }
    assert [drawn["value"] for drawn in of("whole_sample")["whole_sample"]] == [7, 3]
    assert of("spread") == {"spread": {"low": -1, "high": 7}}
    pickled = [part.name for part in plan.parts if part.columns.pickles]
    assert pickled == ["any"]  # the one whose type nobody declared


def test_results_have_the_types_that_are_promised() -> None:
    plan = plan_of(bl.WindowingStrategy(bl.FixedWindows(100)))
    types = {part.name: str(part.result) for part in plan.parts}
    assert {name: types[name] for name in types if name.startswith("money") or name == "n"} == {
        "n": "int64",
        "money_count": "int64",
        "money_all": "list<item: decimal128(7, 2)>",
        "money_first": "decimal128(7, 2)",
        "money_last": "decimal128(7, 2)",
        "money_sample": "list<item: decimal128(7, 2)>",
        "money_distinct": "int64",
        "money_set": "list<item: decimal128(7, 2)>",
        "money_different": "int64",
        "money_top_by": "list<item: decimal128(7, 2)>",
        "money_bottom_by": "list<item: decimal128(7, 2)>",
        "money_min_by": "decimal128(7, 2)",
        "money_max_by": "decimal128(7, 2)",
        "money_min": "decimal128(7, 2)",
        "money_max": "decimal128(7, 2)",
        "money_top": "list<item: decimal128(7, 2)>",
        "money_bottom": "list<item: decimal128(7, 2)>",
        "money_sum": "decimal128(17, 2)",
        "money_mean": "decimal128(11, 6)",
        "money_quantiles": "list<item: double>",
    }


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            bl.top("tags", 3),
            "aggregate 'x': top needs a number, a string or a time, and column 'tags' is "
            "array<string>; cast it first",
        ),
        (
            bl.bottom("text", 3, by="place"),
            "aggregate 'x': bottom needs a number, a string or a time, and column 'place' is "
            "struct<x:bigint,y:double>; cast it first",
        ),
        (
            bl.approx_quantiles("day", 3),
            "aggregate 'x': approx_quantiles needs a number, and column 'day' is date; cast it "
            "first",
        ),
        (
            bl.collect_set("marks"),
            "aggregate 'x': collect_set needs values without maps, whose entries have no order, "
            "and column 'marks' is array<map<string,bigint>>; cast it first",
        ),
        (bl.first(7), "aggregate 'x': a column is given by its name, a string, got 7"),  # type: ignore[arg-type]
    ],
)
def test_an_aggregate_over_an_unfit_column_is_refused(wanted: Any, message: str) -> None:
    assert refusal(ColumnError, lambda: bind({**KINDS, "marks": MARKS}, {"x": wanted})) == message


def test_several_columns_are_inputs_of_one_aggregate_and_identity_names_them() -> None:
    reported = plan_of(bl.WindowingStrategy(bl.FixedWindows(100))).identity["aggregates"]
    assert "text_top_by=RankedBy(n=2, smallest=False) of text string and whole int64" in reported
    assert "spread=Spread() (accumulator struct<low: bigint, high: bigint>) of " in reported
    assert "any=Spread() (accumulator pickled) of " in reported
    assert " at 0x" not in reported


@pytest.mark.parametrize(
    ("accumulator", "message"),
    [
        (
            (1, 2),
            "aggregate 'spread': the accumulator (1, 2) comes back from "
            "accumulator='struct<low: bigint, high: bigint>' as {'low': 1, 'high': 2}; let the "
            "function use that form (a list for an array, a dict for a struct), or leave the "
            "accumulator's type out to have it pickled",
        ),
        (
            {"low": "a", "high": 2},
            "aggregate 'spread': the accumulator {'low': 'a', 'high': 2}, which does not fit the "
            "declared type 'struct<low: bigint, high: bigint>': ",
        ),
        (
            {"low": 1, "high": 2, "mean": 3},
            "aggregate 'spread': the accumulator {'low': 1, 'high': 2, 'mean': 3}, which does not "
            "fit the declared type 'struct<low: bigint, high: bigint>': it would become "
            "{'low': 1, 'high': 2}; ",
        ),
    ],
)
def test_an_accumulator_that_would_not_come_back_is_refused(accumulator: Any, message: str) -> None:
    column = CheckedColumn("spread", SPREAD, "struct<low: bigint, high: bigint>")
    fine = {"low": 1, "high": None}
    assert column.decode([pa.chunked_array(column.encode([fine, fine]))]) == [fine, fine]
    for use in (lambda: column.check(accumulator), lambda: column.encode([fine, accumulator])):
        assert refusal(CombineError, use).startswith(message)


@pytest.mark.parametrize(
    ("kind", "fits", "final", "misfit", "reason"),
    [
        (PAIR, (1, 2), [1, 2], (1.5, 2), "it would become [1, 2]"),
        (SPREAD, (1, None), {"low": 1, "high": None}, {"lo": 1}, "it would become "),
        (SPREAD, {"low": 1}, {"low": 1, "high": None}, (1,), "Tuple size must be equal"),
        (pa.int64(), 2.0, 2, 2.5, "it would become 2"),
        (pa.int32(), None, None, 2**31, "Value 2147483648 too large"),
        (pa.float64(), 1, 1.0, "1", "Could not convert '1'"),
        (pa.string(), "a", "a", 1, "Expected bytes, got a 'int' object"),
        (pa.list_(pa.string()), ["ab"], ["ab"], "ab", "it would become ['a', 'b']"),
        (pa.decimal128(9, 1), Decimal("1.50"), Decimal("1.5"), Decimal("1.55"), "Rescaling"),
        (pa.date32(), NOON.date(), NOON.date(), NOON, "it would become "),
        (pa.map_(pa.string(), pa.int64()), {"a": 1}, [("a", 1)], {"a": 1.5}, "it would become "),
    ],
    ids=lambda case: str(case) if isinstance(case, pa.DataType) else "",
)
def test_a_result_takes_the_form_of_its_type_or_is_refused(
    kind: pa.DataType, fits: Any, final: Any, misfit: Any, reason: str
) -> None:
    assert converted(fits, kind, "longest returned", "declared") == final
    with pytest.raises(CombineError) as refused:
        converted(misfit, kind, "longest returned", "declared")
    assert str(refused.value).startswith(
        f"longest returned {misfit!r}, which does not fit the declared type 'declared': {reason}"
    )


def test_a_result_that_does_not_fit_names_the_aggregate_and_the_function() -> None:
    fn = UserMade("spread", Spread(), PAIR, "array<bigint>", None)
    assert refusal(CombineError, lambda: fn.extract({"low": 1.5, "high": 2})) == (
        "aggregate 'spread': Spread() returned (1.5, 2), which does not fit the declared type "
        "'array<bigint>': it would become [1, 2]; declare the type that it has, or let the "
        "function return a value of that type"
    )
