"""Combine functions of Beam as those of the graph."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from beamlike.model.combine import CombineFn
from beamlike.model.copies import own_copies, own_copy
from beamlike.runners.beam.metrics import Sampler
from beamlike.runners.beam.sdk import pickler

Result = TypeVar("Result")


class Combining(CombineFn):
    """A combine function of Beam's.

    Beam lets it change accumulators, and those of the graph stay as they are: each call is given
    copies. Beam gives an accumulator that was stored to `merge_accumulators` alone; so does this.
    None is the accumulator of no elements.

    Args:
        fn: The function. It travels by Beam's pickler, and is set up where it is first called.
        label: The transform, which saved state knows it by.
        coder: How the values come in bytes; None: they come as they are.
    """

    def __init__(self, fn: Any, label: str, coder: Any = None) -> None:
        self._user_fn, self._label, self._coder = fn, label, coder
        self._is_set_up = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (pickler.dumps(self._user_fn), self._label, self._coder)

    @property
    def _fn(self) -> Any:
        if not self._is_set_up:
            self._is_set_up = True
            self._sampler = Sampler()
            self._state = self._sampler.state(self._label)
            self._user_fn.setup()
        return self._user_fn

    def _counted(self, call: Callable[[Any], Result]) -> Result:
        """What a call of the function answers. What it counts belongs to this transform."""
        fn = self._fn
        with self._sampler, self._state:
            answer = call(fn)
        self._sampler.flush_if_counted(self._label)
        return answer

    def teardown(self) -> None:
        if self._is_set_up:
            self._is_set_up = False
            self._user_fn.teardown()

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        if self._coder is not None:
            values = [*map(self._coder.decode, values)]
        added = self._counted(lambda fn: fn.add_inputs(fn.create_accumulator(), values))
        return self.merge(accumulator, added)

    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        accumulators = own_copies([first, second])
        return self._counted(lambda fn: fn.merge_accumulators(accumulators))

    def compact(self, accumulator: Any) -> Any:
        if accumulator is None:
            return None
        return self._counted(lambda fn: fn.compact(own_copy(accumulator)))

    def extract(self, accumulator: Any) -> Any:
        def extracted(fn: Any) -> Any:
            parts = [] if accumulator is None else [own_copy(accumulator)]
            merged = fn.merge_accumulators(parts) if parts else fn.create_accumulator()
            return fn.extract_output(merged)

        return self._counted(extracted)

    def __str__(self) -> str:
        return f"{type(self._user_fn).__name__} of {self._label}"


def _unpickled(blob: bytes, label: str, coder: Any) -> Combining:
    return Combining(pickler.loads(blob), label, coder)
