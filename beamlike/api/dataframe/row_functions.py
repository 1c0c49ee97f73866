"""Functions with states and timers over rows: a `DoFn`, or an object of a plain class."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from beamlike.api.dataframe.plain_functions import OF_BUNDLES, PlainFn
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.params import Param
from beamlike.api.pipelines.stateful_doing import StatefulDoing
from beamlike.errors import ColumnError, PipelineError, UnsupportedError
from beamlike.model.bundle import Windowed
from beamlike.model.fingerprint import stable_repr
from beamlike.model.stateful import DueTimer, StatefulFn, UserStates
from beamlike.runtime.named_rows import row_maker
from beamlike.runtime.per_key import Returned

_Outputs = Iterable[tuple[str, Windowed]]


@attrs.frozen
class Rows:
    """Rows as a machine has them, and as a function sees them.

    Args:
        columns: The names of their columns.
        keys: Those of the key.
        returned: What results have to be.
        maker: Makes rows with names, see `beamlike.hosts.frames.Frames.row_maker`.
    """

    columns: Sequence[str]
    keys: Sequence[str]
    returned: Returned
    maker: Callable[..., Callable[..., Any]] = row_maker

    def seen(self, values: Sequence[Any]) -> Any:
        """A row as the function sees it."""
        return self.maker(*self.columns)(*values)

    def key(self, values: Sequence[Any]) -> Any:
        """A key as the function sees it."""
        return self.maker(*self.keys)(*values)

    def key_of(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The key of a row."""
        return tuple(values[self.columns.index(name)] for name in self.keys)

    def results(self, found: _Outputs, given: UserStates) -> Iterator[tuple[str, Windowed]]:
        """What a function brings out, as rows of the result.

        Raises:
            ColumnError: It does not fit the columns.
            PipelineError: It is for an output with a name.
        """
        for tag, it in found:
            if tag:
                raise PipelineError(
                    f"the result {it.value!r} is for the output {tag!r}, and rows of a Stream have "
                    "one output; yield it without TaggedOutput, with a column that says what it is"
                )
            yield tag, attrs.evolve(it, value=self.returned.row(it.value, given.key))


def row_function(fn: object, rows: Rows, label: str) -> StatefulFn:
    """A function of a user's as a machine calls it.

    Args:
        fn: A `DoFn`, or an object of a plain class.
        rows: What it is given and what it answers.

    Raises:
        ColumnError: It is neither, or its states and timers do not go together.
        UnsupportedError: It has methods for the begin or the end of a bundle.
    """
    if isinstance(fn, type):
        raise ColumnError(f"fn must be an object and not its class; write {fn.__name__}()")
    if not isinstance(fn, DoFn):
        return _PlainRows(PlainFn(fn, label, rows.maker), rows)
    for name in OF_BUNDLES:
        if getattr(type(fn), name) is not getattr(DoFn, name):
            raise UnsupportedError(
                f"fn: {stable_repr(getattr(fn, name))} is not called for rows of a Stream, where "
                "no bundle is known; keep what has to wait in a state, and let a timer bring it out"
            )
    try:
        return _DoFnRows(fn, rows, label)
    except PipelineError as error:
        raise ColumnError(f"fn: {error}") from error


class _DoFnRows(StatefulDoing):
    """A `DoFn` whose elements are rows."""

    def __init__(self, fn: DoFn[Any, Any], rows: Rows, label: str) -> None:
        super().__init__(fn, (), {}, None, label)
        self._rows = rows

    def key_of(self, value: Any) -> Any:
        return self._rows.key_of(value)

    def shown(self, value: Any) -> Any:
        return self._rows.seen(value)

    def given(
        self, asked: Param, given: UserStates, element: Windowed, timer: DueTimer | None = None
    ) -> Any:
        if asked.name == "KeyParam":
            return self._rows.key(given.key)
        return super().given(asked, given, element, timer)

    def process(self, given: UserStates, element: Windowed) -> Iterator[tuple[str, Windowed]]:
        row = attrs.evolve(element, value=self._rows.seen(element.value))
        return self._rows.results(super().process(given, row), given)

    def fire(self, given: UserStates, timer: DueTimer) -> Iterator[tuple[str, Windowed]]:
        return self._rows.results(super().fire(given, timer), given)

    def expire(self, given: UserStates, timestamp: int) -> Iterator[tuple[str, Windowed]]:
        return self._rows.results(super().expire(given, timestamp), given)


class _PlainRows(StatefulFn):
    """An object of a plain class."""

    def __init__(self, fn: PlainFn, rows: Rows) -> None:
        self._fn, self._rows = fn, rows
        self.states, self.timers, self.expires = fn.states, fn.timers, fn.expires
        self.sorts = fn.sorts

    @property
    def words(self) -> str:
        return self._fn.words("process")

    def callback_words(self, spec: Any) -> str:
        return self._fn.words(f"on_{spec.name}")

    @property
    def expiry_words(self) -> str:
        return self._fn.words("on_window_expiration")

    def key_of(self, value: Any) -> Any:
        return self._rows.key_of(value)

    def shown(self, value: Any) -> Any:
        return self._rows.seen(value)

    def process(self, given: UserStates, element: Windowed) -> _Outputs:
        seen = (self._rows.seen(element.value),)
        return self._called("process", given, element.timestamp, element, seen)

    def fire(self, given: UserStates, timer: DueTimer) -> _Outputs:
        at = timer.output_timestamp
        base = Windowed(None, at, (given.window,))
        return self._called(f"on_{timer.spec.name}", given, at, base, (), timer.tag)

    def expire(self, given: UserStates, timestamp: int) -> _Outputs:
        base = Windowed(None, timestamp, (given.window,))
        return self._called("on_window_expiration", given, timestamp, base, ())

    def _called(
        self,
        method: str,
        given: UserStates,
        timestamp: int,
        base: Windowed,
        first: tuple[Any, ...],
        tag: str = "",
    ) -> _Outputs:
        key = self._rows.key(given.key)
        answers = self._fn.call(method, given, key, timestamp, first, tag)
        found = (("", attrs.evolve(base, value=answer)) for answer in answers)
        return self._rows.results(found, given)
