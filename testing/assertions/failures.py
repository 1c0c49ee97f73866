"""What a failed assertion says: what was wanted, what came out, and why."""

from collections.abc import Iterable
from typing import Final

import attrs

from beamlike.model.fingerprint import visible
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Run
from beamlike.testing.assertions.groupings import AssertedGrouping
from beamlike.viz.table import pane_table

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
    """The text of a failure, with a table of everything.

    Args:
        failure: What is wrong.
        run: What came out.
        strategy: How it was windowed.
        collection: The collection of a pipeline that it came out of. Without one, there is a
            timeline at the end.
        trace: What came out on the way to an empty collection.
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
    more = len(every) - _MOST_LINES
    return "\n".join(every[:_MOST_LINES] + ([f"... and {more} more"] if more > 0 else []))


def _fact(label: str, text: str, width: int) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{label:{width}}  {first}", *(" " * (width + 2) + line for line in rest)])
