"""A driver that dies before, within and after a micro-batch has come to a topic."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from tests.crash.feed import write_feed
from tests.crash.needed import JARS, SERVER_OF_KAFKA, AtHand
from tests.crash.outputs import output_of
from tests.crash.stops import BEGUN, ENDED, run_until
from tests.kafka.client import Kafka

SECOND_TASK: Final = r"rename before .*/checkpoint/state/0/1/{version}[._].*"
"""With one core tasks run one after the other: here the first has sent all of its records, and the
second some of its own, before the state of either counts."""


def a_driver_that_dies(kafka: Kafka, home: Path) -> str:
    """Records come once or twice, and the last of each key is the one that must be there."""
    feed = home / "feed of the dying"
    write_feed(feed, 7, seed=3)
    environment = {SERVER_OF_KAFKA: kafka.servers, JARS: os.environ["BEAMLIKE_JARS"]}
    at_hand = AtHand(sys.executable, environment)
    plain, stopped = home / "undisturbed", home / "stopped"
    run_until(None, plain, feed, "kafka", at_hand)
    topic = "-".join((stopped / "kafka").parts[-3:]) + "-panes"
    counts = []
    for batch, operation in ((2, BEGUN), (3, SECOND_TASK), (4, ENDED)):
        point = operation.format(batch=batch, version=batch + 1)
        run_until(point, stopped, feed, "kafka", at_hand)
        counts.append(len(kafka.records(topic)))
    run_until(None, stopped, feed, "kafka", at_hand)
    assert output_of(stopped / "kafka").flat == output_of(plain / "kafka").flat
    records = Counter(
        (record.key, record.value, record.headers["pane.index"], record.headers["change"])
        for record in kafka.records(topic)
    )
    twice = sum(count > 1 for count in records.values())
    assert twice > 0, "what had been sent was sent again"
    assert counts == sorted(set(counts)), f"each came further than the one before: {counts}"
    return f"{records.total()} records, {twice} of them twice"
