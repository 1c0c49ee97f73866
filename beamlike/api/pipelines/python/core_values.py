"""Values of the core that have other arguments in Beam Python."""

from typing import Any

from beamlike.api.pipelines.beams_own import needs_beams_sdk
from beamlike.model.readable import ReadableABC


class OfTheCore(ReadableABC):
    """Makes values of the core of Beam Python's arguments, and counts all of these as its own.

    A class with it is below one of the core, and says in ``_of`` what that is for its arguments.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not cls.__module__.startswith("beamlike."):
            raise needs_beams_sdk(f"a class below {cls.__mro__[1].__name__}")
        return cls._of(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])

    def _of(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError
