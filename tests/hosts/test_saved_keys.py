"""The keys of saved windows: which one somebody means, and how many there are."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from beamlike.errors import StateError
from beamlike.inspect.state.choice import choose, windows_of
from beamlike.inspect.state.keys import count_keys, key_texts, meant_by
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage
from beamlike.machine.events import Element
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.graph.keys import key_bytes
from beamlike.runtime.script import Arrive
from tests.support.machines.in_shard import run_in_shard
from tests.support.refusals import refusal

Keys = Mapping[str, pa.ChunkedArray]

USERS = {"user": pa.chunked_array([["ann", "7", "null", None, "[1]"]], pa.string())}
TILLS = {"till": pa.chunked_array([[3, 7, None]], pa.int32())}
FLAGS = {"flag": pa.chunked_array([[True, False, None]], pa.bool_())}
RATES = {"rate": pa.chunked_array([[1.0, 2.5, float("nan")]], pa.float64())}
DAYS = {"day": pa.chunked_array([["2020-01-01", "2020-01-02"]], pa.string()).cast(pa.date32())}
LISTS = {"list": pa.chunked_array([[[1], [1, 2], None]], pa.list_(pa.int64()))}
SHOPS = {
    "shop": pa.chunked_array([["Rome", "Rome", None, "null", "a, b", "a"]], pa.string()),
    "till": pa.chunked_array([["3", None, "3", "3", "c", "b, c"]], pa.string()),
}


def rows_of(columns: Keys) -> int:
    return len(next(iter(columns.values())))


@pytest.mark.parametrize(
    ("typed", "columns", "rows"),
    [
        ("ann", USERS, []),  # which is no JSON
        ('"ann"', USERS, [0]),
        ('["ann"]', USERS, [0]),
        ('{"user": "ann"}', USERS, [0]),
        ("7", USERS, []),
        ('"7"', USERS, [1]),
        ('"null"', USERS, [2]),
        ("null", USERS, [3]),
        ("[1]", USERS, []),
        ("7", TILLS, [1]),
        ('"7"', TILLS, []),
        ("null", TILLS, [2]),
        ("true", TILLS, []),
        ("true", FLAGS, [0]),
        ('"true"', FLAGS, []),
        ("1", RATES, [0]),
        ("true", RATES, []),
        ("NaN", RATES, [2]),
        ('"2020-01-02"', DAYS, [1]),
        ('["2020-01-01"]', DAYS, [0]),
        ('"no day"', DAYS, []),
        ("[[1, 2]]", LISTS, [1]),
        ("[null]", LISTS, [2]),
        ('["Rome", "3"]', SHOPS, [0]),
        ('{"till": "3", "shop": "Rome"}', SHOPS, [0]),
        ('["Rome", null]', SHOPS, [1]),
        ('[null, "3"]', SHOPS, [2]),
        ('["null", "3"]', SHOPS, [3]),
        ('["a, b", "c"]', SHOPS, [4]),
        ('["a", "b, c"]', SHOPS, [5]),
        ('["Rome", 3]', SHOPS, []),
        ('["Rome"]', SHOPS, []),
        ('{"shop": "Rome"}', SHOPS, []),
    ],
)
def test_json_means_one_key_and_no_other_of_the_same_text(
    typed: str, columns: Keys, rows: list[int]
) -> None:
    meant = meant_by(typed, columns, rows_of(columns), in_bytes=False)
    assert [index for index, is_meant in enumerate(meant.to_pylist()) if is_meant] == rows


OBJECTS = [7, "7", 7.0, True, None, "null", ("ann", 1), "('ann', 1)", ("ann", "1"), float("nan")]


@pytest.mark.parametrize(
    ("typed", "rows"),
    [
        *(("7", [0]), ('"7"', [1]), ("7.0", [2]), ("true", [3]), ("null", [4]), ('"null"', [5])),
        *(('["ann", 1]', [6]), ("('ann', 1)", []), ('["ann", "1"]', [8]), ("NaN", [9])),
        *(('{"a": 1}', []), ("1", []), ("ann", [])),
    ],
)
def test_the_json_of_a_key_of_a_pipeline_means_one_key(typed: str, rows: list[int]) -> None:
    columns = {"key": pa.chunked_array([[key_bytes(key) for key in OBJECTS]], pa.binary())}
    meant = meant_by(typed, columns, len(OBJECTS), in_bytes=True)
    assert [index for index, is_meant in enumerate(meant.to_pylist()) if is_meant] == rows


@pytest.mark.parametrize(("typed", "is_meant"), [("[]", True), ("{}", True), ("7", False)])
def test_without_key_columns_there_is_one_key(typed: str, is_meant: bool) -> None:
    assert meant_by(typed, {}, 2, in_bytes=False).to_pylist() == [is_meant] * 2


@pytest.mark.parametrize(
    ("columns", "distinct"),
    [
        (list(SHOPS.values()), 6),
        ([pa.chunked_array([["null", None, "null", None]], pa.string())], 2),
        ([pa.chunked_array([[key_bytes(key) for key in [*OBJECTS, 7]]], pa.binary())], 10),
        ([LISTS["list"]], 3),
        ([RATES["rate"], RATES["rate"]], 3),
        ([pa.chunked_array([pa.nulls(3)])], 1),
    ],
)
def test_keys_of_the_same_text_are_counted_apart(columns: Sequence[pa.ChunkedArray], distinct: int):
    assert count_keys(columns, len(columns[0])) == distinct


def test_without_key_columns_all_windows_are_of_one_key() -> None:
    assert (count_keys([], 3), count_keys([], 0)) == (1, 0)


def saved(*keys: Any) -> SavedState:
    """A pipeline's checkpoint, with a window of each of these keys in one shard."""
    elements = tuple((key_bytes(key), Element(1, 0)) for key in keys)
    _, store = run_in_shard(WindowingStrategy(FixedWindows(10)), "count", [(Arrive(elements),)])
    assert store.index is not None
    shard = SavedShard.of(0, 0, {-1: store.index, **store.blobs})
    at = shard.rows.schema.get_field_index("key_key")
    column = shard.rows["key_key"].cast(pa.binary())
    shard = attrs.evolve(shard, rows=shard.rows.set_column(at, "key_key", column))
    spark: Any = None
    return SavedState("here", 0, (0, 0), (SavedStage("s", 0, (shard,), True),), spark)


