"""What has to hold of every stream, whatever the rules say in detail.

A law takes a node of the tree, streams with what the model says comes out of each, and names the
streams that break it. The laws of random scenarios (`tests.support.differential`) hold of a node,
too: restarts, cuts of bundles and other keys change nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from beamlike.model.sessions import Sessions
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from tests.exhaustive.engines import (
    Rows,
    played,
    reference,
)
from tests.exhaustive.events import BITS, Arrive, Row, Stream, Watermark
from tests.exhaustive.rules import Span, windows_at
from tests.exhaustive.scripts import scripted
from tests.exhaustive.search import Difference, Reached
from tests.support.differential import Case
from tests.support.generated.scenarios import RandomScenario

Broken = Iterator[Difference]
Law = Callable[[Reached], Broken]


@cache
def numbers_in(content: object) -> tuple[int, ...]:
    """The numbers of the elements in a pane, each as often as it is in it."""
    assert isinstance(content, int), content
    counts = content.to_bytes((content.bit_length() + BITS - 1) // BITS, "little")
    return tuple(number for number, count in enumerate(counts) for _ in range(count))


def times_of(stream: Stream) -> list[int]:
    """The time of each element, by its number."""
    return [time for event in stream if isinstance(event, Arrive) for time in event.times]


def _broken(reached: Reached, at: int, law: str, sentences: Sequence[str]) -> Broken:
    if sentences:
        stream = reached.streams[at]
        yield Difference(reached.strategy, stream, law, sentences=tuple(sentences))


# -- where elements are --------------------------------------------------------------------------


def _once(reached: Reached) -> Broken:
    for index, (stream, rows) in enumerate(zip(reached.streams, reached.outcomes, strict=True)):
        yield from _broken(reached, index, ONCE, _not_once(reached.strategy, stream, rows))


def _not_once(strategy: WindowingStrategy, stream: Stream, rows: Rows) -> list[str]:
    """The elements that are not in as many panes and drops as they have windows."""
    merging = isinstance(strategy.window_fn, Sessions)
    places: list[tuple[int, object]] = []
    dropped: list[object] = []
    for row in rows:
        if row[1] == "pane":
            numbers = numbers_in(row[4])
            if len(set(numbers)) < len(numbers):
                return [f"an element is twice in {row}"]
            start = None if merging else row[2]
            places += [(number, start) for number in numbers]
        elif row[1] != "withdrawn":
            dropped.append(row[4])
    if strategy.accumulation is not AccumulationMode.DISCARDING:
        places = list(set(places))
    found = [number for number, _ in places]
    return [
        f"element {number} at {time}: in {found.count(number)} places, dropped "
        f"{dropped.count(number)} times, of {len(windows_at(strategy.window_fn, time))} windows"
        for number, time in enumerate(times_of(stream))
        if found.count(number) + dropped.count(number) != len(windows_at(strategy.window_fn, time))
    ]


def _folds(reached: Reached) -> Broken:
    if reached.strategy.accumulation is AccumulationMode.RETRACTING:
        for index, (stream, rows) in enumerate(zip(reached.streams, reached.outcomes, strict=True)):
            yield from _broken(reached, index, FOLDS, _not_folding(reached.strategy, stream, rows))


def _not_folding(strategy: WindowingStrategy, stream: Stream, rows: Rows) -> list[str]:
    """What is wrong with the panes that stand in the end."""
    stands: Counter[Row] = Counter()
    for row in rows:
        if row[1] == "pane":
            stands[row[2:]] += 1
        elif row[1] == "withdrawn":
            stands[row[2:]] -= 1
            if stands[row[2:]] < 0:
                return [f"withdrawn, and does not stand: {row}"]
    found = Counter[tuple[object, ...]]()
    for pane in stands.elements():
        found.update((*pane[:2], number) for number in numbers_in(pane[2]))
    if any(count > 1 for count in found.values()):
        return ["an element stands twice in a window"]
    if strategy.trigger.may_finish or not _in_time(strategy, stream):
        return []
    wanted = set(_in_batch(strategy, stream))
    return [] if found.keys() == wanted else [f"{sorted(found)} stands, in a batch {wanted}"]


def _in_time(strategy: WindowingStrategy, stream: Stream) -> bool:
    """Whether no window of any element has expired before the last element has come."""
    ends = [end for time in times_of(stream) for _, end in windows_at(strategy.window_fn, time)]
    expiry = min(ends, default=MAX_TIMESTAMP) - 1 + strategy.allowed_lateness
    return _watermark_at_last(stream) <= expiry


def _watermark_at_last(stream: Stream) -> int:
    watermark, at_last = MIN_TIMESTAMP, MIN_TIMESTAMP
    for event in stream:
        if isinstance(event, Watermark):
            watermark = event.to
        elif isinstance(event, Arrive):
            at_last = watermark
    return at_last


def _in_batch(strategy: WindowingStrategy, stream: Stream) -> Iterator[tuple[int, int, int]]:
    """Every window of a batch of all the elements, with the number of each element in it."""
    times = times_of(stream)
    spans = [(span, n) for n, t in enumerate(times) for span in windows_at(strategy.window_fn, t)]
    if not isinstance(strategy.window_fn, Sessions):
        yield from ((*span, number) for span, number in spans)
        return
    sessions: list[tuple[Span, list[int]]] = []
    for (start, end), number in sorted(spans):
        if sessions and start < sessions[-1][0][1]:
            (first, last), numbers = sessions[-1]
            sessions[-1] = ((first, max(last, end)), [*numbers, number])
        else:
            sessions.append(((start, end), [number]))
    yield from ((*span, number) for span, numbers in sessions for number in numbers)


# -- another play --------------------------------------------------------------------------------


def _longer(reached: Reached) -> Broken:
    lateness = reached.strategy.allowed_lateness
    for longer in {lateness + 1, 2 * lateness + 5, MAX_TIMESTAMP} - {lateness}:
        strategy = reached.strategy.configured(allowed_lateness=min(longer, MAX_TIMESTAMP))
        plays = played(reference, strategy, reached.streams)
        for index, (short, long) in enumerate(zip(reached.outcomes, plays, strict=True)):
            lost = _lost(reached.strategy, long) - _lost(reached.strategy, short)
            yield from _broken(reached, index, LONGER, [f"{one} with {longer} ms" for one in lost])


def _lost(strategy: WindowingStrategy, rows: Rows) -> set[Row]:
    # What a longer life of the window lets in may close it earlier, where a trigger can finish.
    kinds = ("expired",) if strategy.trigger.may_finish else ("expired", "closed")
    return {(row[4],) + (() if row[1] == "closed" else row[2:4]) for row in rows if row[1] in kinds}


# -- all of them ---------------------------------------------------------------------------------

ONCE: Final = "each element is in panes or dropped, once"
FOLDS: Final = "retractions fold to the batch result"
LONGER: Final = "a longer lateness loses nothing that a shorter one kept"

CHEAP: Final[Mapping[str, Law]] = {ONCE: _once, FOLDS: _folds}
"""Those that look at what came out and play nothing else: they are checked wherever engines are."""

LAWS: Final[Mapping[str, Law]] = {**CHEAP, LONGER: _longer}


def broken_laws(reached: Reached, laws: Mapping[str, Law] = LAWS) -> list[Difference]:
    """The streams of a node that break a law."""
    return [broken for law in laws.values() for broken in law(reached)]


def random_case_of(reached: Reached) -> Case:
    """The streams of a node as keys of one scenario, for the laws of random ones."""
    streams = {str(number): stream for number, stream in enumerate(reached.streams)}
    scenario = RandomScenario(reached.strategy, "list", scripted(streams).script)
    return Case(f"{reached.strategy} {reached.streams[0]}", scenario)
