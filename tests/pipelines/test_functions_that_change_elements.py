"""Functions that change an element in place: other branches, windows and panes see it as it was."""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.combinefn import combine_fn
from beamlike.combine_fns import Together
from beamlike.testing import TestStream
from tests.support.pipelines.files import HOSTS
from tests.support.sums import AddedInSteps

Build = Callable[[Any], dict[str, Any]]


def drained(items: list[Any]) -> int:
    """How many items a list had, which are taken out of it."""
    count = 0
    while items:
        items.pop()
        count += 1
    return count


def drained_pair(pair: tuple[str, list[Any]]) -> tuple[str, int]:
    return pair[0], drained(pair[1])


def drained_lists(pair: tuple[str, list[list[Any]]]) -> tuple[str, list[int]]:
    return pair[0], sorted(map(drained, pair[1]))


def drained_in_window(
    pair: tuple[str, list[Any]], window: Any = beam.DoFn.WindowParam
) -> tuple[str, int]:
    return drained_pair(pair)


class Draining(AddedInSteps, beam.CombineFn):
    def add_input(self, accumulator: int, element: list[Any]) -> int:
        return accumulator + drained(element)


def readings() -> TestStream:
    return (
        TestStream()
        .add_elements_at_time("00:00:10", ("a", [1, 2]), ("a", [3]))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:20", ("a", [4, 5]))
        .advance_watermark_to_infinity()
    )


def accumulating(given: Any) -> Any:
    return given | beam.WindowInto(
        beam.FixedWindows(60),
        trigger=beam.AfterWatermark(early=beam.AfterCount(1), late=beam.AfterCount(1)),
        accumulation_mode="accumulating",
        allowed_lateness=600,
    )


def two_branches(given: Any) -> dict[str, Any]:
    return {
        "drained": given | "Drained" >> beam.Map(drained_pair),
        "as it was": given | "As it was" >> beam.Map(lambda pair: (pair[0], list(pair[1]))),
    }


def before_a_grouping(given: Any) -> dict[str, Any]:
    windowed = given | beam.WindowInto(beam.FixedWindows(60))
    return {
        "drained": windowed | "Drained" >> beam.Map(drained_pair),
        "grouped": windowed | beam.GroupByKey(),
    }


def in_other_windows(given: Any) -> dict[str, Any]:
    windowed = given | beam.WindowInto(beam.FixedWindows(60))
    return {
        "drained": windowed | "Drained" >> beam.Map(drained_pair),
        "as it was": given | "As it was" >> beam.Map(lambda pair: (pair[0], list(pair[1]))),
    }


def panes(given: Any) -> dict[str, Any]:
    grouped = accumulating(given) | beam.GroupByKey()
    return {"lists": grouped | beam.Map(drained_lists)}


def sliding(given: Any) -> dict[str, Any]:
    windowed = given | beam.WindowInto(beam.SlidingWindows(60, 30))
    return {
        "drained": windowed | "Drained" >> beam.Map(drained_in_window),
        "combined": windowed | beam.CombinePerKey(Draining()),
        "grouped": windowed | beam.GroupByKey() | "Lists" >> beam.Map(drained_lists),
    }


def several_functions(given: Any) -> dict[str, Any]:
    parts = (Draining(), beam.combiners.ToListCombineFn(), Draining())
    combine = Together(
        {f"{index}": (combine_fn(fn, "Together"), None) for index, fn in enumerate(parts)}
    )
    windowed = given | beam.WindowInto(beam.FixedWindows(60))
    return {"combined": windowed | beam.CombinePerKey(combine)}


def a_plain_function(given: Any) -> dict[str, Any]:
    return {
        "combined": accumulating(given)
        | beam.CombinePerKey(lambda values: sum(map(drained, values)))
    }


def a_side_input(given: Any) -> dict[str, Any]:
    windowed = given | beam.WindowInto(beam.FixedWindows(60))
    lists = windowed | "Lists" >> beam.Values()
    names = windowed | "Names" >> beam.Keys()
    seen = names | beam.Map(
        lambda name, seen: (name, len(seen), [*map(drained, seen)] and name),
        beam.pvalue.AsList(lists),
    )
    return {"lists": lists, "seen": seen}


PAIRS = [("a", [1, 2]), ("a", [3]), ("a", [4, 5])]
COUNTS = [("a", 1), ("a", 2), ("a", 2)]
EXPECTED: dict[Build, dict[str, list[Any]]] = {
    two_branches: {"as it was": PAIRS, "drained": COUNTS},
    before_a_grouping: {"drained": COUNTS, "grouped": [("a", [[1, 2], [3]])]},
    in_other_windows: {"as it was": PAIRS, "drained": COUNTS},
    panes: {"lists": [("a", [1, 2]), ("a", [1, 2]), ("a", [1, 2, 2])]},
    sliding: {
        "combined": [("a", 3), ("a", 3)],
        "drained": sorted(2 * COUNTS),
        "grouped": [("a", [1, 2]), ("a", [1, 2])],
    },
    several_functions: {"combined": [("a", (3, [[1, 2], [3]], 3))]},
    a_plain_function: {"combined": [("a", 3), ("a", 3), ("a", 5)]},
    a_side_input: {"lists": [[1, 2], [3], [4, 5]], "seen": [("a", 2, "a"), ("a", 2, "a")]},
}


@HOSTS
@pytest.mark.parametrize("build", EXPECTED, ids=lambda build: build.__name__)
def test_what_a_function_changes_nothing_else_sees(build: Build, host: Any) -> None:
    pipeline = beam.Pipeline()
    outputs = build(pipeline | readings())
    pipeline.keep(*outputs.values())
    run = pipeline.run(host)  # type: ignore[arg-type]
    assert {
        name: sorted(output.element.value for output in run.out_of(pcoll.edge))
        for name, pcoll in outputs.items()
    } == EXPECTED[build]
