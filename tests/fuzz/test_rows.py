"""Rows of any kind: nothing good is lost with the bad, and each bad one has its reason."""

import json
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.testing import TestStream
from tests.support.examples import examples

MEGABYTE = "x" * 2**20

# -- rows of a DataFrame ---------------------------------------------------------------------------

KEYS = st.sampled_from(("ann", "", " ", "\u8336", "a\x00b", "\x1b[2J", "'; drop", MEGABYTE[:9_999]))
TIMES = st.sampled_from(
    (
        *("2020-01-01 00:00:01", "2020-01-01T00:59:59.999999", "2020-02-29T23:59:59+14:00"),
        *("0001-01-01 00:00:00", "9999-12-31 23:59:59.999", "1969-12-31 23:59:59.999"),
        *("+294247-01-10T04:00:54.775Z", "-290308-12-21T19:59:06Z"),
    )
)
NO_TIMES = st.sampled_from(
    ("", "12:30", "2024", "yesterday", "2020-02-30 00:00:00", "9" * 40, "2020-01-01 25:00", "\x00")
)
NUMBERS = st.sampled_from(
    (None, "0", "-0.0", "NaN", "Infinity", "-Infinity", "1e308", "1e-400", "1e999", "7" * 99)
)
NO_NUMBERS = st.sampled_from(("", "abc", "1,5", "0x10", "--1", "\u0661x", MEGABYTE))
GOOD = st.tuples(KEYS, TIMES, NUMBERS, st.just("good"))
BAD = st.one_of(
    st.tuples(st.none(), TIMES | NO_TIMES | st.none(), NUMBERS | NO_NUMBERS, st.just("null_key")),
    st.tuples(KEYS, st.none(), NUMBERS | NO_NUMBERS, st.just("null_timestamp")),
    st.tuples(KEYS, NO_TIMES, NUMBERS | NO_NUMBERS, st.just("bad_timestamp")),
    st.tuples(KEYS, TIMES, NO_NUMBERS, st.just("bad_value")),
)


@pytest.mark.spark
def test_every_row_is_in_a_pane_or_told_with_its_reason(spark: Any) -> None:
    @settings(max_examples=2, database=None)
    @given(st.lists(GOOD, min_size=20, max_size=30), st.lists(BAD, min_size=20, max_size=30))
    def check(good: list[Any], bad: list[Any]) -> None:
        # Duplicates, too, and the bad between the good.
        rows = [each for pair in zip(good, bad + bad, strict=False) for each in pair] + good[:3]
        frame = spark.createDataFrame([row[:3] for row in rows], "k string, at string, v string")
        out = bl.windowed(
            frame,
            key="k",
            timestamp="at",
            window=bl.FixedWindows("1 hour"),
            aggregate={"n": bl.count(), "mean": bl.mean("v"), "most": bl.max("v")},
            output="all",
        )

        panes: Counter[Any] = Counter()
        drops: Counter[Any] = Counter()
        for row in out.select("k", "n", "dropped.reason", "dropped.element").collect():
            if row.reason is None:
                panes[row.k] += row.n
            else:
                shown = json.loads(row.element)
                drops[row.reason, shown["k"], shown["at"], shown["v"]] += 1

        assert panes == Counter(row[0] for row in rows if row[3] == "good")
        assert drops == Counter((row[3], *row[:3]) for row in rows if row[3] != "good")

    check()


TYPED = """
    select * from values
      (double('NaN'), 0L, 1), (double('NaN'), 0L, 2), (double('-0.0'), 0L, 3), (0.0D, 0L, 4),
      (double('-Infinity'), 9223372036854775807L, 5), (1e308D, -9223372036854775808L, 6),
      (1.0D, cast(null as bigint), 7), (cast(null as double), 0L, 8)
    as rows(k, micros, v)
"""


@pytest.mark.spark
def test_numbers_that_are_none_are_keys_and_the_ends_of_time_are_times(spark: Any) -> None:
    frame = spark.sql(TYPED).selectExpr(
        *("k", "timestamp_micros(micros) at", "cast(v as decimal(38, 18)) v"),
        "repeat('y', 1048576) text",
    )
    out = bl.windowed(
        frame,
        key="k",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"all": bl.collect("v"), "texts": bl.max("text")},
        output="all",
    )

    found = [
        (str(row.k), None if row.all is None else sorted(map(int, row.all)), row.reason)
        for row in out.select("k", "all", "dropped.reason", "texts").collect()
        if row.texts is None or len(row.texts) == 2**20
    ]
    assert sorted(found, key=str) == [
        ("-inf", [5], None),
        ("0.0", [3, 4], None),
        ("1.0", None, "null_timestamp"),
        ("1e+308", [6], None),
        ("None", None, "null_key"),
        ("nan", [1, 2], None),
    ]


# -- elements in memory ----------------------------------------------------------------------------

LEAVES = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary()),
    st.sampled_from((MEGABYTE, 10**400, math.inf, -math.inf, math.nan, "\ud800")),
)
VALUES = st.recursive(LEAVES, lambda some: st.lists(some, max_size=3) | st.tuples(some, some))
ANY_KEY = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.binary(max_size=3)),
    st.tuples(st.integers(), st.text(max_size=2)),
)


@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(ANY_KEY, VALUES, st.integers(-(10**15), 10**15)), min_size=1, max_size=12),
    st.sampled_from((bl.FixedWindows("1 hour"), bl.Sessions("1 day"))),
)
def test_values_of_any_kind_come_out_of_memory_as_they_went_in(
    rows: list[tuple[Any, Any, int]], window: Any
) -> None:
    stream = TestStream()
    for key, value, timestamp in rows:
        stream = stream.add_elements_at_time(timestamp, (key, value))

    results = stream.advance_watermark_to_infinity().run(window=window)

    came = Counter(repr(value) for output in results.run.outputs for value in output.effect.value)
    assert came == Counter(repr(value) for _, value, _ in rows)
    assert str(results)
