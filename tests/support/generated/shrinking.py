"""What breaks a law, made smaller: a scenario that a person can read, and a transcript of it."""

import contextlib
from collections.abc import Collection, Hashable, Iterator
from typing import Any

import attrs

from beamlike.errors import WindowingError
from beamlike.model import triggers as t
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Arrive, Script, with_elements
from beamlike.testing.scenarios.writing import beyond_the_format, write_scenario
from tests.support.differential import LAWS, Case
from tests.support.generated.scenarios import RandomScenario
from tests.support.laws import Broken


def smallest(broken: Broken[Case]) -> Broken[Case]:
    """The same law broken by less: fewer steps, elements and trigger nodes, plainer parts."""
    return LAWS.smallest(broken, _smaller_cases, attempts=2000)


def _smaller_cases(case: Case) -> Iterator[Case]:
    for scenario in _smaller(case.scenario):
        yield attrs.evolve(case, scenario=scenario)


def _smaller(scenario: RandomScenario) -> Iterator[RandomScenario]:
    script, strategy = scenario.script, scenario.strategy
    for keys in _fewer_keys(script):
        yield attrs.evolve(scenario, script=_of_keys(script, keys))
    if _windows_come_in(script):
        yield attrs.evolve(scenario, script=_without_windows(script))
    for index in reversed(range(len(script))):
        yield attrs.evolve(scenario, script=script[:index] + script[index + 1 :])
    for index, happens in enumerate(script):
        elements = happens.elements if isinstance(happens, Arrive) else ()
        for one in range(len(elements) if len(elements) > 1 else 0):
            fewer = Arrive(elements[:one] + elements[one + 1 :])
            yield attrs.evolve(scenario, script=(*script[:index], fewer, *script[index + 1 :]))
    for trigger in _smaller_triggers(strategy.trigger):
        yield attrs.evolve(scenario, strategy=strategy.configured(trigger=trigger))
    plain = {
        part.name: getattr(WindowingStrategy(strategy.window_fn), part.name)
        for part in attrs.fields(WindowingStrategy)
        if part.init and part.eq and part.name not in ("window_fn", "trigger", "already_merged")
    }
    given = {name: getattr(strategy, name) for name in plain}
    for name, value in plain.items():
        if given[name] != value:
            with contextlib.suppress(WindowingError):  # some parts only go together
                plainer = WindowingStrategy(
                    strategy.window_fn, strategy.trigger, **(given | {name: value})
                )
                yield attrs.evolve(scenario, strategy=plainer)
    fn = strategy.window_fn
    if isinstance(fn, Sessions):
        unbounded = Sessions(fn.gap, merge_touching=fn.merge_touching)
        for sessions in (Sessions(fn.gap), unbounded):
            if sessions != fn:
                yield attrs.evolve(scenario, strategy=strategy.configured(sessions))
    if scenario.aggregation != "list":
        yield attrs.evolve(scenario, aggregation="list")


def _fewer_keys(script: Script) -> Iterator[Collection[Hashable]]:
    """One of the keys alone, then half of them, then all but one."""
    steps = (step for step in script if isinstance(step, Arrive))
    keys = list(dict.fromkeys(key for step in steps for key in step.by_key()))
    if len(keys) > 1:
        yield from ([key] for key in keys)
        yield from (keys[: len(keys) // 2], keys[len(keys) // 2 :])
        yield from ([key for key in keys if key != left_out] for left_out in keys)


def _of_keys(script: Script, keys: Collection[Hashable]) -> Script:
    """The script with the elements of these keys only."""
    steps = (
        Arrive(tuple((key, element) for key, element in step.elements if key in keys))
        if isinstance(step, Arrive)
        else step
        for step in script
    )
    return tuple(step for step in steps if step != Arrive(()))


def _windows_come_in(script: Script) -> bool:
    steps = (step for step in script if isinstance(step, Arrive))
    return any(element.window is not None for step in steps for _, element in step.elements)


def _without_windows(script: Script) -> Script:
    return with_elements(script, lambda key, element: (key, attrs.evolve(element, window=None)))


def _smaller_triggers(trigger: t.Trigger) -> Iterator[t.Trigger]:
    """The trigger with one node replaced by what is below it, or by a count of one."""
    yield from trigger.children
    if trigger.children or trigger != t.AfterCount(1):
        yield t.AfterCount(1)
    for index, child in enumerate(trigger.children):
        for less in _smaller_triggers(child):
            subs = [*trigger.children[:index], less, *trigger.children[index + 1 :]]
            match trigger:
                case t.AfterWatermark(early=None):
                    yield t.AfterWatermark(late=less)
                case _:
                    yield type(trigger)(*subs)


def transcript_of(broken: Broken[Case]) -> dict[str, Any]:
    """The scenario as a transcript that expects what the memory host says.

    Its notes say which law it breaks, and what of it a transcript cannot say.
    """
    case = broken.case
    notes = [f"breaks: {broken.law}"]
    beyond = beyond_the_format(case.strategy)
    if _windows_come_in(case.script):
        beyond.append("windows that elements come in")
    if beyond:
        notes.append(f"what a replay leaves out: {', '.join(beyond)}")
    return write_scenario(
        f"random_{case.name.replace(':', '_').replace(' ', '_')}",
        case.strategy,
        case.scenario.aggregation,
        case.run,
        title=f"random scenario {case.name}, made smaller",
        authority="fuzz",
        notes="; ".join(notes),
    )
