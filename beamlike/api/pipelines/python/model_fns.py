"""Window functions of Beam Python as the core has them.

Those of the same names are the core's, which machines step in columns. A user's own is asked
element by element: `_Assigning` and `_Merging` go between.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.window_fns import WindowFn
from beamlike.api.pipelines.python.windows import BoundedWindow, model_of, of_model
from beamlike.errors import PipelineError, WindowError
from beamlike.model import windowfns, windows
from beamlike.model.copies import own_copy
from beamlike.model.fingerprint import stable_repr
from beamlike.model.windowfns import Merge


def model_window_fn(window_fn: Any) -> windowfns.WindowFn:
    """The core's window function for one of Beam's, or for one of its own.

    Raises:
        PipelineError: It is neither, or its windows cannot be compared.
        WindowError: The core cannot have such windows.
    """
    if isinstance(window_fn, windowfns.WindowFn):
        return window_fn
    if not isinstance(window_fn, WindowFn):
        raise PipelineError(
            f"WindowInto needs windows such as FixedWindows(60), got {stable_repr(window_fn)}"
        )
    if not window_fn.get_window_coder().is_deterministic():
        raise PipelineError(
            f"{stable_repr(window_fn)} does not have a deterministic window coder: "
            f"{window_fn.get_window_coder()}; return coders.IntervalWindowCoder()"
        )
    return _Merging(window_fn) if window_fn.is_merging() else _Assigning(window_fn)


@attrs.frozen(eq=False)
class _OfAUser(windowfns.Reassigning):
    """What both kinds of adapters share: the function, and what it is called in saved state."""

    window_fn: WindowFn

    def reassign(
        self, timestamp: int, value: Any, window: windows.Window | None
    ) -> tuple[windows.Window, ...]:
        before = None if window is None else of_model(window)
        context = WindowFn.AssignContext(Timestamp.of_millis(timestamp), own_copy(value), before)
        owner = stable_repr(self.window_fn)
        assigned = (model_of(window, owner) for window in self.window_fn.assign(context))
        return tuple(dict.fromkeys(assigned))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, _OfAUser)
        mine, its = self.window_fn, other.window_fn
        return mine == its or (type(mine) is type(its) and vars(mine) == vars(its))

    def __hash__(self) -> int:
        return hash(type(self.window_fn))

    def __str__(self) -> str:
        return stable_repr(self.window_fn)


@attrs.frozen(eq=False)
class _Assigning(_OfAUser):
    """A user's window function as one of the core."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[windows.Window, ...]:
        return self.reassign(timestamp, value, None)


@attrs.frozen(eq=False)
class _Merging(_OfAUser, windowfns.MergingWindowFn):
    """A user's window function whose windows merge as one of the core."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[windows.IntervalWindow, ...]:
        return self.reassign(timestamp, value, None)

    def reassign(
        self, timestamp: int, value: Any, window: windows.Window | None
    ) -> tuple[windows.IntervalWindow, ...]:
        assigned = super().reassign(timestamp, value, window)
        for span in assigned:
            if not isinstance(span, windows.IntervalWindow):
                raise WindowError(f"{self} merges windows, and assigned the global one")
        return assigned  # type: ignore[return-value]

    def merge(self, windows: Iterable[windows.IntervalWindow]) -> tuple[Merge, ...]:
        context = _Plan(map(of_model, windows), stable_repr(self.window_fn))
        self.window_fn.merge(context)
        return tuple(context.merges)


class _Plan(WindowFn.MergeContext):
    """Keeps what a user's function merges."""

    def __init__(self, windows: Iterable[BoundedWindow], owner: str) -> None:
        super().__init__(windows)
        self.owner = owner
        self.merges: list[Merge] = []

    def merge(self, to_be_merged: Iterable[BoundedWindow], merge_result: BoundedWindow) -> None:
        sources = [model_of(window, self.owner) for window in to_be_merged]
        into: Any = model_of(merge_result, self.owner)
        self.merges.append(Merge(tuple(sources), into))  # type: ignore[arg-type]
