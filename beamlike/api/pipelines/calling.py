"""Plain functions as `DoFn`.

Source: Beam Python ``CallableWrapperDoFn``.
"""

from collections.abc import Callable, Iterable
from typing import Any

from beamlike.api.pipelines.dofn import DoFn, Plain, plain_outputs
from beamlike.api.pipelines.hints.declared import IOTypeHints, annotations_of, get_type_hints
from beamlike.api.pipelines.transform import function_label


class Calling(DoFn[Any, Any]):
    """A plain function as a `DoFn`; subclasses say what its answer means."""

    means = Plain.LISTED
    opens_texts = True
    # As in Beam Python: what a function moves behind the watermark is late.
    allowed_timestamp_skew = None

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn

    def default_label(self) -> str:
        return function_label(self.fn)

    def called(self) -> Callable[..., Any]:
        return self.fn

    def default_type_hints(self) -> IOTypeHints | None:
        opened = getattr(self.fn, "opens", False)
        function = self.fn.__wrapped__ if opened else self.fn  # type: ignore[attr-defined]
        hints = get_type_hints(function).with_defaults(annotations_of(function))
        if opened:  # its parameters are the parts of an element
            hints = IOTypeHints(None, hints.made)
        if self.means is Plain.KEPT:  # whatever a condition answers
            return IOTypeHints(hints.taken)
        return plain_outputs(hints.strip_iterable() if self.means is Plain.LISTED else hints)

    def plain(self) -> Plain:
        return self.means

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any] | None:
        return self.fn(element, *args, **kwargs)  # type: ignore[no-any-return]


class Made(Calling):
    means = Plain.MADE

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return (self.fn(element, *args, **kwargs),)


class Filtering(Calling):
    means = Plain.KEPT

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return (element,) if self.fn(element, *args, **kwargs) else ()
