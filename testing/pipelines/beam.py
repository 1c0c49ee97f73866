"""Beam Python's assertions: ``assert_that(pcoll, equal_to([...]))``.

They are other names of `expect`, and are checked with it: when a pipeline has run.

Source: Beam Python ``apache_beam.testing.util``.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from beamlike.api.pipelines.pipeline import PCollection
from beamlike.errors import TestStreamError
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing.assertions.failures import Failure
from beamlike.testing.pipelines.beam_matchers import reified
from beamlike.testing.pipelines.collections import asking, results_of
from beamlike.testing.streams.results import Matcher, Results

__all__ = ["assert_that"]


def assert_that(
    actual: PCollection[Any],
    matcher: Matcher | Callable[[list[Any]], object],
    label: str = "assert_that",
    reify_windows: bool = False,
    use_global_window: bool = True,
) -> None:
    """Assert something about a collection, when its `TestPipeline` has run.

    Args:
        actual: The collection.
        matcher: What must hold: `equal_to` and the others here, any matcher that `expect`
            takes, or a function that is given the list of all elements, and raises an
            `AssertionError` or returns False if they are wrong.
        label: Taken, so that tests of Beam need no change; assertions here need no names.
        reify_windows: Look at each element as `TestWindowedValue`. Either way an element of
            several windows is there once for each of them.
        use_global_window: If not, a function is called for each window, with a pair of the list
            of its elements and the window.

    Raises:
        PipelineError: The pipeline has run.
        TestStreamError: The matcher is neither a matcher nor a function.

    Source: Beam Python ``assert_that``.
    """
    _refuse_unless_it_asks(matcher)
    assert_with = asking(actual, "assert_that")
    edge, windowing = actual.edge, actual.windowing

    def ask(run: PipelineRun) -> str | None:
        results = results_of(run, edge, windowing)
        if reify_windows:
            results = reified(results)
        if isinstance(matcher, Matcher):
            failure = matcher.failure(results, negated=False)
            return None if failure is None else results.text_of(failure)
        why = ""
        try:
            for each in _asked_for(results, use_global_window):
                if matcher(each) is False:
                    why = "it returned False"
                    break
        except AssertionError as failed:
            why = f"{type(failed).__name__}: {failed}"
        if not why:
            return None
        name = getattr(matcher, "__name__", repr(matcher))
        return results.text_of(Failure(f"{name} does not hold", (("because", why),)))

    assert_with(ask)


def _asked_for(results: Results, use_global_window: bool) -> list[Any]:
    """What a function is called with, one after the other."""
    if use_global_window:
        return [results.elements(results.panes, stamped=False)]
    by_window: dict[Any, list[Any]] = defaultdict(list)
    for output in results.panes:
        by_window[output.effect.window].append(results.element(output))
    return [(elements, window) for window, elements in by_window.items()]


def _refuse_unless_it_asks(matcher: object) -> None:
    hint = ""
    if not isinstance(matcher, type):
        if isinstance(matcher, Matcher):
            return
        # A function of the harness makes a matcher; given elements it would never fail.
        if callable(matcher):
            if not str(getattr(matcher, "__module__", "")).startswith("beamlike.testing."):
                return
            hint = f"; write {getattr(matcher, '__name__', matcher)}(...)"
    raise TestStreamError(
        "assert_that needs a matcher such as equal_to([...]), or a function of all elements, got "
        f"{matcher!r}{hint}"
    )
