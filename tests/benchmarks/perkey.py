"""The obvious way to write sessions and states on ``transformWithState``: a group for each key."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from beamlike.model.time import duration_ms

OUTPUT = "key string, start_ms long, end_ms long, n long, s long"


class PerKeySessions(StatefulProcessor):
    """Keeps a key's open sessions in one state value, and a timer at each session's end."""

    def __init__(self, gap: int) -> None:
        self.gap = gap

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.sessions = handle.getValueState(
            "sessions", "s array<struct<start: long, end: long, n: long, s: long>>"
        )

    def load(self) -> list[list[int]]:
        saved = self.sessions.get()
        return [list(session) for session in saved[0]] if saved else []

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:
        spans = self.load() + [[row.t, row.t + self.gap, 1, row.v] for row in rows]
        merged: list[list[int]] = []
        for span in sorted(spans):
            if merged and span[0] < merged[-1][1]:
                last = merged[-1]
                last[1] = max(last[1], span[1])
                last[2] += span[2]
                last[3] += span[3]
            else:
                merged.append(span)
        yield from self.close_and_keep(key, merged, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        yield from self.close_and_keep(key, self.load(), timerValues.getCurrentWatermarkInMs())

    def close_and_keep(self, key: Any, spans: list[list[int]], watermark: int) -> Iterator[Row]:
        kept = [span for span in spans if span[1] > watermark]
        if kept:
            self.sessions.update(([tuple(span) for span in kept],))
            self.handle.registerTimer(min(span[1] for span in kept))
        else:
            self.sessions.clear()
        for start, end, n, s in (span for span in spans if span[1] <= watermark):
            yield Row(key=key[0], start_ms=start, end_ms=end, n=n, s=s)

    def close(self) -> None:
        pass


def per_key_sessions(df: DataFrame, gap: str) -> DataFrame:
    """Sessions with count and sum; ``df`` has a watermark on ``ts``."""
    rows = df.select("key", F.unix_millis("ts").alias("t"), "v", "ts")
    sessions = rows.groupBy("key").transformWithState(
        PerKeySessions(duration_ms(gap, "gap")), OUTPUT, "append", "EventTime"
    )
    return sessions.select(
        "key",
        F.timestamp_millis("start_ms").alias("start"),
        F.timestamp_millis("end_ms").alias("end"),
        "n",
        "s",
    )


class PerKeyCounts(StatefulProcessor):
    """Numbers the rows of a key, and keeps their sum."""

    def init(self, handle: Any) -> None:
        self.seen = handle.getValueState("seen", "n long, total long")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        n, total = self.seen.get() if self.seen.exists() else (0, 0)
        for frame in rows:
            numbers = range(n + 1, n + 1 + len(frame))
            yield pd.DataFrame({"key": key[0], "n": numbers})
            n, total = n + len(frame), total + int(frame["v"].sum())
        self.seen.update((n, total))

    def close(self) -> None:
        pass


def per_key_counts(df: DataFrame) -> DataFrame:
    """The rows of each key numbered; ``df`` has a watermark on ``ts``."""
    counted = df.groupBy("key").transformWithStateInPandas(
        PerKeyCounts(), "key string, n long", "append", "EventTime"
    )
    return counted.select("key", "n")
