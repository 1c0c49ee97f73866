"""When an expected value and one that came out are the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from beamlike.api.pipelines.dofn import Timestamped


def same(expected: Any, actual: Any) -> bool:
    """Equal, where a list and a tuple of equal items count as equal, at any depth.

    Arrays are equal by content.
    """
    if isinstance(expected, Timestamped):
        pair = (actual.value, actual.millis) if isinstance(actual, Timestamped) else actual
        return same((expected.value, expected.millis), pair)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(
            same(value, actual[key]) for key, value in expected.items()
        )
    if _is_sequence(expected) and _is_sequence(actual):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if getattr(expected, "shape", ()) or getattr(actual, "shape", ()):  # arrays, by content
        return type(expected) is type(actual) and bool(expected.tolist() == actual.tolist())
    return bool(expected == actual)


def same_content(expected: Any, actual: Any) -> bool:
    """Whether contents are equal, where the outermost two sequences may differ in their order."""
    if not (_is_sequence(expected) and _is_sequence(actual)):
        return same(expected, actual)
    return len(expected) == len(actual) and not unmatched(expected, actual)[0]


def same_pair(expected: Any, actual: tuple[Any, Any], *, any_order: bool) -> bool:
    """Two (key, value) pairs are the same; ``any_order`` is that of the value's items."""
    compare = same_content if any_order else same
    return (
        _is_sequence(expected)
        and len(expected) == 2
        and same(expected[0], actual[0])
        and compare(expected[1], actual[1])
    )


def unmatched(
    expected: Iterable[Any], actual: Iterable[Any], is_same: Callable[[Any, Any], bool] = same
) -> tuple[list[Any], list[Any]]:
    """What is missing and what is unexpected: each that came stands for one that was expected."""
    missing, unexpected = [], list(actual)
    for wanted in expected:
        index = next((i for i, came in enumerate(unexpected) if is_same(wanted, came)), None)
        if index is None:
            missing.append(wanted)
        else:
            del unexpected[index]
    return missing, unexpected


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
