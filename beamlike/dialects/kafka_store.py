"""The sessions of a table, to be asked for: open ones, and closed ones for as long as they stay.

Source: Kafka Streams ``SessionStore``, ``ReadOnlySessionStore``, ``Materialized``.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import attrs

from beamlike.dialects.rows import Bounds
from beamlike.errors import WindowError
from beamlike.model.time import DurationLike, duration_ms

__all__ = ["Materialized", "ReadOnlySessionStore", "Session", "SessionStore"]

_SHORTEST_SEGMENT = 60_000
"""A segment of Kafka's stores is never shorter than this (ms)."""


@attrs.frozen
class Materialized:
    """How a table's sessions are kept for those who ask.

    Source: Kafka Streams ``Materialized``.
    """

    name: str
    retention: int | None = None

    @classmethod
    def as_(cls, name: str) -> "Materialized":
        """A store of this name. It keeps sessions for as long as they are open."""
        return cls(name)

    def with_retention(self, retention: DurationLike) -> "Materialized":
        """Closed sessions stay, until their end is so far behind the latest end of any.

        Raises:
            TimeError: The duration cannot be read.
        """
        return attrs.evolve(self, retention=duration_ms(retention, "with_retention retention"))

    def kept_for(self, gap: int, grace: int) -> int:
        """The retention (ms). By default a millisecond more than Kafka's, which hides a session
        one millisecond before it is closed.

        Raises:
            WindowError: Sessions would be gone before they are closed.
        """
        if self.retention is None:
            return gap + grace + 1
        if self.retention < gap + grace:
            raise WindowError(
                f"the retention of the session store {self.name!r} must be no smaller than its "
                f"inactivity gap plus the grace period, got retention={self.retention} ms, "
                f"gap={gap} ms and grace={grace} ms; give {gap + grace} ms or more"
            )
        return self.retention


@attrs.frozen
class Session:
    """A session of a key: the times of its first and last record (ms), and its aggregate."""

    key: Any
    window: Bounds
    value: Any


class ReadOnlySessionStore:
    """Sessions by key and bounds. Looking for something finds it in order of end and start.

    Args:
        sessions: What is in it.
        retention: For how long it keeps sessions (ms), which decides how long its segments are.

    Source: Kafka Streams ``ReadOnlySessionStore``.
    """

    def __init__(self, sessions: Iterable[Session], retention: int) -> None:
        self.retention = retention
        self._sessions: dict[tuple[Any, int, int], Any] = {
            (it.key, *it.window): it.value for it in sessions
        }

    def find_sessions(
        self,
        key: Any,
        earliest_end: int,
        latest_start: int,
        *,
        to_key: Any = None,
        backward: bool = False,
    ) -> list[Session]:
        """The sessions of a key that end at ``earliest_end`` or later and start at
        ``latest_start`` or before (ms): what a record joins that is a gap away from both.

        Args:
            to_key: Those of all keys from ``key`` to this one, by the order of their values.
            backward: The latest first.
        """
        return [
            it
            for it in self.fetch(key, to_key=to_key, backward=backward)
            if it.window[1] >= earliest_end and it.window[0] <= latest_start
        ]

    def find_sessions_ending(self, from_: int, to: int, *, backward: bool = False) -> list[Session]:
        """The sessions of all keys that end in this range (ms), both ends included."""
        return self._sorted((it for it in self._sessions if from_ <= it[2] <= to), backward)

    def fetch(self, key: Any, *, to_key: Any = None, backward: bool = False) -> list[Session]:
        """The sessions of a key, or of all keys from ``key`` to ``to_key``."""
        return self._sorted(
            (
                it
                for it in self._sessions
                if (it[0] == key if to_key is None else key <= it[0] <= to_key)
            ),
            backward,
        )

    def fetch_session(self, key: Hashable, start: int, end: int) -> Any:
        """The aggregate of the session with exactly these bounds (ms); None if there is none."""
        return self._sessions.get((key, start, end))

    def all(self, *, backward: bool = False) -> list[Session]:
        """The sessions of all keys."""
        return self._sorted(iter(self._sessions), backward)

    @property
    def segment_interval(self) -> int:
        """How long a segment is (ms): half of the retention, and a minute at least."""
        return max(self.retention // 2, _SHORTEST_SEGMENT)

    def segments(self) -> Mapping[int, list[Session]]:
        """The sessions by the segments of time in which they end, counted from 1970.

        Kafka keeps a segment as one store and drops it as a whole. Here it is only a view.

        Source: Kafka Streams ``AbstractSegments``, ``SessionKeySchema``.
        """
        found: dict[int, list[Session]] = {}
        for session in self.all():
            found.setdefault(session.window[1] // self.segment_interval, []).append(session)
        return found

    def _sorted(self, found: Iterable[tuple[Any, int, int]], backward: bool) -> list[Session]:
        ordered = sorted(found, key=lambda it: (it[2], it[1]), reverse=backward)
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
        """Keep a session; a value of None removes it."""
        self._latest = window[1] if self._latest is None else max(self._latest, window[1])
        if value is None:
            self.remove(key, window)
        else:
            self._sessions[key, *window] = value
        for gone in [it for it in self._sessions if not self._is_there(it[2])]:
            del self._sessions[gone]

    def remove(self, key: Hashable, window: Bounds) -> None:
        """Forget a session, if it is there."""
        self._sessions.pop((key, *window), None)

    def _is_there(self, end: int) -> bool:
        return self._latest is None or end > self._latest - self.retention
