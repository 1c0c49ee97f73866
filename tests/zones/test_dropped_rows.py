"""What is dropped is shown with its times in UTC, in sessions of any time zone."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

import pytest

import beamlike as bl
from beamlike.testing import QueryTest

NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)
VISITS = "user string, at timestamp, pages array<struct<seen: timestamp>>"


def visits(rows: Any) -> Any:
    return bl.windowed(
        rows,
        key="user",
        timestamp="at",
        watermark=0,
        window=bl.FixedWindows("1 hour"),
        aggregate={"pages": bl.last("pages")},
        output="dropped",
        shards=2,
        buckets=2,
    )


def dropped(host: Literal["local", "spark"], **session: Any) -> list[Any]:
    with QueryTest(visits, VISITS, host=host, **session) as query:
        rows = query.send({"user": None, "at": NOON, "pages": [{"seen": NOON}]})
        query.advance_watermark_to("2020-06-01 14:00:00")
        rows += query.send({"user": "ann", "at": NOON, "pages": [{"seen": NOON}]})
    return [row["dropped"] for row in rows]


@pytest.mark.spark
def test_dropped_rows_are_those_of_a_query_without_spark(
    spark: Any, in_zone: Callable[[str], None]
) -> None:
    expected = dropped("local")

    in_zone("America/New_York")
    found = dropped("spark", spark=spark)

    assert [(it["reason"], it["element"]) for it in found] == [
        (
            "null_key",
            '{"user":null,"at":"2020-06-01T12:00:00.000000Z",'
            '"pages":[{"seen":"2020-06-01T12:00:00.000000Z"}]}',
        ),
        ("expired", '{"user":"ann","pages":[{"seen":"2020-06-01T12:00:00.000000Z"}]}'),
    ]
    assert found == expected
