"""A run as Python: a test stream and its windowing, to be pasted into a test.

What a failed test found, by chance or by search, becomes a scenario of its own.
"""

import ast
import builtins
import math
import sys
from collections.abc import Hashable, Iterator, Sequence
from datetime import date
from enum import Enum
from inspect import Parameter
from textwrap import indent
from typing import Any, Final

from beamlike import combine_fns
from beamlike.errors import TestStreamError, WindowingError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.failures import OnFailure
from beamlike.model import triggers as t
from beamlike.model import windowfns as w
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.described import argument_defaults
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Script
from beamlike.testing.assertions.failures import with_assigned_windows
from beamlike.testing.scenarios.schema import ALIGN, DELAY, TRIGGERS, WINDOW_FNS, Field
from beamlike.testing.spelling import duration_code, step_call

_WIDTH: Final = 80


def as_test_stream(
    script: Script,
    strategy: WindowingStrategy,
    aggregate: CombineFn | None = None,
    *,
    on_error: OnFailure = OnFailure.FAIL,
    name: str = "results",
) -> str:
    """Python that runs a script once more, as a `TestStream`, and binds what comes out to a name.

    Names of the user's own, such as that of an element's class, are listed in a comment at the
    top, and what has no Python is a text there. Without such a comment the code runs as it is.

    Args:
        script: What happens, with keys and values apart, as `Run` has it.
        strategy: How it is windowed.
        aggregate: How a pane's elements become its value; None is `Collect`.
        on_error: What happens if a function of the user's raises.
        name: The name that the results get.

    Raises:
        TestStreamError: Elements come in windows that are not those of the window function. Only
            a pipeline can have them so.
    """
    plain = with_assigned_windows(script, strategy)
    if plain is None:
        raise TestStreamError(
            "elements come to this grouping in windows of their own, which a test stream cannot "
            "say; build the pipeline before it, too"
        )
    code = _Code()
    statements, begun, calls = code.stream(plain)
    calls = [*calls, _call(".run", code.options(strategy, aggregate, on_error))]
    return "\n".join([*code.heading(), *statements, f"{name} = {_chain(begun, calls)}"])


