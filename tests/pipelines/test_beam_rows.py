"""Elements with named fields."""

import pickle

import pytest

import beamlike.beam as beam


def test_a_row_is_a_value():
    row = beam.Row(user="joe", score=3)
    assert pickle.loads(pickle.dumps(row)) == row
    assert {row: 1}[beam.Row(user="joe", score=3)] == 1
    assert row != beam.Row(score=3, user="joe")
    assert (list(row), row.as_dict()) == (["joe", 3], {"user": "joe", "score": 3})
    assert repr(row) == "Row(user='joe', score=3)"
    with pytest.raises(AttributeError, match="cannot be changed; make another with score=4"):
        row.score = 4


def test_a_row_has_what_a_named_tuple_has():
    row = beam.Row(user="joe", score=3)
    user, score = row
    assert (user, score, row[0], row[-1], row[:1]) == ("joe", 3, "joe", 3, ("joe",))
    assert (len(row), row._fields, row._asdict()) == (
        2,
        ("user", "score"),
        {"user": "joe", "score": 3},
    )
