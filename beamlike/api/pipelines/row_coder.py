"""Values of classes with typed fields as bytes, field by field.

Source: Beam Python ``coders.row_coder``.
"""

import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import attrs

from beamlike.api.pipelines.coders import BytesCoder, Coder, CoderRegistry, StrUtf8Coder
from beamlike.api.pipelines.more_coders import (
    BooleanCoder,
    FastPrimitivesCoder,
    FloatCoder,
    IterableCoder,
    ListCoder,
    MapCoder,
    NullableCoder,
    TupleCoder,
    VarIntCoder,
)
from beamlike.errors import PipelineError
from beamlike.model.coders import type_name

__all__ = ["RowCoder"]

_PLAIN: Final[Mapping[Any, Coder]] = {
    bool: BooleanCoder(),
    bytes: BytesCoder(),
    float: FloatCoder(),
    int: VarIntCoder(),
    str: StrUtf8Coder(),
}


@attrs.frozen(slots=False)
class RowCoder(Coder):
    """Values of a ``NamedTuple`` or a dataclass, each field by the coder of its type.

        coders.registry.register_coder(Purchase, coders.RowCoder)

    A field of a type that has no coder is a pickle, and such values are no keys.

    Args:
        kind: The class.

    Raises:
        PipelineError: It is neither a ``NamedTuple`` nor a dataclass.

    Source: Beam ``RowCoder``; in Beam it is given a schema.
    """

    kind: type

    def __attrs_post_init__(self) -> None:
        if not is_dataclass(self.kind) and not hasattr(self.kind, "_fields"):
            raise PipelineError(
                f"RowCoder needs a NamedTuple or a dataclass, got {type_name(self.kind)}; write "
                "class Purchase(typing.NamedTuple) and its fields with their types"
            )

    @classmethod
    def from_type_hint(cls, kind: type, registry: CoderRegistry) -> "RowCoder":
        return cls(kind)

    @cached_property
    def _names(self) -> Sequence[str]:
        kind: Any = self.kind
        return [it.name for it in fields(kind)] if is_dataclass(kind) else kind._fields

    @cached_property
    def _row(self) -> TupleCoder:
        hints = get_type_hints(self.kind)
        return TupleCoder([_coder_of(hints.get(name, Any)) for name in self._names])

    def encode(self, value: Any) -> bytes:
        return self._row.encode([getattr(value, name) for name in self._names])

    def decode(self, encoded: bytes) -> Any:
        return self.kind(*self._row.decode(encoded))

    def is_deterministic(self) -> bool:
        return self._row.is_deterministic()


def _coder_of(hint: Any) -> Coder:
    """The coder of a field with this type."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    given = [it for it in arguments if it is not type(None)]
    if origin in (Union, types.UnionType) and len(given) == 1:
        return NullableCoder(_coder_of(given[0]))
    if origin is tuple and arguments and Ellipsis not in arguments:
        return TupleCoder([_coder_of(it) for it in arguments])
    if origin is list and arguments:
        return ListCoder(_coder_of(arguments[0]))
    if origin in (Iterable, Sequence) and arguments:
        return IterableCoder(_coder_of(arguments[0]))
    if origin in (dict, Mapping) and arguments:
        return MapCoder(*map(_coder_of, arguments))
    if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields")):
        return RowCoder(hint)
    return _PLAIN.get(hint) or FastPrimitivesCoder()
