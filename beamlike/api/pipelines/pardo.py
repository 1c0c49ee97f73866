"""A function over each element, with one output or several, also of elements that it raises for.

Source: Beam Python ``transforms.core`` and ``transforms.error_handling``.
"""

import traceback
from copy import copy
from typing import Any, ClassVar, Final, Generic, Self, get_args

import attrs

from beamlike.api.arguments import checked_share
from beamlike.api.pipelines.beams_own import OfBeamsSDK, without_beams_own
from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.dofn import DoFn, PlainFn, TaggedOutput
from beamlike.api.pipelines.dofn_invoker import DoFnInvoker, Instead, views_of
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.pvalues import DoOutputs
from beamlike.api.pipelines.stateful_dofn_invoker import StatefulDoFnInvoker, stateful_outputs
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.userstate import is_stateful_dofn
from beamlike.api.pipelines.variables import In, T
from beamlike.api.pipelines.views import check_side_inputs, with_side_inputs
from beamlike.errors import PipelineError, PipelineTypeError, WindowingError
from beamlike.model.graph import MAIN, ParDoNode
from beamlike.model.options import MAX_FAILURES
from beamlike.runtime.options import OnError
from beamlike.safe_text import safe_repr, safe_text

__all__ = ["ParDo"]


class ParDo(PTransform[PCollection[In], PCollection[T]], Generic[In, T]):
    """A `DoFn` over each element.

    Args:
        fn: What is done.
        args: Given to each call after the element.
        kwargs: Given to each call.
    """

    with_error_handler: ClassVar[Any] = OfBeamsSDK("ParDo.with_error_handler")

    drops_failures: bool = False
    """Whether what a function with states raises for is dropped, see `with_on_error`."""
    max_failures: float = MAX_FAILURES
    """The greatest share of calls that may fail, see `with_on_error`."""
    instead: "Instead | None" = None
    """What comes out for an element that the function raises for."""

    def __init__(self, fn: DoFn[In, T], *args: Any, **kwargs: Any) -> None:
        if not isinstance(fn, DoFn):
            if isinstance(fn, type) or not callable(fn):
                call = f"; write ParDo({fn.__name__}())" if isinstance(fn, type) else ""
                raise PipelineTypeError(f"ParDo needs a DoFn or a function, got {fn!r}{call}")
            fn = PlainFn(fn)  # a function that lists what comes out, as in Beam
        self.fn, self.args, self.kwargs = fn, args, kwargs

    def default_label(self) -> str:
        return f"ParDo({function_label(self.fn)})"

    def with_outputs(
        self, *tags: str, main: str | None = None, allow_unknown_tags: bool | None = None
    ) -> "WithOutputs":
        """The transform with several outputs.

        Args:
            tags: Names of outputs, for `TaggedOutput`. None at all: any name will do.
            main: The name of the output of everything that has no tag.
            allow_unknown_tags: Whether other names will do, too. None: if there are no ``tags``.
        """
        return WithOutputs(self, tags, main, allow_unknown_tags)

    def with_on_error(self, on_error: OnError, max_failures: float | None = None) -> Self:
        """The transform of a function with states and timers, with another choice when it raises.

        ``"fail"``, the default, fails the run and names the transform, the method, the element or
        the timer, the window and the key. ``"drop"`` drops what it raised for, as ``failed``: the
        states and timers are as they were before the call, a timer that raised has fired, and
        nothing else is lost. It counts for ``process``, for timers and for the end of windows, and
        for a value that its coder cannot take. What is dropped is in ``result.lost``, and counted
        in the query's progress.

        Args:
            on_error: ``"fail"`` or ``"drop"``.
            max_failures: With ``"drop"``, the greatest share of calls that may fail. Each shard
                counts from a failure on; of 20 calls or more, a greater share fails the run with
                what the function raised. Default 0.9; 1 never does. A run in memory has no shards,
                and does not count.

        Raises:
            PipelineError: It is neither; the share is not one from 0 to 1, or given with "fail".
        """
        if on_error not in get_args(OnError):
            raise PipelineError(
                f'with_on_error takes "fail" or "drop", got {on_error!r}; write '
                'ParDo(...).with_on_error("drop")'
            )
        changed = copy(self)
        changed.drops_failures = on_error == "drop"
        try:
            changed.max_failures = checked_share(max_failures, on_error)
        except WindowingError as error:
            raise PipelineError(str(error)) from None
        return changed

    def with_exception_handling(
        self, main_tag: str = "good", dead_letter_tag: str = "bad", **how: Any
    ) -> PTransform[Any, Any]:
        """The transform with two outputs: what the function makes, and the elements it raised for.

        ``good, bad = words | Map(int).with_exception_handling()``. An element of the other output
        is a pair of the element and of what was raised: its type, its text and its traceback.

        Args:
            main_tag: The name of the first output.
            dead_letter_tag: The name of the other.
            how: ``exc_class``, what is caught. A function with states and timers also needs
                ``allow_unsafe_userstate_in_process=True``, as in Beam. Here what ``process`` has
                changed before it raised is undone; of what timers and the end of windows raise
                there is no element, and `with_on_error` decides.

        Raises:
            PipelineError: There is no such argument, or two do not go together.
            UnsupportedError: It is an argument that only Beam's own SDK takes.
        """
        how = without_beams_own("with_exception_handling", how, *_OF_BEAMS_SDK)
        try:
            handling = Handling(main_tag, dead_letter_tag, **how)
        except TypeError as error:
            raise PipelineError(f"with_exception_handling: {error}; leave it out") from error
        return ExceptionHandling(self, handling)

    def expand(self, pcoll: PCollection[In]) -> PCollection[T]:
        return expanded(self, pcoll, frozenset())


