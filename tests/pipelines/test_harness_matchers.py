"""Every value matcher in every pane matcher, asked and denied: which hold, fail and say nothing.

Two tables say it. One has the panes that each pane matcher selects of one run; the other what each
value matcher makes of one element, of several, and of none. Each cell has the answer to ``to`` and
to ``not_to``.

Two answers are not those of Scio, where they are errors of another kind: it is denied that several
elements are a single value, and that elements with the same key are a map.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import pytest

import beamlike.testing
from beamlike import AfterCount, Always, FixedWindows, GlobalWindows
from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.groups import CombinePerKey
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.model.combine import Count
from beamlike.model.triggers import AfterWatermark
from beamlike.testing import (
    Results,
    TestPipeline,
    be_empty,
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value,
    contain_single_value_at_time,
    contain_value,
    contain_value_at_time,
    equal_map_of,
    exist,
    for_all,
    have_size,
    in_combined_non_late_panes,
    in_early_global_window_panes,
    in_early_pane,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
    satisfy,
    satisfy_single_value,
    test_stream_of,
)
from beamlike.testing.assertions import matchers, values
from beamlike.testing.pipelines.collections import results_of
from beamlike.testing.streams.results import Matcher

Pair = tuple[str, int]

FIRST: Final = ("00:00:00", "00:01:00")  # early, on-time and late panes, none of them the last
ONLY: Final = ("00:01:00", "00:02:00")  # one pane, on time, the first and the last
DROPPED: Final = ("00:02:00", "00:03:00")  # nothing but an element that was dropped
NEVER: Final = ("00:00:00", "00:01:01")

EVENTS = (
    test_stream_of()
    .add_elements_at_time("00:00:00", ("foo", 1), ("bar", 1))
    .add_elements_at_time("00:00:30", ("foo", 1))
    .advance_watermark_to("00:01:00")
    .add_elements_at_time("00:00:40", ("bar", 1))  # late
    .add_elements_at_time("00:01:40", ("baz", 1))
    .advance_watermark_to("00:05:00")
    .add_elements_at_time("00:02:50", ("foo", 1))  # too late
    .advance_watermark_to_infinity()
)


def counted(events: PCollection[Pair]) -> PCollection[Pair]:
    """Panes of all timings, and a drop::

    key    window                timing   #  place
    'foo'  [00:00:00, 00:01:00)  EARLY    0  first    2
    'foo'  [00:00:00, 00:01:00)  ON_TIME  1           2
    'bar'  [00:00:00, 00:01:00)  ON_TIME  0  first    1
    'bar'  [00:00:00, 00:01:00)  LATE     1           2
    'baz'  [00:01:00, 00:02:00)  ON_TIME  0  only     1
    'foo'  [00:02:00, 00:03:00)  DROPPED              1
    """
    return (
        events
        | WindowInto(
            FixedWindows("1 minute"),
            trigger=AfterWatermark(early=AfterCount(2), late=AfterCount(1)),
            allowed_lateness="30 s",
            accumulation_mode="accumulating",
        )
        | CombinePerKey(Count())
    )


def summed(events: PCollection[Pair]) -> PCollection[Pair]:
    """In the global window, an early pane with each element, and one at the end."""
    return (
        events
        | "Whole" >> WindowInto(GlobalWindows(), trigger=Always(), accumulation_mode="accumulating")
        | "Sum" >> CombinePerKey(sum)
    )


def results_of_all() -> dict[str, Results]:
    pipeline = TestPipeline()
    events = pipeline | EVENTS
    collections = {
        "windows": counted(events),
        "global": summed(events),
        "nothing": pipeline | "Nothing" >> Create([]),
    }
    run = pipeline.run().outputs
    return {
        name: results_of(run, collection.edge, collection.windowing)
        for name, collection in collections.items()
    }


RESULTS = results_of_all()

# What each pane matcher selects.

FOO, BAR, BAR_LATE, BAZ = ("foo", 2), ("bar", 1), ("bar", 2), ("baz", 1)
EACH_STEP = [("foo", 1), ("bar", 1), ("foo", 2), ("bar", 2), ("baz", 1), ("foo", 3)]
NO_PANE, NO_WINDOW, NOTHING, NOT_ALONE = "no pane", "no window", "nothing", "not alone"
ONE, SEVERAL, DOUBLES = "one", "several", "doubles"


def whole(matcher: Any) -> Any:
    return matcher


Panes = tuple[Callable[..., Any], tuple[str, ...], str, str, list[Pair]]

SELECTED: list[Panes] = [
    (whole, (), "windows", DOUBLES, [FOO, FOO, BAR, BAR_LATE, BAZ]),
    (whole, (), "nothing", NOTHING, []),
    (in_window, FIRST, "windows", DOUBLES, [FOO, FOO, BAR, BAR_LATE]),
    (in_window, ONLY, "windows", ONE, [BAZ]),
    (in_window, DROPPED, "windows", NO_PANE, []),
    (in_window, NEVER, "windows", NO_WINDOW, []),
    (in_on_time_pane, FIRST, "windows", SEVERAL, [FOO, BAR]),
    (in_on_time_pane, ONLY, "windows", ONE, [BAZ]),
    (in_on_time_pane, DROPPED, "windows", NO_PANE, []),
    (in_on_time_pane, NEVER, "windows", NO_WINDOW, []),
    (in_early_pane, FIRST, "windows", ONE, [FOO]),
    (in_early_pane, ONLY, "windows", NO_PANE, []),
    (in_early_pane, NEVER, "windows", NO_WINDOW, []),
    (in_late_pane, FIRST, "windows", ONE, [BAR_LATE]),
    (in_late_pane, ONLY, "windows", NO_PANE, []),
    (in_late_pane, NEVER, "windows", NO_WINDOW, []),
    (in_combined_non_late_panes, FIRST, "windows", DOUBLES, [FOO, FOO, BAR]),
    (in_combined_non_late_panes, ONLY, "windows", ONE, [BAZ]),
    (in_combined_non_late_panes, DROPPED, "windows", NO_PANE, []),
    (in_combined_non_late_panes, NEVER, "windows", NO_WINDOW, []),
    (in_final_pane, FIRST, "windows", NO_PANE, []),
    (in_final_pane, ONLY, "windows", ONE, [BAZ]),
    (in_final_pane, NEVER, "windows", NO_WINDOW, []),
    (in_only_pane, FIRST, "windows", NOT_ALONE, [FOO, FOO, BAR, BAR_LATE]),
    (in_only_pane, ONLY, "windows", ONE, [BAZ]),
    (in_only_pane, DROPPED, "windows", NO_PANE, []),
    (in_only_pane, NEVER, "windows", NO_WINDOW, []),
    (in_early_global_window_panes, (), "global", DOUBLES, EACH_STEP),
    (in_early_global_window_panes, (), "nothing", NO_WINDOW, []),
    (in_early_global_window_panes, (), "windows", "other windows", []),
]

# What each value matcher, made for the selected elements, makes of them. The answers to `to` and
# to `not_to`: P passes, F fails, R is refused because it says nothing.

OTHER = ("qux", 9)
COLUMNS = (ONE, SEVERAL, DOUBLES, NO_PANE, NO_WINDOW, NOTHING)
ANSWERS: dict[str, tuple[Callable[[list[Pair]], Any], str]] = {
    #                                      one several doubles no pane no window nothing
    "these in any order": (contain_in_any_order, "PF PF PF PF PF PF"),
    "others in any order": (lambda it: contain_in_any_order([*it, OTHER]), "FP FP FP FP FR FP"),
    "the first alone": (lambda it: contain_single_value([*it, OTHER][0]), "PF FP FP FP FR FR"),
    "another alone": (lambda it: contain_single_value(OTHER), "FP FP FP FP FR FR"),
    "the first": (lambda it: contain_value([*it, OTHER][0]), "PF PF PF FP FR FR"),
    "another": (lambda it: contain_value(OTHER), "FP FP FP FP FR FR"),
    "these at a wrong time": (lambda it: contain_in_any_order_at_time(7, it), "FP FP FP PF PF PF"),
    "the first alone at a wrong time": (
        lambda it: contain_single_value_at_time(7, [*it, OTHER][0]),
        "FP FP FP FP FR FR",
    ),
    "the first at a wrong time": (
        lambda it: contain_value_at_time(7, [*it, OTHER][0]),
        "FP FP FP FP FR FR",
    ),
    "emptiness": (lambda it: be_empty, "FP FP FP PF PF PF"),
    "their number": (lambda it: have_size(len(it)), "PF PF PF PF PF PF"),
    "another number": (lambda it: have_size(len(it) + 1), "FP FP FP FP FR FP"),
    "these as a map": (lambda it: equal_map_of(dict(it)), "PF PF FP PF PF PF"),
    "others as a map": (lambda it: equal_map_of(dict([*it, OTHER])), "FP FP FP FP FR FP"),
    "what they all satisfy": (
        lambda it: satisfy(lambda every: len(every) == len(it)),
        "PF PF PF PF RF PF",
    ),
    "what they do not satisfy": (
        lambda it: satisfy(lambda every: len(every) > len(it)),
        "FP FP FP FP FR FP",
    ),
    "what one satisfies alone": (lambda it: satisfy_single_value(bool), "PF FP FP FP FR FR"),
    "what one does not": (lambda it: satisfy_single_value(lambda _: False), "FP FP FP FP FR FR"),
    "what holds for all": (lambda it: for_all(bool), "PF PF PF PF RF RF"),
    "what holds for none": (lambda it: for_all(lambda _: False), "FP FP FP PF RF RF"),
    "what one is": (lambda it: exist(bool), "PF PF PF FP FR FR"),
    "what none is": (lambda it: exist(lambda _: False), "FP FP FP FP FR FR"),
}


def answer(matcher: Matcher, results: Results, *, negated: bool) -> str:
    failure = matcher.failure(results, negated=negated)
    if failure is None:
        return "P"
    return "R" if "says nothing" in failure.headline else "F"


def expected(column: str, row: str) -> str:
    match column:
        case "not alone":  # whatever is asked
            return "FF"
        case "other windows":
            return "RR"
    return dict(zip(COLUMNS, ANSWERS[row][1].split(), strict=True))[column]


@pytest.mark.parametrize(
    ("panes", "window", "of", "column", "elements"),
    SELECTED,
    ids=[f"{it[0].__name__}, {it[3]}, {it[2]}" for it in SELECTED],
)
def test_every_matcher_of_values_in(
    panes: Callable[..., Any], window: tuple[str, ...], of: str, column: str, elements: list[Pair]
) -> None:
    answers = {}
    for row, (made, _) in ANSWERS.items():
        matcher = panes(*window, made(elements))
        answers[row] = "".join(answer(matcher, RESULTS[of], negated=it) for it in (False, True))

    assert answers == {row: expected(column, row) for row in ANSWERS}


def test_the_tables_have_every_matcher() -> None:
    assert {panes.__name__ for panes, *_ in SELECTED} - {"whole"} == _names_of(matchers)
    made = {made([OTHER]).name for made, _ in ANSWERS.values()}
    assert made == _names_of(values)


def _names_of(module: ModuleType) -> set[str]:
    """What the harness has of a module."""
    names = beamlike.testing.__all__
    return {it for it in names if getattr(beamlike.testing, it).__module__ == module.__name__}