class _Code:
    """Code under construction, and the names that it needs."""

    def __init__(self) -> None:
        self._plain = {"import beamlike as bl"}
        self._names: dict[str, set[str]] = {}
        self._todos: dict[str, None] = {}
        self._from("beamlike.testing", "TestStream")

    def heading(self) -> list[str]:
        """Imports, and what the user has to add."""
        return [
            *(f"# add: {todo}" for todo in self._todos),
            *sorted(self._plain),
            *(
                f"from {module} import {', '.join(sorted(names))}"
                for module, names in sorted(self._names.items())
            ),
            "",
        ]

    def _from(self, module: str, name: str) -> str:
        self._names.setdefault(module, set()).add(name)
        return name

    # -- steps ---------------------------------------------------------------------------------

    def stream(self, script: Script) -> tuple[list[str], str, list[str]]:
        """Statements, an expression for a stream, and the calls that it grows by to the last.

        The end of time ends a stream; what a script has after it, or a script that never comes to
        it, needs more than one statement.
        """
        statements: list[str] = []
        calls: list[str] = []
        clock, begun = 0, "TestStream()"

        def bound(expression: str) -> None:
            nonlocal calls, begun
            statements.append(f"stream = {expression}")
            calls, begun = [], "stream"

        for index, step in enumerate(script):
            match step:
                case AdvanceWatermark(to) if to == MAX_TIMESTAMP:
                    calls.append(".advance_watermark_to_infinity()")
                    if index + 1 < len(script):
                        bound(_chain(begun, calls))
                        begun = "TestStream(stream.steps)"
                case AdvanceClock(to) if to == clock:  # which no verb expresses
                    bound(_chain(begun, calls))
                    move = self._from("beamlike.machine.events", "AdvanceClock")
                    begun = f"TestStream((*stream.steps, {move}({to})))"
                case _:
                    verb, arguments = step_call(step, clock, self._pair)
                    if verb == "add_elements":
                        self._from("beamlike.testing", "TimestampedValue")
                    calls.append(_call(f".{verb}", arguments))
                    clock = step.to if isinstance(step, AdvanceClock) else clock
        if script and script[-1] == AdvanceWatermark(MAX_TIMESTAMP):
            return statements, begun, calls
        bound(_chain(begun, calls))
        # It ends before the end of time, so that windows which are open then stay so.
        finished = self._from("beamlike.testing", "FinishedTestStream")
        return statements, f"{finished}(stream.steps)", []

    def _pair(self, key: Hashable, element: Element) -> str:
        return f"({self.value(key)}, {self.value(element.value)})"

    # -- windowing -----------------------------------------------------------------------------

    def options(
        self, strategy: WindowingStrategy, aggregate: CombineFn | None, on_error: OnFailure
    ) -> list[str]:
        """The arguments of ``TestStream.run``."""
        plain = WindowingStrategy(strategy.window_fn)
        asked = () if strategy.trigger == t.DefaultTrigger() else _ASKED
        options = {
            part: getattr(strategy, part)
            for part in (*_ASKED, *_CHOICES)
            if part in asked or getattr(strategy, part) != getattr(plain, part)
        }
        options = {
            part: value.value if isinstance(value, Enum) else value
            for part, value in options.items()
        }
        written = {"window": self.call_of(strategy.window_fn)}
        for part, value in options.items():
            written[part] = f'"{value}"' if isinstance(value, str) else self.call_of(value)
        if "allowed_lateness" in options:
            written["allowed_lateness"] = duration_code(strategy.allowed_lateness)
        if on_error is not OnFailure.FAIL:
            written["on_error"] = f'"{on_error.value}"'
        if aggregate is not None and aggregate != Collect():
            written["aggregate"] = self.value(aggregate)
        if not _is_declarable(strategy, options):
            written["allow_unsafe_trigger"] = "True"
        return [f"{name}={code}" for name, code in written.items()]

    def call_of(self, part: Any) -> str:
        """The call that makes a window function, a trigger or a part of one."""
        form = _FORMS.get(type(part))
        if isinstance(part, CustomTrigger) and part.arguments:
            arguments = list(self._arguments(part))
        elif form is None:
            return self.value(part)
        else:
            arguments = [code for field in form.fields for code in self._fields(field, part)]
        return _call(f"bl.{type(part).__name__}", arguments)

    def _fields(self, field: Field, part: Any) -> Iterator[str]:
        """The arguments that a field of a scenario file stands for; none for a default."""
        value = None if field.write is None else getattr(part, field.attribute)
        if value is None or value == field.default:
            return
        named = not field.always or field.attribute in ("early", "late")
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, date):
                code = str((item.year, item.month, item.day))
            elif field.name.endswith("_ms") and not callable(item):
                code = duration_code(item)
            else:
                code = self.call_of(item)
            yield f"{field.attribute}={code}" if named else code

    def _arguments(self, trigger: CustomTrigger[Any]) -> Iterator[str]:
        defaults = argument_defaults(type(trigger))
        for name, argument in trigger.arguments.items():
            value, default = getattr(trigger, name), defaults[name]
            if value != default:
                code = duration_code(value) if argument == "duration" else self.value(value)
                yield code if default is Parameter.empty else f"{name}={code}"

    # -- values --------------------------------------------------------------------------------

    def value(self, value: Any) -> str:
        """A value as Python; if it has none, its ``repr`` as a text."""
        cls = type(value)
        if cls is float and not math.isfinite(value):
            return f'float("{value}")'
        if cls is list:
            return f"[{', '.join(map(self.value, value))}]"
        if cls is tuple:
            comma = "," if len(value) == 1 else ""
            return f"({', '.join(map(self.value, value))}{comma})"
        if cls is dict:
            return f"{{{', '.join(f'{self.value(k)}: {self.value(v)}' for k, v in value.items())}}}"
        if cls in (set, frozenset):
            parts = f"{{{', '.join(map(self.value, value))}}}" if value else ""
            return parts if cls is set and value else f"{cls.__name__}({parts})"
        if cls in (bool, int, float, str, bytes, type(None)):
            return repr(value)
        if isinstance(value, Enum):
            return self._known(f"{cls.__qualname__}.{value.name}", cls.__module__)
        if callable(value) and not isinstance(value, CombineFn | w.WindowFn):
            return self._known(getattr(value, "__name__", ""), getattr(value, "__module__", ""))
        return self._known(repr(value), cls.__module__)

    def _known(self, code: str, module: str) -> str:
        """Code of a value whose class, or which itself, comes from a module."""
        try:
            tree = ast.parse(code, mode="eval")
        except (SyntaxError, ValueError):
            self._todos[f"what {code!r} stands for"] = None
            return repr(code)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in _NUMBERS:
                self._from("math", node.id)
            elif isinstance(node, ast.Name) and node.id not in _BUILTINS:
                self._name(node.id, module)
        return code

    def _name(self, name: str, module: str) -> None:
        top = module.partition(".")[0]
        if name == top and name in sys.stdlib_module_names:
            self._plain.add(f"import {name}")
        elif top == "beamlike" or (top in sys.stdlib_module_names and top != "__main__"):
            self._from(_public(module, name), name)
        else:
            self._todos[f"{name} of {module}"] = None


_FORMS: Final = {
    form.cls: form
    for form in (*WINDOW_FNS.values(), *TRIGGERS.values(), DELAY, ALIGN)
    if not issubclass(form.cls, CustomTrigger)
}
_ASKED: Final = ("trigger", "accumulation", "allowed_lateness")
"""What a pipeline has to say where a window may emit several panes."""
_CHOICES: Final = (
    *("timestamp_combiner", "closing_behavior", "on_time_behavior", "late_check", "unchanged"),
)
_BUILTINS: Final = frozenset(dir(builtins))
_NUMBERS: Final = frozenset(("nan", "inf"))
"""As floats in something else's ``repr`` are written."""


def _public(module: str, name: str) -> str:
    """The module from which users import what is in one: ``beamlike.combine_fns``, and not the
    one below `beamlike.model` in which a combine function is written."""
    parts = module.split(".")
    shorter = [".".join(parts[:length]) for length in range(1, len(parts))]
    known = getattr(sys.modules.get(module), name, None)
    for public in (*shorter[:1], combine_fns.__name__, *shorter[1:]):
        owner = sys.modules.get(public)
        if name in getattr(owner, "__all__", ()) and getattr(owner, name) is known:
            return public
    return module


def _is_declarable(strategy: WindowingStrategy, options: dict[str, Any]) -> bool:
    """Whether a pipeline may declare it so, with the same meaning."""
    try:
        declared = WindowingStrategy.declared(strategy.window_fn, unbounded=True, **options)
    except WindowingError:
        return False
    return declared == strategy


def _chain(begun: str, calls: Sequence[str]) -> str:
    """An expression and what is called of it, one after the other."""
    if not calls:
        return begun
    if len(calls) == 1:
        return begun + calls[0]
    return "\n".join(["(", *(indent(line, "    ") for line in (begun, *calls)), ")"])


def _call(name: str, arguments: Sequence[str]) -> str:
    """A call in one line, or with a line for each argument if that is too long."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    return "\n".join([f"{name}(", *(f"{indent(argument, '    ')}," for argument in arguments), ")"])
