"""What is raised where files cannot be read or written."""

from collections.abc import Mapping
from typing import Any

from beamlike.errors import PipelineError


class BeamIOError(PipelineError, OSError):
    """Files could not be found, read or written.

    Args:
        msg: What went wrong.
        exception_details: What was raised for each file, where several were asked for.
    """

    def __init__(self, msg: str, exception_details: Mapping[Any, Any] | None = None) -> None:
        details = "" if exception_details is None else f" with exceptions {exception_details}"
        super().__init__(f"{msg}{details}")
        self.exception_details = exception_details
