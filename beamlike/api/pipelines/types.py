"""The types of elements that users declare: such values have columns.

What is only inferred does not count here, because saved state would change with it. Hints that are
checked are in `hints`.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, get_args, get_origin

from beamlike.api.pipelines.hints.declared import annotations_of, get_type_hints
from beamlike.api.pipelines.hints.forms import K, V, form, item_of

KV = form(tuple, K, V)
"""A pair, as Beam Python's hints write it: ``KV[str, int]``."""


class Generator:
    """What a function that yields makes, as Beam Python's hints write it: ``Generator[int]``."""

    def __class_getitem__(cls, kinds: Any) -> Any:
        # Python has three parameters: what comes out, what is sent in, and what is returned.
        made = kinds[0] if isinstance(kinds, tuple) else kinds
        return form(Iterator, made)


_COLUMNS: Final = (int, float, str)
"""Types that have a column."""


def answer_type(function: Callable[..., Any], *, lists: bool) -> Any:
    """The type of the elements that a function makes; ``Any`` if nothing says it.

    Args:
        function: Its decorator counts, else the annotation of what it returns.
        lists: Whether it returns several elements at once.
    """
    hints = get_type_hints(function).with_defaults(annotations_of(function))
    made = hints.simple_output_type()
    if made is None:
        return Any
    return item_of(made) if lists else made


def declared_type(collection: Any) -> Any:
    """The type of the elements of a collection; ``Any`` if no hint says it."""
    return getattr(collection, "declared_type", Any)


def value_type(pair: Any) -> type | None:
    """The type of the values of pairs of this type, if it is one that has a column.

    >>> value_type(tuple[str, int])
    <class 'int'>
    """
    parts = get_args(pair) if get_origin(pair) is tuple else ()
    return parts[1] if len(parts) == 2 and parts[1] in _COLUMNS else None
