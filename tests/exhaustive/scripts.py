"""Streams with the same moves as one script, in which each is a key; and what comes out of it."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import attrs

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Effect, Element
from beamlike.runtime.script import Arrive as ArriveTogether
from beamlike.runtime.script import Output, Script
from tests.exhaustive.events import BITS, END, Arrive, Clock, Event, Row, Stream, Watermark

Together = Watermark | Clock | tuple[Arrive | None, ...]
"""A move for all streams; or for each the bundle that comes, None if none does."""


def move_of(move: Watermark | Clock) -> AdvanceWatermark | AdvanceClock:
    """A move as an event of a machine."""
    return AdvanceWatermark(move.to) if isinstance(move, Watermark) else AdvanceClock(move.to)


@cache
def elements_of(bundle: Arrive, arrived: int) -> tuple[Element, ...]:
    """The elements of a bundle that comes after so many others; their values are to be summed."""
    return tuple(
        Element(1 << BITS * number, time) for number, time in enumerate(bundle.times, arrived)
    )


def row_of(step: int, effect: Effect) -> Row:
    """Something that came out of a machine: of values, or of rows of one, that were summed."""
    if isinstance(effect, Drop):
        assert effect.window is not None
        number = (_summed(effect.value).bit_length() - 1) // BITS
        span = effect.window.start, effect.window.end
        return (step, effect.reason.value, *span, number, effect.missed_by)
    info, window = effect.info, effect.window
    return (
        step,
        "withdrawn" if effect.retraction else "pane",
        window.start,
        window.end,
        _summed(effect.value),
        effect.timestamp,
        info.timing.value,
        info.index,
        info.nonspeculative_index,
        info.is_first,
        info.is_last,
    )


def _summed(value: Any) -> int:
    number: int = value[0] if isinstance(value, tuple) else value
    return number


def aligned(streams: Sequence[Stream]) -> Iterator[Together]:
    """What happens to streams with the same moves, side by side.

    Between two moves the first bundles of all streams come together, then the second ones.
    """
    between = [list(_between_moves(stream)) for stream in streams]
    for number, move in enumerate((*_moves_of(streams), None)):
        bundles = [of_stream[number] for of_stream in between]
        for index in range(max(map(len, bundles))):
            yield tuple(bundle[index] if index < len(bundle) else None for bundle in bundles)
        if move is not None:
            yield move


def _moves_of(streams: Sequence[Stream]) -> list[Watermark | Clock]:
    first, *others = [
        [event for event in stream if not isinstance(event, Arrive)] for stream in streams
    ]
    assert all(moves == first for moves in others), "the streams have the same moves"
    return first


def _between_moves(stream: Stream) -> Iterator[list[Arrive]]:
    """The bundles before, between and after the moves of a stream."""
    bundles: list[Arrive] = []
    for event in stream:
        if isinstance(event, Arrive):
            bundles.append(event)
        else:
            yield bundles
            bundles = []
    yield bundles


@attrs.frozen
class Scripted:
    """Streams as one script, to its end; and for each key the steps of the script that it has."""

    script: Script
    steps: Mapping[Hashable, Sequence[int]]

    def rows(self, outputs: Iterable[Output]) -> dict[Hashable, list[Row]]:
        """What came out of each stream, by its own steps."""
        own = {
            key: {step: index for index, step in enumerate(steps)}
            for key, steps in self.steps.items()
        }
        found: dict[Hashable, list[Row]] = {key: [] for key in self.steps}
        for output in outputs:
            found[output.key].append(row_of(own[output.key][output.step], output.effect))
        return found


def scripted(streams: Mapping[Any, Stream]) -> Scripted:
    """Streams by their keys. A bundle without elements is a step in which nothing comes."""
    script: list[ArriveTogether | AdvanceWatermark | AdvanceClock] = []
    arrived = dict.fromkeys(streams, 0)
    steps: dict[Hashable, list[int]] = {key: [] for key in streams}
    together: Event | tuple[Arrive | None, ...]
    for number, together in enumerate((*aligned(list(streams.values())), END)):
        if isinstance(together, Watermark | Clock):
            script.append(move_of(together))
            for of_key in steps.values():
                of_key.append(number)
            continue
        elements: list[tuple[Hashable, Element]] = []
        for key, bundle in zip(streams, together, strict=True):
            if bundle is not None:
                elements += ((key, element) for element in elements_of(bundle, arrived[key]))
                arrived[key] += len(bundle.times)
                steps[key].append(number)
        script.append(ArriveTogether(tuple(elements)))
    return Scripted(tuple(script), steps)
