"""Arguments of a function beside its element: in which places they are, and context managers.

Source: Beam Python ``DoFn.SetupContextParam``, ``DoFn.BundleContextParam``.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, ClassVar

import attrs


@attrs.frozen(init=False)
class ContextParam:
    """What ``with constructor(*args, **kwargs)`` gives, as the default of a parameter.

    Args:
        context_manager_constructor: Makes the context manager, or is one.
        args: What it is made with.
        kwargs: Likewise.
        name: Taken, so that programs of Beam need no change.
    """

    is_asked_for: ClassVar[bool] = True

    constructor: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __init__(
        self,
        context_manager_constructor: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self.__attrs_init__(context_manager_constructor, tuple(args), kwargs or {})

    def entered(self, stack: ExitStack) -> Any:
        """What the context manager gives, until the stack is closed."""
        return stack.enter_context(self.constructor(*self.args, **self.kwargs))


class BundleContextParam(ContextParam):
    """The same, entered for each bundle and not once for the function."""


class Contexts:
    """The context managers that a function asks for."""

    def __init__(self, called: Callable[..., Any]) -> None:
        self.asked = {
            name: it.default
            for name, it in _parameters(called).items()
            if isinstance(it.default, ContextParam)
        }
        self.values: dict[str, Any] = {}
        self._open: list[ExitStack] = []

    def __bool__(self) -> bool:
        return bool(self.asked)

    def __getstate__(self) -> dict[str, Any]:
        return {"asked": self.asked, "values": {}, "_open": []}

    def enter(self, for_bundle: bool) -> None:
        """Enter those of a bundle, or those of the function."""
        stack = ExitStack()
        for name, it in self.asked.items():
            if isinstance(it, BundleContextParam) is for_bundle:
                self.values[name] = it.entered(stack)
        self._open.append(stack)

    def leave(self) -> None:
        """Leave those that were entered last."""
        if self._open:
            self._open.pop().close()


def by_name(
    called: Callable[..., Any], args: tuple[Any, ...], skipped: set[str], takes_element: bool
) -> dict[str, Any]:
    """Arguments by the names of the parameters that they are meant for; empty if places will do.

    They are meant for the parameters after the element that the function does not ask for by a
    default, one after the other. If it is given the parts of a tuple, these fill what has no
    default.

    Args:
        called: The function.
        args: The arguments.
        skipped: The parameters that are filled otherwise.
        takes_element: Whether the first one is the element.
    """
    parameters = [it for it in _parameters(called).values() if it.kind is it.POSITIONAL_OR_KEYWORD]
    if getattr(called, "opens", False):
        parameters = [it for it in parameters if it.default is not it.empty]
    elif takes_element:
        parameters = parameters[1:]
    meant = [it.name for it in parameters[: len(args) + len(skipped)]]
    if skipped.isdisjoint(meant[: len(args)]):
        return {}
    return dict(zip((name for name in meant if name not in skipped), args, strict=False))


def _parameters(called: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(called).parameters
    except ValueError:  # some functions in C have no signature
        return {}
