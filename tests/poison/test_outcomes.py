"""What becomes of bad input and failing functions, from end to end: one row never takes others.

The first word of each test is an outcome of the table of raises. Two keys send rows; one of them
is poisoned, and the other gets all of its results.
"""

import itertools
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike import errors
from beamlike.runtime.column_shard import ColumnShard
from beamlike.testing import QueryTest, TestStream
from tests.support.refusals import refusal

SCHEMA = "device string, at timestamp, n long"
POISON = 13
HOUR = bl.FixedWindows("1 hour")
SESSIONS = bl.Sessions("10 minutes")
NOON = 12 * 3_600_000


def raising(cls: type[BaseException] = ValueError) -> None:
    raise cls("poisoned")


# -- functions that fail -----------------------------------------------------------------------


@attrs.frozen
class Combining(bl.CombineFn):
    """A sum, of which one method raises where the poison is in it."""

    method: str
    kind: type[BaseException] = ValueError

    def _check(self, method: str, poisoned: bool) -> None:
        if method == self.method and poisoned:
            raising(self.kind)

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Any, timestamps: Any) -> int:
        self._check("add", POISON in values)
        return accumulator + sum(values)

    def merge(self, one: int, other: int) -> int:
        self._check("merge", max(one, other) >= POISON)
        return one + other

    def extract(self, accumulator: int) -> int:
        self._check("extract", accumulator >= POISON)
        return accumulator

    def compact(self, accumulator: int) -> int:
        self._check("compact", accumulator >= POISON)
        return accumulator


class Assigning(bl.FixedWindows):
    """Windows that one instant has none of."""

    answer: Callable[[], Any]

    def assign(self, timestamp: int, value: Any = None) -> Any:
        if timestamp == NOON + 60_000 * POISON:
            return self.answer()
        return super().assign(timestamp, value)


def assigning(answer: Callable[[], Any]) -> bl.WindowFn:
    return type("Assigning", (Assigning,), {"answer": staticmethod(answer)})("1 hour")


class Merging(bl.Sessions):
    """Sessions whose merge goes wrong where the poison is in it."""

    answer: Callable[[Any], Any]

    def merge(self, windows: Any) -> Any:
        known = list(windows)
        if any(window.start == NOON + 60_000 * POISON for window in known):
            return self.answer(known)
        return super().merge(iter(known))


def merging(answer: Callable[[Any], Any]) -> bl.WindowFn:
    return type("Merging", (Merging,), {"answer": staticmethod(answer)})("10 minutes")


@attrs.frozen
class Triggering(bl.CustomTrigger[int]):
    """A trigger of which a method raises once the poison has come."""

    method: str
    keeps: ClassVar = "number"
    firings: ClassVar = "repeated"
    looks_at: ClassVar = "values"

    def _check(self, method: str, state: int) -> None:
        if method == self.method and state >= POISON:
            raising()

    def start(self) -> int:
        return 0

    def on_elements(self, state: int, arrived: Any, now: Any) -> int:
        grown = state + sum(arrived.values)
        self._check("on_elements", grown)
        return grown

    def is_ready(self, state: int, now: Any) -> bool:
        self._check("is_ready", state)
        return self.method in ("on_fire",) and state >= POISON

    def on_fire(self, state: int, now: Any) -> int:
        self._check("on_fire", state)
        return 0

    def merge(self, states: Any, now: Any) -> int:
        self._check("merge", POISON if 2 in states else 0)  # the row before the poison
        return sum(states)

    def processing_time_timers(self, state: int) -> Any:
        self._check("processing_time_timers", state)
        return (1 << 50,)

    def event_time_timers(self, state: int) -> Any:
        self._check("event_time_timers", state)
        return (NOON + 1_800_000,)


class Counting:
    """Counts rows, and fails for the poison in a way that is asked for."""

    count = bl.state("value")
    ring = bl.timer()

    def __init__(self, fails: str) -> None:
        self.fails = fails

    def process(self, row: Any, count: Any, ring: Any) -> Any:
        if row.n == POISON:
            match self.fails:
                case "raise":
                    raising()
                case "exit":
                    sys.exit(3)
                case "result":
                    yield {"n": 2**80}
                case "state":
                    count.write(item for item in "no generator can be saved")
                case "timer":
                    ring.set(2**90)
                case "ringing":
                    ring.set(NOON + 600_000)
        yield {"n": row.n}

    def on_ring(self) -> Any:
        raising()
        yield {"n": 0}


