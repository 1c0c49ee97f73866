"""Elements for which a function raises, as an output of their own.

Source: Beam Python ``ParDo.with_exception_handling`` and ``transforms.error_handling``.
"""

import traceback
from copy import copy
from typing import Any, Final

import attrs

from beamlike.api.pipelines.beams_own import without_beams_own
from beamlike.api.pipelines.dofn import TaggedOutput
from beamlike.api.pipelines.pardo import ParDo, WithOutputs
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.userstate import is_stateful_dofn
from beamlike.errors import PipelineError
from beamlike.safe_text import safe_repr, safe_text

__all__ = ["ExceptionHandling", "Handling"]

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
