"""Every aggregate over a DataFrame, against plain Python over the same rows."""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import ColumnError, CombineError
from beamlike.model.combine import Sample
from tests.support.queries.hours import hourly
from tests.support.refusals import refusal

pytestmark = pytest.mark.spark

Row = dict[str, Any]
NAN = float("nan")
DAWN = datetime(2013, 1, 1, 5, tzinfo=UTC)
GAP = timedelta(minutes=10)
RIDES = (
    "k string, at timestamp, whole int, real double, money decimal(7,2), day date, text string, "
    "tags array<string>, nobody int"
)


def rides() -> list[Row]:
    """In order of arrival: times jump, some are equal, every column has nulls."""
    dice = Random(11)

    def maybe(value: Any) -> Any:
        return None if dice.random() < 0.2 else value

    return [
        {
            "k": dice.choice("ab"),
            "at": DAWN + timedelta(minutes=dice.randrange(300)),
            "whole": maybe(dice.randrange(-20, 20)),
            "real": maybe(dice.choice([NAN, 0.5, -0.0, dice.gauss(0, 3)])),
            "money": maybe(Decimal(dice.randrange(-500, 500)).scaleb(-2)),
            "day": maybe(date(2013, 1, 1) + timedelta(days=dice.randrange(9))),
            "text": maybe(dice.choice(["", "a", "é", "żółw", "b"])),
            "tags": maybe(dice.choices(["x", "y", None], k=dice.randrange(3))),
            "nobody": None,
        }
        for _ in range(90)
    ]


def sessions(rows: Iterable[Row]) -> list[tuple[str, datetime, list[Row]]]:
    """Key, start and rows of each session; the rows still in order of arrival."""
    found: list[tuple[str, datetime, list[Row]]] = []
    for key in "ab":
        of_key = [row for row in rows if row["k"] == key]
        times = sorted({row["at"] for row in of_key})
        starts = [
            t
            for before, t in zip([None, *times[:-1]], times, strict=True)
            if not before or t - before >= GAP
        ]
        for start, end in zip(starts, [*starts[1:], datetime.max.replace(tzinfo=UTC)], strict=True):
            found.append((key, start, [row for row in of_key if start <= row["at"] < end]))
    return found


