"""The options of a stage besides its windows, and their defaults.

They are not in `beamlike.runtime.plan`, so that they can be read without loading Arrow.
"""

from typing import Final, Literal

OnError = Literal["drop", "fail"]
Render = Literal["retractions", "changelog", "upserts"]
MachineName = Literal["auto", "columnar", "reference"]

SHARDS: Final = 8
"""The number of groups that keys are spread over. It is part of a checkpoint's layout."""
BUCKETS: Final = 64
"""The number of parts of each shard's keys, which are read and stepped separately. It is part of a
checkpoint's layout."""
WAKE_EVERY: Final = "5 seconds"
"""How often a query that waits on processing time gets a micro-batch."""
MAX_AHEAD: Final = "1 hour"
"""How far ahead of the clock the event time of a stream's row may lie. Synchronized clocks differ
by seconds, and one that missed the end of summer time by an hour. An event time further ahead comes
from a wrong clock, or was read in the wrong time zone."""
DEFAULT_RESOLUTION: Final = "microseconds"
"""What a tick is in a query over a DataFrame."""
STAGE: Final = "beamlike"
"""The name of a stage."""
PLAN_METADATA: Final = "beamlike"
"""The key in the metadata of the column ``pane`` for the explanation of its grouping."""
