"""The loader of transcripts: what it accepts, and what it says to each kind of mistake."""

import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import TranscriptError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive
from beamlike.testing.scenarios.files import differences, load_transcripts, read_transcripts
from beamlike.testing.scenarios.results import _Comparison, to_document
from tests.support.refusals import refusal

Document = dict[str, Any]


def a_scenario() -> Document:
    """Early, on-time and late panes of one minute, and an element that comes too late."""
    history = {"key": "a", "window": [0, 60_000], "timestamp_ms": 59_999}
    return {
        "format": "beamlike-transcript-v1",
        "id": "minute",
        "title": "one minute",
        "windowing": {
            "window": {"fn": "fixed", "size_ms": 60_000, "offset_ms": 0},
            "trigger": {
                "type": "after_watermark",
                "early": {"type": "after_count", "count": 2},
                "late": {"type": "after_count", "count": 1},
            },
            "accumulation": "accumulating",
            "allowed_lateness_ms": 5_000,
            "timestamp_combiner": "end_of_window",
            "closing_behavior": "fire_if_non_empty",
            "on_time_behavior": "fire_always",
        },
        "aggregation": "list",
        "steps": [
            {
                "elements": [
                    {"key": "a", "value": 1, "ts_ms": 0},
                    {"key": "a", "value": 2, "ts_ms": 1},
                ]
            },
            {"advance_watermark_to_ms": 60_000},
            {"advance_processing_time_by_ms": 10},
            {"advance_watermark_to_infinity": True},
            {"elements": [{"key": "a", "value": 3, "ts_ms": 2}]},
        ],
        "complete": True,
        "panes": [
            history
            | {"step": 0, "value": [1, 2], "timing": "EARLY", "index": 0}
            | {"nonspeculative_index": -1, "is_first": True, "is_last": False},
            history
            | {"step": 1, "value": [1, 2], "timing": "ON_TIME", "index": 1}
            | {"nonspeculative_index": 0, "is_first": False, "is_last": False},
        ],
        "dropped": [
            {"step": 4, "key": "a", "value": 3, "ts_ms": 2, "window": [0, 60_000]}
            | {"reason": "expired"}
        ],
    }


def save(folder: Path, document: object) -> Path:
    file = folder / "case.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def load_one(folder: Path, document: Document) -> Any:
    (scenario,) = load_transcripts(save(folder, document))
    return scenario


# -- what it accepts -----------------------------------------------------------------------


def test_a_scenario_is_read_whole(tmp_path: Path) -> None:
    scenario = load_one(tmp_path, a_scenario())

    assert (scenario.id, scenario.title, scenario.source) == ("minute", "one minute", "")
    assert (scenario.level, scenario.aggregation) == ("core", "list")
    assert (scenario.contested, scenario.unsafe_trigger) == (False, False)
    assert scenario.strategy == bl.WindowingStrategy(
        bl.FixedWindows("1 minute"),
        bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
        "accumulating",
        "5 seconds",
    )
    assert scenario.script == (
        Arrive((("a", Element(1, 0)), ("a", Element(2, 1)))),
        AdvanceWatermark(60_000),
        AdvanceClock(10),
        AdvanceWatermark(MAX_TIMESTAMP),
        Arrive((("a", Element(3, 2)),)),
    )
    assert differences(scenario, run_in_memory(scenario.machine(), scenario.script)) == []


def test_a_file_is_one_scenario_or_several(tmp_path: Path) -> None:
    one, other = a_scenario(), a_scenario() | {"id": "other"}

    assert [s.id for s in load_transcripts(save(tmp_path, one))] == ["minute"]
    assert [s.id for s in load_transcripts(save(tmp_path, [one, other]))] == ["minute", "other"]
    assert [s.id for s in load_transcripts(save(tmp_path, {"scenarios": [other]}))] == ["other"]
    assert load_transcripts(save(tmp_path, [])) == ()


