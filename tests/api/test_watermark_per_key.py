"""Groupings in which each key has a watermark of its own: devices that are hours apart."""

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.cli.state_text import keys_of
from beamlike.errors import StateError, TestStreamError, UnsupportedError
from beamlike.hosts.local.nodes import run_in_local
from beamlike.testing import QueryTest
from beamlike.testing.scenarios.capture import capture
from beamlike.testing.scenarios.files import differences, transcripts_of
from beamlike.testing.scenarios.writing import scenario_text
from tests.support.queries.rows import ON_BOTH_AT_NIGHT, Row, counts_by_hour
from tests.support.queries.saved_locally import saved_stages

READINGS = "device string, at timestamp, v int"


def source(readings: Any, **how: Any) -> bl.Stream:
    return bl.stream(readings, timestamp="at", **({"watermark": "10 minutes"} | how))


def hours(readings: Any, **options: Any) -> bl.Stream:
    how = {it: options.pop(it) for it in ("watermark", "idle_after", "idle") if it in options}
    lateness = options.pop("lateness", "0 s")
    windowed = source(readings, **how).window(bl.FixedWindows("1 hour"), allowed_lateness=lateness)
    if lateness != "0 s":
        windowed = windowed.window(accumulation="accumulating")
    given = {"watermark_per_key": True, "shards": 2, "buckets": 2} | options
    return windowed.group("device", {"n": bl.count()}, **given)


shown = partial(counts_by_hour, key="device")


def reading(device: str | None, at: str, v: int = 1) -> Row:
    return {"device": device, "at": at, "v": v}


@ON_BOTH_AT_NIGHT
def test_a_device_hours_behind_is_not_late_and_its_hours_end_by_its_own_rows(host: Any) -> None:
    with QueryTest(hours, READINGS, host=host) as query:
        came = [
            shown(query.send(reading("a", "12:05"), reading("b", "03:05"))),
            shown(query.send(reading("a", "13:10"))),  # b does not hold a back
            shown(query.send(reading("b", "03:50"))),  # a does not make b late
            shown(query.send(reading("b", "04:09"))),
            shown(query.send(reading("b", "04:11"))),
            shown(query.send(reading("b", "03:51"), reading("a", "13:00"))),
        ]
        came.append(shown(query.restart()))
        came.append(shown(query.send(reading("b", "03:52"), reading("c", "01:00"))))
        came.append(shown(query.advance_watermark_to_infinity()))
    assert came == [
        *([], ["a 12:00 1"], [], []),
        ["b 03:00 2"],
        ["b dropped as expired"],
        [],
        ["b dropped as expired"],
        ["a 13:00 2", "b 04:00 2", "c 01:00 1"],
    ]


@ON_BOTH_AT_NIGHT
def test_the_hours_of_a_silent_device_end_by_the_clock(host: Any) -> None:
    def job(readings: Any) -> bl.Stream:
        return hours(readings, watermark="0 s", idle_after="5 minutes", idle="advance")

    with QueryTest(job, READINGS, host=host) as query:
        query.send(reading("a", "12:05"), reading("b", "03:50"))
        came = [shown(query.advance_processing_time("5 minutes"))]
        came.append(shown(query.send(reading("a", "12:06"))))
        came.append(shown(query.advance_processing_time("10 minutes")))  # b stands at 04:00
        came.append(shown(query.advance_processing_time("1 ms")))
        # It comes back behind the watermark that followed the clock, which never goes back.
        came.append(shown(query.send(reading("b", "03:59"))))
        came.append(shown(query.send(reading("b", "04:02"))))
        came.append(shown(query.advance_processing_time("1 hour")))
        came.append(shown(query.advance_processing_time("4 minutes")))
    assert came == [
        *([], []),
        ["b 03:00 1"],
        [],
        ["b dropped as expired"],
        [],
        ["a 12:00 2"],
        ["b 04:00 1"],
    ]


def test_without_a_rule_for_silence_a_silent_device_keeps_its_hours_open() -> None:
    query = QueryTest(hours, READINGS)
    query.send(reading("a", "12:05"))
    assert query.advance_processing_time("10 days") == []
    assert shown(query.send(reading("a", "15:00"))) == ["a 12:00 1"]


