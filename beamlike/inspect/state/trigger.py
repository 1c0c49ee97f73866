"""The trigger of saved windows, rebuilt from its text, and what it waits for in words."""

from collections.abc import Sequence

from beamlike.errors import TriggerError
from beamlike.machine.reference.composites import node_of
from beamlike.machine.reference.custom import CustomTriggerNode
from beamlike.machine.reference.leaves import AfterTimeNode
from beamlike.machine.reference.running import Now, TriggerNode, TriggerView
from beamlike.machine.reference.state import TriggerState
from beamlike.model.texts import trigger_of

_NODES = 62
"""So many have a bit each; see `beamlike.runtime.store.state`."""


class SavedTrigger:
    """The trigger of a grouping.

    Args:
        text: As ``str`` gives it.
    """

    def __init__(self, text: str) -> None:
        # Whether windows merge changes what a trigger does next, and not what it waits for.
        self._running = node_of(trigger_of(text), False)
        nodes = list(self._running.walk())
        if len(nodes) > _NODES:
            raise TriggerError(f"a trigger of {len(nodes)} nodes has no bits in saved state")
        self.slots = [index for index, node in enumerate(nodes) if node.keeps_value]
        keeping = [nodes[index] for index in self.slots]
        self.marks = [slot for slot, node in enumerate(keeping) if node.waits_for_watermark]
        """Which of the values are event times."""
        self.instants = [slot for slot, node in enumerate(keeping) if _is_instant(node)]
        """Which of the values are instants, of either time."""

    @classmethod
    def known(cls, text: str | None) -> "SavedTrigger | None":
        """The trigger; None if no text was saved, or not one that this version can read."""
        if text is None:
            return None
        try:
            return cls(text)
        except (TriggerError, RecursionError):
            return None

    def view(self, finished: int, values: Sequence[int | None], now: Now) -> TriggerView:
        """The tree of one window, described.

        Args:
            finished: The finished bits of its nodes, root lowest, parents first.
            values: Count or target of each node that has one.
            now: The window, and where the clocks stand.
        """
        kept = dict(zip(self.slots, values, strict=False))
        counter = iter(range(64))

        def build(node: TriggerNode) -> TriggerState:
            index = next(counter)
            subs = tuple(build(sub) for sub in node.subs)
            element = (_Unread(),) if node.keeps_element else ()
            return TriggerState(bool(finished >> index & 1), kept.get(index), subs, element)

        return self._running.view(build(self._running), now)


def _is_instant(node: TriggerNode) -> bool:
    """Whether what a node keeps is an instant, and not a count."""
    if isinstance(node, CustomTriggerNode):
        return "duration" in node.trigger.arguments.values()
    return isinstance(node, AfterTimeNode)


class _Unread:
    """An element that stays a pickle."""

    def __repr__(self) -> str:
        return "the element before"


def node_in_words(node: TriggerView) -> str:
    """A node in a line: ``AfterWatermark.early[AfterCount(3)]: 1 more element (2 of 3)``."""
    is_root = node.path == node.name
    return f"{node.path}{'' if is_root else f'[{node.name}]'}: {node.waits_for}"
