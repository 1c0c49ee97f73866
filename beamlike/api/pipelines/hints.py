"""What to write instead of what hands that know Beam Python write and nothing here answers to."""

from datetime import datetime, timedelta
from typing import Any, Final

__all__ = ["add_hint"]

_A_TIME: Final = "a time is a number of milliseconds here; write "
_AS_DATETIME: Final = "beam.Timestamp(millis=...), which is a datetime"

_OF_NUMBERS: Final = {
    "micros": f"{_A_TIME}1000 * ... for microseconds",
    "predecessor": f"{_A_TIME}... - 1 for the time before it",
    "seconds": f"{_A_TIME}... // 1000 for seconds",
    "successor": f"{_A_TIME}... + 1 for the time after it",
    "to_rfc3339": f"{_A_TIME}beam.Timestamp(millis=...).isoformat() for text",
    "to_utc_datetime": f"{_A_TIME}{_AS_DATETIME}",
    **dict.fromkeys(
        ("astimezone", "date", "isoformat", "strftime", "timestamp"), f"{_A_TIME}{_AS_DATETIME}"
    ),
}
"""What Beam Python's times and windows' bounds can do."""

_OF_DATETIMES: Final = {
    "micros": "beam.Timestamp is a datetime here; write round(1e6 * ....timestamp())",
    "to_rfc3339": "beam.Timestamp is a datetime here; write isoformat()",
    "to_utc_datetime": "beam.Timestamp is a datetime here, in UTC",
}

_OF_TIMEDELTAS: Final = {
    "micros": "beam.Duration is a timedelta here; write ... // timedelta(microseconds=1)"
}


def add_hint(error: Exception) -> None:
    """Add to the text of what a function of the user's raised, if Beam Python would not have."""
    hint = None
    if isinstance(error, AttributeError):
        hint = _of_kind(error.obj).get(str(error.name))
    elif isinstance(error, TypeError) and str(error) == "'int' object is not callable":
        hint = _of_call(error)
    if hint is not None:
        error.args = (f"{error}; {hint}",)


def _of_kind(thing: Any) -> dict[str, str]:
    match thing:
        case int() | float():
            return _OF_NUMBERS
        case datetime():
            return _OF_DATETIMES
        case timedelta():
            return _OF_TIMEDELTAS
    return {}


def _of_call(error: TypeError) -> str | None:
    """For the only method of a window that is an attribute here."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or "max_timestamp" not in trace.tb_frame.f_code.co_names:
        return None
    return "the end of a window is no method here; write window.max_timestamp without ()"
