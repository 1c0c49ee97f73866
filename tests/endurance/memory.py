"""How much memory Spark's processes have, read from ``/proc`` of Linux."""

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import frozen

from tests.benchmarks.workers import descendants, status_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROC: Final = Path("/proc")


@frozen
class Memory:
    """Resident bytes. All 0 where there is no ``/proc``."""

    java: int
    """Java with its heap, and the state store's own memory beside it."""
    worker: int
    """The largest Python worker."""


def memory_now() -> Memory:
    """Of the processes below this one."""
    java, workers = 0, [0]
    for process, program in descendants():
        resident = status_bytes(process, "VmRSS") or 0
        if program == "java":
            java += resident
        elif program.startswith("python"):
            workers.append(resident)
    return Memory(java, max(workers))


@frozen
class Held:
    """What this process, Java and the Python workers have. All 0 where there is no ``/proc``."""

    driver: int
    """Resident bytes of this process."""
    java: int
    """Resident bytes of Java."""
    heap: int
    """Bytes of Java's heap in use after a collection."""
    workers: int
    """Resident bytes of the largest Python worker."""
    threads: int
    """Of this process and of Java."""
    files: int
    """Descriptors that this process and Java have open."""
    processes: int
    """Below this one."""


def held_now(spark: "SparkSession") -> Held:
    """What is held at this moment; the heap after a collection of garbage.

    That comes last: Spark cleans up after one, in up to a hundred threads.
    """
    gc.collect()
    memory, below = memory_now(), list(descendants())
    counted = [_PROC / "self", *(process for process, program in below if program == "java")]
    return Held(
        driver=status_bytes(_PROC / "self", "VmRSS") or 0,
        java=memory.java,
        workers=memory.worker,
        threads=sum(_entries(process / "task") for process in counted),
        files=sum(_entries(process / "fd") for process in counted),
        processes=len(below),
        heap=heap_used(spark),
    )


def _entries(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


def heap_used(spark: "SparkSession") -> int:
    """Bytes of Java's heap that are in use after a collection."""
    java = spark.sparkContext._jvm.java.lang  # type: ignore[union-attr]
    java.System.gc()
    runtime = java.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())
