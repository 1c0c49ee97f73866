"""What has to hold of every stream, whatever the rules say in detail.

A law takes a node of the tree, streams with what the model says comes out of each, and names the
streams that break it. Other plays of the same streams are played by engines.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final

from beamlike.hosts.local.scripts import run_in_local
from beamlike.model.combine import Sum
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.script import Run, Script
from tests.exhaustive.engines import (
    Engine,
    Rows,
    from_script,
    in_memory,
    played,
    reference,
    restarting,
)
from tests.exhaustive.events import BITS, END, Arrive, Clock, Event, Row, Stream, Watermark
from tests.exhaustive.rules import Span, outcome, windows_at
from tests.exhaustive.scripts import scripted
from tests.exhaustive.search import Difference, Reached, unlike
from tests.support.machines.bundles import is_patient, keeps_contents
from tests.support.machines.in_shard import micro_batches, run_in_shard

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


# -- cuts ----------------------------------------------------------------------------------------


def _cuts(reached: Reached) -> Broken:
    for index, (stream, rows) in enumerate(zip(reached.streams, reached.outcomes, strict=True)):
        joined, origin = _joined(stream)
        if joined == stream:
            continue
        cut = [(origin[_step_of(row)], *row[1:]) for row in rows]
        whole = outcome(reached.strategy, (*joined, END))
        yield from _broken(
            reached, index, CUTS, _other_if_cut(reached.strategy, stream, joined, cut, whole)
        )


def _joined(stream: Stream) -> tuple[Stream, list[int]]:
    """The stream with bundles that follow each other in one; for each step, its step there."""
    joined: list[Event] = []
    origin = []
    for event in stream:
        last = joined[-1] if joined else None
        if isinstance(event, Arrive) and isinstance(last, Arrive):
            joined[-1] = Arrive((*last.times, *event.times))
        else:
            joined.append(event)
        origin.append(len(joined) - 1)
    return tuple(joined), [*origin, len(joined)]


def _step_of(row: Row) -> int:
    step = row[0]
    assert isinstance(step, int)
    return step


def _other_if_cut(
    strategy: WindowingStrategy, stream: Stream, joined: Stream, cut: Rows, rows: Rows
) -> list[str]:
    """What a cut of bundles changes and must not."""
    found = []
    if Counter(_expired(cut)) != Counter(_expired(rows)):
        found.append("other elements have expired")
    if keeps_contents(strategy) and _last_word(strategy, cut) != _last_word(strategy, rows):
        found.append("in the end other elements are in the windows")
    open_ = is_patient(strategy) and _all_open(strategy, stream)
    if open_ and Counter(cut) != Counter(rows):
        found.append(f"other panes; of {joined}: {rows}")
    return found


def _expired(rows: Rows) -> list[Row]:
    return [row for row in rows if row[1] == "expired"]


def _all_open(strategy: WindowingStrategy, stream: Stream) -> bool:
    """Whether every element comes before the watermark is past the end of any of its windows."""
    watermark = MIN_TIMESTAMP
    for event in stream:
        if isinstance(event, Watermark):
            watermark = event.to
        elif isinstance(event, Arrive):
            ends = [end for time in event.times for _, end in windows_at(strategy.window_fn, time)]
            if any(watermark >= end for end in ends):
                return False
    return True


def _last_word(strategy: WindowingStrategy, rows: Rows) -> Counter[tuple[object, ...]]:
    """Which elements are in which window in the end; of windows that merge, in any of them."""
    merging = isinstance(strategy.window_fn, Sessions)
    last: dict[tuple[object, ...], set[int]] = defaultdict(set)
    for row in rows:
        if row[1] == "pane":
            last[() if merging else row[2:4]] |= set(numbers_in(row[4]))
    return Counter((*span, number) for span, numbers in last.items() for number in numbers)


# -- other plays ---------------------------------------------------------------------------------


def _in_shard(strategy: WindowingStrategy, script: Script) -> Run:
    batches, _ = micro_batches(script, together=False)
    outputs, _ = run_in_shard(strategy, "sum", batches)
    return Run(script, tuple(outputs))


SAVED: Final[dict[str, Engine]] = {
    "the reference machine": restarting,
    "the shard that packs its state": from_script(_in_shard),
}


def _restarts(reached: Reached) -> Broken:
    for name, engine in SAVED.items():
        rows = played(engine, reached.strategy, reached.streams)
        yield from unlike(reached, f"{RESTARTS} ({name})", rows)


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


def _keys(reached: Reached) -> Broken:
    """Deal the elements of each stream to two keys in every way, and play all of them together."""
    dealt = [
        (index, number, pair)
        for index, stream in enumerate(reached.streams)
        for number, pair in enumerate(_dealings(stream))
    ]
    keys = {(at, number, hand): pair[hand] for at, number, pair in dealt for hand in (0, 1)}
    script = scripted(keys)
    alone = {key: Counter(_alone(reached.strategy, stream)) for key, stream in keys.items()}
    for name, run in {"memory": in_memory, "local": _in_local}.items():
        found = script.rows(run(reached.strategy, script.script).outputs)
        for key, stream in keys.items():
            rows = Counter(found[key])
            if rows != alone[key]:
                yield from _broken(reached, key[0], KEYS, [f"{name}, of {stream}: {rows}"])


def _in_local(strategy: WindowingStrategy, script: Script) -> Run:
    return run_in_local(strategy, Sum(), script)


def _dealings(stream: Stream) -> Iterator[tuple[Stream, Stream]]:
    """Each way to deal the elements to two keys, the first one to the first: keys are alike."""
    for hands in product((0, 1), repeat=len(times_of(stream)) - 1):
        dealt = iter((0, *hands))
        first: list[Event] = []
        second: list[Event] = []
        for event in stream:
            if isinstance(event, Watermark | Clock):
                first.append(event)
                second.append(event)
                continue
            got: tuple[list[int], list[int]] = ([], [])
            for time in event.times:
                got[next(dealt)].append(time)
            first.append(Arrive(tuple(got[0])))
            second.append(Arrive(tuple(got[1])))
        yield tuple(first), tuple(second)


def _alone(strategy: WindowingStrategy, stream: Stream) -> list[Row]:
    """What comes out of a key, some of whose bundles are empty and never came."""
    steps = [index for index, event in enumerate(stream) if event != Arrive(())]
    rows = outcome(strategy, (*(stream[step] for step in steps), END))
    steps.append(len(stream))
    return [(steps[_step_of(row)], *row[1:]) for row in rows]


# -- all of them ---------------------------------------------------------------------------------

ONCE: Final = "each element is in panes or dropped, once"
FOLDS: Final = "retractions fold to the batch result"
CUTS: Final = "cuts of bundles that may not matter do not"
RESTARTS: Final = "restarts do not matter"
LONGER: Final = "a longer lateness loses nothing that a shorter one kept"
KEYS: Final = "keys do not see each other"

LAWS: Final[Mapping[str, Law]] = {
    ONCE: _once,
    FOLDS: _folds,
    CUTS: _cuts,
    RESTARTS: _restarts,
    LONGER: _longer,
    KEYS: _keys,
}


CHEAP: Final[Mapping[str, Law]] = {ONCE: _once, FOLDS: _folds}
"""Those that look at what came out and play nothing else: they are checked wherever engines are."""


def broken_laws(reached: Reached, laws: Mapping[str, Law] = LAWS) -> list[Difference]:
    """The streams of a node that break a law."""
    return [broken for law in laws.values() for broken in law(reached)]