def chosen(state: SavedState, *keys: str) -> list[Any]:
    return sorted((window.key for window in windows_of(state, choose(state, keys=keys))), key=repr)


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (['"7"'], ["7"]),
        (["7"], [7]),
        (["7", '"7"'], ["7", 7]),
        (["null"], [None]),
        (['"null"'], ["null"]),
        (["('ann', 1)"], [("ann", 1)]),
        (["ann"], ["ann"]),
        (["8"], ["8"]),  # there is no number 8
    ],
)
def test_a_key_is_read_as_json_and_as_text_only_if_that_is_no_key(
    typed: list[str], keys: list[Any]
) -> None:
    state = saved(7, "7", None, "null", ("ann", 1), "ann", "8")
    assert chosen(state, *typed) == keys
    assert state.shards["keys"].to_pylist() == [7]


@pytest.mark.parametrize("typed", ["caf\udce9", r"caf\udce9", r'"caf\udce9"'])
def test_a_key_that_is_no_utf_8_is_found_by_its_bytes_and_as_it_is_listed(typed: str) -> None:
    # A shell hands on bytes, and Python makes halves of characters of them.
    assert chosen(saved("caf\udce9", "ann"), typed) == ["caf\udce9"]


@pytest.mark.parametrize(
    "typed",
    ["[" * 100_000, '{"a":' * 3_000, "7" * 5_000, "1e999"],
    ids=["lists", "objects", "digits", "infinity"],
)
def test_json_that_no_key_could_be_means_none(typed: str) -> None:
    with pytest.raises(StateError, match=r"^no window of the key "):
        chosen(saved(7, "ann"), typed)


def test_a_text_in_quotes_means_no_number() -> None:
    assert refusal(StateError, lambda: chosen(saved(7), '"7"')) == (
        "no window of the key '\"7\"' is open after batch 0; the only key is '7'"
    )


def test_texts_are_as_they_are_listed() -> None:
    texts = key_texts(list(SHOPS.values()), 6, in_bytes=False)
    assert texts.to_pylist() == [
        *("Rome, 3", "Rome, null", "null, 3", "null, 3", "a, b, c", "a, b, c")
    ]
    assert pc.count_distinct(texts).as_py() == 4
