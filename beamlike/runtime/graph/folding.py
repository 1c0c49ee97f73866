"""Which groupings take the elements of a step part by part, so that they need not keep them."""

from beamlike.model.combine import Collect
from beamlike.model.graph import GroupNode, Node
from beamlike.model.options import LateCheck
from beamlike.model.resolution import Resolution
from beamlike.model.trigger_analysis import fires_on_arrival


def folds_parts(node: Node) -> bool:
    """Whether parts of a step bring out the panes of the whole, as long as nothing can be late.

    They do where only the watermark makes panes, and windows do not merge: the identity of a
    session may depend on what comes together. A grouping that lists its values keeps them anyway,
    and takes them at once.
    """
    if not isinstance(node, GroupNode):
        return False
    strategy, combine = node.strategy, node.combine
    lists_values = isinstance(combine, Collect) or combine.evicts
    if lists_values or strategy.is_merging or strategy.late_check is LateCheck.MERGED:
        return False
    return not (strategy.trigger.needs_clock or fires_on_arrival(strategy.trigger))


def is_before_all_windows(watermark: int) -> bool:
    """Whether no window can have ended: a source that ends by itself has this watermark (ms)."""
    return any(watermark == each.earliest for each in Resolution)
