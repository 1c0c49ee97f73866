"""All options of the public API, from its signatures: parameters that have a default, and methods
that configure a transform.

A function counts once, under the first public name that leads to it.
"""

import enum
import inspect
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any, Final, NoReturn, is_typeddict

import beamlike
from beamlike import beam, kafka, scio, tables, testing
from beamlike.api.pipelines.python.panes import OfTheCore
from beamlike.api.pipelines.transform import PTransform

MODULES: Final = {
    "": beamlike,
    "kafka.": kafka,
    "tables.": tables,
    "testing.": testing,
    "beam.": beam,
    "scio.": scio,
}

NOT_CALLED: Final = frozenset(
    {
        # Values that runs and machines make, and that a user reads.
        *(
            "ArrivedElements",
            "testing.Expectation",
            "testing.FinishedTestStream",
            "testing.Results",
        ),
        *("testing.Scenario", "testing.TestStream", "beam.PipelineResult", "beam.WindowedValue"),
        *("testing.TransformOverride", "Aggregate", "testing.test_stream_of"),
        # What pipelines and machines call.
        "beam.GroupBy.force_tuple_keys",
        *("beam.Pipeline.add", "testing.TestPipeline.add", "WindowingStrategy.check_groupable"),
        # The spelling of messages, which belongs to the callers of several kinds.
        *("WindowingStrategy.configured", "check_flatten"),
    }
)
"""What has parameters with defaults that are no options."""

_OF_MACHINES: Final = (".assign", ".data_loss")

_SEVERAL: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_CONFIGURING: Final = ("with_", "without_")


def options() -> set[str]:
    """The options as ``owner.option``, and the methods that configure a transform as ``owner``."""
    known: set[Any] = set()
    names: set[str] = set()
    for owner, function in _functions():
        if inspect.signature(function).return_annotation is NoReturn:
            continue  # the verb itself is refused, whatever its arguments are
        code = function.__code__
        if code in known or owner in NOT_CALLED or owner.endswith(_OF_MACHINES):
            continue
        known.add(code)
        names.update(f"{owner}.{name}" for name in _optional(function))
        if _configures(owner):
            names.add(owner)
    return names


def _optional(function: FunctionType) -> Iterator[str]:
    for parameter in inspect.signature(function).parameters.values():
        has_default = parameter.default is not parameter.empty and parameter.kind not in _SEVERAL
        if has_default and not parameter.name.startswith("_"):
            yield parameter.name


def _configures(owner: str) -> bool:
    module, _, path = owner.rpartition("beam.")
    name, _, method = path.partition(".")
    transform = getattr(beam, name, None) if owner.startswith("beam.") and not module else None
    is_transform = inspect.isclass(transform) and issubclass(transform, PTransform)
    by_fanout = owner.startswith("scio.") and owner.endswith("fanout")
    return by_fanout or (method.startswith(_CONFIGURING) and is_transform)


def _functions() -> Iterator[tuple[str, FunctionType]]:
    for prefix, module in MODULES.items():
        for name in _public(module):
            thing = getattr(module, name)
            if isinstance(thing, FunctionType):
                yield f"{prefix}{name}", _plain(thing)
            elif inspect.isclass(thing) and not _is_value(thing):
                yield from _methods(f"{prefix}{name}", thing)


def _public(module: ModuleType) -> list[str]:
    return list(module.__all__)


def _is_value(cls: type) -> bool:
    return issubclass(cls, BaseException | enum.Enum) or is_typeddict(cls)


def _methods(owner: str, cls: type) -> Iterator[tuple[str, FunctionType]]:
    made: Any = cls.__new__ if isinstance(cls, OfTheCore) else cls.__init__  # type: ignore[misc]
    init = inspect.unwrap(made)
    if isinstance(init, FunctionType):
        yield owner, init
    for name in dir(cls):
        if name.startswith("_"):
            continue
        method = inspect.getattr_static(cls, name)
        function = getattr(method, "__func__", method)
        if isinstance(function, FunctionType):
            yield f"{owner}.{name}", _plain(function)


def _plain(function: FunctionType) -> FunctionType:
    plain: Any = inspect.unwrap(function)
    assert isinstance(plain, FunctionType), "a decorated function"
    return plain
