"""Rows of a DataFrame as elements: values, event times, and what is lost."""

import pickle
from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row

from beamlike.api.pipelines.coders import StrUtf8Coder
from beamlike.hosts.spark.graph.reading import AHEAD, AT, Reader, row_maker
from beamlike.machine.input_clocks import SourceClock
from beamlike.model.graph import Edge, ReadNode
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.wire import Wire


def reader(
    *, streaming: bool = True, encoded: str | None = None, coder: Any = None, delay: int = 0
) -> Reader:
    source = ReadNode("Read", (), SimpleNamespace(clock=SourceClock(delay)), False)
    layers = Layers.of([], [Edge(source)])
    return Reader(layers, 0, "at", streaming, encoded, coder)


def batch(
    columns: dict[str, pa.Array], times: Sequence[int | None], ahead: Sequence[bool | None]
) -> pa.RecordBatch:
    marks = {AT: pa.array(times, pa.int64()), AHEAD: pa.array(ahead, pa.bool_())}
    return pa.RecordBatch.from_pydict(columns | marks)


def read(reader: Reader, *batches: pa.RecordBatch) -> Mail:
    return reader(iter(batches))


def elements(mail: Mail) -> list[tuple[Any, int]]:
    return [(it.value, it.timestamp) for it in mail.bundles[0].unpacked(Wire())]


def users(*names: str) -> pa.Array:
    return pa.array(names, pa.string())


def test_all_batches_of_a_task_become_one_bundle_and_each_says_how_far_it_came() -> None:
    mail = read(
        reader(),
        batch({"user": users("ann", "joe")}, [30, 10], [False, None]),
        batch({"user": users("zed")}, [20], [False]),
    )

    assert elements(mail) == [(Row(user="ann"), 30), (Row(user="joe"), 10), (Row(user="zed"), 20)]
    assert [(it.input, it.greatest) for it in mail.reached] == [(0, 30), (0, 20)]
    assert [it.last for it in mail.delivered] == [
        "{'user': 'ann'} at 00:00:00.030",
        "{'user': 'zed'} at 00:00:00.020",
    ]


@pytest.mark.parametrize(
    ("last", "stretches"),
    [(19, [(0, 19)]), (20, [(0, 20)]), (21, [(0, 0), (21, 21)])],
    ids=["a millisecond before", "as far as the source lags", "a millisecond after"],
)
def test_rows_that_lie_further_apart_than_their_source_lags_are_said_to_have_a_gap(
    last: int, stretches: list[tuple[int, int]]
) -> None:
    mail = read(reader(delay=20), batch({"user": users("ann", "joe")}, [last, 0], [False, False]))

    assert [(it.stretches, it.last) for it in mail.delivered] == [
        (stretches, f"{{'user': 'ann'}} at 00:00:00.0{last}")
    ]


def test_rows_without_a_time_or_far_ahead_are_lost_and_move_nothing() -> None:
    times = pa.array([None, "noon", "12:00", "00:00"])
    columns = {"user": users("ann", "joe", "zed", "eve"), "at": times}

    mail = read(reader(), batch(columns, [None, None, 99_000, 5], [None, False, True, False]))

    assert [it for it, _ in elements(mail)] == [Row(user="eve", at="00:00")]
    assert [(it.drop.reason.value, it.drop.error) for it in mail.report.lost] == [
        ("null_timestamp", "{'user': 'ann', 'at': None}: its 'at' is null"),
        ("bad_timestamp", "{'user': 'joe', 'at': 'noon'}: its 'at' is no time"),
        (
            "far_future",
            "{'user': 'zed', 'at': '12:00'}: its 'at' is too far ahead of the clock, see max_ahead",
        ),
    ]
    assert [it.greatest for it in mail.reached] == [5]
    assert mail.report.tallies[0].stood[0] == 4


def test_a_batch_of_lost_rows_only_reaches_nothing() -> None:
    mail = read(reader(), batch({"user": users("ann")}, [None], [False]))

    assert elements(mail) == []
    assert [it.greatest for it in mail.reached] == [MIN_TIMESTAMP]
    assert mail.delivered == []


def test_a_bounded_source_says_nothing_of_event_times() -> None:
    mail = read(reader(streaming=False), batch({"user": users("ann")}, [7], [False]))

    assert (elements(mail), mail.reached, mail.delivered) == ([(Row(user="ann"), 7)], [], [])


def test_an_element_that_its_coder_cannot_read_is_lost_alone() -> None:
    blobs = pa.array([b"tea", b"\xff", b"milk"], pa.binary())

    mail = read(
        reader(encoded="value", coder=StrUtf8Coder()),
        batch({"value": blobs}, [1, 2, 3], [False] * 3),
    )

    assert elements(mail) == [("tea", 1), ("milk", 3)]
    (lost,) = mail.report.lost
    assert lost.drop.reason.value == "bad_value"
    assert str(lost.drop.error).startswith("{'value': b'\\xff'}: UnicodeDecodeError: ")
    # It was delivered all the same.
    assert [it.greatest for it in mail.reached] == [3]


def test_a_row_is_a_row_of_spark_whatever_its_columns_are_called() -> None:
    names = ("user", "count", "a b", "_x", "__fields__")
    made, known = row_maker(names)((1, 2, 3, 4, 5)), Row(*names)(1, 2, 3, 4, 5)

    assert isinstance(made, Row)
    assert (made, repr(made), made.asDict()) == (known, repr(known), known.asDict())
    assert (made.user, made["a b"], made._x, made["count"]) == (1, 3, 4, 2)
    assert made.count(2) == 1  # a tuple's own
    back = pickle.loads(pickle.dumps(made))
    assert (type(back), back) == (Row, known)
    with pytest.raises(AttributeError):
        made.missing  # noqa: B018


@pytest.mark.parametrize("zone", ["UTC", "Europe/Warsaw", "America/New_York", "+05:30", None])
@pytest.mark.parametrize("unit", ["us", "ms"])
def test_instants_are_in_utc_whatever_the_zone_of_the_session(zone: str | None, unit: str) -> None:
    moments = [
        datetime(1900, 1, 1, tzinfo=UTC),
        datetime(2020, 3, 29, 0, 59, 59, 999_000, tzinfo=UTC),
        datetime(2020, 3, 29, 1, 0, tzinfo=UTC),
        # Twice the same time of the day, in Warsaw and in New York.
        datetime(2020, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2020, 10, 25, 1, 30, tzinfo=UTC),
        datetime(2020, 11, 1, 5, 30, tzinfo=UTC),
        datetime(2020, 11, 1, 6, 30, tzinfo=UTC),
    ]
    utc = pa.array([*moments, None], pa.timestamp("us", "UTC"))
    column = utc.cast(pa.timestamp(unit, "UTC")).cast(pa.timestamp(unit, zone))

    mail = read(reader(), batch({"at": column}, [0] * 8, [False] * 8))

    found = [row.at for row, _ in elements(mail)]
    arrows = utc.to_pylist() if zone else column.to_pylist()
    assert found == arrows
    assert [it and (it.isoformat(), it.fold) for it in found] == [
        arrow and (arrow.isoformat(), arrow.fold) for arrow in arrows
    ]
