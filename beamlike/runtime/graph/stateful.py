"""Nodes that keep state: each has a machine, and a stage that keeps its state by key."""

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from itertools import repeat
from typing import Any

import attrs

from beamlike.errors import (
    BeamlikeError,
    PipelineError,
    TransformError,
    UserFunctionError,
    because_of,
)
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.bundle import Bundle, Retraction, Spans, Windowed
from beamlike.model.column_bundle import ColumnBundle
from beamlike.model.combine import Collect
from beamlike.model.copies import own_copy
from beamlike.model.graph import MAIN, GroupNode, Node, StatefulParDoNode
from beamlike.model.options import LateCheck
from beamlike.model.resolution import Resolution
from beamlike.model.windows import GlobalWindow
from beamlike.runtime.graph.keys import UncertainKeyError, UnfitKeyError, key_bytes, key_of
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.graph.worker import Recorded, Tagged, Worker
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Machine, Run, ScriptStep
from beamlike.safe_text import USER_RAISED, problem_of, short_repr


def folds_parts(node: Node) -> bool:
    """Whether a node may take a step in parts and emit the same panes, while nothing can be late.

    It may if only the watermark makes panes, and windows do not merge: the identity of a session
    may depend on which elements arrive together. A grouping that lists its values keeps them all
    anyway, so it takes them at once.
    """
    if not isinstance(node, GroupNode):
        return False
    strategy, combine = node.strategy, node.combine
    lists_values = isinstance(combine, Collect) or combine.evicts
    if lists_values or strategy.is_merging or strategy.late_check is LateCheck.MERGED:
        return False
    return not (strategy.trigger.needs_clock or strategy.trigger.fires_on_arrival)


def is_before_all_windows(watermark: int) -> bool:
    """Whether no window can have ended at this watermark (ticks): a source that ends by itself has
    it before its end."""
    return any(watermark == unit.earliest for unit in Resolution)


@attrs.frozen
class Keyed:
    """The elements of a bundle for a machine, by key, in columns.

    ``declared`` is the declared type of all values, None if there is none. ``unassigned`` says
    which elements get their windows from the machine; None: none of them, all arrive in a window.
    """

    keys: Sequence[Hashable]
    values: Sequence[Any]
    timestamps: Sequence[int]
    windows: Spans
    declared: type | None = None
    unassigned: Sequence[bool] | None = None

    @classmethod
    def of_pairs(
        cls, bundle: Bundle, windows: Spans, declared: type | None = None, *, assigns: bool
    ) -> "Keyed":
        """Pairs; the machine ``assigns`` the windows of those in the global window."""
        keys, values = [key for key, _ in bundle.values], [value for _, value in bundle.values]
        unassigned = None
        if assigns:
            unassigned = [isinstance(window, GlobalWindow) for window in windows.windows()]
        return cls(keys, values, bundle.timestamps, windows, declared, unassigned)

    def elements(self) -> Iterator[tuple[Hashable, Element]]:
        """The elements one by one, each with its key."""
        unassigned = repeat(False) if self.unassigned is None else self.unassigned
        columns = self.keys, self.values, self.timestamps, self.windows.windows()
        for (key, value, ts, window), assigns in zip(
            zip(*columns, strict=True), unassigned, strict=False
        ):
            yield key, Element(value, ts, None if assigns else window)

    @property
    def objects(self) -> list[Any]:
        """The values as objects of Python, also if they are an array."""
        values: list[Any] = getattr(self.values, "tolist", lambda: [*self.values])()
        return values

    def with_objects(self) -> "Keyed":
        """These elements with values as objects of Python, unless their type is declared."""
        if self.declared is not None or isinstance(self.values, list):
            return self
        return attrs.evolve(self, values=self.objects)