def test_a_watermark_outlives_the_windows_of_its_key() -> None:
    query = QueryTest(hours, READINGS)
    query.send(reading("a", "12:05"))
    assert shown(query.send(reading("a", "15:00"))) == ["a 12:00 1"]
    query = QueryTest(lambda rows: hours(rows, watermark="0 s"), READINGS)
    query.send(reading("a", "12:05"), reading("a", "14:00", 2))
    assert saved_stages(query)[0].windows.num_rows == 1
    query.advance_watermark_to_infinity()
    assert saved_stages(query)[0].windows.num_rows == 0
    assert [of_key.key for of_key in saved_stages(query)[0].of_keys] == ["a"]


# -- across restarts -------------------------------------------------------------------------


def restarted(after: Callable[[Any], Any]) -> list[list[str]]:
    """A device that the clock has moved to 04:30, under another query from then on."""

    def job(readings: Any) -> bl.Stream:
        return hours(readings, watermark="0 s", idle_after="5 minutes", idle="advance")

    query = QueryTest(job, READINGS)
    query.send(reading("a", "03:50"))
    query.advance_processing_time("15 minutes")
    query.advance_processing_time("30 minutes")
    return [
        shown(query.restart(after)),
        shown(query.send(reading("a", "03:59"))),
        shown(query.advance_processing_time("1 ms")),
        shown(query.send(reading("a", "04:40"))),
        shown(query.advance_processing_time("1 hour")),
    ]


def test_a_watermark_stays_where_it_was_when_the_rule_for_silence_changes() -> None:
    assert restarted(lambda rows: hours(rows, watermark="0 s")) == [
        *([], ["a dropped as expired"], [], [], [])
    ]
    assert restarted(lambda rows: hours(rows, watermark="30 minutes")) == [
        *([], ["a dropped as expired"], [], [], [])
    ]


def test_a_shorter_delay_ends_windows_at_once() -> None:
    query = QueryTest(lambda rows: hours(rows, watermark="1 hour"), READINGS)
    query.send(reading("a", "12:05"), reading("a", "13:01"), reading("b", "12:59"))
    query.restart(lambda rows: hours(rows, watermark="0 s"))
    assert shown(query.advance_processing_time("1 ms")) == ["a 12:00 1"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (True, False, "the checkpoint has 'one for each key', the query has none"),
        (False, True, "the checkpoint has none, the query has 'one for each key'"),
    ],
)
def test_state_does_not_go_on_with_another_kind_of_watermark(before: bool, after: bool, words: str):
    query = QueryTest(lambda rows: hours(rows, watermark_per_key=before), READINGS)
    query.send(reading("a", "12:05"))
    query.restart(lambda rows: hours(rows, watermark_per_key=after))
    with pytest.raises(StateError, match=f"watermarks: {words}"):
        query.send(reading("a", "12:06"))


def test_a_blob_that_is_gone_or_damaged_stops_the_query() -> None:
    for damage in (lambda blob: None, lambda blob: blob[:-9] + b"X" + blob[-8:]):
        query = QueryTest(lambda rows: hours(rows, shards=1, buckets=1), READINGS)
        query.send(reading("a", "12:05"))
        run: Any = query._run
        (store,) = run._query._stages[0].state.shards.values()
        (number,) = [bucket for bucket in store.blobs if bucket < 0]
        store.write(number, damage(store.blobs[number]))
        says = (
            r"^shard 0 of the 1 of '.+': a blob of .+ bytes cannot be read: it is not what was "
            r"written of its keys' watermarks; nothing was computed from it"
        )
        with pytest.raises(StateError, match=says):
            query.send(reading("a", "12:06"))


# -- with the rest ---------------------------------------------------------------------------


