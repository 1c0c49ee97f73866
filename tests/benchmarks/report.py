"""Times as lines of a table and as JSON, and the machine they were taken on."""

import os
import platform
import re
import shutil
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from attrs import asdict, frozen

from tests.benchmarks.workers import CpuSeconds
from tests.benchmarks.works import Bar

MEMORY_BAR: Final = 1 << 30
"""What a Python worker may take, bytes."""

_HEADER: Final = (
    *("work", "what", "events", "keys", "", "median", "min", "max"),
    *("ratio", "bar", "stretch", "", "CPU a run", "driver", "JVM", "workers", "worker"),
)
_LEFT: Final = (0, 1, 4)


@frozen
class Times:
    """All measured micro-batches of one contender."""

    name: str
    engine: str
    samples_ms: tuple[int, ...]
    worker_bytes: int | None
    cpu: tuple[CpuSeconds, ...] = ()
    """Of each whole run."""

    @property
    def cpu_seconds(self) -> float | None:
        """Of the median run."""
        return statistics.median(run.total for run in self.cpu) if self.cpu else None

    @property
    def median_ms(self) -> float:
        return statistics.median(self.samples_ms)


@frozen
class Line:
    """One work at one size of micro-batch."""

    work: str
    title: str
    events: int
    keys: int
    compared: int | None
    """How many results were found equal; None if there was nothing to compare with."""
    subject: Times | None
    baseline: Times | None
    bar: Bar | None
    """None too if the sizes are not those that the bar is meant for."""
    sweep: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the baseline the subject is."""
        if self.subject is None or self.baseline is None:
            return None
        return self.baseline.median_ms / self.subject.median_ms

    @property
    def fits(self) -> bool:
        """Whether every worker stayed below the memory bar."""
        known = [times.worker_bytes or 0 for times in (self.subject, self.baseline) if times]
        return all(peak < MEMORY_BAR for peak in known)

    @property
    def verdict(self) -> str:
        if self.bar is None or self.ratio is None:
            return ""
        if self.ratio < self.bar.least:
            return "missed"
        return "stretch" if self.ratio >= self.bar.stretch else "met"


def table_text(lines: Sequence[Line]) -> str:
    """Two rows for each line: the subject with ratio and verdict, and below it the baseline."""
    rows = [row for line in lines for row in _rows(line)]
    try:
        return _rich_table(rows)
    except ImportError:
        return _plain_table(rows)


def _rows(line: Line) -> list[tuple[str, ...]]:
    ratio, bar = line.ratio, line.bar
    left: tuple[str, ...] = (line.work, line.title, f"{line.events:,}", f"{line.keys:,}")
    right: tuple[str, ...] = (
        "" if ratio is None else f"{ratio:.2f} x",
        "" if bar is None else f"{bar.least:g} x",
        "" if bar is None else f"{bar.stretch:g} x",
        line.verdict,
    )
    rows: list[tuple[str, ...]] = []
    for times in (line.subject, line.baseline):
        if times is not None:
            low, high = min(times.samples_ms), max(times.samples_ms)
            took = (f"{times.median_ms:,.0f} ms", f"{low:,}", f"{high:,}")
            rows.append(
                (*left, times.name, *took, *right, *_cpu(times), _memory(times.worker_bytes))
            )
            left, right = ("",) * len(left), ("",) * len(right)
    return rows


def _cpu(times: Times) -> tuple[str, ...]:
    """Seconds of the processor: all, and of the driver, Java and the Python workers."""
    if not times.cpu:
        return ("-",) * 4
    parts = [statistics.median(getattr(run, name) for run in times.cpu) for name in _CPU_OF]
    return tuple(f"{seconds:,.1f} s" for seconds in (times.cpu_seconds or 0, *parts))


_CPU_OF: Final = ("driver", "jvm", "workers")


def _memory(peak: int | None) -> str:
    if peak is None:
        return "-"
    return f"{peak / 2**20:.0f} MB" if peak < MEMORY_BAR else f"{peak / 2**30:.1f} GB"


def _rich_table(rows: Sequence[tuple[str, ...]]) -> str:
    from io import StringIO

    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(_HEADER):
        table.add_column(name, justify="left" if index in _LEFT else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    out = StringIO()
    Console(file=out, width=250).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _plain_table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[index]) for row in (_HEADER, *rows)) for index in range(len(_HEADER))]
    lines = []
    for row in (_HEADER, *rows):
        cells = (
            cell.ljust(width) if index in _LEFT else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_json(lines: Sequence[Line], described: dict[str, str], scale: float) -> dict[str, Any]:
    """Everything that the table says, and every single time."""
    figures = [
        {**asdict(line), "ratio": line.ratio, "verdict": line.verdict, "fits": line.fits}
        for line in lines
    ]
    return {"machine": described, "scale": scale, "lines": figures}


def machine(spark: Any) -> dict[str, str]:
    """What the times depend on: processor, memory, versions, and the settings of the session."""
    store = spark.conf.get("spark.sql.streaming.stateStore.providerClass").rpartition(".")[2]
    changelog = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": _memory_of_machine(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "java": _java(),
        "spark": f"{spark.version}, {spark.sparkContext.master}",
        "python": platform.python_version(),
        "shuffle partitions": spark.conf.get("spark.sql.shuffle.partitions"),
        "state store": f"{store}, changelog checkpointing {spark.conf.get(changelog, 'false')}",
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        match = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
        if match:
            return match[1]
    return platform.processor() or platform.machine()


def _memory_of_machine() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return "unknown"
    return f"{total / 2**30:.0f} GB"


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    return done.stderr.splitlines()[0] if done.stderr else "unknown"
