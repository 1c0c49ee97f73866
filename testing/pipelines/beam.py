"""Beam Python's assertions: ``assert_that(pcoll, equal_to([...]))``.

They are other names of `expect`, and are checked with it: when a pipeline has run.

Source: Beam Python ``apache_beam.testing.util``.
"""

import glob
from collections import defaultdict
from collections.abc import Callable, Iterable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import IO, Any, Self

from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.windows import BoundedWindow
from beamlike.errors import TestStreamError
from beamlike.model.panes import PaneInfo
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing.assertions.failures import Failure
from beamlike.testing.pipelines.beam_matchers import BeamAssertException, TestWindowedValue, reified
from beamlike.testing.pipelines.checks import takes
from beamlike.testing.pipelines.collections import asking, results_of
from beamlike.testing.streams.results import Matcher, Results

__all__ = ["TempDir", "assert_that", "has_at_least_one", "open_shards"]


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
            inner = "<locals>" in getattr(matcher, "__qualname__", "")  # by `matches_all`
            if inner or not str(getattr(matcher, "__module__", "")).startswith("beamlike.testing."):
                return
            hint = f"; write {getattr(matcher, '__name__', matcher)}(...)"
    raise TestStreamError(
        "assert_that needs a matcher such as equal_to([...]), or a function of all elements, got "
        f"{matcher!r}{hint}"
    )


def has_at_least_one(
    input: PCollection[Any],
    criterion: Callable[[Any, Timestamp, BoundedWindow, PaneInfo], object],
    label: str = "has_at_least_one",
) -> None:
    """Assert that a function is true of at least one element.

    Args:
        input: The collection.
        criterion: Called with an element, its `Timestamp`, its window and its pane. An element in
            several windows is looked at in each of them.
        label: Taken, as by `assert_that`.

    Raises:
        PipelineError: The pipeline has run.
        TestStreamError: The criterion does not take these four.

    Source: Beam Python ``has_at_least_one``.
    """
    if not takes(criterion, 4):
        raise TestStreamError(
            "has_at_least_one calls its criterion with an element, its timestamp, its window and "
            "its pane; write lambda element, timestamp, window, pane: ..."
        )

    def check(actual: list[TestWindowedValue]) -> None:
        if not any(
            criterion(element.value, element.timestamp, element.windows[0], element.pane_info)
            for element in actual
        ):
            raise BeamAssertException("Failed assert: nothing matches criterion")

    assert_that(input, check, label, reify_windows=True)


def open_shards(glob_pattern: str, mode: str = "rt", encoding: str | None = "utf-8") -> IO[Any]:
    """Files as one, in the order of their names: the shards that a sink wrote.

    Args:
        glob_pattern: Which files.
        mode: How the whole is opened: ``"rt"`` or ``"rb"``.
        encoding: Of text.

    Source: Beam Python ``open_shards``; there the order is that of the file system.
    """
    whole = b"".join(Path(shard).read_bytes() for shard in sorted(glob.glob(glob_pattern)))
    return BytesIO(whole) if "b" in mode else TextIOWrapper(BytesIO(whole), encoding)


class TempDir:
    """A folder for the files of a test, removed at the end of a block.

    Source: Beam Python ``testing.test_utils.TempDir``.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._folder.cleanup()

    def get_path(self) -> str:
        """The folder."""
        return self._folder.name

    def create_temp_file(self, suffix: str = "", lines: Iterable[bytes] | None = None) -> str:
        """A new file in it.

        Args:
            suffix: The end of its name.
            lines: What is in it, with the ends of lines.

        Returns:
            Its path.
        """
        with NamedTemporaryFile(delete=False, dir=self.get_path(), suffix=suffix) as file:
            file.writelines(lines or ())
        return file.name
