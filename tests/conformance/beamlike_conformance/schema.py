"""JSON read strictly, and checked against a JSON Schema.

A misspelt field would silently change a scenario, so every object is closed: only names that begin
with ``x_`` are free. This checks the keywords that the schemas of this package use, and needs no
library; any other validator of JSON Schema (2020-12) reads the same files.
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["FormatError", "check", "load_schema", "read_json"]

SCHEMAS: Final = Path(__file__).parent / "schemas"

_TYPES: Final[Mapping[str, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}


class FormatError(ValueError):
    """A file does not follow the format. The text names file, place and field."""


def read_json(text: str, name: str) -> Any:
    """The value of a text of JSON.

    Raises:
        FormatError: The text is not JSON, has a field twice, or a number that JSON does not have.
    """

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [field for field, _ in pairs]
        twice = next((field for field in names if names.count(field) > 1), None)
        if twice is not None:
            raise FormatError(f"{name}: the field {twice!r} stands twice in one object")
        return dict(pairs)

    def constant(word: str) -> Any:
        raise FormatError(f"{name}: {word} is not a number of JSON")

    try:
        return json.loads(text, object_pairs_hook=fields, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{name}:{error.lineno}:{error.colno}: is not JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise FormatError(f"{name}: is nested too deeply to be read") from None


@cache
def load_schema(name: str) -> Mapping[str, Any]:
    """One of the schemas: ``transcript``, ``dialect_case`` or ``results``."""
    schema: Mapping[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return schema


def check(value: Any, schema: Mapping[str, Any], name: str) -> None:
    """Refuse a value that does not follow a schema.

    Raises:
        FormatError: Names the first place that does not, and what would do.
    """
    for problem in _problems(value, schema, schema, ""):
        raise FormatError(f"{name}: {problem}")


def _problems(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str
) -> Iterator[str]:
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        yield from _problems(value, target, root, place)
    if "oneOf" in schema:
        yield from _problems(value, _variant(value, schema["oneOf"], root), root, place)
    whereabouts = place.lstrip(".") or "the document"
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    if types and not any(_is_of(value, name) for name in types):
        yield f"{whereabouts}: must be of type {' or '.join(types)}, got {_short(value)}"
        return
    if "const" in schema and (value != schema["const"] or type(value) is not type(schema["const"])):
        yield f"{whereabouts}: must be {json.dumps(schema['const'])}, got {_short(value)}"
    if "enum" in schema and value not in schema["enum"]:
        words = ", ".join(map(json.dumps, schema["enum"]))
        yield f"{whereabouts}: must be one of {words}; got {_short(value)}"
    if "minimum" in schema and _is_of(value, "number") and value < schema["minimum"]:
        yield f"{whereabouts}: must be {schema['minimum']} or more, got {value}"
    if isinstance(value, dict):
        yield from _object(value, schema, root, place)
    if isinstance(value, list):
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not least <= len(value) <= most:
            yield f"{whereabouts}: must have {least} to {most} items, got {len(value)}"
        for index, item in enumerate(value):
            yield from _problems(item, schema.get("items", {}), root, f"{place}[{index}]")


def _object(
    value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], place: str
) -> Iterator[str]:
    whereabouts = place.lstrip(".") or "the document"
    known = schema.get("properties", {})
    for field in schema.get("required", ()):
        if field not in value:
            yield f"{whereabouts}: lacks {field!r}"
    for field, part in value.items():
        if field in known:
            yield from _problems(part, known[field], root, f"{place}.{field}")
        elif "patternProperties" in schema and not field.startswith("x_"):
            near = difflib.get_close_matches(field, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield f"{whereabouts}: unknown field {field!r}{hint}"
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{whereabouts}: must have one field of {', '.join(known)}; got {', '.join(value)}"


def _variant(
    value: Any, variants: list[Mapping[str, Any]], root: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The alternative that a value means: that of its tag, or the one with the fewest problems."""
    tagged = [variant for variant in variants if _has_tag(value, variant)] or variants
    if len(tagged) == 1:
        return tagged[0]
    return min(tagged, key=lambda variant: len(list(_problems(value, variant, root, ""))))


def _has_tag(value: Any, variant: Mapping[str, Any]) -> bool:
    """Whether a value has the constant fields by which an alternative is known."""
    tags = {
        field: part["const"]
        for field, part in variant.get("properties", {}).items()
        if "const" in part
    }
    if not tags or not isinstance(value, dict):
        return False
    return all(value.get(field) == tag for field, tag in tags.items())


def _is_of(value: Any, name: str) -> bool:
    if name in ("integer", "number"):
        numeric = int if name == "integer" else (int, float)
        return isinstance(value, numeric) and not isinstance(value, bool)
    return isinstance(value, _TYPES[name])


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
