"""What a failed assertion says: what was wanted, what came out, and why.

The groupings that assertions are about are kept: what was given to them, and what came of it. So a
failure can show one on a time axis, and it can be replayed.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import attrs

from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import visible
from beamlike.model.graph import Edge, GroupNode, ParDoNode, SideInputNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.script import Arrive, Run, Script
from beamlike.viz.table import pane_table


@attrs.frozen
class AssertedGrouping:
    """One grouping about which something was asserted; "" is the label of a test stream that was
    run by itself. The steps of its run are its own, and not those of the pipeline.
    """

    label: str
    run: Run
    strategy: WindowingStrategy
    combine: CombineFn

    @property
    def timeline(self) -> str:
        """Its run on a time axis, under its name."""
        from beamlike.viz.timeline import text_timeline  # only a failure pays for it

        drawn = text_timeline(self.run, window_fn=self.strategy.window_fn)
        heading = f"timeline of {self.label!r}, by its own steps" if self.label else "timeline"
        return f"{heading}:\n{drawn}"


def grouping_of(edge: Edge) -> GroupNode | None:
    """The grouping whose panes an edge has; None if there is no such grouping."""
    node = edge.node
    while isinstance(node, ParDoNode | SideInputNode):
        node = node.sources[0].node
    return node if isinstance(node, GroupNode) else None


def asserted_in(run: PipelineRun, edge: Edge) -> AssertedGrouping | None:
    """The grouping that an assertion about a collection is about.

    None if there is no such grouping, or if the host records no trace of it.
    """
    node = grouping_of(edge)
    inside = None if node is None else run.inside(node)
    if node is None or inside is None:
        return None
    script = with_assigned_windows(inside.script, node.strategy)
    inside = inside if script is None else attrs.evolve(inside, script=script)
    return AssertedGrouping(node.label, inside, node.strategy, node.combine)


def with_assigned_windows(script: Script, strategy: WindowingStrategy) -> Script | None:
    """The script with elements that come without windows, and get them from the strategy.

    In a pipeline elements come to a grouping once for each of their windows. Mostly these are
    the windows that the window function assigns to them; if not, the answer is None.
    """
    if strategy.already_merged:
        return None
    steps = []
    for step in script:
        if isinstance(step, Arrive):
            alone = _assigned(step, strategy.window_fn)
            if alone is None:
                return None
            step = alone
        steps.append(step)
    return tuple(steps)


def _assigned(arrive: Arrive, window_fn: WindowFn) -> Arrive | None:
    plain_elements, index = [], 0
    while index < len(arrive.elements):
        key, element = arrive.elements[index]
        plain = attrs.evolve(element, window=None)
        plain_elements.append((key, plain))
        if element.window is None:
            index += 1
            continue
        try:
            windows = window_fn.assign(element.timestamp, element.value)
        except Exception:  # a function of the user's, of a value that it does not know
            return None
        wanted = [(key, attrs.evolve(plain, window=window)) for window in windows]
        came = list(arrive.elements[index : index + len(wanted)])
        if not wanted or came != wanted:
            return None
        index += len(wanted)
    return Arrive(tuple(plain_elements))


_listeners: Final[list[deque[AssertedGrouping]]] = []


@contextmanager
def listening() -> Iterator[Sequence[AssertedGrouping]]:
    """Get the last test stream that runs in the block by itself.

    A test may assert something about its panes in a plain ``assert``, which knows nothing of it.
    """
    updates: deque[AssertedGrouping] = deque(maxlen=1)
    _listeners.append(updates)
    try:
        yield updates
    finally:
        # Not by equality: all listeners have equal lists.
        _listeners[:] = [other for other in _listeners if other is not updates]


def ran_by_itself(asserted: AssertedGrouping) -> None:
    """Report it to all that are `listening`."""
    for updates in _listeners:
        updates.append(asserted)


_MOST_LINES: Final = 12


class PaneAssertionError(AssertionError):
    """The panes are not what the test expects. The text is the whole report.

    ``groupings`` are those that it is about, as far as they are known: they can be replayed.
    """

    def __init__(self, text: str = "", groupings: Iterable[AssertedGrouping] = ()) -> None:
        super().__init__(text)
        self.groupings = tuple(groupings)


@attrs.frozen
class Failure:
    """Why a matcher is not content.

    ``facts`` are labelled lines, ``marked`` the positions of the selected outputs.
    """

    headline: str
    facts: tuple[tuple[str, str], ...] = ()
    marked: tuple[int, ...] = ()


def failure_text(
    failure: Failure,
    run: Run,
    strategy: WindowingStrategy | None,
    collection: str = "",
    trace: str = "",
) -> str:
    """The text of a failure, with a table of everything that came out.

    Without a collection of a pipeline that it came out of, there is a timeline at the end; with
    one, a trace says what came out on the way to it if it is empty.
    """
    from beamlike.viz.timeline import text_timeline  # only a failure pays for it

    facts = failure.facts
    if collection:
        facts = (("collection", collection), *facts)
    if strategy is not None:
        facts = (*facts, ("windowing", str(strategy)))
    label_width = max(len(label) for label, _ in facts) if facts else 0
    selected = f", {len(failure.marked)} marked with >" if failure.marked else ""
    sections = [
        failure.headline,
        "\n".join(_fact(label, text, label_width) for label, text in facts),
        f"everything that came out{selected}:\n" + pane_table(run.outputs, failure.marked),
    ]
    if trace:
        sections.append("what came out on the way:\n" + trace)
    if not collection:
        window_fn = strategy.window_fn if strategy else None
        sections.append("timeline:\n" + text_timeline(run, window_fn=window_fn))
    # Names of transforms and what functions raised are the user's, too.
    return visible("\n\n".join(section for section in sections if section))


def some_lines(lines: Iterable[str]) -> str:
    """Lines under one label, not too many of them."""
    every = list(lines)
    hidden = len(every) - _MOST_LINES
    return "\n".join(every[:_MOST_LINES] + ([f"... and {hidden} more"] if hidden > 0 else []))


def _fact(label: str, text: str, width: int) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{label:{width}}  {first}", *(" " * (width + 2) + line for line in rest)])
