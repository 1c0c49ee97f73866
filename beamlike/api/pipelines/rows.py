"""Elements with named fields, and grouping by them.

Source: Beam Python ``pvalue.Row``, ``core.Select`` and ``core.GroupBy``.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Self

from beamlike.api.pipelines.combinefn import combine_fn as checked_combine_fn
from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.groups import CombinePerKey, GroupByKey
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import T
from beamlike.errors import PipelineError
from beamlike.model.combine import CombineFn, Together
from beamlike.model.fingerprint import stable_repr

__all__ = ["GroupBy", "Row", "Select"]

Field = str | Callable[[Any], Any]
"""The name of an attribute, or a function of the element."""
Read = Callable[[Any], Any]
"""A field as a function."""


class Row:
    """An element with named fields: ``Row(user="joe", score=3).score``. Not to be changed.

    What named tuples have it has, too: rows of Beam that come from files are such.
    """

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def as_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return dict(self.__dict__)

    _asdict = as_dict

    def __len__(self) -> int:
        return len(self.__dict__)

    def __getitem__(self, index: Any) -> Any:
        return tuple(self.__dict__.values())[index]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Row cannot be changed; make another with {name}={value!r}")

    def __getattr__(self, name: str) -> Any:
        if name == "_fields":  # the class has none, since each row has its own
            return tuple(self.__dict__)
        raise AttributeError(f"{self!r} has no field {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and list(self.__dict__.items()) == list(
            other.__dict__.items()
        )

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.items()))

    def __iter__(self) -> Any:
        """The values, in the order of the fields."""
        return iter(self.__dict__.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (dict(self.__dict__),)

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def _row(fields: Mapping[str, Any]) -> Row:
    return Row(**fields)


def _reading(field: Field, owner: str) -> Read:
    """A field as a function."""
    if isinstance(field, str):
        return attrgetter(field)
    if not callable(field):
        raise PipelineError(
            f"{owner} needs names of fields or functions of the element, got {field!r}"
        )
    return field


def _by_name(
    owner: str, fields: tuple[Field, ...], named: Mapping[str, Field], unnamed: str
) -> dict[str, Read]:
    reads = {
        field if isinstance(field, str) else unnamed.format(number): _reading(field, owner)
        for number, field in enumerate(fields)
    }
    return reads | {name: _reading(field, owner) for name, field in named.items()}


def _together(reads: Iterable[Read]) -> Callable[[Any], tuple[Any, ...]]:
    """Several fields as one function."""
    reads = list(reads)
    return lambda element: tuple(read(element) for read in reads)


class Select(PTransform[Any, Any]):
    """Each element as a `Row` of some of its fields: ``Select("user", double=lambda r: 2 * r.n)``.

    Source: Beam ``Select``.
    """

    def __init__(self, *fields: Field, **named: Field) -> None:
        self.fields = _by_name("Select", fields, named, "arg{:02}")

    def default_label(self) -> str:
        return f"Select({', '.join(self.fields)})"

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Row]:
        names, values = [*self.fields], _together(self.fields.values())
        return pcoll | "ToRows" >> Map(
            lambda element: Row(**dict(zip(names, values(element), strict=True)))
        )


class GroupBy(PTransform[Any, Any]):
    """Elements grouped by some of their fields: pairs of a key and the elements that have it.

    The key is what one function says, or a named tuple of several fields, or of named ones; of no
    fields at all it is empty, and all elements are one group.

    Args:
        fields: Names of attributes, or functions of the element. In rows a function is called
            ``key``; of several fields, ``key`` and its position.
        named: Such fields, under names.

    Source: Beam ``GroupBy``.
    """

    def __init__(self, *fields: Field, **named: Field) -> None:
        super().__init__()
        self._has_tuple_keys = len(fields) != 1 or bool(named)
        self.keys = _by_name("GroupBy", fields, named, "key{}" if self._has_tuple_keys else "key")

    def force_tuple_keys(self, value: bool = True) -> Self:
        """A copy, where the key is a named tuple of one field, too."""
        copy = self._copy()
        copy._has_tuple_keys = value
        return copy

    def default_label(self) -> str:
        return f"GroupBy({', '.join(self.keys)})"

    def expand(self, pcoll: PCollection[T]) -> PCollection[tuple[Any, list[T]]]:
        names, reads = tuple(self.keys), [*self.keys.values()]
        # Grouped by plain tuples, because the classes of named ones cannot be imported.
        key = _together(reads) if self._has_tuple_keys else reads[0]
        keyed = pcoll | "Keyed" >> Map(lambda element: (key(element), element))
        groups = keyed | "GroupByKey" >> GroupByKey()
        if not self._has_tuple_keys:
            return groups
        return groups | "Named" >> Map(lambda group: (_key(names, group[0]), group[1]))

    def aggregate_field(self, field: Field, combine_fn: Any, dest: str) -> "Aggregated":
        """Named tuples of the fields of the key and of something made of a field, for each key.

        Args:
            field: What is combined: the name of an attribute, or a function of the element.
            combine_fn: A combine function, its class, or a plain function of all values.
            dest: What the result is called.
        """
        return Aggregated(self, {}).aggregate_field(field, combine_fn, dest)


def _key(names: tuple[str, ...], values: Iterable[Any], title: str = "Key") -> Any:
    """A named tuple."""
    return _named_tuple(names, title)(*values)


@cache
def _named_tuple(names: tuple[str, ...], title: str) -> Any:
    def reduced(self: Any) -> tuple[Any, ...]:
        return _key, (names, list(self), title)

    plain = namedtuple(title, names)  # type: ignore[misc]
    # Pickled by its names: the class is made as it is needed, in every process.
    return type(title, (plain,), {"__slots__": (), "__reduce__": reduced})


class Aggregated(PTransform[Any, Any]):
    """`GroupBy` with fields made of the elements of each key. Source: Beam ``GroupBy``."""

    def __init__(self, by: GroupBy, parts: Mapping[str, tuple[Read, CombineFn]]) -> None:
        self.by, self.parts = by, dict(parts)

    def default_label(self) -> str:
        return f"{self.by.default_label()}.aggregate({', '.join(self.parts)})"

    def aggregate_field(self, field: Field, combine_fn: Any, dest: str) -> Self:
        """A copy with one more field, as `GroupBy.aggregate_field`."""
        if dest in self.parts or dest in self.by.keys:
            raise PipelineError(
                f"GroupBy has a field {dest!r} already; give the aggregate of {stable_repr(field)} "
                "another name"
            )
        read = _reading(field, "aggregate_field")
        combine = checked_combine_fn(combine_fn, "aggregate_field")
        return type(self)(self.by, {**self.parts, dest: (read, combine)})

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        key, names = _together(self.by.keys.values()), (*self.by.keys, *self.parts)
        inputs = _together(read for read, _ in self.parts.values())
        fns = {name: (fn, place) for place, (name, (_, fn)) in enumerate(self.parts.items())}
        keyed = pcoll | "Keyed" >> Map(lambda element: (key(element), inputs(element)))
        combined = keyed | "Combine" >> CombinePerKey[Any](Together(fns))
        return combined | "ToTuples" >> Map(lambda pair: _key(names, pair[0] + pair[1], "Result"))
