"""Functions with ``process_batch``: the elements of a bundle in batches.

Source: Beam Python ``DoFn.process_batch``, ``utils.windowed_value.HomogeneousWindowedBatch``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from beamlike.api.pipelines.batch_types import batch_maker, yielded
from beamlike.api.pipelines.dofn import DoFn, Wrapping, taken_apart
from beamlike.api.pipelines.doing import Doing, asked_by, read
from beamlike.errors import PipelineError
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import RaisedFor

_OF_A_BATCH: Final = ("TimestampParam", "WindowParam", "PaneInfoParam")
"""What elements share that are in one batch, and so what ``process_batch`` may ask for."""


def check_batches(fn: DoFn[Any, Any], label: str) -> None:
    """Refuse a ``process_batch`` that asks for what its elements do not share.

    Raises:
        PipelineError: With what to write.
        PipelineTypeError: The type of its batch cannot be made.
    """
    if not fn.takes_batches:
        return
    batch_maker(fn.get_input_batch_type(Any), label)
    for parameter, asked in asked_by(fn.called()).items():
        if asked.name not in _OF_A_BATCH:
            raise PipelineError(
                f"{label!r}: process_batch asks for {asked!r} in its parameter {parameter!r}, and "
                "elements of one batch share their timestamp, window and pane alone; write "
                "def process(self, element, ...)"
            )


class _InElements(Wrapping):
    """A function whose ``process`` yields batches, as one that yields their elements."""

    def __init__(self, fn: DoFn[Any, Any], label: str) -> None:
        super().__init__(fn)
        self.label = label

    def skew_ms(self, label: str) -> int:
        return self.fn.skew_ms(label)

    def called(self) -> Callable[..., Any]:
        return Asking(self.process, self.fn.called())

    def process(self, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return taken_apart(self.fn.called()(*args, **kwargs), self.label)


class Asking:
    """Calls one function, and asks for what another one asks for."""

    def __init__(self, process: Callable[..., Any], asks: Callable[..., Any]) -> None:
        self._process, self.__wrapped__ = process, asks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._process(*args, **kwargs)


def in_elements(fn: DoFn[Any, Any], label: str) -> DoFn[Any, Any]:
    """The function itself, or one that takes the batches apart that its ``process`` yields."""
    marked = not fn.takes_batches and yielded(fn.called(), "elements") == "batches"
    return _InElements(fn, label) if marked else fn


class BatchDoing(Doing):
    """A function with ``process_batch``, given the elements of a bundle batch by batch.

    Elements of one batch have one timestamp, one window and one pane, and so has what comes out.
    """

    def __init__(
        self,
        fn: DoFn[Any, Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        tags: frozenset[str] | None,
        label: str,
    ) -> None:
        super().__init__(fn, args, kwargs, tags, label)
        self.batch_type = fn.get_input_batch_type(Any)

    def run(self, bundle: Bundle) -> Iterable[tuple[str, Bundle]]:
        if self.sees_window:
            bundle, _ = bundle.one_window_each()
        batches: dict[Any, list[Windowed]] = {}
        for element in bundle:
            shared = (element.timestamp, element.windows, element.pane)
            batches.setdefault(shared, []).append(element)
        outputs: dict[str, Bundle] = {}
        for elements in batches.values():
            try:
                for tag, output in self._of_batch(elements):
                    outputs.setdefault(tag, Bundle()).append(output)
            except Exception as cause:
                values = [element.value for element in elements]
                raise RaisedFor(attrs.evolve(elements[0], value=_Batch(values))) from cause
        return outputs.items()

    def _of_batch(self, elements: Sequence[Windowed]) -> Iterator[tuple[str, Windowed]]:
        first, (args, kwargs) = elements[0], self.arguments
        make = batch_maker(self.batch_type, self.label)
        batch = make([element.value for element in elements])
        asked = {name: read(param, first) for name, param in self.asked.items()}
        process_batch = self.fn.called()
        answers = process_batch(batch, *args, **{**kwargs, **asked})
        if yielded(process_batch, "batches") == "batches":
            answers = taken_apart(answers, self.label)
        yield from self.outputs(answers, first)

    def describe(self, element: Windowed) -> str:
        value = element.value
        return str(value) if isinstance(value, _Batch) else super().describe(element)


@attrs.frozen
class _Batch:
    """The elements of a batch that a function raised for, as messages show them."""

    elements: list[Any]

    def __str__(self) -> str:
        more = len(self.elements) - 1
        return f"{self.elements[0]!r}" + (f" and {more} more of its batch" if more else "")
