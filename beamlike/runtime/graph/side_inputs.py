"""A function that looks into side inputs: what its node does, wherever its state is stored.

Each side input has a machine. An element that the first machine lets out goes on to the next one.
The elements of a bundle that are in one window look into the same side windows and come out
together, so a machine takes them as one element: a `SideBatch`. The content of a side window is one
item for a machine, whatever its size.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import attrs

from beamlike.machine.events import AdvanceWatermark, Drop, Effect, Element, Event, Pane
from beamlike.machine.events import Bundle as Arrived
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.state import KeyState
from beamlike.machine.side_input import Main, Side, SideInputs
from beamlike.model.bundle import Bundle, Spans
from beamlike.model.copies import own_copies
from beamlike.model.graph import SideInputNode
from beamlike.model.panes import PaneInfo
from beamlike.model.resolution import Span
from beamlike.model.side_inputs import side_input_window
from beamlike.model.windows import Window, window_of
from beamlike.runtime.graph.wire import Listed, Wire
from beamlike.runtime.graph.worker import Contents, FunctionWorker, Tagged, Worker

NOTHING_SEEN: Final[tuple[Any, ...]] = ()
"""What an element sees of an empty side window."""


@attrs.frozen(repr=False)
class SideBatch:
    """Elements of one window on their way through the machines of a node.

    Args:
        values: Their values.
        timestamps: Their event times (ticks).
        panes: Their panes.
        seen: The contents, for them, of the side inputs that they have passed.
    """

    values: list[Any]
    timestamps: list[int]
    panes: list[PaneInfo]
    seen: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        # A window function of the user's that raises does so for all of them alike.
        return repr(self.values[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return SideBatch, (Listed(self.values), self.timestamps, self.panes, self.seen)

    def element(self, window: Window) -> Element:
        """The element that a machine takes. Its time is their earliest: the watermark waits for
        it."""
        return Element(Main(self), min(self.timestamps), window)

    def bundle(self, window: Window) -> Bundle:
        """The elements, in their window."""
        spans = Spans.all_in(window, len(self.values))
        return Bundle(self.values, self.timestamps, spans, self.panes)

    def drops(self, drop: Drop) -> Iterator[Drop]:
        """The drop of each element, after a machine dropped the batch."""
        for value, timestamp in zip(self.values, self.timestamps, strict=True):
            element = Element(value, timestamp, drop.window)
            yield attrs.evolve(drop, element=element)


def batches(bundle: Bundle) -> Iterator[tuple[Window, SideBatch]]:
    """The elements of a bundle by window, in order of arrival of windows. Each is in one window."""
    elements, spans = bundle.one_window_each()
    if len(elements) and len(set(spans.starts)) == len(set(spans.ends)) == 1:
        window = window_of(spans.starts[0], spans.ends[0])
        yield window, SideBatch(elements.values, elements.timestamps, elements.panes)
        return
    places: dict[tuple[int, int], list[int]] = {}
    for place, span in enumerate(zip(spans.starts, spans.ends, strict=True)):
        places.setdefault(span, []).append(place)
    for span, of_window in places.items():
        part = elements if len(places) == 1 else elements.take(of_window)
        yield window_of(*span), SideBatch(part.values, part.timestamps, part.panes)


def shown_panes(bundle: Bundle) -> Iterator[tuple[Window, int, Sequence[Any]]]:
    """The panes of a side input: the window, the event time (ticks) and the items of each."""
    for pane in bundle:
        _, items = pane.value
        yield from ((window, pane.timestamp, items) for window in pane.windows)


@attrs.define
class LatestPanes:
    """The present contents of the side windows of a node.

    An element that has waited for one side input sees the latest panes of the others too: all are
    read when the function is called, as in Beam ``SimplePushbackSideInputDoFnRunner``.

    Args:
        machines: The machines of the node.
        content: The content of each side window, by the number of the side input and the window.
    """

    machines: Sequence[SideInputs]
    content: dict[tuple[int, Window], Any] = attrs.field(factory=dict)

    def seen_by(self, window: Window, batch: SideBatch) -> SideBatch:
        """A batch in a main window, with what it sees now.

        If a side window is empty or forgotten, the batch sees what it saw when it passed.
        """
        if len(self.machines) == 1:  # it has not waited since then
            return batch
        seen = (
            self.content.get((side, side_input_window(window, machine.side_window_fn)), passed)
            for side, (machine, passed) in enumerate(zip(self.machines, batch.seen, strict=True))
        )
        return attrs.evolve(batch, seen=tuple(seen))

    def forget(self, reached: Sequence[int]) -> None:
        """Forget the side windows into which no element can look any more.

        Args:
            reached: The watermark that both inputs of each machine have reached (ticks).
        """
        for side, window in [*self.content]:
            if reached[side] > self.machines[side].last_look(window):
                del self.content[side, window]


def released(effects: Iterable[Effect]) -> list[tuple[Window, SideBatch]]:
    """The batches that a machine let out, each with what it sees of that side input added."""
    batches_out = []
    for effect in effects:
        if isinstance(effect, Pane):
            batch, content = effect.value
            # An empty side window has no item; any other has one, which is all that it holds.
            seen = (*batch.seen, *(content or (NOTHING_SEEN,)))
            batches_out.append((effect.window, attrs.evolve(batch, seen=seen)))
    return batches_out


def dropped(effects: Iterable[Effect]) -> Iterator[tuple[Any, Drop]]:
    """The drops of a machine, element by element. All elements have one key."""
    for effect in effects:
        if isinstance(effect, Drop):
            match effect.element:
                case Element(value=Main(value=SideBatch() as batch)):
                    yield from (((), drop) for drop in batch.drops(effect))
                case _:
                    yield (), effect


class SideInputWorker(Worker):
    """Calls a function with the side inputs of each element. Its machines run in this process."""

    def __init__(self, node: SideInputNode) -> None:
        super().__init__(node)
        self.node, main = node, node.main
        self.machines = tuple(
            SideInputs(
                main.window_fn,
                side.window_fn,
                Span(main.allowed_lateness, main.resolution),
                join="view",
                on_error=OnFailure.FAIL,
                side_trigger=side.trigger,
                side_allowed_lateness=Span(side.allowed_lateness, side.resolution),
                resolution=node.resolution,
            )
            for side in node.sides
        )
        self._wire = Wire.declared()
        self._function = FunctionWorker(node, node.do)
        self._is_set_up = False
        earliest = node.resolution.earliest
        self._states = [KeyState.unseen(earliest, 0) for _ in self.machines]
        self._latest = LatestPanes(self.machines)

    @property
    def output_watermark(self) -> int:
        return self._states[-1].output_watermark

    @property
    def takes_parts(self) -> bool:
        return False  # elements see what arrives with them

    def setup(self) -> None:
        if not self._is_set_up:
            self._is_set_up = True
            self._function.setup()

    def teardown(self) -> None:
        if self._is_set_up:
            self._is_set_up = False
            self._function.teardown()

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        main, *sides = bundles
        main = main.with_values(self._wire.round_trip_all(own_copies(main.values)))
        waiting = [*batches(main)]
        for number, side in enumerate(sides):
            # What arrives together sees what arrives with it.
            arriving = []
            for window, timestamp, items in shown_panes(side):
                self._latest.content[number, window] = items
                arriving.append(Element(Side((items,)), timestamp, window))
            waiting = self._let_out(number, arriving, waiting)
        return self.look([self._seen_now(*pair) for pair in waiting])

    def advance_sources(self, watermarks: Sequence[int]) -> Tagged:
        main, *sides = watermarks
        self.watermark = main = max(self.watermark, main)
        passed: list[tuple[Window, SideBatch]] = []
        for number, side in enumerate(sides):
            out = self._let_out(number, [], passed)
            state = self._states[number]
            if (main, side) != (state.watermark, state.side_watermark):
                out += self._step(number, AdvanceWatermark(main, side))
            passed, main = out, self._states[number].output_watermark
        # What is yielded later sees what is there now.
        seen = [self._seen_now(*pair) for pair in passed]
        self._latest.forget([min(state.watermark, state.side) for state in self._states])
        return self.look(seen)

    def _seen_now(self, window: Window, batch: SideBatch) -> tuple[Window, SideBatch]:
        return window, self._latest.seen_by(window, batch)

    def _let_out(
        self, number: int, arriving: Sequence[Element], waiting: Sequence[tuple[Window, SideBatch]]
    ) -> list[tuple[Window, SideBatch]]:
        """The batches that a machine lets out when panes of its side input arrive, and then
        batches."""
        elements = (*arriving, *(batch.element(window) for window, batch in waiting))
        return self._step(number, Arrived(elements)) if elements else []

    def _step(self, number: int, event: Event) -> list[tuple[Window, SideBatch]]:
        self._states[number], effects = self.machines[number].step(self._states[number], event)
        self._drops += dropped(effects)
        return released(effects)

    def look(self, batches_out: Iterable[tuple[Window, SideBatch]]) -> Tagged:
        """What the function makes of batches that have passed all machines."""
        together = [*_seen_together(batches_out)]
        if not together:
            return ()
        self.setup()
        return self._function.run(together)


def _seen_together(
    batches_out: Iterable[tuple[Window, SideBatch]],
) -> Iterator[tuple[Contents, Bundle]]:
    """Bundles of successive batches that see the same, each with the side inputs."""
    for _, group in groupby(batches_out, lambda pair: [*map(id, pair[1].seen)]):
        bundle, contents = Bundle(), ()
        for window, batch in group:
            contents = batch.seen
            bundle.extend(batch.bundle(window))
        yield contents, bundle
