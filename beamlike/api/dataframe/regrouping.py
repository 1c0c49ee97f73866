"""Which rows of a grouping the next one can take: each element must count once there.

Rows that withdraw others are taken back by aggregates, see `beamlike.model.combine.corrected`.
"""

from collections.abc import Mapping

from beamlike.api.dataframe.inputs import RETRACTION, Inputs
from beamlike.errors import UnsupportedError, UnwiseStrategyWarning
from beamlike.model.aggregates import Aggregate
from beamlike.model.graph import GroupNode
from beamlike.model.pane_times import loses_times, stamped_with_ends
from beamlike.model.repetition import repetition
from beamlike.model.resolution import MICROSECONDS
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.warn import warn_user
from beamlike.model.windowfns import WindowFn


def warn_of_times(inputs: Inputs, window_fn: WindowFn) -> None:
    """Warn of panes that would be put into windows by the end of the window that they had."""
    groupings = (before for rows in inputs.rows for before in stamped_with_ends(rows.node))
    stamped = next(groupings, None)
    if stamped is None:
        return
    windows = stamped.strategy.window_fn
    if not loses_times(windows, window_fn):
        return
    warn_user(
        f"{window_fn} goes by the times of panes of {stamped.label!r}, and these are stamped with "
        f"the end of their window of {windows}, whenever their elements were; write "
        f'timestamp_combiner="earliest" in the window(...) of {stamped.label!r}, or, where it only '
        "leaves out what comes again, deduplicate(...) in its place",
        UnwiseStrategyWarning,
    )


def _lateness_us(strategy: WindowingStrategy) -> int:
    return strategy.allowed_lateness * strategy.resolution.micros


def check_regroupable(inputs: Inputs, name: str, strategy: WindowingStrategy) -> bool:
    """Refuse rows that withdraw others where that cannot be done, and panes that repeat others.

    Returns:
        Whether some rows withdraw others.
    """
    _check_repeated(inputs, name)
    retracting = check_kept(inputs, name)
    if not retracting:
        return False
    first = retracting[0]
    if first.plan.render != "retractions":
        raise UnsupportedError(
            f"rows rendered as {first.plan.render} cannot be grouped again; leave render= out in "
            f"{first.label!r}, and the grouping {name!r} takes its corrections"
        )
    if strategy.is_merging:
        raise UnsupportedError(
            f"the grouping {name!r} would merge windows of rows that may be withdrawn, and a "
            "merged session cannot be taken apart again; give it windows that do not merge, such "
            f'as FixedWindows, or write accumulation="discarding" in {first.label!r}'
        )
    lateness = max(_lateness_us(node.strategy) for node in retracting)
    if (allowed := _lateness_us(strategy)) < lateness:
        warn_user(
            f"the grouping {name!r} allows lateness of {MICROSECONDS.show_duration(allowed)}, "
            f"and {first.label!r} corrects its results for {MICROSECONDS.show_duration(lateness)}: "
            "corrections that come later are dropped; give both the same allowed_lateness",
            UnwiseStrategyWarning,
        )
    return True


def check_kept(inputs: Inputs, name: str) -> list[GroupNode]:
    """The groupings before some rows that withdraw panes."""
    retracting = [way for rows in inputs.rows for way in rows.retracting]
    for node, marks in retracting:
        lost = node.plan.render == "retractions" and RETRACTION not in inputs.columns
        if RETRACTION in marks or lost:
            raise UnsupportedError(
                f"the grouping {name!r} takes the rows of {node.label!r}, of which some withdraw "
                f"others, and the column {RETRACTION!r} says which; keep that column in select(), "
                "and leave it out of where() and reject()"
            )
    return [node for node, _ in retracting]


def check_takes_back(
    strategy: WindowingStrategy, aggregate: Mapping[str, Aggregate], name: str
) -> None:
    """Refuse panes that discard and whose difference to those before has no form."""
    if strategy.accumulates:
        return
    for called, wanted in aggregate.items():
        if wanted.kind not in ("count", "sum"):
            raise UnsupportedError(
                f"aggregate {called!r}: a discarding pane of {name!r} would be the difference that "
                f"corrections make to a {wanted.kind}, and only counts and sums have one; write "
                'accumulation="retracting" in the window(...) before'
            )


def _check_repeated(inputs: Inputs, name: str) -> None:
    for rows in inputs.rows:
        for node, marks in rows.groupings:
            how = repetition(node.strategy, unbounded=inputs.is_streaming)
            if how is None or not how.one_pane.isdisjoint(marks):
                continue
            last = ""
            if "is_last" in how.one_pane:
                last = (
                    '; or take its last panes only, with closing_behavior="fire_always" and '
                    'where("pane.is_last")'
                )
            raise UnsupportedError(
                f"the grouping {name!r} would count elements several times: {node.label!r} before "
                f"it is accumulating, and {how.because}; in the window(...) of {node.label!r} "
                'write accumulation="retracting", so that each pane takes back the one before, or '
                '"discarding", so that a pane holds what is new; or one pane for each window, '
                f"with {how.instead}{last}"
            )
