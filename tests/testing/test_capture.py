"""What a key got in a query becomes a scenario, of which every host makes the same panes."""

import json
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import StateError, WindowError, WindowingError
from beamlike.hosts.local.nodes import run_in_local
from beamlike.runtime.script import Arrive, Run
from beamlike.testing import QueryTest
from beamlike.testing.scenarios.capture import Captured, capture
from beamlike.testing.scenarios.files import differences, transcripts_of
from beamlike.testing.scenarios.writing import scenario_text
from tests.support.queries.saved_locally import saved_stages
from tests.support.refusals import refusal

Row = dict[str, Any]
SCHEMA = "user string, at timestamp, v int"
PARTS: dict[str, Any] = {
    "trigger": bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
    "accumulation": "retracting",
    "allowed_lateness": "1 hour",
}


def visits(rows: Any, window: Any = None, **options: Any) -> bl.Stream:
    stream = bl.stream(rows, timestamp="at", watermark="1 minute")
    windowed = stream.window(window or bl.Sessions("10 minutes"), **PARTS)
    given: dict[str, Any] = {"record": 1_000_000, "shards": 2, "buckets": 2} | options
    return windowed.group("user", {"n": bl.count(), "s": bl.sum("v")}, name="visits", **given)


def hit(user: str, at: str, v: int) -> Row:
    return {"user": user, "at": f"2026-01-01 {at}", "v": v}


MORNING = (
    [hit("ann", "12:00:00", 1), hit("bob", "12:00:30", 2), hit("ann", "12:01:00", 3)],
    [hit("ann", "12:30:00", 4)],
    [hit("ann", "12:05:00", 5), hit("bob", "14:30:00", 9)],
    [hit("ann", "12:06:00", 6)],
)


def played(query: QueryTest, *batches: list[Row]) -> list[Row]:
    return [row for batch in batches for row in query.send(*batch)]


def in_short(rows: list[Row], user: str) -> list[str]:
    """Timing, window and sum of the panes of a user, and what of theirs was dropped."""
    found = []
    for row in rows:
        if row["user"] != user:
            continue
        if row["dropped"] is not None:
            found.append(f"dropped {json.loads(row['dropped']['element'])['v']}")
        else:
            window = row["window"]
            sign = "-" if row["retraction"] else "+"
            span = f"{window['start']:%H:%M}-{window['end']:%H:%M}"
            found.append(f"{sign} {row['pane']['timing']} {span} {row['s']}")
    return found


def of_scenario(captured: Captured, run: Run | None = None) -> list[str]:
    """The same of what a scenario brings out."""
    found = []
    for output in (run or captured.run).outputs:
        effect: Any = output.effect
        if hasattr(effect, "reason"):
            found.append(f"dropped {effect.element.value}")
        else:
            sign = "-" if effect.retraction else "+"
            start, end = (f"{at // 3600_000 % 24:02}:{at // 60_000 % 60:02}" for at in span(effect))
            found.append(f"{sign} {effect.info.timing.value} {start}-{end} {effect.value}")
    return found


def span(pane: Any) -> tuple[int, int]:
    return pane.window.start, pane.window.end


@pytest.mark.parametrize("machine", ["columnar", "reference"])
@pytest.mark.parametrize("user", ["ann", "bob"])
def test_the_scenario_has_the_panes_and_drops_of_the_query(machine: Any, user: str) -> None:
    query = QueryTest(lambda rows: visits(rows, machine=machine), SCHEMA)
    came = played(query, *MORNING[:2])
    came += query.restart()
    came += played(query, *MORNING[2:])

    captured = capture(saved_stages(query), user, aggregation="sum", column="v")

    assert of_scenario(captured) == in_short(came, user)
    assert of_scenario(captured.tidied()) == in_short(came, user)
    (scenario,) = transcripts_of(scenario_text(captured.document()), "captured").scenarios
    local = run_in_local(scenario.strategy, scenario.combine, scenario.script)
    assert differences(scenario, local) == []


