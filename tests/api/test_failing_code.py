"""Functions whose code is wrong: what is dropped, what stops, and what a person is shown."""

import logging
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import TooManyFailuresError, UserFunctionError, WindowingError
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.queries.rows import ON_BOTH, Row
from tests.support.refusals import refusal
from tests.support.sums import Added

SCHEMA = "user string, at timestamp, v long, bad boolean"


class Mute(Exception):
    def __str__(self) -> str:
        raise LookupError("no words")


class Failing(Added):
    """A sum that fails in many ways: by the value."""

    def add(self, accumulator: int, values: Sequence[int], timestamps: Sequence[int]) -> int:
        for value in values:
            fail(value)
        return super().add(accumulator, values, timestamps)


def fail(value: int) -> None:
    match value:
        case 10:
            raise ValueError("not ascii: \ud83d")
        case 11:
            raise ValueError("a\0b")
        case 12:
            raise ValueError("a" * 3_000_000)
        case 13:
            raise Mute
        case 14:
            sys.exit("bye")


class Misspelt(Failing):
    def add(self, accumulator: int, values: Sequence[int], timestamps: Sequence[int]) -> int:
        return accumulator + sum(valeus)  # type: ignore[name-defined] # noqa: F821


class MisspeltResult(Failing):
    def extract(self, accumulator: int) -> int:
        return accumulator and acumulator  # type: ignore[name-defined,no-any-return] # noqa: F821


def sums(fn: bl.CombineFn, **options: Any) -> Any:
    total = {"total": bl.combine(fn, "v", "long", "long")}
    how: Row = {"key": "user", "watermark": "0 s", "output": "all", "shards": 1} | options
    return lambda rows: hourly(rows, total, **how)


def row(v: int, at: str = "12:00:00", user: str = "ann", bad: bool | None = None) -> Row:
    return {"user": user, "at": at, "v": v, "bad": bad}


def dropped(rows: Sequence[Any]) -> list[tuple[str, str | None]]:
    lost = [it["dropped"] for it in rows if it["dropped"] is not None]
    return sorted((it["reason"], it["error"]) for it in lost)


# -- texts that have no form in UTF-8, and exits ------------------------------------------------


@ON_BOTH
def test_whatever_a_function_raises_is_dropped_with_a_text_that_can_be_sent(host: Any) -> None:
    query = QueryTest(sums(Failing()), SCHEMA, host=host)
    rows = query.send(*(row(v, "12:00:00") for v in (1, 10, 11, 12, 13, 14)))
    what = "add of the aggregates total raised "
    assert dropped(rows) == [
        ("failed", what + "Mute: <Mute, whose text raises LookupError>"),
        ("failed", what + "SystemExit: bye"),
        ("failed", what + "ValueError: a\\x00b"),
        ("failed", what + "ValueError: " + "a" * 2_000 + "... (2998000 characters more)"),
        ("failed", what + "ValueError: not ascii: \\ud83d"),
    ]
    after = query.advance_watermark_to_infinity()
    assert [it["total"] for it in after if it["dropped"] is None] == [1]


@ON_BOTH
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (10, "ValueError: not ascii: \\ud83d"),
        (13, "Mute: <Mute, whose text raises LookupError>"),
        (14, "SystemExit: bye"),
    ],
)
def test_a_query_that_fails_says_the_same(host: Any, value: int, problem: str) -> None:
    query = QueryTest(sums(Failing(), on_error="fail"), SCHEMA, host=host)
    with pytest.raises(UserFunctionError) as raised:
        query.send(row(value))
    assert str(raised.value) == (
        f"add of the aggregates total raised {problem}; it was called for the element ({value},) "
        "at 12:00:00 (43200000 ms), window [12:00:00, 13:00:00), key ('ann',); mend the function, "
        'or leave out what it cannot take with on_error="drop"'
    )
    assert type(raised.value.__cause__).__name__ == problem.partition(":")[0]


def test_an_interrupt_is_not_a_failure_of_a_function() -> None:
    class Interrupted(Failing):
        def add(self, accumulator: int, values: Any, timestamps: Any) -> int:
            raise KeyboardInterrupt

    query = QueryTest(sums(Interrupted()), SCHEMA)
    with pytest.raises(KeyboardInterrupt):
        query.send(row(1))


# -- code that fails for nearly all --------------------------------------------------------------


