"""Several strategies over one stream."""

import inspect
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.model.options import argument_meant
from beamlike.model.strategy_parts import StrategyParts
from beamlike.runtime.script import Arrive, ScriptStep
from beamlike.testing.streams.finished import FinishedTestStream
from beamlike.testing.streams.results import Results

if TYPE_CHECKING:
    from beamlike.viz.compare import Comparison

_OPTIONS: Final = tuple(StrategyParts.__annotations__)
"""What `FinishedTestStream.run` takes of a strategy, besides its windows."""
_KNOWN: Final = tuple(
    parameter
    for parameter in inspect.signature(FinishedTestStream.run).parameters
    if parameter != "self"
)


def compare(
    stream: FinishedTestStream | Results, variants: Mapping[str, Mapping[str, Any]], **common: Any
) -> "Comparison":
    """Run a stream under several strategies and put what comes out side by side.

        print(compare(
            stream,
            {"as it is": {}, "an hour more": {"allowed_lateness": "1h"}},
            window=Sessions("10 minutes"),
        ))

    Of a run the stream is what it was given, and what a variant leaves out is as it was there;
    an empty one is the run itself, whichever host it was on. So a grouping of a pipeline
    is compared with itself: ``compare(inside(result, "Count"), {"as it is": {}, "an hour more":
    {"allowed_lateness": "1h"}})``.

    Args:
        stream: What happens, or a run of it, such as `inside` has.
        variants: Each strategy under a name, as the arguments of `FinishedTestStream.run` that
            are its own. The first one is what the others are measured against.
        common: The arguments that all of them have.

    Raises:
        TestStreamError: There are not two variants, or one has an argument that `run` does not
            take; and whatever `run` raises.
        RecordingError: A run does not happen again, because a function of the user's does not
            always give the same answer.
    """
    from beamlike.viz.compare import compare as side_by_side

    if not isinstance(stream, FinishedTestStream | Results):
        raise TestStreamError(
            f"compare needs a finished stream, got {stream!r}; end it with "
            'advance_watermark_to_infinity(), or name a grouping: inside(result, "its label")'
        )
    if not isinstance(variants, Mapping) or len(variants) < 2:
        raise TestStreamError(
            "compare needs two strategies or more, each under a name, such as "
            '{"as it is": {}, "an hour more": {"allowed_lateness": "1h"}}; '
            f"got {variants!r}"
        )
    for variant, options in variants.items():
        for argument in {**common, **options}:
            if argument not in _KNOWN:
                raise TestStreamError(f"{variant!r}: {argument_meant(argument, 'run', _KNOWN)}")
    play = partial(_again, stream) if isinstance(stream, Results) else stream.run
    return side_by_side(
        {name: play(**{**common, **variant}).recording for name, variant in variants.items()}
    )


def _again(results: Results, **options: Any) -> Results:
    """A run with other options; that run if there are none."""
    if not options:
        return results
    grouping = results.grouping
    script = grouping.run.script
    arrived = (element for step in script if isinstance(step, Arrive) for element in step.elements)
    if any(element.window is not None for _, element in arrived):
        raise TestStreamError(
            "the elements of this grouping come in windows that its window function does not give "
            "them anew; compare the grouping that made them"
        )
    asked: dict[str, Any] = {"aggregate": grouping.combine, "allow_unsafe_trigger": True}
    if options.get("strategy") is None:
        strategy = grouping.strategy
        asked |= {name: getattr(strategy, name) for name in _OPTIONS}
        asked["window"] = strategy.window_fn
    stream = FinishedTestStream(tuple(map(_with_pairs, script)))
    return stream.run(**(asked | options))


def _with_pairs(step: ScriptStep) -> ScriptStep:
    if not isinstance(step, Arrive):
        return step
    return Arrive(
        tuple(
            (None, attrs.evolve(element, value=(key, element.value)))
            for key, element in step.elements
        )
    )
