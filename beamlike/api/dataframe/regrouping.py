"""Which rows of a grouping the next one can take: each element must come to it once."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import attrs

from beamlike.errors import UnsupportedError
from beamlike.model.repetition import Repetition, repetition
from beamlike.model.strategy import WindowingStrategy

if TYPE_CHECKING:
    from beamlike.api.dataframe.stage import Branch

__all__ = ["Repeated", "check_regroupable", "one_of_each", "repeated_by", "repeated_in"]


@attrs.frozen
class Repeated:
    """Rows among which some repeat elements of others.

    Args:
        stage: The name of the grouping that they come from.
        how: What its strategy says.
    """

    stage: str
    how: Repetition


def repeated_by(strategy: WindowingStrategy, stage: str, is_streaming: bool) -> Repeated | None:
    """What is to be known of the panes of a grouping; None: no two hold the same element."""
    how = repetition(strategy, unbounded=is_streaming)
    return None if how is None else Repeated(stage, how)


def repeated_in(branches: "Iterable[Branch]") -> Repeated | None:
    """The first of the inputs whose rows repeat elements."""
    return next((it.repeated for it in branches if it.repeated is not None), None)


def one_of_each(branch: "Branch", marks: Collection[str]) -> "Branch":
    """An input of which only panes with these marks are left, see `Repetition`."""
    if branch.repeated is None or branch.repeated.how.one_pane.isdisjoint(marks):
        return branch
    return attrs.evolve(branch, repeated=None)


def check_regroupable(branches: "Collection[Branch]", name: str) -> None:
    """Refuse rows that withdraw others, and panes that repeat what earlier ones held.

    Args:
        name: The grouping that would take them.

    Raises:
        UnsupportedError: With the line to change.
    """
    if any(branch.retracting for branch in branches):
        raise UnsupportedError(
            "rows that withdraw others cannot be grouped again: most aggregates cannot take a "
            'value back; use accumulation="discarding" in the grouping before, or a trigger that '
            "emits one pane for each window, such as AfterWatermark(), and "
            'accumulation="accumulating"'
        )
    found = repeated_in(branches)
    if found is None:
        return
    last = ""
    if "is_last" in found.how.one_pane:
        last = (
            '; or take its last panes only, with closing_behavior="fire_always" and '
            'where("pane.is_last")'
        )
    raise UnsupportedError(
        f"the grouping {name!r} would count elements several times: {found.stage!r} before it is "
        f"accumulating, and {found.how.because}; in the window(...) of {found.stage!r} write "
        'accumulation="discarding", so that a pane holds what is new; or one pane for each window, '
        f"with {found.how.instead}{last}"
    )
