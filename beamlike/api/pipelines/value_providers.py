"""Values that are given when a pipeline runs, or may be.

Source: Beam Python ``options.value_provider``.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar

import attrs

from beamlike.errors import PipelineError

__all__ = [
    "NestedValueProvider",
    "RuntimeValueProvider",
    "RuntimeValueProviderError",
    "StaticValueProvider",
    "ValueProvider",
    "check_accessible",
]


class RuntimeValueProviderError(PipelineError, RuntimeError):
    """A value was read before the pipeline runs that gives it."""


class ValueProvider:
    """A value, for functions to read with ``get()``. Source: Beam ``ValueProvider``."""

    def is_accessible(self) -> bool:
        """Whether the value is known."""
        raise NotImplementedError(f"{type(self).__name__} does not define is_accessible")

    def get(self) -> Any:
        """The value."""
        raise NotImplementedError(f"{type(self).__name__} does not define get")


class StaticValueProvider(ValueProvider):
    """A value that is known. Equal to the value, too.

    Args:
        value_type: Makes the value of what is given.
        value: What is given.
    """

    def __init__(self, value_type: Callable[[Any], Any], value: Any) -> None:
        self.value_type, self.value = value_type, value_type(value)

    def is_accessible(self) -> bool:
        return True

    def get(self) -> Any:
        return self.value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StaticValueProvider):
            return (self.value_type, self.value) == (other.value_type, other.value)
        return bool(self.value == other)

    def __hash__(self) -> int:
        return hash((self.value_type, self.value))

    def __str__(self) -> str:
        return str(self.value)


@attrs.frozen(str=False)
class RuntimeValueProvider(ValueProvider):
    """An option that was not set: its default, read while the pipeline runs.

    Args:
        option_name: The option.
        value_type: The type of its values.
        default_value: What it is if it is not given.
    """

    runtime_options: ClassVar[Mapping[str, Any] | None] = None
    experiments: ClassVar[set[str]] = set()

    option_name: str
    value_type: Callable[[Any], Any]
    default_value: Any
    _sent: bool = attrs.field(default=False, eq=False, kw_only=True)

    def __reduce__(self) -> Any:
        # A function is sent to where the pipeline runs.
        return _sent, (self.option_name, self.value_type, self.default_value)

    @classmethod
    def set_runtime_options(cls, options: Mapping[str, Any] | None) -> None:
        """Say that a pipeline runs, with these options."""
        cls.runtime_options = options
        cls.experiments = cls.get_value("experiments", set, set())

    @classmethod
    def get_value(cls, option_name: str, value_type: Callable[[Any], Any], default: Any) -> Any:
        """The value of an option of the pipeline that runs; a default if it was not set."""
        given = (cls.runtime_options or {}).get(option_name)
        return value_type(given) if given else default

    def is_accessible(self) -> bool:
        return self._sent or RuntimeValueProvider.runtime_options is not None

    def get(self) -> Any:
        if not self.is_accessible():
            raise RuntimeValueProviderError(
                f"{self}.get() not called from a runtime context; call it in a function of the "
                "pipeline"
            )
        return self.get_value(self.option_name, self.value_type, self.default_value)

    def __str__(self) -> str:
        kind = getattr(self.value_type, "__name__", self.value_type)
        return (
            f"RuntimeValueProvider(option: {self.option_name}, type: {kind}, default_value: "
            f"{self.default_value!r})"
        )


def _sent(name: str, kind: Callable[[Any], Any], default: Any) -> RuntimeValueProvider:
    return RuntimeValueProvider(name, kind, default, sent=True)


class NestedValueProvider(ValueProvider):
    """What a function makes of another value.

    Args:
        value: The other one.
        translator: The function.
    """

    def __init__(self, value: ValueProvider, translator: Callable[[Any], Any]) -> None:
        self.value, self.translator = value, translator

    def is_accessible(self) -> bool:
        return self.value.is_accessible()

    def get(self) -> Any:
        if not hasattr(self, "cached_value"):
            self.cached_value = self.translator(self.value.get())
        return self.cached_value

    def __str__(self) -> str:
        name = getattr(self.translator, "__name__", self.translator)
        return f"NestedValueProvider(value: {self.value}, translator: {name})"


def check_accessible(value_provider_list: list[str]) -> Callable[[Callable[..., Any]], Any]:
    """A decorator for methods that read values of these attributes.

    Raises:
        RuntimeValueProviderError: When the method is called: one is not known.
    """
    assert isinstance(value_provider_list, list), "the names of attributes"

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
            for name in value_provider_list:
                provider = self
                for part in name.split("."):
                    provider = getattr(provider, part)
                if not provider.is_accessible():
                    raise RuntimeValueProviderError(f"{provider} not accessible")
            return method(self, *args, **kwargs)

        return checked

    return decorate