def test_rows_combined_early_are_late_by_the_watermark_of_their_key() -> None:
    query = QueryTest(lambda rows: hours(rows, watermark="0 s", lift=True), READINGS)
    query.send(reading("a", "12:05"), reading("a", "12:06"), reading("b", "03:05"))
    assert shown(query.send(reading("a", "13:00"))) == ["a 12:00 2"]
    came = query.send(reading("a", "12:07"), reading("a", "12:08"), reading("b", "03:06"))
    assert shown(came) == ["a dropped as expired"]
    assert came[0]["dropped"]["count"] == 2


def test_a_clock_that_is_wrong_moves_its_own_device_and_no_further_than_the_clock() -> None:
    query = QueryTest(lambda rows: hours(rows, watermark="0 s"), READINGS, clock="2020-01-01 12:30")
    query.send(reading("a", "2020-01-01 12:05"), reading("b", "2020-01-01 12:06"))
    came = query.send(reading("a", "2020-01-01 13:20"), reading("a", "2020-01-01 19:00"))
    assert shown(came) == ["a dropped as far_future"]
    assert shown(query.send(reading("a", "2020-01-01 12:07"))) == []


def test_rows_of_no_device_move_nothing() -> None:
    query = QueryTest(lambda rows: hours(rows, watermark="0 s"), READINGS)
    query.send(reading("a", "12:05"))
    assert shown(query.send(reading(None, "19:00"))) == ["None dropped as null_key"]
    assert shown(query.send(reading("a", "12:07"))) == []


def test_dropped_rows_name_the_watermark_of_their_key() -> None:
    query = QueryTest(lambda rows: hours(rows, watermark="0 s"), READINGS)
    query.send(reading("a", "12:05"), reading("b", "20:05"))
    query.send(reading("a", "13:05"))
    (row,) = query.send(reading("a", "12:06"))
    assert f"{row['dropped']['watermark']:%H:%M}" == "13:05"
    assert row["dropped"]["missed_ms"] == 5 * 60_000 + 1


def test_saved_state_shows_the_keys_that_are_behind() -> None:
    query = QueryTest(lambda rows: hours(rows, watermark="0 s"), READINGS)
    query.send(*(reading(device, f"1{index}:00") for index, device in enumerate("dabc")))
    (stage,) = saved_stages(query)
    head, *parts = keys_of(stage.of_keys).split("; ")
    assert [
        head.partition(", updated")[0],
        *(part.partition(", updated")[0] for part in parts),
    ] == ["4 keys, the last d at 10:00:00", "a at 11:00:00", "b at 12:00:00"]


def test_a_late_row_is_captured_with_the_watermark_of_its_key() -> None:
    def job(readings: Any) -> bl.Stream:
        return hours(
            readings, watermark="0 s", record=1_000_000, idle_after="5 minutes", idle="advance"
        )

    query = QueryTest(job, READINGS)
    query.send(reading("a", "12:05"), reading("b", "03:50", 2))
    query.send(reading("a", "15:00"), reading("b", "03:52", 3))
    query.advance_processing_time("12 minutes")  # b stands at 03:59
    query.send(reading("a", "15:01"))
    query.restart()
    query.advance_processing_time("2 minutes")
    query.send(reading("b", "03:53", 4))
    query.send(reading("b", "05:53", 5))
    captured = capture(saved_stages(query), "b", aggregation="list").tidied()
    assert [line.strip() for line in captured.results()] == [
        "1  ON_TIME pane 0 of [03:00:00, 04:00:00): [1, 2]",
        "2  dropped of [03:00:00, 04:00:00), expired: 3",
    ]
    (scenario,) = transcripts_of(scenario_text(captured.document()), "captured").scenarios
    local = run_in_local(scenario.strategy, scenario.combine, scenario.script)
    assert differences(scenario, local) == []


def test_the_plan_says_why_it_runs_key_by_key() -> None:
    said = []

    def job(readings: Any) -> bl.Stream:
        grouped = hours(readings)
        said.append(str(bl.explain_plan(grouped)))
        return grouped

    QueryTest(job, READINGS)
    assert "each key has a watermark of its own" in said[0]