def test_fields_that_begin_with_x_are_anyones(tmp_path: Path) -> None:
    document = a_scenario() | {"x_author": "me"}
    document["steps"][0]["x_comment"] = "both at once"
    document["windowing"]["trigger"]["x_why"] = ["to see early panes"]

    assert load_one(tmp_path, document) == load_one(tmp_path, a_scenario())


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ({"type": "after_processing_time", "delay_ms": 5}, bl.AfterProcessingTime(5)),
        (
            {
                "type": "after_processing_time",
                "transforms": [{"delay_ms": 7}, {"align_to": {"period_ms": 10, "offset_ms": 3}}],
            },
            bl.AfterProcessingTime(bl.Delay(7), bl.AlignTo(10, 3)),
        ),
        ({"type": "after_synchronized_processing_time"}, bl.AfterSynchronizedProcessingTime()),
        (
            {"type": "repeatedly", "trigger": {"type": "after_count", "count": 3}},
            bl.Repeatedly(bl.AfterCount(3)),
        ),
        (
            {"type": "after_each", "triggers": [{"type": "never"}, {"type": "always"}]},
            bl.AfterEach(bl.Never(), bl.Always()),
        ),
        (
            {"type": "after_first", "triggers": [{"type": "never"}, {"type": "always"}]},
            bl.AfterFirst(bl.Never(), bl.Always()),
        ),
        (
            {"type": "after_all", "triggers": [{"type": "never"}, {"type": "always"}]},
            bl.AfterAll(bl.Never(), bl.Always()),
        ),
        (
            {"type": "or_finally", "main": {"type": "always"}, "until": {"type": "never"}},
            bl.OrFinally(bl.Always(), bl.Never()),
        ),
        ({"type": "after_watermark", "early": None, "late": None}, bl.AfterWatermark()),
    ],
)
def test_every_trigger_can_be_written(tmp_path: Path, written: Document, means: object) -> None:
    document = a_scenario()
    document["windowing"]["trigger"] = written

    assert load_one(tmp_path, document).strategy.trigger == means


@pytest.mark.parametrize(
    ("written", "means"),
    [
        (
            {"fn": "calendar_weeks", "number": 2, "time_zone": "UTC", "start_day_of_week": 3},
            bl.CalendarWeeks(2, start_day_of_week=3),
        ),
        (
            {"fn": "calendar_months", "number": 1, "time_zone": "Asia/Tokyo", "day_of_month": 5},
            bl.CalendarMonths(1, "Asia/Tokyo", day_of_month=5),
        ),
        (
            {"fn": "calendar_years", "number": 1, "time_zone": "UTC", "start": [2001, 4, 6]},
            bl.CalendarYears(1, start=(2001, 4, 6)),
        ),
        (
            {
                "fn": "calendar_months",
                "number": 7,
                "time_zone": "UTC",
                "start": [2014, 3, 1],
                "day_of_month": 5,
            },
            bl.CalendarMonths(7, start=(2014, 3, 5)),
        ),
        (
            {
                "fn": "calendar_years",
                "number": 2,
                "time_zone": "UTC",
                "start": [2001, 1, 1],
                "month_of_year": 4,
                "day_of_month": 6,
            },
            bl.CalendarYears(2, start=(2001, 4, 6)),
        ),
    ],
)
def test_calendar_windows_can_be_written(tmp_path: Path, written: Document, means: bl.WindowFn):
    document = a_scenario()
    document["windowing"]["window"] = written

    assert load_one(tmp_path, document).strategy.window_fn == means


def test_of_a_file_with_mistakes_the_other_scenarios_can_be_had(tmp_path: Path) -> None:
    wrong = a_scenario() | {"id": "wrong", "aggregation": "median"}
    path = tmp_path / "case.json"
    path.write_text(json.dumps([a_scenario() | {"id": "a"}, wrong, a_scenario() | {"id": "a"}]))

    found = read_transcripts(path)

    assert [scenario.id for scenario in found.scenarios] == ["a"]
    assert found.unread == 2
    with pytest.raises(TranscriptError) as strict:
        load_transcripts(path)
    assert str(found.problem) == str(strict.value)
    assert "scenario 'wrong': aggregation: unknown value 'median'" in str(strict.value)
    assert "[2]: the id 'a' is used twice" in str(strict.value)
    assert read_transcripts(tmp_path / "none.json").scenarios == ()


