"""Values in words that are the same in every process: saved state belongs to what they say."""

from typing import Any

import attrs

__all__ = ["in_words"]


def in_words(thing: Any) -> str:
    """A value and its parameters in words that are the same in every process.

    A function is its name: two functions of one name read the same.
    """
    name = getattr(thing, "__qualname__", None)
    if name is not None:
        return str(name)
    text = repr(thing)
    if " at 0x" not in text:
        return text
    if isinstance(thing, list | tuple):
        return f"[{', '.join(map(in_words, thing))}]"
    if attrs.has(type(thing)):
        parameters = {field.name: getattr(thing, field.name) for field in attrs.fields(type(thing))}
    else:
        parameters = getattr(thing, "__dict__", {})
    told = ", ".join(f"{name}={in_words(value)}" for name, value in parameters.items())
    return f"{type(thing).__qualname__}({told})"
