"""The live view of pipelines that run on Spark: each grouping by its label, with what it counts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam

pytestmark = [pytest.mark.spark, pytest.mark.browser]

LATE = bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1))
PANES = ("panes_early", "panes_on_time", "panes_late")


class Visits:
    """Rows from JSON files, and the pipeline over them: visits an hour, and users with visits."""

    def __init__(self, spark: Any, home: Path) -> None:
        self._inbox, self._sent = home / "in", 0
        self._inbox.mkdir()
        rows = spark.readStream.schema("user string, at string").json(str(self._inbox))
        pipeline = beam.Pipeline()
        visits = (
            pipeline
            | "Visits" >> beam.FromDataFrame(rows, timestamp="at", watermark="10 minutes")
            | "User" >> beam.Map(lambda row: (row.user, 1))
            | "Hours"
            >> beam.WindowInto(
                beam.FixedWindows("1 hour"),
                trigger=LATE,
                allowed_lateness="1 hour",
                accumulation_mode="accumulating",
            )
            | "Per user" >> beam.CombinePerKey(sum)
        )
        users = (
            visits
            | "Any" >> beam.Map(lambda pair: ("everybody", pair[1]))
            | "Of all" >> beam.CombinePerKey(max)
        )
        users | beam.WriteRows("who string, visits long", lambda rows, number: rows.count())
        self.result = pipeline.run("spark", spark, checkpoint=str(home / "kept"), shards=2)
        self.query = self.result.query

    def send(self, *rows: tuple[str, str | None]) -> None:
        hidden = self._inbox / f".{self._sent}.json"
        lines = [json.dumps({"user": user, "at": at and f"2020-01-01 {at}Z"}) for user, at in rows]
        hidden.write_text("\n".join(lines), encoding="utf-8")
        hidden.rename(self._inbox / f"{self._sent}.json")
        self._sent += 1
        self.query.processAllAvailable()


@pytest.fixture
def visits(spark: Any, tmp_path: Path) -> Iterator[Visits]:
    found = Visits(spark, tmp_path)
    yield found
    found.result.cancel()


@pytest.mark.nightly
def test_each_grouping_of_a_pipeline_tells_its_panes_drops_windows_and_watermark(
    visits: Visits, browser: Any
) -> None:
    with bl.live_view(visits.query) as view:
        page = browser.new_page()
        page.goto(view.url)
        visits.send(("ann", "00:05:00"), ("ann", "00:25:00"), ("bob", None))
        visits.send(("ann", "01:15:00"), ("bob", "01:16:00"))
        visits.send(("ann", "00:30:00"))
        visits.send(("ann", "02:30:00"))
        visits.send(("ann", "00:31:00"))
        visits.result.cancel()
        page.locator("#state.stopped").wait_for()

        rows = page.locator("#groupings tr").all()
        last = visits.query.recentProgress[-1].observedMetrics
        assert [row.locator("th, td").all_inner_texts() for row in rows] == [
            ["Of all", "2020-01-01 02:20:00", "1", *since(last["Of all"], 3, 2, 1), "0 +0"],
            ["Per user", "2020-01-01 02:20:00", "3", *since(last["Per user"], 1, 3, 1), "1 +1"],
            ["Visits", "a source", "", "", "", "", "1 +0"],
        ]
        rows = page.locator("#drops tr").all()
        assert [row.locator("th, td").all_inner_texts()[:2] for row in rows] == [
            ["expired", "Per user"],
            ["null_timestamp", "Visits"],
        ]
        page.close()
    # Each happened once, however often Spark looked at its rows.
    progress = [it.observedMetrics for it in visits.query.recentProgress]
    assert sum(it["Visits"].elements for it in progress) == 8
    assert sum(it["Per user"].elements for it in progress) == 7
    lost = {("Per user", "expired"): 1, ("Visits", "null_timestamp"): 1}
    assert dict(visits.result.lost_counts) == lost
    assert [it["Per user"].drop_example for it in progress if it["Per user"].drop_example] == [
        "expired, key='ann', window [2020-01-01 00:00:00, 2020-01-01 01:00:00), at 2020-01-01 "
        "00:31:00"
    ]


def since(last: Any, *totals: int) -> list[str]:
    """Panes by timing as the page shows them: all, and those of the last micro-batch."""
    return [f"{n} +{getattr(last, name)}" for n, name in zip(totals, PANES, strict=True)]
