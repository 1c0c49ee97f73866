"""Hints of Beam's and Scio's programs that have no effect here: a warning names each."""

from functools import partial
from typing import Any, Final

import beamlike.beam as beam
from beamlike.testing import TestPipeline
from tests.options.playing import Differs, beamed, scio

PAIRS: Final = (("a", 1), ("a", 3), ("b", 2))


def created(**option: Any) -> Any:
    return beamed(lambda numbers: numbers.pipeline | "Again" >> beam.Create([1], **option))


def reshuffled(**option: Any) -> Any:
    return beamed(lambda numbers: numbers | beam.Reshuffle(**option))


def sparse(verb: str, **option: Any) -> Differs:
    """A join of Scio with a hint of how its other side is looked up, and without."""

    def run(**options: Any) -> Any:
        def join(left: Any) -> Any:
            right = left.keys() if verb == "sparse_intersect_by_key" else left
            return getattr(left, verb)(right, 3, **options)

        return scio(join, *PAIRS)

    return Differs(run, partial(run, **option))


RUNS: Final[dict[str, Differs]] = {
    "beam.Create.reshuffle": Differs(created, partial(created, reshuffle=False)),
    "beam.Reshuffle.num_buckets": Differs(reshuffled, partial(reshuffled, num_buckets=4)),
    "testing.TestPipeline.blocking": Differs(
        lambda: TestPipeline().run().state, lambda: TestPipeline(blocking=False).run().state
    ),
    "testing.TestPipeline.timeout": Differs(
        lambda: TestPipeline().run().state, lambda: TestPipeline(timeout=1000).run().state
    ),
    "scio.SCollection.sparse_intersect_by_key.compute_exact": sparse(
        "sparse_intersect_by_key", compute_exact=False
    ),
    **{
        f"scio.SCollection.{verb}.fp_prob": sparse(verb, fp_prob=0.5)
        for verb in (
            *("sparse_join", "sparse_left_outer_join", "sparse_right_outer_join"),
            *("sparse_full_outer_join", "sparse_intersect_by_key", "sparse_lookup"),
        )
    },
}
