"""The sessions of a table, to be asked for: open ones, and closed ones for as long as they stay.

Source: Kafka Streams ``SessionStore``, ``ReadOnlySessionStore``, ``Materialized``.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import attrs

from beamlike.dialects.stages import Bounds, check_key
from beamlike.errors import WindowError, WindowingError
from beamlike.model.options import by_name
from beamlike.model.time import DurationLike, InstantLike, duration_ms, instant_ms, show_duration

_KEY = 'the key of the sessions, such as "joe"'
_TIME = "a time, such as 60_000 (ms) or a datetime"


@attrs.frozen
class Materialized:
    """How a table's sessions are kept for those who ask.

    Source: Kafka Streams ``Materialized``.
    """

    name: str
    retention: int | None = None
    caching: bool = True

    @classmethod
    def as_(cls, name: str) -> "Materialized":
        """A store of this name. It keeps sessions for as long as they are open.

        Raises:
            WindowingError: The name is no text.
        """
        if not isinstance(name, str) or not name:
            raise WindowingError(
                f'the name of a store must be a text such as "visits", got {name!r}'
            )
        return cls(name)

    def with_retention(self, retention: DurationLike) -> "Materialized":
        """Closed sessions stay, until their end is so far behind the latest end of any.

        A record that is in time merges with one that stays, also where that has been a result on
        close: it is then in two results, as in Kafka. A query over a DataFrame keeps open sessions
        only.

        Raises:
            TimeError: The duration cannot be read.
        """
        return attrs.evolve(self, retention=duration_ms(retention, "with_retention retention"))

    def with_caching_disabled(self) -> "Materialized":
        """As Kafka without a record cache: what the store hides cannot be joined either.

        It hides a session whose end is ``retention`` behind the latest end. With Kafka's retention
        by default, the gap and the grace, that is one millisecond before the session is closed: a
        record of that millisecond that would have joined it is aggregated alone, and not stored.
        A longer retention hides no open session.
        """
        return attrs.evolve(self, caching=False)

    def kept_for(self, gap: int, grace: int) -> int:
        """The retention (ms). By default a millisecond more than Kafka's, which hides a session
        one millisecond before it is closed; see `with_caching_disabled`.

        Raises:
            WindowError: Sessions would be gone before they are closed.
        """
        if self.retention is None:
            return gap + grace + self.caching
        if self.retention < gap + grace:
            raise WindowError(
                f"the retention of the session store {self.name!r} must be no smaller than its "
                f"inactivity gap plus the grace period, got "
                f"retention={show_duration(self.retention)}, gap={show_duration(gap)} and "
                f"grace={show_duration(grace)}; give {show_duration(gap + grace)} or more"
            )
        return self.retention


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
        sessions: What is in it.
        retention: For how long it keeps sessions (ms), which decides how long its segments are.

    Source: Kafka Streams ``ReadOnlySessionStore``.
    """

    def __init__(self, sessions: Iterable[Session], retention: int) -> None:
        self.retention = retention
        self._sessions: dict[tuple[Any, int, int], Any] = {
            (session.key, *session.window): session.value for session in sessions
        }

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
        return [
            it
            for it in self.fetch(key, to_key=to_key, backward=backward)
            if it.window[1] >= least and it.window[0] <= most
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
        found = self._sorted(
            (session for session in self._sessions if least <= session[2] <= most), False
        )
        found.sort(key=lambda it: (it.window[1], it.window[0]))
        return found[::-1] if backward else found

    @by_name("fetch", WindowingError, key=_KEY)
    def fetch(self, key: Any, *, to_key: Any = None, backward: bool = False) -> list[Session]:
        """The sessions of a key, or of all keys from ``key`` to ``to_key``.

        Raises:
            WindowingError: The key is None, or there is one that has no place in that range: its
                values and theirs have no order.
        """
        _check_key(key)
        if to_key is None:
            return self._sorted(
                (session for session in self._sessions if session[0] == key), backward
            )
        try:
            found = [session for session in self._sessions if key <= session[0] <= to_key]
        except TypeError as cause:
            raise WindowingError(
                f"to_key: keys from {key!r} to {to_key!r} cannot be compared with the others "
                f"of the store ({cause}); give both as the keys are, or leave to_key out"
            ) from cause
        return self._sorted(found, backward)

    @by_name("fetch_session", WindowingError, key=_KEY, start=_TIME, end=_TIME)
    def fetch_session(self, key: Hashable, start: InstantLike, end: InstantLike) -> Any:
        """The aggregate of the session with exactly these bounds (ms); None if there is none.

        Raises:
            TimeError: A time cannot be read.
            WindowingError: The key is None, or cannot be hashed.
        """
        _check_key(key)
        return self._sessions.get(
            (key, _millis("fetch_session start", start), _millis("fetch_session end", end))
        )

    def all(self, *, backward: bool = False) -> list[Session]:
        """The sessions of all keys."""
        return self._sorted(iter(self._sessions), backward)

    def _sorted(self, found: Iterable[tuple[Any, int, int]], backward: bool) -> list[Session]:
        ordered = sorted(found, key=lambda it: (it[2], key_bytes(it[0]), it[1]))
        if backward:  # those that are equal, too
            ordered.reverse()
        return [Session(it[0], (it[1], it[2]), self._sessions[it]) for it in ordered]


class SessionStore(ReadOnlySessionStore):
    """Sessions that are put and removed.

    A session is there as long as its end is less than ``retention`` behind the latest end that
    was ever put.

    Source: Kafka Streams ``SessionStore``.
    """

    def __init__(self, retention: int) -> None:
        super().__init__((), retention)
        self._latest: int | None = None

    def put(self, key: Hashable, window: Bounds, value: Any) -> None:
        """Keep a session; a value of None removes it.

        Raises:
            WindowingError: The key is None or cannot be hashed, or these are no bounds.
        """
        _check_bounds(window)
        _check_key(key)
        self._latest = window[1] if self._latest is None else max(self._latest, window[1])
        if value is None:
            self.remove(key, window)
        else:
            self._sessions[key, *window] = value
        for session in list(self._sessions):
            if session[2] <= self._latest - self.retention:
                del self._sessions[session]

    def remove(self, key: Hashable, window: Bounds) -> None:
        """Remove a session, if it is there.

        Raises:
            WindowingError: The key is None or cannot be hashed, or these are no bounds.
        """
        _check_bounds(window)
        _check_key(key)
        self._sessions.pop((key, *window), None)


def key_bytes(key: object) -> bytes:
    """A key as Kafka's stores and buffers compare it. Of a text its UTF-8; of what is serialized by
    no rule of ours nothing, so that such keys are all equal."""
    encoded = key.encode(errors="surrogatepass") if isinstance(key, str) else key
    return encoded if isinstance(encoded, bytes) else b""


def _check_key(key: object) -> None:
    if key is None:
        raise WindowingError(
            "a key must not be None, because a record without one is in no session; give a key, "
            "and all() has the sessions of every key"
        )
    check_key(key)


def _check_bounds(window: Bounds) -> None:
    match window:
        case (int(), int()):
            return
    raise WindowingError(
        "window must be the times (ms) of a session's first and last record, such as (0, 60_000), "
        f"got {window!r}"
    )


def _millis(argument: str, instant: InstantLike) -> int:
    """A time (ms). Any number is one: Kafka's ranges end at those of 64 bits."""
    return instant if type(instant) is int else instant_ms(instant, argument)
