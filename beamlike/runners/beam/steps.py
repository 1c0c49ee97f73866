"""ParDos and window transforms as operations of Beam's own worker, which call users' functions.

A `Step` travels to workers as bytes of Beam's pickler. `opened` makes the operations of several
steps that follow one another, joined by Beam's consumer sets, so that an element goes through all
of them in compiled code.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import attrs
from apache_beam.transforms.window import WindowFn
from apache_beam.utils.timestamp import Timestamp

from beamlike.runners.beam.metrics import Sampler
from beamlike.runners.beam.restrictions import Restrictions, delay_ms
from beamlike.runners.beam.sdk import (
    DoFnSignature,
    ExecutionContext,
    NameContext,
    coders,
    operation_specs,
    operations,
    pickler,
    windowed_value,
)
from beamlike.runners.beam.windows import MOST_KNOWN
from beamlike.runtime.graph.main_program import MainProgram

T = TypeVar("T")

_NO_SPEC: Final = operation_specs.WorkerFlatten(None, [])


@attrs.frozen
class Step:
    """A transform of single elements.

    Args:
        label: Its full name.
        source: The collection that it reads.
        outputs: Its collections by their tags; the main one has the tag ``"None"``, or is alone.
        pickled: Of a ParDo: function, arguments, views and the windowing, by Beam's pickler.
        assigns: Of a window transform: its window function, by Beam's pickler.
        sides: How many side inputs it looks into.
        splits: Whether it is splittable.
        is_drain: Whether it is to end where it is, if it is splittable.
        saves_the_rest: Whether it is given elements with restrictions, and leaves what is left.
        main: What the main program defines, where it runs in other processes.
    """

    label: str
    source: str
    outputs: Mapping[str, str]
    pickled: bytes | None = None
    assigns: bytes | None = None
    sides: int = 0
    splits: bool = False
    is_drain: bool = False
    saves_the_rest: bool = False
    main: MainProgram | None = None

    @property
    def function(self) -> tuple[Any, ...]:
        """What `pickled` holds."""
        assert self.pickled is not None, "it is a ParDo"
        unpickled: tuple[Any, ...] = pickler.loads(self.pickled)
        return unpickled

    def restrictions(self) -> Restrictions:
        """What its function, which is splittable, says of the parts of an element."""
        return Restrictions(DoFnSignature(self.function[0]), self.is_drain)


class OutputStep(operations.Operation):  # type: ignore[misc]
    """Keeps what comes out of a stage, as windowed values."""

    def __init__(self, sampler: Sampler, label: str) -> None:
        super().__init__(NameContext(label), _NO_SPEC, sampler.counters, sampler.states)
        self.elements: list[Any] = []
        self.process = self.elements.append  # without a call in between


class _WindowInto(operations.Operation):  # type: ignore[misc]
    """Puts elements into windows."""

    def __init__(self, step: Step, sampler: Sampler) -> None:
        super().__init__(NameContext(step.label), _NO_SPEC, sampler.counters, sampler.states)
        assert step.assigns is not None
        self._fn = pickler.loads(step.assigns)
        self._known: dict[tuple[Any, ...], list[Any]] = {}

    def process(self, element: Any) -> None:
        value, micros, fn = element.value, element.timestamp_micros, self._fn
        timestamp = Timestamp(micros=micros)
        for window in element.windows:
            context = WindowFn.AssignContext(timestamp, value, window)
            assigned = [*fn.assign(context)]
            # One object for equal windows: what follows looks at each once.
            windows = self._known.setdefault(tuple(assigned), assigned)
            if windows:
                out = windowed_value(value, micros, windows, element.pane_info)
                self.receivers[0].receive(out)
        if len(self._known) > MOST_KNOWN:
            self._known.clear()


@attrs.define
class SideInputStep:
    """A side input as Beam's invoker asks for it: that of the elements which are processed now.

    Args:
        data: Beam's ``SideInputData``.
        keys: The coder of its keys, where it is asked for the values of a key.
    """

    data: Any
    keys: Any = None
    items: Sequence[Any] = ()
    _view: Any = None
    _viewed: Any = None

    def __getitem__(self, window: Any) -> Any:
        if self._viewed is not self.items:
            self._viewed = self.items
            raw = self.items if self.keys is None else _ByKey(self.items, self.keys)
            self._view = self.data.view_fn(raw)
        return self._view

    def is_globally_windowed(self) -> bool:
        """Never: an invoker would keep what it has seen first."""
        return False

    def reset(self) -> None:
        """Nothing: what is seen is set before."""


class _ByKey:
    """Pairs as the values of each key, which is known by its bytes."""

    def __init__(self, pairs: Iterable[tuple[Any, Any]], coder: Any) -> None:
        self._encode: Callable[[Any], bytes] = coder.encode
        self._values: dict[bytes, list[Any]] = defaultdict(list)
        for key, value in pairs:
            self._values[self._encode(key)].append(value)

    def __getitem__(self, key: Any) -> list[Any]:
        return self._values.get(self._encode(key), [])


@attrs.define
class Opened:
    """Steps in the process that runs them.

    Args:
        entry: Beam's consumer set that elements enter.
        first: The operation of the first step.
        ordered: All operations, each after the one that it reads from.
        sides: The side inputs of the first.
        outputs: What came out, by collection.
        deferred: Where splittable functions leave what they have not done.
    """

    entry: Any
    first: Any
    ordered: Sequence[Any]
    sides: Sequence[SideInputStep]
    outputs: Mapping[str, list[Any]]
    deferred: ExecutionContext

    def start_bundle(self) -> None:
        for operation in reversed(self.ordered):
            operation.start()

    def finish_bundle(self) -> None:
        self.entry.flush()
        for operation in self.ordered:
            operation.finish()

    def finalize(self) -> None:
        """Call what was registered for the time after the bundle. As in Beam that is best effort:
        what it raises is logged by Beam, or passed over."""
        for operation in self.ordered:
            if operation.needs_finalization():
                operation.finalize_bundle()

    def teardown(self) -> None:
        for operation in self.ordered:
            operation.teardown()


class Opening:
    """What opens steps in a process, ends their bundles and closes them. `setup` sets both."""

    _opened: Opened | None
    _sampler: Sampler

    @property
    def _open(self) -> Opened:
        assert self._opened is not None, "it is set up before"
        return self._opened

    def _end_bundle(self, taken: Callable[[], Iterable[T]]) -> list[T]:
        """End a bundle; what came out, as the function takes it, before it is finalized."""
        with self._sampler:
            self._open.finish_bundle()
        outputs = [*taken()]
        with self._sampler:
            self._open.finalize()
        self._sampler.flush()
        return outputs

    def teardown(self) -> None:
        """Close the steps, if they were opened."""
        if self._opened is not None:
            with self._sampler:
                self._opened.teardown()
            self._opened = None


class _ToItsEnd(operations.Operation):  # type: ignore[misc]
    """Gives elements to a splittable function until nothing is left of them."""

    def __init__(self, step: Step, sampler: Sampler, operation: Any, deferred: Any) -> None:
        super().__init__(NameContext(step.label), _NO_SPEC, sampler.counters, sampler.states)
        self._operation, self._deferred = operation, deferred
        self._restrictions = step.restrictions()

    def process(self, element: Any) -> None:
        todo = [*self._restrictions.parts(element)]
        while todo:
            rest = self._restrictions.left(todo.pop(0))
            if rest is None:
                continue
            self._operation.process(rest.sized)
            if self._operation.needs_finalization():
                self._operation.finalize_bundle()
            for _, residual in self._deferred.delayed_applications:
                time.sleep(delay_ms(residual) / 1_000)
                todo.append(rest.left_by(residual))
            self._deferred.delayed_applications.clear()


def opened(
    steps: Sequence[Step],
    source: str,
    wanted: Iterable[str],
    sampler: Sampler,
    user_state: Any = None,
    outputs: Mapping[str, OutputStep] | None = None,
) -> Opened:
    """The operations of steps, set up.

    Args:
        steps: Each after the one that it reads from.
        source: The collection that enters them.
        wanted: The collections that leave them.
        sampler: Where metrics are counted.
        user_state: Of a stateful function: gives it its states and timers.
        outputs: What keeps them, where that is not `OutputStep`.
    """
    if outputs is None:
        outputs = {name: OutputStep(sampler, name) for name in wanted}
    consumers: dict[str, list[Any]] = {name: [out] for name, out in outputs.items()}
    deferred, sides, ordered = ExecutionContext(), list[SideInputStep](), list[Any]()
    first: Any = None
    for step in reversed(steps):
        if step.assigns is not None:
            operation: Any = _WindowInto(step, sampler)
            tags = list(step.outputs)
        else:
            sides, operation = _pardo(step, sampler, user_state)
            tags = list(operation.spec.output_tags)
        operation.execution_context = deferred
        operation.receivers = [
            _receiver(operation, number, consumers.get(step.outputs[tag], []))
            for number, tag in enumerate(tags)
        ]
        operation.setup()
        sampler.add(step.label, operation.metrics_container)
        ordered.append(operation)
        first = operation
        if step.splits and not step.saves_the_rest:
            first = _ToItsEnd(step, sampler, operation, deferred)
        consumers.setdefault(step.source, []).insert(0, first)
    ordered.reverse()
    held = {name: out.elements for name, out in outputs.items()}
    entering = consumers.get(source, [])
    entry = operations.ConsumerSet.create(sampler.counters, source, 0, entering, None, {}, None)
    return Opened(entry, first, ordered, sides, held, deferred)


def _pardo(step: Step, sampler: Sampler, user_state: Any) -> tuple[list[SideInputStep], Any]:
    fn, args, kwargs, views, windowing = step.function
    spec = operation_specs.WorkerDoFn(
        serialized_fn=pickler.dumps((fn, args, kwargs, None, windowing)),
        output_tags=list(step.outputs),
        input=None,
        side_inputs=None,
        output_coders=None,
    )
    sides = [SideInputStep(data, keys) for data, keys in views]
    name = NameContext(step.label, step.label)
    cls = operations.SdfProcessSizedElements if step.splits else operations.DoOperation
    return sides, cls(name, spec, sampler.counters, sampler.states, sides, user_state)


def _receiver(operation: Any, number: int, consumers: list[Any]) -> Any:
    hints = operation._get_runtime_performance_hints()
    # Elements are measured, and their types checked, only where the options ask for it.
    coder = None
    if hints:
        coder = coders.WindowedValueCoder(coders.FastPrimitivesCoder())
    return operations.ConsumerSet.create(
        operation.counter_factory,
        operation.name_context.logging_name(),
        number,
        consumers,
        coder,
        hints,
        operation.get_output_batch_converter(),
    )