def windowed(on_error: str, **changes: Any) -> Callable[[Any], Any]:
    options = {"window": HOUR, "aggregate": {"n": bl.sum("n")}} | changes
    if on_error == "drop" and "lift" not in changes:
        options["max_failures"] = 1

    def job(readings: Any) -> Any:
        source = {"key": "device", "timestamp": "at", "watermark": "1 minute"}
        return bl.windowed(readings, **source, on_error=on_error, **options)

    return job


def counted(on_error: str, fails: str) -> Callable[[Any], Any]:
    def job(readings: Any) -> Any:
        rows = bl.stream(readings, timestamp="at", watermark="1 minute")
        more = {"max_failures": 1} if on_error == "drop" else {}
        return rows.apply_per_key("device", Counting(fails), "n long", on_error=on_error, **more)

    return job


TRIGGERED = {"allowed_lateness": "0 s", "accumulation": "discarding", "window_input": "n"}
COMBINED = {
    f"{method} of {window}, {machine}": {
        "aggregate": {"n": bl.combine(Combining(method), "n", "long")},
        "window": window,
        "machine": machine,
    }
    for method, window, machine in itertools.product(
        ("add", "extract", "compact"), (HOUR, SESSIONS), ("auto", "reference")
    )
}
LIFTED = {
    "merge of what was combined before": {
        "aggregate": {"n": bl.combine(Combining("merge"), "n", "long")},
        "lift": True,
    }
}
KINDS = {
    kind.__name__: {"aggregate": {"n": bl.combine(Combining("add", kind), "n", "long")}}
    for kind in (MemoryError, RecursionError, SystemExit, StopIteration, UnicodeError)
}
WINDOWS = {
    "assign raises": {"window": assigning(raising)},
    "assign gives None": {"window": assigning(lambda: None)},
    "assign gives numbers": {"window": assigning(lambda: (1, 2))},
    "a window beyond 64 bits": {"window": assigning(lambda: (bl.IntervalWindow(0, 2**80),))},
    "merge raises": {"window": merging(lambda _: raising())},
    "merge gives None": {"window": merging(lambda _: None)},
    "merge beyond 64 bits": {
        "window": merging(
            lambda known: [bl.Merge(tuple(known), bl.IntervalWindow(known[0].start, 2**80))]
        )
    },
    "a gap of no length": {"window": bl.Sessions(lambda n: -n if n == POISON else 600_000)}
    | {"window_input": "n"},
}
TRIGGERS = {
    method: {"trigger": bl.Repeatedly(Triggering(method)), "window": window} | TRIGGERED
    for method, window in (
        *((method, HOUR) for method in ("on_elements", "is_ready", "on_fire")),
        *((method, HOUR) for method in ("processing_time_timers", "event_time_timers")),
        ("merge", SESSIONS),
    )
}
FAILING: dict[str, dict[str, Any]] = {**COMBINED, **LIFTED, **KINDS, **WINDOWS, **TRIGGERS}


def row(device: str, minute: int, n: int) -> dict[str, Any]:
    return {"device": device, "at": NOON + 60_000 * minute, "n": n}


GOOD_BEFORE = [row("good", 1, 1), row("bad", 5, 2)]
POISONED = [row("bad", POISON, POISON), row("good", 6, 2)]
GOOD_AFTER = [row("good", 9, 5)]


def play(query: QueryTest) -> None:
    query.send(*GOOD_BEFORE)
    query.send(*POISONED)
    query.send(*GOOD_AFTER)
    query.advance_watermark_to_infinity()


def total_of(query: QueryTest, device: str) -> int:
    return sum(got["n"] for got in query.rows if got["device"] == device and got["n"])


def failures(query: QueryTest) -> list[dict[str, Any]]:
    return [got["dropped"] | {"device": got["device"]} for got in query.rows if got.get("dropped")]


