"""The contract of combine functions, and what they say about an empty pane."""

from abc import abstractmethod
from collections.abc import Sequence, Set
from typing import Any, ClassVar, Literal

import attrs

from beamlike.model.fingerprint import stable_repr
from beamlike.model.readable import Readable, ReadableABC

Items = tuple[Any, ...]
"""An accumulator that holds values, in order."""

WholeNumbersFold = Literal["sum", "min", "max"]
"""What makes one whole number of several."""

_SCIO_FAILS_ON_EMPTY = frozenset(
    ("sumByKey", "reduceByKey", "minByKey", "maxByKey", "combineByKey")
)


@attrs.frozen
class Stamped(metaclass=Readable):
    """A value and its event time in milliseconds."""

    value: Any
    timestamp: int


@attrs.frozen
class EmptyPane(metaclass=Readable):
    """What a combine function gives for a pane without elements.

    Args:
        value: The pane's value, as in Beam.
        scio_raises: Whether the operation of Scio that does the same fails on such a pane.
        scio_operation: The name of that operation; None if there is none.

    >>> from beamlike.combine_fns import Sum
    >>> Sum().on_empty
    EmptyPane(value=0, scio_raises=True, scio_operation='sumByKey')
    """

    value: Any
    scio_raises: bool
    scio_operation: str | None


class CombineFn(metaclass=ReadableABC):
    """Folds the elements of a pane into one value. A frozen value itself.

    Accumulators are values: ``add``, ``merge`` and ``compact`` return new ones and leave their
    arguments as they were. ``merge(a, b)`` must equal adding b's elements after a's, and a fresh
    accumulator must be neutral: windows merge in no guaranteed order. The result of an
    empty pane is that of a fresh accumulator.

    Saved state belongs to a function by ``str``. By default that is its class and its
    parameters, in words that are the same in every process.

    >>> class Longest(CombineFn):
    ...     def create(self):
    ...         return ""
    ...     def add(self, accumulator, values, timestamps):
    ...         return max([accumulator, *values], key=len)
    ...     def merge(self, first, second):
    ...         return max(first, second, key=len)
    >>> from beamlike.testing import check_combine_fn
    >>> check_combine_fn(Longest(), ["tea", "cake", "salt"])
    """

    scio_operation: ClassVar[str | None] = None
    """The operation of Scio that does the same by key, if there is one."""

    calls_users: ClassVar[bool] = False
    """Whether a function of beamlike's hands what it is given on to functions of users."""

    @abstractmethod
    def create(self) -> Any:
        """The accumulator of an empty pane."""

    @abstractmethod
    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        """The accumulator with a bundle's elements added: their values and their event times
        (ms), in order of arrival."""

    @abstractmethod
    def merge(self, first: Any, second: Any) -> Any:
        """One accumulator for the elements of two."""

    def compact(self, accumulator: Any) -> Any:
        """A smaller accumulator of the same elements; by default the one given.

        Called once a bundle's elements are added and once windows have merged. It must change
        no result: neither now, nor after more is added or merged.
        """
        return accumulator

    def extract(self, accumulator: Any) -> Any:
        """The pane's value. By default the accumulator itself."""
        return accumulator

    def teardown(self) -> None:
        """After the last call of this copy: release what it holds."""

    def for_type(self, element_type: type) -> "CombineFn":
        """What does the same for values of one type; by default this function itself."""
        return self

    def combines_early(self, types: Set[type]) -> bool:
        """Whether values of these types are combined before they are grouped.

        That pays where an accumulator is smaller than the values in it, and changes no result
        where ``merge`` keeps to its law to the last digit. Sums of floats depend on which are
        added first, so by default values are combined early unless some are floats.

        Args:
            types: Those of the values, and of the items of values that are tuples or lists.

        Source: Beam's combiner lifting.
        """
        return not any(map(_rounds, types))

    @property
    def whole_numbers_fold(self) -> WholeNumbersFold | None:
        """What some whole numbers may be replaced by before they are added, and no result
        changes: by their sum, the least or the greatest of them. None: they have to be added."""
        return None

    @property
    def evicts(self) -> bool:
        """Whether `after_pane` leaves anything out."""
        return False

    def after_pane(self, accumulator: Any) -> Any:
        """What stays of it once its pane has been given out; by default all of it.

        Called for every pane of a window that accumulates; one that discards keeps nothing. Not
        called for a pane that is not emitted. What is left out is in no later pane.

        Source: Flink ``Evictor.evictAfter``.
        """
        return accumulator

    @property
    def on_empty(self) -> EmptyPane:
        """What an empty pane gives, here and in Scio."""
        operation = self.scio_operation
        value = self.extract(self.create())
        return EmptyPane(value, operation in _SCIO_FAILS_ON_EMPTY, operation)

    def method_name(self, method: str) -> str:
        """What a method is called where its author wrote it, for messages; empty for a plain
        function."""
        return method

    def __str__(self) -> str:
        return stable_repr(self)


def _rounds(cls: type) -> bool:
    """Whether arithmetic of a class rounds; of NumPy's numbers some classes do."""
    return issubclass(cls, float | complex) or cls.__module__ == "numpy"


class ExactMerge(CombineFn):
    """A combine function whose ``merge`` is exact over values of every type."""

    def combines_early(self, types: Set[type]) -> bool:
        return True


class Listing(CombineFn):
    """A combine function whose accumulators are the items of a list. Empty pane: no item."""

    def create(self) -> Items:
        return ()

    def extract(self, accumulator: Items) -> Any:
        return list(accumulator)


class Around(CombineFn):
    """A combine function around another one, which does what a subclass does not say."""

    of: CombineFn

    def create(self) -> Any:
        return self.of.create()

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        return self.of.add(accumulator, values, timestamps)

    def merge(self, first: Any, second: Any) -> Any:
        return self.of.merge(first, second)

    def compact(self, accumulator: Any) -> Any:
        return self.of.compact(accumulator)

    def extract(self, accumulator: Any) -> Any:
        return self.of.extract(accumulator)

    def method_name(self, method: str) -> str:
        return self.of.method_name(method)

    def combines_early(self, types: Set[type]) -> bool:
        return self.of.combines_early(types)

    @property
    def evicts(self) -> bool:
        return self.of.evicts

    def after_pane(self, accumulator: Any) -> Any:
        return self.of.after_pane(accumulator)
