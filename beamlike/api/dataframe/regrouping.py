"""Which rows of a grouping the next one can take: each element must count once there.

Rows that withdraw others are taken back by aggregates, see `beamlike.model.combine.corrected`.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import attrs

from beamlike.api.dataframe.branches import Branch, Repeated, Retracting, Stamped
from beamlike.api.warning import warn_user
from beamlike.errors import UnsupportedError, UnwiseStrategyWarning
from beamlike.model.aggregates import Aggregate
from beamlike.model.options import AccumulationMode, TimestampCombiner
from beamlike.model.pane_times import loses_times
from beamlike.model.repetition import repetition
from beamlike.model.resolution import MICROSECONDS
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.options import Render

RETRACTION: Final = "retraction"
"""The column that says which rows withdraw others."""


def retracted_by(strategy: WindowingStrategy, stage: str, render: Render) -> Retracting | None:
    """What is to be known of the rows of a grouping; None: none withdraws another."""
    if strategy.accumulation is not AccumulationMode.RETRACTING:
        return None
    return Retracting(stage, strategy.allowed_lateness * strategy.resolution.micros, render)


def repeated_by(strategy: WindowingStrategy, stage: str, is_streaming: bool) -> Repeated | None:
    """What is to be known of the panes of a grouping; None: no two hold the same element."""
    how = repetition(strategy, unbounded=is_streaming)
    return None if how is None else Repeated(stage, how)


def stamped_by(
    strategy: WindowingStrategy, stage: str, branches: Iterable[Branch]
) -> Stamped | None:
    """What is to be known of the times of panes; None: they are those of elements.

    Args:
        branches: What the grouping takes. The earliest or latest of times that are ends of windows
            is one, too.
    """
    if strategy.timestamp_combiner is TimestampCombiner.END_OF_WINDOW:
        return Stamped(stage, strategy.window_fn)
    return stamped_in(branches)


def stamped_in(branches: Iterable[Branch]) -> Stamped | None:
    """The first of the inputs whose times are ends of windows."""
    return next((branch.stamped for branch in branches if branch.stamped is not None), None)


def warn_of_times(branches: Iterable[Branch], window_fn: WindowFn) -> None:
    """Warn of panes that would be put into windows by the end of the window that they had."""
    stamped = stamped_in(branches)
    if stamped is None or not loses_times(stamped.window_fn, window_fn):
        return
    warn_user(
        f"{window_fn} goes by the times of panes of {stamped.stage!r}, and these are stamped with "
        f"the end of their window of {stamped.window_fn}, whenever their elements were; write "
        f'timestamp_combiner="earliest" in the window(...) of {stamped.stage!r}, or, where it only '
        "leaves out what comes again, deduplicate(...) in its place",
        UnwiseStrategyWarning,
    )


def repeated_in(branches: Iterable[Branch]) -> Repeated | None:
    """The first of the inputs whose rows repeat elements."""
    return next((it.repeated for it in branches if it.repeated is not None), None)


def one_of_each(branch: Branch, marks: Collection[str]) -> Branch:
    """An input of which only panes with these marks are left, see `Repetition`.

    A condition that names the column for withdrawals, marked ``retraction``, may cut them off.
    """
    if branch.retracting is not None and RETRACTION in marks:
        return attrs.evolve(branch, retracting=attrs.evolve(branch.retracting, cut=True))
    if branch.repeated is None or branch.repeated.how.one_pane.isdisjoint(marks):
        return branch
    return attrs.evolve(branch, repeated=None)


def check_regroupable(
    branches: Collection[Branch],
    name: str,
    strategy: WindowingStrategy,
    columns: Collection[str],
) -> bool:
    """Refuse rows that withdraw others where that cannot be done, and panes that repeat others.

    Args:
        name: The grouping that would take them.
        strategy: That grouping's.
        columns: Of the rows.

    Returns:
        Whether some rows withdraw others.

    Raises:
        UnsupportedError: With the line to change.
    """
    _check_repeated(branches, name)
    found = check_kept(branches, name, columns)
    if found is None:
        return False
    if found.render != "retractions":
        raise UnsupportedError(
            f"rows rendered as {found.render} cannot be grouped again; leave render= out in "
            f"{found.stage!r}, and the grouping {name!r} takes its corrections"
        )
    if strategy.is_merging:
        raise UnsupportedError(
            f"the grouping {name!r} would merge windows of rows that may be withdrawn, and a "
            "merged session cannot be taken apart again; give it windows that do not merge, such "
            f'as FixedWindows, or write accumulation="discarding" in {found.stage!r}'
        )
    lateness = max(it.retracting.lateness for it in branches if it.retracting is not None)
    own = strategy.allowed_lateness * strategy.resolution.micros
    if own < lateness:
        warn_user(
            f"the grouping {name!r} allows lateness of {MICROSECONDS.show_duration(own)}, "
            f"and {found.stage!r} corrects its results for {MICROSECONDS.show_duration(lateness)}: "
            "corrections that come later are dropped; give both the same allowed_lateness",
            UnwiseStrategyWarning,
        )
    return True


def check_kept(
    branches: Collection[Branch], name: str, columns: Collection[str]
) -> Retracting | None:
    """The first of the inputs whose rows withdraw others; None: none does.

    Raises:
        UnsupportedError: They no longer say which of them do.
    """
    of_inputs = [it.retracting for it in branches if it.retracting is not None]
    for found in of_inputs:
        lost = found.render == "retractions" and RETRACTION not in columns
        if found.cut or lost:
            raise UnsupportedError(
                f"the grouping {name!r} takes the rows of {found.stage!r}, of which some withdraw "
                f"others, and the column {RETRACTION!r} says which; keep that column in select(), "
                "and leave it out of where()"
            )
    return next(iter(of_inputs), None)


def check_takes_back(
    strategy: WindowingStrategy, aggregate: Mapping[str, Aggregate], name: str
) -> None:
    """Refuse panes that discard and whose difference to those before has no form.

    Raises:
        UnsupportedError: With the line to change.
    """
    if strategy.accumulates:
        return
    for called, wanted in aggregate.items():
        if wanted.kind not in ("count", "sum"):
            raise UnsupportedError(
                f"aggregate {called!r}: a discarding pane of {name!r} would be the difference that "
                f"corrections make to a {wanted.kind}, and only counts and sums have one; write "
                'accumulation="retracting" in the window(...) before'
            )


def _check_repeated(branches: Collection[Branch], name: str) -> None:
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
        'accumulation="retracting", so that each pane takes back the one before, or '
        '"discarding", so that a pane holds what is new; or one pane for each window, '
        f"with {found.how.instead}{last}"
    )