@pytest.mark.parametrize("name", FAILING)
def test_failed_under_drop_is_a_row_that_names_what_failed(name: str) -> None:
    query = QueryTest(windowed("drop", **FAILING[name]), SCHEMA)
    play(query)

    assert total_of(query, "good") == 8
    failed = failures(query)
    assert failed
    assert {(drop["device"], drop["reason"]) for drop in failed} == {("bad", "failed")}
    assert all(" raised " in drop["error"] for drop in failed)
    assert all(drop["window"] or "assign" in drop["error"] for drop in failed)
    lost = sum(drop["count"] for drop in failed)
    dropped_alone = POISON if lost == 1 else 0
    if lost < 2:  # else the whole pane had no value
        assert total_of(query, "bad") == 2 + POISON - dropped_alone


@pytest.mark.parametrize("name", FAILING)
def test_failed_under_fail_says_how_to_get_past_it_on_that_checkpoint(name: str) -> None:
    query = QueryTest(windowed("fail", **FAILING[name]), SCHEMA)
    with pytest.raises(errors.UserFunctionError) as stopped:
        play(query)

    words = str(stopped.value)
    assert " raised " in words
    assert "key ('bad',)" in words
    assert 'on_error="drop"' in words
    query.restart(windowed("drop", **FAILING[name]))
    query.advance_watermark_to_infinity()
    assert total_of(query, "good") >= 3
    assert {(drop["device"], drop["reason"]) for drop in failures(query)} == {("bad", "failed")}


@pytest.mark.parametrize("fails", ["raise", "exit", "result", "state", "timer", "ringing"])
def test_failed_calls_of_a_function_with_states_take_no_other_row(fails: str) -> None:
    query = QueryTest(counted("drop", fails), SCHEMA)
    play(query)

    assert total_of(query, "good") == 8
    ((device, reason, error),) = [
        (drop["device"], drop["reason"], drop["error"]) for drop in failures(query)
    ]
    assert (device, reason) == ("bad", "failed")
    assert error.startswith("Counting.on_ring" if fails == "ringing" else "Counting.process")

    query = QueryTest(counted("fail", fails), SCHEMA)
    with pytest.raises(errors.UserFunctionError, match=r"key \('bad',\).*on_error=\"drop\""):
        play(query)


def test_named_errors_have_the_key_of_the_row_on_each_machine() -> None:
    for machine in ("auto", "reference"):
        aggregate = {"n": bl.combine(Combining("add"), "n", "long")}
        query = QueryTest(windowed("fail", aggregate=aggregate, machine=machine), SCHEMA)
        with pytest.raises(errors.UserFunctionError) as stopped:
            play(query)

        assert (stopped.value.key, stopped.value.function) == (
            "('bad',)",
            "add of the aggregates n",
        )


def test_described_before_it_takes_a_row_a_query_is_refused() -> None:
    assert "'nothing'" in refusal(
        errors.ColumnError,
        lambda: QueryTest(windowed("drop", aggregate={"n": bl.sum("nothing")}), SCHEMA),
    )


def test_caught_what_the_columnar_machine_cannot_do_the_other_one_does() -> None:
    query = QueryTest(windowed("drop", window=assigning(lambda: ())), SCHEMA)
    play(query)

    assert (total_of(query, "good"), total_of(query, "bad"), failures(query)) == (8, 2, [])


def test_state_of_another_query_is_refused_with_both_ways_out() -> None:
    query = QueryTest(windowed("drop"), SCHEMA)
    query.send(*GOOD_BEFORE)
    query.restart(windowed("drop", window=bl.FixedWindows("2 hours")))
    with pytest.raises(errors.StateError) as refused:
        query.send(*GOOD_AFTER)

    words = str(refused.value)
    assert "FixedWindows(1h)" in words
    assert "FixedWindows(2h)" in words
    assert "checkpointLocation" in words


def test_room_that_is_not_there_is_an_error_after_which_nothing_is_lost() -> None:
    query = QueryTest(windowed("drop", shards=1), SCHEMA)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ColumnShard, "step", lambda *_: raising(MemoryError))
        with pytest.raises(errors.WorkerMemoryError) as stopped:
            query.send(*GOOD_BEFORE, *POISONED)
    query.restart()
    query.advance_watermark_to_infinity()

    assert "ran out of memory in shard 0 of the 1 of 'beamlike'" in str(stopped.value)
    assert "4 rows arrived, 50% of them of key device=" in str(stopped.value)
    assert (total_of(query, "good"), total_of(query, "bad")) == (3, 15)


