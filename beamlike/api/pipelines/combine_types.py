"""Of which type the values are that combine functions take and make.

Source: Beam Python ``CombineFn.default_type_hints``.
"""

from collections.abc import Iterable
from typing import Any, Final

from beamlike.api.pipelines.hints.declared import WithTypeHints, annotations_of, get_type_hints
from beamlike.api.pipelines.hints.forms import T, form, item_of, shown
from beamlike.api.pipelines.hints.wanted import is_consistent_with
from beamlike.errors import TypeCheckError
from beamlike.model import combine
from beamlike.model.combine.steps import in_steps

_NUMBER: Final = int | float

_KNOWN: Final[tuple[tuple[type, Any, Any], ...]] = (
    (combine.Count, T, int),
    (combine.CountDistinct, T, int),
    (combine.Mean, _NUMBER, float),
    (combine.Sum, T, T),
    (combine.Min, T, T),
    (combine.Max, T, T),
    (combine.Latest, T, T),
    (combine.Top, T, form(list, T)),
    (combine.Sample, T, form(list, T)),
)
"""What functions of this package take and make."""


def types_of(fn: Any) -> tuple[Any, Any]:
    """What a combine function takes and makes; None: nothing says it.

    Args:
        fn: A combine function, or a plain function of all values.

    Raises:
        TypeCheckError: A plain function is declared to take something else than many values.
    """
    if isinstance(fn, combine.CombineFn):
        return next(((taken, made) for kind, taken, made in _KNOWN if isinstance(fn, kind)), _NONE)
    if isinstance(fn, WithTypeHints):
        hints = fn.get_type_hints()
        return _first(hints.input_types), _first(hints.output_types)
    hints = get_type_hints(fn if not in_steps(fn) else type(fn))
    if in_steps(fn):
        return _first(hints.input_types), _first(hints.output_types)
    hints = hints.with_defaults(annotations_of(fn))
    taken = _first(hints.input_types)
    if taken is None:
        return None, _first(hints.output_types)
    if not is_consistent_with(taken, Iterable[Any]):
        raise TypeCheckError(
            "All functions for a Combine PTransform must accept a single argument compatible with: "
            f"Iterable[Any]. Instead a function with input type: {shown(taken)} was received."
        )
    return item_of(taken), _first(hints.output_types)


_NONE: Final = (None, None)


def _first(types: Any) -> Any:
    if not types:
        return None
    return types[0][0] if types[0] else next(iter(types[1].values()), None)
