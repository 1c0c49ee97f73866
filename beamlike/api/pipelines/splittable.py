"""Splittable functions: the work of an element in parts, each claimed position by position.

A provider makes the restriction of an element and splits it. Parts are done one after the other,
in the bundle of their element. What a function defers goes on there too, after the time that it
asks for: so a function that never ends belongs into a source of Spark's.

Source: Beam Python ``RestrictionProvider``, ``runners.sdf_utils``.
"""

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from beamlike.api.pipelines.dofn import DoFn, Timestamped, Wrapping
from beamlike.api.pipelines.doing import asked_by
from beamlike.api.pipelines.params import ProvidedAsked
from beamlike.errors import PipelineError
from beamlike.hosts.clock import wall_clock_seconds
from beamlike.model.time import InstantOfItsOwn, duration_ms

__all__ = ["RestrictionProvider", "TrackerView", "WatermarkEstimatorProvider", "in_parts"]


class RestrictionProvider:
    """Makes the restriction of an element, and its tracker.

    Subclasses define `create_tracker` and `initial_restriction`.

    Source: Beam ``RestrictionProvider``.
    """

    def create_tracker(self, restriction: Any) -> Any:
        """The ``RestrictionTracker`` of a restriction."""
        raise NotImplementedError(f"{type(self).__name__} does not define create_tracker")

    def initial_restriction(self, element: Any) -> Any:
        """All of the work of an element."""
        raise NotImplementedError(f"{type(self).__name__} does not define initial_restriction")

    def split(self, element: Any, restriction: Any) -> Iterator[Any]:
        """The parts of a restriction, by default itself."""
        yield restriction

    def restriction_size(self, element: Any, restriction: Any) -> float:
        """How much work it is, in any unit."""
        raise NotImplementedError(f"{type(self).__name__} does not define restriction_size")

    def split_and_size(self, element: Any, restriction: Any) -> Iterator[tuple[Any, Any]]:
        """The parts of a restriction with their sizes, which count for nothing here."""
        for part in self.split(element, restriction):
            yield part, None

    def restriction_coder(self) -> Any:
        """How restrictions are written. Nothing here writes one."""

    def truncate(self, element: Any, restriction: Any) -> Any:
        """What is left to do when a pipeline is drained: what ends by itself."""
        return restriction if self.create_tracker(restriction).is_bounded() else None


class WatermarkEstimatorProvider:
    """Makes a ``WatermarkEstimator`` for a restriction. Source: Beam's class of that name."""

    def initial_estimator_state(self, element: Any, restriction: Any) -> Any:
        """What the first estimator is made of."""
        raise NotImplementedError(f"{type(self).__name__} does not define initial_estimator_state")

    def create_watermark_estimator(self, estimator_state: Any) -> Any:
        """An estimator of this state."""
        raise NotImplementedError(
            f"{type(self).__name__} does not define create_watermark_estimator"
        )

    def estimator_state_coder(self) -> Any:
        """How the state is written. Nothing here writes one."""


class TrackerView:
    """What a function sees of its tracker.

    Source: Beam ``RestrictionTrackerView``.
    """

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker
        self.deferred: Any = None
        self.goes_on_at: float = 0.0

    def current_restriction(self) -> Any:
        """The restriction, without what was deferred."""
        return self._tracker.current_restriction()

    def current_progress(self) -> Any:
        """How much of it is done."""
        return self._tracker.current_progress()

    def try_claim(self, position: Any) -> bool:
        """Whether the work at this position may be done."""
        return bool(self._tracker.try_claim(position))

    def is_bounded(self) -> bool:
        """Whether the work ends."""
        return bool(self._tracker.is_bounded())

    def defer_remainder(self, deferred_time: Any = None) -> None:
        """Leave what is not claimed for later; the function returns after this.

        Args:
            deferred_time: A ``Duration`` from now, or a ``Timestamp``. None: at once.
        """
        now, split = wall_clock_seconds(), self._tracker.try_split(0)
        if split is None:
            return
        self.deferred = split[1]
        if isinstance(deferred_time, InstantOfItsOwn):
            self.goes_on_at = deferred_time.instant_ms / 1000
        elif deferred_time:
            self.goes_on_at = now + duration_ms(deferred_time, "deferred_time") / 1000


_TIME: Final = "time_of_the_element"
"""A parameter of ours, for what an estimator observes of plain outputs."""


