"""Which of Beam's names are here: a table.

For each module of Beam, without ``apache_beam.``, where the names that it defines are found: in
modules that have some of them in their ``__all__``, or one by one: ``Name=module:name``, or for
several that keep their names ``module:Name,Name``. A name that stands so and that Beam does not
have is there as well: at the root these are names of Beam's from other modules, and beamlike's own.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

_M: Final = "beamlike.model"
_P: Final = "beamlike.api.pipelines"
_T: Final = "beamlike.testing"

HERE: Final[Mapping[str, str]] = {
    "": f"{_M}.options:AccumulationMode,ClosingBehavior,OnTimeBehavior {_M}.panes:Timing "
    f"{_M}.triggers:AfterAll,AfterAny,AfterCount,AfterEach,AfterWatermark,Always,DefaultTrigger,"
    "Never,OrFinally,Repeatedly beamlike.beam.alias:install_as "
    f"{_P}.frames:FromDataFrame,WriteRows,to_data_frame {_P}.windowing:Remerge "
    f"{_P}.metrics:Counter,Distribution,Gauge,MetricResult,MetricResults,Metrics,MetricsFilter "
    f"{_P}.options:PipelineOptions,SetupOptions,StandardOptions "
    f"{_P}.result:PipelineResult,PipelineState "
    f"{_P}.views:AsDict,AsIter,AsList,AsMultiMap,AsSingleton "
    f"{_P}.python.durations:Duration {_P}.python.panes:PaneInfo {_P}.python.timestamps:Timestamp "
    f"{_P}.python.functions:WithTimestamps "
    f"{_P}.python.window_fns:FixedWindows,GlobalWindows,Sessions,SlidingWindows "
    f"{_P}.python.windowing:AfterProcessingTime,TimestampCombiner "
    f"{_P}.python.windows:GlobalWindow,IntervalWindow,TimestampedValue,WindowedValue",
    "coders": f"CoderRegistry={_P}.coders:CoderRegistry JsonCoder={_P}.coders:JsonCoder",
    "coders.coders": f"{_P}.coders",
    "coders.typecoders": f"{_P}.coders",
    "io.filesystem": f"{_P}.text_files:BeamIOError,CompressionTypes",
    "io.kafka": f"{_P}.kafka",
    "io.textio": f"{_P}.text_files",
    "metrics.cells": f"{_P}.metrics",
    "metrics.execution": f"{_P}.metrics",
    "metrics.metric": f"{_P}.metrics",
    "metrics.metricbase": f"{_P}.metrics",
    "options.pipeline_options": f"{_P}.options",
    "error": "BeamError=beamlike.errors:BeamlikeError PipelineError=beamlike.errors:PipelineError "
    "TransformError=beamlike.errors:PipelineError",
    "pipeline": f"{_P}.pipeline",
    "pvalue": f"{_P}.pvalues PCollection={_P}.pipeline:PCollection {_P}.dofn {_P}.rows {_P}.views "
    f"DoOutputsTuple={_P}.pvalues:DoOutputs MultiMap={_P}.views:AsMultiMap",
    "runners.direct.direct_runner": f"{_P}.options",
    "runners.interactive.interactive_runner": f"{_P}.options",
    "runners.portability.fn_api_runner.fn_runner": f"{_P}.options",
    "runners.portability.prism_runner": f"{_P}.options",
    "runners.portability.spark_runner": f"{_P}.options",
    "runners.runner": f"{_P}.result {_P}.options",
    "testing.test_pipeline": f"{_T}.pipelines.contexts",
    "testing.test_stream": f"{_P}.python.streams",
    "testing.util": f"{_T}.pipelines.beam",
    "transforms.deduplicate": f"{_P}.deduplicating",
    "transforms.combiners": f"{_P}.combiners Max={_P}.combiners:Max Min={_P}.combiners:Min "
    f"Sum={_P}.combiners:Sum",
    "transforms.core": f"{_P}.elements {_P}.pardo {_P}.groups {_P}.cogroups {_P}.python.functions "
    f"{_P}.combinefn {_P}.pairs {_P}.rows {_P}.windowing "
    f"WindowInto={_P}.python.windowing:WindowInto",
    "transforms.ptransform": f"{_P}.transform",
    "transforms.timeutil": f"{_P}.userstate",
    "transforms.trigger": f"AfterProcessingTime={_P}.python.windowing:AfterProcessingTime "
    "beamlike.model.triggers beamlike.model.options Never=beamlike.model.triggers:Never "
    "TriggerFn=beamlike.model.triggers:Trigger _Never=beamlike.model.triggers:Never "
    "_AfterSynchronizedProcessingTime=beamlike.model.triggers:AfterSynchronizedProcessingTime",
    "transforms.userstate": f"{_P}.userstate MapStateSpec={_P}.userstate:MapStateSpec "
    f"on_window_expiration={_P}.userstate:on_window_expiration "
    f"requires_time_sorted_input={_P}.userstate:requires_time_sorted_input",
    "transforms.util": f"{_P}.batches {_P}.cogroups {_P}.pairs "
    f"RemoveDuplicates={_P}.cogroups:Distinct",
    "transforms.window": f"{_P}.python.windows {_P}.python.window_fns {_P}.python.windowing",
    "typehints.decorators": f"{_P}.hints TypeCheckError=beamlike.errors:TypeCheckError",
    "typehints.typehints": " ".join(
        f"{name}=typing:{name}"
        for name in (
            *("Any", "Collection", "Dict", "FrozenSet", "Iterable", "Iterator"),
            *("List", "Optional", "Sequence", "Set", "Tuple", "Union"),
        )
    )
    + f" KV={_P}.hints:KV TypeVariable=typing:TypeVar "
    "SimpleTypeHintError=beamlike.errors:TypeCheckError "
    "CompositeTypeHintError=beamlike.errors:TypeCheckError",
    "utils.timestamp": f"{_P}.python.timestamps {_P}.python.durations",
    "utils.windowed_value": f"{_P}.python.panes WindowedValue={_P}.python.windows:WindowedValue",
}


@cache
def _parts(module: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    modules: list[str] = []
    renamed: dict[str, str] = {}
    for entry in HERE.get(module, "").split():
        if "=" in entry:
            name, _, place = entry.partition("=")
            renamed[name] = place
        elif ":" in entry:
            place, _, names = entry.partition(":")
            renamed |= {name: f"{place}:{name}" for name in names.split(",")}
        else:
            modules.append(entry)
    return tuple(modules), renamed


def place_of(module: str, name: str) -> tuple[str, str] | None:
    """The module and the name there of what Beam defines; None: it is not here."""
    modules, renamed = _parts(module)
    if name in renamed:
        place, _, attribute = renamed[name].partition(":")
        return place, attribute
    for place in modules:
        if name in import_module(place).__all__:
            return place, name
    return None


def added(module: str) -> list[str]:
    """The names that stand one by one in the table for a module."""
    return [*_parts(module)[1]]


def definition(module: str, name: str) -> Any:
    """What Beam defines there, as it is here."""
    place = place_of(module, name)
    if place is None:
        raise LookupError(name)
    return getattr(import_module(place[0]), place[1])
