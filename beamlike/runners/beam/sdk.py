"""Everything of the Beam SDK that is not in its public API, in one place.

A release of Beam may change these names: then this module changes, and no other one. What is
public, such as ``DoFn`` and ``PipelineOptions``, the other modules import from ``apache_beam``.
"""

# ruff: noqa: F401  (names that the other modules import from here)

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import cloudpickle.cloudpickle
from apache_beam.coders import coders
from apache_beam.internal import cloudpickle_pickler, pickler
from apache_beam.internal.cloudpickle import cloudpickle as beams_cloudpickle
from apache_beam.metrics.execution import MetricKey, MetricResult, MetricsContainer
from apache_beam.metrics.metric import MetricResults
from apache_beam.metrics.metricbase import MetricName
from apache_beam.options.pipeline_options import TypeOptions
from apache_beam.pipeline import PipelineVisitor
from apache_beam.portability import common_urns, python_urns
from apache_beam.portability.api import beam_runner_api_pb2 as proto
from apache_beam.pvalue import SideInputData
from apache_beam.runners.common import DoFnSignature, NameContext
from apache_beam.runners.pipeline_context import PipelineContext
from apache_beam.runners.pipeline_utils import group_by_key_input_visitor
from apache_beam.runners.portability.fn_api_runner import translations
from apache_beam.runners.runner import PipelineResult, PipelineRunner, PipelineState
from apache_beam.runners.worker import operation_specs, operations
from apache_beam.runners.worker.bundle_processor import ExecutionContext
from apache_beam.runners.worker.statesampler import (
    StateSampler,
    get_current_tracker,
    set_current_tracker,
)
from apache_beam.transforms import cy_combiners
from apache_beam.transforms.core import (
    CallableWrapperCombineFn,
    CombineFn,
    DoFnInfo,
    NoSideInputsCallableWrapperCombineFn,
    Windowing,
)
from apache_beam.transforms.environments import EmbeddedPythonEnvironment
from apache_beam.transforms.sideinputs import default_window_mapping_fn, get_sideinput_index
from apache_beam.transforms.userstate import Timer as FiredTimer
from apache_beam.transforms.userstate import get_dofn_specs
from apache_beam.utils.counters import CounterFactory
from apache_beam.utils.windowed_value import PANE_INFO_UNKNOWN, PaneInfo, PaneInfoTiming
from apache_beam.utils.windowed_value import create as windowed_value

from beamlike.runtime.graph.main_program import name_in_main


class Urn:
    """The URNs of the transforms that the runner knows, as Beam's protos have them."""

    IMPULSE: Final = common_urns.primitives.IMPULSE.urn
    PAR_DO: Final = common_urns.primitives.PAR_DO.urn
    FLATTEN: Final = common_urns.primitives.FLATTEN.urn
    GROUP_BY_KEY: Final = common_urns.primitives.GROUP_BY_KEY.urn
    WINDOW: Final = common_urns.primitives.ASSIGN_WINDOWS.urn
    TEST_STREAM: Final = common_urns.primitives.TEST_STREAM.urn
    COMBINE_PER_KEY: Final = common_urns.composites.COMBINE_PER_KEY.urn
    RESHUFFLE: Final = common_urns.composites.RESHUFFLE.urn
    MULTIMAP: Final = common_urns.side_inputs.MULTIMAP.urn
    ITERABLE: Final = common_urns.side_inputs.ITERABLE.urn
    PACKS_COMBINERS: Final = python_urns.APPLY_COMBINER_PACKING
    PYTHON: Final = frozenset((python_urns.EMBEDDED_PYTHON,))


def pipeline_proto(pipeline: Any, options: Any) -> tuple[Any, Any]:
    """A pipeline as its proto, with coders of keys that give equal keys equal bytes.

    Args:
        pipeline: The ``beam.Pipeline``.
        options: Its ``PipelineOptions``.

    Returns:
        The proto, and the ``PipelineContext`` that knows the names of collections in it.

    Raises:
        ValueError: A key has no deterministic coder, and the options ask for one.
    """
    deterministic = not options.view_as(TypeOptions).allow_non_deterministic_key_coders
    pipeline.visit(group_by_key_input_visitor(deterministic))
    environment = EmbeddedPythonEnvironment.default()
    described: tuple[Any, Any] = pipeline.to_runner_api(
        return_context=True, default_environment=environment
    )
    return described