@ON_BOTH
@pytest.mark.parametrize("machine", ["auto", "reference"])
def test_a_misspelt_name_stops_a_query_that_drops_failures(host: Any, machine: str) -> None:
    query = QueryTest(sums(Misspelt(), machine=machine), SCHEMA, host=host)
    with pytest.raises(TooManyFailuresError) as raised:
        query.send(*(row(v) for v in range(30)))
    assert str(raised.value) == (
        "'beamlike': 30 of the last 30 elements of a shard have failed, and max_failures=0.9 is "
        "the greatest share that may; add of the aggregates total raised NameError: name 'valeus' "
        "is not defined; mend the function and start the query again, or set max_failures=1 to "
        "drop all that fails"
    )
    assert isinstance(raised.value.__cause__, NameError)
    trace = raised.value.__cause__.__traceback__
    assert trace is not None
    assert trace.tb_frame.f_code.co_name == "add"
    assert trace.tb_next is None


@ON_BOTH
def test_a_misspelt_name_in_what_makes_the_result_stops_it_as_well(host: Any) -> None:
    query = QueryTest(sums(MisspeltResult()), SCHEMA, host=host)
    query.send(*(row(1, user=f"user {n}") for n in range(25)))
    with pytest.raises(TooManyFailuresError, match="25 of the last 25 panes of a shard"):
        query.advance_watermark_to("14:00:00")


@ON_BOTH
def test_some_failures_stop_nothing(host: Any) -> None:
    query = QueryTest(sums(Failing()), SCHEMA, host=host)
    assert len(dropped(query.send(*(row(11) for _ in range(19))))) == 19
    # 19 of 24 is less than nine in ten, and the next lot begins with the next failure.
    assert dropped(query.send(*(row(1) for _ in range(5)))) == []
    assert len(dropped(query.send(*(row(11) for _ in range(19))))) == 19


@ON_BOTH
def test_a_restart_goes_on_counting(host: Any) -> None:
    query = QueryTest(sums(Misspelt()), SCHEMA, host=host)
    assert len(dropped(query.send(*(row(v) for v in range(12))))) == 12
    query.restart()
    with pytest.raises(TooManyFailuresError, match="24 of the last 24 elements"):
        query.send(*(row(v) for v in range(12)))
    mended = sums(Misspelt(), max_failures=1)
    query.restart(mended)
    assert len(dropped(query.send(*(row(v) for v in range(12))))) >= 12


@ON_BOTH
@pytest.mark.parametrize(("share", "stops"), [(0.4, True), (0.5, False), (1, False)])
def test_the_share_is_an_option(host: Any, share: float, stops: bool) -> None:
    query = QueryTest(sums(Failing(), max_failures=share), SCHEMA, host=host)
    rows = [row(v) for v in (1, 11) * 20]
    if stops:
        with pytest.raises(TooManyFailuresError, match=f"20 of the last 40 .*={share:g} is"):
            query.send(*rows)
    else:
        assert len(dropped(query.send(*rows))) == 20


@pytest.mark.spark
def test_a_bounded_query_stops_as_well(spark: Any) -> None:
    values = [("ann", "2020-01-01 12:00:00", v, False) for v in range(30)]
    frame = spark.createDataFrame(values, "user string, at string, v long, bad boolean")
    with pytest.raises(Exception, match="30 of the last 30 elements") as raised:
        sums(Misspelt())(frame).collect()
    assert "NameError: name 'valeus' is not defined" in str(raised.value)
    assert len(sums(Misspelt(), max_failures=1)(frame).collect()) == 30


@ON_BOTH
def test_functions_with_states_stop_as_well(host: Any) -> None:
    class Visits:
        def process(self, row: Any) -> Any:
            yield {"n": row.vv}

    def job(rows: Any) -> Any:
        given = bl.stream(rows, timestamp="at", watermark="0 s")
        return given.apply_per_key("user", Visits(), "n long", shards=1)

    query = QueryTest(job, SCHEMA, host=host)
    with pytest.raises(TooManyFailuresError, match="'per key': 25 of the last 25 elements"):
        query.send(*(row(v) for v in range(25)))


