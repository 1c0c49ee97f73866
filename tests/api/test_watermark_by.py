"""Inputs whose parts have watermarks of their own: partitions, files, devices."""

import logging
from functools import partial
from typing import Any

import pytest

import beamlike as bl
from beamlike.cli.state_text import inputs_of
from beamlike.errors import ColumnError, WindowingError
from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import SourceClock, SourceProgress
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.logs import log_silent
from beamlike.runtime.stepping import stepper_of
from beamlike.testing import QueryTest
from tests.support.machines.in_shard import DictStore
from tests.support.machines.rows_of_outputs import plan_of
from tests.support.queries.rows import ON_BOTH_AT_NIGHT, counts_by_hour
from tests.support.queries.saved_locally import saved_stages

HITS = "page string, at timestamp, partition int"


def hours(hits: Any, **how: Any) -> bl.Stream:
    given = {"watermark_by": "partition", "idle_after": "5 minutes"} | how
    rows = bl.stream(hits, timestamp="at", watermark="10 minutes", **given)
    hours = rows.window(bl.FixedWindows("1 hour"))
    return hours.group("page", {"n": bl.count()}, shards=2, buckets=2)


shown = partial(counts_by_hour, key="page")


def hit(at: str, partition: int | None, page: str = "tea") -> dict[str, Any]:
    return {"page": page, "at": at, "partition": partition}


@ON_BOTH_AT_NIGHT
def test_a_part_that_is_behind_holds_the_others_back_and_is_not_late(host: Any) -> None:
    with QueryTest(hours, HITS, host=host) as query:
        came = [
            shown(query.send(hit("12:05", 0), hit("12:06", 1))),
            shown(query.send(hit("14:00", 0))),  # without parts the hour would end here
            shown(query.send(hit("12:50", 1))),
            shown(query.send(hit("13:10", 1))),
        ]
    assert came == [[], [], [], ["tea 12:00 3"]]


@ON_BOTH_AT_NIGHT
def test_a_silent_part_no_longer_holds_the_others_back(host: Any) -> None:
    with QueryTest(hours, HITS, host=host) as query:
        query.send(hit("12:05", 0), hit("12:06", 1))
        came = [
            shown(query.send(hit("14:00", 0))),
            shown(query.advance_processing_time("5 minutes")),
            shown(query.send(hit("14:01", 0))),
            shown(query.advance_processing_time("1 ms")),
        ]
        # It comes back behind the watermark, which never goes back, and holds it from there on.
        came += [
            shown(query.send(hit("12:50", 1))),
            shown(query.send(hit("13:55", 1))),
            shown(query.send(hit("15:30", 0))),
            shown(query.send(hit("15:10", 1))),
        ]
    assert came == [
        *([], [], [], ["tea 12:00 2"]),
        *(["tea dropped as expired"], [], [], ["tea 13:00 1", "tea 14:00 2"]),
    ]


@ON_BOTH_AT_NIGHT
def test_when_all_parts_are_silent_the_input_is_idle(host: Any) -> None:
    def job(hits: Any) -> bl.Stream:
        return hours(hits, idle="advance")

    with QueryTest(job, HITS, host=host) as query:
        query.send(hit("12:45", 0), hit("12:46", 1))
        came = [
            shown(query.advance_processing_time("5 minutes")),
            shown(query.advance_processing_time("23 minutes")),
            shown(query.advance_processing_time("1 minute")),
        ]
    assert came == [[], [], ["tea 12:00 2"]]


def look(query: QueryTest, often: str) -> list[str]:
    """What comes out in three hours in which no row comes, looked at so often."""
    before = len(query.rows)
    for _ in range({"500 ms": 200, "7 s": 20, "1 minute": 2, "3 hours": 1}[often]):
        query.advance_processing_time(often)
    query.advance_processing_time("3 hours")
    return shown(query.rows[before:])


SILENT = pytest.mark.parametrize("silent_first", [0, 1], ids=["that is ahead", "that is behind"])
OFTEN = pytest.mark.parametrize("often", ["500 ms", "7 s", "1 minute", "3 hours"])


@SILENT
@OFTEN
def test_what_comes_out_of_silent_parts_does_not_depend_on_when_the_clock_is_read(
    often: str, silent_first: int
) -> None:
    query = QueryTest(lambda hits: hours(hits, idle_after="1 minute"), HITS)
    query.send(hit("12:05", 0), hit("12:06", 1))
    for partition in (silent_first, 1 - silent_first):
        query.send(hit("12:50" if partition else "14:20", partition))
        query.advance_processing_time("10 s")
    # The one that is ahead has reached 14:10.
    assert look(query, often) == ["tea 12:00 3"]


