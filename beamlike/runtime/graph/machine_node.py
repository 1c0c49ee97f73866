"""A node for any machine: what a dialect, a scenario or a test steps key by key."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import attrs

from beamlike.machine.events import Pane
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import StatefulNode
from beamlike.runtime.graph.stateful import Keyed, StatefulWorker
from beamlike.runtime.script import Machine


@runtime_checkable
class UsersMachine(Machine, Protocol):
    """A machine that calls functions of a user's, and whose state outlasts a change of them."""

    @property
    def state_identity(self) -> Mapping[str, str]:
        """What saved state depends on."""
        ...

    def teardown(self) -> None:
        """Tear down what functions have set up, after the last bundle."""
        ...


@attrs.frozen(eq=False)
class MachineNode(StatefulNode):
    """Pairs of key and value, given to a machine.

    The machine assigns the windows of elements that are in the global window.

    Args:
        machine: What steps each key. See `UsersMachine` for what else it may have.
    """

    machine: Machine


class MachineWorker(StatefulWorker):
    """Gives pairs to a machine."""

    def __init__(self, node: MachineNode) -> None:
        super().__init__(node, node.machine)

    def teardown(self) -> None:
        if isinstance(self.machine, UsersMachine):
            self.machine.teardown()

    def keyed(self, bundles: Sequence[Bundle]) -> Keyed:
        return Keyed.of_pairs(*bundles[0].one_window_each(), assigns=True)

    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        return Windowed((key, pane.value), pane.timestamp, (pane.window,), pane.info)
