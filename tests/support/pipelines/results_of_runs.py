"""What came out of a whole pipeline, in words that do not depend on what nobody promises."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from beamlike.machine.events import Drop
from beamlike.model.time import show_instant
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.script import Arrive, Run


def values(collection: Any, host: Any = "memory") -> list[Any]:
    """Everything that comes out of a collection when its pipeline runs, in order."""
    result = collection.pipeline.run(host=host)
    return [came.element.value for came in result.out_of(collection.edge)]


def readable_run(run: PipelineRun) -> Mapping[str, list[str]]:
    """What came out of each edge, and what was lost; in which order within a step is open.

    And what happened inside of each grouping, see `told_inside`.
    """
    came = {
        f"{edge.node.label} {edge.tag}": sorted(
            f"{it.step} {attrs.evolve(it.element, value=_unordered(it.element.value))}"
            for it in found
        )
        for edge, found in run.came.items()
        if found
    }
    inside = {
        f"inside of {node.label}": events_inside(happened)
        for node in run.groupings
        if (happened := run.inside(node)) is not None
    }
    return came | inside | {"lost": sorted(map(str, run.lost))}


def events_inside(run: Run) -> list[str]:
    """The steps of a grouping, and what came of each; the order of keys and of lists is open.

    Only the reference machine says how it came about.
    """
    lines: list[str] = []
    for number, step in enumerate(run.script):
        if isinstance(step, Arrive):
            arrived = ((key, _plain(element)) for key, element in step.elements)
            lines += sorted(f"{number} arrives {pair}" for pair in arrived)
        else:
            lines.append(f"{number} {step}")
        outputs = (output for output in run.outputs if output.step == number)
        lines += sorted(
            f"{number} comes {output.key!r} {_plain(output.effect)}" for output in outputs
        )
    return lines


def _plain(has_value: Any) -> Any:
    """The same with its value in words that do not depend on an order."""
    if isinstance(has_value, Drop):
        element = has_value.element
        known = None if element is None else _plain(element)
        return attrs.evolve(has_value, element=known)
    return attrs.evolve(has_value, value=_unordered(has_value.value))


def _unordered(value: Any) -> Any:
    """The value with its lists sorted: the order of what was grouped is not defined."""
    if isinstance(value, tuple):
        return tuple(map(_unordered, value))
    if isinstance(value, dict):
        return {key: _unordered(item) for key, item in value.items()}
    return sorted(map(_unordered, value)) if isinstance(value, list) else value


def shown_panes(collection: Any, *parts: str) -> list[tuple[Any, ...]]:
    """Everything that comes out of a collection of Scio, in order.

    Beside each element are parts of its envelope: "time", "windows", "timing".
    """
    show: Mapping[str, Callable[[Any], str]] = {
        "time": lambda element: show_instant(element.timestamp),
        "windows": lambda element: " ".join(map(str, element.windows)),
        "timing": lambda element: element.pane.timing.value,
    }
    found = (came.element for came in collection.pipeline.run().out_of(collection.edge))
    return [(it.value, *(show[part](it) for part in parts)) for it in found]
