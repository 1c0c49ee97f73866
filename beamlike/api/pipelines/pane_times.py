"""Panes that are put into windows by the end of the window that they had."""

from types import CodeType
from typing import Any, Final

from beamlike.errors import UnwiseStrategyWarning
from beamlike.model.graph import Edge, Node, ParDoNode, StatefulParDoNode
from beamlike.model.pane_times import loses_times, stamped_with_ends
from beamlike.model.warn import warn_user
from beamlike.model.windowfns import WindowFn

_STAMPS: Final = frozenset(("TimestampedValue", "WindowedValue"))
_METHODS: Final = ("process", "finish_bundle")


def warn_of_times(edge: Edge, window_fn: WindowFn, label: str) -> None:
    """Warn of the groupings whose panes are stamped with the end of windows, if that decides.

    Functions in between that give elements a time of their own are seen, and nothing is said.
    """
    for before in stamped_with_ends(edge.node, _sets_times):
        if loses_times(before.strategy.window_fn, window_fn):
            warn_user(
                f"{label!r} puts panes into {window_fn} by their time, and {before.label!r} stamps "
                f"them with the end of their window of {before.strategy.window_fn}, whenever their "
                f'elements were; before {before.label!r} write timestamp_combiner="earliest", or, '
                "where it only leaves out what comes again, take DeduplicatePerKey in its place",
                UnwiseStrategyWarning,
            )


def _sets_times(node: Node) -> bool:
    """Whether a node may give elements another time, as far as the code of its function says."""
    if not isinstance(node, ParDoNode):
        return isinstance(node, StatefulParDoNode)
    fn: Any = getattr(node.do, "fn", None)
    if fn is None:
        return True
    methods = [fn.called(), *(getattr(fn, name, None) for name in _METHODS)]
    functions = (getattr(method, "__func__", method) for method in methods)
    codes = (getattr(function, "__code__", None) for function in functions)
    return any(_names_stamps(code) for code in codes if code is not None)


def _names_stamps(code: CodeType) -> bool:
    inside = (const for const in code.co_consts if isinstance(const, CodeType))
    return not _STAMPS.isdisjoint(code.co_names + code.co_freevars) or any(
        map(_names_stamps, inside)
    )
