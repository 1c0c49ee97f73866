"""Rows with names for users' functions, where there is no Spark to bring its own."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self


class NamedRow(tuple[Any, ...]):
    """A tuple whose values have names, used as a ``Row`` of PySpark is.

    >>> row = row_maker("user", "n")("ann", 2)
    >>> row, row.user, row["n"], "n" in row
    (Row(user='ann', n=2), 'ann', 2, True)
    """

    __fields__: tuple[str, ...]

    @classmethod
    def of(cls, names: tuple[str, ...], *values: Any) -> Self:
        """A row with a value for each name, in this order."""
        row = cls(values)
        row.__fields__ = names
        return row

    def asDict(self, recursive: bool = False) -> dict[str, Any]:
        """The values by their names, with ``recursive`` those of rows inside of it as well."""
        return dict(zip(self.__fields__, map(_plain, self) if recursive else self, strict=True))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__fields__:
            raise AttributeError(name)
        return self[self.__fields__.index(name)]

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, str):
            if item not in self.__fields__:
                raise KeyError(item)
            item = self.__fields__.index(item)
        return super().__getitem__(item)

    def __contains__(self, item: object) -> bool:
        return item in self.__fields__

    def __reduce__(self) -> Any:
        return _row, (self.__fields__, tuple(self))

    def __repr__(self) -> str:
        named = zip(self.__fields__, self, strict=True)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in named)})"


def row_maker(*names: str) -> Callable[..., NamedRow]:
    """What makes rows with these names of values in this order."""
    return partial(NamedRow.of, names)


def _row(names: tuple[str, ...], values: tuple[Any, ...]) -> NamedRow:
    return NamedRow.of(names, *values)


def _plain(value: Any) -> Any:
    match value:
        case NamedRow():
            return value.asDict(recursive=True)
        case list():
            return list(map(_plain, value))
        case dict():
            return {name: _plain(item) for name, item in value.items()}
    return value
