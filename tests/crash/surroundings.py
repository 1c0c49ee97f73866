"""What a restart finds changed: cores, attempts, zones and settings of the session, by chance.

What a query goes on with was written under others. None of them may change what comes out.
"""

import json
import random
from collections.abc import Mapping
from typing import Any, Final

import attrs

SPECULATION: Final = "spark.speculation"
_STORE: Final = "spark.sql.streaming.stateStore"
_ROCKSDB: Final = f"{_STORE}.rocksdb"
CHANGELOG: Final = f"{_ROCKSDB}.changelogCheckpointing.enabled"
FORMAT: Final = f"{_STORE}.checkpointFormatVersion"
FILES: Final = "spark.hadoop.fs.AbstractFileSystem.file.impl"
CHECKSUMS: Final = "org.apache.hadoop.fs.local.LocalFs"
"""Of each file of a checkpoint, in one beside it."""
FILE_SYSTEMS: Final = ("steady", "steady", "steady", "unsteady")
"""Of the runs in turn: in each fourth, what a checkpoint lies on fails now and then."""

ZONES: Final = ("UTC", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "spark.sql.session.timeZone": ZONES,
    "spark.sql.shuffle.partitions": ("1", "2", "3", "7"),
    "spark.sql.adaptive.enabled": ("true", "false"),
    FILES: (CHECKSUMS, "org.apache.hadoop.fs.local.RawLocalFs"),
    CHANGELOG: ("true", "true", "false"),
    f"{_ROCKSDB}.boundedMemoryUsage": ("false", "true"),
    f"{_STORE}.minDeltasForSnapshot": ("2", "10"),
    f"{_STORE}.compression.codec": ("lz4", "zstd"),
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.caseSensitive": ("true", "false"),
    "spark.sql.codegen.wholeStage": ("false", "false", "true"),
    "spark.sql.execution.arrow.maxRecordsPerBatch": ("10000", "3"),
    "spark.python.worker.reuse": ("true", "true", "false"),
    "spark.io.compression.codec": ("lz4", "zstd"),
    "spark.serializer": (
        "org.apache.spark.serializer.JavaSerializer",
        "org.apache.spark.serializer.KryoSerializer",
    ),
}
_ALWAYS: Final[Mapping[str, str]] = {
    # Where the memory of RocksDB is bounded.
    f"{_ROCKSDB}.maxMemoryUsageMB": "64",
    # Where tasks are speculated on, that is on several executors: as soon as one is a bit behind.
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "20ms",
}


@attrs.frozen
class Surroundings:
    """Those of one start.

    Args:
        cores: Of the session.
        attempts: How often a task may be tried.
        executors: Processes of their own that run tasks; 0: they run in the driver's Java.
        zone: That of all processes.
        settings: Those of the session.
    """

    cores: int
    attempts: int
    executors: int
    zone: str
    settings: Mapping[str, str]

    @property
    def master(self) -> str:
        """What Spark is to run on."""
        if self.executors:
            return f"local-cluster[{self.executors},{self.cores},512]"
        return f"local[{self.cores},{self.attempts}]"

    def text(self) -> str:
        """The same as JSON, for the command of a child."""
        return json.dumps(attrs.asdict(self))

    @classmethod
    def of(cls, text: str) -> "Surroundings":
        """What a text holds."""
        return cls(**json.loads(text))

    def said(self, before: "Surroundings | None") -> str:
        """What differs from those of the start before, for people."""
        now, was = self._plain(), {} if before is None else before._plain()
        return ", ".join(f"{name} {value}" for name, value in now.items() if was.get(name) != value)

    def _plain(self) -> dict[str, Any]:
        shown = {name: value for name, value in self.settings.items() if name in _CHOICES}
        where = {SPECULATION: self.settings[SPECULATION]} if self.executors else {}
        return {"master": self.master, "TZ": self.zone} | where | shown


def surroundings(
    draw: random.Random, *, executors: bool = True, most_cores: int = 4
) -> Surroundings:
    """Those of the next start, by chance."""
    apart = draw.randrange(6) == 0 and executors
    attempts = draw.choice((1, 2, 4))
    drawn = {name: draw.choice(values) for name, values in _CHOICES.items()}
    speculation = {SPECULATION: draw.choice(("true", "false")), "spark.task.maxFailures": "4"}
    return Surroundings(
        cores=draw.choice((1, 1, 2)) if apart else draw.randint(1, most_cores),
        attempts=attempts,
        executors=2 if apart else 0,
        zone=draw.choice(ZONES),
        settings={**_ALWAYS, **drawn, **(speculation if apart else {SPECULATION: "false"})},
    )
