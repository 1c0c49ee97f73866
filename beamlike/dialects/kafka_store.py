"""The sessions of a table, to be asked for: open ones, and closed ones for as long as they stay.

Source: Kafka Streams ``SessionStore``, ``ReadOnlySessionStore``, ``Materialized``.
"""

from collections.abc import Hashable
from typing import Any

import attrs

from beamlike.dialects.rows import Bounds
from beamlike.errors import WindowError
from beamlike.model.time import DurationLike, duration_ms

__all__ = ["Materialized", "Session", "SessionStore"]


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


class SessionStore:
    """Sessions by key and bounds.

    A session is there as long as its end is less than ``retention`` behind the latest end that
    was ever put. Looking for something finds it in order of end and start.
    """

    def __init__(self, retention: int) -> None:
        self.retention = retention
        self._latest: int | None = None
        self._sessions: dict[tuple[Hashable, int, int], Any] = {}

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

    def find_sessions(
        self, key: Hashable, earliest_end: int, latest_start: int, *, backward: bool = False
    ) -> list[Session]:
        """The sessions of a key that end at ``earliest_end`` or later and start at
        ``latest_start`` or before (ms): what a record joins that is a gap away from both."""
        return self._sorted(
            (
                it
                for it in self._sessions
                if it[0] == key and it[2] >= earliest_end and it[1] <= latest_start
            ),
            backward,
        )

    def find_sessions_ending(self, from_: int, to: int) -> list[Session]:
        """The sessions of all keys that end in this range (ms), both ends included."""
        return self._sorted((it for it in self._sessions if from_ <= it[2] <= to), False)

    def fetch(self, key: Hashable) -> list[Session]:
        """The sessions of a key."""
        return self._sorted((it for it in self._sessions if it[0] == key), False)

    def fetch_session(self, key: Hashable, start: int, end: int) -> Any:
        """The aggregate of the session with exactly these bounds (ms); None if there is none."""
        return self._sessions.get((key, start, end))

    def all(self) -> list[Session]:
        """The sessions of all keys."""
        return self._sorted(iter(self._sessions), False)

    def _is_there(self, end: int) -> bool:
        return self._latest is None or end > self._latest - self.retention

    def _sorted(self, found: Any, backward: bool) -> list[Session]:
        ordered = sorted(found, key=lambda it: (it[2], it[1]), reverse=backward)
        return [Session(it[0], (it[1], it[2]), self._sessions[it]) for it in ordered]
