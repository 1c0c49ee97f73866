"""Options of all pipelines that are made in a block.

Source: Beam Python ``pipeline_options.OptionsContext``.
"""

from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from typing import Any

from beamlike.api.pipelines.options import PipelineOptions

__all__ = ["OptionsContext"]

_set: ContextVar[tuple[dict[str, Any], ...]] = ContextVar("options", default=())


class OptionsContext(ContextDecorator):
    """Sets options of pipelines that are made in its block, or in a function that it decorates.

        with OptionsContext(runtime_type_check=True):
            lengths = ["tea", "milk"] | beam.Map(len)

    Args:
        options: Values by name, in place of those of a pipeline.

    Source: Beam ``OptionsContext``.
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self._before: list[Token[tuple[dict[str, Any], ...]]] = []

    def __enter__(self) -> None:
        self._before.append(_set.set((*_set.get(), self.options)))

    def __exit__(self, *_raised: Any) -> None:
        _set.reset(self._before.pop())

    def __call__(self, func: Callable[..., Any]) -> Any:
        return super().__call__(func)

    @classmethod
    def augment_options(cls, options: PipelineOptions) -> PipelineOptions:
        """Set in some options what the blocks around this call say, and return them."""
        for values in _set.get():
            options._values.update(values)
        return options
