"""`beamlike.explain_plan` of queries of several steps: the graph, each node with what it reads."""

from datetime import UTC, datetime

import pyarrow as pa

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.pvalue import AsList
from tests.support.queries.hours import hourly

NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
ORDERS = pa.table({"no": [1], "ordered": [NOON], "item": ["tea"]})
PAID = pa.table({"no": [1], "paid": [NOON], "sum": [3]})
HOURS = bl.FixedWindows("1 hour")


def orders() -> bl.Stream:
    return bl.stream(ORDERS, timestamp="ordered").window(HOURS)


def payments() -> bl.Stream:
    return bl.stream(PAID, timestamp="paid").window(HOURS)


def graph(query: object) -> list[tuple[str, str]]:
    """Each node by its name, with what it reads."""
    nodes: list[tuple[str, str]] = []
    for line in bl.explain_plan(query).splitlines():
        if not line.startswith("  "):
            nodes.append((line.partition(":")[0], ""))
        elif line.startswith("  reads: "):
            nodes[-1] = (nodes[-1][0], line.removeprefix("  reads: "))
    return nodes


def test_several_groupings_in_a_row() -> None:
    by_item = orders().group("item", {"n": bl.count()}, name="by item")
    in_all = by_item.select("n").window(HOURS).group([], {"n": bl.count()})
    assert graph(in_all) == [("by item", ""), ("beamlike", "by item")]


def test_a_join_and_what_follows() -> None:
    joined = bl.join(orders(), payments(), on="no", name="paid orders")
    per_item = joined.group("item", {"eur": bl.sum("sum")})
    assert graph(per_item) == [
        ("paid orders", "stream by 'ordered', stream by 'paid'"),
        ("beamlike", "paid orders"),
    ]


def test_streams_that_are_one() -> None:
    items = [orders().select("item"), orders().select("item")]
    counted = bl.flatten(items).group("item", {"n": bl.count()})
    assert graph(counted) == [("beamlike", "stream by 'ordered', stream by 'ordered'")]


def test_a_look_up_and_its_side_input() -> None:
    looked_up = bl.look_up(orders(), payments(), on="no", name="with payments")
    assert graph(looked_up) == [
        ("with payments side", ""),
        ("with payments", "stream by 'ordered', with payments side"),
    ]
    assert graph(looked_up.group("item", {"n": bl.count()})) == [
        *graph(looked_up),
        ("beamlike", "with payments"),
    ]


def test_what_deduplicates_and_a_grouping_after_it() -> None:
    first = orders().deduplicate("no", within="1 hour")
    counted = first.window(HOURS).group("item", {"n": bl.count()})
    assert graph(counted) == [("deduplicate", ""), ("beamlike", "deduplicate")]


def test_one_grouping_over_a_table() -> None:
    assert graph(hourly(ORDERS, key="item", timestamp="ordered")) == [("beamlike", "")]


def test_a_pipeline() -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | "pairs" >> beam.Create([("a", 1)])
    totals = pairs | "sums" >> beam.CombinePerKey(sum)
    side = pipeline | "side" >> beam.Create([1])
    _ = totals | "look" >> beam.Map(lambda pair, seen: (*pair, seen), AsList(side))
    assert graph(pipeline) == [
        ("sums", ""),
        ("look/View0/Items", ""),
        ("look", "sums, look/View0/Items"),
    ]
