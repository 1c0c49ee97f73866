"""Random streams that are windowed and combined, dense enough that much is combined early."""

from collections.abc import Iterable
from random import Random
from typing import Any

import beamlike.beam as beam
from beamlike.api.pipelines.combinefn import combine_fn
from beamlike.api.pipelines.grouping import grouped
from beamlike.errors import PipelineError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.combine import Collect, CollectSet, CombineFn, Count, Latest, Max, Mean, Sum
from beamlike.model.graph import Fanout, WindowNode
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import Repeatedly
from beamlike.runtime.script import Arrive, Script, ScriptStep
from tests.support.generated.pipelines import From
from tests.support.generated.strategies import any_strategy


class MeanFn(beam.CombineFn):
    """The mean of whole numbers as Beam's guide writes it; accumulators change in place."""

    def __repr__(self) -> str:
        return "MeanFn()"

    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def add_input(self, accumulator: list[int], element: int) -> list[int]:
        accumulator[0] += element
        accumulator[1] += 1
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[list[int]]) -> list[int]:
        totals, counts = zip(*accumulators, strict=True)
        return [sum(totals), sum(counts)]

    def extract_output(self, accumulator: list[int]) -> float:
        total, count = accumulator
        return total / count if count else -1.0


class JoinFn(beam.CombineFn):
    """Numbers as text in order of arrival: a function for which order matters."""

    def create_accumulator(self) -> str:
        return ""

    def add_input(self, accumulator: str, element: int) -> str:
        return f"{accumulator}{element}"

    def merge_accumulators(self, accumulators: Iterable[str]) -> str:
        return "".join(accumulators)

    def extract_output(self, accumulator: str) -> str:
        return "".join(sorted(accumulator))


FUNCTIONS: tuple[Any, ...] = (
    *(Sum(), Count(), Max(), Mean(), Latest(), CollectSet(), Collect()),
    *(sum, MeanFn(), JoinFn()),
)


def any_script(dice: Random) -> Script:
    """Dense elements, some of them late, and moves of both clocks."""
    steps: list[ScriptStep] = []
    watermark = clock = 0
    for _ in range(dice.randint(1, 8)):
        match dice.randrange(4):
            case 0:
                watermark += dice.randrange(12)
                steps.append(AdvanceWatermark(watermark))
            case 1:
                clock += dice.randint(1, 6)
                steps.append(AdvanceClock(clock))
            case _:
                around = max(0, watermark - 8)
                arriving = (
                    Element((dice.choice("ab"), dice.randrange(5)), around + dice.randrange(24))
                    for _ in range(dice.randint(1, 14))
                )
                steps.append(Arrive(tuple((None, element) for element in arriving)))
    return *steps, AdvanceWatermark(MAX_TIMESTAMP)


def windowed(pairs: Any, strategy: WindowingStrategy) -> Any:
    pipeline = pairs.pipeline
    node = WindowNode("windows", (pairs.edge,), strategy.window_fn)
    return pipeline.add(node, strategy, pairs.is_bounded)


class Grouped(beam.PTransform):
    """Pairs combined by key with a function that machines take."""

    def __init__(self, combine: CombineFn, fanout: Fanout | None) -> None:
        super().__init__()
        self.combine, self.fanout = combine, fanout

    def expand(self, pairs: Any) -> Any:
        return grouped(pairs, self.combine, fanout=self.fanout)


def any_fanout(dice: Random) -> Fanout | None:
    return dice.choice((None, None, Fanout(2), Fanout(lambda key: 3 if key == "a" else 1)))


def any_combined(dice: Random) -> beam.Pipeline:
    """A stream, windowed and combined, and what comes of it combined once more."""
    pipeline = beam.Pipeline()
    pairs = pipeline | "source" >> From(any_script(dice), dice.randrange(4) == 0)
    mode = dice.choice((AccumulationMode.DISCARDING, AccumulationMode.ACCUMULATING))
    strategy = any_strategy(dice, accumulation=mode)
    if dice.randrange(4):  # most strategies need each element
        strategy = WindowingStrategy(
            strategy.window_fn,
            Repeatedly(strategy.trigger),
            mode,
            strategy.allowed_lateness,
            closing_behavior=strategy.closing_behavior,
            on_time_behavior=strategy.on_time_behavior,
            late_check=strategy.late_check,
        )
    pairs = windowed(pairs, strategy)
    for level in range(dice.randint(1, 2)):
        fn = combine_fn(dice.choice(FUNCTIONS), "test")
        try:
            pairs = pairs | f"{level} combined" >> Grouped(fn, any_fanout(dice))
        except PipelineError:
            try:  # what needs each element has no fanout
                pairs = pairs | f"{level} alone" >> Grouped(fn, None)
            except PipelineError:
                break
        pairs = pairs | f"{level} numbers" >> beam.Map(lambda pair: (pair[0], len(repr(pair[1]))))
    return pipeline
