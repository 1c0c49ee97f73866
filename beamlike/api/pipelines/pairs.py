"""Transforms of pairs, and those that take collections apart.

Source: Beam Python ``transforms.util`` and ``core.Partition``.
"""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Generic, Protocol, overload

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.dofn import TaggedOutput
from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.variables import K, R, T
from beamlike.errors import PipelineError, PipelineTypeError

__all__ = [
    "FlatMapTuple",
    "Keys",
    "KvSwap",
    "MapTuple",
    "Partition",
    "PartitionFn",
    "Reshuffle",
    "Values",
    "WithKeys",
]


def _checked(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"pairs of key and value are needed, not {pair!r}")
    return pair


class Keys(PTransform[Any, Any]):
    """The first of each pair."""

    def expand(self, pcoll: PCollection[tuple[K, Any]]) -> PCollection[K]:
        return pcoll | "Keys" >> Map(lambda pair: _checked(pair)[0])


class Values(PTransform[Any, Any]):
    """The second of each pair."""

    def expand(self, pcoll: PCollection[tuple[Any, T]]) -> PCollection[T]:
        return pcoll | "Values" >> Map(lambda pair: _checked(pair)[1])


class KvSwap(PTransform[Any, Any]):
    """Each pair the other way round."""

    def expand(self, pcoll: PCollection[tuple[K, T]]) -> PCollection[tuple[T, K]]:
        return pcoll | "KvSwap" >> Map(lambda pair: _checked(pair)[::-1])


class WithKeys(PTransform[Any, Any], Generic[K]):
    """Each element as a pair with a key: what a function makes of it, or the same for all.

    Args:
        key: A function of the element, or a key.
        args: Given to each call of the function after the element; side inputs may be among
            them.
        kwargs: Likewise.
    """

    @overload
    def __init__(self, key: Callable[..., K], *args: Any, **kwargs: Any) -> None: ...

    @overload
    def __init__(self, key: K) -> None: ...

    def __init__(self, key: Any, *args: Any, **kwargs: Any) -> None:
        self.key = key
        self.args, self.kwargs = args, kwargs
        if not callable(key) and (args or kwargs):
            raise PipelineError(
                f"WithKeys has the key {key!r} for all elements, and so no use for arguments; "
                "give it a function of the element"
            )

    def default_label(self) -> str:
        return f"WithKeys({function_label(self.key)})"

    def expand(self, pcoll: PCollection[T]) -> PCollection[tuple[K, T]]:
        key = self.key
        if not callable(key):
            return pcoll | "AddKey" >> Map(lambda element: (key, element))

        def keyed(element: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
            return key(element, *args, **kwargs), element

        return pcoll | "AddKeys" >> Map[Any, Any](keyed, *self.args, **self.kwargs)


class MapTuple(Map[Any, R]):
    """As `Map`, for elements that are tuples: the function is given their parts."""

    def __init__(self, fn: Callable[..., R], *args: Any, **kwargs: Any) -> None:
        super().__init__(_Opened(fn, type(self).__name__), *args, **kwargs)
        self.function = fn


class FlatMapTuple(FlatMap[Any, R]):
    """As `FlatMap`, for elements that are tuples: the function is given their parts."""

    def __init__(self, fn: Callable[..., Iterable[R] | None], *args: Any, **kwargs: Any) -> None:
        super().__init__(_Opened(fn, type(self).__name__), *args, **kwargs)
        self.function = fn


class _Opened:
    opens = True

    def __init__(self, fn: Callable[..., Any], owner: str) -> None:
        if not callable(fn):
            raise PipelineTypeError(f"{owner} needs a function, got {fn!r}")
        self.fn = fn
        # It is the function's own parameters that say what it asks for.
        self.__wrapped__ = fn

    def __call__(self, element: tuple[Any, ...], *args: Any, **kwargs: Any) -> Any:
        return self.fn(*element, *args, **kwargs)


class PartitionFn(Protocol):
    """Says which part an element belongs to."""

    def partition_for(
        self, element: Any, num_partitions: int, *args: Any, **kwargs: Any
    ) -> int: ...


class Partition(PTransform[Any, Any]):
    """A collection taken apart: each element goes where a function says.

    ``few, many = words | Partition(lambda word, n: int(len(word) > 9), 2)``

    Args:
        fn: Called with an element and the number of parts; answers with one of 0 to that number
            less 1. Or a `PartitionFn`.
        number: How many parts there are.
        args: Given to each call after these; side inputs may be among them.
        kwargs: Likewise.

    Raises:
        PipelineError: The number is no whole number of 1 or more; at run: the function answers
            with no part.
    """

    def __init__(
        self, fn: Callable[..., int] | PartitionFn, number: int, *args: Any, **kwargs: Any
    ) -> None:
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise PipelineError(
                f"Partition needs 1 part or more, got {number!r}; write Partition(fn, 2)"
            )
        self.fn, self.number = fn, number
        self.args, self.kwargs = args, kwargs
        called = getattr(fn, "partition_for", fn)
        if not callable(called):
            raise PipelineTypeError(f"Partition needs a function, got {fn!r}")
        self.called: Callable[..., int] = called

    def default_label(self) -> str:
        return f"Partition({function_label(self.fn)})"

    def expand(self, pcoll: PCollection[T]) -> tuple[PCollection[T], ...]:
        tags = [str(index) for index in range(self.number)]
        called, number, label = self.called, self.number, pcoll.pipeline.label

        def part(element: Any, *args: Any, **kwargs: Any) -> Iterable[TaggedOutput]:
            index = called(element, number, *args, **kwargs)
            # True and False are parts too: a condition takes a collection apart in two.
            if not isinstance(index, Integral):
                raise PipelineError(
                    f"{label!r}: PartitionFn yielded a '{type(index).__name__}' when it should "
                    f"only yield integers, {index!r} for {element!r}"
                )
            if not 0 <= index < number:
                raise PipelineError(
                    f"{label!r} put {element!r} into the part {index!r}, and its parts are 0 to "
                    f"{number - 1}; answer with one of them"
                )
            yield TaggedOutput(str(int(index)), element)

        parts = FlatMap[Any, Any](part, *self.args, **self.kwargs)
        outputs = pcoll | "Part" >> parts.with_outputs(*tags)
        return tuple(outputs[tag] for tag in tags)


class Reshuffle(PTransform[Any, Any]):
    """The same elements. In Beam it says where work is spread anew, which hosts decide here.

    Args:
        num_buckets: How many keys Beam spreads the elements over. It has no effect and is warned
            of: what follows is not held to so many tasks.
    """

    def __init__(self, num_buckets: int | None = None) -> None:
        super().__init__()
        if num_buckets is not None and (not isinstance(num_buckets, int) or num_buckets < 1):
            raise PipelineError(
                "If `num_buckets` is set, it has to be an integer greater than 0, got "
                f"{num_buckets}"
            )
        if num_buckets is not None:
            why = "elements stay in their tasks, and what follows is not held to so many of them"
            warn_of_hint("Reshuffle", "num_buckets", num_buckets, why)
        self.num_buckets = num_buckets

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        return pcoll
