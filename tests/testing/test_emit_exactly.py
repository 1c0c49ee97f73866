"""The complete output: every field of every pane and drop, and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest

from beamlike import AfterCount, FixedWindows, GlobalWindows, Repeatedly
from beamlike.errors import TestStreamError, TimeError
from beamlike.machine.events import Drop, DropReason
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.script import Output, Run
from beamlike.testing import (
    ExpectedDrop,
    PaneAssertionError,
    Results,
    TestStream,
    dropped,
    early_pane,
    emit_exactly,
    late_pane,
    on_time_pane,
    pane,
)
from tests.support.refusals import refusal

FIRST, OTHER = ("00:00:00", "00:01:00"), ("00:03:00", "00:04:00")


def everything(**changes: Any) -> list[Any]:
    """The whole output of the `results` fixture; ``changes`` go into the LATE pane."""
    late: dict[str, Any] = {"index": 2, "nonspeculative_index": 1, "is_last": False, "step": 4}
    late |= {"key": "joe", "value": ["a", "b", "c"], "window": FIRST} | changes
    return [
        early_pane("ben", ["x", "y"], *FIRST, is_last=False, step=1),
        early_pane("joe", ["a", "b"], *FIRST, is_last=False, step=2),
        on_time_pane("joe", ["a", "b"], *FIRST, index=1, is_last=False, step=3),
        on_time_pane("ben", ["x", "y"], *FIRST, index=1, is_last=False, step=3),
        late_pane(late.pop("key"), late.pop("value"), late.pop("window"), **late),
        dropped(
            "joe", "e", at="00:00:50", window=FIRST, reason="expired", missed_by="1 ms", step=6
        ),
        on_time_pane("joe", ["d"], *OTHER, is_last=True, step=8),
    ]


def test_the_complete_output_in_any_order(results: Results) -> None:
    results.should(emit_exactly(*everything()))
    results.should(emit_exactly(*reversed(everything())))
    with pytest.raises(PaneAssertionError, match=r"^emit_exactly holds, but should not\n"):
        results.should_not(emit_exactly(*everything()))


@pytest.mark.parametrize("absent", range(7))
def test_an_output_that_is_not_expected_fails(results: Results, absent: int) -> None:
    expected = everything()
    del expected[absent]

    with pytest.raises(PaneAssertionError, match=r"^emit_exactly does not hold: 0 missing, 1 unex"):
        results.should(emit_exactly(*expected))
    results.should_not(emit_exactly(*expected))


@pytest.mark.parametrize("doubled", range(7))
def test_an_output_that_is_expected_twice_must_come_twice(results: Results, doubled: int) -> None:
    expected = everything()
    expected.append(expected[doubled])

    with pytest.raises(PaneAssertionError, match=r"^emit_exactly does not hold: 1 missing, 0 unex"):
        results.should(emit_exactly(*expected))


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"key": "ben"}, "missing     late_pane('ben', ['a', 'b', 'c'], "),
        ({"value": ["a", "b"]}, "differs in  value: expected ['a', 'b'], got ['a', 'b', 'c']"),
        (
            {"window": ("00:00:00", "00:01:01")},
            "differs in  window: expected [00:00:00, 00:01:01), got [00:00:00, 00:01:00)\n"
            '            timestamp: expected "00:01:00.999", got "00:00:59.999"',
        ),
        ({"timestamp": 5}, 'timestamp: expected "00:00:00.005", got "00:00:59.999"'),
        ({"index": 3}, "differs in  index: expected 3, got 2\n"),
        (
            {"index": 0, "nonspeculative_index": 0},
            "differs in  index: expected 0, got 2\n"
            "            nonspeculative_index: expected 0, got 1\n"
            "            is_first: expected True, got False\n",
        ),
        ({"nonspeculative_index": 2}, "differs in  nonspeculative_index: expected 2, got 1\n"),
        ({"is_last": True}, "differs in  is_last: expected True, got False\n"),
        ({"retraction": True}, "differs in  retraction: expected True, got False\n"),
        ({"step": 5}, "differs in  step: expected 5, got 4\n"),
    ],
)
def test_every_field_of_a_pane_counts(results: Results, change: dict[str, Any], difference: str):
    assert difference in refusal(
        PaneAssertionError, lambda: results.should(emit_exactly(*everything(**change)))
    )


def test_the_timing_of_a_pane_counts(results: Results) -> None:
    expected = everything()
    expected[6] = late_pane("joe", ["d"], *OTHER, is_last=True)

    with pytest.raises(PaneAssertionError, match="timing: expected LATE, got ON_TIME\n"):
        results.should(emit_exactly(*expected))


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"key": "ben"}, "missing     dropped('ben', 'e', "),
        ({"value": "f"}, "differs in  value: expected 'f', got 'e'\n"),
        ({"at": "00:00:51"}, 'differs in  at: expected "00:00:51", got "00:00:50"\n'),
        (
            {"window": OTHER},
            "differs in  window: expected [00:03:00, 00:04:00), got [00:00:00, 00:01:00)\n",
        ),
        (
            {"reason": "closed", "missed_by": None},
            "differs in  reason: expected closed, got expired\n"
            "            missed_by: expected nothing, got 1ms\n",
        ),
        ({"missed_by": "2 ms"}, "differs in  missed_by: expected 2ms, got 1ms\n"),
        ({"step": 7}, "differs in  step: expected 7, got 6\n"),
    ],
)
def test_every_field_of_a_drop_counts(results: Results, change: dict[str, Any], difference: str):
    fields: dict[str, Any] = {"key": "joe", "value": "e", "at": "00:00:50", "window": FIRST}
    fields |= {"reason": "expired", "missed_by": "1 ms"} | change
    expected = everything()
    expected[5] = dropped(fields.pop("key"), fields.pop("value"), **fields)

    assert difference in refusal(
        PaneAssertionError, lambda: results.should(emit_exactly(*expected))
    )


def test_an_output_without_a_step_takes_what_those_with_a_step_leave() -> None:
    results = (
        TestStream()
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:59", ("joe", "a"))
        .add_elements_at_time("00:00:59", ("joe", "a"))
        .advance_watermark_to_infinity()
        .run(window=FixedWindows("1 minute"))
    )

    def late(step: int | None) -> ExpectedDrop:
        return dropped(
            "joe", "a", at="00:00:59", window=FIRST, reason="expired", missed_by="1 ms", step=step
        )

    results.should(emit_exactly(late(None), late(1)))
    results.should(emit_exactly(late(None), late(2)))
    results.should(emit_exactly(late(None), late(None)))
    results.should_not(emit_exactly(late(1), late(1)))


def test_what_came_out_is_printed_as_the_code_that_expects_it(results: Results) -> None:
    with pytest.raises(PaneAssertionError) as failed:
        results.should(emit_exactly())

    printed = [
        line.removeprefix("unexpected  ")
        for line in str(failed.value).splitlines()
        if line.startswith("unexpected  ")
    ]
    assert printed == [
        """early_pane('ben', ['x', 'y'], "00:00:00", "00:01:00", is_last=False)""",
        """early_pane('joe', ['a', 'b'], "00:00:00", "00:01:00", is_last=False)""",
        """on_time_pane('joe', ['a', 'b'], "00:00:00", "00:01:00", index=1, is_last=False)""",
        """on_time_pane('ben', ['x', 'y'], "00:00:00", "00:01:00", index=1, is_last=False)""",
        """late_pane('joe', ['a', 'b', 'c'], "00:00:00", "00:01:00", index=2, """
        """nonspeculative_index=1, is_last=False)""",
        """dropped('joe', 'e', at="00:00:50", window=("00:00:00", "00:01:00"), """
        """reason="expired", missed_by="1ms")""",
        """on_time_pane('joe', ['d'], "00:03:00", "00:04:00", is_last=True)""",
    ]
    results.should(emit_exactly(*map(eval, printed)))


def test_panes_of_a_retracting_run_in_the_global_window_are_printed_as_code_too() -> None:
    results = (
        TestStream()
        .add_elements_at_time(5, ("joe", "a"))
        .advance_watermark_to_infinity()
        .run(
            window=GlobalWindows(),
            trigger=Repeatedly(AfterCount(1)),
            accumulation="retracting",
            timestamp_combiner="earliest",
        )
    )

    early = early_pane("joe", ["a"], "global", timestamp=5, is_last=False)
    withdrawn = early_pane(
        "joe", ["a"], "global", timestamp=5, is_last=False, retraction=True, step=1
    )
    last = pane("joe", ["a"], "global", timing="ON_TIME", index=1, is_last=True)
    results.should(emit_exactly(early, withdrawn, last))
    assert last.timestamp == END_OF_GLOBAL_WINDOW
    for expected in (early, withdrawn, last):
        assert eval(str(expected)) == expected


def test_what_a_function_raised_for_is_printed_as_code_and_compared_field_by_field() -> None:
    whole = dropped("joe", "x", at="00:00:10", window=FIRST, reason="failed", step=0)
    nowhere = dropped("joe", None, at="00:00:10", reason="failed")
    several = dropped("joe", None, window=FIRST, reason="failed", count=2)
    assert [str(one) for one in (whole, nowhere, several)] == [
        'dropped(\'joe\', \'x\', at="00:00:10", window=("00:00:00", "00:01:00"), '
        'reason="failed", step=0)',
        'dropped(\'joe\', None, at="00:00:10", reason="failed")',
        'dropped(\'joe\', None, window=("00:00:00", "00:01:00"), reason="failed", count=2)',
    ]
    for expected in (whole, nowhere, several):
        assert eval(str(expected)) == expected

    window = IntervalWindow(0, 60_000)
    lost = Results(
        Run((), (Output(0, "joe", Drop(None, window, DropReason.FAILED, error="no", count=2)),))
    )
    lost.should(emit_exactly(several))
    with pytest.raises(PaneAssertionError) as failed:
        lost.should(emit_exactly(dropped("joe", None, at=5, reason="failed")))
    assert str(failed.value).split("\n\n")[1] == (
        'expected    dropped(\'joe\', None, at="00:00:00.005", reason="failed")\n'
        'came out    dropped(\'joe\', None, window=("00:00:00", "00:01:00"), '
        'reason="failed", count=2)\n'
        'differs in  at: expected "00:00:00.005", got no time\n'
        "            window: expected no window, got [00:00:00, 00:01:00)\n"
        "            count: expected 1, got 2"
    )


def test_the_defaults_are_those_of_an_only_pane() -> None:
    first_late = late_pane("joe", 1, *FIRST, is_last=False)
    second_late = late_pane("joe", 1, *FIRST, index=1, is_last=False)
    ungrouped = pane("joe", 1, *FIRST, timing="UNKNOWN", is_last=True)

    assert (first_late.info.nonspeculative_index, first_late.info.is_first) == (0, True)
    assert (second_late.info.nonspeculative_index, second_late.info.is_first) == (1, False)
    assert (ungrouped.info.nonspeculative_index, ungrouped.info.is_first) == (0, True)
    assert str(ungrouped) == (
        'pane(\'joe\', 1, "00:00:00", "00:01:00", timing="UNKNOWN", is_last=True)'
    )
    assert first_late.timestamp == 59_999


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (
            lambda: emit_exactly([on_time_pane("joe", 1, *FIRST, is_last=True)]),
            TestStreamError,
            "emit_exactly takes early_pane, on_time_pane, late_pane, pane, element and dropped, "
            "got [",
        ),
        (
            lambda: pane("joe", 1, *FIRST, timing="on time", is_last=True),
            TestStreamError,
            "pane timing must be one of 'EARLY', 'ON_TIME', 'LATE', 'UNKNOWN', got 'on time'",
        ),
        (
            lambda: on_time_pane("joe", 1, "00:00:00", is_last=True),
            TestStreamError,
            'pane needs a window: two instants such as "00:00:00", "00:11:00", an '
            "IntervalWindow, or \"global\"; got '00:00:00'",
        ),
        (
            lambda: on_time_pane("joe", 1, *FIRST, is_last=True, timestamp="noon"),
            TimeError,
            "pane timestamp is not an instant: 'noon'",
        ),
        (
            lambda: dropped("joe", 1, at=0, window=FIRST, reason="late", missed_by=1),
            TestStreamError,
            "dropped reason must be one of 'expired', 'closed', 'failed', 'null_key', 'bad_key', "
            "'null_timestamp', 'bad_timestamp', 'far_future', 'bad_value', got 'late'",
        ),
        (
            lambda: dropped("joe", 1, at=0, window=FIRST, reason="expired"),
            TestStreamError,
            'dropped: reason="expired" needs missed_by, for example missed_by="1 ms"',
        ),
        (
            lambda: dropped("joe", 1, window=FIRST, reason="failed", count=0),
            TestStreamError,
            "dropped count must be a whole number of at least 1, got 0",
        ),
        (
            lambda: dropped("joe", 1, window=FIRST, reason="closed"),
            TestStreamError,
            'dropped: reason="closed" needs at',
        ),
        (
            lambda: dropped("joe", 1, at=0, reason="expired", missed_by="1 ms"),
            TestStreamError,
            'dropped: reason="expired" needs window',
        ),
        (
            lambda: dropped("joe", 1, at=0, window=FIRST, reason="failed", missed_by="1 ms"),
            TestStreamError,
            "dropped: reason=\"failed\" has no missed_by, got '1 ms'",
        ),
        (
            lambda: dropped("joe", 1, at=0, window=FIRST, reason="closed", missed_by="1 ms"),
            TestStreamError,
            "dropped: reason=\"closed\" has no missed_by, got '1 ms'",
        ),
    ],
)
def test_an_expectation_refuses(write: Callable[[], object], error: type[Exception], message: str):
    assert refusal(error, write).startswith(message)
