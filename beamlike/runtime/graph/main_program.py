"""What the main program defines, in processes whose main program is another one.

A worker's ``__main__`` is not that of the program that built the pipeline. Functions travel with
what they use; but a pickle that says ``__main__.Order``, as a plain one does, says it of the
process that reads it. With a `MainProgram` beside the functions the name is there, and saved values
know their class by it: a program that was killed and started again finds the class that it has now.
"""

import pickle
import sys
from types import FunctionType
from typing import Any, Final

import attrs

from beamlike.runtime.graph.sending import pickled, refusal

_MAIN: Final = "__main__"
_installed: dict[str, Any] = {}
"""What `MainProgram` has added to the main program of this process, by name."""
_latest: bytes = b""


@attrs.frozen
class MainProgram:
    """Members of a main program. A process that unpickles this has them in its ``__main__``, too.

    Args:
        blob: A pickle of them, by name.
    """

    blob: bytes

    @classmethod
    def of_this_process(cls, *, with_functions: bool) -> "MainProgram":
        """The classes that the main program of this process defines, also its functions if asked
        for. What cannot go to another process is left out.
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
    """Add the members to ``__main__``, but for names that are something else there."""
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
