"""What users' values and exceptions say, as text that any process, file and terminal can take.

Such a text goes out of a worker in messages, dead letters, metrics and logs. Python lets a text
hold half a surrogate pair, which has no form in UTF-8: Spark waits for ever for a worker that fails
while it reports a failure. ``__str__`` and ``__repr__`` of users' classes may raise, and what they
return may have NUL in it, or megabytes.
"""

import reprlib
from collections.abc import Callable, Iterator
from traceback import StackSummary, walk_tb
from types import FrameType, TracebackType
from typing import Final

USER_RAISED: Final = (Exception, SystemExit)
"""What counts as a failure of a function of the user's. ``sys.exit()`` in it does not end a query
that drops failures. `KeyboardInterrupt`, `GeneratorExit` and other exceptions that are not an
`Exception` end whatever runs."""

UserRaised = Exception | SystemExit

LONGEST: Final = 2_000
"""Characters of an exception's text that are kept."""
_SHORT: Final = 300
"""Characters of the line that names a cause."""
_FRAMES: Final = 12
"""Frames of a traceback that are shown."""
_MACHINERY: Final = frozenset(("beamlike", "pyspark"))


def safe_text(text: str, longest: int = LONGEST) -> str:
    r"""A text without what UTF-8, Arrow or a database cannot hold, cut where it is too long.

    >>> safe_text("not ascii: \ud83d\0")
    'not ascii: \\ud83d\\x00'
    >>> safe_text("ab" * 20, longest=10)
    'ababababab... (30 characters more)'
    """
    cut = len(text) - longest
    if cut > 0:
        text = f"{text[:longest]}... ({cut} characters more)"
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def short_repr(value: object) -> str:
    """The ``repr`` of a value, as `reprlib.repr` shortens it, whatever its ``__repr__`` does."""
    return _said(value, reprlib.repr, "repr")


def safe_repr(value: object) -> str:
    """The ``repr`` of a value, not shortened unless it is very long, whatever its ``__repr__``
    does."""
    return _said(value, repr, "repr")


def safe_str(value: object) -> str:
    """The ``str`` of a value, whatever its ``__str__`` does."""
    return _said(value, str, "text")


def _said(value: object, to_text: Callable[[object], str], noun: str) -> str:
    try:
        return safe_text(to_text(value))
    except USER_RAISED as error:
        return f"<{_name(value)}, whose {noun} raises {_name(error)}>"


def problem_of(error: BaseException) -> str:
    """The type and the text of an exception, as ``ValueError: ...``."""
    return f"{_name(error)}: {safe_str(error)}"


def short_problem(error: BaseException) -> str:
    """The type and the text of an exception, on one line, which is not long."""
    return safe_text(" ".join(problem_of(error).split()), _SHORT)


def _name(value: object) -> str:
    return safe_text(type(value).__name__, _SHORT)


# -- tracebacks ------------------------------------------------------------------------------


def keep_user_frames(error: BaseException) -> None:
    """Take out of an exception of the user's what led to the call of the user's function.

    Of its traceback the frames of beamlike and Spark go, and so does what was handled when the
    function was called: earlier attempts to call it. What the user's code handled stays.
    """
    known: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in known:
        known.add(id(link))
        # A frozen dataclass that is an exception refuses plain assignments.
        object.__setattr__(link, "__traceback__", _of_user(link.__traceback__))
        if not _begins_with_user(link.__context__):
            object.__setattr__(link, "__context__", None)
        link = link.__cause__ or link.__context__


def _begins_with_user(error: BaseException | None) -> bool:
    trace = None if error is None else error.__traceback__
    return trace is not None and not _is_machinery(trace.tb_frame)


def _of_user(trace: TracebackType | None) -> TracebackType | None:
    """The frames of the user's code and of what that calls."""
    frames = []
    begun = False
    while trace is not None:
        machinery = _is_machinery(trace.tb_frame)
        begun = begun or not (machinery or _is_called_by_machinery(trace.tb_frame))
        if begun and not machinery:
            frames.append(trace)
        trace = trace.tb_next
    kept: TracebackType | None = None
    for frame in reversed(frames):
        kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def _is_machinery(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__")
    return isinstance(module, str) and module.partition(".")[0] in _MACHINERY


def _is_called_by_machinery(frame: FrameType) -> bool:
    """Whether this is a part of the standard library that stands between beamlike and the user."""
    return frame.f_globals.get("__name__") in ("contextlib", "copy", "functools")


def traceback_lines(error: BaseException) -> Iterator[str]:
    """The user's traceback of an exception, innermost call last, as far as it fits on a screen."""
    for link in _chain(error):
        if link is not error:
            yield f"  because of {short_problem(link)}"
        stack = StackSummary.extract(walk_tb(_of_user(link.__traceback__)))
        lines = [line for entry in stack.format() for line in entry.splitlines()]
        if left_out := max(len(lines) - 2 * _FRAMES, 0):
            lines[_FRAMES:-_FRAMES] = [f"  ... {left_out} lines more ..."]
        yield from (safe_text(line, _SHORT) for line in lines)


def _chain(error: BaseException) -> list[BaseException]:
    """What the user's code has handled when it raised an exception, the first one first."""
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in links and len(links) < 3:
        links.insert(0, link)
        handled = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        link = handled if _begins_with_user(handled) else None
    return links
