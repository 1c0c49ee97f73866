"""The options of a stage besides its windows, and their defaults.

Apart from `beamlike.runtime.plan`, so that it can be read without loading Arrow.
"""

from typing import Final, Literal

OnError = Literal["drop", "fail"]
Render = Literal["retractions", "changelog", "upserts"]
MachineName = Literal["auto", "columnar", "reference"]

SHARDS: Final = 8
"""Groups that keys are spread over. Part of a checkpoint's layout, as the next."""
BUCKETS: Final = 64
"""Parts of each shard's keys that are looked at apart from each other."""
WAKE_EVERY: Final = "5 seconds"
"""How often a query that waits on processing time gets a micro-batch."""
MAX_AHEAD: Final = "1 hour"
"""How far ahead of the clock the event time of a stream's row may lie. Clocks that are kept right
differ by seconds, and one that missed the end of summer time by an hour. What is further ahead was
stamped by a clock that is wrong, or read in the wrong time zone."""
DEFAULT_RESOLUTION: Final = "microseconds"
"""What the times of a query over a DataFrame count."""
STAGE: Final = "beamlike"
"""The name of a stage."""
PLAN_METADATA: Final = "beamlike"
"""Under which name the column ``pane`` carries the explanation of its grouping."""
