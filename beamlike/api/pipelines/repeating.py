"""Groupings that count elements several times, because panes before them repeat what they held.

Beam does so too; here there is a warning.
"""

from beamlike.api.dataframe.warning import warn_user
from beamlike.errors import RepeatedElementsWarning
from beamlike.model.graph import Edge, GroupNode, Node, ParDoNode, ReadNode, SideInputNode, in_order
from beamlike.model.repetition import Repetition, repetition


def warn_of_repeated(given: Edge, label: str) -> None:
    """Warn of each grouping whose panes come to another one and repeat elements.

    Args:
        given: What the other one groups.
        label: Its full name.
    """
    for before in _groupings_before(given):
        how = _repetition(before)
        if how is None:
            continue
        warn_user(
            f"{label!r} may count elements several times, as in Beam: it is given the panes of "
            f"{before.label!r}, which is accumulating, and {how.because}; before {before.label!r} "
            "write accumulation_mode=AccumulationMode.DISCARDING, so that a pane holds what is "
            f"new, or {how.instead}, so that each window has one pane",
            RepeatedElementsWarning,
        )


def _groupings_before(edge: Edge) -> list[GroupNode]:
    """The last grouping on each way to an edge, if more than one pane of a window passes there."""
    found: dict[GroupNode, None] = {}
    todo: list[Node] = [edge.node]
    seen: set[Node] = set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case GroupNode():
                found[node] = None
            case ParDoNode(do=do) if do.keeps_one_pane:
                pass
            case SideInputNode():
                # What an element sees in a side input makes no more elements of it.
                todo.append(node.sources[0].node)
            case _:
                todo += [source.node for source in reversed(node.sources)]
    return list(found)


def _repetition(before: GroupNode) -> Repetition | None:
    unbounded = any(isinstance(it, ReadNode) and not it.bounded for it in in_order([before]))
    return repetition(before.strategy, unbounded=unbounded)
