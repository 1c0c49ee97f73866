"""Events from Kafka to Kafka, by a driver that is killed:
``python -m tests.kafka.million SERVERS FROM TO LOST HOME``.

What the topic has to hold in the end is computed without beamlike.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import attrs

EVENTS: Final = int(os.environ.get("BEAMLIKE_EVENTS", "1000000"))
USERS: Final = max(20, EVENTS // 500)
HOURS: Final = 6
PARTITIONS: Final = 4
SILENT: Final = 3
"""This partition delivers at first and never again."""
_BEFORE_SILENCE: Final = 12
"""So few that the first micro-batches have them: Spark takes from each partition in proportion
to what it has."""
OUT_OF_ORDER_S: Final = 240
GAP_S: Final = 180
BATCHES: Final = 20
_NOON_S: Final = 1_577_880_000
"""2020-01-01 12:00 (s)."""
_KILLED_AFTER: Final = (2, 7, 13)
"""How many micro-batches are committed when the driver is killed."""
_SECONDS: Final = 2400


@attrs.frozen
class Event:
    """A click, or a record that cannot be read.

    Attributes:
        partition: Where it is sent.
        user: Who clicked.
        second: When, in seconds from noon on, with fractions.
        amount: What is added up; None: the record is nonsense.
    """

    partition: int
    user: str
    second: float
    amount: int | None

    @property
    def value(self) -> str:
        if self.amount is None:
            return f"nonsense of {self.user}"
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(_NOON_S + int(self.second)))
        part = f"{self.second % 1:.3f}"[1:]
        return json.dumps({"user": self.user, "at": f"{at}{part}Z", "amount": self.amount})


def events(count: int = EVENTS) -> Iterator[Event]:
    """The events in the order in which they are sent, minutes out of order."""
    random = Random(7)
    step = HOURS * 3600 / count
    for number in range(count):
        sent = number * step
        second = max(0.0, sent - random.random() ** 3 * OUT_OF_ORDER_S)
        is_broken = random.random() < 0.001
        partition = random.randrange(PARTITIONS if number < _BEFORE_SILENCE else SILENT)
        user = f"user {random.randrange(USERS)}"
        yield Event(partition, user, round(second, 3), None if is_broken else random.randrange(100))


def expected(sent: list[Event]) -> set[tuple[str, int, int, int, int]]:
    """Sessions: user, start and end (ms from noon on), clicks, and the sum of amounts."""
    of_users = defaultdict(list)
    for event in sent:
        if event.amount is not None:
            of_users[event.user].append((round(event.second * 1000), event.amount))
    sessions = set()
    for user, clicks in of_users.items():
        clicks.sort()
        start, last, amounts = clicks[0][0], clicks[0][0], [clicks[0][1]]
        for millis, amount in clicks[1:]:
            if millis - last >= GAP_S * 1000:
                sessions.add((user, start, last + GAP_S * 1000, len(amounts), sum(amounts)))
                start, amounts = millis, []
            last = millis
            amounts.append(amount)
        sessions.add((user, start, last + GAP_S * 1000, len(amounts), sum(amounts)))
    return sessions


def drive(servers: str, source: str, target: str, lost: str, home: str) -> None:
    """One driver of the job, until all records are read."""
    import beamlike as bl
    from tests.kafka.client import Kafka

    spark = Kafka(servers).spark
    clicks = bl.kafka.read(
        spark,
        servers,
        source,
        value=bl.kafka.Json("user string, at timestamp, amount int"),
        timestamp="at",
        watermark=f"{OUT_OF_ORDER_S + 60} seconds",
        idle_after="5 seconds",
        max_per_batch=EVENTS // BATCHES,
    )
    visits = clicks.window(
        bl.Sessions(f"{GAP_S} seconds"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="1 day",
    ).group(
        "user",
        {"clicks": bl.count(), "amount": bl.sum("amount")},
        render="upserts",
        carry=["topic_partition", "offset"],
        shards=2,
    )
    writer = bl.kafka.write(visits, servers, target, key="user", dead_letters=lost)
    query = writer.option("checkpointLocation", f"{home}/checkpoint").trigger(availableNow=True)
    query.start().awaitTermination()


def run_and_kill(servers: str, source: str, target: str, lost: str, home: Path) -> list[int]:
    """Drivers of the job, of which three are killed with Java and workers.

    Returns:
        How many micro-batches were committed at each kill.
    """
    command = [sys.executable, "-m", __spec__.name, servers, source, target, lost, str(home)]
    commits = home / "checkpoint" / "commits"
    killed = []
    deadline = time.monotonic() + _SECONDS
    for least in _KILLED_AFTER:
        driver = subprocess.Popen(command, start_new_session=True)
        while _committed(commits) < least:
            assert driver.poll() is None, f"the driver ended with {driver.returncode}"
            assert time.monotonic() < deadline, "the driver takes too long"
            time.sleep(0.2)
        time.sleep(1 + least / 10)  # within the next micro-batch
        assert driver.poll() is None, "the driver was ready before it was killed"
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        killed.append(_committed(commits))
    subprocess.run(command, check=True, timeout=deadline - time.monotonic())
    return killed


def _committed(commits: Path) -> int:
    return sum(path.name.isdigit() for path in commits.iterdir()) if commits.exists() else 0


if __name__ == "__main__":
    drive(*sys.argv[1:])