def test_without_grouping_elements_pass_through(tmp_path: Path) -> None:
    scenario = load_one(tmp_path, a_scenario() | {"aggregation": "none"})

    assert isinstance(scenario.machine(), PassThrough)


def test_integers_beyond_two_to_the_53_keep_every_digit(tmp_path: Path) -> None:
    document = a_scenario()
    document["steps"][0]["elements"][0]["ts_ms"] = 9_007_199_254_740_993

    assert load_one(tmp_path, document).script[0].elements[0][1].timestamp == 9_007_199_254_740_993


# -- what it refuses -----------------------------------------------------------------------


def change(path: str, value: Any) -> Callable[[Document], None]:
    """Set one value; the path is dotted, list positions are numbers."""

    def edit(document: Document) -> None:
        *parents, last = path.split(".")
        place: Any = document
        for name in parents:
            place = place[int(name) if isinstance(place, list) else name]
        place[int(last) if isinstance(place, list) else last] = value

    return edit


def remove(path: str) -> Callable[[Document], None]:
    def edit(document: Document) -> None:
        *parents, last = path.split(".")
        place: Any = document
        for name in parents:
            place = place[int(name) if isinstance(place, list) else name]
        del place[last]

    return edit


def complaint_of(file: Path) -> str:
    """The first line of what is said, without the file and the place in it."""
    with pytest.raises(TranscriptError) as error:
        load_transcripts(file)
    first, *_ = str(error.value).splitlines()
    place = re.match(rf"{re.escape(str(file))}(:\d+:\d+)?: ", first)
    assert place is not None
    return first[place.end() :]