class StatefulWorker(Worker, Recorded):
    """A node with a machine, which keeps state."""

    def __init__(self, node: Node, machine: Machine) -> None:
        super().__init__(node)
        self.machine = machine
        self._stage = MemoryStage(machine, watermark=self.watermark)
        self._wire = Wire.declared()
        self._keys: dict[Hashable, Hashable] = {}
        self.folds = False
        """Whether parts of a step bring out the panes of the whole, see `folds_parts`."""

    @property
    def takes_parts(self) -> bool:
        return not self.records and self.folds and is_before_all_windows(self.watermark)

    @property
    def output_watermark(self) -> int:
        return self._stage.output_watermark

    @property
    def wakes_at(self) -> int | None:
        return self._stage.wakes_at

    @property
    def run(self) -> Run:
        return self._stage.run.with_keys(self._keys.__getitem__)

    def advance_clock(self, to: int) -> Tagged:
        return self._play(AdvanceClock(to))

    def advance(self, to: int) -> Tagged:
        self.watermark = to
        return self._play(AdvanceWatermark(to))

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        keyed = self.keyed(bundles)
        # As they would come to another process.
        keyed = attrs.evolve(keyed, values=self._wire.round_trip_all(keyed.objects))
        elements = tuple([(self._known(key), element) for key, element in keyed.elements()])
        return self._play(Arrive(elements)) if elements else ()  # some are in no window

    def _known(self, key: Hashable) -> Hashable:
        """A value that is equal for equal keys, and for no others."""
        if type(key) is str:  # most are; other keys are known by bytes, which equal no text
            return self._keys.setdefault(key, key)
        coders = self._wire.coders
        try:
            blob = key_bytes(key, coders)
            known: Hashable = blob
            if coders and blob not in self._keys:
                key = key_of(blob, coders)
        except UncertainKeyError:
            raise
        except PipelineError:
            if not _is_compared_by_value(key):
                raise
            # In this process it is what it is; it could not go to another one.
            return self._compared(key)
        self._keys.setdefault(known, key)
        return known

    def _compared(self, key: Hashable) -> Hashable:
        """A key that is compared by the ``==`` of its class."""
        try:
            first = self._keys.setdefault(key, key)
            is_found = hash(key) == hash(key) and first == key and key in self._keys
        except USER_RAISED as cause:
            raise UnfitKeyError(
                f"the key {short_repr(key)} cannot be compared: {problem_of(cause)}; mend "
                f"__eq__ and __hash__ of {type(key).__name__}, or use a text or a number"
            ) from cause
        if not is_found:
            raise UnfitKeyError(
                f"the key {short_repr(key)} is not equal to itself, or has another hash each "
                f"time; mend __eq__ and __hash__ of {type(key).__name__}, or use a text or a number"
            )
        return key

    def _play(self, step: ScriptStep) -> Tagged:
        self._stage.records = self.records
        bundle = Bundle()
        try:
            outputs = self._stage.play(step)
        except UserFunctionError as error:
            # The stage knows the key by another name.
            raise error.of_key(self._keys[error.known_key]) from error.__cause__
        for output in outputs:
            key = self._keys[output.key]
            if isinstance(output.effect, Drop):
                self._drops.append((key, output.effect))
            else:
                bundle.append(self.shown(key, output.effect))
        bundle.extend(self.closing())
        return (
            [(MAIN, bundle.with_values(self._wire.round_trip_all(bundle.values)))] if bundle else []
        )

    @abstractmethod
    def keyed(self, bundles: Sequence[Bundle]) -> Keyed:
        """What the machine is given of the elements, in columns."""

    @abstractmethod
    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        """The element that a pane of the machine becomes."""

    def closing(self) -> Bundle:
        """The elements that come out at the end of a bundle."""
        return Bundle()


def _is_compared_by_value(key: Any) -> bool:
    if isinstance(key, tuple | frozenset):
        return all(map(_is_compared_by_value, key))
    compared: object = type(key).__eq__
    return compared is not object.__eq__ and type(key).__hash__ is not None


def _all_fit(values: Sequence[Any], declared: type) -> bool:
    """Whether all values are known to be of a type and to fit a column of it; see `_fits`."""
    if not {declared}.issuperset(map(type, values)):
        return False
    if declared is int:
        return not values or -(2**63) <= min(values) <= max(values) < 2**63
    return declared is not str or all(map(str.isascii, values))


def _fits(value: Any) -> bool:
    """Whether a column of its type holds a value: 64 bits of a number, text of Unicode."""
    if type(value) is int:
        return -(2**63) <= value < 2**63
    if type(value) is str and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


