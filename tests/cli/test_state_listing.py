"""What `beamlike state` shows of saved windows, without Spark: as text, and as a document."""

import json
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import beamlike as bl
from beamlike.cli.state_json import document
from beamlike.cli.state_text import listing
from beamlike.inspect.state.choice import choose
from beamlike.inspect.state.report import SavedState
from beamlike.inspect.state.shard import SavedShard
from beamlike.inspect.state.stage import SavedStage
from beamlike.machine.events import Element
from beamlike.runtime.script import Arrive
from tests.support.machines.in_shard import run_in_shard

ESCAPE, LINE = "\x1b[2J", "\n  all is well"


def saved(
    key: str,
    trigger: Any = None,
    name: str = "counts",
    identity: dict[str, str] | None = None,
    others: tuple[str, ...] = (),
) -> SavedState:
    """A checkpoint with one element of one key in it, and of others if they are given."""
    strategy = bl.WindowingStrategy(
        bl.FixedWindows("1 minute"), trigger or bl.AfterWatermark(), "discarding", "1 minute"
    )
    _, store = run_in_shard(
        strategy, "count", [(Arrive(tuple((it, Element(1, 0)) for it in (key, *others))),)]
    )
    assert store.index is not None
    shard = SavedShard.of(0, 0, {-1: store.index, **store.blobs})
    shard = attrs.evolve(shard, identity={**shard.identity, **(identity or {})})
    spark: Any = None
    return SavedState("orders", 0, (0, 0), (SavedStage(name, 0, (shard,)),), spark)


def lines_of(state: SavedState, *, in_full: bool) -> list[str]:
    places = choose(state)
    return [*listing(state, (), places, of=1, sort="oldest", in_full=in_full, unpickle=False)]


@pytest.mark.parametrize("in_full", [False, True])
def test_no_word_of_a_checkpoint_moves_the_cursor_or_makes_a_line(in_full: bool) -> None:
    evil = ESCAPE + LINE
    state = saved(f"k{evil}", name=f"s{evil}", identity={f"i{evil}": f"w{evil}"})

    lines = lines_of(state, in_full=in_full)

    assert [line for line in lines if not line.isprintable()] == []
    written = r"\x1b[2J\n  all is well"
    assert f"stage s{written}, operator 0 of the query" in lines
    assert f"  i{written}  w{written}" in lines
    if in_full:
        assert f"key k{written}, [00:00:00, 00:01:00)" in lines
        assert f"  stage           s{written}, shard 0" in lines


def test_a_stage_among_several_is_named_in_one_line() -> None:
    (one,), (other,) = saved("ann").stages, saved("bob", name=f"s{ESCAPE}").stages
    *_, header, ann, bob = lines_of(attrs.evolve(saved("ann"), stages=(one, other)), in_full=False)

    assert header.startswith("stage     key  window")
    assert ann.startswith("counts    ann  [00:00:00, 00:01:00)")
    assert bob.startswith(r"s\x1b[2J  bob  [00:00:00, 00:01:00)")


def test_a_long_key_is_cut_in_full_too() -> None:
    state = saved("k" * 2_000)

    assert f"key {'k' * 997}..., [00:00:00, 00:01:00)" in lines_of(state, in_full=True)


def test_long_keys_that_begin_alike_differ_and_wide_letters_keep_the_columns() -> None:
    page = "https://example.com/a/rather/long/path/to/"
    state = saved(page + "1", others=(page + "2", "お茶"))
    keys = [
        line.partition("[00:00:00")[0] for line in lines_of(state, in_full=False) if "[00:0" in line
    ]
    assert sorted(keys[-3:]) == [
        "https://examp.../a/rather/long/path/to/1  ",
        "https://examp.../a/rather/long/path/to/2  ",
        "お茶" + " " * 38,
    ]


def test_a_document_tells_of_no_early_trigger_that_nobody_wrote() -> None:
    state = saved("ann", bl.AfterWatermark(late=bl.AfterCount(2)))

    told = json.loads("".join(document(state, (), choose(state), None, unpickle=False)))

    (window,) = told["windows"]
    assert window["trigger"] == [
        {
            "path": "AfterWatermark",
            "name": "AfterWatermark",
            "finished": False,
            "ready": False,
            "waits_for": "the watermark to reach 00:01:00",
        },
        {
            "path": "AfterWatermark.late",
            "name": "AfterCount(2)",
            "finished": False,
            "ready": False,
            "waits_for": "its turn",
        },
    ]


@pytest.mark.parametrize(
    ("instant", "told"),
    [
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "253402300800000 ms"),
    ],
)
def test_a_document_has_years_of_four_digits(instant: int, told: str) -> None:
    state = saved("ann")
    (stage,) = state.stages
    shard = stage.shards[0]
    clocks = attrs.evolve(shard.clocks, watermark=instant)
    stage = attrs.evolve(stage, shards=(attrs.evolve(shard, clocks=clocks),))
    state = attrs.evolve(state, stages=(stage,))

    head = json.loads("".join(document(state, (), choose(state), 0, unpickle=False)))

    assert head["stages"][0]["watermark"] == told


def test_dates_and_times_that_python_has_no_value_for_are_told_as_texts() -> None:
    (stage,) = saved("ann").stages
    (shard,) = stage.shards
    rows = shard.rows
    held = next(name for name in rows.column_names if name.startswith("acc"))
    for name, column in (
        ("key_key", pa.array([3_650_000], pa.int32()).cast(pa.date32())),
        (held, pa.array([2**61]).cast(pa.timestamp("us", "UTC"))),
    ):
        rows = rows.set_column(rows.column_names.index(name), name, column)
    stage = attrs.evolve(stage, shards=(attrs.evolve(shard, rows=rows),))
    state = attrs.evolve(saved("ann"), stages=(stage,))

    told = json.loads("".join(document(state, (), choose(state), None, unpickle=False)))

    (window,) = told["windows"]
    assert window["key"]["key"] == state.windows["key"].to_pylist()[0]
    assert [*window["holds"].values()] == [pc.cast(rows[held], pa.string())[0].as_py()]
    assert f"key {window['key']['key']}, [00:00:00, 00:01:00)" in lines_of(state, in_full=True)
