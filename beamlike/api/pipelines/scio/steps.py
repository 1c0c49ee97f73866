"""What every verb is made of: a transform with a generated name."""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

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
T = TypeVar("T")
U = TypeVar("U")
C = TypeVar("C")
K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")
X = TypeVar("X")
Y = TypeVar("Y")


class Verbs(Generic[T_co]):
    """A collection, as its verbs see it: `SCollection` inherits all of them."""

    next_name: str | None = None
    """The name that `with_name` set for the next verb."""
    next_fanout: Any = None
    """The fanout of what the next verb combines: a number, or a function from a key to it."""


Keyed = Verbs[tuple[K, V]]
"""A collection of pairs of key and value."""


def here(collection: Verbs[T]) -> "SCollection[T]":
    """The collection that a verb was called on."""
    return cast("SCollection[T]", collection)


def named(collection: Verbs[T], name: str | None) -> "SCollection[T]":
    """The same collection, with this name for the next verb."""
    source = here(collection)
    copy = type(source)(source.pipeline, source.edge, source.windowing, source.is_bounded)
    copy.next_name, copy.next_fanout = name, collection.next_fanout
    return copy


def with_next_fanout(collection: Verbs[T], fanout: Any) -> "SCollection[T]":
    """A copy of the collection, with a fanout for what the next verb combines."""
    copy = named(collection, collection.next_name)
    copy.next_fanout = fanout
    return copy


def checked_name(name: str) -> str:
    """A name for the next verb, if it is one.

    Raises:
        PipelineError: It is no text, or empty.
    """
    if not isinstance(name, str) or not name:
        raise PipelineError(f"with_name needs a text, got {name!r}")
    return name


def unnamed(collection: Verbs[T]) -> "SCollection[T]":
    """The same collection, without a name that no verb has taken."""
    return here(collection) if collection.next_name is None else named(collection, None)


def stepped(
    collection: Verbs[Any], verb: str, transform: PTransform[Any, Any], fn: Any = None
) -> Any:
    """Apply a transform under the name of a verb.

    Args:
        collection: What it is applied to.
        verb: The verb. A number is added if the pipeline has that name already.
        transform: What is applied.
        fn: A function of the user's, to be named beside the verb.
    """
    return here(collection) | _name(collection, verb, fn) >> transform


def composed(
    collection: Verbs[T], verb: str, build: "Callable[[SCollection[T]], U]", fn: Any = None
) -> U:
    """Apply several transforms, which `build` says, under the name of one verb."""
    return cast(U, stepped(collection, verb, _Composed(build), fn))


def mapped(
    collection: Verbs[T], verb: str, fn: Callable[[T], U], of: Any = None
) -> "SCollection[U]":
    """Each element becomes what a function makes of it; ``of`` is the user's, for the name."""
    return cast("SCollection[U]", stepped(collection, verb, Map(fn), of))


def flat_mapped(
    collection: Verbs[T], verb: str, fn: Callable[[T], Iterable[U] | None], of: Any = None
) -> "SCollection[U]":
    """Each element becomes what a function lists."""
    return cast("SCollection[U]", stepped(collection, verb, FlatMap(fn), of))


def done(collection: Verbs[T], verb: str, fn: "DoFn[T, U]", of: Any = None) -> "SCollection[U]":
    """Each element becomes what a `DoFn` answers."""
    return cast("SCollection[U]", stepped(collection, verb, ParDo(fn), of))


def combined(collection: Verbs[tuple[K, V]], fn: "CombineFn") -> "SCollection[tuple[K, Any]]":
    """The values of each key and pane made into one."""
    combine = CombinePerKey[Any](fn)
    if (fanout := _fanout.get()) is not None:
        combine = combine.with_hot_key_fanout(fanout)
    return cast("SCollection[tuple[K, Any]]", stepped(collection, "Combine", combine))


