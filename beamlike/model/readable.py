"""Public classes as ``help`` and ``dir`` show them: what their users call, and nothing generated.

What ``help`` prints of a class follows ``dir`` of it, and that its metaclass decides.
"""

import inspect
from abc import ABCMeta
from collections.abc import Iterable
from types import FunctionType
from typing import Final

_OF_ALL: Final = frozenset((*dir(object), "__setstate__"))
"""Special methods that every class has, and that no docstring makes more than they are."""


class Readable(type):
    """The metaclass of public classes.

    Special names are left out, except for methods with a docstring of their own, such as an
    operator that users write.
    """

    def __dir__(cls) -> Iterable[str]:
        return [name for name in super().__dir__() if not _is_generated(cls, name)]


class ReadableABC(Readable, ABCMeta):
    """`Readable` as the metaclass of abstract classes."""


def _is_generated(cls: type, name: str) -> bool:
    if not (name.startswith("__") and name.endswith("__")):
        return False
    if name in _OF_ALL or name.startswith("__attrs_"):
        return True
    value = inspect.getattr_static(cls, name)
    return not (isinstance(value, FunctionType) and value.__doc__)
