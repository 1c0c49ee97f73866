"""The collection that has Scio's verbs as methods, from the tables of verbs."""

from collections.abc import Callable, Iterable, Mapping, Set
from types import ModuleType
from typing import Any, Final, Generic, TextIO, TypeVar, overload

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.scio.call import NamedNext
from beamlike.api.pipelines.scio.sides import (
    SCollectionWithSideInput,
    SCollectionWithSideOutput,
    SideInput,
    SideOutput,
)
from beamlike.api.pipelines.scio.windowed import WindowedSCollection
from beamlike.api.pipelines.scio.windows import WindowOptions
from beamlike.api.pipelines.transform import Applied, KeepsElements, PTransform
from beamlike.api.pipelines.variables import Out
from beamlike.model.combine import CombineFn
from beamlike.model.panes import PaneInfo
from beamlike.model.time import DurationLike, InstantLike
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")
C = TypeVar("C")
K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")
X = TypeVar("X")
Y = TypeVar("Y")

INSTEAD: Final[dict[str, str]]
TABLES: Final[tuple[ModuleType, ...]]

class SCollection(NamedNext[T_co], Generic[T_co]):
    """A collection with Scio's verbs: ``words.map(str.lower).count_by_value()``.

    A verb is Scio's of the same name in camel case, where nothing else is said: ``map_values`` is
    ``mapValues``.

    `ScioContext` makes them, and so does each verb, and each transform of Beam's that is applied
    to one. ``sc.wrap(collection)`` makes one of a collection of Beam's, `internal` the way back.
    """
    @property
    def internal(self) -> PCollection[T_co]:
        """The same collection without the verbs."""

    # What a transform of Beam's makes of a collection with verbs has verbs.
    @overload  # type: ignore[override] # a PCollection[U] is an Out, which mypy does not see
    def __or__(self, transform: KeepsElements[T_co]) -> SCollection[T_co]: ...
    @overload
    def __or__(self, transform: Applied[PCollection[T_co], PCollection[U]]) -> SCollection[U]: ...
    @overload
    def __or__(self, transform: Applied[PCollection[T_co], Out]) -> Out: ...
    def with_name(self: SCollection[T], name: str) -> SCollection[T]:
        """The same collection; the next verb that is called on it has this name.

        A name can be used once. Without one, verbs are named after themselves and numbered.

        Raises:
            PipelineError: The name is no text, or empty.
        """
    def with_fanout(self: SCollection[T], fanout: int) -> SCollection[T]:
        """A copy of the collection: what the next verb makes of all elements is combined by so many tasks
        before it is combined by one.

        Raises:
            PipelineError: It is not a number of 1 or more; when a verb follows: elements cannot be
                combined before they are grouped.

        Source: Scio ``SCollectionWithFanout``.
        """
    def transform(self: SCollection[T], name: str, fn: Callable[[SCollection[T]], U]) -> U:
        """Several verbs under one name."""
    def apply_transform(self: SCollection[T], transform: PTransform[SCollection[T], U]) -> U:
        """A transform of Beam's, named after itself or by `with_name`."""
    def map(self: SCollection[T], fn: Callable[[T], U]) -> SCollection[U]:
        """Each element becomes what a function makes of it."""
    def flat_map(self: SCollection[T], fn: Callable[[T], Iterable[U] | None]) -> SCollection[U]:
        """Each element becomes what a function lists, None nothing."""
    def safe_flat_map(
        self: SCollection[T], fn: Callable[[T], Iterable[U] | None]
    ) -> tuple[SCollection[U], Pairs[T, Exception]]:
        """As `flat_map`, and the elements for which the function raised, each with the exception.

        Source: Scio ``safeFlatMap``, of its module ``extra``.
        """
    def filter(self: SCollection[T], fn: Callable[[T], Any]) -> SCollection[T]:
        """Elements for which a function is true."""
    def filter_not(self: SCollection[T], fn: Callable[[T], Any]) -> SCollection[T]:
        """Elements for which a function is false."""
    def collect(self: SCollection[T], fn: Callable[[T], U | None]) -> SCollection[U]:
        """What a function makes of the elements for which it is defined.

        Where Scala has a partial function, here is a function that returns None for elements without a
        case; these are left out. A ``match`` without a case for them does so by itself.
        """
    def key_by(self: SCollection[T], fn: Callable[[T], K]) -> Pairs[K, T]:
        """Each element with its key before it."""
    def tap(self: SCollection[T], fn: Callable[[T], Any]) -> SCollection[T]:
        """The same elements, each shown to a function first."""
    def debug(
        self: SCollection[T],
        out: Callable[[], TextIO] | None = None,
        prefix: str = "",
        enabled: bool = True,
    ) -> SCollection[T]:
        """The same elements, each printed. For panes, after `with_pane_info` or `with_window`.

        Args:
            out: Where to; by default the standard output.
            prefix: Printed before each element.
            enabled: False: the collection as it is.
        """
    def hash_partition(self: SCollection[T], num_partitions: int) -> tuple[SCollection[T], ...]:
        """The collection in several parts, equal elements in one. Elements are plain data."""
    def union(self: SCollection[T], *collections: SCollection[T]) -> SCollection[T]:
        """The elements of several collections as one; their windows have to be compatible.

        Source: Scio ``union``, ``++``.
        """
    def __add__(self: SCollection[T], other: SCollection[T]) -> SCollection[T]:
        """The elements of two collections as one, see `union`. Source: Scio ``++``."""
    @overload
    def partition(
        self: SCollection[T], number: Callable[[T], Any]
    ) -> tuple[SCollection[T], SCollection[T]]: ...
    @overload
    def partition(
        self: SCollection[T], number: int, fn: Callable[[T], int]
    ) -> tuple[SCollection[T], ...]:
        """The collection in several parts: ``partition(3, lambda it: it % 3)``.

        With a predicate alone, two parts: where it is true, and where it is not.

        Args:
            number: How many parts; or the predicate.
            fn: From an element to the number of its part, counted from 0.

        Raises:
            PipelineError: There would be no part.
            TransformError: In the run: there is no part of that number.
        """
    def partition_by_key(
        self: SCollection[T], keys: Iterable[K], fn: Callable[[T], K]
    ) -> dict[K, SCollection[T]]:
        """A collection for each of these keys.

        Args:
            keys: All keys that there are.
            fn: From an element to one of them.

        Raises:
            PipelineError: There are no keys.
            TransformError: In the run: an element has another key.
        """
    @overload
    def random_split(
        self: SCollection[T], weights: Iterable[float], *, seed: int | None = None
    ) -> tuple[SCollection[T], ...]: ...
    @overload
    def random_split(
        self: SCollection[T], weights: float, *, seed: int | None = None
    ) -> tuple[SCollection[T], SCollection[T]]: ...
    @overload
    def random_split(
        self: SCollection[T], weights: float, weight_b: float, *, seed: int | None = None
    ) -> tuple[SCollection[T], SCollection[T], SCollection[T]]:
        """The collection in several parts, each element in one of them by chance.

        ``random_split(0.8)`` has two parts, ``random_split(0.6, 0.2)`` three, and
        ``random_split([3, 1])`` one for each weight. Which part an element is in depends on its value
        and its event time alone, so a replay gives the same parts, and elements that are equal in both
        are in one part.

        Args:
            weights: The share of the first part, between 0 and 1; or the weight of each part.
            weight_b: The share of the second of three parts.
            seed: For another split, any whole number; by default the full name of the verb.

        Raises:
            PipelineError: The weights make no parts.
            TransformError: In the run: an element is not plain data.

        Source: Scio ``randomSplit``; its parts differ from run to run.
        """
    def save_as(
        self: SCollection[T], name: str, sink: PTransform[PCollection[T], Any] | None = None
    ) -> SCollection[T]:
        """Write the elements somewhere; a ``JobTest`` looks at them instead, under this name.

        Args:
            name: The output's.
            sink: What writes it where no test runs.

        Raises:
            PipelineError: There is neither a sink nor a test.

        Source: Scio ``saveAsCustomOutput``.
        """
    def batch(
        self: SCollection[T], batch_size: int, max_live_windows: int = 10
    ) -> SCollection[list[T]]:
        """Lists of elements of one window, for work that is cheaper for many at once.

        A list holds elements of one bundle, and comes out when it is full or at the end of the bundle,
        at the end of its window. How elements are cut into bundles is the host's.

        Args:
            batch_size: How many elements are enough.
            max_live_windows: With more windows in a bundle, the fullest list comes out early.
        """
    def batch_weighted(
        self: SCollection[T],
        batch_weight: int,
        cost: Callable[[T], int],
        max_live_windows: int = 10,
    ) -> SCollection[list[T]]:
        """Lists of elements as of `batch`; a list is full when what its elements cost is enough. Elements
        have no size in bytes, as nothing says how they would be written.
        """
    def flatten(self: SCollection[Iterable[U]]) -> SCollection[U]:
        """The items of elements that are lists."""
    def batch_by_key(
        self: Pairs[K, V], batch_size: int, max_buffering_duration: DurationLike = 0
    ) -> Pairs[K, list[V]]:
        """Lists of values of one key and window, from as many bundles as it takes.

        A list comes out with the pair that makes it full. What is left comes out when the window
        expires: its end and the allowed lateness are over. Each list is at the earliest event time in
        it. Triggers play no part.

        Args:
            batch_size: How many values are enough.
            max_buffering_duration: How long a list waits at most, in processing time, counted from its
                first value, before it comes out with what it has. 0 is no limit.

        Raises:
            PipelineError: The windows merge.

        Source: Scio ``batchByKey``, Beam Java ``GroupIntoBatches``.
        """
    def batch_weighted_by_key(
        self: Pairs[K, V],
        weight: int,
        cost: Callable[[V], int],
        max_buffering_duration: DurationLike = 0,
    ) -> Pairs[K, list[V]]:
        """Lists of values as of `batch_by_key`; a list is full when what its values cost is enough.

        A value that would make a list cost too much begins the next one.
        """
    def keys(self: Pairs[K, V]) -> SCollection[K]:
        """The keys."""
    def values(self: Pairs[K, V]) -> SCollection[V]:
        """The values."""
    def swap(self: Pairs[K, V]) -> Pairs[V, K]:
        """Keys and values in each other's place."""
    def map_keys(self: Pairs[K, V], fn: Callable[[K], U]) -> Pairs[U, V]:
        """Each key becomes what a function makes of it."""
    def map_values(self: Pairs[K, V], fn: Callable[[V], U]) -> Pairs[K, U]:
        """Each value becomes what a function makes of it."""
    def flat_map_values(self: Pairs[K, V], fn: Callable[[V], Iterable[U] | None]) -> Pairs[K, U]:
        """Each value becomes what a function lists."""
    def filter_values(self: Pairs[K, V], fn: Callable[[V], Any]) -> Pairs[K, V]:
        """Pairs for whose value a function is true."""
    def group_by_key(self: Pairs[K, V]) -> Pairs[K, list[V]]:
        """Each key with its values, for each pane. An empty pane has the empty list.

        The values have no order.
        """
    def hash_partition_by_key(self: Pairs[K, V], num_partitions: int) -> tuple[Pairs[K, V], ...]:
        """The collection in several parts, equal keys in one. Keys are plain data."""
    def with_hot_key_fanout(self: Pairs[K, V], fanout: int | Callable[[K], int]) -> Pairs[K, V]:
        """A copy of the collection: what the next verb makes of the values of a key is combined by so many
        tasks before it is combined by one; a function says for each key how many.

        Raises:
            PipelineError: It is not a number of 1 or more and not a function; when a verb follows:
                elements cannot be combined before they are grouped.
        """
    def apply_per_key(self: Pairs[K, V], fn: DoFn[Any, U]) -> SCollection[U]:
        """A `beamlike.beam.DoFn` over each pair, which may have states and timers for key and window.

        Nothing is grouped: what it answers comes out at once, in the window, at the time and of the
        pane of its pair. A pair whose window has expired is dropped, and the states of a window are
        removed then.

        Raises:
            PipelineError: The windows merge, or it is not a `DoFn`.

        Source: Scio ``applyPerKeyDoFn``.
        """
    def flatten_values(self: SCollection[tuple[K, Iterable[U]]]) -> Pairs[K, U]:
        """The items of values that are lists."""
    def group_by(self: SCollection[T], fn: Callable[[T], K]) -> Pairs[K, list[T]]:
        """The elements by key, for each pane. An empty pane has the empty list."""
    def group_map(
        self: SCollection[T], fn: Callable[[T], K], value: Callable[[T], V]
    ) -> Pairs[K, list[V]]:
        """What a function makes of the elements, by key. An empty pane has the empty list.

        Args:
            fn: From an element to its key.
            value: From an element to what is grouped.
        """
    def group_map_reduce(
        self: SCollection[T], fn: Callable[[T], K], op: Callable[[T, T], T]
    ) -> Pairs[K, T]:
        """The elements of each key combined two by two, in any order.

        Args:
            fn: From an element to its key.
            op: From two elements to one.

        Raises:
            PipelineError: The windowing cannot be grouped.
            TransformError: In the run: a pane is empty.
        """
    def with_window_fn(
        self: SCollection[T], fn: WindowFn, options: WindowOptions | None = None
    ) -> SCollection[T]:
        """Windows of a function."""
    def with_fixed_windows(
        self: SCollection[T],
        duration: DurationLike,
        offset: DurationLike = 0,
        options: WindowOptions | None = None,
    ) -> SCollection[T]:
        """Windows of one size, end to end."""
    def with_sliding_windows(
        self: SCollection[T],
        size: DurationLike,
        period: DurationLike | None = None,
        offset: DurationLike = 0,
        options: WindowOptions | None = None,
    ) -> SCollection[T]:
        """Windows of one size that overlap. Source: Scio ``withSlidingWindows``.

        Args:
            size: Of each window.
            period: From one start to the next. Default: an hour, a minute, a second or a millisecond,
                the largest that is shorter than the size. If it is longer than the size, elements in
                between are in no window and vanish.
            offset: Where windows start, less than the period.
            options: The rest.
        """
    def with_session_windows(
        self: SCollection[T], gap_duration: DurationLike, options: WindowOptions | None = None
    ) -> SCollection[T]:
        """Windows that end after a gap without elements."""
    def with_global_window(
        self: SCollection[T], options: WindowOptions | None = None
    ) -> SCollection[T]:
        """One window for everything."""
    def window_by_days(
        self: SCollection[T], number: int = 1, options: WindowOptions | None = None
    ) -> SCollection[T]:
        """Windows of whole days, UTC. Source: Scio ``windowByDays``.

        For another time zone or another first day, ``with_window_fn(CalendarDays(...))``.
        """
    def window_by_weeks(
        self: SCollection[T],
        number: int = 1,
        start_day_of_week: int = 1,
        options: WindowOptions | None = None,
    ) -> SCollection[T]:
        """Windows of whole weeks, UTC. Source: Scio ``windowByWeeks``.

        Args:
            number: Weeks in a window.
            start_day_of_week: 1, Monday, to 7, Sunday.
            options: The rest.
        """
    def window_by_months(
        self: SCollection[T], number: int = 1, options: WindowOptions | None = None
    ) -> SCollection[T]:
        """Windows of whole months, UTC."""
    def window_by_years(
        self: SCollection[T], number: int = 1, options: WindowOptions | None = None
    ) -> SCollection[T]:
        """Windows of whole years, UTC."""
    def with_timestamp(self: SCollection[T]) -> Pairs[T, int]:
        """Each element with its event time (ms)."""
    def with_pane_info(self: SCollection[T]) -> Pairs[T, PaneInfo]:
        """Each element with the pane that it came in."""
    def with_window(self: SCollection[T]) -> Pairs[T, Window]:
        """Each element with its window, once for each of them."""
    def timestamp_by(
        self: SCollection[T],
        fn: Callable[[T], InstantLike],
        allowed_timestamp_skew: DurationLike = 0,
    ) -> SCollection[T]:
        """Elements at event times that a function says. Their windows stay as they are.

        Args:
            fn: From an element to an instant.
            allowed_timestamp_skew: How far back an element may move. Moved back, it may come out late,
                and be dropped.

        Raises:
            PipelineError: In the run: an element moves back further.
        """
    def to_windowed(self: SCollection[T]) -> WindowedSCollection[T]:
        """The same elements, for functions of element, time, window and pane together."""
    def with_timestamped_values(self: Pairs[K, V]) -> Pairs[K, tuple[V, int]]:
        """Pairs, each value with its event time (ms)."""
    @overload
    def aggregate(self: SCollection[T], zero: CombineFn) -> SCollection[Any]: ...
    @overload
    def aggregate(
        self: SCollection[T], zero: U, seq_op: Callable[[U, T], U], comb_op: Callable[[U, U], U]
    ) -> SCollection[U]:
        """All elements added to a zero; or with a combine function alone, what that makes.

        Args:
            zero: A value that changes nothing when it is combined with another; or the combine
                function. An empty pane has it.
            seq_op: From an aggregate and an element to an aggregate. It may change the aggregate.
            comb_op: From two aggregates to one. It may change the first.
        """
    def fold(self: SCollection[T], zero: T, op: Callable[[T, T], T] = ...) -> SCollection[T]:
        """All elements combined with a zero.

        Args:
            zero: A value that changes nothing when it is combined with another: 0 for sums. An empty
                pane has it.
            op: From two elements to one; ``+`` by default.
        """
    def combine(
        self: SCollection[T],
        create_combiner: Callable[[T], C],
        merge_value: Callable[[C, T], C],
        merge_combiners: Callable[[C, C], C],
    ) -> SCollection[C]:
        """All elements combined, starting with the first of them. An empty pane fails."""
    def reduce(self: SCollection[T], op: Callable[[T, T], T]) -> SCollection[T]:
        """All elements combined two by two, in any order. An empty pane fails."""
    def sum(self: SCollection[T], semigroup: Callable[[T, T], T] = ...) -> SCollection[T]:
        """The sum of all elements; ``+`` by default, so classes with ``__add__`` can be summed. An empty
        pane fails. For a sum that is 0 there, ``fold(0)``.
        """
    def min(self: SCollection[T], key: Callable[[T], Any] | None = None) -> SCollection[T]:
        """The least of all elements, or that for which ``key`` is least. An empty pane fails."""
    def max(self: SCollection[T], key: Callable[[T], Any] | None = None) -> SCollection[T]:
        """The greatest of all elements, or that for which ``key`` is greatest. An empty pane fails."""
    def count(self: SCollection[T]) -> SCollection[int]:
        """How many elements there are. Empty pane: 0."""
    def top(
        self: SCollection[T],
        num: int,
        key: Callable[[T], Any] | None = None,
        *,
        reverse: bool = False,
    ) -> SCollection[list[T]]:
        """The greatest of all elements as a list, the greatest first. Empty pane: the empty list.

        Args:
            num: How many at most.
            key: From an element to what is compared in its place.
            reverse: The least instead, the least first.
        """
    def count_approx_distinct(self: SCollection[T], error: float = 0.02) -> SCollection[int]:
        """An estimate of how many of all elements are different. Empty pane: 0.

        Args:
            error: How far most estimates are off at most, from 0.01 to 0.5, as a share; or a whole
                number of 16 or more: as good as a sample of so many.
        """
    @overload
    def aggregate_by_key(self: Pairs[K, V], zero: CombineFn) -> Pairs[K, Any]: ...
    @overload
    def aggregate_by_key(
        self: Pairs[K, V], zero: U, seq_op: Callable[[U, V], U], comb_op: Callable[[U, U], U]
    ) -> Pairs[K, U]:
        """The values of each key added to a zero; or with a combine function alone, what that makes.

        Args:
            zero: A value that changes nothing when it is combined with another; or the combine
                function. An empty pane has it.
            seq_op: From an aggregate and an element to an aggregate. It may change the aggregate.
            comb_op: From two aggregates to one. It may change the first.
        """
    def fold_by_key(self: Pairs[K, V], zero: V, op: Callable[[V, V], V] = ...) -> Pairs[K, V]:
        """The values of each key combined with a zero.

        Args:
            zero: A value that changes nothing when it is combined with another: 0 for sums. An empty
                pane has it.
            op: From two elements to one; ``+`` by default.
        """
    def combine_by_key(
        self: Pairs[K, V],
        create_combiner: Callable[[V], C],
        merge_value: Callable[[C, V], C],
        merge_combiners: Callable[[C, C], C],
    ) -> Pairs[K, C]:
        """The values of each key combined, starting with the first of them. An empty pane fails."""
    def reduce_by_key(self: Pairs[K, V], op: Callable[[V, V], V]) -> Pairs[K, V]:
        """The values of each key combined two by two, in any order. An empty pane fails."""
    def sum_by_key(self: Pairs[K, V], semigroup: Callable[[V, V], V] = ...) -> Pairs[K, V]:
        """The sum of the values of each key; ``+`` by default, so classes with ``__add__`` can be summed. An empty
        pane fails. For a sum that is 0 there, ``fold_by_key(0)``.
        """
    def min_by_key(self: Pairs[K, V], key: Callable[[V], Any] | None = None) -> Pairs[K, V]:
        """The least of the values of each key, or that for which ``key`` is least. An empty pane fails."""
    def max_by_key(self: Pairs[K, V], key: Callable[[V], Any] | None = None) -> Pairs[K, V]:
        """The greatest of the values of each key, or that for which ``key`` is greatest. An empty pane fails."""
    def count_by_key(self: Pairs[K, V]) -> Pairs[K, int]:
        """How many elements of each key there are. Empty pane: 0."""
    def top_by_key(
        self: Pairs[K, V], num: int, key: Callable[[V], Any] | None = None, *, reverse: bool = False
    ) -> Pairs[K, list[V]]:
        """The greatest of the values of each key as a list, the greatest first. Empty pane: the empty list.

        Args:
            num: How many at most.
            key: From an element to what is compared in its place.
            reverse: The least instead, the least first.
        """
    def count_approx_distinct_by_key(self: Pairs[K, V], error: float = 0.02) -> Pairs[K, int]:
        """An estimate of how many of the values of each key are different. Empty pane: 0.

        Args:
            error: How far most estimates are off at most, from 0.01 to 0.5, as a share; or a whole
                number of 16 or more: as good as a sample of so many.
        """
    def mean(self: SCollection[float]) -> SCollection[float]:
        """The mean of all numbers. Empty pane: NaN."""
    def quantiles_approx(self: SCollection[float], num_quantiles: int) -> SCollection[list[float]]:
        """Estimates of so many quantiles of all numbers, 2 or more, as a list. Empty pane: the empty list."""
    def mean_by_key(self: Pairs[K, float]) -> Pairs[K, float]:
        """The mean of the values of each key. Empty pane: NaN."""
    def approx_quantiles_by_key(self: Pairs[K, float], num_quantiles: int) -> Pairs[K, list[float]]:
        """Estimates of so many quantiles of the numbers of each key, 2 or more, the least and the greatest
        number included. Empty pane: the empty list.
        """
    def latest(self: SCollection[T]) -> SCollection[T]:
        """The element with the greatest event time. An empty pane fails."""
    def count_by_value(self: SCollection[T]) -> Pairs[T, int]:
        """How often each element is there. Empty pane: 0."""
    @overload
    def sample(
        self: SCollection[T], sample_size: int, *, seed: int = 0
    ) -> SCollection[list[T]]: ...
    @overload
    def sample(
        self: SCollection[T], with_replacement: bool, /, fraction: float, seed: int | None = None
    ) -> SCollection[T]: ...
    @overload
    def sample(
        self: SCollection[T], *, with_replacement: bool, fraction: float, seed: int | None = None
    ) -> SCollection[T]:
        """Elements by chance: ``sample(10)`` of each pane, ``sample(False, 0.1)`` one by one.

        With a number alone, so many elements drawn without replacement, as one list. With a choice and
        a fraction, elements as they are, and nothing is grouped: each is drawn with that chance, or
        with replacement so often on average. Both give the same for the same elements at the same
        times. Elements are plain data.

        Args:
            sample_size: How many at most; or, before a fraction, ``with_replacement``.
            fraction: From 0 to 1, and with replacement any number of 0 or more.
            seed: For another sample, any whole number.
            with_replacement: Whether an element may be drawn several times.

        Raises:
            PipelineError: A number or a fraction that makes no sample.
            TransformError: In the run: an element is not plain data.
        """
    def take(self: SCollection[T], num: int) -> SCollection[T]:
        """Any elements, so many at most of each pane."""
    def distinct(self: SCollection[T]) -> SCollection[T]:
        """Each element once in each window: when the first pane with it comes out.

        Raises:
            PipelineError: The windows merge, and there is a trigger or an allowed lateness.

        Source: Scio ``distinct``, Beam ``Distinct``.
        """
    def distinct_by(self: SCollection[T], fn: Callable[[T], Any]) -> SCollection[T]:
        """One element of all for which a function gives the same, for each pane that has one."""
    def latest_by_key(self: Pairs[K, V]) -> Pairs[K, V]:
        """The value of each key with the greatest event time. Empty pane: None."""
    @overload
    def sample_by_key(
        self: Pairs[K, V], sample_size: int, *, seed: int = 0
    ) -> Pairs[K, list[V]]: ...
    @overload
    def sample_by_key(
        self: Pairs[K, V],
        with_replacement: bool,
        /,
        fractions: Mapping[K, float],
        seed: int | None = None,
    ) -> Pairs[K, V]: ...
    @overload
    def sample_by_key(
        self: Pairs[K, V],
        *,
        with_replacement: bool,
        fractions: Mapping[K, float],
        seed: int | None = None,
    ) -> Pairs[K, V]:
        """Values of each key by chance: ``sample_by_key(10)`` as one list for each pane, or with a choice
        and a fraction for each key pairs as they are. Empty pane: the empty list.

        Raises:
            PipelineError: A number or a fraction that makes no sample.
            TransformError: In the run: a key has no fraction, a value is not plain data.

        Source: Scio ``sampleByKey``, which gives another sample in each run.
        """
    def distinct_by_key(self: Pairs[K, V]) -> Pairs[K, V]:
        """One pair of each key, for each pane that has one."""
    @overload
    def cogroup(self: Pairs[K, V], rhs: Pairs[K, W], /) -> Pairs[K, tuple[list[V], list[W]]]: ...
    @overload
    def cogroup(
        self: Pairs[K, V], rhs: Pairs[K, W], rhs2: Pairs[K, X], /
    ) -> Pairs[K, tuple[list[V], list[W], list[X]]]: ...
    @overload
    def cogroup(
        self: Pairs[K, V], rhs: Pairs[K, W], rhs2: Pairs[K, X], rhs3: Pairs[K, Y], /
    ) -> Pairs[K, tuple[list[V], list[W], list[X], list[Y]]]: ...
    @overload
    def cogroup(self: Pairs[K, V], *rights: Pairs[K, Any]) -> Pairs[K, tuple[list[Any], ...]]:
        """Each key with the values that each collection has for it, as a tuple of lists.

        Source: Scio ``cogroup``, ``groupWith``, ``MultiJoin.cogroup``.
        """
    def join(self: Pairs[K, V], rhs: Pairs[K, W]) -> Pairs[K, tuple[V, W]]:
        """Each pair of values that both sides have for a key."""
    def left_outer_join(self: Pairs[K, V], rhs: Pairs[K, W]) -> Pairs[K, tuple[V, W | None]]:
        """Pairs of values as of `join`; a value that the right side has none for comes with None."""
    def right_outer_join(self: Pairs[K, V], rhs: Pairs[K, W]) -> Pairs[K, tuple[V | None, W]]:
        """Pairs of values as of `join`; a value that the left side has none for comes with None."""
    def full_outer_join(self: Pairs[K, V], rhs: Pairs[K, W]) -> Pairs[K, tuple[V | None, W | None]]:
        """Pairs of values as of `join`; a value that the other side has none for comes with None.

        An empty pane gives one pair of None and None, as in Scio.
        """
    def intersect_by_key(self: Pairs[K, V], rhs: SCollection[K]) -> Pairs[K, V]:
        """The pairs whose key is an element of the other collection."""
    def subtract_by_key(self: Pairs[K, V], rhs: SCollection[K]) -> Pairs[K, V]:
        """The pairs whose key is not an element of the other collection."""
    def intersection(self: SCollection[T], that: SCollection[T]) -> SCollection[T]:
        """The elements that both collections have, each once for each pane."""
    def subtract(self: SCollection[T], that: SCollection[T]) -> SCollection[T]:
        """The elements that the other collection does not have."""
    def as_singleton_side_input(self: SCollection[T], default_value: T = ...) -> SideInput[T]:
        """The one element of each window, to be looked into by `with_side_inputs`.

        Reading it fails if there are several, or none and no default.
        """
    def as_list_side_input(self: SCollection[T]) -> SideInput[list[T]]:
        """The elements of each window as a list."""
    def as_iterable_side_input(self: SCollection[T]) -> SideInput[Iterable[T]]:
        """The elements of each window, to go through."""
    def as_set_singleton_side_input(self: SCollection[T]) -> SideInput[Set[T]]:
        """The elements of each window as a set."""
    def with_side_inputs(
        self: SCollection[T], *sides: SideInput[Any]
    ) -> SCollectionWithSideInput[T]:
        """The same elements, for functions that look into side inputs.

        An element sees the latest pane, also one that is empty: a side input with a trigger and
        discarding panes needs ``on_time_behavior="fire_if_non_empty"``, or nothing is left of it at the
        end of its window.

        Raises:
            PipelineError: One of them is not a side input.
        """
    def with_side_outputs(
        self: SCollection[T], *sides: SideOutput[Any]
    ) -> SCollectionWithSideOutput[T]:
        """The same elements, for functions with more than one output.

        Raises:
            PipelineError: One of them is not a side output.
        """
    def reify_side_input_as_values(self: SCollection[T], side: SideInput[U]) -> Pairs[T, U]:
        """Each element with what it sees of a side input."""
    def reify_as_list_in_global_window(self: SCollection[T]) -> SCollection[list[T]]:
        """All elements of the global window as one list, an empty one of none."""
    def reify_as_iterable_in_global_window(self: SCollection[T]) -> SCollection[Iterable[T]]:
        """All elements of the global window as one list, an empty one of none."""
    def cross(self: SCollection[T], that: SCollection[U]) -> Pairs[T, U]:
        """Each element with each of a small collection."""
    def hash_lookup(self: SCollection[T], that: Pairs[T, V]) -> Pairs[T, list[V]]:
        """Each element with the values that a small collection has under it."""
    def hash_filter(
        self: SCollection[T], that: SCollection[T] | SideInput[Set[T]]
    ) -> SCollection[T]:
        """The elements that a small collection has too."""
    def as_map_side_input(self: Pairs[K, V]) -> SideInput[Mapping[K, V]]:
        """The pairs of each window as a mapping; reading fails if a key is there twice.

        Source: Scio ``asMapSideInput``, ``asMapSingletonSideInput``.
        """
    def as_multi_map_side_input(self: Pairs[K, V]) -> SideInput[Mapping[K, list[V]]]:
        """The pairs of each window as a mapping to lists.

        Source: Scio ``asMultiMapSideInput``, ``asMultiMapSingletonSideInput``.
        """
    def reify_as_map_in_global_window(self: Pairs[K, V]) -> SCollection[Mapping[K, V]]:
        """All pairs of the global window as one mapping; it fails if a key is there twice."""
    def reify_as_multi_map_in_global_window(self: Pairs[K, V]) -> SCollection[Mapping[K, list[V]]]:
        """All pairs of the global window as one mapping to lists."""
    def hash_join(
        self: Pairs[K, V], rhs: Pairs[K, W] | SideInput[Mapping[K, list[W]]]
    ) -> Pairs[K, tuple[V, W]]:
        """Each value with each that a small collection has for its key."""
    def hash_left_outer_join(
        self: Pairs[K, V], rhs: Pairs[K, W] | SideInput[Mapping[K, list[W]]]
    ) -> Pairs[K, tuple[V, W | None]]:
        """Values as of `hash_join`; one whose key the other side does not have comes with None."""
    def hash_intersect_by_key(
        self: Pairs[K, V], rhs: SCollection[K] | SideInput[Set[K]]
    ) -> Pairs[K, V]:
        """The pairs whose key a small collection has."""
    def hash_subtract_by_key(
        self: Pairs[K, V], rhs: SCollection[K] | SideInput[Set[K]]
    ) -> Pairs[K, V]:
        """The pairs whose key a small collection has not."""
    group_with = cogroup

Pairs = SCollection[tuple[K, V]]
