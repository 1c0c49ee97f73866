"""Rows as functions with states and timers are given them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from beamlike.errors import PipelineError
from beamlike.model.bundle import Windowed
from beamlike.model.stateful import UserStates
from beamlike.runtime.named_rows import row_maker
from beamlike.runtime.per_key import Returned

Outputs = Iterable[tuple[str, Windowed]]


@attrs.frozen
class FunctionRows:
    """Rows as a machine has them, and as a function sees them.

    Args:
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

    def results(self, outputs: Outputs, user_states: UserStates) -> Iterator[tuple[str, Windowed]]:
        """What a function brings out, as rows of the result."""
        for tag, output in outputs:
            if tag:
                raise PipelineError(
                    f"the result {output.value!r} is for the output {tag!r}, and rows of a Stream "
                    "have one output; yield it without TaggedOutput, with a column that says what "
                    "it is"
                )
            yield tag, attrs.evolve(output, value=self.returned.row(output.value, user_states.key))


class OverRows:
    """What functions over rows have in common, with ``rows``."""

    __slots__ = ()

    rows: FunctionRows

    def key_of(self, value: Any) -> Any:
        return self.rows.key_of(value)

    def shown(self, value: Any) -> Any:
        return self.rows.seen(value)
