"""A node whose function has states and timers."""

from collections.abc import Hashable, Iterator, Sequence

from beamlike.errors import BeamlikeError, TransformError
from beamlike.machine.events import Element, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import StatefulParDoNode
from beamlike.runtime.graph.staged import StagedWorker


class StatefulParDoWorker(StagedWorker):
    """Gives pairs, and timers that are due, to a function with states and timers."""

    def __init__(self, node: StatefulParDoNode) -> None:
        self._fn, self._tagged = node.fn, node.tagged
        windowing = node.windowing
        machine = StatefulParDo(
            windowing.window_fn,
            node.fn,
            windowing.allowed_lateness,
            OnFailure.DROP if node.drops_failures else OnFailure.FAIL,
            already_merged=windowing.already_merged,
            tagged=node.tagged,
        )
        super().__init__(node.label, machine)

    def arriving(self, given: Sequence[Bundle]) -> Iterator[tuple[Hashable, Element]]:
        key_of = self._fn.key_of
        for it in given[0]:
            key = key_of(it.value)
            for window in it.windows:
                yield key, Element((it.value, it.pane), it.timestamp, window)

    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        return Windowed(pane.value, pane.timestamp, (pane.window,), pane.info)

    def closing(self) -> Bundle:
        try:
            kept = list(self._fn.finish_bundle())
        except BeamlikeError:
            raise
        except Exception as cause:
            problem = f"{type(cause).__name__}: {cause}"
            raise TransformError(self.label, problem, "finish_bundle") from cause
        found = Bundle()
        for tag, it in kept:
            value = (tag, it.value) if self._tagged else it.value
            found.append(Windowed(value, it.timestamp, it.windows, it.pane))
        return found

    def setup(self) -> None:
        self._fn.setup()

    def teardown(self) -> None:
        self._fn.teardown()