class Liar:
    """Is equal to nothing, or cannot be compared."""

    def __init__(self, raises: bool) -> None:
        self._raises, self._hashes = raises, itertools.count()

    def __hash__(self) -> int:
        if self._raises:
            raising()
        return next(self._hashes)

    def __eq__(self, other: object) -> bool:
        return False

    def __repr__(self) -> str:
        return "Liar()"


KEYS: dict[str, Callable[[], Any]] = {
    "a hash that raises": lambda: Liar(raises=True),
    "a hash that changes": lambda: Liar(raises=False),
    "a function": lambda: raising,
    "a generator": lambda: (item for item in "ab"),
}


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_pipeline_keys_that_lie_are_named_with_their_transform(host: Any, key: Callable[[], Any]):
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([1, POISON]) | beam.Map(lambda n: ("a" if n == 1 else key(), n))
    _ = pairs | "By key" >> beam.GroupByKey()
    with pytest.raises(errors.PipelineError) as stopped:
        pipeline.run(host=host)

    words = str(stopped.value)
    assert words.startswith("'By key': the key ")
    assert "use a text" in words


@pytest.mark.parametrize("host", ["memory", "local"])
def test_pipeline_side_inputs_that_cannot_be_made_name_who_looks_there(host: Any) -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "side" >> beam.Create([1]) | beam.Map(lambda n: (Liar(raises=True), n))
    _ = (
        pipeline
        | beam.Create([1])
        | "Look" >> beam.Map(lambda n, known: len(known), beam.pvalue.AsDict(side))
    )
    assert refusal(errors.TransformError, lambda: pipeline.run(host=host)) == (
        "'Look' raised ValueError: poisoned for its side inputs"
    )


@pytest.mark.parametrize("host", ["memory", "local"])
def test_failed_triggers_are_explained_and_their_window_comes_out_at_its_expiry(host: Any) -> None:
    stream = TestStream().add_elements_at_time("12:01:00", ("bad", POISON))
    results = stream.advance_watermark_to_infinity().run(
        window=HOUR,
        trigger=bl.AfterWatermark(early=Triggering("is_ready")),
        accumulation="discarding",
        allowed_lateness="0 s",
        host=host,
        on_error="drop",
    )

    words = "Triggering(method='is_ready').is_ready raised ValueError: poisoned"
    assert [line.split("  ")[-1].strip() for line in str(results).splitlines()[1:]] == [
        f"0 elements ({words})",
        f"[{POISON}]",
    ]
    explained = " ".join(str(results.explain()).split())
    assert f"the expiry of its window: {words}" in explained


@pytest.mark.parametrize("machine", ["auto", "reference"])
def test_failed_sums_that_outgrow_their_type_leave_one_row_out(machine: Any) -> None:
    most = 2**63 - 1
    query = QueryTest(windowed("drop", machine=machine), SCHEMA)
    query.send(*GOOD_BEFORE, row("bad", 6, most), row("bad", 7, 3))
    query.advance_watermark_to_infinity()

    ((device, reason, error),) = [
        (drop["device"], drop["reason"], drop["error"]) for drop in failures(query)
    ]
    assert (device, reason) == ("bad", "failed")
    assert error.startswith("aggregate 'n' outgrew its type int64: it would be")
    assert (total_of(query, "good"), total_of(query, "bad")) == (1, 5)

    query = QueryTest(windowed("fail", machine=machine), SCHEMA)
    with pytest.raises(errors.OutgrownError, match=r"key \('bad',\).*on_error=\"drop\""):
        query.send(*GOOD_BEFORE, row("bad", 6, most), row("bad", 7, 3))
    query.restart(windowed("drop", machine=machine))
    query.advance_watermark_to_infinity()
    assert (total_of(query, "good"), total_of(query, "bad")) == (1, 5)


def test_scripted_clocks_that_go_back_are_refused() -> None:
    with pytest.raises((errors.WatermarkError, ValueError), match="watermark"):
        TestStream().advance_watermark_to("12:05:00").advance_watermark_to("12:00:00").run(
            window=HOUR
        )
