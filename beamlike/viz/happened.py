"""What a run says of each key, in order."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from beamlike.hosts.script import Arrive, Run
from beamlike.machine.events import Effect, Happening

__all__ = ["busiest", "by_step", "keys_of"]


def keys_of(run: Run) -> list[Any]:
    """The keys of a run, in the order in which they came."""
    arrived = (key for step in run.script if isinstance(step, Arrive) for key in step.by_key())
    return list(dict.fromkeys([*arrived, *(output.key for output in run.outputs)]))


def busiest(run: Run, keys: Sequence[Any], most: int) -> list[Any]:
    """So many keys with the most elements, panes and drops, in the order given."""
    events: Counter[Any] = Counter(output.key for output in run.outputs)
    for step in run.script:
        if isinstance(step, Arrive):
            events.update(key for key, _ in step.elements)
    chosen = set(sorted(keys, key=lambda key: -events[key])[:most])
    return [key for key in keys if key in chosen]


def by_step(run: Run, key: Any) -> tuple[dict[int, list[Effect]], dict[int, list[Happening]]]:
    """The outputs and the story of one key, by the step that they belong to."""
    effects: dict[int, list[Effect]] = {}
    for output in run.outputs:
        if output.key == key:
            effects.setdefault(output.step, []).append(output.effect)
    story: dict[int, list[Happening]] = {}
    for told in run.story:
        if told.key == key:
            story.setdefault(told.step, []).append(told.happening)
    return effects, story
