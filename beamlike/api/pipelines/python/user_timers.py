"""Timers whose instants are `Timestamp`, or numbers of seconds."""

from typing import Any

import attrs

from beamlike.api.pipelines import user_timers
from beamlike.api.pipelines.python.reading import in_millis, moment
from beamlike.api.pipelines.python.timestamps import Timestamp


@attrs.frozen
class Clockface(user_timers.Clockface):
    """Instants are `Timestamp`, and numbers count seconds."""

    def instant(self, at: Any, argument: str) -> int:
        return moment(at, argument).instant_ms

    def length(self, span: Any, argument: str) -> int:
        return in_millis(span, argument)

    def in_window(self, at: int, latest: int | None) -> int:
        # Programs set timers to `window.end`, which is just after the last instant of the window.
        return at - 1 if latest == at - 1 else at

    def shown(self, millis: int) -> Timestamp:
        return Timestamp.of_millis(millis)