MISTAKES = [
    (
        change("windowing.window.sise_ms", 1),
        "windowing.window: unknown field 'sise_ms'; did you mean 'size_ms'?",
    ),
    (change("dropt", []), "unknown field 'dropt'; did you mean 'dropped'?"),
    (
        change("windowing.trigger.early.zzz", 1),
        "windowing.trigger.early: unknown field 'zzz'; known here: type, count",
    ),
    (change("panes.1.tming", "LATE"), "panes[1]: unknown field 'tming'; did you mean 'timing'?"),
    (change("asserted", {"pains": []}), "asserted: unknown field 'pains'; did you mean 'panes'?"),
    (
        remove("windowing.closing_behavior"),
        "windowing: lacks 'closing_behavior'; needed here: window, trigger, accumulation, "
        "allowed_lateness_ms, timestamp_combiner, closing_behavior, on_time_behavior",
    ),
    (remove("format"), "lacks 'format'; needed here: format, id, windowing, aggregation, steps"),
    (
        change("format", "beamlike-transcript-v2"),
        "format: this reads 'beamlike-transcript-v1', got 'beamlike-transcript-v2'",
    ),
    (
        change("windowing.trigger.late.type", "after_cuont"),
        "windowing.trigger.late.type: unknown value 'after_cuont'; did you mean 'after_count'?",
    ),
    (
        remove("windowing.trigger.early.type"),
        "windowing.trigger.early: lacks 'type'; it is one of default, after_watermark, "
        "after_processing_time, after_synchronized_processing_time, after_count, repeatedly, "
        "after_each, after_first, after_all, or_finally, never, always",
    ),
    (
        change("windowing.window.fn", "tumbling"),
        "windowing.window.fn: unknown value 'tumbling'; known: fixed, sliding, sessions, global, "
        "calendar_days, calendar_weeks, calendar_months, calendar_years",
    ),
    (
        change("windowing.window", {"fn": "calendar_days", "number": 1, "time_zone": "Mars"}),
        "windowing.window: time zone 'Mars' does not exist; ",
    ),
    (
        change("windowing.window.size_ms", 0),
        "windowing.window: FixedWindows must have 0 <= offset < size, got size=0ms; "
        'give a size such as "1 minute"',
    ),
    (
        change("windowing.trigger.early.count", 0),
        "windowing.trigger.early: AfterCount count must be a whole number of 1 or more, got 0",
    ),
    (
        change("windowing.trigger", {"type": "after_processing_time"}),
        "windowing.trigger: needs either 'delay_ms' or 'transforms'",
    ),
    (
        change("windowing.accumulation", "retracted"),
        "windowing.accumulation: unknown value 'retracted'; did you mean 'retracting'?",
    ),
    (
        change("windowing.allowed_lateness_ms", -1),
        "windowing.allowed_lateness_ms: must be 0 or more, got -1",
    ),
    (
        change("windowing.allowed_lateness_ms", "5 s"),
        "windowing.allowed_lateness_ms: must be a whole number, got '5 s'",
    ),
    (
        change("windowing.window.size_ms", True),
        "windowing.window.size_ms: must be a whole number, got true",
    ),
    (change("aggregation", "avg"), "aggregation: unknown value 'avg'; known: list, "),
    (
        change("aggregation", "s\u202eum\u00a0"),
        "aggregation: unknown value 's\\u202eum\\xa0'; did you mean 'sum'?",
    ),
    (change("level", "cor"), "level: unknown value 'cor'; did you mean 'core'?"),
    (change("unsafe_trigger", 1), "unsafe_trigger: must be true or false, got 1"),
    (change("steps", {}), "steps: must be a list, got {}"),
    (
        change("steps.2", {}),
        "steps[2]: a step does exactly one thing of elements, advance_watermark_to_ms, "
        "advance_processing_time_by_ms, advance_watermark_to_infinity; got none",
    ),
    (
        change("steps.2.elements", []),
        "steps[2]: a step does exactly one thing of elements, advance_watermark_to_ms, "
        "advance_processing_time_by_ms, advance_watermark_to_infinity; "
        "got 'elements' and 'advance_processing_time_by_ms'",
    ),
    (
        change("steps.2", {"advance_watermark_to_ms": 59_999}),
        "steps[2].advance_watermark_to_ms: the watermark cannot go back: it stands at 60000, "
        "got 59999",
    ),
    (
        change("steps.4", {"advance_watermark_to_ms": 70_000}),
        "steps[4].advance_watermark_to_ms: the watermark cannot go back: it stands at "
        "9223372036854775, got 70000",
    ),
    (
        change("steps.2.advance_processing_time_by_ms", -1),
        "steps[2].advance_processing_time_by_ms: must be 0 or more, got -1",
    ),
    (
        change("steps.3.advance_watermark_to_infinity", False),
        "steps[3].advance_watermark_to_infinity: must be true; leave the step out if the "
        "watermark stays",
    ),
    (
        change("steps.0.elements.1.ts_ms", MAX_TIMESTAMP),
        "steps[0].elements[1].ts_ms: must be less than 9223372036854775, got 9223372036854775",
    ),
    (
        remove("steps.0.elements.1.value"),
        "steps[0].elements[1]: lacks 'value'; needed here: key, value, ts_ms",
    ),
    (
        change("steps.0.elements.0.key", 1.5),
        "steps[0].elements[0].key: a key is a string, a whole number or null, got 1.5",
    ),
    (change("panes.0.step", 5), "panes[0].step: the scenario has steps 0 to 4, got 5"),
    (
        change("panes.0.window", [0]),
        'panes[0].window: must be [start, end] in ms or "global", got [0]',
    ),
    (
        change("panes.0.index", None),
        'panes[0].index: null means "not asserted", and a complete scenario asserts everything; '
        'give the value, or write "complete": false',
    ),
    (
        remove("dropped.0.reason"),
        "dropped[0]: lacks 'reason'; needed here: step, key, value, ts_ms, window, reason",
    ),
]


