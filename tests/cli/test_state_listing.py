"""What `beamlike state` shows of saved windows, without Spark: as text, and as a document."""

import json
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.cli.state_json import document
from beamlike.cli.state_text import listing
from beamlike.hosts.script import Arrive
from beamlike.hosts.spark.saved.choice import choose
from beamlike.hosts.spark.saved.report import SavedState
from beamlike.hosts.spark.saved.shard import SavedShard
from beamlike.hosts.spark.saved.stage import SavedStage
from beamlike.machine.events import Element
from beamlike.testing.in_shard import run_in_shard

ESCAPE, LINE = "\x1b[2J", "\n  all is well"


def saved(
    key: str, trigger: Any = None, name: str = "counts", identity: dict[str, str] | None = None
) -> SavedState:
    """A checkpoint with one element of one key in it."""
    strategy = bl.WindowingStrategy(
        bl.FixedWindows("1 minute"), trigger or bl.AfterWatermark(), "discarding", "1 minute"
    )
    _, store = run_in_shard(strategy, "count", [(Arrive(((key, Element(1, 0)),)),)])
    assert store.index is not None
    shard = SavedShard.of(0, 0, {-1: store.index, **store.buckets})
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
    state = attrs.evolve(saved("ann"), stages=(one, other))

    *_, header, ann, bob = lines_of(state, in_full=False)

    assert header.startswith("stage     key  window")
    assert ann.startswith("counts    ann  [00:00:00, 00:01:00)")
    assert bob.startswith(r"s\x1b[2J  bob  [00:00:00, 00:01:00)")


def test_a_long_key_is_cut_in_full_too() -> None:
    state = saved("k" * 2_000)

    assert f"key {'k' * 997}..., [00:00:00, 00:01:00)" in lines_of(state, in_full=True)


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
