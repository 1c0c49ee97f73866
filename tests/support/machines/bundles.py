"""How elements are bundled: other cuts of a script, and what they must not change.

Triggers are asked once for each bundle, so a runner that cuts bundles elsewhere may give other
panes. `is_patient` names strategies for which it gives the same, and `keeps_contents` those of
which at least the last word on each window is the same.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Drop, Element
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.script import Arrive, Output, Run, Script, ScriptStep
from tests.support.machines.laws import in_any_order, panes_of


def keys_apart(script: Script) -> tuple[Script, list[int]]:
    """The script with the elements of each key in a step of their own.

    Returns:
        The new script, and for each of its steps the step of the old one that it belongs to.
    """
    apart: list[ScriptStep] = []
    origin: list[int] = []
    for number, happens in enumerate(script):
        pieces: list[ScriptStep] = [happens]
        if isinstance(happens, Arrive):
            pieces = [
                Arrive(tuple((key, element) for element in elements))
                for key, elements in happens.by_key().items()
            ]
        apart += pieces
        origin += [number] * len(pieces)
    return tuple(apart), origin


def by_content(outputs: Iterable[Output], origin: Sequence[int]) -> Counter[str]:
    """Outputs as a multiset that says nothing of the order inside a bundle.

    The lists in panes are sorted, and drops do not name the session that they nearly joined:
    that is a session as it was just then, and a smaller bundle may have made it grow already.

    Args:
        origin: For each step, the step of the script that it was cut from.
    """

    def plain(output: Output) -> Output:
        effect = output.effect
        if isinstance(effect, Drop):
            effect = attrs.evolve(effect, nearest_session=None)
        elif isinstance(effect.value, list | tuple):
            effect = attrs.evolve(effect, value=sorted(effect.value))
        return attrs.evolve(output, step=origin[output.step], effect=effect)

    return in_any_order(map(plain, outputs))


# -- who cares ---------------------------------------------------------------------------------


def _is_bounded(window_fn: bl.WindowFn) -> bool:
    """Whether sessions have a bound, or an event may end them: then the order of arrival decides
    where they are cut."""
    if not isinstance(window_fn, bl.Sessions):
        return False
    return window_fn.max_duration is not None or window_fn.needs_sizes


def is_patient(strategy: bl.WindowingStrategy) -> bool:
    """Whether bundles may be cut anywhere while windows are open, and every pane stays.

    Nothing in the trigger is ready merely because elements came. Where windows merge,
    bundles also decide what merges with what: there, in addition, no window may close, and no
    `AfterEach` may find a later child ready once an earlier one has fired. Sessions have no
    bound: where a bundle that comes later brings earlier data, it decides where they are cut.
    """
    kinds = {type(trigger) for trigger in strategy.trigger.walk()}
    if kinds & {bl.AfterCount, bl.Always}:
        return False
    return not strategy.is_merging or not (
        bl.AfterEach in kinds or strategy.trigger.may_finish or _is_bounded(strategy.window_fn)
    )


def keeps_contents(strategy: bl.WindowingStrategy) -> bool:
    """Whether bundles may be cut anywhere, and `final_contents` stay.

    No window closes, sessions have no bound, and whether an element is late does not depend on
    what it might merge with.
    """
    return not (
        strategy.trigger.may_finish
        or (strategy.is_merging and strategy.late_check is bl.LateCheck.MERGED)
        or _is_bounded(strategy.window_fn)
    )


def while_open(script: Script, window_fn: bl.WindowFn) -> Script:
    """The script without the elements that come after the end of one of their windows."""
    watermark = MIN_TIMESTAMP
    kept: list[ScriptStep] = []
    for happens in script:
        if isinstance(happens, AdvanceWatermark):
            watermark = happens.to
        elif isinstance(happens, Arrive):
            happens = Arrive(
                tuple(
                    (key, element)
                    for key, element in happens.elements
                    if watermark <= _last_open(window_fn, element)
                )
            )
        kept.append(happens)
    return tuple(kept)


def _last_open(window_fn: bl.WindowFn, element: Element) -> int:
    """The last watermark at which none of an element's windows is over."""
    windows = window_fn.assign(element.timestamp, element.value)
    return min((window.max_timestamp for window in windows), default=MAX_TIMESTAMP)


def final_contents(strategy: bl.WindowingStrategy, run: Run) -> Counter[tuple[Any, ...]]:
    """What a run has said of each key and window in the end, whichever panes said it.

    Discarding: the elements of all panes. Accumulating: those of the last pane of each window;
    of windows that merge, where panes of parts stay behind, each element once. Retracting: the
    panes that stand. Values must be collected in a list.
    """
    merging = strategy.is_merging
    panes = panes_of(run.outputs)
    if strategy.accumulation is bl.AccumulationMode.DISCARDING:
        return Counter(
            (key, None if merging else pane.window, value)
            for key, pane in panes
            for value in pane.value
        )
    if strategy.accumulation is bl.AccumulationMode.RETRACTING:
        stands: Counter[tuple[Any, ...]] = Counter()
        for key, pane in panes:
            stands[key, pane.window, tuple(sorted(pane.value))] += -1 if pane.retraction else 1
        return +stands
    if merging:
        return Counter({(key, value) for key, pane in panes for value in pane.value})
    last = {(key, pane.window): tuple(sorted(pane.value)) for key, pane in panes}
    return Counter((*place, value) for place, value in last.items())