@pytest.mark.parametrize(("edit", "says"), MISTAKES, ids=[says[:50] for _, says in MISTAKES])
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, edit: Callable[[Document], None], says: str
) -> None:
    document = a_scenario()
    edit(document)

    assert complaint_of(save(tmp_path, document)).startswith(f"scenario 'minute': {says}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"id": "x",\n "steps": [}', "is not JSON: Expecting value"),
        ("", "is empty; a transcript is a JSON document"),
        ("7", 'must be a scenario, a list of scenarios, or {"scenarios": [...]}'),
        ('{"scenarios": [], "more": 1}', "unknown field 'more'; known here: scenarios"),
        ('[{"id": "x"}]', "scenario 'x': lacks 'format' and 'windowing' and "),
        ("[7]", "[0]: must be an object, got 7"),
        ('[{"title": "x"}]', "[0]: lacks 'format' and 'id' and "),
        ('{"id": "a", "id": "b"}', "an object has the field 'id' twice"),
        ('{"id": NaN}', "NaN is not a JSON value"),
        pytest.param("[" * 100_000, "is nested too deeply", id="nested too deeply"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused(tmp_path: Path, text: str, says: str) -> None:
    assert complaint_of(save(tmp_path, text)).startswith(says)


def test_a_mistake_of_json_has_its_line_and_column(tmp_path: Path) -> None:
    file = save(tmp_path, '{"id": "x",\n "steps": [}')

    with pytest.raises(TranscriptError) as error:
        load_transcripts(file)

    assert str(error.value) == f"{file}:2:12: is not JSON: Expecting value"


def test_the_first_mistakes_of_very_many_scenarios_are_shown_also_by_another_process(
    tmp_path: Path,
) -> None:
    file = save(tmp_path, [{}] * 14)

    with pytest.raises(TranscriptError) as error:
        load_transcripts(file)

    lines = str(pickle.loads(pickle.dumps(error.value))).splitlines()
    assert [line.split(":")[1] for line in lines[:10]] == [f" [{index}]" for index in range(10)]
    assert lines[10:] == ["... and 4 more"]


def test_an_id_is_used_once_in_a_file(tmp_path: Path) -> None:
    complaint = complaint_of(save(tmp_path, [a_scenario(), a_scenario()]))

    assert complaint == "[1]: the id 'minute' is used twice; ids are unique"


def test_a_file_that_is_missing_or_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(TranscriptError, match=r"none\.json: cannot be read: No such file"):
        load_transcripts(tmp_path / "none.json")
    with pytest.raises(TranscriptError, match=r"binary\.json: is not UTF-8 text"):
        load_transcripts(tmp_path / "binary.json")


def test_in_a_test_suite_a_scenario_must_expect_something(tmp_path: Path) -> None:
    document = a_scenario()
    for name in ("panes", "dropped", "complete"):
        del document[name]
    file = save(tmp_path, document)

    (shown,) = load_transcripts(file)
    assert shown.expected is None
    assert differences(shown, run_in_memory(shown.machine(), shown.script)) == []
    assert refusal(TranscriptError, load_transcripts, file, must_expect=True).splitlines()[0] == (
        f"{file}: scenario 'minute': expects nothing, so it would always pass; give 'panes' "
        "and 'dropped', or \"complete\": true if nothing comes out"
    )


# -- what it compares ----------------------------------------------------------------------


def found(folder: Path, document: Document) -> list[str]:
    """How the run of a scenario differs from what its document expects."""
    scenario = load_one(folder, document)
    return differences(scenario, run_in_memory(scenario.machine(), scenario.script))


def test_a_run_becomes_the_document_it_was_expected_to(tmp_path: Path) -> None:
    scenario = load_one(tmp_path, a_scenario())
    document = to_document(run_in_memory(scenario.machine(), scenario.script))

    assert document == {name: a_scenario()[name] for name in ("panes", "dropped")}


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            change("panes.1.value", [1]),
            ['step 1, key "a", [0, 60000): pane ON_TIME #1: value is [1, 2] (expected [1])'],
        ),
        (
            change("panes.0.step", 1),
            ['step 1, key "a", [0, 60000): pane EARLY #0: step is 0 (expected 1)'],
        ),
        (
            lambda document: document["panes"].pop(0),
            [
                'step 0, key "a", [0, 60000): unexpected pane EARLY #0 (value [1, 2], '
                "timestamp_ms 59999, nonspeculative_index -1, is_first true, is_last false)"
            ],
        ),
        (
            change("panes.1.window", "global"),
            [
                'step 1, key "a", global: missing pane ON_TIME #1 (value [1, 2], '
                "timestamp_ms 59999, nonspeculative_index 0, is_first false, is_last false)",
                'step 1, key "a", [0, 60000): unexpected pane ON_TIME #1 (value [1, 2], '
                "timestamp_ms 59999, nonspeculative_index 0, is_first false, is_last false)",
            ],
        ),
        (
            lambda document: document["panes"].append(document["panes"][1]),
            [
                'step 1, key "a", [0, 60000): missing pane ON_TIME #1 (value [1, 2], '
                "timestamp_ms 59999, nonspeculative_index 0, is_first false, is_last false)"
            ],
        ),
        (
            change("dropped.0.reason", "closed"),
            ['step 4, key "a", [0, 60000): drop of 3: reason is "expired" (expected "closed")'],
        ),
        (
            change("dropped", []),
            ['step 4, key "a", [0, 60000): unexpected drop of 3 (ts_ms 2, reason "expired")'],
        ),
        (
            remove("dropped"),
            ['step 4, key "a", [0, 60000): unexpected drop of 3 (ts_ms 2, reason "expired")'],
        ),
    ],
)
def test_every_difference_is_said(
    tmp_path: Path, edit: Callable[[Document], None], says: list[str]
) -> None:
    document = a_scenario()
    edit(document)

    assert found(tmp_path, document) == says


