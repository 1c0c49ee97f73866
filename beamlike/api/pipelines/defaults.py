"""What a transform over all elements of a window makes of none."""

import logging
from typing import Any, Self

from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.model.triggers import DefaultTrigger
from beamlike.model.windowfns import GlobalWindows


class WithDefaults(PTransform[Any, Any]):
    """Makes something of all elements of a window, and of none unless it has no defaults."""

    has_defaults = True

    def without_defaults(self) -> Self:
        """The transform without a value for no elements."""
        return self.with_defaults(False)

    def with_defaults(self, has_defaults: bool = True) -> Self:
        """The transform with or without a value for no elements."""
        copy = self._copy()
        copy.has_defaults = has_defaults
        return copy


def check_defaults(pcoll: PCollection[Any], written: str) -> None:
    """Refuse a default value where windows without elements are not known.

    Args:
        written: The transform as the user writes it.

    Raises:
        PipelineError: The collection is not in the global window.
    """
    if not pcoll.is_bounded and pcoll.windowing.trigger != DefaultTrigger():
        # As Beam: it is logged and not refused.
        logging.getLogger(__name__).error(
            "%r: When combining elements in unbounded collections with a trigger, say what an "
            "empty window has; write %s(...).without_defaults() for nothing",
            pcoll.pipeline.label,
            written,
        )
    if not isinstance(pcoll.windowing.window_fn, GlobalWindows):
        raise PipelineError(
            f"{pcoll.pipeline.label!r}: Default values are not supported in {written} if the "
            f"input is not windowed by GlobalWindows, and it is by {pcoll.windowing.window_fn}; "
            f"write {written}(...).without_defaults()"
        )
