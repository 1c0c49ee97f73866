"""Elements with named fields.

Source: Beam Python ``pvalue.Row``.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["Row"]


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

    def __getitem__(self, at: Any) -> Any:
        return tuple(self.__dict__.values())[at]

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
