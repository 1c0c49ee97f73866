"""Elements for which a function raises, as an output of their own.

Source: Beam Python ``ParDo.with_exception_handling`` and ``transforms.error_handling``.
"""

import traceback
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, Final

import attrs

from beamlike.api.pipelines.beams_own import without_beams_own
from beamlike.api.pipelines.dofn import DoFn, Plain, TaggedOutput
from beamlike.api.pipelines.pardo import ParDo, WithOutputs
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.userstate import is_stateful_dofn
from beamlike.errors import PipelineError
from beamlike.safe_text import safe_repr, safe_text

__all__ = ["ExceptionHandling", "Handling"]

_OF_BEAMS_SDK: Final = (
    *("error_handler", "on_failure_callback", "threshold", "threshold_windowing"),
    *("timeout", "use_subprocess"),
)
"""Arguments that only Beam's own SDK has an effect for."""

Bad = tuple[Any, tuple[type[BaseException], str, list[str]]]
"""An element, and what was raised for it: the type, the text and the lines of the traceback."""


@attrs.frozen
class Handling:
    """What is done about exceptions, see `ParDo.with_exception_handling`."""

    main_tag: str = "good"
    dead_letter_tag: str = "bad"
    exc_class: type[BaseException] | tuple[type[BaseException], ...] = Exception
    partial: bool = False
    allow_unsafe_userstate_in_process: bool = False


class ExceptionHandling(PTransform[PCollection[Any], Any]):
    """A `ParDo` that continues when its function raises.

    It makes two collections: what the function makes, and `Bad` elements.
    """

    def __init__(self, pardo: ParDo[Any, Any], handling: Handling) -> None:
        super().__init__()
        self.pardo, self.handling = pardo, handling

    def default_label(self) -> str:
        return self.pardo.label

    def expand(self, pcoll: PCollection[Any]) -> Any:
        how = self.handling
        pardo = self._with_states() if is_stateful_dofn(self.pardo.fn) else self._handled()
        outputs = WithOutputs(pardo, (how.dead_letter_tag,), how.main_tag, True)
        return pcoll | self.pardo.label >> outputs

    def _handled(self) -> ParDo[Any, Any]:
        if self.pardo.drops_failures:
            return self.pardo  # which is refused where it is applied
        handled = _Handled(self.pardo.fn, self.handling)
        return ParDo(handled, *self.pardo.args, **self.pardo.kwargs)

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
        pardo.instead = _DeadLetter(how)
        return pardo


@attrs.frozen
class _DeadLetter:
    """The element of the other output for one that a function raised for."""

    how: Handling

    def __call__(self, element: Any, error: BaseException) -> TaggedOutput | None:
        how = self.how
        if not isinstance(error, how.exc_class):
            return None
        lines = [safe_text(line) for line in traceback.format_exception(error)]
        return TaggedOutput(how.dead_letter_tag, (element, (type(error), safe_repr(error), lines)))


class _Handled(DoFn[Any, Any]):
    """A function, which begins and ends as ever, and what is done when it raises."""

    def __init__(self, fn: DoFn[Any, Any], how: Handling) -> None:
        self.fn, self.how = fn, how
        self.allowed_timestamp_skew = fn.allowed_timestamp_skew

    def setup(self) -> None:
        self.fn.setup()

    def start_bundle(self) -> None:
        return self.fn.start_bundle()  # refused if it makes something

    def finish_bundle(self) -> Any:
        return self.fn.finish_bundle()

    def teardown(self) -> None:
        self.fn.teardown()

    def called(self) -> Callable[..., Any]:
        return _Asking(self.process, self.fn.called())

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


class _Asking:
    """Calls one function, and asks for what another one asks for."""

    def __init__(self, process: Callable[..., Any], asks: Callable[..., Any]) -> None:
        self._process, self.__wrapped__ = process, asks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._process(*args, **kwargs)


def _handled(
    pardo: ParDo[Any, Any], main_tag: str, dead_letter_tag: str, how: dict[str, Any]
) -> ExceptionHandling:
    how = without_beams_own("with_exception_handling", how, *_OF_BEAMS_SDK)
    try:
        handling = Handling(main_tag, dead_letter_tag, **how)
    except TypeError as error:
        raise PipelineError(f"with_exception_handling: {error}; leave it out") from error
    return ExceptionHandling(pardo, handling)


ParDo.handled = staticmethod(_handled)
