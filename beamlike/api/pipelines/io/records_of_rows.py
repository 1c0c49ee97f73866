"""Elements as plain records, field by field, for the formats that have fields."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import attrs

from beamlike.api.pipelines.rows import Row
from beamlike.errors import PipelineError


def record_of(element: Any, owner: str) -> dict[str, Any]:
    """The fields of an element by name.

    Args:
        element: A mapping, a `Row`, a named tuple, a data class or attrs object.
        owner: Who wants them, for messages.

    Raises:
        PipelineError: It has none.
    """
    if isinstance(element, Mapping):
        return dict(element)
    if isinstance(element, Row) or hasattr(element, "_asdict"):
        return dict(element._asdict())
    if is_dataclass(element):
        return {field.name: getattr(element, field.name) for field in fields(element)}
    if attrs.has(type(element)):
        return attrs.asdict(element, recurse=False)
    raise PipelineError(
        f"{owner} writes elements that have fields, got {element!r}; write "
        "Map(lambda it: beam.Row(name=it)) before"
    )


def row_of(record: Mapping[str, Any]) -> Row:
    """A record as a `Row`, and the records in it."""
    return Row(**{name: _inner(value) for name, value in record.items()})


def _inner(value: Any) -> Any:
    if isinstance(value, Mapping) and all(isinstance(it, str) for it in value):
        return row_of(value)
    return [_inner(it) for it in value] if isinstance(value, list) else value
