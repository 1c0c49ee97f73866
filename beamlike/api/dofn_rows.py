"""A function of Beam over rows of a `Stream`.

This module stands beside ``dataframe`` and ``pipelines``, which do not import one another.
"""

from collections.abc import Iterator
from typing import Any

import attrs

from beamlike.api.function_rows import FunctionRows, OverRows
from beamlike.api.marked_methods import OF_BUNDLES
from beamlike.api.pipelines.dofn import DoFn, Param
from beamlike.api.pipelines.dofn_invoker import DoFnInvoker
from beamlike.api.pipelines.stateful_dofn_invoker import StatefulDoFnInvoker
from beamlike.errors import ColumnError, PipelineError, UnsupportedError
from beamlike.model.bundle import Windowed
from beamlike.model.fingerprint import stable_repr
from beamlike.model.stateful import DueTimer, StatefulFn, UserStates


def dofn_over_rows(fn: object, rows: FunctionRows, label: str) -> StatefulFn | None:
    """A `DoFn` as a machine calls it; None: it is something else."""
    if not isinstance(fn, DoFn):
        return None
    for name in OF_BUNDLES:
        if getattr(type(fn), name) is not getattr(DoFn, name):
            raise UnsupportedError(
                f"fn: {stable_repr(getattr(fn, name))} is not called for rows of a Stream, where "
                "no bundle is known; keep what has to wait in a state, and let a timer bring it out"
            )
    try:
        return _DoFnRows(fn, rows, label)
    except PipelineError as error:
        raise ColumnError(f"fn: {error}") from error


class _DoFnRows(OverRows, StatefulDoFnInvoker):
    """A `DoFn` whose elements are rows."""

    def __init__(self, fn: DoFn[Any, Any], rows: FunctionRows, label: str) -> None:
        super().__init__(DoFnInvoker(fn, (), {}, None, label, stateful=True))
        self.rows = rows

    def argument(
        self, asked: Param, states: UserStates, element: Windowed, timer: DueTimer | None = None
    ) -> Any:
        if asked.name == "KeyParam":
            return self.rows.key(states.key)
        return super().argument(asked, states, element, timer)

    def process(self, states: UserStates, element: Windowed) -> Iterator[tuple[str, Windowed]]:
        row = attrs.evolve(element, value=self.rows.seen(element.value))
        return self.rows.results(super().process(states, row), states)

    def fire(self, states: UserStates, timer: DueTimer) -> Iterator[tuple[str, Windowed]]:
        return self.rows.results(super().fire(states, timer), states)

    def expire(self, states: UserStates, timestamp: int) -> Iterator[tuple[str, Windowed]]:
        return self.rows.results(super().expire(states, timestamp), states)