def test_one_result_is_shown_by_the_least_that_brings_it_out() -> None:
    query = QueryTest(visits, SCHEMA)
    played(query, *MORNING)
    captured = capture(saved_stages(query), "ann", column="v").tidied()
    early = "[2026-01-01 12:00:00, 2026-01-01 12:11:00)"
    assert list(captured.results()) == [
        f"   1  EARLY pane 0 of {early}: [1, 3]",
        f"   2  withdrawn pane 0 of {early}: [1, 3]",
        f"   3  ON_TIME pane 1 of {early}: [1, 3]",
        f"   4  withdrawn pane 1 of {early}: [1, 3]",
        "   5  LATE pane 0 of [2026-01-01 12:00:00, 2026-01-01 12:15:00): [1, 3, 5]",
        "   6  ON_TIME pane 0 of [2026-01-01 12:30:00, 2026-01-01 12:40:00): [4]",
        "   7  dropped of [2026-01-01 12:06:00, 2026-01-01 12:16:00), expired: 6",
    ]

    assert steps(captured.shrunk_to(5)) == ["1 3", "watermark 12:29", "5"]
    assert steps(captured.shrunk_to(6)) == ["4", "watermark 14:29"]
    assert steps(captured.shrunk_to(7)) == ["watermark 14:29", "6"]
    with pytest.raises(StateError, match=r"there is no result 8: there are 7, from 1 on"):
        captured.shrunk_to(8)


def steps(captured: Captured) -> list[str]:
    """The script in short."""
    return [
        " ".join(str(element.value) for _, element in step.elements)
        if isinstance(step, Arrive)
        else f"watermark {step.to // 3600_000 % 24:02}:{step.to // 60_000 % 60:02}"
        for step in captured.script
    ]


def test_values_and_keys_may_be_hidden() -> None:
    query = QueryTest(visits, SCHEMA)
    played(query, [hit("ann", "12:00:00", 7), hit("ann", "12:00:01", 7), hit("ann", "12:00:02", 8)])

    hashed = capture(saved_stages(query), "ann", shown="hash")
    again = capture(saved_stages(query), "ann", shown="hash")
    numbered = capture(saved_stages(query), "ann", shown="number")

    first, second, third = values(hashed)
    assert first == second != third
    assert not {"ann", 7, 8} & {hashed.key, first, third}
    assert (again.key, *values(again)) != (hashed.key, first, second, third)
    assert (numbered.key, values(numbered)) == (1, [1, 2, 3])


def values(captured: Captured) -> list[Any]:
    return [
        element.value
        for step in captured.script
        if isinstance(step, Arrive)
        for _, element in step.elements
    ]


def test_a_full_record_says_from_where_on_it_is_whole() -> None:
    query = QueryTest(lambda rows: visits(rows, record=700), SCHEMA)
    played(query, *MORNING)

    captured = capture(saved_stages(query), "ann", column="v")

    assert values(captured) == [6]
    assert captured.document()["notes"] == (
        "The record begins at watermark 2026-01-01 14:29:00. What the key got before is not in it."
    )


def test_a_record_that_was_switched_off_says_where_it_ends_and_begins_anew() -> None:
    recording = [True]
    query = QueryTest(lambda rows: visits(rows, record=1_000_000 * recording[0]), SCHEMA)
    played(query, *MORNING[:2])
    recording[0] = False
    query.restart()
    played(query, MORNING[2])

    captured = capture(saved_stages(query), "ann", column="v")

    assert values(captured) == [1, 3, 4]
    assert captured.document()["notes"] == (
        "The record ends at watermark 2026-01-01 12:29:00. The query stepped on without it."
    )
    recording[0] = True
    query.restart()
    played(query, MORNING[3])
    captured = capture(saved_stages(query), "ann", column="v")
    assert values(captured) == [6]
    assert captured.document()["notes"].startswith("The record begins at watermark")


def test_several_key_columns_and_no_value() -> None:
    def job(rows: Any) -> bl.Stream:
        stream = bl.stream(rows, timestamp="at", watermark="1 minute")
        windowed = stream.window(bl.CalendarDays(1, time_zone="Europe/Rome"), **PARTS)
        return windowed.group(["user", "v"], {"n": bl.count()}, record=1_000_000)

    query = QueryTest(job, SCHEMA)
    played(query, *MORNING)

    by_text = capture(saved_stages(query), "ann, 1")
    by_json = capture(saved_stages(query), '{"user": "ann", "v": 1}')

    assert by_text.key == by_json.key == "ann, 1"
    assert by_text.strategy.window_fn == bl.CalendarDays(1, time_zone="Europe/Rome")
    assert values(by_text) == values(by_json) == [1]


def in_hours(rows: Any, window: Any, **first: Any) -> bl.Stream:
    hours = visits(rows, **first)
    hours = hours if window is None else hours.window(window, **PARTS)
    return hours.group("user", {"n": bl.count()}, name="hours", record=1_000_000)


