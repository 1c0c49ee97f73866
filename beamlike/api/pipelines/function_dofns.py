"""Plain functions as `DoFn`.

Source: Beam Python ``CallableWrapperDoFn``.
"""

from collections.abc import Callable, Iterable
from typing import Any

from beamlike.api.pipelines.dofn import DoFn, Plain
from beamlike.api.pipelines.transform import function_label


class FlatMapFn(DoFn[Any, Any]):
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

    def plain(self) -> Plain:
        return self.means

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any] | None:
        return self.fn(element, *args, **kwargs)  # type: ignore[no-any-return]


class MapFn(FlatMapFn):
    means = Plain.MADE

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return (self.fn(element, *args, **kwargs),)


class FilterFn(FlatMapFn):
    means = Plain.KEPT

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return (element,) if self.fn(element, *args, **kwargs) else ()