@SILENT
@OFTEN
def test_what_comes_out_of_silent_sources_does_not_depend_on_when_the_clock_is_read(
    often: str, silent_first: int
) -> None:
    def job(ahead: Any, behind: Any) -> bl.Stream:
        sources = [
            bl.stream(hits, timestamp="at", watermark="10 minutes", idle_after="1 minute")
            for hits in (ahead, behind)
        ]
        rows = bl.flatten([source.window(bl.FixedWindows("1 hour")) for source in sources])
        return rows.group("page", {"n": bl.count()})

    query = QueryTest(job, {"ahead": HITS, "behind": HITS})
    for name in (("ahead", "behind"), ("behind", "ahead"))[silent_first]:
        query.send(hit("14:20" if name == "ahead" else "12:50", None), to=name)
        query.advance_processing_time("10 s")
    assert look(query, often) == ["tea 12:00 1"]


@ON_BOTH_AT_NIGHT
def test_parts_that_are_silent_together_end_the_windows_of_all_but_the_last(host: Any) -> None:
    with QueryTest(hours, HITS, host=host) as query:
        query.send(hit("14:20", 0), hit("12:20", 1))
        came = [
            shown(query.advance_processing_time("5 minutes")),
            shown(query.advance_processing_time("1 ms")),
            shown(query.send(hit("14:30", 1))),
            shown(query.send(hit("12:59", 1))),
        ]
    assert came == [[], ["tea 12:00 1"], [], ["tea dropped as expired"]]


@pytest.mark.parametrize("restarts", [False, True])
def test_parts_are_known_after_a_restart_and_null_is_one_of_them(restarts: bool) -> None:
    query = QueryTest(hours, HITS)
    came = []
    for rows in ([hit("12:05", None), hit("12:06", 1)], [hit("14:00", 1)], [hit("13:10", None)]):
        came.append(shown(query.send(*rows)))
        if restarts:
            query.restart()
    assert came == [[], [], ["tea 12:00 2"]]


def test_another_step_before_the_grouping_keeps_the_parts() -> None:
    def job(hits: Any) -> bl.Stream:
        rows = bl.stream(
            hits, timestamp="at", watermark="0 s", watermark_by="partition", idle_after="1 hour"
        )
        pages = rows.select("page").window(bl.FixedWindows("1 hour"))
        return pages.group("page", {"n": bl.count()}).group([], {"pages": bl.count()})

    query = QueryTest(job, HITS)
    counts = [
        [row["pages"] for row in query.send(*rows)]
        for rows in ([hit("12:05", 0), hit("12:06", 1, "milk")], [hit("14:00", 0)])
    ]
    assert counts == [[], []]
    assert [row["pages"] for row in query.send(hit("13:00", 1))] == [2]


def test_the_moves_of_a_test_are_those_of_all_parts() -> None:
    query = QueryTest(hours, HITS)
    query.send(hit("12:05", 0), hit("12:06", 1))
    assert shown(query.advance_watermark_to("13:00")) == ["tea 12:00 2"]


def test_saved_state_shows_the_parts_that_are_behind() -> None:
    query = QueryTest(hours, HITS)
    query.send(hit("12:05", 0), hit("12:06", 1), hit("12:01", 2), hit("12:07", 3))
    (stage,) = saved_stages(query)
    (progress,) = inputs_of(stage)
    head, _, parts = progress.partition("; ")
    assert head.startswith("a source whose latest event is of 12:07:00, updated at ")
    assert [part.partition(", updated")[0] for part in parts.split("; ")] == [
        "4 parts, the last '2' at 12:01:00",
        "'0' at 12:05:00",
        "'1' at 12:06:00",
    ]


def test_a_worker_that_logs_warns_of_a_silent_part(caplog: pytest.LogCaptureFixture) -> None:
    plan = plan_of(
        bl.WindowingStrategy(bl.FixedWindows(60_000)),
        clocks=Clocks((SourceClock(10, idle_after=50, by_part=True),)),
    )
    stepper, store, silent = stepper_of(plan), DictStore(), []
    for clock, parts in ((0, "ab"), (51, "a"), (52, "a"), (53, "b"), (200, "a")):
        updates = [SourceProgress(0, 100, part) for part in parts]
        _, status = stepper.step(store, ShardInput([], updates, clock), 0)
        silent.append(status.silent)
        with caplog.at_level(logging.WARNING, "beamlike.panes"):
            log_silent(plan.name, status.silent)
    assert silent == [(), ("b",), (), (), ("b",)]
    assert [record.getMessage() for record in caplog.records] == [
        f"{plan.name}: part 'b' is idle, and no longer waited for"
    ] * 2


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        (
            {"idle_after": None},
            WindowingError,
            "watermark_by='partition' needs idle_after, because a part that falls silent would "
            'hold the others back for ever; add idle_after="5 minutes", or as long as no row may '
            "mean nothing",
        ),
        (
            {"watermark_by": "at"},
            ColumnError,
            "watermark_by: column 'at' is timestamp; give one of text or whole numbers, such as "
            "Kafka's partition",
        ),
        ({"watermark_by": "shard"}, ColumnError, "watermark_by: there is no column 'shard'"),
    ],
)
def test_what_cannot_tell_parts_apart_is_refused(how: Any, error: Any, message: str) -> None:
    with pytest.raises(error) as refused:
        QueryTest(lambda hits: hours(hits, **how), HITS)
    assert str(refused.value).startswith(message)
