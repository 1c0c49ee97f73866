"""Elements with named fields, grouped by some of them."""

import pickle
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TransformError

GAMES = (
    beam.Row(user="joe", team="red", score=3),
    beam.Row(user="ann", team="red", score=5),
    beam.Row(user="joe", team="blue", score=1),
)


def of(transform: Any) -> list[Any]:
    pcoll = beam.Pipeline() | beam.Create(GAMES) | transform
    return [came.element.value for came in pcoll.pipeline.run().out_of(pcoll.edge)]


def test_one_field_is_the_key_itself():
    joe_red, ann_red, joe_blue = GAMES
    assert of(beam.GroupBy("user")) == [("joe", [joe_red, joe_blue]), ("ann", [ann_red])]
    assert of(beam.GroupBy(lambda game: game.score > 2)) == [
        (True, [joe_red, ann_red]),
        (False, [joe_blue]),
    ]


def test_several_fields_or_named_ones_are_a_named_tuple():
    (first, *_) = of(beam.GroupBy("user", colour="team"))
    key, games = first
    assert (key, key.user, key.colour, games) == (("joe", "red"), "joe", "red", [GAMES[0]])
    assert pickle.loads(pickle.dumps(key)) == key
    assert {key.initial for key, _ in of(beam.GroupBy(initial=lambda it: it.user[0]))} == {"j", "a"}


def test_fields_are_aggregated_into_rows():
    total = (
        beam.GroupBy("user")
        .aggregate_field("score", sum, "total")
        .aggregate_field(lambda game: game.team, beam.combiners.CountCombineFn(), "games")
    )
    assert of(total) == [("joe", 4, 2), ("ann", 5, 1)]
    assert of(total)[0]._fields == ("user", "total", "games")
    with pytest.raises(PipelineError, match="has a field 'user' already"):
        beam.GroupBy("user").aggregate_field("score", sum, "user")


def test_a_function_without_a_name_is_called_key():
    by_win = beam.GroupBy(lambda game: game.score > 2)
    assert by_win.default_label() == "GroupBy(key)"
    assert of(by_win.aggregate_field("score", sum, "total")) == [(True, 8), (False, 1)]
    by_two = beam.GroupBy("team", lambda game: game.score > 4)
    assert [key._fields for key, _ in of(by_two)] == [("team", "key1")] * 3


def test_fields_are_selected_and_computed():
    selected = of(beam.Select("user", double=lambda game: 2 * game.score))
    assert selected[0] == beam.Row(user="joe", double=6)
    unnamed = of(beam.Select(lambda game: game.score, "team"))
    assert unnamed[0] == beam.Row(arg00=3, team="red")
    with pytest.raises(
        TransformError, match=r"'Select.name./ToRows' raised AttributeError: Row.us"
    ):
        of(beam.Select("name"))


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


def test_grouping_by_nothing_makes_one_group():
    [(key, games)] = of(beam.GroupBy())
    assert (key, sorted(game.score for game in games)) == ((), [1, 3, 5])
    [total] = of(beam.GroupBy().aggregate_field("score", sum, "total"))
    assert total.total == 9


def test_a_key_is_a_tuple_if_asked_for():
    keys = [key for key, _ in of(beam.GroupBy("user").force_tuple_keys())]
    assert [(key, key.user) for key in keys] == [(("joe",), "joe"), (("ann",), "ann")]


def test_a_field_is_a_name_or_a_function():
    with pytest.raises(PipelineError, match=r"needs names of fields or functions .*, got 3"):
        beam.GroupBy(3)  # type: ignore[arg-type]
