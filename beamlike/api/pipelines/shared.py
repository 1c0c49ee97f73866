"""Objects that functions of one process share, such as a model that is loaded once.

Source: Beam Python ``apache_beam.utils.shared``.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any, Final, TypeVar
from uuid import uuid4
from weakref import ref

import attrs

__all__ = ["Shared"]

T = TypeVar("T")


@attrs.define
class _Held:
    """An object of a handle, which lives as long as something uses it."""

    lock: Any = attrs.field(factory=Lock)
    tag: Any = None
    held: Callable[[], Any] = lambda: None


_held: Final[dict[str, _Held]] = {}
_lock: Final = Lock()
_latest: list[Any] = []
"""The object that was asked for last. It stays, so that it need not be made for each bundle."""


class Shared:
    """A handle of an object: all its copies in a process give the same one.

        class Classify(beam.DoFn):
            def __init__(self, model: Shared):
                self.model = model

            def setup(self):
                self.loaded = self.model.acquire(load_model)

    An object is kept while something refers to it, and until another one is asked for. It must be
    one that weak references may refer to.

    Source: Beam ``Shared``.
    """

    def __init__(self) -> None:
        self._key = str(uuid4())

    def acquire(self, constructor_fn: Callable[[], T | None], tag: Any = None) -> T | None:
        """The object, which is made if it is not there; None if none can be made.

        Args:
            constructor_fn: Makes it.
            tag: Which version is wanted. The object is made anew if it has another tag.
        """
        with _lock:
            known = _held.setdefault(self._key, _Held())
        with known.lock:
            found: T | None = known.held()
            if found is None or known.tag != tag:
                found = constructor_fn()
                if found is None:
                    return None
                known.held, known.tag = ref(found), tag
        with _lock:
            _latest[:] = [found]
        return found
