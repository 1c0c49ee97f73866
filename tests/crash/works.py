"""All queries that are killed. All read the same files, and each has a folder of its own."""

from collections.abc import Mapping
from typing import Final

from tests.crash.frames import FRAMES, WITH_CLOCK, WITHOUT_DATA
from tests.crash.grouped import GROUPED
from tests.crash.pipelines import PIPELINES, PIPELINES_WITH_CLOCK
from tests.crash.sdk import OF_THE_SDK
from tests.crash.tables import TABLES
from tests.crash.topics import TOPICS
from tests.crash.work import Work

WORKS: Final[Mapping[str, Work]] = {
    work.name: work
    for work in (
        *FRAMES,
        *PIPELINES,
        *WITH_CLOCK,
        *PIPELINES_WITH_CLOCK,
        *WITHOUT_DATA,
        *GROUPED,
        *TABLES,
        *OF_THE_SDK,
        *TOPICS,
    )
}
"""By name. The first is the one that faults happen to."""
