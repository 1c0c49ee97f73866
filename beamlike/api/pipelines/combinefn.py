"""Combine functions as Beam writes them, and how a grouping takes them.

Source: Beam Python ``core.CombineFn`` and ``CallableWrapperCombineFn``.
"""

import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Final, Generic

import attrs

from beamlike.api.pipelines.hints import WithTypeHints
from beamlike.api.pipelines.variables import In, R
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.model import combine as model
from beamlike.model.combine.steps import Stepwise, empty_pane, in_steps
from beamlike.model.copies import own_copies
from beamlike.model.fingerprint import stable_repr
from beamlike.safe_text import USER_RAISED, safe_str

__all__ = ["CombineFn", "combine_fn", "of_nothing"]


class CombineFn(WithTypeHints, Generic[In, R]):
    """How elements become one value, step by step: subclasses write four methods.

    Accumulators may be changed in place, as in Beam: each method is given a copy of its own.
    """

    def setup(self, *args: Any, **kwargs: Any) -> None:
        """Before a copy of the function is first used. It is given what the other methods are.

        A process may make several copies, each with its setup: each step on Spark has one.
        """

    def default_label(self) -> str:
        """What the default name of a transform calls this function.

        Source: Beam Python ``CombineFn.default_label``, which says the class alone.
        """
        return stable_repr(self)  # checkpoints know transforms by these names

    def add_inputs(
        self, mutable_accumulator: Any, elements: Iterable[In], *args: Any, **kwargs: Any
    ) -> Any:
        """The accumulator with more elements."""
        for element in elements:
            mutable_accumulator = self.add_input(mutable_accumulator, element, *args, **kwargs)
        return mutable_accumulator

    def apply(self, elements: Iterable[In], *args: Any, **kwargs: Any) -> R:
        """The value of these elements."""
        empty = self.create_accumulator(*args, **kwargs)
        full = self.add_inputs(empty, elements, *args, **kwargs)
        return self.extract_output(self.compact(full, *args, **kwargs), *args, **kwargs)

    @abstractmethod
    def create_accumulator(self, *args: Any, **kwargs: Any) -> Any:
        """The accumulator of no elements."""

    @abstractmethod
    def add_input(self, mutable_accumulator: Any, element: In, *args: Any, **kwargs: Any) -> Any:
        """The accumulator with one more element."""

    @abstractmethod
    def merge_accumulators(self, accumulators: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        """One accumulator for the elements of several."""

    def compact(self, accumulator: Any, *args: Any, **kwargs: Any) -> Any:
        """A smaller accumulator of the same elements."""
        return accumulator

    @abstractmethod
    def extract_output(self, accumulator: Any, *args: Any, **kwargs: Any) -> R:
        """The value of an accumulator."""

    def teardown(self, *args: Any, **kwargs: Any) -> None:
        """Once a copy whose `setup` was called is not needed any more, at the latest when its
        process ends; not if that is killed."""


_WHOLE: Final = frozenset({int, bool})
_ORDERED: Final = (_WHOLE, frozenset({str}), frozenset({bytes}))
_FOLDS: Final[Sequence[tuple[Any, model.WholeNumbersFold, Sequence[Set[type]]]]] = (
    (sum, "sum", (_WHOLE,)),
    (min, "min", _ORDERED),
    (max, "max", _ORDERED),
)
"""Plain functions that make the result of all values of several results, over some types."""


@attrs.frozen
class _OfAll(model.Collect):
    """A plain function of all values of a pane."""

    fn: Callable[..., Any] = attrs.field(kw_only=True)
    args: tuple[Any, ...] = attrs.field(kw_only=True)
    kwargs: Mapping[str, Any] = attrs.field(kw_only=True)

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        try:
            return self.made_of(accumulator)
        except USER_RAISED as cause:
            if accumulator:
                raise
            raise empty_pane(cause) from cause

    def made_of(self, accumulator: tuple[Any, ...]) -> Any:
        return self.fn(own_copies(accumulator), *self.args, **self.kwargs)

    def compact(self, accumulator: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(accumulator) > 1 and self.combines_early(set(map(type, accumulator))):
            return (self.fn(accumulator),)
        return accumulator

    def combines_early(self, types: Set[type]) -> bool:
        return any(types <= exact for _, over in self._folds() for exact in over)

    @property
    def whole_numbers_fold(self) -> model.WholeNumbersFold | None:
        return next((name for name, _ in self._folds()), None)

    def _folds(self) -> list[tuple[model.WholeNumbersFold, Sequence[Set[type]]]]:
        known = () if self.args or self.kwargs else _FOLDS
        return [(name, over) for fn, name, over in known if fn is self.fn]

    def for_type(self, element_type: type) -> model.CombineFn:
        """``sum`` of whole numbers adds them up as they come, and keeps no list of them.

        Source: Beam Python ``CallableWrapperCombineFn.for_input_type``.
        """
        adds = self.fn is sum and element_type is int and not self.args and not self.kwargs
        return model.Sum() if adds else self

    def method_name(self, method: str) -> str:
        return "" if method == "extract" else method

    def __str__(self) -> str:
        return stable_repr(self.fn)


def of_nothing(fn: model.CombineFn) -> Any:
    """What a combine function makes of no elements, where there are none."""
    if not isinstance(fn, Stepwise | _OfAll):
        return fn.extract(fn.create())
    try:
        return fn.made_of(fn.create())
    except USER_RAISED as cause:
        raise ValueError(
            f"{safe_str(cause)}; there are no elements, and {fn} knows no answer for that: write "
            "without_defaults(), or take a function that does"
        ) from cause


def combine_fn(
    fn: Any, owner: str, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
) -> model.CombineFn:
    """What a grouping takes for a combine function of beamlike's or of Beam's shape, or a
    function.

    Args:
        owner: The transform that was given it, for messages.
        args: Given to each call, if it is not of beamlike's shape.
        kwargs: Likewise.
    """
    kwargs = {} if kwargs is None else kwargs
    # A class that is neither is called as a function, such as `set`.
    steps_or_model = in_steps(fn) or (isinstance(fn, type) and issubclass(fn, model.CombineFn))
    if isinstance(fn, type) and steps_or_model:
        if owner != "aggregate_field":  # which takes the class, too, as Beam does
            raise PipelineTypeError(
                f"{owner} needs a combine function; write {owner}({fn.__name__}())"
            )
        fn = fn()
    if isinstance(fn, model.CombineFn):
        if args or kwargs:
            raise PipelineError(f"{owner} cannot give arguments to {fn}; make it with them instead")
        return fn
    if in_steps(fn):
        steps = _WithLife(fn, args, kwargs) if _has_life(fn) else fn
        return Stepwise(steps, args, kwargs)
    if callable(fn):
        return _OfAll(fn=fn, args=args, kwargs=kwargs)
    raise PipelineTypeError(f"{owner} needs a combine function or a function, got {fn!r}")


def _has_life(fn: Any) -> bool:
    """Whether a function has a ``setup`` or a ``teardown`` of its own."""
    methods = (getattr(type(fn), name, None) for name in ("setup", "teardown"))
    return any(method not in (None, CombineFn.setup, CombineFn.teardown) for method in methods)


class _WithLife:
    """A function whose ``setup`` is called before its first other method, in each copy.

    It need not be below `CombineFn`, and so may lack the methods that not all shapes have.
    """

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self._fn, self._args, self._kwargs = fn, args, kwargs
        self._begun = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_begun": False}

    def __repr__(self) -> str:
        return stable_repr(self._fn)

    def _ready(self) -> Any:
        if not self._begun:
            setup, teardown = (getattr(self._fn, name, None) for name in ("setup", "teardown"))
            if setup is not None:
                setup(*self._args, **self._kwargs)
            self._begun = True
            if teardown is not None:
                weakref.finalize(self, teardown, *self._args, **self._kwargs)
        return self._fn

    def create_accumulator(self, *args: Any, **kwargs: Any) -> Any:
        return self._ready().create_accumulator(*args, **kwargs)

    def add_input(self, accumulator: Any, element: Any, *args: Any, **kwargs: Any) -> Any:
        return self._ready().add_input(accumulator, element, *args, **kwargs)

    def merge_accumulators(self, accumulators: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        return self._ready().merge_accumulators(accumulators, *args, **kwargs)

    def compact(self, accumulator: Any, *args: Any, **kwargs: Any) -> Any:
        compact = getattr(self._ready(), "compact", None)
        return accumulator if compact is None else compact(accumulator, *args, **kwargs)

    def extract_output(self, accumulator: Any, *args: Any, **kwargs: Any) -> Any:
        return self._ready().extract_output(accumulator, *args, **kwargs)
