"""The check: it holds for a true result, and names whatever is changed in it."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from beamlike.demo.check import Verdict, check

UA = "UA 01 Jan 2013 06:00-07:00"
AA = "AA 01 Jan 2013 06:00-07:00"


def test_a_true_result_holds(scene: Any):
    assert check(scene.flights, scene.panes, scene.drops) == Verdict(7, 6, 1, 2, ())


def in_pane(carrier: str, at: int, **change: Any) -> Callable[[Any], None]:
    """Change one pane of a carrier's hour."""

    def tamper(scene: Any) -> None:
        panes = list(scene.panes[carrier, scene.start])
        panes[at] = attrs.evolve(panes[at], **change)
        scene.panes[carrier, scene.start] = tuple(panes)

    return tamper


def lose_last_pane(scene: Any) -> None:
    scene.panes["AA", scene.start] = scene.panes["AA", scene.start][:-1]


def lose_window(scene: Any) -> None:
    del scene.panes["AA", scene.start]


def invent_window(scene: Any) -> None:
    scene.panes["ZZ", scene.start] = scene.panes["AA", scene.start]


def lose_drop(scene: Any) -> None:
    scene.drops.clear()


def drop_twice(scene: Any) -> None:
    scene.drops.append(scene.drops[0])


@pytest.mark.parametrize(
    ("tamper", "problems"),
    [
        (
            in_pane("AA", 1, departures=3),
            (
                f"{AA}: 1 on time + 2 added late + 0 dropped is not 2, the number in the input",
                "in all: 7 rows in panes and 1 dropped are 8, but the input has 7",
            ),
        ),
        (
            in_pane("UA", 2, delay=70.1),
            (f"{UA}: mean delay 70.1 in the last pane, 70.0 in the batch aggregation",),
        ),
        (
            in_pane("UA", 2, delay=None),
            (f"{UA}: mean delay None in the last pane, 70.0 in the batch aggregation",),
        ),
        (
            in_pane("UA", 2, tails=("N1", "N4", "N4")),
            (f"{UA}: aircraft in the last pane: ['N4'] too many, ['N1'] missing",),
        ),
        (in_pane("UA", 1, index=3), (f"{UA}: the panes are numbered [0, 3, 2]",)),
        (
            in_pane("UA", 0, timing="LATE"),
            (f"{UA}: the timings are LATE, ON_TIME, LATE",),
        ),
        (in_pane("UA", 2, timing="ON_TIME"), (f"{UA}: the timings are EARLY, ON_TIME, ON_TIME",)),
        (
            in_pane("UA", 0, departures=5),
            (f"{UA}: pane 1 has 3 departures, the pane before had 5",),
        ),
        (
            lose_last_pane,
            (
                f"{AA}: 1 on time + 0 added late + 0 dropped is not 2, the number in the input",
                f"{AA}: mean delay 0.0 in the last pane, 150.0 in the batch aggregation",
                f"{AA}: aircraft in the last pane: [] too many, ['N8'] missing",
                "in all: 5 rows in panes and 1 dropped are 6, but the input has 7",
            ),
        ),
        (
            lose_window,
            (
                f"{AA}: 0 on time + 0 added late + 0 dropped is not 2, the number in the input",
                f"{AA}: 0 pane(s) for 2 row(s)",
                "in all: 4 rows in panes and 1 dropped are 5, but the input has 7",
            ),
        ),
        (
            invent_window,
            (
                "ZZ 01 Jan 2013 06:00-07:00: has panes, but there is no such flight in the input",
                "in all: 8 rows in panes and 1 dropped are 9, but the input has 7",
            ),
        ),
        (
            lose_drop,
            (
                f"{UA}: 3 on time + 1 added late + 0 dropped is not 5, the number in the input",
                f"{UA}: mean delay 70.0 in the last pane, 277.5 in the batch aggregation",
                f"{UA}: aircraft in the last pane: [] too many, ['N5'] missing",
                "in all: 6 rows in panes and 0 dropped are 6, but the input has 7",
            ),
        ),
        (
            drop_twice,
            (
                f"{UA}: dropped {{'carrier': 'UA', 'tailnum': 'N5', 'dep_delay': 900.0}}, which is "
                "not in the input",
                f"{UA}: 3 on time + 1 added late + 2 dropped is not 5, the number in the input",
                "in all: 6 rows in panes and 2 dropped are 8, but the input has 7",
            ),
        ),
    ],
    ids=[
        "a departure too many",
        "another mean",
        "no mean",
        "another aircraft",
        "a gap in the numbering",
        "late before on time",
        "on time twice",
        "a pane that shrinks",
        "a lost pane",
        "a lost window",
        "an invented window",
        "a lost drop",
        "a drop delivered twice",
    ],
)
def test_whatever_is_changed_is_named(
    scene: Any, tamper: Callable[[Any], None], problems: tuple[str, ...]
):
    tamper(scene)
    assert check(scene.flights, scene.panes, scene.drops).problems == problems


def test_a_window_that_never_closed_is_named(scene: Any):
    scene.panes["UA", scene.start] = scene.panes["UA", scene.start][:1]
    verdict = check(scene.flights, scene.panes, scene.drops)
    assert f"{UA}: the window never closed, its last pane is early" in verdict.problems
