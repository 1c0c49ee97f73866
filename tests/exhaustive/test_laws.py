"""Each law holds of every stream up to a bound, and what breaks it is found."""

from collections import Counter
from collections.abc import Callable, Iterator

import attrs

import beamlike as bl
from tests.exhaustive.events import Arrive, Row, Stream, Watermark
from tests.exhaustive.laws import FOLDS, LAWS, LONGER, ONCE, broken_laws, random_case_of
from tests.exhaustive.search import reached
from tests.exhaustive.strategies import STRATEGIES, wide
from tests.exhaustive.streams import Alphabet
from tests.support import differential

EVENTS = 2


def test_a_longer_lateness_loses_nothing_in_any_stream() -> None:
    """The other laws are checked by `test_model_and_reference_machine_agree_on_every_stream`."""
    # Every strategy has its turn in the command.
    for strategy in STRATEGIES[::13]:
        for here in reached(strategy, attrs.evolve(wide(strategy), events=EVENTS)):
            assert "\n".join(map(str, broken_laws(here, {LONGER: LAWS[LONGER]}))) == ""


def test_the_laws_of_random_scenarios_hold_of_every_stream() -> None:
    applied = Counter[str]()
    for strategy in STRATEGIES[::13]:
        for here in reached(strategy, attrs.evolve(wide(strategy), events=EVENTS)):
            broken = differential.LAWS.broken(random_case_of(here), applied)
            assert [(one.law, one.differences) for one in broken] == []
    assert applied.keys() == {*differential.LAWS} - {differential.EITHER_MACHINE}


DEFAULT = bl.WindowingStrategy(bl.FixedWindows(10), bl.DefaultTrigger(), allowed_lateness=7)
RETRACTING = bl.WindowingStrategy(bl.FixedWindows(10), bl.DefaultTrigger(), "retracting", 7)
SMALL = Alphabet((0, 10), (10, 17), (), 3)


def broken_of(
    strategy: bl.WindowingStrategy, law: str, change: Callable[[Row], Row | None]
) -> set[Stream]:
    """The streams that break a law once each row of what comes out of them is changed."""

    def changed(rows: object) -> Iterator[Row]:
        assert isinstance(rows, list)
        yield from (row for row in map(change, rows) if row is not None)

    found = set()
    for here in reached(strategy, SMALL):
        outcomes = tuple(list(changed(rows)) for rows in here.outcomes)
        wrong = attrs.evolve(here, outcomes=outcomes)
        found |= {broken.stream for broken in broken_laws(wrong, {law: LAWS[law]})}
    return found


def without(kind: str) -> Callable[[Row], Row | None]:
    return lambda row: None if row[1] == kind else row


def test_an_element_that_is_nowhere_is_found() -> None:
    assert (Arrive((0,)),) in broken_of(DEFAULT, ONCE, without("pane"))
    late = (Watermark(17), Arrive((0,)))
    assert late in broken_of(DEFAULT, ONCE, without("expired"))
    assert late not in broken_of(DEFAULT, ONCE, without("pane"))


def test_an_element_that_is_twice_in_a_pane_is_found() -> None:
    def twice(row: Row) -> Row:
        return (*row[:4], 2 * row[4], *row[5:]) if row[1] == "pane" else row  # type: ignore[operator]

    assert (Arrive((0,)),) in broken_of(DEFAULT, ONCE, twice)


def test_a_pane_that_is_not_withdrawn_is_found() -> None:
    broken = broken_of(RETRACTING, FOLDS, without("withdrawn"))

    assert (Arrive((0,)), Watermark(10), Arrive((0,))) in broken
    assert (Arrive((0,)), Watermark(10)) not in broken


def test_what_is_withdrawn_and_does_not_stand_is_found() -> None:
    broken = broken_of(
        RETRACTING, FOLDS, lambda row: (row[0], "withdrawn", *row[2:]) if row[0] == 0 else row
    )

    assert (Watermark(10), Arrive((0,))) not in broken
    early = bl.WindowingStrategy(bl.FixedWindows(10), allowed_lateness=7, accumulation="retracting")
    assert broken_of(early, FOLDS, lambda row: (row[0], "withdrawn", *row[2:])) != set()


def test_a_longer_lateness_that_loses_something_is_found() -> None:
    # As if the shorter one had kept what it has dropped.
    assert broken_of(DEFAULT, LONGER, lambda row: row) == set()
    never = bl.WindowingStrategy(bl.FixedWindows(10), allowed_lateness=0)
    kept = broken_of(never, LONGER, without("expired"))
    assert (Watermark(17), Arrive((0,))) in kept
