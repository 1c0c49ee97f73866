"""The strategies of the search: every pair of features is in one, and their values lie right."""

from itertools import combinations

from beamlike.model import triggers
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterProcessingTime, Trigger
from beamlike.model.windowfns import FixedWindows
from tests.exhaustive.strategies import FACTORS, STRATEGIES, TRIGGERS, deep, wide
from tests.exhaustive.streams import Alphabet


def test_there_are_more_than_two_hundred_and_each_is_another() -> None:
    assert len(STRATEGIES) == len(set(map(str, STRATEGIES))) == 265


def test_each_value_of_each_part_meets_each_value_of_each_other_part() -> None:
    missing = [
        (one, a, other, b)
        for one, other in combinations(FACTORS, 2)
        for a in FACTORS[one]
        for b in FACTORS[other]
        if not any(getattr(s, one) == a and getattr(s, other) == b for s in STRATEGIES)
    ]

    assert missing == []


def test_every_trigger_of_beam_is_in_a_tree() -> None:
    every = {
        var
        for var in vars(triggers).values()
        if isinstance(var, type) and issubclass(var, Trigger)
        if var.__module__ == triggers.__name__ and var.__name__[0] != "_"
    }

    assert {type(node) for trigger in TRIGGERS for node in trigger.walk()} == every


def test_values_lie_before_at_and_after_each_boundary() -> None:
    strategy = WindowingStrategy(FixedWindows(10), AfterProcessingTime(2), allowed_lateness=7)

    assert wide(strategy) == Alphabet((-1, 0, 1, 9, 10), (9, 10, 11, 16, 17, 18), (1, 2, 3, 4), 4)
    assert deep(strategy) == Alphabet((9, 10), (9, 10, 16, 17), (2, 3), 6)
