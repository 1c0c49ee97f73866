"""What came out of a whole pipeline, in words that do not depend on what nobody promises."""

from collections.abc import Mapping
from typing import Any

import attrs

from beamlike.hosts.pipeline import PipelineRun

__all__ = ["told"]


def told(run: PipelineRun) -> Mapping[str, list[str]]:
    """What came out of each edge, and what was lost; in which order within a step is open."""
    came = {
        f"{edge.node.label} {edge.tag}": sorted(
            f"{it.step} {attrs.evolve(it.element, value=_unordered(it.element.value))}"
            for it in found
        )
        for edge, found in run.came.items()
        if found
    }
    return came | {"lost": sorted(map(str, run.lost))}


def _unordered(value: Any) -> Any:
    """The value with its lists sorted: nobody promises the order of what was grouped."""
    if isinstance(value, tuple):
        return tuple(map(_unordered, value))
    return sorted(map(_unordered, value)) if isinstance(value, list) else value