class Counted:
    seen = bl.state("value")

    def process(self, row: Any, seen: Any) -> Any:
        seen.write((seen.read() or 0) + 1)
        yield (seen.read(),)


def counted(rows: Any) -> Any:
    stream = bl.stream(rows, timestamp="at", watermark="1 minute")
    return stream.apply_per_key("user", Counted(), "n long", name="per key")


@pytest.mark.parametrize(
    ("job", "key", "options", "message"),
    [
        (visits, "joe", {}, "no row of the key 'joe' is in the record, which has 7 rows"),
        (visits, "ann", {"column": "w"}, "the grouping reads no column 'w'; it reads 'v'"),
        (
            lambda rows: visits(rows, record=0),
            "ann",
            {},
            "nothing is recorded of 'visits'; start the query with record=10_000_000",
        ),
        (
            counted,
            "ann",
            {},
            "nothing is recorded of 'per key': pipelines, and functions with states and timers, "
            "keep no record; capture a grouping",
        ),
        (
            lambda rows: in_hours(rows, None, record=0),
            "ann",
            {},
            "the rows of 'hours' bring their windows from the grouping before, and a scenario",
        ),
        (
            lambda rows: in_hours(rows, bl.FixedWindows("1 hour"), record=0),
            "ann",
            {},
            "the rows of 'hours' withdraw others of the grouping before, and no element",
        ),
        (
            lambda rows: in_hours(rows, bl.FixedWindows("1 hour")),
            "ann",
            {},
            "the groupings 'visits', 'hours' have the key 'ann'; choose one by its name",
        ),
    ],
)
def test_what_cannot_be_captured_is_refused(job: Any, key: str, options: Any, message: str) -> None:
    query = QueryTest(job, SCHEMA)
    played(query, *MORNING)

    assert refusal(StateError, lambda: capture(saved_stages(query), key, **options)).startswith(
        message
    )


def test_a_gap_of_the_user_s_own_is_refused() -> None:
    def job(rows: Any) -> bl.Stream:
        return visits(rows, bl.Sessions(lambda row: 60_000), window_input="v")

    query = QueryTest(job, SCHEMA)
    played(query, *MORNING)

    with pytest.raises(WindowError, match="is not the text of a window function"):
        capture(saved_stages(query), "ann")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"record": -1}, "record must be the most bytes that a shard's record may have, got -1"),
        ({"record": "10 MB"}, "record must be the most bytes that a shard's record may have"),
        ({"lift": True}, "record keeps the rows that reach a shard, and lift and hot_key_fanout"),
        ({"hot_key_fanout": 2}, "record keeps the rows that reach a shard, and lift and"),
    ],
)
def test_what_cannot_be_recorded_is_refused(options: Any, message: str) -> None:
    assert refusal(
        WindowingError, lambda: QueryTest(lambda rows: visits(rows, **options), SCHEMA)
    ).startswith(message)


def test_sessions_that_an_event_ends_are_captured_with_the_values_that_end_them() -> None:
    def job(rows: Any) -> bl.Stream:
        return visits(rows, bl.Sessions("10 minutes", ends_with=3), window_input="v")

    with QueryTest(job, SCHEMA) as query:
        played(query, *MORNING)
        captured = capture(saved_stages(query), "ann", aggregation="sum", column="v")
        expected = in_short(query.rows, "ann")
        for given in ({}, {"column": "v", "shown": "hash"}):
            with pytest.raises(StateError, match="the scenario needs these values: --column event"):
                capture(saved_stages(query), "ann", **given)
    assert of_scenario(captured) == expected
    assert "+ EARLY 12:00-12:01 4" in expected


def test_a_session_that_an_event_cuts_short_withdraws_the_longer_one() -> None:
    def job(rows: Any) -> bl.Stream:
        return visits(rows, bl.Sessions("10 minutes", ends_with=9), window_input="v")

    with QueryTest(job, SCHEMA) as query:
        played(query, [hit("ann", "12:00:00", 1), hit("ann", "12:01:00", 2)])
        played(query, [hit("ann", "12:05:00", 9)])
        query.advance_watermark_to_infinity()
        captured = capture(saved_stages(query), "ann", aggregation="sum", column="v")
        assert of_scenario(captured) == in_short(query.rows, "ann")
    assert "- EARLY 12:00-12:11 3" in of_scenario(captured)
    (scenario,) = transcripts_of(scenario_text(captured.document()), "captured").scenarios
    local = run_in_local(scenario.strategy, scenario.combine, scenario.script)
    assert differences(scenario, local) == []