def test_lists_compare_without_order_unless_they_are_ordered_by_time(tmp_path: Path) -> None:
    document = a_scenario()
    document["panes"][0]["value"] = [2, 1]

    assert found(tmp_path, document) == []
    assert found(tmp_path, document | {"aggregation": "list_by_timestamp"}) == [
        'step 0, key "a", [0, 60000): pane EARLY #0: value is [1, 2] (expected [2, 1])'
    ]


def test_numbers_are_equal_by_value_and_booleans_are_none(tmp_path: Path) -> None:
    document = a_scenario() | {"aggregation": "sum"}
    document["panes"][0]["value"] = 3.0
    document["panes"][1]["value"] = 3
    assert found(tmp_path, document) == []

    document = a_scenario()
    document["panes"][0]["value"] = [True, 2]
    assert found(tmp_path, document) == [
        'step 0, key "a", [0, 60000): pane EARLY #0: value is [1, 2] (expected [true, 2])'
    ]


def test_an_incomplete_scenario_asserts_what_it_names_and_no_more(tmp_path: Path) -> None:
    document = a_scenario() | {"complete": False}
    del document["dropped"]
    document["panes"] = [{"key": "a", "timing": "ON_TIME", "index": None, "value": [1, 2]}]
    assert found(tmp_path, document) == []

    document["panes"].append({"timing": "LATE"})
    assert found(tmp_path, document) == ["anywhere: missing pane LATE"]


def test_a_thousand_equal_panes_are_paired_one_by_one() -> None:
    panes = _Comparison("pane", any_order=False)
    late, early = ({"timing": timing, "retraction": False} for timing in ("LATE", "EARLY"))
    came = [late | {"value": number} for number in range(1_100)]

    assert panes.differences([late] * 1_100, came, True) == []
    assert panes.differences([late] * 1_101 + [early], came, True) == [
        "anywhere: missing pane LATE",
        "anywhere: missing pane EARLY",
    ]