@pytest.mark.spark
def test_bounded_rows_come_out_as_ever_and_may_be_grouped_again(spark: Any) -> None:
    rows = [("a", "2020-01-01 12:05:00Z", 1), ("b", "2020-01-01 03:05:00Z", 1)]
    readings = spark.createDataFrame(rows, "device string, at string, v int")
    per_key, usual = (hours(readings, watermark_per_key=each) for each in (True, False))
    counts = per_key.group([], {"n": bl.sum("n")}, name="all")
    assert sorted(per_key.rows.collect()) == sorted(usual.rows.collect())
    assert sum(row.n for row in counts.rows.collect()) == 2


# -- what is refused -------------------------------------------------------------------------


@attrs.frozen
class Refused:
    """A query that cannot be right, and how the message begins."""

    job: Callable[[Any], Any]
    message: str


_DOWNSTREAM = "the rows of 'beamlike' come at the watermarks of their keys (watermark_per_key=True)"


class Total:
    """A function with states."""

    total = bl.state("value")

    def process(self, row: Any, total: Any) -> Any:
        yield {"n": row.n}


REFUSED = {
    "group": Refused(lambda rows: hours(rows).group([], {"n": bl.sum("n")}), _DOWNSTREAM),
    "group per key": Refused(
        lambda rows: hours(rows).group("device", {"n": bl.sum("n")}, watermark_per_key=True),
        _DOWNSTREAM,
    ),
    "deduplicate": Refused(lambda rows: hours(rows).deduplicate("device"), _DOWNSTREAM),
    "apply_per_key": Refused(
        lambda rows: hours(rows).apply_per_key("device", Total(), returns="n long"), _DOWNSTREAM
    ),
    "join": Refused(
        lambda rows: bl.join(
            hours(rows), source(rows).window(bl.FixedWindows("1 hour")), on="device"
        ),
        _DOWNSTREAM,
    ),
    "flatten and group": Refused(
        lambda rows: bl.flatten([hours(rows), hours(rows, name="other")]).group(
            "device", {"n": bl.count()}
        ),
        _DOWNSTREAM,
    ),
    "hot keys": Refused(
        lambda rows: hours(rows, hot_key_fanout=2),
        "watermark_per_key=True in 'beamlike': the groups of hot_key_fanout judge rows of all keys "
        "by one watermark; leave one of the two out, or take lift=True",
    ),
    "panes": Refused(
        lambda rows: hours(rows, watermark_per_key=False).group(
            "device", {"n": bl.sum("n")}, watermark_per_key=True
        ),
        "watermark_per_key=True in 'beamlike 2': the watermark of a key follows the rows that one "
        "source sends of it, and this takes the panes of a grouping; use it in a grouping of",
    ),
    "several inputs": Refused(
        lambda rows: (
            bl.flatten([source(rows), source(rows)])
            .window(bl.FixedWindows("1 hour"))
            .group("device", {"n": bl.count()}, watermark_per_key=True)
        ),
        "watermark_per_key=True in 'beamlike': the watermark of a key follows the rows that one "
        "source sends of it, and this takes several inputs; use it in a grouping of",
    ),
    "parts": Refused(
        lambda rows: (
            source(rows, watermark_by="device", idle_after="1 hour")
            .window(bl.FixedWindows("1 hour"))
            .group("device", {"n": bl.count()}, watermark_per_key=True)
        ),
        "watermark_per_key=True in 'beamlike': the input has watermark_by=, and the keys would "
        "need none of its watermarks; leave one of the two out",
    ),
    "columns": Refused(
        lambda rows: hours(rows, machine="columnar"),
        'machine="columnar" cannot do this: each key has a watermark of its own; leave the',
    ),
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_would_not_be_right_is_refused(which: str) -> None:
    with pytest.raises(UnsupportedError) as refusal:
        QueryTest(REFUSED[which].job, READINGS)
    assert str(refusal.value).startswith(REFUSED[which].message)


def test_a_test_moves_no_watermark_that_only_rows_move() -> None:
    query = QueryTest(hours, READINGS)
    query.send(reading("a", "12:05"))
    with pytest.raises(TestStreamError, match="each key of 'beamlike' has a watermark of its own"):
        query.advance_watermark_to("13:00")
    assert shown(query.advance_watermark_to_infinity()) == ["a 12:00 1"]
