"""The text of what a call that cannot work is answered with."""

from collections.abc import Callable
from typing import Any

import pytest


def refusal(error: type[BaseException], call: Callable[..., object], *args: Any, **kw: Any) -> str:
    """The whole text of the error that a call raises, as who catches ``error`` reads it."""
    return str(_raised(error, call, *args, **kw))


def exact_refusal(error: type[BaseException], call: Callable[..., object], *args: Any, **kw: Any):
    """The text of an error that is of this class, and of none below it."""
    refused = _raised(error, call, *args, **kw)
    assert type(refused) is error
    return str(refused)


def _raised(error: type[BaseException], call: Callable[..., object], *args: Any, **kw: Any):
    with pytest.raises(error) as refused:
        call(*args, **kw)
    return refused.value