def test_a_pane_with_open_fields_leaves_one_that_fits_alone_to_it() -> None:
    panes = _Comparison("pane", any_order=False)
    any_late = {"timing": "LATE", "retraction": False}
    first, second, third = (any_late | {"value": value} for value in (1, 2, 3))

    wanted = [any_late, any_late, first, second]
    assert panes.differences(wanted, [first, second, third], True) == [
        "anywhere: missing pane LATE (value 2)"
    ]
    wanted = [any_late, first, {"value": 2, "retraction": False}]
    assert panes.differences(wanted, [first, second, third], True) == []


def test_an_open_expectation_does_not_take_the_pane_that_a_stricter_one_needs(tmp_path: Path):
    document = a_scenario() | {"complete": False}
    document["panes"] = [{"key": "a"}, {"timing": "EARLY"}]

    assert found(tmp_path, document) == []


def test_a_null_key_and_the_null_of_an_empty_pane_are_values(tmp_path: Path) -> None:
    document = a_scenario() | {"aggregation": "max"}
    document["windowing"] |= {"trigger": {"type": "always"}, "accumulation": "discarding"}
    document["steps"] = [
        {"elements": [{"key": None, "value": 4, "ts_ms": 0}]},
        {"advance_watermark_to_infinity": True},
    ]
    pane = {"key": None, "window": [0, 60_000], "timestamp_ms": 59_999}
    early = {"timing": "EARLY", "index": 0, "nonspeculative_index": -1}
    on_time = {"timing": "ON_TIME", "index": 1, "nonspeculative_index": 0}
    document["panes"] = [
        pane | early | {"step": 0, "value": 4, "is_first": True, "is_last": False},
        pane | on_time | {"step": 1, "value": None, "is_first": False, "is_last": True},
    ]
    document["dropped"] = []
    assert found(tmp_path, document) == []

    document["panes"][1]["value"] = 0
    assert found(tmp_path, document) == [
        "step 1, key null, [0, 60000): pane ON_TIME #1: value is null (expected 0)"
    ]


def test_a_retraction_comes_before_the_pane_that_causes_it(tmp_path: Path) -> None:
    document = a_scenario() | {"aggregation": "sum"}
    document["windowing"] |= {"accumulation": "retracting", "on_time_behavior": "fire_if_non_empty"}
    document["steps"] = [
        {"elements": [{"key": "a", "value": 1, "ts_ms": at}, {"key": "a", "value": 1, "ts_ms": at}]}
        for at in (0, 1)
    ]
    pane = {"key": "a", "window": [0, 60_000], "timestamp_ms": 59_999, "timing": "EARLY"}
    first = {"value": 2, "index": 0, "nonspeculative_index": -1, "is_first": True, "is_last": False}
    second = first | {"value": 4, "index": 1, "is_first": False}
    document["panes"] = [
        pane | first | {"step": 0},
        pane | second | {"step": 1},
        pane | first | {"step": 1, "retraction": True},
    ]
    document["dropped"] = []
    scenario = load_one(tmp_path, document)
    run = run_in_memory(scenario.machine(), scenario.script)
    early, withdrawn, new = run.outputs

    assert to_document(run)["panes"][1] == pane | first | {"step": 1, "retraction": True}
    assert differences(scenario, run) == []
    assert differences(scenario, attrs.evolve(run, outputs=(early, new, withdrawn))) == [
        'step 1, key "a", [0, 60000): the retraction of EARLY #0 does not come before the pane '
        "that causes it"
    ]


def test_the_scenario_in_the_readme_is_complete_and_as_expected(tmp_path: Path) -> None:
    readme = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    example = readme.split("```json\n")[1].split("```")[0]
    (scenario,) = load_transcripts(save(tmp_path, example), must_expect=True)

    assert differences(scenario, run_in_memory(scenario.machine(), scenario.script)) == []
