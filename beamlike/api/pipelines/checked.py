"""Functions whose elements are checked against type hints while a pipeline runs.

Source: Beam Python ``typehints.typecheck.TypeCheckWrapperDoFn``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beamlike.api.pipelines.doing import Doing
from beamlike.api.pipelines.hints.declared import IOTypeHints, of_parameters
from beamlike.api.pipelines.hints.forms import shown
from beamlike.api.pipelines.hints.values import violation
from beamlike.errors import TypeCheckError
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import MAIN, Do


class CheckedDoing(Doing):
    """What a transform does, where each element that comes and goes is checked.

    Args:
        doing: The same without checks.
        hints: What is declared.
    """

    def __init__(self, doing: Doing, hints: IOTypeHints) -> None:
        self.__dict__.update(doing.__dict__)
        types = hints.input_types
        self.wanted = {} if types is None else of_parameters(self.fn.called(), types)
        self.opens = getattr(self.fn.called(), "opens", False)
        self.made = hints.simple_output_type()

    def run(self, bundle: Bundle) -> Iterable[tuple[str, Bundle]]:
        return Do.run(self, bundle)

    def _call(
        self, element: Windowed, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Iterator[tuple[str, Windowed]]:
        if self.wanted and not self.opens:
            self._check_arguments((element.value, *args), kwargs)
        for tag, output in super()._call(element, args, kwargs):
            if tag == MAIN and self.made is not None:
                self._check_output(output.value)
            yield tag, output

    def _check_answer(self, answers: Any) -> None:
        super()._check_answer(answers)
        if isinstance(answers, str | bytes | dict):
            raise TypeCheckError(
                f"{self.label!r}: Returning a {type(answers).__name__} from a ParDo or FlatMap is "
                f"discouraged. It gave {answers!r}; write [...] around it, or list what is in it"
            )

    def _check_arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        for name, value in of_parameters(self.fn.called(), (args, kwargs)).items():
            wanted = self.wanted.get(name, Any)
            if violation(value, wanted):
                raise self._violated(
                    f"Type-hint for argument: {name!r} violated. Expected an instance of "
                    f"{shown(wanted)}, instead found {value}, an instance of {type(value)}"
                )

    def _check_output(self, value: Any) -> None:
        wrong = violation(value, self.made)
        if wrong and "type constraint" not in wrong:
            wrong = (
                f"According to type-hint expected output should be of type {shown(self.made)}. "
                f"Instead, received {str(value)!r}, an instance of type {type(value)}"
            )
        if wrong:
            raise self._violated(wrong)

    def _violated(self, how: str) -> TypeCheckError:
        return TypeCheckError(f"Runtime type violation detected within ParDo({self.label}): {how}")
