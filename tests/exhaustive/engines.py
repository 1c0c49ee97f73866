"""What is compared: engines that each play many streams side by side.

An engine is a function from a strategy to a `Walk`: streams at one place of the tree. To compare
one more, add it to `ENGINES`. A function that plays a whole script joins with a line:
``"memory": from_script(in_memory)``. An engine that can go on from where it is has a walk of its
own, which is cheaper.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, Self

import attrs

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn, Sum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Run, Script
from tests.exhaustive import rules
from tests.exhaustive.events import END, Arrive, Clock, Row, Stream, Watermark
from tests.exhaustive.scripts import aligned, elements_of, move_of, row_of, scripted
from tests.exhaustive.shards import Shards

Rows = Sequence[Row]


class Walk(Protocol):
    """Many streams at one place of the tree. A value: walking on leaves it as it is."""

    def spread(self, parents: Sequence[int]) -> Self:
        """For each of these numbers a stream that begins as the one of that number."""
        ...

    def arrive(self, bundles: Sequence[Arrive | None]) -> Self:
        """A bundle for each stream; nothing happens to one that has None."""
        ...

    def move(self, to: Watermark | Clock) -> Self:
        """The same move for all of them."""
        ...

    def outcomes(self, chosen: Sequence[int]) -> Sequence[Rows]:
        """For each of these streams everything that comes out of it, played to the end."""
        ...


Engine = Callable[[WindowingStrategy], Walk]


# -- the model ---------------------------------------------------------------------------------


@attrs.frozen
class _Streams:
    """Streams of which nothing but their history is kept."""

    strategy: WindowingStrategy
    streams: tuple[Stream, ...] = ((),)

    def spread(self, parents: Sequence[int]) -> Self:
        return attrs.evolve(self, streams=tuple([self.streams[parent] for parent in parents]))

    def arrive(self, bundles: Sequence[Arrive | None]) -> Self:
        pairs = zip(self.streams, bundles, strict=True)
        streams = [stream if bundle is None else (*stream, bundle) for stream, bundle in pairs]
        return attrs.evolve(self, streams=tuple(streams))

    def move(self, to: Watermark | Clock) -> Self:
        return attrs.evolve(self, streams=tuple([(*stream, to) for stream in self.streams]))


@attrs.frozen
class _Histories(_Streams):
    """Streams that are asked for one by one."""

    outcome: Callable[[WindowingStrategy, Stream], Rows] = attrs.field(kw_only=True)

    def outcomes(self, chosen: Sequence[int]) -> Sequence[Rows]:
        return [self.outcome(self.strategy, (*self.streams[at], END)) for at in chosen]


def from_history(outcome: Callable[[WindowingStrategy, Stream], Rows]) -> Engine:
    """An engine of a function that says what comes out of one whole stream."""
    return lambda strategy: _Histories(strategy, outcome=outcome)


# -- scripts -----------------------------------------------------------------------------------


@attrs.frozen
class _Scripts(_Streams):
    """Streams that are played from the beginning, all as keys of one script."""

    run: Callable[[WindowingStrategy, Script], Run] = attrs.field(kw_only=True)

    def outcomes(self, chosen: Sequence[int]) -> Sequence[Rows]:
        script = scripted({str(at): self.streams[at] for at in chosen})
        found = script.rows(self.run(self.strategy, script.script).outputs)
        return [found[str(at)] for at in chosen]


def from_script(run: Callable[[WindowingStrategy, Script], Run]) -> Engine:
    """An engine of a function that plays a script. Its values are whole numbers to be summed."""
    return lambda strategy: _Scripts(strategy, run=run)


# -- the reference machine ---------------------------------------------------------------------


@attrs.frozen
class _One:
    """A stream in the reference machine."""

    state: KeyState | None
    rows: tuple[Row, ...]
    arrived: int
    step: int


@attrs.frozen
class _Stepped:
    """Streams in the reference machine, each in the state that it is in."""

    machine: Grouping
    restart: Callable[[KeyState], KeyState]
    ones: tuple[_One, ...] = (_One(None, (), 0, 0),)
    watermark: int = MIN_TIMESTAMP
    clock: int = 0

    def spread(self, parents: Sequence[int]) -> Self:
        return attrs.evolve(self, ones=tuple([self.ones[parent] for parent in parents]))

    def arrive(self, bundles: Sequence[Arrive | None]) -> Self:
        ones = [
            one if bundle is None else self._arrived(one, bundle)
            for one, bundle in zip(self.ones, bundles, strict=True)
        ]
        return attrs.evolve(self, ones=tuple(ones))

    def move(self, to: Watermark | Clock) -> Self:
        event = move_of(to)
        ones = tuple([self._stepped(one, event, one.arrived) for one in self.ones])
        if isinstance(to, Watermark):
            return attrs.evolve(self, ones=ones, watermark=to.to)
        return attrs.evolve(self, ones=ones, clock=to.to)

    def outcomes(self, chosen: Sequence[int]) -> Sequence[Rows]:
        return [one.rows for one in self.spread(chosen).move(END).ones]

    def _arrived(self, one: _One, bundle: Arrive) -> _One:
        elements = elements_of(bundle, one.arrived)
        state = one.state or KeyState.unseen(self.watermark, self.clock)
        begun = attrs.evolve(one, state=state)
        return self._stepped(begun, Bundle(elements), one.arrived + len(elements))

    def _stepped(
        self, one: _One, event: Bundle | AdvanceWatermark | AdvanceClock, arrived: int
    ) -> _One:
        if one.state is None:
            return attrs.evolve(one, step=one.step + 1)
        state, effects = self.machine.step(self.restart(one.state), event)
        rows = [row_of(one.step, effect) for effect in effects]
        return _One(state, (*one.rows, *rows), arrived, one.step + 1)


def reference(strategy: WindowingStrategy, combine: CombineFn | None = None) -> Walk:
    """The reference machine, one key at a time."""
    return _Stepped(Grouping(strategy, combine or Sum()), lambda state: state)


# -- all of them -------------------------------------------------------------------------------


def local(strategy: WindowingStrategy) -> Walk:
    """The runtime of production, as the local host has it, with all streams as keys of a shard."""
    return Shards.of(strategy)


def in_memory(strategy: WindowingStrategy, script: Script) -> Run:
    """The memory host, with values that are summed."""
    return run_in_memory(Grouping(strategy, Sum()), script)


MODEL: Final = from_history(rules.outcome)
"""The rules in the plainest way. Everything else is compared with it."""

ENGINES: Final[dict[str, Engine]] = {"reference": reference, "local": local}
"""What is compared with the model, by name."""


def played(
    engine: Engine, strategy: WindowingStrategy, streams: Sequence[Stream]
) -> Sequence[Rows]:
    """What an engine makes of streams with the same moves, from the beginning."""
    walk = engine(strategy).spread([0] * len(streams))
    for together in aligned(streams):
        if isinstance(together, Watermark | Clock):
            walk = walk.move(together)
        else:
            walk = walk.arrive(together)
    return walk.outcomes(range(len(streams)))
