"""Sessions that a test puts and removes, to be asked for as those of a table of Kafka.

Source: Kafka Streams ``SessionStore``.
"""

from collections.abc import Hashable

from beamlike.dialects import kafka
from beamlike.dialects.kafka_store import Session
from beamlike.dialects.stages import Bounds


class SessionStore(kafka.ReadOnlySessionStore):
    """A session is there as long as its end is less than ``retention`` behind the latest end that
    was ever put; a value of None removes it."""

    def __init__(self, retention: int) -> None:
        self.kept: dict[tuple[Hashable, Bounds], Session] = {}
        self.latest: int | None = None
        super().__init__(lambda: self.kept.values(), retention)

    def put(self, key: Hashable, window: Bounds, value: object) -> None:
        self.latest = window[1] if self.latest is None else max(self.latest, window[1])
        self.kept[key, window] = Session(key, window, value)
        self.kept = {
            name: session
            for name, session in self.kept.items()
            if session.value is not None and session.window[1] > self.latest - self.retention
        }

    def remove(self, key: Hashable, window: Bounds) -> None:
        self.kept.pop((key, window), None)