def expanded(
    transform: ParDo[Any, T], pcoll: PCollection[Any], tags: frozenset[str] | None
) -> PCollection[T]:
    """The collection of everything that a function answers without a tag."""
    label = check_collection(pcoll, transform)
    check_side_inputs(transform.args, transform.kwargs, label)
    stateful = is_stateful_dofn(transform.fn)
    how = transform.args, transform.kwargs, tags, label, transform.instead
    do = DoFnInvoker(transform.fn, *how, stateful=stateful)
    views = views_of(transform.args, transform.kwargs)
    if stateful:
        return stateful_outputs(
            pcoll,
            StatefulDoFnInvoker(do),
            views,
            tagged=tags is None or bool(tags),
            drops_failures=transform.drops_failures,
            max_failures=transform.max_failures,
        )
    if transform.drops_failures:
        raise PipelineError(
            f"{label!r}: with_on_error is for a function with states and timers, which this one "
            "has none of; write with_exception_handling(), which gives what it raises for as an "
            "output"
        )
    if views:
        return with_side_inputs(pcoll, views, do, label)
    return pcoll.pipeline.add(
        ParDoNode(label, (pcoll.edge,), do), pcoll.windowing, pcoll.is_bounded
    )


class WithOutputs(PTransform[PCollection[Any], DoOutputs]):
    """A `ParDo` with several outputs."""

    def __init__(
        self,
        pardo: ParDo[Any, Any],
        tags: tuple[str, ...],
        main: str | None,
        allow_unknown_tags: bool | None = None,
    ) -> None:
        wrong = [tag for tag in (*tags, *([] if main is None else [main])) if tag == MAIN]
        if wrong:
            raise PipelineError('an output needs a name; write with_outputs("name", ...)')
        super().__init__()
        self._pardo, self._tags, self._main = pardo, tags, main
        self._any = not tags if allow_unknown_tags is None else allow_unknown_tags

    def default_label(self) -> str:
        return self._pardo.label

    def expand(self, pcoll: PCollection[Any]) -> DoOutputs:
        main = expanded(self._pardo, pcoll, None if self._any else frozenset(self._tags))
        return DoOutputs(main, self._tags, self._main, self._any)


_OF_BEAMS_SDK: Final = (
    *("error_handler", "on_failure_callback", "partial", "threshold", "threshold_windowing"),
    *("timeout", "use_subprocess"),
)
"""Arguments that only Beam's own SDK has an effect for."""


@attrs.frozen
class Handling:
    """What is done about exceptions, see `ParDo.with_exception_handling`.

    It is called with an element and what was raised for it: the element of the other output is a
    pair of both, the latter as its type, its text and the lines of the traceback.
    """

    main_tag: str = "good"
    dead_letter_tag: str = "bad"
    exc_class: type[BaseException] | tuple[type[BaseException], ...] = Exception
    allow_unsafe_userstate_in_process: bool = False

    def __call__(self, element: Any, error: BaseException) -> TaggedOutput | None:
        if not isinstance(error, self.exc_class):
            return None
        lines = [safe_text(line) for line in traceback.format_exception(error)]
        return TaggedOutput(self.dead_letter_tag, (element, (type(error), safe_repr(error), lines)))


class ExceptionHandling(PTransform[PCollection[Any], Any]):
    """A `ParDo` that continues when its function raises.

    It makes two collections: what the function makes, and the elements that it raised for.
    """

    def __init__(self, pardo: ParDo[Any, Any], handling: Handling) -> None:
        super().__init__()
        self.pardo, self.handling = pardo, handling

    def default_label(self) -> str:
        return self.pardo.label

    def expand(self, pcoll: PCollection[Any]) -> Any:
        how, label = self.handling, self.pardo.label
        if is_stateful_dofn(self.pardo.fn) and not how.allow_unsafe_userstate_in_process:
            raise PipelineError(
                f"{label!r}: with_exception_handling of a function with states and timers needs "
                "allow_unsafe_userstate_in_process=True, as in Beam, where what it has changed "
                "before it raised stays; here that is undone. Or write with_on_error('drop')"
            )
        pardo = copy(self.pardo)
        pardo.instead = how
        return pcoll | label >> WithOutputs(pardo, (how.dead_letter_tag,), how.main_tag, True)
