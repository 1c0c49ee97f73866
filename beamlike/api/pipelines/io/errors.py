"""What is raised where files cannot be read or written."""

from collections.abc import Mapping
from typing import Any

from beamlike.errors import PipelineError, PipelineTypeError


class BeamIOError(PipelineError, OSError):
    """Files could not be found, read or written.

    Args:
        msg: What went wrong.
        exception_details: What was raised for each file, where several were asked for.

    Source: Beam ``BeamIOError``.
    """

    def __init__(self, msg: str, exception_details: Mapping[Any, Any] | None = None) -> None:
        details = "" if exception_details is None else f" with exceptions {exception_details}"
        super().__init__(f"{msg}{details}")
        self.exception_details = exception_details


def check_text(value: object, what: str) -> None:
    """Refuse what is neither text nor a value that comes later.

    Raises:
        PipelineTypeError: With what to write.
    """
    if not isinstance(value, str) and not callable(getattr(value, "get", None)):
        raise PipelineTypeError(
            f"{what} must be a string or a ValueProvider, got {value!r}; write the path as text"
        )


def check_number(value: object, what: str, least: int = 0) -> None:
    """Refuse what is no whole number from this one on.

    Raises:
        PipelineError: With what to write.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise PipelineError(f"{what} must be a whole number of {least} or more, got {value!r}")
