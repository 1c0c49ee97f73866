"""A verb that is called on a collection: what it applies, and the errors that name it."""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from copy import copy
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import FlatMap, Map
from beamlike.api.pipelines.groups import CombineGlobally, CombinePerKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.windowing import Flatten
from beamlike.errors import BeamlikeError, PipelineError
from beamlike.model.combine import CombineFn

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import SCollection

T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")


class NamedNext(PCollection[T_co], Generic[T_co]):
    """A collection that may know how the next verb called on it is named, and how it combines."""

    next_name: str | None = None
    """The name that `with_name` set for the next verb."""
    next_fanout: Any = None
    """The fanout of what the next verb combines: a number, or a function from a key to it."""


class Call:
    """One call of a verb.

    Args:
        collection: The collection that the verb was called on.
        verb: The verb, which is the name in the pipeline. A number is added if that is taken.
        fn: A function of the user's, to be named beside the verb.
    """

    def __init__(self, collection: Any, verb: str, fn: Any = None) -> None:
        self.collection: SCollection[Any] = collection
        self.verb, self.fn = verb, fn

    @property
    def name(self) -> str:
        """The full name in the pipeline, without that of the function."""
        return self._full_name(None)

    @property
    def label(self) -> str:
        """The full name in the pipeline."""
        return self._full_name(self.fn)

    def apply(self, transform: PTransform[Any, Any]) -> Any:
        """Apply a transform under the name of the verb."""
        return self.collection | self._own_name(self.fn) >> transform

    def composed(self, build: "Callable[[SCollection[Any]], U]") -> U:
        """Apply several transforms, which ``build`` says, under the name of the verb."""
        return cast(U, self.apply(_Composed(build)))

    def map(self, fn: Callable[..., Any]) -> Any:
        """Each element becomes what a function makes of it."""
        return self.apply(Map(fn))

    def flat_map(self, fn: Callable[..., Any]) -> Any:
        """Each element becomes what a function lists."""
        return self.apply(FlatMap(fn))

    def apply_dofn(self, fn: "DoFn[Any, Any]") -> Any:
        """Each element becomes what a `DoFn` answers."""
        return self.apply(ParDo(fn))

    def checked(self, fn: Callable[..., U]) -> Callable[..., U]:
        """The function, if it is one."""
        if not callable(fn):
            raise self.error(
                f" needs a function, got {fn!r}; write the name of a function or a lambda"
            )
        return fn

    def listing(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A function that lists what the verb makes of an element; it may take more beside it."""
        return _LISTING[self.verb](self.checked(fn))

    def other(self, rhs: Any) -> Any:
        """The other collection that the verb takes, if it is one with verbs."""
        if not isinstance(rhs, NamedNext):
            hint = f"; {_with_verbs(rhs)}" if isinstance(rhs, PCollection) else ""
            raise self.error(f" needs another collection, got {rhs!r}{hint}")
        return rhs

    def naming_the_verb(self, make: Callable[[], U]) -> U:
        """What ``make`` returns; an error of it about its arguments names the verb."""
        try:
            return make()
        except PipelineError:
            raise
        except BeamlikeError as error:
            raise self.error(f": {error}") from error

    def error(self, problem: str) -> PipelineError:
        """An error whose text begins with the name of the verb."""
        return PipelineError(f"{self.name!r}{problem}")

    def _full_name(self, fn: Any) -> str:
        scope, name = self.collection.pipeline.label, self._own_name(fn)
        return f"{scope}/{name}" if scope else name

    def _own_name(self, fn: Any) -> str:
        if (next_name := self.collection.next_name) is not None:
            return next_name
        function = getattr(fn, "__name__", "")
        name = f"{self.verb}({function})" if function else self.verb
        return self.collection.pipeline.free_label(name)


class WithFunctions(Generic[T_co]):
    """A collection whose functions take more than an element."""

    def __init__(self, collection: "SCollection[T_co]") -> None:
        self._collection = collection

    def with_name(self, name: str) -> Self:
        """The same collection; the next verb that is called on it has this name."""
        return self._over(named(self._collection, checked_name(name)))

    def _over(self, collection: Any) -> Self:
        """Functions of the same kind over another collection."""
        same = copy(self)
        same._collection = collection
        return same


def named(collection: Any, name: str | None) -> "SCollection[Any]":
    """A copy of the collection, with this name for the next verb."""
    source: SCollection[Any] = collection
    renamed = type(source)(source.pipeline, source.edge, source.windowing, source.is_bounded)
    renamed.next_name, renamed.next_fanout = name, source.next_fanout
    return renamed


def unnamed(collection: Any) -> "SCollection[Any]":
    """The collection, without a name that no verb has taken."""
    return cast(
        "SCollection[Any]", collection if collection.next_name is None else named(collection, None)
    )


def checked_name(name: str) -> str:
    """A name for the next verb, if it is one."""
    if not isinstance(name, str) or not name:
        raise PipelineError(f"with_name needs a text, got {name!r}")
    return name


def union(collections: Iterable[Any], verb: str) -> "SCollection[Any]":
    """Several collections as one."""
    collections = list(collections) if isinstance(collections, Iterable) else [collections]
    for collection in collections:
        if not isinstance(collection, NamedNext):
            raise PipelineError(
                f"{verb} needs collections of a pipeline, got {collection!r}; "
                f"{_with_verbs(collection)}"
            )
    name = Call(collections[0], verb)._own_name(None)
    return cast("SCollection[Any]", tuple(collections) | name >> Flatten())


def combined(pairs: Any, fn: CombineFn) -> Any:
    """The values of each key and pane made into one."""
    combine = CombinePerKey[Any](fn)
    if (fanout := _fanout.get()) is not None:
        combine = combine.with_hot_key_fanout(fanout)
    return Call(pairs, "Combine").apply(combine)


def combined_globally(collection: Any, fn: CombineFn, *, has_default: bool) -> Any:
    """All elements of each pane made into one."""
    combine = CombineGlobally[Any](fn)
    if (fanout := _fanout.get()) is not None:
        combine = combine.with_fanout(fanout)
    return Call(collection, "Combine").apply(combine if has_default else combine.without_defaults())


def composite(build: Callable[..., Any]) -> Callable[..., Any]:
    """What a verb does that is made of others: ``build`` says of which, for a collection and the
    arguments of the verb."""
    return lambda call, *arguments: call.composed(lambda elements: build(elements, *arguments))


_LISTING: Final[dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]]] = {
    "map": lambda fn: lambda element, *sides: (fn(element, *sides),),
    "flat_map": lambda fn: fn,
    "filter": lambda fn: lambda element, *sides: (element,) if fn(element, *sides) else (),
    "filter_not": lambda fn: lambda element: () if fn(element) else (element,),
    "collect": lambda fn: (
        lambda element, *sides: [value for value in (fn(element, *sides),) if value is not None]
    ),
    "key_by": lambda fn: lambda element, *sides: ((fn(element, *sides), element),),
}


def _with_verbs(collection: Any) -> str:
    """How to make a collection with verbs of something else."""
    if isinstance(collection, PCollection):
        return "give a collection of Beam's its verbs with sc.wrap(collection)"
    return "make one of elements with sc.parallelize([...])"


_fanout: ContextVar[Any] = ContextVar("fanout", default=None)
"""The fanout of what the verb combines that is being applied."""


class _Composed(PTransform[Any, Any]):
    def __init__(self, build: Callable[[Any], Any]) -> None:
        self._build = build

    def expand(self, collection: Any) -> Any:
        fanout = getattr(collection, "next_fanout", None)
        before = _fanout.set(_fanout.get() if fanout is None else fanout)
        try:
            return self._build(unnamed(collection))
        finally:
            _fanout.reset(before)
