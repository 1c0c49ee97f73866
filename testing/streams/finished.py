"""A test stream that has come to its end: it is run, by itself or in a pipeline."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import attrs

from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import USERS_FAULT, PipelineError, TestStreamError
from beamlike.machine.events import Element
from beamlike.machine.failures import OnFailure, OnFailureLike
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.graph import ReadNode
from beamlike.model.options import by_name, option
from beamlike.model.resolution import MILLISECONDS
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_arguments import check_alone, strategy_of_call
from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Run, Script, with_elements
from beamlike.testing.assertions.failures import AssertedGrouping, ran_by_itself
from beamlike.testing.spelling import script_code
from beamlike.testing.streams.results import Results

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.viz.picture import Picture

Host = Literal["memory", "local", "spark"]


class _Played(PTransform[Pipeline, PCollection[Any]]):
    """The source of a pipeline that plays a script."""

    def __init__(self, steps: Script, without_unit: str = "") -> None:
        self.steps, self.without_unit = steps, without_unit

    def default_label(self) -> str:
        return "TestStream"

    def expand(self, pipeline: Pipeline) -> PCollection[Any]:
        if self.without_unit:
            raise PipelineError(f"{pipeline.label!r}: {self.without_unit}")
        node = ReadNode(pipeline.label, (), self.steps, bounded=False)
        return pipeline.add(node, WindowingStrategy.unwindowed(), is_bounded=False)


@attrs.frozen(repr=False)
class FinishedTestStream(PTransform[Pipeline, PCollection[Any]]):
    """A stream that reached the end of time. It cannot be added to, only run.

    ``pipeline | stream`` and ``pipeline | "name" >> stream`` make it a source of a pipeline.
    Of several streams each has a watermark of its own, and they take turns, a step each.
    """

    steps: Script
    without_unit: str = attrs.field(default="", eq=False)
    """As of `TestStream`."""
    is_batch: bool = attrs.field(default=False, eq=False)
    """All of the input is there before the watermark moves: `run` takes it as bounded, which lets
    the default trigger emit what the global window holds."""

    @by_name("run", TestStreamError, keywords=StrategyParts.__annotations__)
    def run(
        self,
        *,
        window: WindowFn | None = None,
        strategy: WindowingStrategy | None = None,
        on_error: OnFailureLike = OnFailure.FAIL,
        aggregate: CombineFn | None = None,
        host: Host = "memory",
        spark: "SparkSession | None" = None,
        allow_unsafe_trigger: bool = False,
        **parts: Unpack[StrategyParts],
    ) -> Results:
        """Group the stream by key and window, and keep everything that comes out.

        Processing time is the stream's own; no clock of the computer is read.

        Args:
            window: How elements are assigned to windows.
            strategy: All parts in one value, in place of ``window`` and of each argument from
                ``trigger`` to ``unchanged``.
            trigger: When panes are emitted; None is the default trigger.
            accumulation: Whether a pane holds what is new or everything so far. Required
                where a window may emit several panes.
            allowed_lateness: How far the watermark may pass the end of a window before data
                for it is dropped. Required with a trigger outside the global window.
            timestamp_combiner: Which event time a pane is stamped with.
            closing_behavior: Whether an empty last pane is emitted.
            on_time_behavior: Whether an empty on-time pane is emitted.
            late_check: What decides that an element is too late; Beam's way by default.
            unchanged: Whether a pane with an unchanged value comes out again, where panes are
                withdrawn.
            on_error: What to do when a function of the window function or of the aggregate
                raises: ``"fail"``, or ``"drop"`` what it raised for.
            aggregate: How a pane's elements become its value; `Collect` by default.
            host: ``"memory"``, the reference machine, which explains what it did; ``"local"``, the
                runtime of production in this process, without Spark; or ``"spark"``, a real
                streaming query.
            spark: The session for host ``"spark"``; None takes the active one or starts one.
            allow_unsafe_trigger: Take the strategy as it is, without the checks that a
                pipeline makes: triggers that finish and lose data among them.

        Raises:
            TestStreamError: An element is no (key, value) pair, or its key cannot be hashed; an
                argument is not known or not given by name; the host is unknown; the aggregate is
                no combine function; or a Spark session was given to another host.
            WindowingError: The parts do not go together; the message names what to change.
            UnsafeTriggerError: The trigger can finish and lose data.
            UserFunctionError: A function of the window function or of the aggregate raised.
            UnsupportedError: On host ``"local"`` or ``"spark"``: the state has no layout there.
        """
        combine = Collect() if aggregate is None else aggregate
        if not isinstance(combine, CombineFn):
            hint = f"; write {combine.__name__}()" if isinstance(combine, type) else ""
            raise TestStreamError(
                "aggregate must be a combine function such as Count() of beamlike.combine_fns, "
                f"got {combine!r}{hint}"
            )
        if window is None and strategy is None:
            raise TestStreamError("run needs window; give window=FixedWindows(...)")
        if not allow_unsafe_trigger:
            strategy = strategy_of_call("run", window, strategy, parts, unbounded=not self.is_batch)
        elif strategy is not None:
            check_alone("run", strategy, window, parts)
        else:
            named: dict[str, Any] = {"window_fn": window, **parts}
            strategy = WindowingStrategy(
                **{name: part for name, part in named.items() if part is not None}
            )
        strategy = strategy.in_resolution(MILLISECONDS)  # which is what scenarios count
        failing = option(OnFailure, on_error, "on_error")
        script = with_elements(self.steps, _pair)
        try:
            run = _run_on(host, strategy, combine, script, failing, spark)
        except USERS_FAULT as error:  # how it got there is of no use to them
            raise error.with_traceback(None) from error.__cause__
        ran_by_itself(AssertedGrouping("", run, strategy, combine))
        return Results(run, strategy, combine)

    def figure(self, key: Any = None) -> "Picture":
        """The stream as a picture before it is grouped: its elements and its watermark.

        Event time goes across and arrival up, as in `Results.figure`; there are no windows and
        no panes, so that what will come out can be guessed first.

        Args:
            key: Only this key; None for all, the busiest four if there are more.

        Raises:
            RecordingError: There is no such key, or the stream has no elements.
            TestStreamError: An element is no (key, value) pair.
        """
        from beamlike.viz.picture import figure_of

        return figure_of(Run(with_elements(self.steps, _pair), ()), None, key)

    def default_label(self) -> str:
        return "TestStream"

    def expand(self, pipeline: Pipeline) -> PCollection[Any]:
        """The source of a pipeline that plays this stream.

        Raises:
            PipelineError: It has a bare number, which is seconds in Beam Python.
        """
        return _Played(self.steps, self.without_unit).expand(pipeline)

    @property
    def in_milliseconds(self) -> PTransform[Pipeline, PCollection[Any]]:
        """The same source where everybody counts milliseconds, as in Scio."""
        return _Played(self.steps)

    def __rrshift__(self, label: str) -> PTransform[Pipeline, PCollection[Any]]:  # type: ignore[override]
        """A source of a pipeline under a name: ``"name" >> stream``."""
        return label >> _Played(self.steps, self.without_unit)

    def __repr__(self) -> str:
        return f"TestStream(){script_code(self.steps[:-1])}.advance_watermark_to_infinity()"


def _run_on(
    host: Host,
    strategy: WindowingStrategy,
    combine: CombineFn,
    script: Script,
    on_error: OnFailure,
    spark: "SparkSession | None",
) -> Run:
    if host not in get_args(Host):
        raise TestStreamError(f'host must be "memory", "local" or "spark", got {host!r}')
    if host == "spark":
        from beamlike.hosts.spark.graph.query import replay_on_spark

        (run,) = replay_on_spark([(strategy, combine, script)], spark, on_error=on_error)
        return run
    if spark is not None:
        raise TestStreamError(
            f'a Spark session was given, but the host is "{host}"; add host="spark"'
        )
    if host == "local":
        from beamlike.hosts.local.nodes import run_in_local

        return run_in_local(strategy, combine, script, on_error=on_error)
    return run_in_memory(Grouping(strategy, combine, on_error), script)


def _pair(_: object, element: Element) -> tuple[Hashable, Element]:
    """The key of an element, and the element with the value alone."""
    pair = element.value
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TestStreamError(
            f"a stream that is run by itself has (key, value) pairs, got {pair!r}; write "
            '("joe", "open app") or TimestampedValue(("joe", "open app"), "00:01:00"), or give '
            "the stream to a pipeline"
        )
    key, value = pair
    try:
        hash(key)
    except TypeError:
        raise TestStreamError(
            f"the key of an element must be hashable, got {key!r} in {pair!r}; "
            "write a tuple instead of a list"
        ) from None
    return key, Element(value, element.timestamp)
