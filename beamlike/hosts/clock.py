"""The computer's own time. The only place in beamlike that reads the time of day.

Machines get the time as an event, and a `TestStream` has a time of its own. Live runs read it here.
"""

import time


def wall_clock_ms() -> int:
    """Milliseconds since the Unix epoch, as this computer believes. It may step back."""
    return round(wall_clock_seconds() * 1_000)


def wall_clock_seconds() -> float:
    """Seconds since the Unix epoch, with what is less than one."""
    return time.time()
