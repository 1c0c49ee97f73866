"""Random pipelines, small enough to read: a few sources, transforms of every kind, any shape.

Elements are pairs of a key and a whole number, so that any transform can follow any other.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import attrs

from beamlike.api.pipelines.cogroups import CoGroupByKey
from beamlike.api.pipelines.dofn import TaggedOutput
from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.grouping import grouped
from beamlike.api.pipelines.groups import CombineGlobally
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.views import AsList
from beamlike.api.pipelines.windowing import Flatten
from beamlike.errors import PipelineError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.combine import Collect, Count, Latest, Sum
from beamlike.model.graph import ReadNode, WindowNode
from beamlike.model.options import AccumulationMode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Arrive, Script, ScriptStep
from tests.support.generated.strategies import any_strategy
from tests.support.machines.memory import ApplyPerKey

Pairs = PCollection[tuple[str, int]]


def any_pipeline(dice: Random, *, ends: bool = False) -> Pipeline:
    """A pipeline of one to three sources and up to eight transforms.

    Some sources are empty, and the watermarks of some are ahead of those of the others.

    Args:
        dice: What is random.
        ends: Whether all sources come to an end by themselves; else one in four does.
    """
    pipeline = Pipeline()
    pairses: list[Pairs] = []
    for index in range(dice.randint(1, 3)):
        bounded = ends or dice.randrange(4) == 0
        script = _bounded(dice) if bounded else _script(dice)
        pairses.append(pipeline | f"source {index}" >> From(script, bounded))
    for index in range(dice.randint(1, 8)):
        grow = dice.choice(_GROW)
        try:
            pairses.append(grow(dice, pairses, f"{index} {grow.__name__.strip('_')}"))
        except PipelineError:
            continue  # what Beam refuses to build is not built
    return pipeline


@attrs.frozen(eq=False)
class From(PTransform[Pipeline, Pairs]):
    """A source with a script."""

    script: Script
    ends: bool

    def expand(self, pipeline: Pipeline) -> Pairs:
        node = ReadNode(pipeline.label, (), self.script, self.ends)
        return pipeline.add(node, WindowingStrategy.unwindowed(), self.ends)

    def __rrshift__(self, label: str) -> Any:
        return _Named(label, self.expand)


class _Named(PTransform[Any, Any]):
    def __init__(self, label: str, expand: Callable[[Any], Any]) -> None:
        self.label = label
        self._expand = expand

    def expand(self, given: Any) -> Any:
        return self._expand(given)


def _elements(dice: Random) -> Arrive:
    return Arrive(
        tuple(
            (None, Element((dice.choice("ab"), dice.randrange(5)), dice.randrange(40)))
            for _ in range(dice.randint(1, 4))
        )
    )


def _bounded(dice: Random) -> Script:
    end = AdvanceWatermark(MAX_TIMESTAMP)
    return (end,) if dice.randrange(3) == 0 else (_elements(dice), end)


def _script(dice: Random) -> Script:
    steps: list[ScriptStep] = []
    watermark, clock = dice.randrange(5), 0
    # Some are ahead of all others, and say nothing besides.
    pace, most = dice.choice(((12, 4), (12, 4), (60, 1)))
    for _ in range(dice.randint(1, 8)):
        match dice.randrange(most):
            case 0:
                watermark += dice.randrange(pace)
                steps.append(AdvanceWatermark(watermark))
            case 1:
                clock += dice.randint(1, 6)
                steps.append(AdvanceClock(clock))
            case _:
                steps.append(_elements(dice))
    return *steps, AdvanceWatermark(MAX_TIMESTAMP)


def _mapped(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    return dice.choice(pairses) | label >> Map(lambda pair: (pair[0], (pair[1] + 1) % 7))


def _split(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    def split(pair: tuple[str, int]) -> Any:
        yield pair
        if pair[1] % 2:
            yield TaggedOutput("odd", pair)

    outputs = dice.choice(pairses) | label >> FlatMap(split).with_outputs("odd")
    return outputs["odd"]


def _windowed(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    given = dice.choice(pairses)
    mode = dice.choice((AccumulationMode.DISCARDING, AccumulationMode.ACCUMULATING))
    strategy = any_strategy(dice, accumulation=mode)

    def expand(pairs: Pairs) -> Pairs:
        node = WindowNode(pairs.pipeline.label, (pairs.edge,), strategy.window_fn)
        return pairs.pipeline.add(node, strategy, pairs.is_bounded)

    return given | _Named(label, expand)


def _combined(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    fn = dice.choice((Sum(), Count(), Latest()))
    combined = dice.choice(pairses) | _Named(label, lambda pairs: grouped(pairs, fn))
    pairs: Pairs = combined | f"{label}, whole" >> Map(lambda pair: (pair[0], pair[1] or 0))
    return pairs


def _listed(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    listed = dice.choice(pairses) | _Named(label, lambda pairs: grouped(pairs, Collect()))
    pairs: Pairs = listed | f"{label}, summed" >> Map(lambda pair: (pair[0], sum(pair[1])))
    return pairs


def _joined(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    joined: Pairs = (dice.choice(pairses), dice.choice(pairses)) | label >> Flatten()
    return joined


def _together(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    both = {"left": dice.choice(pairses), "right": dice.choice(pairses)} | label >> CoGroupByKey()
    pairs: Pairs = both | f"{label}, counted" >> Map(
        lambda pair: (pair[0], len(pair[1]["left"]) * 3 + len(pair[1]["right"]))
    )
    return pairs


def _seen(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    side = AsList(dice.choice(pairses))
    pairs: Pairs = dice.choice(pairses) | label >> Map(
        lambda pair, side: (pair[0], len(side)), side
    )
    return pairs


def _remembered(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    def first_of_each(
        seen: frozenset[tuple[int, int]] | None, pair: tuple[str, int], timestamp: int
    ) -> tuple[frozenset[tuple[int, int]], list[tuple[str, int]]]:
        # In any order of what arrives together the same comes out.
        known, element = seen or frozenset(), (pair[1], timestamp)
        return known | {element}, [] if element in known else [pair]

    pairs: Pairs = dice.choice(pairses) | label >> ApplyPerKey(first_of_each)
    return pairs


def _overall(dice: Random, pairses: Sequence[Pairs], label: str) -> Pairs:
    numbers = dice.choice(pairses) | f"{label}, numbers" >> Map(lambda pair: pair[1])
    total = numbers | label >> CombineGlobally(sum).without_defaults()
    pairs: Pairs = total | f"{label}, keyed" >> Map(lambda number: ("all", number))
    return pairs


_GROW = (
    _mapped,
    _split,
    _windowed,
    _windowed,
    _combined,
    _combined,
    _listed,
    _joined,
    _together,
    _seen,
    _remembered,
    _overall,
)
