"""A node of a query that keeps state, in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from beamlike.model.graph import ReadNode, StatefulNode, ways_back

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.runtime.plan import Plan

METADATA: Final = "beamlike"
"""Under which name the column ``pane`` carries the explanation of its grouping."""
_LEFT_OUT: Final = ("machine", "transform", "layout version")
"""What the first line says, and what a user does not choose."""


def explained(rows: "DataFrame", node: StatefulNode) -> "DataFrame":
    """The same rows, which carry the explanation with them wherever the column ``pane`` goes."""
    if "pane" not in rows.columns:
        return rows
    return rows.withMetadata("pane", {METADATA: node_text(node, node.plan, node.plan.identity)})


def plan_text(plan: "Plan", words: Mapping[str, str]) -> str:
    """The machine of a plan, and why that one; below, what is done, in words."""
    from beamlike.runtime.stepping import choose_machine

    choice = choose_machine(plan)
    because = f", because {choice.why}" if choice.why else ""
    shown = (f"  {what}: {how}" for what, how in words.items() if what not in _LEFT_OUT)
    return "\n".join([f"{plan.name}: {choice.machine} machine{because}", *shown])


def node_text(node: StatefulNode, plan: "Plan", words: Mapping[str, str]) -> str:
    """A node, and what it reads where that is not one source alone."""
    before = [
        origin
        for source in node.sources
        for origin, _ in ways_back(source.node, lambda it: isinstance(it, ReadNode | StatefulNode))
    ]
    text = plan_text(plan, words)
    if len(before) == 1 and isinstance(before[0], ReadNode):
        return text
    return f"{text}\n  reads: {', '.join(origin.label for origin in before)}"
