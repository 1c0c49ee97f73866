"""A ``DoFn`` as a node of the graph: how it is called, and what its answers become."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, repeat
from operator import ge
from typing import Any, Final

import attrs

from beamlike.api.pipelines.column_functions import made_of_columns
from beamlike.api.pipelines.dofn import (
    WRAPPERS,
    DoFn,
    Located,
    Param,
    Plain,
    TaggedOutput,
    Timestamped,
    arguments_by_name,
    asked_by,
    names_after_element,
)
from beamlike.api.pipelines.views import AsSideInput, View
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.model.bundle import BUNDLE_SIZE, Bundle, Windowed
from beamlike.model.copies import own_copies
from beamlike.model.fingerprint import stable_repr
from beamlike.model.graph import MAIN, Do, RaisedFor
from beamlike.model.time import show_duration, show_instant
from beamlike.safe_text import USER_RAISED, UserRaised

_READ: Final[Mapping[str, Callable[[Windowed], Any]]] = {
    "ElementParam": lambda element: element.value,
    "TimestampParam": lambda element: element.timestamp,
    "WindowParam": lambda element: element.windows[0],
    "PaneInfoParam": lambda element: element.pane,
    "WindowedValueParam": lambda element: element,
    "KeyParam": lambda element: element.value[0],
}

_COLUMN: Final[Mapping[str, Callable[[Bundle], Iterable[Any]]]] = {
    "ElementParam": lambda bundle: bundle.values,
    "TimestampParam": lambda bundle: bundle.timestamps,
    "WindowParam": lambda bundle: bundle.one_window_each()[1].windows(),
    "PaneInfoParam": lambda bundle: bundle.panes,
    "WindowedValueParam": iter,
    "KeyParam": lambda bundle: (value[0] for value in bundle.values),
}
"""The same of all elements of a bundle, of which each is in one window if windows are read."""

_STATE_HERE: Final = (
    "a DoFn may, in its process and in methods under @on_timer: write a class below DoFn and "
    "ParDo(...) of it"
)

Instead = Callable[[Any, UserRaised], TaggedOutput | None]
"""What comes out for an element that a function raised for; None: that is a failure."""

_MISSING: Final[Mapping[str, tuple[str, str]]] = {
    "StateParam": ("a state", _STATE_HERE),
    "TimerParam": ("a timer", _STATE_HERE),
    "DynamicTimerTagParam": ("a timer", _STATE_HERE),
    "FireTimestampParam": ("a timer", _STATE_HERE),
    "BundleFinalizerParam": ("the end of a commit", "write what is to be done to finish_bundle"),
}
"""What functions cannot ask for, or not everywhere: what it is, and what there is instead."""
_OF_STATE: Final = ("StateParam", "TimerParam")
"""What a function with states and timers may ask for."""


class EarlyOutputError(PipelineError, RuntimeError):
    """A function makes something before the first element of a bundle."""


class DoFnInvoker(Do):
    """A `DoFn` as a graph knows it.

    Args:
        args: Given to each call after the element. Side inputs among them are what `see` was given
            last.
        kwargs: Given to each call, likewise.
        tags: The outputs that have names; None if any name will do.
        instead: What comes out for an element that the function raised for, in place of all that it
            made of that; None if it is a failure.
    """

    def __init__(
        self,
        fn: DoFn[Any, Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        tags: frozenset[str] | None,
        label: str,
        instead: Instead | None = None,
        *,
        stateful: bool = False,
    ) -> None:
        self.fn, self.tags, self.label, self.instead = fn, tags, label, instead
        self.args = tuple(_viewed(argument, label) for argument in args)
        self.kwargs = {name: _viewed(argument, label) for name, argument in kwargs.items()}
        arguments = (*self.args, *self.kwargs.values())
        self.views = [argument for argument in arguments if isinstance(argument, View)]
        self.asked = asked_by(fn.called())
        self._refuse_missing(_OF_STATE if stateful else ())
        kinds = {asked.name for asked in self.asked.values()}
        self.takes_element = "ElementParam" not in kinds
        named = arguments_by_name(fn.called(), self.args, {*self.asked}, self.takes_element)
        if named:
            self.args, self.kwargs = (), {**named, **self.kwargs}
        self.sees_window = "WindowParam" in kinds
        self._next_names = names_after_element(fn.called())
        self.skew = fn.skew_ms(label)

    def _refuse_missing(self, known: Sequence[str]) -> None:
        """Refuse what the function asks for and cannot be given."""
        for parameter, asked in self.asked.items():
            if asked.name in _MISSING and asked.name not in known:
                thing, instead = _MISSING[asked.name]
                raise PipelineError(
                    f"{self.label!r}: {stable_repr(self.fn.called())} asks for {thing} in its "
                    f"parameter {parameter!r}, and has none here; {instead}"
                )

    @property
    def pane_marks(self) -> frozenset[str]:
        return getattr(self.fn, "_pane_marks", frozenset())

    def setup(self) -> None:
        self.fn.setup()

    def start_bundle(self) -> None:
        output: Any = self.fn.start_bundle()  # type: ignore[func-returns-value]
        if output is not None:
            raise EarlyOutputError(
                f"{self.label!r}: start_bundle gave {output!r}, and nothing can come out before "
                "the first element; yield it from process or from finish_bundle"
            )

    def see(self, contents: Sequence[Sequence[Any]]) -> None:
        for view, items in zip(self.views, contents, strict=True):
            view.see(items)

    @property
    def arguments(self) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """The arguments of a call after the element, with what is seen of side inputs."""
        if not self.views:
            return self.args, self.kwargs
        return tuple(map(_seen, self.args)), {
            name: _seen(argument) for name, argument in self.kwargs.items()
        }

    def run(self, bundle: Bundle) -> Iterable[tuple[str, Bundle]]:
        plain = self.fn.plain() if self.instead is None else Plain.LISTED
        columns = made_of_columns(self.fn.called(), bundle) if plain is Plain.MADE else None
        if columns is not None:
            return [(MAIN, columns)]
        if self.sees_window:
            exploded, _ = bundle.one_window_each()
            if exploded is not bundle:  # each call may change the element of its window
                exploded = exploded.with_values(own_copies(exploded.values))
            bundle = exploded
        # Only the columns are touched that the function asks for.
        if plain is Plain.LISTED:
            return self._listed(bundle)
        answers, values = self._answers(bundle), list[Any]()
        try:
            values.extend(answers)  # what came before it raises stays
            if len(values) < len(bundle):
                raise StopIteration  # by the function: to what calls it that is its end
        except USER_RAISED as cause:
            raise RaisedFor(bundle[len(values)]) from cause
        if plain is Plain.KEPT:
            return [(MAIN, bundle.take([place for place, keeps in enumerate(values) if keeps]))]
        if _are_elements(values):
            return [(MAIN, bundle.with_values(values))]
        return self._outputs(bundle, range(len(values)), values)

    def _listed(self, bundle: Bundle) -> Iterator[tuple[str, Bundle]]:
        """What a function lists for each element, as soon as there are many of them."""
        answers, places, values = self._answers(bundle), list[int](), list[Any]()
        for place in range(len(bundle)):
            listed: Iterator[Any] | None = None
            while True:
                try:
                    if listed is None:
                        answer = next(answers)
                        if answer is None:
                            break
                        if type(answer) is list and len(answer) < BUNDLE_SIZE - len(values):
                            values += answer  # most are, and nothing of it can raise
                            places += [place] * len(answer)
                            break
                        self._check_answer(answer)
                        listed = iter(answer)
                    values.extend(islice(listed, BUNDLE_SIZE - len(values)))
                except USER_RAISED as cause:
                    raise RaisedFor(bundle[place]) from cause
                places += [place] * (len(values) - len(places))
                if len(values) < BUNDLE_SIZE:
                    break
                yield from self._of_places(bundle, places, values)
                places, values = [], []
        if values:
            yield from self._of_places(bundle, places, values)

    def _of_places(
        self, bundle: Bundle, places: Sequence[int], values: list[Any]
    ) -> Iterable[tuple[str, Bundle]]:
        if _are_elements(values):
            return [(MAIN, bundle.take(places, values))]
        return self._outputs(bundle, places, values)

    def _answers(self, bundle: Bundle) -> Iterator[Any]:
        """What the function answers for each element, when it is asked for."""
        call, (args, kwargs) = self.fn.called(), self.arguments
        if self.instead is not None:
            call = partial(_handled, call, self.fn.plain(), self.instead)
        asked = {name: _column(param, bundle) for name, param in self.asked.items()}
        elements = [bundle.values] if self.takes_element else []
        by_name = {**{name: repeat(argument) for name, argument in kwargs.items()}, **asked}
        names = self._next_names[: len(by_name)]
        if elements and not args and by_name.keys() == {*names}:
            # By place a call takes half as long.
            return map(call, *elements, *(by_name[name] for name in names))
        call = partial(_named, call, [*asked], self.takes_element, args, kwargs)
        return map(call, *elements, *asked.values())

    def _outputs(
        self, bundle: Bundle, places: Sequence[int], answers: Sequence[Any]
    ) -> Iterable[tuple[str, Bundle]]:
        """Answers that say where or when they come out, each of the element at its place."""
        if all(issubclass(cls, Timestamped) for cls in set(map(type, answers))):
            of_each = bundle.take(places, [answer.value for answer in answers])
            moved = [answer.millis for answer in answers]
            if all(map(ge, moved, [timestamp - self.skew for timestamp in of_each.timestamps])):
                return [(MAIN, Bundle(of_each.values, moved, of_each.windows, of_each.panes))]
        by_tag: dict[str, Bundle] = {}
        for place, answer in zip(places, answers, strict=True):
            try:
                tag, output = self._output(answer, bundle[place])
            except USER_RAISED as cause:
                raise RaisedFor(bundle[place]) from cause
            by_tag.setdefault(tag, Bundle()).append(output)
        return by_tag.items()

    def finish_bundle(self) -> Iterator[tuple[str, Windowed]]:
        for kept in self.fn.finish_bundle() or ():
            tag, value = self._untagged(kept)
            if isinstance(value, Located):
                value = value.windowed()
            if not isinstance(value, Windowed):
                raise PipelineError(
                    f"{self.label!r} yields {kept!r} at the end of a bundle, where no element "
                    "says its window; yield Windowed(value, timestamp, windows)"
                )
            yield tag, value

    def teardown(self) -> None:
        self.fn.teardown()

    def outputs(self, answers: Any, element: Windowed) -> Iterator[tuple[str, Windowed]]:
        """What answers become that are those for an element, each with the tag of its output."""
        if answers is None:
            return
        self._check_answer(answers)
        for answer in answers:
            yield self._output(answer, element)

    def _check_answer(self, answers: Any) -> None:
        if not isinstance(answers, Iterable):
            raise PipelineTypeError(
                f"{self.label!r} returned {answers!r} for one element, and FlatMap and ParDo must "
                "return an iterable; return a list of what comes out, or yield it"
            )
        if isinstance(answers, str | bytes | Mapping) and not self.fn.opens_texts:
            raise PipelineTypeError(
                f"{self.label!r}: Returning a {type(answers).__name__} from a ParDo or FlatMap is "
                f"not allowed, got {answers!r} for one element; return [...] around it, or list "
                "what is in it"
            )

    def _output(self, answer: Any, element: Windowed) -> tuple[str, Windowed]:
        tag, answer = self._untagged(answer)
        if isinstance(answer, Located):
            answer = answer.windowed()
        if isinstance(answer, Windowed):
            return tag, self._in_time(answer, element)
        if isinstance(answer, Timestamped):
            moved = attrs.evolve(element, value=answer.value, timestamp=answer.millis)
            return tag, self._in_time(moved, element)
        return tag, attrs.evolve(element, value=answer)

    def _untagged(self, answer: Any) -> tuple[str, Any]:
        if not isinstance(answer, TaggedOutput):
            return MAIN, answer
        if self.tags is not None and answer.tag not in self.tags:
            named = ", ".join(map(repr, sorted(self.tags))) or "none"
            raise PipelineError(
                f"{self.label!r} has no output {answer.tag!r}; its outputs are: {named}; name it "
                f"in with_outputs({answer.tag!r})"
            )
        return answer.tag, answer.value

    def _in_time(self, output: Windowed, element: Windowed) -> Windowed:
        if output.timestamp < element.timestamp - self.skew:
            raise PipelineError(
                f"{self.label!r}: Cannot output with timestamp {show_instant(output.timestamp)}. "
                "Output timestamps must be no earlier than the timestamp of the current input, "
                f"{show_instant(element.timestamp)}, minus the allowed skew, "
                f"{show_duration(self.skew)}, because the watermark may be past it; write "
                "WithTimestamps(fn, allowed_timestamp_skew=...), or set allowed_timestamp_skew "
                "of the DoFn"
            )
        return output


def _are_elements(answers: Sequence[Any]) -> bool:
    """Whether no answer says where or when it comes out."""
    return not any(issubclass(cls, WRAPPERS) for cls in set(map(type, answers)))


def read(param: Param, element: Windowed) -> Any:
    """What a parameter asks for of an element."""
    value = _READ[param.name](element)
    return value if param.shown is None else param.shown(value)


def _viewed(argument: Any, label: str) -> Any:
    return View(argument, label) if isinstance(argument, AsSideInput) else argument


def _seen(argument: Any) -> Any:
    return argument.seen if isinstance(argument, View) else argument


def _column(param: Param, bundle: Bundle) -> Iterable[Any]:
    column = _COLUMN[param.name](bundle)
    return column if param.shown is None else map(param.shown, column)


def _handled(
    call: Callable[..., Any], means: Plain, instead: Instead, *args: Any, **kwargs: Any
) -> list[Any]:
    """What an element becomes by a function, or what comes out in place of all that."""
    element = args[0] if args else next(iter(kwargs.values()), None)
    try:
        answer = call(*args, **kwargs)
        match means:
            case Plain.MADE:
                return [answer]
            case Plain.KEPT:
                return [element] if answer else []
            case Plain.LISTED:
                return [] if answer is None else list(answer)
    except USER_RAISED as error:
        output = instead(element, error)
        if output is None:
            raise
        return [output]


def _named(
    call: Callable[..., Any],
    names: Sequence[str],
    takes_element: bool,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *asked: Any,
) -> Any:
    """Call a function, with what it asks for by name, for an element."""
    element, asked = (asked[:1], asked[1:]) if takes_element else ((), asked)
    return call(*element, *args, **{**kwargs, **dict(zip(names, asked, strict=True))})


def views_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[AsSideInput[Any]]:
    """The side inputs among the arguments of a function."""
    return [argument for argument in (*args, *kwargs.values()) if isinstance(argument, AsSideInput)]
