"""The grouping that every transform which groups is made of."""

from typing import Any

from beamlike.api.pipelines.hints import declared_type, value_type
from beamlike.api.pipelines.options import TypeOptions
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.errors import (
    PipelineError,
    RepeatedElementsWarning,
    UnsafeTriggerError,
    UnwiseStrategyWarning,
    WindowingError,
)
from beamlike.machine.liftable import why_one_by_one
from beamlike.model.combine import CombineFn
from beamlike.model.graph import Edge, Fanout, GroupNode, Node, ReadNode, in_order, ways_back
from beamlike.model.options import AccumulationMode
from beamlike.model.repetition import repetition
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.warn import warn_user


def grouped(
    pcoll: PCollection[Any],
    combine: CombineFn,
    *,
    duplicates_matter: bool = True,
    allow_blocking: bool = False,
    fanout: Fanout | None = None,
) -> PCollection[Any]:
    """The panes of a grouping, by the transform that is being applied.

    Args:
        duplicates_matter: Whether it matters how often an element is in them.
        allow_blocking: Whether it may be that nothing comes out before a stream ends.
        fanout: Over how many tasks the values of a key are spread and combined before they meet;
            None: only what one task has of a key is combined before.

    Warns:
        RepeatedElementsWarning: It is given panes that repeat what earlier ones held.
        UnwiseStrategyWarning: The windowing can lose data, or waits for the end of a stream, and
            the option ``allow_unsafe_triggers`` of Beam Python, or ``allow_blocking``, says to go
            on.
    """
    pipeline, label, windowing = pcoll.pipeline, pcoll.pipeline.label, pcoll.windowing
    if windowing.accumulation is AccumulationMode.RETRACTING:
        raise PipelineError(
            f"{label!r}: panes that withdraw earlier ones are no elements that a transform could "
            "take; use accumulating or discarding panes here, or windowed(...) on a DataFrame"
        )
    try:
        _check(pcoll, windowing, allow_blocking)
        after = windowing.after_grouping()
    except UnsafeTriggerError as error:
        raise PipelineError(f"{label!r}: {error}") from error
    except WindowingError as error:
        raise PipelineError(
            f"{label!r}: GroupByKey cannot be applied to an unbounded PCollection with global "
            f"windowing and a default trigger: {error}"
        ) from error
    if duplicates_matter:
        warn_of_repeated(pcoll.edge, label)
    declared = value_type(declared_type(pcoll))
    combine = combine if declared is None else combine.for_type(declared)
    if fanout is not None and (reason := why_one_by_one(windowing, combine)) is not None:
        raise PipelineError(
            f"{label!r} has a fanout, which combines values before they are grouped, and here that "
            f"cannot be done: {reason}; leave the fanout out"
        )
    node = GroupNode(label, (pcoll.edge,), windowing, combine, declared, fanout)
    return pipeline.add(node, after, pcoll.is_bounded)


def _check(pcoll: PCollection[Any], windowing: WindowingStrategy, allow_blocking: bool) -> None:
    """Refuse what Beam refuses, or warn of it."""
    unbounded = not pcoll.is_bounded
    allowed = pcoll.pipeline.options.view_as(TypeOptions).allow_unsafe_triggers
    try:
        windowing.check_groupable(unbounded=unbounded)
    except WindowingError as error:
        is_unsafe = isinstance(error, UnsafeTriggerError)
        if not allowed and (is_unsafe or not allow_blocking):
            raise
        warn_user(f"{pcoll.pipeline.label!r}: {error}", UnwiseStrategyWarning)
        if not is_unsafe:
            windowing.check_groupable()


def warn_of_repeated(source: Edge, label: str) -> None:
    """Warn of each grouping whose panes come to another one and repeat elements."""
    warned = set[Node]()
    for before, marks in ways_back(source.node, lambda node: isinstance(node, GroupNode)):
        assert isinstance(before, GroupNode), "ways end there"
        unbounded = any(
            isinstance(node, ReadNode) and not node.bounded for node in in_order([before])
        )
        how = repetition(before.strategy, unbounded=unbounded)
        if how is None or before in warned or not how.one_pane.isdisjoint(marks):
            continue
        warned.add(before)
        warn_user(
            f"{label!r} may count elements several times, as in Beam: it is given the panes of "
            f"{before.label!r}, which is accumulating, and {how.because}; before {before.label!r} "
            "write accumulation_mode=AccumulationMode.DISCARDING, so that a pane holds what is "
            f"new, or {how.instead}, so that each window has one pane",
            RepeatedElementsWarning,
        )
