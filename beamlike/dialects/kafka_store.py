"""The sessions of a table, to be asked for: open ones, and closed ones for as long as they stay.

Source: Kafka Streams ``ReadOnlySessionStore``.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import attrs

from beamlike.dialects.stages import Bounds, check_key
from beamlike.errors import WindowingError
from beamlike.model.options import by_name
from beamlike.model.time import InstantLike, instant_ms

_KEY = 'the key of the sessions, such as "joe"'
_TIME = "a time, such as 60_000 (ms) or a datetime"


@attrs.frozen
class Session:
    """A session of a key: the times of its first and last record (ms), and its aggregate."""

    key: Any
    window: Bounds
    value: Any


class ReadOnlySessionStore:
    """Sessions by key and bounds. Looking for something finds it in order of its end, then of its
    key, if that is text or bytes, and then of its start.

    Args:
        sessions: What is in it, whenever that is asked.
        retention: For how long it keeps sessions (ms), which decides how long its segments are.

    Source: Kafka Streams ``ReadOnlySessionStore``.
    """

    def __init__(self, sessions: Callable[[], Iterable[Session]], retention: int) -> None:
        self._sessions, self.retention = sessions, retention

    @by_name("find_sessions", WindowingError, key=_KEY, earliest_end=_TIME, latest_start=_TIME)
    def find_sessions(
        self,
        key: Any,
        earliest_end: InstantLike,
        latest_start: InstantLike,
        *,
        to_key: Any = None,
        backward: bool = False,
    ) -> list[Session]:
        """The sessions of a key that end at ``earliest_end`` or later and start at
        ``latest_start`` or before (ms): what a record joins that is a gap away from both.

        Args:
            to_key: Those of all keys from ``key`` to this one, by the order of their values.
            backward: The latest first.

        Raises:
            TimeError: A time cannot be read.
            WindowingError: As `fetch`.
        """
        least = _millis("find_sessions earliest_end", earliest_end)
        most = _millis("find_sessions latest_start", latest_start)
        sessions = self.fetch(key, to_key=to_key, backward=backward)
        return [
            session
            for session in sessions
            if session.window[1] >= least and session.window[0] <= most
        ]

    @by_name("find_sessions_ending", WindowingError, from_=_TIME, to=_TIME)
    def find_sessions_ending(
        self, from_: InstantLike, to: InstantLike, *, backward: bool = False
    ) -> list[Session]:
        """The sessions of all keys that end in this range (ms), both ends included. They come in
        order of end, start and key, as results do on close.

        Raises:
            TimeError: A time cannot be read.
        """
        least = _millis("find_sessions_ending from_", from_)
        most = _millis("find_sessions_ending to", to)
        ending = [session for session in self.all() if least <= session.window[1] <= most]
        ending.sort(key=lambda session: session.window[::-1])
        return ending[::-1] if backward else ending

    @by_name("fetch", WindowingError, key=_KEY)
    def fetch(self, key: Any, *, to_key: Any = None, backward: bool = False) -> list[Session]:
        """The sessions of a key, or of all keys from ``key`` to ``to_key``.

        Raises:
            WindowingError: The key is None, or there is one that has no place in that range: its
                values and theirs have no order.
        """
        _check_key(key)
        sessions = self.all(backward=backward)
        if to_key is None:
            return [session for session in sessions if session.key == key]
        try:
            return [session for session in sessions if key <= session.key <= to_key]
        except TypeError as cause:
            raise WindowingError(
                f"to_key: keys from {key!r} to {to_key!r} cannot be compared with the others "
                f"of the store ({cause}); give both as the keys are, or leave to_key out"
            ) from cause

    @by_name("fetch_session", WindowingError, key=_KEY, start=_TIME, end=_TIME)
    def fetch_session(self, key: Hashable, start: InstantLike, end: InstantLike) -> Any:
        """The aggregate of the session with exactly these bounds (ms); None if there is none.

        Raises:
            TimeError: A time cannot be read.
            WindowingError: The key is None, or cannot be hashed.
        """
        _check_key(key)
        window = _millis("fetch_session start", start), _millis("fetch_session end", end)
        values = {(session.key, session.window): session.value for session in self._sessions()}
        return values.get((key, window))

    def all(self, *, backward: bool = False) -> list[Session]:
        """The sessions of all keys."""
        ordered = sorted(self._sessions(), key=_place)
        return ordered[::-1] if backward else ordered  # those that are equal, too


def key_bytes(key: object) -> bytes:
    """A key as Kafka's stores and buffers compare it. Of a text its UTF-8; of what is serialized by
    no rule of ours nothing, so that such keys are all equal."""
    encoded = key.encode(errors="surrogatepass") if isinstance(key, str) else key
    return encoded if isinstance(encoded, bytes) else b""


def _place(session: Session) -> tuple[int, bytes, int]:
    start, end = session.window
    return end, key_bytes(session.key), start


def _check_key(key: object) -> None:
    if key is None:
        raise WindowingError(
            "a key must not be None, because a record without one is in no session; give a key, "
            "and all() has the sessions of every key"
        )
    check_key(key)


def _millis(argument: str, instant: InstantLike) -> int:
    """A time (ms). Any number is one: Kafka's ranges end at those of 64 bits."""
    return instant if type(instant) is int else instant_ms(instant, argument)