class _Parts:
    """Calls a splittable function for each part of an element.

    Args:
        fn: The function.
        tracker: The parameter that takes the tracker.
        provider: What makes restrictions and trackers.
        estimator: The parameter that takes the estimator; empty if none does.
        estimates: What makes estimators.
        shown: What an estimator sees of an instant (ms).
    """

    def __init__(
        self,
        fn: DoFn[Any, Any],
        tracker: str,
        provider: RestrictionProvider,
        estimator: str,
        estimates: WatermarkEstimatorProvider | None,
        shown: Callable[[int], Any] | None,
    ) -> None:
        self.fn, self.tracker, self.provider = fn, tracker, provider
        self.estimator, self.estimates, self.shown = estimator, estimates, shown
        # What is asked for besides, as `asked_by` reads it.
        self.__signature__ = self._asks_for()

    def _asks_for(self) -> inspect.Signature:
        own = inspect.signature(self.fn.called())
        filled = self.tracker, self.estimator
        left = [it for it in own.parameters.values() if it.name not in filled]
        if self.estimates is not None:
            asked = inspect.Parameter(
                _TIME, inspect.Parameter.KEYWORD_ONLY, default=DoFn.TimestampParam
            )
            left = [*(it for it in left if it.kind is not it.VAR_KEYWORD), asked]
        return own.replace(parameters=left)

    def __repr__(self) -> str:
        return repr(self.fn.called())

    def __call__(self, element: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        at = kwargs.pop(_TIME, 0)
        whole = self.provider.initial_restriction(element)
        for part, _size in self.provider.split_and_size(element, whole):
            yield from self._part(element, part, at, args, kwargs)

    def _part(
        self, element: Any, part: Any, at: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Iterator[Any]:
        state = self.estimates and self.estimates.initial_estimator_state(element, part)
        while True:
            view = TrackerView(self.provider.create_tracker(part))
            filled = {**kwargs, self.tracker: view}
            estimator = None
            if self.estimates is not None:
                estimator = self.estimates.create_watermark_estimator(state)
                filled[self.estimator] = estimator
            answers = self.fn.called()(element, *args, **filled)
            yield from self._observed(answers or (), estimator, at)
            view._tracker.check_done()
            if view.deferred is None:
                return
            part, state = view.deferred, estimator and estimator.get_estimator_state()
            time.sleep(max(0.0, view.goes_on_at - wall_clock_seconds()))

    def _observed(self, answers: Iterable[Any], estimator: Any, at: int) -> Iterable[Any]:
        if estimator is None:
            yield from answers
            return
        for answer in answers:
            millis = answer.millis if isinstance(answer, Timestamped) else at
            estimator.observe_timestamp(millis if self.shown is None else self.shown(millis))
            yield answer


class _Splitting(Wrapping):
    """A splittable function as one that is not."""

    def __init__(self, parts: _Parts) -> None:
        super().__init__(parts.fn)
        self._parts = parts

    def called(self) -> Callable[..., Any]:
        return self._parts

    @property
    def is_unbounded_per_element(self) -> bool:
        return self.fn.is_unbounded_per_element

    def process(self, element: Any, *args: Any, **kwargs: Any) -> Iterable[Any]:
        return self._parts(element, *args, **kwargs)

    def skew_ms(self, label: str) -> int:
        return self.fn.skew_ms(label)


def in_parts(fn: DoFn[Any, Any], label: str) -> DoFn[Any, Any]:
    """A function that does an element part by part if it asks for a restriction; else itself.

    Args:
        fn: What a pipeline is given.
        label: The transform's, for messages.

    Raises:
        PipelineError: It asks for a restriction, and nothing provides one.
    """
    asked = asked_by(fn.called())
    provided = {
        it.name: (parameter, it) for parameter, it in asked.items() if isinstance(it, ProvidedAsked)
    }
    if "RestrictionParam" not in provided:
        return fn
    tracker, restriction = provided["RestrictionParam"]
    provider = restriction.provider or fn
    if not isinstance(provider, RestrictionProvider):
        raise PipelineError(
            f"{label!r}: {tracker}=DoFn.RestrictionParam() has no provider; write "
            "RestrictionParam(provider), with a RestrictionProvider, or derive the DoFn from it"
        )
    estimator, estimates, shown = "", None, None
    if "WatermarkEstimatorParam" in provided:
        estimator, wanted = provided["WatermarkEstimatorParam"]
        estimates, shown = wanted.provider or fn, wanted.shown
    if estimates is not None and not isinstance(estimates, WatermarkEstimatorProvider):
        raise PipelineError(
            f"{label!r}: {estimator}=DoFn.WatermarkEstimatorParam() has no provider; write "
            "WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider()), or another"
        )
    return _Splitting(_Parts(fn, tracker, provider, estimator, estimates, shown))