def combined_globally(
    collection: Verbs[Any], fn: "CombineFn", *, has_default: bool
) -> "SCollection[Any]":
    """All elements of each pane made into one."""
    combine = CombineGlobally[Any](fn)
    if (fanout := _fanout.get()) is not None:
        combine = combine.with_fanout(fanout)
    globally = combine if has_default else combine.without_defaults()
    return cast("SCollection[Any]", stepped(collection, "Combine", globally))


def joined(collections: Iterable[Verbs[T]], verb: str) -> "SCollection[T]":
    """Several collections as one.

    Raises:
        PipelineError: One of them is none.
    """
    collections = list(collections) if isinstance(collections, Iterable) else [collections]
    for each in collections:
        if not isinstance(each, Verbs):
            raise PipelineError(
                f"{verb} needs collections of a pipeline, got {each!r}; {_made_with(each)}"
            )
    all_of = tuple(here(each) for each in collections)
    return cast("SCollection[T]", all_of | _name(all_of[0], verb) >> Flatten())


def listing(collection: Verbs[Any], verb: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """What lists what a verb makes of an element, of which its function may take more beside it.

    Raises:
        PipelineError: The function is none.
    """
    return _LISTING[verb](checked(collection, verb, fn))


def _collecting(fn: Callable[..., Any]) -> Callable[..., Any]:
    def collected(element: Any, *beside: Any) -> tuple[Any, ...]:
        value = fn(element, *beside)
        return () if value is None else (value,)

    return collected


_LISTING: Final[dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]]] = {
    "map": lambda fn: lambda element, *beside: (fn(element, *beside),),
    "flat_map": lambda fn: fn,
    "filter": lambda fn: lambda element, *beside: (element,) if fn(element, *beside) else (),
    "filter_not": lambda fn: lambda element: () if fn(element) else (element,),
    "collect": _collecting,
    "key_by": lambda fn: lambda element, *beside: ((fn(element, *beside), element),),
}


def checked(collection: Verbs[Any], verb: str, fn: Callable[..., U]) -> Callable[..., U]:
    """The function, if it is one.

    Raises:
        PipelineError: It is none.
    """
    if not callable(fn):
        raise PipelineError(
            f"{full_name(collection, verb)!r} needs a function, got {fn!r}; write the name of a "
            "function or a lambda"
        )
    return fn


def other(collection: Verbs[Any], verb: str, rhs: Any) -> Any:
    """The other collection that a verb takes, if it is one.

    Raises:
        PipelineError: It is none.
    """
    if not isinstance(rhs, Verbs):
        hint = f"; {_made_with(rhs)}" if isinstance(rhs, PCollection) else ""
        raise PipelineError(
            f"{full_name(collection, verb)!r} needs another collection, got {rhs!r}{hint}"
        )
    return rhs


def _made_with(collection: Any) -> str:
    """How to make a collection with verbs of something else."""
    if isinstance(collection, PCollection):
        return "give a collection of Beam's its verbs with sc.wrap(collection)"
    return "make one of elements with sc.parallelize([...])"


def made(collection: Verbs[Any], verb: str, make: Callable[[], U]) -> U:
    """What `make` makes.

    Raises:
        PipelineError: It was given what it cannot take, in its own words, for the verb.
    """
    try:
        return make()
    except PipelineError:
        raise
    except BeamlikeError as error:
        raise PipelineError(f"{full_name(collection, verb)!r}: {error}") from error


def full_name(collection: Verbs[Any], verb: str, fn: Any = None) -> str:
    """The full name that the verb would have in the pipeline."""
    scope = here(collection).pipeline.label
    return f"{scope}/{_name(collection, verb, fn)}" if scope else _name(collection, verb, fn)


def _name(collection: Verbs[Any], verb: str, fn: Any = None) -> str:
    if collection.next_name is not None:
        return collection.next_name
    pipeline = here(collection).pipeline
    of = getattr(fn, "__name__", "")
    name = f"{verb}({of})" if of else verb
    return free_label(pipeline, name)


def free_label(pipeline: Any, name: str) -> str:
    """The name, with a number after it if the pipeline has one like it where it stands."""
    label: str = pipeline.free_label(name)
    return label


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