class _ByLabel(PipelineVisitor):  # type: ignore[misc]
    """Collects the transforms of a pipeline by their full labels."""

    def __init__(self) -> None:
        self.transforms: dict[str, Any] = {}

    def visit_transform(self, transform_node: Any) -> None:
        self.transforms[transform_node.full_label] = transform_node.transform

    def enter_composite_transform(self, transform_node: Any) -> None:
        self.visit_transform(transform_node)


def transforms_of(pipeline: Any) -> Mapping[str, Any]:
    """The transforms of a ``beam.Pipeline`` by their full labels."""
    visitor = _ByLabel()
    pipeline.visit(visitor)
    return visitor.transforms


def with_packed_combiners(pipeline: Any) -> Any:
    """The proto of a pipeline in which combiners of one collection that ask for it are one."""
    if not any(
        Urn.PACKS_COMBINERS in transform.annotations
        for transform in pipeline.components.transforms.values()
    ):
        return pipeline
    return translations.optimize_pipeline(
        pipeline,
        phases=[translations.pack_combiners, translations.sort_stages],
        known_runner_urns=frozenset((Urn.IMPULSE, Urn.FLATTEN, Urn.GROUP_BY_KEY, Urn.TEST_STREAM)),
        partial=True,
    )


def pickles(coder: Any) -> bool:
    """Whether values that a coder takes are pickles as well: Beam's own coders need no more."""
    module: str = type(coder).__module__
    parts: Iterable[Any] = coder._get_component_coders()
    return module.startswith("apache_beam.coders") and all(map(pickles, parts))


def _know_the_same_classes() -> None:
    """Let cloudpickle, and Beam's copy of it, know the same classes of main programs.

    A class that travels by what is in it is made once in a process, by the first of them that reads
    it. The functions of a pipeline travel by Beam's, and values by the other one.
    """
    for name in ("BY_CLASS", "BY_ID", "LOCK"):
        tracker = f"_DYNAMIC_CLASS_TRACKER_{name}"
        setattr(cloudpickle.cloudpickle, tracker, getattr(beams_cloudpickle, tracker))


_know_the_same_classes()
_pickled_by_beam: Final = cloudpickle_pickler.dumps


def _pickled(thing: Any, *args: Any, **options: Any) -> bytes:
    """What Beam's pickler makes of a thing; of a class that a `MainProgram` brought, its name.

    Keys say their class in their bytes. By what is in it these would be other ones after each start
    of the program, and a key would be two.
    """
    if isinstance(thing, type) and name_in_main(thing) is not None:
        options["config"] = beams_cloudpickle.CloudPickleConfig(pickle_main_by_ref=True)
    blob: bytes = _pickled_by_beam(thing, *args, **options)
    return blob


cloudpickle_pickler.dumps = _pickled


_PLAIN: Final = (CallableWrapperCombineFn, NoSideInputsCallableWrapperCombineFn)


def plain_function_of(fn: Any) -> Any:
    """The function of all values that a combine function calls; None: it is of another kind."""
    if type(fn) is cy_combiners.SumInt64Fn:
        return sum
    return fn._fn if type(fn) in _PLAIN else None


def dofn_of(payload: Any) -> tuple[Any, tuple[Any, ...], Mapping[str, Any]]:
    """The ``DoFn`` of a ParDo, with the arguments of its methods."""
    fn, args, kwargs, *_ = pickler.loads(
        DoFnInfo.from_runner_api(payload.do_fn, None).serialized_dofn_data()
    )
    return fn, args, kwargs


def side_inputs_of(payload: Any) -> Sequence[tuple[str, Any]]:
    """The side inputs of a ParDo in the order of its arguments: tags and ``SideInputData``."""
    by_index: Callable[[str], int] = get_sideinput_index
    tags: Iterable[str] = sorted(payload.side_inputs, key=by_index)
    return [(tag, SideInputData.from_runner_api(payload.side_inputs[tag], None)) for tag in tags]


def maps_windows_by_default(data: Any) -> bool:
    """Whether a side input is looked into at the end of the window of the element, as it is by
    default."""
    known: str = default_window_mapping_fn.__qualname__
    name: str = getattr(data.window_mapping_fn, "__qualname__", "")
    return name.startswith((known, "_global_window_mapping_fn"))
