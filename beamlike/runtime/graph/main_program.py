"""Members of the main program in processes that have another main program.

A worker's ``__main__`` is not the program that built the pipeline. Functions travel with what they
use. But a plain pickle names a class as ``__main__.Order``, and that name is looked up in the
process that reads it. A `MainProgram` that travels with the functions adds the name there. Saved
values find their class by this name: a program that is started again finds its present class.
"""

import pickle
import sys
from types import FunctionType
from typing import Any, Final

import attrs

from beamlike.runtime.graph.sending import pickled, refusal

_MAIN: Final = "__main__"
_installed: dict[str, Any] = {}
"""The objects that `MainProgram` has added to the main program of this process, by name."""
_latest: bytes = b""


@attrs.frozen
class MainProgram:
    """Members of a main program. Unpickling this adds them to ``__main__`` of the process.

    Args:
        blob: A pickle of them, by name.
    """

    blob: bytes

    @classmethod
    def of_this_process(cls, *, with_functions: bool) -> "MainProgram":
        """The classes that the main program of this process defines, and its functions if asked
        for. Those that cannot go to another process are left out.
        """
        kinds = (type, FunctionType) if with_functions else (type,)
        members = vars(sys.modules[_MAIN]).items()
        chosen = {
            name: member
            for name, member in members
            if isinstance(member, kinds) and _is_of_main(member, name) and refusal(member) is None
        }
        return cls(pickled(chosen))

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self.blob,)


def _is_of_main(member: type | FunctionType, name: str) -> bool:
    return (member.__module__, member.__qualname__) == (_MAIN, name)


def _opened(blob: bytes) -> MainProgram:
    """Add the members to ``__main__``, except names that are already something else there."""
    global _latest
    if blob != _latest:
        names = vars(sys.modules[_MAIN])
        for name, member in pickle.loads(blob).items():
            if name not in names or name in _installed:
                names[name] = _installed[name] = member
        _latest = blob
    return MainProgram(blob)


def name_in_main(thing: Any) -> str | None:
    """The name under which a `MainProgram` has added a class or a function; None: it has not."""
    name: str = thing.__qualname__
    held: Any = None
    for number, part in enumerate(name.split(".")):
        held = getattr(held, part, None) if number else _installed.get(part)
    return name if held is thing else None
