"""Whole numbers are saved in few bytes, and come back as they were."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlike.errors import StateError
from beamlike.machine.columnar.arrays import NOTHING
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.envelope import Envelope, Kind, sealed
from beamlike.runtime.store.blobs import pack_blob, unpack_blob
from beamlike.runtime.store.narrow import FEW_ROWS, narrowed, widened

NUMBERS = st.sampled_from(
    [NOTHING, MIN_TIMESTAMP, -(2**32), -1, 0, 1, 255, 256, 2**16, 2**32, MAX_TIMESTAMP, 2**63 - 1]
)


def numbers(draw: Any, dtype: pa.DataType) -> pa.Array:
    """A column of numbers that lie together or far apart, with nulls or without."""
    known = st.integers(-300, 300) if pa.types.is_int32(dtype) else NUMBERS | st.integers(0, 300)
    few = draw(
        st.lists(known | st.none() if draw(st.booleans()) else known, min_size=1, max_size=9)
    )
    return pa.array((few * FEW_ROWS)[:FEW_ROWS], dtype)


@st.composite
def tables(draw: Any) -> pa.Table:
    columns = {name: numbers(draw, pa.int64()) for name in ("start", "end", "element_hold", "n")}
    columns["bucket"] = numbers(draw, pa.int32())
    columns["key_key"] = pa.array(["tea"] * FEW_ROWS)
    names = draw(st.permutations(list(columns)))[draw(st.integers(0, 3)) :]
    return pa.table({name: columns[name] for name in names})


@given(tables())
def test_a_table_comes_back_as_it_was(table: pa.Table) -> None:
    blob = pack_blob(table, {"gone": "AA=="}, small=True)

    rows, header = unpack_blob(blob)

    assert rows.replace_schema_metadata(None).equals(table)
    assert header == {"gone": "AA=="}


def test_instants_take_what_their_distance_takes() -> None:
    start = 1_700_000_000_000 + np.arange(FEW_ROWS) * 100
    columns = {"start": start, "end": start + 60_000, "element_hold": start + 59_999}

    table = narrowed(pa.table(columns))

    assert json.loads(table.schema.metadata[b"narrow"]) == {
        "start": ["int64", 1_700_000_000_000, None],
        "end": ["int64", 60_000, "start"],
        "element_hold": ["int64", -1, "end"],
    }
    assert table.schema.types == [pa.uint16(), pa.uint8(), pa.uint8()]
    assert widened(table).equals(pa.table(columns))


@pytest.mark.parametrize(
    ("most", "dtype"),
    [
        (2**8 - 1, pa.uint8()),
        (2**8, pa.uint16()),
        (2**16 - 1, pa.uint16()),
        (2**16, pa.uint32()),
        (2**32 - 1, pa.uint32()),
        (2**32, pa.int64()),
    ],
)
def test_a_column_has_the_narrowest_type_that_holds_its_numbers(most: int, dtype: Any) -> None:
    table = narrowed(pa.table({"n": [7, 7 + most] * (FEW_ROWS // 2)}))

    assert table.schema.field("n").type == dtype


def test_a_small_table_is_saved_as_it_is() -> None:
    table = pa.table({"n": [1] * (FEW_ROWS - 1)})

    assert narrowed(table) is table


def test_what_is_sent_to_a_shard_is_narrow_too() -> None:
    rows = pa.table({"key_key": ["tea"] * FEW_ROWS, "ts": range(FEW_ROWS)})

    sent = sealed(Kind.ELEMENTS, rows)

    assert len(sent) < len(sealed(Kind.BUNDLE, rows)) - 6 * FEW_ROWS
    assert Envelope.opened(sent).table.replace_schema_metadata(None).equals(rows)


@pytest.mark.parametrize(
    "notes",
    [
        '{"other": ["int64", 0, null]}',
        '{"n": ["int64", 0]}',
        '{"n": ["number", 0, null]}',
        '{"n": ["int64", "x", null]}',
        '{"n": ["int64", 0, "other"]}',
        '{"n": 5}',
        "[7]",
        "{",
    ],
)
def test_a_note_that_was_not_written_here_is_damage(notes: str) -> None:
    table = pa.table({"n": [1, 2]}).replace_schema_metadata({b"narrow": notes})

    with pytest.raises(StateError, match="cannot be read"):
        unpack_blob(pack_blob(table, {}))