class GroupingWorker(StatefulWorker):
    """Groups pairs by key and window."""

    def __init__(self, node: GroupNode) -> None:
        failing = OnFailure.DROP if node.drops_failures else OnFailure.FAIL
        super().__init__(node, Grouping(node.strategy, node.combine, failing))
        self._declared, self._assigns = node.value_type, node.assigns
        self._combine = node.combine
        self.folds = folds_parts(node)

    def keyed(self, bundles: Sequence[Bundle]) -> Keyed:
        if not self._assigns and all(isinstance(part, ColumnBundle) for part in bundles[0].parts()):
            return self._keyed_columns(bundles[0])
        bundle, windows = bundles[0].one_window_each()
        self._check_pairs(bundle.values)
        return Keyed.of_pairs(bundle, windows, self._declared, assigns=self._assigns)

    def _keyed_columns(self, bundle: Bundle) -> Keyed:
        from beamlike.runtime.accumulator_columns import ARROW
        from beamlike.runtime.graph.arrow_values import (
            one_key_of,
            times_and_windows,
            values_of_pairs,
        )

        times, windows = times_and_windows(bundle)
        declared, keys = self._declared, one_key_of(bundle)
        if keys is None:
            pairs = [pair for part in bundle.parts() for pair in part.values]
            self._check_pairs(pairs)
            names, values = [key for key, _ in pairs], [value for _, value in pairs]
            return Keyed(names, values, times, windows, declared)
        # Numbers that are whole in Arrow are so in Python, whatever is declared.
        of_pairs = values_of_pairs(bundle, ARROW[declared or int])
        if isinstance(of_pairs, list):
            self._check(of_pairs)
        return Keyed(keys, of_pairs, times, windows, declared)

    def teardown(self) -> None:
        self._combine.teardown()

    def _check_pairs(self, pairs: Sequence[Any]) -> None:
        """Refuse what is not a pair, and values that are not of the declared type."""
        if not ({tuple}.issuperset(map(type, pairs)) and {2}.issuperset(map(len, pairs))):
            for value in pairs:
                if not isinstance(value, tuple) or len(value) != 2:
                    raise PipelineError(
                        f"{self.label!r} groups pairs of key and value, and got {value!r}; make "
                        "pairs before it, for example with WithKeys(...) or Map(lambda x: (key, x))"
                    )
        if self._declared is not None:
            self._check([value for _, value in pairs])

    def _check(self, values: Sequence[Any]) -> None:
        """Refuse values of another type than the declared one, or that fit no column of it."""
        declared = self._declared
        if declared is None or _all_fit(values, declared):
            return
        for value in values:
            if type(value) is not declared or not _fits(value):
                raise PipelineError(
                    f"{self.label!r} groups values that a type hint before it says are "
                    f"{declared.__name__}, and got {value!r}; mend the hint or the function, or "
                    "leave the hint out: values without one may be anything"
                )

    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        # Its items are in the accumulator, which may stand, and in those of other windows.
        pair: Any = key, own_copy(pane.value)
        value = Retraction(pair) if pane.retraction else pair
        return Windowed(value, pane.timestamp, (pane.window,), pane.info)


class StatefulParDoWorker(StatefulWorker):
    """Gives pairs, and timers that are due, to a function with states and timers."""

    def __init__(self, node: StatefulParDoNode) -> None:
        self._fn, self._tagged = node.fn, node.tagged
        windowing = node.windowing
        machine = StatefulParDo(
            windowing.window_fn,
            node.fn,
            windowing.allowed_lateness,
            OnFailure.DROP if node.drops_failures else OnFailure.FAIL,
            already_merged=windowing.already_merged,
            tagged=node.tagged,
        )
        super().__init__(node, machine)

    @property
    def outlasts_input(self) -> bool:
        return self._fn.outlasts_input

    def keyed(self, bundles: Sequence[Bundle]) -> Keyed:
        items = [(item, window) for item in bundles[0] for window in item.windows]
        return Keyed(
            [self._fn.key_of(item.value) for item, _ in items],
            [(own_copy(item.value), item.pane) for item, _ in items],
            [item.timestamp for item, _ in items],
            Spans.of(window for _, window in items),
        )

    def shown(self, key: Hashable, pane: Pane) -> Windowed:
        return Windowed(pane.value, pane.timestamp, (pane.window,), pane.info)

    def closing(self) -> Bundle:
        try:
            kept = list(self._fn.finish_bundle())
        except BeamlikeError:
            raise
        except USER_RAISED as cause:
            error = TransformError(self.label, problem_of(cause), "finish_bundle")
            raise because_of(error, cause) from cause
        bundle = Bundle()
        for tag, element in kept:
            value = (tag, element.value) if self._tagged else element.value
            bundle.append(Windowed(value, element.timestamp, element.windows, element.pane))
        return bundle

    def setup(self) -> None:
        self._fn.setup()

    def teardown(self) -> None:
        self._fn.teardown()
