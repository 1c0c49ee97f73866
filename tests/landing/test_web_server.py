"""The lines of a web server become two tables, and every cell is right.

Lines come out of order, hours late, twice, and broken; one visitor has a fifth of them. Visits are
reported early, on time and corrected for two hours; visits by hour and country are a second
grouping of these. Both queries are killed twice on the way. At the end the tables equal a plain
computation over the lines that were accepted, and each of the others is a dead letter.

``BEAMLIKE_LINES`` in the environment says how many lines, by default 1,500.
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.hosts.landing.batch import Batch
from beamlike.tables import Target
from beamlike.testing import QueryTest
from tests.support.landing.changes import SCHEMA
from tests.support.landing.places import Place, places

Line = dict[str, Any]
COLUMNS = "line int, user string, country string, at string"
DAY = datetime(2026, 5, 4, tzinfo=UTC)
GAP = timedelta(minutes=10)
LINES = int(os.environ.get("BEAMLIKE_LINES", "1500"))
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
CORRECTED: dict[str, Any] = {
    "trigger": bl.AfterWatermark(early=bl.AfterProcessingTime("1 minute"), late=bl.AfterCount(1)),
    "accumulation": "retracting",
    "allowed_lateness": "2 hours",
}


def web_lines(random: Random, lines: int) -> Iterator[Line]:
    """Lines in the order in which they come, over six hours."""
    came, visitors = [], lines // 50
    for number in range(lines):
        user = "bot" if random.random() < 0.2 else f"visitor {random.randrange(visitors)}"
        second = random.randrange(6 * 3600)
        country = "de" if user == "bot" else ("at", "ch", "de")[int(user[8:]) % 3]
        line = {"line": number, "user": user, "country": country, "at": second}
        late = random.choice([0] * 30 + [30, 90, 240, 1200, 4 * 3600])
        came.append((second + late, line))
        if random.random() < 0.05:
            came.append((second + late + random.randrange(60), line))
    for _, line in sorted(came, key=lambda it: it[0]):
        shown = str(DAY + timedelta(seconds=line["at"]))
        if random.random() < 0.02:
            yield line | random.choice([{"at": "04/May/26"}, {"at": shown, "user": None}])
        else:
            yield line | {"at": shown}
    # The last ones only move the watermark.
    for hours in (12, 24):
        yield {
            "line": -hours,
            "user": "clock",
            "country": "",
            "at": str(DAY + timedelta(hours=hours)),
        }


def visits(lines: Any, **options: Any) -> bl.Stream:
    """Of each visitor the lines of each visit, a line that comes twice once."""
    # A late line may come for a visit that has expired: in Beam it would open another one beside.
    windowed = bl.stream(lines, timestamp="at", watermark="5 minutes").window(
        bl.Sessions("10 minutes"), late_check="retain", **CORRECTED
    )
    hits = {"hits": bl.count_distinct("line")}
    key = ["user", "country"]
    return windowed.group(key, hits, carry="line", name="visits", **SMALL, **options)


def by_hour(lines: Any) -> bl.Stream:
    """The visits that end in each hour, by country."""
    hours = visits(lines).window(bl.FixedWindows("1 hour"), **CORRECTED)
    wanted = {"visits": bl.count(), "hits": bl.sum("hits"), "longest": bl.max("hits")}
    return hours.group("country", wanted, name="hours", **SMALL)


class Killed(Exception):
    """Stands for the end of the process."""


@attrs.frozen
class Cut(Target):
    """A target whose query is killed twice: before a batch is written, and after one."""

    target: Target
    plan: list[str]

    def check(self) -> None:
        self.target.check()

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        kill = self.plan.pop(0) if self.plan else "none"
        if kill == "before":
            raise Killed
        done = self.target.write(batch, dead_letters)
        if kill == "after":
            raise Killed
        return done


PLAN = ("none", "after", "none", "none", "before", "none")


def run(stream: bl.Stream, place: Place, table: str, key: Any, checkpoint: Path) -> int:
    """Run a query to the end of its input, as often as it takes; how often it was killed."""
    write = bl.upsert_into(Cut(place.target, [*PLAN]), key, dead_letters=f"{table}_lost")
    killed = 0
    while True:
        writer = stream.everything.writeStream.foreachBatch(write)
        writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        query = writer.start()
        try:
            query.awaitTermination()
        except Exception as error:
            if "Killed" not in str(error):
                raise
            killed += 1
        else:
            return killed


def run_locally(
    job: Callable[[Any], bl.Stream], lines: list[Line], place: Place, table: str, key: Any
) -> int:
    """The same on the local host, which is fed batch by batch and has no sinks."""
    write = bl.upsert_into(Cut(place.target, [*PLAN]), key, dead_letters=f"{table}_lost")
    killed, numbers = 0, count()
    with QueryTest(job, COLUMNS) as query:
        for some in batched(lines, len(lines) // 7):
            came = query.send(*some)
            for rows in (came, query.advance_processing_time("61 s")):
                batch, number = as_table(rows), next(numbers)
                while rows:
                    try:
                        write(batch, number)
                    except Killed:
                        killed += 1
                        query.restart()
                    else:
                        break
    return killed


def batched(lines: list[Line], size: int) -> Iterator[list[Line]]:
    for start in range(0, len(lines), size):
        yield lines[start : start + size]


def as_table(rows: Sequence[Line]) -> pa.Table:
    """What came out of a query as the table that ``foreachBatch`` would bring."""
    kinds = {field.name: field.type for field in SCHEMA} | {"retraction": pa.bool_()}
    names = list(rows[0]) if rows else []
    fields = [
        (name, kinds.get(name, pa.string() if name == "country" else pa.int64())) for name in names
    ]
    return pa.Table.from_pylist(list(rows), pa.schema(fields))


def accepted(lines: list[Line], place: Place, table: str) -> list[Line]:
    """The lines that are no dead letters. One that came twice may be one once."""
    lost = Counter(
        (found["line"], found["user"], found.get("at"))
        for row in place.read(f"{table}_lost")
        for found in [json.loads(row["element"])]
    )
    kept = []
    for line in lines:
        whole = line["line"], line["user"], line["at"]
        # Of a line that came too late only its key and number are reported.
        name = next((it for it in (whole, (*whole[:2], None)) if lost[it] > 0), None)
        if name is None:
            kept.append(line)
        else:
            lost[name] -= 1
    assert +lost == Counter(), "a dead letter of no line"
    return kept


def plain_visits(lines: list[Line]) -> list[tuple[str, str, datetime, datetime, int]]:
    """User, country, start, end and hits of each visit."""
    times = defaultdict(list)
    for line in lines:
        if line["user"] != "clock":
            at = datetime.fromisoformat(line["at"])
            times[line["user"], line["country"]].append((at, line["line"]))
    found = []
    for (user, country), of_user in times.items():
        run: list[tuple[datetime, int]] = []
        for at, number in [*sorted(of_user), (DAY + timedelta(days=9), -1)]:
            if run and at >= run[-1][0] + GAP:
                hits = len({number for _, number in run})
                found.append((user, country, run[0][0], run[-1][0] + GAP, hits))
                run = []
            run.append((at, number))
    return sorted(found)


def instant(value: Any) -> datetime:
    read = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read.astimezone(UTC)


@pytest.fixture
def lines() -> list[Line]:
    """Lines as they come."""
    return list(web_lines(Random(23), LINES))


def arriving(spark: Any, home: Path, lines: list[Line]) -> Any:
    inbox = home / "in"
    inbox.mkdir()
    for number, some in enumerate(batched(lines, len(lines) // 7)):
        text = "".join(json.dumps(line) + "\n" for line in some)
        (inbox / f"{number:03}.json").write_text(text)
    return spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(inbox))


def check_visits(lines: list[Line], place: Place) -> None:
    """Every cell of the table of visits is that of a plain computation."""
    reasons = {row["reason"] for row in place.read("visits_lost")}
    assert reasons == {"expired", "bad_timestamp", "null_key"}
    rows = [row for row in place.read("visits") if row["user"] != "clock"]
    assert sorted(
        (
            *(row["user"], row["country"]),
            *(instant(row["window_start"]), instant(row["window_end"]), row["hits"]),
        )
        for row in rows
    ) == plain_visits(accepted(lines, place, "visits"))
    assert {"ON_TIME", "LATE"} <= {row["timing"] for row in rows}


def check_hours(lines: list[Line], place: Place) -> None:
    """And every cell of the table of hours."""
    expected = defaultdict(list)
    for _, country, _, end, hits in plain_visits(accepted(lines, place, "hours")):
        hour = (end - timedelta(milliseconds=1)).replace(minute=0, second=0, microsecond=0)
        expected[country, hour].append(hits)
    assert {
        (row["country"], instant(row["window_start"])): (row["visits"], row["hits"], row["longest"])
        for row in place.read("hours")
        if row["country"]
    } == {name: (len(hits), sum(hits), max(hits)) for name, hits in expected.items()}


@pytest.fixture
def home(request: pytest.FixtureRequest, kind: str) -> str | None:
    """The server that a kind of table needs, if it needs one."""
    return request.getfixturevalue("server") if kind == "postgres" else None


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "delta"])
def test_every_cell_is_that_of_a_plain_computation(
    kind: str, lines: list[Line], home: str | None, tmp_path: Path
) -> None:
    key = ["user", "country"]
    place = places(kind, tmp_path, "visits", home)
    by_session = partial(visits, render="upserts")
    assert run_locally(by_session, lines, place, "visits", key) == 2
    check_visits(lines, place)
    place = places(kind, tmp_path, "hours", home)
    assert run_locally(by_hour, lines, place, "hours", "country") == 2
    check_hours(lines, place)


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["sqlite", "postgres", "delta"])
@pytest.mark.nightly
def test_on_spark_too(kind: str, lines: list[Line], home: str | None, spark: Any, tmp_path: Path):
    frame = arriving(spark, tmp_path, lines)
    place = places(kind, tmp_path, "visits", home)
    stream = visits(frame, render="upserts")
    assert run(stream, place, "visits", ["user", "country"], tmp_path / "checkpoint") == 2
    check_visits(lines, place)
    place = places(kind, tmp_path, "hours", home)
    assert run(by_hour(frame), place, "hours", "country", tmp_path / "checkpoint 2") == 2
    check_hours(lines, place)