def present(rows: Iterable[Row], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


def nan_last(value: Any) -> tuple[bool, Any]:
    return (value != value, value)


def descending(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=nan_last, reverse=True)


def first(rows: Iterable[Row], name: str) -> Any:
    """``min`` and stable sorting give the first among equals."""
    there = [row for row in rows if row[name] is not None]
    return min(there, key=lambda row: row["at"])[name] if there else None


def last(rows: Sequence[Row], name: str) -> Any:
    there = [row for row in rows if row[name] is not None]
    return max(reversed(there), key=lambda row: row["at"])[name] if there else None


def ranked(rows: Sequence[Row], name: str, by: str, reverse: bool) -> list[Any]:
    """The earliest first among equals, and of equal times the least value, a null in it first."""

    def place(row: Row) -> Any:
        value = row[name]
        if isinstance(value, list):
            value = [(item is not None, item or "") for item in value]
        return row["at"], value

    there = [row for row in rows if row[name] is not None and row[by] is not None]
    there.sort(key=place)
    return [r[name] for r in sorted(there, key=lambda r: nan_last(r[by]), reverse=reverse)]


def drawn(rows: Sequence[Row], name: str, n: int, seed: int) -> list[Any]:
    """Hosts agree on samples: this one is drawn without Spark."""
    fn = Sample(n, seed, keep_nulls=False)
    micros = [round(row["at"].timestamp() * 1_000_000) for row in rows]
    return list(fn.extract(fn.add(fn.create(), [row[name] for row in rows], micros)))


def in_order(values: Iterable[Any]) -> list[Any]:
    """Each once, NaN last; a zero has no sign."""
    known = list(values)
    different = sorted({value + 0 if value == 0 else value for value in known if value == value})
    return [*different, *([NAN] if any(value != value for value in known) else [])]


def quantiles(values: Iterable[Any], fractions: Sequence[float]) -> list[float]:
    known = sorted(float(value) for value in values if value == value)
    at = [min(len(known) - 1, math.floor(fraction * len(known))) for fraction in fractions]
    return [known[place] for place in at] if known else []


EXPECTED: dict[str, tuple[Any, Callable[[list[Row]], Any]]] = {
    "rows": (bl.count(), len),
    "first_whole": (bl.first("whole"), lambda rows: first(rows, "whole")),
    "last_text": (bl.last("text"), lambda rows: last(rows, "text")),
    "first_tags": (bl.first("tags"), lambda rows: first(rows, "tags")),
    "last_day": (bl.last("day"), lambda rows: last(rows, "day")),
    "last_at": (bl.last("at"), lambda rows: last(rows, "at")),
    "first_nobody": (bl.first("nobody"), lambda rows: None),
    "top_whole": (bl.top("whole", 3), lambda rows: descending(present(rows, "whole"))[:3]),
    "top_real": (bl.top("real", 4), lambda rows: descending(present(rows, "real"))[:4]),
    "top_money": (bl.top("money", 2), lambda rows: descending(present(rows, "money"))[:2]),
    "bottom_real": (
        bl.bottom("real", 4),
        lambda rows: sorted(present(rows, "real"), key=nan_last)[:4],
    ),
    "bottom_day": (bl.bottom("day", 2), lambda rows: sorted(present(rows, "day"))[:2]),
    "bottom_text": (bl.bottom("text", 9), lambda rows: sorted(present(rows, "text"))[:9]),
    "top_nobody": (bl.top("nobody", 3), lambda rows: []),
    "top_tags_by_money": (
        bl.top("tags", 3, by="money"),
        lambda rows: ranked(rows, "tags", "money", True)[:3],
    ),
    "bottom_text_by_real": (
        bl.bottom("text", 3, by="real"),
        lambda rows: ranked(rows, "text", "real", False)[:3],
    ),
    "sample_text": (bl.sample("text", 3, seed=5), lambda rows: drawn(rows, "text", 3, 5)),
    "sample_money": (bl.sample("money", 2), lambda rows: drawn(rows, "money", 2, 0)),
    "sample_tags": (bl.sample("tags", 2), lambda rows: drawn(rows, "tags", 2, 0)),
    "quartiles": (
        bl.approx_quantiles("whole", 5),
        lambda rows: quantiles(present(rows, "whole"), [0, 0.25, 0.5, 0.75, 1]),
    ),
    "late_money": (
        bl.approx_quantiles("money", [0.9, 0.1]),
        lambda rows: quantiles(present(rows, "money"), [0.9, 0.1]),
    ),
    "median_real": (
        bl.approx_quantiles("real", [0.5]),
        lambda rows: quantiles(present(rows, "real"), [0.5]),
    ),
    "reals": (
        bl.approx_distinct("real"),
        lambda rows: len({"nan" if v != v else v for v in present(rows, "real")}),
    ),
    "texts": (bl.approx_distinct("text"), lambda rows: len(set(present(rows, "text")))),
    "tag_lists": (
        bl.approx_distinct("tags"),
        lambda rows: len({tuple(tags) for tags in present(rows, "tags")}),
    ),
    "exact_reals": (
        bl.count_distinct("real"),
        lambda rows: len({"nan" if v != v else v for v in present(rows, "real")}),
    ),
    "set_of_reals": (bl.collect_set("real"), lambda rows: in_order(present(rows, "real"))),
    "set_of_money": (bl.collect_set("money"), lambda rows: in_order(present(rows, "money"))),
    "set_of_days": (bl.collect_set("day"), lambda rows: in_order(present(rows, "day"))),
    "exact_tags": (
        bl.count_distinct("tags"),
        lambda rows: len({tuple(tags) for tags in present(rows, "tags")}),
    ),
    "set_of_nulls": (bl.collect_set("nobody"), lambda rows: []),
    "exact_nulls": (bl.count_distinct("nobody"), lambda rows: 0),
    "nobodies": (bl.approx_distinct("nobody"), lambda rows: 0),
}


def described(value: Any) -> str:
    """NaN equals NaN here, and instants compare whatever their zone."""
    if isinstance(value, list):
        return f"[{', '.join(map(described, value))}]"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return repr(value)


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    return spark.createDataFrame([tuple(row.values()) for row in rides()], RIDES).coalesce(1)


def in_sessions(frame: Any, aggregate: dict[str, Any], **how: Any) -> Any:
    return bl.windowed(
        frame,
        key="k",
        timestamp="at",
        window=bl.Sessions("10 minutes"),
        aggregate=aggregate,
        trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness="1 day",
        **how,
    )


def test_every_aggregate_of_merged_sessions_is_that_of_plain_python(frame: Any) -> None:
    aggregate = {name: wanted for name, (wanted, _) in EXPECTED.items()}
    expected = [
        [key, described(start), *(described(compute(rows)) for _, compute in EXPECTED.values())]
        for key, start, rows in sessions(rides())
    ]

    panes = in_sessions(frame, aggregate).collect()

    shown = [
        [
            pane["k"],
            described(pane["window"]["start"]),
            *(described(pane[name]) for name in aggregate),
        ]
        for pane in panes
    ]
    assert sorted(shown) == sorted(expected)
    assert max(pane["rows"] for pane in panes) > 10  # sessions that grew out of many


@attrs.frozen
class Span(bl.CombineFn):
    """The least and the greatest, in a form that an Arrow struct gives back."""

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        for value in values:
            if value is not None:
                accumulator = self.merge(accumulator, {"low": value, "high": value})
        return accumulator

    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return {"low": min(first["low"], second["low"]), "high": max(first["high"], second["high"])}


class Weighted(bl.CombineFn):
    """A mean with weights, of pairs; written without any library, with a state of its own."""

    def __init__(self, digits: int) -> None:
        self.digits = digits

    def create(self) -> Any:
        return (0.0, 0)

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        for value, weight in values:
            if value is not None and weight is not None:
                accumulator = self.merge(accumulator, (float(value) * weight, weight))
        return accumulator

    def merge(self, first: Any, second: Any) -> Any:
        return (first[0] + second[0], first[1] + second[1])

    def extract(self, accumulator: Any) -> Any:
        total, weight = accumulator
        return round(total / weight, self.digits) if weight else None


def test_combine_functions_of_one_s_own_take_one_column_or_several(frame: Any) -> None:
    span = "struct<low: int, high: int>"
    aggregate = {
        "typed": bl.combine(Span(), "whole", span, accumulator=span),
        "pickled": bl.combine(Span(), "whole", span),
        "weighted": bl.combine(Weighted(digits=6), ["money", "whole"]),
    }

    def weighted(rows: list[Row]) -> float | None:
        there = [r for r in rows if r["money"] is not None and r["whole"] is not None]
        weight = sum(row["whole"] for row in there)
        total = sum(float(row["money"]) * row["whole"] for row in there)
        return round(total / weight, 6) if weight else None

    expected = []
    for key, start, rows in sessions(rides()):
        known = present(rows, "whole")
        low_high = (min(known), max(known)) if known else None
        expected.append([key, described(start), low_high, low_high, described(weighted(rows))])

    panes = in_sessions(frame, aggregate).collect()

    shown = [
        [
            pane["k"],
            described(pane["window"]["start"]),
            pane["typed"] and tuple(pane["typed"]),
            pane["pickled"] and tuple(pane["pickled"]),
            described(pane["weighted"]),
        ]
        for pane in panes
    ]
    assert sorted(shown, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        (
            lambda: bl.combine(Span(), "whole", "duble"),
            CombineError,
            "aggregate 'x': returns='duble' is no type that Spark can read; write one such as "
            '"double", "array<string>" or "struct<low: int, high: int>"',
        ),
        (
            lambda: bl.combine(Weighted(2), ["real", "whole"], accumulator="array<double>"),
            CombineError,
            "aggregate 'x': the accumulator (0.0, 0) comes back from accumulator='array<double>' "
            "as [0.0, 0.0]; let the function use that form (a list for an array, a dict for a "
            "struct), or leave the accumulator's type out to have it pickled",
        ),
        (
            lambda: bl.combine(Span(), ["whole", "missing"]),
            ColumnError,
            "aggregate 'x': there is no column 'missing'; the columns are 'k', 'at', 'whole', "
            "'real', 'money', 'day', 'text', 'tags', 'nobody'",
        ),
        (
            lambda: bl.combine(Span, "whole"),  # type: ignore[arg-type]
            CombineError,
            f"combine fn must be a combine function, got {Span!r}; write Span()",
        ),
        (
            lambda: bl.combine(Span(), []),
            CombineError,
            "combine columns must be a column's name or a list of names, got []",
        ),
        (
            lambda: bl.combine(Span(), "whole", float),  # type: ignore[arg-type]
            CombineError,
            "combine returns must be a type in words such as \"double\", got <class 'float'>",
        ),
        (
            lambda: bl.top("whole", 0),
            CombineError,
            "Top n must be a whole number of 1 or more, got 0",
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_the_query_runs(
    frame: Any, wanted: Callable[[], Any], error: type[Exception], message: str
) -> None:
    assert refusal(error, lambda: in_sessions(frame, {"x": wanted()})) == message


def test_a_result_that_does_not_fit_its_type_stops_the_query_by_name(frame: Any) -> None:
    wanted = {"n": bl.count(), "span": bl.combine(Span(), "whole", "array<int>")}
    panes = in_sessions(frame, wanted, on_error="fail")
    with pytest.raises(Exception, match=r"aggregate 'span': Span\(\) returned \{'low': ") as failed:
        panes.collect()
    assert "which does not fit the declared type 'array<int>'" in str(failed.value)


def test_a_count_takes_columns_of_types_that_arrow_does_not_have(spark: Any) -> None:
    terms = spark.sql(
        """
        select * from values
            ('ann', '2024-05-01 12:00:00', interval '1-2' year to month, parse_json('{"a": 1}')),
            ('ann', '2024-05-01 12:01:00', null, parse_json('[1]')),
            ('ann', 'no idea', interval '3' month, null)
        as terms(user, at, term, more)
        """
    )
    counts = {"terms": bl.count("term"), "more": bl.count("more"), "rows": bl.count()}
    rows = hourly(terms, counts, key="user", output="all")
    panes, dropped = bl.split(rows)
    assert [tuple(row) for row in panes.select("user", "terms", "more", "rows").collect()] == [
        ("ann", 1, 2, 2)
    ]
    (lost,) = dropped.select("dropped.reason", "dropped.element").collect()
    assert tuple(lost) == (
        "bad_timestamp",
        '{"user":"ann","at":"no idea","term":"INTERVAL \'0-3\' YEAR TO MONTH","more":null}',
    )
