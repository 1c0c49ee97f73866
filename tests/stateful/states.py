"""States as plain objects, for the model: no coder, no bytes, a copy of whatever goes in or out.

Each has the methods that a function of `tests.support.generated.stateful` calls.
"""

from copy import deepcopy
from typing import Any

from beamlike.errors import CoderError
from beamlike.model.state_specs import StateSpec


class PlainState:
    """A state of a key and window: ``items`` is all that is in it."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def read(self) -> Any:
        return deepcopy(self.items)

    def clear(self) -> None:
        self.items = []

    def is_empty(self) -> bool:
        return not self.items


class _Value(PlainState):
    def read(self) -> Any:
        return deepcopy(self.items[0]) if self.items else None

    def write(self, value: Any) -> None:
        self.items = [deepcopy(value)]


class _Number(_Value):
    def write(self, value: Any) -> None:
        if not isinstance(value, int):
            raise CoderError(f"{value!r} is no number")
        super().write(value)


class _Bag(PlainState):
    def add(self, value: Any) -> None:
        self.items.append(deepcopy(value))


class _Set(PlainState):
    def add(self, value: Any) -> bool:
        is_new = value not in self.items
        if is_new:
            self.items.append(value)
        return is_new

    def contains(self, value: Any) -> bool:
        return value in self.items

    def remove(self, value: Any) -> None:
        self.items = [item for item in self.items if item != value]


class _Sum(PlainState):
    def add(self, value: int) -> None:
        self.items.append(value)

    def read(self) -> int:
        return sum(self.items)


class _Ordered(PlainState):
    def add(self, pair: tuple[int, Any]) -> None:
        self.items.append(pair)
        self.items.sort(key=lambda item: item[0])

    def read_range(self, least: int, limit: int) -> list[Any]:
        return [item for item in self.items if least <= item[0] < limit]

    def clear_range(self, least: int, limit: int) -> None:
        self.items = [item for item in self.items if not least <= item[0] < limit]


class _Map(PlainState):
    def put(self, key: Any, value: Any) -> None:
        if self.contains(key):
            self.items = [(it, value if it == key else old) for it, old in self.items]
        else:
            self.items.append((key, value))

    def put_if_absent(self, key: Any, value: Any) -> Any:
        if self.contains(key):
            return self.get(key)
        self.put(key, value)
        return None

    def get(self, key: Any, default: Any = None) -> Any:
        return next((deepcopy(value) for it, value in self.items if it == key), default)

    def contains(self, key: Any) -> bool:
        return any(it == key for it, _ in self.items)

    def remove(self, key: Any) -> None:
        self.items = [(it, value) for it, value in self.items if it != key]

    def keys(self) -> list[Any]:
        return [key for key, _ in self.items]

    def values(self) -> list[Any]:
        return deepcopy([value for _, value in self.items])


_KINDS: dict[str, type[PlainState]] = {
    **{"value": _Value, "bag": _Bag, "set": _Set, "combined": _Sum},
    **{"ordered list": _Ordered, "map": _Map},
}


def plain_state(spec: StateSpec) -> PlainState:
    """An empty state for a spec."""
    return _Number() if spec.name == "loops" else _KINDS[spec.container]()
