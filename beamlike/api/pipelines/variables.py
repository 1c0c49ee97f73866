"""The type variables of transforms. What cannot be inferred is `Any` and not `Never`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    In = TypeVar("In", default=Any)
    Out = TypeVar("Out", default=Any)
    T = TypeVar("T", default=Any)
    K = TypeVar("K", default=Any)
    R = TypeVar("R", default=Any)
else:
    # Only type checkers know defaults before Python 3.13.
    from typing import TypeVar

    In = TypeVar("In")
    Out = TypeVar("Out")
    T = TypeVar("T")
    K = TypeVar("K")
    R = TypeVar("R")
