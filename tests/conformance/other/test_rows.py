"""Beam's checks before a pipeline runs, its continuation triggers and pure functions, row by row.

The three files beside this one hold a row for every case. A row whose ``sdk`` is ``java`` is
what beamlike does. A row whose ``sdk`` is ``python`` is a rule of Beam Python: it is held
against that rule, and `JAVA_DIFFERS` lists the rows where beamlike does as Java does instead.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import BeamlikeError
from beamlike.model import calendar
from beamlike.model.side_inputs import side_input_window
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.trigger_base import continuation
from beamlike.model.windowfns import default_period
from beamlike.model.windows import expiry
from beamlike.testing import TestStream, TimestampedValue
from tests.support.beam_python import loses_in_beam_python
from tests.support.refusals import refusal

HERE = Path(__file__).parent
Json = dict[str, Any]

# What Beam Python accepts and Beam Java, and so beamlike, refuses; with the reason.
JAVA_DIFFERS = {
    "py_may_lose_after_any_all_safe": "in Java AfterFirst finishes with its first firing, "
    "whatever its parts do"
}


def rows(name: str) -> list[Json]:
    jsons: list[Json] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return jsons


VALIDATION, FUNCTIONS = rows("beam_validation"), rows("beam_functions")
CONTINUATIONS = rows("beam_continuation")


def by_id(jsons: Iterable[Json]) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in jsons]


# -- reading ---------------------------------------------------------------------------------


def read_window_fn(spelled: Json) -> bl.WindowFn:
    given = dict(spelled)
    kind = given.pop("type")
    kinds: dict[str, type[bl.WindowFn]] = {
        "global": bl.GlobalWindows,
        "fixed": bl.FixedWindows,
        "sliding": bl.SlidingWindows,
        "sessions": bl.Sessions,
        "calendar_days": calendar.CalendarDays,
        "calendar_years": calendar.CalendarYears,
    }
    return kinds[kind](**{name.removesuffix("_ms"): value for name, value in given.items()})


def read_trigger(spelled: Json) -> bl.Trigger:
    match spelled:
        case {"type": "count", "n": count}:
            return bl.AfterCount(count)
        case {"type": "processing_time", "transforms": transforms}:
            return bl.AfterProcessingTime(*map(read_transform, transforms))
        case {"type": "after_watermark", **parts}:
            return bl.AfterWatermark(**{name: read_trigger(part) for name, part in parts.items()})
        case {"type": "repeat", "sub": sub}:
            return bl.Repeatedly(read_trigger(sub))
        case {"type": "first", "subs": subs}:
            return bl.AfterFirst(*map(read_trigger, subs))
        case {"type": "each", "subs": subs}:
            return bl.AfterEach(*map(read_trigger, subs))
    plain: dict[str, type[bl.Trigger]] = {
        "default": bl.DefaultTrigger,
        "never": bl.Never,
        "always": bl.Always,
        "synchronized_processing_time": bl.AfterSynchronizedProcessingTime,
    }
    return plain[spelled["type"]]()


def read_transform(spelled: Json) -> bl.Delay | bl.AlignTo:
    match spelled:
        case {"delay_ms": delay}:
            return bl.Delay(delay)
        case {"align_period_ms": period, "align_offset_ms": offset}:
            return bl.AlignTo(period, offset)
    raise AssertionError(f"a transform that nobody reads: {spelled}")


def read_parts(spelled: Json) -> dict[str, Any]:
    """The parts that a window transform says, as arguments of `configured`."""
    read = {
        "window": ("window_fn", read_window_fn),
        "trigger": ("trigger", read_trigger),
        "accumulation": ("accumulation", str),
        "allowed_lateness_ms": ("allowed_lateness", int),
    }
    return {
        read[part][0]: None if value is None else read[part][1](value)
        for part, value in spelled.items()
    }


# -- checks ----------------------------------------------------------------------------------


@attrs.frozen
class UserWindow(bl.IntervalWindow):
    """A window with something in it that its bounds do not say."""

    user: str = ""


class WindowsOfUsers(bl.WindowFn):
    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return (UserWindow(timestamp, timestamp + 10, f"user of {value}"),)


def perform(op: Json) -> Any:
    """Do what a row asks for. What it must not do raises."""
    op = dict(op)
    start = bl.WindowingStrategy.unwindowed()
    match op.pop("kind"):
        case "window_then_gbk":
            bounded = op.pop("bounded")
            start.configured(**read_parts(op)).check_groupable(unbounded=not bounded)
        case "window_gbk_gbk":
            grouped = start.configured(**read_parts(op)).after_grouping()
            grouped.check_groupable()
            grouped.after_grouping()
        case "window_config_chain":
            for transform in op["chain"]:
                start = start.configured(**read_parts(transform))
            return start
        case "nondeterministic_window_coder":
            start.configured(WindowsOfUsers())
        case "flatten":
            window_fns = map(read_window_fn, op["windows"])
            triggers = map(read_trigger, op.get("triggers", [{"type": "default"}] * 2))
            bl.check_flatten(
                [bl.WindowingStrategy(*both) for both in zip(window_fns, triggers, strict=True)]
            )
        case "compatible_windows":
            bl.check_flatten([bl.WindowingStrategy(read_window_fn(op[it])) for it in "ab"])
        case "construct_window":
            read_window_fn(op["window"])
        case "construct_trigger":
            read_trigger(op["trigger"])
        case "test_stream":
            stream = TestStream()
            for step in op["steps"]:
                stream = take(stream, step)
        case unknown:
            raise AssertionError(f"nobody does {unknown!r}")
    return None


def take(stream: TestStream, step: Json) -> TestStream:
    if "advance_watermark_to_ms" in step:
        return stream.advance_watermark_to(step["advance_watermark_to_ms"])
    return stream.add_elements(
        *(TimestampedValue((e["key"], e["value"]), e["ts_ms"]) for e in step["elements"])
    )


LOSSES = [row for row in VALIDATION if row["op"]["kind"] == "trigger_may_lose_data"]
CHECKS = [row for row in VALIDATION if row not in LOSSES]


@pytest.mark.parametrize("row", by_id(row for row in CHECKS if row["expect"] == "ok"))
def test_what_beam_accepts_is_accepted(row: Json) -> None:
    strategy = perform(row["op"])

    wanted = read_parts(row.get("result", {}))
    if "accumulation" in wanted:
        wanted["accumulation"] = bl.AccumulationMode(wanted["accumulation"])
    assert {part: getattr(strategy, part) for part in wanted} == wanted


@pytest.mark.parametrize("row", by_id(row for row in CHECKS if row["expect"] == "error"))
def test_what_beam_refuses_is_refused(row: Json) -> None:
    # The steps before the last one of a stream are good; only the last may be refused.
    if row["op"]["kind"] == "test_stream":
        perform(row["op"] | {"steps": row["op"]["steps"][:-1]})

    assert row.get("error_contains", "") in refusal(BeamlikeError, lambda: perform(row["op"]))


def in_beam_python(strategy: bl.WindowingStrategy) -> bool:
    """Beam Python's answer to ``may_lose_data``, which looks at every node of the trigger."""
    return loses_in_beam_python(strategy.trigger, strategy.allowed_lateness)


