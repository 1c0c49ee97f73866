"""Values in words that are the same in every process: saved state belongs to what they say. And
the words of messages that callers of several kinds read, and texts that others wrote."""

from typing import Any, Final

import attrs


@attrs.frozen
class Spelling:
    """How the caller of a check spells what its message advises.

    Args:
        accumulation: The argument for the accumulation mode.
        window: What gives a collection windows, or a trigger; ``{part}`` says which.
        remerge: What makes windows that a grouping merged, ``{window_fn}`` of the input
            ``{name}``, ready to be merged again.
    """

    accumulation: str
    window: str
    remerge: str


SPELLING: Final = Spelling(
    "accumulation",
    "window({part}) of a stream, configured({part}) of a strategy",
    "remerge() on {name} first, or window it anew",
)
"""Of strategies and streams."""

BEAM_SPELLING: Final = Spelling(
    "accumulation_mode", "WindowInto({part})", "WindowInto({window_fn}) on {name} first"
)
"""Of Beam's transforms."""


def stable_repr(thing: Any) -> str:
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
        return f"[{', '.join(map(stable_repr, thing))}]"
    if attrs.has(type(thing)):
        fields = [
            field
            for field in attrs.fields(type(thing))
            if (field.eq or field.repr) and field.name != "resolution"
        ]
        parameters = {field.name: getattr(thing, field.name) for field in fields}
    else:
        parameters = getattr(thing, "__dict__", {})
    parts = ", ".join(f"{name}={stable_repr(value)}" for name, value in parameters.items())
    return f"{type(thing).__qualname__}({parts})"


def how_many(count: int, noun: str) -> str:
    """A number of things, one or several.

    >>> how_many(1, "element"), how_many(0, "window"), how_many(1_200, "row")
    ('1 element', '0 windows', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def visible(text: str) -> str:
    """A text from elsewhere, fit for a terminal: nothing in it is a command to one.

    Line ends and tabs stay. What has no shape of its own is shown as Python would write it.

    >>> print(visible("a title\\x1b[2J"))
    a title\\x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )


def on_one_line(value: Any) -> str:
    """The ``repr`` of a value, fit for a terminal, its lines joined.

    >>> class Matrix:
    ...     def __repr__(self):
    ...         return "[[1 2]\\n [3 4]]\\a"
    >>> print(on_one_line(Matrix()))
    [[1 2] [3 4]]\\x07
    """
    return " ".join(line.strip() for line in visible(repr(value)).splitlines())
