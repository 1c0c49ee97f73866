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


LAST_PANE = f"{UA}: the last pane is CarrierTotals"


@pytest.mark.parametrize(
    ("tamper", "problems"),
    [
        (in_pane("AA", 1, departures=3), [f"{AA}: the last pane is", "in all: 7 rows in panes"]),
        (in_pane("UA", 2, delay=70.1), [f"{LAST_PANE}(departures=4, delay=70.1"]),
        (in_pane("UA", 2, delay=None), [f"{LAST_PANE}(departures=4, delay=None"]),
        (in_pane("UA", 2, tails=("N1", "N4", "N4")), [f"{UA}: the last pane is"]),
        (in_pane("UA", 1, index=3), [f"{UA}: the panes are numbered [0, 3, 2]"]),
        (in_pane("UA", 0, timing="LATE"), [f"{UA}: the timings are LATE, ON_TIME, LATE"]),
        (in_pane("UA", 2, timing="ON_TIME"), [f"{UA}: the timings are EARLY, ON_TIME, ON_TIME"]),
        (in_pane("UA", 0, departures=5), [f"{UA}: the panes hold [5, 3, 4] departures"]),
        (lose_last_pane, [f"{AA}: the last pane is", "in all: 5 rows in panes"]),
        (lose_window, [f"{AA}: the last pane is None", "in all: 4 rows in panes"]),
        (invent_window, ["ZZ 01 Jan 2013 06:00-07:00: the last", "in all: 8 rows in panes"]),
        (lose_drop, [f"{UA}: the last pane is", "in all: 6 rows in panes and 0 dropped are 6"]),
        (
            drop_twice,
            [
                f"{UA}: dropped {{'carrier': 'UA', 'tailnum': 'N5', 'dep_delay': 900.0}}, which is "
                "not in the input",
                "in all: 6 rows in panes and 2 dropped are 8, but the input has 7",
            ],
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
    scene: Any, tamper: Callable[[Any], None], problems: list[str]
):
    tamper(scene)
    named = check(scene.flights, scene.panes, scene.drops).problems
    assert len(named) == len(problems)
    assert all(text.startswith(start) for text, start in zip(named, problems, strict=True))


def test_a_window_that_never_closed_is_named(scene: Any):
    scene.panes["UA", scene.start] = scene.panes["UA", scene.start][:1]
    verdict = check(scene.flights, scene.panes, scene.drops)
    assert f"{UA}: the window never closed, its last pane is early" in verdict.problems
