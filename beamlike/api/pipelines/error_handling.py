"""Elements for which a function raises, as an output of their own.

Source: Beam Python ``ParDo.with_exception_handling`` and ``transforms.error_handling``.
"""

import logging
import traceback
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, Self

import attrs

from beamlike.api.pipelines.beams_own import needs_beams_sdk
from beamlike.api.pipelines.dofn import DoFn, Plain, TaggedOutput, Wrapping
from beamlike.api.pipelines.element_batches import Asking, check_batches, in_elements
from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.groups import CombineGlobally
from beamlike.api.pipelines.outputs import DoOutputs
from beamlike.api.pipelines.pardo import ParDo, WithOutputs
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.model_fns import model_window_fn
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.userstate import is_stateful_dofn
from beamlike.api.pipelines.windowing import Flatten, WindowInto
from beamlike.errors import PipelineError
from beamlike.safe_text import safe_repr, safe_text

__all__ = ["ErrorHandler", "ExceptionHandling", "Handling"]

Bad = tuple[Any, tuple[type[BaseException], str, list[str]]]
"""An element, and what was raised for it: the type, the text and the lines of the traceback."""


@attrs.frozen
class Handling:
    """What is done about exceptions, see `ParDo.with_exception_handling`."""

    main_tag: str = "good"
    dead_letter_tag: str = "bad"
    exc_class: type[BaseException] | tuple[type[BaseException], ...] = Exception
    partial: bool = False
    threshold: float = 1
    threshold_windowing: Any = None
    error_handler: "ErrorHandler | None" = None
    on_failure_callback: Callable[[Exception, Any], Any] | None = None
    allow_unsafe_userstate_in_process: bool = False


