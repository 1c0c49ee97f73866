"""Each law holds of every stream up to a bound, and what breaks it is found."""

from collections.abc import Callable, Iterator

import attrs
import pytest

import beamlike as bl
from beamlike.runtime.script import Run, Script
from tests.exhaustive import laws
from tests.exhaustive.engines import from_script, in_memory
from tests.exhaustive.events import Arrive, Row, Stream, Watermark
from tests.exhaustive.laws import CUTS, FOLDS, KEYS, LAWS, LONGER, ONCE, RESTARTS, broken_laws
from tests.exhaustive.search import reached
from tests.exhaustive.strategies import STRATEGIES, wide
from tests.exhaustive.streams import Alphabet

EVENTS = 2


@pytest.mark.parametrize("law", LAWS)
def test_it_holds_of_every_stream(law: str) -> None:
    retracting = [s for s in STRATEGIES if s.accumulation is bl.AccumulationMode.RETRACTING]
    # Every strategy has its turn in the command.
    for strategy in retracting[::5] if law == FOLDS else STRATEGIES[::13]:
        for here in reached(strategy, attrs.evolve(wide(strategy), events=EVENTS)):
            assert "\n".join(map(str, broken_laws(here, {law: LAWS[law]}))) == ""


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


def test_a_cut_that_matters_is_found() -> None:
    def by_cut(row: Row) -> Row:
        # As if a pane had another timestamp where it comes at the third step.
        return (*row[:5], 8, *row[6:]) if row[1] == "pane" and row[0] == 2 else row

    broken = broken_of(DEFAULT, CUTS, by_cut)

    assert (Arrive((0,)), Arrive((0,))) in broken
    assert (Arrive((0, 0)),) not in broken
    assert (Arrive((0,)), Watermark(10), Arrive((0,))) not in broken


def test_a_restart_that_matters_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(strategy: bl.WindowingStrategy, script: Script) -> Run:
        run = in_memory(strategy, script)
        return attrs.evolve(run, outputs=run.outputs[1:])

    monkeypatch.setitem(laws.SAVED, "forgetful", from_script(forgetful))

    assert (Arrive((0,)),) in broken_of(DEFAULT, RESTARTS, lambda row: row)


def test_a_longer_lateness_that_loses_something_is_found() -> None:
    # As if the shorter one had kept what it has dropped.
    assert broken_of(DEFAULT, LONGER, lambda row: row) == set()
    never = bl.WindowingStrategy(bl.FixedWindows(10), allowed_lateness=0)
    kept = broken_of(never, LONGER, without("expired"))
    assert (Watermark(17), Arrive((0,))) in kept


def test_keys_that_see_each_other_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_one(strategy: bl.WindowingStrategy, script: Script) -> Run:
        run = in_memory(strategy, script)
        # As if a pane were lost where several keys have one.
        return attrs.evolve(run, outputs=run.outputs[: max(1, len(run.outputs) - 1)])

    monkeypatch.setattr(laws, "in_memory", as_one)

    assert broken_of(DEFAULT, KEYS, lambda row: row) != set()
