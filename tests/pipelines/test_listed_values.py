"""Values of one class of tuples on the wire: sent as plain tuples, they are what they were."""

import gc
import subprocess
import sys
from collections import namedtuple
from datetime import UTC, date, datetime, timedelta, timezone
from types import ModuleType
from typing import Any, NamedTuple

import attrs
import pytest
from pyspark.sql import Row

from beamlike.errors import StateError
from beamlike.hosts.spark.graph.reading import row_maker
from beamlike.model.coders import Coder, Coders, type_name
from beamlike.runtime.graph.wire import Listed, Wire


class Point(NamedTuple):
    x: int
    y: object


class Book(NamedTuple):
    title: str
    made_by: str


class Named(namedtuple("Named", "x y")):
    """It has a dictionary besides its fields."""


@attrs.frozen
class PointCoder(Coder):
    def encode(self, value: Any) -> bytes:
        return f"{value.x},{value.y}".encode()

    def decode(self, blob: bytes) -> Any:
        return Point(*map(int, blob.split(b",")))


def sent(values: list[Any], wire: Wire = Wire()) -> Any:  # noqa: B008 (it never changes)
    return wire.loads(wire.dumps(Listed(values)))


MAKE_ROW = row_maker(("user", "n"))
NOON = datetime(2020, 1, 1, 12, 0, 0, 123_456, UTC)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1, 2.0, None],
        [(1, "a"), (2, "b")],
        [(), ()],
        [(NOON, 1), (NOON.replace(year=1, microsecond=7), 2)],
        [(NOON, "a"), (None, "b")],
        [(NOON, 1), (NOON, 1, 2)],
        [(NOON.astimezone(timezone(timedelta(hours=2))),), (NOON,)],
        [(NOON.replace(tzinfo=None), NOON)],
        [(NOON.replace(fold=1), date(2020, 1, 1))],
        [Point(NOON, NOON), Point(NOON.replace(year=9999), NOON)],
        [MAKE_ROW((NOON, 1)), MAKE_ROW((NOON.replace(hour=3), 2))],
        [Point(1, 2), Point(3, None), Point(4, [Point(5, 6)])],
        [Point(1, 2), (1, 2)],
        [Book("Emma", "Austen"), Book("Ulysses", "Joyce")],
        [MAKE_ROW(("joe", 1)), MAKE_ROW(("ann", None))],
        [MAKE_ROW(("joe", 1)), row_maker(("n",))((1,))],
        [row_maker(("made_by", "count"))(("ann", 1))],
        [Row(user="joe", n=1), Row(user="ann", n=2)],
        [{"a": 1}, {"b": 2}],
    ],
)
def test_values_arrive_as_what_they_were(values: list[Any]) -> None:
    came = sent(values)
    assert type(came) is list
    assert came == values
    assert [type(it).__name__ for it in came] == [type(value).__name__ for value in values]


def test_what_an_object_has_besides_its_fields_arrives_too() -> None:
    values = [Named(1, 2), Named(3, 4)]
    values[0].note = "mind"  # type: ignore[attr-defined]
    came = sent(values)
    assert (came, came[0].note, vars(came[1])) == (values, "mind", {})


def test_a_column_of_a_row_may_have_any_name() -> None:
    row = row_maker(("made_by", "n"))(("ann", 1))
    assert (row.made_by, row["made_by"], row.n) == ("ann", "ann", 1)


@attrs.frozen
class InstantCoder(Coder):
    def encode(self, value: Any) -> bytes:
        return value.isoformat().encode()

    def decode(self, blob: bytes) -> Any:
        return datetime.fromisoformat(blob.decode())


def test_a_coder_of_instants_is_asked_for_those_in_rows() -> None:
    coders = Coders({datetime: InstantCoder()}, {type_name(datetime): InstantCoder()})
    blob = Wire(coders).dumps(Listed([(NOON, 1)]))
    assert b"2020-01-01T12:00:00.123456" in blob
    assert Wire(coders).loads(blob) == [(NOON, 1)]


def test_rows_are_sent_as_tuples_with_their_names_once() -> None:
    rows = [MAKE_ROW((f"user {number}", number)) for number in range(1_000)]
    wire = Wire()
    listed, plain = wire.dumps(Listed(rows)), wire.dumps([*map(tuple, rows)])
    assert len(listed) < len(plain) + 200
    assert sent(rows)[7].user == "user 7"


def test_a_coder_of_the_class_is_asked() -> None:
    coders = Coders({Point: PointCoder()}, {type_name(Point): PointCoder()})
    blob = Wire(coders).dumps(Listed([Point(1, 2), Point(3, 4)]))
    assert b"1,2" in blob
    assert Wire(coders).loads(blob) == [Point(1, 2), Point(3, 4)]


def test_named_tuples_of_what_a_class_has_become_since_are_refused() -> None:
    module = ModuleType("moved")
    sys.modules["moved"] = module
    try:
        module.Place = namedtuple("Place", "x y", module="moved")  # type: ignore[attr-defined, misc]
        blob = Wire().dumps(Listed([module.Place(1, 2)]))  # type: ignore[attr-defined]
        module.Place = namedtuple("Place", "y x", module="moved")  # type: ignore[attr-defined, misc]
        with pytest.raises(StateError) as refusal:
            Wire().loads(blob)
    finally:
        del sys.modules["moved"]
    assert str(refusal.value) == (
        "a moved.Place was kept by an earlier run, or sent by another process, and cannot be made "
        "again here: its fields were x, y, and are y, x; bring them back, or write and declare a "
        "coder before fields change, or start the query with a new checkpoint"
    )


def test_a_generic_named_tuple_of_the_main_module_is_sent_with_what_it_needs(tmp_path: Any) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        """
import gc
import subprocess
import sys
from typing import Generic, NamedTuple, TypeVar

import beamlike.beam as beam
from beamlike.runtime.graph.wire import Listed, Wire

T = TypeVar("T")


class Pair(NamedTuple, Generic[T]):
    first: T
    second: T


blob = Wire().dumps([Pair(1, 2), Listed([Pair("a", "b")])])
there = "import sys; from beamlike.runtime.graph.wire import Wire; "
there += "print(Wire().loads(sys.stdin.buffer.read()))"
subprocess.run([sys.executable, "-c", there], input=blob, check=True)
beam.Pipeline() | beam.Create([1]) | beam.Map(lambda number: Pair[int](number, number))
"""
    )
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (shown.stdout, shown.stderr) == (
        "[Pair(first=1, second=2), [Pair(first='a', second='b')]]\n",
        "",
    )


def test_a_collection_of_garbage_while_a_class_of_rows_is_made_takes_no_column() -> None:
    """What a namedtuple's class holds is emptied by a collector that finds it without an owner."""
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        rows = [row_maker((f"n{count}", "user"))((count, "joe")) for count in range(300)]
    finally:
        gc.set_threshold(*thresholds)
    assert [(row[f"n{count}"], row.user) for count, row in enumerate(rows)] == [
        (count, "joe") for count in range(300)
    ]
