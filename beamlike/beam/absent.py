"""What Beam Python has and nothing here does: who asks for it is told what to write.

A name that is missing is asked for in two ways. ``beam.io`` asks the module; an import, such as
``from beamlike.beam.testing.util import assert_that``, asks Python for a module of that name, and
would be told only that there is none.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final, NoReturn

__all__ = ["watch"]

_HARNESS: Final = "what tests need is in beamlike.testing: from beamlike.testing import {}"
_FILES: Final = (
    "read with FromDataFrame(spark.read...), TestStream() or Create(...), and write with "
    "WriteRows(...) or to_data_frame(...)"
)
_OWN_WINDOWS: Final = "window functions of your own are subclasses of beamlike.{}"
_ENDS_OF_TIME: Final = "it is a number of milliseconds: from beamlike.model.time import {}"
_OPTIONS: Final = (
    "options are read by name: PipelineOptions(argv).view_as(MyOptions), and what a runner needs "
    "is an argument of run(...)"
)

_INSTEAD: Final = {
    # Modules.
    "dataframe": "a DataFrame of Spark comes in with FromDataFrame(...) and out with to_data_frame",
    "io": _FILES,
    "ml": "nothing here trains or runs models; call yours in a DoFn",
    "pipeline": "write from beamlike.beam import Pipeline",
    "runners": 'a pipeline runs in this process, or with run(host="spark") on Spark',
    "testing": _HARNESS.format("TestPipeline, TestStream, assert_that, equal_to"),
    "timeutil": "write beam.userstate.TimeDomain",
    # Of tests.
    "TestPipeline": _HARNESS.format("TestPipeline"),
    "TestStream": _HARNESS.format("TestStream"),
    "assert_that": _HARNESS.format("assert_that"),
    "equal_to": _HARNESS.format("equal_to"),
    # Sources and sinks.
    "BoundedSource": _FILES,
    "Managed": _FILES,
    "PeriodicImpulse": _FILES,
    "RestrictionProvider": _FILES,
    "Read": _FILES,
    "ReadAllFromText": _FILES,
    "ReadFromAvro": _FILES,
    "ReadFromBigQuery": _FILES,
    "ReadFromCsv": _FILES,
    "ReadFromJson": _FILES,
    "ReadFromParquet": _FILES,
    "ReadFromPubSub": _FILES,
    "ReadFromText": _FILES,
    "Write": _FILES,
    "WriteToAvro": _FILES,
    "WriteToBigQuery": _FILES,
    "WriteToCsv": _FILES,
    "WriteToJson": _FILES,
    "WriteToParquet": _FILES,
    "WriteToPubSub": _FILES,
    "WriteToText": _FILES,
    # Transforms and their parts.
    "ApproximateQuantiles": "write CombineGlobally(ApproxQuantiles(n)), of beamlike.combine_fns",
    "ApproximateUnique": "write CombineGlobally(ApproxDistinct()), of beamlike.combine_fns",
    "BoundedWindow": "a window is an IntervalWindow or a GlobalWindow",
    "EmptySideInput": "AsSingleton of nothing raises, unless it was given default_value=...",
    "KV": "write tuple[K, V]",
    "Latest": "write beam.combiners.Latest",
    "MapValues": "write MapTuple(lambda key, value: (key, ...))",
    "MAX_TIMESTAMP": _ENDS_OF_TIME.format("MAX_TIMESTAMP"),
    "MIN_TIMESTAMP": _ENDS_OF_TIME.format("MIN_TIMESTAMP"),
    "MergingWindowFn": _OWN_WINDOWS.format("MergingWindowFn"),
    "NonMergingWindowFn": _OWN_WINDOWS.format("WindowFn"),
    "PBegin": "what starts a pipeline is applied to the Pipeline itself",
    "SortAndBatchElements": "write BatchElements(...)",
    "TriggerFn": "a trigger is made of those that are here",
    "TimeDomain": "write beam.userstate.TimeDomain",
    "WindowFn": _OWN_WINDOWS.format("WindowFn"),
    # Options of runners.
    "DebugOptions": _OPTIONS,
    "DirectOptions": _OPTIONS,
    "GoogleCloudOptions": _OPTIONS,
    "TypeOptions": _OPTIONS,
    "WorkerOptions": _OPTIONS,
}
"""What to write instead, by the name that was asked for."""


def _refusal(owner: str, name: str) -> str:
    instead = f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
    return f"{owner} has no {name!r}{instead}"


class _Absent(MetaPathFinder):
    """Asked last for the modules of a package: what nobody has found is not there."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        owner, _, name = fullname.rpartition(".")
        if not f"{owner}.".startswith(f"{self.package}."):
            return None
        raise ImportError(_refusal(owner, name), name=fullname)


class _Asked:
    """The ``__getattr__`` of a module."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __call__(self, name: str) -> NoReturn:
        raise AttributeError(_refusal(self.module, name), name=name)


def watch(package: str) -> None:
    """Tell who asks a package or its modules for what is not there, what to write instead.

    Args:
        package: Its name. The modules are those that have been imported.
    """
    for name, module in list(sys.modules.items()):
        if not f"{name}.".startswith(f"{package}."):
            continue
        # Names that a package does not have are looked for among its modules, and so the finder
        # below is asked for them, if this one is a package.
        vars(module).setdefault("__path__", [])
        vars(module)["__getattr__"] = _Asked(name)
    if not any(isinstance(it, _Absent) and it.package == package for it in sys.meta_path):
        sys.meta_path.append(_Absent(package))
