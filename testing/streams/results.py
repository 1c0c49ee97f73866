"""Results: everything that came out of a run, and the two ways to ask about it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, runtime_checkable

import attrs

from beamlike.errors import TestStreamError
from beamlike.machine.events import Pane
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.options import AccumulationMode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import instant_ms
from beamlike.runtime.script import Output, Run
from beamlike.testing.assertions.equality import same, same_pair
from beamlike.testing.assertions.failures import (
    AssertedGrouping,
    Failure,
    PaneAssertionError,
    failure_text,
)
from beamlike.testing.streams.changes import Changes, changes_of
from beamlike.testing.streams.embedding import EmbeddedPage
from beamlike.viz.table import pane_markup, pane_table

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from beamlike.viz.explain import Explanation, WindowLike
    from beamlike.viz.picture import Picture
    from beamlike.viz.recording import Recording


class _NoKey:
    """The key of what is no pair; nothing to see in a table."""

    def __repr__(self) -> str:
        return ""


NO_KEY: Final = _NoKey()
"""In place of the key of an element that is no ``(key, value)`` pair."""


@runtime_checkable
class Matcher(Protocol):
    """A question about results."""

    def failure(self, results: "Results", *, negated: bool) -> Failure | None:
        """Why the answer is not the wanted one, None if it is."""
        ...


def check_matcher(verb: str, matcher: object) -> None:
    """Refuse what is not a matcher, with what to write."""
    __tracebackhide__ = True
    if isinstance(matcher, Matcher) and not isinstance(matcher, type):
        return
    hint = f", got {matcher!r}"
    if not isinstance(matcher, type) and (name := getattr(matcher, "__name__", None)):
        hint += f"; write {name}(...)"
    elif hasattr(matcher, "differences"):  # a pane or a drop that `emit_exactly` expects
        hint = f", got one pane or drop; write {verb}(emit_exactly({matcher})), with all else that "
        hint += "comes out beside it"
    raise TestStreamError(f"{verb} needs a matcher{hint}")


@attrs.frozen
class Origin:
    """A collection of a pipeline: where results come from that are not one grouping.

    Args:
        label: The transform that made it, and its output.
        trace: How much came out of each transform before it, as text.
        dropped_by: The transforms on the way there that dropped something.
        carries_times: Whether each element is a pair with its own timestamp (ms) in it, as
            Scio's ``with_timestamp`` makes them.
        grouping: What happened to the grouping whose panes these are, if it is known.
    """

    label: str
    trace: Callable[[], str]
    dropped_by: tuple[str, ...] = ()
    carries_times: bool = False
    grouping: Callable[[], AssertedGrouping | None] = attrs.field(default=lambda: None, eq=False)


@attrs.frozen(str=False)
class Results:
    """Everything that came out of one run, or of one collection of a pipeline.

    Elements of a run are ``(key, value)`` pairs, one a pane. Those of a pipeline may be
    anything; each counts once for each window that it is in, as in Beam.

    Lists made by `Collect` are compared without their order. Panes
    that withdraw earlier ones are no elements; `emit_exactly` sees them.

    ``str(results)`` is the table of all panes and drops.

    Source: Scio ``SCollectionMatchers``.
    """

    run: Run
    strategy: WindowingStrategy | None = None
    aggregate: CombineFn | None = None
    stamped: bool = False
    origin: Origin | None = None
    """None: the panes of one grouping of a test stream."""
    equal: Callable[[Any, Any], bool] = attrs.field(default=same, eq=False)
    """When an expected element and one that came out are the same."""

    @property
    def panes(self) -> tuple[Output, ...]:
        """All panes, in order of emission."""
        return self.run.panes

    @property
    def drops(self) -> tuple[Output, ...]:
        """All (element, window) pairs that were dropped, in order."""
        return self.run.drops

    def with_timestamp(self) -> Self:
        """The same panes with elements ``((key, value), timestamp in ms)``.

        The ``..._at_time`` matchers do not need it: they read the timestamps either way.

        Source: Scio ``withTimestamp``.
        """
        return attrs.evolve(self, stamped=True)

    def should(self, matcher: Matcher) -> None:
        """Assert that the matcher holds.

        Raises:
            PaneAssertionError: It does not, or only because there was nothing to look at and
                the window that it names never existed.
        """
        __tracebackhide__ = True  # the test's own line is what pytest should show
        self._ask("should", matcher, negated=False)

    def should_not(self, matcher: Matcher) -> None:
        """Assert that the matcher does not hold for what it selects.

        Raises:
            PaneAssertionError: It holds, or it fails to only because there was nothing to
                look at and the window that it names never existed.
        """
        __tracebackhide__ = True
        self._ask("should_not", matcher, negated=True)

    def _ask(self, verb: str, matcher: Matcher, *, negated: bool) -> None:
        __tracebackhide__ = True
        check_matcher(verb, matcher)
        failure = matcher.failure(self, negated=negated)
        if failure is not None:
            raise PaneAssertionError(self.text_of(failure), self.groupings)

    @property
    def groupings(self) -> tuple[AssertedGrouping, ...]:
        """The grouping that these are the panes of, if it is all known."""
        if self.origin is not None or self.strategy is None or self.aggregate is None:
            return ()
        return (AssertedGrouping("", self.run, self.strategy, self.aggregate),)

    def text_of(self, failure: Failure) -> str:
        """A failure with everything that came out."""
        if self.origin is None:
            return failure_text(failure, self.run, self.strategy)
        if self.origin.dropped_by:
            labels = ", ".join(map(repr, self.origin.dropped_by))
            failure = attrs.evolve(failure, facts=(*failure.facts, ("dropped by", labels)))
        trace = "" if self.panes else self.origin.trace()
        return failure_text(failure, self.run, self.strategy, self.origin.label, trace)

    def changes(self, by: Literal["window", "session"] = "session") -> Changes:
        """The run as the changes of a table, such as a sink that puts and deletes rows sees.

        Rows ``(step, key, op, identity, value)``: ``"upsert"`` puts the value in the row of
        this key and identity, ``"delete"`` removes that row. Of panes that withdraw and
        replace others this is what remains. ``print(results.changes())`` shows a
        table.

        Args:
            by: What a row is called by. ``"session"``: a name that stays while a session grows
                and merges, which is right for all windows. ``"window"``: the pane's window; a
                session that grew is deleted and put anew.

        Raises:
            TestStreamError: The run does not retract, or ``by`` is neither.
        """
        mode = self.strategy.accumulation if self.strategy else AccumulationMode.RETRACTING
        if mode is not AccumulationMode.RETRACTING:
            raise TestStreamError(
                "changes are made from panes that withdraw others, but this run is "
                f'{mode.value}; run it with accumulation="retracting"'
            )
        return changes_of(self.run.outputs, by)

    @property
    def recording(self) -> "Recording":
        """The run with everything in between: what each window waited for, step by step.

        A run on Spark is replayed in memory for it, with the same outcome.

        Of a collection of a pipeline it is the grouping that made its panes.

        Raises:
            TestStreamError: No grouping made them, or there is no trace of it.
            RecordingError: The run does not happen again, because a function of the user's does
                not always give the same answer.
        """
        from beamlike.viz.recording import Recording

        shown = self.grouping
        return Recording.of(shown.run, shown.strategy, shown.combine)

    @property
    def grouping(self) -> AssertedGrouping:
        """The grouping that can be shown step by step.

        Raises:
            TestStreamError: There is nothing.
        """
        if self.origin is not None:
            grouping = self.origin.grouping()
        else:
            grouping = next(iter(self.groupings), None)
        if grouping is None:
            things = f"the elements of {self.origin.label}" if self.origin else "these results"
            raise TestStreamError(
                f"only a grouping can be shown step by step, and {things} are not known to come "
                'from one; name one of the pipeline: inside(result, "its label")'
            )
        return grouping

    def explain(self, key: Any = None, window: "WindowLike | None" = None) -> "Explanation":
        """What happened and why, as text: merges, firings, drops, and why nothing came out.

        ``print(results.explain())`` shows it; ``print(results.explain("joe", ("00:00:00",
        "00:10:00")))`` what concerns that window.

        Args:
            key: Only this key; None for all.
            window: Only this window: an `IntervalWindow`, or its start and end.

        Raises:
            RecordingError: There is no such key or window, with the nearest; or as `recording`.
            TestStreamError: As `recording`.
            TimeError: A bound of the window cannot be read.
        """
        from beamlike.viz.explain import explain

        return explain(self.recording, key, window)

    def timeline(self, width: int = 100) -> str:
        """The run as text: event time across, steps downwards, a block for each key.

        Of a collection of a pipeline it is the grouping that made its panes, as `recording`.

        Args:
            width: Characters in a line, at least 60.

        Raises:
            TestStreamError: As `recording`.
        """
        from beamlike.viz.timeline import text_timeline

        run, strategy, _ = self._drawn
        return text_timeline(run, width, window_fn=strategy.window_fn if strategy else None)

    @property
    def _drawn(self) -> tuple[Run, WindowingStrategy | None, CombineFn | None]:
        """What is drawn; without an aggregate, only what came in and out."""
        if self.origin is None:
            return self.run, self.strategy, self.aggregate
        return self.grouping.run, self.grouping.strategy, self.grouping.combine

    def figure(self, key: Any = None, *, dark: bool = False) -> "Picture":
        """The run as a picture: event time across, processing time up, a panel for each key.

        A notebook shows it by itself. Its words, for those who cannot see it, are
        ``figure().text``.

        Args:
            key: Only this key; None for all, the busiest four if there are more.
            dark: Whether it is light on a dark ground.

        Raises:
            RecordingError: There is no such key, or nothing happened at all.
            TestStreamError: As `timeline`.
        """
        from beamlike.viz.picture import figure_of

        run, strategy, aggregate = self._drawn
        return figure_of(run, strategy, key, aggregate=aggregate, dark=dark)

    def draw(self, path: "str | Path", key: Any = None, *, dark: bool = False) -> None:
        """Write the picture of `figure` to a file; its ending is the format: svg, png or gif.

        A GIF is animated: a frame for each instant.

        Args:
            path: Where to.
            key: As for `figure`.
            dark: As for `figure`.

        Raises:
            RecordingError: As `figure`, or the ending is not one of these.
            EnvironmentProblem: The file cannot be written there, or resvg-py and Pillow are not
                installed, which PNG and GIF need.
            TestStreamError: As `figure`.
        """
        self.figure(key, dark=dark).save(path)

    def save_page(self, path: "str | PathLike[str]", title: str = "beamlike") -> "Path":
        """Write the run as an HTML page, to step through in a browser. It needs no network.

        Args:
            path: Where to; a file that is there is replaced.
            title: The title of the page.

        Returns:
            The path, ready to be opened.

        Raises:
            EnvironmentProblem: The file cannot be written there.
            TestStreamError, RecordingError: As `recording`.
        """
        from beamlike.viz.page import save_page

        return save_page(self.recording, path, title)

    def embedded(self, title: str = "beamlike", height: int = 620) -> EmbeddedPage:
        """The page of `save_page` in a frame, which a notebook shows and saves.

        Args:
            title: The title of the page.
            height: Of the frame, in pixels.

        Raises:
            TestStreamError, RecordingError: As `recording`.
        """
        from beamlike.viz.page import page

        return EmbeddedPage(page(self.recording, title), title, height)

    def element(self, output: Output) -> Any:
        """The element that an output is: ``(key, value)``, or the value if there is no key."""
        value = output.effect.value
        return value if output.key is NO_KEY else (output.key, value)

    def elements(self, outputs: Iterable[Output], *, stamped: bool) -> list[Any]:
        """The outputs that are panes as elements, or as pairs of element and timestamp."""
        return [
            (self.element(output), output.effect.timestamp) if stamped else self.element(output)
            for output in outputs
            if isinstance(output.effect, Pane)
        ]

    def same_element(self, expected: Any, actual: Any) -> bool:
        """The same element, in the sense of this run's aggregation."""
        if isinstance(self.aggregate, Collect) and isinstance(actual, tuple) and len(actual) == 2:
            return same_pair(expected, actual, any_order=True)
        return self.equal(expected, actual)

    def same_stamped(self, expected: tuple[Any, int], actual: tuple[Any, int]) -> bool:
        """The same element at the same time (ms).

        Where elements carry their times, the time may be left out of the expected one.
        """
        (wanted, when), (element, came_at) = expected, actual
        if when != came_at:
            return False
        if self.same_element(wanted, element):
            return True
        carried = self.origin is not None and self.origin.carries_times
        return carried and self.same_element(wanted, element[0])

    def wanted(self, expected: Any, matcher: str, *, stamped: bool) -> Any:
        """An expected element as these results have them.

        Args:
            expected: The element, or a pair of element and time (ms) if ``stamped``.
            matcher: For messages.
            stamped: Whether the matcher gave it a time.

        Raises:
            TestStreamError: It can never come out: it is no pair, or has no time, where all
                elements are and have.
            TimeError: Its time cannot be read.
        """
        if self.stamped and not stamped:
            if not isinstance(expected, tuple) or len(expected) != 2:
                raise TestStreamError(
                    f"{matcher}: with timestamps elements are pairs of element and time, got "
                    f'{expected!r}; write (element, "00:00:59.999")'
                )
            expected = expected[0], instant_ms(expected[1], f"{matcher} time")
            stamped = True
        element = expected[0] if stamped else expected
        if self.origin is None and not (isinstance(element, tuple) and len(element) == 2):
            raise TestStreamError(
                f'{matcher}: elements are (key, value) pairs such as ("joe", ["open app"]), '
                f"got {element!r}"
            )
        return expected

    def __str__(self) -> str:
        return pane_table(self.run.outputs)

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        return pane_markup(self.run.outputs)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The table as text, where HTML is not shown."""
        printer.text(str(self))