@pytest.mark.parametrize("row", by_id(LOSSES))
def test_beam_python_s_rule_about_losing_data(row: Json) -> None:
    assert row["sdk"] == "python"
    parts = read_parts({name: value for name, value in row["op"].items() if name != "kind"})

    assert in_beam_python(bl.WindowingStrategy(**parts)) is (row["expect"] == "error")


@pytest.mark.parametrize("row", by_id(LOSSES))
def test_beamlike_refuses_what_loses_data_by_java_s_rule(row: Json) -> None:
    parts = read_parts({name: value for name, value in row["op"].items() if name != "kind"})
    strategy = bl.WindowingStrategy(**parts)
    refused = row["expect"] == "error" or row["id"] in JAVA_DIFFERS

    assert bl.report(strategy).may_lose_data.answer is refused
    if refused:
        with pytest.raises(BeamlikeError, match=r"^Unsafe trigger: "):
            strategy.check_groupable()
    else:
        strategy.check_groupable()


def test_every_row_is_looked_at() -> None:
    ids = [row["id"] for row in VALIDATION]

    assert len(set(ids)) == len(ids) == len(CHECKS) + len(LOSSES) == 34
    assert {row["id"] for row in CHECKS if row["sdk"] == "python"} == {
        # Java refuses these two as well.
        "py_unbounded_global_default",
        "py_count_zero",
    }
    assert set(JAVA_DIFFERS) <= {row["id"] for row in LOSSES if row["expect"] == "ok"}
    assert len(CONTINUATIONS) == 9
    assert len(FUNCTIONS) == 15


# -- continuation triggers -------------------------------------------------------------------


@pytest.mark.parametrize("row", CONTINUATIONS, ids=lambda row: str(read_trigger(row["trigger"])))
def test_a_grouping_hands_on_the_continuation_of_its_trigger(row: Json) -> None:
    assert continuation(read_trigger(row["trigger"])) == read_trigger(row["continuation"])


# -- functions -------------------------------------------------------------------------------


def of(function: str) -> list[Json]:
    return [row for row in FUNCTIONS if row["fn"] == function]


def test_every_function_has_a_test() -> None:
    assert {row["fn"] for row in FUNCTIONS} == {
        "gc_time",
        "sliding_default_period",
        "side_input_window",
    }


@pytest.mark.parametrize("row", of("gc_time"), ids=lambda row: row["source"].partition("#")[2])
def test_a_window_expires_at(row: Json) -> None:
    start, end = row["window"]
    if start > END_OF_GLOBAL_WINDOW:
        # Java's window of an instant in the last day of time ends before it starts. Here that
        # instant belongs to the last window of five minutes, which has the same end.
        (window,) = bl.FixedWindows("5 minutes").assign(start)
        assert window.end == end
    else:
        window = bl.IntervalWindow(start, end)

    assert expiry(window, row["allowed_lateness_ms"]) == row["result"]


@pytest.mark.parametrize("row", of("sliding_default_period"), ids=lambda row: str(row["size_ms"]))
def test_sliding_windows_start_by_default_every(row: Json) -> None:
    assert default_period(row["size_ms"]) == row["result"]
    assert bl.SlidingWindows(row["size_ms"]).period == row["result"]


@pytest.mark.parametrize("row", of("side_input_window"), ids=lambda row: str(row["main_window"]))
def test_an_element_looks_into_the_side_input_s_window(row: Json) -> None:
    window = side_input_window(
        bl.IntervalWindow(*row["main_window"]), read_window_fn(row["side_window"])
    )

    assert window == bl.IntervalWindow(*row["result"])
