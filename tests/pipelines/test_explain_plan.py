"""`beamlike.explain_plan` of pipelines: the machine of each transform that keeps state, and why."""

from typing import Any

import attrs

import beamlike as bl
import beamlike.beam as beam
from beamlike.scio import ScioContext


@attrs.frozen
class EveryTen(bl.WindowFn):
    """Windows of a user's own."""

    def assign(self, timestamp: int, value: object = None) -> tuple[Any, ...]:
        return bl.FixedWindows(10).assign(timestamp)


def headlines(pipeline: Any) -> list[str]:
    lines = bl.explain_plan(pipeline).splitlines()
    return [line for line in lines if not line.startswith("  ")]


def test_a_grouping_and_what_it_does() -> None:
    pipeline = beam.Pipeline()
    words = pipeline | beam.Create([("ann", 1)])
    totals = words | beam.WindowInto(beam.Sessions("10 s")) | beam.CombinePerKey(sum)

    expected = """\
CombinePerKey(sum): columnar machine
  window: Sessions(10s)
  trigger: DefaultTrigger()
  accumulation: discarding
  allowed lateness: 0 ms
  timestamp combiner: end_of_window
  closing behavior: fire_if_non_empty
  on-time behavior: fire_always
  late check: assigned
  unchanged panes: re_emit
  combine: sum"""
    assert bl.explain_plan(pipeline) == expected
    assert bl.explain_plan(totals) == expected


def test_what_takes_one_key_after_the_other_says_why() -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([("ann", 1)])
    pairs | "in tens" >> beam.WindowInto(EveryTen()) | beam.GroupByKey()
    numbers = pipeline | "numbers" >> beam.Create([1])
    pairs | "look" >> beam.Map(lambda pair, seen: (pair, seen), beam.pvalue.AsList(numbers))

    assert headlines(pipeline) == [
        "GroupByKey: reference machine, because EveryTen() calls a function of yours for one "
        "element at a time",
        "look/View0/Items: columnar machine",
        "look: reference machine, because elements of a window look into side inputs together",
    ]


def test_a_scio_context_is_explained_too() -> None:
    sc = ScioContext()
    sc.parallelize(["a", "b"]).count_by_value()
    assert headlines(sc) == ["count_by_value/Combine: columnar machine"]


def test_a_pipeline_that_groups_nothing() -> None:
    pipeline = beam.Pipeline()
    pipeline | beam.Create([1]) | beam.Map(str)
    assert bl.explain_plan(pipeline) == "nothing is grouped here"
