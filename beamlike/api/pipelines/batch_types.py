"""What a batch of elements is, for functions that take or make batches: a list or a NumPy array.

Source: Beam Python ``typehints.batch``, ``DoFn.yields_batches``.
"""

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from beamlike.api.pipelines.hints.forms import parts_of
from beamlike.errors import PipelineTypeError
from beamlike.model.fingerprint import stable_repr

_YIELDS: Final = "_beamlike_yields"


class BatchMethods:
    """What a `DoFn` says of batches."""

    @staticmethod
    def yields_batches(method: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator: what a ``process`` yields are batches, and their elements come out.

        Source: Beam Python ``DoFn.yields_batches``.
        """
        setattr(method, _YIELDS, "batches")
        return method

    @staticmethod
    def yields_elements(method: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator: what a ``process_batch`` yields are elements, and not batches of them.

        Source: Beam Python ``DoFn.yields_elements``.
        """
        setattr(method, _YIELDS, "elements")
        return method

    def get_input_batch_type(self, input_element_type: Any) -> Any:
        """The type of the batch that ``process_batch`` takes; None: it is not annotated.

        Source: Beam Python ``DoFn.get_input_batch_type``.
        """
        method = getattr(self, "process_batch", None)
        try:
            hints = typing.get_type_hints(method)
        except (NameError, TypeError, AttributeError):  # a name of later, or no function of Python
            return None
        hints.pop("return", None)
        return next(iter(hints.values()), None)


def yielded(method: Any, usual: Literal["batches", "elements"]) -> str:
    """Whether a method yields ``"batches"`` or ``"elements"``: what marks say, or the usual."""
    return str(getattr(method, _YIELDS, usual))


def batch_maker(batch_type: Any, label: str) -> Callable[[list[Any]], Any]:
    """What makes a batch of this type of a list of elements.

    Raises:
        PipelineTypeError: A batch cannot be of this type.

    Source: Beam Python ``BatchConverter.from_typehints``.
    """
    origin, parts = parts_of(batch_type)
    if origin in (list, Sequence):
        return list
    if (getattr(origin, "__module__", ""), getattr(origin, "__name__", "")) == ("numpy", "ndarray"):
        from numpy import array

        item_types = typing.get_args(parts[1]) if len(parts) > 1 else ()
        dtype = item_types[0] if item_types and isinstance(item_types[0], type) else None
        return lambda elements: array(elements, dtype=dtype)
    wanted = "is not annotated" if batch_type is None else f"is of {stable_repr(batch_type)}"
    raise PipelineTypeError(
        f"{label!r}: the batch of process_batch {wanted}, and batches are lists or NumPy arrays; "
        "write def process_batch(self, batch: list[int]) or batch: np.ndarray"
    )


def elements_of(batch: Any, label: str) -> Iterable[Any]:
    """The elements of a batch.

    Raises:
        PipelineTypeError: It is not a batch.
    """
    if not isinstance(batch, Iterable) or isinstance(batch, str | bytes | Mapping):
        raise PipelineTypeError(
            f"{label!r} yielded {batch!r} as a batch, and batches are lists or arrays of "
            "elements; yield [...] around it, or write @DoFn.yields_elements above the method"
        )
    return batch
