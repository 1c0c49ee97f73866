"""The walk of the runtime: keys are copied within bytes, and nothing but these bytes is read."""

import attrs
import pytest

from beamlike.errors import StateError
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, AfterWatermark
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.store.stores import DictStore
from tests.exhaustive.events import Arrive, Watermark
from tests.exhaustive.shards import Shards, machine_of
from tests.exhaustive.strategies import STRATEGIES

STRATEGY = WindowingStrategy(
    FixedWindows(10), AfterWatermark(early=AfterCount(2)), "accumulating", allowed_lateness=7
)
EARLY = (1, "pane", 0, 10, 1 + (1 << 8), 9, "EARLY", 0, -1, True, False)


def two() -> Shards:
    """A stream with one element, and one with none."""
    return Shards.of(STRATEGY).spread([0, 0]).arrive([Arrive((3,)), None])


def test_a_copy_of_a_stream_goes_on_by_itself() -> None:
    walk = two().spread([0, 1, 0]).arrive([None, None, Arrive((4,))]).move(Watermark(10))

    assert walk.rows == (
        ((1, "pane", 0, 10, 1, 9, "ON_TIME", 0, 0, True, True),),
        (),
        (EARLY, (2, "pane", 0, 10, 1 + (1 << 8), 9, "ON_TIME", 1, 0, False, True)),
    )


def test_streams_may_be_left_out_and_change_their_places() -> None:
    walk = two().spread([1, 0, 1]).arrive([Arrive((3, 4)), Arrive((4,)), None])

    assert walk.rows == (((0, *EARLY[1:]),), (EARLY,), ())
    assert walk.outcomes([2, 0]) == [
        (),
        ((0, *EARLY[1:]), (1, "pane", 0, 10, 257, 9, "ON_TIME", 1, 0, False, True)),
    ]


def test_walking_on_leaves_a_walk_as_it_is() -> None:
    walk = two()
    walk.spread([0, 0]).arrive([Arrive((4,)), Arrive((5,))])

    again = walk.spread([0, 0]).arrive([Arrive((4,)), None])

    assert again.rows == ((EARLY,), ())


def test_nothing_is_remembered_besides_the_bytes() -> None:
    walk = two()
    damaged = DictStore()
    damaged.index = walk.store.index
    damaged.blobs = {number: blob[:-1] + b"?" for number, blob in walk.store.blobs.items()}

    with pytest.raises(StateError, match="is not what was written"):
        attrs.evolve(walk, store=damaged).move(Watermark(10))
    with pytest.raises(StateError, match="is not what was written"):
        attrs.evolve(walk, store=damaged).spread([0])


def test_the_runtime_steps_every_strategy_of_the_search_in_columns() -> None:
    assert {machine_of(strategy).machine for strategy in STRATEGIES} == {"columnar"}