def test_a_failure_is_logged_once_with_the_users_traceback(caplog: pytest.LogCaptureFixture):
    query = QueryTest(sums(Misspelt()), SCHEMA)
    with caplog.at_level(logging.WARNING, "beamlike.panes"):
        query.send(row(1), row(2))
        query.send(row(3))
    (logged,) = [
        record.getMessage() for record in caplog.records if "said once" in record.getMessage()
    ]
    assert re.sub(r'File ".*", line \d+', "File, line", logged).splitlines() == [
        "beamlike: add of the aggregates total raised; what it raises for is dropped as failed, "
        "and this is said once:",
        "  File, line, in add",
        "    return accumulator + sum(valeus)  # type: ignore[name-defined] # noqa: F821",
        "NameError: name 'valeus' is not defined",
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"max_failures": 2},
            "max_failures must be a share from 0 to 1, such as 0.5, got 2",
        ),
        (
            {"max_failures": 0.5, "on_error": "fail"},
            'max_failures=0.5 says how much may be dropped, and with on_error="fail" nothing is; '
            "leave one of the two out",
        ),
        (
            {"max_failures": 0.5, "lift": True},
            "max_failures=0.5 counts what shards are given row by row, and lift and hot_key_fanout "
            "combine rows before; leave one or the other out",
        ),
        (
            {"reject": "bad"},
            'reject must map reasons to conditions, such as reject={"negative": "price < 0"}, got '
            "'bad'",
        ),
        (
            {"reject": {"expired": "bad"}},
            "reject: 'expired' is a reason that rows are dropped for anyway; give yours another "
            "name",
        ),
        (
            {"reject": {" ": "bad"}},
            "reject: a reason must be a text of 1 to 200 characters, got ' '",
        ),
    ],
    ids=["no share", "with fail", "with lift", "no reasons", "a reason of its own", "a blank"],
)
def test_what_is_no_share_reason_or_condition_is_refused(options: Row, says: str) -> None:
    assert refusal(WindowingError, QueryTest, sums(Failing(), **options), SCHEMA) == says


@pytest.mark.spark
def test_the_progress_counts_what_fails_and_what_is_rejected(feed: Any) -> None:
    rows = feed("user string, at timestamp, v int")
    options: Row = {"max_failures": 1, "reject": {"negative": "v < 0", "huge": "v > 100"}}
    rows.start(sums(Failing(), name="sums", **options)(rows.frame))
    rows.send(
        *({"user": "ann", "at": "2020-01-01T12:00:00Z", "v": v} for v in (1, 11, -1, -2, 200))
    )
    counts = [it.observedMetrics["sums"] for it in rows.progress]
    assert sum(count.dropped_failed for count in counts) == 1
    assert sum(count.dropped_rejected for count in counts) == 3
    assert sum(count.elements for count in counts) == 5
    (example,) = {count.drop_example for count in counts if count.drop_example}
    assert example.startswith(("failed, user='ann'", "negative, user='ann'", "huge, user='ann'"))


# -- what a person sees --------------------------------------------------------------------------

SCRIPT = """
import json, sys, beamlike as bl
spark, home = bl.local_session(), sys.argv[1]
(open(home + "/in/a.json", "w")).write(json.dumps(dict(user="a", at="2024-01-01 12:00:00", v=1)))
class Picky(bl.CombineFn):
    def create(self): return 0
    def add(self, accumulator, values, timestamps): return self.total(accumulator, values)
    def total(self, accumulator, values): return accumulator + sum(valeus)
    def merge(self, first, second): return first + second
rows = spark.readStream.schema("user string, at string, v long").json(home + "/in")
sums = {"total": bl.combine(Picky(), "v", "long", "long")}
panes = bl.windowed(rows, key="user", timestamp="at", watermark="0 s", on_error="fail",
                    window=bl.FixedWindows("1 hour"), aggregate=sums)
query = panes.writeStream.format("memory").queryName("x").trigger(availableNow=True).start()
query.awaitTermination()
"""


@pytest.mark.spark
def test_a_query_that_fails_on_the_terminal_fits_on_a_screen_and_ends_with_its_cause(
    tmp_path: Path,
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "job.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, "job.py", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
        check=False,
    )
    lines = (ran.stdout + ran.stderr).splitlines()
    assert len(lines) < 50
    *_, add, _, total, _, cause = lines
    assert cause == "NameError: name 'valeus' is not defined"
    assert (add.partition(" in ")[2], total.partition(" in ")[2]) == ("add", "total")
    assert ran.stderr.count("NameError: name 'valeus'") <= 4
