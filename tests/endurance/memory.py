"""How much memory Spark's processes have, read from ``/proc`` of Linux."""

from typing import TYPE_CHECKING

from attrs import frozen

from tests.benchmarks.workers import descendants, status_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Memory", "heap_used", "memory_now"]


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


def heap_used(spark: "SparkSession") -> int:
    """Bytes of Java's heap that are in use after a collection."""
    java = spark.sparkContext._jvm.java.lang  # type: ignore[union-attr]
    java.System.gc()
    runtime = java.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())