class ExceptionHandling(PTransform[PCollection[Any], Any]):
    """A `ParDo` that continues when its function raises.

    It makes two collections: what the function makes, and `Bad` elements.
    """

    def __init__(
        self, pardo: ParDo[Any, Any], handling: Handling, tags: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self.pardo, self.handling, self.tags = pardo, handling, tags

    def default_label(self) -> str:
        return self.pardo.label

    def with_outputs(self, *tags: str, main: str | None = None) -> "ExceptionHandling":
        """The same, with these outputs beside the two."""
        handling = attrs.evolve(self.handling, main_tag=main or self.handling.main_tag)
        return type(self)(self.pardo, handling, tags)

    def expand(self, given: PCollection[Any]) -> Any:
        how = self.handling
        pardo = self._with_states() if is_stateful_dofn(self.pardo.fn) else self._handled()
        outputs = WithOutputs(pardo, (how.dead_letter_tag, *self.tags), how.main_tag, True)
        made: DoOutputs = given | self.pardo.label >> outputs
        if how.threshold < 1:
            self._check_threshold(given, made[how.dead_letter_tag])
        if how.error_handler is None:
            return made
        how.error_handler.add_error_pcollection(made[how.dead_letter_tag])
        return made[how.main_tag] if not self.tags else made

    def _handled(self) -> ParDo[Any, Any]:
        if self.pardo.drops_failures:
            return self.pardo  # which is refused where it is applied
        check_batches(self.pardo.fn, self.label)
        fn = in_elements(self.pardo.fn, self.label)
        return ParDo(_Handled(fn, self.handling), *self.pardo.args, **self.pardo.kwargs)

    def _with_states(self) -> ParDo[Any, Any]:
        """A function with states and timers.

        Raises:
            PipelineError: It is not said that this is meant, or cannot be.
        """
        how, label = self.handling, self.pardo.label
        if not how.allow_unsafe_userstate_in_process:
            raise PipelineError(
                f"{label!r}: with_exception_handling of a function with states and timers needs "
                "allow_unsafe_userstate_in_process=True, as in Beam, where what it has changed "
                "before it raised stays; here that is undone. Or write with_on_error('drop')"
            )
        if how.partial:
            raise PipelineError(
                f"{label!r}: with_exception_handling of a function with states and timers takes no "
                "partial: a call counts as a whole or not at all; leave it out"
            )
        pardo = copy(self.pardo)
        pardo.instead = _DeadLetter(attrs.evolve(how, error_handler=None, threshold_windowing=None))
        return pardo

    def _check_threshold(self, given: PCollection[Any], bad: PCollection[Any]) -> None:
        windows = self.handling.threshold_windowing
        if windows is not None:
            own = model_window_fn(windows)
            given = given | "WindowAll" >> WindowInto(own)
            bad = bad | "WindowBad" >> WindowInto(own)
        ones = given | "OneOfEach" >> Map(_one)
        total = ones | "CountTotal" >> CombineGlobally[Any](sum).as_singleton_view()
        failed = (
            bad
            | "OneOfEachBad" >> Map(_one)
            | "CountBad" >> CombineGlobally[Any](sum).without_defaults()
        )
        _ = failed | "Threshold" >> ParDo(_Threshold(self.handling.threshold), total)


@attrs.frozen
class _DeadLetter:
    """The element of the other output for one that a function raised for."""

    how: Handling

    def __call__(self, element: Any, error: BaseException) -> TaggedOutput | None:
        how = self.how
        if not isinstance(error, how.exc_class):
            return None
        if how.on_failure_callback is not None and isinstance(error, Exception):
            try:
                how.on_failure_callback(error, element)
            except Exception:
                logging.getLogger(__name__).warning("on_failure_callback", exc_info=True)
        lines = [safe_text(line) for line in traceback.format_exception(error)]
        return TaggedOutput(how.dead_letter_tag, (element, (type(error), safe_repr(error), lines)))


def _one(_element: Any) -> int:
    return 1


class _Threshold(DoFn[Any, Any]):
    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def process(self, element: int, total: int, window: Any = DoFn.WindowParam) -> Iterable[Any]:
        if element > total * self.threshold:
            raise ValueError(
                f"too many elements fail in the window {window}: {element} / {total} = "
                f"{element / total} > {self.threshold}"
            )
        return ()


class _Handled(Wrapping):
    """A function, and what is done when it raises."""

    def __init__(self, fn: DoFn[Any, Any], how: Handling) -> None:
        super().__init__(fn)
        # What a handler holds is of the pipeline, which stays where it is.
        self.how = attrs.evolve(how, error_handler=None, threshold_windowing=None)
        self.allowed_timestamp_skew = fn.allowed_timestamp_skew

    def called(self) -> Callable[..., Any]:
        return Asking(self.process, self.fn.called())

    def plain(self) -> Plain:
        return Plain.LISTED

    def process(self, *args: Any, **kwargs: Any) -> Iterable[Any]:
        how = self.how
        try:
            answer = self.fn.process(*args, **kwargs)
            answer = () if answer is None else answer
            yield from answer if how.partial else list(answer)
        except how.exc_class as error:
            element = args[0] if args else next(iter(kwargs.values()), None)
            yield _DeadLetter(how)(element, error)


class ErrorHandler:
    """Takes what fails in several transforms to one place.

        with ErrorHandler(Map(print)) as handler:
            numbers = texts | Map(int).with_exception_handling(error_handler=handler)

    Args:
        consumer: What is applied to the `Bad` elements of all transforms.

    Source: Beam Python ``ErrorHandler``.
    """

    def __init__(self, consumer: PTransform[Any, Any]) -> None:
        self._consumer = consumer
        self._collections: list[PCollection[Any]] = []
        self._output: Any = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_raised: object) -> None:
        if kind is None:
            self.close()

    def close(self) -> None:
        """Apply the consumer: all transforms have been given the handler."""
        self._output = tuple(self._collections) | Flatten() | self._consumer
        self._closed = True

    def output(self) -> Any:
        """What the consumer made.

        Raises:
            PipelineError: The handler is open.
        """
        if not self._closed:
            raise PipelineError(
                "an error handler has no output before it is closed; ask for it after the block"
            )
        return self._output

    def add_error_pcollection(self, pcoll: PCollection[Any]) -> None:
        """Take `Bad` elements."""
        if self not in pcoll.pipeline.error_handlers:
            pcoll.pipeline.error_handlers.append(self)
        self._collections.append(pcoll)

    def verify_closed(self) -> None:
        """Refuse to run while errors would be lost.

        Raises:
            PipelineError: The handler is open.
        """
        if not self._closed:
            raise PipelineError(
                "an error handler is open, so that nothing takes what fails; build the pipeline in "
                "its block, or call close()"
            )


def _handled(
    pardo: ParDo[Any, Any], main_tag: str, dead_letter_tag: str, how: dict[str, Any]
) -> ExceptionHandling:
    for name in ("timeout", "use_subprocess"):
        if how.pop(name, None):
            raise needs_beams_sdk(f"with_exception_handling({name}=...)")
    try:
        handling = Handling(main_tag, dead_letter_tag, **how)
    except TypeError as error:
        raise PipelineError(f"with_exception_handling: {error}; leave it out") from error
    return ExceptionHandling(pardo, handling)


ParDo.handled = staticmethod(_handled)
